#pragma once
// Philox 4x32-10, the counter-based generator behind every random number (Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", 2011). A number depends only on (seed, global linear index, offset).
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace plait {

namespace philox_detail {
inline constexpr uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
inline constexpr uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
}  // namespace philox_detail

// Ten rounds on the counter words (index4 lo, index4 hi, offset lo, offset hi) under the key words (key lo, key hi).
constexpr std::array<uint32_t, 4> philox(uint64_t key, uint64_t index4, uint64_t offset) {
  using namespace philox_detail;
  std::array<uint32_t, 4> c{uint32_t(index4), uint32_t(index4 >> 32), uint32_t(offset), uint32_t(offset >> 32)};
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t(kMultiplier0) * c[0], p1 = uint64_t(kMultiplier1) * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ k0, uint32_t(p1), uint32_t(p0 >> 32) ^ c[3] ^ k1, uint32_t(p0)};
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return c;
}

// A 32-bit word as a uniform number in [0, 1): its upper 24 bits times 2^-24, exact in f32.
constexpr float uniform_from_bits(uint32_t word) { return float(word >> 8) * 0x1p-24f; }

// Uniform in [0, 1) for the element at global row-major linear index `linear_index`: counter linear_index / 4, lane
// linear_index % 4.
constexpr float uniform_f32(uint64_t seed, uint64_t linear_index, uint64_t offset) {
  return uniform_from_bits(philox(seed, linear_index / 4, offset)[linear_index % 4]);
}

// A point of the plane by its distance from the origin and its angle.
struct PolarPoint {
  double radius, angle;
  double number(bool odd_lane) const { return odd_lane ? radius * std::sin(angle) : radius * std::cos(angle); }
};

// Box-Muller in double on the lane pairs (0, 1) and (2, 3): r = sqrt(-2 log(1 - u)) of the even lane, angle 2 pi u of
// the odd lane. Always finite. `pair`: its even lane.
inline PolarPoint normal_point(const std::array<uint32_t, 4>& words, unsigned pair) {
  return {std::sqrt(-2.0 * std::log(1.0 - double(uniform_from_bits(words[pair])))),
          2.0 * std::numbers::pi * double(uniform_from_bits(words[pair + 1]))};
}
inline PolarPoint normal_point(uint64_t seed, uint64_t linear_index, uint64_t offset) {
  return normal_point(philox(seed, linear_index / 4, offset), linear_index % 4 & 2);
}

// Standard normal number: r cos of the point for an even lane, r sin for an odd one. Its meaning for f32 tensors; a
// backend that computes in f32 errs by at most 2^-24 (16 r + 4 |number|).
inline double normal(uint64_t seed, uint64_t linear_index, uint64_t offset) {
  return normal_point(seed, linear_index, offset).number(linear_index % 2);
}
// The same of the four lanes.
inline std::array<double, 4> normals(const std::array<uint32_t, 4>& words) {
  const PolarPoint low = normal_point(words, 0), high = normal_point(words, 2);
  return {low.number(false), low.number(true), high.number(false), high.number(true)};
}

}  // namespace plait
