#include "lower/tree/fuse_loops.h"

#include <algorithm>
#include <set>

#include "ir/op.h"

namespace plait::lowering {

namespace {

using Ops = std::set<const Op*>;

// In what the ops of a tree read and write.
void rename(LoopTree& tree, const Ops& ops, sym::Expr from, sym::Expr to) {
  const std::map<std::string, sym::Expr> names = {{from.symbol_name(), to}};
  const auto one = [&](sym::Expr& e) {
    if (e) e = sym::substitute(e, names);
  };
  const auto all = [&](std::vector<sym::Expr>& list) { std::for_each(list.begin(), list.end(), one); };
  const auto terms = [&](std::vector<RangeTerm>& list) {
    for (RangeTerm& t : list) {
      one(t.value);
      one(t.bound);
    }
  };
  for (const Op* op : ops) {
    PlacedOp& p = tree.ops.at(op);
    all(p.dims), all(p.index), all(p.own), all(p.reduced);
    terms(p.write), terms(p.once), terms(p.reduce);
    for (PlacedOperand& o : p.operands) {
      all(o.at), all(o.buffer), terms(o.read);
    }
  }
}

class Fuser {
 public:
  Fuser(LoopTree& tree, int parts, const OnlineSums& online, const std::set<const TensorView*>& copied,
        bool column_sums)
      : tree_(tree), parts_(parts), online_(online), copied_(copied), column_sums_(column_sums) {}

  void run(std::vector<TreeItem>& items) {
    for (size_t b = 0; b < items.size(); ++b) {
      if (items[b].kind != TreeItem::Kind::loop) continue;
      for (size_t a = 0; a < b; ++a) {
        if (items[a].kind != TreeItem::Kind::loop || !fits(items, a, b)) continue;
        fuse(items, a, b);
        b = a;
        break;
      }
    }
    for (const TreeItem& i : items)
      if (i.kind == TreeItem::Kind::loop) run(at(i.loop).items);
  }

 private:
  TreeLoop& at(int loop) { return tree_.loops[static_cast<size_t>(loop)]; }

  // Ops of which the item computes something.
  void collect(const TreeItem& item, Ops& ops) {
    if (item.kind != TreeItem::Kind::loop) {
      if (item.op != nullptr) ops.insert(item.op);
      return;
    }
    for (const TreeItem& i : at(item.loop).items) collect(i, ops);
  }

  // Whether it is a scan that needs the total first.
  bool begins_with(const Op& op, const Ops& makers) const {
    const auto total = tree_.totals.find(&op);
    return total != tree_.totals.end() && makers.contains(total->second);
  }

  // Whether the op is to read of the maximum of its part, which the earlier loop over parts finds.
  bool reads_part(const Op& op, const Op* maker, int cls, const Ops& earlier) const {
    return cls == parts_ && std::any_of(online_.begin(), online_.end(), [&](const auto& entry) {
             return earlier.contains(entry.second.greatest) && entry.second.reads_part(&op, maker);
           });
  }

  // Whether the later loop is to read what the earlier one finds in the whole part.
  bool waits_for_part(const Ops& earlier, const Ops& later) const {
    return std::any_of(online_.begin(), online_.end(), [&](const auto& entry) {
      return earlier.contains(entry.second.greatest) && later.contains(entry.second.difference);
    });
  }

  // Whether nothing of the later loop reads the part's greatest as if it were the row's.
  bool reads_parts_only(const Ops& earlier, const Ops& later) const {
    for (const Op* op : later)
      for (const PlacedOperand& in : tree_.ops.at(op).operands) {
        const Op* maker = in.tensor->definition;
        const bool of_row =
            std::any_of(online_.begin(), online_.end(), [&](const auto& e) { return e.second.makes(maker); });
        if (of_row && !reads_part(*op, maker, parts_, earlier)) return false;
      }
    return true;
  }

  bool reads(const Op& op, const Ops& makers, int cls, const Ops& earlier) {
    if (begins_with(op, makers)) return true;
    for (const PlacedOperand& in : tree_.ops.at(&op).operands) {
      const Op* maker = in.tensor->definition;
      if (maker != nullptr && makers.contains(maker) && !reads_part(op, maker, cls, earlier)) return true;
    }
    return false;
  }

  // Whether the loop repeats another one, around the initial values or the results of a tile of states: those have the
  // variable of the loops that they stand for, which stay.
  bool is_repeat(const TreeLoop& loop) const {
    return std::count_if(tree_.loops.begin(), tree_.loops.end(), [&](const TreeLoop& l) { return l.var == loop.var; }) >
           1;
  }

  bool fits(const std::vector<TreeItem>& items, size_t a, size_t b) {
    const TreeLoop &first = at(items[a].loop), &second = at(items[b].loop);
    if (is_repeat(second) && (!column_sums_ || is_repeat(first))) return false;
    if (first.cls != second.cls || first.extent != second.extent || first.parallel != second.parallel) return false;
    const bool ordered = first.order != LoopOrder::any && second.order != LoopOrder::any;
    if (ordered && first.order != second.order) return false;
    Ops earlier, later;
    collect(items[a], earlier);
    collect(items[b], later);
    if (waits_for_part(earlier, later) && (first.cls != parts_ || !reads_parts_only(earlier, later))) return false;
    for (size_t i = a + 1; i < b; ++i) {
      const bool moves = items[i].kind == TreeItem::Kind::alloc || items[i].kind == TreeItem::Kind::init;
      if (moves) continue;
      Ops between;
      collect(items[i], between);
      for (const Op* op : later)
        if (between.contains(op) || reads(*op, between, first.cls, earlier)) return false;
    }
    for (const Op* op : later)
      if (earlier.contains(op) || begins_with(*op, earlier) || !reads_in_step(*op, earlier, first, second))
        return false;
    return true;
  }

  // Whether the op reads of what the earlier loop makes only what the same iteration has made.
  bool reads_in_step(const Op& op, const Ops& earlier, const TreeLoop& first, const TreeLoop& second) {
    for (const PlacedOperand& in : tree_.ops.at(&op).operands) {
      const Op* maker = in.tensor->definition;
      if (maker == nullptr || !earlier.contains(maker) || reads_part(op, maker, first.cls, earlier)) continue;
      if (tree_.home(*in.tensor) != Home::buffer || copied_.contains(in.tensor)) return false;
      const PlacedOp& made = tree_.ops.at(maker);
      bool in_step = false;
      for (size_t d = 0; d < made.index.size(); ++d)
        in_step = in_step || (made.index[d] == first.var && in.buffer[d] == second.var);
      if (!in_step) return false;
    }
    return true;
  }

  void fuse(std::vector<TreeItem>& items, size_t a, size_t b) {
    const int into = items[a].loop, from = items[b].loop;
    Ops moved;
    collect(items[b], moved);
    if (is_repeat(at(from))) {
      Ops stay;
      collect(items[a], stay);
      rename(tree_, stay, at(into).var, at(from).var);
      at(into).var = at(from).var;
    } else {
      rename(tree_, moved, at(from).var, at(into).var);
    }
    for (const TreeItem& i : at(from).items) {
      at(into).items.push_back(i);
      if (i.kind == TreeItem::Kind::loop) at(i.loop).parent = into;
    }
    at(from).items.clear();
    at(into).reduction = at(into).reduction || at(from).reduction;
    at(into).order = std::max(at(into).order, at(from).order);
    for (const Op* op : moved) {
      PlacedOp& placed = tree_.ops.at(op);
      if (placed.loop == from) placed.loop = into;
      if (placed.scope == from) placed.scope = into;
    }
    // Buffers and states of what moves come to life in front of it.
    std::vector<TreeItem> first, rest;
    for (size_t i = 0; i < items.size(); ++i) {
      const bool lives = items[i].kind == TreeItem::Kind::alloc || items[i].kind == TreeItem::Kind::init;
      if (i == b) continue;
      (lives ? first : rest).push_back(items[i]);
    }
    first.insert(first.end(), rest.begin(), rest.end());
    items = std::move(first);
  }

  LoopTree& tree_;
  const int parts_;
  const OnlineSums& online_;
  const std::set<const TensorView*>& copied_;
  const bool column_sums_;
};

}  // namespace

void fuse_loops(LoopTree& tree, int parts, const OnlineSums& online, const std::set<const TensorView*>& copied,
                bool column_sums) {
  Fuser(tree, parts, online, copied, column_sums).run(tree.items);
}

void turn_loops(LoopTree& tree) {
  Ops all;
  for (const auto& [op, placed] : tree.ops) all.insert(op);
  std::set<std::string> turned;
  for (TreeLoop& l : tree.loops) {
    if (l.order != LoopOrder::backward) continue;
    if (turned.insert(l.var.symbol_name()).second) rename(tree, all, l.var, l.extent - 1 - l.var);
    l.order = LoopOrder::forward;
  }
}

}  // namespace plait::lowering
