// Random graphs with random annotations: sharded, localized and run on ranks, every output holds what the unsharded
// graph computes, bit for bit.
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "shard/check_pieces.h"
#include "shard/explain.h"
#include "shard/insert_reshards.h"
#include "shard/localize.h"
#include "shard/propagate.h"
#include "support/sharded_run.h"

namespace plait {
namespace {

struct Counts {
  int graphs = 0, with_collectives = 0, uneven = 0, empty = 0, refused = 0, annotated_results = 0, pending = 0,
      regrouped = 0;
};

class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {
    static const std::vector<std::vector<int64_t>> kMeshes = {{2}, {3}, {4}, {2, 2}, {1, 3}, {2, 1}, {2, 3}, {2, 2, 2}};
    device = DeviceMesh(kMeshes[pick(kMeshes.size())]);
    std::vector<MeshAxis> axes;
    for (size_t i = 0; i < device.sizes().size(); ++i)
      axes.push_back({fmt::format("a{}", i), pick(2) ? device.sizes()[i] : 0, fmt::format("s{}", i)});
    for (auto& a : axes)
      if (a.size) a.symbol.clear();
    fusion = std::make_unique<Fusion>(Mesh("m", std::move(axes)), "random");
    for (const char* name : {"m", "n", "k"}) {
      sizes[name] = static_cast<int64_t>(pick(9));
      if (pick(3)) fusion->let(name, sizes[name]);
    }
    make();
    for (TensorView* t : fusion->inputs())
      if (t->role == TensorRole::input && pick(6) == 0) t->stored = layout(*t);
  }

  std::unique_ptr<Fusion> fusion;
  DeviceMesh device;
  sym::Environment sizes;

 private:
  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  Fusion::Extent extent() {
    static const std::vector<Fusion::Extent> kExtents = {"m", "n", "k", "m", "n", "m", 4, 6, 12, 1};
    return kExtents[pick(kExtents.size())];
  }

  Layout layout(const TensorView& t) {
    Layout out = Layout::replicated(t.rank());
    for (size_t a = 0; a < device.sizes().size() && t.rank(); ++a) {
      if (pick(3) == 0) continue;
      auto& pieces = out.dims[pick(t.rank())].pieces;
      if (pick(10) == 0) pieces.push_back({-1, 1, 2});
      Piece piece{static_cast<int>(a), pick(6) ? 1 : static_cast<int64_t>(1 + pick(3)), 0};
      pieces.insert(pieces.begin() + static_cast<ptrdiff_t>(pick(2) ? pieces.size() : 0), piece);
    }
    out.normalize();
    return out;
  }

  void annotate(TensorView& t, size_t one_in) {
    if (pick(one_in)) return;
    t.layout = layout(t);
    t.layout_source = LayoutSource::annotated;
    if (t.role == TensorRole::parameter && pick(3) == 0) t.stored = layout(t);
  }

  template <class T>
  TensorView* add(std::unique_ptr<T> op) {
    Inferred type = infer(*op, *fusion);
    TensorView* out = fusion->add_tensor("t", type.shape, type.dtype);
    fusion->add_op(std::move(op), out);
    annotate(*out, 3);
    tensors_.push_back(out);
    return out;
  }

  void make() {
    seed_ = fusion->input("seed", {}, DType::u64);
    for (size_t i = 0, n = 2 + pick(3); i < n; ++i) {
      std::vector<Fusion::Extent> shape;
      for (size_t d = 0, rank = 1 + pick(3); d < rank; ++d) shape.push_back(extent());
      std::string name = fmt::format("x{}", i);
      TensorView* t =
          pick(3) == 0 ? fusion->parameter(name, shape, DType::f32) : fusion->input(name, shape, DType::f32);
      annotate(*t, 2);
      tensors_.push_back(t);
    }
    for (size_t tries = 0, made = 0, want = 3 + pick(9); made < want && tries < 100; ++tries) made += try_op();
    if (fusion->ops().empty()) pointwise(Pointwise::relu, {tensors_[0]});
    for (const Op* op : std::vector<Op*>(fusion->ops()))
      if ((fusion->readers(op->out()).empty() || pick(5) == 0)) fusion->output(op->out());
    for (TensorView* t : fusion->outputs()) t->layout.partial.clear();
  }

  void pointwise(Pointwise function, std::vector<TensorView*> in) {
    auto op = std::make_unique<PointwiseOp>();
    op->function = function;
    op->in = std::move(in);
    add(std::move(op));
  }

  bool try_op() {
    TensorView *a = tensors_[pick(tensors_.size())], *b = tensors_[pick(tensors_.size())];
    static const std::vector<Pointwise> kBinary = {Pointwise::add, Pointwise::add, Pointwise::sub, Pointwise::mul};
    try {
      switch (pick(9)) {
        case 0:
        case 1:
          pointwise(kBinary[pick(kBinary.size())], {a, b});
          return true;
        case 2:
          pointwise(pick(2) ? Pointwise::neg : Pointwise::relu, {a});
          return true;
        case 3: {
          auto op = std::make_unique<Matmul>();
          op->a = a, op->b = b;
          add(std::move(op));
          return true;
        }
        case 4:
        case 5: {
          auto op = std::make_unique<Linear>();
          if (pick(2) && a->rank()) {  // a weight that fits
            b = fusion->parameter(fusion->unique_name("w"), {extent(), a->extent(a->rank() - 1)}, DType::f32);
            annotate(*b, 2);
          }
          op->x = a, op->w = b;
          add(std::move(op));
          return true;
        }
        case 6: {
          auto op = std::make_unique<Uniform>();
          op->shape = a->shape();
          op->seed = seed_;
          add(std::move(op));
          return true;
        }
        case 7:
          return reshaped(*a);
        default: {
          auto op = std::make_unique<Full>();
          op->shape = a->shape();
          op->value = parse_constant(DType::f32, "3").value();
          add(std::move(op));
          return true;
        }
      }
    } catch (const UserError&) {
      return false;  // shapes that do not fit
    }
  }

  // Two dims as one, or one of a known extent as two; at times both.
  bool reshaped(TensorView& t) {
    std::vector<sym::Expr> shape = t.shape();
    if (shape.size() > 1 && pick(2)) {
      const auto at = shape.begin() + static_cast<ptrdiff_t>(pick(shape.size() - 1));
      *at = *at * *(at + 1);
      shape.erase(at + 1);
    }
    for (size_t d = 0; d < shape.size() && shape.size() < 4; ++d) {
      const auto extent = shape[d].constant();
      const int64_t by = pick(2) ? 2 : 3;
      if (!extent || *extent == 0 || *extent % by != 0 || pick(2)) continue;
      shape[d] = fusion->pool().constant(pick(2) ? by : *extent / by);
      shape.insert(shape.begin() + static_cast<ptrdiff_t>(d) + 1, fusion->pool().constant(*extent / shape[d].value()));
      break;
    }
    if (shape == t.shape()) return false;
    auto op = std::make_unique<Reshape>();
    op->in = &t, op->shape = shape;
    add(std::move(op));
    return true;
  }

  std::mt19937 random_;
  TensorView* seed_ = nullptr;
  std::vector<TensorView*> tensors_;
};

// The printed graph, read again, gets the same layouts and no further reshard.
void check_stays_sharded(const Fusion& f) {
  auto again = parse_fusion(print(f));
  propagate(*again);
  insert_reshards(*again);
  EXPECT_EQ(test::reshards(*again), test::reshards(f));
  EXPECT_EQ(again->ops().size(), f.ops().size());
}

// Than the graph of this text without choices by cost.
void check_is_not_dearer(const Fusion& f, const std::string& text) {
  auto plain = parse_fusion(text);
  propagate(*plain, false);
  insert_reshards(*plain);
  EXPECT_LE(test::plan_cost(f), test::plan_cost(*plain) * 1.001) << print(f) << print(*plain);
}

void check(uint32_t seed, Counts& counts) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  RandomGraph graph(seed);
  Fusion& f = *graph.fusion;
  verify(f);
  const std::string text = print(f);
  SCOPED_TRACE(text);
  test::Arrays inputs;
  auto shape_of = [&](const TensorView& t) {
    std::vector<int64_t> out;
    for (size_t d = 0; d < t.rank(); ++d) out.push_back(sym::evaluate(t.extent(d), graph.sizes));
    return out;
  };
  for (const TensorView* t : f.inputs()) inputs[t->name] = test::iota(shape_of(*t), t->id + 1);
  test::Arrays whole = test::run_whole(f, graph.sizes, inputs);
  for (const Op* op : f.ops()) counts.annotated_results += op->out()->layout_source == LayoutSource::annotated;

  std::unique_ptr<Fusion> local;
  try {
    propagate(f);
    verify(f);
    for (const TensorView* t : f.tensors()) EXPECT_FALSE(t->reason.empty()) << t->name;
    for (const TensorView* t : f.tensors()) counts.pending += !t->layout.partial.empty();
    for (const Op* op : f.ops()) counts.regrouped += op->kind == OpKind::Reshape && !op->out()->layout.is_replicated();
    insert_reshards(f);
    verify(f);
    explain_sharding(f);
    check_local_pieces(f, graph.device, graph.sizes);
    local = localize(f, graph.device);
  } catch (const UserError& e) {
    ASSERT_NE(std::string(e.what()).find("does not split into"), std::string::npos) << e.what();
    ++counts.refused;
    return;
  } catch (const Error& e) {
    FAIL() << e.what();
  }
  verify(*local);
  std::vector<test::Arrays> ranks;
  for (int64_t r = 0; r < graph.device.ranks(); ++r) {
    ranks.emplace_back();
    for (const TensorView* t : local->inputs())
      ranks.back()[t->name] =
          test::cut(inputs.at(t->name), t->layout, graph.device, graph.device.coordinates(r), t->name);
  }
  ranks = test::run(*local, graph.device, graph.sizes, std::move(ranks));
  ++counts.graphs;
  counts.with_collectives += test::collectives(f) > 0;
  bool uneven = false, empty = false;
  for (const TensorView* t : local->outputs())
    for (int64_t r = 0; r < graph.device.ranks(); ++r) {
      auto at = graph.device.coordinates(r);
      test::Array expected = test::cut(whole.at(t->name), t->layout, graph.device, at, t->name);
      ASSERT_EQ(ranks[static_cast<size_t>(r)].at(t->name), expected) << "%" << t->name << " on rank " << r;
      uneven = uneven || expected.shape != ranks[0].at(t->name).shape;
      empty = empty || (expected.data.empty() && !whole.at(t->name).data.empty());
    }
  counts.uneven += uneven;
  counts.empty += empty;
  check_stays_sharded(f), check_is_not_dearer(f, text);
}

void check_many(uint32_t first, uint32_t count) {
  Counts counts;
  for (uint32_t seed = first; seed < first + count && !::testing::Test::HasFailure(); ++seed) check(seed, counts);
  printf(
      "%d graphs, %d with collectives, %d with uneven and %d with empty pieces, %d pending, %d cut reshapes, %d "
      "refused\n",
      counts.graphs, counts.with_collectives, counts.uneven, counts.empty, counts.pending, counts.regrouped,
      counts.refused);
  EXPECT_GT(counts.graphs, static_cast<int>(count / 2));
  EXPECT_GT(counts.with_collectives, counts.graphs / 2);
  EXPECT_GT(counts.uneven, counts.graphs / 10);
  EXPECT_GT(counts.empty, counts.graphs / 50);
  EXPECT_GT(counts.pending, counts.graphs / 15);
  EXPECT_GT(counts.regrouped, counts.graphs / 4);
}

TEST(RandomGraphs, EqualTheUnsharded) { check_many(1, 400); }
TEST(RandomGraphs, LongRunEqualTheUnsharded) { check_many(100000, 20000); }

}  // namespace
}  // namespace plait
