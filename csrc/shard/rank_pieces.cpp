#include "shard/rank_pieces.h"

#include "base/error.h"

namespace plait {

RankPieces::Cut RankPieces::cut(sym::Expr extent, const std::vector<Piece>& pieces, size_t last) const {
  PLAIT_CHECK(last <= pieces.size(), "{} of {} pieces", last, pieces.size());
  const auto begin = pieces.end() - static_cast<ptrdiff_t>(last);
  sym::Expr outer = pool_.constant(1), left = extent;
  for (auto p = pieces.begin(); p != begin; ++p) {
    if (p->is_local()) outer = outer * p->local;
    left = p->is_local() ? sym::floordiv(left, p->local) : sym::chunk(left, size(*p), rank(*p), p->granule);
  }
  Cut out{outer, pool_.constant(0), left, left};
  for (auto p = begin; p != pieces.end(); ++p) {
    PLAIT_CHECK(!p->is_local(), "a piece is not one range");
    out.start = out.start + sym::chunk_start(out.count, size(*p), rank(*p), p->granule);
    out.count = sym::chunk(out.count, size(*p), rank(*p), p->granule);
  }
  return out;
}

sym::Expr RankPieces::first_index(sym::Expr extent, const std::vector<Piece>& pieces) const {
  return pieces.empty() ? pool_.constant(0) : cut(extent, pieces, pieces.size()).start;
}

}  // namespace plait
