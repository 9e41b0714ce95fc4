#pragma once
#include "api/compiled_impl.h"

namespace plait {

// Tells the log what was compiled, or came whole from disk, for which sizes and why for these alone, and where its
// kernels came from.
void log_compiled(const Fusion& fusion, const SpecializationEntry& entry);

}  // namespace plait
