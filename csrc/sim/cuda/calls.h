#pragma once
// The calls of the driver API that exist here, and how far each is known to behave as on hardware.
#include <span>
#include <string>

namespace plait::sim {

struct CallEntry {
  const char* group;      // of the table in the documentation
  const char* symbol;     // exported: "cuMemAlloc_v2"
  const char* name;       // "cuMemAlloc"; may repeat with different versions
  int since;              // version of CUDA whose cuda.h first had this form: 12080
  const char* confirmed;  // date on which its tests passed on hardware; empty: from the manual
  void* address;
};

// In the order of calls.def.
std::span<const CallEntry> all_calls();
// What cuGetProcAddress returns for a name and a version; null: there is none so old.
const CallEntry* find_call(const std::string& name, int version);
// The table of docs/simulated_gpu.md, in Markdown.
std::string call_table();

}  // namespace plait::sim
