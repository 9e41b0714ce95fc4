// IEEE half precision in memory, rounded to nearest even.
#ifdef __CUDA_ARCH__
__device__ __forceinline__ unsigned short f16_bits(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

__device__ __forceinline__ float f16_value(unsigned short bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
#endif

struct f16 {
  unsigned short bits;
};

__device__ __forceinline__ float to_f32(f16 x) { return f16_value(x.bits); }
__device__ __forceinline__ f16 to_f16(float x) { return {f16_bits(x)}; }
