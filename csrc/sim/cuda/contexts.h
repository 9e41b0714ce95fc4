#pragma once
// Making, emptying and destroying contexts.
#include "sim/cuda/machine.h"

namespace plait::sim {

inline constexpr int kGreatestPriority = -5;  // of streams; the least is 0

std::shared_ptr<ContextObject> make_context(int device, unsigned flags, const char* by);
// Runs or drops its work, reports what was never freed, frees it, and forgets its fault.
void empty_context(const Call& call, ContextObject& context);
// Empties it; its handle is no longer valid.
void destroy_context(const Call& call, const std::shared_ptr<ContextObject>& context);

}  // namespace plait::sim
