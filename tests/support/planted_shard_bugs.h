#pragma once
// Bugs of propagation, planner, halos and merged statistics: edits of what the passes of sharding leave.
#include <span>
#include <string_view>

#include "ir/fusion.h"

namespace plait::testing {

struct ShardBug {
  std::string_view name, pass;   // the pass whose result is edited
  int (*plant)(Fusion& fusion);  // how many places were edited
};
std::span<const ShardBug> planted_shard_bugs();

}  // namespace plait::testing
