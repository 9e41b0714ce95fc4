#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "device/device.h"

namespace plait {

// Contractions by the oneDNN plug-in. The plug-in is loaded by the first contraction; where it cannot be loaded every
// contraction is refused with that reason. Used from one thread at a time; its executables from any.
class OneDnn {
 public:
  OneDnn(std::string plugin_folder, int threads) : plugin_folder_(std::move(plugin_folder)), threads_(threads) {}

  // f32 x f32 -> f32, bf16 x bf16 -> f32 or bf16, and what else the library has; null with the reason in `why_not` (may
  // be null). The executable takes buffers {a, b, out} and integers {batch, m, n, k}; an empty out does nothing, an
  // empty sum writes zeros. A negative extent is an internal error; a shape for which oneDNN has only its slow
  // reference is a UserError. Equal contractions are one executable.
  std::shared_ptr<Executable> contraction(const LibraryContraction& contraction, std::string* why_not);

 private:
  std::string plugin_folder_;
  int threads_;
  std::map<LibraryContraction, std::shared_ptr<Executable>> products_;
};

}  // namespace plait
