#pragma once
// What is behind the handles of the C ABI, and the border that no exception crosses. Private to csrc/capi.
#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "capi/callbacks.h"
#include "capi/dlpack.h"
#include "capi/plait_c.h"
#include "plait.h"
#include "session/devices.h"

struct plait_error {
  int32_t code = PLAIT_ERROR_INTERNAL;
  std::string what, where, remedy;
};

struct plait_text {
  std::string data;
};

struct plait_fusion {
  std::unique_ptr<plait::Fusion> fusion;
  mutable std::mutex texts_mutex;
  mutable std::set<std::string> texts;  // of types that infos point to; none is dropped
};

// Shared by runs. Who waits to have it alone is not passed by runs that come later.
class ProgramMutex {
 public:
  ProgramMutex() {
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&lock_, &kind);
    pthread_rwlockattr_destroy(&kind);
  }
  ~ProgramMutex() { pthread_rwlock_destroy(&lock_); }
  ProgramMutex(const ProgramMutex&) = delete;
  ProgramMutex& operator=(const ProgramMutex&) = delete;

  void lock() { check(pthread_rwlock_wrlock(&lock_)); }
  void unlock() { pthread_rwlock_unlock(&lock_); }
  void lock_shared() { check(pthread_rwlock_rdlock(&lock_)); }
  void unlock_shared() { pthread_rwlock_unlock(&lock_); }

 private:
  // Of a thread that holds the lock and asks for it again, as a callback within a run does.
  static void check(int error) {
    if (error) throw std::system_error(error, std::generic_category(), "a lock of a program");
  }

  pthread_rwlock_t lock_;
};

struct plait_program {
  ProgramMutex mutex;  // of everything below
  plait::CompileOptions options;
  plait::Device* device = nullptr;  // of the process
  std::string device_name;
  std::unique_ptr<plait::Fusion> fusion;  // as given: names and order of inputs and outputs
  plait_fusion shown;                     // the same, made when it is asked for
  // Of every caller's job so far: bound programs refer to them.
  std::vector<std::unique_ptr<plait::CallbackCommunicators>> comms;
  std::shared_ptr<plait::Device> own_device;  // over a lent pool; null: one of the process
  std::unique_ptr<plait::Compiled> compiled;
};

struct plait_device_list {
  std::vector<plait::DeviceInfo> devices;
};

namespace plait {

// The error that says what is being thrown. Never null; memory that is used up has an error of its own.
plait_error* caught() noexcept;

// Runs fn; null, or the error for what it threw.
template <class Fn>
plait_error* guarded(Fn&& fn) noexcept {
  try {
    fn();
    return nullptr;
  } catch (...) {
    return caught();
  }
}

// UserError where an argument is null.
template <class T>
T& required(T* pointer, const char* name) {
  if (!pointer) throw UserError(fmt::format("`{}` is null", name), "", "it must not be");
  return *pointer;
}

// The same of an array's element.
template <class T>
T& required(T* array, const char* name, size_t index) {
  return (&required(array, name))[index];
}

// A caller's struct with later fields at zero. UserError: struct_size is too small to be one.
template <class T>
T versioned(const T* given, const char* name) {
  T out = {};
  if (!given) return out;
  if (given->struct_size < sizeof(size_t))
    throw UserError(fmt::format("struct_size of `{}` is {}", name, given->struct_size), "", "set it to its sizeof");
  std::memcpy(&out, given, std::min(given->struct_size, sizeof(T)));
  return out;
}

// Fills a caller's struct as far as it reaches.
template <class T>
void give(const T& value, T* out, const char* name) {
  const size_t size = required(out, name).struct_size;
  if (size < sizeof(size_t))
    throw UserError(fmt::format("struct_size of `{}` is {}", name, size), "", "set it to its sizeof");
  std::memcpy(out, &value, std::min(size, sizeof(T)));
  out->struct_size = size;
}

// A string, or what stands for null.
inline std::string text_or(const char* text, const char* otherwise) { return text ? text : otherwise; }
inline std::string required_text(const char* text, const char* name) { return &required(text, name); }

// Names and values of an array of settings, in order. UserError: a name twice.
inline std::vector<std::pair<std::string, std::string>> named_values(const plait_setting* array, size_t count,
                                                                     const char* name) {
  std::vector<std::pair<std::string, std::string>> out;
  std::set<std::string> known;
  for (size_t i = 0; i < count; ++i) {
    const plait_setting& s = required(array, name, i);
    out.emplace_back(required_text(s.name, fmt::format("{}.name", name).c_str()),
                     required_text(s.value, fmt::format("{}.value", name).c_str()));
    if (!known.insert(out.back().first).second)
      throw UserError(fmt::format("`{}` is set twice", out.back().first), name, "set it once");
  }
  return out;
}

}  // namespace plait
