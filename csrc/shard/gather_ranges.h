#pragma once
// Moves along a dim that ranks hold pieces of: slice, pad, cat, flip and roll take for each rank a range of each
// operand, of which most is its own piece (halos). Which ops and dims these are, their factors say
// (FactorKind::permute).
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "ir/fusion.h"

namespace plait {

// Elements start .. start + count of a dim.
struct DimRange {
  sym::Expr start, count;
};

// Whether each range of a result along a dim whose elements the op moves is made of a range of each operand, or two.
bool gathers_ranges(const Op& op);

// What each operand gives to the range `out` of the result along the dim, one after another. `extents`: of the operands
// along the dim.
std::vector<std::vector<DimRange>> needed_ranges(const Op& op, size_t dim, const std::vector<sym::Expr>& extents,
                                                 const DimRange& out);

// Makes of an op the one of a rank, whose operands along the dim are the ranges that it needs for `out` of the result:
// a pad adds what is in `out`, a roll moves nothing there.
void take_ranges(Op& op, size_t dim, const std::vector<sym::Expr>& extents, const DimRange& out);
// Gives an op that gathers ranges these operands.
void set_operands(Op& op, const std::vector<TensorView*>& operands);

// Parts first .. first + count of so many equal ones along a dim.
struct Parts {
  int64_t first = 0, count = 0;
};
// The parts of its operand that a slice takes, of so many that pieces `[local parts, ...]` are cut from: each rank has
// a piece of every one, and moves nothing. Nothing: it takes no whole parts, or is not seen to.
std::optional<Parts> sliced_parts(const Op& op, int64_t parts);
// The one of so many equal parts in which a slice lies that takes no whole parts; nothing: it lies in several, or is
// not seen to lie in one.
std::optional<int64_t> part_around(const Op& op, int64_t parts);
// Makes the slice that of a rank, which has `piece` elements of each part.
void take_parts(Slice& local, const Slice& op, int64_t parts, sym::Expr piece);

// Whether a cat has operands that are equal along its dim: where all have the same pieces of it, in so many parts, a
// result in pieces `[local operands * parts, ...]` moves nothing.
bool joins_parts(const Op& op, int64_t parts = 1);
// Pieces of each of so many parts, side by side.
std::vector<Piece> in_parts(std::vector<Piece> pieces, size_t parts);

// Dims whose elements move from rank to rank, and along which an operand is cut, of an op that gathers ranges.
std::vector<size_t> moved_dims(const Op& op, const std::function<bool(const TensorView&, size_t)>& is_cut);

// The tensor that has all of the dim on each rank: itself, or what a step of a reshard sliced it from; null: neither.
const TensorView* whole_along(const TensorView& t, size_t dim,
                              const std::function<Layout(const TensorView&)>& layout_of);

// Slices of one tensor along one dim that is cut, whose ranges lie near each other: one exchange gives each rank the
// elements of all. Groups of two or more, by op.
std::map<const Op*, size_t> near_slices(const Fusion& sharded);

// The pad of which nothing but the near slices of a tensor along this dim is read: they take their range of what is
// padded. Null: there is none.
const Pad* pad_of_halo(const TensorView& tensor, size_t dim, const std::map<const Op*, size_t>& near);

}  // namespace plait
