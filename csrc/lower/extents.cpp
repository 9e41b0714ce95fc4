#include "lower/extents.h"

#include <algorithm>

#include "base/error.h"

namespace plait {

sym::Expr KernelExtents::integer(sym::Expr size, int64_t least) {
  const sym::Bounds range = sym::bounds(size);
  if (range.lo == range.hi) return pool_->constant(range.lo);
  for (size_t i = 0; i < arguments_.size(); ++i)
    if (arguments_[i] == size || sym::proven(sym::eq(arguments_[i], size))) return integers_[i];
  sym::SymbolInfo facts;
  if (std::max(range.lo, least) != INT64_MIN) facts.lo = std::max(range.lo, least);
  if (range.hi != INT64_MAX) facts.hi = range.hi;
  facts.multiple_of = std::max<int64_t>(sym::divisor(size), 1);
  const sym::Expr symbol = pool_->symbol(fmt::format("n{}", integers_.size()), facts);
  integers_.push_back(symbol);
  arguments_.push_back(size);
  return symbol;
}

sym::Expr KernelExtents::argument(sym::Expr e) {
  const sym::Expr symbol = pool_->symbol(fmt::format("n{}", integers_.size()), {.lo = 0});
  integers_.push_back(symbol);
  arguments_.push_back(e);
  return symbol;
}

}  // namespace plait
