// Resize of ONNX. Where a result reads, and with which weights, depends on sizes alone: each dim is a matrix of numbers
// that the import knows, or indices where the nearest element is taken.
#include <algorithm>
#include <cmath>

#include "import/onnx/importer.h"

namespace plait::onnx {
namespace {

constexpr int64_t kMostWeights = int64_t{1} << 26;

// One dim on its way from `in` to `out` elements.
struct Line {
  int64_t in, out;
  double scale, start = 0, end = 1;  // start and end: the part that is kept, of tf_crop_and_resize
};

// Where element i of the result lies among those of the operand.
double coordinate(const std::string& mode, const Line& line, int64_t i) {
  const auto x = static_cast<double>(i), in = static_cast<double>(line.in);
  const double out = in * line.scale;  // not rounded, as ONNX's numbers are made
  if (mode == "asymmetric") return x / line.scale;
  if (mode == "align_corners") return out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / line.scale;
  if (mode == "pytorch_half_pixel" && line.out == 1) return 0;
  if (mode == "tf_crop_and_resize") {
    if (line.out == 1) return 0.5 * (line.start + line.end) * (in - 1);
    return line.start * (in - 1) + x * (line.end - line.start) * (in - 1) / (out - 1);
  }
  return (x + 0.5) / line.scale - 0.5;
}

int64_t nearest(const std::string& mode, double x) {
  if (mode == "floor") return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(x));
  return static_cast<int64_t>(mode == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5));
}

// Weights of the elements around x: of `first` and those behind it.
std::vector<double> weights_at(bool cubic, double a, double x, int64_t& first) {
  first = static_cast<int64_t>(std::floor(x));
  const double r = x - static_cast<double>(first);
  if (!cubic) return {1 - r, r};
  --first;
  auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  return {far(r + 1), near(r), near(1 - r), far(2 - r)};
}

// The weight of every element, rows by element of the result. Elements outside are those at the edge, or left out.
std::vector<double> matrix(Call& c, const Line& line, const std::string& where) {
  const bool cubic = c.text("mode", "nearest") == "cubic", inside = c.integer("exclude_outside", 0) != 0;
  require(line.in > 0 && line.in * line.out <= kMostWeights, "weights of {} by {} elements", line.in, line.out);
  std::vector<double> out(static_cast<size_t>(line.in * line.out), 0);
  for (int64_t i = 0; i < line.out; ++i) {
    int64_t first = 0;
    std::vector<double> weights =
        weights_at(cubic, c.number("cubic_coeff_a", -0.75), coordinate(where, line, i), first);
    double sum = 0;
    for (size_t k = 0; k < weights.size(); ++k) {
      const int64_t at = first + static_cast<int64_t>(k);
      if (inside && (at < 0 || at >= line.in)) weights[k] = 0;
      sum += weights[k];
      out[static_cast<size_t>(i * line.in + std::clamp<int64_t>(at, 0, line.in - 1))] += weights[k];
    }
    for (int64_t at = 0; inside && at < line.in; ++at) out[static_cast<size_t>(i * line.in + at)] /= sum;
  }
  return out;
}

TensorView* resize_dim(Call& c, TensorView* x, int64_t dim, const Line& line, const std::string& where) {
  if (c.text("mode", "nearest") == "nearest") {
    std::vector<double> index;
    for (int64_t i = 0; i < line.out; ++i) {
      const int64_t at = nearest(c.text("nearest_mode", "round_prefer_floor"), coordinate(where, line, i));
      index.push_back(static_cast<double>(std::clamp<int64_t>(at, 0, line.in - 1)));
    }
    return index_select(x, c.constant(DType::i64, {line.out}, index), dim);
  }
  TensorView* weights = c.constant(x->dtype, {line.out, line.in}, matrix(c, line, where));
  const auto last = static_cast<int64_t>(x->rank()) - 1;
  return transpose(linear(transpose(x, dim, last), weights), dim, last);
}

// A number where the place lies outside of the operand.
TensorView* extrapolated(Call& c, TensorView* y, int64_t dim, const Line& line, const std::string& where) {
  std::vector<double> inside;
  for (int64_t i = 0; i < line.out; ++i) {
    const double x = coordinate(where, line, i);
    inside.push_back(x >= 0 && x <= static_cast<double>(line.in - 1));
  }
  std::vector<int64_t> shape(y->rank(), 1);
  shape[static_cast<size_t>(dim)] = line.out;
  return plait::where(c.constant(DType::boolean, shape, inside), y, c.number("extrapolation_value", 0));
}

double scale_in(Call& c, int64_t d) {
  const std::vector<double>& scales = c.attribute("scales").numbers;
  require(d < static_cast<int64_t>(scales.size()), "{} scales", scales.size());
  return scales[static_cast<size_t>(d)];
}

// Resize of opset 9: scales alone, and from the first element on.
void upsample(Call& c) {
  TensorView* x = c.in();
  for (int64_t d = 0; d < static_cast<int64_t>(x->rank()); ++d) {
    const double scale = c.has_attribute("scales") ? scale_in(c, d) : c.number_of(1, d);
    if (scale == 1) continue;
    const double out = std::floor(static_cast<double>(extent(x, d)) * scale);
    require(out >= 0 && out <= kMostWeights, "{} elements", out);
    const Line line{extent(x, d), static_cast<int64_t>(out), scale};
    std::vector<double> index;
    for (int64_t i = 0; i < line.out; ++i) index.push_back(std::floor(coordinate("asymmetric", line, i)));
    x = index_select(x, c.constant(DType::i64, {line.out}, index), d);
  }
  c.give(x);
}

// 1 where the dim stays as it is for sure.
double scale_of(Call& c, int64_t d, bool sizes) {
  if (!sizes) return c.number_of(2, d);
  const Sizes to = c.sizes(3);
  require(d < static_cast<int64_t>(to.size()), "{} sizes", to.size());
  return to[static_cast<size_t>(d)] == size_of_dim(c.in(), d) ? 1 : 0;
}

void resize_op(Call& c) {
  const std::string where = c.text("coordinate_transformation_mode", "half_pixel");
  TensorView* x = c.in();
  const auto rank = static_cast<int64_t>(x->rank());
  if (c.importer.opset() < 11) return upsample(c);  // which it was called then
  const bool sizes = c.has(3);
  c.has(1), c.has(2);
  std::vector<Line> lines;
  for (int64_t d = 0; d < rank; ++d) {
    Line line{0, 0, 1};
    if (scale_of(c, d, sizes) == 1 && where != "tf_crop_and_resize") {
      lines.push_back(line);  // as it is, of any size
      continue;
    }
    line.in = extent(x, d);
    const auto in = static_cast<double>(line.in);
    if (sizes) {
      line.out = static_cast<int64_t>(c.number_of(3, d));
      line.scale = static_cast<double>(line.out) / in;
    } else {
      line.scale = c.number_of(2, d);
      line.out = static_cast<int64_t>(std::clamp(std::floor(in * line.scale), -1.0, 1e12));
    }
    require(line.in > 0 && line.out >= 0 && line.out <= kMostWeights, "dim {} from {} to {}", d, line.in, line.out);
    if (where == "tf_crop_and_resize") line.start = c.number_of(1, d), line.end = c.number_of(1, rank + d);
    lines.push_back(line);
  }
  auto moves = [](const Line& l) { return l.in != l.out || l.start != 0 || l.end != 1; };
  for (int64_t d = 0; d < rank; ++d)
    if (const Line& line = lines[static_cast<size_t>(d)]; moves(line)) x = resize_dim(c, x, d, line, where);
  for (int64_t d = 0; d < rank && where == "tf_crop_and_resize"; ++d)
    if (const Line& line = lines[static_cast<size_t>(d)]; moves(line)) x = extrapolated(c, x, d, line, where);
  c.give(x);
}

}  // namespace

std::vector<OpRow> resize_rows() {
  return {
      {"Resize", resize_op,
       "mode=nearest|linear|cubic cubic_coeff_a exclude_outside extrapolation_value "
       "nearest_mode=round_prefer_floor|round_prefer_ceil|floor|ceil "
       "coordinate_transformation_mode=half_pixel|align_corners|asymmetric|pytorch_half_pixel|tf_half_pixel_for_nn|"
       "tf_crop_and_resize"},
      {"Upsample", upsample, "mode=nearest scales"},
  };
}

}  // namespace plait::onnx
