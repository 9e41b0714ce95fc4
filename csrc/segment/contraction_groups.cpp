#include "segment/contraction_groups.h"

#include <fmt/format.h>

#include <algorithm>

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
      if (options_.contractions == "own") {
        why = "own kernels are asked for";
      } else if (options_.library_accepts && options_.library_accepts(*op, &why)) {
        by_cost = costs_less(*op, why);
        if (!by_cost) continue;
      }
      take(*op, why, by_cost);
    }
  }

 private:
  // Whether tiles with what stands behind cost less than the library and a kernel of that. No kernel is saved where
  // others stand behind that would take it in.
  bool costs_less(const Op& op, std::string& why) const {
    if (options_.target.kind != TargetKind::cpu) return false;
    const std::vector<Op*> ops = ops_of(op);
    const bool behind = ops.back() != &op && ops.back()->kind == OpKind::PointwiseOp;
    const bool alone = std::ranges::all_of(fusion_.readers(ops.back()->out()), [](const Op* reader) {
      return property(reader->kind) == OpProperty::contraction;
    });
    if (!behind || !alone) return false;
    const contractions::Parts parts = contractions::parts_of(op);
    const sym::Expr terms = contractions::summed(parts);
    const sym::Expr elements = contractions::rows_of(parts) * parts.out->shape().back();
    const int64_t read = kReadByTiles * whole_tensors(op, ops);
    constexpr const char* kWhy = "tiles or the library";
    const int64_t gained = kKernelBehind - read;
    const bool less = gained > 0 && decide_sizes(options_, sym::lt(terms, kLessBy * gained), kWhy);
    why = costs(terms, read, less);
    if (!less) note(options_, fmt::format("library, not tiles of %{}: {}", op.out()->name, why));
    return less && decide_sizes(options_, sym::ge(elements, kLeastElements), kWhy);
  }
  // How many tensors of the result's size the ops behind read from memory.
  static int64_t whole_tensors(const Op& contraction, const std::vector<Op*>& ops) {
    std::set<const TensorView*> made, out;
    for (const Op* op : ops) made.insert(op->results.begin(), op->results.end());
    for (const Op* op : ops)
      if (op->kind == OpKind::PointwiseOp)
        for (const TensorView* in : inputs(*op))
          if (!made.contains(in) && in->shape() == contraction.out()->shape()) out.insert(in);
    return static_cast<int64_t>(out.size());
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
      if (alone && by_cost) return;
      Segment s;
      s.ops = alone ? std::vector<Op*>{&contraction} : ops_of(contraction);
      if (!alone && s.ops.size() == 1) continue;
      list_tensors(s, fusion_);
      const auto refused = contraction_refuses({fusion_, s, options_.guards}, options_.target);
      if (!refused) {
        note(options_, fmt::format("tiles of %{}, not library: {}", contraction.out()->name, why));
        return pin(s.ops);
      }
      const char* next = options_.contractions == "own" ? "; a library is asked then, as by auto"
                         : by_cost                      ? "; the library computes it"
                                                        : "";
      note(options_, fmt::format("no tiles of %{}: {}{}; to change: {}", contraction.out()->name, refused->reason, next,
                                 refused->change));
    }
  }
  void pin(const std::vector<Op*>& ops) {
    if (!pin_segment(options_, ops, schedules::Contraction(), "tiles")) return;
    for (const Op* op : ops) stated_.insert(op->results[0]->name);
  }

  // The contraction, moves in front of its operands, and what is elementwise behind it, each with one reader; with the
  // numbers and moves that these alone read. In order.
  std::vector<Op*> ops_of(const Op& contraction) const {
    std::set<const Op*> found = {&contraction};
    for (const TensorView* in : inputs(contraction)) add_moves(*in, found);
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
    const Op* op = t.definition;
    if (op == nullptr || found.contains(op) || !is_free(*op) || found.size() >= kMostOps) return;
    if (!is_number(*op) && !keeps_places(*op)) return;
    const auto& readers = fusion_.readers(&t);
    if (fusion_.is_output(&t) || !std::ranges::all_of(readers, [&](const Op* r) { return found.contains(r); })) return;
    found.insert(op);
    for (const TensorView* in : inputs(*op)) add_moves(*in, found);
  }

  const Fusion& fusion_;
  SegmentOptions& options_;
  const std::set<const Op*>& taken_;
  std::set<std::string, std::less<>> stated_;
  std::map<const Op*, size_t> places_;  // in the order of the fusion
};

}  // namespace

void find_contractions(Fusion& fusion, SegmentOptions& options, const std::set<const Op*>& taken) {
  if (options.target.kind != TargetKind::cpu && !options.target.threads_cooperate()) return;
  if (options.contractions != "auto" && options.contractions != "own") return;
  ContractionGroups(fusion, options, taken).run();
}

}  // namespace plait
