#pragma once
// Loops of the attention scheduler. A tensor has dims for batch, for what the lanes of a kernel are (queries, or keys)
// and another one, x: over tasks [batch, blocks of lanes] in parallel, then groups of lanes, in these the loops over x,
// the lanes innermost. Where a task has all of a matrix, its blocks and the parts of x stand outside of the groups, so
// that a block of scores is there for sums over lanes too.
#include "schedule/find_attention.h"
#include "schedule/loop_steps.h"
#include "schedule/manual.h"

namespace plait {

class AttentionLoops {
 public:
  // `rank` of the tensors; `whole`: a task has all of a matrix.
  AttentionLoops(const schedules::Attention& numbers, size_t rank, bool whole)
      : numbers_(numbers), batch_(static_cast<int>(rank) - 2), whole_(whole) {}

  struct Kind {
    bool lanes_last = false;   // [batch ..., x, lanes], not [batch ..., lanes, x]
    bool tiled = false;        // x in tiles of `rows`
    bool sums = false;         // over one more dim
    bool parts = false;        // long sums
    bool cut_x = false;        // x in parts of `terms`, around the others
    bool parts_first = false;  // parts of a long sum around x
  };
  // x, or tiles of it, then the summed dim, then a tile's rows, then lanes.
  std::vector<schedules::LoopStep> of(Kind kind) const {
    std::vector<schedules::LoopStep> out = outer(kind.lanes_last, kind.sums);
    // [tasks, groups, lanes, (part of x), x, (summed)]; of a whole matrix [batch, blocks, groups, ...]
    const int groups = whole_ ? 2 : 1;
    std::vector<int> order = {0, 1}, inner;
    if (kind.cut_x) {
      add_step(out, Transform::Kind::split, groups + 2, kWeighed);
      order.push_back(groups + 2);
    }
    const int x = groups + (kind.cut_x ? 3 : 2), behind = kind.tiled ? x + 2 : x + 1;
    if (kind.tiled) add_step(out, Transform::Kind::split, x, *numbers_.rows);
    if (kind.parts) add_step(out, Transform::Kind::split, behind, kWeighed);
    inner.push_back(x);
    if (kind.sums) inner.push_back(behind);
    if (kind.parts) inner.push_back(behind + 1);
    if (kind.parts_first) std::swap(inner[0], inner[1]);
    if (whole_) inner.insert(inner.begin() + (kind.parts_first ? 1 : 0), groups);
    order.insert(order.end(), inner.begin(), inner.end());
    if (kind.tiled) order.push_back(x + 1);
    order.push_back(groups + 1);
    const int lanes = static_cast<int>(order.size()) - 1;
    reorder_loops(out, std::move(order));
    if (kind.tiled) run_loop(out, lanes - 1, ParallelType::unroll);
    run_loop(out, lanes, ParallelType::vectorize);
    return out;
  }

  // Of a whole matrix, [batch ..., x, features], for each block of lanes; `width` of the features are lanes here.
  std::vector<schedules::LoopStep> of_sum_over_lanes(int64_t width) const {
    std::vector<schedules::LoopStep> out = of_batch();
    // [batch, x, features, lanes] as [batch, parts of x, tiles, rows, features, lanes of them, blocks, groups, lanes]
    add_step(out, Transform::Kind::split, 3, *numbers_.block);
    add_step(out, Transform::Kind::split, 4, *numbers_.queries);
    add_step(out, Transform::Kind::split, 1, kWeighed);
    add_step(out, Transform::Kind::split, 2, *numbers_.rows);
    add_step(out, Transform::Kind::split, 4, width);
    reorder_loops(out, {0, 6, 1, 2, 4, 7, 8, 3, 5});
    run_loop(out, 0, ParallelType::cpu_thread);
    run_loop(out, 7, ParallelType::unroll);
    run_loop(out, 8, ParallelType::vectorize);
    return out;
  }
  // Of its result.
  std::vector<schedules::LoopStep> of_features() const {
    std::vector<schedules::LoopStep> out = of_batch();
    add_step(out, Transform::Kind::split, 2, kQueries);
    run_loop(out, 0, ParallelType::cpu_thread);
    run_loop(out, 3, ParallelType::vectorize);
    return out;
  }

  // Of a tensor [batch ..., 1, x] that reduces one more dim, once in a task: `width` of x as lanes.
  std::vector<schedules::LoopStep> of_task(int64_t width) const {
    std::vector<schedules::LoopStep> out = of_batch();
    const int x = batch_ > 0 ? 2 : 1;
    add_step(out, Transform::Kind::split, x, width);
    std::vector<int> order;
    for (int i = 0; i <= x; ++i) order.push_back(i);
    order.insert(order.end(), {x + 2, x + 1});
    reorder_loops(out, std::move(order));
    if (whole_) run_loop(out, 0, ParallelType::cpu_thread);
    run_loop(out, x + 2, ParallelType::vectorize);
    return out;
  }

  // Of a tensor of `rank` dims, [batch ..., lanes]; one behind them has one element.
  std::vector<schedules::LoopStep> of_rows(size_t rank) const {
    std::vector<schedules::LoopStep> out = AttentionLoops(numbers_, rank + 1, whole_).outer(false, false);
    run_loop(out, 2, ParallelType::vectorize);
    return out;
  }

  // How many loops stand around all that is computed in a task, and in a group; one iteration is no loop.
  int around_task(const std::vector<sym::Expr>& shape, bool lanes_last) const {
    if (whole_) return 1;  // of a large batch
    sym::Expr tasks = blocks(shape, lanes_last);
    for (size_t d = 0; d + 2 < shape.size(); ++d) tasks = tasks * shape[d];
    return tasks.constant() == 1 ? 0 : 1;
  }
  int around(const std::vector<sym::Expr>& shape, bool lanes_last) const {
    const bool one = whole_ ? blocks(shape, lanes_last).constant() == 1 : numbers_.block == numbers_.queries;
    return around_task(shape, lanes_last) + (one ? 0 : 1);
  }

 private:
  sym::Expr blocks(const std::vector<sym::Expr>& shape, bool lanes_last) const {
    return sym::ceildiv(shape[shape.size() - (lanes_last ? 1 : 2)], *numbers_.block);
  }
  // Batch dims are one.
  std::vector<schedules::LoopStep> of_batch() const {
    std::vector<schedules::LoopStep> out;
    for (int i = 1; i < batch_; ++i) add_step(out, Transform::Kind::merge, 0, 0);
    return out;
  }
  std::vector<schedules::LoopStep> outer(bool lanes_last, bool sums) const {
    std::vector<schedules::LoopStep> out = of_batch();
    const int lanes = batch_ > 0 ? 1 : 0;
    if (lanes_last) {
      std::vector<int> order;
      for (int i = 0; i < lanes + (sums ? 3 : 2); ++i) order.push_back(i);
      std::swap(order[static_cast<size_t>(lanes)], order[static_cast<size_t>(lanes) + 1]);
      reorder_loops(out, std::move(order));
    }
    add_step(out, Transform::Kind::split, lanes, *numbers_.block);
    add_step(out, Transform::Kind::split, lanes + 1, *numbers_.queries);
    if (batch_ > 0 && !whole_) add_step(out, Transform::Kind::merge, 0, 0);
    run_loop(out, 0, ParallelType::cpu_thread);
    return out;
  }

  const schedules::Attention& numbers_;
  int batch_;
  bool whole_;
};

}  // namespace plait
