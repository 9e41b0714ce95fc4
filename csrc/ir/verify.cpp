// Invariants of Fusion, checked between all passes in debug and test builds:
//  1. Names are unique; every tensor belongs to the fusion.
//  2. Inputs and parameters have no definition; every other tensor in the order has one, its op's `out`.
//  3. An op's operands are inputs or results of earlier ops (no cycles).
//  4. Type and shape of every result are those that infer() gives.
//  5. Outputs are inputs or results of ops in the order; each is listed once.
//  6. A layout has one entry per dim, uses axes of the mesh, each at most once; it does not end with a local piece.
//  7. A stored layout belongs to a parameter and has no partial.
//  8. Domains: allocation is a permutation of the dims; the transforms apply.
//  9. Segments, where there are any, hold every op exactly once, in the order of the ops; what a segment reads is in
//  its
//     inputs or made in it; its outputs are made in it.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "ir/fusion.h"

namespace plait {

namespace {

void verify_layout(const TensorView& t, const Layout& layout, const Mesh& mesh) {
  PLAIT_CHECK(layout.dims.size() == t.rank(), "layout of %{} has {} dims of {}", t.name, layout.dims.size(), t.rank());
  std::set<int> used;
  auto use = [&](int axis) {
    PLAIT_CHECK(axis >= 0 && axis < static_cast<int>(mesh.axes().size()), "%{} uses mesh axis {}", t.name, axis);
    PLAIT_CHECK(used.insert(axis).second, "%{} uses mesh axis {} twice", t.name, axis);
  };
  for (const auto& d : layout.dims) {
    for (const auto& p : d.pieces)
      if (p.is_local())
        PLAIT_CHECK(p.local >= 1, "%{} has an empty local piece", t.name);
      else
        use(p.mesh_axis);
    PLAIT_CHECK(d.pieces.empty() || !d.pieces.back().is_local(), "%{} ends with a local piece", t.name);
  }
  for (const auto& [axis, op] : layout.partial) use(axis);
}

void verify_tensor(const TensorView& t, const Fusion& fusion) {
  PLAIT_CHECK(t.fusion == &fusion && fusion.find(t.name) == &t, "%{} belongs to another fusion", t.name);
  verify_layout(t, t.layout, fusion.mesh());
  if (t.stored) {
    PLAIT_CHECK(t.role == TensorRole::parameter && t.stored->partial.empty(), "stored layout of %{}", t.name);
    verify_layout(t, *t.stored, fusion.mesh());
  }
  std::vector<int> order = t.domain.allocation;
  std::sort(order.begin(), order.end());
  for (size_t d = 0; d < t.rank(); ++d)
    PLAIT_CHECK(order.size() == t.rank() && order[d] == static_cast<int>(d), "allocation of %{} is no order", t.name);
  loop_axes(t.domain);
}

void verify_segments(const Fusion& fusion) {
  std::vector<Op*> order;
  for (const auto& s : fusion.segments) {
    std::set<const TensorView*> known(s.inputs.begin(), s.inputs.end()), made;
    for (const Op* op : s.ops) {
      for (const TensorView* in : inputs(*op))
        PLAIT_CHECK(known.count(in), "segment @{} reads %{} which is not its input", s.name, in->name);
      known.insert(op->out);
      made.insert(op->out);
    }
    for (const TensorView* out : s.outputs)
      PLAIT_CHECK(made.count(out), "segment @{} does not make its output %{}", s.name, out->name);
    order.insert(order.end(), s.ops.begin(), s.ops.end());
  }
  PLAIT_CHECK(order == fusion.ops(), "segments do not hold the ops in their order");
}

}  // namespace

void verify(const Fusion& fusion) {
  std::set<const TensorView*> defined;
  for (const TensorView* t : fusion.inputs()) {
    PLAIT_CHECK(!t->definition && t->role != TensorRole::intermediate, "input %{} has a definition", t->name);
    PLAIT_CHECK(defined.insert(t).second, "input %{} twice", t->name);
  }
  for (const Op* op : fusion.ops()) {
    for (const TensorView* in : inputs(*op))
      PLAIT_CHECK(defined.count(in), "{} reads %{} before its definition", describe(*op), in->name);
    PLAIT_CHECK(op->out && op->out->definition == op && op->out->role == TensorRole::intermediate, "result of {}",
                describe(*op));
    PLAIT_CHECK(defined.insert(op->out).second, "%{} is defined twice", op->out->name);
    Inferred type = infer(*op, const_cast<Fusion&>(fusion));
    PLAIT_CHECK(type.dtype == op->out->dtype && type.shape == op->out->shape(), "type of %{}: {}", op->out->name,
                type_text(*op->out));
  }
  std::set<const TensorView*> listed;
  for (const TensorView* t : fusion.outputs()) {
    PLAIT_CHECK(defined.count(t), "output %{} is not defined", t->name);
    PLAIT_CHECK(listed.insert(t).second, "output %{} twice", t->name);
  }
  for (const TensorView* t : defined) verify_tensor(*t, fusion);
  if (!fusion.segments.empty()) verify_segments(fusion);
}

}  // namespace plait
