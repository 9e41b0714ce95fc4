#pragma once
#include <vector>

#include "kir/kernel.h"

namespace plait::kir {

// For `tails`. A condition of a tail's body, `var < rest` of a loop marked `unroll`, where rest is at least 1.
struct TailRows {
  sym::Expr conjunct;   // as it stands in the body
  sym::Expr var, rest;  // `var` is a loop's of the body
};

// Loops marked `unroll` under such conditions that do nothing but store to buffers which the body allocates, in each
// iteration to elements of its own, lose the condition: iterations from `rest` on read what the last one before reads,
// and store to elements that nothing else stores to, so nothing reads them. Sums of a tile's rows then stay in
// registers where the tile is cut.
void fill_tail_rows(const Kernel& kernel, Block& body, const std::vector<TailRows>& rows);

}  // namespace plait::kir
