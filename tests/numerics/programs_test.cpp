// The programs of docs/examples on every device, dtype and number of ranks they are for.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "reference/draw_inputs.h"
#include "reference/evaluate.h"
#include "session/devices.h"
#include "support/examples.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::example;
using testing::run_case;

using Settings = std::map<std::string, std::string, std::less<>>;

CaseResult run_text(const std::string& text, const std::string& device, int64_t ranks, Settings set) {
  CaseOptions how;
  how.device = device;
  how.ranks = ranks;
  how.set = std::move(set);
  CaseResult result = run_case(text, how);
  EXPECT_TRUE(result.ok) << result.message << " on " << device << ", " << ranks << " ranks:\n" << text;
  EXPECT_LE(result.max_error, 1);
  return result;
}

CaseResult run(const std::string& name, const std::string& device, int64_t ranks, Settings set) {
  return run_text(example(name), device, ranks, std::move(set));
}

// The program with another dim of its first input cut.
std::string cut_elsewhere(const std::string& name, const std::string& annotated, const std::string& instead) {
  std::string text = example(name);
  size_t at = text.find(annotated);
  EXPECT_NE(at, std::string::npos) << name << " has no " << annotated;
  for (; at != std::string::npos; at = text.find(annotated, at + instead.size()))
    text.replace(at, annotated.size(), instead);
  return text;
}

// Whether the CPU's library computes products of the type on this host.
bool library_takes(const std::string& dtype) {
  const DType type = *parse_dtype(dtype);
  return find_device("cpu", {}).library({type, type, true}, nullptr) != nullptr;
}

class Programs : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  std::string device() const { return std::get<0>(GetParam()); }
  std::string dtype() const { return std::get<1>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(
    All, Programs, ::testing::Combine(::testing::Values("cpu", "reference"), ::testing::Values("f32", "f64", "bf16")),
    [](const auto& info) { return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param); });

TEST_P(Programs, MlpBlock) {
  for (const char* b : {"4", "1", "3"}) run("mlp_block", device(), 1, {{"T", dtype()}, {"b", b}, {"s", "7"}});
}

TEST_P(Programs, TpMlp) {
  for (int64_t ranks = 1; ranks <= 4; ++ranks) {
    CaseResult r = run("tp_mlp", device(), ranks, {{"T", dtype()}});
    EXPECT_EQ(r.collectives, ranks > 1 ? 1 : 0);
    if (device() == "cpu" && library_takes(dtype())) {
      EXPECT_EQ(r.kernels, 2);
      EXPECT_EQ(r.library_calls, 2);
    }
    int pointwise = 0;
    for (const auto& k : r.report.kernels) pointwise += k.schedule.rfind("pointwise", 0) == 0;
    EXPECT_EQ(pointwise, 2);
  }
}

// Operands that lie transposed, and results that are their operand's memory: of one another, of an input, twice.
TEST_P(Programs, TransposedOperandsAndViews) {
  const std::string text = R"(
let a = 5, b = 3, n = 7, k = 9, T = f32
fusion @views (%x: T[k, a], %w: T[n, k], %q: T[b, a, k], %r: T[b, n, k], %s: T[b, k, a])
  -> (%p1, %p2, %p3, %p4, %y, %y2, %z, %v, %t) {
  %xt = permute(%x, dims = [1, 0])
  %wt = permute(%w, dims = [1, 0])
  %rt = permute(%r, dims = [0, 2, 1])
  %st = permute(%s, dims = [0, 2, 1])
  %p1 = matmul(%xt, %wt)
  %p2 = matmul(%q, %rt)
  %p3 = matmul(%st, %rt)
  %p4 = matmul(%q, %wt)
  %e = exp(%p1)
  %y = reshape(%e, shape = [n, a])
  %y2 = unsqueeze(%e, dims = [0])
  %z = neg(%y)
  %v = reshape(%q, shape = [b * k, a])
  %t = permute(%r, dims = [0, 2, 1])
}
)";
  for (const char* b : {"3", "1", "0"}) {
    const CaseResult r = run_text(text, device(), 1, {{"T", dtype()}, {"b", b}, {"k", "9"}});
    if (device() == "cpu" && library_takes(dtype())) {
      EXPECT_EQ(r.library_calls, 4);
    }
  }
  run_text(text, device(), 1, {{"T", dtype()}, {"k", "0"}});
  run_text(text, device(), 1, {{"T", dtype()}, {"a", "16"}, {"n", "32"}, {"k", "64"}});
}

TEST_P(Programs, TpMlpUnevenAndEmpty) {
  CaseResult uneven = run("tp_mlp", device(), 3, {{"T", dtype()}, {"sb", "5"}, {"h", "33"}});  // 512 over 3
  EXPECT_TRUE(uneven.uneven);
  CaseResult empty = run("tp_mlp", device(), 4, {{"T", dtype()}, {"sb", "3"}, {"h", "6"}, {"h4", "5"}});  // 2 2 1 0
  EXPECT_TRUE(empty.empty);
  EXPECT_EQ(empty.report.local_shapes.at("linear1"),
            (std::vector<std::vector<int64_t>>{{3, 2}, {3, 2}, {3, 1}, {3, 0}}));
}

TEST_P(Programs, SpToy) {
  CaseResult r = run("sp_toy", device(), 3, {{"T", dtype()}});
  EXPECT_EQ(r.collectives, 2);
  EXPECT_EQ(r.report.local_shapes.at("y"), (std::vector<std::vector<int64_t>>{{4, 4, 5}, {4, 4, 5}, {4, 4, 5}}));
  run("sp_toy", device(), 3, {{"T", dtype()}, {"s", "2"}});  // 1 1 0
}

TEST_P(Programs, Mlp2d) {
  CaseResult r = run("mlp_2d", device(), 4, {{"T", dtype()}, {"sb", "7"}});
  EXPECT_EQ(r.collectives, 1);
}

// Rows that divide, do not, and do not reach the last rank; then columns, whose maxima and sums stay pending.
TEST_P(Programs, Softmax) {
  const std::string columns = cut_elsewhere("softmax", "{0: tp}", "{1: tp}");
  for (int64_t ranks = 1; ranks <= 4; ++ranks) {
    EXPECT_EQ(run("softmax", device(), ranks, {{"T", dtype()}, {"rows", "12"}, {"n", "48"}}).collectives, 0);
    CaseResult cut = run_text(columns, device(), ranks, {{"T", dtype()}, {"rows", "5"}, {"n", "37"}});
    EXPECT_EQ(cut.collectives, ranks > 1 ? 2 : 0);
    EXPECT_EQ(cut.uneven, ranks > 1);
  }
  EXPECT_TRUE(run("softmax", device(), 4, {{"T", dtype()}, {"rows", "3"}, {"n", "1"}}).empty);
  EXPECT_TRUE(run_text(columns, device(), 4, {{"T", dtype()}, {"rows", "3"}, {"n", "5"}}).empty);  // 2 2 1 0
}

TEST_P(Programs, LayerNorm) {
  const std::string columns = cut_elsewhere("layer_norm", "{0: tp}", "{1: tp}");
  for (int64_t ranks = 1; ranks <= 4; ++ranks) {
    EXPECT_EQ(run("layer_norm", device(), ranks, {{"T", dtype()}, {"tokens", "12"}, {"h", "32"}}).collectives, 0);
    CaseResult cut = run_text(columns, device(), ranks, {{"T", dtype()}, {"tokens", "7"}, {"h", "35"}});
    EXPECT_EQ(cut.collectives, ranks > 1 ? 2 : 0);  // the sum, then that of the squares
    EXPECT_EQ(cut.uneven, ranks > 1);
  }
  EXPECT_TRUE(run("layer_norm", device(), 4, {{"T", dtype()}, {"tokens", "2"}, {"h", "1"}}).empty);
  EXPECT_TRUE(run_text(columns, device(), 4, {{"T", dtype()}, {"tokens", "2"}, {"h", "3"}}).empty);
}

// Heads need nothing of each other; positions gather the keys and values.
TEST_P(Programs, Attention) {
  const std::string positions = cut_elsewhere("attention", "{1: tp}", "{2: tp}");
  for (int64_t ranks = 1; ranks <= 4; ++ranks) {
    const Settings small = {{"T", dtype()}, {"s", "7"}, {"d", "4"}, {"b", "1"}};
    CaseResult heads = run("attention", device(), ranks, small);
    EXPECT_EQ(heads.collectives, 0);
    EXPECT_EQ(heads.uneven, ranks == 3);  // 6 6 4
    CaseResult cut = run_text(positions, device(), ranks, small);
    EXPECT_EQ(cut.collectives, ranks > 1 ? 2 : 0);
    EXPECT_EQ(cut.uneven, ranks > 1);
  }
  EXPECT_TRUE(run("attention", device(), 4, {{"T", dtype()}, {"heads", "3"}, {"s", "5"}}).empty);
  EXPECT_TRUE(run_text(positions, device(), 4, {{"T", dtype()}, {"heads", "2"}, {"s", "5"}}).empty);
}

// Classes cut: the logits stay where they are, and the maximum and three sums of each row are exchanged.
TEST_P(Programs, CrossEntropy) {
  const std::string tokens = cut_elsewhere("cross_entropy", "{1: tp}", "{0: tp}");
  for (int64_t ranks = 1; ranks <= 4; ++ranks) {
    CaseResult classes = run("cross_entropy", device(), ranks, {{"T", dtype()}, {"tokens", "6"}, {"classes", "48"}});
    EXPECT_EQ(classes.collectives, ranks > 1 ? 3 : 0);
    CaseResult cut = run_text(tokens, device(), ranks, {{"T", dtype()}, {"tokens", "7"}, {"classes", "11"}});
    EXPECT_EQ(cut.collectives, ranks > 1 ? 1 : 0);
    EXPECT_EQ(cut.uneven, ranks > 1);
  }
  EXPECT_TRUE(run("cross_entropy", device(), 4, {{"T", dtype()}, {"tokens", "2"}, {"classes", "5"}}).empty);
  EXPECT_TRUE(run_text(tokens, device(), 4, {{"T", dtype()}, {"tokens", "5"}, {"classes", "2"}}).empty);
}

TEST_P(Programs, TransformerBlock) {
  const Settings small = {{"T", dtype()}, {"b", "1"}, {"s", "6"}, {"h", "32"}, {"n", "4"}, {"h4", "64"}};
  for (int64_t ranks = 1; ranks <= 4; ++ranks) {
    CaseResult r = run("transformer_block", device(), ranks, small);
    EXPECT_EQ(r.collectives, ranks > 1 ? 2 : 0);
    EXPECT_EQ(r.report.wire_bytes, r.report.wire_bytes_min);
    EXPECT_EQ(r.uneven, ranks == 3);  // 4 heads: 2 2 0
    if (device() == "cpu" && library_takes(dtype())) {
      EXPECT_EQ(r.library_calls, 8);
    }
  }
  const Settings empty = {{"T", dtype()}, {"b", "1"}, {"s", "3"}, {"h", "7"}, {"n", "3"}, {"h4", "5"}};
  EXPECT_TRUE(run("transformer_block", device(), 4, empty).empty);  // heads 1 1 1 0, hidden units 2 2 1 0
}

// With the sequence cut outside of the products: gathered before each half of the block, scattered after it.
TEST_P(Programs, TransformerBlockSequenceParallel) {
  const Settings small = {{"T", dtype()}, {"b", "2"}, {"s", "6"}, {"h", "16"}, {"n", "4"}, {"h4", "32"}};
  std::string text = cut_elsewhere("transformer_block", "%x: T[b, s, h]", "%x: T[b, s, h] {1: tp}");
  text.replace(text.find("-> (%y)"), 7, "-> (%y {1: tp})");
  for (int64_t ranks = 1; ranks <= 4; ++ranks) {
    CaseResult r = run_text(text, device(), ranks, small);
    EXPECT_EQ(r.collectives, ranks > 1 ? 4 : 0);
    EXPECT_EQ(r.report.wire_bytes, r.report.wire_bytes_min);
  }
}

// At the sizes that the files name.
TEST(ProgramsRow, LongRunExamplesAtFullSize) {
  for (const char* name : {"softmax", "layer_norm", "attention", "cross_entropy", "transformer_block"})
    for (const char* device : {"cpu", "reference"})
      for (const char* dtype : {"f32", "f64", "bf16"})
        for (int64_t ranks = 1; ranks <= 4; ++ranks) run(name, device, ranks, {{"T", dtype}});
}

TEST(ProgramsRow, A9SimpleAdd) {
  auto fusion = parse_fusion(example("simple_add"));
  Compiled p = compile(*fusion, {.device = "cpu"});
  auto y = p.run({{"a", Tensor::from_doubles(DType::f32, {4}, {1, 2, 3, 4})},
                  {"b", Tensor::from_doubles(DType::f32, {4}, {5, 6, 7, 8})}});
  EXPECT_EQ(y.at("c").to_doubles(), (std::vector<double>{6, 8, 10, 12}));
}

// Ranks may exchange pending sums wide: twice the bytes, the same bound.
TEST(ProgramsRow, ReduceDtypeKeepsPendingSumsWide) {
  CaseOptions how;
  how.ranks = 4;
  how.set = {{"T", "bf16"}};
  CaseResult narrow = run_case(example("tp_mlp"), how);
  how.options.reduce_dtype = "f32";
  CaseResult wide = run_case(example("tp_mlp"), how);
  EXPECT_TRUE(wide.ok) << wide.message;
  EXPECT_EQ(wide.report.wire_bytes, 2 * narrow.report.wire_bytes);
  EXPECT_EQ(wide.kernels, narrow.kernels);
}

// Row B1: flat tolerances beside the bound, parameters scaled by 0.02.
TEST(ProgramsRow, B1Tolerances) {
  auto fusion = parse_fusion(example("tp_mlp"));
  auto inputs = reference::draw_inputs(*fusion, {});
  auto want = reference::evaluate(*fusion, inputs);
  for (int64_t ranks = 1; ranks <= 4; ++ranks) {
    CompileOptions how;
    how.device = "cpu";
    how.ranks = ranks;
    auto got = compile(*fusion, how).run({inputs.begin(), inputs.end()});
    const std::pair<const char*, double> tolerances[] = {
        {"linear1", 0.01}, {"gelu", 0.01}, {"linear2", 0.02}, {"dropout", 0.02}};
    for (const auto& [name, tolerance] : tolerances)
      for (int64_t i = 0; i < got.at(name).elements(); ++i)
        ASSERT_NEAR(got.at(name).at(i), want.at(name).value[i], tolerance) << name << " " << i;
  }
}

// Sizes may change from run to run: symbols make one compiled class serve several.
TEST(ProgramsRow, B5OneCompileSeveralSizes) {
  auto fusion = parse_fusion(example("tp_mlp"));
  CompileOptions how;
  how.device = "cpu";
  how.ranks = 2;
  Compiled p = compile(*fusion, how);
  const Program* first = nullptr;
  for (int64_t sb : {48, 64, 80, 16}) {
    reference::DrawOptions draw;
    draw.sizes["sb"] = sb;
    auto inputs = reference::draw_inputs(*fusion, draw);
    auto got = p.run({inputs.begin(), inputs.end()});
    EXPECT_EQ(got.at("dropout").shape, (std::vector<int64_t>{sb, 128}));
    if (!first) first = &p.program();
    EXPECT_EQ(&p.program(), first);
    auto want = reference::evaluate(*fusion, inputs);
    for (int64_t i = 0; i < got.at("dropout").elements(); ++i)
      ASSERT_NEAR(got.at("dropout").at(i), want.at("dropout").value[i], 1e-5);
  }
}

TEST(ProgramsRow, InterleavingsAgreeBitForBit) {
  auto fusion = parse_fusion(example("mlp_2d"));
  auto inputs = reference::draw_inputs(*fusion, {});
  std::vector<double> first;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    CompileOptions how;
    how.device = "cpu";
    how.interleaving = seed;
    auto y = compile(*fusion, how).run({inputs.begin(), inputs.end()}).at("dropout").to_doubles();
    if (first.empty()) first = y;
    EXPECT_EQ(y, first);
  }
}

TEST(ProgramsRow, InputErrorsNameTensorDimAndRemedy) {
  auto fusion = parse_fusion(example("tp_mlp"));
  Compiled p = compile(*fusion, {.device = "cpu"});
  auto good = reference::draw_inputs(*fusion, {});
  auto refused = [&](const std::string& name, Tensor tensor, const std::string& what) {
    Tensors inputs{good.begin(), good.end()};
    inputs[name] = std::move(tensor);
    try {
      p.run(inputs);
      ADD_FAILURE() << what;
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
      EXPECT_NE(e.where().find(name), std::string::npos) << e.what();
      EXPECT_FALSE(e.remedy().empty());
    }
  };
  refused("w0", Tensor::empty(DType::f32, {512, 127}), "h is 128 by %x dim 1");
  refused("x", Tensor::empty(DType::f32, {64}), "expected 2 dims, got 1");
  refused("b1", Tensor::empty(DType::f64, {128}), "dtype f64 does not fit");
  Tensors missing{good.begin(), good.end()};
  missing.erase("w1");
  EXPECT_THROW(p.run(missing), UserError);
  Tensors extra{good.begin(), good.end()};
  extra["w2"] = Tensor::empty(DType::f32, {1});
  EXPECT_THROW(p.run(extra), UserError);
  EXPECT_NO_THROW(p.run({good.begin(), good.end()}));  // a refused call leaves the program usable
}

}  // namespace
}  // namespace plait
