#include "sim/cuda/objects.h"

#include <fmt/core.h>

namespace plait::sim {

const char* kind_name(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::context:
      return "context";
    case ObjectKind::stream:
      return "stream";
    case ObjectKind::event:
      return "event";
    case ObjectKind::module:
      return "module";
    case ObjectKind::library:
      return "library";
    case ObjectKind::kernel:
      return "kernel";
    case ObjectKind::function:
      return "function";
    case ObjectKind::pool:
      return "memory pool";
    case ObjectKind::graph:
      return "graph";
    case ObjectKind::node:
      return "graph node";
    case ObjectKind::exec:
      return "executable graph";
  }
  return "object";
}

void Registry::enter(ObjectKind kind, const std::shared_ptr<Object>& object, const char* made_by, uint64_t context) {
  const auto at = static_cast<size_t>(kind);
  object->handle = next_handle_ += 64;
  object->number = ++numbers_[at];
  object->context = context;
  object->made_by = made_by;
  if (object->name.empty()) object->name = fmt::format("{} {}", kind_name(kind), object->number);
  live_[at].emplace(object->handle, object);
  entries_.emplace(object->handle, Entry{kind, object, object->name, {}});
}

std::shared_ptr<Object> Registry::find(ObjectKind kind, const void* handle, CUresult wrong) const {
  const auto entry = entries_.find(reinterpret_cast<uint64_t>(handle));
  if (handle == nullptr) misuse(wrong, fmt::format("the {} is null", kind_name(kind)));
  if (entry == entries_.end())
    misuse(wrong, fmt::format("0x{:x} is no {}", reinterpret_cast<uint64_t>(handle), kind_name(kind)));
  const Entry& found = entry->second;
  if (found.object == nullptr) {
    misuse(wrong, fmt::format("{} was destroyed by {} before", found.name, found.destroyed_by));
  }
  if (found.kind != kind) misuse(wrong, fmt::format("{} is no {}", found.name, kind_name(kind)));
  return found.object;
}

void Registry::destroy(const Object& object, const char* by) {
  Entry& entry = entries_.at(object.handle);
  const std::shared_ptr<Object> keep = std::move(entry.object);
  if (keep == nullptr) return;
  entry.name = object.name;
  entry.destroyed_by = by;
  live_[static_cast<size_t>(entry.kind)].erase(object.handle);
}

std::vector<std::shared_ptr<Object>> Registry::list(ObjectKind kind, uint64_t context) const {
  std::vector<std::shared_ptr<Object>> found;
  for (const auto& [handle, object] : live_[static_cast<size_t>(kind)]) {
    if (context == 0 || object->context == context) found.push_back(object);
  }
  return found;
}

}  // namespace plait::sim
