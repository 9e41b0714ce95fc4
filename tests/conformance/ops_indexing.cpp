// Ops of ONNX that read or write where integers say. Its indices may count from the end, plait's may not.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "conformance/importer.h"

namespace plait::conformance {
namespace {

TensorView* from_front(TensorView* index, int64_t size) { return where(lt(index, 0), add(index, size), index); }

void gather_op(Call& c) {
  const int64_t axis = c.axis(0, static_cast<int64_t>(c.in()->rank()));
  c.give(index_select(c.in(), from_front(c.in(1), extent(c.in(), axis)), axis));
}

void gather_elements(Call& c) {
  const int64_t axis = c.axis(0, static_cast<int64_t>(c.in()->rank()));
  c.give(gather(c.in(), from_front(c.in(1), extent(c.in(), axis)), axis));
}

// Indices of the last dim of `index` as one, into the dims of `shape` from `first` on.
TensorView* linear_index(TensorView* index, const std::vector<int64_t>& shape, int64_t first) {
  const auto last = static_cast<int64_t>(index->rank()) - 1;
  TensorView* out = nullptr;
  for (int64_t k = 0; k < extent(index, last); ++k) {
    const int64_t size = shape[static_cast<size_t>(first + k)];
    TensorView* one = from_front(squeeze(slice(index, last, k, k + 1), {last}), size);
    out = out ? add(mul(out, size), one) : one;
  }
  return out;
}

void gather_nd(Call& c) {
  TensorView *x = c.in(), *index = c.in(1);
  const std::vector<int64_t> shape = shape_of(x), places = shape_of(index);
  const int64_t batch = c.integer("batch_dims", 0), rank = static_cast<int64_t>(shape.size()), looked = places.back();
  const int64_t batches = product(shape, 0, batch), rows = product(shape, batch, batch + looked);
  std::vector<int64_t> out(places.begin(), places.end() - 1);
  const int64_t count = product(out, batch, static_cast<int64_t>(out.size()));
  TensorView* at = reshape_to(linear_index(index, shape, batch), {batches, count});
  at = add(at, mul(iota(c.importer.fusion(), {batches, count}, 0, index->dtype), rows));
  const int64_t rest = product(shape, batch + looked, rank);
  TensorView* found = index_select(reshape_to(x, {batches * rows, rest}), at, 0);
  out.insert(out.end(), shape.begin() + batch + looked, shape.end());
  c.give(reshape_to(found, out));
}

ScatterUpdate update_of(Call& c) {
  const std::string how = c.text("reduction", "none");
  using enum ScatterUpdate;
  return how == "add" ? add : how == "mul" ? mul : how == "max" ? max : how == "min" ? min : set;
}

void scatter_elements(Call& c) {
  TensorView* x = c.in();
  const int64_t axis = c.axis(0, static_cast<int64_t>(x->rank()));
  TensorView* index = from_front(c.in(1), extent(x, axis));
  c.give(scatter(x, index, c.in(2), axis, update_of(c)));
}

void scatter_nd(Call& c) {
  TensorView *x = c.in(), *index = c.in(1);
  const std::vector<int64_t> shape = shape_of(x), places = shape_of(index);
  const int64_t looked = places.back(), rank = static_cast<int64_t>(shape.size());
  const int64_t rows = product(shape, 0, looked), rest = product(shape, looked, rank);
  const int64_t count = product(places, 0, static_cast<int64_t>(places.size()) - 1);
  TensorView* at = expand_to(reshape_to(linear_index(index, shape, 0), {count, 1}), {count, rest});
  TensorView *flat = reshape_to(x, {rows, rest}), *updates = reshape_to(c.in(2), {count, rest});
  c.give(reshape_to(scatter(flat, at, updates, 0, update_of(c)), shape));
}

void compress(Call& c) {
  TensorView* x = c.in();
  if (!c.has_attribute("axis")) x = reshape(x, {-1});
  const std::vector<int64_t> keep = c.integers(1);
  std::vector<double> kept;
  for (size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) kept.push_back(static_cast<double>(i));
  TensorView* index = c.constant(DType::i64, {static_cast<int64_t>(kept.size())}, kept);
  c.give(index_select(x, index, c.axis(0, static_cast<int64_t>(x->rank()))));
}

void one_hot_op(Call& c) {
  const int64_t depth = c.integer(1), rank = static_cast<int64_t>(c.in()->rank()) + 1;
  TensorView* index = from_front(cast(c.in(), DType::i64), depth);
  TensorView* values = c.in(2);
  TensorView *off = reshape(slice(values, 0, 0, 1), {}), *on = reshape(slice(values, 0, 1, 2), {});
  TensorView* hot = where(one_hot(index, depth, DType::boolean), on, off);
  Dims order = iota_dims(0, rank - 1);
  order.insert(order.begin() + c.axis(-1, rank), rank - 1);
  c.give(permute(hot, order));
}

// The extremum, k times, each time among the elements that are not taken yet; of equal ones the first.
void top_k(Call& c) {
  TensorView* x = c.in();
  const std::vector<int64_t> shape = shape_of(x);
  const int64_t axis = c.axis(-1, static_cast<int64_t>(shape.size())), k = c.integer(1);
  const bool largest = c.integer("largest", 1) != 0;
  const bool is_real = is_float(x->dtype);
  PLAIT_CHECK(is_real || x->dtype == DType::i32 || x->dtype == DType::i64, "TopK of {}", name(x->dtype));
  TensorView* place = iota(c.importer.fusion(), extents(shape), axis);
  TensorView* none =
      full(c.importer.fusion(), {}, largest ? least_finite(DType::f32) : max_finite(DType::f32), DType::f32);
  std::vector<TensorView*> values, indices;
  TensorView* left = x;
  for (int64_t i = 0; i < k; ++i) {
    TensorView* at = largest ? argmax(left, {axis}, true) : argmin(left, {axis}, true);
    indices.push_back(at);
    values.push_back(gather(x, at, axis));
    left = where(eq(place, at), cast(none, x->dtype), left);
  }
  c.give(cat(values, axis));
  c.give(cat(indices, axis), 1);
}

void reverse_sequence(Call& c) {
  TensorView* x = c.in();
  const std::vector<int64_t> shape = shape_of(x);
  const int64_t time = c.integer("time_axis", 0), batch = c.integer("batch_axis", 1);
  std::vector<int64_t> along(shape.size(), 1);
  along[static_cast<size_t>(batch)] = shape[static_cast<size_t>(batch)];
  TensorView* length = reshape_to(c.in(1), along);
  TensorView* place = iota(c.importer.fusion(), extents(shape), time);
  c.give(gather(x, where(lt(place, length), sub(sub(length, 1), place), place), time));
}

}  // namespace

std::vector<OpRow> indexing_rows() {
  return {
      {"Compress", compress, "axis"},
      {"Gather", gather_op, "axis"},
      {"GatherElements", gather_elements, "axis"},
      {"GatherND", gather_nd, "batch_dims"},
      {"OneHot", one_hot_op, "axis"},
      {"ReverseSequence", reverse_sequence, "batch_axis time_axis"},
      {"Scatter", scatter_elements, "axis"},
      {"ScatterElements", scatter_elements, "axis reduction=none|add|max|min|mul"},
      {"ScatterND", scatter_nd, "reduction=none|add|max|min|mul"},
      {"TopK", top_k, "axis largest sorted"},
  };
}

}  // namespace plait::conformance
