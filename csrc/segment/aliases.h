#pragma once
// Results that lie in memory as their operand does: the same buffer under another name, and no kernel.
#include <map>
#include <vector>

#include "segment/segment.h"

namespace plait {

// Whether the op's result is its operand's memory: a reshape or a change of dims of extent 1 of what is row-major, a
// permute whose result is allocated in the order of its operand.
bool is_alias(const Op& op);

using Readers = std::map<const TensorView*, std::vector<const Op*>>;

// Permutes that swap the last two dims and that only library contractions read get the allocation of their operand: the
// contractions take it as it lies. After the segments' ops are known, before their schedules.
void allocate_for_contractions(const Fusion& fusion, const Readers& readers, const SegmentOptions& options);

}  // namespace plait
