#include "lower/tree/column_sums.h"

#include <algorithm>

#include "base/error.h"
#include "ir/op.h"

namespace plait::lowering {

namespace {

class ColumnSums {
 public:
  ColumnSums(LoopTree& tree, const std::set<const Op*>& sums, bool on_blocks)
      : tree_(tree), sums_(sums), on_blocks_(on_blocks) {}

  std::optional<std::string> run() {
    if (auto reason = sort_items()) return reason;
    make_tasks();
    for (const TreeItem& item : ends_) add_phase(item);
    return std::nullopt;
  }

 private:
  TreeLoop& at(int loop) { return tree_.loops[static_cast<size_t>(loop)]; }

  // The loops of the item, outermost first, and the op around whose initial value or result they stand; null where the
  // item is anything else.
  const Op* nest(const TreeItem& item, TreeItem::Kind kind, std::vector<int>& loops) {
    if (item.kind == kind) return item.op;
    if (item.kind != TreeItem::Kind::loop || at(item.loop).items.size() != 1) return nullptr;
    loops.push_back(item.loop);
    return nest(at(item.loop).items[0], kind, loops);
  }

  // Of the root: what begins the sums, the loop over rows, what ends the sums, and values for the rows.
  std::optional<std::string> sort_items() {
    for (const TreeItem& item : tree_.items) {
      std::vector<int> loops;
      if (const Op* op = nest(item, TreeItem::Kind::init, loops)) {
        if (!sums_.contains(op)) return "another reduction goes over the rows";
        begins_.push_back(item);
      } else if (const Op* sum = nest(item, TreeItem::Kind::finish, loops)) {
        if (!sums_.contains(sum) || loops.empty()) return "another reduction goes over the rows";
        ends_.push_back(item);
      } else if (item.kind == TreeItem::Kind::op && tree_.ops.at(item.op).home == Home::value && rows_ < 0) {
        values_.push_back(item);
      } else if (item.kind == TreeItem::Kind::loop && rows_ < 0) {
        rows_ = item.loop;
      } else {
        return "more than the rows is computed beside them";
      }
    }
    if (rows_ < 0 || at(rows_).parallel != ParallelType::serial) return "no loop over rows";
    if (begins_.size() != sums_.size() || ends_.size() != sums_.size()) return "a sum goes over other loops";
    return std::nullopt;
  }

  void put_inside(const TreeItem& item, std::vector<TreeItem>& items) {
    items.push_back(item);
    if (item.kind == TreeItem::Kind::loop) at(item.loop).parent = rows_;
    if (item.kind == TreeItem::Kind::op) tree_.ops.at(item.op).loop = rows_;
  }

  void make_tasks() {
    at(rows_).parallel = on_blocks_ ? ParallelType::block_x : ParallelType::cpu_thread;
    std::vector<TreeItem> items;
    for (const auto* list : {&values_, &begins_})
      for (const TreeItem& item : *list) put_inside(item, items);
    items.insert(items.end(), at(rows_).items.begin(), at(rows_).items.end());
    at(rows_).items = std::move(items);
    for (const TreeItem& item : ends_) save(item);
    tree_.items = {{TreeItem::Kind::loop, rows_}};
  }

  // The states of a task, by loops like those around the result.
  void save(const TreeItem& end) {
    std::vector<int> loops;
    const Op* op = nest(end, TreeItem::Kind::finish, loops);
    Workspace parts{{at(rows_).extent}, {at(rows_).var}};
    int parent = rows_;
    for (int l : loops) {
      TreeLoop copy = at(l);
      copy.items.clear();
      copy.parent = parent;
      parts.dims.push_back(copy.extent);
      parts.index.push_back(copy.var);
      const int id = static_cast<int>(tree_.loops.size());
      tree_.loops.push_back(std::move(copy));
      at(parent).items.push_back({TreeItem::Kind::loop, id});
      parent = id;
    }
    at(parent).items.push_back({TreeItem::Kind::save, -1, op});
    tree_.parts[op] = std::move(parts);
  }

  // The results: of sums whose columns are those of the phase before them, in its loops.
  void add_phase(const TreeItem& end) {
    std::vector<int> loops;
    const Op* op = nest(end, TreeItem::Kind::finish, loops);
    const auto same = [&](int a, int b) { return at(a).var == at(b).var && at(a).extent == at(b).extent; };
    if (!last_.empty() && std::ranges::equal(last_, loops, same)) {
      loops = last_;
    } else {
      tree_.later.push_back({end});
      TreeLoop& outermost = at(loops.front());
      if (on_blocks_)
        for (int l : loops) at(l).parallel = on_block(at(l).parallel);
      else if (outermost.parallel == ParallelType::serial)
        outermost.parallel = ParallelType::cpu_thread;
      at(loops.back()).items.clear();
      last_ = loops;
    }
    TreeLoop parts = at(rows_);
    parts.items.clear();
    parts.parent = loops.back();
    parts.parallel = on_blocks_ ? ParallelType::thread_y : ParallelType::serial;
    if (on_blocks_) parts.together = parts.extent.pool().constant(kTurns);
    const int id = static_cast<int>(tree_.loops.size());
    tree_.loops.push_back(std::move(parts));
    auto& items = at(loops.back()).items;
    items.push_back({TreeItem::Kind::merge, id, op});
    items.push_back({TreeItem::Kind::finish, -1, op});
  }

  // The loop over columns of a phase behind: in the phase of rows a thread has a vector.
  static ParallelType on_block(ParallelType of_rows) {
    return of_rows == ParallelType::vectorize  ? ParallelType::thread_x
           : of_rows == ParallelType::thread_x ? ParallelType::block_x
                                               : ParallelType::block_y;
  }

  static constexpr int64_t kTurns = 32;  // threads that add the tasks of a column

  LoopTree& tree_;
  const std::set<const Op*>& sums_;
  const bool on_blocks_;
  std::vector<TreeItem> values_, begins_, ends_;
  int rows_ = -1;
  std::vector<int> last_;  // loops of the last phase
};

}  // namespace

std::optional<std::string> sum_columns_by_tasks(LoopTree& tree, const std::set<const Op*>& sums, bool on_blocks) {
  return ColumnSums(tree, sums, on_blocks).run();
}

}  // namespace plait::lowering
