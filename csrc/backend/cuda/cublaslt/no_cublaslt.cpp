// What stands for cublaslt.cpp in a build without PLAIT_CUDA.
#include "backend/cuda/cublaslt/cublaslt.h"
#include "backend/cuda/cuda_device.h"

namespace plait {
namespace {

constexpr const char* kReason = "plait was built without cuBLASLt: PLAIT_CUDA is off";

}  // namespace

std::shared_ptr<CublasLt> make_cublaslt(std::shared_ptr<CudaParts>, const std::string&, bool, std::string* why_not) {
  if (why_not != nullptr) *why_not = kReason;
  return nullptr;
}

CudaLibraryFacts cublaslt_facts(const std::string&) { return {"cuBLASLt", "", "", kReason, ""}; }

}  // namespace plait
