#include "lower/vector_width.h"

#include <numeric>
#include <set>
#include <string>

namespace plait {

namespace {

constexpr int64_t kLargeDivisor = int64_t{1} << 20;

class Prover {
 public:
  Prover(sym::Expr lane, int lanes) : lane_(lane), lanes_(lanes) {}

  std::optional<LaneForm> form(sym::Expr e) const {
    if (e == lane_) return LaneForm{1, 0};
    if (!sym::symbols(e).contains(lane_.symbol_name())) return LaneForm{0, sym::divisor(e)};
    switch (e.kind()) {
      case sym::Kind::add:
        return sum(e);
      case sym::Kind::mul:
        return product(e);
      case sym::Kind::floordiv:
      case sym::Kind::mod:
        return division(e);
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<LaneForm> sum(sym::Expr e) const {
    LaneForm out{0, 0};
    for (sym::Expr term : e.operands()) {
      const auto f = form(term);
      if (!f) return std::nullopt;
      out.stride += f->stride;
      out.divisor = std::gcd(out.divisor, f->divisor);
    }
    return out;
  }

  // One operand with lanes; the others multiply. A stride must be a number, so they must be too.
  std::optional<LaneForm> product(sym::Expr e) const {
    std::optional<LaneForm> with_lane;
    int64_t scale = 1, divisor = 1;
    for (sym::Expr factor : e.operands()) {
      const auto f = form(factor);
      if (!f) return std::nullopt;
      if (sym::symbols(factor).contains(lane_.symbol_name())) {
        if (with_lane) return std::nullopt;
        with_lane = f;
        continue;
      }
      if (divisor <= kLargeDivisor) divisor *= f->divisor;  // what is left out still divides
      scale = factor.is_constant() ? scale * factor.value() : 0;
    }
    if (with_lane->stride == 0) return LaneForm{0, with_lane->divisor * divisor};
    if (scale == 0) return std::nullopt;
    return LaneForm{with_lane->stride * scale, with_lane->divisor * divisor};
  }

  std::optional<LaneForm> division(sym::Expr e) const {
    const sym::Expr by = e.operands()[1];
    const auto a = form(e.operands()[0]);
    if (!a || sym::symbols(by).contains(lane_.symbol_name())) return std::nullopt;
    const int64_t c = sym::divisor(by), common = std::gcd(a->divisor, c);
    const bool quotient = e.kind() == sym::Kind::floordiv;
    if (a->stride == 0) return LaneForm{0, quotient ? 1 : common};
    if (a->stride != 1 || common == 0 || common % lanes_ != 0) return std::nullopt;
    return quotient ? LaneForm{0, 1} : LaneForm{1, common};
  }

  sym::Expr lane_;
  int lanes_;
};

}  // namespace

std::optional<LaneForm> lane_form(sym::Expr index, sym::Expr lane, int lanes) {
  return Prover(lane, lanes).form(index);
}

}  // namespace plait
