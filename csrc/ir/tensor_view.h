#pragma once
// TensorView: a named tensor of the graph with its domain and its layout over the mesh.
#include <optional>
#include <string>
#include <vector>

#include "ir/layout.h"
#include "scalar/dtype.h"
#include "sym/expr.h"

namespace plait {

class Fusion;
struct Op;

// What an axis is to the op that makes the tensor.
enum class AxisKind : uint8_t { iteration, reduction, broadcast };

// What runs a loop; name(): its word in the text.
enum class ParallelType : uint8_t {
  serial,
  vectorize,
  unroll,
  block_x,
  block_y,
  block_z,
  thread_x,
  thread_y,
  thread_z,
  cluster,  // blocks that have a row together
  cpu_thread,
  stream,
};
std::string_view name(ParallelType type);

// One axis of a domain. A broadcast axis has extent 1.
struct Axis {
  sym::Expr extent;
  AxisKind kind = AxisKind::iteration;
  ParallelType parallel = ParallelType::serial;
  bool operator==(const Axis&) const = default;
};

// One schedule transform, by loop positions. merge(a, a+1); split(a) by an inner factor into outer, inner; parallel(a).
struct Transform {
  // Which transform it is.
  enum class Kind : uint8_t { merge, split, reorder, parallel } kind = Kind::merge;
  int position = 0;
  sym::Expr factor;                              // split: inner extent
  std::vector<int> order;                        // reorder: new position -> old position
  ParallelType parallel = ParallelType::serial;  // parallel
  bool operator==(const Transform&) const = default;
};

// Axes of a tensor; an immutable value, swapped as a whole. Loop axes are what `transforms` make of
// the logical axes followed by the reduction axes, in order.
struct Domain {
  std::vector<Axis> logical;    // what users see
  std::vector<int> allocation;  // logical dims in memory order, outermost first
  std::vector<bool> strided;    // contiguity, by place in that order: the dim's stride is free; empty: dense
  std::vector<Axis> reduction;  // axes the defining op sums over, not visible to users
  std::vector<Transform> transforms;
  bool operator==(const Domain&) const = default;
};

// Dense, with dims in memory in their order.
bool is_row_major(const Domain& domain);

// Loop axes of a domain. UserError naming the transform that does not apply.
std::vector<Axis> loop_axes(const Domain& domain);

// begin <= value < end.
struct ValueRange {
  sym::Expr begin, end;
  bool operator==(const ValueRange&) const = default;
};

// Where a tensor comes from.
enum class TensorRole : uint8_t { input, parameter, intermediate };
enum class LayoutSource : uint8_t {
  open,
  annotated,
  inferred,
  chosen
};  // who decided its layout: nobody yet, the user, propagation op by op, propagation by cost against the op's own

// How a mesh axis cuts a dim: `granule`, of which chunk bounds are multiples, in elements; 1 to kMaxGranule.
struct ShardOptions {
  int64_t granule = 1;
  bool inner = false;  // innermost piece of the dim instead of outermost
};

// The storage layout of a parameter, where it differs from the compute layout.
class StorageRef {
 public:
  explicit StorageRef(struct TensorView* tensor) : tensor_(tensor) {}
  // As TensorView::shard(), of the storage alone.
  void shard(int dim, const MeshAxisRef& axis, ShardOptions options = {});

 private:
  struct TensorView* tensor_;
};

// A tensor of a fusion, which owns it: dtype, dims, layout, loops. What users set are the functions; members are the
// compiler's.
struct TensorView {
  Fusion* fusion = nullptr;
  uint32_t id = 0;
  std::string name;          // unique in the fusion, printed as %name
  bool named_by_op = false;  // the name was made from the op's and yields to one that a user gives; never compared
  DType dtype = DType::f32;
  std::string dtype_alias;  // the `let` name that spells the dtype, or empty
  Domain domain;
  TensorRole role = TensorRole::intermediate;
  Op* definition = nullptr;  // null for inputs and parameters
  Layout layout;             // compute layout
  LayoutSource layout_source = LayoutSource::open;
  // Whether it has its layout whatever its op gives.
  bool keeps_layout() const {
    return layout_source == LayoutSource::annotated || layout_source == LayoutSource::chosen;
  }
  std::optional<Layout> stored;  // inputs and parameters: storage layout where it differs
  // Of a contraction whose bias joins behind it: the written tensor that this is without its bias. Never compared.
  std::string unbiased_of;
  std::string reason;               // why the layout is what it is; for explain, never compared
  std::optional<ValueRange> range;  // inputs of integers: where every element lies
  // By hand, as the loops of the domain (schedules::Manual): how many loops of its readers the tensor is computed in,
  // and how many elements of it a buffer on the stack holds at most.
  std::optional<int64_t> inline_position, kept;

  size_t rank() const { return domain.logical.size(); }
  sym::Expr extent(size_t dim) const { return domain.logical[dim].extent; }  // global extent of a dim, which is there
  std::vector<sym::Expr> shape() const;

  // Cuts dim (negative counts from the end) over a mesh axis; an annotation. On a parameter it sets storage and
  // compute. UserError, with nothing changed: no such dim or axis, or the axis is used on this tensor already.
  TensorView& shard(int dim, const MeshAxisRef& axis, ShardOptions options = {});
  // Ranks along the axis (or a group's) hold parts of a reduction that is still to be done; an annotation. UserError as
  // shard(), and where ranks do not reduce the dtype so.
  TensorView& pending(const MeshAxisRef& axis, ReduceOp reduce = ReduceOp::sum);
  TensorView& replicate();  // pins the tensor replicated
  // How the dims lie in memory: `order` has every dim once, outermost first; a dim of `strided` may have any stride,
  // the others have no gaps. Of an input a claim that runs check, of an output what they return, which is dense.
  // UserError, with nothing changed: no order of the dims, a strided dim that is none or named twice.
  TensorView& allocate(std::vector<int> order, const std::vector<int>& strided = {});
  // States that every element v of an input of integers is begin <= v < end, expressions over sizes ("0", "v"); drawn
  // inputs keep it, and runs refuse others. UserError, with nothing changed: no input, or no integers.
  TensorView& within(std::string_view begin, std::string_view end);
  TensorView& within(sym::Expr begin, sym::Expr end);
  StorageRef storage() { return StorageRef(this); }

  // Scheduling by hand (docs/manual_scheduling.md); `loops (...) inline N keep N` of the text. Positions count loops:
  // the dims, then what the op reduces. UserError, with nothing changed, naming tensor and transform that does not
  // apply: no such loop, a factor under 1, a kept and a reduced loop that would become one.
  TensorView& split(int position, int64_t factor);           // position -> outer, inner of extent `factor`
  TensorView& merge(int position);                           // position and position + 1 -> one
  TensorView& reorder(std::vector<int> order);               // new position -> old position
  TensorView& parallelize(int position, ParallelType type);  // who runs the loop
  TensorView& inline_at(int64_t loops);                      // computed within so many loops of its reader
  TensorView& keep(int64_t elements);                        // in a buffer on the stack, of so many elements at most
  // A copy of the tensor, an op of the fusion: behind it, read by all that read it; or in front of it, made by its op.
  // UserError: the fusion has segments, or nothing makes (reads) the tensor.
  TensorView* cache_before();
  TensorView* cache_after();
};

// Whether a person has scheduled the tensor.
bool is_by_hand(const TensorView& tensor);

// `f32[b, 4*s]`, with the dtype's alias where it has one.
std::string type_text(const TensorView& tensor);

// Whether dtypes, extents (of one fusion) and layouts are equal.
bool same_type(const TensorView& a, const TensorView& b);

}  // namespace plait
