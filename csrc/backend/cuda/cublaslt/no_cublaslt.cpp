// What stands for cublaslt.cpp where the headers of CUDA or cuBLASLt were not found at build time.
#include "backend/cuda/cublaslt/cublaslt.h"
#include "backend/cuda/cuda_device.h"

namespace plait {
namespace {

constexpr const char* kReason = "plait was built without cuBLASLt: cuda.h, nvrtc.h and cublasLt.h were not all found";

}  // namespace

std::shared_ptr<CublasLt> make_cublaslt(std::shared_ptr<CudaParts>, const std::string&, bool, std::string* why_not) {
  if (why_not != nullptr) *why_not = kReason;
  return nullptr;
}

CudaLibraryFacts cublaslt_facts(const std::string&) { return {"cuBLASLt", "", "", kReason, ""}; }

}  // namespace plait
