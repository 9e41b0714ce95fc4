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

// Of few rows, where a kernel that reads the matrix once is measured to be faster than the library. Most rows: where it
// is at its best; of others; of a symbol, where each row reads a part of the matrix again.
constexpr int64_t kFewRows = 8, kFewOfOthers = 4, kFewAgain = 3;
// Least terms side by side in memory, and columns of these; of a matrix that is opened, wide or narrow, terms for each
// row; of one times a vector.
constexpr int64_t kLongLine = 256, kLeastLines = 64, kOpenedLine = 64, kOpenedNarrow = 8, kVectorLine = 16;
// Least columns side by side; of several narrow rows, or of one row and a matrix of so many bytes, which one narrow row
// asks anyway; of a matrix that is opened, or of a vector, for each row, where they are no whole vectors.
constexpr int64_t kLongColumns = 512, kShortColumns = 256, kNearBytes = int64_t{2} << 20, kManyColumns = 128;
// Tiles of such columns read all rows again, which the nearest cache holds; of many rows they are short pieces of a
// line, which may not be too long.
constexpr int64_t kRowBytes = 64 << 10, kMostPieces = 4096;

class ContractionGroups {
 public:
  ContractionGroups(Fusion& fusion, SegmentOptions& options, const std::set<const Op*>& taken)
      : fusion_(fusion), options_(options), taken_(taken), stated_(stated_names(options)) {}

  void run() {
    const std::vector<Op*> all = fusion_.ops();
    for (const Op* op : all) places_.emplace(op, places_.size());
    for (Op* op : all) {
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
  bool few_pay(Op& op, std::string& why) {
    const contractions::Parts parts = contractions::parts_of(op);
    const bool vector = contractions::is_vector(parts);
    const sym::Expr rows = contractions::rows_of(parts);
    if (options_.target.kind != TargetKind::cpu || (!vector && sym::proven(sym::gt(rows, kFewRows)))) return false;
    own_moves(op);
    const auto decide = [&](sym::Expr e) { return decide_sizes(options_, e, "few rows or many"); };
    const std::vector<Op*> ops = ops_of(op, true);
    const bool opened = opens_matrix(op), along = contractions::sums_along(ops, parts);
    // Of 16 registers, tiles of many rows read short pieces of a line of columns.
    const bool many = !is_narrow(parts.left->dtype) && (options_.target.vector_lanes >= 16 || along);
    const int64_t most = !rows.is_constant()                    ? (along ? contractions::kMostFewSymbolic : kFewAgain)
                         : many || opened || library_widens(op) ? kFewRows
                                                                : kFewOfOthers;
    if (!vector && !decide(sym::le(rows, most))) return false;
    if (!decide(sym::ge(contractions::elements_of_matrix(parts), kLeastElements))) return false;
    const int64_t count = vector ? 1 : rows.constant().value_or(most);
    if (!std::ranges::all_of(long_lines(op, parts, count, along, opened), decide)) {
      note(options_,
           fmt::format("library, not few rows of %{}: the matrix has short lines in memory, or none in whole vectors",
                       op.out()->name));
      return false;
    }
    why = "each element of its matrix is read once, where it lies";
    return true;
  }
  // What holds of a matrix whose lines in memory are long enough for so many rows.
  std::vector<sym::Expr> long_lines(const Op& op, const contractions::Parts& parts, int64_t rows, bool along,
                                    bool opened) const {
    const sym::Expr columns = contractions::is_vector(parts) ? contractions::rows_of(parts) : parts.out->shape().back();
    const sym::Expr terms = contractions::summed(parts);
    const int64_t lanes = contraction_columns(op, options_.target) / 2;
    const bool narrow = is_narrow(parts.left->dtype), vector = contractions::is_vector(parts);
    const auto size = static_cast<int64_t>(size_of(parts.left->dtype));
    const sym::Expr near = sym::le(contractions::elements_of_matrix(parts), kNearBytes / size);
    const bool clear = opened || vector;
    std::vector<sym::Expr> out;
    if (rows == 1 && narrow && !opened && !library_widens(op)) out.push_back(near);
    if (along) {
      const int64_t of_opened = (narrow ? kOpenedNarrow : kOpenedLine) * rows;
      const int64_t of_others = vector ? kVectorLine : kLongLine;
      out.push_back(sym::ge(terms, opened ? of_opened : of_others));
      if (!clear) out.push_back(sym::ge(columns, kLeastLines));
      return out;
    }
    if (clear && sym::proven(sym::ge(columns, kManyColumns * rows))) return out;
    out.push_back(sym::eq(sym::mod(columns, lanes), 0));
    if (clear) return out;
    const bool shorter = rows == 1 ? sym::proven(near) : narrow;
    out.push_back(sym::ge(columns, shorter ? kShortColumns : kLongColumns));
    if (rows > 1) out.push_back(sym::le(terms, kRowBytes / (rows * size)));
    if (rows > kFewOfOthers) out.push_back(sym::le(columns, kMostPieces));
    return out;
  }
  // Moves of the operands that others read too, of which an own kernel would read a copy.
  void own_moves(Op& op) {
    for (TensorView* in : inputs(op)) {
      std::vector<Op*> added;
      TensorView* own = shares_moves(in) ? move_again(in, added) : in;
      if (own == in) continue;
      replace_input(op, in, own);
      put_ops(fusion_, added, op, false);
    }
  }
  bool shares_moves(const TensorView* t) const {
    for (; is_own_move(t); t = inputs(*t->definition)[0])
      if (fusion_.readers(t).size() + (fusion_.is_output(t) ? 1 : 0) > 1) return true;
    return false;
  }
  TensorView* move_again(TensorView* t, std::vector<Op*>& added) {
    if (!is_own_move(t)) return t;
    TensorView *in = inputs(*t->definition)[0], *from = move_again(in, added);
    Op* copy = duplicate(fusion_, *t->definition);
    if (from != in) replace_input(*copy, in, from);
    places_.emplace(copy, places_.at(t->definition));
    added.push_back(copy);
    return copy->out();
  }
  bool is_own_move(const TensorView* t) const {
    return t->definition != nullptr && is_free(*t->definition) && keeps_places(*t->definition);
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
  // numbers and moves that these alone read. In order. Few rows that lie across memory are turned by another kernel,
  // where lanes run along the sum: each of their elements is read for each of the columns.
  std::vector<Op*> ops_of(const Op& contraction, bool few) const {
    const contractions::Parts parts = contractions::parts_of(contraction);
    std::vector<Op*> out = ops_with(contraction, few, true);
    const bool one = contractions::is_vector(parts) || contractions::rows_of(parts).constant() == 1;
    if (!few || one || !contractions::sums_along(out, parts)) return out;
    const bool across = !contractions::is_dense(out, *parts.left, static_cast<int>(parts.left->rank()) - 1);
    return across ? ops_with(contraction, few, false) : out;
  }
  std::vector<Op*> ops_with(const Op& contraction, bool few, bool rows) const {
    const contractions::Parts parts = contractions::parts_of(contraction);
    std::set<const Op*> found = {&contraction};
    add_moves(*parts.right, found);
    if (rows) add_moves(*parts.left, found);
    if (few) add_front(parts, rows, found);
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
  void add_front(const contractions::Parts& parts, bool rows, std::set<const Op*>& found) const {
    const bool vector = contractions::is_vector(parts);
    add_opened(*(vector ? parts.left : parts.right), found);
    if (!rows) return;
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

  Fusion& fusion_;
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
