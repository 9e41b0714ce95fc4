#include "segment/helpers.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/make_op.h"
#include "ir/op_fields.h"
#include "segment/groups.h"

namespace plait {

std::set<int> Grouping::makers_of(const Fusion& fusion, const std::vector<std::string>& names) const {
  std::set<int> out;
  for (const std::string& name : names)
    if (const TensorView* t = fusion.find(name); t != nullptr && maker(t) >= 0) out.insert(maker(t));
  return out;
}

void note(const SegmentOptions& options, const std::string& line) {
  if (options.explain != nullptr) *options.explain += line + "\n";
}

bool decided(const SegmentOptions& options, const std::string& what) { return !options.decide || options.decide(what); }

std::set<std::string, std::less<>> written_names(const SegmentOptions& options) {
  std::set<std::string, std::less<>> out(options.nests.begin(), options.nests.end());
  for (const auto& names : options.fixed) out.insert(names.begin(), names.end());
  for (const auto& [name, schedule] : options.pins) out.insert(name);
  return out;
}

std::set<std::string, std::less<>> stated_names(const SegmentOptions& options) {
  std::set<std::string, std::less<>> out = written_names(options);
  for (const auto& names : options.joined) out.insert(names.begin(), names.end());
  return out;
}

bool pin_segment(SegmentOptions& options, const std::vector<Op*>& ops, const Schedule& schedule,
                 std::string_view what) {
  std::vector<std::string> names;
  for (const Op* op : ops) names.push_back(op->results[0]->name);
  if (!decided(options, fmt::format("{} of %{}", what, names.back()))) return false;
  options.pins[names.back()] = schedule;
  options.together.push_back(names);
  options.fixed.push_back(std::move(names));
  return true;
}

bool is_number(const Op& op) { return op.kind == OpKind::Full || op.kind == OpKind::Iota || op.kind == OpKind::Size; }

bool decide_sizes(const SegmentOptions& options, sym::Expr condition, const char* why) {
  return options.guards != nullptr ? options.guards->decide(condition, why) : sym::proven(condition);
}

Op* duplicate(Fusion& fusion, const Op& op) {
  std::unique_ptr<Op> copy = blank_op(op.kind);
  copy_fields(op, *copy, [](const auto& value) { return value; });
  TensorView* out = fusion.add_tensor(op.out()->name, op.out()->shape(), op.out()->dtype);
  out->dtype_alias = op.out()->dtype_alias;
  out->layout = op.out()->layout;
  out->layout_source = op.out()->layout_source;
  out->reason = op.out()->reason;
  return fusion.add_op(std::move(copy), out);
}

void drop_unread(Fusion& fusion, const std::set<const Op*>& ops) {
  std::vector<Op*> order(fusion.ops().begin(), fusion.ops().end());
  std::set<const Op*> dead;
  const auto is_dead = [&](const Op* op) { return dead.contains(op); };
  for (auto op = order.rbegin(); op != order.rend(); ++op) {
    const bool unread = ops.contains(*op) && std::ranges::all_of((*op)->results, [&](const TensorView* t) {
                          return !fusion.is_output(t) && std::ranges::all_of(fusion.readers(t), is_dead);
                        });
    if (unread) dead.insert(*op);
  }
  if (dead.empty()) return;
  std::erase_if(order, is_dead);
  fusion.set_order(std::move(order));
}

void list_tensors(Segment& segment, const Fusion& fusion) {
  const std::set<const Op*> own(segment.ops.begin(), segment.ops.end());
  std::set<const TensorView*> seen;
  for (const Op* op : segment.ops) seen.insert(op->results.begin(), op->results.end());
  for (const Op* op : segment.ops)
    for (TensorView* in : inputs(*op))
      if (seen.insert(in).second) segment.inputs.push_back(in);
  for (const Op* op : segment.ops)
    for (TensorView* t : op->results) {
      const auto& readers = fusion.readers(t);
      const bool inside = std::all_of(readers.begin(), readers.end(), [&](const Op* r) { return own.contains(r); });
      if (readers.empty() || !inside || fusion.is_output(t)) segment.outputs.push_back(t);
    }
}

}  // namespace plait
