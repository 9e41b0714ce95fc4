#include "shard/insert_reshards.h"

#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "ir/op_fields.h"
#include "shard/assign.h"
#include "shard/normal_form.h"
#include "shard/regroup.h"
#include "shard/reshard_plan.h"
#include "shard/verify_sharding.h"

namespace plait {

namespace {

// Puts `to` at one position of inputs(op); the same tensor elsewhere in the op stays.
void set_input(Fusion& fusion, Op& op, size_t index, TensorView* to) {
  size_t at = 0;
  fusion.edit_operands(op, [&] {
    for_each_field(op, [&](const FieldRef&, auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<T, TensorView*>) {
        if (value && at++ == index) value = to;
      } else if constexpr (std::is_same_v<T, std::vector<TensorView*>>) {
        for (auto& v : value)
          if (at++ == index) v = to;
      }
    });
  });
}

const char* suffix(ReshardKind kind) {
  switch (kind) {
    case ReshardKind::all_reduce:
      return "_reduced";
    case ReshardKind::reduce_scatter:
      return "_scattered";
    case ReshardKind::all_gather:
      return "_gathered";
    case ReshardKind::all_to_all:
      return "_exchanged";
    case ReshardKind::gather_range:
      return "_cut";
    case ReshardKind::gather_block:
      return "_block";
    case ReshardKind::slice:
      return "_shard";
  }
  __builtin_unreachable();
}

class Inserter {
 public:
  Inserter(Fusion& fusion, bool gather_again) : fusion_(fusion), gather_again_(gather_again) {}

  void run() {
    for (TensorView* t : fusion_.inputs()) versions_[t] = {t};
    const std::vector<Op*> ops = fusion_.ops();
    for (const Op* op : ops) note_whole(*op);
    for (const Op* op : ops)
      for (const TensorView* t : op->results)
        if (t->layout_source == LayoutSource::annotated)
          for (const auto& [axis, reduce] : t->layout.partial) pinned_.insert(axis);
    for (Op* op : ops) op->kind == OpKind::Reshard ? visit_reshard(*as<Reshard>(*op)) : visit_op(*op);
    fusion_.set_order(std::move(order_));
    for (TensorView* t : fusion_.inputs()) {
      if (!t->stored) continue;
      t->reason = fmt::format("annotated: stored so, computed {}", text(t->layout));
      t->layout = *t->stored;
      t->layout_source = LayoutSource::annotated;
      t->stored.reset();
    }
  }

 private:
  // Notes the pending operands that the op needs done, on all ranks.
  void note_whole(const Op& op) {
    const auto in = inputs(op);
    if (op.kind == OpKind::Reshard || std::ranges::all_of(in, [](auto* t) { return t->layout.partial.empty(); }))
      return;
    const Assignment a = assign(op);
    for (size_t i = 0; i < in.size(); ++i)
      for (const auto& [axis, reduce] : in[i]->layout.partial)
        if (!a.operands[i].partial.contains(axis) && !a.operands[i].uses(axis)) whole_[in[i]].insert(axis);
  }

  // An op that would pass on what is done for another reader, too, reads that: nothing is reduced twice.
  void read_done(Op& op) {
    const auto in = inputs(op);
    std::set<int> done;
    for (const TensorView* t : in)
      if (const auto found = whole_.find(t); found != whole_.end())
        done.insert(found->second.begin(), found->second.end());
    for (const TensorView* t : in)
      for (const auto& [axis, reduce] : t->layout.partial)
        if (const auto found = whole_.find(t); found == whole_.end() || !found->second.contains(axis)) done.erase(axis);
    for (int axis : pinned_) done.erase(axis);
    if (done.empty()) return;
    const Assignment a = assign(op);
    for (size_t i = 0; i < in.size(); ++i) {
      const auto passes = [&](int axis) { return a.operands[i].partial.contains(axis); };
      if (std::ranges::none_of(done, passes)) continue;
      Layout layout = in[i]->layout;
      std::erase_if(layout.partial, [&](const auto& pending) { return done.contains(pending.first); });
      if (layout == in[i]->layout) continue;
      const std::string who = fmt::format("for {} %{}", text_name(op), op.results[0]->name);
      TensorView* whole = version(in[i], layout, who, {"another reader needs it done"});
      versions_.try_emplace(whole, std::vector<TensorView*>{whole});
      set_input(fusion_, op, i, whole);
    }
  }

  // Where all readers of a permuted or reshaped tensor need it in other pieces, which somebody else needs the operand
  // in as well, the operand moves there once and is permuted behind that.
  void move_before(Op& op) {
    TensorView &in = *inputs(op)[0], &out = *op.out();
    if (out.keeps_layout() || fusion_.is_output(&out)) return;
    const auto needed = needed_by_all(out);
    if (!needed || *needed == out.layout || needed->partial != out.layout.partial) return;
    const Layout before = in_front_of(op, *needed);
    const auto has = [&](const TensorView* v) { return v != &in && held_layout(*v) == before; };
    const auto wants = [&](const Op* reader) { return reader != &op && needs(*reader, in, before); };
    if (before == in.layout || !makes(op, before, *needed) ||
        (std::ranges::none_of(versions_.at(&in), has) && std::ranges::none_of(fusion_.readers(&in), wants)))
      return;
    TensorView* moved =
        version(&in, before, fmt::format("for {} %{}", text_name(op), out.name), {"its readers need it so"});
    versions_.try_emplace(moved, std::vector<TensorView*>{moved});
    set_input(fusion_, op, 0, moved);
    out.layout = *needed;
    out.reason = fmt::format("{} behind %{}, as its readers need it",
                             op.kind == OpKind::Permute ? "permuted" : "reshaped", moved->name);
  }

  // The layout of the operand of a permute or reshape that makes this one of its result, if any does.
  static Layout in_front_of(const Op& op, const Layout& result) {
    Layout out = inputs(op)[0]->layout;
    if (const auto* permute = as<Permute>(op)) {
      for (size_t d = 0; d < permute->dims.size(); ++d)
        out.dims[static_cast<size_t>(permute->dims[d])] = result.dims[d];
      return out;
    }
    for (DimLayout& dim : out.dims) dim.pieces.clear();
    for (const ReshapeRun& run : reshape_runs(*as<Reshape>(op))) {
      if (!regroups(*as<Reshape>(op), run)) {
        out.dims[run.in] = result.dims[run.out];
        continue;
      }
      const RunDims made = regroup(*as<Reshape>(op), run, true, result, {}).made;
      for (size_t d = 0; d < made.pieces.size(); ++d) out.dims[made.first + d].pieces = made.pieces[d];
    }
    return out;
  }

  // Whether the op, of its operand so, makes its result so.
  static bool makes(const Op& op, const Layout& before, const Layout& after) {
    TensorView& in = *inputs(op)[0];
    Layout has = std::exchange(in.layout, before);
    const Assignment a = assign(op, {after});
    in.layout = std::move(has);
    return a.operands[0] == before && a.results[0] == after;
  }

  // The layout that every reader needs; nothing where they differ.
  std::optional<Layout> needed_by_all(const TensorView& t) const {
    std::optional<Layout> out;
    for (const Op* reader : fusion_.readers(&t)) {
      if (reader->kind == OpKind::Reshard) return std::nullopt;
      const Assignment a = assign(*reader);
      const auto in = inputs(*reader);
      for (size_t i = 0; i < in.size(); ++i) {
        if (in[i] != &t) continue;
        if (out && *out != a.operands[i]) return std::nullopt;
        out = a.operands[i];
      }
    }
    return out;
  }

  static bool needs(const Op& reader, const TensorView& t, const Layout& layout) {
    if (reader.kind == OpKind::Reshard) return false;
    const Assignment a = assign(reader);
    const auto in = inputs(reader);
    for (size_t i = 0; i < in.size(); ++i)
      if (in[i] == &t && a.operands[i] == layout) return true;
    return false;
  }

  // What a result is no longer pending over, since an operand was done.
  void settle(const Op& op, const Assignment& a, size_t r) const {
    TensorView& y = *op.results[r];
    const auto gone = [&](const auto& pending) { return !a.results[r].partial.contains(pending.first); };
    if (y.keeps_layout() || std::ranges::none_of(y.layout.partial, gone)) return;
    y.layout = a.results[r];
    y.reason = join(explain_result(op, a, r));
    if (y.reason.empty()) y.reason = "no operand is sharded";
  }

  void visit_op(Op& op) {
    read_done(op);
    if (op.kind == OpKind::Permute || op.kind == OpKind::Reshape) move_before(op);
    const Assignment a = assign(op);
    const auto in = inputs(op);
    std::vector<std::string> unsaid;  // of conflicts whose loser was moved for another reader
    for (size_t i = 0; i < in.size(); ++i) {
      auto clauses = explain_difference(op, a, static_cast<int>(i), in[i]->layout);
      const size_t steps = order_.size();
      TensorView* found =
          version(in[i], a.operands[i], fmt::format("for {} %{}", text_name(op), op.results[0]->name), clauses);
      if (found != in[i]) set_input(fusion_, op, i, found);
      for (std::string& clause : clauses)
        if (order_.size() == steps && clause.starts_with("conflict")) unsaid.push_back(std::move(clause));
    }
    order_.push_back(&op);
    const std::vector<TensorView*> results = op.results;
    for (TensorView* t : results)
      if (t->layout_source != LayoutSource::annotated && !unsaid.empty()) t->reason += "; " + join(unsaid);
    for (size_t r = 0; r < results.size(); ++r) {
      settle(op, a, r);
      if (a.results[r] == results[r]->layout)
        versions_[results[r]] = {results[r]};
      else
        move_result(op, a, r);
    }
  }

  // A version of the tensor in a layout, made where there is none.
  TensorView* version(TensorView* t, const Layout& layout, const std::string& who, std::vector<std::string> why) {
    const bool again = gather_again_ && is_of_parameters(*t);
    if (again) forget_old(*t);
    const ReshardSizes sizes = reshard_sizes(*t);
    std::vector<const Layout*> held;
    for (const TensorView* v : versions_.at(t)) held.push_back(&held_layout(*v));
    const auto nearest = nearest_version(held, layout, [&](const Layout& version) {
      const ReshardPlan plan = plan_reshard(version, layout, sizes);
      return std::pair(plan.cost, plan.steps.size());
    });
    PLAIT_CHECK(nearest, "no version of %{} reaches {}", t->name, print(layout, fusion_.mesh()));
    TensorView* from = versions_.at(t)[nearest->first];
    const ReshardPlan best = plan_reshard(held_layout(*from), layout, sizes);
    if (from->stored && !best.steps.empty())
      why.push_back(fmt::format("%{} is stored {}", t->name, text(*from->stored)));
    if (again &&
        std::ranges::any_of(best.steps, [](const ReshardStep& s) { return s.kind == ReshardKind::all_gather; }))
      ++gathers_;
    if (again) used_at_[t] = gathers_;
    for (const ReshardStep& step : best.steps) {  // the first says why
      from = add_step(from, step, nullptr, t->name, who + (why.empty() ? "" : ": " + join(why)));
      why.clear();
      versions_[t].push_back(from);
    }
    return from;
  }

  // What was gathered of parameters for a reader that lies behind gathers of others is not kept for the next one.
  void forget_old(const TensorView& t) {
    const auto used = used_at_.find(&t);
    if (used == used_at_.end() || gathers_ - used->second <= kMostGathersBetween) return;
    std::vector<TensorView*>& all = versions_.at(&t);
    const auto gathered = [](const TensorView* v) {
      const auto* reshard = v->definition ? as<Reshard>(*v->definition) : nullptr;
      return reshard && reshard->step == ReshardKind::all_gather;
    };
    all.erase(std::find_if(all.begin() + 1, all.end(), gathered), all.end());
  }
  static constexpr size_t kMostGathersBetween = 2;  // of a layer, and of the one that is gathered ahead

  // The tensor after one step: `out`, or a new one named after `base`.
  TensorView* add_step(TensorView* in, const ReshardStep& step, TensorView* out, const std::string& base,
                       const std::string& why) {
    const std::string team = print(step.team, fusion_.mesh());
    if (!out) {
      out = fusion_.add_tensor(base + suffix(step.kind), in->shape(), in->dtype);
      out->dtype_alias = in->dtype_alias;
      out->layout = step.to;
      out->layout_source = LayoutSource::inferred;
      out->reason = fmt::format("{} over {} {}", name(step.kind), team, why);
    } else {
      out->reason += fmt::format("; {} over {} {}", name(step.kind), team, why);
    }
    auto op = std::make_unique<Reshard>();
    op->in = in, op->step = step.kind, op->team = step.team;
    order_.push_back(fusion_.add_op(std::move(op), out));
    return out;
  }

  void move_result(Op& op, const Assignment& a, size_t r) {
    TensorView* y = op.results[r];
    const Layout& given = a.results[r];
    const char* kind = !given.partial.empty() ? "_pending" : given.is_replicated() ? "_whole" : "_pieces";
    TensorView* own = fusion_.add_tensor(y->name + kind, y->shape(), y->dtype);
    own->dtype_alias = y->dtype_alias;
    own->domain = y->domain;
    own->layout = given;
    own->unbiased_of = std::exchange(y->unbiased_of, {});
    own->layout_source = LayoutSource::chosen;  // with the result annotated the op was given so
    auto clauses = explain_result(op, a, r);
    own->reason = clauses.empty() ? "no operand is sharded" : join(clauses);
    y->domain.transforms.clear();
    y->domain.reduction.clear();
    const std::string who = "after " + std::string(text_name(op));
    const std::string why =
        ": " + (y->layout_source == LayoutSource::chosen
                    ? fmt::format("%{} {}", y->name,
                                  fusion_.is_output(y) ? "stays as it is without choices by cost" : "is so by cost")
                    : join(explain_difference(op, a, ~static_cast<int>(r), y->layout)));
    y->definition = nullptr;
    op.results[r] = own;
    own->definition = &op;
    versions_[y] = {own};
    const auto steps = plan_reshard(given, y->layout, reshard_sizes(*y)).steps;
    TensorView* at = own;
    for (size_t i = 0; i < steps.size(); ++i) {
      at = add_step(at, steps[i], i + 1 == steps.size() ? y : nullptr, y->name, i == 0 ? who + why : who);
      versions_[y].push_back(at);
    }
  }

  // A step that the reshard carries is not what leads from its operand to its result.
  [[noreturn]] void refuse_step(const Reshard& op, const std::vector<ReshardStep>& steps) const {
    std::string leads;
    for (const ReshardStep& step : steps)
      leads += fmt::format("{}{} over {}", leads.empty() ? "" : ", then ", name(step.kind),
                           print(step.team, fusion_.mesh()));
    throw UserError(fmt::format("{} over {} does not lead from {} of %{} to {} of %{}", name(*op.step),
                                print(op.team, fusion_.mesh()), text(held_layout(*op.in)), op.in->name,
                                text(op.out()->layout), op.out()->name),
                    describe(op),
                    leads.empty() ? "drop the reshard: nothing moves" : leads + " does: drop step and team");
  }

  // Written by the user: the op itself becomes the last step, if it carries none. Between granules that cut alike
  // there is none.
  void visit_reshard(Reshard& op) {
    if (planned_step(op)) {
      order_.push_back(&op);
      versions_[op.out()] = {op.out()};
      return;
    }
    const auto steps = plan_reshard(held_layout(*op.in), op.out()->layout, reshard_sizes(*op.in)).steps;
    if (steps.empty() && !op.step) op.out()->reason += fmt::format("; %{} is so already: nothing moves", op.in->name);
    if (op.step) refuse_step(op, steps);
    TensorView* in = op.in;
    for (size_t i = 0; i + 1 < steps.size(); ++i)
      in = add_step(in, steps[i], nullptr, op.in->name, fmt::format("for reshard %{}", op.out()->name));
    fusion_.edit_operands(op, [&] { op.in = in; });
    if (!steps.empty()) op.step = steps.back().kind, op.team = steps.back().team;
    order_.push_back(&op);
    versions_[op.out()] = {op.out()};
  }

  std::string text(const Layout& layout) const { return print(layout, fusion_.mesh()); }

  Fusion& fusion_;
  std::vector<Op*> order_;
  std::map<const TensorView*, std::vector<TensorView*>> versions_;
  const bool gather_again_;
  size_t gathers_ = 0;                           // of parameters so far
  std::map<const TensorView*, size_t> used_at_;  // of these, before the last reader of each
  std::set<int> pinned_;  // axes over which a result is annotated pending: what comes to it must not be done before
  std::map<const TensorView*, std::set<int>>
      whole_;  // pending tensors, and the axes over which a reader needs them done
};

}  // namespace

void insert_reshards(Fusion& fusion, bool gather_again) {
  Annotations before = annotations(fusion);
  Inserter(fusion, gather_again).run();
  verify_sharding(fusion, ShardStage::resharded, &before);
}

}  // namespace plait
