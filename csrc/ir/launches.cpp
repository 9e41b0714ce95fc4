#include "ir/launches.h"

#include <algorithm>
#include <set>

namespace plait {

std::vector<std::vector<const Segment*>> launches(const Fusion& fusion) {
  std::vector<std::vector<const Segment*>> out;
  for (const Segment& segment : fusion.segments) {
    if (segment.joins.empty() || out.empty()) out.emplace_back();
    out.back().push_back(&segment);
  }
  return out;
}

Segment as_one(const Fusion& fusion, std::span<const Segment* const> parts) {
  Segment out{parts.front()->name, {}, {}, {}, parts.front()->schedule, ""};
  for (const Segment* part : parts) out.ops.insert(out.ops.end(), part->ops.begin(), part->ops.end());
  const std::set<const Op*> own(out.ops.begin(), out.ops.end());
  std::set<const TensorView*> made, read;
  for (const Op* op : out.ops) made.insert(op->results.begin(), op->results.end());
  for (const Segment* part : parts) {
    for (TensorView* t : part->inputs)
      if (!made.contains(t) && read.insert(t).second) out.inputs.push_back(t);
    for (TensorView* t : part->outputs) {
      const auto& readers = fusion.readers(t);
      const bool inside = !readers.empty() && std::all_of(readers.begin(), readers.end(),
                                                          [&](const Op* reader) { return own.contains(reader); });
      if (!inside || fusion.is_output(t)) out.outputs.push_back(t);
    }
  }
  return out;
}

}  // namespace plait
