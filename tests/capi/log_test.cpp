// The log through the C ABI.
#include <mutex>

#include "capi/c_api.h"

namespace plait::testing {
namespace {

struct Heard {
  std::mutex mutex;
  std::vector<std::string> entries;
  static void hear(void* self, int32_t level, const char* component, const char* text) {
    auto& heard = *static_cast<Heard*>(self);
    const std::lock_guard lock(heard.mutex);
    heard.entries.push_back(std::to_string(level) + " " + component + " " + text);
  }
  size_t count(const std::string& begin, const std::string& part) const {
    size_t out = 0;
    for (const std::string& entry : entries) out += entry.starts_with(begin) && entry.find(part) != std::string::npos;
    return out;
  }
};

TEST(CApiLog, ACallbackHearsWhatIsCompiledDroppedAndRun) {
  Heard heard;
  ASSERT_OK(plait_log_to(&Heard::hear, &heard));
  ASSERT_OK(plait_log_levels("info,compile=debug,run=debug"));
  const auto fusion = parsed("fusion @f (%x: f32[n]) -> (%y) { %y = exp(%x) }");
  const auto program = compiled(fusion.get(), "cpu");
  Values<float> x({0, 0}, {2}, kF32);
  run(program.get(), {{"x", &x.tensor}});
  run(program.get(), {{"x", &x.tensor}});
  EXPECT_EQ(heard.count("1 compile @f compiled in ", "1 kernels"), 1U);
  EXPECT_EQ(heard.count("1 compile @f compiled in ", "sizes: n"), 1U);
  EXPECT_EQ(heard.count("0 compile @f: kernel ", "pointwise"), 1U);
  EXPECT_EQ(heard.count("0 run @f ran in ", "0 B copied"), 2U);

  const plait_setting one = {"kept_specializations", "1"};
  plait_compile_options how = {};
  how.struct_size = sizeof(how);
  how.device = "reference";
  how.settings = &one;
  how.setting_count = 1;
  plait_program* made = nullptr;
  ASSERT_OK(plait_compile(fusion.get(), &how, &made));
  const Owned<plait_program> forgetful(made);
  run(made, {{"x", &x.tensor}});
  Values<float> none({}, {0}, kF32);
  run(made, {{"x", &none.tensor}});
  EXPECT_EQ(heard.count("1 cache @f: 1 specializations dropped", "kept_specializations = 1"), 1U);

  const auto ranks = compiled(
      parsed("mesh @m (dp = d)\nfusion @g on @m (%x: f32[n] {0: dp}) -> (%y) { %y = exp(%x) }").get(), "cpu", 2);
  EXPECT_EQ(heard.count("1 comm 2 ranks on cpu talk by local", ""), 1U);
  EXPECT_EQ(words(plait_log_levels("loud")).find("1: the log knows no `loud` | words"), 0U);
  EXPECT_NE(words(plait_log_levels(nullptr)).find("`words` is null"), std::string::npos);

  ASSERT_OK(plait_log_levels("warn"));
  const size_t before = heard.entries.size();
  run(program.get(), {{"x", &x.tensor}});
  ASSERT_OK(plait_log_to(nullptr, nullptr));
  ASSERT_OK(plait_log_levels("info"));
  ASSERT_OK(plait_log_levels("warn"));
  EXPECT_EQ(heard.entries.size(), before);
}

}  // namespace
}  // namespace plait::testing
