#include "reference/draw_inputs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/error.h"
#include "reference/evaluator.h"
#include "scalar/convert.h"
#include "scalar/philox.h"

namespace plait::reference {
namespace {

// Level 0 to 3: integers up to 8, 4, 2, 1 in size; each further level makes every second nonzero 0.
constexpr int kLargest = 8, kSparseLevel = 3, kMaxLevel = 14;

bool is_seed(const TensorView& input) { return input.dtype == DType::u64 && input.rank() == 0; }

int64_t small_integer(uint32_t word, int level, DType dtype) {
  const int zeros = std::max(0, level - kSparseLevel);
  // f8e5m2 is exact up to 8, where a sum could already have been rounded.
  const int64_t largest = std::min<int64_t>(std::max(1, kLargest >> level), max_exact_integer(dtype) - 1);
  if (zeros > 0 && word >> (32 - zeros) != 0) return 0;
  const int64_t value = static_cast<int64_t>(word & 0xffff) % (2 * largest + 1) - largest;
  return is_unsigned(dtype) ? std::abs(value) : value;
}

// The extent that an op looks up with this operand, or no expression.
sym::Expr indexed_extent(const Op& op, const TensorView* index) {
  const auto along = [&](const TensorView* mine, const TensorView* in, int64_t dim) {
    return mine == index ? in->extent(static_cast<size_t>(dim)) : sym::Expr();
  };
  if (const auto* o = as<Gather>(op)) return along(o->index, o->in, o->dim);
  if (const auto* o = as<IndexSelect>(op)) return along(o->index, o->in, o->dim);
  if (const auto* o = as<Scatter>(op)) return along(o->index, o->in, o->dim);
  if (const auto* o = as<TakeAlong>(op)) return along(o->index, o->in, o->dim);
  if (const auto* o = as<Embedding>(op)) return along(o->index, o->table, 0);
  const auto slice = [&](const TensorView* mine, const TensorView* in, int64_t dim, sym::Expr size) {
    const sym::Expr extent = in->extent(static_cast<size_t>(dim));  // of positions at which a slice fits
    return mine == index ? sym::max(extent - size + 1, 1) : sym::Expr();
  };
  if (const auto* o = as<SliceAt>(op)) return slice(o->at, o->in, o->dim, o->size);
  if (const auto* o = as<SliceUpdate>(op))
    return slice(o->at, o->in, o->dim, o->start + o->update->extent(static_cast<size_t>(o->dim)));
  if (const auto* o = as<CrossEntropy>(op)) return along(o->target, o->x, static_cast<int64_t>(o->x->rank()) - 1);
  if (const auto* o = as<OneHot>(op)) return o->classes;
  return {};
}

// Whether the result holds elements of the operand as they are, perhaps as another integer.
bool hands_on(const Op& op, const TensorView* operand) {
  if (is_float(op.results[0]->dtype) || op.kind == OpKind::Bitcast) return false;
  if (const PointwiseOp* p = as<PointwiseOp>(op)) return p->function == Pointwise::cast;
  if (const auto* o = as<Gather>(op)) return o->in == operand;
  if (const auto* o = as<IndexSelect>(op)) return o->in == operand;
  if (const auto* o = as<Scatter>(op)) return !rounds(o->update) && (o->in == operand || o->src == operand);
  if (const auto* o = as<TakeAlong>(op)) return o->in == operand;
  if (const auto* o = as<Embedding>(op)) return o->table == operand;
  return property(op.kind) == OpProperty::movement || op.kind == OpKind::Set || op.kind == OpKind::Stack ||
         op.kind == OpKind::Expand || op.kind == OpKind::Split || op.kind == OpKind::Reshard;
}

// Where a tensor is an index of ops, itself or behind moves and casts: the least extent they look up. 0: it is none.
int64_t index_limit(const Fusion& fusion, const TensorView& tensor, const sym::Environment& sizes) {
  std::set<const TensorView*> reached{&tensor};
  int64_t limit = 0;
  for (const Op* op : fusion.ops())  // in order: operands first
    for (const TensorView* in : inputs(*op)) {
      if (!reached.contains(in)) continue;
      if (hands_on(*op, in)) reached.insert(op->results.begin(), op->results.end());
      const sym::Expr extent = indexed_extent(*op, in);
      if (!extent) continue;
      const int64_t found = sym::evaluate(extent, sizes);
      limit = limit == 0 ? found : std::min(limit, found);
    }
  return limit;
}

// The values that are drawn for an integer input, begin <= value < end: those of its range, as far as ops look up.
// Nothing where neither is stated.
struct Drawable {
  int64_t begin = 0, end = 0;
};
std::optional<Drawable> drawable(const Fusion& fusion, const TensorView& input, const sym::Environment& sizes) {
  if (is_float(input.dtype) || input.dtype == DType::boolean) return std::nullopt;
  const int64_t limit = index_limit(fusion, input, sizes);
  if (!input.range) return limit > 0 ? std::optional(Drawable{0, limit}) : std::nullopt;
  const Drawable stated{sym::evaluate(input.range->begin, sizes), sym::evaluate(input.range->end, sizes)};
  const Drawable both{std::max<int64_t>(stated.begin, 0), std::min(stated.end, limit)};
  return limit > 0 && both.begin < both.end ? both : stated;
}

struct Draw {
  const TensorView& input;
  int64_t ordinal;
  std::optional<Drawable> values;
  std::vector<int64_t> shape;
};

Tensor draw(const Draw& what, const DrawOptions& options, int level) {
  const auto& [input, ordinal, values, shape] = what;
  Tensor tensor = Tensor::empty(input.dtype, shape);
  auto* bytes = static_cast<std::byte*>(tensor.data());
  if (values && values->begin >= values->end && tensor.elements() > 0)
    throw UserError(fmt::format("nothing is in {}..{}", values->begin, values->end),
                    fmt::format("%{}: {}", input.name, type_text(input)), "set sizes that leave values in the range");
  const bool is_normal = is_float(input.dtype) && !options.exact;
  const double scale = input.role == TensorRole::parameter ? 0.02 : 1.0;
  std::array<uint32_t, 4> words{};  // of the four elements from i - i % 4 on
  std::array<double, 4> numbers{};
  for (int64_t i = 0; i < tensor.elements(); ++i, bytes += size_of(input.dtype)) {
    if (i % 4 == 0) {
      words = philox(options.seed, static_cast<uint64_t>(i / 4), static_cast<uint64_t>(ordinal));
      if (is_normal) numbers = normals(words);
    }
    const uint32_t word = words[static_cast<size_t>(i % 4)];
    if (is_normal)
      store_double(input.dtype, bytes, numbers[static_cast<size_t>(i % 4)] * scale);
    else if (is_seed(input))
      store_int64(input.dtype, bytes, static_cast<int64_t>(options.seed));
    else if (input.dtype == DType::boolean)
      store_int64(input.dtype, bytes, word >> 31);
    else if (values)
      store_int64(input.dtype, bytes,
                  values->begin + static_cast<int64_t>(word % static_cast<uint64_t>(values->end - values->begin)));
    else if (!is_float(input.dtype))
      store_int64(input.dtype, bytes, small_integer(word, level, input.dtype));
    else
      store_double(input.dtype, bytes, static_cast<double>(small_integer(word, level, input.dtype)));
  }
  return tensor;
}

bool is_comparison(const Op& op) {
  const PointwiseOp* p = as<PointwiseOp>(op);
  return p && info(p->function).type_rule == TypeRule::compare;
}

bool only_compared(const Fusion& fusion, const TensorView& tensor) {
  const auto& readers = fusion.readers(&tensor);
  return !fusion.is_output(&tensor) && std::ranges::all_of(readers, [](const Op* op) { return is_comparison(*op); });
}

bool keeps_integers(const Fusion& fusion, const Op& op) {
  return visit(op,
               overloaded{
                   [&](const PointwiseOp& o) { return info(o.function).keeps_integers; },
                   [&](const Full& o) {
                     const double value = o.value.to_double();
                     return (std::isfinite(value) && value == std::trunc(value)) || only_compared(fusion, *o.out());
                   },
                   [&](const Uniform& o) { return only_compared(fusion, *o.out()); },
                   [](const Iota&) { return true; },
                   [](const Size&) { return true; },
                   [&](const Normal& o) { return only_compared(fusion, *o.out()); },
                   [](const Reduce&) { return true; },
                   [](const Var&) { return false; },
                   [](const VarMean&) { return false; },
                   [](const MaxWithArgmax&) { return true; },
                   [](const MinWithArgmin&) { return true; },
                   []<class T>(const T&)
                     requires(is_scan(T::kKind))
                   { return T::kKind != OpKind::LogCumSumExp; },
                   [](const Sort&) { return true; },
                   [](const Permute&) { return true; },
                   [](const Broadcast&) { return true; },
                   [](const Squeeze&) { return true; },
                   [](const Unsqueeze&) { return true; },
                   [](const Reshape&) { return true; },
                   [](const Slice&) { return true; },
                   [](const Cat&) { return true; },
                   [](const Flip&) { return true; },
                   [](const Roll&) { return true; },
                   [](const Repeat&) { return true; },
                   [](const Gather&) { return true; },
                   [](const IndexSelect&) { return true; },
                   [](const Scatter&) { return true; },
                   [&](const Linear&) { return true; },
                   [&](const Matmul&) { return true; },
                   [&](const Reshard&) { return true; },
                   [&](const AllReduce&) { return true; },
                   [&](const AllGather&) { return true; },
                   [&](const ReduceScatter&) { return true; },
                   [&](const AllToAll&) { return true; },
                   [&](const GatherRange&) { return true; },
                   [&](const GatherBlock&) { return true; },
                   [&](const LocalSlice&) { return true; },
                   [](const Pad& o) { return o.value == std::trunc(o.value) || !is_float(o.in->dtype); },
                   [](const Bitcast& o) { return !is_float(o.in->dtype) && !is_float(o.to); },
                   []<Composite Node>(const Node& o) -> bool { PLAIT_CHECK(false, "{} is not opened", describe(o)); },
                   });
}

// How far a value lies beyond the integers of its dtype; at most 1 when it is surely one of them and was not rounded.
double excess(double value, DType dtype) {
  if (!is_float(dtype)) return 0;
  if (value != std::trunc(value)) return HUGE_VAL;
  return (std::abs(value) + 1) / static_cast<double>(max_exact_integer(dtype));
}

class ExactDraw {
 public:
  // `fusion` is `written` with its composites opened.
  ExactDraw(const Fusion& fusion, const Fusion& written, const DrawOptions& options)
      : fusion_(fusion),
        written_(written),
        options_(options),
        sizes_(bind_sizes(fusion, options.given, options.sizes)) {
    evaluate_options_.radius = false;
    evaluate_options_.spread = true;
  }

  std::map<std::string, Tensor> run() {
    for (size_t i = 0; i < fusion_.inputs().size(); ++i) draw_one(i);
    while (!pass()) {}
    return tensors_;
  }

 private:
  void draw_one(size_t i);
  bool pass();
  double excess_of(const Op& op, const TensorView& result) const;
  void thin(const Op& op, double excess);
  std::set<size_t> sources(const TensorView* tensor) const;
  void drop_readers(const TensorView* tensor);

  const Fusion &fusion_, &written_;
  const DrawOptions& options_;
  sym::Environment sizes_;
  EvaluateOptions evaluate_options_;
  std::map<size_t, int> level_;  // of the inputs that may be drawn again
  std::map<std::string, Tensor> tensors_;
  Operands values_;
};

void ExactDraw::draw_one(size_t i) {
  const TensorView& input = *fusion_.inputs()[i];
  const Context context{fusion_, sizes_, evaluate_options_};
  const auto given = options_.given.find(input.name);
  const Draw what{input, static_cast<int64_t>(i), drawable(written_, *written_.inputs()[i], sizes_),
                  context.shape(input.shape())};
  Tensor tensor = given != options_.given.end() ? given->second : draw(what, options_, level_[i]);
  if (given != options_.given.end() || is_seed(input) || input.dtype == DType::boolean || what.values) level_.erase(i);
  values_[&input] = from_tensor(tensor);
  tensors_[input.name] = std::move(tensor);
  for (double value : values_[&input].value)
    if (excess(value, input.dtype) > 1)
      throw UserError(fmt::format("%{} holds {}", input.name, value), "exact-integer mode", "give small integers");
}

// Evaluates what is missing; false when an op was not exact and inputs were drawn again.
bool ExactDraw::pass() {
  const Context context{fusion_, sizes_, evaluate_options_};
  for (const Op* op : fusion_.ops()) {
    if (values_.contains(op->results[0])) continue;
    evaluate_into(*op, values_, context);
    double most = 0;
    for (const TensorView* t : op->results) most = std::max(most, excess_of(*op, *t));
    if (most <= 1) continue;
    thin(*op, most);
    return false;
  }
  return true;
}

double ExactDraw::excess_of(const Op& op, const TensorView& result) const {
  if (op.kind == OpKind::Uniform || op.kind == OpKind::Normal || op.kind == OpKind::Full) return 0;
  const Array& out = values_.at(&result);
  // A NaN meets a NaN (of an index outside), an infinity that is copied or is the extremum of nothing the same.
  const bool computes = property(op.kind) != OpProperty::movement && property(op.kind) != OpProperty::indexing &&
                        op.kind != OpKind::Reduce && op.kind != OpKind::MaxWithArgmax &&
                        op.kind != OpKind::MinWithArgmin && op.kind != OpKind::CumMax && op.kind != OpKind::CumMin;
  double most = 0;
  for (double value : out.value)
    if (!std::isnan(value) && (computes || std::isfinite(value))) most = std::max(most, excess(value, out.dtype));
  if (out.spread.empty()) return most;
  double bias = 0;
  if (const Linear* linear = as<Linear>(op); linear && linear->b)
    for (double value : values_.at(linear->b).value) bias = std::max(bias, std::abs(value));
  const DType kept = fusion_.has_mesh() ? out.dtype : accumulation_type(out.dtype);
  for (double sum : out.spread)
    most = std::max(most, std::max(excess(sum + bias, accumulation_type(out.dtype)), excess(sum, kept)));
  return most;
}

// Inputs that a tensor is computed from and that may be drawn again.
std::set<size_t> ExactDraw::sources(const TensorView* tensor) const {
  std::set<size_t> found;
  std::set<const TensorView*> seen{tensor};
  for (std::vector<const TensorView*> todo{tensor}; !todo.empty();) {
    const TensorView* t = todo.back();
    todo.pop_back();
    if (t->definition)
      for (const TensorView* operand : inputs(*t->definition))
        if (seen.insert(operand).second) todo.push_back(operand);
  }
  for (const auto& [i, level] : level_)
    if (seen.contains(fusion_.inputs()[i])) found.insert(i);
  return found;
}

// Halves the size of as many inputs of the op as its excess asks for, the largest first.
void ExactDraw::thin(const Op& op, double excess) {
  const std::set<size_t> drawn = sources(op.results[0]);
  std::set<size_t> changed;
  const Reduce* reduce = as<Reduce>(op);
  const bool one_step =
      !std::isfinite(excess) || (reduce && reduce->function == Reduction::prod) || op.kind == OpKind::CumProd;
  const int steps = !one_step ? std::max(1, static_cast<int>(std::ceil(std::log2(excess)))) : 1;
  for (int step = 0; step < steps; ++step) {
    const auto least =
        std::min_element(drawn.rbegin(), drawn.rend(), [&](size_t a, size_t b) { return level_.at(a) < level_.at(b); });
    if (least == drawn.rend() || level_.at(*least) >= kMaxLevel)
      throw UserError(
          fmt::format("no small integers keep %{} exact in {}", op.results[0]->name, name(op.results[0]->dtype)),
          describe(op), "use smaller sizes, a wider dtype, or leave out --exact");
    ++level_[*least];
    changed.insert(*least);
  }
  for (size_t i : changed) {
    drop_readers(fusion_.inputs()[i]);
    draw_one(i);
  }
  for (const TensorView* t : op.results) values_.erase(t);
}

void ExactDraw::drop_readers(const TensorView* tensor) {
  for (const Op* reader : fusion_.readers(tensor))
    for (const TensorView* result : reader->results)
      if (values_.erase(result)) drop_readers(result);
}

}  // namespace

bool supports_exact(const Fusion& fusion, std::string* why) {
  const auto opened = open_composites(fusion);
  auto written = fusion.ops().begin();  // the op that the opened ones stand for
  size_t results = 0;                   // of it that were made
  for (const Op* op : opened->ops()) {
    if (!keeps_integers(*opened, *op)) {
      if (why) *why = describe(**written) + " leaves the integers";
      return false;
    }
    for (const TensorView* result : (*written)->results)
      for (const TensorView* made : op->results) results += result->name == made->name;
    if (results == (*written)->results.size()) ++written, results = 0;
  }
  return true;
}

namespace {

std::map<std::string, Tensor> draw_row_major(const Fusion& fusion, const DrawOptions& options) {
  if (options.exact) {
    std::string why;
    if (!supports_exact(fusion, &why)) throw UserError(why, "exact-integer mode", "leave out --exact, or the op");
    return ExactDraw(*open_composites(fusion), fusion, options).run();
  }
  const sym::Environment sizes = bind_sizes(fusion, options.given, options.sizes);
  const EvaluateOptions none;
  const Context context{fusion, sizes, none};
  std::map<std::string, Tensor> tensors = options.given;
  for (size_t i = 0; i < fusion.inputs().size(); ++i) {
    const TensorView& input = *fusion.inputs()[i];
    if (!tensors.contains(input.name))
      tensors[input.name] = draw(
          {input, static_cast<int64_t>(i), drawable(fusion, input, sizes), context.shape(input.shape())}, options, 0);
  }
  return tensors;
}

}  // namespace

std::map<std::string, Tensor> draw_inputs(const Fusion& fusion, const DrawOptions& options) {
  std::map<std::string, Tensor> tensors = draw_row_major(fusion, options);
  HostAllocator allocator;
  for (const TensorView* t : fusion.inputs())
    if (!options.given.contains(t->name)) tensors[t->name] = tensors[t->name].in_order(t->domain.allocation, allocator);
  return tensors;
}

}  // namespace plait::reference
