// A process that is forked after a run has none of its parent's threads: it works all the same, or says what to do.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "base/sanitizers.h"
#include "plait.h"
#include "reference/check.h"
#include "reference/draw_inputs.h"

static bool in_forked_child = false;

// A child has its parent's memory and not its threads, in whose storage some of it is known: not leaks of the child's.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return in_forked_child; }

namespace plait {
namespace {

constexpr const char* kMlp = R"(
mesh @m (tp = t)
fusion @mlp on @m (%x: f32[64, 256], param %w0: f32[512, 256] {0: tp}, param %w1: f32[256, 512] {1: tp}) -> (%y) {
  %h = linear(%x, %w0)
  %g = gelu(%h, approx = tanh)
  %y = linear(%g, %w1)
}
)";

class Forked : public ::testing::Test {
 protected:
  void SetUp() override {
#if PLAIT_TSAN
    GTEST_SKIP() << "the sanitizer allows no threads in forked processes";
#endif
  }
  // What the child's body returns, or 128 and the signal that ended it.
  template <class Body>
  static int in_child(Body body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      in_forked_child = true;
      alarm(60);  // threads that are not there would be waited for without end
      try {
        _exit(body());
      } catch (const std::exception& e) {
        fprintf(stderr, "%s\n", e.what());
        _exit(99);
      }
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int wrong(Compiled& program) {
    int out = 0;
    for (const auto& [name, tensor] : program.run({inputs_.begin(), inputs_.end()}))
      out += !reference::compare(name, want_.at(name), tensor).ok;
    return out;
  }

  const std::unique_ptr<Fusion> fusion_ = parse_fusion(kMlp);
  const std::map<std::string, Tensor> inputs_ = reference::draw_inputs(*fusion_, {});
  const reference::Results want_ = reference::evaluate(*fusion_, inputs_, {.ranks = 2});
};

TEST_F(Forked, RanksOnThreads) {
  for (const char* device : {"reference", "cpu"}) {
    SCOPED_TRACE(device);
    auto program =
        std::make_unique<Compiled>(compile(*fusion_, {.device = device, .ranks = 2, .comm = "local:threads"}));
    EXPECT_EQ(wrong(*program), 0);
    EXPECT_EQ(in_child([&] { return wrong(*program) + wrong(*program); }), 0);
    EXPECT_EQ(in_child([&] { return in_child([&] { return wrong(*program); }) + wrong(*program); }), 0);
    EXPECT_EQ(in_child([&] {
                program.reset();
                return 0;
              }),
              0);
    EXPECT_EQ(wrong(*program), 0);
  }
}

TEST_F(Forked, Contractions) {
  for (const char* contractions : {"library", "nest"}) {
    SCOPED_TRACE(contractions);
    CompileOptions how{.device = "cpu", .ranks = 1};
    how.options.contractions = contractions;
    auto program = compile(*fusion_, how);
    EXPECT_EQ(wrong(program), 0);
    EXPECT_EQ(wrong(program), 0);
    EXPECT_EQ(in_child([&] { return wrong(program) + wrong(program); }), 0);
    EXPECT_EQ(in_child([&] {  // another shape there
                auto again = compile(*parse_fusion(kMlp), {.device = "cpu", .ranks = 2});
                return wrong(again);
              }),
              0);
    EXPECT_EQ(wrong(program), 0);
  }
}

// Static objects are destroyed too: pools, devices, libraries.
TEST_F(Forked, AChildEnds) {
  auto program = compile(*fusion_, {.device = "cpu", .ranks = 2, .comm = "local:threads"});
  EXPECT_EQ(wrong(program), 0);
  EXPECT_EQ(in_child([&]() -> int { std::exit(wrong(program)); }), 0);
}

TEST_F(Forked, GpusAreRefused) {
  std::optional<Compiled> program;
  try {
    program = compile(*fusion_, {.device = "sim:sm_90a", .ranks = 1});
    EXPECT_EQ(wrong(*program), 0);
  } catch (const MissingError& e) {
    GTEST_SKIP() << e.what();
  }
  const auto refused = [](auto body) {
    try {
      body();
    } catch (const UserError& e) {
      const std::string text = e.what();
      return text.find("forked") != text.npos && text.find("spawn") != text.npos ? 0 : 2;
    }
    return 1;
  };
  EXPECT_EQ(in_child([&] { return refused([&] { wrong(*program); }); }), 0);
  EXPECT_EQ(in_child([&] { return refused([&] { compile(*fusion_, {.device = "sim:sm_90a", .ranks = 1}); }); }), 0);
}

}  // namespace
}  // namespace plait
