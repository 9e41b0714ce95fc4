#pragma once
// How a tensor is laid over a mesh: per logical dim an ordered list of pieces, plus pending reductions.
#include <map>
#include <string>
#include <vector>

#include "mesh/mesh.h"
#include "scalar/dtype.h"
#include "sym/expr.h"

namespace plait {

// How the parts of a pending reduction become one value.
enum class ReduceOp : uint8_t { sum, max, min, prod, logsumexp };
// All of them, in the order of the enum.
inline constexpr ReduceOp kReduceOps[] = {ReduceOp::sum, ReduceOp::max, ReduceOp::min, ReduceOp::prod,
                                          ReduceOp::logsumexp};
// Its word in the text.
std::string_view name(ReduceOp op);
// Whether ranks may leave such a reduction of a dtype pending: of numbers, a logsumexp of floats.
bool may_be_pending(ReduceOp op, DType dtype);

// The largest granule of a piece, in elements.
inline constexpr int64_t kMaxGranule = int64_t{1} << 40;

// One level of a dim, outermost first. A mesh piece cuts the extent that is left by ceil division in granules and keeps
// the chunk of this rank; a local piece of extent k splits what is left into k equal parts and keeps all of them.
struct Piece {
  int mesh_axis = -1;   // index in the mesh; -1: local
  int64_t granule = 1;  // mesh pieces: chunk boundaries are multiples of it; 1 to kMaxGranule
  int64_t local = 0;    // local pieces: k
  bool is_local() const { return mesh_axis < 0; }
  bool operator==(const Piece&) const = default;
};

// Pieces of one dim; what they leave is local. Never ends with a local piece (it would say nothing).
struct DimLayout {
  std::vector<Piece> pieces;
  void normalize();  // drops trailing local pieces, joins those that stand side by side
  bool operator==(const DimLayout&) const = default;
};

// How a tensor is cut over the mesh: pieces of every dim, and the mesh axes over which its values are parts of a
// reduction that is still to be done.
struct Layout {
  std::vector<DimLayout> dims;
  std::map<int, ReduceOp> partial;  // mesh axis -> pending reduction over it

  // Of a tensor of so many dims that every rank holds whole.
  static Layout replicated(size_t rank) { return {std::vector<DimLayout>(rank), {}}; }
  bool is_replicated() const;
  bool uses(int mesh_axis) const;   // in a piece or as partial
  int dim_of(int mesh_axis) const;  // dim that a piece of the axis cuts, or -1
  void normalize();                 // of each dim
  bool operator==(const Layout&) const = default;
};

// `{0: tp, 1: [local 2, dp]} partial(cp: sum)`; `{}` for a replicated layout.
std::string print(const Layout& layout, const Mesh& mesh);

// Symbol of this rank's position on a mesh axis: `rank.tp`.
std::string rank_symbol(const Mesh& mesh, int axis);

// Local extent of a dim on this rank: product of the local pieces times the last chunk. `sizes` are the mesh sizes, as
// numbers or symbols. A local piece's divisibility is not checked here.
sym::Expr local_extent(sym::Expr global, const DimLayout& dim, const Mesh& mesh, const std::vector<sym::Expr>& sizes);

// Global indices of a dim that the rank at `coordinates` holds, in local order. UserError where a local piece does not
// divide what it splits; `where` names the tensor and dim.
std::vector<int64_t> owned_indices(int64_t global, const DimLayout& dim, const DeviceMesh& mesh,
                                   const std::vector<int64_t>& coordinates, const std::string& where);

}  // namespace plait
