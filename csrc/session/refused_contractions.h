#pragma once
// Contractions that a library refuses once sizes are numbers.
#include <set>
#include <string>

#include "program/program.h"
#include "run/rank_values.h"

namespace plait {

// Results of the contractions whose library refuses the numbers of some rank, by the names that segmentation knows
// them by: in memory they may be outputs of other names.
std::set<std::string> refused_contractions(const Program& program, RankValues& values);

}  // namespace plait
