#include "kir/facts.h"

#include <cctype>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "kir/statements.h"

namespace plait::kir {
namespace {

// Symbols of a kernel in the order of its text, with what that implies of them.
class Implied {
 public:
  explicit Implied(const Kernel& kernel) {
    for (sym::Expr integer : kernel.integers) add(integer, implied_of_integer());
    for (const Phase& phase : kernel.phases) block(phase.body);
    const sym::Expr lane = kernel.pool->find_symbol(kLane);
    if (lane && uses_lane_) add(lane, implied_of_lane(lanes_));
  }
  std::vector<std::pair<sym::Expr, sym::SymbolInfo>> symbols;

 private:
  void add(sym::Expr symbol, const sym::SymbolInfo& info) {
    if (symbol && symbol.is_symbol() && names_.insert(symbol.symbol_name()).second) symbols.emplace_back(symbol, info);
  }

  void block(const Block& body) {
    for (const auto& stmt : body) {
      if (stmt == nullptr) continue;
      for (const Value& out : results(*stmt)) lanes_ = std::max(lanes_, out.lanes);
      for (sym::Expr e : expressions(*stmt)) uses_lane_ = uses_lane_ || sym::symbols(e).contains(kLane);
      if (const For* loop = as<For>(*stmt); loop && loop->extent) add(loop->var, sym::index_facts(loop->extent));
      if (const Block* inner = body_of(*stmt)) block(*inner);
    }
  }

  std::set<std::string> names_;
  int lanes_ = 1;
  bool uses_lane_ = false;
};

}  // namespace

sym::SymbolInfo implied_of_integer() { return {.lo = 0}; }

sym::SymbolInfo implied_of_lane(int lanes) { return {.lo = 0, .hi = lanes - 1}; }

bool speaks_of_lane(std::string_view text) {
  text = text.substr(0, text.find("\nkernel"));
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n')), code = line.substr(0, line.find('#'));
    for (size_t at = code.find(kLane); at != code.npos; at = code.find(kLane, at + 1)) {
      const size_t end = at + std::string_view(kLane).size();
      const bool whole =
          end == code.size() || !(std::isalnum(static_cast<unsigned char>(code[end])) || code[end] == '_');
      if (whole) return true;  // not `lanes`, not `lanewise`
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return false;
}

std::string facts_text(const sym::SymbolInfo& facts) {
  return fmt::format("{} in {}..{}{}", facts.multiple_of, facts.lo ? std::to_string(*facts.lo) : "",
                     facts.hi ? std::to_string(*facts.hi) : "", facts.below ? " below " + sym::print(facts.below) : "");
}

std::vector<sym::Expr> stated_symbols(const Kernel& kernel) {
  const Implied implied(kernel);
  std::set<std::string> stated;
  for (const auto& [symbol, info] : implied.symbols)
    if (facts_text(info) != facts_text(kernel.pool->info(symbol))) stated.insert(symbol.symbol_name());
  for (size_t before = 0; before != stated.size();) {
    before = stated.size();
    for (const auto& [symbol, info] : implied.symbols) {
      const sym::Expr below = kernel.pool->info(symbol).below;
      if (below && stated.contains(symbol.symbol_name())) sym::symbols(below, stated);
    }
  }
  std::vector<sym::Expr> out;
  for (const auto& [symbol, info] : implied.symbols)
    if (stated.contains(symbol.symbol_name())) out.push_back(symbol);
  return out;
}

}  // namespace plait::kir
