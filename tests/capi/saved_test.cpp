// Compiled programs as files.
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>

#include "capi/c_api.h"

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
