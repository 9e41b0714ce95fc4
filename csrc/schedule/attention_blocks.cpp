#include "schedule/attention_blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "ir/op.h"
#include "schedule/divide_behind.h"
#include "schedule/masked_keys.h"
#include "schedule/reads.h"

namespace plait::attention_blocks {

namespace {

constexpr int64_t kCapability = 80;
constexpr int64_t kMostFeatures = 256;
constexpr int64_t kMostShared = 48 << 10;  // bytes that any GPU has for a block without asking
constexpr int64_t kMostRegisters = 224;    // of a thread, for fragments
constexpr int64_t kFewRegisters = 96;      // of a thread in a block of 16 warps, which has 128 in all
constexpr int64_t kMostWarps = 16;
constexpr int64_t kMostAccesses = 64;  // of a thread to a tile

constexpr double kMostOfHalf = 16;  // a factor of weights in f16, whose range is small

constexpr const char* kOldRoad = "nothing: products and softmax are kernels of their own then";

// Elements of its result are those of its operand.
bool is_dense_move(const Op& op) {
  return op.kind == OpKind::Permute || op.kind == OpKind::Unsqueeze || op.kind == OpKind::Squeeze ||
         op.kind == OpKind::Broadcast || op.kind == OpKind::Slice || op.kind == OpKind::Reshape;
}

// Where the dim of a move's result is a dim of its operand; -1 where it is none, or other elements lie side by side.
int dim_before(const Op& op, int dim) {
  const TensorView &in = *inputs(op)[0], &out = *op.out();
  if (const auto* permute = as<Permute>(op)) return static_cast<int>(permute->dims[static_cast<size_t>(dim)]);
  if (const auto* spread = as<Broadcast>(op)) {
    const auto at = std::ranges::find(spread->dims, int64_t{dim});
    const bool same = at != spread->dims.end() &&
                      in.extent(static_cast<size_t>(at - spread->dims.begin())) == out.extent(static_cast<size_t>(dim));
    return same ? static_cast<int>(at - spread->dims.begin()) : -1;
  }
  if (const auto* slice = as<Slice>(op)) return slice->dim == dim && slice->step != 1 ? -1 : dim;
  if (const auto* added = as<Unsqueeze>(op)) {
    if (std::ranges::count(added->dims, int64_t{dim}) > 0) return -1;
    return dim - static_cast<int>(std::ranges::count_if(added->dims, [&](int64_t d) { return d < dim; }));
  }
  if (const auto* gone = as<Squeeze>(op)) {
    int before = 0;
    for (int left = dim;; ++before) {
      if (std::ranges::count(gone->dims, int64_t{before}) > 0) continue;
      if (left-- == 0) return before;
    }
  }
  // A reshape: the last dim as it is, or a part of it.
  const bool last = dim == static_cast<int>(out.rank()) - 1 && in.rank() > 0;
  return last && (in.shape().back() == out.shape().back() ||
                  sym::proven(sym::eq(sym::mod(in.shape().back(), out.shape().back()), 0)))
             ? static_cast<int>(in.rank()) - 1
             : -1;
}

// Whether elements along the dim lie side by side in the memory of an input that the tensor is moved from.
bool lies_dense(const TensorView& tensor, int dim, const std::set<const TensorView*>& given) {
  const TensorView* t = &tensor;
  while (!given.contains(t)) {
    if (t->definition == nullptr || !is_dense_move(*t->definition)) return false;
    dim = dim_before(*t->definition, dim);
    if (dim < 0) return false;
    t = inputs(*t->definition)[0];
  }
  const std::vector<int>& order = t->domain.allocation;
  return (order.empty() ? static_cast<int>(t->rank()) - 1 : order.back()) == dim;
}

const PointwiseOp* pointwise(const TensorView* t, Pointwise function) {
  const auto* op = t->definition == nullptr ? nullptr : as<PointwiseOp>(*t->definition);
  return op != nullptr && op->function == function ? op : nullptr;
}

bool is_number(const TensorView* t, double value) {
  const auto* full = t->definition == nullptr ? nullptr : as<Full>(*t->definition);
  return full != nullptr && full->value.to_double() == value;
}

// A number's size; 0 for other tensors.
double size_of_number(const TensorView* t) {
  const auto* full = t->definition == nullptr ? nullptr : as<Full>(*t->definition);
  return full != nullptr ? std::abs(full->value.to_double()) : 0;
}

// What a tensor is made of, without going beyond `ends`.
struct Made {
  std::set<const TensorView*> tensors;
  bool reads = false;       // elements of tensors of some dims
  bool elementwise = true;  // each op that comes of an end is one of the end's elements
};

class Finder {
 public:
  Finder(const Fusion& graph, BlockAttention& out) : graph_(graph), out_(out) {}

  std::optional<Refused> run() {
    if (auto why = refuse_attention(graph_.ops(), graph_.outputs(), true)) return why;
    const auto parts = attention_parts(graph_.ops(), true);
    if (parts->by_keys || parts->scores.size() != 1 || parts->products.size() != 1)
      return no("it is not one product of scores in bf16 or f16, and one of their weights");
    out_.scores = parts->scores[0];
    out_.product = parts->products[0];
    dependent_ = coming_of(graph_.ops(), *out_.scores->out());
    given_.insert(graph_.inputs().begin(), graph_.inputs().end());
    if (auto why = find_softmax()) return why;
    if (auto why = check_paths()) return why;
    if (auto why = check_operands()) return why;
    if (const auto visible = visible_keys(graph_, *parts)) {
      out_.ahead = visible->ahead;
      out_.behind = visible->behind;
    }
    return std::nullopt;
  }

 private:
  static Refused no(const std::string& why) { return {why, kOldRoad}; }

  std::optional<Refused> find_softmax() {
    for (const Op* op : graph_.ops()) {
      const auto* reduce = as<Reduce>(*op);
      if (reduce == nullptr) continue;
      const bool is_most = reduce->function == Reduction::amax, is_sum = reduce->function == Reduction::sum;
      if (!reduces_keys(*op) || (!is_most && !is_sum)) return no("it reduces keys otherwise than a softmax does");
      const Reduce*& place = is_most ? out_.greatest : out_.total;
      if (std::exchange(place, reduce) != nullptr) return no("it reduces keys more than twice");
    }
    if (out_.greatest == nullptr || out_.total == nullptr) return no("it has no softmax over keys");
    out_.logits = out_.greatest->in;
    out_.terms = out_.total->in;
    const auto* power = pointwise(out_.terms, Pointwise::exp);
    if (power == nullptr) power = pointwise(out_.terms, Pointwise::exp2);
    const auto* apart = power != nullptr ? pointwise(power->in[0], Pointwise::sub) : nullptr;
    if (apart == nullptr || apart->in[0] != out_.logits) return no("its terms are no exponentials of a distance");
    out_.exponential = power->function;
    out_.shift = apart->in[1];
    out_.weights = out_.product->a;
    return std::nullopt;
  }

  // Of one element for each query.
  bool is_row(const TensorView& t) const {
    const std::vector<sym::Expr> scores = out_.scores->out()->shape(), shape = t.shape();
    return shape.size() == scores.size() && shape.back().constant() == 1 &&
           std::equal(shape.begin(), shape.end() - 1, scores.begin());
  }

  Made made_of(const TensorView& t, const std::set<const TensorView*>& ends) const {
    Made out;
    std::vector<const TensorView*> left = {&t};
    while (!left.empty()) {
      const TensorView* next = left.back();
      left.pop_back();
      if (ends.contains(next) || !out.tensors.insert(next).second) continue;
      if (given_.contains(next) || next->definition == nullptr) {
        out.reads |= next->rank() > 0;
        continue;
      }
      const Op& op = *next->definition;
      const bool fits = op.kind == OpKind::PointwiseOp && (next->shape() == t.shape() || is_row(*next));
      if (dependent_.contains(next) && !fits) out.elementwise = false;
      for (const TensorView* in : inputs(op)) left.push_back(in);
    }
    return out;
  }

  // Everything comes of the scores by way of what the kernel holds.
  std::optional<Refused> check_paths() {
    const auto wide = [](const TensorView* t) { return t->dtype == DType::f32; };
    for (const TensorView* t : {out_.logits, out_.shift, out_.terms})
      if (!wide(t)) return no("its logits are not in f32");
    if (!wide(out_.greatest->out()) || !wide(out_.total->out())) return no("its rows are not in f32");
    const auto apart = [&](const Made& made, std::initializer_list<const TensorView*> other) {
      return std::ranges::none_of(other, [&](const TensorView* t) { return made.tensors.contains(t); });
    };
    const TensorView *scores = out_.scores->out(), *most = out_.greatest->out(), *total = out_.total->out();
    const Made logits = made_of(*out_.logits, {scores});
    if (!logits.elementwise) return no("its logits are not elementwise of the scores");
    if (row_in_shift(*out_.shift) != most)
      return no("its exponentials are not apart from the greatest logit itself, or from 0 where that is -inf");
    const Made weights = made_of(*out_.weights, {out_.terms});
    if (!weights.elementwise || !apart(weights, {scores, out_.logits, most, total, out_.shift}))
      return no("its weights are not elementwise of the exponentials alone");
    if (out_.weights == out_.terms || !dependent_.contains(out_.weights)) return no("its weights are no exponentials");
    out_.reads_logits = logits.reads;
    out_.reads_weights = weights.reads;
    if (auto why = check_weights()) return why;
    return check_outputs();
  }

  // Weights are scaled with what is summed of them where the greatest logit grows: they are linear in the terms,
  // rounded once, at last, and of terms apart from a smaller logit no weight is too large for its type.
  std::optional<Refused> check_weights() const {
    const std::set<const TensorView*> made = coming_of(graph_.ops(), *out_.terms);
    const auto* rounds = pointwise(out_.weights, Pointwise::cast);
    const bool half = out_.weights->dtype == DType::f16;
    if (rounds == nullptr || (!half && out_.weights->dtype != DType::bf16))
      return no("its weights are rounded other than once, to bf16 or f16");
    std::vector<const PointwiseOp*> way;  // from the last op on
    for (const TensorView* t = rounds->in[0]; t != out_.terms; t = linear_operand(*way.back(), made)) {
      const auto* op = t->definition == nullptr ? nullptr : as<PointwiseOp>(*t->definition);
      if (op == nullptr || linear_operand(*op, made) == nullptr || t->dtype != DType::f32)
        return no(fmt::format("its weights are not linear in the exponentials: %{}", t->name));
      way.push_back(op);
    }
    double factor = 1;
    for (size_t i = way.size(); i-- > 0;) {
      if (way[i]->function == Pointwise::where) continue;
      const double size = size_of_number(way[i]->in[way[i]->in[0] == linear_operand(*way[i], made) ? 1 : 0]);
      if (size == 0 && (half || way[i]->function == Pointwise::mul))
        return no("its weights are scaled by other than numbers");
      if (size != 0) factor *= way[i]->function == Pointwise::mul ? size : 1 / size;
      const double most = half ? kMostOfHalf : kMostFactor;
      if (!(factor <= most && factor >= 1 / most)) return no("its weights are scaled too much for their type");
    }
    const auto chooses = [&](const PointwiseOp* op) {
      return op->function == Pointwise::where && !drops_some(*op->in[0], out_.weights->shape().back());
    };
    if (std::ranges::any_of(way, chooses) && !divides_by_total())
      return no("it leaves weights out, and does not divide by the sum of all");
    return std::nullopt;
  }

  // Of a product with a number, a quotient, or a choice between the operand and 0 by what is not made of terms.
  static const TensorView* linear_operand(const PointwiseOp& op, const std::set<const TensorView*>& made) {
    const auto is = [&](size_t i) { return made.contains(op.in[i]); };
    switch (op.function) {
      case Pointwise::mul:
        return is(0) != is(1) ? op.in[is(0) ? 0 : 1] : nullptr;
      case Pointwise::div:
        return is(0) && !is(1) ? op.in[0] : nullptr;
      case Pointwise::where:
        return !is(0) && is(1) && is_number(op.in[2], 0) ? op.in[1] : nullptr;
      default:
        return nullptr;
    }
  }

  // Whether what is NaN of a row's terms is NaN in its result, whichever weights are left out.
  bool divides_by_total() const {
    const TensorView* product = out_.product->out();
    const auto readers = graph_.readers(product);
    if (graph_.is_output(product) || readers.size() != 1) return false;
    const auto* quotient = as<PointwiseOp>(*readers[0]);
    if (quotient == nullptr || quotient->function != Pointwise::div || quotient->in[0] != product) return false;
    const TensorView* by = quotient->in[1];
    const auto* choice = pointwise(by, Pointwise::where);
    const auto* is_none = choice != nullptr ? pointwise(choice->in[0], Pointwise::eq) : nullptr;
    if (is_none != nullptr && out_.shift != out_.greatest->out() && is_none->in[0] == out_.greatest->out() &&
        is_number(is_none->in[1], -std::numeric_limits<double>::infinity()))
      by = choice->in[2];
    return by == out_.total->out();
  }

  std::optional<Refused> check_outputs() const {
    const TensorView* product = out_.product->out();
    const std::set<const TensorView*> behind = coming_of(graph_.ops(), *product);
    const std::set<const TensorView*> ends = {product, out_.greatest->out(), out_.total->out()};
    for (const TensorView* t : graph_.outputs()) {
      const bool reshaped = t->definition != nullptr && t->definition->kind == OpKind::Reshape && !behind.contains(t);
      const TensorView& from = reshaped ? *inputs(*t->definition)[0] : *t;
      const Made made = made_of(from, ends);
      const bool held =
          std::ranges::none_of(std::initializer_list<const TensorView*>{out_.scores->out(), out_.logits, out_.terms},
                               [&](const TensorView* each) { return made.tensors.contains(each); });
      const bool fits = behind.contains(&from) ? from.shape() == product->shape() : is_row(from);
      if (!dependent_.contains(&from) || !held || !made.elementwise || !fits)
        return no(fmt::format("%{} is not elementwise of its product or rows", t->name));
    }
    return std::nullopt;
  }

  std::optional<Refused> check_operands() {
    const std::vector<sym::Expr> scores = out_.scores->out()->shape(), values = out_.product->out()->shape();
    if (!std::equal(scores.begin(), scores.end() - 1, values.begin())) return no("its products have other batches");
    out_.features = out_.scores->a->shape().back();
    out_.values = values.back();
    for (const sym::Expr n : {out_.features, out_.values})
      if (sym::divisor(n) % kAccess != 0)
        return no(fmt::format("its heads have {} elements, no multiple of {}", sym::print(n), kAccess));
    if (out_.scores->a->dtype != out_.product->b->dtype) return no("its values are of another type than its keys");
    const int rank = static_cast<int>(scores.size());
    if (!lies_dense(*out_.scores->a, rank - 1, given_) || !lies_dense(*out_.scores->b, rank - 2, given_) ||
        !lies_dense(*out_.product->b, rank - 1, given_))
      return no("elements of a head do not lie side by side in memory");
    return std::nullopt;
  }

  const Fusion& graph_;
  BlockAttention& out_;
  std::set<const TensorView*> given_, dependent_;  // inputs; what comes of the scores
};

// 32-bit ones of a thread: queries, sums of values, scores, weights.
int64_t registers(const schedules::Attention& n) {
  return *n.queries / kMatrix * (*n.features / 4 + *n.values / 2 + *n.keys / 2 + *n.keys / 4);
}

int64_t bytes_of_tiles(const schedules::Attention& n) {
  return *n.stages * *n.keys * (panel_row(*n.features) + panel_row(*n.values)) * 2;
}

ScheduledGroup made(const Problem& problem) {
  ScheduledGroup out = make_group(problem.fusion, problem.segment);
  for (Op* op : std::vector<Op*>(out.graph->ops().begin(), out.graph->ops().end()))
    if (const auto* product = product_of_narrow(*op)) divide_behind(*out.graph, *product, true);
  return out;
}

sym::Expr queries_of(const Problem& problem) {
  const auto parts = attention_parts(problem.segment.ops, true);
  const std::vector<sym::Expr> shape = parts->scores[0]->out()->shape();
  return shape[shape.size() - 2];
}

sym::Expr keys_of(const Problem& problem) {
  const auto parts = attention_parts(problem.segment.ops, true);
  return sym::import(problem.fusion.pool(), parts->scores[0]->out()->shape().back());
}

// The least number of matrices that holds so many; all that a kernel may have where they are more.
int64_t most_of(const Problem& problem, sym::Expr n) {
  if (const auto known = n.constant()) return std::min(kMostFeatures, (*known + kMatrix - 1) / kMatrix * kMatrix);
  int64_t least = kMatrix, most = kMostFeatures;
  while (least < most) {
    const int64_t half = (least + most) / 2 / kMatrix * kMatrix;
    if (problem.decide(sym::le(sym::import(problem.fusion.pool(), n), half)))
      most = half;
    else
      least = half + kMatrix;
  }
  return most;
}

schedules::Attention numbers_for(const Problem& problem, const BlockAttention& a, schedules::Attention out) {
  const sym::Expr queries = queries_of(problem);
  if (!out.features) out.features = most_of(problem, a.features);
  if (!out.values) out.values = most_of(problem, a.values);
  if (!out.queries) out.queries = kMatrix;
  if (!out.stages) out.stages = 2;
  if (!out.keys) {
    out.keys = 64;
    while (*out.keys > kMatrix && (bytes_of_tiles(out) > kMostShared || registers(out) > kMostRegisters))
      *out.keys /= 2;
  }
  if (!out.block) {
    int64_t warps = problem.decide(sym::gt(queries, 64)) ? 8 : problem.decide(sym::gt(queries, 16)) ? 4 : 1;
    if (warps == 8 && registers(out) <= kFewRegisters && problem.decide(sym::gt(queries, 512))) warps = 16;
    const int64_t row = std::min(panel_row(*out.features), panel_row(*out.values));
    while (warps > 1 && *out.keys * row < kAccess * kWarp * warps) warps /= 2;
    out.block = *out.queries * warps;
  }
  return out;
}

}  // namespace

int64_t panel_row(int64_t features) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(features, 32))));
}

std::optional<Refused> plan(const Fusion& graph, BlockAttention& out) {
  out = {};
  return Finder(graph, out).run();
}

ScheduledGroup schedule(const Problem& problem, const schedules::Attention& numbers) {
  ScheduledGroup out = made(problem);
  out.schedule = numbers;
  out.stages = *numbers.stages;
  BlockAttention attention;
  if (!plan(*out.graph, attention) && (attention.ahead || attention.behind)) {
    out.keys = KeyLimit{*numbers.block, 1, attention.ahead, attention.behind, false, {}};
    out.keys->ops[attention.scores->out()->definition] = Limited::result;
    out.keys->ops[attention.product->out()->definition] = Limited::sum;
  }
  return out;
}

std::optional<Refused> refuse(const Problem& problem) {
  BlockAttention attention;
  return plan(*made(problem).graph, attention);
}

namespace {

std::optional<std::string> refuse_numbers(const Problem& problem, const BlockAttention& a, const Target& target,
                                          const schedules::Attention& n) {
  if (n.rows || n.kept) return "rows and kept are numbers of CPUs";
  if (!problem.decide(sym::ge(keys_of(problem), 1)))
    return "there may be no key, and rows are divided by sums of terms";
  if (target.compute_capability() < kCapability) return fmt::format("{} has no such mma", target.architecture);
  if (*n.queries % kMatrix != 0) return fmt::format("queries = {} are no multiple of {}", *n.queries, kMatrix);
  if (*n.block % *n.queries != 0) return fmt::format("block = {} is no multiple of queries = {}", *n.block, *n.queries);
  const int64_t warps = *n.block / *n.queries;
  if ((warps & (warps - 1)) != 0 || warps > kMostWarps)
    return fmt::format("{} warps of a block are no power of two up to {}", warps, kMostWarps);
  for (const auto& [size, most] : {std::pair(a.features, *n.features), std::pair(a.values, *n.values)}) {
    if (most % kMatrix != 0) return fmt::format("{} elements of a head are no multiple of {}", most, kMatrix);
    if (!problem.decide(sym::le(sym::import(problem.fusion.pool(), size), most)))
      return fmt::format("a head has more than {} elements", most);
  }
  if (const int64_t each = registers(n); each > kMostRegisters)
    return fmt::format("{} registers of a thread for scores and sums are more than {}", each, kMostRegisters);
  for (const int64_t row : {panel_row(*n.features), panel_row(*n.values)}) {
    const int64_t together = kAccess * kWarp * warps;
    if (*n.keys * row % together != 0 || *n.keys * row / together > kMostAccesses)
      return fmt::format("{} threads do not share tiles of {} keys of {} elements", kWarp * warps, *n.keys, row);
  }
  if (const int64_t bytes = bytes_of_tiles(n); bytes > kMostShared)
    return fmt::format("tiles of {} bytes are more than {}", bytes, kMostShared);
  return std::nullopt;
}

}  // namespace

std::optional<Refused> refuse(const Problem& problem, const Target& target) {
  const ScheduledGroup group = made(problem);
  BlockAttention attention;
  if (auto why = plan(*group.graph, attention)) return why;
  const schedules::Attention numbers = numbers_for(problem, attention, {});
  if (auto why = refuse_numbers(problem, attention, target, numbers)) return Refused{*why, kOldRoad};
  return std::nullopt;
}

schedules::Attention choose(const Problem& problem, const Target& target, const schedules::Attention& given) {
  const ScheduledGroup group = made(problem);
  BlockAttention attention;
  if (const auto why = plan(*group.graph, attention))
    throw UserError(why->reason, problem.where(), "leave the schedule out");
  const schedules::Attention out = numbers_for(problem, attention, given);
  if (const auto why = refuse_numbers(problem, attention, target, out))
    throw UserError(*why, problem.where(), "give others, or leave the schedule out");
  return out;
}

}  // namespace plait::attention_blocks
