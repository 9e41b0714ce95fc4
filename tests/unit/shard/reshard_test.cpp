// Every pair of layouts: the planned steps, localized and run on ranks, give what the destination says.
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "shard/check_pieces.h"
#include "shard/localize.h"
#include "shard/reshard_plan.h"
#include "support/sharded_run.h"

namespace plait {
namespace {

Piece on(int axis, int64_t granule = 1) { return {axis, granule, 0}; }
Piece local(int64_t parts) { return {-1, 1, parts}; }

Layout layout(std::vector<DimLayout> dims, std::map<int, ReduceOp> partial = {}) {
  return {std::move(dims), std::move(partial)};
}

// All ways to put the axes on `rank` dims in any order, or pending, or nowhere.
std::vector<Layout> all_layouts(int axes, size_t rank) {
  std::vector<Layout> out = {Layout::replicated(rank)};
  for (int axis = 0; axis < axes; ++axis) {
    std::vector<Layout> next;
    for (const Layout& base : out) {
      next.push_back(base);
      next.push_back(base);
      next.back().partial[axis] = ReduceOp::sum;
      for (size_t d = 0; d < rank; ++d)
        for (size_t at = 0; at <= base.dims[d].pieces.size(); ++at) {
          next.push_back(base);
          auto& pieces = next.back().dims[d].pieces;
          pieces.insert(pieces.begin() + static_cast<ptrdiff_t>(at), on(axis));
        }
    }
    out = std::move(next);
  }
  return out;
}

// Global value V; ranks with pending axes hold parts that add up to it.
std::vector<test::Arrays> scatter(const test::Array& value, const Layout& from, const DeviceMesh& mesh) {
  std::vector<test::Arrays> out;
  for (int64_t r = 0; r < mesh.ranks(); ++r) {
    auto at = mesh.coordinates(r);
    auto part_of = [&](const std::vector<int64_t>& coordinates) {
      uint64_t seed = 1;
      for (auto [axis, reduce] : from.partial) seed = seed * 10 + static_cast<uint64_t>(coordinates[axis]);
      return test::iota(value.shape, seed);
    };
    test::Array part = value;
    bool first = true;
    for (auto [axis, reduce] : from.partial) first = first && at[axis] == 0;
    if (!first) {
      part = part_of(at);
    } else {  // the value less what all others hold
      std::function<void(std::vector<int64_t>, std::map<int, ReduceOp>::const_iterator, bool)> subtract =
          [&](std::vector<int64_t> c, auto it, bool zero) {
            if (it == from.partial.end()) {
              if (zero) return;
              auto other = part_of(c);
              for (size_t i = 0; i < part.data.size(); ++i) part.data[i] -= other.data[i];
              return;
            }
            for (int64_t k = 0; k < mesh.size(it->first); ++k) {
              c[it->first] = k;
              subtract(c, std::next(it), zero && k == 0);
            }
          };
      subtract(at, from.partial.begin(), true);
    }
    out.push_back({{"x", test::cut(part, from, mesh, at, "x")}});
  }
  return out;
}

class Pairs {
 public:
  explicit Pairs(std::vector<int64_t> sizes) : device_(sizes) {
    std::vector<MeshAxis> axes;
    for (size_t i = 0; i < sizes.size(); ++i) axes.push_back({fmt::format("a{}", i), sizes[i], ""});
    mesh_ = Mesh("m", std::move(axes));
  }

  void check(const Layout& from, const Layout& to, const std::vector<std::vector<int64_t>>& shapes) {
    if (!can_reshard(from, to)) return;
    SCOPED_TRACE(print(from, mesh_) + " -> " + print(to, mesh_));
    Fusion f(mesh_);
    TensorView* t = from.dims.size() == 2 ? f.input("x", {"m", "n"}, DType::f32) : f.input("x", {"m"}, DType::f32);
    t->layout = from;
    ReshardSizes sizes = reshard_sizes(*t);
    if (!shapes.empty()) sizes.extents.assign(shapes[0].begin(), shapes[0].end());
    const ReshardPlan plan = plan_reshard(from, to, sizes);
    const auto& steps = plan.steps;
    for (const auto& step : steps) {
      auto op = std::make_unique<Reshard>();
      op->in = t, op->step = step.kind, op->team = step.team;
      TensorView* next = f.add_tensor("t", t->shape(), t->dtype);
      next->layout = step.to;
      ASSERT_TRUE(single_step(t->layout, next->layout));
      f.add_op(std::move(op), next);
      t = next;
    }
    ASSERT_EQ(t->layout, to);
    f.output("y", t == f.inputs()[0] ? copy(f, t) : t);
    auto local = localize(f, device_);
    verify(*local);
    for (const auto& shape : shapes) run(*local, from, to, shape);
    // Where the communicator reduces nothing, every rank does.
    const bool reduced = std::any_of(steps.begin(), steps.end(), [](const ReshardStep& step) {
      return step.kind == ReshardKind::all_reduce || step.kind == ReshardKind::reduce_scatter;
    });
    if (!reduced) return;
    local = localize(f, device_, {.reduces = [](ReduceOp, DType) { return false; }});
    verify(*local);
    for (const Op* op : local->ops()) EXPECT_TRUE(op->kind != OpKind::AllReduce && op->kind != OpKind::ReduceScatter);
    for (const auto& shape : shapes) run(*local, from, to, shape);
  }

  int runs = 0, pairs = 0;

 private:
  static TensorView* copy(Fusion& f, TensorView* t) {
    auto op = std::make_unique<PointwiseOp>();
    op->function = Pointwise::neg;
    op->in = {t};
    TensorView* y = f.add_tensor("c", t->shape(), t->dtype);
    y->layout = t->layout;
    f.add_op(std::move(op), y);
    auto again = std::make_unique<PointwiseOp>();
    again->function = Pointwise::neg;
    again->in = {y};
    TensorView* z = f.add_tensor("c", t->shape(), t->dtype);
    z->layout = t->layout;
    f.add_op(std::move(again), z);
    return z;
  }

  void run(const Fusion& local, const Layout& from, const Layout& to, const std::vector<int64_t>& shape) {
    test::Array value = test::iota(shape, 3);
    sym::Environment sizes = {{"m", shape[0]}};
    if (shape.size() > 1) sizes["n"] = shape[1];
    std::vector<test::Arrays> inputs, ranks;
    try {
      inputs = scatter(value, from, device_);
      for (int64_t r = 0; r < device_.ranks(); ++r) test::cut(value, to, device_, device_.coordinates(r), "y");
    } catch (const UserError&) {
      EXPECT_THROW(
          {
            check_pieces(from, shape);
            check_pieces(to, shape);
          },
          UserError);
      return;
    }
    ++runs;
    ranks = test::run(local, device_, sizes, std::move(inputs));
    // What stays pending is added up over its teams.
    for (auto [axis, reduce] : to.partial) {
      auto before = ranks;
      for (int64_t r = 0; r < device_.ranks(); ++r)
        for (int64_t member : device_.team(r, {{axis}}))
          if (member != r)
            for (size_t i = 0; i < before[r]["y"].data.size(); ++i)
              ranks[r]["y"].data[i] += before[member]["y"].data[i];
    }
    for (int64_t r = 0; r < device_.ranks(); ++r)
      ASSERT_EQ(ranks[static_cast<size_t>(r)].at("y"), test::cut(value, to, device_, device_.coordinates(r), "y"))
          << "rank " << r << " of " << ::testing::PrintToString(shape);
  }

  void check_pieces(const Layout& layout, const std::vector<int64_t>& shape) {
    Fusion f(mesh_);
    TensorView* x = shape.size() == 2 ? f.input("x", {"m", "n"}, DType::f32) : f.input("x", {"m"}, DType::f32);
    x->layout = layout;
    sym::Environment sizes = {{"m", shape[0]}};
    if (shape.size() > 1) sizes["n"] = shape[1];
    check_local_pieces(f, device_, sizes);
  }

  DeviceMesh device_;
  Mesh mesh_;
};

std::vector<std::vector<int64_t>> grid(int64_t first, int64_t last) {
  std::vector<std::vector<int64_t>> out;
  for (int64_t m = first; m <= last; ++m)
    for (int64_t n = first; n <= last; ++n) out.push_back({m, n});
  return out;
}

TEST(ReshardPairs, TwoByTwo) {
  Pairs pairs({2, 2});
  auto layouts = all_layouts(2, 2);
  EXPECT_EQ(layouts.size(), 18u);
  std::vector<std::vector<int64_t>> shapes = {{1, 1}, {1, 4}, {2, 3}, {3, 5}, {4, 4}, {5, 2}, {6, 7}, {7, 1}, {0, 3}};
  for (const auto& from : layouts)
    for (const auto& to : layouts) pairs.check(from, to, shapes);
  EXPECT_GT(pairs.runs, 2000);
}

TEST(ReshardPairs, ThreeRanks) {
  Pairs pairs({3});
  for (const auto& from : all_layouts(1, 2))
    for (const auto& to : all_layouts(1, 2)) pairs.check(from, to, grid(1, 7));
  EXPECT_GT(pairs.runs, 600);
}

TEST(ReshardPairs, UnevenMeshOneDim) {
  Pairs pairs({2, 3});
  std::vector<std::vector<int64_t>> shapes;
  for (int64_t n = 0; n <= 13; ++n) shapes.push_back({n});
  for (const auto& from : all_layouts(2, 1))
    for (const auto& to : all_layouts(2, 1)) pairs.check(from, to, shapes);
  EXPECT_GT(pairs.runs, 500);
}

TEST(ReshardPairs, AxesOfSizeOneVanish) {
  for (auto sizes : {std::vector<int64_t>{1, 3}, {2, 1}, {1, 1}}) {
    Pairs pairs(sizes);
    for (const auto& from : all_layouts(2, 2))
      for (const auto& to : all_layouts(2, 2)) pairs.check(from, to, {{5, 4}, {2, 1}});
    EXPECT_GT(pairs.runs, 400);
  }
}

TEST(ReshardPairs, GranulesAndLocalPieces) {
  Pairs pairs({2, 2});
  std::vector<DimLayout> lists = {{},
                                  {{on(0)}},
                                  {{on(0, 2)}},
                                  {{on(0, 3), on(1, 2)}},
                                  {{on(1, 2), on(0)}},
                                  {{local(2), on(0)}},
                                  {{local(2), on(0, 3)}},
                                  {{local(2), on(1), on(0)}},
                                  {{local(2), on(1), on(0, 5)}},
                                  {{local(3), on(0, 2)}},
                                  {{on(0), local(2), on(1)}},
                                  {{local(2), on(0), local(2), on(1)}}};
  std::vector<std::vector<int64_t>> shapes;
  for (int64_t n = 0; n <= 24; ++n) shapes.push_back({n});
  for (const auto& from : lists)
    for (const auto& to : lists) {
      pairs.check(layout({from}), layout({to}), shapes);
      // The same inside of another dim, and from pending.
      pairs.check(layout({from, {}}), layout({{}, to}), {{12, 8}, {8, 12}, {5, 12}, {24, 24}});
      pairs.check(layout({{}, {}}, {{0, ReduceOp::sum}, {1, ReduceOp::sum}}), layout({{}, to}), {{3, 12}, {2, 24}});
    }
  EXPECT_GT(pairs.runs, 1200);
}

// Two dims change at once, with pieces that stay and local ones around; some ranks have nothing.
TEST(ReshardPairs, TwoDimsChangeAtOnce) {
  Pairs pairs({2, 3});
  const std::vector<std::pair<Layout, Layout>> moves = {
      {layout({{{on(0)}}, {{on(1)}}}), layout({{{on(1)}}, {{on(0)}}})},
      {layout({{{on(0, 2)}}, {{on(1)}}}), layout({{{on(1)}}, {{on(0, 3)}}})},
      {layout({{{local(2), on(0)}}, {{on(1)}}}), layout({{{local(2), on(1)}}, {{on(0)}}})},
      {layout({{{on(0)}}, {{local(3), on(1)}}}), layout({{{on(1)}}, {{local(3), on(0)}}})},
      {layout({{{on(0), on(1)}}, {}}), layout({{{on(1)}}, {{on(0)}}})},
      {layout({{{on(1)}}, {{on(0)}}}), layout({{{on(0), on(1)}}, {}})},
      {layout({{{on(0), on(1)}}, {}}), layout({{{on(1)}}, {{local(2), on(0)}}})},
      {layout({{}, {{on(1), on(0)}}}), layout({{{on(1)}}, {{on(0)}}})}};
  std::vector<std::vector<int64_t>> shapes = grid(0, 7);
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{24, 36}, {13, 12}, {12, 13}, {1, 12}})
    shapes.push_back(shape);
  for (const auto& [from, to] : moves) {
    pairs.check(from, to, shapes);
    pairs.check(to, from, shapes);
  }
  EXPECT_GT(pairs.runs, 300);
}

// Every pair of placements over all sizes of the dims up to 13; of three axes each size with another one.
TEST(ReshardPairs, LongRunAllSizes) {
  for (const std::vector<int64_t>& mesh : {std::vector<int64_t>{3}, {2, 2}, {2, 3}, {3, 2}}) {
    Pairs pairs(mesh);
    const auto layouts = all_layouts(static_cast<int>(mesh.size()), 2);
    for (const auto& from : layouts)
      for (const auto& to : layouts) pairs.check(from, to, grid(1, 13));
    EXPECT_GT(pairs.runs, 2500);  // each of all shapes
  }
}

TEST(ReshardPairs, LongRunThreeAxes) {
  Pairs pairs({2, 2, 2});
  const auto layouts = all_layouts(3, 2);
  std::vector<std::vector<int64_t>> shapes = {{5, 4}, {7, 9}};
  for (int64_t n = 1; n <= 13; ++n) shapes.push_back({n, n * 5 % 13 + 1});
  for (const auto& from : layouts)
    for (const auto& to : layouts) pairs.check(from, to, shapes);
  EXPECT_GT(pairs.runs, 100000);
}

// ---- The sequence.
std::vector<std::string> steps(const Layout& from, const Layout& to) {
  std::vector<std::string> out;
  const ReshardSizes sizes = {{2, 3}, {24, 36}, 4};
  for (const auto& s : plan_reshard(from, to, sizes).steps)
    out.push_back(fmt::format("{} {}", name(s.kind), fmt::join(s.team.axes, " ")));
  return out;
}
using Steps = std::vector<std::string>;

TEST(ReshardPlan, OneStepForOneChange) {
  auto pending = layout({{}, {}}, {{0, ReduceOp::sum}});
  EXPECT_EQ(steps(pending, layout({{}, {}})), Steps{"all-reduce 0"});
  EXPECT_EQ(steps(pending, layout({{}, {{on(0)}}})), Steps{"reduce-scatter 0"});
  EXPECT_EQ(steps(layout({{{on(0)}}, {}}), layout({{}, {}})), Steps{"all-gather 0"});
  EXPECT_EQ(steps(layout({{}, {}}), layout({{{on(0)}}, {}})), Steps{"slice 0"});
  EXPECT_TRUE(steps(pending, pending).empty());
}

TEST(ReshardPlan, KeepsTheCommonPrefix) {
  auto both = layout({{{on(0), on(1)}}});
  EXPECT_EQ(steps(both, layout({{{on(0)}}})), Steps{"all-gather 1"});
  EXPECT_EQ(steps(layout({{{on(0)}}}), both), Steps{"slice 1"});
  EXPECT_EQ(steps(layout({{{on(0), local(2), on(1)}}}), layout({{}})), (Steps{"all-gather 1", "all-gather 0"}));
}

TEST(ReshardPlan, PendingFirstPiecesLast) {
  EXPECT_EQ(steps(layout({{{on(1)}}, {}}, {{0, ReduceOp::sum}}), layout({{}, {}})),
            (Steps{"all-reduce 0", "all-gather 1"}));
  EXPECT_EQ(steps(layout({{{on(1)}}, {}}, {{0, ReduceOp::sum}}), layout({{{on(0)}}, {{on(1)}}})),
            (Steps{"all-to-all 1", "reduce-scatter 0"}));
  // A different granule cuts at other places.
  EXPECT_EQ(steps(layout({{{on(0)}}}), layout({{{on(0, 64)}}})), Steps{"gather-range 0"});
  EXPECT_EQ(steps(layout({{{local(2), on(0)}}}), layout({{{local(2), on(0, 3)}}})), Steps{"gather-range 0"});
}

TEST(ReshardPlan, PiecesMoveToAnotherDim) {
  const auto rows = layout({{{on(0)}}, {}}), columns = layout({{}, {{on(0)}}});
  EXPECT_EQ(steps(rows, columns), Steps{"all-to-all 0"});
  EXPECT_EQ(steps(layout({{{local(2), on(0)}}, {}}), layout({{}, {{local(3), on(0, 2)}}})), Steps{"all-to-all 0"});
  EXPECT_EQ(steps(layout({{{on(0), on(1)}}, {}}), layout({{{on(0)}}, {{on(1)}}})), Steps{"all-to-all 1"});
}

TEST(ReshardPlan, SeveralAxesAtOnce) {
  const auto both = layout({{{on(0), on(1)}}, {}}), turned = layout({{{on(1), on(0)}}, {}}), whole = layout({{}, {}});
  const auto sums = layout({{}, {}}, {{0, ReduceOp::sum}, {1, ReduceOp::sum}});
  EXPECT_EQ(steps(both, whole), Steps{"all-gather 0 1"});
  EXPECT_EQ(steps(turned, whole), Steps{"all-gather 1 0"});
  EXPECT_EQ(steps(whole, both), Steps{"slice 0 1"});
  EXPECT_EQ(steps(both, layout({{}, {{on(0), on(1)}}})), Steps{"all-to-all 0 1"});
  EXPECT_EQ(steps(sums, whole), Steps{"all-reduce 0 1"});
  EXPECT_EQ(steps(sums, both), Steps{"reduce-scatter 0 1"});
  EXPECT_EQ(steps(sums, turned), Steps{"reduce-scatter 1 0"});
  EXPECT_EQ(steps(layout({{}, {}}, {{0, ReduceOp::sum}, {1, ReduceOp::max}}), whole),
            (Steps{"all-reduce 0", "all-reduce 1"}));
  EXPECT_EQ(steps(layout({{{local(2), on(0), on(1)}}, {}}), whole), Steps{"all-gather 0 1"});
}

// Pieces of two dims change their places in one exchange, of three in two.
TEST(ReshardPlan, DimsSwapTheirAxes) {
  const auto ahead = layout({{{on(0)}}, {{on(1)}}}), turned = layout({{{on(1)}}, {{on(0)}}});
  EXPECT_EQ(steps(ahead, turned), Steps{"gather-block 0 1"});
  EXPECT_EQ(steps(layout({{{on(0), on(1)}}, {}}), turned), Steps{"gather-block 0 1"});
  EXPECT_EQ(steps(layout({{{local(2), on(0)}}, {{on(1)}}}), layout({{{local(2), on(1)}}, {{on(0)}}})),
            Steps{"gather-block 0 1"});
  // What stays keeps its step.
  EXPECT_EQ(steps(ahead, layout({{}, {{on(1), on(0)}}})), Steps{"all-to-all 0"});
  const ReshardSizes sizes = {{2, 3, 2}, {240, 360, 480}, 4};
  const auto cycle =
      plan_reshard(layout({{{on(0)}}, {{on(1)}}, {{on(2)}}}), layout({{{on(1)}}, {{on(2)}}, {{on(0)}}}), sizes);
  ASSERT_EQ(cycle.steps.size(), 2u);
  for (const ReshardStep& step : cycle.steps) EXPECT_EQ(step.kind, ReshardKind::gather_block);
}

// Each rank takes the range that its new piece is.
TEST(ReshardPlan, PiecesOfOtherAxesOfTheSameDim) {
  const auto first = layout({{{on(0)}}}), second = layout({{{on(1)}}}), both = layout({{{on(0), on(1)}}});
  EXPECT_EQ(steps(first, second), Steps{"gather-range 0"});
  EXPECT_EQ(steps(both, layout({{{on(1), on(0)}}})), Steps{"gather-range 0 1"});
  EXPECT_EQ(steps(both, second), Steps{"gather-range 0 1"});
  EXPECT_EQ(steps(layout({{{on(0, 4), on(1)}}}), both), Steps{"gather-range 0 1"});
  EXPECT_EQ(steps(layout({{{local(2), on(0)}}}), layout({{{local(2), on(1)}}})), Steps{"gather-range 0"});
}

// All pending axes reduced, all pieces gathered, then slices.
double gathered_cost(const Layout& from, const Layout& to, const ReshardSizes& sizes) {
  double cost = 0, bytes = 1;
  for (const auto& extent : sizes.extents) bytes *= double(*extent);
  bytes *= double(sizes.element_bytes);
  for (const DimLayout& dim : from.dims)
    for (const Piece& p : dim.pieces) bytes /= double(sizes.members[size_t(p.mesh_axis)]);
  for (auto [axis, reduce] : from.partial)
    if (!to.partial.contains(axis)) cost += 16384 + 2 * bytes * double(sizes.members[axis] - 1) / sizes.members[axis];
  for (const DimLayout& dim : from.dims)
    for (const Piece& p : dim.pieces) {
      const auto n = double(sizes.members[size_t(p.mesh_axis)]);
      cost += 16384 + bytes * (n - 1);
      bytes *= n;
    }
  return cost;
}

TEST(ReshardPlan, NeverCostsMoreThanToGatherEverything) {
  for (const auto& members : {std::vector<int64_t>{3}, {2, 2}, {2, 3}, {4, 2}, {2, 2, 2}}) {
    const auto layouts = all_layouts(int(members.size()), 2);
    const ReshardSizes sizes = {members, {768, 1536}, 4};
    std::vector<double> ratios;
    for (const auto& from : layouts)
      for (const auto& to : layouts) {
        if (from == to || !can_reshard(from, to)) continue;
        const double all = gathered_cost(from, to, sizes), cost = plan_reshard(from, to, sizes).cost;
        EXPECT_LE(cost, all * 1.0001);
        if (all > 0) ratios.push_back(cost / all);
      }
    std::nth_element(ratios.begin(), ratios.begin() + ptrdiff_t(ratios.size() / 2), ratios.end());
    EXPECT_LE(ratios[ratios.size() / 2], 0.51) << ratios.size();
  }
}

// Two nodes of four, whose links are a ninth as fast: a sum is done among the four, a part of each over the nodes, and
// brought together among the four; a tensor in pieces goes first over the nodes while it is small.
TEST(ReshardPlan, SlowLinksCarryLess) {
  ReshardSizes sizes = {{2, 4}, {512, 4096}, 4};
  const auto plan = [&](const Layout& from, const Layout& to) {
    std::vector<std::string> out;
    for (const auto& s : plan_reshard(from, to, sizes).steps)
      out.push_back(fmt::format("{} {}", name(s.kind), fmt::join(s.team.axes, " ")));
    return out;
  };
  const Layout pending = layout({{}, {}}, {{0, ReduceOp::sum}, {1, ReduceOp::sum}}), whole = layout({{}, {}});
  EXPECT_EQ(plan(pending, whole), Steps{"all-reduce 0 1"});
  sizes.links = {{12000, 0.02}, {3000, 1.0 / 450}};
  EXPECT_EQ(plan(pending, whole), (Steps{"reduce-scatter 1", "all-reduce 0", "all-gather 1"}));
  sizes.extents = {16, 16};  // latencies count
  EXPECT_EQ(plan(pending, whole), Steps{"all-reduce 0 1"});
}

// Six axes whose order turns around on one of six dims that all of them divide: ways over other dims are too many.
TEST(ReshardPlan, GoesTheStraightWayWhereThereAreTooMany) {
  const std::vector<int64_t> members(6, 2);
  const ReshardSizes sizes = {members, std::vector<std::optional<int64_t>>(6, 64), 4};
  Layout from = Layout::replicated(6), to = from;
  for (int axis = 0; axis < 6; ++axis) {
    from.dims[0].pieces.push_back(on(axis));
    to.dims[0].pieces.push_back(on(5 - axis));
  }
  const ReshardPlan plan = plan_reshard(from, to, sizes);
  ASSERT_FALSE(plan.steps.empty());
  EXPECT_EQ(plan.steps.back().to, to);
  EXPECT_LE(plan.cost, gathered_cost(from, to, sizes) * 1.0001);
  Layout at = from;
  for (const ReshardStep& step : plan.steps) {
    EXPECT_TRUE(single_step(at, step.to));
    at = step.to;
  }
}

// A cost that is looked for alone is that of some plan, of few ways of the cheapest.
TEST(ReshardCost, IsThatOfAPlanThatIsFoundSoon) {
  const auto layouts = all_layouts(2, 2);
  const ReshardSizes sizes = {{2, 3}, {768, 1536}, 4};
  for (const auto& from : layouts)
    for (const auto& to : layouts)
      if (can_reshard(from, to) && !single_step(from, to))
        EXPECT_EQ(reshard_cost(from, to, sizes), plan_reshard(from, to, sizes).cost);
  const ReshardSizes many = {std::vector<int64_t>(8, 2), std::vector<std::optional<int64_t>>(4, 256), 4};
  Layout from = Layout::replicated(4), to = from;
  for (int axis = 0; axis < 8; ++axis) {
    from.dims[static_cast<size_t>(axis % 4)].pieces.push_back(on(axis));
    to.dims[static_cast<size_t>((axis * 3 + 1) % 4)].pieces.push_back(on(7 - axis));
  }
  EXPECT_GE(reshard_cost(from, to, many), plan_reshard(from, to, many).cost);
  EXPECT_LE(reshard_cost(from, to, many), gathered_cost(from, to, many) * 1.0001);
  // Sizes count: what was found for some is not taken for others.
  const ReshardSizes twice = {{2, 3}, {1536, 1536}, 4};
  const Layout rows = layout({{{on(0), on(1)}}, {}}), columns = layout({{{on(1)}}, {{on(0)}}});
  EXPECT_LT(plan_reshard(rows, columns, sizes).cost, plan_reshard(rows, columns, twice).cost);
  EXPECT_LT(reshard_cost(rows, columns, sizes), reshard_cost(rows, columns, twice));
}

TEST(ReshardPlan, AWholeValueNeverBecomesPending) {
  auto whole = layout({{}}), sum = layout({{}}, {{0, ReduceOp::sum}}), max = layout({{}}, {{0, ReduceOp::max}});
  EXPECT_FALSE(can_reshard(whole, sum));
  EXPECT_FALSE(can_reshard(max, sum));
  EXPECT_TRUE(can_reshard(sum, sum));
  EXPECT_TRUE(can_reshard(sum, whole));
  EXPECT_THROW(plan_reshard(whole, sum, {}), InternalError);
  EXPECT_FALSE(single_step(whole, whole));
  EXPECT_FALSE(single_step(layout({{{on(0), local(2), on(1)}}}), whole));
}

}  // namespace
}  // namespace plait
