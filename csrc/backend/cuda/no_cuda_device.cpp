// What stands for the GPU back end in a build without PLAIT_CUDA.
#include "backend/cuda/cuda_device.h"
#include "backend/cuda/offline_device.h"

namespace plait {
namespace {

constexpr const char* kReason = "plait was built without CUDA: PLAIT_CUDA is off";
constexpr const char* kRemedy = "build plait with PLAIT_CUDA=ON";

}  // namespace

CudaError::CudaError(std::string what, std::string where, int code)
    : InternalError(std::move(what), std::move(where), ""), code_(code) {}

std::unique_ptr<Device> make_cuda_device(const CudaOptions& options) {
  throw MissingError(kReason, "device " + options.name, kRemedy);
}

std::unique_ptr<Device> make_offline_device(const Target& target, bool) {
  throw MissingError(kReason, "device " + target.architecture, kRemedy);
}

bool cuda_available(const CudaOptions&, std::string* why_not) {
  if (why_not != nullptr) *why_not = kReason;
  return false;
}

void with_cuda_context(Device&, int, const std::function<void()>&) { throw MissingError(kReason, "", kRemedy); }

CublasLt* cublaslt_of(Device&, std::string* why_not) {
  if (why_not != nullptr) *why_not = kReason;
  return nullptr;
}

CudaFacts cuda_facts(const CudaOptions&) {
  CudaFacts out;
  for (const char* name : {"CUDA driver", "NVRTC", "cuBLASLt"}) out.libraries.push_back({name, "", "", kReason, ""});
  return out;
}

}  // namespace plait
