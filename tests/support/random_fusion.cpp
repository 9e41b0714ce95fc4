// Fusions of all kinds: tensors of the shape [a, b, c], and of its reductions over some dims with extent 1 there.
#include "support/random_fusion.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ir/fusion.h"
#include "support/random_ops.h"
#include "support/random_text.h"

namespace plait::testing {

namespace {

constexpr std::array<std::string_view, kFusionKinds> kNames = {"reductions", "norms",    "moves",
                                                               "lookups",    "scatters", "scans"};

constexpr std::array<bool, 3> kRows = {false, false, true};  // reduced dims of rows

class FusionWriter : RandomText {
 public:
  explicit FusionWriter(uint64_t seed) : RandomText(seed, 41), seed_(seed) {
    out_.kind = static_cast<FusionKind>(seed % kFusionKinds);
    out_.exact = below(2) == 0;
    if (out_.exact) smooth_ = "neg";
  }

  RandomFusion make() {
    do
      for (bool& r : reduced_) r = below(2) == 0;
    while (std::count(reduced_, reduced_ + 3, true) == 0);
    if (below(4) == 0) std::copy_n(kRows.begin(), 3, reduced_);
    full_ = {"%x", "%z"};
    const int steps = out_.exact ? 3 + below(4) : 4 + below(6);
    for (int i = 0; i < steps; ++i) step();
    const auto fusion = parse_fusion(head());
    add_in_turn(*fusion);
    for (Op* op : fusion->ops()) {
      const auto& all = op->results;
      const bool unread = std::all_of(all.begin(), all.end(), [&](auto* t) { return fusion->readers(t).empty(); });
      if (unread && !fusion->is_output(all[0])) fusion->output(all[0]->name, all[0]);
    }
    out_.text = print(*fusion);
    return out_;
  }

 private:
  std::string head() {
    const char* types[] = {"f32", "f32", "f32", "f64", "bf16", "bf16", "f16"};
    return fmt::format(
        "let a = 2, b = 3, c = 8, T = {}\ngiven a: 1 in 1..9, b: 1 in 1..999, c: 1 in 1..99999\n\n"
        "fusion @f (%x: T[a, b, c], %z: T[a, b, c], %w: T[c], %e: T[7, c], %i: i64[a, b], %j: i64[a, b, c], %m: "
        "bool[b, "
        "c], %r0: i64[b], %r1: i64[b], %r2: i64[b], %p: i64[], %seed: u64[]) -> ({}) {{\n{}}}\n",
        types[below(out_.exact ? 4 : 7)], full_.back(), body_);
  }

  void add_in_turn(Fusion& fusion) {
    std::vector<OpWord> words;
    for (const OpWord& w : op_words())
      if (!out_.exact || keeps_integers(w)) words.push_back(w);
    for (uint64_t turn = 0; turn < 2; ++turn) {
      const OpWord& word = words[(seed_ * 2 + turn) % words.size()];
      for (int attempt = 0; attempt < 12; ++attempt) {
        std::vector<TensorView*> pool;
        for (TensorView* t : fusion.tensors())
          if (t->dtype == fusion.find("x")->dtype) pool.push_back(t);
        if (add_random_op({random_, fusion, pool, fusion.find("seed"), out_.exact}, word) != nullptr) break;
      }
    }
  }

  void full(const std::string& value) { full_.push_back(define(value)); }
  const std::string& any() { return pick(full_); }
  // Of which nothing was computed: what ops with jumps read.
  std::string given() { return below(2) ? "%x" : "%z"; }

  void step() {
    if (std::equal(kRows.begin(), kRows.end(), reduced_) && below(8) == 0) return column_sum();
    const int dice = below(10);
    if (dice < 3) return elementwise();
    switch (dice < 8 ? out_.kind : static_cast<FusionKind>(below(kFusionKinds))) {
      case FusionKind::reductions:
        return reduction();
      case FusionKind::norms:
        return out_.exact ? exact_norm() : norm();
      case FusionKind::moves:
        return !out_.exact && below(10) == 0 ? rope() : full_.push_back(moved(below(kMoves), any(), full_));
      case FusionKind::lookups:
        return lookup();
      case FusionKind::scatters:
        return scatter();
      case FusionKind::scans:
        return scan();
    }
  }

  void elementwise() {
    const std::string x = any();
    switch (below(out_.exact ? 8 : 14)) {
      case 0:
        return full(fmt::format("add({}, {})", x, any()));
      case 1:
        return full(fmt::format("sub({}, {})", x, any()));
      case 2:
        return full(fmt::format("max({}, {})", x, any()));
      case 3:
        return full(fmt::format("{}({})", smooth_, x));
      case 4:
        return full(fmt::format("where(%m, {}, {})", x, any()));
      case 5:
        return full(fmt::format("where(lt({}, 0.0), {}, {})", given(), x, any()));
      case 6:
      case 7:
        return kept_.empty() ? full(fmt::format("mul({}, %w)", x)) : full(fmt::format("sub({}, {})", x, pick(kept_)));
      case 8:
        return full(fmt::format("silu({})", x));
      case 9:
        return full(fmt::format("exp(min({}, 1.0))", x));
      case 10:
        return full(fmt::format("gelu({})", x));
      case 11:
        return full(fmt::format("dropout({}, seed = %seed, p = 0.25)", x));
      case 12:
        return full(fmt::format("mul({}, cast(uniform(shape = [a, b, c], seed = %seed), to = T))", x));
      default:
        return full(fmt::format("div({}, add(square({}), 1.0))", x, any()));
    }
  }

  std::string dims() const {
    std::string out;
    for (int d = 0; d < 3; ++d)
      if (reduced_[d]) out += fmt::format("{}{}", out.empty() ? "" : ", ", d);
    return "[" + out + "]";
  }
  void kept(const std::string& value) { kept_.push_back(define(value)); }

  // The gradient of a weight, beside that of what it scales.
  void column_sum() {
    static const char* kSums[] = {"sum", "sum", "amax", "amin"};
    define(fmt::format("{}({}, dims = [0, 1])", kSums[below(4)], any()));
  }

  void reduction() {
    // Most of the fusion reduce the same dims; a result over others is read at once.
    if (below(5) == 0) {
      const std::string s = define(fmt::format("amax({}, dims = [{}], keepdim = true)", any(), below(3)));
      return full(fmt::format("sub({}, {})", any(), s));
    }
    if (!kept_.empty() && below(5) == 0) return kept(fmt::format("{}({})", smooth_, pick(kept_)));
    const std::string how = fmt::format("dims = {}, keepdim = true", dims());
    switch (below(out_.exact ? 5 : 10)) {
      case 0:
        return kept(fmt::format("amax({}, {})", any(), how));
      case 1:
        return kept(fmt::format("amin({}, {})", any(), how));
      case 2:
        return kept(fmt::format("cast(argmax({}, {}), to = T)", given(), how));
      case 3:
        return kept(fmt::format("cast(any(gt({}, 1.0), {}), to = T)", given(), how));
      case 4:
      case 5:
        return kept(fmt::format("sum({}, {})", any(), how));
      case 6:
        return kept(fmt::format("mean({}, {})", any(), how));
      case 7:
        return kept(fmt::format("var({}, {}, correction = 0)", any(), how));
      case 8:  // NaN, of some rows
        return kept(fmt::format("amax(where(lt({0}, -1.5), sqrt({0}), {1}), {2})", given(), any(), how));
      default:
        return kept(fmt::format("logsumexp({}, {})", any(), how));
    }
  }

  void exact_norm() {
    const std::string x = any();
    const std::string m = define(fmt::format("amax({}, dims = {}, keepdim = true)", x, dims()));
    const std::string d = define(fmt::format("sub({}, {})", x, m));
    if (below(2)) return full_.push_back(d);
    full(fmt::format("add({}, sum({}, dims = {}, keepdim = true))", x, d, dims()));
  }

  void norm() {
    const std::string x = any(), how = fmt::format("dims = {}, keepdim = true", dims());
    switch (below(7)) {
      case 0:
        return full(fmt::format("softmax({}, dim = {})", x, below(3)));
      case 1:
        return full(fmt::format("log_softmax({}, dim = {})", x, below(3)));
      case 2:
        return full(fmt::format("layer_norm({}, %w)", x));
      case 3:
        return full(fmt::format("rms_norm({}, %w)", x));
      case 4: {
        const std::string var = fresh(), mean = fresh();
        body_ += fmt::format("  {}, {} = var_mean({}, {}, correction = 0)\n", mean, var, x, how);
        return full(fmt::format("mul(sub({}, {}), rsqrt(add({}, 0.5)))", x, mean, var));
      }
      case 5:
        return full(fmt::format("div({0}, sqrt(add(sum(square({0}), {1}), 0.5)))", x, how));
      default: {
        const std::string e = define(fmt::format("exp(sub({0}, amax({0}, {1})))", x, how));
        return full(fmt::format("div({0}, sum({0}, {1}))", e, how));
      }
    }
  }

  void rope() {
    const std::string both = define(fmt::format("cat({}, {}, dim = 2)", any(), any()));
    const std::string table = define("cat(%w, %w, dim = 0)");
    const std::string turned = define(fmt::format("rope({}, {}, {})", both, table, table));
    full(fmt::format("slice({}, dim = 2, {})", turned, below(2) ? "start = 0, stop = c" : "start = c, stop = 2*c"));
  }

  void lookup() {
    const std::string x = any();
    switch (below(7)) {
      case 0:
        return full(fmt::format("add({}, embedding(%i, %e))", x));
      case 1: {
        const std::string at = define("broadcast(%r2, shape = [a, b, c], dims = [1])");
        return full(fmt::format("gather({}, dim = 2, {})", x, at));
      }
      case 2:
        return full(fmt::format("slice_update({}, slice({}, dim = 1, start = 0, stop = 1), %p, dim = 1)", x, any()));
      case 3: {
        const std::string hot = define("one_hot(%i, classes = 7)");
        const std::string sums = define(fmt::format("sum({}, dims = [2], keepdim = true)", hot));
        return full(fmt::format("where(gt({}, 0), {}, {})", sums, x, any()));
      }
      case 4:
        return full(fmt::format("index_select({}, %r1, dim = 1)", x));
      default:
        return full_.push_back(moved(7 + below(2), x, full_));
    }
  }

  void scatter() {
    const char* updates[] = {"set", "add", "add", "max", "min", "mul"};
    const int dim = below(3), by = below(3);
    if (by == 2) {  // the gradient of a table, looked up again
      const std::string rows = define(fmt::format("reshape({}, shape = [a*b, c])", any()));
      const std::string at = define("broadcast(reshape(%i, shape = [a*b]), shape = [a*b, c], dims = [0])");
      const std::string sums = define(fmt::format(
          "scatter(full(shape = [7, c], value = 0.0, dtype = T), {}, {}, dim = 0, update = add)", at, rows));
      return full(fmt::format("add({}, index_select({}, %i, dim = 0))", any(), sums));
    }
    const std::string at = define(fmt::format("broadcast(%r{}, shape = [a, b, c], dims = [1])", dim));
    full(fmt::format("scatter({}, {}, {}, dim = {}, update = {})", any(), at, any(), dim,
                     updates[below(out_.exact ? 5 : 6)]));
  }

  void scan() {
    const std::string x = any(), values = fresh(), places = fresh();
    const int dim = below(3);
    switch (below(out_.exact ? 5 : 7)) {
      case 0:
      case 1:
        return full(fmt::format("cumsum({}, dim = {}, exclusive = {}, reverse = {})", x, dim,
                                below(2) ? "true" : "false", below(2) ? "true" : "false"));
      case 2:
      case 3: {
        body_ += fmt::format("  {}, {} = {}({}, dim = {})\n", values, places, below(2) ? "cummax" : "cummin", x, dim);
        return full_.push_back(values);
      }
      case 4: {
        body_ += fmt::format("  {}, {} = sort({}, dim = {}, descending = {})\n", values, places, x, dim,
                             below(2) ? "true" : "false");
        return full_.push_back(values);
      }
      case 5:
        return full(fmt::format("cumprod(tanh({}), dim = {})", x, dim));
      default:
        return full(fmt::format("logcumsumexp({}, dim = {})", x, dim));
    }
  }

  uint64_t seed_;
  RandomFusion out_;
  bool reduced_[3] = {};
  std::vector<std::string> full_, kept_;
};

}  // namespace

std::string_view name(FusionKind kind) { return kNames.at(static_cast<size_t>(kind)); }

RandomFusion random_fusion(uint64_t seed) { return FusionWriter(seed).make(); }

}  // namespace plait::testing
