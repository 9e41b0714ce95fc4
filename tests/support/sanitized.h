#pragma once
// Tests of many cases that are alike run some of them under sanitizers, where each takes up to ten times as long: one
// in so many (PLAIT_SANITIZED), fewer for every change than in the long run.

namespace plait::testing {

#ifdef PLAIT_SANITIZED
inline constexpr bool kSanitized = true;
// One in so many cases runs.
inline constexpr int kStride = PLAIT_SANITIZED;
#else
inline constexpr bool kSanitized = false;
inline constexpr int kStride = 1;
#endif
// Of so many drawn cases, those that run.
constexpr int drawn_here(int cases) { return (cases + kStride - 1) / kStride; }

}  // namespace plait::testing
