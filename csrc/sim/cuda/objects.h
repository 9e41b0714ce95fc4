#pragma once
// What handles of the driver API stand for, and the table of all handles ever given out.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/cuda/errors.h"

namespace plait::sim {

enum class ObjectKind : uint8_t { context, stream, event, module, library, kernel, function, pool, graph, node, exec };
const char* kind_name(ObjectKind kind);

// Base of what a handle stands for. Handles are numbers that no memory has; none is given out twice.
struct Object {
  virtual ~Object() = default;
  uint64_t handle = 0;
  uint64_t number = 0;   // counts objects of its kind from 1
  uint64_t context = 0;  // handle of the context that owns it; 0: none
  std::string name;      // for reports: "stream 3"
  std::string made_by;   // the call
};

// All handles. Entries of destroyed objects stay, so that their use is recognised.
class Registry {
 public:
  template <class T>
  std::shared_ptr<T> make(const char* made_by, uint64_t context) {
    auto object = std::make_shared<T>();
    enter(T::kKind, object, made_by, context);
    return object;
  }
  // The live object of a handle; otherwise ApiError with `wrong` (what the driver returns), naming what it is.
  template <class T>
  std::shared_ptr<T> get(const void* handle, CUresult wrong = CUDA_ERROR_INVALID_HANDLE) const {
    return std::static_pointer_cast<T>(find(T::kKind, handle, wrong));
  }
  // The same without the error.
  template <class T>
  std::shared_ptr<T> find_live(const void* handle) const {
    auto entry = entries_.find(reinterpret_cast<uint64_t>(handle));
    if (entry == entries_.end() || entry->second.kind != T::kKind) return nullptr;
    return std::static_pointer_cast<T>(entry->second.object);
  }
  // Objects that a running operation still uses live on without their handle. `by` is the call.
  void destroy(const Object& object, const char* by);
  size_t live(ObjectKind kind) const { return live_[static_cast<size_t>(kind)].size(); }
  // Live objects of a kind, by number, that belong to the context (0: any).
  std::vector<std::shared_ptr<Object>> list(ObjectKind kind, uint64_t context) const;

 private:
  struct Entry {
    ObjectKind kind;
    std::shared_ptr<Object> object;  // null once destroyed
    std::string name, destroyed_by;
  };
  void enter(ObjectKind kind, const std::shared_ptr<Object>& object, const char* made_by, uint64_t context);
  std::shared_ptr<Object> find(ObjectKind kind, const void* handle, CUresult wrong) const;

  std::map<uint64_t, Entry> entries_;
  uint64_t next_handle_ = 0x5eed00000000;  // no memory of a process lies there in practice
  uint64_t numbers_[11] = {};
  std::map<uint64_t, std::shared_ptr<Object>> live_[11];
};

// The type of a handle in cuda.h is a pointer to something never defined.
template <class Handle>
Handle handle_of(const Object& object) {
  return reinterpret_cast<Handle>(object.handle);
}

}  // namespace plait::sim
