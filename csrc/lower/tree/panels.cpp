// Panels of contractions: buffers that threads of a block fill together, with 0 where the tensor has no element. A sum
// of products of two panels asks nothing: what it adds too much is 0, or belongs to no element of the result.
#include "base/error.h"
#include "lower/tree/emitter.h"

namespace plait::lowering {

const PanelLayout* TreeEmitter::panel_of(const TensorView& tensor) const {
  const auto found = group_.panels.find(&tensor);
  return found == group_.panels.end() ? nullptr : &found->second;
}

bool TreeEmitter::sums_panels(const Op& op) const {
  if (property(op.kind) != OpProperty::contraction) return false;
  const auto& in = inputs(op);
  return panel_of(*in[0]) != nullptr && panel_of(*in[1]) != nullptr;
}

// Of the tensor's own dtype: it is a copy of what lies in memory.
uint32_t TreeEmitter::declare_panel(const TensorView& tensor, const PanelLayout& panel) {
  PLAIT_CHECK(tree_.home(tensor) == Home::buffer, "panel %{} has no buffer by its loops", tensor.name);
  kernel_.buffers.push_back(
      {free_name(tensor.name), tensor.dtype, number(panel.extent()), false, false, kir::Space::stack});
  return static_cast<uint32_t>(kernel_.buffers.size() - 1);
}

void TreeEmitter::fill_panel(const Op& op) {
  const TensorView& t = *op.out();
  const Terms& terms = panel_terms_.at(&op);
  if (terms.empty()) return deliver(op, t, compute(op));
  const Value out = variable(Constant::from_int64(compute_type(t.dtype), 0));
  within(terms, [&] { assign(out, compute(op)); });
  deliver(op, t, out);
}

}  // namespace plait::lowering
