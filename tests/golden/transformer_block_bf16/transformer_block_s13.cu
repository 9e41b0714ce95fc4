// transformer_block_s13: pointwise(vector = 8, unroll = 1, split = 3, threads = 4, rows = 64)
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

// N values that move between registers and memory in pieces of up to 16 bytes.
template <class T, int N>
struct __align__(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Vec {
  T e[N];
  __device__ __forceinline__ T& operator[](int i) { return e[i]; }
  __device__ __forceinline__ const T& operator[](int i) const { return e[i]; }
};

// Zeros where not `when`, and nothing of memory is met.
template <class T, int N>
__device__ __forceinline__ void load_vector(Vec<T, N>& out, const T* in, bool when = true) {
  if (when) {
    out = *reinterpret_cast<const Vec<T, N>*>(in);
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) out[i] = T();
  }
}

// Pieces of 16 and 8 bytes by instruction: NVRTC 13.0 splits the store of a struct by element for sm_80 and sm_90a. No
// access has to keep its order with them, since a kernel reads no buffer that it writes.
template <class T, int N>
__device__ __forceinline__ void store_vector(T* out, const Vec<T, N>& in) {
#ifdef __CUDA_ARCH__
  constexpr int words = sizeof(T) * N / 4;
  if constexpr (sizeof(T) >= 4 && words % 2 == 0) {
    const unsigned* word = reinterpret_cast<const unsigned*>(in.e);
    unsigned long long at;
    asm("cvta.to.global.u64 %0, %1;" : "=l"(at) : "l"(out));
    if constexpr (words % 4 == 0) {
#pragma unroll
      for (int i = 0; i < words; i += 4)
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(at + 4 * i), "r"(word[i]), "r"(word[i + 1]),
                     "r"(word[i + 2]), "r"(word[i + 3]));
    } else {
      asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(at), "r"(word[0]), "r"(word[1]));
    }
    return;
  }
#endif
  *reinterpret_cast<Vec<T, N>*>(out) = in;
}

// Vectors of an even number of bf16, two in a word, the lower half first.
#ifdef __CUDA_ARCH__
__device__ __forceinline__ unsigned bf16_pair(float lower, float upper) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(upper), "f"(lower));
  return pair;
}
#endif

template <int N>
__device__ __forceinline__ void load_vector(Vec<float, N>& out, const bf16* in, bool when = true) {
  Vec<unsigned, N / 2> pairs;
  load_vector(pairs, reinterpret_cast<const unsigned*>(in), when);
#pragma unroll
  for (int i = 0; i < N; i += 2) {
    out[i] = __uint_as_float(pairs[i / 2] << 16);
    out[i + 1] = __uint_as_float(pairs[i / 2] & 0xffff0000u);
  }
}

template <int N>
__device__ __forceinline__ void store_vector(bf16* out, const Vec<float, N>& in) {
  Vec<unsigned, N / 2> pairs;
#pragma unroll
  for (int i = 0; i < N; i += 2) pairs[i / 2] = bf16_pair(in[i], in[i + 1]);
  store_vector(reinterpret_cast<unsigned*>(out), pairs);
}

extern "C" __global__ void __launch_bounds__(256) transformer_block_s13(
    const bf16* __restrict__ b0, float* __restrict__ b1, unsigned n0, unsigned n1, unsigned n2) {
  const unsigned bx = blockIdx.x;
  const unsigned ty = threadIdx.y;
  const unsigned tx = threadIdx.x;
  if (64 * bx + ty < n0 * n1 * n2) {
    if (tx < 2) {
      const unsigned k0 = (64 * bx + ty) / n2;
      const unsigned k1 = (64 * bx + ty) - k0 * n2;
      const unsigned k2 = n1 * n2;
      const unsigned k3 = (64 * bx + ty) / k2;
      const unsigned k4 = k0 - k3 * n1;
      const unsigned k5 = 16 * n1 * k1 + 16 * n1 * n2 * k3 + 8 * tx + 16 * k4;
      Vec<float, 8> v0;
      load_vector(v0, b0 + k5);
      const unsigned k6 = 1024 * bx + 16 * ty + 8 * tx;
      store_vector(b1 + k6, v0);
    }
  }
}
