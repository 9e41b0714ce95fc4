// Shape, type and errors of every op. An error must let the user mend the graph: op, tensors, dims, found values,
// remedy.
#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/fusion.h"

namespace plait {
namespace {

constexpr const char* kHead = R"(
mesh @m (tp = 3)
fusion @f on @m (%x: f32[a, b], %y: f32[b, a], %row: f32[b], %col: f32[a, 1], %s: f32[], %h: bf16[a, b], %d: f64[b],
  %i: i64[a, b], %u: u32[a, b], %c: bool[a, b], %w: f32[n, b], %w3: f32[n, b, 2], %wh: bf16[n, b], %bias: f32[n],
  %bh: bf16[n], %long: f32[9], %m3: f32[5, a, b], %m4: f32[6, b, n], %hh: f16[a, b], %seed: u64[], %seeds: u64[4],
  %e: f32[0, b], %g: f32[4, 12]) -> (%x) {
)";

// Type of `%r = <op>`, or the error's lines.
std::string infer_text(const std::string& statement) {
  try {
    auto fusion = parse_fusion(kHead + ("  %r" + statement + "\n}\n"));
    verify(*fusion);
    return type_text(*fusion->find("r"));
  } catch (const UserError& e) {
    return e.what();
  }
}

using Case = std::pair<const char*, std::vector<const char*>>;  // statement, parts of its error

void expect_errors(const std::vector<Case>& cases) {
  for (const auto& [statement, parts] : cases) {
    const std::string got = infer_text(statement);
    for (const char* part : parts) EXPECT_NE(got.find(part), std::string::npos) << statement << "\n" << got;
  }
}

TEST(Infer, TypesAndShapes) {
  const std::pair<const char*, const char*> kCases[] = {
      {" = add(%x, %x)", "f32[a, b]"},
      {" = add(%x, %row)", "f32[a, b]"},
      {" = mul(%col, %row)", "f32[a, b]"},
      {" = sub(%s, %m3)", "f32[5, a, b]"},
      {" = add(%s, %s)", "f32[]"},
      {" = add(%e, %row)", "f32[0, b]"},
      {" = add(%x, %h)", "f32[a, b]"},
      {" = add(%hh, %h)", "f32[a, b]"},
      {" = add(%x, %d)", "f64[a, b]"},
      {" = add(%i, %h)", "bf16[a, b]"},
      {" = lt(%x, %h)", "bool[a, b]"},
      {" = where(%c, %x, %s)", "f32[a, b]"},
      {" = where(%c, %i, %h)", "bf16[a, b]"},
      {" = cast(%c, to = i64)", "i64[a, b]"},
      {" = exp(%h)", "bf16[a, b]"},
      {" = gelu(%h, approx = none)", "bf16[a, b]"},
      {" = full(shape = [2*a, 3], dtype = u32, value = 7)", "u32[2*a, 3]"},
      {" = full(shape = [], value = true, dtype = bool)", "bool[]"},
      {" = uniform(shape = [a, 0], seed = %seed)", "f32[a, 0]"},
      {" = linear(%x, %w)", "f32[a, n]"},
      {" = linear(%row, %w, %bias)", "f32[n]"},
      {" = linear(%h, %wh)", "bf16[a, n]"},
      {" = linear(%h, %wh, accumulate = true)", "f32[a, n]"},
      {" = linear(%m3, %w)", "f32[5, a, n]"},
      {" = linear(%e, %w)", "f32[0, n]"},
      {" = matmul(%x, %y)", "f32[a, a]"},
      {" = matmul(%h, %h2)", "%h2 is not defined"},
      {" = matmul(%x, %m4)", "f32[6, a, n]"},
      {" = dropout(%h, p = 0, seed = %seed)", "bf16[a, b]"},
      {" = reshard(%h)", "bf16[a, b]"},
      {" = all_reduce(%i, team = tp, reduce = max)", "i64[a, b]"},
      {": f32[4, 36] = all_gather(%g, team = tp, outer = 4, count = 12, total = 36, inner = 1)", "f32[4, 36]"},
  };
  for (const auto& [statement, expected] : kCases) {
    const std::string got = infer_text(statement);
    EXPECT_EQ(got.substr(0, std::string(expected).size() + 1).find(expected), 0u) << statement << ": " << got;
  }
}

TEST(Infer, ErrorsNameWhatIsWrongAndTheRemedy) {
  const std::vector<Case> kCases = {
      {" = add(%x, %y)",
       {"extents differ: dim 0 of %y: f32[b, a] is b, dim 0 of %x: f32[a, b] is a", "add: %r = add(%x, %y)",
        "make them equal, or 1 to broadcast"}},
      {" = add(%m3, %long)", {"dim 0 of %long: f32[9] is 9, dim 2 of %m3: f32[5, a, b] is b"}},
      {" = where(%x, %x, %x)", {"needs a bool condition", "where: %r = where(%x, %x, %x)", "%x: f32[a, b]"}},
      {" = frac(%i)", {"frac", "floats only", "%i: i64[a, b]", "cast"}},
      {" = add(%c, %c)", {"add", "not defined on bool", "%c: bool[a, b]", "cast"}},
      {" = add(%u, %i)", {"without a common type", "%u: u32[a, b]", "%i: i64[a, b]", "cast"}},
      {" = add(%x)", {"add takes 2 operands, found 1", "add: %r = add(%x)"}},
      {" = exp(%x, %x)", {"exp takes 1 operand, found 2"}},
      {" = cast(%x)", {"cast needs its result dtype", "write cast(%x, to = f32)"}},
      {" = add(%x, %x, to = f32)", {"add takes no `to`", "only cast names a dtype"}},
      {" = linear(%x, %y)",
       {"contracted extents differ: dim 1 of %x: f32[a, b] is b, dim 1 of %y: f32[b, a] is a",
        "linear: %r = linear(%x, %y)", "make them equal"}},
      {" = linear(%x, %w3)", {"%w3: f32[n, b, 2] has 3 dims", "the second operand of linear is w[n, k]"}},
      {" = linear(%s, %w)", {"%s: f32[] has 0 dims", "the first operand of linear is x[..., k]"}},
      {" = linear(%h, %w)", {"dtypes differ: %h: bf16[a, b] and %w: f32[n, b]", "cast one of them"}},
      {" = linear(%c, %c)", {"%c: bool[a, b] has no products to add", "cast it first"}},
      {" = linear(%x, %w, %row)",
       {"extents differ: dim 0 of %row: f32[b] is b, dim 0 of %w: f32[n, b] is n",
        "the bias has one element per row of the weight"}},
      {" = linear(%x, %w, %x)", {"%x: f32[a, b] has 2 dims", "the bias of linear is b[n]"}},
      {" = linear(%x, %w, %bh)", {"dtypes differ: %x: f32[a, b] and %bh: bf16[n]"}},
      {" = matmul(%x, %w)",
       {"contracted extents differ: dim 1 of %x: f32[a, b] is b, dim 0 of %w: f32[n, b] is n", "matmul: %r = matmul"}},
      {" = matmul(%m3, %m4)", {"extents differ: dim 0 of %m4: f32[6, b, n] is 6, dim 0 of %m3: f32[5, a, b] is 5"}},
      {" = matmul(%row, %x)", {"%row: f32[b] has 1 dim", "operands of matmul are a[..., m, k] and b[..., k, n]"}},
  };
  expect_errors(kCases);
}

TEST(Infer, ErrorsOfAttributesAndStatedTypes) {
  const std::vector<Case> kCases = {
      {" = dropout(%i, p = 0.5, seed = %seed)", {"%i: i64[a, b] is not floating-point", "dropout: %r = dropout(%i"}},
      {" = dropout(%x, p = 1, seed = %seed)", {"p is 1", "dropout takes 0 <= p < 1"}},
      {" = dropout(%x, p = -0.5, seed = %seed)", {"p is -0.5"}},
      {" = dropout(%x, p = nan, seed = %seed)", {"p is nan"}},
      {" = dropout(%x, p = 0.5, seed = %seeds)", {"the seed is %seeds: u64[4]", "a seed is u64[]"}},
      {" = dropout(%x, p = 0.5, seed = %s)", {"the seed is %s: f32[]", "a seed is u64[]"}},
      {" = dropout(%x, p = 0.5)", {"dropout lacks its operand `seed`", "write seed = %seed"}},
      {" = dropout(%x, seed = %seed)", {"dropout lacks `p`", "write p = 0.1"}},
      {" = uniform(shape = [a - a - 1], seed = %seed)", {"extent -1 is negative", "extents are at least 0"}},
      {" = uniform(seed = %seed)", {"uniform lacks `shape`"}},
      {" = uniform(shape = [a], seed = %seed, global = [a])", {"shape has 1 dims, global 1 and start 0"}},
      {" = full(shape = [a], value = 0)", {"full lacks `dtype`"}},
      {" = full(shape = [a], dtype = f32)", {"full lacks `value`"}},
      {" = full(value = 0, dtype = f32)", {"full lacks `shape`", "shape = []"}},
      {" = full(shape = [-4], value = 0, dtype = f32)", {"extent -4 is negative"}},
      {" = full(shape = [a], value = 0.5, dtype = i64)", {"`0.5` is no i64 constant"}},
      {" = full(shape = [a], value = 1e39, dtype = f32)", {"`1e39` is no f32 constant"}},
      {" = all_reduce(%c, team = tp)", {"%c: bool[a, b] cannot be reduced", "cast it first"}},
      {" = all_gather(%g, team = tp, outer = 4, count = 12, total = 36, inner = 1)",
       {"all_gather needs the type of its result", "write `%y: f32[...] = ...`"}},
      {": f32[4, 36] = all_gather(%g, team = tp, outer = 4, count = 11, total = 36, inner = 1)",
       {"%g: f32[4, 12] has 48 elements, the attributes say 44", "all_gather: %r = all_gather(%g)"}},
      {": f32[4, 3] = local_slice(%g, outer = 4, start = 0, count = 4, total = 12, inner = 1)",
       {"%r: f32[4, 3] has 12 elements, the attributes say 16"}},
      {": f64[4, 4] = local_slice(%g, outer = 4, start = 0, count = 4, total = 12, inner = 1)",
       {"dtypes differ: %g: f32[4, 12] and %r: f64[4, 4]"}},
      {": f32[4, 4] = local_slice(%g, outer = 4, start = 0, count = 4, inner = 1)", {"local_slice lacks `total`"}},
      {": f64[a, b] = exp(%x)", {"%r is f32[a, b], not f64[a, b]", "drop the type or correct it"}},
      {": f32[b, a] = exp(%x)", {"%r is f32[a, b], not f32[b, a]"}},
  };
  expect_errors(kCases);
}

}  // namespace
}  // namespace plait
