#include "shard/propagation.h"

#include <algorithm>
#include <utility>

namespace plait {

Propagation::Propagation(Fusion& fusion) : fusion_(fusion) {
  for (Op* op : fusion.ops()) {
    places_.emplace(op, places_.size());
    for (TensorView* t : inputs(*op))
      if (auto& list = readers_[t]; list.empty() || list.back() != op) list.push_back(op);
  }
  for (TensorView* t : fusion.outputs()) outputs_.insert(t);
}

const std::vector<Op*>& Propagation::readers(const TensorView& t) const {
  static const std::vector<Op*> nobody;
  const auto found = readers_.find(&t);
  return found == readers_.end() ? nobody : found->second;
}

bool Propagation::pinned(const TensorView& t) const {
  return t.keeps_layout() || !t.definition || t.definition->kind == OpKind::Reshard;
}

Propagation::Hint& Propagation::hint(const TensorView& t) {
  auto [it, fresh] = hints_.try_emplace(&t);
  if (fresh) it->second.layout = Layout::replicated(t.rank());
  return it->second;
}

const Layout& Propagation::wanted(const TensorView& t) { return pinned(t) ? t.layout : hint(t).layout; }

Assignment Propagation::assignment(const Op& op) {
  std::vector<Layout> wanted;
  for (const TensorView* t : op.results) wanted.push_back(this->wanted(*t));
  return assign(op, wanted);
}

Propagation::Region Propagation::follow(const std::map<TensorView*, Layout>& layouts, size_t most, bool outputs_stay,
                                        const Endless& endless) {
  Region out;
  std::map<size_t, const Op*> next;
  const auto set = [&](TensorView& tensor, const Layout& to) {
    const auto known = endless.find(&tensor);
    if (known != endless.end() && std::ranges::count(known->second, to) > 0) out.whole = false;
    out.before.emplace(&tensor, std::exchange(tensor.layout, to));
    for (const Op* op : readers(tensor)) next.emplace(places_.at(op), op);
  };
  for (const auto& [tensor, layout] : layouts) {
    set(*tensor, layout);
    next.emplace(places_.at(tensor->definition), tensor->definition);
  }
  while (!next.empty() && out.whole && out.ops.size() < most) {
    const Op* op = next.extract(next.begin()).mapped();
    const Assignment& a = out.ops.emplace_back(op, assignment(*op)).second;
    for (size_t r = 0; r < op->results.size(); ++r) {
      TensorView& t = *op->results[r];
      Layout given = a.results[r];
      if (is_output(t)) given.partial.clear();
      if (is_output(t) && outputs_stay) continue;
      if (!pinned(t) && !layouts.contains(&t) && given != t.layout) set(t, given);
    }
  }
  out.whole = out.whole && next.empty();
  return out;
}

void Propagation::swap(Region& region) {
  for (auto& [tensor, layout] : region.before) std::swap(tensor->layout, layout);
}

}  // namespace plait
