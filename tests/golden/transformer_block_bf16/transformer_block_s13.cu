// transformer_block_s13: norm(vector = 4, rows = 32, parts = 2, keep = 32, threads = 4)
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

// Larger and smaller of two numbers; a NaN operand gives NaN.
#ifdef __CUDA_ARCH__
__device__ __forceinline__ float max_nan(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}

__device__ __forceinline__ float min_nan(float a, float b) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
#endif

__device__ __forceinline__ double max_nan(double a, double b) { return a > b || a != a ? a : b; }
__device__ __forceinline__ double min_nan(double a, double b) { return a < b || a != a ? a : b; }

extern "C" __global__ void __launch_bounds__(128) transformer_block_s13(
    const float* __restrict__ b0, unsigned char* __restrict__ b1, float* __restrict__ b2, bf16* __restrict__ b3,
    unsigned n0, unsigned n1, unsigned n2) {
  const unsigned bx = blockIdx.x;
  const unsigned ty = threadIdx.y;
  const unsigned tx = threadIdx.x;
  float b4[8] = {};
  float v0[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) v0[j] = __uint_as_float(0xff800000u);
  float v1[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) v1[j] = 0.0f;
  const unsigned k0 = 32 * bx * n2 + ty * n2 + 4 * tx;
  Vec<float, 4> v44;
  load_vector(v44, b0 + k0);
  const unsigned k1 = k0 + 16;
  Vec<float, 4> v45;
  load_vector(v45, b0 + k1, 1 < n2 / 16);
  #pragma unroll
  for (int j = 0; j < 4; ++j) b4[j] = v44[j];
  if (1 < n2 / 16) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) b4[4 + j] = v45[j];
  }
  const unsigned k2 = (32 * bx + ty) / n2;
  const unsigned k3 = (32 * bx + ty) - k2 * n2;
  const long long v3 = k3;
  const long long v4 = 16;
  const float v5 = (float)v4;
  const float v6 = sqrtf(v5);
  const long long v33 = v3;
  const float v34 = v6;
  #pragma unroll
  for (unsigned i0 = 0; i0 < 2; ++i0) {
    if (i0 < n2 / 16) {
      const unsigned k4 = 4 * tx + 16 * i0;
      const unsigned k5 = 4 * i0;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const long long v8 = k4 + j;
        const bool v9 = v8 <= v33;
        const float v10 = b4[k5 + j];
        const float v11 = v10 / v34;
        const float v12 = v9 ? v11 : __uint_as_float(0xff800000u);
        const float v46 = max_nan(v0[j], v12);
        v0[j] = v46;
      }
    }
  }
  float v49[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v47 = v0[j];
    const float v48 = v0[j + 2];
    v49[j] = max_nan(v47, v48);
  }
  const float v50 = v49[0];
  const float v51 = v49[1];
  const float v52 = max_nan(v50, v51);
  const float v53 = __shfl_xor_sync(0xffffffffu, v52, 2);
  const float v54 = max_nan(v52, v53);
  const float v55 = __shfl_xor_sync(0xffffffffu, v54, 1);
  const float v56 = max_nan(v54, v55);
  const bool v15 = v56 == __uint_as_float(0xff800000u);
  const float v17 = v15 ? 0.0f : v56;
  const float v39 = v17;
  #pragma unroll
  for (unsigned i1 = 0; i1 < 2; ++i1) {
    if (i1 < n2 / 16) {
      const unsigned k6 = 4 * tx + 16 * i1;
      const unsigned k7 = 4 * i1;
      Vec<float, 4> v24;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const long long v18 = k6 + j;
        const bool v19 = v18 <= v33;
        const float v20 = b4[k7 + j];
        const float v21 = v20 / v34;
        const float v22 = v19 ? v21 : __uint_as_float(0xff800000u);
        const float v23 = v22 - v39;
        v24[j] = expf(v23);
      }
      const unsigned k8 = k6 + 32 * bx * n2 + ty * n2;
      store_vector(b3 + k8, v24);
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float v57 = v1[j] + v24[j];
        v1[j] = v57;
      }
    }
  }
  const unsigned k9 = 32 * bx + ty;
  if (tx == 0) {
    b1[k9] = v15;
  }
  float v60[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v58 = v1[j];
    const float v59 = v1[j + 2];
    v60[j] = v58 + v59;
  }
  const float v61 = v60[0];
  const float v62 = v60[1];
  const float v63 = v61 + v62;
  const float v64 = __shfl_xor_sync(0xffffffffu, v63, 2);
  const float v65 = v63 + v64;
  const float v66 = __shfl_xor_sync(0xffffffffu, v65, 1);
  const float v67 = v65 + v66;
  if (tx == 0) {
    b2[k9] = v67;
  }
}
