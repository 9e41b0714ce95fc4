// Ops that read or write where an integer tensor says.
#include <algorithm>
#include <limits>

#include "reference/elements.h"
#include "reference/evaluator.h"
#include "reference/sums.h"
#include "scalar/index_status.h"

namespace plait::reference {
namespace {

// What an index outside gives.
double missing(DType dtype) { return is_float(dtype) ? std::numeric_limits<double>::quiet_NaN() : 0; }

std::optional<double> alternative_of(const Array& in, int64_t i) {
  return in.has_alternative(i) ? in.alternative[i] : std::nullopt;
}

void copy_element(const Array& in, int64_t from, Array& out, int64_t to) {
  out.value[to] = in.value[from];
  if (!in.integers.empty()) out.integers[to] = in.integers[from];
  if (in.radius_at(from) != 0 || in.excused_at(from))
    set_possible(out, to, {{out.value[to], in.radius_at(from)}, alternative_of(in, from)}, in.excused_at(from));
}

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

// What a run hears of indices outside of their extent.
class Offences {
 public:
  Offences(const Op& op, const Array& index, const Context& context) : lookup_(checked_lookup(op)), index_(index) {
    words_ = context.status;
    if (!lookup_ || words_ == nullptr) return;
    global_ = context.shape(lookup_->global.empty() ? lookup_->index->shape() : lookup_->global);
    for (sym::Expr e : lookup_->start) start_.push_back(sym::evaluate(e, context.sizes));
    start_.resize(global_.size(), 0);
  }

  // Element k of the index lies outside.
  void add(int64_t k) const {
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

 private:
  std::optional<CheckedLookup> lookup_;
  const Array& index_;
  uint64_t* words_ = nullptr;
  std::vector<int64_t> global_, start_;
};

// out[i] = in[base + index[k] * stride], where the index lies in [0, extent).
struct Reader {
  const Array &in, &index;
  int64_t extent, stride;
  const Offences& offences;

  void read(int64_t base, int64_t k, Array& out, int64_t i) const {
    const int64_t at = index.integer_at(k);
    if (at >= 0 && at < extent) {
      copy_element(in, base + at * stride, out, i);
    } else {
      offences.add(k);
      out.value[i] = missing(out.dtype);
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
      const int64_t from = base + p * stride;
      if (p < 0 || p >= extent) return points.push_back({missing(out.dtype), 0});
      points.push_back({in.value[from], in.radius_at(from)});
      if (in.has_alternative(from)) points.push_back({*in.alternative[from], in.radius_at(from)});
    });
    if (few)
      set_possible(out, i, join(out.dtype, points), true);
    else
      set_unknown(out, i);
  }
};

std::vector<int64_t> without(std::vector<int64_t> strides, int64_t dim) {
  strides[dim] = 0;
  return strides;
}

// An index that may lie elsewhere moves what it adds there: every place of the line along dim that it may mean is
// opened.
void open_line(std::vector<double>& open, const Array& index, int64_t k, int64_t base, int64_t extent, int64_t stride,
               double size) {
  const double at = index.value[k], radius = index.radius_at(k);
  const double other = index.has_alternative(k) ? *index.alternative[k] : at;
  for (int64_t p = 0; p < extent; ++p) {
    const auto place = static_cast<double>(p);
    if (std::abs(place - at) <= radius || std::abs(place - other) <= radius) open[base + p * stride] += size;
  }
}

bool is_open(const Array& index, int64_t k) { return index.radius_at(k) != 0 || index.has_alternative(k); }

Array scatter_floats(const Array& in, const Array& index, const Array& src, int64_t dim, bool whole,
                     const Offences& offences, const Context& context) {
  Array out = make_array(in.dtype, in.shape);
  std::vector<Sum> sums(out.value.size(), {.exact = whole});
  std::vector<double> open(index.radius.empty() && index.alternative.empty() ? 0 : out.value.size(), 0.0);
  const auto add = [](Sum& sum, const Array& from, int64_t i) {
    sum.add(from.value[i], from.radius_at(i));
    if (from.excused_at(i)) sum.marks |= kExcusedTerm;
  };
  for (int64_t i = 0; i < in.elements(); ++i) add(sums[i], in, i);
  const int64_t extent = in.shape[dim], stride = row_major_strides(in.shape)[dim];
  walk(strided(index.shape, without(row_major_strides(in.shape), dim)), [&](int64_t k, int64_t base, int64_t) {
    const int64_t at = index.integer_at(k);
    if (at >= 0 && at < extent)
      add(sums[base + at * stride], src, k);
    else
      offences.add(k);
    if (is_open(index, k))
      open_line(open, index, k, base, extent, stride,
                src.value[k] == src.value[k] ? std::abs(src.value[k]) + src.radius_at(k) : HUGE_VAL);
  });
  for (int64_t i = 0; i < out.elements(); ++i) {
    if (!open.empty()) sums[i].size += open[i];
    Total result = total(sums[i], accumulation_type(in.dtype), context.options.ranks);
    bool excused = sums[i].marks & kExcusedTerm;
    if (!open.empty() && open[i] > 0) {
      result.own += whole ? open[i] : open[i] * (1 + 1e-6);
      if (!std::isfinite(result.value)) result.own = HUGE_VAL;
      excused = true;
    }
    if (!context.options.radius) result.own = 0;
    set_float(out, i, settle(out.dtype, result), excused);
    if (context.options.spread) out.spread.push_back(sums[i].size);
  }
  return out;
}

Array scatter_integers(const Array& in, const Array& index, const Array& src, int64_t dim, const Offences& offences) {
  Array out = make_array(in.dtype, in.shape);
  std::vector<uint64_t> sums;
  std::vector<double> open(out.value.size(), 0.0);
  for (int64_t i = 0; i < in.elements(); ++i) {
    sums.push_back(static_cast<uint64_t>(in.integer_at(i)));
    open[i] = in.radius_at(i);
  }
  const int64_t extent = in.shape[dim], stride = row_major_strides(in.shape)[dim];
  walk(strided(index.shape, without(row_major_strides(in.shape), dim)), [&](int64_t k, int64_t base, int64_t) {
    const int64_t at = index.integer_at(k);
    if (at >= 0 && at < extent) {
      sums[base + at * stride] += static_cast<uint64_t>(src.integer_at(k));
      open[base + at * stride] += src.radius_at(k);
    } else {
      offences.add(k);
    }
    if (is_open(index, k)) open_line(open, index, k, base, extent, stride, std::abs(src.value[k]) + src.radius_at(k));
  });
  for (int64_t i = 0; i < out.elements(); ++i) set_integer(out, i, static_cast<int64_t>(sums[i]), open[i]);
  return out;
}

}  // namespace

Array evaluate_gather(const Gather& op, const Operands& operands, const Context& context) {
  const Array &in = operands.at(op.in), &index = operands.at(op.index);
  Array out = make_array(op.out()->dtype, context.shape(op.out()->shape()));
  const auto strides = row_major_strides(in.shape);
  const Offences offences(op, index, context);
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
  const Offences offences(op, index, context);
  const Reader reader{in, index, in.shape[dim], strides[dim], offences};
  walk(strided(out.shape, base, along), [&](int64_t i, int64_t from, int64_t k) { reader.read(from, k, out, i); });
  return out;
}

Array evaluate_scatter_add(const ScatterAdd& op, const Operands& operands, const Context& context) {
  const Terms in_terms(operands.at(op.in)), src_terms(operands.at(op.src));
  const Array &in = *in_terms, &index = operands.at(op.index), &src = *src_terms;
  const Offences offences(op, index, context);
  if (!is_float(in.dtype)) return scatter_integers(in, index, src, op.dim, offences);
  const bool whole = context.options.radius && is_whole(operands.at(op.in)) && is_whole(operands.at(op.src));
  return scatter_floats(in, index, src, op.dim, whole, offences, context);
}

}  // namespace plait::reference
