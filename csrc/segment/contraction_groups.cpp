#include "segment/contraction_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/contraction.h"
#include "schedule/reads.h"
#include "segment/helpers.h"

namespace plait {

namespace {

constexpr size_t kMostOps = 32;

class ContractionGroups {
 public:
  ContractionGroups(const Fusion& fusion, SegmentOptions& options, const std::set<const Op*>& taken)
      : fusion_(fusion), options_(options), taken_(taken), stated_(stated_names(options)) {}

  void run() {
    for (const Op* op : fusion_.ops()) places_.emplace(op, places_.size());
    for (Op* op : fusion_.ops()) {
      if (property(op->kind) != OpProperty::contraction || !is_free(*op)) continue;
      std::string why = "there is none";
      if (options_.contractions == "own")
        why = "own kernels are asked for";
      else if (options_.library_accepts && options_.library_accepts(*op, &why))
        continue;
      take(*op, why);
    }
  }

 private:
  bool is_free(const Op& op) const {
    return !taken_.contains(&op) &&
           std::ranges::none_of(op.results, [&](const TensorView* t) { return stated_.contains(t->name); });
  }

  void take(Op& contraction, const std::string& why) {
    for (const bool alone : {false, true}) {
      Segment s;
      s.ops = alone ? std::vector<Op*>{&contraction} : ops_of(contraction);
      if (!alone && s.ops.size() == 1) continue;
      list_tensors(s, fusion_);
      const auto refused = contraction_refuses({fusion_, s, options_.guards}, options_.target);
      if (!refused) {
        note(options_, fmt::format("tiles of %{}, not library: {}", contraction.out()->name, why));
        return pin(s.ops);
      }
      const char* next = options_.contractions == "own" ? "; a library is asked then, as by auto" : "";
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
  std::vector<Op*> ops_of(Op& contraction) const {
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
