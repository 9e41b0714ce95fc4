#pragma once
// Tests of many cases that are alike run some of them under sanitizers, where each takes up to ten times as long.

namespace plait::testing {

#ifdef PLAIT_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
// One in so many cases runs.
inline constexpr int kStride = kSanitized ? 4 : 1;
// Of so many drawn cases, those that run.
constexpr int drawn_here(int cases) { return (cases + kStride - 1) / kStride; }

}  // namespace plait::testing
