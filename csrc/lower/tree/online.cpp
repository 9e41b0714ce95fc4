#include "lower/tree/online.h"

#include <algorithm>
#include <limits>

#include "ir/op.h"

namespace plait::lowering {

namespace {

const PointwiseOp* pointwise(const TensorView& t, Pointwise function) {
  const auto* op = t.definition == nullptr ? nullptr : as<PointwiseOp>(*t.definition);
  return op != nullptr && op->function == function ? op : nullptr;
}

const Reduce* reduction(const Op& op, Reduction function) {
  const auto* reduce = as<Reduce>(op);
  return reduce != nullptr && reduce->function == function ? reduce : nullptr;
}

bool is_full(const TensorView& t, double value) {
  const auto* full = t.definition == nullptr ? nullptr : as<Full>(*t.definition);
  return full != nullptr && full->value.to_double() == value;
}

class OnlineFinder {
 public:
  OnlineFinder(const ScheduledGroup& group, bool strict_rounding) : group_(group), strict_(strict_rounding) {}

  std::optional<OnlineSum> find(const Op& op) const {
    const Reduce* sum = reduction(op, Reduction::sum);
    const PointwiseOp* exp = sum != nullptr ? pointwise(*sum->in, Pointwise::exp) : nullptr;
    const PointwiseOp* sub = exp != nullptr ? pointwise(*exp->in[0], Pointwise::sub) : nullptr;
    if (sub == nullptr || !is_between(*exp) || !is_between(*sub)) return std::nullopt;
    OnlineSum out{nullptr, sub, {}};
    out.greatest = from(*sub->in[1], out.between);
    const Reduce* greatest = out.greatest != nullptr ? reduction(*out.greatest, Reduction::amax) : nullptr;
    const bool same = greatest != nullptr && original(greatest->in) == original(sub->in[0]) &&
                      greatest->dims == sum->dims && greatest->in->dtype == sub->out()->dtype &&
                      sub->in[1]->rank() == sub->in[0]->rank();
    const auto has_place = [&](const Op* o) { return !group_.reads.contains(o); };
    const bool placed = same && has_place(exp) && has_place(sub) && has_place(out.greatest) &&
                        std::all_of(out.between.begin(), out.between.end(), has_place);
    return placed ? std::optional(out) : std::nullopt;
  }

 private:
  // The reduction that the tensor is, with each kept dim in its place, or is 0 for, where it is infinite; null where it
  // is something else.
  static const Op* from(const TensorView& t, std::vector<const Op*>& between) {
    const Op* op = t.definition;
    if (op == nullptr || op->kind == OpKind::Reduce) return op;
    const bool moves = keeps_places(*op);
    const PointwiseOp* where = pointwise(t, Pointwise::where);
    if (!moves && (where == nullptr || !is_full(*where->in[1], 0))) return nullptr;
    const TensorView& number = moves ? *inputs(*op)[0] : *where->in[2];
    const Op* out = from(number, between);
    if (where != nullptr && !asks_for_infinity(*where->in[0], number, between)) return nullptr;
    between.push_back(op);
    return out;
  }

  // A broadcast of the dims that are there; reduced dims put back.
  static bool keeps_places(const Op& op) {
    if (op.kind == OpKind::Broadcast) return op.out()->rank() == inputs(op)[0]->rank();
    const auto* unsqueeze = as<Unsqueeze>(op);
    const Op* of = unsqueeze != nullptr ? unsqueeze->in->definition : nullptr;
    const auto* reduce = of != nullptr ? as<Reduce>(*of) : nullptr;
    return reduce != nullptr && !reduce->keepdim && reduce->dims == unsqueeze->dims;
  }

  // isinf(number), number == -inf, abs(number) == inf.
  static bool asks_for_infinity(const TensorView& t, const TensorView& number, std::vector<const Op*>& between) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const PointwiseOp *isinf = pointwise(t, Pointwise::isinf), *eq = pointwise(t, Pointwise::eq);
    if (isinf == nullptr && eq == nullptr) return false;
    const TensorView& asked = isinf != nullptr ? *isinf->in[0] : *eq->in[0];
    const PointwiseOp* abs = eq != nullptr ? pointwise(asked, Pointwise::abs) : nullptr;
    if ((abs != nullptr ? abs->in[0] : &asked) != &number) return false;
    if (eq != nullptr && !is_full(*eq->in[1], abs != nullptr ? kInfinity : -kInfinity)) return false;
    if (abs != nullptr) between.push_back(abs);
    between.push_back(t.definition);
    return true;
  }

  // A value between the operand and the sum: of one reader, and not rounded.
  bool is_between(const Op& op) const {
    const TensorView& t = *op.out();
    const bool rounds = !is_float(t.dtype) || is_always_rounded(t.dtype) || (is_narrow(t.dtype) && strict_);
    return !rounds && group_.graph->readers(&t).size() == 1 && !group_.graph->is_output(&t);
  }

  const TensorView* original(const TensorView* t) const {
    const auto copy = group_.copies.find(t);
    return copy == group_.copies.end() ? t : copy->second;
  }

  const ScheduledGroup& group_;
  const bool strict_;
};

class Online {
 public:
  Online(LoopTree& tree, const OnlineSums& sums) : tree_(tree), sums_(sums) {}

  void run(int cls) {
    for (size_t l = 0; l < tree_.loops.size(); ++l)
      if (tree_.loops[l].cls == cls) part(tree_.loops[l].items);
  }

 private:
  bool computes(const TreeItem& item, const Op* op) const {
    if (item.kind != TreeItem::Kind::loop) return item.kind == TreeItem::Kind::op && item.op == op;
    const auto& items = tree_.loops[static_cast<size_t>(item.loop)].items;
    return std::any_of(items.begin(), items.end(), [&](const TreeItem& i) { return computes(i, op); });
  }

  // The body of a loop over parts: the greatest element of the part stands behind the loops that find it, with what
  // of rows comes of it.
  void part(std::vector<TreeItem>& items) {
    for (const auto& [sum, online] : sums_) {
      const auto holds = [&](const Op* op) {
        return std::find_if(items.begin(), items.end(), [&](const TreeItem& i) { return computes(i, op); });
      };
      const auto found = holds(online.greatest);
      if (found == items.end() || holds(sum) == items.end()) continue;
      std::vector<const Op*>& rest = tree_.online_between[online.greatest];
      const bool there = std::any_of(found, items.end(), [&](const TreeItem& i) {
        return i.kind == TreeItem::Kind::part && i.op == online.greatest;
      });
      for (const Op* op : online.between)
        if (holds(op) == items.end() && std::find(rest.begin(), rest.end(), op) == rest.end()) rest.push_back(op);
      if (!there) items.insert(found + 1, {TreeItem::Kind::part, -1, online.greatest});
      tree_.online[sum] = online.greatest;
    }
  }

  LoopTree& tree_;
  const OnlineSums& sums_;
};

}  // namespace

bool OnlineSum::is_between(const Op* op) const {
  return std::find(between.begin(), between.end(), op) != between.end();
}

OnlineSums find_online_sums(const ScheduledGroup& group, bool strict_rounding) {
  const OnlineFinder finder(group, strict_rounding);
  OnlineSums out;
  for (const Op* op : group.graph->ops())
    if (const auto found = finder.find(*op)) out[op] = *found;
  return out;
}

void go_online(LoopTree& tree, const OnlineSums& sums, int cls) { Online(tree, sums).run(cls); }

}  // namespace plait::lowering
