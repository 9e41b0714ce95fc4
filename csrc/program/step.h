#pragma once
// Steps of a program. Every rank issues the same steps in the same order; expressions are symbolic integers over sizes
// and the symbols rank.AXIS. A null extent is 1, a null start 0. A value is a buffer, dense and row-major; steps read
// and write views of them. A buffer without elements is legal everywhere.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/node.h"
#include "base/overloaded.h"
#include "comm/communicator.h"
#include "mesh/collective.h"
#include "mesh/mesh.h"
#include "sym/expr.h"

namespace plait {

// Every step, in the order of program/steps.def.
enum class StepKind : uint8_t {
#define PLAIT_STEP(Name, text) Name,
#include "program/steps.def"
#undef PLAIT_STEP
};
// Name of a step kind, as printed.
std::string_view name(StepKind kind);

// Indices into Program::values, kernels, libraries.
struct ValueId {
  uint32_t index = 0;
  bool operator==(const ValueId&) const = default;
};
// Where an operand lies in a value: element (i, j, ...) is element offset + i * strides[0] + j * strides[1] ... of its
// buffer. Without extents it is the whole value; without strides it is row-major and dense. A null offset is 0. A
// stride of 0 repeats what it runs over.
struct View {
  ValueId value;
  sym::Expr offset;
  std::vector<sym::Expr> extents, strides;
  View() = default;
  View(ValueId whole) : value(whole) {}  // NOLINT: a value is a view of itself
  View(ValueId of, sym::Expr at, std::vector<sym::Expr> extents_of, std::vector<sym::Expr> strides_of)
      : value(of), offset(at), extents(std::move(extents_of)), strides(std::move(strides_of)) {}
  bool operator==(const View&) const = default;
};
struct KernelId {
  uint32_t index = 0;
  bool operator==(const KernelId&) const = default;
};
struct LibraryId {
  uint32_t index = 0;
  bool operator==(const LibraryId&) const = default;
};
// Prints as %e1 for index 0.
struct EventId {
  uint32_t index = 0;
  bool operator==(const EventId&) const = default;
};

// The queue a step is issued on. Steps of one stream run in the order of the list, steps of two in any order that the
// events allow. All streams begin when the inputs of a run are ready; the run ends when all of them are done.
enum class ProgramStream : uint8_t { compute, comm };
inline constexpr size_t kProgramStreams = 2;
std::string_view name(ProgramStream stream);

// A step of a program: its kind and the stream it is issued on. Operands are members of the step's own struct.
struct Step {
  const StepKind kind;
  ProgramStream stream = ProgramStream::compute;
  virtual ~Step() = default;
  Step(const Step&) = delete;

 protected:
  explicit Step(StepKind k) : kind(k) {}
};

// Base of the struct of one kind.
template <StepKind K>
struct StepBase : Step {
  static constexpr StepKind kKind = K;
  StepBase() : Step(K) {}
};

// From here on `value` has memory, with undefined contents. A temporary lies in the arena between its first write and
// its last read; an output is allocated for each run.
struct AllocStep : StepBase<StepKind::AllocStep> {
  ValueId value;
  static constexpr auto fields() { return std::tuple{result("value", &AllocStep::value)}; }
};

// Extents of the thread loops of a kernel, one a phase; null: no such loop, one task. Empty for a kernel of one phase
// without.
struct PhaseExtents {
  PhaseExtents() = default;
  PhaseExtents(sym::Expr one) : phases{one} {}  // NOLINT(google-explicit-constructor): of a kernel of one phase
  std::vector<sym::Expr> phases;
};

// Runs a generated kernel on dense views (inputs, outputs, then workspaces) and integers. `threads` are the extents of
// the thread loops (CPU), grid and block those of a GPU, `later_grids` and `later_blocks` three extents for each phase
// behind the first one; an extent that is not positive launches nothing (of a phase).
// A workspace is a value that only this step writes and reads. `counters`: words of each counter of the kernel, which
// are the launch's own and zero before and after it.
struct LaunchStep : StepBase<StepKind::LaunchStep> {
  KernelId kernel;
  std::vector<View> inputs, outputs, workspaces;
  std::vector<sym::Expr> integers;
  PhaseExtents threads;
  std::array<sym::Expr, 3> grid, block;
  std::vector<sym::Expr> later_grids, later_blocks;
  std::vector<sym::Expr> counters;
  static constexpr auto fields() {
    return std::tuple{attribute("kernel", &LaunchStep::kernel),
                      operand("inputs", &LaunchStep::inputs),
                      result("outputs", &LaunchStep::outputs),
                      result("workspaces", &LaunchStep::workspaces),
                      attribute("integers", &LaunchStep::integers),
                      attribute("threads", &LaunchStep::threads),
                      attribute("grid", &LaunchStep::grid),
                      attribute("block", &LaunchStep::block),
                      attribute("later_grids", &LaunchStep::later_grids),
                      attribute("later_blocks", &LaunchStep::later_blocks),
                      attribute("counters", &LaunchStep::counters)};
  }
};

// A contraction by a library (device/contraction.h): a is [..., m, k], b [..., k, n], out [..., m, n], of any strides
// but out, which is dense. An empty result is skipped; an empty sum (k = 0) is zero-filled without the library.
struct LibraryStep : StepBase<StepKind::LibraryStep> {
  LibraryId library;
  View a, b, out;
  static constexpr auto fields() {
    return std::tuple{attribute("library", &LibraryStep::library), operand("a", &LibraryStep::a),
                      operand("b", &LibraryStep::b), result("out", &LibraryStep::out)};
  }
};

// out[outer, count, inner] = in[outer, start .. start + count, inner] of in[outer, total, inner], both dense.
struct CopyStep : StepBase<StepKind::CopyStep> {
  View in, out;
  sym::Expr outer, start, count, total, inner;
  static constexpr auto fields() {
    return std::tuple{operand("in", &CopyStep::in),         result("out", &CopyStep::out),
                      attribute("outer", &CopyStep::outer), attribute("start", &CopyStep::start),
                      attribute("count", &CopyStep::count), attribute("total", &CopyStep::total),
                      attribute("inner", &CopyStep::inner)};
  }
};

// A collective of the members of each team, in their order; `in` and `out` are dense.
// all_reduce: out = the reduction of the members' `in`; no view is given.
// all_gather: out[outer, total, inner] = the members' in[outer, count, inner], one after another along the middle.
// reduce_scatter: out[outer, count, inner] = this member's part of the reduction of the members' in[outer, total,
// inner].
// all_to_all: `in` is this member's part [outer, count, middle, scattered_total, inner] of [outer, total, middle,
// scattered_total, inner], out = its part [outer, total, middle, scattered, inner]; `scattered_first`: the two dims
// stand in the other order.
// gather_range: out[outer, taken, inner] = elements start .. start + taken of [outer, total, inner], of which the
// members hold in[outer, count, inner] one after another.
// gather_block: `in` and `out` are blocks of [outer, totals[0], middle, totals[1], inner], where the members' `in` are
// disjoint and make all of it. `held` and `wanted`: start and count in the first dim, then in the second.
// `count`, `scattered`, `start`, `taken`, `held` and `wanted` may differ between members, what else is given may not.
// `reduce` is absent where values stay.
struct CollectiveStep : StepBase<StepKind::CollectiveStep> {
  Collective collective = Collective::all_reduce;
  View in, out;
  std::optional<CommReduce> reduce;
  Team team;
  sym::Expr outer, count, total, inner;
  sym::Expr middle, scattered, scattered_total;  // all_to_all; of gather_block `middle`
  sym::Expr start, taken;                        // gather_range
  std::vector<sym::Expr> totals, held, wanted;   // gather_block
  bool scattered_first = false;
  static constexpr auto fields() {
    return std::tuple{attribute("collective", &CollectiveStep::collective),
                      operand("in", &CollectiveStep::in),
                      result("out", &CollectiveStep::out),
                      attribute("op", &CollectiveStep::reduce),
                      attribute("team", &CollectiveStep::team),
                      attribute("outer", &CollectiveStep::outer),
                      attribute("count", &CollectiveStep::count),
                      attribute("total", &CollectiveStep::total),
                      attribute("inner", &CollectiveStep::inner),
                      attribute("middle", &CollectiveStep::middle),
                      attribute("scattered", &CollectiveStep::scattered),
                      attribute("scattered_total", &CollectiveStep::scattered_total),
                      attribute("scattered_first", &CollectiveStep::scattered_first),
                      attribute("start", &CollectiveStep::start),
                      attribute("taken", &CollectiveStep::taken),
                      attribute("totals", &CollectiveStep::totals),
                      attribute("held", &CollectiveStep::held),
                      attribute("wanted", &CollectiveStep::wanted)};
  }
};

// Sets the event: the point on its stream where all of its earlier steps are done. An event is recorded once.
struct RecordStep : StepBase<StepKind::RecordStep> {
  EventId event;
  static constexpr auto fields() { return std::tuple{attribute("event", &RecordStep::event)}; }
};

// Later steps of its stream begin after the point that the event is.
struct WaitStep : StepBase<StepKind::WaitStep> {
  EventId event;
  static constexpr auto fields() { return std::tuple{attribute("event", &WaitStep::event)}; }
};

// Calls fn with the step as its own type. With overloaded lambdas and no catch-all, a new kind breaks the build.
template <class Fn>
decltype(auto) visit(const Step& step, Fn&& fn) {
  switch (step.kind) {
#define PLAIT_STEP(Name, text) \
  case StepKind::Name:         \
    return fn(static_cast<const Name&>(step));
#include "program/steps.def"
#undef PLAIT_STEP
  }
  __builtin_unreachable();
}

// The step as T, or null if it is of another kind.
template <class T>
const T* as(const Step& step) {
  return step.kind == T::kKind ? static_cast<const T*>(&step) : nullptr;
}

// Views that the step reads, and writes, in field order; an alloc does neither.
std::vector<View> operands(const Step& step);
std::vector<View> results(const Step& step);
// The values whose contents these are.
std::vector<ValueId> reads(const Step& step);
std::vector<ValueId> writes(const Step& step);

}  // namespace plait
