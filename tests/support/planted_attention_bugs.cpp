// Bugs of what schedule `attention` decides beside its loops: keys that are left out, and values there that are no
// numbers.
#include <utility>

#include "support/planted_kernel_bugs.h"

namespace plait::testing {

namespace {

int shift(std::optional<sym::Expr>& side) {
  if (side) *side = *side - 1;
  return side ? 1 : 0;
}
int end_early(ScheduledGroup& group) { return group.keys ? shift(group.keys->ahead) : 0; }
int begin_late(ScheduledGroup& group) { return group.keys ? shift(group.keys->behind) : 0; }

int swap_sides(ScheduledGroup& group) {
  if (!group.keys || group.keys->ahead == group.keys->behind) return 0;
  std::swap(group.keys->ahead, group.keys->behind);
  return 1;
}

int turn(ScheduledGroup& group) {
  if (!group.keys) return 0;
  group.keys->by_keys = !group.keys->by_keys;
  return 1;
}

// Of queries whose keys are summed in the kernel by keys.
int limit_half_as_often(ScheduledGroup& group) {
  int places = 0;
  if (group.keys)
    for (const auto& [op, limited] : group.keys->ops) places += limited == Limited::sum_over_lanes;
  if (places > 0) group.keys->rows *= 2;
  return places;
}

// fn(op) for ops whose results have a name that ends so; the places that it changed.
template <class T, class Fn>
int each_named(ScheduledGroup& group, std::string_view end, const Fn& fn) {
  int places = 0;
  for (Op* op : group.graph->ops())
    if (T* named = as<T>(*op); named != nullptr && op->out()->name.find(end) != std::string::npos) places += fn(*named);
  return places;
}

// What was found of values is not asked.
int forget_poison(ScheduledGroup& group) {
  return each_named<PointwiseOp>(group, "_poisoned", [&](PointwiseOp& op) {
    if (op.function != Pointwise::where) return 0;
    replace_input(op, op.in[1], op.in[2]);
    return 1;
  });
}
// The last value that is no number is taken for the first, or the other way round.
int find_the_other(ScheduledGroup& group) {
  return each_named<Reduce>(group, "_not_finite", [](Reduce& op) {
    op.function = op.function == Reduction::amax ? Reduction::amin : Reduction::amax;
    return 1;
  });
}

}  // namespace

const std::vector<KernelBug>& attention_bugs() {
  static const std::vector<KernelBug> kBugs = {
      {"keys_end_early", "schedule", "the last key that a query sees is left out", end_early},
      {"keys_begin_late", "schedule", "the first key that a query sees is left out", begin_late},
      {"other_side", "schedule", "keys are left out in front for behind", swap_sides},
      {"other_dim", "schedule", "queries are left out for keys, keys for queries", turn},
      {"half_the_limits", "schedule", "every second tile of queries has the limit of the one before",
       limit_half_as_often},
      {"no_poison", "schedule", "values that are no numbers do not reach others where keys are left out",
       forget_poison},
      {"other_poison", "schedule", "the first such value is taken for the last", find_the_other},
  };
  return kBugs;
}

}  // namespace plait::testing
