// Pools and convolutions of ONNX: windows are read by index_select, one per spatial dim, and reduced or multiplied.
#include <algorithm>
#include <cmath>
#include <limits>

#include "import/onnx/importer.h"
#include "import/windows.h"

namespace plait::onnx {
namespace {

using Numbers = std::vector<int64_t>;

// Of the spatial dims, which come behind batch and channels.
struct Window {
  Numbers kernel, strides, dilations, low, high;
  Numbers beyond;  // elements that windows reach behind the padding, where ceil_mode rounds up
  Numbers out;
  size_t dims() const { return kernel.size(); }
  int64_t span(size_t d) const { return (kernel[d] - 1) * dilations[d] + 1; }
};

constexpr int64_t kMostStep = int64_t{1} << 20;

// So many numbers of at least `least`, which are small enough to be multiplied.
Numbers numbers_or(const Call& c, const char* name, size_t count, int64_t otherwise, int64_t least) {
  Numbers out = c.integers(name);
  if (out.empty()) out.assign(count, otherwise);
  require(out.size() == count, "{} has {} numbers, not {}", name, out.size(), count);
  for (const int64_t each : out) require(each >= least && each <= kMostStep, "{} in {}", each, name);
  return out;
}

// Steps, dilations and written pads; SAME and the extents of the result are of the pool and the convolution.
Window read_window(const Call& c, Numbers kernel) {
  Window w;
  w.kernel = std::move(kernel);
  const size_t n = w.dims();
  require(n >= 1 && n < 10, "windows of {} dims", n);
  for (const int64_t each : w.kernel) require(each >= 1 && each <= kMostStep, "a kernel of {}", each);
  w.strides = numbers_or(c, "strides", n, 1, 1);
  w.dilations = numbers_or(c, "dilations", n, 1, 1);
  const Numbers pads = numbers_or(c, "pads", 2 * n, 0, -kMostStep);
  w.low.assign(pads.begin(), pads.begin() + static_cast<int64_t>(n));
  w.high.assign(pads.begin() + static_cast<int64_t>(n), pads.end());
  w.beyond.assign(n, 0);
  return w;
}

void share_padding(Window& w, size_t d, int64_t total, bool more_behind) {
  total = std::max<int64_t>(total, 0);
  w.low[d] = more_behind ? total / 2 : total - total / 2;
  w.high[d] = total - w.low[d];
}

Window window_over(const Call& c, const TensorView* x, Numbers kernel) {
  Window w = read_window(c, std::move(kernel));
  const std::string automatic = c.text("auto_pad", "NOTSET");
  require(x->rank() == w.dims() + 2, "windows of {} dims in {} dims", w.dims(), x->rank());
  for (size_t d = 0; d < w.dims(); ++d) {
    const int64_t in = extent(x, static_cast<int64_t>(d) + 2), step = w.strides[d];
    if (automatic.starts_with("SAME"))
      share_padding(w, d, ((in + step - 1) / step - 1) * step + w.span(d) - in, automatic == "SAME_UPPER");
    const int64_t room = in + w.low[d] + w.high[d] - w.span(d);
    require(room >= 0, "a window of {} in {} elements", w.span(d), in + w.low[d] + w.high[d]);
    w.out.push_back((c.integer("ceil_mode", 0) ? (room + step - 1) / step : room / step) + 1);
    // No window begins behind all elements, as ONNX has it since opset 19.
    if (c.importer.opset() >= 19 && c.integer("ceil_mode", 0) && (w.out[d] - 1) * step >= in + w.low[d]) --w.out[d];
    w.beyond[d] = std::max<int64_t>((w.out[d] - 1) * step - room, 0);
  }
  return w;
}

TensorView* padded(TensorView* x, const Window& w, double value, bool with_beyond) {
  Numbers low = {0, 0}, high = {0, 0};
  for (const int64_t each : w.low) require(each >= 0, "pads of {}", each);
  low.insert(low.end(), w.low.begin(), w.low.end());
  for (size_t d = 0; d < w.dims(); ++d) high.push_back(w.high[d] + (with_beyond ? w.beyond[d] : 0));
  for (const int64_t each : high) require(each >= 0, "pads of {}", each);
  return pad(x, extents(low), extents(high), value);
}

WindowSteps steps_of(const Window& w, size_t d) { return {w.kernel[d], w.strides[d], w.dilations[d], w.out[d]}; }

// x[n, c, i...] as [n, c, k0, o0, k1, o1, ...].
TensorView* windows(TensorView* x, const Window& w) {
  for (size_t d = 0; d < w.dims(); ++d) x = windows_along(x, 2 + 2 * static_cast<int64_t>(d), steps_of(w, d));
  return x;
}

// The places of k0, k1, ... there.
Dims kernel_dims(const Window& w) {
  Dims out;
  for (size_t d = 0; d < w.dims(); ++d) out.push_back(2 + 2 * static_cast<int64_t>(d));
  return out;
}

// The row-major index in x, or with the spatial dims the other way round, of the element at `place` of each window.
TensorView* indices_in(TensorView* x, TensorView* place, const Window& w, bool reversed) {
  Numbers shape = {0, extent(x, 1)};
  for (size_t d = 0; d < w.dims(); ++d) shape.push_back(extent(x, static_cast<int64_t>(d) + 2));
  const std::vector<Fusion::Extent> out = extents_of(place->shape());
  const int64_t spatial = product(shape, 2, static_cast<int64_t>(shape.size()));
  Fusion& f = *x->fusion;
  TensorView* index = mul(add(mul(iota(f, out, 0), shape[1]), iota(f, out, 1)), spatial);
  int64_t step = 1;
  for (size_t i = 0; i < w.dims(); ++i) {
    const size_t d = reversed ? i : w.dims() - 1 - i;
    int64_t inner = 1;
    for (size_t later = d + 1; later < w.dims(); ++later) inner *= w.kernel[later];
    TensorView* inside = remainder(floor_divide(place, inner), w.kernel[d]);
    TensorView* at = add(mul(iota(f, out, static_cast<int64_t>(d) + 2), w.strides[d]), mul(inside, w.dilations[d]));
    index = add(index, mul(sub(at, w.low[d]), step));
    step *= shape[d + 2];
  }
  return index;
}

void max_pool(Call& c) {
  TensorView* x = c.in();
  const Window w = window_over(c, x, c.integers("kernel_shape"));
  const double least = is_float(x->dtype) ? -std::numeric_limits<double>::infinity() : least_finite(x->dtype);
  TensorView* all = windows(padded(x, w, least, true), w);
  c.give(amax(all, kernel_dims(w)));
  if (c.wants(1)) c.give(indices_in(x, argmax(all, kernel_dims(w)), w, c.integer("storage_order", 0) != 0), 1);
}

// What lies behind the padding counts never, the padding where count_include_pad says so.
void average_pool(Call& c) {
  TensorView* x = c.in();
  Window w = window_over(c, x, c.integers("kernel_shape"));
  const bool padding = c.integer("count_include_pad", 0) != 0;
  Numbers one = {1, 1};
  for (size_t d = 0; d < w.dims(); ++d) one.push_back(extent(x, static_cast<int64_t>(d) + 2));
  TensorView* ones = padded(full(*x->fusion, extents(one), 1, x->dtype), w, padding ? 1 : 0, false);
  TensorView* values = padded(x, w, 0, true);
  std::ranges::fill(w.low, 0);
  w.high = w.beyond;
  std::ranges::fill(w.beyond, 0);
  const Dims dims = kernel_dims(w);
  c.give(div(sum(windows(values, w), dims), sum(windows(padded(ones, w, 0, false), w), dims)));
}

TensorView* convolve(TensorView* x, TensorView* weight, const Window& w, int64_t groups) {
  std::vector<WindowSteps> steps;
  for (size_t d = 0; d < w.dims(); ++d) steps.push_back(steps_of(w, d));
  return convolve_windows(x, weight, steps, groups);
}

// One number per channel.
TensorView* per_channel(TensorView* t, const TensorView* like) {
  if (t->rank() == 0) return t;
  require(t->rank() == 1, "{} dims of channels", t->rank());
  return unsqueeze(t, iota_dims(1, static_cast<int64_t>(like->rank()) - 1));
}

Numbers kernel_of(const TensorView* weight) {
  const Numbers shape = shape_of(weight);
  require(shape.size() > 2, "a kernel of {} dims", shape.size());
  return {shape.begin() + 2, shape.end()};
}

TensorView* convolution(Call& c, TensorView* x, TensorView* weight) {
  Numbers kernel = kernel_of(weight);
  require(!c.has_attribute("kernel_shape") || c.integers("kernel_shape") == kernel,
          "a kernel_shape that its kernel has not");
  const Window w = window_over(c, x, std::move(kernel));
  return convolve(padded(x, w, 0, false), weight, w, c.integer("group", 1));
}

void conv(Call& c) {
  TensorView* y = convolution(c, c.in(), c.in(1));
  c.give(c.has(2) ? add(y, per_channel(c.in(2), y)) : y);
}

// Whole numbers in f64, in which products and their sums are exact.
TensorView* less(Call& c, size_t i, size_t zero, bool channels) {
  TensorView* x = cast(c.in(i), DType::f64);
  if (!c.has(zero)) return x;
  TensorView* z = cast(c.in(zero), DType::f64);
  if (channels && z->rank() == 1) {
    z = unsqueeze(z, iota_dims(1, static_cast<int64_t>(x->rank())));
  }
  return sub(x, z);
}

void conv_integer(Call& c) {
  c.give(cast(round(convolution(c, less(c, 0, 2, false), less(c, 1, 3, true))), DType::i32));
}

void qlinear_conv(Call& c) {
  TensorView* y = convolution(c, less(c, 0, 2, false), less(c, 3, 5, true));
  if (c.has(8)) y = add(y, per_channel(cast(c.in(8), DType::f64), y));
  y = mul(cast(y, DType::f32), mul(c.in(1), per_channel(c.in(4), y)));
  c.give(quantized(div(y, c.in(6)), c.in(7), c.in(7)->dtype));
}

// Pads that are negative cut.
TensorView* pad_or_cut(TensorView* x, int64_t dim, int64_t low, int64_t high) {
  x = slice(x, dim, std::max<int64_t>(-low, 0), extent(x, dim) - std::max<int64_t>(-high, 0));
  Numbers before(x->rank(), 0), behind = before;
  before[static_cast<size_t>(dim)] = std::max<int64_t>(low, 0);
  behind[static_cast<size_t>(dim)] = std::max<int64_t>(high, 0);
  return pad(x, extents(before), extents(behind));
}

// w[c, m / groups, k...] as the weights of the convolution that gives the transposed one: turned, and channels swapped.
TensorView* turned(TensorView* weight, int64_t groups) {
  const Numbers shape = shape_of(weight);
  require(groups >= 1 && shape[0] % groups == 0, "{} groups of {} channels", groups, shape[0]);
  Numbers split = {groups, shape[0] / groups, shape[1]}, out = {groups * shape[1], shape[0] / groups};
  split.insert(split.end(), shape.begin() + 2, shape.end());
  out.insert(out.end(), shape.begin() + 2, shape.end());
  const auto rank = static_cast<int64_t>(split.size());
  Dims order = iota_dims(0, rank);
  std::swap(order[1], order[2]);
  return flip(reshape_to(permute(reshape_to(weight, split), order), out), iota_dims(2, rank - 1));
}

void conv_transpose(Call& c) {
  TensorView *x = c.in(), *weight = c.in(1);
  Window w = read_window(c, kernel_of(weight));
  const Numbers more = numbers_or(c, "output_padding", w.dims(), 0, 0), wanted = c.integers("output_shape");
  require(x->rank() == w.dims() + 2 && (wanted.empty() || wanted.size() >= w.dims()), "{} dims, {} of output_shape",
          x->rank(), wanted.size());
  for (const int64_t each : wanted) require(each >= 0 && each <= kMostStep * kMostStep, "{} in output_shape", each);
  const std::string automatic = c.text("auto_pad", "NOTSET");
  for (size_t d = 0; d < w.dims(); ++d) {
    const auto dim = static_cast<int64_t>(d) + 2;
    const int64_t in = extent(x, dim), widest = w.strides[d] * (in - 1) + more[d] + w.span(d);
    int64_t cut = more[d];
    if (automatic.starts_with("SAME") || !wanted.empty()) {
      const int64_t size = wanted.empty() ? in * w.strides[d] : wanted[wanted.size() - w.dims() + d];
      share_padding(w, d, widest - size, automatic == "SAME_UPPER");
      cut += std::max<int64_t>(size - widest, 0);
    }
    x = spread_elements(x, dim, w.strides[d] - 1);
    x = pad_or_cut(x, dim, w.span(d) - 1 - w.low[d], w.span(d) - 1 - w.high[d] + cut);
    w.out.push_back(extent(x, dim) - w.span(d) + 1);
    require(w.out[d] >= 0, "a window of {} in {} elements", w.span(d), extent(x, dim));
  }
  w.strides.assign(w.dims(), 1);
  const int64_t groups = c.integer("group", 1);
  TensorView* y = convolve(x, turned(weight, groups), w, groups);
  c.give(c.has(2) ? add(y, per_channel(c.in(2), y)) : y);
}

}  // namespace

std::vector<OpRow> window_rows() {
  const char* convolved = "kernel_shape strides dilations pads group auto_pad=NOTSET|SAME_UPPER|SAME_LOWER|VALID";
  return {
      {"AveragePool", average_pool,
       "kernel_shape strides pads ceil_mode count_include_pad dilations auto_pad=NOTSET|SAME_UPPER|SAME_LOWER|VALID"},
      {"Conv", conv, convolved},
      {"ConvInteger", conv_integer, convolved},
      {"ConvTranspose", conv_transpose,
       "kernel_shape strides dilations pads group output_padding output_shape auto_pad=NOTSET|SAME_UPPER|SAME_LOWER"},
      {"MaxPool", max_pool,
       "kernel_shape strides dilations pads ceil_mode storage_order auto_pad=NOTSET|SAME_UPPER|SAME_LOWER|VALID"},
      {"QLinearConv", qlinear_conv, convolved},
  };
}

}  // namespace plait::onnx
