#include "compile/measured_schedules.h"

#include <map>
#include <set>

#include "backend/disk_cache.h"
#include "base/error.h"

namespace plait {

namespace {

constexpr std::string_view kFolder = "/schedules";
constexpr int64_t kMostBytes = 64 << 20;
const std::string kHead = "measured schedule 1\n";

// The folder of the kernels' cache has one of its own for schedules.
DiskCache& disk() {
  static auto& cache = *new DiskCache(
      DiskCache::of_process().folder().empty() ? "" : DiskCache::of_process().folder() + std::string(kFolder),
      std::min(DiskCache::of_process().limit(), kMostBytes));
  return cache;
}

// The text with its tensors numbered as they come.
class Numbered {
 public:
  std::string operator()(const std::string& text) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      if (text[at] != '%') {
        out += text[at++];
        continue;
      }
      size_t end = at + 1;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
      const auto [name, added] = names_.emplace(text.substr(at, end - at), names_.size());
      out += fmt::format("%{}", name->second);
      at = end;
    }
    return out;
  }

 private:
  std::map<std::string, size_t> names_;
};

}  // namespace

std::string schedule_key(const Fusion& fusion, const Segment& segment, const Target& target,
                         const sym::Environment& sizes) {
  Numbered numbered;
  std::string out = fmt::format("{}\n", print(target));
  std::set<std::string> symbols;
  const auto look_at = [&](const TensorView& t) {
    for (size_t d = 0; d < t.rank(); ++d) sym::symbols(t.extent(d), symbols);
  };
  for (const TensorView* t : segment.inputs) {
    look_at(*t);
    out += numbered(fmt::format("%{}: {}\n", t->name, type_text(*t)));
  }
  for (const Op* op : segment.ops) {
    for (const TensorView* t : op->results) look_at(*t);
    out += numbered(print(*op, fusion)) + "\n";
  }
  for (const TensorView* t : segment.outputs) out += numbered(fmt::format("-> %{}\n", t->name));
  for (const std::string& name : symbols) {
    const auto value = sizes.find(name);
    if (value == sizes.end()) return "";
    out += fmt::format("{} = {}\n", name, value->second);
  }
  return out;
}

std::optional<MeasuredSchedule> measured_schedule(const std::string& key) {
  if (key.empty()) return std::nullopt;
  const std::optional<std::string> found = disk().find(kHead + key);
  if (!found) return std::nullopt;
  const size_t end = found->find('\n');
  if (end == std::string::npos) return std::nullopt;
  try {
    return MeasuredSchedule{parse_schedule(found->substr(0, end), "a measured schedule"), found->substr(end + 1)};
  } catch (const UserError&) {
    return std::nullopt;
  }
}

void keep_measured_schedule(const std::string& key, const MeasuredSchedule& measured) {
  if (const std::string why_not = disk().why_not(); !why_not.empty())
    throw UserError("nothing is kept on disk: " + why_not, "measured schedules",
                    "set PLAIT_CACHE_DIR to a folder that only you write to");
  disk().store(kHead + key, fmt::format("{}\n{}", print(measured.schedule), measured.note));
}

int64_t forget_measured_schedules() {
  const int64_t before = count_measured_schedules();
  disk().prune(0);
  return before;
}

int64_t count_measured_schedules() { return disk().contents(false).entries; }

}  // namespace plait
