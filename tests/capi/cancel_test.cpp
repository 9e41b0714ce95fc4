// Runs that the caller ends, through the C ABI.
#include "capi/c_api.h"

namespace plait::testing {
namespace {

// Ends a run when it is asked for the `at`-th time, from 1 on; 0: never.
struct Stop {
  int at = 0, asked = 0;
  static int ask(void* self) {
    auto& stop = *static_cast<Stop*>(self);
    return ++stop.asked == stop.at ? 1 : 0;
  }
};

plait_run_options stopped_by(Stop& stop) {
  plait_run_options out = {};
  out.struct_size = sizeof(out);
  out.stop = &Stop::ask;
  out.stop_user = &stop;
  return out;
}

// A chain of products, each a step, over ranks that add up what is pending: of a column, or of the whole.
std::string chain(int products, const std::string& first = "sum(%x, dims = [1], keepdim = true)") {
  std::string text = "mesh @m (tp = t)\nfusion @f on @m (%x: f32[n, n] {1: tp}) -> (%y) {\n  %h0 = " + first + "\n";
  for (int i = 1; i <= products; ++i)
    text += "  %h" + std::to_string(i) + " = matmul(%x, %h" + std::to_string(i - 1) + ")\n";
  return text + "  %y = neg(%h" + std::to_string(products) + ")\n}";
}

struct Setting {
  const char *device, *comm;
  int64_t ranks;
};

TEST(CApiCancel, ARunEndsBetweenStepsAndTheNextOneWorks) {
  const auto fusion = parsed(chain(5));
  for (const Setting& where :
       {Setting{"reference", "local", 1}, {"cpu", "local", 1}, {"cpu", "local", 2}, {"sim:sm_80:2", "local", 2}}) {
    const auto program = compiled(fusion.get(), where.device, where.ranks, where.comm);
    Values<float> x(std::vector<float>(64, 1), {8, 8}, kF32);
    const std::vector<plait_input> inputs = {{"x", &x.tensor}};
    Stop never;
    plait_run_options how = stopped_by(never);
    const std::vector<float> right = read<float>(*run(program.get(), inputs, &how));
    EXPECT_EQ(right, std::vector<float>(8, -262144)) << where.device;
    EXPECT_GE(never.asked, 2) << where.device;
    for (int at = 1; at <= never.asked; ++at) {
      Stop stop{at};
      how = stopped_by(stop);
      DLManagedTensorVersioned* out = nullptr;
      const std::string error = words(plait_program_run(program.get(), inputs.data(), 1, &how, &out, 1));
      EXPECT_TRUE(error.starts_with("6: the run was cancelled | before ")) << error;
      EXPECT_EQ(out, nullptr);
      EXPECT_EQ(stop.asked, at) << "no step after it";
      EXPECT_EQ(read<float>(*run(program.get(), inputs)), right) << where.device << ", cancelled at " << at;
    }
  }
}

TEST(CApiCancel, RanksOnThreadsEndBeforeTheSameStep) {
  const auto fusion = parsed(chain(100, "mul(%x, 1)"));
  const auto program = compiled(fusion.get(), "reference", 2, "local:threads");
  const size_t n = 256;  // a step takes longer than a callback is waited for
  Values<float> x(std::vector<float>(n * n, 1.0F / n), {n, n}, kF32);
  const std::vector<plait_input> inputs = {{"x", &x.tensor}};
  for (int at = 1; at <= 3; ++at) {
    Stop stop{at};
    const plait_run_options how = stopped_by(stop);
    DLManagedTensorVersioned* out = nullptr;
    const std::string error = words(plait_program_run(program.get(), inputs.data(), 1, &how, &out, 1));
    EXPECT_TRUE(error.starts_with("6: the run was cancelled | before ")) << error;
    EXPECT_EQ(stop.asked, at) << "who has said yes is not asked again";
  }
  EXPECT_EQ(read<float>(*run(program.get(), inputs)), std::vector<float>(n * n, -1.0F / n));
}

TEST(CApiCancel, AsksBeforeTheFirstStepOnThreadsToo) {
  const auto fusion = parsed(chain(1));
  for (const char* comm : {"local", "local:threads"}) {
    const auto program = compiled(fusion.get(), "cpu", 2, comm);
    Values<float> x(std::vector<float>(16, 1), {4, 4}, kF32);
    const std::vector<plait_input> inputs = {{"x", &x.tensor}};
    Stop stop{1};
    const plait_run_options how = stopped_by(stop);
    DLManagedTensorVersioned* out = nullptr;
    for (int i = 0; i < 20; ++i) {
      stop.asked = 0;
      const std::string error = words(plait_program_run(program.get(), inputs.data(), 1, &how, &out, 1));
      EXPECT_TRUE(error.starts_with("6: the run was cancelled | before ")) << comm << ": " << error;
      EXPECT_EQ(stop.asked, 1);
    }
    EXPECT_EQ(read<float>(*run(program.get(), inputs)), std::vector<float>(4, -16));
  }
}

TEST(CApiCancel, AnOlderCallerHasNoSay) {
  const auto fusion = parsed(chain(1));
  const auto program = compiled(fusion.get(), "cpu", 1);
  Values<float> x({1, 1, 1, 1}, {2, 2}, kF32);
  Stop stop{1};
  plait_run_options how = stopped_by(stop);
  how.struct_size = offsetof(plait_run_options, stop);
  EXPECT_EQ(read<float>(*run(program.get(), {{"x", &x.tensor}}, &how)), (std::vector<float>{-4, -4}));
  EXPECT_EQ(stop.asked, 0);
}

}  // namespace
}  // namespace plait::testing
