// Symbolic integers as compiled, against sym::evaluate: random expressions, negative operands included.
#include <gtest/gtest.h>

#include <random>

#include "support/kernel_run.h"

namespace plait {
namespace {

using test::KernelBuilder;

class Generator {
 public:
  Generator(KernelBuilder& b, std::vector<sym::Expr> symbols, uint64_t seed)
      : b_(b), symbols_(std::move(symbols)), random_(seed) {}

  sym::Expr any(int depth) {
    if (depth == 0) return below(3) == 0 ? b_.number(int64_t(below(21)) - 10) : symbols_[below(symbols_.size())];
    const auto next = [&] { return any(depth - 1); };
    switch (below(12)) {
      case 0:
      case 1:
        return next() + next();
      case 2:
        return next() - next();
      case 3:
        return next() * (int64_t(below(9)) - 4);
      case 4:
        return sym::floordiv(next(), divisor());
      case 5:
        return sym::mod(next(), divisor());
      case 6:
        return sym::min(next(), next());
      case 7:
        return sym::max(next(), next());
      case 8:
        return sym::select(sym::lt(next(), next()), next(), next());
      case 9:
        return sym::select(sym::logical_and(sym::ne(next(), 0), sym::logical_not(sym::eq(next(), next()))), next(),
                           next());
      case 10:
        return sym::chunk(extent(), divisor(), b_.number(0), granule());
      default:
        return sym::chunk_start(extent(), b_.number(5), b_.number(int64_t(below(5))), granule());
    }
  }

 private:
  size_t below(size_t bound) { return random_() % bound; }
  sym::Expr divisor() { return below(2) ? b_.number(int64_t(1) << below(5)) : below(2) ? b_.number(7) : symbols_[2]; }
  sym::Expr extent() { return below(2) ? symbols_[2] : symbols_[2] * 3 + 1; }
  int64_t granule() { return int64_t(below(3)) + 1; }

  KernelBuilder& b_;
  std::vector<sym::Expr> symbols_;
  std::mt19937_64 random_;
};

TEST(CpuIndex, RandomExpressionsEqualEvaluate) {
  constexpr int kExpressions = 200;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    KernelBuilder b("index");
    const std::vector<sym::Expr> symbols{b.integer("p", {.lo = 0}), b.integer("q", {}), b.integer("d", {.lo = 1})};
    Generator generator(b, symbols, seed);
    const auto y = b.writes("y", DType::i64, b.number(kExpressions));
    std::vector<sym::Expr> expressions;
    for (int i = 0; i < kExpressions; ++i) {
      expressions.push_back(generator.any(3));
      b.store(y, b.number(i), b.coordinate(expressions.back(), 1), kir::Access::lanewise);
    }
    const Tensor out = Tensor::empty(DType::i64, {kExpressions});
    const auto executable = test::shared_cpu().compile(test::text_of(b.kernel), nullptr);
    for (const auto& values : {std::vector<int64_t>{0, 0, 1}, {5, -17, 3}, {1000003, -999983, 64}, {7, 40, 11}}) {
      test::launch(*executable, b.kernel, {out}, values);
      const sym::Environment environment{{"p", values[0]}, {"q", values[1]}, {"d", values[2]}};
      for (int i = 0; i < kExpressions; ++i) {
        const auto& e = expressions[size_t(i)];
        EXPECT_EQ(static_cast<int64_t*>(out.data())[i], sym::evaluate(e, environment)) << sym::print(e);
      }
    }
  }
}

TEST(CpuIndex, CoordinatesOfLanes) {
  KernelBuilder b("lanes");
  const auto n = b.integer("n", {});
  const auto y = b.writes("y", DType::i64, b.number(32));
  const sym::Expr indices[] = {n + b.lane, n - 3 * b.lane, n * b.lane, sym::floordiv(n + b.lane, 3)};
  for (int i = 0; i < 4; ++i) b.store(y, 8 * i + b.lane, b.coordinate(indices[i], 8), kir::Access::aligned);
  const Tensor out = Tensor::empty(DType::i64, {32});
  test::run(b.kernel, {out}, {-10});
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(out.at(i), double(sym::evaluate(indices[i / 8], {{"n", -10}, {kir::kLane, i % 8}})));
  }
}

// The branch of a select that is not taken divides by zero.
TEST(CpuIndex, DivisionInABranchNotTaken) {
  KernelBuilder b("select");
  const auto n = b.integer("n", {.lo = 0});
  const auto y = b.writes("y", DType::i64, b.number(1));
  const auto e = sym::select(sym::gt(n, 0), sym::floordiv(b.number(100), n) + sym::mod(b.number(100), n), b.number(-1));
  b.store(y, b.number(0), b.coordinate(e, 1), kir::Access::lanewise);
  const Tensor out = Tensor::empty(DType::i64, {1});
  test::run(b.kernel, {out}, {0});
  EXPECT_EQ(out.at(0), -1);
  test::run(b.kernel, {out}, {7});
  EXPECT_EQ(out.at(0), 16);
}

}  // namespace
}  // namespace plait
