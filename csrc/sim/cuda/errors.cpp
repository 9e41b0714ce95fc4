#include "sim/cuda/errors.h"

namespace plait::sim {

const char* error_name(CUresult code) {
  switch (code) {
#define SIM_ERROR(name, text) \
  case CUDA_##name:           \
    return "CUDA_" #name;
#include "sim/cuda/errors.def"
#undef SIM_ERROR
  }
  return nullptr;
}

const char* error_text(CUresult code) {
  switch (code) {
#define SIM_ERROR(name, text) \
  case CUDA_##name:           \
    return text;
#include "sim/cuda/errors.def"
#undef SIM_ERROR
  }
  return nullptr;
}

}  // namespace plait::sim
