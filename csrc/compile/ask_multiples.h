#pragma once
// What a compilation asks about divisibility, of each size whose multiples it has a use for: before it begins, since
// expressions fold on construction. The answers are guards of the specialization and facts of its graph.
//   Rows: vectors of whole rows need no tail, and aligned accesses of a GPU no narrower ones. A row is the last dims of
//   a tensor up to the first whose extent is symbolic; dims beside a whole row are asked nothing, nor those of sums,
//   which have an element for each row of others.
//   Pieces: those of a mesh are equal where its ranks divide.
//   Quotients: extents that divide a size fold.
#include "compile/options.h"
#include "device/target.h"
#include "ir/fusion.h"
#include "mesh/mesh.h"
#include "sym/guards.h"

namespace plait {

struct MultipleQuestion {
  std::string symbol;
  int64_t multiple;      // whether it divides the size
  std::string asked_by;  // "rows of %x"
};
// Of the graph with its composites open, once for all of its specializations. By symbol, the largest multiple first;
// the first yes about a symbol is the last question about it.
std::vector<MultipleQuestion> multiple_questions(const Fusion& fusion, const DeviceMesh& mesh, const Target& target);

// Asks about the symbols that have facts, and adds the answers to these. Null guards: nothing is asked.
void ask_multiples(const std::vector<MultipleQuestion>& questions, const Fusion& fusion, sym::Guards* guards,
                   CloneOptions& facts);

}  // namespace plait
