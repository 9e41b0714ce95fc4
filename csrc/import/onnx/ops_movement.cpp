// Ops of ONNX that move elements.
#include <algorithm>
#include <numeric>

#include "import/onnx/importer.h"

namespace plait::onnx {
namespace {

constexpr int64_t kFar = int64_t{1} << 31;  // what exporters write for "to the end" lies beyond

void reshape_op(Call& c) {
  const Sizes from = c.in()->shape(), to = c.sizes("shape", 1);
  std::vector<Fusion::Extent> shape;
  for (size_t d = 0; d < to.size(); ++d) {
    const auto number = to[d].constant();
    require(!number || *number >= -1, "extent {} of dim {}", number.value_or(0), d);
    if (number == 0 && !c.integer("allowzero", 0)) {
      require(d < from.size(), "dim {} of {} dims is to stay", d, from.size());
      shape.emplace_back(from[d]);
    } else if (number) {
      shape.emplace_back(*number);
    } else {
      shape.emplace_back(to[d]);
    }
  }
  c.give(reshape(c.in(), shape));
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
  const Sizes shape = c.in()->shape();
  const int64_t axis = c.axis(1, shape.size(), true);
  c.give(reshape_to(c.in(), Sizes{product(c.fusion(), shape, 0, axis),
                                  product(c.fusion(), shape, axis, static_cast<int64_t>(shape.size()))}));
}

// Operands of one dim and no elements are no operands, as old exporters write it.
void concat(Call& c) {
  std::vector<TensorView*> parts = c.all();
  const bool some = std::ranges::any_of(parts, [](const TensorView* t) { return t->rank() > 1; });
  if (some) std::erase_if(parts, [](const TensorView* t) { return t->rank() == 1 && t->extent(0).constant() == 0; });
  const int64_t axis = c.axis(1, parts.at(0)->rank());
  c.give(parts.size() == 1 ? set(parts[0]) : cat(parts, axis));
}

void split_op(Call& c) {
  TensorView* x = c.in();
  const int64_t axis = c.axis(0, x->rank()), count = c.integer("num_outputs", static_cast<int64_t>(c.node.out.size()));
  std::vector<int64_t> parts = c.integers("split", 1);
  require(count >= 1 && count == static_cast<int64_t>(c.node.out.size()), "{} parts for {} results", count,
          c.node.out.size());
  const int64_t whole = extent(x, axis);
  if (parts.empty()) parts.assign(c.node.out.size(), (whole + count - 1) / count);
  require(parts.size() == c.node.out.size(), "{} parts for {} results", parts.size(), c.node.out.size());
  int64_t start = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    require(parts[i] >= 0 && parts[i] <= whole, "a part of {} of {}", parts[i], whole);
    const int64_t stop = std::min(start + parts[i], whole);
    c.give(slice(x, axis, start, stop), i);
    start = stop;
  }
}

// From start to stop, not included, in steps that may be negative, of n elements: NumPy's rule.
TensorView* sliced(TensorView* x, int64_t dim, int64_t start, int64_t stop, int64_t step) {
  require(step != 0, "a slice in steps of 0");
  require(step > -kFar && step < kFar, "a slice in steps of {}", step);
  const int64_t n = extent(x, dim), low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  auto clamped = [&](int64_t at) { return std::clamp(at < 0 ? std::max(at, -n - 1) + n : at, low, high); };
  start = clamped(start), stop = clamped(stop);
  if (step > 0) return slice(x, dim, start, std::max(start, stop), step);
  start = n - 1 - start, stop = n - 1 - stop;
  return slice(flip(x, {dim}), dim, start, std::max(start, stop), -step);
}

// The end of a slice in a dim that has no number: a size, or a number from either end.
sym::Expr end_of(sym::Expr at, sym::Expr n) {
  const auto number = at.constant();
  if (!number) return sym::min(at, n);
  if (*number >= kFar) return n;
  if (*number <= -kFar) return n - n;
  return *number < 0 ? sym::max(n + *number, 0) : sym::min(n, *number);
}

TensorView* sliced(TensorView* x, int64_t dim, sym::Expr start, sym::Expr stop, int64_t step) {
  const sym::Expr n = size_of_dim(x, dim);
  if (n.is_constant() && start.is_constant() && stop.is_constant())
    return sliced(x, dim, start.value(), stop.value(), step);
  require(step == 1, "steps of {} in a dim of {}", step, sym::print(n));
  const sym::Expr from = end_of(start, n);
  return slice(x, dim, from, sym::max(from, end_of(stop, n)));
}

void slice_op(Call& c) {
  TensorView* x = c.in();
  const auto rank = static_cast<int64_t>(x->rank());
  const Sizes starts = c.sizes("starts", 1), ends = c.sizes("ends", 2);
  std::vector<int64_t> axes = c.integers("axes", 3);
  std::vector<int64_t> steps = c.has(4) ? c.integers(4) : std::vector<int64_t>(starts.size(), 1);
  if (axes.empty()) axes = iota_dims(0, static_cast<int64_t>(starts.size()));
  require(starts.size() == ends.size() && axes.size() == starts.size() && steps.size() == starts.size(),
          "{} starts, {} ends, {} axes, {} steps", starts.size(), ends.size(), axes.size(), steps.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < -rank || axes[i] >= rank)
      throw ImportRefusal(fmt::format("axis {} of {} dims", axes[i], rank), kValidModel);
    x = sliced(x, axes[i] < 0 ? axes[i] + rank : axes[i], starts[i], ends[i], steps[i]);
  }
  c.give(axes.empty() ? set(x) : x);
}

void expand_op(Call& c) {
  const Sizes asked = c.sizes(1);
  Sizes shape = c.in()->shape();
  if (shape.size() < asked.size())
    shape.insert(shape.begin(), asked.size() - shape.size(), c.fusion().pool().constant(1));
  for (size_t i = 0; i < asked.size(); ++i) {
    sym::Expr& e = shape[shape.size() - asked.size() + i];
    if (e.constant() == 1) e = asked[i];
    require(e.constant().value_or(0) >= 0, "extent {}", sym::print(e));
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

// low and high of each dim of x; those of some axes alone where there are axes.
void read_pads(Call& c, const TensorView* x, std::vector<int64_t>& low, std::vector<int64_t>& high) {
  const auto rank = static_cast<int64_t>(x->rank());
  const std::vector<int64_t> pads = c.has_attribute("paddings") ? c.integers("paddings") : c.integers("pads", 1);
  std::vector<int64_t> axes = c.has(3) ? c.integers(3) : iota_dims(0, rank);
  require(pads.size() == 2 * axes.size(), "{} pads of {} dims", pads.size(), axes.size());
  low.assign(x->rank(), 0), high.assign(x->rank(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < -rank || axes[i] >= rank)
      throw ImportRefusal(fmt::format("axis {} of {} dims", axes[i], rank), kValidModel);
    for (const int64_t each : {pads[i], pads[i + axes.size()]}) require(std::abs(each) < kFar, "a pad of {}", each);
    const auto dim = static_cast<size_t>(axes[i] < 0 ? axes[i] + rank : axes[i]);
    low[dim] = pads[i], high[dim] = pads[i + axes.size()];
  }
}

void pad_op(Call& c) {
  TensorView* x = c.in();
  const std::string mode = c.text("mode", "constant");
  std::vector<int64_t> low, high;
  read_pads(c, x, low, high);
  for (size_t d = 0; d < x->rank(); ++d) {  // negative pads cut
    const auto dim = static_cast<int64_t>(d);
    if (low[d] < 0 || high[d] < 0)
      x = slice(x, dim, std::max<int64_t>(-low[d], 0),
                std::max<int64_t>(extent(x, dim) - std::max<int64_t>(-high[d], 0), 0));
    low[d] = std::max<int64_t>(low[d], 0), high[d] = std::max<int64_t>(high[d], 0);
    if (mode != "constant" && low[d] + high[d] > 0) {
      const int64_t n = extent(x, dim);
      require(n > 0 && (mode == "edge" || std::max(low[d], high[d]) < n), "pads {} and {} of {} elements", low[d],
              high[d], n);
      x = pad_dim(x, dim, low[d], high[d], mode == "reflect");
    }
  }
  const double value = c.has(2) ? c.number(2) : c.number("value", 0);
  c.give(mode == "constant" ? pad(x, extents(low), extents(high), value) : x);
}

void squeeze_op(Call& c) { c.give(squeeze(c.in(), c.integers("axes", 1))); }
void unsqueeze_op(Call& c) { c.give(unsqueeze(c.in(), c.integers("axes", 1))); }

// Extents of an operand [n, c, h, w] and the side of its blocks.
int64_t blocks_of(Call& c, Sizes& shape) {
  shape = c.in()->shape();
  const int64_t side = c.integer("blocksize", 1);
  require(shape.size() == 4, "an operand of {} dims", shape.size());
  require(side >= 1 && side < 10000, "blocks of {}", side);
  return side;
}

void depth_to_space(Call& c) {
  Sizes s;
  const int64_t side = blocks_of(c, s), depth = extent(c.in(), 1) / (side * side);
  require(depth * side * side == extent(c.in(), 1), "blocks of {} of {} channels", side, extent(c.in(), 1));
  const sym::Expr b = c.fusion().pool().constant(side), d = c.fusion().pool().constant(depth);
  const bool columns_first = c.text("mode", "DCR") == "DCR";
  TensorView* x =
      reshape_to(c.in(), columns_first ? Sizes{s[0], b, b, d, s[2], s[3]} : Sizes{s[0], d, b, b, s[2], s[3]});
  x = permute(x, columns_first ? Dims{0, 3, 4, 1, 5, 2} : Dims{0, 1, 4, 2, 5, 3});
  c.give(reshape_to(x, Sizes{s[0], d, s[2] * b, s[3] * b}));
}

void space_to_depth(Call& c) {
  Sizes s;
  const sym::Expr b = c.fusion().pool().constant(blocks_of(c, s));
  const sym::Expr rows = sym::floordiv(s[2], b), columns = sym::floordiv(s[3], b);
  TensorView* x = permute(reshape_to(c.in(), Sizes{s[0], s[1], rows, b, columns, b}), {0, 3, 5, 1, 2, 4});
  c.give(reshape_to(x, Sizes{s[0], s[1] * b * b, rows, columns}));
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

void cast_op(Call& c) { c.give(cast_to(c.in(), c.dtype_attribute("to", 0))); }
void cast_like(Call& c) { c.give(cast_to(c.in(), c.in(1)->dtype)); }
void tile(Call& c) { c.give(repeat(c.in(), c.integers(1))); }

// In training elements are drawn, by a seed of numpy's generator; in inference, or where none are dropped, the operand
// stays, and the mask is all ones.
void dropout_op(Call& c) {
  const double ratio = c.has(1) ? c.number(1) : c.number("ratio", 0.5);
  if (c.has(2) && c.integer(2) != 0 && ratio > 0) throw ImportRefusal("attribute seed of Dropout");
  c.give(set(c.in()));
  if (!c.wants(1)) return;
  const DType mask = c.importer.opset() < 10 ? c.in()->dtype : DType::boolean;
  c.give(full(c.fusion(), extents_of(c.in()->shape()), 1, mask), 1);
}

}  // namespace

std::vector<OpRow> movement_rows() {
  return {
      {"Cast", cast_op, "to saturate=1"},
      {"CastLike", cast_like, "saturate=1"},
      {"Concat", concat, "axis"},
      {"DepthToSpace", depth_to_space, "blocksize mode=DCR|CRD"},
      {"Dropout", dropout_op, "seed? ratio"},
      {"Expand", expand_op},
      {"Flatten", flatten, "axis"},
      {"Pad", pad_op, "mode=constant|reflect|edge pads paddings value"},
      {"Reshape", reshape_op, "shape allowzero"},
      {"Slice", slice_op, "starts ends axes"},
      {"SpaceToDepth", space_to_depth, "blocksize"},
      {"Split", split_op, "axis split num_outputs"},
      {"Squeeze", squeeze_op, "axes"},
      {"Tile", tile},
      {"Transpose", transpose_op, "perm"},
      {"Trilu", trilu, "upper"},
      {"Unsqueeze", unsqueeze_op, "axes"},
  };
}

}  // namespace plait::onnx
