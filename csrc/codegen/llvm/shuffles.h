#pragma once
// Lanes that change places.
#include <functional>
#include <vector>

#include "codegen/llvm/text.h"

namespace plait::codegen::llvm {

// The lanes in the opposite order.
Ir reverse(Function& f, const Ir& vector);

// out[i][lane] = in[lane][i], of as many vectors as each has lanes or a multiple: shuffles that x86-64 has as one
// instruction each, within 128 bits first, then of 128 bits as a whole. Bits move as bytes.
std::vector<Ir> transpose(Function& f, const std::vector<Ir>& in);

// Running values of groups of so many lanes (kir/stmt.h, Running). `combine` joins what came before with what is there,
// of which `identity` is nothing, in all lanes.
Ir running(Function& f, const Ir& in, Ir before, const Ir& identity, int group,
           const std::function<Ir(const Ir& before, const Ir& here)>& combine);

}  // namespace plait::codegen::llvm
