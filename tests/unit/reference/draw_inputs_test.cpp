// Drawn inputs: fixed by the seed; in exact-integer mode every stored value and every partial sum is exact.
#include "reference/draw_inputs.h"

#include <algorithm>
#include <cmath>

#include "helpers.h"
#include "reference/check.h"
#include "scalar/convert.h"
#include "scalar/philox.h"

namespace plait::reference {
namespace {

TEST(Draw, NormalScaledAndSeeded) {
  auto f = parse_fusion(
      "let n = 6\nfusion @t (%x: f32[n], param %w: bf16[2, n], %s: u64[], %c: bool[100], %i: i64[50]) -> (%y) {\n%y = "
      "neg(%x)\n}\n");
  const auto drawn = draw_inputs(*f, {.seed = 42});
  ASSERT_EQ(drawn.size(), 5u);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(drawn.at("x").at(i), double(float(normal(42, i, 0))));
  for (int i = 0; i < 12; ++i) EXPECT_EQ(drawn.at("w").at(i), round_to(DType::bf16, 0.02 * normal(42, i, 1)));
  EXPECT_EQ(drawn.at("s").at(0), 42);
  double coins = 0;
  for (int i = 0; i < 100; ++i) coins += drawn.at("c").at(i);
  EXPECT_GT(coins, 25);
  EXPECT_LT(coins, 75);
  for (int i = 0; i < 50; ++i) EXPECT_LE(std::abs(drawn.at("i").at(i)), 8);
  const auto larger = draw_inputs(*f, {.seed = 42, .sizes = {{"n", 9}}});
  EXPECT_EQ(larger.at("w").shape, (Shape{2, 9}));
  const auto given = draw_inputs(*f, {.given = {{"x", f32({4}, {1, 2, 3, 4})}}});
  EXPECT_EQ(given.at("x").at(3), 4);
  EXPECT_EQ(given.at("w").shape, (Shape{2, 4}));
}

double largest(const Tensor& tensor) {
  double out = -kInfinity;
  for (double v : tensor.to_doubles()) {
    EXPECT_GE(v, 0);
    out = std::max(out, v);
  }
  return out;
}

// An index is drawn inside of what it looks up, however it gets there.
TEST(Draw, IndicesBehindMovesLieInside) {
  const std::string table = "%x: f32[5, 6], %i: i64[300]";
  for (const char* body :
       {"%j = unsqueeze(%i, dims = [1])\n%e = expand(%j, shape = [300, 6])\n%y = gather(%x, %e, dim = 0)",
        "%j = reshape(%i, shape = [10, 30])\n%y = index_select(%x, %j, dim = 0)",
        "%j = cast(%i, to = i32)\n%y = embedding(%j, %x)",
        "%a = flip(%i, dims = [0])\n%b = cat(%a, %i, dim = 0)\n%j = slice(%b, dim = 0, start = 0, stop = 450)\n"
        "%y = one_hot(%j, classes = 5, dtype = f32)",
        "%a = stack(%i, %i)\n%s = full(shape = [2, 300], value = 1, dtype = f32)\n"
        "%z = full(shape = [5, 300], value = 0, dtype = f32)\n%y = scatter(%z, %a, %s, dim = 0, update = add)",
        "%k = iota(shape = [9], dim = 0)\n%j = index_select(%i, %k, dim = 0)\n%y = index_select(%x, %j, dim = 0)"})
    for (const bool exact : {false, true})
      EXPECT_EQ(largest(draw_inputs(*fusion(table, "%y", body), {.seed = 2, .exact = exact}).at("i")), 4) << body;
  const auto doubled = fusion(table, "%y", "%j = add(%i, %i)\n%y = index_select(%x, %j, dim = 0)");
  const auto free = draw_inputs(*doubled, {.seed = 2}).at("i").to_doubles();
  EXPECT_LT(*std::min_element(free.begin(), free.end()), 0) << "a sum is no move";
}

TEST(Draw, StatedRangesAreKept) {
  const auto f = parse_fusion(
      "let v = 40\nfusion @t (%x: f32[5], %i: i64[2000] in 3..v, %j: i8[2000] in -2..1, %k: i64[2000] in 1..v) -> (%y, "
      "%z, %s) {\n%y = add(%i, %i)\n%z = neg(%j)\n%s = index_select(%x, %k, dim = 0)\n}\n");
  for (const int64_t v : {40, 7}) {
    const auto drawn = draw_inputs(*f, {.seed = 5, .sizes = {{"v", v}}});
    const auto ends = [&](const char* name) {
      const std::vector<double> values = drawn.at(name).to_doubles();
      const auto [least, most] = std::minmax_element(values.begin(), values.end());
      return std::pair(*least, *most);
    };
    EXPECT_EQ(ends("i"), std::pair(3.0, double(v - 1)));
    EXPECT_EQ(ends("j"), std::pair(-2.0, 0.0));
    EXPECT_EQ(ends("k"), std::pair(1.0, 4.0)) << "what is looked up has 5 elements";
  }
  EXPECT_THROW(draw_inputs(*f, {.sizes = {{"v", 3}}}), UserError);
}

TEST(Exact, RefusesWhatLeavesTheIntegers) {
  const auto why = [](const std::string& body) {
    std::string reason;
    auto f = fusion("%x: f32[4], %s: u64[]", "%y", body);
    const bool ok = supports_exact(*f, &reason);
    EXPECT_EQ(ok, reason.empty());
    if (!ok) {
      EXPECT_THROW(draw_inputs(*f, {.exact = true}), UserError);
    }
    return reason;
  };
  EXPECT_EQ(why("%t = relu(%x)\n%y = mul(%t, %x)"), "");
  EXPECT_EQ(why("%y = dropout(%x, p = 0.75, seed = %s)"), "");
  EXPECT_NE(why("%y = dropout(%x, p = 0.1, seed = %s)").find("dropout: %y"), std::string::npos);
  EXPECT_NE(why("%t = exp(%x)\n%y = add(%t, %x)").find("exp: %t"), std::string::npos);
  EXPECT_NE(why("%t = div(%x, %x)\n%y = add(%t, %x)").find("div"), std::string::npos);
  EXPECT_NE(why("%t = gelu(%x)\n%y = add(%t, %x)").find("gelu"), std::string::npos);
  EXPECT_NE(why("%t = full(shape = [], value = 0.5, dtype = f32)\n%y = add(%t, %x)").find("full"), std::string::npos);
  EXPECT_EQ(why("%t = full(shape = [], value = 0.5, dtype = f32)\n%g = ge(%x, %t)\n%y = where(%g, %x, %x)"), "");
  EXPECT_EQ(why("%t = uniform(shape = [4], seed = %s)\n%g = lt(%t, %x)\n%y = where(%g, %x, %x)"), "");
  EXPECT_NE(why("%t = uniform(shape = [4], seed = %s)\n%y = add(%t, %x)").find("uniform"), std::string::npos);
}

std::string mlp(const std::string& mesh, const std::string& dtype, int64_t rows, int64_t h, int64_t wide) {
  const auto n = [](int64_t v) { return std::to_string(v); };
  return (mesh.empty() ? std::string() : "mesh @m (" + mesh + ")\n") + "fusion @t " + (mesh.empty() ? "" : "on @m ") +
         "(%x: " + dtype + "[" + n(rows) + ", " + n(h) + "], param %w0: " + dtype + "[" + n(wide) + ", " + n(h) +
         "], param %b0: " + dtype + "[" + n(wide) + "], param %w1: " + dtype + "[" + n(h) + ", " + n(wide) +
         "], param %b1: " + dtype + "[" + n(h) + "], %s: u64[]) -> (%h, %a, %p, %y) {\n" +
         "%h = linear(%x, %w0, %b0)\n%a = relu(%h)\n%p = linear(%a, %w1, %b1)\n%y = dropout(%p, p = 0.5, seed = "
         "%s)\n}\n";
}

// Every stored value is an integer within the dtype; the sums of |terms| are within the dtype of partial sums.
TEST(Exact, EveryValueAndPartialSumIsExact) {
  for (const char* dtype : {"f32", "bf16", "f16", "f64"})
    for (const auto& [h, wide] : {std::pair<int64_t, int64_t>{4, 8}, {64, 256}, {128, 512}})
      for (const char* mesh : {"", "tp = 2"}) {
        auto f = parse_fusion(mlp(mesh, dtype, 16, h, wide));
        const auto inputs = draw_inputs(*f, {.seed = 3, .exact = true});
        const auto results = evaluate(*f, inputs, {.radius = false, .spread = true, .all = true});
        for (const auto& [tensor, array] : results) {
          if (!is_float(array.dtype)) continue;
          const double most = double(max_exact_integer(array.dtype));
          double nonzero = 0;
          for (double v : array.value) {
            ASSERT_EQ(v, std::trunc(v));
            ASSERT_LE(std::abs(v), most) << tensor;
            nonzero += v != 0;
          }
          EXPECT_GT(nonzero, 0) << dtype << " " << tensor << " is all zero";
          for (double s : array.spread)
            ASSERT_LE(s, *mesh ? most : double(max_exact_integer(accumulation_type(array.dtype))));
        }
      }
}

// One term of a product is left out: the check by equality sees it, at any length.
TEST(Exact, DroppedTermIsCaught) {
  for (const char* dtype : {"f32", "bf16"}) {
    auto f = parse_fusion(mlp("tp = 2", dtype, 16, 64, 256));
    const auto inputs = draw_inputs(*f, {.seed = 3, .exact = true});
    auto results = evaluate(*f, inputs, {.all = true});
    const Array &x = results.at("x"), &w = results.at("w0"), &h = results.at("h");
    int dropped = 0;
    for (int64_t e = 0; e < 50; ++e)
      for (int64_t k = 0; k < 64; ++k) {
        const double term = x.value[e / 256 * 64 + k] * w.value[e % 256 * 64 + k];
        if (term == 0) continue;
        Values values = h.value;
        values[e] -= term;
        ++dropped;
        EXPECT_FALSE(compare("h", h, Tensor::from_doubles(h.dtype, h.shape, values), {.exact = true}).ok);
        break;
      }
    EXPECT_GT(dropped, 10);
    EXPECT_TRUE(compare("h", h, to_tensor(h), {.exact = true}).ok);
  }
}

TEST(Exact, GivenInputsAndHopelessSizes) {
  auto f = fusion("%x: f32[2], %c: f32[2]", "%y", "%y = mul(%x, %c)");
  EXPECT_THROW(draw_inputs(*f, {.exact = true, .given = {{"x", f32({2}, {0.5, 1})}}}), UserError);
  EXPECT_EQ(draw_inputs(*f, {.exact = true, .given = {{"x", f32({2}, {4, 5})}}}).at("x").at(1), 5);
  EXPECT_THROW(draw_inputs(*f, {.exact = true, .given = {{"x", f32({2}, {1 << 23, 5})}, {"c", f32({2}, {4, 4})}}}),
               UserError);
}

}  // namespace
}  // namespace plait::reference
