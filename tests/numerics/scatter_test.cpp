// Scatters of every kind on every device, with ranges of their dim and without, on any number of threads, sharded.
#include <gtest/gtest.h>

#include "reference/draw_inputs.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::run_case;

constexpr const char* kUpdates[] = {"set", "add", "max", "min", "mul"};

// Scatters along each dim of x, with indices that repeat places, and one along the dim of a vector.
std::string along_each_dim(const std::string& update, const char* pin, const std::string& mesh = "",
                           const std::string& layout = "") {
  std::string out = "let T = f32\n" + mesh + "fusion @f" + (mesh.empty() ? "" : " on @m") + " (%x: T[20, 11, 18]" +
                    layout +
                    ", %i: i64[27, 11, 18], %s: T[27, 11, 18], %j: i64[20, 30, 18], "
                    "%t: T[20, 30, 18], %k: i64[20, 11, 40], %u: T[20, 11, 40], %v: T[50], %l: i64[200], %w: T[200]) "
                    "-> (%a, %b, %c, %d) {\n";
  const char* calls[][3] = {
      {"a", "%x, %i, %s", "0"}, {"b", "%x, %j, %t", "1"}, {"c", "%x, %k, %u", "2"}, {"d", "%v, %l, %w", "0"}};
  for (const auto& [name, operands, dim] : calls) {
    const std::string line = fmt::format("%{} = scatter({}, dim = {}, update = {})\n", name, operands, dim, update);
    out += *pin == 0 ? "  " + line
                     : fmt::format("  segment @s{0} ({1}) -> (%{0}) schedule {2} {{\n    {3}  }}\n", name, operands,
                                   pin, line);
  }
  return out + "}\n";
}

class ScattersOn : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, ScattersOn, ::testing::Values("cpu", "sim:sm_80"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

TEST_P(ScattersOn, AreThoseOfTheReferenceWhateverTheRanges) {
  CaseOptions how;
  how.device = GetParam();
  if (const auto why = testing::why_no_device(how.device); !why.empty()) GTEST_SKIP() << why;
  const bool cpu = how.device == "cpu";
  for (const char* update : kUpdates)
    for (const char* dtype : cpu ? std::vector{"f32", "bf16", "i32", "u8"} : std::vector{"bf16", "i64"}) {
      how.set["T"] = dtype;
      Tensors first;
      for (const char* pin : {"", "nest(ranges = 2)", "nest(ranges = 5)"}) {
        // A sum or product of narrow floats is a scatter of wide ones, which the file does not name.
        if (*pin != 0 && std::string(dtype) == "bf16" && (update[0] == 'a' || update[1] == 'u')) continue;
        const CaseResult result = run_case(along_each_dim(update, pin), how);
        EXPECT_TRUE(result.ok) << update << " of " << dtype << ", " << pin << ": " << result.message;
        if (first.empty()) first = result.outputs;
        for (const auto& [name, tensor] : result.outputs)
          EXPECT_EQ(tensor.to_doubles(), first.at(name).to_doubles()) << name << ", " << update << ", " << pin;
      }
    }
}

TEST(ScattersOnThreads, AreTheSameBits) {
  for (const char* update : kUpdates)
    for (const char* size :
         {"let n = 70, c = 5, m = 3000", "let n = 90000, c = 1, m = 500", "let n = 600, c = 300, m = 50"}) {
      const auto fusion =
          parse_fusion(fmt::format("{}\nfusion @f (%x: f32[n, c], %i: i64[m, c], %s: f32[m, c]) -> (%y) {{\n"
                                   "  %y = scatter(%x, %i, %s, dim = 0, update = {})\n}}\n",
                                   size, update));
      Compiled p = compile(*fusion, {.device = "cpu"});
      const auto drawn = reference::draw_inputs(*fusion, {.seed = 3});
      const Tensors inputs(drawn.begin(), drawn.end());
      std::vector<double> first;
      for (int threads = 1; threads <= 8; ++threads) {
        RunOptions run;
        run.threads = threads;
        const std::vector<double> got = p.run(inputs, run).at("y").to_doubles();
        if (first.empty()) first = got;
        EXPECT_EQ(got, first) << update << ", " << size << ", " << threads << " threads";
      }
    }
}

// What is not indexed may be cut; the dim of the indices must be whole.
TEST(ScattersOnRanks, AreThoseOfOneRank) {
  for (const char* device : {"cpu", "reference"})
    for (const char* update : kUpdates)
      for (const char* layout : {" {0: tp}", " {1: tp}", " {2: tp}"})
        for (int64_t ranks : {2, 3}) {
          CaseOptions how;
          how.device = device;
          how.ranks = ranks;
          const CaseResult result = run_case(along_each_dim(update, "", "mesh @m (tp = t)\n", layout), how);
          EXPECT_TRUE(result.ok) << device << ", " << update << layout << " on " << ranks << ": " << result.message;
        }
}

// A range tells of no offence but those outside of all, at the position of the whole index.
TEST(ScattersWithRanges, NameTheFirstIndexOutside) {
  for (const char* pin : {"nest(ranges = 1)", "nest(ranges = 4)"}) {
    const auto fusion = parse_fusion(fmt::format(
        "fusion @f (%x: f32[90], %i: i64[60], %s: f32[60]) -> (%y) {{\n"
        "  segment @s (%x, %i, %s) -> (%y) schedule {} {{\n    %y = scatter(%x, %i, %s, dim = 0)\n  }}\n}}\n",
        pin));
    Compiled p = compile(*fusion, {.device = "cpu"});
    std::vector<double> index(60, 89);
    index[41] = 90, index[17] = -2, index[50] = 1e12;
    const Tensor x = Tensor::from_doubles(DType::f32, {90}, std::vector<double>(90, 1));
    const Tensor s = Tensor::from_doubles(DType::f32, {60}, std::vector<double>(60, 2));
    for (int threads : {1, 4}) {
      try {
        p.run({{"x", x}, {"i", Tensor::from_doubles(DType::i64, {60}, index)}, {"s", s}}, {.threads = threads});
        ADD_FAILURE() << pin;
      } catch (const UserError& e) {
        EXPECT_EQ(e.message(), "index -2 at [17] of %i lies outside of the 90 places along dim 0 of %x") << pin;
      }
    }
  }
}

}  // namespace
}  // namespace plait
