#include "backend/cuda/nvtx.h"

#if __has_include(<nvtx3/nvToolsExt.h>)  // a header of its own, in kits and in the wheel nvidia-nvtx
#include <nvtx3/nvToolsExt.h>

namespace plait {

bool nvtx_built_in() { return true; }
void NvtxRange::push(const char* name) { nvtxRangePushA(name); }
void NvtxRange::pop() { nvtxRangePop(); }

}  // namespace plait

#else

namespace plait {

bool nvtx_built_in() { return false; }
void NvtxRange::push(const char*) {}
void NvtxRange::pop() {}

}  // namespace plait

#endif
