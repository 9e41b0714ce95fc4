// Owner of nodes: interning, structural order, symbols and their facts.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "sym/node.h"

namespace plait::sym {
namespace {

constexpr std::array<std::string_view, 16> kNames = {"constant", "symbol", "add",   "mul",         "floordiv", "mod",
                                                     "min",      "max",    "chunk", "chunk_start", "lt",       "le",
                                                     "eq",       "and",    "not",   "select"};
constexpr std::array<std::string_view, 11> kWords = {"floordiv",    "ceildiv", "mod", "min", "max",   "chunk",
                                                     "chunk_start", "and",     "or",  "not", "select"};

constexpr uint32_t kBriefSize = 200;  // nodes of the largest expression that an error quotes

uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 32);
}

int order_of(Kind kind) {
  if (kind == Kind::mul) return 0;
  if (kind == Kind::symbol) return 1;
  return 2 + static_cast<int>(kind);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool well_formed(std::string_view name) {
  if (name.empty() || !is_letter(name[0])) return false;
  bool after_dot = false;
  for (char c : name) {
    if (c == '.' ? after_dot : !is_letter(c) && !is_digit(c)) return false;
    after_dot = c == '.';
  }
  return !after_dot;
}

// S30: bounds move inwards to multiples; where the multiple is past 64 bits they stay.
Bounds to_multiples(Bounds r, int64_t m) {
  if (r.hi != INT64_MAX) {
    const Wide hi = Wide(floor_divide(r.hi, m)) * m;
    if (hi >= INT64_MIN) r.hi = static_cast<int64_t>(hi);
  }
  if (r.lo != INT64_MIN) {
    const Wide lo = -Wide(floor_divide(-r.lo, m)) * m;
    if (lo <= INT64_MAX) r.lo = static_cast<int64_t>(lo);
  }
  return r;
}

std::string symbol_place(std::string_view name) { return fmt::format("symbol '{}'", name); }

}  // namespace

Bounds stated_range(const SymbolInfo& info) {
  return to_multiples({info.lo.value_or(INT64_MIN), info.hi.value_or(INT64_MAX)}, info.multiple_of);
}

void check_symbol(std::string_view name, const SymbolInfo& info) {
  if (!well_formed(name))
    throw UserError("malformed symbol name", symbol_place(name), "use letters, digits and _, in parts joined by dots");
  if (is_word(name))
    throw UserError("symbol name is a word of the expression language", symbol_place(name), "rename the symbol");
  if (info.multiple_of < 1)
    throw UserError(fmt::format("a multiple of {} is stated", info.multiple_of), symbol_place(name),
                    "a symbol is a multiple of a positive number");
}

void check_consistent(std::string_view name, const SymbolInfo& info) {
  if (info.lo && info.hi && *info.lo > *info.hi)
    throw UserError(fmt::format("contradicting facts: at least {} and at most {}", *info.lo, *info.hi),
                    symbol_place(name), "state bounds that some value satisfies");
  const Bounds r = stated_range(info);
  if (r.lo > r.hi)
    throw UserError(
        fmt::format("contradicting facts: no multiple of {} in {}..{}", info.multiple_of, *info.lo, *info.hi),
        symbol_place(name), "state facts that some value satisfies");
}

// S32: all facts hold together. False where nothing is new.
bool refine(SymbolInfo& known, const SymbolInfo& added) {
  bool changed = false;
  if (added.lo && (!known.lo || *added.lo > *known.lo)) known.lo = added.lo, changed = true;
  if (added.hi && (!known.hi || *added.hi < *known.hi)) known.hi = added.hi, changed = true;
  if (known.multiple_of % added.multiple_of != 0) {
    int64_t common_multiple;
    if (!__builtin_mul_overflow(known.multiple_of / gcd64(known.multiple_of, added.multiple_of), added.multiple_of,
                                &common_multiple)) {
      known.multiple_of = common_multiple;
    } else {
      // The only multiple within 64 bits is 0.
      known.lo = std::max<int64_t>(known.lo.value_or(0), 0);
      known.hi = std::min<int64_t>(known.hi.value_or(0), 0);
    }
    changed = true;
  }
  if (added.below && !(known.below == added.below)) {
    known.below = known.below ? min(known.below, added.below) : added.below;
    changed = true;
  }
  return changed;
}

// The range and the divisor of a symbol from its facts. S31: `below` lowers the upper bound.
static void take_facts(Node* n) {
  const SymbolInfo& info = n->symbol->info;
  Bounds r = stated_range(info);
  if (info.below) {
    const int64_t hi = bounds(info.below).hi;
    if (hi != INT64_MAX && hi != INT64_MIN) r.hi = std::min(r.hi, hi - 1);
    r = to_multiples(r, info.multiple_of);
  }
  n->range = r;
  n->divisor = info.multiple_of;
}

std::string_view kind_name(Kind kind) { return kNames[static_cast<size_t>(kind)]; }

Kind Expr::kind() const { return node_->kind; }
bool Expr::is_constant() const { return node_->kind == Kind::constant; }
std::optional<int64_t> Expr::constant() const {
  return is_constant() ? std::optional<int64_t>(node_->value) : std::nullopt;
}
int64_t Expr::value() const {
  PLAIT_CHECK(is_constant(), "value() of {}", brief(*this));
  return node_->value;
}
bool Expr::is_symbol() const { return node_->kind == Kind::symbol; }
const std::string& Expr::symbol_name() const {
  PLAIT_CHECK(is_symbol(), "symbol_name() of {}", brief(*this));
  return *node_->symbol->name;
}
std::span<const Expr> Expr::operands() const { return node_->operands; }
Pool& Expr::pool() const { return *node_->pool; }
uint64_t Expr::id() const { return node_->id; }

static bool boolean_form(const Node& n) {
  switch (n.kind) {
    case Kind::constant:
      return n.value == 0 || n.value == 1;
    case Kind::lt:
    case Kind::le:
    case Kind::eq:
    case Kind::logical_and:
    case Kind::logical_not:
      return true;
    case Kind::select:
      return is_boolean(n.operands[1]) && is_boolean(n.operands[2]);
    default:
      return false;
  }
}

std::span<const Expr> Pool::Impl::store(std::span<const Expr> operands) {
  if (operands.empty()) return {};
  if (block_used + operands.size() > block_size) {
    block_size = std::max<size_t>(1024, operands.size());
    blocks.push_back(std::make_unique<Expr[]>(block_size));
    block_used = 0;
  }
  Expr* out = blocks.back().get() + block_used;
  std::copy(operands.begin(), operands.end(), out);
  block_used += operands.size();
  return {out, operands.size()};
}

const Node* Pool::Impl::intern(Kind kind, int64_t value, std::span<const Expr> operands, const Node* base) {
  uint64_t hash = mix(static_cast<uint64_t>(kind) + 1, static_cast<uint64_t>(value));
  for (Expr e : operands) hash = mix(hash, e.node()->hash);
  const auto same = [&](const Node& n) {
    return n.kind == kind && n.value == value && std::ranges::equal(n.operands, operands);
  };
  if (const Node* known = table.find(nodes, hash, same)) return known;
  Node& n = nodes.add();
  n.kind = kind;
  n.value = value;
  n.hash = hash;
  n.pool = pool;
  n.operands = store(operands);
  uint64_t size = 1;
  for (Expr e : operands) {
    n.height = std::max(n.height, e.node()->height + 1);
    size += e.node()->tree_size;
  }
  n.tree_size = static_cast<uint32_t>(std::min<uint64_t>(size, UINT32_MAX));
  n.base = base ? base : &n;
  n.self = Expr(&n);
  n.boolean = boolean_form(n);
  compute_facts(&n);
  table.insert(n);
  return &n;
}

Pool& common_pool(Expr a, Expr b) {
  PLAIT_CHECK(a && b, "null expression");
  PLAIT_CHECK(&a.pool() == &b.pool(), "expressions of two pools: {} and {}", brief(a), brief(b));
  return a.pool();
}

int compare(const Node* a, const Node* b) {
  while (a != b) {
    if (int d = order_of(a->kind) - order_of(b->kind)) return d;
    if (a->kind == Kind::symbol) return a->symbol->name->compare(*b->symbol->name);
    if (a->height != b->height) return a->height < b->height ? -1 : 1;
    if (a->operands.size() != b->operands.size()) return a->operands.size() < b->operands.size() ? -1 : 1;
    size_t i = 0;
    while (i < a->operands.size() && a->operands[i] == b->operands[i]) ++i;
    if (i == a->operands.size()) return a->value < b->value ? -1 : 1;
    // Equal structure is one node: the first operands that differ decide.
    const Expr left = a->operands[i], right = b->operands[i];
    a = left.node();
    b = right.node();
  }
  return 0;
}

std::string brief(Expr e) { return e.node()->tree_size <= kBriefSize ? print(e) : std::string(); }

void fail_overflow(const char* action) {
  throw UserError(fmt::format("integer overflow past 64 bits while {} a size or index", action), "",
                  "use smaller extents: every size, stride and index must be below 2^63");
}

bool is_word(std::string_view name) { return std::find(kWords.begin(), kWords.end(), name) != kWords.end(); }

Pool::Pool() : impl_(std::make_unique<Impl>()) { impl_->pool = this; }
Pool::~Pool() = default;
size_t Pool::size() const { return impl_->nodes.size(); }
Expr Pool::constant(int64_t value) { return Expr(impl_->intern(Kind::constant, value, {})); }

Expr Pool::find_symbol(std::string_view name) const {
  auto it = impl_->symbols.find(name);
  return it == impl_->symbols.end() ? Expr() : it->second->self;
}

const SymbolInfo& Pool::info(Expr symbol) const {
  PLAIT_CHECK(symbol && symbol.is_symbol() && &symbol.pool() == this, "info() of something else than a symbol here");
  return symbol.node()->symbol->info;
}

SymbolInfo index_facts(Expr extent) {
  if (const auto n = extent.constant()) return {.lo = 0, .hi = std::max<int64_t>(*n - 1, 0)};
  return {.lo = 0, .below = extent};
}

Expr Pool::symbol(std::string_view name, SymbolInfo info) {
  check_symbol(name, info);
  PLAIT_CHECK(!info.below || &info.below.pool() == this, "bound of {} is from another pool", name);
  const auto below = info.below ? info.below.constant() : std::nullopt;
  if (below && info.multiple_of == 1 && info.lo.value_or(INT64_MIN) < *below) {  // as an inclusive bound
    info.hi = std::min(info.hi.value_or(*below - 1), *below - 1);
    info.below = {};
  }
  auto it = impl_->symbols.find(name);
  if (it == impl_->symbols.end()) {
    check_consistent(name, info);
    it = impl_->symbols.emplace(std::string(name), nullptr).first;
    Node& n = impl_->nodes.add();
    n.kind = Kind::symbol;
    n.hash = mix(static_cast<uint64_t>(Kind::symbol) + 1, 0);
    for (char c : name) n.hash = mix(n.hash, static_cast<unsigned char>(c));
    n.pool = this;
    n.base = &n;
    n.self = Expr(&n);
    n.symbol = std::make_unique<Symbol>(Symbol{&it->first, info});
    it->second = &n;
    take_facts(&n);
    return n.self;
  }
  Node* n = it->second;
  SymbolInfo refined = n->symbol->info;
  if (!refine(refined, info)) return n->self;
  check_consistent(name, refined);
  n->symbol->info = refined;
  take_facts(n);
  ++impl_->epoch;
  return n->self;
}

}  // namespace plait::sym
