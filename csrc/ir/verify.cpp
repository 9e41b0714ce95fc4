// Invariants of Fusion, checked between all passes in debug and test builds:
//  1. Names are unique; every tensor belongs to the fusion.
//  2. Inputs and parameters have no definition; every other tensor in the order has one, whose `results` hold it once.
//  3. An op's operands are there (but for optional ones) and are inputs or results of earlier ops (no cycles); its
//     expressions are there; its mesh axis is one of the mesh.
//  4. Type and shape of every result are those that infer() gives.
//  5. Outputs are inputs or results of ops in the order; each is listed once.
//  6. A layout has one entry per dim, uses axes of the mesh, each at most once; granules and local pieces are positive;
//     it does not end with a local piece. A pending reduction is one of ReduceOp, of a dtype that ranks reduce.
//  7. A stored layout belongs to a parameter and has no partial.
//  8. Domains: allocation is a permutation of the dims; strided is empty or has a flag for every dim, one of them set;
//     a broadcast axis has extent 1; reduction axes, where they are stated, are those of the op, on its first result;
//     the transforms apply.
//  9. Segments keep the rules of ir/segment_rules.h.
// 10. A dtype alias is a `let` of that dtype.
// 11. The readers that the fusion keeps of a tensor are the ops in the order that have it as an operand.
// 12. Ranges of values are those of inputs of integers.
#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <type_traits>

#include "base/error.h"
#include "ir/factors.h"
#include "ir/fusion.h"
#include "ir/infer_parts.h"
#include "ir/op_fields.h"
#include "ir/segment_rules.h"

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
    for (const auto& p : d.pieces) {
      if (p.is_local()) {
        PLAIT_CHECK(p.local >= 1 && p.granule == 1, "%{} has a local piece {}", t.name, p.local);
      } else {
        PLAIT_CHECK(p.granule >= 1 && p.granule <= kMaxGranule && p.local == 0, "%{} has granule {}", t.name,
                    p.granule);
        use(p.mesh_axis);
      }
    }
    PLAIT_CHECK(d.pieces.empty() || !d.pieces.back().is_local(), "%{} ends with a local piece", t.name);
  }
  for (const auto& [axis, op] : layout.partial) {
    use(axis);
    PLAIT_CHECK(std::count(std::begin(kReduceOps), std::end(kReduceOps), op), "%{} has the pending reduction {}",
                t.name, static_cast<int>(op));
    PLAIT_CHECK(may_be_pending(op, t.dtype), "%{}: a pending {} of {}", t.name, name(op), name(t.dtype));
  }
}

void verify_domain(const TensorView& t) {
  const Domain& domain = t.domain;
  std::vector<int> order = domain.allocation;
  std::sort(order.begin(), order.end());
  PLAIT_CHECK(order.size() == t.rank(), "allocation of %{} has {} dims of {}", t.name, order.size(), t.rank());
  for (size_t d = 0; d < t.rank(); ++d) {
    PLAIT_CHECK(order[d] == static_cast<int>(d), "allocation of %{} is no order", t.name);
    const Axis& axis = domain.logical[d];
    PLAIT_CHECK(axis.extent && axis.kind != AxisKind::reduction, "dim {} of %{}", d, t.name);
    PLAIT_CHECK(axis.kind != AxisKind::broadcast || axis.extent.constant() == 1,
                "broadcast dim {} of %{} has extent {}", d, t.name, sym::print(axis.extent));
  }
  PLAIT_CHECK(domain.strided.empty() ||
                  (domain.strided.size() == t.rank() && std::count(domain.strided.begin(), domain.strided.end(), true)),
              "strided dims of %{}", t.name);
  if (!domain.reduction.empty())
    PLAIT_CHECK(t.definition && t.definition->results[0] == &t && domain.reduction == reduction_axes(*t.definition),
                "reduction axes of %{}", t.name);
  std::string problem;
  try {
    loop_axes(domain);
  } catch (const UserError& e) {
    problem = e.message();
  }
  PLAIT_CHECK(problem.empty(), "loop axes of %{}: {}", t.name, problem);
}

void verify_tensor(const TensorView& t, const Fusion& fusion) {
  PLAIT_CHECK(t.fusion == &fusion && fusion.find(t.name) == &t, "%{} belongs to another fusion", t.name);
  verify_layout(t, t.layout, fusion.mesh());
  if (t.stored) {
    PLAIT_CHECK(t.role != TensorRole::intermediate && t.stored->partial.empty(), "stored layout of %{}", t.name);
    verify_layout(t, *t.stored, fusion.mesh());
  }
  verify_domain(t);
  if (t.range)
    PLAIT_CHECK(t.role != TensorRole::intermediate && !is_float(t.dtype) && t.dtype != DType::boolean &&
                    t.range->begin && t.range->end,
                "range of %{}", t.name);
  const auto& lets = fusion.dtype_lets;
  PLAIT_CHECK(
      t.dtype_alias.empty() || std::find(lets.begin(), lets.end(), DTypeLet{t.dtype_alias, t.dtype}) != lets.end(),
      "%{} has the dtype {} under the name {}", t.name, name(t.dtype), t.dtype_alias);
}

void verify_fields(const Op& op, const Fusion& fusion) {
  for_each_field(op, [&](const FieldRef& field, const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, TensorView*>) {
      PLAIT_CHECK(value || may_be_absent(field), "{} lacks {}", describe(op), field.name);
    } else if constexpr (std::is_same_v<T, std::vector<TensorView*>>) {
      for (const TensorView* t : value) PLAIT_CHECK(t, "{} has a null operand", text_name(op));
    } else if constexpr (std::is_same_v<T, sym::Expr>) {
      PLAIT_CHECK(value, "{} lacks {}", describe(op), field.name);
    } else if constexpr (std::is_same_v<T, std::vector<sym::Expr>>) {
      for (sym::Expr e : value) PLAIT_CHECK(e, "{} lacks a part of {}", describe(op), field.name);
    } else if constexpr (std::is_same_v<T, Team>) {
      const auto* reshard = as<Reshard>(op);
      PLAIT_CHECK(!value.axes.empty() || (reshard && !reshard->step), "{} has no team", describe(op));
      for (int axis : value.axes)
        PLAIT_CHECK(axis >= 0 && axis < static_cast<int>(fusion.mesh().axes().size()) &&
                        std::ranges::count(value.axes, axis) == 1,
                    "{} on mesh axis {}", describe(op), axis);
    }
  });
}

void verify_op(const Op& op, const Fusion& fusion) {
  std::string problem;
  try {
    // infer_results() makes constants in the pool of the fusion, which does not change the fusion.
    const std::vector<Inferred> types = infer_results(op, const_cast<Fusion&>(fusion));
    if (types.size() != op.results.size()) problem = fmt::format("it gives {} results", types.size());
    for (size_t i = 0; i < types.size() && problem.empty(); ++i)
      if (types[i].dtype != op.results[i]->dtype ||
          !std::ranges::equal(types[i].shape, op.results[i]->shape(), rules::same_extent))
        problem = type_text(*op.results[i]) + " is not what it gives";
  } catch (const UserError& e) {
    problem = e.message();
  }
  PLAIT_CHECK(problem.empty(), "{}: {}", describe(op), problem);
}

void verify_readers(const std::vector<const TensorView*>& tensors, const Fusion& fusion) {
  std::map<const TensorView*, std::vector<const Op*>> found;
  for (const Op* op : fusion.ops())
    for (const TensorView* in : inputs(*op)) {
      std::vector<const Op*>& list = found[in];
      if (list.empty() || list.back() != op) list.push_back(op);
    }
  for (const TensorView* t : tensors) {
    const std::vector<Op*>& kept = fusion.readers(t);
    const std::vector<const Op*>& scan = found[t];
    PLAIT_CHECK(std::equal(kept.begin(), kept.end(), scan.begin(), scan.end()),
                "%{} has {} readers, and the fusion keeps {} of it", t->name, scan.size(), kept.size());
  }
}

std::atomic<VerifyHook> verify_hook = nullptr;

}  // namespace

void set_verify_hook(VerifyHook hook) { verify_hook = hook; }

void verify(const Fusion& fusion) {
  std::set<const TensorView*> defined;
  std::vector<const TensorView*> order;
  auto define = [&](const TensorView* t) {
    PLAIT_CHECK(defined.insert(t).second, "%{} is defined twice", t->name);
    order.push_back(t);
  };
  for (const TensorView* t : fusion.inputs()) {
    PLAIT_CHECK(!t->definition && t->role != TensorRole::intermediate, "input %{} has a definition", t->name);
    define(t);
  }
  for (const Op* op : fusion.ops()) {
    verify_fields(*op, fusion);
    for (const TensorView* in : inputs(*op))
      PLAIT_CHECK(defined.count(in), "{} reads %{} before its definition", describe(*op), in->name);
    PLAIT_CHECK(!op->results.empty(), "{} has no result", describe(*op));
    for (const TensorView* t : op->results) {
      PLAIT_CHECK(t && t->definition == op && t->role == TensorRole::intermediate, "result of {}", describe(*op));
      define(t);
    }
    verify_op(*op, fusion);
  }
  std::set<const TensorView*> listed;
  for (const TensorView* t : fusion.outputs()) {
    PLAIT_CHECK(defined.count(t), "output %{} is not defined", t->name);
    PLAIT_CHECK(listed.insert(t).second, "output %{} twice", t->name);
  }
  for (const auto& [output, input] : fusion.aliases) {
    const TensorView *y = fusion.find(output), *x = fusion.find(input);
    PLAIT_CHECK(y && x && listed.contains(y) && y->definition && x->role != TensorRole::intermediate,
                "%{} aliases %{}: no output and input", output, input);
    PLAIT_CHECK(y->dtype == x->dtype && y->rank() == x->rank(), "%{} aliases %{} of another type", output, input);
  }
  for (const TensorView* t : order) verify_tensor(*t, fusion);
  verify_readers(order, fusion);
  auto problem = segment_problem(fusion);
  PLAIT_CHECK(!problem, "{}", problem->what);
  if (const VerifyHook hook = verify_hook) hook(fusion);
}

}  // namespace plait
