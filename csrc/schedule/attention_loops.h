#pragma once
// Loops of the attention scheduler. A tensor has dims for batch, for what the lanes of a kernel are (queries, or keys)
// and another one, x: over tasks [batch, blocks of lanes] in parallel, then groups of lanes, in these the loops over x,
// the lanes innermost.
#include "schedule/loop_steps.h"
#include "schedule/manual.h"

namespace plait {

class AttentionLoops {
 public:
  // `rank` of the tensors; `terms` that a long sum adds before its part goes into the whole.
  AttentionLoops(const schedules::Attention& numbers, size_t rank, int64_t terms)
      : numbers_(numbers), batch_(static_cast<int>(rank) - 2), terms_(terms) {}

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
    // [tasks, groups, lanes, (part of x), x, (summed)]
    std::vector<int> order = {0, 1};
    if (kind.cut_x) {
      add_step(out, Transform::Kind::split, 3, terms_);
      order.push_back(3);
    }
    const int x = kind.cut_x ? 4 : 3, behind = kind.tiled ? x + 2 : x + 1;
    if (kind.tiled) add_step(out, Transform::Kind::split, x, *numbers_.rows);
    if (kind.parts) add_step(out, Transform::Kind::split, behind, terms_);
    order.push_back(x);
    if (kind.sums) order.push_back(behind);
    if (kind.parts) order.push_back(behind + 1);
    if (kind.parts_first) std::swap(order[order.size() - 3], order[order.size() - 2]);
    if (kind.tiled) order.push_back(x + 1);
    order.push_back(2);
    const int lanes = static_cast<int>(order.size()) - 1;
    reorder_loops(out, std::move(order));
    if (kind.tiled) run_loop(out, lanes - 1, ParallelType::unroll);
    run_loop(out, lanes, ParallelType::vectorize);
    return out;
  }

  // Of a tensor [batch ..., 1, x] that reduces one more dim, once in a task: `width` of x as lanes.
  std::vector<schedules::LoopStep> of_task(int64_t width) const {
    std::vector<schedules::LoopStep> out;
    for (int i = 1; i < batch_; ++i) add_step(out, Transform::Kind::merge, 0, 0);
    const int x = batch_ > 0 ? 2 : 1;
    add_step(out, Transform::Kind::split, x, width);
    std::vector<int> order;
    for (int i = 0; i <= x; ++i) order.push_back(i);
    order.insert(order.end(), {x + 2, x + 1});
    reorder_loops(out, std::move(order));
    run_loop(out, x + 2, ParallelType::vectorize);
    return out;
  }

  // Of a tensor of `rank` dims, [batch ..., lanes]; one behind them has one element.
  std::vector<schedules::LoopStep> of_rows(size_t rank) const {
    std::vector<schedules::LoopStep> out = AttentionLoops(numbers_, rank + 1, terms_).outer(false, false);
    run_loop(out, 2, ParallelType::vectorize);
    return out;
  }

  // How many loops stand around all that is computed in a task, and in a group; one iteration is no loop.
  int around_task(const std::vector<sym::Expr>& shape, bool lanes_last) const {
    sym::Expr tasks = sym::ceildiv(shape[shape.size() - (lanes_last ? 1 : 2)], *numbers_.block);
    for (size_t d = 0; d + 2 < shape.size(); ++d) tasks = tasks * shape[d];
    return tasks.constant() == 1 ? 0 : 1;
  }
  int around(const std::vector<sym::Expr>& shape, bool lanes_last) const {
    return around_task(shape, lanes_last) + (numbers_.block == numbers_.queries ? 0 : 1);
  }

 private:
  std::vector<schedules::LoopStep> outer(bool lanes_last, bool sums) const {
    std::vector<schedules::LoopStep> out;
    for (int i = 1; i < batch_; ++i) add_step(out, Transform::Kind::merge, 0, 0);
    const int lanes = batch_ > 0 ? 1 : 0;
    if (lanes_last) {
      std::vector<int> order;
      for (int i = 0; i < lanes + (sums ? 3 : 2); ++i) order.push_back(i);
      std::swap(order[static_cast<size_t>(lanes)], order[static_cast<size_t>(lanes) + 1]);
      reorder_loops(out, std::move(order));
    }
    add_step(out, Transform::Kind::split, lanes, *numbers_.block);
    add_step(out, Transform::Kind::split, lanes + 1, *numbers_.queries);
    if (batch_ > 0) add_step(out, Transform::Kind::merge, 0, 0);
    run_loop(out, 0, ParallelType::cpu_thread);
    return out;
  }

  const schedules::Attention& numbers_;
  int batch_;
  int64_t terms_;
};

}  // namespace plait
