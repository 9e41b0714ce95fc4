// Reductions, windows and sorts of StableHLO: what a region does is recognised, where plait has an op for it.
#include <algorithm>
#include <cmath>

#include "import/stablehlo/importer.h"
#include "import/windows.h"

namespace plait::stablehlo {
namespace {

// Of a region that is one op of its arguments.
TensorView* reduced(const std::string& op, TensorView* x, const Dims& dims) {
  const bool logical = x->dtype == DType::boolean;
  if (op == "maximum" || (op == "or" && logical)) return logical ? any(x, dims) : amax(x, dims);
  if (op == "minimum" || (op == "and" && logical)) return logical ? all(x, dims) : amin(x, dims);
  if (op == "add") return logical ? any(x, dims) : sum(x, dims);
  if (op == "multiply") return logical ? all(x, dims) : prod(x, dims);
  throw ImportRefusal(op.empty() ? "a region that is not one op of its arguments" : "a reduction by " + op);
}

// Whether reducing from it changes nothing.
bool is_neutral(const std::string& op, const TensorView* init) {
  if (!init->definition) return false;
  const auto* constant = as<Full>(*init->definition);
  if (!constant) return false;
  const DType dtype = init->dtype;
  const double value = constant->value.to_double();
  if (op == "add" || (op == "or" && dtype == DType::boolean)) return value == 0;
  if (op == "multiply" || (op == "and" && dtype == DType::boolean)) return value == 1;
  if (dtype == DType::boolean) return value == (op == "minimum");
  if (op == "maximum") return is_float(dtype) ? value == -INFINITY : value == least_finite(dtype);
  if (op == "minimum") return is_float(dtype) ? value == INFINITY : value == max_finite(dtype);
  return false;
}

TensorView* from(const std::string& op, TensorView* init, TensorView* reduced) {
  return is_neutral(op, init) ? reduced : combined(op, init, convert_to(reduced, init->dtype));
}

// What jax writes for argmax (GT) and argmin (LT): values and positions, the first of equals, NaN before all.
std::string extremum_of(const Region& region) {
  constexpr std::string_view kOps[] = {"compare", "compare", "or",     "compare", "compare",
                                       "and",     "or",      "select", "select",  "return"};
  if (region.operations.size() != std::size(kOps)) return "";
  std::string words;
  for (size_t i = 0; i < std::size(kOps); ++i) {
    const Operation& op = region.operations[i];
    if (op.name != "stablehlo." + std::string(kOps[i])) return "";
    if (kOps[i] != "compare") continue;
    const auto direction = op.attributes.find("comparison_direction");
    words += (direction != op.attributes.end() ? direction->second.text : op.words.empty() ? "" : op.words[0]) + " ";
  }
  return words == "GT NE EQ LT " ? "max" : words == "LT NE EQ LT " ? "min" : "";
}

void reduce_extremum(Call& c, const Dims& dims) {
  require(dims.size() == 1, "positions along {} dims", dims.size());
  const TensorView* place = c.in(1);
  const auto* numbers = place->definition ? as<Iota>(*place->definition) : nullptr;
  require(numbers && numbers->dim == dims[0], "a reduction of two operands that is no argmax");
  const Extremum found =
      extremum_of(c.region()) == "max" ? max_with_argmax(c.in(0), dims) : min_with_argmin(c.in(0), dims);
  c.give(found.value);
  c.give(found.position);
}

void reduce(Call& c) {
  const Dims dims = c.integers({"dimensions"});
  if (c.count() == 4 && !c.op.regions.empty() && !extremum_of(c.region()).empty()) return reduce_extremum(c, dims);
  require(c.count() == 2, "a reduction of {} operands together", c.count() / 2);
  std::string op;
  if (c.has("applies"))
    op = c.attribute({"applies"}).text.substr(std::string("stablehlo.").size());
  else
    op = only_op(c.region());
  TensorView* x = c.in(0);
  if (dims.empty()) return c.give(combined(op, c.in(1), x));
  c.give(from(op, c.in(1), reduced(op, x, dims)));
}

// ---- Windows.
struct ReduceWindow {
  Numbers sizes, strides, dilations, low, high;
};

ReduceWindow window_of(Call& c, size_t rank) {
  ReduceWindow w{c.integers({"window_dimensions"}),
                 c.integers("window_strides", rank, 1),
                 c.integers("window_dilations", rank, 1),
                 {},
                 {}};
  const Numbers pads = c.integers("padding", 2 * rank, 0), base = c.integers("base_dilations", rank, 1);
  require(w.sizes.size() == rank, "windows of {} dims in {}", w.sizes.size(), rank);
  for (size_t d = 0; d < rank; ++d) {
    require(base[d] == 1, "elements between those of the operand");
    for (const int64_t each : {w.sizes[d], w.strides[d], w.dilations[d]})
      require(each >= 1 && each < (1 << 20), "a window or step of {}", each);
    w.low.push_back(pads[2 * d]), w.high.push_back(pads[2 * d + 1]);
    require(std::abs(w.low[d]) < (1 << 20) && std::abs(w.high[d]) < (1 << 20), "pads of {} and {}", w.low[d],
            w.high[d]);
    require(w.low[d] >= 0 && w.high[d] >= 0, "pads of {} and {}", w.low[d], w.high[d]);
  }
  return w;
}

// The dim along which the windows are all that stand before (or behind) an element; -1: they are others.
int64_t running_dim(const ReduceWindow& w, const Numbers& shape, bool& reversed) {
  int64_t found = -1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (w.strides[d] != 1 || w.dilations[d] != 1) return -1;
    if (w.sizes[d] == 1 && w.low[d] == 0 && w.high[d] == 0) continue;
    reversed = w.low[d] == 0;
    const int64_t all = w.low[d] + w.high[d];
    if (found >= 0 || w.sizes[d] != shape[d] || all != shape[d] - 1 || (w.low[d] != 0 && w.high[d] != 0)) return -1;
    found = static_cast<int64_t>(d);
  }
  return found;
}

TensorView* running(const std::string& op, TensorView* x, int64_t dim, bool reversed) {
  if (op == "add" && x->dtype != DType::boolean) return cumsum(x, dim, false, reversed);
  if (op == "multiply" && x->dtype != DType::boolean) return cumprod(x, dim, false, reversed);
  if (op != "maximum" && op != "minimum") return nullptr;
  if (reversed) x = flip(x, {dim});
  TensorView* out = op == "maximum" ? cummax(x, dim).values : cummin(x, dim).values;
  return reversed ? flip(out, {dim}) : out;
}

void reduce_window(Call& c) {
  require(c.count() == 2, "windows of {} operands together", c.count() / 2);
  const std::string op = only_op(c.region());
  TensorView *x = c.in(0), *init = c.in(1);
  const Numbers shape = static_shape(x);
  const ReduceWindow w = window_of(c, shape.size());
  bool reversed = false;
  if (const int64_t dim = running_dim(w, shape, reversed); dim >= 0 && is_neutral(op, init))
    if (TensorView* out = running(op, x, dim, reversed)) return c.give(out);
  const double edge = c.importer.builder().known(init).at(0);
  x = pad(x, extents_of(w.low), extents_of(w.high), edge);
  Dims windows;
  int64_t dim = 0;
  for (size_t d = 0; d < shape.size(); ++d, ++dim) {
    const int64_t room = static_extent(x, dim) - (w.sizes[d] - 1) * w.dilations[d] - 1;
    require(room >= 0, "a window of {} in {} elements", w.sizes[d], static_extent(x, dim));
    if (w.sizes[d] == 1) {
      if (w.strides[d] != 1) x = slice(x, dim, 0, static_extent(x, dim), w.strides[d]);
      continue;
    }
    x = windows_along(x, dim, {w.sizes[d], w.strides[d], w.dilations[d], room / w.strides[d] + 1});
    windows.push_back(dim++);
  }
  c.give(windows.empty() ? from(op, init, x) : from(op, init, reduced(op, x, windows)));
}

// ---- Sorts.
// Which arguments of a comparator a value comes from, by ops that keep its order.
void trace_arguments(const Region& region, const std::string& value, std::set<size_t>& arguments, int depth = 0) {
  for (size_t i = 0; i < region.arguments.size(); ++i)
    if (region.arguments[i] == value) {
      arguments.insert(i);
      return;
    }
  require(depth < 20, "a comparison of many steps");
  for (const Operation& op : region.operations) {
    if (op.result != value) continue;
    const bool known =
        op.name == "stablehlo.select" || op.name == "stablehlo.compare" || op.name == "stablehlo.constant";
    require(known, "a comparison by {}", op.name);
    for (const Operand& in : op.operands) trace_arguments(region, in.name, arguments, depth + 1);
  }
}

// Whether the least comes first. ImportRefusal: the comparator does not compare the first operand's elements.
bool is_ascending(const Region& region) {
  const auto& ops = region.operations;
  require(ops.size() >= 2 && ops.back().operands.size() == 1, "a comparison without a result");
  const Operation& last = ops[ops.size() - 2];
  require(last.name == "stablehlo.compare" && last.operands.size() == 2 && ops.back().operands[0].name == last.result,
          "a comparison of several keys");
  const auto direction = last.attributes.find("comparison_direction");
  const std::string how = direction != last.attributes.end() ? direction->second.text
                          : last.words.empty()               ? ""
                                                             : last.words[0];
  require(how == "LT" || how == "GT", "a comparison by {}", how);
  for (size_t side : {0, 1}) {
    std::set<size_t> arguments;
    trace_arguments(region, last.operands[side].name, arguments);
    require(arguments == std::set<size_t>{side}, "a comparison of others than the first operand's elements");
  }
  return how == "LT";
}

void sort_op(Call& c) {
  TensorView* x = c.in(0);
  const int64_t dim = c.integer("dimension", static_cast<int64_t>(x->rank()) - 1);
  const ValuesAndIndices sorted = sort(x, dim, !is_ascending(c.region()));
  c.give(sorted.values);
  for (size_t i = 1; i < c.count(); ++i) {
    const auto* places = c.in(i)->definition ? as<Iota>(*c.in(i)->definition) : nullptr;
    c.give(places && places->dim == dim ? sorted.indices : gather(c.in(i), sorted.indices, dim, Bounds::assume));
  }
}

void top_k(Call& c) {
  const ValuesAndIndices found = topk(c.in(), c.integer({"k"}), -1, true);
  c.give(found.values);
  c.give(found.indices);
}

}  // namespace

std::vector<OpRow> reduction_rows() {
  return {
      {"reduce", reduce},
      {"reduce_window", reduce_window},
      {"sort", sort_op},
      {"chlo.top_k", top_k},
  };
}

}  // namespace plait::stablehlo
