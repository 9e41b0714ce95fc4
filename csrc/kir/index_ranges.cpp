#include "kir/index_ranges.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kir/statements.h"

namespace plait::kir {
namespace {

using sym::Bounds;
using sym::Expr;
using sym::Kind;

constexpr int64_t kFar = std::numeric_limits<int64_t>::max();  // and what is beyond
constexpr int64_t kFarBelow = std::numeric_limits<int64_t>::min();
constexpr int64_t kMostBlocks = std::numeric_limits<int32_t>::max();  // of a dim of a grid

int64_t clamp(__int128 value) {
  return value > kFar ? kFar : value < kFarBelow ? kFarBelow : static_cast<int64_t>(value);
}
int64_t plus(int64_t a, int64_t b) { return clamp(static_cast<__int128>(a) + b); }
int64_t times(int64_t a, int64_t b) { return clamp(static_cast<__int128>(a) * b); }

Bounds times(Bounds a, Bounds b) {
  const auto [lo, hi] = std::minmax({times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo), times(a.hi, b.hi)});
  return {lo, hi};
}

// Those of an expression of the kind; else itself.
std::vector<Expr> operands_of(Expr e, Kind kind) {
  if (e.kind() != kind) return {e};
  return {e.operands().begin(), e.operands().end()};
}

}  // namespace

IndexRanges::IndexRanges(const Kernel& kernel) : kernel_(kernel) {
  for (Expr n : kernel.integers) integers_.emplace(n.id(), n);
  for (const Phase& phase : kernel.phases) find_blocks(phase.body);
  if (!kernel.narrow) return;
  for (const Buffer& buffer : kernel.buffers)
    if (buffer.space == Space::argument && buffer.extent) learn(buffer.extent);
}

void IndexRanges::find_blocks(const Block& body) {
  for (const auto& stmt : body) {
    if (const For* loop = as<For>(*stmt); loop != nullptr && loop->loop >= LoopKind::block_x)
      launched_.insert(loop->var.id());
    if (const Block* inner = body_of(*stmt)) find_blocks(*inner);
  }
}

// A sum of products with positive factors: none is more than the sum.
void IndexRanges::learn(Expr extent) {
  std::vector<Product> found;
  for (Expr term : operands_of(extent, Kind::add)) {
    Product product{{}, kMostNarrow};
    bool plain = true;
    for (Expr factor : operands_of(term, Kind::mul)) {
      if (factor.is_constant() && factor.value() > 0)
        product.most /= factor.value();
      else if (is_dim(factor))
        ++product.powers[factor.id()];
      else
        plain = false;
    }
    if (!plain && of(term).lo < 0) return;
    if (plain) found.push_back(std::move(product));
  }
  products_.insert(products_.end(), found.begin(), found.end());
  known_.clear();
}

int64_t IndexRanges::most(const Powers& powers) const {
  int64_t out = 1;
  for (const auto& [id, power] : powers)
    for (int i = 0; i < power; ++i) {
      int64_t of_one = sym::bounds(integers_.at(id)).hi;
      for (const Product& p : products_)
        if (p.powers.contains(id)) of_one = std::min(of_one, p.most);
      out = times(out, of_one);
    }
  for (const Product& p : products_)
    if (std::all_of(powers.begin(), powers.end(), [&](const auto& part) {
          const auto at = p.powers.find(part.first);
          return at != p.powers.end() && at->second >= part.second;
        }))
      out = std::min(out, p.most);
  return out;
}

Bounds IndexRanges::of(Expr e) const {
  if (const auto at = known_.find(e.id()); at != known_.end()) return at->second;
  const Bounds plain = sym::bounds(e), own = find(e);
  return known_[e.id()] = {std::max(plain.lo, own.lo), std::min(plain.hi, own.hi)};
}

Bounds IndexRanges::symbol(Expr e) const {
  Bounds out = sym::bounds(e);
  if (e.symbol_name() == kLane) return {0, std::min(out.hi, kMostThreads)};
  if (integers_.contains(e.id())) {
    if (out.lo >= 1) out.hi = std::min(out.hi, most({{e.id(), 1}}));
    return out;
  }
  if (launched_.contains(e.id())) out.hi = std::min(out.hi, kMostBlocks - 1);
  if (const sym::SymbolInfo& info = kernel_.pool->info(e); info.below)
    out.hi = std::min(out.hi, plus(of(info.below).hi, -1));
  return out;
}

bool IndexRanges::is_dim(Expr e) const { return integers_.contains(e.id()) && sym::bounds(e).lo >= 1; }

std::optional<IndexRanges::Parts> IndexRanges::parts(Expr e) const {
  const auto operands = e.operands();
  if (e.kind() != Kind::floordiv || !operands[1].is_constant() || operands[0].kind() != Kind::add) return std::nullopt;
  const auto terms = operands[0].operands();
  if (terms.size() != 2 || !terms[1].is_constant() || terms[1].value() < 0 || terms[1].value() >= operands[1].value())
    return std::nullopt;
  Parts out{{}, operands[1].value()};
  for (Expr factor : operands_of(terms[0], Kind::mul)) {
    if (!is_dim(factor)) return std::nullopt;
    ++out.powers[factor.id()];
  }
  return out;
}

std::optional<IndexRanges::Powers> IndexRanges::dims_above(Expr e) const {
  const Expr below = e.is_symbol() && !integers_.contains(e.id()) ? kernel_.pool->info(e).below : Expr();
  if (below && sym::bounds(e).lo < 0) return std::nullopt;
  Powers out;
  for (Expr factor : operands_of(below ? below : e, Kind::mul)) {
    if (!is_dim(factor)) return std::nullopt;
    ++out[factor.id()];
  }
  return out;
}

// n dims in parts of c are at most n / c + 1: a product of such numbers is multiplied out, so that each product of dims
// is seen.
Bounds IndexRanges::product(Expr e) const {
  Bounds out{1, 1};
  int64_t number = 1, lo = 1;
  Powers powers;
  std::vector<Parts> in_parts;
  for (Expr factor : e.operands()) {
    const auto parted = parts(factor);
    if (const auto dims = dims_above(factor)) {
      for (const auto& [id, power] : *dims) powers[id] += power;
      lo = times(lo, sym::bounds(factor).lo);
    } else if (parted && in_parts.size() < 4) {
      in_parts.push_back(*parted);
      lo = times(lo, std::max<int64_t>(sym::bounds(factor).lo, 0));
    } else if (factor.is_constant() && factor.value() > 0) {
      number = times(number, factor.value());
    } else {
      out = times(out, of(factor));
    }
  }
  int64_t hi = 0;
  for (size_t chosen = 0; chosen < size_t{1} << in_parts.size(); ++chosen) {
    Powers all = powers;
    __int128 divisor = 1;
    for (size_t i = 0; i < in_parts.size(); ++i) {
      if ((chosen >> i & 1) == 0) continue;
      divisor *= in_parts[i].size;
      for (const auto& [id, power] : in_parts[i].powers) all[id] += power;
    }
    const int64_t dims = most(all);
    hi = plus(hi, dims == kFar ? kFar : plus(clamp(static_cast<__int128>(number) * dims / divisor), 1));
  }
  return times(out, {times(number, lo), in_parts.empty() ? plus(hi, -1) : hi});
}

Bounds IndexRanges::quotient(Expr e) const {
  const Expr a = e.operands()[0], b = e.operands()[1];
  const Bounds of_a = of(a), of_b = of(b);
  if (of_a.lo < 0 || of_b.lo < 1) return {kFarBelow, kFar};
  Bounds out{of_a.lo / of_b.hi, of_a.hi / of_b.lo};
  // What is below p * b has a quotient below p.
  const Expr below = a.is_symbol() ? kernel_.pool->info(a).below : Expr();
  if (!below || below.kind() != Kind::mul) return out;
  const auto factors = below.operands();
  if (std::find(factors.begin(), factors.end(), b) == factors.end()) return out;
  Bounds rest{1, 1};
  bool divided = false;  // by one of several equal factors
  for (Expr factor : factors) {
    if (factor == b && !std::exchange(divided, true)) continue;
    rest = times(rest, of(factor));
  }
  out.hi = std::min(out.hi, std::max<int64_t>(plus(rest.hi, -1), 0));
  return out;
}

Bounds IndexRanges::find(Expr e) const {
  switch (e.kind()) {
    case Kind::symbol:
      return symbol(e);
    case Kind::add: {
      Bounds out{0, 0};
      for (Expr term : e.operands()) out = {plus(out.lo, of(term).lo), plus(out.hi, of(term).hi)};
      return out;
    }
    case Kind::mul:
      return product(e);
    case Kind::floordiv:
      return quotient(e);
    case Kind::mod: {
      const Bounds a = of(e.operands()[0]), b = of(e.operands()[1]);
      if (b.lo < 1) return {kFarBelow, kFar};
      return {0, a.lo >= 0 ? std::min(a.hi, b.hi - 1) : b.hi - 1};
    }
    case Kind::min:
    case Kind::max: {
      Bounds out = of(e.operands()[0]);
      const auto pick = [&](int64_t x, int64_t y) { return e.kind() == Kind::min ? std::min(x, y) : std::max(x, y); };
      for (Expr operand : e.operands()) out = {pick(out.lo, of(operand).lo), pick(out.hi, of(operand).hi)};
      return out;
    }
    case Kind::select: {
      const Bounds a = of(e.operands()[1]), b = of(e.operands()[2]);
      return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
    }
    case Kind::constant:
    case Kind::chunk:
    case Kind::chunk_start:
    case Kind::lt:
    case Kind::le:
    case Kind::eq:
    case Kind::logical_and:
    case Kind::logical_not:
      break;
  }
  return sym::bounds(e);
}

}  // namespace plait::kir
