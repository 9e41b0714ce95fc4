#include "segment/contraction_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "schedule/contraction.h"
#include "schedule/contraction_parts.h"
#include "schedule/reads.h"
#include "segment/helpers.h"

namespace plait {

namespace {

constexpr size_t kMostOps = 32;

// Costs of an element of the result, in multiply-adds of the library's, measured on CPUs with AVX-512: in tiles a term
// costs a hundredth more, and elements of tensors of the result's size are read tile by tile; a kernel behind the
// library reads and writes 8 bytes.
constexpr int64_t kLessBy = 100, kReadByTiles = 12, kKernelBehind = 14;
// Code of tiles takes longer to compile, which a small result does not pay back.
constexpr int64_t kLeastElements = int64_t{1} << 16;
// Instructions of an element behind the sums, about: a tile has so much code for each of its vectors. One function such
// as gelu, written out too, with a bias and a few others.
constexpr int64_t kMostCode = 19, kCodeOfFunction = 10, kCodeOfDivision = 2;

// Of few rows, measured: the most for which a kernel that reads the matrix once is faster than the library, and where
// that is at its best; columns or terms that make rows of memory long enough.
constexpr int64_t kFewRows = 8, kFewOfOthers = 4, kLeastLines = 64, kLongLine = 256;

class ContractionGroups {
 public:
  ContractionGroups(const Fusion& fusion, SegmentOptions& options, const std::set<const Op*>& taken)
      : fusion_(fusion), options_(options), taken_(taken), stated_(stated_names(options)) {}

  void run() {
    for (const Op* op : fusion_.ops()) places_.emplace(op, places_.size());
    for (Op* op : fusion_.ops()) {
      if (property(op->kind) != OpProperty::contraction || !is_free(*op)) continue;
      std::string why = "there is none";
      bool by_cost = false;
      few_ = widened_ = false;
      if (options_.contractions == "own") {
        why = "own kernels are asked for";
      } else if (options_.library_accepts && options_.library_accepts(*op, &why)) {
        few_ = few_pay(*op, why);
        by_cost = few_ || costs_less(*op, why);
        if (!by_cost) continue;
      }
      if (!by_cost && options_.target.kind == TargetKind::cpu)
        few_ = contraction_of_few(*op, [&](sym::Expr e) { return decide_sizes(options_, e, "few rows or many"); });
      take(*op, why, by_cost);
    }
  }

 private:
  // Whether rows are few, and a kernel that reads the matrix once is faster than the library. Rows that are a symbol
  // are one guard.
  bool few_pay(const Op& op, std::string& why) const {
    if (options_.target.kind != TargetKind::cpu) return false;
    const contractions::Parts parts = contractions::parts_of(op);
    const auto decide = [&](sym::Expr e) { return decide_sizes(options_, e, "few rows or many"); };
    const bool vector = contractions::is_vector(parts), symbol = !contractions::rows_of(parts).is_constant();
    const std::vector<Op*> ops = ops_of(op, true);
    const bool opened = opens_matrix(op), widens = library_widens(op), along = contractions::sums_along(ops, parts);
    // Of 16 registers, tiles of many rows read short pieces of a line of columns.
    const bool many = !is_narrow(parts.left->dtype) && (options_.target.vector_lanes >= 16 || along);
    const int64_t most = symbol ? contractions::kMostFewSymbolic : many || widens || opened ? kFewRows : kFewOfOthers;
    if (!vector && !decide(sym::le(contractions::rows_of(parts), most))) return false;
    if (!decide(sym::ge(contractions::elements_of_matrix(parts), kLeastElements))) return false;
    why = "each element of its matrix is read once, where it lies";
    if (opened) return true;
    const sym::Expr columns = vector ? contractions::rows_of(parts) : parts.out->shape().back();
    const int64_t lanes = contraction_columns(op, options_.target) / 2;
    const bool long_lines =
        along ? decide(sym::ge(contractions::summed(parts), kLongLine)) && decide(sym::ge(columns, kLeastLines))
              : decide(sym::eq(sym::mod(columns, lanes), 0)) && decide(sym::ge(columns, kLongLine));
    if (!long_lines)
      note(options_,
           fmt::format("library, not few rows of %{}: the matrix has short lines in memory, or none in whole vectors",
                       op.out()->name));
    return long_lines;
  }
  bool library_widens(const Op& op) const { return options_.library_widens && options_.library_widens(op); }
  // Whether something is computed of the elements of the matrix: behind a library that is a matrix in memory.
  bool opens_matrix(const Op& op) const {
    const contractions::Parts parts = contractions::parts_of(op);
    std::set<const Op*> found = {&op};
    add_opened(contractions::is_vector(parts) ? *parts.left : *parts.right, found);
    return std::ranges::any_of(found, [](const Op* o) { return o->kind == OpKind::PointwiseOp; });
  }
  // Whether tiles with what stands behind cost less than the library and a kernel of that.
  bool costs_less(const Op& op, std::string& why) {
    const std::vector<Op*> ops = ops_of(op, false);
    if (options_.target.kind != TargetKind::cpu) return false;
    widened_ = library_widens(op);
    if (!widened_ && (is_narrow(inputs(op)[0]->dtype) || !saves_a_kernel(op, ops))) return false;
    const auto library = [&](const std::string& reason) {
      note(options_, fmt::format("library, not tiles of %{}: {}", op.out()->name, reason));
      return false;
    };
    const auto decide = [&](sym::Expr e) { return decide_sizes(options_, e, "tiles or the library"); };
    const contractions::Parts parts = contractions::parts_of(op);
    const sym::Expr terms = contractions::summed(parts), columns = parts.out->shape().back();
    const int64_t read = kReadByTiles * whole_tensors(op, ops), gained = kKernelBehind - read;
    const int64_t code = code_of(ops), panel = contraction_columns(op, options_.target);
    if (code > kMostCode)
      return library(fmt::format("what stands behind is about {} instructions, more than {}", code, kMostCode));
    if (!decide(sym::eq(sym::mod(columns, panel), 0)))
      return library(fmt::format("{} columns are no whole panels of {}", sym::print(columns), panel));
    const bool less = widened_ || (gained > 0 && decide(sym::lt(terms, kLessBy * gained)));
    why = widened_ ? "the library widens its operands in memory in each run" : costs(terms, read, less);
    return less ? decide(has_rows(parts)) : library(why);
  }
  // Not where others stand behind that would take in what does.
  bool saves_a_kernel(const Op& op, const std::vector<Op*>& ops) const {
    return ops.back() != &op && ops.back()->kind == OpKind::PointwiseOp &&
           std::ranges::all_of(fusion_.readers(ops.back()->out()),
                               [](const Op* reader) { return property(reader->kind) == OpProperty::contraction; });
  }
  // Whether the result has enough elements, asked of its rows, so that it is one guard with that of the tiles' rows.
  static sym::Expr has_rows(const contractions::Parts& parts) {
    const sym::Expr rows = contractions::rows_of(parts), columns = parts.out->shape().back();
    if (const auto n = columns.constant(); n && *n > 0)
      return sym::ge(rows, std::max(contraction_rows(), (kLeastElements + *n - 1) / *n));
    return sym::ge(rows * columns, kLeastElements);
  }
  static int64_t code_of(const std::vector<Op*>& ops) {
    int64_t out = 0;
    for (const Op* op : ops) {
      const auto* p = as<PointwiseOp>(*op);
      if (p == nullptr) continue;
      const CostClass cost = info(p->function).cost;
      out += cost == CostClass::simple ? 1 : cost == CostClass::division ? kCodeOfDivision : kCodeOfFunction;
    }
    return out;
  }
  // How many tensors of the result's size the ops behind read from memory; one that moves turn counts twice.
  static int64_t whole_tensors(const Op& contraction, const std::vector<Op*>& ops) {
    std::set<const TensorView*> made, found;
    for (const Op* op : ops) made.insert(op->results.begin(), op->results.end());
    const auto elements = [](const TensorView& t) {
      sym::Expr out = t.fusion->pool().constant(1);
      for (sym::Expr e : t.shape()) out = out * e;
      return out;
    };
    const sym::Expr all = elements(*contraction.out());
    int64_t out = 0;
    for (const Op* op : ops) {
      if (op->kind != OpKind::PointwiseOp) continue;
      for (const TensorView* in : inputs(*op)) {
        const TensorView* source = in;
        while (made.contains(source) && source->definition->kind != OpKind::PointwiseOp &&
               source->definition != &contraction && !inputs(*source->definition).empty())
          source = inputs(*source->definition)[0];
        if (made.contains(source) || !sym::proven(sym::ge(elements(*source), all))) continue;
        if (found.insert(in).second) out += source == in ? 1 : 2;
      }
    }
    return out;
  }
  static std::string costs(sym::Expr terms, int64_t read, bool less) {
    const std::string own = fmt::format("1.01 * {}{}", sym::print(terms), read > 0 ? fmt::format(" + {}", read) : "");
    const std::string library = fmt::format("{} + {}", sym::print(terms), kKernelBehind);
    std::string out =
        fmt::format("{} is less than {} multiply-adds an element", less ? own : library, less ? library : own);
    if (const auto n = terms.constant()) {
      const double by = ((1 + 1.0 / kLessBy) * double(*n) + double(read)) / double(*n + kKernelBehind);
      out += fmt::format(", by {:.0f} %", 100 * (less ? 1 - by : 1 - 1 / by));
    }
    return out;
  }

  bool is_free(const Op& op) const {
    return !taken_.contains(&op) &&
           std::ranges::none_of(op.results, [&](const TensorView* t) { return stated_.contains(t->name); });
  }

  // By cost tiles are taken with what stands behind, or not at all.
  void take(Op& contraction, const std::string& why, bool by_cost) {
    for (const bool alone : {false, true}) {
      if (alone && by_cost && !few_ && !widened_) return;
      Segment s;
      s.ops = alone ? std::vector<Op*>{&contraction} : ops_of(contraction, few_);
      if (!alone && s.ops.size() == 1) continue;
      list_tensors(s, fusion_);
      schedules::Contraction open;
      if (few_) open.stages = 0;
      if (by_cost && !few_) open.columns = contraction_columns(contraction, options_.target);  // rows are asked
      const auto refused = contraction_refuses({fusion_, s, options_.guards}, options_.target, open);
      if (!refused) {
        note(options_,
             fmt::format("{} of %{}, not library: {}", few_ ? "few rows" : "tiles", contraction.out()->name, why));
        return pin(s.ops, open);
      }
      const char* next = options_.contractions == "own" ? "; a library is asked then, as by auto"
                         : by_cost                      ? "; the library computes it"
                                                        : "";
      note(options_, fmt::format("no tiles of %{}: {}{}; to change: {}", contraction.out()->name, refused->reason, next,
                                 refused->change));
    }
  }
  void pin(const std::vector<Op*>& ops, const schedules::Contraction& open) {
    if (!pin_segment(options_, ops, open, few_ ? "few rows" : "tiles")) return;
    for (const Op* op : ops) stated_.insert(op->results[0]->name);
  }

  // The contraction, moves in front of its operands, and what is elementwise behind it, each with one reader; with the
  // numbers and moves that these alone read. In order.
  std::vector<Op*> ops_of(const Op& contraction, bool few) const {
    std::set<const Op*> found = {&contraction};
    for (const TensorView* in : inputs(contraction)) add_moves(*in, found);
    if (few) add_front(contraction, found);
    const TensorView* end = contraction.out();
    while (found.size() < kMostOps) {
      const auto readers = fusion_.readers(end);
      if (readers.size() != 1 || fusion_.is_output(end) || !is_free(*readers[0])) break;
      const Op& next = *readers[0];
      if (next.kind != OpKind::PointwiseOp || next.out()->shape() != end->shape()) break;
      found.insert(&next);
      for (const TensorView* in : inputs(next))
        if (in != end) add_moves(*in, found);
      end = next.out();
    }
    std::vector<Op*> out;
    for (const Op* op : found) out.push_back(const_cast<Op*>(op));
    std::ranges::sort(out, {}, [&](const Op* op) { return places_.at(op); });
    return out;
  }
  void add_moves(const TensorView& t, std::set<const Op*>& found) const {
    add(t, found, [](const Op& op) { return is_number(op) || keeps_places(op); });
  }
  // Of the matrix that few rows read, what opens it (casts, scales), computed for each element once; of the vectors
  // casts.
  void add_front(const Op& contraction, std::set<const Op*>& found) const {
    const contractions::Parts parts = contractions::parts_of(contraction);
    const bool vector = contractions::is_vector(parts);
    add_opened(*(vector ? parts.left : parts.right), found);
    add(*(vector ? parts.right : parts.left), found, [](const Op& op) {
      const auto* p = as<PointwiseOp>(op);
      return is_number(op) || keeps_places(op) || (p != nullptr && p->function == Pointwise::cast);
    });
  }
  void add_opened(const TensorView& matrix, std::set<const Op*>& found) const {
    add(matrix, found, [](const Op& op) {
      const auto* p = as<PointwiseOp>(op);
      return is_number(op) || keeps_places(op) || op.kind == OpKind::Reshape ||
             (p != nullptr && info(p->function).cost != CostClass::transcendental);
    });
  }
  void add(const TensorView& t, std::set<const Op*>& found, const std::function<bool(const Op&)>& fits) const {
    const Op* op = t.definition;
    if (op == nullptr || !is_free(*op) || found.size() >= kMostOps || !fits(*op)) return;
    const auto& readers = fusion_.readers(&t);
    if (fusion_.is_output(&t) || !std::ranges::all_of(readers, [&](const Op* r) { return found.contains(r); })) return;
    found.insert(op);
    for (const TensorView* in : inputs(*op)) add(*in, found, fits);
  }

  const Fusion& fusion_;
  SegmentOptions& options_;
  const std::set<const Op*>& taken_;
  std::set<std::string, std::less<>> stated_;
  std::map<const Op*, size_t> places_;  // in the order of the fusion
  bool few_ = false;                    // whether the contraction at hand is of few rows
  bool widened_ = false;                // whether the library would widen its operands
};

}  // namespace

void find_contractions(Fusion& fusion, SegmentOptions& options, const std::set<const Op*>& taken) {
  if (options.target.kind != TargetKind::cpu && !options.target.threads_cooperate()) return;
  if (options.contractions != "auto" && options.contractions != "own") return;
  ContractionGroups(fusion, options, taken).run();
}

}  // namespace plait
