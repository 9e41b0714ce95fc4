// OCP E5M2 in memory: as an IEEE type, with one NaN; rounded to nearest even.
struct f8e5m2 {
  unsigned char bits;
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
__device__ __forceinline__ float to_f32(f8e5m2 x) {
  unsigned pair;
  float y;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(pair) : "h"((unsigned short)x.bits));
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"((unsigned short)pair));
  return y;
}
#else
__device__ __forceinline__ float to_f32(f8e5m2 x) {
  const unsigned magnitude = x.bits & 0x7fu, sign = (x.bits & 0x80u) << 24;
  unsigned bits = (magnitude << 21) + 0x38000000u;
  if (magnitude < 4u) bits = __float_as_uint((float)magnitude * 0x1p-16f);
  if (magnitude >= 0x7cu) bits = magnitude > 0x7cu ? 0x7fc00000u : 0x7f800000u;
  return __uint_as_float(sign | bits);
}
#endif

// Below the normal numbers the sum with 2^7 rounds at their spacing and leaves the bits of the result at the bottom.
__device__ __forceinline__ f8e5m2 to_f8e5m2(float x) {
  const unsigned bits = __float_as_uint(x), magnitude = bits & 0x7fffffffu;
  unsigned y = (magnitude + 0xfffffu + (magnitude >> 21 & 1u) - 0x38000000u) >> 21;
  if (magnitude < 0x38800000u) y = __float_as_uint(__uint_as_float(magnitude) + 0x1p7f) - 0x43000000u;
  if (y > 0x7cu) y = 0x7cu;
  if (magnitude > 0x7f800000u) y = 0x7fu;
  return {(unsigned char)((bits >> 24 & 0x80u) | y)};
}
