#pragma once
// Schedule: how one segment is computed, as a value. Text, parser, comparison and ranges follow from fields().
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/tensor_view.h"

namespace plait {

// A number of a schedule; absent where a scheduler is still to choose it, or where it does not apply.
using Choice = std::optional<int64_t>;

// What a number of a schedule may be, both ends included.
struct ChoiceRange {
  int64_t least = 0, most = 0;
  bool power_of_two = false;
};

// fields(self, fn) calls fn(name, choice, range) for every number, in the order of the text.
namespace schedules {

// Nothing is chosen yet.
struct Open {
  static constexpr std::string_view kName = "";
  auto operator<=>(const Open&) const = default;
  template <class Self, class Fn>
  static void fields(Self&, Fn&&) {}
};

// Elementwise groups whose outputs share one domain: leading dims form an outer group that runs in parallel, the others
// one inner row that is cut into vectors.
struct Pointwise {
  static constexpr std::string_view kName = "pointwise";
  Choice vector;   // lanes
  Choice unroll;   // vectors per iteration
  Choice split;    // leading dims that form the outer group
  Choice block;    // CPUs: elements of the inner row per parallel iteration, 0: the whole row
  Choice tile;     // rows and columns per parallel iteration, where an operand lies across the row; absent: none
  Choice threads;  // GPUs: threads of a block along the inner row
  Choice rows;     // GPUs: inner rows of a block, each with so many threads; absent: one
  Choice pieces;   // GPUs: of the inner row, of which a thread has the same place in each; absent: one
  Choice along;    // GPUs: the outer dim of which a thread has several rows, and ...
  Choice each;     // ... how many; absent: one
  auto operator<=>(const Pointwise&) const = default;
  template <class Self, class Fn>
  static void fields(Self& self, Fn&& fn) {
    fn("vector", self.vector, ChoiceRange{1, 64, true});
    fn("unroll", self.unroll, ChoiceRange{1, 8, true});
    fn("split", self.split, ChoiceRange{0, 64});
    fn("block", self.block, ChoiceRange{0, 1 << 24});
    fn("tile", self.tile, ChoiceRange{1, 1024, true});
    fn("threads", self.threads, ChoiceRange{1, 1024, true});
    fn("rows", self.rows, ChoiceRange{1, 1024, true});
    fn("pieces", self.pieces, ChoiceRange{1, 8, true});
    fn("along", self.along, ChoiceRange{0, 63});
    fn("each", self.each, ChoiceRange{1, 16, true});
  }
};

// One op as a plain loop nest, with a serial sum inside where the op sums.
struct Nest {
  static constexpr std::string_view kName = "nest";
  Choice vector;   // CPUs: lanes along the last dim of the result, or of the operand where that is summed over
  Choice rows;     // CPUs: rows of a contraction that are computed together
  Choice ranges;   // of the dim of a scatter that run in parallel, each of which walks the whole index
  Choice threads;  // GPUs: threads of a block
  auto operator<=>(const Nest&) const = default;
  template <class Self, class Fn>
  static void fields(Self& self, Fn&& fn) {
    fn("vector", self.vector, ChoiceRange{1, 64, true});
    fn("rows", self.rows, ChoiceRange{1, 16});
    fn("ranges", self.ranges, ChoiceRange{1, 1024});
    fn("threads", self.threads, ChoiceRange{1, 1024, true});
  }
};

// Groups whose reductions share their dims, with what is elementwise before, between and behind: softmax, norms. The
// result depends on the vector, the parts and the threads of a block, never on the threads of a CPU.
struct Norm {
  static constexpr std::string_view kName = "norm";
  Choice vector;   // lanes along the reduced dims
  Choice rows;     // of the kept dims per parallel iteration; GPUs: rows, or vectors of columns, of a block
  Choice parts;    // vectors that a sum adds before its part goes into the whole; 1: all
  Choice keep;     // most elements of a row that a buffer on the stack holds; 0: what several passes read is recomputed
  Choice split;    // elements of the outermost reduced dim that a task of the first phase reduces; 0, absent: rows are
                   // not split
  Choice threads;  // GPUs: of a row or a column
  Choice each;     // GPUs: rows that a block has one after the other, where it sums columns too; absent: 1
  Choice cluster;  // GPUs: blocks that have a row together, from sm_90 on; 1, absent: one
  Choice shared;   // GPUs: elements of a row that lie in shared memory between passes; 0: none
  Choice align;    // GPUs: threads take a row from the multiple of so many elements of memory in front of it on; 1,
                   // absent: from its first element
  auto operator<=>(const Norm&) const = default;
  template <class Self, class Fn>
  static void fields(Self& self, Fn&& fn) {
    fn("vector", self.vector, ChoiceRange{1, 64, true});
    fn("rows", self.rows, ChoiceRange{1, 1024});
    fn("parts", self.parts, ChoiceRange{1, 1024});
    fn("keep", self.keep, ChoiceRange{0, 1 << 18});
    fn("split", self.split, ChoiceRange{0, 1 << 24});
    fn("threads", self.threads, ChoiceRange{1, 1024, true});
    fn("each", self.each, ChoiceRange{1, 1 << 16, true});
    fn("cluster", self.cluster, ChoiceRange{1, 8, true});
    fn("shared", self.shared, ChoiceRange{0, 1 << 18});
    fn("align", self.align, ChoiceRange{1, 64, true});
  }
};

// Scatters with elementwise ops in front of them and behind. With ranges, updates are sorted by the range of places
// that they go to, and each range walks its own; the order of the updates of a place is that of the index in any case,
// so the result depends on none of these numbers. With atomics, updates go to their places in any order: sums of floats
// depend on it, others do not.
struct Scatter {
  static constexpr std::string_view kName = "scatter";
  Choice vector;   // lanes along the last dim
  Choice rows;     // places of a range; 0: no ranges, one walk over the index
  Choice columns;  // of the last dim per parallel iteration, where it is not scattered; 0: all
  Choice chunk;    // updates that are sorted in one parallel iteration
  Choice atomics;  // GPUs: 1: a thread has one element of one update
  auto operator<=>(const Scatter&) const = default;
  template <class Self, class Fn>
  static void fields(Self& self, Fn&& fn) {
    fn("vector", self.vector, ChoiceRange{1, 64, true});
    fn("rows", self.rows, ChoiceRange{0, 1 << 14});
    fn("columns", self.columns, ChoiceRange{0, 1 << 16});
    fn("chunk", self.chunk, ChoiceRange{64, 1 << 20});
    fn("atomics", self.atomics, ChoiceRange{0, 1});
  }
};

// A contraction with what is elementwise of its result. Tiles of sums are in registers. CPUs: a panel of the right
// operand is packed on the stack; of few rows nothing is packed. GPUs: panels of both operands are in shared memory.
// The result depends on none of the numbers, but of few rows on `depth`.
struct Contraction {
  static constexpr std::string_view kName = "contraction";
  Choice rows;     // of a tile; GPUs: of a thread
  Choice columns;  // of a tile and, of CPUs, of a panel, as lanes
  Choice block;    // rows per parallel iteration, which read a panel
  Choice width;    // columns per parallel iteration
  Choice depth;    // GPUs: terms of a panel; CPUs, few rows: lanes along the sum, 1: along the columns
  Choice stages;   // panels that are packed together, 0: few rows, none; GPUs: that are under way or read at once
  Choice mma;      // GPUs: 1: of a warp, by products of small matrices; rows and columns are then those of a warp
  auto operator<=>(const Contraction&) const = default;
  template <class Self, class Fn>
  static void fields(Self& self, Fn&& fn) {
    fn("rows", self.rows, ChoiceRange{1, 128});
    fn("columns", self.columns, ChoiceRange{1, 512, true});
    fn("block", self.block, ChoiceRange{1, 1 << 16});
    fn("width", self.width, ChoiceRange{1, 1024, true});
    fn("depth", self.depth, ChoiceRange{1, 64, true});
    fn("stages", self.stages, ChoiceRange{0, 4});
    fn("mma", self.mma, ChoiceRange{0, 1});
  }
};

// Attention: a product, rows of its scores with their reductions, and a product with what comes of them. CPUs: scores
// of a few queries at a time are on the stack; the result depends on none of the numbers but `kept`. GPUs: tiles of
// scores are in registers of warps, keys and values in shared memory; the result depends on `keys`.
struct Attention {
  static constexpr std::string_view kName = "attention";
  Choice queries;  // whose scores are on the stack together, as lanes; GPUs: of a warp
  Choice block;    // queries per parallel iteration
  Choice rows;     // CPUs: keys, and elements of values, whose sums are in registers together
  Choice kept;     // CPUs: 1: scores against all keys are on the stack; 0: against 256, computed again behind a maximum
  Choice keys;     // GPUs: of a tile
  Choice stages;   // GPUs: tiles that are under way or read at once
  Choice features, values;  // GPUs: elements of a head, at most: of queries and keys, of values
  auto operator<=>(const Attention&) const = default;
  template <class Self, class Fn>
  static void fields(Self& self, Fn&& fn) {
    fn("queries", self.queries, ChoiceRange{1, 64, true});
    fn("block", self.block, ChoiceRange{1, 1 << 16});
    fn("rows", self.rows, ChoiceRange{1, 16});
    fn("kept", self.kept, ChoiceRange{0, 1});
    fn("keys", self.keys, ChoiceRange{16, 128, true});
    fn("stages", self.stages, ChoiceRange{1, 4});
    fn("features", self.features, ChoiceRange{16, 256});
    fn("values", self.values, ChoiceRange{16, 256});
  }
};

// One transform of loops, as Transform with a number for a factor.
struct LoopStep {
  Transform::Kind kind = Transform::Kind::merge;
  int position = 0;
  int64_t factor = 0;
  std::vector<int> order;
  ParallelType parallel = ParallelType::serial;
  auto operator<=>(const LoopStep&) const = default;
};

// What a person decides of one tensor.
struct ManualTensor {
  std::string tensor;
  std::vector<LoopStep> loops;  // its own; without any it follows the reference
  Choice inline_at;             // it is computed in so many of the loops of its readers
  Choice keep;                  // at most so many elements of it lie on the stack
  auto operator<=>(const ManualTensor&) const = default;
  template <class Self, class Fn>
  static void fields(Self& self, Fn&& fn) {
    fn("loops", self.loops, ChoiceRange{});
    fn("inline", self.inline_at, ChoiceRange{0, 64});
    fn("keep", self.keep, ChoiceRange{1, int64_t{1} << 20});
  }
};

// Scheduled by hand (docs/manual_scheduling.md). The loops of the last tensor that has some, the reference, are those
// that all tensors without loops of their own follow. CPUs only. A segment of a fusion has it without tensors: they
// say for themselves (TensorView::inline_position); manual_schedule() gathers it.
struct Manual {
  static constexpr std::string_view kName = "manual";
  std::vector<ManualTensor> tensors;  // by the order of the ops
  auto operator<=>(const Manual&) const = default;
  template <class Self, class Fn>
  static void fields(Self&, Fn&&) {}
};

// Steps that no generated kernel computes.
struct Library : Open {  // a contraction by a library's call
  static constexpr std::string_view kName = "library";
};
struct Collective : Open {
  static constexpr std::string_view kName = "collective";
};
struct Copy : Open {  // a local slice or placement
  static constexpr std::string_view kName = "copy";
};
struct Alias : Open {  // the result is its operand's memory
  static constexpr std::string_view kName = "alias";
};

}  // namespace schedules

// How a segment is computed: one of the schedulers' structs, or who else does it.
using Schedule = std::variant<schedules::Open, schedules::Pointwise, schedules::Nest, schedules::Norm,
                              schedules::Scatter, schedules::Contraction, schedules::Attention, schedules::Manual,
                              schedules::Library, schedules::Collective, schedules::Copy, schedules::Alias>;

// `pointwise`, `library`; empty for an open one.
std::string_view name(const Schedule& schedule);
// Whether a generated kernel computes a segment of the schedule; an open one is of no kernel yet.
bool is_generated(const Schedule& schedule);
inline bool is_open(const Schedule& schedule) { return std::holds_alternative<schedules::Open>(schedule); }

// `pointwise(vector = 8, unroll = 1, split = 1, block = 4096)` with the numbers that are chosen, `nest()` without any,
// `library`, `manual(%y: loops (split(0, 8)), %t: inline 1 keep 64)`; empty for an open one.
std::string print(const Schedule& schedule);
// Reads what print writes, in any spacing; the parentheses may be absent. UserError naming `where` and the text: no
// such schedule, a number that it has not, given twice or out of range.
Schedule parse_schedule(std::string_view text, const std::string& where = "");

}  // namespace plait
