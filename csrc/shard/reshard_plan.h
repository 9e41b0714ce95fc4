#pragma once
// Plan of a reshard: from one layout of a tensor to another in steps, each one change along one mesh axis.
#include <optional>
#include <string_view>
#include <vector>

#include "ir/tensor_view.h"
#include "mesh/collective.h"

namespace plait {

// A collective, or a slice. all_reduce: partial to whole. reduce_scatter: partial to pieces, where the axis becomes the
// innermost mesh piece of the dim. all_gather: pieces to whole, of the innermost mesh piece of the dim. slice: whole to
// pieces, local.
enum class ReshardKind : uint8_t {
#define X(name, ...) name,
#include "mesh/collectives.def"
#undef X
  slice,
};
// Nothing: a slice.
std::optional<Collective> collective_of(ReshardKind kind);
std::string name(ReshardKind kind);  // `all-reduce`, `slice`

// One step. `pieces` is the dim's list, up to and with the piece that the step makes or takes away.
struct ReshardStep {
  ReshardKind kind = ReshardKind::slice;
  int axis = -1;
  int dim = -1;                     // -1: all_reduce
  std::vector<Piece> pieces;        // empty: all_reduce
  ReduceOp reduce = ReduceOp::sum;  // all_reduce, reduce_scatter
  Layout to;                        // layout after the step
  bool moves_data() const { return collective_of(kind).has_value(); }
  // Bytes on the wire, in those of an all-gather of the tensor.
  int64_t gathers() const { return moves_data() ? info(*collective_of(kind)).gathers : 0; }
};

// The layout that a tensor's memory has: storage of a parameter that has one of its own, else the compute layout.
const Layout& held_layout(const TensorView& tensor);

// Steps from one normalized layout to another; nothing where they are equal. The common prefix of pieces stays per dim.
// Order: pending axes that `to` has no place for are reduced, pieces beyond the prefix are gathered (innermost first),
// then the pieces of `to` are made (outermost first, slices as long as there are any, then reduce-scatters).
// Requires every pending axis of `to` to be pending in `from` (can_reshard).
std::vector<ReshardStep> plan_reshard(const Layout& from, const Layout& to);

// False where `to` keeps an axis pending that `from` does not: a whole value never becomes pending.
bool can_reshard(const Layout& from, const Layout& to);

// The step between two layouts, or nothing where they differ by none or by more than one.
std::optional<ReshardStep> single_step(const Layout& from, const Layout& to);

}  // namespace plait
