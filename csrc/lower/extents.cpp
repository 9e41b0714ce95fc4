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
  const sym::Expr symbol = pool_->symbol(fmt::format("n{}", named_++), facts);
  integers_.push_back(symbol);
  arguments_.push_back(size);
  return symbol;
}

namespace {

constexpr int kMostParts = 8;  // of a sum that the kernel composes itself

int count_parts(sym::Expr e) {
  if (e.kind() != sym::Kind::add && e.kind() != sym::Kind::mul) return 1;
  int out = 0;
  for (sym::Expr part : e.operands()) out += count_parts(part);
  return out;
}

}  // namespace

sym::Expr KernelExtents::composed(sym::Expr e) {
  if (e.kind() != sym::Kind::add && e.kind() != sym::Kind::mul) return integer(e, INT64_MIN);
  sym::Expr out;
  for (sym::Expr part : e.operands()) {
    const sym::Expr next = composed(part);
    out = !out ? next : e.kind() == sym::Kind::add ? out + next : out * next;
  }
  return out;
}

sym::Expr KernelExtents::operator()(sym::Expr size) {
  const bool sum = size.kind() == sym::Kind::add || size.kind() == sym::Kind::mul;
  if (!keeps_sums_ || !sum || count_parts(size) > kMostParts) return integer(size, 0);
  const size_t known = integers_.size();
  const sym::Expr out = composed(size);
  if (sym::proven(sym::ge(out, 0))) return out;
  integers_.resize(known);
  arguments_.resize(known);
  return integer(size, 0);
}

sym::Expr KernelExtents::argument(sym::Expr e) {
  const sym::Expr symbol = pool_->symbol(fmt::format("n{}", named_++), {.lo = 0});
  integers_.push_back(symbol);
  arguments_.push_back(e);
  return symbol;
}

}  // namespace plait
