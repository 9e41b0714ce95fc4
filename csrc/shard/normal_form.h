#pragma once
// Normal form of pieces: lists that cut a dim at the same places are the same list.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/layout.h"
#include "ir/tensor_view.h"

namespace plait {

// What ranks have of a dim behind some of its pieces, each extent that one of them has; nothing: not all are known.
using Extents = std::optional<std::set<int64_t>>;

// Ranks along a mesh axis; nothing where the mesh has no number for them.
std::optional<int64_t> known_members(const Mesh& mesh, int axis);

// Elements of a piece of `extent` but for the last ones, which are shorter or empty; at most the extent.
int64_t chunk_size(int64_t extent, int64_t members, int64_t granule);

// The least granule with which so many members cut each extent into the chunks beside it; nothing: none does.
std::optional<int64_t> least_granule(const std::map<int64_t, int64_t>& chunks, int64_t members);

// What a piece leaves of each. Nothing: not known, or a local piece does not divide one.
Extents extents_behind(const Extents& left, const Piece& piece, const Mesh& mesh);

// The pieces with the least granules that cut a dim at the same places on every rank; those that stand behind an axis
// or extent that is not known stay as they are, but for what DimLayout::normalize does.
std::vector<Piece> normal_pieces(std::optional<int64_t> extent, std::vector<Piece> pieces, const Mesh& mesh);

// A layout of the tensor so, where extents are numbers: what is only a default is not known.
Layout normal_layout(const TensorView& tensor, Layout layout);

// Puts the layout of an annotated tensor, and its storage, into normal form; its reason keeps what was written where
// that is another text.
void put_in_normal_form(TensorView& tensor);

}  // namespace plait
