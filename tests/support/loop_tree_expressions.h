#pragma once
// Integer expressions of a loop tree as numbers.
#include <algorithm>

#include "axes/loop_tree.h"
#include "base/error.h"

namespace plait::tree_oracle {

// Expressions as arrays of nodes over slots of variables.
class Expressions {
 public:
  explicit Expressions(const sym::Environment& sizes) {
    for (const auto& [name, value] : sizes) values_[slot(name)] = value;
  }

  size_t slot(const std::string& name) {
    const auto [it, fresh] = slots_.try_emplace(name, values_.size());
    if (fresh) values_.push_back(0);
    return it->second;
  }
  int64_t& value(size_t slot) { return values_[slot]; }

  int add(sym::Expr e) {
    const auto [it, fresh] = known_.try_emplace(e.id(), -1);
    if (!fresh) return it->second;
    Node n{e.kind(), 0, {}};
    if (e.is_constant()) {
      n.number = e.value();
    } else if (e.is_symbol()) {
      n.number = static_cast<int64_t>(slot(e.symbol_name()));
    } else {
      for (sym::Expr x : e.operands()) n.operands.push_back(add(x));
    }
    nodes_.push_back(std::move(n));
    return known_[e.id()] = static_cast<int>(nodes_.size()) - 1;
  }

  int64_t evaluate(int id) const {
    const Node& n = nodes_[static_cast<size_t>(id)];
    const auto at = [&](size_t i) { return evaluate(n.operands[i]); };
    switch (n.kind) {
      case sym::Kind::constant:
        return n.number;
      case sym::Kind::symbol:
        return values_[static_cast<size_t>(n.number)];
      case sym::Kind::add:
      case sym::Kind::mul:
      case sym::Kind::min:
      case sym::Kind::max:
      case sym::Kind::logical_and:
        return folded(n);
      case sym::Kind::floordiv:
        return divided(at(0), at(1));
      case sym::Kind::mod: {
        const int64_t a = at(0), b = at(1);
        return a - divided(a, b) * b;
      }
      case sym::Kind::lt:
        return at(0) < at(1);
      case sym::Kind::le:
        return at(0) <= at(1);
      case sym::Kind::eq:
        return at(0) == at(1);
      case sym::Kind::logical_not:
        return at(0) == 0;
      case sym::Kind::select:
        return at(0) != 0 ? at(1) : at(2);
      case sym::Kind::chunk:
      case sym::Kind::chunk_start:
        break;
    }
    PLAIT_CHECK(false, "no such expression in a tree");
  }

 private:
  struct Node {
    sym::Kind kind;
    int64_t number;
    std::vector<int> operands;
  };
  static int64_t divided(int64_t a, int64_t b) {
    PLAIT_CHECK(b > 0, "a division by {}", b);
    const int64_t q = a / b;
    return a % b < 0 ? q - 1 : q;
  }
  int64_t folded(const Node& n) const {
    int64_t out = evaluate(n.operands[0]);
    for (size_t i = 1; i < n.operands.size(); ++i) {
      const int64_t x = evaluate(n.operands[i]);
      if (n.kind == sym::Kind::add) out += x;
      if (n.kind == sym::Kind::mul) out *= x;
      if (n.kind == sym::Kind::min) out = std::min(out, x);
      if (n.kind == sym::Kind::max) out = std::max(out, x);
      if (n.kind == sym::Kind::logical_and) out = out != 0 && x != 0;
    }
    return out;
  }

  std::vector<Node> nodes_;
  std::vector<int64_t> values_;
  std::map<std::string, size_t> slots_;
  std::map<uint64_t, int> known_;
};

}  // namespace plait::tree_oracle
