#include "kir/lane.h"

namespace plait::kir {

sym::Expr at_lane(sym::Expr index, int64_t lane) {
  return sym::substitute(index, {{kLane, index.pool().constant(lane)}});
}

bool depends_on_lane(sym::Expr expr) { return sym::symbols(expr).contains(kLane); }

std::optional<int64_t> lane_stride(sym::Expr index) {
  if (!depends_on_lane(index)) return 0;
  const sym::Expr first = at_lane(index, 0);
  const std::optional<int64_t> stride = (at_lane(index, 1) - first).constant();
  if (!stride) return std::nullopt;
  const sym::Expr linear = first + *stride * index.pool().find_symbol(kLane);
  if (index == linear || sym::proven(sym::eq(index, linear))) return stride;
  return std::nullopt;
}

}  // namespace plait::kir
