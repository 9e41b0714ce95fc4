#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// A counter of so many words behind those that the kernel has, called so or alike. Local buffers move by one.
uint32_t add_counter(Kernel& kernel, const std::string& name, sym::Expr words);

}  // namespace plait::kir
