// Invariants of a program:
//  P1  Expressions are of the program's pool; symbols rank.AXIS name axes of its mesh, whose sizes are all given.
//  P2  Values have distinct names. `inputs` and `outputs` list the values of that kind, each once.
//  P3  Every value but the inputs has memory before it is written: one alloc each. Inputs have none.
//  P4  A value is written by one step at most, and wholly, an input by none, an output by exactly one.
//  P5  A step reads values that are inputs or were written by an earlier step.
//  P6  A launch gives its kernel the buffers, workspaces, integers and extents of phases that it takes; a contraction
//  its dtypes, and operands whose
//      extents fit each other.
//  P7  Both sides of a copy or collective have one dtype, and element counts that do not contradict its view.
//  P8  A collective's team is of axes of the mesh; its view is whole (absent for all_reduce), equal on all members but
//      for `count`, and the members' counts do not contradict `total`. `reduce` is given where something is reduced.
//  P9  Every member of a team issues the same collectives in the same order: no step depends on the rank, so this is
//      the order of the list. A skipped launch is no collective.
//  P10 Every value but the inputs is written, and kernels have distinct names.
//  P11 An event is recorded once, and waited for by later steps of the list, at least one.
//  P12 A wait adds to what its stream has waited for: one for an event of its own stream, or for what an earlier wait
//      covers, is useless.
//  P13 A step that reads a value begins after the step that wrote it is done, under the streams and events
//      (program/happens_before.h). By P4 no other two steps can race for a value.
//  P14 The collectives of one team are on one stream.
//  P15 A view lies inside of its value: no stride and no offset is negative, and the last element is one of the
//  value's.
//      It has as many strides as extents, and strides only as an operand of a library.
//  P16 A workspace is a temporary that no other step reads.
//  P17 What lies in place of an input is an output of its dtype and shape, the only one there, made by a launch; every
//      other step that reads the input is done before that launch begins.
// What symbols leave open in P7, P8 and P15 is checked with numbers when the program is bound (run/binding.cpp),
// and so is that temporaries share bytes only if every access of one happens before the write of the other.
#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "program/happens_before.h"
#include "program/program.h"

namespace plait {
namespace {

constexpr int64_t kLargeTeam = 1024;  // beyond, the sum of the members' counts is left to bind()

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}

  void run() {
    check_header();
    for (index_ = 0; index_ < program_.steps.size(); ++index_) {
      step_ = program_.steps[index_].get();
      check_step();
      order_.add(*step_);
      step_ = nullptr;
    }
    for (ValueId id : program_.outputs) require(written_[id.index], "P4", "output {} is never written", label(id));
    for (size_t v = 0; v < program_.values.size(); ++v)
      require(written_[v], "P10", "%{} is never written", program_.values[v].name);
    check_in_place();
    for (const auto& [event, waited] : waited_)
      require(waited, "P11", "event %e{} is recorded, and no step waits for it", uint64_t(event) + 1);
  }
  // The step that the latest problem is about; the number of steps where it is about none.
  size_t index() const { return step_ ? index_ : program_.steps.size(); }

 private:
  template <class... Args>
  void require(bool condition, std::string_view invariant, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition) fail(invariant, fmt::format(format, std::forward<Args>(args)...));
  }
  [[noreturn]] void fail(std::string_view invariant, const std::string& what) const {
    throw InternalError(
        fmt::format("{}: {}", invariant, what),
        fmt::format("program @{}{}{}", program_.name, step_ ? ", step " : "", step_ ? describe(program_, *step_) : ""),
        "");
  }
  std::string label(ValueId id) const { return "%" + program_.values[id.index].name; }

  void check_expr(sym::Expr expr) const {
    if (!expr) return;
    require(&expr.pool() == program_.pool.get(), "P1", "an expression of another pool");
    for (const std::string& symbol : sym::symbols(expr)) {
      if (symbol.rfind("rank.", 0) == 0)
        require(program_.mesh.find(symbol.substr(5)) >= 0, "P1", "`{}` names no axis of the mesh", symbol);
    }
  }

  void check_header() {
    require(program_.pool != nullptr, "P1", "no pool");
    const auto& axes = program_.mesh.axes();
    require(program_.devices.sizes().size() == axes.size(), "P1", "{} sizes for {} mesh axes",
            program_.devices.sizes().size(), axes.size());
    for (size_t i = 0; i < axes.size(); ++i)
      require(!axes[i].symbol.empty() || axes[i].size == program_.devices.size(int(i)), "P1",
              "mesh axis `{}` has size {}, not {}", axes[i].name, axes[i].size, program_.devices.size(int(i)));
    std::set<std::string> names;
    for (const ProgramValue& value : program_.values) {
      require(!value.name.empty() && names.insert(value.name).second, "P2", "two values are named %{}", value.name);
      for (sym::Expr extent : value.shape) {
        require(bool(extent), "P1", "%{} has a null extent", value.name);
        check_expr(extent);
      }
    }
    std::set<std::string> kernels;
    for (const KernelSlot& kernel : program_.kernels)
      require(kernels.insert(kernel.code.name).second, "P10", "two kernels are named @{}", kernel.code.name);
    check_list(program_.inputs, ProgramValueKind::input, "inputs");
    check_list(program_.outputs, ProgramValueKind::output, "outputs");
    allocated_.assign(program_.values.size(), false);
    written_.assign(program_.values.size(), false);
    writer_.assign(program_.values.size(), StreamClock{});
    for (ValueId id : program_.inputs) written_[id.index] = true;
  }

  void check_list(const std::vector<ValueId>& list, ProgramValueKind kind, std::string_view what) const {
    std::set<uint32_t> seen;
    for (ValueId id : list) {
      require(id.index < program_.values.size(), "P2", "{} hold an unknown value", what);
      require(program_.value(id).kind == kind, "P2", "{} is not of the kind of {}", label(id), what);
      require(seen.insert(id.index).second, "P2", "{} stands twice in {}", label(id), what);
    }
    for (size_t i = 0; i < program_.values.size(); ++i)
      require(program_.values[i].kind != kind || seen.count(uint32_t(i)), "P2", "%{} is missing in {}",
              program_.values[i].name, what);
  }

  void check_in_place() {
    std::set<uint32_t> replaced;
    for (size_t v = 0; v < program_.values.size(); ++v) {
      const ProgramValue& value = program_.values[v];
      if (!value.in_place_of) continue;
      check_known(*value.in_place_of);
      const ProgramValue& input = program_.value(*value.in_place_of);
      require(value.kind == ProgramValueKind::output && input.kind == ProgramValueKind::input, "P17",
              "%{} in place of %{}: no output and input", value.name, input.name);
      require(value.dtype == input.dtype && value.shape.size() == input.shape.size(), "P17",
              "%{} in place of %{}, which is of another type", value.name, input.name);
      for (size_t d = 0; d < value.shape.size(); ++d)
        require(!contradicts(value.shape[d], input.shape[d]), "P17", "%{} in place of %{}, which is of another shape",
                value.name, input.name);
      require(replaced.insert(value.in_place_of->index).second, "P17", "two outputs in place of %{}", input.name);
      check_readers(ValueId{uint32_t(v)}, *value.in_place_of);
    }
  }

  void check_readers(ValueId output, ValueId input) const {
    const auto has = [](const std::vector<ValueId>& ids, ValueId id) {
      return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    size_t writer = 0;
    while (!has(writes(*program_.steps[writer]), output)) ++writer;
    require(program_.steps[writer]->kind == StepKind::LaunchStep, "P17", "{} is in place of {}, and made by no launch",
            label(output), label(input));
    for (size_t s = 0; s < program_.steps.size(); ++s)
      require(s == writer || !has(reads(*program_.steps[s]), input) || order_.before(s, writer), "P17",
              "{} is read after {} was written in its place, or while it is: {}", label(input), label(output),
              describe(program_, *program_.steps[s]));
  }

  void check_known(ValueId id) const {
    require(id.index < program_.values.size(), "P2", "value number {} is unknown", id.index);
  }

  void check_step() {
    visit(*step_, [&](const auto& step) {
      for_each_field(step, [&](const auto&, const auto& member) { check_member(member); });
    });
    for (ValueId id : reads(*step_)) {
      require(!workspaces_.contains(id.index), "P16", "workspace {} is read by another step", label(id));
      require(written_[id.index], "P5", "{} is read before it is written", label(id));
      require(within(writer_[id.index], order_.now(step_->stream)), "P13",
              "{} is read while it is written on another stream: no event orders the two", label(id));
    }
    for (const View& view : results(*step_)) {
      const ValueId id = view.value;
      require(!view.offset && view.strides.empty() && !contradicts(elements(view), elements(id)), "P4",
              "{} is written in part", label(id));
      require(program_.value(id).kind != ProgramValueKind::input, "P4", "input {} is written", label(id));
      require(!written_[id.index], "P4", "{} is written twice", label(id));
      require(allocated_[id.index], "P3", "{} is written before it is allocated", label(id));
      written_[id.index] = true;
      writer_[id.index] = order_.now(step_->stream);
      ++writer_[id.index][size_t(step_->stream)];
    }
    visit(*step_, [&](const auto& step) { check(step); });
    if (const auto* launch = as<LaunchStep>(*step_))
      for (const View& view : launch->workspaces) workspaces_.insert(view.value.index);
  }

  void check_member(ValueId id) { check_known(id); }
  void check_member(const View& view) {
    check_known(view.value);
    check_expr(view.offset);
    for (const auto* list : {&view.extents, &view.strides})
      for (sym::Expr expr : *list) {
        require(bool(expr), "P1", "a view of {} with a null integer", label(view.value));
        check_expr(expr);
      }
    check_inside(view);
  }
  void check_member(const std::vector<View>& views) {
    for (const View& view : views) check_member(view);
  }

  void check_inside(const View& view) {
    require(view.strides.empty() || view.strides.size() == view.extents.size(), "P15", "{} strides for {} extents",
            view.strides.size(), view.extents.size());
    require(view.strides.empty() || step_->kind == StepKind::LibraryStep, "P15",
            "{} is read with strides, by no library", label(view.value));
    if (view.extents.empty() && !view.offset) return;
    const sym::Expr offset = view.offset ? view.offset : program_.pool->constant(0);
    const std::vector<sym::Expr> extents = program_.extents(view), strides = program_.strides(view);
    sym::Expr last = offset;
    bool empty = false;  // or may be
    for (size_t d = 0; d < extents.size(); ++d) {
      require(sym::prove(sym::lt(strides[d], int64_t{0})) != sym::Truth::yes, "P15", "a negative stride");
      last = last + (extents[d] - 1) * strides[d];
      empty = empty || !sym::proven(sym::ge(extents[d], 1));
    }
    require(sym::prove(sym::lt(offset, int64_t{0})) != sym::Truth::yes, "P15", "a negative offset");
    require(empty || sym::prove(sym::lt(last, elements(view.value))) != sym::Truth::no, "P15",
            "the view ends at element {} of {}, which has {}", sym::print(last), label(view.value),
            sym::print(elements(view.value)));
  }
  void check_member(sym::Expr expr) const { check_expr(expr); }
  void check_member(const std::vector<sym::Expr>& exprs) const {
    for (sym::Expr expr : exprs) {
      require(bool(expr), "P1", "a null integer");
      check_expr(expr);
    }
  }
  void check_member(const PhaseExtents& extents) const {
    for (sym::Expr expr : extents.phases) check_expr(expr);
  }
  void check_member(const std::array<sym::Expr, 3>& exprs) const {
    for (sym::Expr expr : exprs) check_expr(expr);
  }
  void check_member(KernelId id) const {
    require(id.index < program_.kernels.size(), "P6", "kernel number {} is unknown", id.index);
  }
  void check_member(LibraryId id) const {
    require(id.index < program_.libraries.size(), "P6", "contraction number {} is unknown", id.index);
  }
  void check_member(const Team& team) const {
    require(!team.axes.empty(), "P8", "the team has no mesh axis");
    for (int axis : team.axes) {
      require(axis >= 0 && size_t(axis) < program_.mesh.axes().size(), "P8", "mesh axis {} is unknown", axis);
      require(std::ranges::count(team.axes, axis) == 1, "P8", "mesh axis {} is named twice", axis);
    }
  }
  void check_member(bool) {}
  void check_member(Collective) const {}
  void check_member(EventId) const {}
  void check_member(const std::optional<CommReduce>&) const {}

  void check(const AllocStep& step) {
    require(program_.value(step.value).kind != ProgramValueKind::input, "P3", "input {} is allocated",
            label(step.value));
    require(!allocated_[step.value.index], "P3", "{} is allocated twice", label(step.value));
    allocated_[step.value.index] = true;
  }

  void check(const LaunchStep& step) const {
    const KernelText& code = program_.kernels[step.kernel.index].code;
    const size_t buffers =
        step.inputs.size() + step.outputs.size() + step.workspaces.size() + (code.status ? 1 : 0) + code.counters;
    require(buffers == code.buffers, "P6", "{} buffers for a kernel of {}", buffers, code.buffers);
    require(step.workspaces.size() == code.workspaces, "P6", "{} workspaces for a kernel of {}", step.workspaces.size(),
            code.workspaces);
    require(step.counters.size() == code.counters, "P6", "{} counters for a kernel of {}", step.counters.size(),
            code.counters);
    const std::vector<int64_t>& taken = program_.kernels[step.kernel.index].taken;
    const size_t operands = step.inputs.size() + step.outputs.size() + step.workspaces.size();
    require(taken.empty() || taken.size() == operands, "P6", "{} operands for a kernel that takes {}", operands,
            taken.size());
    require(step.later_grids.size() % 3 == 0 && step.later_blocks.size() == step.later_grids.size(), "P6",
            "{} extents of later grids and {} of later blocks", step.later_grids.size(), step.later_blocks.size());
    const size_t phases = std::max<size_t>(step.threads.phases.size(), 1 + step.later_grids.size() / 3);
    require(phases == code.phases(), "P6", "extents of {} phases for a kernel of {}", phases, code.phases());
    for (const View& view : step.workspaces)
      require(program_.value(view.value).kind == ProgramValueKind::temporary, "P16", "{} is no temporary",
              label(view.value));
    require(step.integers.size() == code.integers, "P6", "{} integers for a kernel of {}", step.integers.size(),
            code.integers);
  }

  void check(const LibraryStep& step) {
    const LibraryContraction& contraction = program_.libraries[step.library.index].contraction;
    for (const View& view : {step.a, step.b})
      require(dtype(view) == contraction.in, "P6", "{} is {}, the contraction takes {}", label(view.value),
              name(dtype(view)), name(contraction.in));
    require(dtype(step.out) == contraction.out, "P6", "{} is {}, the contraction makes {}", label(step.out.value),
            name(dtype(step.out)), name(contraction.out));
    const std::vector<sym::Expr> a = program_.extents(step.a), b = program_.extents(step.b),
                                 out = program_.extents(step.out);
    const size_t rank = out.size();
    require(rank >= 2 && a.size() == rank && b.size() == rank, "P6", "a contraction of {} and {} dims to {}", a.size(),
            b.size(), rank);
    const auto equal = [&](sym::Expr x, sym::Expr y) {
      require(!contradicts(x, y), "P6", "extents {} and {} of a contraction differ", sym::print(x), sym::print(y));
    };
    for (size_t d = 0; d + 2 < rank; ++d) equal(a[d], out[d]), equal(b[d], out[d]);
    equal(a[rank - 2], out[rank - 2]);
    equal(b[rank - 1], out[rank - 1]);
    equal(a[rank - 1], b[rank - 2]);
  }

  void check(const CopyStep& step) {
    check_dtypes(step.in, step.out);
    check_count(step.in, or_one(step.outer) * or_one(step.total) * or_one(step.inner));
    check_count(step.out, or_one(step.outer) * or_one(step.count) * or_one(step.inner));
  }

  void check(const RecordStep& step) {
    require(waited_.emplace(step.event.index, false).second, "P11", "the event is recorded twice");
  }

  void check(const WaitStep& step) {
    const StreamClock* point = order_.event(step.event);
    require(point != nullptr, "P11", "the event is not recorded before");
    require(!within(*point, order_.now(step.stream)), "P12", "the wait is useless: its stream is past that point");
    waited_[step.event.index] = true;
  }

  void check(const CollectiveStep& step) {
    const auto stream = streams_.emplace(step.team, step.stream).first->second;
    require(stream == step.stream, "P14", "an earlier collective of the team is on {}", name(stream));
    check_dtypes(step.in, step.out);
    const CollectiveInfo what = info(step.collective);
    require(step.reduce.has_value() == what.reduces, "P8", "`op` is {}", what.reduces ? "missing" : "given");
    const bool blocks = !step.totals.empty() || !step.held.empty() || !step.wanted.empty();
    if (step.collective == Collective::gather_block) return check_block(step);
    require(!blocks, "P8", "an {} with a block", what.name);
    if (!what.has_pieces()) {
      require(!step.outer && !step.count && !step.total && !step.inner && !step.middle && !step.scattered &&
                  !step.start && !step.taken,
              "P8", "an {} with a view", what.name);
      require(!contradicts(elements(step.in), elements(step.out)), "P7", "{} and {} differ in size",
              label(step.in.value), label(step.out.value));
      return;
    }
    require(step.outer && step.count && step.total && step.inner, "P8", "the view is not whole");
    const bool ranges = step.collective == Collective::gather_range;
    require(ranges ? step.start && step.taken : !step.start && !step.taken, "P8", "an {} {} a range", what.name,
            ranges ? "without" : "with");
    if (step.collective == Collective::all_to_all) return check_exchange(step);
    require(!step.middle && !step.scattered && !step.scattered_total && !step.scattered_first, "P8",
            "an {} that scatters a dim", what.name);
    check_equal_in_team(step, {step.outer, step.total, step.inner});
    const bool piece_in = what.takes == Held::piece;
    check_count(piece_in ? step.in : step.out, step.outer * step.count * step.inner);
    check_count(piece_in ? step.out : step.in, step.outer * (ranges ? step.taken : step.total) * step.inner);
    check_sum(step, step.count, step.total);
  }

  void check_exchange(const CollectiveStep& step) {
    require(step.middle && step.scattered && step.scattered_total, "P8", "the view is not whole");
    check_equal_in_team(step, {step.outer, step.total, step.inner, step.middle, step.scattered_total});
    const sym::Expr rest = step.outer * step.middle * step.inner;
    check_count(step.in, rest * step.count * step.scattered_total);
    check_count(step.out, rest * step.total * step.scattered);
    check_sum(step, step.count, step.total);
    check_sum(step, step.scattered, step.scattered_total);
  }

  void check_block(const CollectiveStep& step) {
    require(step.outer && step.middle && step.inner && step.totals.size() == 2 && step.held.size() == 4 &&
                step.wanted.size() == 4,
            "P8", "the view is not whole");
    require(!step.count && !step.total && !step.start && !step.taken && !step.scattered && !step.scattered_total &&
                !step.scattered_first,
            "P8", "a block with a range");
    check_equal_in_team(step, {step.outer, step.middle, step.inner, step.totals[0], step.totals[1]});
    const sym::Expr rest = step.outer * step.middle * step.inner;
    check_count(step.in, rest * step.held[1] * step.held[3]);
    check_count(step.out, rest * step.wanted[1] * step.wanted[3]);
    check_sum(step, step.held[1] * step.held[3], step.totals[0] * step.totals[1]);
  }

  void check_equal_in_team(const CollectiveStep& step, std::initializer_list<sym::Expr> all) {
    for (int axis : step.team.axes)
      for (sym::Expr expr : all)
        if (sym::symbols(expr).count(rank_symbol(axis)))
          fail("P8", fmt::format("`{}` differs between the members of the team", sym::print(expr)));
  }

  void check_sum(const CollectiveStep& step, sym::Expr count, sym::Expr total) {
    if (program_.devices.members(step.team) > kLargeTeam) return;
    const sym::Expr sum = sum_over_team(count, step.team);
    if (contradicts(sum, total))
      fail("P8", fmt::format("the members' counts make {}, not {}", sym::print(sum), sym::print(total)));
  }

  // Whether the two cannot be equal.
  bool contradicts(sym::Expr a, sym::Expr b) {
    if (a == b) return false;
    const auto [slot, fresh] = contradictions_.emplace(std::pair(a.id(), b.id()), false);
    if (fresh) slot->second = sym::prove(sym::eq(a, b)) == sym::Truth::no;
    return slot->second;
  }

  sym::Expr sum_over_team(sym::Expr count, const Team& team) {
    sym::Expr& sum = sums_[{count.id(), team}];
    if (sum) return sum;
    sym::Pool& pool = *program_.pool;
    sum = pool.constant(0);
    for (int64_t member : program_.devices.team(0, team)) {
      const std::vector<int64_t> at = program_.devices.coordinates(member);
      std::map<std::string, sym::Expr> position;
      for (int axis : team.axes) position.emplace(rank_symbol(axis), pool.constant(at[axis]));
      sum = sum + sym::substitute(count, position);
    }
    return sum;
  }

  std::string rank_symbol(int axis) const { return "rank." + program_.mesh.axes()[axis].name; }

  DType dtype(const View& view) const { return program_.value(view.value).dtype; }
  sym::Expr or_one(sym::Expr expr) const { return expr ? expr : program_.pool->constant(1); }
  sym::Expr elements(const View& view) const {
    sym::Expr product = program_.pool->constant(1);
    for (sym::Expr extent : program_.extents(view)) product = product * extent;
    return product;
  }
  void check_count(const View& view, sym::Expr count) {
    if (contradicts(elements(view), count))
      fail("P7", fmt::format("{} has {} elements, the step takes {}", label(view.value), sym::print(elements(view)),
                             sym::print(count)));
  }
  void check_dtypes(const View& a, const View& b) const {
    require(dtype(a) == dtype(b), "P7", "{} is {}, {} is {}", label(a.value), name(dtype(a)), label(b.value),
            name(dtype(b)));
  }

  const Program& program_;
  const Step* step_ = nullptr;
  size_t index_ = 0;
  std::vector<bool> allocated_, written_;
  std::set<uint32_t> workspaces_;                                 // values
  std::vector<StreamClock> writer_;                               // by value: what is done when its write is
  HappensBefore order_;                                           // of the steps before this one
  std::map<uint32_t, bool> waited_;                               // by event recorded
  std::map<std::pair<uint64_t, uint64_t>, bool> contradictions_;  // by expressions
  std::map<std::pair<uint64_t, Team>, sym::Expr> sums_;           // of counts over the members of a team, by expression
  std::map<Team, ProgramStream> streams_;                         // by team: that of its collectives
};

}  // namespace

void verify(const Program& program) { Verifier(program).run(); }

std::optional<ProgramProblem> find_problem(const Program& program) {
  Verifier verifier(program);
  try {
    verifier.run();
  } catch (const Error& e) {  // UserError: numbers in an expression that overflow
    return ProgramProblem{e.message(), verifier.index()};
  }
  return std::nullopt;
}

}  // namespace plait
