// What the interpreter of loop trees must find: a fault planted in a tree of loops that run at once, or of phases.
#include <gtest/gtest.h>

#include "axes/transforms.h"
#include "build/ops.h"
#include "support/loop_tree_place.h"
#include "support/loop_tree_threads.h"

namespace plait {
namespace {

using tree_oracle::AnyOrder;

class LoopTreeFaults : public ::testing::Test {
 protected:
  LoopTreeFaults() { c.fusion = std::make_unique<Fusion>(); }

  TensorView* in(const std::vector<Fusion::Extent>& shape) { return c.fusion->input("x", shape, i64); }
  // The tree of the reference, whose loops run as given.
  void place(TensorView* out, TensorView* reference, const std::vector<ParallelType>& loops) {
    c.fusion->output("y", out);
    c.reference = reference;
    for (size_t i = 0; i < loops.size(); ++i)
      if (loops[i] != ParallelType::serial) parallelize(*reference, static_cast<int>(i), loops[i]);
    ASSERT_FALSE(place_case(c, tree));
  }
  std::string wrong() {
    counts = {};
    return interpret(c, tree, tree_oracle::evaluate(c), counts);
  }

  PlacedOp& placed(const TensorView* t) { return tree.ops.at(t->definition); }
  TreeLoop& loop_of(const TensorView* t) { return tree.loops[static_cast<size_t>(placed(t).loop)]; }
  std::vector<TreeItem>& body_around(const TensorView* t) {
    return tree.loops[static_cast<size_t>(loop_of(t).parent)].items;
  }
  sym::Expr number(int64_t value) { return c.fusion->pool().constant(value); }

  tree_oracle::Case c;
  LoopTree tree;
  tree_oracle::Counts counts;
};

// Task or block i0 fills a row, which its other loop reads backwards.
class LoopTreeRowFaults : public LoopTreeFaults {
 protected:
  void place_row(ParallelType outer, ParallelType inner) {
    t = neg(in({4, 6}));
    turned = flip(t, {1});
    y = add(t, turned);
    place(y, y, {outer, inner});
    ASSERT_EQ(wrong(), "") << tree.print();
    ASSERT_EQ(body_around(t).size(), 3u) << tree.print();  // alloc, what fills it, what reads it
  }
  TensorView *t = nullptr, *turned = nullptr, *y = nullptr;
};

TEST(LoopTreeOrders, AnyOrderIsOneOfAll) {
  int backward = 0;
  for (int64_t n = 1; n < 40; ++n)
    for (uint64_t seed = 0; seed < 200; seed += 7) {
      const AnyOrder order(seed * 131, n);
      std::set<int64_t> seen;
      for (int64_t i = 0; i < n; ++i) seen.insert(order.at(i));
      EXPECT_EQ(static_cast<int64_t>(seen.size()), n);
      EXPECT_EQ(*seen.rbegin(), n - 1);
      backward += n > 1 && order.at(0) > order.at(1);
    }
  EXPECT_GT(backward, 200);
}

TEST_F(LoopTreeRowFaults, ThreadsMeetWhereTheirLoopEnds) {
  place_row(ParallelType::block_x, ParallelType::thread_x);
  EXPECT_EQ(counts.met, 2 * 4 * 6);
}

// Both loops as one, in which a thread reads what the one in front of it has written.
TEST_F(LoopTreeRowFaults, ThreadReadsAnotherBeforeTheyMeet) {
  place_row(ParallelType::block_x, ParallelType::thread_x);
  const sym::Expr var = loop_of(y).var, before = sym::max(var - 1, number(0));
  PlacedOp& p = placed(t);
  p.index = {var};
  p.own[1] = p.operands[0].at[1] = var;
  placed(turned).operands[0].buffer = {before};
  loop_of(y).order = LoopOrder::forward;
  loop_of(y).items.insert(loop_of(y).items.begin(), {TreeItem::Kind::op, -1, t->definition});
  body_around(y).erase(body_around(y).begin() + 1);
  EXPECT_EQ(wrong(), "%" + t->name + " is read by another iteration of thread_x than writes it") << tree.print();
  loop_of(y).parallel = ParallelType::serial;
  EXPECT_EQ(wrong(), "a wrong value in %y") << tree.print();
}

// A row for all tasks, of which a task reads what the one in front of it has written.
TEST_F(LoopTreeRowFaults, TaskReadsWhatIsPrivateToAnother) {
  place_row(ParallelType::cpu_thread, ParallelType::serial);
  const int around = loop_of(t).parent;
  TreeLoop& task = tree.loops[static_cast<size_t>(around)];
  tree.items.insert(tree.items.begin(), task.items[0]);
  task.items.erase(task.items.begin());
  task.order = LoopOrder::forward;
  PlacedOp& p = placed(t);
  p.dims.insert(p.dims.begin(), task.extent);
  p.index.insert(p.index.begin(), task.var);
  for (const TensorView* reader : {turned, y})
    for (PlacedOperand& o : placed(reader).operands)
      if (o.tensor == t) o.buffer.insert(o.buffer.begin(), sym::max(task.var - 1, number(0)));
  EXPECT_EQ(wrong(), "%" + t->name + " is read by another iteration of cpu_thread than writes it") << tree.print();
}

// What reads the row stands behind all tasks.
TEST_F(LoopTreeRowFaults, BufferIsReadBehindItsLife) {
  place_row(ParallelType::cpu_thread, ParallelType::serial);
  std::vector<TreeItem>& body = body_around(y);
  tree.items.push_back(body.back());
  body.pop_back();
  EXPECT_EQ(wrong(), "%" + t->name + " is read before it is written") << tree.print();
}

TEST_F(LoopTreeRowFaults, LoopsOverThreadsStandApart) {
  place_row(ParallelType::block_x, ParallelType::thread_x);
  TreeLoop& outer = tree.loops[static_cast<size_t>(loop_of(t).parent)];
  outer.parallel = ParallelType::thread_x;
  EXPECT_EQ(wrong(), "a loop over thread_x inside of another one");
  outer.parallel = ParallelType::thread_y;
  EXPECT_EQ(wrong(), "");
  loop_of(t).parallel = ParallelType::block_y;
  EXPECT_EQ(wrong(), "a loop over block_y inside of one over thread_y");
  outer.parallel = ParallelType::serial;
  EXPECT_EQ(wrong(), "a loop over block_y inside of a serial one");
}

TEST_F(LoopTreeFaults, TasksAddToOneState) {
  TensorView* y = sum(in({4, 6}), {1});
  state_reduction_axes(*y);
  place(y, y, {ParallelType::block_x, ParallelType::thread_y});
  EXPECT_EQ(wrong(), "") << tree.print();
  EXPECT_EQ(loop_of(y).parallel, ParallelType::thread_y);
  loop_of(y).parallel = ParallelType::block_y;
  EXPECT_EQ(wrong(), "the state of %y goes through iterations of block_y") << tree.print();
}

TEST_F(LoopTreeFaults, OnlyThreadsSideBySideScanTogether) {
  TensorView* y = cumsum(in({4, 6}), 1);
  place(y, y, {ParallelType::block_x, ParallelType::thread_x});
  EXPECT_EQ(wrong(), "") << tree.print();
  EXPECT_EQ(loop_of(y).parallel, ParallelType::thread_x);
  loop_of(y).parallel = ParallelType::thread_y;
  EXPECT_EQ(wrong(), "the state of %y goes through iterations of thread_y") << tree.print();
}

// Sums of rows that tasks share in two parts: they save, all are merged, and what reads the result runs in parts again.
class LoopTreePhaseFaults : public LoopTreeFaults {
 protected:
  void place_parts(bool scans) {
    TensorView* x = in({4, 6});
    t = sum(x, {1}, true);
    const Op* total = scans ? sum(x, {1})->definition : nullptr;
    y = scans ? cumsum(x, 1) : neg(x);
    if (scans) c.totals[y->definition] = total;
    y = add(y, t);
    state_reduction_axes(*t);
    merge(*t, 0);
    split(*t, 1, 3);
    c.fused = true;
    c.parts = 1;
    place(y, t, {ParallelType::cpu_thread});
    ASSERT_EQ(wrong(), "") << tree.print();
    ASSERT_EQ(tree.later.size(), 2u) << tree.print();
  }
  TensorView *t = nullptr, *y = nullptr;
};

TEST_F(LoopTreePhaseFaults, PhasesHandOnWhatTheySave) {
  place_parts(false);
  EXPECT_EQ(counts.phases, 2);
  EXPECT_EQ(counts.merged, 2 * 4);
  EXPECT_EQ(counts.crossed, 4 * 6);
}

TEST_F(LoopTreePhaseFaults, PartIsMergedInThePhaseThatSavesIt) {
  place_parts(false);
  tree.items.insert(tree.items.end(), tree.later[0].begin(), tree.later[0].end());
  tree.later.erase(tree.later.begin());
  EXPECT_EQ(wrong(), "%" + t->name + " is read in the phase that saves it") << tree.print();
}

TEST_F(LoopTreePhaseFaults, ResultIsReadInThePhaseThatSavesIt) {
  place_parts(false);
  tree.later[0].insert(tree.later[0].end(), tree.later[1].begin(), tree.later[1].end());
  tree.later.pop_back();
  EXPECT_EQ(wrong(), "%" + t->name + " is read in the phase that saves it") << tree.print();
}

TEST_F(LoopTreePhaseFaults, PartIsMergedBeforeItIsSaved) {
  place_parts(false);
  std::swap(tree.items, tree.later[0]);
  EXPECT_EQ(wrong(), "%" + t->name + " is read before it is saved") << tree.print();
}

TEST_F(LoopTreePhaseFaults, ScanBeginsWithNothing) {
  place_parts(true);
  EXPECT_EQ(counts.begun, 2 * 4);
  tree.begins.clear();
  EXPECT_EQ(wrong(), "a wrong value in %y") << tree.print();
}

// Both tasks of a row save to one place.
TEST_F(LoopTreePhaseFaults, PartIsSavedTwice) {
  place_parts(false);
  tree.parts.begin()->second.index[0] = number(0);
  EXPECT_EQ(wrong(), "an element of %" + t->name + " is saved twice") << tree.print();
}

}  // namespace
}  // namespace plait
