// bfloat16 in memory: the upper half of an f32, rounded to nearest even.
#ifdef __CUDA_ARCH__
__device__ __forceinline__ unsigned short bf16_bits(float x) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#endif

struct bf16 {
  unsigned short bits;
};

__device__ __forceinline__ float to_f32(bf16 x) { return __uint_as_float((unsigned)x.bits << 16); }
__device__ __forceinline__ bf16 to_bf16(float x) { return {bf16_bits(x)}; }
