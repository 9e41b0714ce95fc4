#include "compile/measured_schedules.h"

#include <algorithm>
#include <sstream>

#include "backend/disk_cache.h"
#include "base/error.h"
#include "compile/measured_text.h"

namespace plait {

namespace {

constexpr std::string_view kHead = "measured schedules 1\n";
constexpr size_t kMostSizes = 64;  // of one computation

// The folder of the kernels' cache has one of its own for schedules.
DiskCache& disk() {
  static DiskCache& cache = DiskCache::beside("schedules", "", 64);
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

// `n=4096 m=2;norm(vector = 8);twice as fast`.
std::string line_of(const MeasuredSchedule& measured) {
  std::string out;
  for (const auto& [name, value] : measured.sizes) out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, value);
  return fmt::format("{};{};{}\n", out, print(measured.schedule), measured.note);
}

// UserError, std::exception: it is none.
MeasuredSchedule read_line(const std::string& line) {
  const size_t first = line.find(';'), second = line.find(';', first + 1);
  PLAIT_CHECK(second != std::string::npos, "no measured schedule");
  MeasuredSchedule out;
  std::istringstream sizes(line.substr(0, first));
  for (std::string size; sizes >> size;) {
    const size_t equals = size.find('=');
    PLAIT_CHECK(equals != std::string::npos, "no size");
    out.sizes[size.substr(0, equals)] = std::stoll(size.substr(equals + 1));
  }
  out.schedule = parse_schedule(line.substr(first + 1, second - first - 1), "a measured schedule");
  out.note = line.substr(second + 1);
  return out;
}

std::string on_disk(const std::string& key) { return std::string(kHead) + key; }

}  // namespace

std::string schedule_key(const Fusion& fusion, const Segment& segment, const Device& device) {
  Numbered numbered;
  const std::string name = device.name();
  std::string out = fmt::format("{}: {}\n", name.substr(0, name.find(':')), print(device.target()));
  for (const TensorView* t : segment.inputs) out += numbered(fmt::format("%{}: {}\n", t->name, type_text(*t)));
  for (const Op* op : segment.ops) out += numbered(print(*op, fusion)) + "\n";
  for (const TensorView* t : segment.outputs) out += numbered(fmt::format("-> %{}\n", t->name));
  return out;
}

std::set<std::string> schedule_sizes(const Segment& segment) {
  std::set<std::string> out;
  const auto look_at = [&](const TensorView& t) {
    for (size_t d = 0; d < t.rank(); ++d) sym::symbols(t.extent(d), out);
  };
  for (const TensorView* t : segment.inputs) look_at(*t);
  for (const Op* op : segment.ops)
    for (const TensorView* t : op->results) look_at(*t);
  std::erase_if(out, [](const std::string& name) { return name.starts_with("rank."); });
  return out;
}

std::vector<MeasuredSchedule> RememberedSchedules::operator()(const std::string& key, const std::string& segment) {
  const std::lock_guard lock(mutex_);
  const auto [found, added] = by_key_.try_emplace(key);
  if (added) found->second = from_(key, segment);
  return found->second;
}

std::map<std::string, std::vector<MeasuredSchedule>> RememberedSchedules::known() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::vector<MeasuredSchedule>> out = by_key_;
  std::erase_if(out, [](const auto& entry) { return entry.second.empty(); });
  return out;
}

const MeasuredSchedule* matching(const std::vector<MeasuredSchedule>& schedules, const Fusion& fusion,
                                 sym::Guards* guards) {
  for (const MeasuredSchedule& each : schedules) {
    sym::Expr same = fusion.pool().constant(1);
    bool known = true;
    for (const auto& [name, value] : each.sizes) {
      const sym::Expr size = fusion.pool().find_symbol(name);
      known = known && size;
      if (known) same = sym::logical_and(same, sym::eq(size, value));
    }
    if (!known) continue;
    if (guards != nullptr ? guards->decide(same, "sizes that were measured") : sym::proven(same)) return &each;
  }
  return nullptr;
}

std::string print(const std::vector<MeasuredSchedule>& schedules) {
  std::string out;
  for (const MeasuredSchedule& each : schedules) out += line_of(each);
  return out;
}

std::vector<MeasuredSchedule> parse_measured(const std::string& text) {
  std::vector<MeasuredSchedule> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && out.size() < kMostSizes;) {
    try {
      out.push_back(read_line(line));
    } catch (const std::exception&) {
      return {};
    }
  }
  return out;
}

std::vector<MeasuredSchedule> kept_schedules(const std::string& key) {
  return parse_measured(disk().find(on_disk(key)).value_or(""));
}

MeasuredSchedules given_or_kept(MeasuredSchedules given, bool disk_cache) {
  if (given || !disk_cache) return given;
  return [](const std::string& key, const std::string&) { return kept_schedules(key); };
}

void keep_schedule(const std::string& key, const MeasuredSchedule& measured) {
  std::vector<MeasuredSchedule> all = kept_schedules(key);
  std::erase_if(all, [&](const MeasuredSchedule& other) { return other.sizes == measured.sizes; });
  all.insert(all.begin(), measured);
  if (all.size() > kMostSizes) all.resize(kMostSizes);
  disk().store(on_disk(key), print(all));
}

std::string why_no_schedules_are_kept() { return disk().why_not(); }

int64_t forget_schedules_on_disk() {
  const int64_t before = count_schedules_on_disk();
  disk().prune(0);
  return before;
}

int64_t count_schedules_on_disk() { return disk().contents(false).entries; }

}  // namespace plait
