// Few specializations serve all sizes, and each size is right.
#include <gtest/gtest.h>

#include "compile/ask_multiples.h"
#include "plait.h"
#include "reference/check.h"
#include "reference/draw_inputs.h"
#include "reference/evaluate.h"

namespace plait {
namespace {

struct Case {
  const char* name;
  const char* text;
  size_t classes = 3;       // none, whole vectors, others
  size_t more_of_auto = 0;  // classes that a choice of who contracts adds
};

const Case kCases[] = {
    {"pointwise",
     "let n = 4\nfusion @f (%x: f32[n], %w: bf16[3, n]) -> (%y) {\n  %e = exp(%x)\n  %y = add(%e, %w)\n}\n"},
    {"broadcast", "let n = 4\nfusion @f (%x: f32[n, 5], %w: f32[n, 1]) -> (%y) {\n  %y = mul(%x, %w)\n}\n"},
    {"reductions",
     "let n = 4\nfusion @f (%x: f32[n, 5], %w: f32[6, n]) -> (%y, %z, %m) {\n  %y = sum(%x, dims = [0])\n"
     "  %z = sum(%w, dims = [1])\n  %m = mean(%x, dims = [1])\n}\n"},
    {"normalised",
     "let n = 4\nfusion @f (%x: f32[3, n], %w: f32[n]) -> (%y, %z) {\n  %y = softmax(%x, dim = 1)\n"
     "  %z = rms_norm(%x, %w)\n}\n"},
    {"contractions",
     "let n = 4\nfusion @f (%x: f32[n, 7], param %w: f32[5, 7], %v: f32[6, n], %u: f32[3, n]) -> (%y, %z) {\n"
     "  %y = linear(%x, %w)\n  %z = linear(%v, %u)\n}\n",
     3, 1},  // few rows
    {"moves",
     "let n = 4\nfusion @f (%x: f32[n, 5], %w: f32[n, 5]) -> (%y, %z) {\n  %t = permute(%x, dims = [1, 0])\n"
     "  %y = exp(%t)\n  %z = cat(%x, %w, dim = 0)\n}\n",
     4},  // of 2 n rows too
    {"random",
     "let n = 4\nfusion @f (%x: f32[n, 3], %seed: u64[]) -> (%y) {\n  %y = dropout(%x, p = 0.3, seed = %seed)\n}\n"},
};

class Specializations : public ::testing::TestWithParam<std::tuple<Case, const char*>> {};

TEST_P(Specializations, EverySizeIsRightAndFewServeAll) {
  const auto& [which, contractions] = GetParam();
  auto fusion = parse_fusion(which.text);
  CompileOptions how;
  how.device = "cpu";
  how.options.contractions = contractions;
  how.options.cpu_lanes = 16;
  Compiled program = compile(*fusion, how);
  for (int64_t n = 0; n < 40; ++n) {
    reference::DrawOptions draw;
    draw.sizes["n"] = n;
    const auto drawn = reference::draw_inputs(*fusion, draw);
    const Tensors got = program.run(Tensors(drawn.begin(), drawn.end()));
    const auto check = reference::compare(reference::evaluate(*fusion, drawn), {got.begin(), got.end()});
    EXPECT_TRUE(check.outcome() != reference::Outcome::wrong) << "n = " << n << ": " << check.message;
  }
  EXPECT_EQ(program.classes(), which.classes + (contractions == std::string("auto") ? which.more_of_auto : 0));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Specializations,
                         ::testing::Combine(::testing::ValuesIn(kCases), ::testing::Values("auto", "nest")),
                         [](const auto& info) {
                           return fmt::format("{}_{}", std::get<0>(info.param).name, std::get<1>(info.param));
                         });

std::vector<std::string> asked(const std::string& text, const DeviceMesh& mesh, const Target& target) {
  std::vector<std::string> out;
  for (const MultipleQuestion& q : multiple_questions(*parse_fusion(text), mesh, target))
    out.push_back(fmt::format("{} of {} by {}", q.multiple, q.symbol, q.asked_by));
  return out;
}

using Texts = std::vector<std::string>;
const std::string kPlain = "fusion @f (%x: f32[n, m]) -> (%y) {\n  %y = exp(%x)\n}\n";

TEST(Multiples, OfRowsAreAskedForTheirLanes) {
  const DeviceMesh one;
  Target cpu;
  cpu.vector_lanes = 16;
  EXPECT_EQ(asked(kPlain, one, cpu), Texts{"16 of m by rows of %x"});
  EXPECT_EQ(asked(kPlain, one, target_named("sm_80")), Texts{"4 of m by rows of %x"});
  EXPECT_EQ(asked("fusion @f (%x: bf16[m]) -> (%y) {\n  %y = exp(%x)\n}\n", one, target_named("sm_80")),
            (Texts{"8 of m by rows of %x", "4 of m by rows of %x"}));
  EXPECT_EQ(asked("fusion @f (%x: f64[m]) -> (%y) {\n  %y = exp(%x)\n}\n", one, cpu),
            (Texts{"16 of m by rows of %x", "8 of m by rows of %x"}));
  cpu.vector_lanes = 8;
  EXPECT_EQ(asked(kPlain, one, cpu), (Texts{"16 of m by rows of %x", "8 of m by rows of %x"}));
}

TEST(Multiples, OfTheReferenceAreThoseOfNoMachine) {
  Target reference;
  reference.kind = TargetKind::reference;
  for (reference.vector_lanes = 4; reference.vector_lanes <= 16; reference.vector_lanes *= 2)
    EXPECT_EQ(asked(kPlain, DeviceMesh(), reference), Texts{"16 of m by rows of %x"});
}

TEST(Multiples, OfDimsBesideWholeRowsAreNotAsked) {
  const DeviceMesh one;
  Target cpu;
  cpu.vector_lanes = 16;
  const auto rows = [&](const std::string& shape) {
    return asked("fusion @f (%x: f32[" + shape + "]) -> (%y) {\n  %y = exp(%x)\n}\n", one, cpu);
  };
  EXPECT_EQ(rows("n, 64"), Texts{});
  EXPECT_EQ(rows("n, 4, 4"), Texts{});
  EXPECT_EQ(rows("n, 24"), Texts{"2 of n by rows of %x"});
  EXPECT_EQ(rows("n, 5"), Texts{"16 of n by rows of %x"});
  EXPECT_EQ(rows("n, 1"), Texts{});
  EXPECT_EQ(rows("n, 0"), Texts{});
  EXPECT_EQ(rows("4*n"), Texts{"4 of n by rows of %x"});
  EXPECT_EQ(rows("16*n"), Texts{});
  EXPECT_EQ(rows("n*m"), (Texts{"16 of m by rows of %x", "16 of n by rows of %x"}));
  EXPECT_EQ(rows(""), Texts{});
}

TEST(Multiples, OfCompositesAreThoseOfTheirRows) {
  Target cpu;
  cpu.vector_lanes = 16;
  EXPECT_EQ(asked("fusion @f (%q: f32[s, 64], %k: f32[t, 64], %v: f32[t, 64]) -> (%y) {\n"
                  "  %a = linear(%q, %k)\n  %b = softmax(%a, dim = 1)\n  %y = matmul(%b, %v)\n}\n",
                  DeviceMesh(), cpu),
            Texts{"16 of t by rows of %a"});
  EXPECT_EQ(asked("fusion @f (%x: f32[n, 64]) -> (%y) {\n  %y = softmax(%x, dim = 1)\n}\n", DeviceMesh(), cpu),
            Texts{});
}

TEST(Multiples, OfPiecesAndQuotients) {
  Target cpu;
  cpu.vector_lanes = 16;
  EXPECT_EQ(asked(kPlain, DeviceMesh({4}), cpu),
            (Texts{"16 of m by rows of %x", "4 of m by pieces of the mesh", "2 of m by pieces of the mesh",
                   "4 of n by pieces of the mesh", "2 of n by pieces of the mesh"}));
  EXPECT_EQ(asked("fusion @f (%x: f32[n, 64]) -> (%y) {\n  %y = slice(%x, dim = 0, start = 0, stop = n, step = 3)\n}\n",
                  DeviceMesh(), cpu),
            (Texts{"16 of n by quotients of %y", "8 of n by quotients of %y", "4 of n by quotients of %y",
                   "2 of n by quotients of %y"}));
}

size_t classes_of(const std::string& text, bool backwards, std::map<std::string, std::string>& keys) {
  const auto fusion = parse_fusion(text);
  CompileOptions how;
  how.device = "cpu";
  how.options.cpu_lanes = 16;
  Compiled program = compile(*fusion, how);
  for (int64_t i = 0; i < 40; ++i)
    for (int64_t j = 0; j < 40; ++j) {
      const int64_t n = backwards ? 39 - i : i, m = backwards ? 39 - j : j;
      const TensorView& x = *fusion->inputs()[0];
      program.prepare(
          {{"x", {x.dtype, x.extent(1).constant() ? std::vector<int64_t>{n, 64} : std::vector<int64_t>{n, m}}}});
      std::string key;
      for (const auto& answer : program.guards()) key += print(answer) + ", ";
      const auto [it, fresh] = keys.emplace(fmt::format("{} {}", n, m), key);
      EXPECT_TRUE(fresh || it->second == key) << it->first << ": " << it->second << " and " << key;
      if (x.extent(1).constant()) break;
    }
  return program.classes();
}

TEST(ClassesOfSizes, AreFewAndTheSameInAnyOrder) {
  std::map<std::string, std::string> keys;
  EXPECT_EQ(classes_of(kPlain, false, keys), 6u);
  EXPECT_EQ(classes_of(kPlain, true, keys), 6u);
  std::map<std::string, std::string> of_batches;
  const std::string batches = "fusion @f (%x: f32[n, 64]) -> (%y) {\n  %y = softmax(%x, dim = 1)\n}\n";
  EXPECT_EQ(classes_of(batches, false, of_batches), 2u);
  EXPECT_EQ(classes_of(batches, true, of_batches), 2u);
}

}  // namespace
}  // namespace plait
