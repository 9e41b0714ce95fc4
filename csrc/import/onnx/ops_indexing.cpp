// Ops of ONNX that read or write where integers say. Its indices may count from the end, plait's may not.
#include <algorithm>
#include <numeric>

#include "import/onnx/importer.h"

namespace plait::onnx {
namespace {

TensorView* from_front(TensorView* index, sym::Expr extent) {
  if (const auto number = extent.constant()) return where(lt(index, 0), add(index, *number), index);
  return where(lt(index, 0), add(index, size(*index->fusion, extent, index->dtype)), index);
}

// An operand of indices, from the front; constants are settled here.
TensorView* indices_of(Call& c, size_t operand, sym::Expr extent) {
  const ValuePtr index = c.value(operand);
  if (!index->known || !extent.is_constant() || is_float(index->known->dtype)) return from_front(c.in(operand), extent);
  const std::vector<int64_t> numbers = c.integers(operand);
  if (std::ranges::none_of(numbers, [](int64_t at) { return at < 0; })) return c.in(operand);
  std::vector<double> front;
  for (const int64_t at : numbers) front.push_back(static_cast<double>(at < 0 ? at + extent.value() : at));
  return c.importer.view(
      *Importer::constant(Tensor::from_doubles(index->known->dtype, index->known->shape, front), index->name));
}

void gather_op(Call& c) {
  TensorView* x = c.in();
  const int64_t axis = c.axis(0, x->rank());
  const ValuePtr index = c.value(1);
  if (index->known && index->known->shape.empty()) {  // one place: a slice
    const int64_t at = c.integer(1);
    if (at >= 0 || x->extent(static_cast<size_t>(axis)).is_constant()) {
      const int64_t front = at < 0 ? at + extent(x, axis) : at;
      require(front >= 0, "index {} of dim {} of {}", at, axis, type_text(*x));
      const auto whole = x->extent(static_cast<size_t>(axis)).constant();
      require(!whole || front < *whole, "index {} of dim {} of {}", at, axis, type_text(*x));
      if (whole) return c.give(squeeze(slice(x, axis, front, front + 1), {axis}));
    }
  }
  c.give(index_select(x, indices_of(c, 1, size_of_dim(x, axis)), axis));
}

void gather_elements(Call& c) {
  const int64_t axis = c.axis(0, c.in()->rank());
  c.give(gather(c.in(), indices_of(c, 1, size_of_dim(c.in(), axis)), axis));
}

// Indices of the last dim of `index` as one, into the dims of `shape` from `first` on.
TensorView* linear_index(TensorView* index, const std::vector<int64_t>& shape, int64_t first) {
  const auto last = static_cast<int64_t>(index->rank()) - 1;
  TensorView* out = nullptr;
  for (int64_t k = 0; k < extent(index, last); ++k) {
    const int64_t size = shape[static_cast<size_t>(first + k)];
    TensorView* one = squeeze(slice(index, last, k, k + 1), {last});
    one = where(lt(one, 0), add(one, size), one);
    out = out ? add(mul(out, size), one) : one;
  }
  return out;
}

// How many dims the last dim of indices looks up, behind `batch` of them.
int64_t dims_looked_up(const std::vector<int64_t>& places, const std::vector<int64_t>& shape, int64_t batch) {
  const auto rank = static_cast<int64_t>(shape.size());
  require(!places.empty() && batch >= 0 && batch < static_cast<int64_t>(places.size()) && batch <= rank,
          "batch_dims {} of indices of {} dims", batch, places.size());
  require(places.back() >= 1 && places.back() <= rank - batch, "indices into {} of {} dims", places.back(), rank);
  return places.back();
}

void gather_nd(Call& c) {
  TensorView *x = c.in(), *index = c.in(1);
  const std::vector<int64_t> shape = shape_of(x), places = shape_of(index);
  const int64_t batch = c.integer("batch_dims", 0), rank = static_cast<int64_t>(shape.size());
  const int64_t looked = dims_looked_up(places, shape, batch);
  const int64_t batches = product(shape, 0, batch), rows = product(shape, batch, batch + looked);
  std::vector<int64_t> out(places.begin(), places.end() - 1);
  const int64_t count = product(out, batch, static_cast<int64_t>(out.size()));
  TensorView* at = reshape_to(linear_index(index, shape, batch), {batches, count});
  at = add(at, mul(iota(c.fusion(), {batches, count}, 0, index->dtype), rows));
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
  const int64_t axis = c.axis(0, x->rank());
  TensorView* index = indices_of(c, 1, size_of_dim(x, axis));
  c.give(scatter(x, index, c.in(2), axis, update_of(c)));
}

void scatter_nd(Call& c) {
  TensorView *x = c.in(), *index = c.in(1);
  const std::vector<int64_t> shape = shape_of(x), places = shape_of(index);
  const int64_t looked = dims_looked_up(places, shape, 0), rank = static_cast<int64_t>(shape.size());
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
  c.give(index_select(x, index, c.axis(0, x->rank())));
}

void one_hot_op(Call& c) {
  const int64_t depth = c.integer(1), rank = static_cast<int64_t>(c.in()->rank()) + 1;
  TensorView* given = cast(c.in(), DType::i64);
  TensorView* index = where(lt(given, 0), add(given, depth), given);
  TensorView* values = c.in(2);
  TensorView *off = reshape(slice(values, 0, 0, 1), {}), *on = reshape(slice(values, 0, 1, 2), {});
  TensorView* hot = where(one_hot(index, depth, DType::boolean), on, off);
  Dims order = iota_dims(0, rank - 1);
  order.insert(order.begin() + c.axis(-1, static_cast<size_t>(rank)), rank - 1);
  c.give(permute(hot, order));
}

void top_k(Call& c) {
  TensorView* x = c.in();
  const int64_t axis = c.axis(-1, x->rank());
  const int64_t k = c.has_attribute("k") ? c.integer("k", 1) : c.integer(1);
  require(k >= 0, "k is {}", k);
  const ValuesAndIndices found = topk(x, k, axis, c.integer("largest", 1) != 0);
  c.give(found.values);
  c.give(found.indices, 1);
}

void reverse_sequence(Call& c) {
  TensorView* x = c.in();
  const std::vector<int64_t> shape = shape_of(x);
  const int64_t time = c.integer("time_axis", 0), batch = c.integer("batch_axis", 1);
  const auto rank = static_cast<int64_t>(shape.size());
  require(time >= 0 && time < rank && batch >= 0 && batch < rank, "axes {} and {} of {} dims", time, batch, rank);
  std::vector<int64_t> along(shape.size(), 1);
  along[static_cast<size_t>(batch)] = shape[static_cast<size_t>(batch)];
  TensorView* length = reshape_to(c.in(1), along);
  TensorView* place = iota(c.fusion(), extents(shape), time);
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
      {"TopK", top_k, "axis largest sorted k"},
  };
}

}  // namespace plait::onnx
