#include "compile/file_schedules.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace plait {

namespace {

FileSegment read_segment(const Segment& segment) {
  FileSegment out{segment.name, {}, {}, segment.schedule};
  for (const TensorView* t : segment.outputs) out.outputs.push_back(t->name);
  for (const Op* op : segment.ops)
    for (const TensorView* t : op->results) out.tensors.push_back(t->name);
  if (std::holds_alternative<schedules::Manual>(segment.schedule))
    out.schedule = manual_schedule(segment);
  else
    out.loops = manual_schedule(segment);
  out.joins = segment.joins;
  return out;
}

}  // namespace

std::vector<FileSegment> file_segments(const Fusion& fusion) {
  std::vector<FileSegment> out;
  for (const auto& segment : fusion.segments) out.push_back(read_segment(segment));
  const std::vector<TensorView*> all = fusion.tensors();
  if (out.empty() && std::any_of(all.begin(), all.end(), [](const TensorView* t) { return is_by_hand(*t); })) {
    Segment whole{"by_hand", {}, {}, fusion.ops(), schedules::Manual()};
    for (TensorView* t : fusion.outputs())
      if (t->definition != nullptr) whole.outputs.push_back(t);
    out.push_back(read_segment(whole));
  }
  return out;
}

void forget_schedules(Fusion& fusion) {
  fusion.segments.clear();
  for (TensorView* t : fusion.tensors()) {
    Domain next = t->domain;
    next.transforms.clear();
    next.reduction.clear();
    t->domain = std::move(next);
    t->inline_position = t->kept = std::nullopt;
  }
}

std::map<std::string, Schedule, std::less<>> pinned_schedules(const std::vector<FileSegment>& segments) {
  std::map<std::string, Schedule, std::less<>> out;
  for (const auto& segment : segments)
    for (const auto& name : segment.outputs)
      if (!is_open(segment.schedule)) out[name] = segment.schedule;
  return out;
}

std::vector<std::vector<std::string>> joined_groups(const std::vector<FileSegment>& segments) {
  std::map<std::string, std::vector<std::string>> launches;  // by the first segment
  for (const FileSegment& s : segments) {
    auto& tensors = launches[s.joins.empty() ? s.name : s.joins];
    tensors.insert(tensors.end(), s.tensors.begin(), s.tensors.end());
  }
  std::vector<std::vector<std::string>> out;
  for (const FileSegment& s : segments)
    if (auto tensors = launches.extract(s.joins); !tensors.empty()) out.push_back(std::move(tensors.mapped()));
  return out;
}

std::vector<FileSegment> without_nests(std::vector<FileSegment> segments, const std::set<std::string>& tensors) {
  std::erase_if(segments, [&](const FileSegment& s) {
    return std::any_of(s.tensors.begin(), s.tensors.end(), [&](const auto& name) { return tensors.contains(name); });
  });
  return segments;
}

std::function<std::optional<size_t>(const TensorView&)> homes_in_file(const std::vector<FileSegment>& segments) {
  std::map<std::string, std::optional<size_t>, std::less<>> homes;
  for (size_t i = 0; i < segments.size(); ++i)
    for (const std::string& name : segments[i].tensors)
      homes[name] =
          std::holds_alternative<schedules::Manual>(segments[i].schedule) ? std::nullopt : std::optional(i + 1);
  return [homes = std::move(homes)](const TensorView& t) {
    const auto found = homes.find(t.name);
    return found == homes.end() ? std::optional<size_t>(0) : found->second;
  };
}

std::vector<std::vector<std::string>> fixed_groups(const std::vector<FileSegment>& written, const Fusion& localized) {
  std::map<const TensorView*, size_t> owner;
  for (size_t i = 0; i < written.size(); ++i)
    for (const std::string& name : written[i].tensors)
      if (const TensorView* t = localized.find(name)) owner[t] = i;
  const auto alone = [](const Op& op, const FileSegment& home) {
    const OpProperty kind = property(op.kind);
    const bool holds = std::holds_alternative<schedules::Manual>(home.schedule) ||
                       std::holds_alternative<schedules::Contraction>(home.schedule) ||
                       std::holds_alternative<schedules::Attention>(home.schedule);
    return (kind == OpProperty::contraction && !holds) || kind == OpProperty::communication ||
           kind == OpProperty::local_move;
  };
  std::vector<std::vector<std::string>> out(written.size());
  for (size_t i = localized.ops().size(); i-- > 0;) {
    const Op& op = *localized.ops()[i];
    std::set<size_t> homes;
    bool outside = false;
    for (const TensorView* t : op.results) {
      if (const auto it = owner.find(t); it != owner.end()) {
        homes = {it->second};
        outside = false;
        break;
      }
      outside = outside || localized.is_output(t);
      for (const Op* reader : localized.readers(t)) {
        const auto it = owner.find(reader->results[0]);
        if (it == owner.end())
          outside = true;
        else
          homes.insert(it->second);
      }
    }
    if (outside || homes.size() != 1) continue;
    const FileSegment& home = written[*homes.begin()];
    if (alone(op, home) && (home.tensors.size() > 1 || !owner.contains(op.results[0]))) continue;
    for (const TensorView* t : op.results) {
      owner[t] = *homes.begin();
      out[*homes.begin()].push_back(t->name);
    }
  }
  return out;
}

namespace {

// Loops that are stated of a segment that is not scheduled by hand are those that its schedule made.
void check_loops(const FileSegment& written, const Segment& home) {
  const schedules::Manual made = manual_schedule(home);
  for (const schedules::ManualTensor& own : written.loops.tensors)
    if (std::find(made.tensors.begin(), made.tensors.end(), own) == made.tensors.end())
      throw UserError(fmt::format("what is said of the loops of %{} is not what its schedule {} makes", own.tensor,
                                  print(home.schedule)),
                      fmt::format("segment @{}", written.name),
                      "write `schedule manual` for the segment, or leave the loops out");
}

}  // namespace

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
    if (home != nullptr) check_loops(segment, *home);
  }
}

}  // namespace plait
