#include "schedule/norm.h"

#include <algorithm>

#include "axes/transforms.h"
#include "axes/walk.h"
#include "base/error.h"
#include "schedule/nest.h"
#include "schedule/norm_loops.h"
#include "schedule/norm_split.h"
#include "schedule/reads.h"
#include "schedule/scan_groups.h"

namespace plait {

namespace {

constexpr int64_t kVectors = 4;              // registers that serve as one vector of the kernel: accumulators of a sum
constexpr int64_t kTerms = 32;               // vectors that are added one after another
constexpr int64_t kKeptElements = 16 << 10;  // of all buffers of a row: 64 KiB of f32
constexpr int64_t kMostKept = 64 << 10;      // the same where a text pins it: half a MiB of f64
constexpr int64_t kWorthKeeping = 8;         // operations per element; less is computed again
constexpr int64_t kMostLanes = 64;
constexpr size_t kScansAgain = 4;     // beyond twice as often as there are
constexpr size_t kScansInRow = 2;     // of tasks that share rows: each waits for the one before it
constexpr size_t kMostElsewhere = 4;  // scans that are read at other places of the row

// Elements that each of so many buffers may hold.
int64_t elements_of_each(int64_t count) {
  int64_t elements = kKeptElements;
  while (count * elements > kKeptElements && elements > 1) elements /= 2;
  return elements;
}

bool is_reduction(const Op& op) { return property(op.kind) == OpProperty::reduction && !is_scan(op.kind); }
// Goes along the row.
bool is_rowwise(const Op& op) { return is_reduction(op) || is_scan(op.kind); }

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
  }

  const Op* reference() const { return reference_; }
  const std::vector<TensorView*>& aligned() const { return aligned_; }

  // Whether the tensor moves along the row, or is the same for all of it.
  bool is_wide(const TensorView& t) const { return meets(t, reduced_); }
  bool is_full(const TensorView& t) const { return holds(t, reduced_) && holds(t, kept_); }

  std::optional<std::string> refuse(const std::function<bool(sym::Expr)>& decide) const {
    for (const Op* op : ops_)
      if (!is_elementwise(*op) && !is_rowwise(*op) && !keeps_places(*op) && op->kind != OpKind::Reshape)
        return fmt::format("{} is neither elementwise nor a reduction", describe(*op));
    if (reference_ == nullptr) return "nothing is reduced";
    if (const auto reason = refuse_directions()) return reason;
    if (const auto reason = refuse_repeated()) return reason;
    if (const auto reason = reads_cost_too_much(all_, outputs_, reads_)) return reason;
    for (const Edge& e : axes_.edges)
      if (e.hard && (e.cut || e.elsewhere) && !elsewhere_.contains(e.operand))
        return fmt::format("{} cannot read %{} in place: {}", describe(*e.op), e.operand->name, e.reason);
    for (const Op* op : ops_)
      if (const auto reason = refuse(*op)) return reason;
    for (const TensorView* t : outputs_)
      if (!holds(*t, kept_) || (is_wide(*t) && !holds(*t, reduced_)))
        return fmt::format("output %{}: {} does not have all dims of the rows of {}", t->name, type_text(*t),
                           describe(*reference_));
    if (const auto reason = layout()) return reason;
    return refuse_buffers(decide);
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

 private:
  std::vector<int> classes(const std::vector<int>& axes) const {
    std::vector<int> out;
    for (int a : axes)
      if (!axes_.graph.unit(a)) out.push_back(axes_.graph.find(a));
    return out;
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
  std::optional<std::string> refuse_repeated() const {
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
    return fmt::format("its {} scans would run {} times", count, times);
  }

  // Loops along a row run one way.
  std::optional<std::string> refuse_directions() const {
    const Op* first = nullptr;
    for (const Op* op : ops_) {
      if (!is_scan(op->kind)) continue;
      if (first != nullptr && scan_of(*first)->reverse != scan_of(*op)->reverse)
        return fmt::format("{} and {} go along the row in opposite directions", describe(*first), describe(*op));
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

  std::optional<std::string> refuse(const Op& op) const {
    if (is_rowwise(op)) {
      std::vector<int> own = classes(reduced_axes(op)), all = reduced_;
      std::sort(own.begin(), own.end());
      std::sort(all.begin(), all.end());
      if (reduced_axes(op).empty()) return fmt::format("{} reduces no dim", describe(op));
      if (own != all) return fmt::format("{} and {} reduce different dims", describe(*reference_), describe(op));
    }
    for (const TensorView* t : op.results)
      for (int c : domain_classes(axes_, *t))
        if (!walk_->knows(c))
          return fmt::format("%{}: {} has a dim that is none of the rows of {}", t->name, type_text(*t),
                             describe(*reference_));
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

  std::optional<std::string> refuse_buffers(const std::function<bool(sym::Expr)>& decide) const {
    if (elsewhere_.empty()) return std::nullopt;
    const TensorView& t = **elsewhere_.begin();
    if (!is_row()) return fmt::format("%{} is read at other places, and its rows lie apart in memory", t.name);
    if (elsewhere_.size() > kMostElsewhere) return "moves read at other places of too many scans";
    const int64_t most = elements_of_each(static_cast<int64_t>(elsewhere_.size()));
    if (decide(sym::le(row(0), most))) return std::nullopt;
    return fmt::format(
        "%{} is read at other places, and its rows of {} elements do not stay on the stack: at most {} do", t.name,
        sym::print(row(0)), most);
  }

  std::optional<std::string> layout() const {
    if (is_row() || column()) return std::nullopt;
    return fmt::format("the operand of {} has no dim without gaps in memory", describe(*reference_));
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
  std::vector<int> reduced_, kept_;
  std::map<const Op*, int> stages_;
  std::map<const Op*, int64_t> costs_;
};

std::optional<std::string> accept(const Problem& problem) {
  return norm_refuses(problem.fusion, problem.segment.ops, problem.segment.outputs,
                      [&](sym::Expr e) { return problem.decide(e); });
}

// Lanes: several registers' worth, but no more than the row has.
int64_t choose_vector(const Problem& problem, const Target& target, int64_t most) {
  bool wide = false;
  for (const Op* op : problem.segment.ops)
    for (const TensorView* t : op->results) wide = wide || size_of(compute_type(t->dtype)) == 8;
  const int64_t lanes = wide ? target.vector_lanes / 2 : target.vector_lanes;
  int64_t vector = std::clamp<int64_t>(lanes * kVectors, 1, kMostLanes);
  while (vector > 1 && vector / 2 >= most) vector /= 2;
  return vector;
}

// Whether a buffer of so many elements holds a row as its loops lay it out: outer reduced dims, then whole parts.
bool holds_row(const Problem& problem, const Rows& rows, const schedules::Norm& numbers, int64_t elements) {
  const int64_t part = *numbers.vector * *numbers.parts;
  if (rows.row_begin() == 0) return elements >= part && problem.decide(sym::le(rows.row(0), elements / part * part));
  const sym::Expr parts = sym::ceildiv(rows.row(rows.row_begin()), part);
  return problem.decide(sym::le(rows.row(0, rows.row_begin()) * parts * part, elements));
}

// Elements of the outermost reduced dims per task of a first phase. Rows that are kept in buffers have no phases.
int64_t choose_split(const Problem& problem, Rows& rows, const schedules::Norm& numbers) {
  if (numbers.keep.value_or(0) > 0) {
    if (numbers.split.value_or(0) == 0) return 0;
    throw UserError(fmt::format("split = {} does not apply: rows are kept in buffers", *numbers.split), problem.where(),
                    "leave it out, or keep = 0");
  }
  if (!numbers.split && rows.longest_scans() > kScansInRow) return 0;
  SplitRows how;
  how.is_row = rows.is_row();
  how.one_pass = !rows.scans() && rows.is_one_pass();
  how.kept = rows.kept_extent();
  how.reduced = rows.row(0);
  const size_t count = rows.reduced_dims().size(), outer = how.is_row ? rows.row_begin() : count;
  const bool whole = how.is_row ? outer == 0 : outer == 1;
  how.outermost = rows.row(0, whole ? SIZE_MAX : 1);
  if (whole) how.together = (how.is_row ? *numbers.vector : 1) * *numbers.parts;
  how.inner = rows.row(whole ? SIZE_MAX : 1);
  return choose_split(problem, how, numbers.split);
}

Rows rows_of(const ScheduledGroup& group) {
  return {group.graph->pool(), group.graph->ops(), group.graph->outputs(), group.reads};
}

// How many elements of each tensor that is worth it are kept on the stack.
void choose_keep(const Problem& problem, const Rows& rows, schedules::Norm& out) {
  const ScheduledGroup stored = stored_group(problem.fusion, problem.segment);
  Rows kept = rows_of(stored);
  const auto count = static_cast<int64_t>(kept.worth_keeping().size());
  if (!out.keep) {
    const int64_t elements = elements_of_each(count);
    out.keep = count > 0 && holds_row(problem, rows, out, elements) ? elements : 0;
    return;
  }
  if (*out.keep == 0 && !kept.elsewhere().empty()) {
    const int64_t split = out.split.value_or(0);
    throw UserError(fmt::format("{} = {} does not apply: moves read at other places of %{}",
                                split > 0 ? "split" : "keep", split, (*kept.elsewhere().begin())->name),
                    problem.where(), split > 0 ? "leave it out" : "leave it out, or keep a row");
  }
  if (*out.keep == 0 || count == 0) return;
  if (count * *out.keep > kMostKept)
    throw UserError(fmt::format("keep = {} for {} tensors is too much for a stack", *out.keep, count), problem.where(),
                    fmt::format("keep at most {}", kMostKept / count));
  if (!holds_row(problem, rows, out, *out.keep))
    throw UserError(fmt::format("keep = {} does not hold a row of {} elements", *out.keep, sym::print(rows.row(0))),
                    problem.where(),
                    fmt::format("rows are kept in whole parts of vector * parts = {}", *out.vector * *out.parts));
}

Rows rows_of(const Problem& problem) {
  const Segment& s = problem.segment;
  return {problem.fusion.pool(), s.ops, s.outputs, find_reads(s.ops)};
}

Schedule choose(const Problem& problem, const Target& target, const Schedule& pin) {
  schedules::Norm out;
  if (const auto* pinned = std::get_if<schedules::Norm>(&pin)) out = *pinned;
  Rows rows = rows_of(problem);
  const auto longest = [](sym::Expr extent) { return std::max<int64_t>(sym::bounds(extent).hi, 1); };
  const int64_t row = longest(rows.row(rows.is_row() ? rows.row_begin() : 0));
  if (!rows.is_row()) {
    const auto refuse = [&](const char* key, const Choice& number, int64_t only) {
      if (number.value_or(only) != only)
        throw UserError(
            fmt::format("{} = {} does not apply: the reduced dims are not the innermost in memory", key, *number),
            problem.where(), "leave it out");
    };
    refuse("rows", out.rows, 1);
    refuse("keep", out.keep, 0);
    out.keep = 0;
  }
  const TensorView& result = *rows.reference()->results[0];
  const int64_t along = rows.is_row() ? row : longest(result.extent(static_cast<size_t>(*rows.column())));
  if (!out.vector) out.vector = choose_vector(problem, target, along);
  if (!out.rows) out.rows = 1;
  const bool sums = std::any_of(problem.segment.ops.begin(), problem.segment.ops.end(),
                                [](const Op* op) { return is_reduction(*op) && has_parts(*op); });
  if (!out.parts) out.parts = sums && row / (rows.is_row() ? *out.vector : 1) > kTerms ? kTerms : 1;
  if (out.split.value_or(0) > 0 && !out.keep) out.keep = 0;
  choose_keep(problem, rows, out);
  if (const int64_t split = choose_split(problem, rows, out); split > 0) out.split = split;
  return out;
}

// The tensors, and the copies that roots got of them.
std::vector<TensorView*> with_copies(const ScheduledGroup& group, std::vector<TensorView*> tensors) {
  const std::set<const TensorView*> originals(tensors.begin(), tensors.end());
  for (const Op* op : group.graph->ops())
    for (TensorView* t : op->results) {
      const auto copy = group.copies.find(t);
      if (copy != group.copies.end() && originals.contains(copy->second)) tensors.push_back(t);
    }
  return tensors;
}

std::optional<ScheduledGroup> group(const Problem& problem, const Schedule& schedule) {
  const auto& numbers = std::get<schedules::Norm>(schedule);
  ScheduledGroup out = stored_group(problem.fusion, problem.segment);
  out.schedule = schedule;
  Fusion& graph = *out.graph;
  Rows rows = rows_of(out);
  PLAIT_CHECK(rows.reference() != nullptr, "a norm without a reduction");
  std::set<const TensorView*> kept;
  if (*numbers.keep > 0) kept = rows.worth_keeping();
  std::map<int, std::vector<Op*>> by_pass;
  const std::set<const TensorView*> outputs(graph.outputs().begin(), graph.outputs().end());
  for (Op* op : graph.ops()) {
    const TensorView* t = op->results[0];
    const bool stored =
        std::any_of(op->results.begin(), op->results.end(), [&](auto* r) { return outputs.contains(r); });
    if (out.reads.contains(op) || (!is_reduction(*op) && !kept.contains(t) && !stored)) continue;
    by_pass[4 * rows.stage(*t) - (is_reduction(*op) ? 2 : 0)].push_back(op);
  }
  const std::set<const Op*> before(graph.ops().begin(), graph.ops().end());
  if (numbers.split.value_or(0) > 0)
    for (Op* total : add_totals(out)) by_pass[4 * rows.stage(*totalled(*total)) - 1].push_back(total);
  std::vector<Op*> roots;
  for (const auto& [pass, ops] : by_pass) roots.insert(roots.end(), ops.begin(), ops.end());
  for (const TensorView* t : kept) out.kept[t] = graph.pool().constant(*numbers.keep);
  out.whole = rows.elsewhere();
  copy_for_roots(out, roots, [&](const TensorView& t) { return before.contains(t.definition) && !rows.is_wide(t); });
  share_totals(out);
  out.reference = rows.reference()->results[0];
  out.aligned = with_copies(out, rows.aligned());
  const int tasks = rows.is_row() ? norm_loops(*out.reference, numbers, rows.row_begin(), rows.scanned())
                                  : norm_loops_of_columns(*out.reference, numbers, *rows.column(), rows.scanned());
  if (numbers.split.value_or(0) > 0) out.phases = tasks;
  // What a pass waits for is made once per row, in front of the pass.
  const bool two = rows.is_row() ? *numbers.rows > 1 : *numbers.vector > 1;
  const int kept_rank = static_cast<int>(out.reference->rank()) - (rows.scanned() >= 0 ? 1 : 0);
  const int row_loops = kept_rank == 0 ? 0 : two ? 2 : 1;
  for (const Op* op : graph.ops())
    for (const TensorView* t : op->results) {
      if (out.reads.contains(op)) continue;
      const bool once = kept.contains(t) || (before.contains(op) && !rows.is_wide(*t));
      if (once && !outputs.contains(t)) out.inline_at[t] = row_loops;
    }
  if (rows.scans() && rows.is_row() && *numbers.vector > 1) place_vectors(out);
  return out;
}

}  // namespace

std::optional<std::string> norm_refuses(const Fusion& fusion, std::span<Op* const> ops,
                                        std::span<TensorView* const> outputs,
                                        const std::function<bool(sym::Expr)>& decide) {
  const std::set<const Op*> reads = find_reads(ops);
  const auto is_read = [&](const TensorView* t) { return reads.contains(t->definition); };
  if (std::none_of(outputs.begin(), outputs.end(), is_read))
    return Rows(fusion.pool(), ops, outputs, reads).refuse(decide ? decide : sym::proven);
  Segment segment{"asked", {}, {outputs.begin(), outputs.end()}, {ops.begin(), ops.end()}, {}, ""};
  std::set<const TensorView*> known;
  for (const Op* op : ops) known.insert(op->results.begin(), op->results.end());
  for (const Op* op : ops)
    for (TensorView* t : inputs(*op))
      if (known.insert(t).second) segment.inputs.push_back(t);
  const ScheduledGroup group = stored_group(fusion, segment);
  return rows_of(group).refuse(
      [&](sym::Expr e) { return decide ? decide(sym::import(fusion.pool(), e)) : sym::proven(e); });
}

Scheduler norm_scheduler() {
  return {schedules::Norm::kName, accept, choose, nullptr, group, [](const Segment&) { return true; }};
}

}  // namespace plait
