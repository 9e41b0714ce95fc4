#pragma once
// Passes over a Fusion before and after sharding, in the order in which the pipeline first runs them.
#include <functional>
#include <optional>

#include "base/options.h"
#include "ir/fusion.h"

namespace plait {

// Makes every tensor dense and row-major, as all are inside of a run. Why first: how inputs and outputs lie in memory
// is a matter of the run's boundary (csrc/session/boundary.h) alone.
void drop_allocations(Fusion& fusion);

// Gives every random op without an offset its ordinal among the random ops.
// Ensures: all offsets are there. Why before the others: they remove and add ops.
void number_random_ops(Fusion& fusion);

// A lookup or scatter as its user wrote it, for the error of an index outside of its extent.
struct Lookup {
  std::string op;                 // its text
  std::string index, in;          // names of tensors
  std::vector<sym::Expr> places;  // extents that positions count in, row-major
  std::vector<sym::Expr> shape;   // of the index, which may broadcast to them
  int64_t dim = 0;                // of `in`
  sym::Expr extent;
};

// Gives every lookup and scatter its ordinal among them; those that are the same share one. Returns them by ordinal.
// Why here: as above.
std::vector<Lookup> number_lookups(Fusion& fusion);

// Of an input by name, its dims as they lie in memory, outermost first, without gaps.
using InputOrders = std::map<std::string, std::vector<int>, std::less<>>;

// Inputs whose dims lie in another order become inputs of that order, with a permute behind each, which kernels and
// libraries read through. Requires: row-major tensors, whole on every rank; inputs that are outputs too stay. Why
// behind the numbering of lookups: those name the tensors that users know.
void lay_inputs(Fusion& fusion, const InputOrders& orders);

// Opens composites into the ops that say them (build/compose.h); those that is_sharded_whole() names stay where
// `for_sharding` is set. A cat of many operands becomes one of cats. Requires: offsets. Ensures: no other composite is
// left. Why before sharding: factors are those of simple ops, each operand of a cat has one; and once more when device
// axes are gone, for those that stayed and those that stand for pending reductions.
void expand(Fusion& fusion, bool for_sharding = false);

// A scatter that adds to or multiplies narrow floats becomes one in the accumulation type with casts around it: what it
// adds rounds once, in place. No pass: expand does it before all else.
void widen_scatters(Fusion& fusion);

// linear(x, w, b) becomes a contraction and an addition: in the accumulation type for narrow types, so that the sum
// rounds once. Why before sharding: a pending contraction is reduced before the bias joins.
void split_bias(Fusion& fusion);

// Removes ops whose results nobody needs. Why here: sharding does not look at them then; and once more behind
// merge_equal (`remove_unread`), for what is read no longer.
void remove_dead_code(Fusion& fusion);
// Those ops, in the order of the graph.
std::vector<Op*> dead_ops(const Fusion& fusion);

// A narrow contraction that is not pending keeps its accumulation type where pointwise ops read it; a cast that reads
// it rounds instead. Requires: layouts. Why after sharding: a pending contraction is exchanged in the narrow type,
// unless option reduce_dtype keeps it wide until it is whole, or its pending axes have size 1 on the mesh.
void widen_contractions(Fusion& fusion, const DeviceMesh& mesh, const Options& options);

// A product of stacks whose batch dims were merged into one for it, and parted behind it, is a product of stacks with
// these dims; reshapes that are left of it go with merge_equal. Why: what is computed between two products has the
// dims of its user, and a stack that lies permuted need not be copied to merge them. `home`: as below.
void part_batches(Fusion& fusion, const std::function<std::optional<size_t>(const TensorView&)>& home = {});

// An elementwise op whose result is kept, and read with one of its dims in parts by ops that compute, computes with
// these parts; its result is those merged, which takes no step: where no other op that computes has it, or what it
// reads, with whole dims, which would be parted from it. Rows of a batch that were merged for a product come so:
// its bias is added to them, and what stands behind has the dims of its user. Why behind part_batches: it makes such
// reshapes; why before merge_equal: that takes the way back away. Outputs in place of inputs stay. `home`: as below.
void lift_reshapes(Fusion& fusion, const std::function<std::optional<size_t>(const TensorView&)>& home = {});

// Readers of a tensor that holds the same as an earlier one read the earlier one; remove_dead_code takes what nobody
// reads then. The same are results of equal ops on the same operands, and what moves there and back (a permute and its
// inverse, reshapes to the first shape, a cast to the own dtype, a whole slice) and what it began with. Constants,
// places and casts that widen stay with their readers: to compute them again costs less than to read them. Why when
// device axes are gone: a move may be there for the sake of its layout; and composites are open: attention and its
// logsumexp show what they share. `home`: the segment of a file that a tensor was written in, none 0; ops of different
// ones are not merged, and those without a value are neither replaced nor read in another's place: a person scheduled
// them.
void merge_equal(Fusion& fusion, const std::function<std::optional<size_t>(const TensorView&)>& home = {});

// Small collectives of one team and type, of which none comes of another, become one of their elements side by side:
// what they take is the time of a message, not of its bytes (most_joined_bytes). These are all-reduces, reduce-scatters
// of equal pieces of the first dim, and, with `gathers`, all-gathers of such pieces that a run is given, as many as are
// no more in all. `decide` is asked about sizes, where there are several. Requires: device axes are gone. Ensures: the
// same terms (whose order is the communicator's), an order of ops in which no more waits than must, but that gathers
// stand with the first of them. Why last: equal ones are merged, and nobody reads what is left.
void bucket_collectives(Fusion& fusion, const std::function<bool(sym::Expr)>& decide, bool gathers = false);

}  // namespace plait
