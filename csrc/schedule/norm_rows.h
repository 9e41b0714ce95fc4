#pragma once
// The rows of a group of the norm scheduler: what its reductions keep and what they reduce.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "axes/build_graph.h"
#include "axes/walk.h"
#include "base/error.h"
#include "ir/fusion.h"
#include "schedule/nest.h"
#include "schedule/reads.h"
#include "schedule/refusal.h"
#include "schedule/scan_groups.h"
#include "schedule/scheduler.h"

namespace plait::norm {

inline constexpr int64_t kTerms = 32;               // vectors that are added one after another
inline constexpr int64_t kKeptElements = 16 << 10;  // of all buffers of a row: 64 KiB of f32
inline constexpr int64_t kWorthKeeping = 8;         // operations per element; less is computed again
inline constexpr size_t kScansAgain = 4;            // beyond twice as often as there are
inline constexpr size_t kMostElsewhere = 4;         // scans that are read at other places of the row

inline constexpr int64_t kFewRows = 256;           // no more have no sums over columns beside them
inline constexpr int64_t kLeastRowsOfGpus = 1024;  // that have
inline constexpr int64_t kMostColumns = 8 << 10;   // of which each task has states
inline constexpr size_t kMostBesideSums = 64;      // ops of such a kernel: it is placed whenever another one is to join

// What each of so many may have, `each` at most, where they may have `all` together.
inline int64_t share_of_each(int64_t count, int64_t each, int64_t all) {
  while (count * each > all && each > 1) each /= 2;
  return each;
}
// Columns that each of so many sums over them may have.
inline int64_t columns_of_each(int64_t count) { return share_of_each(count, kMostColumns, 4 * kMostColumns); }
// Elements that each of so many buffers may hold.
inline int64_t elements_of_each(int64_t count) { return share_of_each(count, kKeptElements, kKeptElements); }

inline bool is_reduction(const Op& op) { return property(op.kind) == OpProperty::reduction && !is_scan(op.kind); }
// Goes along the row.
inline bool is_rowwise(const Op& op) { return is_reduction(op) || is_scan(op.kind); }

// Axes of a group of rows: what its reductions keep and what they reduce.
class Rows {
 public:
  Rows(sym::Pool& pool, std::span<Op* const> ops, std::span<TensorView* const> outputs, std::set<const Op*> reads)
      : all_(ops),
        outputs_(outputs.begin(), outputs.end()),
        reads_(std::move(reads)),
        axes_(build_axis_graph(pool, ops, {.extent = {}, .reads = &reads_})) {
    for (Op* op : ops)
      if (!reads_.contains(op)) ops_.push_back(op);
    find_reference();
    if (reference_ == nullptr) return;
    align_tensors();
    reduced_ = classes(reduced_axes(*reference_));
    kept_ = classes(kept_axes(*reference_));
    walk_.emplace(axes_.graph);
    for (const auto* list : {&kept_, &reduced_})
      for (int c : *list) walk_->seed(c);
    walk_->run();
    find_elsewhere();
    find_column_sums();
  }

  const Op* reference() const { return reference_; }
  const std::vector<TensorView*>& aligned() const { return aligned_; }

  // Whether the tensor moves along the row, or is the same for all of it.
  bool is_wide(const TensorView& t) const { return meets(t, reduced_); }
  // Whether the tensor has a place among the rows; what only reads ask for has none.
  bool has_place(const TensorView& t) const { return axes_.axes.contains(&t); }
  // Whether it moves along the row, and is the same for every row.
  bool is_of_every_row(const TensorView& t) const { return is_wide(t) && !meets(t, kept_); }
  bool is_full(const TensorView& t) const { return holds(t, reduced_) && holds(t, kept_); }

  std::optional<Refused> refuse(const std::function<bool(sym::Expr)>& decide) const {
    for (const Op* op : ops_)
      if (!is_elementwise(*op) && !is_rowwise(*op) && !keeps_places(*op) && op->kind != OpKind::Reshape)
        return Refused{fmt::format("{} is neither elementwise nor a reduction", describe(*op)),
                       "leave only elementwise ops, moves, lookups, reductions and scans on both sides"};
    if (reference_ == nullptr) return Refused{"nothing is reduced", "nothing: rows are those of a reduction or a scan"};
    if (const auto reason = refuse_directions()) return reason;
    if (const auto reason = refuse_scans_beside()) return reason;
    if (const auto reason = refuse_repeated()) return reason;
    if (const auto reason = reads_cost_too_much(all_, outputs_, reads_)) return reason;
    for (const Edge& e : axes_.edges)
      if (e.hard && (e.cut || e.elsewhere) && !elsewhere_.contains(e.operand)) return not_in_place(e);
    for (const Op* op : ops_)
      if (const auto reason = refuse(*op)) return reason;
    for (const TensorView* t : outputs_)
      if (!column_sums_.contains(t->definition) && (!holds(*t, kept_) || (is_wide(*t) && !holds(*t, reduced_))))
        return Refused{fmt::format("output %{}: {} does not have all dims of the rows of {}", t->name, type_text(*t),
                                   describe(*reference_)),
                       "do not output it, or broadcast it to the rows first"};
    if (const auto reason = layout()) return reason;
    if (const auto reason = refuse_column_sums(decide)) return reason;
    return refuse_buffers(decide);
  }

  // Reductions over all that the rows keep, which end here: each task has a state for every column.
  const std::set<const Op*>& column_sums() const { return column_sums_; }
  // Of the first of them.
  std::string column_sums_differ() const {
    return differ_from(**std::ranges::find_if(ops_, [&](const Op* op) { return column_sums_.contains(op); }));
  }

  // Scans that reads go through at other places of the row.
  const std::set<const TensorView*>& elsewhere() const { return elsewhere_; }

  // Reduced dims of the reference from which on they are one run in memory, in its order of reduced dims.
  size_t row_begin() const {
    const TensorView& in = *inputs(*reference_).front();
    const std::vector<int> dims = reduced_dims();
    size_t begin = dims.size();
    for (size_t place = in.rank(); begin > 0 && place > 0; --place) {
      const int dim = in.domain.allocation[place - 1];
      if (in.extent(static_cast<size_t>(dim)).constant() == 1 && dim != dims[begin - 1]) continue;
      if (dim != dims[begin - 1] || (!in.domain.strided.empty() && in.domain.strided[place - 1])) break;
      --begin;
    }
    return begin;
  }

  // The innermost dim of the reference's operand in memory, where it is kept: its place in the result. Vectors run
  // along such columns, and each lane reduces its own.
  std::optional<int> column() const {
    const TensorView& in = *inputs(*reference_).front();
    const Edge& edge = axes_.edges_of(*reference_)[0];
    for (size_t place = in.rank(); place-- > 0;) {
      const size_t dim = static_cast<size_t>(in.domain.allocation[place]);
      if (in.extent(dim).constant() == 1) continue;
      const bool strided = !in.domain.strided.empty() && in.domain.strided[place];
      const int to = edge.pairing[dim];
      const bool kept = to >= 0 && to < static_cast<int>(reference_->results[0]->rank()) && to != scanned();
      return kept && !strided ? std::optional(to) : std::nullopt;
    }
    return std::nullopt;
  }
  // Whether vectors run along the reduced dims.
  bool is_row() const { return reduced_.empty() || row_begin() < reduced_dims().size(); }

  // The dim that the reference scans, or -1.
  int scanned() const {
    const auto scan = scan_of(*reference_);
    return scan ? static_cast<int>(scan->dim) : -1;
  }
  bool scans() const {
    return std::any_of(ops_.begin(), ops_.end(), [](const Op* op) { return is_scan(op->kind); });
  }
  // Of how many scans, itself included, one waits for.
  size_t longest_scans() const {
    size_t out = 0;
    for (const auto& [op, before] : scans_before())
      if (is_scan(op->kind)) out = std::max(out, before.size());
    return out;
  }
  // Extent of what the reference keeps.
  sym::Expr kept_extent() const {
    const TensorView& result = *reference_->results[0];
    sym::Expr out = result.fusion->pool().constant(1);
    for (size_t d = 0; d < result.rank(); ++d)
      if (static_cast<int>(d) != scanned()) out = out * result.extent(d);
    return out;
  }

  // Reduced dims of the reference's operand, in the order of its reduction axes.
  std::vector<int> reduced_dims() const {
    if (scanned() >= 0) return {scanned()};
    const size_t kept = reference_->results[0]->rank();
    const size_t count = axes_.axes.at(reference_->results[0]).reduction.size();
    std::vector<int> out(count, -1);
    const Edge& edge = axes_.edges_of(*reference_)[0];
    for (size_t d = 0; d < edge.pairing.size(); ++d)
      if (edge.pairing[d] >= static_cast<int>(kept))
        out[static_cast<size_t>(edge.pairing[d]) - kept] = static_cast<int>(d);
    return out;
  }

  // Extent of the reduced dims from `begin` on, up to `end`.
  sym::Expr row(size_t begin, size_t end = SIZE_MAX) const {
    const TensorView& in = *inputs(*reference_).front();
    sym::Expr out = in.fusion->pool().constant(1);
    const std::vector<int> dims = reduced_dims();
    for (size_t i = begin; i < std::min(end, dims.size()); ++i)
      if (dims[i] >= 0) out = out * in.extent(static_cast<size_t>(dims[i]));
    return out;
  }

  // The pass over the row in which the tensor can be computed at the earliest: reductions that it waits for, one after
  // another.
  int stage(const TensorView& t) {
    const Op* op = t.definition;
    if (op == nullptr || !(axes_.computes(&t) || reads_.contains(op))) return 0;
    const auto [it, fresh] = stages_.try_emplace(op, 0);
    if (!fresh) return it->second;
    int out = 0;
    for (const TensorView* in : inputs(*op)) out = std::max(out, stage(*in));
    return stages_[op] = out + (is_reduction(*op) ? 1 : 0);
  }

  // Whether no element of a row waits for one of its reductions.
  bool is_one_pass() {
    for (const Op* op : ops_)
      for (const TensorView* t : op->results)
        if (is_wide(*t) && stage(*t) > 0) return false;
    return true;
  }

  // Tensors along the row that later passes read again and that cost more than a buffer.
  std::set<const TensorView*> worth_keeping() {
    if (!elsewhere_.empty()) return elsewhere_;
    std::map<const TensorView*, int> last;  // pass in which a tensor is read last
    const auto read = [&](const TensorView* t, int pass) {
      const auto [it, fresh] = last.try_emplace(t, pass);
      if (!fresh) it->second = std::max(it->second, pass);
    };
    std::set<const TensorView*> out;
    for (const TensorView* t : outputs_) read(t, stage(*t));
    for (size_t i = ops_.size(); i-- > 0;) {
      const Op& op = *ops_[i];
      const TensorView& t = *op.results[0];
      int pass = stage(t);
      if (is_reduction(op)) {
        --pass;
      } else if (is_wide(t) && last.contains(&t)) {
        const bool scan = is_scan(op.kind) && op.results.size() == 1;
        const bool again = last[&t] > pass && is_full(t) && (is_elementwise(op) || scan) && cost(op) >= kWorthKeeping;
        if (again)
          out.insert(&t);
        else
          pass = last[&t];
      }
      for (const TensorView* in : inputs(op)) read(in, pass);
    }
    return out;
  }

  // Those of the tensors, which others make, that several passes read as a whole row, along the dims of the reference.
  std::vector<TensorView*> read_again(std::span<TensorView* const> tensors) {
    std::map<const TensorView*, std::set<int>> passes;
    for (const TensorView* t : outputs_) passes[t].insert(stage(*t));
    for (size_t i = ops_.size(); i-- > 0;) {
      const Op& op = *ops_[i];
      std::set<int> here;  // passes that compute it
      for (const TensorView* t : op.results)
        if (is_reduction(op))
          here.insert(stage(*t) - 1);
        else if (is_wide(*t))
          here.merge(std::set<int>(passes[t]));
      for (const TensorView* in : inputs(op)) passes[in].insert(here.begin(), here.end());
    }
    std::vector<TensorView*> out;
    for (TensorView* t : tensors)
      if (has_place(*t) && has_own(*t) && passes[t].size() > 1) out.push_back(t);
    return out;
  }

 private:
  std::vector<int> classes(const std::vector<int>& axes) const {
    std::vector<int> out;
    for (int a : axes)
      if (!axes_.graph.unit(a)) out.push_back(axes_.graph.find(a));
    return out;
  }
  std::string differ_from(const Op& op) const {
    return fmt::format("{} and {} reduce different dims", describe(*reference_), describe(op));
  }
  // Whether the tensor has the dims of the reference's operand, in their order, and all that read it read the row at
  // hand: no permute or reshape does.
  bool has_own(const TensorView& t) const {
    if (domain_classes(axes_, t) != domain_classes(axes_, *inputs(*reference_).front())) return false;
    return std::none_of(ops_.begin(), ops_.end(), [&](const Op* op) {
      const std::vector<TensorView*> in = inputs(*op);
      return std::find(in.begin(), in.end(), &t) != in.end() && !is_elementwise(*op) && !is_rowwise(*op);
    });
  }
  static bool has(const std::vector<int>& list, int cls) {
    return std::find(list.begin(), list.end(), cls) != list.end();
  }
  // Axes of the rows that drive those of the tensor: themselves, or what a reshape makes of them.
  std::set<int> driving(const TensorView& t) const {
    std::vector<int> own = domain_classes(axes_, t);
    std::erase_if(own, [&](int c) { return !walk_->knows(c); });
    return walk_->use(own).seeds;
  }
  bool meets(const TensorView& t, const std::vector<int>& list) const {
    const std::set<int> own = driving(t);
    return std::any_of(own.begin(), own.end(), [&](int c) { return has(list, c); });
  }
  bool holds(const TensorView& t, const std::vector<int>& list) const {
    const std::set<int> own = driving(t);
    return std::all_of(list.begin(), list.end(), [&](int c) { return own.contains(c); });
  }

  // A reduction or, where there is none, a scan, over more than one element where there is one.
  void find_reference() {
    for (bool scan : {false, true})
      for (const Op* op : ops_) {
        if (!is_rowwise(*op) || is_scan(op->kind) != scan) continue;
        if (reference_ == nullptr || classes(reduced_axes(*reference_)).empty()) reference_ = op;
      }
    prefer_rows();
  }

  // Of reductions over rows and over columns, the reference is one over the dim that is innermost in memory.
  void prefer_rows() {
    if (reference_ == nullptr || !is_reduction(*reference_) || reduces_innermost(*reference_)) return;
    const std::vector<int> first = classes(reduced_axes(*reference_));
    const auto fits = [&](const Op* op) {
      if (!is_reduction(*op) || !reduces_innermost(*op)) return false;
      const std::vector<int> own = classes(reduced_axes(*op));
      return std::none_of(own.begin(), own.end(), [&](int c) { return has(first, c); });
    };
    const auto it = std::find_if(ops_.begin(), ops_.end(), fits);
    if (it != ops_.end()) reference_ = *it;
  }

  bool reduces_innermost(const Op& op) const {
    const TensorView& in = *inputs(op).front();
    const std::vector<int> own = classes(reduced_axes(op));
    for (size_t place = in.rank(); place-- > 0;) {
      const int axis = axes_.axes.at(&in).logical[static_cast<size_t>(in.domain.allocation[place])];
      if (!axes_.graph.unit(axis)) return has(own, axes_.graph.find(axis));
    }
    return false;
  }

  void find_column_sums() {
    if (kept_.empty() || reduced_.empty() || scans()) return;
    std::set<const TensorView*> read;
    for (const Op* op : all_)
      for (const TensorView* in : inputs(*op)) read.insert(in);
    for (const Op* op : ops_) {
      if (!is_reduction(*op) || !can_have_tile(*op) || read.contains(op->results[0])) continue;
      std::vector<int> columns = classes(kept_axes(*op)), row = reduced_;
      std::sort(columns.begin(), columns.end());
      std::sort(row.begin(), row.end());
      // Rows become one loop, in the order in which the reference keeps them.
      if (classes(reduced_axes(*op)) == kept_ && columns == row) column_sums_.insert(op);
    }
  }

  // A state for every column of all such sums is on the stack, and tasks have rows enough to be worth it.
  std::optional<Refused> refuse_column_sums(const std::function<bool(sym::Expr)>& decide) const {
    if (column_sums_.empty()) return std::nullopt;
    const std::string different = column_sums_differ();
    if (!is_row() || row_begin() != 0)
      return Refused{different + ", which lie apart in memory",
                     "let the reduced dims of one of them be innermost and in one piece (allocation)"};
    if (all_.size() > kMostBesideSums)
      return Refused{
          fmt::format("{}, of {} ops in all, and {} may stand together", different, all_.size(), kMostBesideSums),
          "nothing: beyond that a kernel of rows and one of columns take turns"};
    const int64_t most = columns_of_each(static_cast<int64_t>(column_sums_.size()));
    if (decide(sym::le(row(0), most)) && decide(sym::gt(kept_extent(), kFewRows))) return std::nullopt;
    return Refused{fmt::format("{}, of more than {} columns or {} rows at most", different, most, kFewRows),
                   "nothing: a task has a state of each column, for the sake of many rows"};
  }

  std::vector<int> reduced_axes(const Op& op) const {
    const TensorAxes& axes = axes_.axes.at(op.results[0]);
    if (const auto scan = scan_of(op)) return {axes.logical[static_cast<size_t>(scan->dim)]};
    return axes.reduction;
  }
  std::vector<int> kept_axes(const Op& op) const {
    std::vector<int> out = axes_.axes.at(op.results[0]).logical;
    if (const auto scan = scan_of(op)) out.erase(out.begin() + static_cast<std::ptrdiff_t>(scan->dim));
    return out;
  }

  // Scans that an op waits for, itself among them.
  std::map<const Op*, std::set<const Op*>> scans_before() const {
    std::map<const Op*, std::set<const Op*>> out;
    for (const Op* op : all_) {
      std::set<const Op*>& own = out[op];
      for (const TensorView* in : inputs(*op))
        if (const auto it = out.find(in->definition); it != out.end()) own.insert(it->second.begin(), it->second.end());
      if (is_scan(op->kind)) own.insert(op);
    }
    return out;
  }

  // Every output and every reduction scans for itself.
  std::optional<Refused> refuse_repeated() const {
    if (!scans()) return std::nullopt;
    const auto before = scans_before();
    size_t count = 0, times = 0;
    for (const Op* op : all_) {
      count += is_scan(op->kind) ? 1 : 0;
      const bool root = is_reduction(*op) || std::any_of(op->results.begin(), op->results.end(), [&](const auto* t) {
                          return std::find(outputs_.begin(), outputs_.end(), t) != outputs_.end();
                        });
      times += root ? before.at(op).size() : 0;
    }
    if (times <= 2 * count + kScansAgain) return std::nullopt;
    return Refused{fmt::format("its {} scans would run {} times", count, times),
                   "let fewer outputs and reductions wait for the same scans"};
  }

  // What reads go through is computed where they read, and a scan has its place in its row.
  std::optional<Refused> refuse_scans_beside() const {
    for (const Op* read : reads_)
      for (const TensorView* in : inputs(*read)) {
        if (in->definition == nullptr || !is_scan(in->definition->kind) || !has_place(*in)) continue;
        if (holds(*in, kept_) || elsewhere_.contains(in)) continue;
        return Refused{fmt::format("{} reads %{}, which is none of the rows of {}", describe(*read), in->name,
                                   describe(*reference_)),
                       "broadcast what is scanned to the rows, or let the scan be a kernel of its own"};
      }
    return std::nullopt;
  }

  // Loops along a row run one way.
  std::optional<Refused> refuse_directions() const {
    const Op* first = nullptr;
    for (const Op* op : ops_) {
      if (!is_scan(op->kind)) continue;
      if (first != nullptr && scan_of(*first)->reverse != scan_of(*op)->reverse)
        return Refused{
            fmt::format("{} and {} go along the row in opposite directions", describe(*first), describe(*op)),
            "nothing: a row is gone through one way; each way is a kernel of its own"};
      first = op;
    }
    return std::nullopt;
  }

  // Tensors of the rows' shape that no edge links have the same axes by position.
  void align_tensors() {
    TensorView* in = inputs(*reference_).front();
    aligned_ = {in};
    for (const Op* op : ops_) {
      std::vector<TensorView*> full = op->results;
      if (is_reduction(*op)) full = {inputs(*op).front()};
      for (TensorView* t : full) {
        if (std::find(aligned_.begin(), aligned_.end(), t) != aligned_.end()) continue;
        TensorView* pair[] = {in, t};
        if (domain_classes(axes_, *t).size() == domain_classes(axes_, *in).size() && align(axes_, pair) == nullptr)
          aligned_.push_back(t);
      }
    }
  }

  std::optional<Refused> refuse(const Op& op) const {
    if (is_rowwise(op) && !column_sums_.contains(&op)) {
      std::vector<int> own = classes(reduced_axes(op)), all = reduced_;
      std::sort(own.begin(), own.end());
      std::sort(all.begin(), all.end());
      if (reduced_axes(op).empty())
        return Refused{fmt::format("{} reduces no dim", describe(op)), "drop the reduction over no dim"};
      if (own != all)
        return Refused{differ_from(op), "reduce the same dims on both sides; different ones are kernels of their own"};
    }
    for (const TensorView* t : op.results)
      for (int c : domain_classes(axes_, *t))
        if (!walk_->knows(c))
          return Refused{fmt::format("%{}: {} has a dim that is none of the rows of {}", t->name, type_text(*t),
                                     describe(*reference_)),
                         "let its dims be among the kept and the reduced dims of that reduction"};
    return std::nullopt;
  }

  void find_elsewhere() {
    std::set<const TensorView*> others;
    for (const Edge& e : axes_.edges) {
      if (!e.hard || !(e.cut || e.elsewhere)) continue;
      const auto scan = scan_of(*e.operand->definition);
      bool along = !e.cut && scan && e.operand->definition->results.size() == 1;
      for (size_t d = 0; d < e.pairing.size() && along; ++d) {
        const bool moves = e.pairing[d] < 0 && e.operand->extent(d).constant() != 1;
        along = moves == (static_cast<int64_t>(d) == scan->dim);
      }
      (along ? elsewhere_ : others).insert(e.operand);
    }
    for (const TensorView* t : others) elsewhere_.erase(t);
  }

  std::optional<Refused> refuse_buffers(const std::function<bool(sym::Expr)>& decide) const {
    if (elsewhere_.empty()) return std::nullopt;
    const TensorView& t = **elsewhere_.begin();
    if (!is_row())
      return Refused{fmt::format("%{} is read at other places, and its rows lie apart in memory", t.name),
                     "let the scan go along the innermost dim (allocation)"};
    if (elsewhere_.size() > kMostElsewhere)
      return Refused{"moves read at other places of too many scans",
                     fmt::format("let moves read at other places of {} scans at most", kMostElsewhere)};
    const int64_t most = elements_of_each(static_cast<int64_t>(elsewhere_.size()));
    if (decide(sym::le(row(0), most))) return std::nullopt;
    return Refused{
        fmt::format("%{} is read at other places, and its rows of {} elements do not stay on the stack: at most {} do",
                    t.name, sym::print(row(0)), most),
        "give a bound of the size where it is known to be smaller; longer rows go through memory"};
  }

  std::optional<Refused> layout() const {
    if (is_row() || column()) return std::nullopt;
    return Refused{fmt::format("the operand of {} has no dim without gaps in memory", describe(*reference_)),
                   "give the reduced operand an innermost dim without gaps (allocation)"};
  }

  int64_t cost(const Op& op) {
    const auto [it, fresh] = costs_.try_emplace(&op, 0);
    if (!fresh) return it->second;
    int64_t own = property(op.kind) == OpProperty::creation && !inputs(op).empty() ? 64 : 0;  // random numbers
    if (is_scan(op.kind)) own = kWorthKeeping;
    if (const auto* p = as<PointwiseOp>(op)) {
      const CostClass kind = info(p->function).cost;
      own = kind == CostClass::simple ? 1 : kind == CostClass::division ? 4 : 16;
    }
    for (const TensorView* in : inputs(op))
      if (in->definition != nullptr && (reads_.contains(in->definition) || (axes_.computes(in) && is_wide(*in))))
        own += cost(*in->definition);
    return costs_[&op] = std::min<int64_t>(own, 1 << 20);
  }

  std::span<Op* const> all_;
  std::vector<const Op*> ops_;  // those that have a place
  std::vector<TensorView*> outputs_;
  std::set<const Op*> reads_;
  AxisGroup axes_;
  std::optional<Walk> walk_;  // from the axes of the rows
  const Op* reference_ = nullptr;
  std::vector<TensorView*> aligned_;
  std::set<const TensorView*> elsewhere_;
  std::set<const Op*> column_sums_;
  std::vector<int> reduced_, kept_;
  std::map<const Op*, int> stages_;
  std::map<const Op*, int64_t> costs_;
};

inline Rows rows_of(const Problem& problem) {
  const Segment& s = problem.segment;
  return {problem.fusion.pool(), s.ops, s.outputs, find_reads(s.ops)};
}

inline Rows rows_of(const ScheduledGroup& group) {
  return {group.graph->pool(), group.graph->ops(), group.graph->outputs(), group.reads};
}

// The most that an extent may be, at least 1.
inline int64_t longest(sym::Expr extent) { return std::max<int64_t>(sym::bounds(extent).hi, 1); }

// Whether sums of the segment may go in parts.
inline bool has_sums(const Problem& problem) {
  return std::any_of(problem.segment.ops.begin(), problem.segment.ops.end(),
                     [](const Op* op) { return is_reduction(*op) && has_parts(*op); });
}

}  // namespace plait::norm
