#include "shard/rank_pieces.h"

#include "base/error.h"

namespace plait {

RankPieces::Cut RankPieces::cut(sym::Expr extent, const std::vector<Piece>& pieces) const {
  sym::Expr outer = pool_.constant(1), left = extent;
  for (size_t i = 0; i + 1 < pieces.size(); ++i) {
    const Piece& p = pieces[i];
    if (p.is_local()) outer = outer * p.local;
    left = p.is_local() ? sym::floordiv(left, p.local) : sym::chunk(left, size(p), rank(p), p.granule);
  }
  const Piece& last = pieces.back();
  return {outer, sym::chunk_start(left, size(last), rank(last), last.granule),
          sym::chunk(left, size(last), rank(last), last.granule), left};
}

sym::Expr RankPieces::first_index(sym::Expr extent, const std::vector<Piece>& pieces) const {
  sym::Expr left = extent, start = pool_.constant(0);
  for (const Piece& p : pieces) {
    PLAIT_CHECK(!p.is_local(), "a piece is not one range");
    start = start + sym::chunk_start(left, size(p), rank(p), p.granule);
    left = sym::chunk(left, size(p), rank(p), p.granule);
  }
  return start;
}

}  // namespace plait
