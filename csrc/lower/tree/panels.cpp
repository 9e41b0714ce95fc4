// Panels of contractions: buffers that threads of a block fill together, with 0 where the tensor has no element. A sum
// of products of two panels asks nothing: what it adds too much is 0, or belongs to no element of the result.
#include <algorithm>

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
  if (!panel.filled) kernel_.buffers.back().space = kir::Space::shared;
  if (panel.turned) kernel_.buffers.back().turned = panel.row;
  return static_cast<uint32_t>(kernel_.buffers.size() - 1);
}

bool TreeEmitter::fills_panels(const TreeLoop& loop) const {
  return loop.parallel == ParallelType::serial && std::ranges::any_of(loop.items, [&](const TreeItem& item) {
           return item.kind == TreeItem::Kind::alloc && is_panel(*item.op);
         });
}

// Whether the element lies in memory as it is: then it is copied.
bool TreeEmitter::copy_to_panel(const Op& op, const Terms& terms) {
  kir::Block block;
  frames_.push_back({&block, std::nullopt});
  const Value value = compute(op);
  leave();
  const auto* load = block.size() == 1 ? kir::as<kir::Load>(*block[0]) : nullptr;
  const uint32_t panel = locals_.at(op.out());
  if (load == nullptr || load->out != value || kernel_.buffers[load->buffer].dtype != kernel_.buffers[panel].dtype ||
      kernel_.buffers[load->buffer].space != kir::Space::argument)
    return false;
  auto stmt = std::make_unique<kir::CopyAsync>();
  stmt->to = panel;
  stmt->to_index = place_in_buffer(op, *op.out());
  stmt->from = load->buffer;
  stmt->index = load->index;
  for (const RangeTerm& term : terms) {
    const sym::Expr now = condition(term);
    stmt->active = stmt->active ? sym::logical_and(stmt->active, now) : now;
  }
  add(std::move(stmt));
  return true;
}

void TreeEmitter::fill_panel(const Op& op) {
  const TensorView& t = *op.out();
  const auto found = panel_terms_.find(&op);
  const Terms terms = found != panel_terms_.end() ? found->second : Terms();
  if (copy_to_panel(op, terms)) return;
  if (terms.empty()) return deliver(op, t, compute(op));
  const Value out = variable(Constant::from_int64(compute_type(t.dtype), 0));
  within(terms, [&] { assign(out, compute(op)); });
  deliver(op, t, out);
}

}  // namespace plait::lowering
