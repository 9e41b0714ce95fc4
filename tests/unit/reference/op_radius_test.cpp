// Radii of ops other than pointwise ones: operands moved inside their radii leave the result inside its own, backends
// that add in other orders stay inside, and a planted error of twice the radius does not.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "helpers.h"
#include "reference/check.h"
#include "reference/evaluator.h"
#include "scalar/convert.h"

namespace plait::reference {
namespace {

// One op over operands that have radii of their own.
class OneOp {
 public:
  // Of several results the call names the one that is looked at %y.
  OneOp(const std::string& in, const std::string& call)
      : fusion_(fusion(in, "%y", call.find("%y") == call.npos ? "%y = " + call : call)) {}

  Array run(const Operands& operands, bool radius) const {
    EvaluateOptions options;
    options.radius = radius;
    const sym::Environment sizes;
    const Op& op = *fusion_->ops().back();
    const auto result = std::find(op.results.begin(), op.results.end(), fusion_->outputs()[0]) - op.results.begin();
    return std::move(evaluate_op(op, operands, Context{*fusion_, sizes, options})[size_t(result)]);
  }
  const TensorView* input(size_t i) const { return fusion_->inputs()[i]; }
  size_t inputs() const { return fusion_->inputs().size(); }

 private:
  std::unique_ptr<Fusion> fusion_;
};

struct Case {
  const char *in, *call;
};

Array draw(const TensorView* t, std::mt19937& random, double radius) {
  std::normal_distribution<double> normal;
  Shape shape;
  for (auto e : t->shape()) shape.push_back(*e.constant());
  Array array = make_array(t->dtype, shape);
  for (int64_t i = 0; i < array.elements(); ++i) {
    if (is_float(t->dtype))
      array.value[i] = round_to(t->dtype, normal(random));
    else
      array.value[i] = double(random() % 3);
    if (!array.integers.empty()) array.integers[i] = int64_t(array.value[i]);
  }
  if (!is_float(t->dtype) || radius == 0) return array;
  for (int64_t i = 0; i < array.elements(); ++i)
    array.radius.push_back(random() % 3 == 0 ? 0 : radius * std::abs(normal(random)));
  return array;
}

Array moved(const Array& in, std::mt19937& random) {
  Array out = in;
  for (size_t i = 0; i < out.radius.size(); ++i) {
    const double by = random() % 2 ? (random() % 2 ? 1 : -1) : double(random() % 2001) / 1000 - 1;
    out.value[i] += by * out.radius[i];
  }
  out.radius.clear();
  return out;
}

const Case kMoved[] = {
    {"%x: f32[3, 7]", "sum(%x, dims = [1])"},
    {"%x: f32[3, 7]", "prod(%x, dims = [1])"},
    {"%x: f32[3, 7]", "amax(%x, dims = [1])"},
    {"%x: f32[3, 7]", "amin(%x, dims = [0])"},
    {"%x: f32[3, 7]", "argmax(%x, dims = [1])"},
    {"%x: f32[3, 7]", "argmin(%x, dims = [1])"},
    {"%x: f64[3, 7]", "var(%x, dims = [1])"},
    {"%x: f32[3, 7]", "var(%x, dims = [0, 1], correction = 0)"},
    {"%x: f32[3, 7]", "cumsum(%x, dim = 1)"},
    {"%x: f32[3, 7]", "cumsum(%x, dim = 0, exclusive = true, reverse = true)"},
    {"%x: f32[3, 7]", "cumprod(%x, dim = 1)"},
    {"%x: f32[3, 7]", "cumprod(%x, dim = 0, exclusive = true, reverse = true)"},
    {"%x: f32[3, 7]", "logcumsumexp(%x, dim = 1)"},
    {"%x: f32[3, 7]", "%y, _ = cummax(%x, dim = 1)"},
    {"%x: f32[3, 7]", "_, %y = cummax(%x, dim = 1)"},
    {"%x: f32[3, 7]", "_, %y = cummin(%x, dim = 0)"},
    {"%x: f32[3, 7]", "%y, _ = sort(%x)"},
    {"%x: f32[3, 7]", "_, %y = sort(%x, dim = 0, descending = true)"},
    {"%x: f32[3, 7]", "_, %y = sort(%x, count = [3])"},
    {"%x: f32[3, 7]", "permute(%x, dims = [1, 0])"},
    {"%x: f32[3, 7]", "slice(%x, dim = 1, start = 1, stop = 6, step = 2)"},
    {"%x: f32[3, 7]", "flip(%x, dims = [0, 1])"},
    {"%x: f32[3, 7]", "roll(%x, shifts = [2], dims = [1])"},
    {"%x: f32[3, 7]", "repeat(%x, repeats = [2, 2])"},
    {"%x: f32[3, 7]", "reshape(%x, shape = [7, 3])"},
    {"%x: f32[3, 7], %z: f32[3, 2]", "cat(%x, %z, dim = 1)"},
    {"%x: f32[3, 7], %i: i64[3, 4]", "gather(%x, %i, dim = 1)"},
    {"%x: f32[3, 7], %i: i64[4]", "index_select(%x, %i, dim = 0)"},
    {"%x: f32[3, 7], %i: i64[3, 5], %s: f32[3, 5]", "scatter(%x, %i, %s, dim = 1, update = add)"},
    {"%x: f32[3, 7], %i: i64[3, 5], %s: f32[3, 5]", "scatter(%x, %i, %s, dim = 1, update = max)"},
    {"%x: f32[3, 7], %i: i64[3, 5], %s: f32[3, 5]", "scatter(%x, %i, %s, dim = 1, update = mul)"},
    {"%x: bf16[3, 7]", "sum(%x, dims = [1])"},
    {"%x: bf16[3, 7]", "prod(%x, dims = [1])"},
    {"%x: bf16[3, 7]", "amax(%x, dims = [1])"},
    {"%x: f16[3, 7]", "var(%x, dims = [1])"},
};

TEST(OpRadius, HoldsForMovedOperands) {
  std::mt19937 random(3);
  for (const Case& c : kMoved) {
    const OneOp op(c.in, c.call);
    int64_t open = 0;
    double largest = 0;
    for (int trial = 0; trial < 60; ++trial) {
      Operands operands;
      const double radius = trial % 3 == 0 ? 0.3 : trial % 3 == 1 ? 1e-3 : 1e-7;
      for (size_t i = 0; i < op.inputs(); ++i) operands[op.input(i)] = draw(op.input(i), random, radius);
      const Array want = op.run(operands, true);
      for (int k = 0; k < 6; ++k) {
        Operands others;
        for (const auto& [t, array] : operands) others[t] = moved(array, random);
        const Array got = op.run(others, false);
        for (int64_t i = 0; i < want.elements(); ++i) {
          open += want.excused_at(i);
          double error = std::abs(got.value[i] - want.value[i]);
          if (want.has_alternative(i)) error = std::min(error, std::abs(got.value[i] - *want.alternative[i]));
          ASSERT_LE(error, want.radius_at(i) + 1e-15 * (1 + std::abs(want.value[i])))
              << c.in << " " << c.call << " trial " << trial << " element " << i;
          if (want.radius_at(i) > 0) largest = std::max(largest, error / want.radius_at(i));
        }
      }
    }
    const bool indices = std::string(c.call).starts_with("arg") || std::string(c.call).starts_with("_");
    if (!indices) {
      EXPECT_GT(largest, 0.05) << c.call;  // a bound that nothing comes near would check nothing
      EXPECT_EQ(open, 0) << c.call;
    }
  }
}

// Sums of float terms as backends add them.
template <class Float>
std::vector<Float> sums(std::vector<Float> terms, unsigned seed) {
  std::vector<Float> out;
  out.push_back(std::accumulate(terms.begin(), terms.end(), Float(0)));
  out.push_back(std::accumulate(terms.rbegin(), terms.rend(), Float(0)));
  std::shuffle(terms.begin(), terms.end(), std::mt19937(seed));
  out.push_back(std::accumulate(terms.begin(), terms.end(), Float(0)));
  std::vector<Float> tree = terms;
  while (tree.size() > 1) {
    std::vector<Float> next;
    for (size_t i = 0; i < tree.size(); i += 2) next.push_back(i + 1 < tree.size() ? tree[i] + tree[i + 1] : tree[i]);
    tree = next;
  }
  if (!tree.empty()) out.push_back(tree[0]);
  return out;
}

void expect_inside(const Array& want, double got, const std::string& what) {
  EXPECT_LE(std::abs(got - want.value[0]), want.radius[0]) << what;
}

TEST(OpRadius, HoldsForEveryOrderOfASum) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (const int64_t n : {1, 2, 3, 17, 256, 5000}) {
    Values values(n);
    for (double& v : values) v = double(float(normal(random)));
    const std::vector<float> terms(values.begin(), values.end());
    const std::string extent = "[" + std::to_string(n) + "]";
    const Array want = run("%x: f32" + extent, "%y = sum(%x)", {{"x", f32({n}, values)}});
    for (float got : sums(terms, unsigned(n))) expect_inside(want, double(got), "sum of " + extent);
    const Array wide = run("%x: f64" + extent, "%y = sum(%x)", {{"x", Tensor::from_doubles(DType::f64, {n}, values)}});
    for (double got : sums(values, unsigned(n))) expect_inside(wide, got, "f64 sum of " + extent);
    float product = 1, back = 1;
    for (float& v : std::vector<float>(terms)) product *= v;
    for (int64_t i = n; i-- > 0;) back *= terms[i];
    const Array p = run("%x: f32" + extent, "%y = prod(%x)", {{"x", f32({n}, values)}});
    if (!p.excused_at(0)) {
      expect_inside(p, double(product), "prod of " + extent);
      expect_inside(p, double(back), "prod of " + extent);
    }
    for (const double sign : {-2.0, 2.0}) {
      if (want.radius[0] == 0) continue;
      const Tensor wrong = f32({}, {want.value[0] + sign * want.radius[0] * (1 + 1e-6)});
      EXPECT_FALSE(compare("y", want, wrong).ok) << n;
    }
  }
}

struct Moments {
  float count = 0, mean = 0, squares = 0;
  void add(float x) {
    ++count;
    const float d = x - mean;
    mean += d / count;
    squares += d * (x - mean);
  }
  void merge(const Moments& other) {
    const float d = other.mean - mean, n = count + other.count;
    if (n == 0) return;
    squares += other.squares + d * d * count * other.count / n;
    mean += d * other.count / n;
    count = n;
  }
};

TEST(OpRadius, HoldsForWelfordTreesAndTwoPasses) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (const int64_t n : {2, 3, 33, 256, 4096})
    for (const double shift : {0.0, 1.0, -30.0, 1e4})
      for (int lanes : {1, 4, 32}) {
        Values values(n);
        for (double& v : values) v = double(float(shift + normal(random)));
        const std::vector<float> x(values.begin(), values.end());
        const Array want = run("%x: f32[" + std::to_string(n) + "]", "%y = var(%x)", {{"x", f32({n}, values)}});
        std::vector<Moments> parts(static_cast<size_t>(lanes));
        for (int64_t i = 0; i < n; ++i) parts[size_t(i % lanes)].add(x[size_t(i)]);
        for (size_t step = 1; step < parts.size(); step *= 2)
          for (size_t i = 0; i + step < parts.size(); i += 2 * step) parts[i].merge(parts[i + step]);
        const float divisor = float(n - 1);
        const std::string what = std::to_string(n) + " elements around " + std::to_string(shift);
        expect_inside(want, double(parts[0].squares / divisor), what);
        float mean = 0, squares = 0;
        for (float v : x) mean += v;
        mean /= float(n);
        for (float v : x) squares += (v - mean) * (v - mean);
        expect_inside(want, double(squares / divisor), what + " in two passes");
        if (shift == 0) {
          EXPECT_LT(want.radius[0], 0x1p-24 * (2.7 * double(n) + 200) * want.value[0]) << what;
        }
      }
}

TEST(OpRadius, CandidatesOfAnExtremum) {
  const OneOp arg("%x: f32[4]", "argmax(%x)"), most("%x: f32[4]", "amax(%x)");
  const auto of = [](const OneOp& op, Values value, Values radius) {
    Array x = make_array(DType::f32, {4});
    x.value = std::move(value), x.radius = std::move(radius);
    return op.run({{op.input(0), x}}, true);
  };
  Array y = of(arg, {1, 3, 2, 0}, {0, 0.5, 0.25, 0});
  EXPECT_EQ(y.integers[0], 1);
  EXPECT_FALSE(y.excused_at(0));
  y = of(arg, {1, 3, 2.5, 0}, {0, 0.5, 0.25, 0});  // [2.5, 3.5] and [2.25, 2.75] overlap
  EXPECT_TRUE(y.excused_at(0));
  ASSERT_TRUE(y.has_alternative(0));
  EXPECT_EQ(*y.alternative[0], 2);
  EXPECT_EQ(y.radius[0], 0);
  y = of(arg, {2, 3, 3, 1}, {0, 0, 0, 0.5});  // a tie of exact numbers: the first
  EXPECT_FALSE(y.excused_at(0));
  y = of(arg, {2, 3, 1, 1}, {kInfinity, 0, 0, 0});  // what is unknown may win, a NaN too
  EXPECT_TRUE(y.excused_at(0));
  y = of(arg, {kNaN, 3, 1, 1}, {0, kInfinity, 0, 0});  // the first NaN is sure
  EXPECT_FALSE(y.excused_at(0));
  y = of(arg, {0, 0, 0, kNaN}, {kInfinity, 0, 0, 0});
  EXPECT_TRUE(y.excused_at(0));
  y = of(most, {1, 3, 2.75, 0}, {0, 0.5, 1, 0});
  EXPECT_NEAR(y.radius[0], 0.75, 1e-6);
  EXPECT_FALSE(y.excused_at(0));
  y = of(most, {1, 3, 2, kNaN}, {kInfinity, 0, 0, 0});
  EXPECT_EQ(y.radius_at(0), 0);
  y = of(most, {1, 3, 2, 0}, {kInfinity, 0, 0, 0});
  EXPECT_TRUE(y.excused_at(0));
}

TEST(OpRadius, ExcusedElementsReachReductions) {
  const OneOp op("%x: f32[2, 2]", "sum(%x, dims = [1])"), most("%x: f32[2, 2]", "amax(%x, dims = [1])"),
      variance("%x: f32[2, 2]", "var(%x, dims = [1])"), running("%x: f32[2, 2]", "cumsum(%x, dim = 1)");
  Array x = make_array(DType::f32, {2, 2});
  x.value = {1, 5, 2, 3}, x.radius = {1, 0, 0, 0}, x.excused = {1, 0, 0, 0};
  EXPECT_TRUE(op.run({{op.input(0), x}}, true).excused_at(0));
  EXPECT_FALSE(op.run({{op.input(0), x}}, true).excused_at(1));
  EXPECT_FALSE(most.run({{most.input(0), x}}, true).excused_at(0));  // it cannot be the largest
  EXPECT_TRUE(variance.run({{variance.input(0), x}}, true).excused_at(0));
  EXPECT_TRUE(running.run({{running.input(0), x}}, true).excused_at(1));
  EXPECT_FALSE(running.run({{running.input(0), x}}, true).excused_at(2));
}

// What ranks exchange is rounded to a narrow dtype, part by part.
TEST(OpRadius, HoldsForPartsOfRanks) {
  const int64_t n = 96, ranks = 3;
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 40; ++trial) {
    Values values(n);
    for (double& v : values) v = round_to(DType::bf16, 1 + 0.1 * normal(random));
    const Tensor x = Tensor::from_doubles(DType::bf16, {n}, values);
    EvaluateOptions options;
    options.ranks = ranks;
    Partial partial{{{}, {}, {}}, ranks, 1};
    for (int64_t i = 0; i < n; ++i) partial.indices[size_t(i / (n / ranks))].push_back(i);
    options.partial.tensors["y"] = partial;
    const Array sum = run("%x: bf16[96]", "%y = sum(%x)", {{"x", x}}, options);
    options.partial.tensors["y"].indices.clear();
    const Array product = run("%x: bf16[96]", "%y = prod(%x)", {{"x", x}}, options);
    float total = 0, all = 1;
    for (int64_t r = 0; r < ranks; ++r) {
      float part = 0, factor = 1;
      for (int64_t i = 0; i < n / ranks; ++i) {
        part += float(values[size_t(r * n / ranks + i)]);
        factor *= float(values[size_t(r * n / ranks + i)]);
      }
      total += float(round_to(DType::bf16, part));
      all *= float(round_to(DType::bf16, factor));
    }
    expect_inside(sum, round_to(DType::bf16, total), "parts of a sum");
    if (!product.excused_at(0)) {
      expect_inside(product, round_to(DType::bf16, all), "parts of a product");
    }
    EXPECT_GE(sum.spread[0], std::abs(sum.value[0]));
    EXPECT_LT(sum.radius[0], 0.02 * sum.value[0]);
  }
}

TEST(OpRadius, SumOfPendingSums) {
  // %p is a pending product; each rank reduces its part and rounds.
  const int64_t k = 64, ranks = 2;
  std::mt19937 random(13);
  std::normal_distribution<double> normal;
  const auto values = [&](int64_t n) {
    Values out(n);
    for (double& v : out) v = round_to(DType::bf16, normal(random));
    return out;
  };
  const Values a = values(4 * k), w = values(4 * k);
  auto graph = fusion("%a: bf16[4, 64], %w: bf16[4, 64]", "%y", "%p = linear(%a, %w)\n%y = sum(%p, dims = [1])");
  EvaluateOptions options;
  options.ranks = ranks;
  options.partial.tensors["p"] = {{{}, {}}, ranks, 1};
  for (int64_t i = 0; i < k; ++i) options.partial.tensors["p"].indices[size_t(i / (k / ranks))].push_back(i);
  options.partial.tensors["y"] = {{}, ranks, 1};
  const Array want = evaluate(*graph,
                              {{"a", Tensor::from_doubles(DType::bf16, {4, k}, a)},
                               {"w", Tensor::from_doubles(DType::bf16, {4, k}, w)}},
                              options)
                         .at("y");
  for (int64_t row = 0; row < 4; ++row) {
    float total = 0;
    for (int64_t r = 0; r < ranks; ++r) {
      float part = 0;
      for (int64_t col = 0; col < 4; ++col) {
        float p = 0;
        for (int64_t i = r * k / ranks; i < (r + 1) * k / ranks; ++i)
          p += float(a[size_t(row * k + i)]) * float(w[size_t(col * k + i)]);
        part += float(round_to(DType::bf16, p));
      }
      total += float(round_to(DType::bf16, part));
    }
    EXPECT_LE(std::abs(round_to(DType::bf16, total) - want.value[row]), want.radius[row]) << row;
  }
}

TEST(Partials, OfReductionsOverSeveralDims) {
  auto sharded = parse_fusion(
      "mesh @m (dp = 2, tp = 2)\n"
      "fusion @t on @m (%x: bf16[3, 4, 2] {0: dp, 1: tp}) -> (%y, %z) {\n"
      "  %p: bf16[2] {} partial(dp: sum, tp: sum) = sum(%x, dims = [0, 1])\n"
      "  %y: bf16[2] {} = reshard(%p)\n"
      "  %q: bf16[3, 2] {0: dp} partial(tp: prod) = prod(%x, dims = [1])\n"
      "  %z: bf16[3, 2] {} = reshard(%q)\n"
      "}\n");
  const PartialInfo info = partials(*sharded, DeviceMesh({2, 2}), {});
  const Partial& p = info.tensors.at("p");
  EXPECT_EQ(p.ranks, 4);
  EXPECT_EQ(p.roundings, 2);
  std::vector<int64_t> all;
  for (const auto& rank : p.indices) all.insert(all.end(), rank.begin(), rank.end());
  std::ranges::sort(all);
  EXPECT_EQ(all, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(p.indices[0], (std::vector<int64_t>{0, 1, 4, 5}));
  EXPECT_EQ(info.tensors.at("q").ranks, 2);
  EXPECT_EQ(info.tensors.at("y").indices, p.indices);
}

}  // namespace
}  // namespace plait::reference
