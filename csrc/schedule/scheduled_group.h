#pragma once
// A segment on its way to a kernel: a small graph of its own, which a schedule may change and transform, while the
// fusion stays as it is.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "ir/fusion.h"

namespace plait {

// Of what KeyLimit is about: elements [..., query, key]; sums over keys, [..., query, x], by keys over queries,
// [..., key, x]; beside those by keys, sums over keys.
enum class Limited : uint8_t { result, sum, sum_over_lanes };

// Of attention: groups of `step` queries are computed for keys from the first query - behind up to the last + ahead
// alone; or, by keys, groups of keys for queries from the first key - ahead up to the last + behind, of which `rows`
// have one limit.
struct KeyLimit {
  int64_t step = 1, rows = 1;
  std::optional<sym::Expr> ahead, behind;  // one at least
  bool by_keys = false;
  std::map<const Op*, Limited> ops;

  std::string print(const Op& op) const;  // lines of the text of stage `scheduled`
};

// Of a buffer that threads of a block fill together: rows of `row` elements as its loops write them, `pad` elements
// behind each. Transposed: columns, `pad` elements behind each of those. Turned: kir::Buffer::turned. Filled: elements
// outside of the tensor are 0, so that contractions of two panels have nothing to ask; else nobody reads them.
struct PanelLayout {
  int64_t row = 1, rows = 1, pad = 0;
  bool transposed = false, turned = false, filled = true;

  int64_t extent() const { return transposed ? row * (rows + pad) : rows * (row + pad); }
  sym::Expr place(sym::Expr element) const;  // of an element in the order of the loops
  std::string print() const;
};

struct ScheduledGroup {
  std::unique_ptr<Fusion> graph;     // inputs and outputs are those of the segment, in order
  std::vector<std::string> outputs;  // their names in the fusion
  Schedule schedule;
  std::set<const Op*> reads;                    // computed at their readers' coordinates (axes/read_through.h)
  TensorView* reference = nullptr;              // its transforms are the loops that all others follow
  std::vector<TensorView*> aligned;             // share their axes by position where no edge says so
  std::map<const TensorView*, int> inline_at;   // at most so many loops are shared with readers
  std::map<const TensorView*, sym::Expr> kept;  // buffers: at most so many elements, as the schedule proved or asked
  std::set<const TensorView*> whole;            // scans whose rows buffers hold, since reads go through them elsewhere
  std::map<const TensorView*, const TensorView*> copies;  // a copy, and what it is one of
  // Place among the reference's loops of a reduced one whose iterations are the tasks of phases.
  std::optional<int> phases;
  // Reductions over the loops of rows, whose outermost one, the reference's first, stands for tasks of a first phase:
  // each has states of its own for all columns.
  std::set<const Op*> column_sums;
  // Scans of rows that tasks share, and the reduction whose states of parts say what a part begins with.
  std::map<const Op*, const Op*> totals;
  // Of rows that threads keep in registers: the extents of their dims, and how many elements they have at most, as
  // sizes were decided. Empty: none are kept.
  std::vector<sym::Expr> row;
  int64_t most = 0;
  int64_t align = 1;                      // of rows: from which multiple of elements of memory threads take them
  std::vector<int64_t> cuts;              // whose product that is, in the order in which the row is cut
  std::set<const TensorView*> own_loops;  // follow loops of their own, not the reference's
  std::optional<KeyLimit> keys;
  std::map<const TensorView*, PanelLayout> panels;  // of contractions, rows that several passes read
  int64_t stages = 1;                               // of the loop that fills them
  bool by_hand = false;  // loops, inline positions and kept buffers are obeyed as they stand, or refused

  // Text of the stage `scheduled`: the graph with the loops of its tensors, then a line per decision.
  std::string print() const;
};

// The segment as it is, with no loops yet.
ScheduledGroup make_group(const Fusion& fusion, const Segment& segment);

// Extents of the loop that the cuts of a row leave, which is 1 where registers hold it: the division of all, and one
// cut after another, which simplify to different forms. `row`: the product of group.row, in any pool.
std::vector<sym::Expr> left_of_row(const ScheduledGroup& group, sym::Expr row);

// A tensor of the same values, computed from the tensor by an op at the end of the graph.
Op* copy_of(Fusion& graph, TensorView& t, const char* name);

// Every output of a read, or of an op whose results the group reads, becomes a value for its readers and a store that
// nobody reads, so that the value is computed where it is read and the store has no reader to wait for.
void store_outputs(ScheduledGroup& group);

// The segment with its reads (find_reads) and these stores: what holds of its axes is known with them alone.
ScheduledGroup stored_group(const Fusion& fusion, const Segment& segment);

// Gives every root (a reduction, a store, a tensor with a buffer) its own copy of the ops between it and memory, where
// another root reads them too: then each is computed in the loops of its reader, in registers. `is_shared` tells which
// tensors all roots read alike and nobody copies. The ops come in the order of the roots.
void copy_for_roots(ScheduledGroup& group, const std::vector<Op*>& roots,
                    const std::function<bool(const TensorView&)>& is_shared);

}  // namespace plait
