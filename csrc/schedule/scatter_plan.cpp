#include "schedule/scatter_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "ir/factors.h"
#include "schedule/reads.h"

namespace plait {

namespace {

// Which coordinate each dim of a tensor has: a number below, or none of one element.
using Labels = std::vector<int>;
constexpr int kNone = -1, kRow = 0;  // behind kRow: inner dims from the last one on
constexpr int kBatch = 1000;         // and from here on dims in front of them

bool is_unit(const TensorView& t, size_t d) { return t.extent(d).constant() == 1; }

// A dim that no loop need walk: one place, and every update has it.
bool is_idle(const Scatter& op, size_t d) { return is_unit(*op.results[0], d) && is_unit(*op.index, d); }

bool same_extent(sym::Expr a, sym::Expr b) { return a == b || sym::proven(sym::eq(a, b)); }

bool is_lookup(const Op& op) { return op.kind == OpKind::Gather || op.kind == OpKind::IndexSelect; }

bool is_fusible(const Op& op) { return is_elementwise(op) || keeps_places(op); }

// Whether elements of the result are the same where those of its operands are.
bool follows_operands(const Op& op) { return is_fusible(op) && property(op.kind) != OpProperty::creation; }

// Labels of an operand's dims where the op's result has these.
Labels operand_labels(const Op& op, size_t operand, const Labels& own) {
  const TensorView& in = *inputs(op)[operand];
  Labels out(in.rank(), kNone);
  for (const Factor& f : factors(op)) {
    const int from = f.operand_dim[operand], to = f.result_dim[0];
    if (from >= 0 && to >= 0 && !is_unit(in, size_t(from))) out[size_t(from)] = own[size_t(to)];
  }
  return out;
}

Labels part_labels(const ScatterPart& part) {
  const TensorView& t = *part.op->results[0];
  Labels out(t.rank(), kNone);
  for (size_t d = 0; d < t.rank(); ++d) {
    const bool row = d == size_t(part.op->dim);
    if (row || !is_unit(t, d))
      out[d] = row ? kRow : d >= part.inner ? static_cast<int>(t.rank() - d) : kBatch + static_cast<int>(d);
  }
  return out;
}

class Planner {
 public:
  Planner(std::span<Op* const> ops, std::span<TensorView* const> outputs, ScatterPlan& plan)
      : ops_(ops), outputs_(outputs), plan_(plan) {}

  std::optional<Refused> run() {
    if (const auto refused = find_parts()) return refused;
    for (const ScatterPart& part : plan_.parts)
      if (const auto refused = check_operands(part)) return refused;
    if (const auto refused = check_several()) return refused;
    plan_.has_rows = std::all_of(plan_.parts.begin(), plan_.parts.end(), [](const ScatterPart& p) {
      for (size_t d = 0; d < p.inner; ++d)
        if (d != size_t(p.op->dim) && !is_idle(*p.op, d)) return false;
      return !p.per_element;
    });
    for (const TensorView* t : outputs_)
      if (const auto refused = add_output(*t)) return refused;
    return std::nullopt;
  }

 private:
  bool computes(const TensorView& t) const { return t.definition != nullptr && own_.contains(t.definition); }

  // The tensor that a chain of the kernel's own broadcasts repeats.
  const TensorView* repeated(const TensorView* t) const {
    while (computes(*t) && (t->definition->kind == OpKind::Broadcast || t->definition->kind == OpKind::Squeeze ||
                            t->definition->kind == OpKind::Unsqueeze))
      t = inputs(*t->definition)[0];
    return t;
  }

  std::optional<Refused> find_parts() {
    own_.insert(ops_.begin(), ops_.end());
    for (const Op* op : ops_) {
      if (const auto* scatter = as<Scatter>(*op))
        plan_.parts.push_back({scatter, op->results[0]->rank(), false});
      else if (is_lookup(*op)) {
        if (const auto reason = check_lookup(*op)) return reason;
      } else if (!is_fusible(*op)) {
        return Refused{
            fmt::format("{} is neither a scatter nor elementwise", describe(*op)),
            "leave only scatters of one index, elementwise ops, lookups in front, broadcasts and permutes on "
            "both sides"};
      }
      for (const TensorView* in : inputs(*op))
        if (op->kind == OpKind::Scatter || (in->definition != nullptr && behind_.contains(in->definition)))
          behind_.insert(op);
    }
    if (plan_.parts.empty()) return Refused{"nothing is scattered", "nothing: such a kernel is made around a scatter"};
    for (ScatterPart& part : plan_.parts) find_inner(part);
    const auto wide = std::find_if(plan_.parts.begin(), plan_.parts.end(), [](const auto& p) { return p.has_inner(); });
    plan_.widest = wide == plan_.parts.end() ? 0 : size_t(wide - plan_.parts.begin());
    return std::nullopt;
  }

  // Lookups stand in front of scatters, and look up what is in memory.
  std::optional<Refused> check_lookup(const Op& op) const {
    const std::vector<TensorView*> in = inputs(op);
    const auto waits = [&](const TensorView* t) { return computes(*t) && behind_.contains(t->definition); };
    if (std::any_of(in.begin(), in.end(), waits))
      return Refused{fmt::format("{} is not elementwise", describe(op)),
                     "let no lookup read what is scattered: an update may go to any place of it"};
    if (!computes(*in[0])) return std::nullopt;
    return Refused{fmt::format("{} looks up %{}, which the kernel would compute", describe(op), in[0]->name),
                   "look up what is in memory, and compute behind the lookup"};
  }

  // Dims behind the scattered one that the index does not depend on; where it depends on the last, that one.
  void find_inner(ScatterPart& part) const {
    const TensorView& index = *part.op->index;
    const size_t rank = index.rank(), dim = size_t(part.op->dim);
    Labels own(rank, kNone);
    for (size_t d = 0; d < rank; ++d) own[d] = is_unit(index, d) ? kNone : static_cast<int>(d);
    std::set<int> used;
    std::set<std::pair<const TensorView*, Labels>> seen;
    find_used(index, own, used, seen);
    size_t inner = rank;
    while (inner > dim + 1 && !used.contains(static_cast<int>(inner - 1))) --inner;
    bool any = false, behind = false;
    for (size_t d = dim + 1; d < rank; ++d) {
      behind = behind || !is_idle(*part.op, d);
      any = any || (d >= inner && !is_idle(*part.op, d));
    }
    part.per_element = behind && !any;
    part.inner = part.per_element ? rank - 1 : any ? inner : rank;
  }

  // Labels that the tensor's values depend on.
  void find_used(const TensorView& t, const Labels& labels, std::set<int>& used,
                 std::set<std::pair<const TensorView*, Labels>>& seen) const {
    if (!seen.emplace(&t, labels).second) return;
    const bool made = computes(t) && follows_operands(*t.definition);
    if (!made) {
      used.insert(labels.begin(), labels.end());
      return;
    }
    for (size_t i = 0; i < inputs(*t.definition).size(); ++i)
      find_used(*inputs(*t.definition)[i], operand_labels(*t.definition, i, labels), used, seen);
  }

  std::optional<Refused> check_operands(const ScatterPart& part) const {
    for (const TensorView* in : inputs(*part.op))
      if (computes(*in) && behind_.contains(in->definition))
        return Refused{fmt::format("{} reads %{}, which waits for another scatter", describe(*part.op), in->name),
                       "let it read what is there before the other one"};
    return std::nullopt;
  }

  std::optional<Refused> check_several() const {
    const ScatterPart& first = plan_.parts[plan_.widest];
    const size_t dim = size_t(first.op->dim);
    for (const ScatterPart& part : plan_.parts) {
      if (&part == &first) continue;
      const std::string both = fmt::format("{} and {}", describe(*first.op), describe(*part.op));
      const TensorView* base = repeated(part.op->index);
      size_t longer = 0;
      for (size_t d = 0; d < base->rank(); ++d) longer += !is_unit(*base, d);
      if (base != repeated(first.op->index) || longer > 1 || part.per_element || first.per_element)
        return Refused{both + " have no index in common",
                       "let both scatter by one index of one dim, which broadcasts alone repeat"};
      const size_t own = size_t(part.op->dim);
      if (!same_extent(part.op->in->extent(own), first.op->in->extent(dim)) ||
          !same_extent(part.op->index->extent(own), first.op->index->extent(dim)) || part.op->range != first.op->range)
        return Refused{both + " have other numbers of places or updates",
                       "let both have as many places and as many updates"};
      for (const ScatterPart* p : {&part, &first})
        for (size_t d = 0; d < p->inner; ++d)
          if (d != size_t(p->op->dim) && !is_idle(*p->op, d))
            return Refused{both + " have other dims in front", "scatter along the first dim: permute it to the front"};
      if (part.has_inner() && !same_inner(part, first))
        return Refused{both + " have rows of other lengths",
                       "give both rows of one length, or one of them rows of one element"};
    }
    return std::nullopt;
  }

  static bool same_inner(const ScatterPart& a, const ScatterPart& b) {
    const TensorView &x = *a.op->results[0], &y = *b.op->results[0];
    if (x.rank() - a.inner != y.rank() - b.inner) return false;
    for (size_t d = a.inner; d < x.rank(); ++d)
      if (!same_extent(x.extent(d), y.extent(b.inner + d - a.inner))) return false;
    return true;
  }

  std::optional<Refused> add_output(const TensorView& t) {
    if (!computes(t) || !behind_.contains(t.definition))
      return Refused{fmt::format("%{} is in memory, and made before the scatter", t.name),
                     "do not output it, and let nothing but the scatter read it"};
    for (size_t k = 0; k < plan_.parts.size(); ++k) {
      const ScatterPart& part = plan_.parts[k];
      if (part.op != t.definition && !has_dims(t, part)) continue;
      const std::vector<int> dims = dims_like(t, part);
      const Labels of = part_labels(part);
      Labels labels(t.rank(), kNone);
      for (size_t d = 0; d < t.rank(); ++d)
        if (dims[d] >= 0) labels[d] = of[size_t(dims[d])];
      if (const auto refused = check_reads(t, labels)) return refused;
      plan_.like.push_back(k);
      return std::nullopt;
    }
    return Refused{fmt::format("%{}: {} has other dims than the scatter", t.name, type_text(t)),
                   "give it the dims of what is scattered, or do not output it"};
  }

  static bool has_dims(const TensorView& t, const ScatterPart& part) {
    const TensorView& of = *part.op->results[0];
    std::vector<sym::Expr> a, b;
    for (size_t d = 0; d < t.rank(); ++d)
      if (!is_unit(t, d)) a.push_back(t.extent(d));
    for (size_t d = 0; d < of.rank(); ++d)
      if (!is_unit(of, d)) b.push_back(of.extent(d));
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same_extent);
  }

  // Whether scatters' results are read where this row has them.
  std::optional<Refused> check_reads(const TensorView& t, const Labels& labels) {
    if (!computes(t) || !behind_.contains(t.definition) || !checked_.emplace(&t, labels).second) return std::nullopt;
    if (t.definition->kind == OpKind::Scatter) {
      const auto part = std::find_if(plan_.parts.begin(), plan_.parts.end(),
                                     [&](const ScatterPart& p) { return p.op == t.definition; });
      const Labels own = part_labels(*part);
      for (size_t d = 0; d < own.size(); ++d)
        if (!is_unit(t, d) && own[d] != labels[d])
          return Refused{fmt::format("%{} is read elsewhere than it is scattered", t.name),
                         "read it along the dims that it has: permute or repeat in a step behind"};
      return std::nullopt;
    }
    for (size_t i = 0; i < inputs(*t.definition).size(); ++i)
      if (const auto refused = check_reads(*inputs(*t.definition)[i], operand_labels(*t.definition, i, labels)))
        return refused;
    return std::nullopt;
  }

  const std::span<Op* const> ops_;
  const std::span<TensorView* const> outputs_;
  ScatterPlan& plan_;
  std::set<const Op*> own_, behind_;  // all; scatters and what reads them
  std::set<std::pair<const TensorView*, Labels>> checked_;
};

}  // namespace

std::optional<AtomicOp> atomic_of(ScatterUpdate update) {
  switch (update) {
    case ScatterUpdate::add:
      return AtomicOp::add;
    case ScatterUpdate::max:
      return AtomicOp::max;
    case ScatterUpdate::min:
      return AtomicOp::min;
    case ScatterUpdate::set:
    case ScatterUpdate::mul:
      return std::nullopt;
  }
  __builtin_unreachable();
}

std::vector<int> dims_like(const TensorView& output, const ScatterPart& part) {
  const TensorView& of = *part.op->results[0];
  std::vector<int> out(output.rank(), -1);
  if (&output == &of) {
    for (size_t d = 0; d < out.size(); ++d) out[d] = static_cast<int>(d);
    return out;
  }
  size_t next = 0;
  for (size_t d = 0; d < output.rank(); ++d) {
    if (is_unit(output, d)) continue;
    while (next < of.rank() && is_unit(of, next)) ++next;
    PLAIT_CHECK(next < of.rank(), "%{} has more dims than %{}", output.name, of.name);
    out[d] = static_cast<int>(next++);
  }
  return out;
}

std::optional<Refused> plan_scatters(std::span<Op* const> ops, std::span<TensorView* const> outputs,
                                     ScatterPlan& plan) {
  return Planner(ops, outputs, plan).run();
}

}  // namespace plait
