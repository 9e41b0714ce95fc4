#include "lower/extents.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace plait {

namespace {

// An expression as a multiple's exact quotient: of / by.
struct Quotient {
  sym::Expr of;
  int64_t by = 1;
};
Quotient quotient(sym::Expr e) {
  if (e.kind() != sym::Kind::floordiv) return {e};
  const std::optional<int64_t> by = e.operands()[1].constant();
  return by && sym::divisor(e.operands()[0]) % *by == 0 ? Quotient{e.operands()[0], *by} : Quotient{e};
}

}  // namespace

sym::Expr KernelExtents::integer(sym::Expr size, int64_t least) {
  const sym::Bounds range = sym::bounds(size);
  if (range.lo == range.hi) return pool_->constant(range.lo);
  for (size_t i = 0; i < arguments_.size(); ++i)
    if (arguments_[i] == size || sym::proven(sym::eq(arguments_[i], size))) return integers_[i];
  for (size_t i = 0; i < arguments_.size(); ++i) {  // whose relation proofs need
    const Quotient known = quotient(arguments_[i]), asked = quotient(size);
    if (known.of != asked.of) continue;
    if (asked.by % known.by == 0) return sym::floordiv(integers_[i], asked.by / known.by);
    if (known.by % asked.by == 0) return integers_[i] * (known.by / asked.by);
  }
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
