#include "shard/verify_sharding.h"

#include <set>

#include "base/error.h"
#include "shard/assign.h"
#include "shard/normal_form.h"
#include "shard/reshard_plan.h"

namespace plait {

Annotations annotations(const Fusion& fusion) {
  Annotations out;
  for (const TensorView* t : fusion.tensors()) {
    if (t->layout_source != LayoutSource::annotated && !t->stored) continue;
    auto& [compute, stored] = out[t->name] = {normal_layout(*t, t->layout), t->stored};
    if (stored) stored = normal_layout(*t, std::move(*stored));
    if (stored == compute) stored.reset();
  }
  return out;
}

namespace {

void verify_layout(const TensorView& t, const Layout& layout) {
  const Mesh& mesh = t.fusion->mesh();
  PLAIT_CHECK(layout.dims.size() == t.rank(), "%{} has {} dims, its layout {}", t.name, t.rank(), layout.dims.size());
  std::set<int> used;
  auto use = [&](int axis) {
    PLAIT_CHECK(axis >= 0 && axis < static_cast<int>(mesh.axes().size()), "%{} uses mesh axis {}", t.name, axis);
    PLAIT_CHECK(used.insert(axis).second, "mesh axis {} is used twice: %{} {}", axis, t.name, print(layout, mesh));
  };
  for (const auto& dim : layout.dims) {
    PLAIT_CHECK(dim.pieces.empty() || !dim.pieces.back().is_local(), "the layout of %{} ends with a local piece",
                t.name);
    for (const Piece& p : dim.pieces)
      if (!p.is_local()) use(p.mesh_axis);
  }
  for (const auto& [axis, reduce] : layout.partial) use(axis);
}

void verify_op(const Op& op) {
  const Mesh& mesh = op.results[0]->fusion->mesh();
  if (const auto* reshard = as<Reshard>(op)) {
    const bool stays = !reshard->step && held_layout(*reshard->in) == op.out()->layout;
    PLAIT_CHECK(stays || planned_step(*reshard), "reshard %{} {} -> %{} {} is not the step that was planned",
                reshard->in->name, print(held_layout(*reshard->in), mesh), op.out()->name,
                print(op.out()->layout, mesh));
    return;
  }
  Assignment a = assign(op);
  auto in = inputs(op);
  for (size_t i = 0; i < in.size(); ++i) {
    PLAIT_CHECK(in[i]->layout == a.operands[i], "{}: %{} is {}, needed {}", describe(op), in[i]->name,
                print(in[i]->layout, mesh), print(a.operands[i], mesh));
  }
  for (size_t r = 0; r < op.results.size(); ++r)
    PLAIT_CHECK(op.results[r]->layout == a.results[r], "{}: %{} is {}, given {}", describe(op), op.results[r]->name,
                print(op.results[r]->layout, mesh), print(a.results[r], mesh));
}

}  // namespace

void verify_sharding(const Fusion& fusion, ShardStage stage, const Annotations* before) {
  for (const TensorView* t : fusion.tensors()) {
    verify_layout(*t, t->layout);
    if (t->stored) verify_layout(*t, *t->stored);
    PLAIT_CHECK(t->layout_source != LayoutSource::open, "%{} has no layout", t->name);
  }
  for (const TensorView* t : fusion.inputs())
    PLAIT_CHECK(stage == ShardStage::propagated || !t->stored, "%{} has a layout that it does not hold", t->name);
  for (const TensorView* t : fusion.outputs())
    PLAIT_CHECK(t->layout.partial.empty() || t->layout_source == LayoutSource::annotated, "output %{} is pending",
                t->name);
  for (const Op* op : fusion.ops()) {
    const auto* reshard = as<Reshard>(*op);
    const std::vector<Layout> given = reshard ? std::vector{held_layout(*reshard->in)} : assign(*op).results;
    for (size_t r = 0; r < op->results.size(); ++r)
      PLAIT_CHECK(can_reshard(given[r], op->results[r]->layout), "%{} cannot be pending", op->results[r]->name);
    if (stage == ShardStage::resharded) verify_op(*op);
  }
  if (!before) return;
  for (const auto& [name, layouts] : *before) {
    const TensorView* t = fusion.find(name);
    const auto& [compute, stored] = layouts;
    bool kept = t && (stage == ShardStage::propagated ? t->layout == compute && t->stored == stored
                                                      : t->layout == stored.value_or(compute));
    PLAIT_CHECK(kept, "the annotation of %{} is lost", name);
  }
}

void check_alias_layouts(const Fusion& fusion) {
  for (const auto& [output, input] : fusion.aliases) {
    const TensorView &y = *fusion.find(output), &x = *fusion.find(input);
    const Layout& lies = x.stored ? *x.stored : x.layout;
    if (y.layout == lies) continue;
    throw UserError(fmt::format("%{} is laid out {}, %{} {}", output, print(y.layout, fusion.mesh()), input,
                                print(lies, fusion.mesh())),
                    fmt::format("output %{} aliases %{}", output, input),
                    "annotate the output with the input's layout");
  }
}

}  // namespace plait
