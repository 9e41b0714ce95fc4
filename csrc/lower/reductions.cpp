// Ops that combine elements: variables in front of the loops of a sum, one step in their middle, the result behind.
// Sums of floats and variances have variables in front of each of these loops. Where lanes run along what is summed,
// every variable has them until the end.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "lower/statements.h"
#include "schedule/nest.h"

namespace plait::lowering {

kir::Value Statements::variable(Constant initial, int lanes) {
  auto stmt = std::make_unique<kir::Variable>();
  stmt->out = fresh(initial.dtype, lanes);
  stmt->initial = initial;
  return put(std::move(stmt), innermost());
}

void Statements::assign(kir::Value variable, kir::Value in) {
  auto stmt = std::make_unique<kir::Assign>();
  stmt->variable = variable;
  stmt->in = in;
  levels_.back().block->push_back(std::move(stmt));
}

kir::Value Statements::apply(Pointwise function, std::vector<kir::Value> in) {
  std::vector<DType> types;
  for (const kir::Value& v : in) types.push_back(v.dtype);
  auto stmt = std::make_unique<kir::Compute>();
  stmt->out = fresh(result_type(function, types), in.front().lanes);
  stmt->function = function;
  stmt->in = std::move(in);
  return put(std::move(stmt), innermost());
}

kir::Value Statements::coordinate(sym::Expr index, int lanes) {
  auto stmt = std::make_unique<kir::Coordinate>();
  stmt->out = fresh(DType::i64, lanes);
  stmt->index = placed(index, {});
  return put(std::move(stmt), innermost());
}

DType ordered_type(DType dtype) { return dtype == DType::boolean ? DType::i64 : compute_type(dtype); }

Constant end_of_order(DType dtype, bool least) {
  const DType type = ordered_type(dtype);
  if (is_float(dtype)) return Constant::from_double(type, least ? -INFINITY : INFINITY);
  if (dtype == DType::boolean) return Constant::from_int64(type, least ? 0 : 1);
  const bool sign = !is_unsigned(dtype);
  const size_t bits = 8 * size_of(dtype) - (sign ? 1 : 0);
  const uint64_t most = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return Constant::from_int64(type, static_cast<int64_t>(least ? (sign ? ~most : 0) : most));
}

namespace {

bool is_least(Combine combine) { return combine == Combine::least || combine == Combine::first_least; }

}  // namespace

// Row-major place among what is summed over.
sym::Expr Statements::position(const Op& op, const Replacements& copy) const {
  sym::Expr at = state_.pool->constant(0), stride = state_.pool->constant(1);
  const std::vector<int>& axes = state_.group.axes.at(op.results[0]).reduction;
  for (size_t i = axes.size(); i-- > 0;) {
    at = at + state_.walk->value(axes[i]) * stride;
    stride = stride * state_.group.graph.extent(axes[i]);
  }
  return copy.empty() ? at : sym::substitute(at, copy);
}

// The state of nothing, where elements of `in` are added as `type`.
Statements::Part Statements::start(Combine combine, DType in, DType type) {
  const int lanes = state_.width();
  const auto number = [&](DType dtype, int64_t value) { return variable(Constant::from_int64(dtype, value), lanes); };
  switch (combine) {
    case Combine::sum:
      return {number(type, 0)};
    case Combine::product:
      return {number(type, 1)};
    case Combine::greatest:
    case Combine::least:
      return {variable(end_of_order(in, !is_least(combine)), lanes)};
    case Combine::first_greatest:
    case Combine::first_least: {
      const kir::Value best = variable(end_of_order(in, !is_least(combine)), lanes);
      return {best, number(DType::i64, 0)};
    }
    case Combine::variance: {
      const kir::Value mean = number(type, 0), squares = number(type, 0);
      return {mean, squares, number(type, 0)};
    }
    case Combine::any:
    case Combine::all:
    case Combine::log_sum_exp:
      PLAIT_CHECK(false, "no op combines by {}", name(combine));
  }
  __builtin_unreachable();
}

// One element into every state. A product's is that of both operands.
void Statements::step(const Op& op, const Replacements& copy, const Carried& carried) {
  const std::vector<Combine> combines = kind_of(op).combines;
  for (size_t i = 0; i < combines.size(); ++i) {
    const Combine combine = combines[i];
    const Part& part = carried[i];
    if (has_position(combine)) {
      step_first(op, copy, is_least(combine), part);
      continue;
    }
    const auto [id, type, lanes] = part[0];
    kir::Value x = convert(operand(op, 0, copy, lanes), type);
    if (property(op.kind) == OpProperty::contraction)
      x = apply(Pointwise::mul, {x, convert(operand(op, 1, copy, lanes), type)});
    switch (combine) {
      case Combine::sum:
        carry(part[0], apply(Pointwise::add, {part[0], x}));
        break;
      case Combine::product:
        carry(part[0], apply(Pointwise::mul, {part[0], x}));
        break;
      case Combine::greatest:
      case Combine::least:
        carry(part[0], apply(is_least(combine) ? Pointwise::min : Pointwise::max, {part[0], x}));
        break;
      case Combine::variance:
        step_variance(part, x);
        break;
      case Combine::first_greatest:
      case Combine::first_least:
      case Combine::any:
      case Combine::all:
      case Combine::log_sum_exp:
        break;
    }
  }
}

// A NaN is taken once; what equals the extremum comes too late. An index is discontinuous where two elements become
// equal, so narrow ones are compared as their type holds them.
void Statements::step_first(const Op& op, const Replacements& copy, bool least, const Part& part) {
  const kir::Value best = part[0];
  const int lanes = best.lanes;
  const DType in = inputs(op).front()->dtype;
  const kir::Value x = convert(operand(op, 0, copy, lanes, is_narrow(in)), best.dtype);
  kir::Value better = apply(least ? Pointwise::lt : Pointwise::gt, {x, best});
  if (is_float(in)) {
    const kir::Value no = literal(Constant::from_bool(false), lanes);
    const kir::Value yes = literal(Constant::from_bool(true), lanes);
    const kir::Value first_nan =
        apply(Pointwise::where, {apply(Pointwise::ne, {x, x}), apply(Pointwise::eq, {best, best}), no});
    better = apply(Pointwise::where, {better, yes, first_nan});
  }
  carry(best, apply(Pointwise::where, {better, x, best}));
  const kir::Value at = coordinate(position(op, copy), lanes);
  carry(part[1], apply(Pointwise::where, {better, at, part[1]}));
}

// Welford: the mean so far, the sum of squares of distances from it, and the number of elements.
void Statements::step_variance(const Part& part, kir::Value x) {
  const kir::Value mean = part[0], squares = part[1], count = part[2];
  const kir::Value before = apply(Pointwise::sub, {x, mean});
  carry(count, apply(Pointwise::add, {count, literal(Constant::from_double(mean.dtype, 1), mean.lanes)}));
  const kir::Value next = apply(Pointwise::add, {mean, apply(Pointwise::div, {before, count})});
  const kir::Value after = apply(Pointwise::sub, {x, next});
  carry(mean, next);
  carry(squares, apply(Pointwise::add, {squares, apply(Pointwise::mul, {before, after})}));
}

// What an element changes, but in lanes that are not there.
void Statements::carry(kir::Value variable, kir::Value in) {
  assign(variable, there_ ? apply(Pointwise::where, {*there_, in, variable}) : in);
}

// What a loop has combined goes into what the loop around it combines.
void Statements::merge(Combine combine, const Part& into, const Part& part) {
  const auto by = [&](Pointwise function) { assign(into[0], apply(function, {into[0], part[0]})); };
  switch (combine) {
    case Combine::sum:
      return merge_sum(into, part);
    case Combine::product:
      return by(Pointwise::mul);
    case Combine::greatest:
      return by(Pointwise::max);
    case Combine::least:
      return by(Pointwise::min);
    case Combine::variance:
      return merge_variance(into, part);
    case Combine::first_greatest:
    case Combine::first_least:
      PLAIT_CHECK(false, "the place of an extremum is found in order, not in lanes");
    case Combine::any:
    case Combine::all:
    case Combine::log_sum_exp:
      PLAIT_CHECK(false, "no op combines by {}", name(combine));
  }
  __builtin_unreachable();
}

void Statements::merge_sum(const Part& into, const Part& part) {
  if (into.size() == 1) return assign(into[0], apply(Pointwise::add, {into[0], convert(part[0], into[0].dtype)}));
  if (part.size() > 1) assign(into[1], apply(Pointwise::add, {into[1], part[1]}));
  add_exactly(into, part[0]);
}

void Statements::merge_variance(const Part& into, const Part& part) {
  const auto of_part = [&](size_t i) { return convert(part[i], into[i].dtype); };
  const auto add = [&](size_t i, kir::Value x) { assign(into[i], apply(Pointwise::add, {into[i], x})); };
  const kir::Value mean = into[0], count = into[2], added = of_part(2);
  const kir::Value between = apply(Pointwise::sub, {of_part(0), mean});
  const kir::Value together = apply(Pointwise::add, {count, added});
  const kir::Value one = literal(Constant::from_double(mean.dtype, 1), mean.lanes);
  const kir::Value share = apply(Pointwise::div, {added, apply(Pointwise::max, {together, one})});  // 0 of nothing
  const kir::Value step = apply(Pointwise::mul, {between, share});
  const kir::Value squares = apply(Pointwise::mul, {between, apply(Pointwise::mul, {step, count})});
  add(1, apply(Pointwise::add, {of_part(1), squares}));
  add(0, step);
  assign(count, together);
}

// What the lanes of a sum have combined, as one.
Statements::Part Statements::fold(Combine combine, Part part) {
  const auto half = [&](kir::Value in, bool upper) {
    auto stmt = std::make_unique<kir::Half>();
    stmt->in = in;
    stmt->upper = upper;
    stmt->out = fresh(in.dtype, in.lanes / 2);
    return put(std::move(stmt), innermost());
  };
  while (part[0].lanes > state_.lanes) {
    Part lower, upper;
    for (const kir::Value& v : part) {
      lower.push_back(variable(Constant::from_int64(v.dtype, 0), v.lanes / 2));
      assign(lower.back(), half(v, false));
      upper.push_back(half(v, true));
    }
    merge(combine, lower, upper);
    part = lower;
  }
  return part;
}

// The number of elements that are combined into one, less some, but at least 0.
kir::Value Statements::terms(const Op& op, int64_t less, DType type) {
  sym::Expr count = state_.pool->constant(1);
  for (int a : state_.group.axes.at(op.results[0]).reduction) count = count * state_.group.graph.extent(a);
  return convert(coordinate(sym::max(count - less, 0), state_.lanes), type);
}

// A value for each result, from what its state has come to.
std::vector<kir::Value> Statements::finish(const Op& op, const Replacements& copy, const Carried& carried) {
  const auto variance = [&](const Part& part, int64_t correction) {
    return apply(Pointwise::div, {part[1], terms(op, correction, part[1].dtype)});
  };
  const auto biased = [&](const TensorView* bias) {
    const kir::Value sum = carried[0][0];
    return bias ? apply(Pointwise::add, {sum, convert(operand(op, 2, copy, state_.lanes), sum.dtype)}) : sum;
  };
  using Values = std::vector<kir::Value>;
  return visit(op, overloaded{
                       [&](const Linear& o) { return Values{biased(o.b)}; },
                       [&](const Matmul&) { return Values{biased(nullptr)}; },
                       [&](const Reduce&) { return Values{carried[0].back()}; },
                       [&](const Var& o) { return Values{variance(carried[0], o.correction)}; },
                       [&](const VarMean& o) {
                         const DType type = accumulation_type(o.in->dtype);
                         const kir::Value sum = convert(carried[0][0], type);
                         const kir::Value mean = apply(Pointwise::div, {sum, terms(op, 0, type)});
                         return Values{mean, variance(carried[1], o.correction)};
                       },
                       [&](const MaxWithArgmax&) { return carried[0]; },
                       [&](const MinWithArgmin&) { return carried[0]; },
                       [](const Op& o) -> Values { PLAIT_CHECK(false, "{} combines nothing", describe(o)); },
                   });
}

// Whether a GPU keeps what the additions of the i-th loop of a sum leave out: of parts of f32. A variance has no such
// additions.
bool Statements::compensates(const Op& op, size_t i) const {
  const auto sums =
      std::count_if(state_.loops.begin(), state_.loops.end(), [](const Loop& l) { return l.role == LoopRole::sum; });
  return state_.kernel.target == TargetKind::cuda && static_cast<std::ptrdiff_t>(i) + 1 < sums && has_parts(op) &&
         accumulation_type(inputs(op).front()->dtype) == DType::f32;
}

// What the i-th loop of a sum carries. A CPU adds parts in f64, which costs one addition per part.
std::vector<Statements::Carried> Statements::start_copies(const Op& op, size_t i) {
  const auto sums =
      std::count_if(state_.loops.begin(), state_.loops.end(), [](const Loop& l) { return l.role == LoopRole::sum; });
  const bool wide =
      state_.kernel.target == TargetKind::cpu && static_cast<std::ptrdiff_t>(i) + 1 < sums && has_parts(op);
  const DType in = inputs(op).front()->dtype, type = wide ? DType::f64 : accumulation_type(in);
  std::vector<Carried> out(leaf_->copies.size());
  for (Carried& carried : out)
    for (Combine combine : kind_of(op).combines) {
      carried.push_back(start(combine, in, type));
      if (combine == Combine::sum && compensates(op, i)) carried.back().push_back(start(combine, in, DType::f32)[0]);
    }
  return out;
}

// One element of every copy, or as many as a vector of summed ones has.
void Statements::step_copies(const Op& op, const Leaf& leaf, const std::vector<Carried>& carried) {
  const Leaf* outer = std::exchange(leaf_, &leaf);
  if (state_.sum_lanes > 1 && leaf.active)
    there_ =
        apply(Pointwise::lt, {coordinate(state_.lane, state_.sum_lanes), coordinate(leaf.active, state_.sum_lanes)});
  for (size_t c = 0; c < carried.size(); ++c) step(op, leaf.copies[c], carried[c]);
  there_.reset();
  leaf_ = outer;
}

// The i-th loop of a sum and those inside of it. Parts are combined by themselves, so that an element meets few
// additions.
void Statements::sum_loops(const Op& op, size_t i, const std::vector<Term>& terms,
                           const std::vector<Carried>& carried) {
  std::vector<const Loop*> sums;
  for (const Loop& l : state_.loops)
    if (l.role == LoopRole::sum) sums.push_back(&l);
  const auto steps = [&](const Leaf& leaf) { step_copies(op, leaf, carried); };
  if (i == sums.size()) return in_range(terms, *leaf_, steps);
  std::vector<Term> here, later;
  for (const Term& t : terms) {
    const bool deeper = std::any_of(sums.begin() + static_cast<std::ptrdiff_t>(i) + 1, sums.end(),
                                    [&](const Loop* l) { return depends_on(t.value, l->var); });
    (deeper || depends_on(t.value, state_.lane) ? later : here).push_back(t);
  }
  const bool last = i + 1 == sums.size();
  if (last && here.empty() && later.size() == 1 && whole_vectors_first(*sums[i], later[0], *leaf_, steps)) return;
  bounded_loop(*sums[i], here, leaf_->replace, [&] {
    if (last || !has_parts(op)) return sum_loops(op, i + 1, later, carried);
    const std::vector<Carried> parts = start_copies(op, i + 1);
    sum_loops(op, i + 1, later, parts);
    const std::vector<Combine> combines = kind_of(op).combines;
    for (size_t c = 0; c < carried.size(); ++c)
      for (size_t s = 0; s < combines.size(); ++s) merge(combines[s], carried[c][s], parts[c][s]);
  });
}

// One set of variables per copy. What follows reads the finished results.
void Statements::reduction(const Op& op) {
  const std::vector<Combine> combines = kind_of(op).combines;
  const std::vector<Carried> carried = start_copies(op, 0);
  sum_loops(op, 0, leaf_->sum_terms, carried);
  for (size_t c = 0; c < carried.size(); ++c) {
    Carried whole;
    for (size_t i = 0; i < combines.size(); ++i) {
      whole.push_back(fold(combines[i], carried[c][i]));
      if (combines[i] == Combine::sum && whole[i].size() > 1)
        whole[i] = {apply(Pointwise::add, {whole[i][0], whole[i][1]})};
    }
    const std::vector<kir::Value> results = finish(op, leaf_->copies[c], whole);
    for (size_t r = 0; r < results.size(); ++r) {
      const TensorView& tensor = *op.results[r];
      kir::Value result = convert(results[r], compute_type(tensor.dtype));
      if (is_narrow(tensor.dtype) && state_.options.strict_rounding) result = round(result, tensor.dtype);
      const Key key = key_of(tensor, own_coordinates(tensor, leaf_->copies[c]), state_.lanes, false);
      known_.emplace(key, Known{result, innermost()});
    }
  }
}

// sum[0] + sum[1] becomes it plus x, up to the rounding of sum[1]: Knuth's two-sum. Beyond the numbers, sum[0] alone.
void Statements::add_exactly(const Part& sum, kir::Value x) {
  const kir::Value after = apply(Pointwise::add, {sum[0], x});
  const kir::Value added = apply(Pointwise::sub, {after, sum[0]});
  const kir::Value left = apply(Pointwise::sub, {sum[0], apply(Pointwise::sub, {after, added})});
  const kir::Value lost = apply(Pointwise::add, {left, apply(Pointwise::sub, {x, added})});
  const kir::Value zero = literal(Constant::from_int64(x.dtype, 0), x.lanes);
  const kir::Value number = apply(Pointwise::eq, {lost, lost});
  assign(sum[1], apply(Pointwise::add, {sum[1], apply(Pointwise::where, {number, lost, zero})}));
  assign(sum[0], after);
}

}  // namespace plait::lowering
