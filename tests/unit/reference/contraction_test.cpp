// Bounds of products: simulated backends of any order and rank count stay inside, planted errors leave.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <numeric>
#include <random>
#include <thread>

#include "helpers.h"
#include "reference/check.h"
#include "reference/multiply.h"
#include "reference/tile.h"
#include "scalar/convert.h"

namespace plait::reference {
namespace {

struct Problem {
  int64_t m = 3, n = 5, k = 64;
  DType dtype = DType::f32;
  Tensor x, w, b;
  std::unique_ptr<Fusion> graph;

  Problem(DType type, int64_t depth, bool bias, unsigned seed) : k(depth), dtype(type) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    const auto draw = [&](Shape shape) {
      Values values(element_count(shape));
      for (double& v : values) v = normal(random);
      return Tensor::from_doubles(dtype, shape, values);
    };
    x = draw({m, k}), w = draw({n, k}), b = draw({n});
    const std::string t(name(dtype)), ks = std::to_string(k);
    graph = fusion("%x: " + t + "[3, " + ks + "], %w: " + t + "[5, " + ks + "], %b: " + t + "[5]", "%y",
                   bias ? "%y = linear(%x, %w, %b)" : "%y = linear(%x, %w)");
  }
  Array want(const EvaluateOptions& options = {}) const {
    return evaluate(*graph, {{"x", x}, {"w", w}, {"b", b}}, options).at("y");
  }
};

// Of %name, or of its contraction before the bias joins.
PartialInfo cut(const std::string& name, int64_t k, int64_t ranks, bool unbiased = false) {
  Partial partial{std::vector<std::vector<int64_t>>(ranks), ranks, 1};
  const int64_t chunk = (k + ranks - 1) / ranks;
  for (int64_t i = 0; i < k; ++i) partial.indices[i / chunk].push_back(i);
  PartialInfo info;
  (unbiased ? info.unbiased : info.tensors).emplace(name, std::move(partial));
  return info;
}

// Sums in f32 in a random order, cut over ranks; partial sums and the total are rounded to the dtype, then the bias
// joins in f32.
double simulate(const Problem& p, int64_t i, int64_t j, const Partial& partial, bool bias, std::mt19937& random) {
  float total = 0;
  for (auto indices : partial.indices) {
    std::shuffle(indices.begin(), indices.end(), random);
    float sum = 0;
    for (int64_t k : indices) sum += float(p.x.at(i * p.k + k)) * float(p.w.at(j * p.k + k));
    total += float(round_to(p.dtype, sum));
  }
  total = float(round_to(p.dtype, total));
  return round_to(p.dtype, bias ? total + float(p.b.at(j)) : total);
}

TEST(Product, RadiusHoldsForPartialSums) {
  std::mt19937 random(1);
  double largest = 0;
  for (DType dtype : {DType::f32, DType::bf16, DType::f16})
    for (int64_t ranks : {1, 2, 3, 4, 5})
      for (bool bias : {false, true})
        for (unsigned seed = 0; seed < 10; ++seed) {
          const Problem p(dtype, 4 + 37 * seed, bias, seed);
          EvaluateOptions options;
          options.ranks = ranks;
          options.partial = cut("y", p.k, ranks, bias);
          const auto& cuts = bias ? options.partial.unbiased : options.partial.tensors;
          const Array want = p.want(options);
          for (int64_t i = 0; i < p.m; ++i)
            for (int64_t j = 0; j < p.n; ++j) {
              const int64_t e = i * p.n + j;
              const double got = simulate(p, i, j, cuts.at("y"), bias, random);
              ASSERT_LE(std::abs(got - want.value[e]), want.radius[e])
                  << name(dtype) << " ranks " << ranks << " k " << p.k;
              if (is_narrow(dtype)) largest = std::max(largest, std::abs(got - want.value[e]) / want.radius[e]);
            }
        }
  EXPECT_GT(largest, 0.3);
}

TEST(Product, NarrowPartialsAddOneRoundingPerRankAndOneOfTheTotal) {
  const Problem p(DType::bf16, 64, true, 3);
  EvaluateOptions options;
  const Array plain = p.want(options);
  options.ranks = 4;
  options.partial = cut("y", p.k, 4, true);
  const Array partial = p.want(options);
  const double u = 0x1p-8;
  for (int64_t e = 0; e < p.m * p.n; ++e) {
    double total = 0, sum_of_parts = 0;
    for (const auto& indices : options.partial.unbiased.at("y").indices) {
      double part = 0;
      for (int64_t k : indices) part += p.x.at(e / p.n * p.k + k) * p.w.at(e % p.n * p.k + k);
      sum_of_parts += std::abs(part);
      total += part;
    }
    const double extra = u * (sum_of_parts + std::abs(total));
    EXPECT_EQ(partial.value[e], plain.value[e]);
    EXPECT_GE(partial.radius[e], extra);
    EXPECT_LE(partial.radius[e], extra * 1.02 + plain.radius[e] + u * std::abs(plain.value[e]) + u * extra * 2);
  }
}

TEST(Product, PropagatesTheRadiiOfItsOperands) {
  const std::string in = "%a: f32[1, 2], %b: f32[1, 2]";
  const Given given{{"a", f32({1, 2}, {1, 2})}, {"b", f32({1, 2}, {3, 5})}};
  auto graph = fusion(in, "%p, %q, %y", "%p = exp(%a)\n%q = exp(%b)\n%y = linear(%p, %q)");
  const auto r = evaluate(*graph, given);
  const Array &p = r.at("p"), &q = r.at("q");
  double want = 0, terms = 0;
  for (int k = 0; k < 2; ++k) {
    want += p.value[k] * q.radius[k] + q.value[k] * p.radius[k] + p.radius[k] * q.radius[k];
    terms += (p.value[k] + p.radius[k]) * (q.value[k] + q.radius[k]);
  }
  EXPECT_NEAR(r.at("y").radius[0], want + 2 * 0x1p-24 * 3 * terms, 1e-9 * terms * 0x1p-24);
}

TEST(Product, PlantedErrorsLeaveTheBound) {
  std::mt19937 random(5);
  int caught = 0, planted = 0;
  for (DType dtype : {DType::f32, DType::bf16})
    for (unsigned seed = 0; seed < 50; ++seed) {
      const Problem p(dtype, 128, true, seed);
      const Array want = p.want();
      Values values = want.value;
      const auto e = random() % values.size();
      values[e] += (random() % 2 ? 3 : -3) * want.radius[e];
      // A narrow number may lie much nearer to the exact sum than its neighbours do.
      if (std::abs(round_to(dtype, values[e]) - want.value[e]) <= want.radius[e]) continue;
      const CheckResult result = compare("y", want, Tensor::from_doubles(dtype, want.shape, values));
      ++planted;
      caught += !result.ok;
    }
  EXPECT_EQ(caught, planted);
  EXPECT_GT(planted, 80);
}

// One term of n is left out; its size is the mean of |terms|.
TEST(Product, DroppedTermIsCaughtUpToTheLengthsWhereABoundCanTell) {
  const auto dropped_is_caught = [](DType dtype, int64_t k) {
    const Shape shape{1, k};
    const Tensor ones = Tensor::from_doubles(dtype, shape, Values(k, 1));
    const std::string t = std::string(name(dtype)) + "[1, " + std::to_string(k) + "]";
    const Array y =
        run("%x: " + t + ", %w: " + t, "%y = linear(%x, %w, accumulate = true)", {{"x", ones}, {"w", ones}});
    return !compare("y", y, f32({1, 1}, {double(k - 1)})).ok;
  };
  for (DType dtype : {DType::f32, DType::bf16})
    for (int64_t k : {1, 2, 17, 256, 1024, 2048}) EXPECT_TRUE(dropped_is_caught(dtype, k)) << name(dtype) << " " << k;
}

TEST(Product, InfiniteRadiusAndOverflow) {
  const Array y = run("%x: f32[2, 2], %w: f32[1, 2]", "%y = linear(%x, %w)",
                      {{"x", f32({2, 2}, {3e38, 3e38, 1, 1})}, {"w", f32({1, 2}, {1, -1})}});
  EXPECT_TRUE(y.excused_at(0));  // partial sums may overflow in f32
  EXPECT_FALSE(y.excused_at(1));
  const double inf = std::numeric_limits<double>::infinity();
  const Array z = run("%x: f32[2, 2], %w: f32[1, 2]", "%y = linear(%x, %w)",
                      {{"x", f32({2, 2}, {3e38, 1, 3e37, 1})}, {"w", f32({1, 2}, {2, -inf})}});
  EXPECT_TRUE(z.excused_at(0));  // one term overflows, so that NaN may come of it
  EXPECT_FALSE(z.excused_at(1));
}

TEST(Product, SumsOfPartialTensors) {
  // y = p + q is kept pending: each rank rounds p, q and their sum.
  const int64_t k = 96, ranks = 3;
  std::mt19937 random(9);
  std::normal_distribution<double> normal;
  const auto draw = [&](Shape shape) {
    Values values(element_count(shape));
    for (double& v : values) v = normal(random);
    return Tensor::from_doubles(DType::bf16, shape, values);
  };
  const Given given{{"a", draw({8, k})}, {"b", draw({8, k})}, {"v", draw({8, k})}, {"w", draw({8, k})}};
  auto graph = fusion("%a: bf16[8, 96], %b: bf16[8, 96], %v: bf16[8, 96], %w: bf16[8, 96]", "%y",
                      "%p = linear(%a, %v)\n%q = linear(%b, %w)\n%y = sub(%p, %q)");
  EvaluateOptions options;
  options.ranks = ranks;
  options.partial = cut("p", k, ranks);
  options.partial.tensors.merge(cut("q", k, ranks).tensors);
  options.partial.tensors["y"] = {{}, ranks, 1};
  const Array want = evaluate(*graph, given, options).at("y");
  for (int64_t e = 0; e < 64; ++e) {
    float total = 0;
    for (const auto& indices : options.partial.tensors.at("p").indices) {
      float p = 0, q = 0;
      for (int64_t i : indices) {
        p += float(given.at("a").at(e / 8 * k + i)) * float(given.at("v").at(e % 8 * k + i));
        q += float(given.at("b").at(e / 8 * k + i)) * float(given.at("w").at(e % 8 * k + i));
      }
      total += float(round_to(DType::bf16, round_to(DType::bf16, p) - round_to(DType::bf16, q)));
    }
    EXPECT_LE(std::abs(round_to(DType::bf16, total) - want.value[e]), want.radius[e]) << e;
  }
}

TEST(Partials, ReadFromTheLayouts) {
  auto sharded = parse_fusion(
      "mesh @m (dp = 2, tp = 3)\n"
      "fusion @t on @m (%x: bf16[4, 8] {1: tp}, %w: bf16[5, 8] {1: tp}, %b: bf16[5]) -> (%y) {\n"
      "  %y_product: bf16[4, 5] {} partial(tp: sum) = linear(%x, %w)\n"
      "  %r: bf16[4, 5] {} = reshard(%y_product)\n"
      "  %c: f32[4, 5] {} = cast(%r, to = f32)\n"
      "  %t: f32[4, 5] {} = add(%c, %b)\n"
      "  %y: bf16[4, 5] {} = cast(%t, to = bf16)\n"
      "}\n");
  PartialInfo info = partials(*sharded, DeviceMesh({2, 3}), {});
  // The tensor made whole may bear the name of the written graph, so it has the entry too. What a contraction is
  // without its bias is said on it, whatever its name.
  ASSERT_EQ(info.tensors.size(), 2u);
  EXPECT_TRUE(info.unbiased.empty());
  EXPECT_EQ(info.tensors.at("r").indices, info.tensors.at("y_product").indices);
  sharded->find("y_product")->unbiased_of = "y";
  info = partials(*sharded, DeviceMesh({2, 3}), {});
  ASSERT_EQ(info.unbiased.size(), 1u);
  const Partial& partial = info.unbiased.at("y");
  EXPECT_EQ(partial.ranks, 3);
  EXPECT_EQ(partial.roundings, 1);
  EXPECT_EQ(partial.indices, (std::vector<std::vector<int64_t>>{{0, 1, 2}, {3, 4, 5}, {6, 7}}));
}

TEST(Product, EveryTileGivesTheSameBits) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (const int64_t depth : {0, 1, 2, 63, 256}) {
    Values a(size_t(depth * kTile)), b(a.size());
    for (double& v : a) v = normal(random);
    for (double& v : b) v = normal(random);
    if (depth == 63) a[8] = -0.0, a[21] = std::numeric_limits<double>::infinity(), b[40] = std::nan("");
    Tile portable, fastest;
    for (int times = 0; times < 2; ++times) {  // they add to what is there
      portable_tile()(a.data(), b.data(), depth, portable);
      fastest_tile()(a.data(), b.data(), depth, fastest);
    }
    EXPECT_EQ(std::memcmp(&portable, &fastest, sizeof(Tile)), 0) << depth;
  }
}

// Blocks that end within a panel, a column block and a depth block.
TEST(Product, BlocksAddUpToThePlainSums) {
  std::mt19937 random(8);
  std::uniform_int_distribution<int> small(-9, 9);
  const int64_t m = 131, n = 259, k = 261;
  Values a(size_t(m * k)), b(size_t(n * k)), radius(a.size());
  for (double& v : a) v = small(random);
  for (double& v : b) v = small(random);
  for (double& v : radius) v = std::abs(small(random));
  std::vector<int64_t> indices(size_t(k - 1));
  std::iota(indices.rbegin(), indices.rend(), 1);
  const Matrix left{a.data(), radius.data(), m, 1, m}, right{b.data(), nullptr, n, k, 1};
  Values sum(size_t(m * n), 1), wide(sum.size(), 2), plain(sum.size(), 3), wide_alone(sum.size());
  multiply_add(left, right, indices, {sum.data(), wide.data(), plain.data()});
  multiply_add({a.data(), nullptr, m, 1, m}, right, indices, {sum.data(), wide_alone.data()});
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double want = 0, want_wide = 0, want_plain = 0;
      for (const int64_t p : indices) {
        const double x = a[size_t(p * m + i)], y = b[size_t(j * k + p)];
        want += x * y, want_plain += std::abs(x * y);
        want_wide += (std::abs(x) + radius[size_t(p * m + i)]) * std::abs(y);
      }
      const auto at = size_t(i * n + j);
      ASSERT_EQ(sum[at], 1 + 2 * want) << i << ' ' << j;
      ASSERT_EQ(wide[at], 2 + want_wide) << i << ' ' << j;
      ASSERT_EQ(plain[at], 3 + want_plain) << i << ' ' << j;
      ASSERT_EQ(wide_alone[at], want_plain) << i << ' ' << j;
    }
  }
}

// Rows, columns and biases of every block; nothing is known of one bias, of which a rounding may be all that is left.
TEST(Product, BlocksOfAWholeOp) {
  const int64_t m = 130, n = 133, k = 3, unknown = 131;
  Values x, w, bias;
  for (int64_t i = 0; i < m * k; ++i) x.push_back(double(i % 7) - 3);
  for (int64_t i = 0; i < n * k; ++i) w.push_back(double(i % 11) - 5);
  for (int64_t i = 0; i < n; ++i) bias.push_back(double(i - unknown));
  const auto graph = fusion(fmt::format("%x: f32[{}, {}], %w: f32[{}, {}], %b: f32[{}]", m, k, n, k, n), "%y",
                            "%some = full(shape = [], value = 1.1, dtype = f32)\n%p = add(%b, %some)\n%q = sub(%p, "
                            "%some)\n%r = reciprocal(%q)\n%y = linear(%x, %w, %r)");
  const Given given = {{"x", Tensor::from_doubles(DType::f32, {m, k}, x)},
                       {"w", Tensor::from_doubles(DType::f32, {n, k}, w)},
                       {"b", Tensor::from_doubles(DType::f32, {n}, bias)}};
  const Results results = evaluate(*graph, given);
  const Array& y = results.at("y");
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const int64_t at = i * n + j;
      ASSERT_EQ(y.excused_at(at), j == unknown) << i << ' ' << j;
      if (j == unknown) continue;
      double want = 1 / bias[size_t(j)];
      for (int64_t p = 0; p < k; ++p) want += x[size_t(i * k + p)] * w[size_t(j * k + p)];
      ASSERT_NEAR(y.value[size_t(at)], want, 1e-12) << i << ' ' << j;
      ASSERT_LT(y.radius[size_t(at)], 1e-4) << i << ' ' << j;
    }
  }
}

// Any element of batches of several blocks, with partial sums, spreads and a row of which nothing is known, is that of
// the product of its row and column alone.
TEST(Product, BlocksAreTheirRowsAndColumns) {
  const int64_t m = 130, n = 133, k = 3, unknown = m + 129;  // the row, counted over both batches
  Values x, w;
  for (int64_t i = 0; i < 2 * m * k; ++i) x.push_back(i / k == unknown ? 0 : 1 / double(i % 7 + 1));
  for (int64_t i = 0; i < k * n; ++i) w.push_back(double(i % 11) - 5);
  const auto product = [&](int64_t batches, int64_t rows, int64_t cols, const Values& a, const Values& b, bool radius) {
    const auto graph =
        fusion(fmt::format("%x: bf16[{}, {}, {}], %w: bf16[{}, {}]", batches, rows, k, k, cols), "%y",
               "%some = full(shape = [], value = 1.1, dtype = f32)\n%s = cast(%x, to = f32)\n%p = add(%s, %some)\n"
               "%q = sub(%p, %some)\n%r = reciprocal(%q)\n%a = cast(%r, to = bf16)\n%y = matmul(%a, %w)");
    EvaluateOptions options{.radius = radius, .spread = true};
    options.ranks = 2;
    options.partial = cut("y", k, 2);
    const Given given = {{"x", Tensor::from_doubles(DType::bf16, {batches, rows, k}, a)},
                         {"w", Tensor::from_doubles(DType::bf16, {k, cols}, b)}};
    return evaluate(*graph, given, options).at("y");
  };
  const Array all = product(2, m, n, x, w, true), values = product(2, m, n, x, w, false);
  EXPECT_TRUE(values.radius.empty());
  for (const int64_t row : {int64_t{0}, int64_t{127}, int64_t{128}, int64_t{129}, m, m + 128, unknown}) {
    for (const int64_t col : {0, 127, 128, 132}) {
      const Values line(x.begin() + row * k, x.begin() + (row + 1) * k);
      const Values column{w[size_t(col)], w[size_t(n + col)], w[size_t(2 * n + col)]};
      const Array one = product(1, 1, 1, line, column, true);
      const int64_t at = row * n + col;
      EXPECT_EQ(all.excused_at(at), row == unknown) << row << ' ' << col;
      EXPECT_EQ(all.excused_at(at), one.excused_at(0)) << row << ' ' << col;
      EXPECT_EQ(all.radius_at(at), one.radius_at(0)) << row << ' ' << col;
      if (row == unknown) continue;  // infinite
      EXPECT_EQ(all.value[size_t(at)], one.value[0]) << row << ' ' << col;
      EXPECT_EQ(all.spread[size_t(at)], one.spread[0]) << row << ' ' << col;
      EXPECT_EQ(values.value[size_t(at)], one.value[0]) << row << ' ' << col;
    }
  }
}

TEST(Product, OfNothingOverSeveralBlocks) {
  const Array y = run("%a: f32[130, 0], %b: f32[0, 200]", "%y = matmul(%a, %b)",
                      {{"a", f32({130, 0}, {})}, {"b", f32({0, 200}, {})}});
  EXPECT_EQ(y.value, Values(130 * 200, 0.0));
  EXPECT_EQ(y.radius, Values(130 * 200, 0.0));
  EXPECT_TRUE(y.excused.empty());
}

// Billions of multiplications and additions per second of plain loops over rows of 1,024, with a sum of magnitudes.
double speed_of_loops() {
  const Values a(1024, 1.0), b(1024, 0.5);
  double sum = 0, magnitude = 0;
  const std::clock_t start = std::clock();
  constexpr int kTimes = 4096;
  for (int times = 0; times < kTimes; ++times)
    for (size_t i = 0; i < a.size(); ++i) {
      sum += a[i] * b[i];
      magnitude += std::fabs(a[i] * b[i]);
    }
  const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(sum, magnitude);
  return 2e-9 * 1024 * kTimes / seconds;
}

// The same of a whole op with its radii, over that of loops: the best of several attempts, whose later ones wait for
// what else the machine does to end.
double speed(bool linear, int64_t m, int64_t n, int64_t k) {
  const auto ones = [](int64_t rows, int64_t cols) {
    return Tensor::from_doubles(DType::f32, {rows, cols}, Values(size_t(rows * cols), 1.0));
  };
  const Given given = {{"a", ones(m, k)}, {"b", linear ? ones(n, k) : ones(k, n)}};
  const auto graph = fusion(fmt::format("%a: f32[{}, {}], %b: f32[{}, {}]", m, k, linear ? n : k, linear ? k : n), "%y",
                            linear ? "%y = linear(%a, %b)" : "%y = matmul(%a, %b)");
  double best = 0;
  for (int attempt = 0; attempt < 8 && best < 0.5; ++attempt) {
    if (attempt > 1) std::this_thread::sleep_for(std::chrono::milliseconds(100 * attempt));
    const double loops = speed_of_loops();
    const std::clock_t start = std::clock();
    const Results results = evaluate(*graph, given);
    const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_EQ(results.at("y").value.back(), double(k));
    best = std::max(best, 2e-9 * double(m) * double(n) * double(k) / seconds / loops);
  }
  return best;
}

// At least half as fast as loops of one sum in every shape of 8 rows and more; of fewer, docs/limits.md has the
// figures.
TEST(Product, SpeedOfWholeOps) {
  struct Extents {
    const char* what;
    int64_t m, n, k;
  };
  for (const Extents& e :
       {Extents{"square", 384, 384, 384}, Extents{"long", 16, 16, 131072}, Extents{"long", 32, 32, 32768},
        Extents{"tall", 16384, 32, 64}, Extents{"wide", 32, 16384, 64}, Extents{"flat", 8, 512, 512}})
    for (const bool linear : {true, false}) {
      const double found = speed(linear, e.m, e.n, e.k);
      std::printf("%s, %s (%d x %d x %d): %.2f of the speed of loops\n", linear ? "linear" : "matmul", e.what, int(e.m),
                  int(e.n), int(e.k), found);
#if defined(__OPTIMIZE__) && !defined(PLAIT_SANITIZED)
      EXPECT_GE(found, 0.5) << e.what;
#endif
    }
}

}  // namespace
}  // namespace plait::reference
