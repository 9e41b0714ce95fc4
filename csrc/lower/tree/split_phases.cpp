#include "lower/tree/split_phases.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "ir/op.h"

namespace plait::lowering {

namespace {

using Ops = std::set<const Op*>;

class Splitter {
 public:
  Splitter(LoopTree& tree, int cls, bool on_blocks) : tree_(tree), cls_(cls), on_blocks_(on_blocks) {}

  std::optional<std::string> run() {
    if (auto reason = find_chain()) return reason;
    if (auto reason = collect_pieces()) return reason;
    if (auto reason = find_levels()) return reason;
    find_crossing();
    std::vector<std::vector<TreeItem>> phases;
    for (int level = 0; level <= last_level_; ++level) {
      if (level % 2 == 1) {
        phases.push_back(rows_phase(level));
        continue;
      }
      for (const Piece& p : pieces_)
        if (p.is_part && p.level == level) phases.push_back(parts_phase(p));
    }
    std::erase_if(phases, [](const auto& items) { return items.empty(); });
    tree_.items = std::move(phases.front());
    tree_.later.assign(std::make_move_iterator(phases.begin() + 1), std::make_move_iterator(phases.end()));
    return std::nullopt;
  }

 private:
  // An item of the bodies of the kept loops. Levels: even ones are phases of parts, odd ones of what is kept; -1: waits
  // for nothing, and is computed where it is read.
  struct Piece {
    TreeItem item;
    Ops ops;    // that it computes
    Ops makes;  // whose results exist behind it: behind a loop over parts, those of its reductions do not
    Ops reads;  // whose operands it reads: a result of a reduction comes from its state
    bool is_part = false;
    int level = -1;
  };

  TreeLoop& at(int loop) { return tree_.loops[static_cast<size_t>(loop)]; }
  std::vector<TreeItem>& body(int loop) { return loop < 0 ? tree_.items : at(loop).items; }

  void collect(const TreeItem& item, Ops& ops) {
    if (item.kind != TreeItem::Kind::loop) {
      if (item.kind == TreeItem::Kind::op || item.kind == TreeItem::Kind::finish) ops.insert(item.op);
      return;
    }
    for (const TreeItem& i : at(item.loop).items) collect(i, ops);
  }

  bool holds(int loop, bool (*test)(const TreeItem&)) {
    const auto& items = at(loop).items;
    return std::any_of(items.begin(), items.end(), [&](const TreeItem& i) {
      return test(i) || (i.kind == TreeItem::Kind::loop && holds(i.loop, test));
    });
  }

  // The kept loops around the loops over parts: all of these stand in the same.
  std::optional<std::string> find_chain() {
    std::vector<int> reached;
    for (const TreeItem& i : tree_.items)
      if (i.kind == TreeItem::Kind::loop) reached.push_back(i.loop);
    std::optional<int> parent;
    for (size_t k = 0; k < reached.size(); ++k) {
      const TreeLoop& l = at(reached[k]);
      if (l.cls == cls_) {
        if (parent && *parent != l.parent) return "loops over parts stand in different loops";
        parent = l.parent;
      }
      for (const TreeItem& i : l.items)
        if (i.kind == TreeItem::Kind::loop) reached.push_back(i.loop);
    }
    if (!parent) return "there is one part";
    chain_ = tree_.path(*parent);
    const auto is_reduced = [&](int l) { return at(l).reduction; };
    if (std::any_of(chain_.begin(), chain_.end(), is_reduced)) return "loops over parts stand in a reduced loop";
    return std::nullopt;
  }

  // What stands in the kept loops, in order. Whatever stands further out is computed within as well: it has the same
  // coordinates there.
  std::optional<std::string> collect_pieces() {
    for (size_t depth = 0; depth <= chain_.size(); ++depth) {
      const int loop = depth == 0 ? -1 : chain_[depth - 1];
      for (const TreeItem& i : body(loop)) {
        if (i.kind == TreeItem::Kind::loop && depth < chain_.size() && i.loop == chain_[depth]) continue;
        if (i.kind == TreeItem::Kind::alloc) return "rows are kept in buffers";
        if (i.kind == TreeItem::Kind::init) continue;
        Piece p;
        p.item = i;
        collect(i, p.ops);
        p.is_part = i.kind == TreeItem::Kind::loop && at(i.loop).cls == cls_;
        if (i.kind != TreeItem::Kind::finish) p.reads = p.ops;
        for (const Op* op : p.ops) {
          if (is_scan(op->kind) && !tree_.totals.contains(op)) return "a scan goes through whole rows";
          const bool state = i.kind != TreeItem::Kind::finish && !tree_.ops.at(op).reduced.empty();
          if (state && !p.is_part) return "a reduction has no parts";
          if (state) parts_of_[i.loop].insert(op);
          if (!state) p.makes.insert(op);
          const bool stores = tree_.ops.at(op).home == Home::memory;
          if (stores && depth < chain_.size()) return "a result is stored outside of the loops over parts";
        }
        if (i.kind == TreeItem::Kind::loop && holds(i.loop, [](const TreeItem& x) {
              return x.kind == TreeItem::Kind::init || x.kind == TreeItem::Kind::finish;
            }))
          return "a reduction stands in a loop over parts";
        pieces_.push_back(std::move(p));
      }
    }
    return std::nullopt;
  }

  // A scan reads its total.
  bool reads(const Op& op, const Ops& makers) const {
    if (const auto total = tree_.totals.find(&op); total != tree_.totals.end() && makers.contains(total->second))
      return true;
    for (const PlacedOperand& in : tree_.ops.at(&op).operands)
      if (in.tensor->definition != nullptr && makers.contains(in.tensor->definition)) return true;
    return false;
  }

  bool reads(const Ops& ops, const Ops& makers) const {
    return std::any_of(ops.begin(), ops.end(), [&](const Op* op) { return reads(*op, makers); });
  }

  // A piece waits for those before it whose results it reads; results of a reduction wait for its loop over parts.
  std::optional<std::string> find_levels() {
    for (size_t k = 0; k < pieces_.size(); ++k) {
      Piece& p = pieces_[k];
      int least = p.is_part ? 0 : -1;
      for (size_t j = 0; j < k; ++j) {
        const Piece& before = pieces_[j];
        const bool finishes = p.item.kind == TreeItem::Kind::finish && before.ops.contains(p.item.op);
        const bool waits = reads(p.reads, before.makes);
        if (before.is_part && waits) return "a loop over parts leaves more than its reductions";
        if (finishes) least = std::max(least, before.level + 1);
        if (!waits || before.level < 0) continue;
        if (before.item.kind == TreeItem::Kind::loop) return "a value of a loop crosses phases";
        least = std::max(least, p.is_part ? before.level + 1 : before.level);
      }
      const bool stores =
          std::any_of(p.ops.begin(), p.ops.end(), [&](const Op* o) { return tree_.ops.at(o).home == Home::memory; });
      if (least < 0 && (stores || p.item.kind == TreeItem::Kind::loop)) least = 1;
      p.level = least;
      last_level_ = std::max(last_level_, least);
    }
    return std::nullopt;
  }

  // Values of kept dims that another phase reads. A piece that waits for nothing is in every phase.
  void find_crossing() {
    for (const Piece& maker : pieces_) {
      if (maker.level < 0 || maker.is_part) continue;
      for (const Piece& p : pieces_) {
        if (p.level <= maker.level) continue;
        for (const Op* op : p.reads)
          for (const PlacedOperand& in : tree_.ops.at(op).operands)
            if (in.tensor->definition != nullptr && maker.makes.contains(in.tensor->definition))
              tree_.cross[in.tensor] = kept();
      }
    }
  }

  Workspace kept() {
    Workspace out;
    for (int l : chain_) {
      out.dims.push_back(at(l).extent);
      out.index.push_back(at(l).var);
    }
    return out;
  }

  Workspace part_of_row(int loop) {
    Workspace out = kept();
    out.dims.insert(out.dims.begin(), at(loop).extent);
    out.index.insert(out.index.begin(), at(loop).var);
    return out;
  }

  // The kept loops once more, within `parent`. The innermost one. Of GPUs parts are the first dim of a grid, and what
  // is kept the second.
  int copy_chain(int parent, bool in_parts, std::vector<TreeItem>& root) {
    for (int l : chain_) {
      TreeLoop copy = at(l);
      copy.items.clear();
      copy.parent = parent;
      if (in_parts && copy.parallel == ParallelType::cpu_thread) copy.parallel = ParallelType::serial;
      if (in_parts && copy.parallel == ParallelType::block_x) copy.parallel = ParallelType::block_y;
      const int id = static_cast<int>(tree_.loops.size());
      tree_.loops.push_back(std::move(copy));
      (parent < 0 ? root : at(parent).items).push_back({TreeItem::Kind::loop, id});
      parent = id;
    }
    return parent;
  }

  // Pieces that wait for nothing and that the ops read, in order.
  std::vector<const Piece*> read_anywhere(Ops ops) {
    std::vector<const Piece*> out;
    for (size_t k = pieces_.size(); k-- > 0;) {
      const Piece& p = pieces_[k];
      if (p.level >= 0) continue;
      if (!reads(ops, p.makes)) continue;
      out.push_back(&p);
      ops.insert(p.ops.begin(), p.ops.end());
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  void stand_in(const Op* op, int loop) { tree_.ops.at(op).loop = loop; }

  std::vector<TreeItem> parts_phase(const Piece& piece) {
    const int from = piece.item.loop;
    if (on_blocks_) together_.emplace(from, threads_in(from));
    TreeLoop outer = at(from);
    const std::vector<TreeItem> content = outer.items;
    outer.items.clear();
    outer.parent = -1;
    outer.parallel = on_blocks_ ? ParallelType::block_x : ParallelType::cpu_thread;
    const int id = static_cast<int>(tree_.loops.size());
    tree_.loops.push_back(std::move(outer));
    std::vector<TreeItem> root{{TreeItem::Kind::loop, id}};
    const int inner = copy_chain(id, true, root);
    const Ops sums = parts_of_[from];
    std::vector<TreeItem> items;
    for (const Op* op : in_order(sums)) items.push_back({TreeItem::Kind::init, -1, op});
    for (const Op* op : piece.ops) {
      if (!tree_.totals.contains(op)) continue;
      items.push_back({TreeItem::Kind::init, -1, op});
      tree_.begins[op] = part_of_row(id);
    }
    for (const Piece* p : read_anywhere(piece.reads)) place(*p, inner, items);
    for (const TreeItem& i : content) {
      items.push_back(i);
      if (i.kind == TreeItem::Kind::loop) at(i.loop).parent = inner;
    }
    for (const Op* op : piece.ops)
      if (tree_.ops.at(op).loop == from) stand_in(op, inner);
    for (const Op* op : in_order(sums)) {
      items.push_back({TreeItem::Kind::save, -1, op});
      tree_.parts[op] = part_of_row(id);
      merged_by_[op] = from;
    }
    append(inner, root, items);
    return root;
  }

  std::vector<TreeItem> rows_phase(int level) {
    Ops ops;
    for (const Piece& p : pieces_)
      if (p.level == level) ops.insert(p.reads.begin(), p.reads.end());
    const auto is_here = [&](const Piece& p) { return p.level == level && !is_merged_by_readers(p.item); };
    std::vector<TreeItem> root, items;
    if (std::none_of(pieces_.begin(), pieces_.end(), is_here)) return root;
    const int inner = copy_chain(-1, false, root);
    for (const Piece& p : pieces_)
      if (is_here(p) && p.item.kind == TreeItem::Kind::finish && !tree_.online.contains(p.item.op))
        items.push_back(merge(p.item.op, inner));
    for (const Piece* p : read_anywhere(ops)) place(*p, inner, items);
    for (const Piece& p : pieces_) {
      if (p.level != level || tree_.is_total(p.item.op)) continue;
      const bool online = p.item.kind == TreeItem::Kind::finish && tree_.online.contains(p.item.op);
      if (online) items.push_back(merge(p.item.op, inner));  // behind what it is from
      place(p, inner, items);
    }
    append(inner, root, items);
    return root;
  }

  // Of GPUs each part of a scan merges the totals in front of it by itself: no launch between.
  bool is_merged_by_readers(const TreeItem& item) const {
    return on_blocks_ && item.kind == TreeItem::Kind::finish && tree_.is_total(item.op);
  }

  TreeItem merge(const Op* op, int inner) {
    const int from = merged_by_.at(op);
    TreeLoop loop = at(from);
    loop.items.clear();
    loop.parent = inner;
    const Together threads = on_blocks_ ? together_.at(from) : Together{};
    loop.parallel = threads.parallel;
    loop.together = threads.extent;
    tree_.loops.push_back(std::move(loop));
    return {TreeItem::Kind::merge, static_cast<int>(tree_.loops.size()) - 1, op};
  }

  struct Together {
    ParallelType parallel = ParallelType::serial;
    sym::Expr extent;
  };
  // The threads that have a part together: those of the one such loop within; none where each has its own.
  Together threads_in(int part) {
    std::vector<int> inside{part};
    for (size_t k = 0; k < inside.size(); ++k) {
      const TreeLoop& l = at(inside[k]);
      if (l.parallel == ParallelType::thread_x || l.parallel == ParallelType::thread_y) return {l.parallel, l.extent};
      for (const TreeItem& i : l.items)
        if (i.kind == TreeItem::Kind::loop) inside.push_back(i.loop);
    }
    return {ParallelType::serial, {}};
  }

  void place(const Piece& p, int inner, std::vector<TreeItem>& items) {
    items.push_back(p.item);
    if (p.item.kind == TreeItem::Kind::loop)
      at(p.item.loop).parent = inner;
    else if (p.item.kind == TreeItem::Kind::op)
      stand_in(p.item.op, inner);
  }

  void append(int inner, std::vector<TreeItem>& root, std::vector<TreeItem>& items) {
    auto& into = inner < 0 ? root : at(inner).items;
    into.insert(into.end(), items.begin(), items.end());
  }

  // Reductions in the order of their results.
  std::vector<const Op*> in_order(const Ops& sums) const {
    std::vector<const Op*> out;
    for (const Piece& p : pieces_)
      if (p.item.kind == TreeItem::Kind::finish && sums.contains(p.item.op)) out.push_back(p.item.op);
    return out;
  }

  LoopTree& tree_;
  const int cls_;
  const bool on_blocks_;  // threads of blocks have the parts, which are blocks
  std::vector<int> chain_;
  std::vector<Piece> pieces_;
  std::map<int, Ops> parts_of_;         // reductions of a loop over parts
  std::map<const Op*, int> merged_by_;  // and that loop
  std::map<int, Together> together_;    // on GPUs, of a loop over parts
  int last_level_ = 0;
};

}  // namespace

std::optional<std::string> split_phases(LoopTree& tree, int cls, bool on_blocks) {
  return Splitter(tree, cls, on_blocks).run();
}

}  // namespace plait::lowering
