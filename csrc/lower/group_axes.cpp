// The segment's axis graph over the kernel's integers, and the nest of its reference tensor.
#include <algorithm>

#include "base/error.h"
#include "lower/kinds.h"
#include "lower/state.h"
#include "scalar/index_status.h"

namespace plait::lowering {

std::string State::where() const {
  std::string out = fmt::format("segment @{}", segment.name);
  for (const TensorView* t : segment.outputs) out += fmt::format(", %{}", t->name);
  return out;
}

namespace {

// Ops that read elsewhere than where they write have a kernel of their own.
void check_op(const State& state, const Op& op) {
  const Form form = kind_of(op).form;
  if (form == Form::element || property(op.kind) == OpProperty::contraction) return;
  const bool known = form != Form::none;
  if (known && state.segment.ops.size() == 1) return;
  throw UserError(fmt::format("lowering has no kernel for {}{}", describe(op), known ? " among other ops" : ""),
                  state.where(), "segmentation gives it a segment of its own");
}

// What the kernel sees of a tensor's elements: a bitcast moves them as integers of their size.
DType buffer_type(const State& state, const TensorView& tensor) {
  if (state.segment.ops.front()->kind != OpKind::Bitcast) return tensor.dtype;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (is_integer(dtype) && size_of(dtype) == size_of(tensor.dtype)) return dtype;
  }
  PLAIT_CHECK(false, "no integer has {} bytes", size_of(tensor.dtype));
}

void declare_status(State& state, const CheckedLookup& lookup) {
  std::vector<kir::Buffer>& buffers = state.kernel.buffers;
  std::string name = "status";
  const auto taken = [&](const kir::Buffer& b) { return b.name == name; };
  while (std::any_of(buffers.begin(), buffers.end(), taken)) name += "_";
  state.status = static_cast<uint32_t>(buffers.size());
  state.ordinal = state.extents.argument(lookup.index->fusion->pool().constant(lookup.ordinal));
  buffers.push_back({name, DType::u64, state.pool->constant(kStatusWords), true, true});
}

}  // namespace

void group_axes(State& state) {
  if (state.segment.outputs.empty())
    throw UserError("a segment without outputs computes nothing", state.where(), "remove it");
  for (const Op* op : state.segment.ops) check_op(state, *op);
  BuildGraphOptions options;
  options.extent = [&](sym::Expr e) { return state.extent(e); };
  options.test_unions = state.options.test_unions;
  state.group = build_axis_graph(*state.pool, state.segment.ops, options);
  // Outputs that no edge links share the nest by position; where they cannot, the rules of placement say why.
  align(state.group, state.segment.outputs);
}

void place_tensors(State& state) {
  PlaceOptions options;
  options.extent = [&](sym::Expr e) { return state.extent(e); };
  options.rules_off = state.options.rules_off;
  const TensorView& reference = *state.segment.outputs.front();
  const auto refusal = place(state.group, reference, state.segment.outputs, state.nest, options);
  if (refusal)
    throw UserError(fmt::format("the schedule does not compute %{}: {} ({})", refusal->tensor->name, refusal->reason,
                                plait::name(refusal->rule)),
                    state.where(), "schedule it otherwise, or give the tensor a segment of its own");
}

void declare_buffers(State& state) {
  kir::Kernel& kernel = state.kernel;
  kernel.name = state.options.name;
  kernel.target = state.options.target;
  kernel.schedule = print(state.segment.schedule);
  kernel.pool = state.pool;
  for (const auto* list : {&state.segment.inputs, &state.segment.outputs}) {
    for (const TensorView* t : *list) {
      sym::Expr count = state.pool->constant(1);
      for (const Axis& a : t->domain.logical) count = count * state.extent(a.extent);
      kernel.buffers.push_back({t->name, buffer_type(state, *t), count, list == &state.segment.outputs});
    }
  }
  const Op& op = *state.segment.ops.front();
  kernel.buffers.back().updated = op.kind == OpKind::Scatter;
  if (op.kind == OpKind::Sort)
    for (kir::Buffer& b : kernel.buffers) b.updated = b.written;
  if (const auto lookup = checked_lookup(op)) declare_status(state, *lookup);
}

sym::Expr memory_offset(State& state, const TensorView& tensor, const std::vector<sym::Expr>& coordinates) {
  sym::Expr offset = state.pool->constant(0), stride = state.pool->constant(1);
  const std::vector<int>& order = tensor.domain.allocation;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = static_cast<size_t>(order[i]);
    offset = offset + coordinates[d] * stride;
    stride = stride * state.extent(tensor.extent(d));
  }
  return offset;
}

}  // namespace plait::lowering
