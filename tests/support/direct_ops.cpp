#include "support/direct_ops.h"

#include <algorithm>
#include <cmath>

#include "scalar/constant.h"
#include "scalar/convert.h"

namespace plait::test {

namespace {

constexpr double kInfinity = INFINITY;

// Coordinates of a row-major place, and back.
Coordinates unravel(int64_t place, const Coordinates& shape) {
  Coordinates out(shape.size());
  for (size_t d = shape.size(); d-- > 0; place /= shape[d]) out[d] = place % shape[d];
  return out;
}
int64_t ravel(const Coordinates& at, const Coordinates& shape) {
  int64_t out = 0;
  for (size_t d = 0; d < shape.size(); ++d) out = out * shape[d] + at[d];
  return out;
}
int64_t count(const Coordinates& shape) {
  int64_t out = 1;
  for (int64_t n : shape) out *= n;
  return out;
}

// What a reduction combines for one result, in row-major order.
std::vector<double> reduced(const DirectContext& c, const TensorView* in, const std::vector<int64_t>& dims,
                            bool keepdim, const Coordinates& at) {
  const Coordinates shape = c.shape(in);
  Coordinates part, from(shape.size());
  std::vector<bool> gone(shape.size());
  for (int64_t d : dims) gone[size_t(d)] = true;
  for (size_t d = 0, k = 0; d < shape.size(); ++d) {
    if (gone[d]) part.push_back(shape[d]);
    if (!gone[d]) from[d] = at[k];
    if (!gone[d] || keepdim) ++k;
  }
  std::vector<double> out;
  for (int64_t i = 0; i < count(part); ++i) {
    const Coordinates inner = unravel(i, part);
    for (size_t d = 0, k = 0; d < shape.size(); ++d)
      if (gone[d]) from[d] = inner[k++];
    out.push_back(c.read(in, from));
  }
  return out;
}

double least_number(DType dtype) {
  if (is_float(dtype)) return -kInfinity;
  if (dtype == DType::boolean || is_unsigned(dtype)) return 0;
  return -std::ldexp(1.0, int(8 * size_of(dtype)) - 1);
}

double looked_up(const DirectContext& c, const TensorView* in, Coordinates at, int64_t dim, double index) {
  const bool inside = index >= 0 && index < double(c.shape(in)[size_t(dim)]);
  if (!inside) return is_float(in->dtype) ? NAN : 0;
  at[size_t(dim)] = int64_t(index);
  return c.read(in, at);
}

double reduction_of(const std::vector<double>& x, Reduction function, DType in) {
  const bool least = function == Reduction::amin || function == Reduction::argmin;
  const double sign = least ? -1 : 1;
  double sum = 0, product = 1, best = 0;
  size_t winner = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += x[i];
    product *= x[i];
    const bool first_nan = std::isnan(x[i]) && !std::isnan(best);
    if (i > 0 && !first_nan && !(sign * x[i] > sign * best)) continue;
    best = x[i];
    winner = i;
  }
  switch (function) {
    case Reduction::sum:
      return sum;
    case Reduction::prod:
      return product;
    case Reduction::argmax:
    case Reduction::argmin:
      return double(winner);
    case Reduction::amax:
    case Reduction::amin:
      break;
  }
  if (!x.empty()) return best;
  if (!least) return least_number(in);
  return in == DType::boolean ? 1 : is_float(in) ? kInfinity : max_finite(in);
}

double mean_of(const std::vector<double>& x) {
  double sum = 0;
  for (double v : x) sum += v;
  return sum / double(x.size());
}

double variance_of(const std::vector<double>& x, int64_t correction) {
  const double mean = mean_of(x);
  double squares = 0;
  for (double v : x) squares += (v - mean) * (v - mean);
  return squares / std::max<double>(double(x.size()) - double(correction), 0);
}

}  // namespace

double element(const DirectContext& c, const Reduce& op, const Coordinates& at) {
  return reduction_of(reduced(c, op.in, op.dims, op.keepdim, at), op.function, op.in->dtype);
}

double element(const DirectContext& c, const Var& op, const Coordinates& at) {
  return variance_of(reduced(c, op.in, op.dims, op.keepdim, at), op.correction);
}

std::vector<double> element(const DirectContext& c, const VarMean& op, const Coordinates& at) {
  const std::vector<double> x = reduced(c, op.in, op.dims, op.keepdim, at);
  return {mean_of(x), variance_of(x, op.correction)};
}

std::vector<double> element(const DirectContext& c, const MaxWithArgmax& op, const Coordinates& at) {
  const std::vector<double> x = reduced(c, op.in, op.dims, op.keepdim, at);
  return {reduction_of(x, Reduction::amax, op.in->dtype), reduction_of(x, Reduction::argmax, op.in->dtype)};
}

std::vector<double> element(const DirectContext& c, const MinWithArgmin& op, const Coordinates& at) {
  const std::vector<double> x = reduced(c, op.in, op.dims, op.keepdim, at);
  return {reduction_of(x, Reduction::amin, op.in->dtype), reduction_of(x, Reduction::argmin, op.in->dtype)};
}

namespace {

// The elements along a dim through a place.
std::vector<double> row_of(const DirectContext& c, const TensorView* in, int64_t dim, const Coordinates& at) {
  std::vector<double> out;
  Coordinates from = at;
  for (int64_t i = 0; i < c.shape(in)[size_t(dim)]; ++i) {
    from[size_t(dim)] = i;
    out.push_back(c.read(in, from));
  }
  return out;
}

}  // namespace

double element(const DirectContext& c, const CumSum& op, const Coordinates& at) {
  const int64_t extent = c.shape(op.in)[size_t(op.dim)], own = at[size_t(op.dim)];
  double sum = 0;
  for (int64_t k = 0; k < extent; ++k) {
    const int64_t i = op.reverse ? extent - 1 - k : k;
    if (op.exclusive && i == own) return sum;
    Coordinates from = at;
    from[size_t(op.dim)] = i;
    sum += c.read(op.in, from);
    if (i == own) return sum;
  }
  return sum;
}

double element(const DirectContext& c, const CumProd& op, const Coordinates& at) {
  const std::vector<double> x = row_of(c, op.in, op.dim, at);
  const size_t own = size_t(at[size_t(op.dim)]);
  double product = 1;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool ahead = op.reverse ? i > own : i < own;
    if (ahead || (i == own && !op.exclusive)) product *= x[i];
  }
  return product;
}

double element(const DirectContext& c, const LogCumSumExp& op, const Coordinates& at) {
  const std::vector<double> x = row_of(c, op.in, op.dim, at);
  double sum = 0;
  for (size_t i = 0; i <= size_t(at[size_t(op.dim)]); ++i) sum += std::exp(x[i]);
  return std::log(sum);
}

namespace {

// The last place that no other one beats: of NaN the last.
std::vector<double> running_extremum(const DirectContext& c, const TensorView* in, int64_t dim, const Coordinates& at,
                                     double sign) {
  const std::vector<double> x = row_of(c, in, dim, at);
  size_t best = 0;
  for (size_t i = 1; i <= size_t(at[size_t(dim)]); ++i)
    if (std::isnan(x[i]) || (!std::isnan(x[best]) && sign * x[i] >= sign * x[best])) best = i;
  return {x[best], double(best)};
}

}  // namespace

std::vector<double> element(const DirectContext& c, const CumMax& op, const Coordinates& at) {
  return running_extremum(c, op.in, op.dim, at, 1);
}
std::vector<double> element(const DirectContext& c, const CumMin& op, const Coordinates& at) {
  return running_extremum(c, op.in, op.dim, at, -1);
}

std::vector<double> element(const DirectContext& c, const Sort& op, const Coordinates& at) {
  const std::vector<double> x = row_of(c, op.in, op.dim, at);
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t before = 0;  // elements that stand before the i-th
    for (size_t k = 0; k < x.size(); ++k) {
      const double a = op.descending ? x[i] : x[k], b = op.descending ? x[k] : x[i];
      const bool less = std::isnan(b) ? !std::isnan(a) : a < b;
      const bool more = std::isnan(a) ? !std::isnan(b) : b < a;
      before += less || (!more && k < i);
    }
    if (before == at[size_t(op.dim)]) return {x[i], double(i)};
  }
  return {NAN, NAN};
}

double element(const DirectContext& c, const Permute& op, const Coordinates& at) {
  Coordinates from(at.size());
  for (size_t d = 0; d < at.size(); ++d) from[size_t(op.dims[d])] = at[d];
  return c.read(op.in, from);
}

double element(const DirectContext& c, const Broadcast& op, const Coordinates& at) {
  const Coordinates shape = c.shape(op.in);
  Coordinates from;
  for (size_t d = 0; d < shape.size(); ++d) from.push_back(shape[d] == 1 ? 0 : at[size_t(op.dims[d])]);
  return c.read(op.in, from);
}

double element(const DirectContext& c, const Squeeze& op, const Coordinates& at) {
  return c.read(op.in, unravel(ravel(at, c.shape(op.out())), c.shape(op.in)));
}
double element(const DirectContext& c, const Unsqueeze& op, const Coordinates& at) {
  return c.read(op.in, unravel(ravel(at, c.shape(op.out())), c.shape(op.in)));
}
double element(const DirectContext& c, const Reshape& op, const Coordinates& at) {
  return c.read(op.in, unravel(ravel(at, c.shape(op.out())), c.shape(op.in)));
}

double element(const DirectContext& c, const Slice& op, const Coordinates& at) {
  Coordinates from = at;
  from[size_t(op.dim)] = c.size(op.start) + at[size_t(op.dim)] * op.step;
  return c.read(op.in, from);
}

double element(const DirectContext& c, const Pad& op, const Coordinates& at) {
  const Coordinates shape = c.shape(op.in);
  Coordinates from = at;
  for (size_t d = 0; d < at.size(); ++d) {
    from[d] -= c.size(op.low[d]);
    if (from[d] < 0 || from[d] >= shape[d]) return round_to(op.in->dtype, op.value);
  }
  return c.read(op.in, from);
}

double element(const DirectContext& c, const Cat& op, const Coordinates& at) {
  Coordinates from = at;
  for (const TensorView* in : op.in) {
    const int64_t extent = c.shape(in)[size_t(op.dim)];
    if (from[size_t(op.dim)] < extent) return c.read(in, from);
    from[size_t(op.dim)] -= extent;
  }
  return NAN;
}

double element(const DirectContext& c, const Flip& op, const Coordinates& at) {
  const Coordinates shape = c.shape(op.in);
  Coordinates from = at;
  for (int64_t d : op.dims) from[size_t(d)] = shape[size_t(d)] - 1 - at[size_t(d)];
  return c.read(op.in, from);
}

double element(const DirectContext& c, const Roll& op, const Coordinates& at) {
  const Coordinates shape = c.shape(op.in);
  Coordinates from = at;
  for (size_t k = 0; k < op.dims.size(); ++k) {
    const size_t d = size_t(op.dims[k]);
    from[d] = ((at[d] - op.shifts[k]) % shape[d] + shape[d]) % shape[d];
  }
  return c.read(op.in, from);
}

double element(const DirectContext& c, const Repeat& op, const Coordinates& at) {
  const Coordinates shape = c.shape(op.in);
  Coordinates from(at.end() - std::ptrdiff_t(shape.size()), at.end());
  for (size_t d = 0; d < shape.size(); ++d) from[d] %= shape[d];
  return c.read(op.in, from);
}

double element(const DirectContext& c, const Bitcast& op, const Coordinates& at) {
  return Constant{op.to, Constant::from_double(op.in->dtype, c.read(op.in, at)).bits}.to_double();
}

double element(const DirectContext& c, const Gather& op, const Coordinates& at) {
  return looked_up(c, op.in, at, op.dim, c.read(op.index, at));
}

double element(const DirectContext& c, const IndexSelect& op, const Coordinates& at) {
  const auto first = at.begin() + op.dim, behind = first + std::ptrdiff_t(op.index->rank());
  Coordinates from(at.begin(), first);
  from.push_back(0);
  from.insert(from.end(), behind, at.end());
  return looked_up(c, op.in, from, op.dim, c.read(op.index, {first, behind}));
}

double element(const DirectContext& c, const Scatter& op, const Coordinates& at) {
  const Coordinates shape = c.shape(op.index);
  double out = c.read(op.in, at);
  for (int64_t i = 0; i < count(shape); ++i) {
    Coordinates from = unravel(i, shape), target = from;
    target[size_t(op.dim)] = int64_t(c.read(op.index, from));
    if (target != at) continue;
    const double x = c.read(op.src, from);
    switch (op.update) {
      case ScatterUpdate::set:
        out = x;
        break;
      case ScatterUpdate::add:
        out += x;
        break;
      case ScatterUpdate::mul:
        out *= x;
        break;
      case ScatterUpdate::max:
        out = out != out || x <= out ? out : x;
        break;
      case ScatterUpdate::min:
        out = out != out || x >= out ? out : x;
        break;
    }
  }
  return out;
}

double element(const DirectContext& c, const Iota& op, const Coordinates& at) {
  return round_to(op.dtype, double(c.size(op.start) + at[size_t(op.dim)]));
}
double element(const DirectContext& c, const Size& op, const Coordinates&) {
  return round_to(op.dtype, double(c.size(op.value)));
}

}  // namespace plait::test
