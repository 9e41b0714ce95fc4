#include "sim/cuda/calls.h"

#include <fmt/core.h>

#include <vector>

#include "sim/cuda/errors.h"

namespace plait::sim {
namespace {

#define SIM_TEXT(name) #name
#define SIM_EXPANDED(name) SIM_TEXT(name)

std::vector<CallEntry> make_entries() {
  std::vector<CallEntry> all;
  const char* group = "";
#define SIM_GROUP(title) group = title;
#define SIM_ENTRY(name, since, confirmed) \
  all.push_back({group, SIM_EXPANDED(name), #name, since, confirmed, reinterpret_cast<void*>(&name)});
#include "sim/cuda/calls.def"
#undef SIM_ENTRY
#undef SIM_GROUP
  return all;
}

// "cuCtxSynchronize_v2" is a newer form of "cuCtxSynchronize".
std::string plain(const char* name) {
  const std::string text = name;
  const size_t at = text.rfind("_v");
  return at == text.npos ? text : text.substr(0, at);
}

}  // namespace

std::span<const CallEntry> all_calls() {
  static const std::vector<CallEntry> entries = make_entries();
  return entries;
}

const CallEntry* find_call(const std::string& name, int version) {
  const CallEntry* best = nullptr;
  for (const CallEntry& each : all_calls()) {
    if (plain(each.name) != name || each.since > version) continue;
    if (best == nullptr || each.since > best->since) best = &each;
  }
  return best;
}

std::string call_table() {
  std::string text = "| call | behaves as |\n|---|---|\n", group;
  for (const CallEntry& each : all_calls()) {
    if (group != each.group) text += fmt::format("| **{}** | |\n", each.group);
    group = each.group;
    const std::string known =
        *each.confirmed == '\0' ? "from the manual" : fmt::format("confirmed on hardware ({})", each.confirmed);
    text += fmt::format("| `{}` | {} |\n", each.name, known);
  }
  return text;
}

}  // namespace plait::sim
