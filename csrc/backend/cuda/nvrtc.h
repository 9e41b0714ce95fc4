#pragma once
// NVRTC, NVIDIA's run-time compiler, found and loaded when it is first asked for. Needs no GPU.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/library_search.h"
#include "device/device.h"

namespace plait {

class DiskCache;

// What a compilation yields and what the assembler says about the entry.
struct NvrtcResult {
  std::vector<char> cubin;
  std::string ptx;
  std::string log;
  double compile_ms = 0;
  int registers = 0;
  int spill_bytes = 0;   // stored and loaded again, together
  int stack_bytes = 0;   // local memory of a thread
  int shared_bytes = 0;  // static shared memory of a block
};

// Files that are tried in turn, for messages and tests: library_candidates() of NVRTC.
std::vector<LibraryFile> nvrtc_candidates();

// Whether NVRTC was found and loaded. If not, `why_not` (may be null) gets the reason.
bool nvrtc_available(std::string* why_not);
// Loads this library, or the one in this folder, instead of searching; only before anything else loads it.
// MissingError when it cannot be loaded.
void load_nvrtc(const std::string& path);
// "13.0". MissingError without NVRTC.
std::string nvrtc_version();
// Its version and build. MissingError without NVRTC.
std::string nvrtc_identity();
// File that was loaded. MissingError without NVRTC.
std::string nvrtc_path();
// What named that file. MissingError without NVRTC.
std::string nvrtc_rule();
// Architectures that it compiles for, without suffix: {75, 80, ...}. MissingError without NVRTC.
std::vector<int> nvrtc_architectures();

// Machine code of CUDA text whose entry is `name`, for a real architecture ("sm_80", "sm_90a", "sm_100a"); for a
// virtual one ("compute_90a") PTX alone, with the lines of the text, and no facts. Safe to call from several threads.
// MissingError: no NVRTC, or one that does not know the architecture. A text that does not compile is an InternalError
// with the numbered lines around the first error.
NvrtcResult compile_cuda(const std::string& text, const std::string& name, const std::string& architecture);

// Code of several kernels and the facts of each, in the order given.
struct NvrtcUnit {
  std::string code;  // cubin, or PTX for a virtual architecture
  std::vector<KernelFacts> facts;
};

// As compile_cuda, of kernels with different names in one run of NVRTC, which takes less time than a run for each:
// every text in a namespace of its own, so that they may define the same helpers. Texts must not include headers or
// define macros, unless alone. Kernels that spill registers are compiled again with as many as a block may have.
// compile_ms is each one's share of the runs. What a run yields is kept in `disk` (may be null).
NvrtcUnit compile_cuda_unit(std::span<const KernelText> kernels, const std::string& architecture,
                            DiskCache* disk = nullptr);

// The facts of a result in the terms of all devices.
KernelFacts facts(const NvrtcResult& result);

}  // namespace plait
