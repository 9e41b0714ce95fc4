// Ops of StableHLO that read or write where integers say. Reads are moved to where all of a slice lies inside, writes
// outside are left out.
#include <algorithm>

#include "import/stablehlo/importer.h"

namespace plait::stablehlo {
namespace {

TensorView* reshaped(TensorView* t, const Numbers& shape) {
  return static_shape(t) == shape ? t : reshape(t, extents_of(shape));
}

bool holds_dim(const Numbers& list, int64_t value) { return std::ranges::find(list, value) != list.end(); }

// A start so that `size` elements from there on lie inside of `extent`.
TensorView* clamped(TensorView* at, int64_t extent, int64_t size) {
  if (is_unsigned(at->dtype)) at = cast(at, DType::i64);
  return clamp(at, 0, extent - size);
}

TensorView* start_of(TensorView* at, int64_t extent, int64_t size) {
  at = clamped(at, extent, size);
  return at->dtype == DType::i32 || at->dtype == DType::i64 ? at : cast(at, DType::i64);
}

void dynamic_slice(Call& c) {
  TensorView* x = c.in();
  const Numbers sizes = c.integers({"sizes", "slice_sizes"}), shape = static_shape(x);
  require(sizes.size() == shape.size() && c.count() == shape.size() + 1, "{} sizes of {} dims", sizes.size(),
          shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    require(sizes[d] >= 0 && sizes[d] <= shape[d], "{} of {} elements", sizes[d], shape[d]);
    if (sizes[d] != shape[d])
      x = slice_at(x, start_of(c.in(d + 1), shape[d], sizes[d]), static_cast<int64_t>(d), sizes[d], Bounds::assume);
  }
  c.give(x);
}

// In those dims of which `update` has a part, from `d` on.
TensorView* updated(TensorView* x, TensorView* update, const Values& starts, size_t d) {
  while (d < x->rank() && static_extent(x, static_cast<int64_t>(d)) == static_extent(update, static_cast<int64_t>(d)))
    ++d;
  if (d == x->rank()) return update;
  const auto dim = static_cast<int64_t>(d);
  const int64_t size = static_extent(update, dim);
  TensorView* at = start_of(starts[d], static_extent(x, dim), size);
  TensorView* inside = updated(slice_at(x, at, dim, size, Bounds::assume), update, starts, d + 1);
  return slice_update(x, inside, at, dim, Bounds::assume);
}

void dynamic_update_slice(Call& c) {
  TensorView *x = c.in(0), *update = c.in(1);
  require(update->rank() == x->rank() && c.count() == x->rank() + 2, "{} starts of {} dims", c.count() - 2, x->rank());
  Values starts;
  for (size_t d = 0; d < x->rank(); ++d) {
    require(static_extent(update, static_cast<int64_t>(d)) <= static_extent(x, static_cast<int64_t>(d)),
            "an update that is larger");
    starts.push_back(c.in(d + 2));
  }
  c.give(updated(x, update, starts, 0));
}

// ---- Lookups and scatters: both are of one form, a window of the operand for each place of the indices.
struct IndexDims {
  Numbers window, collapsed, operand_batch, index_batch, mapped;  // window: dims of the result or of the updates
  int64_t vector_dim = 0;
};

IndexDims index_dims(Call& c, bool scatters) {
  const Attributes& d = c.attribute({scatters ? "scatter_dimension_numbers" : "dimension_numbers"}).dictionary;
  IndexDims out{integers_in(d, scatters ? "update_window_dims" : "offset_dims"),
                integers_in(d, scatters ? "inserted_window_dims" : "collapsed_slice_dims"),
                integers_in(d, scatters ? "input_batching_dims" : "operand_batching_dims"),
                integers_in(d, scatters ? "scatter_indices_batching_dims" : "start_indices_batching_dims"),
                integers_in(d, scatters ? "scatter_dims_to_operand_dims" : "start_index_map"),
                0};
  if (const auto at = d.find("index_vector_dim"); at != d.end()) out.vector_dim = integer_in(at->second);
  return out;
}

// Shapes and places of a lookup or scatter, checked.
struct Windows {
  Call& c;
  IndexDims dims;
  Numbers operand, slices, whole;   // extents of the operand, of a window, and of the result or the updates
  Numbers places;                   // dims of `whole` that are no window's
  TensorView* index = nullptr;      // [places..., coordinates]
  std::vector<int64_t> window_dim;  // by dim of the operand: of `whole`, or -1

  Windows(Call& call, const IndexDims& given, const TensorView* x, TensorView* indices, Numbers sizes, Numbers result)
      : c(call), dims(given), operand(static_shape(x)), slices(std::move(sizes)), whole(std::move(result)) {
    const auto rank = static_cast<int64_t>(operand.size());
    require(slices.size() == operand.size(), "{} sizes of {} dims", slices.size(), rank);
    for (size_t d = 0; d < operand.size(); ++d)
      require(slices[d] >= 0 && slices[d] <= operand[d], "{} of {} elements", slices[d], operand[d]);
    for (const Numbers* list : {&dims.collapsed, &dims.operand_batch, &dims.mapped})
      for (const int64_t d : *list) require(d >= 0 && d < rank, "dim {} of {}", d, rank);
    const auto index_rank = static_cast<int64_t>(indices->rank());
    require(dims.vector_dim >= 0 && dims.vector_dim <= index_rank, "index_vector_dim {}", dims.vector_dim);
    index = dims.vector_dim == index_rank ? unsqueeze(indices, {index_rank}) : indices;
    Dims order;
    for (int64_t d = 0; d < static_cast<int64_t>(index->rank()); ++d)
      if (d != dims.vector_dim) order.push_back(d);
    order.push_back(dims.vector_dim);
    if (dims.vector_dim + 1 != static_cast<int64_t>(index->rank())) index = permute(index, order);
    require(static_extent(index, static_cast<int64_t>(index->rank()) - 1) == static_cast<int64_t>(dims.mapped.size()),
            "{} coordinates", dims.mapped.size());
    for (int64_t d = 0; d < static_cast<int64_t>(whole.size()); ++d)
      if (!holds_dim(dims.window, d)) places.push_back(d);
    require(places.size() + 1 == index->rank(), "{} places of {} dims", places.size(), index->rank() - 1);
    assign_windows();
  }

  void assign_windows() {
    size_t next = 0;
    for (size_t d = 0; d < operand.size(); ++d) {
      const auto dim = static_cast<int64_t>(d);
      const bool gone = holds_dim(dims.collapsed, dim) || holds_dim(dims.operand_batch, dim);
      require(gone || next < dims.window.size(), "a window of {} dims", dims.window.size());
      require(!gone || slices[d] == 1, "a dim of {} that is left out", slices[d]);
      window_dim.push_back(gone ? -1 : dims.window[next++]);
      if (gone) continue;
      const int64_t at = window_dim.back();
      require(at >= 0 && at < static_cast<int64_t>(whole.size()) && whole[static_cast<size_t>(at)] == slices[d],
              "a window of {} elements", slices[d]);
    }
    require(next == dims.window.size(), "a window of {} dims", dims.window.size());
    require(dims.operand_batch.size() == dims.index_batch.size(), "{} batch dims", dims.operand_batch.size());
    for (const int64_t d : dims.index_batch)
      require(d >= 0 && d < static_cast<int64_t>(places.size()) + 1 && d != dims.vector_dim,
              "batch dim {} of the indices", d);
  }

  // Coordinate k of every place, [places...].
  TensorView* coordinate(size_t k) const {
    const auto last = static_cast<int64_t>(index->rank()) - 1;
    return squeeze(slice(index, last, static_cast<int64_t>(k), static_cast<int64_t>(k) + 1), {last});
  }

  // Of every element of `whole` its coordinate in a dim of the operand, i64; `keep` moves starts inside, else `valid`
  // gets the condition that it lies there.
  TensorView* coordinate_in(size_t d, bool keep, TensorView*& valid) {
    const auto dim = static_cast<int64_t>(d);
    TensorView* out = nullptr;
    if (const auto mapped = std::ranges::find(dims.mapped, dim); mapped != dims.mapped.end()) {
      TensorView* start = cast(coordinate(static_cast<size_t>(mapped - dims.mapped.begin())), DType::i64);
      if (keep) start = clamp(start, 0, operand[d] - slices[d]);
      out = broadcast(start, extents_of(whole), places);
    }
    const auto batch = std::ranges::find(dims.operand_batch, dim);
    int64_t along = window_dim[d];
    if (batch != dims.operand_batch.end()) {
      int64_t place = dims.index_batch[static_cast<size_t>(batch - dims.operand_batch.begin())];
      if (place > dims.vector_dim) --place;
      along = places[static_cast<size_t>(place)];
    }
    if (along >= 0 && (slices[d] > 1 || batch != dims.operand_batch.end())) {
      TensorView* inside = iota(c.fusion(), extents_of(whole), along);
      out = out ? add(out, inside) : inside;
    }
    if (!keep && holds_dim(dims.mapped, dim)) {
      TensorView* here = logical_and(ge(out, 0), lt(out, operand[d]));
      valid = valid ? logical_and(valid, here) : here;
    }
    return out;
  }

  // The row-major index in the operand of every element of `whole`; -1 of those outside.
  TensorView* linear(bool keep) {
    TensorView *out = nullptr, *valid = nullptr;
    int64_t step = 1;
    for (size_t d = operand.size(); d-- > 0;) {
      if (TensorView* at = coordinate_in(d, keep, valid)) {
        if (step != 1) at = mul(at, step);
        out = out ? add(out, at) : at;
      }
      step *= std::max<int64_t>(operand[d], 1);
      require(step < (int64_t{1} << 48), "an operand of more than 2^48 elements");
    }
    if (!out) out = full(c.fusion(), extents_of(whole), 0, DType::i64);
    return valid ? where(valid, out, -1) : out;
  }

  // Whether one dim is looked up, an element at a time, and all others are whole: the dim, else -1.
  int64_t only_dim() const {
    if (dims.mapped.size() != 1 || !dims.operand_batch.empty() || dims.collapsed != dims.mapped) return -1;
    for (size_t d = 0; d < operand.size(); ++d)
      if (static_cast<int64_t>(d) != dims.mapped[0] && slices[d] != operand[d]) return -1;
    return dims.mapped[0];
  }

  // Whether each row of the operand is looked up by the indices of the same row: the dim, else -1.
  int64_t row_dim() const {
    if (dims.mapped.size() != 1 || !dims.window.empty() || dims.collapsed != dims.mapped) return -1;
    if (dims.operand_batch.size() + 1 != operand.size() || dims.operand_batch != dims.index_batch) return -1;
    for (const int64_t d : dims.operand_batch)
      if (whole.size() != operand.size() || d >= dims.vector_dim) return -1;
    return dims.mapped[0];
  }
};

void gather_op(Call& c) {
  TensorView* x = c.in(0);
  Windows w(c, index_dims(c, false), x, c.in(1), c.integers({"slice_sizes"}), c.shape());
  if (const int64_t dim = w.row_dim(); dim >= 0)
    return c.give(gather(x, start_of(w.coordinate(0), w.operand[static_cast<size_t>(dim)], 1), dim, Bounds::assume));
  const int64_t dim = w.only_dim();
  if (dim < 0) return c.give(index_select(reshape(x, {-1}), w.linear(true), 0, Bounds::assume));
  TensorView* found =
      index_select(x, start_of(w.coordinate(0), w.operand[static_cast<size_t>(dim)], 1), dim, Bounds::assume);
  // Dims before the looked up one, those of the indices, those behind it; each goes to its place in the result.
  Dims back(w.whole.size(), -1);
  int64_t at = 0;
  for (size_t d = 0; d < w.operand.size(); ++d) {
    if (static_cast<int64_t>(d) == dim)
      for (const int64_t place : w.places) back[static_cast<size_t>(place)] = at++;
    else
      back[static_cast<size_t>(w.window_dim[d])] = at++;
  }
  c.give(std::ranges::is_sorted(back) ? found : permute(found, back));
}

ScatterUpdate update_by(const std::string& op, DType dtype) {
  const bool logical = dtype == DType::boolean;
  if (op == "set") return ScatterUpdate::set;
  if (op == "add" && !logical) return ScatterUpdate::add;
  if (op == "multiply" && !logical) return ScatterUpdate::mul;
  if (op == "maximum") return ScatterUpdate::max;
  if (op == "minimum") return ScatterUpdate::min;
  throw ImportRefusal(op.empty() ? "a region that is not one op of its arguments" : "updates by " + op);
}

// Extents of a window, which the updates have.
Numbers window_sizes(const IndexDims& dims, const Numbers& operand, const Numbers& updates) {
  Numbers out;
  size_t next = 0;
  for (size_t d = 0; d < operand.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    const bool gone = holds_dim(dims.collapsed, dim) || holds_dim(dims.operand_batch, dim);
    require(gone || next < dims.window.size(), "a window of {} dims", dims.window.size());
    const int64_t at = gone ? 0 : dims.window[next++];
    require(gone || (at >= 0 && at < static_cast<int64_t>(updates.size())), "dim {} of the updates", at);
    out.push_back(gone ? 1 : updates[static_cast<size_t>(at)]);
  }
  return out;
}

void scatter_op(Call& c) {
  require(c.count() == 3, "scatters of {} operands together", c.count() / 2);
  TensorView *x = c.in(0), *updates = c.in(2);
  const IndexDims dims = index_dims(c, true);
  const Numbers operand = static_shape(x), shape = static_shape(updates);
  Windows w(c, dims, x, c.in(1), window_sizes(dims, operand, shape), shape);
  const ScatterUpdate how = update_by(only_op(c.region()), x->dtype);
  // Rows: the first dim is looked up, the updates have those rows behind their places.
  const bool rows = w.only_dim() == 0 && std::ranges::is_sorted(w.dims.window) &&
                    (w.dims.window.empty() || w.dims.window[0] == static_cast<int64_t>(w.places.size()));
  if (!rows)
    return c.give(reshape(
        scatter(reshape(x, {-1}), reshape(w.linear(false), {-1}), reshape(updates, {-1}), 0, how, Bounds::assume),
        extents_of(operand)));
  int64_t count = 1, rest = 1;
  for (const int64_t place : w.places) count *= shape[static_cast<size_t>(place)];
  for (size_t d = 1; d < operand.size(); ++d) rest *= operand[d];
  TensorView* at = reshape(cast(w.coordinate(0), DType::i64), {count, 1});
  at = expand(at, {count, rest});
  c.give(reshaped(
      scatter(reshaped(x, {operand[0], rest}), at, reshaped(updates, {count, rest}), 0, how, Bounds::assume), operand));
}

}  // namespace

std::vector<OpRow> indexing_rows() {
  return {
      {"dynamic_slice", dynamic_slice},
      {"dynamic_update_slice", dynamic_update_slice},
      {"gather", gather_op},
      {"scatter", scatter_op},
  };
}

}  // namespace plait::stablehlo
