// What stands for nvrtc.cpp in a build without PLAIT_CUDA.
#include "backend/cuda/compile_units.h"
#include "backend/cuda/nvrtc.h"
#include "base/error.h"

namespace plait {
namespace {

constexpr const char* kReason = "plait was built without NVRTC: PLAIT_CUDA is off";
constexpr const char* kRemedy = "build plait with PLAIT_CUDA=ON";

[[noreturn]] void missing() { throw MissingError(kReason, "", kRemedy); }

}  // namespace

std::vector<LibraryFile> nvrtc_candidates() { return {}; }

bool nvrtc_available(std::string* why_not) {
  if (why_not != nullptr) *why_not = kReason;
  return false;
}

void load_nvrtc(const std::string&) { missing(); }
std::string nvrtc_version() { missing(); }
std::string nvrtc_path() { missing(); }
std::string nvrtc_rule() { missing(); }
std::vector<int> nvrtc_architectures() { missing(); }
NvrtcResult compile_cuda(const std::string&, const std::string&, const std::string&) { missing(); }
NvrtcUnit compile_cuda_unit(std::span<const KernelText>, const std::string&, DiskCache*) { missing(); }
std::vector<CompiledUnit> compile_units(std::span<const KernelText>, const std::string&, int, DiskCache*) { missing(); }

KernelFacts facts(const NvrtcResult& result) {
  return {.registers = result.registers,
          .spill_bytes = result.spill_bytes,
          .shared_bytes = result.shared_bytes,
          .compile_ms = result.compile_ms};
}

}  // namespace plait
