// What stands for NCCL in a build without PLAIT_CUDA.
#include "base/error.h"
#include "comm/nccl/nccl_communicators.h"

namespace plait {
namespace {

constexpr const char* kWhy = "plait was built without NCCL: PLAIT_CUDA is off";

}  // namespace

std::shared_ptr<Communicators> make_nccl_communicators(NcclOptions) {
  throw MissingError(kWhy, "", "build plait with PLAIT_CUDA=ON");
}

NcclFacts nccl_facts(const std::string&) { return {"", "", kWhy, ""}; }

}  // namespace plait
