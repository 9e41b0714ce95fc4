#include "segment/aliases.h"

#include <fmt/format.h>

#include <algorithm>

namespace plait {

namespace {

class Finder {
 public:
  Finder(const Fusion& fusion, const SegmentOptions& options) : fusion_(fusion), options_(options) {
    for (const auto& names : options.fixed)
      if (names.size() > 1) in_kernels_.insert(names.begin(), names.end());
  }

  Aliases run() {
    for (Op* op : fusion_.ops())
      if (property(op->kind) == OpProperty::contraction) ask_library(*op);
    const std::vector<Op*>& ops = fusion_.ops();
    for (size_t i = ops.size(); i-- > 0;)
      if (may_be_view(*ops[i])) candidates_.insert(ops[i]);
    while (!settle()) {}
    out_.view_ops = std::move(candidates_);
    return std::move(out_);
  }

 private:
  void note(const std::string& line) const {
    if (options_.explain != nullptr) *options_.explain += line + "\n";
  }

  const Schedule* pin(const Op& op) const {
    const auto it = options_.pins.find(op.out()->name);
    return it == options_.pins.end() ? nullptr : &it->second;
  }

  void ask_library(const Op& op) {
    Aliases::Contraction& choice = out_.contractions[&op];
    const Schedule* pinned = pin(op);
    if (in_kernels_.contains(op.out()->name)) {
      choice.why = "a kernel computes it with other ops";
      return;
    }
    const bool insists = pinned != nullptr || options_.contractions == "library";
    if (pinned != nullptr && *pinned != Schedule(schedules::Library())) return;
    if (pinned == nullptr && options_.contractions == "nest") {
      choice.why = "contractions = nest";
      return;
    }
    choice.why = "there is no library";
    if (!options_.library_accepts || !contraction_views(op, {}, &choice.why)) return;
    if (!options_.library_accepts(op, &choice.why)) return;
    choice.by_library = insists || !options_.decide || options_.decide(fmt::format("library for %{}", op.out()->name));
    if (!choice.by_library) choice.why = "limited by --bisect";
  }

  bool may_be_view(const Op& op) const {
    if (!is_view_op(op) || fusion_.is_output(op.out())) return false;
    if (const Schedule* pinned = pin(op); pinned != nullptr && *pinned != Schedule(schedules::Alias())) return false;
    if (!is_row_major(op.out()->domain) || !is_row_major(inputs(op)[0]->domain)) return false;
    const auto& readers = fusion_.readers(op.out());
    return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](const Op* reader) {
      const auto contraction = out_.contractions.find(reader);
      return contraction != out_.contractions.end() ? contraction->second.by_library : candidates_.contains(reader);
    });
  }

  // Computes the tensor, and what it is a view of.
  void compute(const TensorView* tensor) {
    for (const Op* op = tensor->definition; op != nullptr && candidates_.erase(op) > 0; op = inputs(*op)[0]->definition)
      out_.views.forget(op->out());
  }

  // Whether all candidates are views that their readers take; those that are not are candidates no longer.
  bool settle() {
    bool settled = true;
    for (const Op* op : fusion_.ops()) {
      std::string why;
      const TensorView* computed = nullptr;
      if (candidates_.contains(op)) {
        const MemoryView operand = out_.views.of(inputs(*op)[0]);
        if (auto view = view_of_result(*op, operand, &why))
          out_.views.set(op->out(), std::move(*view));
        else
          computed = operand.whole ? op->out() : inputs(*op)[0];
      } else if (const auto it = out_.contractions.find(op); it != out_.contractions.end() && it->second.by_library) {
        if (!contraction_views(*op, out_.views, &why, &computed) && computed == nullptr)
          computed = out_.views.of(inputs(*op)[0]).whole ? inputs(*op)[1] : inputs(*op)[0];
      }
      if (computed == nullptr) continue;
      note(fmt::format("%{} is computed, not a view, for %{}: {}", computed->name, op->out()->name, why));
      compute(computed);
      settled = false;
    }
    return settled;
  }

  const Fusion& fusion_;
  const SegmentOptions& options_;
  Aliases out_;
  std::set<const Op*> candidates_;
  std::set<std::string_view> in_kernels_;  // results of segments that are fixed
};

// Dims of more than one element stay in their order.
bool keeps_order(const Permute& op) {
  int64_t last = -1;
  for (size_t d = 0; d < op.dims.size(); ++d) {
    if (op.out()->extent(d).constant() == 1) continue;
    if (op.dims[d] < last) return false;
    last = op.dims[d];
  }
  return true;
}

}  // namespace

bool Aliases::is_alias(const Op& op) const {
  if (view_ops.contains(&op)) return true;
  switch (op.kind) {
    case OpKind::Reshape:
    case OpKind::Squeeze:
    case OpKind::Unsqueeze:
    case OpKind::Permute:
      break;
    default:
      return false;
  }
  const auto* permute = as<Permute>(op);
  return is_row_major(inputs(op)[0]->domain) && is_row_major(op.out()->domain) &&
         (permute == nullptr || keeps_order(*permute));
}

Aliases find_aliases(const Fusion& fusion, const SegmentOptions& options) { return Finder(fusion, options).run(); }

}  // namespace plait
