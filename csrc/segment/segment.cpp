#include "segment/segment.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "ir/launches.h"
#include "schedule/moved.h"
#include "schedule/norm.h"
#include "schedule/reads.h"
#include "schedule/scatter.h"
#include "segment/aliases.h"
#include "segment/attention_groups.h"
#include "segment/contraction_groups.h"
#include "segment/divide_early.h"
#include "segment/groups.h"
#include "segment/helpers.h"
#include "segment/join_launches.h"
#include "segment/part_reductions.h"

namespace plait {

namespace {

std::string names(const std::vector<TensorView*>& tensors) {
  std::string out;
  for (const TensorView* t : tensors) out += (out.empty() ? "%" : ", %") + t->name;
  return out;
}

// Gives every group the scalars and constants that its ops read: the first group has the ops themselves, later ones
// copies.
class Duplicator {
 public:
  Duplicator(Fusion& fusion, const Grouping& grouping, const SegmentOptions& options)
      : fusion_(fusion), grouping_(grouping), options_(options) {}

  std::vector<Op*> ops_of(const std::vector<int>& group) {
    own_.clear();
    placed_.clear();
    for (int i : group) {
      Op* op = grouping_.ops[static_cast<size_t>(i)];
      rewire(*op);
      placed_.emplace_back(i, op);
    }
    std::stable_sort(placed_.begin(), placed_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Op*> out;
    for (const auto& [i, op] : placed_) out.push_back(op);
    return out;
  }

 private:
  void rewire(Op& op) {
    for (TensorView* in : inputs(op)) {
      const auto copy = copies_.find(in);
      const int from = copy != copies_.end() ? copy->second : grouping_.maker(in);
      if (from < 0 || !grouping_.free[static_cast<size_t>(from)]) continue;
      Op* own = own_op(from);
      if (own->out() != in) replace_input(op, in, own->out());
    }
  }

  Op* own_op(int index) {
    if (const auto it = own_.find(index); it != own_.end()) return it->second;
    Op* original = grouping_.ops[static_cast<size_t>(index)];
    const bool first = used_.insert(index).second;
    Op* op = first ? original : duplicate(fusion_, *original);
    if (!first) {
      copies_[op->out()] = index;
      note(options_,
           fmt::format("%{} is computed again as %{}: it costs nothing", original->out()->name, op->out()->name));
    }
    own_[index] = op;
    rewire(*op);
    placed_.emplace_back(index, op);
    return op;
  }

  Fusion& fusion_;
  const Grouping& grouping_;
  const SegmentOptions& options_;
  std::map<int, Op*> own_;
  std::set<int> used_;
  std::map<const TensorView*, int> copies_;  // results of copies, which an original may have come to read -> the op
  std::vector<std::pair<int, Op*>> placed_;
};

class Pins {
 public:
  explicit Pins(const SegmentOptions& options) : options_(options) {}

  // The schedule pinned for a segment, or an open one. UserError where its outputs pin two.
  Schedule find(const Segment& segment) {
    Schedule found;
    std::string owner;
    for (const TensorView* t : segment.outputs) {
      const auto it = options_.pins.find(t->name);
      if (it == options_.pins.end()) continue;
      used_.insert(t->name);
      if (!is_open(found) && found != it->second)
        throw UserError(fmt::format("%{} pins `{}` and %{} pins `{}`, and both are of one segment", owner, print(found),
                                    t->name, print(it->second)),
                        fmt::format("segment @{}", segment.name), "pin one schedule");
      found = it->second;
      owner = t->name;
    }
    return found;
  }

  // Tensors that are no longer computed, unread or equal to others, pin nothing.
  void finish(const Fusion& fusion) const {
    std::set<std::string_view> computed;
    for (const Op* op : fusion.ops())
      for (const TensorView* t : op->results) computed.insert(t->name);
    for (const auto& [tensor, schedule] : options_.pins)
      if (!used_.contains(tensor) && (computed.contains(tensor) || !fusion.find(tensor)))
        throw UserError(
            fmt::format("schedule `{}` is pinned to %{}, which is no output of a segment", print(schedule), tensor),
            fmt::format("fusion @{}", fusion.name()),
            "it is computed inside of another segment: pin that segment's output");
  }

 private:
  const SegmentOptions& options_;
  std::set<std::string> used_;
};

// Schedules of steps that no kernel computes, or an open one.
Schedule fixed_schedule(const Op& op) {
  switch (property(op.kind)) {
    case OpProperty::communication:
      return schedules::Collective();
    case OpProperty::local_move:
      return schedules::Copy();
    default:
      return {};
  }
}

// "%k[b, 64, t] strides [64*t, 1, 64]"
std::string view_text(const ContractionViews::Operand& view) {
  const auto list = [](const std::vector<sym::Expr>& exprs) {
    std::string out;
    for (sym::Expr e : exprs) out += (out.empty() ? "" : ", ") + sym::print(e);
    return out;
  };
  const std::string offset = view.offset.constant() == 0 ? "" : " at " + sym::print(view.offset);
  return fmt::format("%{}[{}] strides [{}]{}", view.root->name, list(view.extents), list(view.strides), offset);
}

void note_views(const Segment& segment, const SegmentOptions& options, const Aliases& aliases) {
  std::string why;
  const auto views = contraction_views(*segment.ops[0], aliases.views, &why);
  if (!views || options.explain == nullptr) return;
  const std::vector<TensorView*> operands = inputs(*segment.ops[0]);
  for (const bool first : {true, false}) {
    const ContractionViews::Operand& view = first ? views->a : views->b;
    if (!view.whole)
      note(options,
           fmt::format("@{}: %{} is a view, {}", segment.name, operands[first ? 0 : 1]->name, view_text(view)));
  }
}

// What was measured as the best, where it fits.
std::optional<Schedule> measured_schedule_of(const Problem& problem, const SegmentOptions& options) {
  if (!options.measured) return std::nullopt;
  const auto [schedule, how] = options.measured(problem.segment);
  if (is_open(schedule)) return std::nullopt;
  try {
    const Schedule chosen = choose_schedule(problem, options.target, schedule);
    note(options, fmt::format("@{}: {} was measured: {}", problem.segment.name, print(chosen), how));
    return chosen;
  } catch (const UserError& error) {
    note(options,
         fmt::format("@{}: not {}, which was measured: {}", problem.segment.name, print(schedule), error.message()));
    return std::nullopt;
  }
}

// Whether the library computes a contraction. UserError where it is insisted on and refuses.
bool takes_library(const Problem& problem, const SegmentOptions& options, const Aliases& aliases, const Schedule& pin) {
  const Op& op = *problem.segment.ops.front();
  const Aliases::Contraction& choice = aliases.contractions.at(&op);
  if (choice.by_library) {
    note_views(problem.segment, options, aliases);
    return true;
  }
  if (!is_open(pin) || options.contractions == "library")
    throw UserError(fmt::format("the library does not compute {}: {}", describe(op), choice.why), problem.where(),
                    "leave the choice open, or pin nest()");
  note(options, fmt::format("@{}: nest, not library: {}", problem.segment.name, choice.why));
  return false;
}

Schedule choose(const Problem& problem, const SegmentOptions& options, const Aliases& aliases, const Schedule& pin) {
  const Op& op = *problem.segment.ops.front();
  const auto may_be = [&](const Schedule& schedule) { return is_open(pin) || pin == schedule; };
  const bool alone = problem.segment.ops.size() == 1;
  if (alone && aliases.is_alias(op) && may_be(schedules::Alias())) return schedules::Alias();
  if (const Schedule fixed = fixed_schedule(op); !is_open(fixed)) {
    if (!is_open(pin) && pin != fixed)
      throw UserError(fmt::format("schedule `{}` does not fit {}", print(pin), describe(op)), problem.where(),
                      fmt::format("its schedule is {}", print(fixed)));
    return fixed;
  }
  if (!is_generated(pin)) {
    if (property(op.kind) == OpProperty::contraction && may_be(schedules::Library()) &&
        takes_library(problem, options, aliases, pin))
      return schedules::Library();
    if (!is_open(pin))
      throw UserError(fmt::format("schedule `{}` does not fit {}", print(pin), describe(op)), problem.where(),
                      "pin pointwise(...), nest(...), norm(...) or scatter(...)");
  }
  const Schedule nest = schedules::Nest();
  if (options.nests.contains(op.results[0]->name) && !find_scheduler(name(nest))->accept(problem))
    return choose_schedule(problem, options.target, nest);
  if (is_open(pin))
    if (const std::optional<Schedule> measured = measured_schedule_of(problem, options)) return *measured;
  const Schedule chosen = choose_schedule(problem, options.target, pin);
  if (!is_open(pin) || chosen.index() == nest.index() || find_scheduler(name(nest))->accept(problem)) return chosen;
  if (decided(options, fmt::format("{} for @{}", name(chosen), problem.segment.name))) return chosen;
  return choose_schedule(problem, options.target, nest);
}

// Of a segment that reduces a single row of what rows of another one in its launch give: threads of a block of those,
// where one block reduces the row; nothing for others.
std::optional<int64_t> threads_in_front(const std::vector<const Segment*>& launch, const Segment& single) {
  const auto& own = std::get<schedules::Norm>(single.schedule);
  std::optional<int64_t> out;
  if (own.split.value_or(0) > 0) return out;
  for (const Segment* s : launch) {
    const auto* norm = std::get_if<schedules::Norm>(&s->schedule);
    if (s == &single || norm == nullptr || !norm->rows || !norm->threads || norm->split.value_or(0) > 0) continue;
    const auto gives = [&](const TensorView* t) { return std::ranges::count(s->outputs, t) > 0; };
    if (std::ranges::any_of(single.inputs, gives)) out = std::max(out, std::optional(*norm->rows * *norm->threads));
  }
  return out;
}

// Of the segments of one launch, those that reduce a single row each take as many threads for it as one of them takes,
// and those that walk all elements alike blocks of as many: what runs at once on a GPU is one launch where blocks are
// alike. One behind rows takes as many as a block of these has, whose last one runs it (kir/last_blocks.h).
void level_threads(Fusion& fusion, const SegmentOptions& options, Pins& pins) {
  for (const std::vector<const Segment*>& launch : launches(fusion)) {
    if (launch.size() == 1) continue;
    std::vector<std::optional<int64_t>> rows;
    for (const Segment* s : launch) rows.push_back(threads_of_single_row({fusion, *s, options.guards}));
    const std::optional<int64_t> most = *std::max_element(rows.begin(), rows.end());  // nothing is least
    for (size_t i = 0; most && i < launch.size(); ++i) {
      Segment& s = fusion.segments[static_cast<size_t>(launch[i] - fusion.segments.data())];
      const auto* walk = std::get_if<schedules::Pointwise>(&s.schedule);
      Schedule other;
      const std::optional<int64_t> in_front = rows[i] ? threads_in_front(launch, s) : std::nullopt;
      if (rows[i] && rows[i] != in_front.value_or(*most)) other = schedules::Norm{.threads = in_front.value_or(*most)};
      if (walk != nullptr && walk->split == 0 && walk->threads && *walk->threads < *most)
        other = schedules::Pointwise{.threads = most};
      if (is_open(other) || !is_open(pins.find(s))) continue;
      s.schedule = choose_schedule({fusion, s, options.guards}, options.target, other);
      apply_schedule(fusion, s);
    }
  }
}

// Scatters whose schedule is pinned to another one are no kernel with others.
std::function<std::optional<std::string>(std::span<Op* const>, std::span<TensorView* const>)> refuse_scatters(
    const SegmentOptions& options) {
  return [&options](std::span<Op* const> ops, std::span<TensorView* const> outputs) -> std::optional<std::string> {
    for (const Op* op : ops) {
      const auto pin = options.pins.find(op->results[0]->name);
      if (pin != options.pins.end() && !std::holds_alternative<schedules::Scatter>(pin->second))
        return fmt::format("%{} is pinned to {}", op->results[0]->name, print(pin->second));
    }
    ScatterPlan plan;
    auto refused = plan_scatters(ops, outputs, plan);
    if (!refused && options.target.cuda()) refused = scatter_refuses_of_gpus(plan);
    return reason_of(refused);
  };
}

// Changes of ops that let rows share kernels; the ops that merge first of all.
std::vector<std::vector<Op*>> rewrite_for_rows(Fusion& fusion, const SegmentOptions& options) {
  const auto written = written_names(options);
  PartOptions how;
  how.stays = [&](const TensorView& t) { return written.contains(t.name); };
  how.decide = options.decide;
  how.explain = options.explain;
  return part_reductions(fusion, how);
}

void share_launches(Fusion& fusion, const SegmentOptions& options, const Aliases& aliases) {
  if (options.target.kind == TargetKind::reference) return;
  std::set<std::string_view> alone(options.nests.begin(), options.nests.end());
  for (const auto& names : options.fixed) alone.insert(names.begin(), names.end());
  JoinOptions how;
  how.is_alias = [&](const Segment& s) { return s.ops.size() == 1 && aliases.is_alias(*s.ops[0]); };
  how.may_share = [&](const Segment& s) {
    const OpProperty kind = property(s.ops[0]->kind);
    if (kind == OpProperty::communication || kind == OpProperty::local_move || kind == OpProperty::contraction)
      return false;
    const auto named = [&](const Op* op) {
      return std::any_of(op->results.begin(), op->results.end(),
                         [&](const TensorView* t) { return alone.contains(t->name); });
    };
    return !how.is_alias(s) && std::none_of(s.ops.begin(), s.ops.end(), named);
  };
  // Its copies read what nothing of the launch writes.
  how.refuses = [&](const Segment& s) {
    const auto is = [](const Op* op) { return property(op->kind) == OpProperty::contraction; };
    return options.target.cuda() && std::ranges::any_of(s.ops, is) ? "a contraction of a GPU" : "";
  };
  how.together = options.joined;
  how.limits = options.limits;
  how.decide = options.decide;
  how.explain = options.explain;
  join_launches(fusion, how);
}

// Whether a scatter keeps a schedule of its own: a file says so, or its result may be written in place of what it
// updates, where only the updates are written.
bool updates_memory(const Op& op, const Fusion& fusion, const SegmentOptions& options) {
  const TensorView *in = inputs(op)[0], *result = op.results[0];
  const bool in_memory = in->definition == nullptr || !may_be_read(*in->definition);
  return options.pins.contains(result->name) || (in_memory && fusion.is_output(result));
}

void segment_ops(Fusion& fusion, const SegmentOptions& options) {
  GroupOptions how;
  if (norm_runs_on(options.target)) {
    how.first = rewrite_for_rows(fusion, options);
    how.refuse_scatters = refuse_scatters(options);
  }
  const Aliases aliases = find_aliases(fusion, options);
  if (options.target.kind == TargetKind::cpu)
    how.refuse_rows = [&](std::span<Op* const> ops, std::span<TensorView* const> outputs) {
      return reason_of(norm_refuses(fusion, ops, outputs,
                                    [&](sym::Expr e) { return decide_sizes(options, e, "a row on the stack"); }));
    };
  if (options.target.kind != TargetKind::reference)
    how.refuse_moved = [](std::span<Op* const> ops, std::span<TensorView* const> outputs) {
      return reason_of(moved_refuses(ops, outputs));
    };
  if (options.target.threads_cooperate())
    how.refuse_rows = [&](std::span<Op* const> ops, std::span<TensorView* const> outputs) {
      const auto decide = [&](sym::Expr e) { return decide_sizes(options, e, "sums of columns beside rows"); };
      const auto refused = norm_refuses_of_gpus(fusion, ops, outputs, decide);
      return reason_of(refused ? refused : norm_refuses(fusion, ops, outputs, decide));
    };
  how.stays_apart = [&](const Op& op) {
    return op.kind == OpKind::Scatter ? updates_memory(op, fusion, options) : aliases.view_ops.contains(&op);
  };
  how.costs_nothing = [&](const Op& op) { return aliases.is_alias(op); };
  if (options.limits.statements > 0) how.most_statements = options.limits.statements;
  how.fixed = options.fixed;
  for (const std::string& name : options.nests) how.fixed.push_back({name});
  how.decide = options.decide;
  how.explain = options.explain;
  Grouping grouping = group_ops(fusion, how);
  cut_groups(fusion, grouping, options.limits, options.together, options.explain);
  Duplicator duplicator(fusion, grouping, options);
  std::vector<Op*> order;
  fusion.segments.clear();
  for (const std::vector<int>& group : grouping.groups) {
    Segment s;
    s.name = fmt::format("s{}", fusion.segments.size() + 1);
    s.ops = duplicator.ops_of(group);
    order.insert(order.end(), s.ops.begin(), s.ops.end());
    fusion.segments.push_back(std::move(s));
  }
  fusion.set_order(std::move(order));
  for (Segment& s : fusion.segments) list_tensors(s, fusion);
  share_launches(fusion, options, aliases);
  Pins pins(options);
  for (Segment& s : fusion.segments) {
    s.schedule = choose({fusion, s, options.guards, options.unordered_sums}, options, aliases, pins.find(s));
    apply_schedule(fusion, s);
  }
  if (options.target.cuda()) level_threads(fusion, options, pins);
  for (const Segment& s : fusion.segments)
    note(options, fmt::format("@{}: {} ops, ({}) -> ({}), {}", s.name, s.ops.size(), names(s.inputs), names(s.outputs),
                              print(s.schedule)));
  pins.finish(fusion);
}

// Positions that several ops read are a tensor for each of them: read along two dims, one would make these the same.
void part_places(Fusion& fusion, const SegmentOptions& options) {
  const std::set<std::string, std::less<>> stated = stated_names(options);
  std::vector<Op*> order;
  for (Op* op : std::vector<Op*>(fusion.ops().begin(), fusion.ops().end())) {
    order.push_back(op);
    if (op->kind != OpKind::Iota || stated.contains(op->out()->name)) continue;
    bool own = fusion.is_output(op->out());  // whether the tensor has its reader
    const std::vector<Op*> readers(fusion.readers(op->out()).begin(), fusion.readers(op->out()).end());
    for (Op* reader : readers) {
      const auto& in = inputs(*reader);
      const bool reads = std::find(in.begin(), in.end(), op->out()) != in.end();  // still
      if (!reads || stated.contains(reader->results[0]->name) || !std::exchange(own, true)) continue;
      order.push_back(duplicate(fusion, *op));
      replace_input(*reader, op->out(), order.back()->out());
    }
  }
  fusion.set_order(std::move(order));
}

}  // namespace

void segment(Fusion& fusion, const SegmentOptions& options) {
  for (const Op* op : fusion.ops())
    if (property(op->kind) == OpProperty::composite || op->kind == OpKind::Reshard)
      throw UserError(fmt::format("segmentation cannot place {}", describe(*op)),
                      fmt::format("%{}", op->results[0]->name), "passes expand and localize come before");
  SegmentOptions own = options;
  part_places(fusion, options);
  const std::set<const Op*> attention = find_attention(fusion, own);
  if (options.fixed.empty() && norm_runs_on(options.target) &&
      decided(options, "divide the terms of softmax in front of products"))
    divide_early(fusion, [&](const Op& op) { return attention.contains(&op); });
  find_contractions(fusion, own, attention);
  segment_ops(fusion, own);
}

}  // namespace plait
