// Compiled programs as files.
#include <unistd.h>

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
