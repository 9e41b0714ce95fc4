// Compiled programs as files.
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <map>
#include <set>

#include "api/program_file.h"
#include "backend/cpu/cpu_device.h"
#include "capi/c_api.h"
#include "support/scratch_folder.h"

namespace plait::testing {
namespace {

class CApiSaved : public ::testing::Test {
 protected:
  CApiSaved() { close(mkstemp(path_)); }
  ~CApiSaved() override { std::remove(path_); }
  Owned<plait_program> loaded() {
    plait_program* out = nullptr;
    EXPECT_OK(plait_program_load(path_, &out));
    return Owned<plait_program>(out);
  }
  char path_[30] = "/tmp/plait_saved_XXXXXX";
};

TEST_F(CApiSaved, RunsAsItRan) {
  const auto fusion = parsed("fusion @f (%x: f32[n], %w: f32[n]) -> (%y) { %y = mul(exp(%x), %w) }");
  const auto program = compiled(fusion.get());
  EXPECT_EQ(words(plait_program_save(program.get(), path_)).substr(0, 27), "1: nothing is compiled yet ");
  Values<float> x({0, 1, 2}, {3}, kF32), w({1, 2, 3}, {3}, kF32);
  const auto expected = read<float>(*run(program.get(), {{"x", &x.tensor}, {"w", &w.tensor}}));
  ASSERT_OK(plait_program_save(program.get(), path_));
  const auto again = loaded();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(read<float>(*run(again.get(), {{"x", &x.tensor}, {"w", &w.tensor}})), expected);
  const plait_fusion* shown = nullptr;
  ASSERT_OK(plait_program_fusion(again.get(), &shown));
  EXPECT_EQ(plait_fusion_input_count(shown), 2);
  plait_tensor_info info = {};
  info.struct_size = sizeof info;
  ASSERT_OK(plait_fusion_output_info(shown, 0, &info));
  EXPECT_STREQ(info.name, "y");
}

// Its code asks for the level of the setting `cpu` and nothing beyond, whatever compiled it.
TEST_F(CApiSaved, IsMadeForALevelOfProcessors) {
  const auto fusion = parsed("fusion @f (%x: f16[n, 40]) -> (%y) { %y = cast(softmax(%x, dim = 1), to = f32) }");
  std::vector<uint16_t> halves(200);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(0x3000 + i * 7);
  Values<uint16_t> x(halves, {5, 40}, {2, 16, 1});
  const std::vector<plait_input> inputs = {{"x", &x.tensor}};
  const auto expected = read<float>(*run(compiled(fusion.get(), "reference").get(), inputs));
  const std::string v2 = "x86-64 sse3 ssse3 sse4.1 sse4.2 popcnt", v3 = v2 + " avx avx2 fma f16c bmi bmi2 lzcnt movbe";
  const std::string v4 = v3 + " avx512f avx512cd avx512bw avx512dq avx512vl";
  const std::unique_ptr<Device> host = make_cpu_device();
  std::set<std::string> codes;
  for (const auto& [level, needs] : std::map<std::string, std::string>{
           {"x86-64-v2", v2}, {"x86-64-v3", v3}, {"x86-64-v4", v4}, {"native", host->code_needs()}}) {
    if (!host->code_lacks(needs).empty()) continue;  // it would not run
    const plait_setting setting = {"cpu", level.c_str()};
    plait_compile_options how = {};
    how.struct_size = sizeof(how);
    how.device = "cpu";
    how.settings = &setting;
    how.setting_count = 1;
    plait_program* made = nullptr;
    ASSERT_OK(plait_compile(fusion.get(), &how, &made));
    const Owned<plait_program> program(made);
    const auto here = read<float>(*run(made, inputs));
    ASSERT_EQ(here.size(), expected.size());
    for (size_t i = 0; i < here.size(); ++i) EXPECT_NEAR(here[i], expected[i], 1e-5) << level << ", element " << i;
    ASSERT_OK(plait_program_save(made, path_));
    const SavedProgram file = unpack(read_file(path_), path_);
    EXPECT_EQ(file.needs, needs);
    for (const SavedKernel& kernel : file.classes.at(0).kernels) codes.insert(*kernel.code);
    EXPECT_EQ(read<float>(*run(loaded().get(), inputs)), here) << level;
  }
  EXPECT_GE(codes.size(), 2U);
}

TEST_F(CApiSaved, IsLoadedWithSettingsAndThreads) {
  const auto fusion = parsed("fusion @f (%x: f32[n]) -> (%y) { %y = sin(%x) }");
  const auto program = compiled(fusion.get());
  Values<float> x(std::vector<float>(1 << 20, 0), {1 << 20}, kF32);
  const auto expected = read<float>(*run(program.get(), {{"x", &x.tensor}}));
  ASSERT_OK(plait_program_save(program.get(), path_));
  std::atomic<int> asked = 0;
  plait_thread_pool pool = {};
  pool.struct_size = sizeof(pool);
  pool.user = &asked;
  pool.threads = 2;
  pool.run = [](void* user, int64_t, void (*)(void*), void*) { ++*static_cast<std::atomic<int>*>(user); };
  plait_setting settings[] = {{"kept_memory", "0"}, {"poison", "true"}};
  plait_load_options how = {};
  how.struct_size = sizeof(how);
  how.settings = settings;
  how.setting_count = 2;
  how.pool = &pool;
  plait_program* made = nullptr;
  ASSERT_OK(plait_program_load_with(path_, &how, &made));
  const Owned<plait_program> again(made);
  EXPECT_EQ(read<float>(*run(made, {{"x", &x.tensor}})), expected);
  EXPECT_GE(asked, 1) << "the pool was asked";
  plait_memory_info memory = {};
  memory.struct_size = sizeof(memory);
  ASSERT_OK(plait_program_memory_get(made, &memory));
  EXPECT_EQ(memory.hits, 0) << "kept_memory = 0";

  const auto said = [&](plait_setting one, size_t count = 1) {
    settings[0] = settings[1] = one;
    how.setting_count = count;
    made = nullptr;
    const std::string error = words(plait_program_load_with(path_, &how, &made));
    EXPECT_EQ(made, nullptr);
    return error;
  };
  EXPECT_NE(said({"contractions", "own"}).find("1: option `contractions` makes other kernels than the file has | load"),
            std::string::npos);
  EXPECT_NE(said({"poisson", "true"}).find("did you mean `poison`?"), std::string::npos);
  EXPECT_EQ(said({"poison", "true"}, 2), "1: `poison` is set twice | settings | set it once");
  how.setting_count = 0;
  pool.threads = 0;
  EXPECT_NE(words(plait_program_load_with(path_, &how, &made)).find("it has 0 threads | options.pool"),
            std::string::npos);
  how.struct_size = 0;
  EXPECT_NE(words(plait_program_load_with(path_, &how, &made)).find("struct_size of `options` is 0"),
            std::string::npos);
  how.struct_size = offsetof(plait_load_options, pool);  // of a caller that knows no pool
  EXPECT_OK(plait_program_load_with(path_, &how, &made));
  plait_program_free(made);
}

TEST_F(CApiSaved, RefusesWhatIsNoProgram) {
  plait_program* out = nullptr;
  EXPECT_NE(words(plait_program_load(path_, &out)).find("is no compiled program"), std::string::npos);
  EXPECT_EQ(out, nullptr);
  EXPECT_NE(words(plait_program_load("/nowhere/p", &out)).find("cannot read `/nowhere/p`"), std::string::npos);
  EXPECT_NE(words(plait_program_load(nullptr, &out)), "");
  EXPECT_NE(words(plait_program_load(path_, nullptr)), "");
  EXPECT_NE(words(plait_program_save(nullptr, path_)), "");
  EXPECT_NE(words(plait_program_fusion(nullptr, nullptr)), "");
}

}  // namespace
}  // namespace plait::testing
