#include "run/rank_values.h"

#include <map>
#include <set>

namespace plait {

RankValues::RankValues(const Program& program, const sym::Environment& sizes) : program_(program), environment_(sizes) {
  const auto& axes = program.mesh.axes();
  strides_.resize(axes.size());
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    strides_[i] = stride;
    stride *= program.devices.size(static_cast<int>(i));
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    rank_symbols_.push_back("rank." + axes[i].name);
    environment_[rank_symbols_[i]] = 0;
    if (!axes[i].symbol.empty()) environment_[axes[i].symbol] = program.devices.size(static_cast<int>(i));
  }
  sym::check_facts(*program.pool, environment_);
}

RankValues::Row& RankValues::row(sym::Expr expr) {
  const auto [slot, fresh] = rows_.try_emplace(expr.id());
  Row& out = slot->second;
  if (!fresh) return out;
  const std::set<std::string> symbols = sym::symbols(expr);
  for (size_t i = 0; i < rank_symbols_.size(); ++i)
    if (symbols.contains(rank_symbols_[i])) out.axes.axes.push_back(static_cast<int>(i));
  const auto members = static_cast<size_t>(program_.devices.members(out.axes));
  out.values.resize(members);
  out.known.resize(members);
  return out;
}

int64_t RankValues::value(sym::Expr expr, int64_t rank) {
  if (!expr) return 1;
  if (const auto constant = expr.constant()) return *constant;
  Row& its = row(expr);
  size_t at = 0;
  for (int axis : its.axes.axes)
    at = at * static_cast<size_t>(program_.devices.size(axis)) + static_cast<size_t>(coordinate(rank, axis));
  if (its.known[at]) return its.values[at];
  for (int axis : its.axes.axes) environment_[rank_symbols_[static_cast<size_t>(axis)]] = coordinate(rank, axis);
  its.values[at] = sym::evaluate(expr, environment_);
  ++evaluated_;
  its.known[at] = true;
  return its.values[at];
}

std::vector<int64_t> RankValues::values(const std::vector<sym::Expr>& exprs, int64_t rank) {
  std::vector<int64_t> out;
  for (sym::Expr expr : exprs) out.push_back(value(expr, rank));
  return out;
}

Team RankValues::axes(const std::vector<sym::Expr>& exprs) {
  std::set<int> out;
  for (sym::Expr expr : exprs)
    if (expr) out.insert(row(expr).axes.axes.begin(), row(expr).axes.axes.end());
  return {{out.begin(), out.end()}};
}

std::vector<std::vector<int64_t>> RankValues::classes(const std::vector<sym::Expr>& exprs) {
  std::vector<sym::Expr> differ;  // from rank to rank, each once
  std::set<uint64_t> seen;
  for (sym::Expr expr : exprs)
    if (expr && seen.insert(expr.id()).second && !row(expr).axes.axes.empty()) differ.push_back(expr);
  std::vector<std::vector<int64_t>> out;
  std::map<std::vector<int64_t>, size_t> known;
  for (int64_t rank = 0; rank < program_.devices.ranks(); ++rank) {
    const auto [slot, fresh] = known.try_emplace(values(differ, rank), out.size());
    if (fresh) out.emplace_back();
    out[slot->second].push_back(rank);
  }
  return out;
}

}  // namespace plait
