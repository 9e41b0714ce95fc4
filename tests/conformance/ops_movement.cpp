// Ops of ONNX that move elements.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "conformance/importer.h"

namespace plait::conformance {
namespace {

void reshape_op(Call& c) {
  const std::vector<int64_t> from = shape_of(c.in());
  std::vector<int64_t> to = c.integers("shape", 1);
  if (!c.integer("allowzero", 0))
    for (size_t d = 0; d < to.size(); ++d)
      if (to[d] == 0) to[d] = from.at(d);
  c.give(reshape_to(c.in(), to));
}

void transpose_op(Call& c) {
  Dims perm = c.integers("perm");
  if (perm.empty()) {
    perm = iota_dims(0, static_cast<int64_t>(c.in()->rank()));
    std::ranges::reverse(perm);
  }
  c.give(permute(c.in(), perm));
}

void flatten(Call& c) {
  const std::vector<int64_t> shape = shape_of(c.in());
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = c.axis(1, rank);
  c.give(reshape_to(c.in(), {product(shape, 0, axis), product(shape, axis, rank)}));
}

void concat(Call& c) { c.give(cat(c.all(), c.integer("axis", 1))); }

void split(Call& c) {
  TensorView* x = c.in();
  const int64_t axis = c.axis(0, static_cast<int64_t>(x->rank())), whole = extent(x, axis);
  std::vector<int64_t> parts = c.integers("split", 1);
  const auto count = static_cast<int64_t>(c.node.out.size());
  if (parts.empty()) parts.assign(c.node.out.size(), (whole + count - 1) / count);
  int64_t start = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t stop = std::min(start + parts[i], whole);
    c.give(slice(x, axis, start, stop), i);
    start = stop;
  }
}

// From start to stop, not included, in steps that may be negative, of n elements: NumPy's rule.
TensorView* sliced(TensorView* x, int64_t dim, int64_t start, int64_t stop, int64_t step) {
  const int64_t n = extent(x, dim), low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  auto clamped = [&](int64_t at) { return std::clamp(at < 0 ? std::max(at, -n - 1) + n : at, low, high); };
  start = clamped(start), stop = clamped(stop);
  if (step > 0) return slice(x, dim, start, std::max(start, stop), step);
  start = n - 1 - start, stop = n - 1 - stop;
  return slice(flip(x, {dim}), dim, start, std::max(start, stop), -step);
}

void slice_op(Call& c) {
  TensorView* x = c.in();
  const std::vector<int64_t> starts = c.integers("starts", 1), ends = c.integers("ends", 2);
  std::vector<int64_t> axes = c.integers("axes", 3);
  std::vector<int64_t> steps = c.has(4) ? c.integers(4) : std::vector<int64_t>(starts.size(), 1);
  if (axes.empty()) axes = iota_dims(0, static_cast<int64_t>(starts.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t dim = axes[i] < 0 ? axes[i] + static_cast<int64_t>(x->rank()) : axes[i];
    x = sliced(x, dim, starts[i], ends[i], steps[i]);
  }
  c.give(x);
}

void expand_op(Call& c) {
  const std::vector<int64_t> asked = c.integers(1);
  std::vector<int64_t> shape = shape_of(c.in());
  if (shape.size() < asked.size()) shape.insert(shape.begin(), asked.size() - shape.size(), 1);
  for (size_t i = 0; i < asked.size(); ++i) {
    int64_t& e = shape[shape.size() - asked.size() + i];
    if (e == 1) e = asked[i];
  }
  c.give(expand_to(c.in(), shape));
}

// One dim, as mirror or as copies of the last element.
TensorView* pad_dim(TensorView* x, int64_t dim, int64_t low, int64_t high, bool mirror) {
  const int64_t n = extent(x, dim);
  std::vector<int64_t> shape = shape_of(x);
  auto copies = [&](int64_t at, int64_t count) {
    shape[static_cast<size_t>(dim)] = count;
    return expand_to(slice(x, dim, at, at + 1), shape);
  };
  std::vector<TensorView*> parts;
  if (low > 0) parts.push_back(mirror ? flip(slice(x, dim, 1, low + 1), {dim}) : copies(0, low));
  parts.push_back(x);
  if (high > 0) parts.push_back(mirror ? flip(slice(x, dim, n - 1 - high, n - 1), {dim}) : copies(n - 1, high));
  return cat(parts, dim);
}

void pad_op(Call& c) {
  TensorView* x = c.in();
  const std::string mode = c.text("mode", "constant");
  const std::vector<int64_t> pads = c.has_attribute("paddings") ? c.integers("paddings") : c.integers("pads", 1);
  const size_t rank = x->rank();
  std::vector<int64_t> low(pads.begin(), pads.begin() + static_cast<int64_t>(rank)),
      high(pads.begin() + low.size(), pads.end());
  for (size_t d = 0; d < rank; ++d) {  // negative pads cut
    const auto dim = static_cast<int64_t>(d);
    if (low[d] < 0 || high[d] < 0)
      x = slice(x, dim, std::max<int64_t>(-low[d], 0), extent(x, dim) - std::max<int64_t>(-high[d], 0));
    low[d] = std::max<int64_t>(low[d], 0), high[d] = std::max<int64_t>(high[d], 0);
    if (mode != "constant" && low[d] + high[d] > 0) x = pad_dim(x, dim, low[d], high[d], mode == "reflect");
  }
  if (mode != "constant") return c.give(x);
  const double value = c.has(2) ? c.number(2) : c.number("value", 0);
  c.give(pad(x, extents(low), extents(high), value));
}

void squeeze_op(Call& c) { c.give(squeeze(c.in(), c.integers("axes", 1))); }
void unsqueeze_op(Call& c) { c.give(unsqueeze(c.in(), c.integers("axes", 1))); }

void depth_to_space(Call& c) {
  const std::vector<int64_t> s = shape_of(c.in());
  const int64_t b = c.integer("blocksize", 1), depth = s[1] / (b * b);
  const bool columns_first = c.text("mode", "DCR") == "DCR";
  TensorView* x = reshape_to(c.in(), columns_first ? std::vector<int64_t>{s[0], b, b, depth, s[2], s[3]}
                                                   : std::vector<int64_t>{s[0], depth, b, b, s[2], s[3]});
  x = permute(x, columns_first ? Dims{0, 3, 4, 1, 5, 2} : Dims{0, 1, 4, 2, 5, 3});
  c.give(reshape_to(x, {s[0], depth, s[2] * b, s[3] * b}));
}

void space_to_depth(Call& c) {
  const std::vector<int64_t> s = shape_of(c.in());
  const int64_t b = c.integer("blocksize", 1);
  TensorView* x = permute(reshape_to(c.in(), {s[0], s[1], s[2] / b, b, s[3] / b, b}), {0, 3, 5, 1, 2, 4});
  c.give(reshape_to(x, {s[0], s[1] * b * b, s[2] / b, s[3] / b}));
}

void trilu(Call& c) {
  const int64_t k = c.has(1) ? c.integer(1) : 0;
  c.give(c.integer("upper", 1) ? triu(c.in(), k) : tril(c.in(), k));
}

// The stored casts to bf16 cut off the lower bits, plait's round.
TensorView* cast_to(TensorView* x, DType to) {
  if (to != DType::bf16 || x->dtype != DType::f32) return cast(x, to);
  return cast(bitcast(bitwise_and(bitcast(x, DType::u32), 0xffff0000u), DType::f32), to);
}

void cast_op(Call& c) { c.give(cast_to(c.in(), dtype_of(c.integer("to", 0)))); }
void cast_like(Call& c) { c.give(cast_to(c.in(), c.in(1)->dtype)); }
void tile(Call& c) { c.give(repeat(c.in(), c.integers(1))); }

// In training elements are drawn, by a seed of numpy's generator; in inference, or where none are dropped, the operand
// stays, and the mask is all ones.
void dropout_op(Call& c) {
  const double ratio = c.has(1) ? c.number(1) : c.number("ratio", 0.5);
  if (c.has(2) && c.integer(2) != 0 && ratio > 0) throw Unsupported{"attribute seed of Dropout"};
  c.give(set(c.in()));
  if (!c.wants(1)) return;
  const DType mask = c.importer.opset() < 10 ? c.in()->dtype : DType::boolean;
  c.give(full(c.importer.fusion(), extents(shape_of(c.in())), 1, mask), 1);
}

}  // namespace

std::vector<OpRow> movement_rows() {
  return {
      {"Cast", cast_op, "to"},
      {"CastLike", cast_like},
      {"Concat", concat, "axis"},
      {"DepthToSpace", depth_to_space, "blocksize mode=DCR|CRD"},
      {"Dropout", dropout_op, "seed? ratio"},
      {"Expand", expand_op},
      {"Flatten", flatten, "axis"},
      {"Pad", pad_op, "mode=constant|reflect|edge pads paddings value"},
      {"Reshape", reshape_op, "shape allowzero"},
      {"Slice", slice_op, "starts ends axes"},
      {"SpaceToDepth", space_to_depth, "blocksize"},
      {"Split", split, "axis split"},
      {"Squeeze", squeeze_op, "axes"},
      {"Tile", tile},
      {"Transpose", transpose_op, "perm"},
      {"Trilu", trilu, "upper"},
      {"Unsqueeze", unsqueeze_op, "axes"},
  };
}

}  // namespace plait::conformance
