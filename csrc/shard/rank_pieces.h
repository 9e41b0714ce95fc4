#pragma once
// What pieces cut of a dim on the rank that runs the code, as expressions of `rank.AXIS`.
#include <vector>

#include "ir/layout.h"

namespace plait {

class RankPieces {
 public:
  // `sizes` of the mesh's axes; symbols of ranks are made in the pool.
  RankPieces(const Mesh& mesh, sym::Pool& pool, std::vector<sym::Expr> sizes)
      : mesh_(mesh), pool_(pool), sizes_(std::move(sizes)) {}

  const std::vector<sym::Expr>& sizes() const { return sizes_; }
  sym::Expr size(const Piece& p) const { return sizes_[static_cast<size_t>(p.mesh_axis)]; }
  sym::Expr rank(const Piece& p) const { return pool_.symbol(rank_symbol(mesh_, p.mesh_axis)); }

  // What the last pieces of a list cut, so many, none of them local: all of it, and this rank's part of it. It repeats
  // `outer` times, in local pieces of the dim.
  struct Cut {
    sym::Expr outer, start, count, total;
  };
  Cut cut(sym::Expr extent, const std::vector<Piece>& pieces, size_t last) const;

  // First index of this rank's piece of a dim, which is one range: no piece is local.
  sym::Expr first_index(sym::Expr extent, const std::vector<Piece>& pieces) const;

 private:
  const Mesh& mesh_;
  sym::Pool& pool_;
  std::vector<sym::Expr> sizes_;
};

}  // namespace plait
