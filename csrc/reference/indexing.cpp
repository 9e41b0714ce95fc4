// Ops that read where an integer tensor says, and what reading and writing share.
#include <algorithm>
#include <limits>

#include "reference/elements.h"
#include "reference/indices.h"
#include "scalar/index_status.h"

namespace plait::reference {
namespace {

// What an index outside gives.
double missing(DType dtype) { return is_float(dtype) ? std::numeric_limits<double>::quiet_NaN() : 0; }

// What ranks add where another one has the place.
double of_others(DType dtype) { return is_float(dtype) ? -0.0 : 0; }

// Numbers of positions that one index may stand for, beyond which what it reads is unknown.
constexpr double kMostCandidates = 64;

// Calls fn with every position that an index may be. False, with nothing called, where these are too many.
template <class Fn>
bool each_candidate(const Array& index, int64_t k, Fn&& fn) {
  const double radius = index.radius_at(k);
  if (!(2 * radius + 1 <= kMostCandidates)) return false;
  const auto around = [&](int64_t at) {
    for (int64_t p = at - static_cast<int64_t>(radius); p <= at + static_cast<int64_t>(radius); ++p) fn(p);
  };
  const int64_t first = index.integer_at(k);
  around(first);
  if (index.has_alternative(k)) around(static_cast<int64_t>(*index.alternative[k]));
  return true;
}

// out[i] = in[base + (index[k] - first) * stride], where the operand has the place, of `extent`; 0 where another piece
// of it has.
struct Reader {
  const Array &in, &index;
  int64_t extent, stride;
  const Offences& offences;

  void read(int64_t base, int64_t k, Array& out, int64_t i) const {
    if (!offences.is_place(index.integer_at(k))) {
      offences.add(k);
      out.value[i] = missing(out.dtype);
    } else if (const int64_t at = index.integer_at(k) - offences.first(); at >= 0 && at < extent) {
      copy_element(in, base + at * stride, out, i);
    } else {
      out.value[i] = of_others(out.dtype);
    }
    if (index.radius_at(k) != 0 || index.has_alternative(k))
      read_candidates(base, k, out, i);
    else if (index.excused_at(k))
      set_float(out, i, {out.value[i], out.radius_at(i)}, true);
  }

  // What stands at every position that the index may be, the index itself first.
  void read_candidates(int64_t base, int64_t k, Array& out, int64_t i) const {
    std::vector<Point> points{{out.value[i], out.radius_at(i)}};
    const bool few = each_candidate(index, k, [&](int64_t p) {
      const int64_t at = p - offences.first(), from = base + at * stride;
      if (!offences.is_place(p)) return points.push_back({missing(out.dtype), 0});
      if (at < 0 || at >= extent) return points.push_back({of_others(out.dtype), 0});
      points.push_back({in.value[from], in.radius_at(from)});
      if (in.has_alternative(from)) points.push_back({*in.alternative[from], in.radius_at(from)});
    });
    if (few)
      set_possible(out, i, join(out.dtype, points), true);
    else
      set_unknown(out, i);
  }
};

}  // namespace

Offences::Offences(const Op& op, const Array& index, int64_t places, const Context& context)
    : lookup_(checked_lookup(op)), index_(index), places_(places) {
  if (const std::vector<sym::Expr>* range = held_range(op)) {
    first_ = sym::evaluate((*range)[0], context.sizes);
    places_ = sym::evaluate((*range)[1], context.sizes);
  }
  words_ = context.status;
  if (!lookup_ || words_ == nullptr) return;
  global_ = context.shape(lookup_->global.empty() ? lookup_->index->shape() : lookup_->global);
  for (sym::Expr e : lookup_->start) start_.push_back(sym::evaluate(e, context.sizes));
  start_.resize(global_.size(), 0);
}

void Offences::add(int64_t k) const {
  if (!lookup_ || words_ == nullptr) return;
  int64_t position = 0, stride = 1;
  for (size_t d = global_.size(), left = static_cast<size_t>(k); d-- > 0;) {
    const auto extent = static_cast<size_t>(index_.shape[d]);
    position += (static_cast<int64_t>(left % extent) + start_[d]) * stride;
    left /= extent;
    stride *= global_[d];
  }
  add_offence(std::span<uint64_t, kStatusWords>(words_, kStatusWords),
              {lookup_->ordinal, position, index_.integer_at(k)});
}

std::optional<double> alternative_of(const Array& in, int64_t i) {
  return in.has_alternative(i) ? in.alternative[i] : std::nullopt;
}

void copy_element(const Array& in, int64_t from, Array& out, int64_t to) {
  out.value[to] = in.value[from];
  if (!in.integers.empty()) out.integers[to] = in.integers[from];
  if (in.radius_at(from) != 0 || in.excused_at(from))
    set_possible(out, to, {{out.value[to], in.radius_at(from)}, alternative_of(in, from)}, in.excused_at(from));
}

std::vector<int64_t> without(std::vector<int64_t> strides, int64_t dim) {
  strides[dim] = 0;
  return strides;
}

Array evaluate_gather(const Gather& op, const Operands& operands, const Context& context) {
  const Array &in = operands.at(op.in), &index = operands.at(op.index);
  Array out = make_array(op.out()->dtype, context.shape(op.out()->shape()));
  const auto strides = row_major_strides(in.shape);
  const Offences offences(op, index, in.shape[op.dim], context);
  const Reader reader{in, index, in.shape[op.dim], strides[op.dim], offences};
  walk(strided(out.shape, without(strides, op.dim)),
       [&](int64_t i, int64_t base, int64_t) { reader.read(base, i, out, i); });
  return out;
}

Array evaluate_index_select(const IndexSelect& op, const Operands& operands, const Context& context) {
  const Array &in = operands.at(op.in), &index = operands.at(op.index);
  Array out = make_array(op.out()->dtype, context.shape(op.out()->shape()));
  const auto strides = row_major_strides(in.shape), index_strides = row_major_strides(index.shape);
  const size_t dim = static_cast<size_t>(op.dim), more = index.shape.size();
  std::vector<int64_t> base, along;  // per dim of the result
  for (size_t d = 0; d < out.shape.size(); ++d) {
    const bool is_index = d >= dim && d < dim + more;
    base.push_back(is_index ? 0 : strides[d < dim ? d : d - more + 1]);
    along.push_back(is_index ? index_strides[d - dim] : 0);
  }
  const Offences offences(op, index, in.shape[dim], context);
  const Reader reader{in, index, in.shape[dim], strides[dim], offences};
  walk(strided(out.shape, base, along), [&](int64_t i, int64_t from, int64_t k) { reader.read(from, k, out, i); });
  return out;
}

}  // namespace plait::reference
