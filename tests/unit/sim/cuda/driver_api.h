#pragma once
// The driver API as its users see it: the stand-in that the tests are linked with, or the library that the environment
// variable PLAIT_TEST_LIBCUDA names (a real libcuda.so.1 too).
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "sim/cuda/cuda_api.h"

namespace plait::sim {

// A pointer for every call of the stand-in, by its name.
struct DriverApi {
#define SIM_GROUP(title)
#define SIM_ENTRY(name, since, confirmed) decltype(&::name) name = nullptr;
#include "sim/cuda/calls.def"
#undef SIM_ENTRY
#undef SIM_GROUP
};

// Whether it is the stand-in that is linked: what only a simulation can tell is checked then.
inline bool simulated() { return std::getenv("PLAIT_TEST_LIBCUDA") == nullptr; }

inline DriverApi load_driver_api() {
  DriverApi api;
#define SIM_GROUP(title)
  if (simulated()) {
#define SIM_ENTRY(name, since, confirmed) api.name = &::name;
#include "sim/cuda/calls.def"
#undef SIM_ENTRY
    return api;
  }
  void* const library = dlopen(std::getenv("PLAIT_TEST_LIBCUDA"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
#define SIM_TEXT(name) #name
#define SIM_SYMBOL(name) SIM_TEXT(name)
#define SIM_ENTRY(name, since, confirmed) \
  api.name = reinterpret_cast<decltype(&::name)>(dlsym(library, SIM_SYMBOL(name)));
#include "sim/cuda/calls.def"
#undef SIM_ENTRY
#undef SIM_GROUP
  return api;
}

inline const DriverApi& driver_api() {
  static const DriverApi api = load_driver_api();
  return api;
}

}  // namespace plait::sim
