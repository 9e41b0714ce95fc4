#include "ir/factors.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/error.h"
#include "ir/reshape_runs.h"

namespace plait {

namespace {

// One factor per result dim; operands join where trailing dims align and are as long.
std::vector<Factor> aligned(const Op& op, const std::vector<TensorView*>& in) {
  std::vector<Factor> out;
  int rank = static_cast<int>(op.results[0]->rank());
  for (int d = 0; d < rank; ++d) {
    Factor f;
    f.extent = op.results[0]->extent(d);
    f.result_dim = {d};
    for (const TensorView* t : in) {
      int at = d - (rank - static_cast<int>(t->rank()));
      f.operand_dim.push_back(at >= 0 && t->extent(at) == f.extent ? at : -1);
    }
    out.push_back(std::move(f));
  }
  return out;
}

// The operand after the tensor operands, if any, is a 0-dim seed: it has no dims.
std::vector<Factor> unary(const Op& op) { return aligned(op, inputs(op)); }

std::vector<Factor> product(const Op& op, const TensorView* a, const TensorView* b, bool linear) {
  int ra = static_cast<int>(a->rank()), rb = static_cast<int>(b->rank()), rank = static_cast<int>(op.out()->rank());
  bool bias = inputs(op).size() > 2;
  std::vector<Factor> out;
  auto add = [&](int result, int in_a, int in_b, int in_bias, sym::Expr extent) {
    Factor f;
    f.extent = extent;
    f.result_dim = {result};
    f.operand_dim = {in_a, in_b};
    if (bias) f.operand_dim.push_back(in_bias);
    f.kind = result < 0 ? FactorKind::reduce : FactorKind::pass;
    out.push_back(std::move(f));
  };
  int leading = linear ? rank - 1 : rank - 2;
  for (int d = 0; d < leading; ++d) {
    int at_a = linear ? d : d - (rank - ra), at_b = linear ? -1 : d - (rank - rb);
    sym::Expr e = op.out()->extent(d);
    if (at_a >= 0 && a->extent(at_a) != e) at_a = -1;
    if (at_b >= 0 && b->extent(at_b) != e) at_b = -1;
    add(d, at_a, at_b, -1, e);
  }
  if (!linear) add(rank - 2, ra - 2, -1, -1, op.out()->extent(rank - 2));
  add(rank - 1, -1, linear ? 0 : rb - 1, 0, op.out()->extent(rank - 1));
  add(-1, ra - 1, linear ? 1 : rb - 2, -1, a->extent(ra - 1));
  return out;
}

std::vector<Factor> whole(const Op& op) {
  auto out = unary(op);
  for (auto& f : out) f.kind = FactorKind::whole;
  return out;
}

// A dim that only the results (operand < 0), in one place, or only one operand has.
Factor alone(const Op& op, int operand, int dim, FactorKind kind) {
  Factor f;
  f.kind = kind;
  f.operand_dim.assign(inputs(op).size(), -1);
  f.result_dim.assign(op.results.size(), operand < 0 ? dim : -1);
  if (operand < 0) {
    f.extent = op.results[0]->extent(size_t(dim));
  } else {
    f.operand_dim[size_t(operand)] = dim;
    f.extent = inputs(op)[size_t(operand)]->extent(size_t(dim));
  }
  return f;
}

// Result dim d is dim from[d] of the one operand; -1: it is no dim of it. Longer than the operand: repeated.
std::vector<Factor> mapped(const Op& op, const std::vector<int>& from) {
  const TensorView* in = inputs(op)[0];
  std::vector<Factor> out;
  for (size_t d = 0; d < from.size(); ++d) {
    Factor f = alone(op, -1, int(d), FactorKind::pass);
    if (from[d] >= 0 && in->extent(size_t(from[d])) == f.extent) f.operand_dim[0] = from[d];
    out.push_back(std::move(f));
  }
  return out;
}

// Dims stay in place; in those where moves[d] is, elements change places.
std::vector<Factor> moved(const Op& op, const std::vector<bool>& moves, FactorKind kind = FactorKind::permute) {
  std::vector<Factor> out;
  const size_t operands = inputs(op).size();
  for (size_t d = 0; d < moves.size(); ++d) {
    Factor f = alone(op, -1, int(d), moves[d] ? kind : FactorKind::pass);
    if (!moves[d]) f.operand_dim.assign(operands, int(d));
    out.push_back(std::move(f));
  }
  for (size_t d = 0; d < moves.size(); ++d)
    for (size_t i = 0; i < operands && moves[d]; ++i) out.push_back(alone(op, int(i), int(d), kind));
  return out;
}

std::vector<bool> marked(size_t rank, const std::vector<int64_t>& dims) {
  std::vector<bool> out(rank, false);
  for (int64_t d : dims) out[size_t(d)] = true;
  return out;
}

std::vector<Factor> squeezed(const Squeeze& op) {
  std::vector<int> from;
  const auto gone = marked(op.in->rank(), op.dims);
  for (size_t d = 0; d < gone.size(); ++d)
    if (!gone[d]) from.push_back(int(d));
  return mapped(op, from);
}

std::vector<Factor> unsqueezed(const Unsqueeze& op) {
  std::vector<int> from;
  const auto fresh = marked(op.out()->rank(), op.dims);
  for (int next = 0; bool f : fresh) from.push_back(f ? -1 : next++);
  std::vector<Factor> out = mapped(op, from);
  for (Factor& f : out)
    if (fresh[size_t(f.result_dim[0])]) f.kind = FactorKind::whole;
  return out;
}

std::vector<Factor> broadcast(const Broadcast& op) {
  std::vector<int> from(op.out()->rank(), -1);
  for (size_t d = 0; d < op.dims.size(); ++d) from[size_t(op.dims[d])] = int(d);
  return mapped(op, from);
}

std::vector<Factor> reduced(const Op& op, const TensorView* in, const std::vector<int64_t>& dims, bool keepdim,
                            FactorKind kind, ReduceOp reduce) {
  const auto gone = marked(in->rank(), dims);
  std::vector<Factor> out, sums;
  int at = 0;
  for (size_t d = 0; d < gone.size(); ++d) {
    if (gone[d]) {
      sums.push_back(alone(op, 0, int(d), kind));
      sums.back().reduce = reduce;
      if (keepdim) out.push_back(alone(op, -1, at++, FactorKind::whole));
      continue;
    }
    out.push_back(alone(op, -1, at++, FactorKind::pass));
    out.back().operand_dim[0] = int(d);
  }
  out.insert(out.end(), sums.begin(), sums.end());
  return out;
}

// Of what no reduction over ranks makes one: parts have means, or positions, of their own.
template <class T>
std::vector<Factor> reduced_from_parts(const T& op) {
  return reduced(op, op.in, op.dims, op.keepdim, FactorKind::merge, ReduceOp::sum);
}

std::vector<Factor> reduced(const Reduce& op) {
  if (finds_index(op.function)) return reduced_from_parts(op);
  ReduceOp reduce = ReduceOp::sum;
  if (op.function == Reduction::prod) reduce = ReduceOp::prod;
  if (op.function == Reduction::amax) reduce = ReduceOp::max;
  if (op.function == Reduction::amin) reduce = ReduceOp::min;
  const bool ordered = op.in->dtype == DType::boolean && op.out()->dtype == DType::boolean;  // ranks reduce numbers
  return reduced(op, op.in, op.dims, op.keepdim, ordered ? FactorKind::merge : FactorKind::reduce, reduce);
}

// Narrow floats of 8 bits are rounded when whole.
std::vector<Factor> reduced(const LogSumExp& op) {
  const FactorKind kind = is_f8(op.out()->dtype) ? FactorKind::whole : FactorKind::reduce;
  return reduced(op, op.in, op.dims, op.keepdim, kind, ReduceOp::logsumexp);
}

// A piece begins with the totals of those before it.
std::vector<Factor> scanned(const Op& op, int64_t dim) {
  std::vector<Factor> out = moved(op, std::vector<bool>(inputs(op)[0]->rank(), false));
  out[size_t(dim)].kind = FactorKind::merge;
  return out;
}

// The first of each piece have among them the first of all.
std::vector<Factor> sorted(const Sort& op) {
  std::vector<Factor> out = moved(op, marked(op.in->rank(), {op.dim}), FactorKind::whole);
  for (Factor& f : out)
    if (!op.count.empty() && f.kind == FactorKind::whole && f.operand_dim[0] >= 0) f.kind = FactorKind::merge;
  return out;
}

// Along dim the operand is looked up: a piece of it gives what it has, and 0 for the rest. Other dims pass where index
// and operand are as long. Booleans have no sum.
Factor looked_up(const Op& op, int64_t dim) {
  const bool sums = may_be_pending(ReduceOp::sum, op.out()->dtype);
  return alone(op, 0, int(dim), sums ? FactorKind::reduce : FactorKind::whole);
}

std::vector<Factor> gathered(const Gather& op) {
  std::vector<Factor> out, rest;
  for (size_t d = 0; d < op.in->rank(); ++d) {
    Factor f = alone(op, -1, int(d), FactorKind::pass);
    f.operand_dim[1] = int(d);
    if (int64_t(d) != op.dim && op.in->extent(d) == op.index->extent(d)) {
      f.operand_dim[0] = int(d);
    } else {
      if (int64_t(d) != op.dim) f.kind = FactorKind::whole;
      rest.push_back(int64_t(d) == op.dim ? looked_up(op, op.dim) : alone(op, 0, int(d), FactorKind::whole));
    }
    out.push_back(std::move(f));
  }
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

std::vector<Factor> selected(const IndexSelect& op) {
  std::vector<Factor> out;
  const int dim = int(op.dim), more = int(op.index->rank());
  for (int d = 0; d < int(op.out()->rank()); ++d) {
    Factor f = alone(op, -1, d, FactorKind::pass);
    if (d < dim)
      f.operand_dim[0] = d;
    else if (d < dim + more)
      f.operand_dim[1] = d - dim;
    else
      f.operand_dim[0] = d - more + 1;
    out.push_back(std::move(f));
  }
  out.push_back(looked_up(op, op.dim));
  return out;
}

// Updates along dim: ranks that have some each make of them what is pending. Of those that only the last one stays of,
// and of booleans, there is no reduction.
Factor updated(const Scatter& op) {
  const auto reduce = pending_update(op);
  Factor f = alone(op, 1, int(op.dim), reduce ? FactorKind::reduce : FactorKind::whole);
  f.operand_dim[2] = int(op.dim);
  f.reduce = reduce.value_or(ReduceOp::sum);
  return f;
}

// Along dim a piece of the operand takes the updates of its own places.
std::vector<Factor> scattered(const Scatter& op) {
  std::vector<Factor> out, rest;
  for (size_t d = 0; d < op.in->rank(); ++d) {
    const bool along = int64_t(d) == op.dim, same = !along && op.in->extent(d) == op.index->extent(d);
    Factor f = alone(op, -1, int(d), same || along ? FactorKind::pass : FactorKind::whole);
    f.operand_dim[0] = int(d);
    if (along) rest.push_back(updated(op));
    for (int i : {1, 2}) {
      if (same)
        f.operand_dim[size_t(i)] = int(d);
      else if (!along)
        rest.push_back(alone(op, i, int(d), FactorKind::whole));
    }
    out.push_back(std::move(f));
  }
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

std::vector<bool> padded(const Pad& op) {
  std::vector<bool> out;
  for (size_t d = 0; d < op.low.size(); ++d) out.push_back(op.low[d].constant() != 0 || op.high[d].constant() != 0);
  return out;
}

std::vector<Factor> repeated(const Repeat& op) {
  const size_t shift = op.repeats.size() - op.in->rank();
  std::vector<Factor> out, rest;
  for (size_t d = 0; d < op.repeats.size(); ++d) {
    const bool has = d >= shift, same = has && op.repeats[d] == 1;
    Factor f = alone(op, -1, int(d), same ? FactorKind::pass : FactorKind::permute);
    if (same) f.operand_dim[0] = int(d - shift);
    if (has && !same) rest.push_back(alone(op, 0, int(d - shift), FactorKind::permute));
    out.push_back(std::move(f));
  }
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

// Dims that belong to one result each.
std::vector<Factor> each_result_whole(const Op& op) {
  std::vector<Factor> out;
  for (size_t r = 0; r < op.results.size(); ++r)
    for (size_t d = 0; d < op.results[r]->rank(); ++d) {
      Factor f;
      f.kind = FactorKind::whole;
      f.extent = op.results[r]->extent(d);
      f.operand_dim.assign(inputs(op).size(), -1);
      f.result_dim.assign(op.results.size(), -1);
      f.result_dim[r] = int(d);
      out.push_back(std::move(f));
    }
  return out;
}

std::vector<int> as_ints(const std::vector<int64_t>& dims) { return {dims.begin(), dims.end()}; }

}  // namespace

// Composites are opened before anybody asks, so they say only that nothing may be cut. Any other op has a line of its
// own, or this does not compile.
std::vector<Factor> factors(const Op& op) {
  return visit(op, overloaded{
                       [&](const PointwiseOp& o) { return aligned(o, o.in); },
                       [&](const Full& o) { return aligned(o, {}); },
                       [&](const Iota& o) { return aligned(o, {}); },
                       [&](const Size& o) { return aligned(o, {}); },
                       [&](const Uniform& o) { return unary(o); },
                       [&](const Normal& o) { return unary(o); },
                       [&](const Linear& o) { return product(o, o.x, o.w, true); },
                       [&](const Matmul& o) { return product(o, o.a, o.b, false); },
                       [&](const Reduce& o) { return reduced(o); },
                       [&](const Var& o) { return reduced_from_parts(o); },
                       [&](const VarMean& o) { return reduced_from_parts(o); },
                       [&](const MaxWithArgmax& o) { return reduced_from_parts(o); },
                       [&](const MinWithArgmin& o) { return reduced_from_parts(o); },
                       [&]<class T>(const T& o)
                         requires(is_scan(T::kKind))
                                 { return scanned(o, o.dim); },
                                 [&](const Sort& o) { return sorted(o); },
                                 [&](const Permute& o) { return mapped(o, as_ints(o.dims)); },
                                 [&](const Broadcast& o) { return broadcast(o); },
                                 [&](const Squeeze& o) { return squeezed(o); },
                                 [&](const Unsqueeze& o) { return unsqueezed(o); },
                                 [&](const Reshape& o) { return reshape_factors(o); },
                                 [&](const Slice& o) { return moved(o, marked(o.in->rank(), {o.dim})); },
                                 [&](const Pad& o) { return moved(o, padded(o)); },
                                 [&](const Cat& o) { return moved(o, marked(o.in[0]->rank(), {o.dim})); },
                                 [&](const Flip& o) { return moved(o, marked(o.in->rank(), o.dims)); },
                                 [&](const Roll& o) { return moved(o, marked(o.in->rank(), o.dims)); },
                                 [&](const Repeat& o) { return repeated(o); },
                                 [&](const Bitcast& o) { return unary(o); },
                                 [&](const Gather& o) { return gathered(o); },
                                 [&](const IndexSelect& o) { return selected(o); },
                                 [&](const Scatter& o) { return scattered(o); },
                                 [&](const Reshard& o) { return unary(o); },
                                 [&](const AllReduce& o) { return whole(o); },
                                 [&](const AllGather& o) { return whole(o); },
                                 [&](const ReduceScatter& o) { return whole(o); },
                                 [&](const AllToAll& o) { return whole(o); },
                                 [&](const GatherRange& o) { return whole(o); },
                                 [&](const GatherBlock& o) { return whole(o); },
                                 [&](const LocalSlice& o) { return whole(o); },
                                 [&](const Dropout& o) { return unary(o); },
                                 [&](const LogSumExp& o) { return reduced(o); },
                                 []<class T>(const T& o)
                                   requires(property(T::kKind) == OpProperty::composite)
                       { return each_result_whole(o); },
                       });
}

std::optional<ReduceOp> pending_update(const Scatter& op) {
  const auto reduce = [&]() -> std::optional<ReduceOp> {
    switch (op.update) {
      case ScatterUpdate::set:
        return std::nullopt;
      case ScatterUpdate::add:
        return ReduceOp::sum;
      case ScatterUpdate::max:
        return ReduceOp::max;
      case ScatterUpdate::min:
        return ReduceOp::min;
      case ScatterUpdate::mul:
        return ReduceOp::prod;
    }
    __builtin_unreachable();
  }();
  return reduce && may_be_pending(*reduce, op.in->dtype) ? reduce : std::nullopt;
}

int indexed_dim(const Op& op) {
  if (const auto* o = as<Gather>(op)) return int(o->dim);
  if (const auto* o = as<IndexSelect>(op)) return int(o->dim);
  if (const auto* o = as<Scatter>(op)) return int(o->dim);
  return -1;
}

bool combines(const Op& op) {
  const OpProperty kind = property(op.kind);
  return kind == OpProperty::contraction || (kind == OpProperty::reduction && !is_scan(op.kind));
}

bool is_summed(const Op& op, const Factor& factor) { return factor.is_reduced() && combines(op); }

std::vector<Axis> reduction_axes(const Op& op) {
  std::vector<Axis> out;
  if (!combines(op)) return out;
  for (const Factor& f : factors(op))
    if (is_summed(op, f)) out.push_back({f.extent, AxisKind::reduction, ParallelType::serial});
  return out;
}

}  // namespace plait
