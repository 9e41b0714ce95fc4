// OCP E4M3 in memory: no infinity, one NaN; rounded to nearest even, at the ends to the largest number.
struct f8e4m3 {
  unsigned char bits;
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
__device__ __forceinline__ float to_f32(f8e4m3 x) {
  unsigned pair;
  float y;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((unsigned short)x.bits));
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"((unsigned short)pair));
  return y;
}

__device__ __forceinline__ f8e4m3 to_f8e4m3(float x) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
  return {(unsigned char)pair};
}
#else
__device__ __forceinline__ float to_f32(f8e4m3 x) {
  const unsigned magnitude = x.bits & 0x7fu, sign = (x.bits & 0x80u) << 24;
  unsigned bits = (magnitude << 20) + 0x3c000000u;
  if (magnitude < 8u) bits = __float_as_uint((float)magnitude * 0x1p-9f);
  if (magnitude == 0x7fu) bits = 0x7fc00000u;
  return __uint_as_float(sign | bits);
}

// Below the normal numbers the sum with 2^14 rounds at their spacing and leaves the bits of the result at the bottom.
__device__ __forceinline__ f8e4m3 to_f8e4m3(float x) {
  const unsigned bits = __float_as_uint(x), magnitude = bits & 0x7fffffffu;
  unsigned y = (magnitude + 0x7ffffu + (magnitude >> 20 & 1u) - 0x3c000000u) >> 20;
  if (magnitude < 0x3c800000u) y = __float_as_uint(__uint_as_float(magnitude) + 0x1p14f) - 0x46800000u;
  if (y > 0x7eu) y = 0x7eu;
  if (magnitude > 0x7f800000u) y = 0x7fu;
  return {(unsigned char)((bits >> 24 & 0x80u) | y)};
}
#endif
