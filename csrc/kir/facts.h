#pragma once
// What a kernel's text says of its symbols (`given n0: 16 in 16..4096`), and what it need not say.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kir/kernel.h"

namespace plait::kir {

// Facts that a text implies: integers are at least 0; a loop variable has the index facts of the first loop of its
// name, `lane` lies below the most lanes of any value.
sym::SymbolInfo implied_of_integer();
sym::SymbolInfo implied_of_lane(int lanes);

// Whether the first kernel of a text speaks of lane. One without vectors leaves it to what makes vectors of it.
bool speaks_of_lane(std::string_view text);

// Facts of the pool about integers, loop variables and lane that a text must state, in the order of its symbols: those
// that differ from what it implies, and those of symbols that these speak of.
std::vector<sym::Expr> stated_symbols(const Kernel& kernel);

// Of one symbol as text, empty for the name alone: "16 in 16..4096", "1 in 0.. below n0".
std::string facts_text(const sym::SymbolInfo& info);

}  // namespace plait::kir
