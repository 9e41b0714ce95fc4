#include "compile/file_schedules.h"

#include "base/error.h"

namespace plait {

std::vector<FileSegment> file_segments(const Fusion& fusion) {
  for (const TensorView* t : fusion.tensors())
    if (!t->domain.transforms.empty())
      throw UserError(fmt::format("the loops of %{} are made by its schedule", t->name), "schedule",
                      "pin a schedule instead: segment @s (...) -> (...) schedule pointwise(vector = 8) { ... }");
  std::vector<FileSegment> out;
  for (const auto& segment : fusion.segments) {
    FileSegment written{segment.name, {}, {}, segment.schedule};
    for (const TensorView* t : segment.outputs) written.outputs.push_back(t->name);
    for (const Op* op : segment.ops)
      for (const TensorView* t : op->results) written.tensors.push_back(t->name);
    out.push_back(std::move(written));
  }
  return out;
}

std::map<std::string, Schedule, std::less<>> pinned_schedules(const std::vector<FileSegment>& segments) {
  std::map<std::string, Schedule, std::less<>> out;
  for (const auto& segment : segments)
    for (const auto& name : segment.outputs)
      if (!is_open(segment.schedule)) out[name] = segment.schedule;
  return out;
}

void check_file_segments(const std::vector<FileSegment>& written, const Fusion& segmented) {
  std::map<std::string, const Segment*, std::less<>> made;  // tensor -> the segment that makes it
  for (const auto& segment : segmented.segments)
    for (const Op* op : segment.ops)
      for (const TensorView* t : op->results) made[t->name] = &segment;
  std::map<const Segment*, const FileSegment*> owner;
  for (const auto& segment : written) {
    const Segment* home = nullptr;
    std::string first;
    for (const auto& name : segment.tensors) {
      auto it = made.find(name);
      if (it == made.end()) continue;  // opened or removed by a graph pass
      if (!home) home = it->second, first = name;
      if (it->second != home)
        throw UserError(fmt::format("segment @{} of the file cannot be one step: %{} and %{} are made by two",
                                    segment.name, first, name),
                        "segment", "write a segment for each, or none");
      auto [other, fresh] = owner.emplace(home, &segment);
      if (!fresh && other->second != &segment)
        throw UserError(
            fmt::format("segments @{} and @{} of the file would be merged", other->second->name, segment.name),
            "segment", "write them as one segment, or none");
    }
  }
}

}  // namespace plait
