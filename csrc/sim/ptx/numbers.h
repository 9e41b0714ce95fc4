#pragma once
// Arithmetic details of the GPU's floats.
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

#include "scalar/convert.h"
#include "sim/ptx/lanes.h"

namespace plait::sim::ptx {

enum class Round : uint8_t { rn, rz, rm, rp };  // nearest even, towards zero, down, up
inline constexpr int kRounds[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

// The machine rounds so within the scope. What is computed there comes from memory and goes to memory, so that the
// compiler cannot move it out.
class RoundingScope {
 public:
  explicit RoundingScope(Round round) : before_(std::fegetround()) {
    std::fesetround(kRounds[static_cast<int>(round)]);
  }
  ~RoundingScope() { std::fesetround(before_); }
  RoundingScope(const RoundingScope&) = delete;

 private:
  int before_;
};

inline float widened(Half x) { return f16_to_float(x.bits); }
inline float widened(Bfloat x) { return std::bit_cast<float>(uint32_t(x.bits) << 16); }

// Denormals become zeros of their sign.
template <bool kFtz>
inline float flushed(float x) {
  if constexpr (!kFtz) return x;
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}
inline double flushed(double x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0, x) : x; }

// Single precision results that are NaN are this NaN. Double precision keeps an operand's payload.
inline float canonical(float x) { return x == x ? x : std::bit_cast<float>(0x7fffffffu); }
inline double canonical(double x) { return x; }

// .sat: to [0, 1]; a NaN becomes 0.
template <class T>
inline T saturated_unit(T x) {
  return x > T(0) ? (x < T(1) ? x : T(1)) : T(0);
}

// Rounds to odd: a sum that is not exact gets an odd last bit, so that rounding it again to a narrower type is as
// rounding once.
double odd_sum(double a, double b);
double odd_double(int64_t value);
double odd_double(uint64_t value);

// Rounds to a whole number.
double rounded_integer(double x, Round round);

// Rounds to 16 bits; a NaN becomes 0x7fff.
Half to_half(double x, Round round);
Bfloat to_bfloat(double x, Round round);
template <class T>
T narrowed(double x, Round round) {
  if constexpr (std::is_same_v<T, Half>)
    return to_half(x, round);
  else
    return to_bfloat(x, round);
}

}  // namespace plait::sim::ptx
