// transformer_block_s1: norm(vector = 8, rows = 4, parts = 4, keep = 1024, threads = 32)
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

template <class T, int N>
__device__ __forceinline__ void load_vector(Vec<T, N>& out, const T* in) {
  out = *reinterpret_cast<const Vec<T, N>*>(in);
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
__device__ __forceinline__ void load_vector(Vec<float, N>& out, const bf16* in) {
  Vec<unsigned, N / 2> pairs;
  load_vector(pairs, reinterpret_cast<const unsigned*>(in));
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

extern "C" __global__ void __launch_bounds__(128) transformer_block_s1(
    const bf16* __restrict__ b0, const bf16* __restrict__ b1, const bf16* __restrict__ b2, bf16* __restrict__ b3,
    unsigned n0, unsigned n1, unsigned n2) {
  const unsigned bx = blockIdx.x;
  const unsigned ty = threadIdx.y;
  const unsigned tx = threadIdx.x;
  float b4[32] = {};
  float v0[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) v0[j] = 0.0f;
  float v1[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) v1[j] = 0.0f;
  #pragma unroll
  for (unsigned i0 = 0; i0 < 4; ++i0) {
    if (32 * i0 + tx < n2 / 8) {
      const unsigned k0 = 4 * bx * n2 + ty * n2 + 256 * i0 + 8 * tx;
      Vec<float, 8> v2;
      load_vector(v2, b0 + k0);
      const unsigned k1 = 8 * i0;
      #pragma unroll
      for (int j = 0; j < 8; ++j) b4[k1 + j] = v2[j];
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v28 = v0[j] + v2[j];
        v0[j] = v28;
      }
    }
  }
  float v31[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float v29 = v0[j];
    const float v30 = v0[j + 4];
    v31[j] = v29 + v30;
  }
  float v34[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v32 = v31[j];
    const float v33 = v31[j + 2];
    v34[j] = v32 + v33;
  }
  const float v35 = v34[0];
  const float v36 = v34[1];
  const float v37 = v35 + v36;
  const float v38 = __shfl_xor_sync(0xffffffffu, v37, 16);
  const float v39 = v37 + v38;
  const float v40 = __shfl_xor_sync(0xffffffffu, v39, 8);
  const float v41 = v39 + v40;
  const float v42 = __shfl_xor_sync(0xffffffffu, v41, 4);
  const float v43 = v41 + v42;
  const float v44 = __shfl_xor_sync(0xffffffffu, v43, 2);
  const float v45 = v43 + v44;
  const float v46 = __shfl_xor_sync(0xffffffffu, v45, 1);
  const float v47 = v45 + v46;
  const long long v4 = n2;
  const float v5 = (float)v4;
  const float v6 = v47 / v5;
  const float v25 = v6;
  #pragma unroll
  for (unsigned i1 = 0; i1 < 4; ++i1) {
    if (tx + 32 * i1 < n2 / 8) {
      const unsigned k2 = 8 * i1;
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v7 = b4[k2 + j];
        const float v8 = v7 - v25;
        const float v9 = v8 * v8;
        const float v48 = v1[j] + v9;
        v1[j] = v48;
      }
    }
  }
  float v51[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float v49 = v1[j];
    const float v50 = v1[j + 4];
    v51[j] = v49 + v50;
  }
  float v54[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v52 = v51[j];
    const float v53 = v51[j + 2];
    v54[j] = v52 + v53;
  }
  const float v55 = v54[0];
  const float v56 = v54[1];
  const float v57 = v55 + v56;
  const float v58 = __shfl_xor_sync(0xffffffffu, v57, 16);
  const float v59 = v57 + v58;
  const float v60 = __shfl_xor_sync(0xffffffffu, v59, 8);
  const float v61 = v59 + v60;
  const float v62 = __shfl_xor_sync(0xffffffffu, v61, 4);
  const float v63 = v61 + v62;
  const float v64 = __shfl_xor_sync(0xffffffffu, v63, 2);
  const float v65 = v63 + v64;
  const float v66 = __shfl_xor_sync(0xffffffffu, v65, 1);
  const float v67 = v65 + v66;
  const float v13 = v67 / v5;
  const float v15 = v13 + 1e-05f;
  const float v16 = sqrtf(v15);
  const float v17 = 1.0f / v16;
  const float v27 = v17;
  #pragma unroll
  for (unsigned i2 = 0; i2 < 4; ++i2) {
    if (tx + 32 * i2 < n2 / 8) {
      const unsigned k3 = 8 * i2;
      float v20[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v18 = b4[k3 + j];
        const float v19 = v18 - v25;
        v20[j] = v19 * v27;
      }
      const unsigned k4 = 8 * tx + 256 * i2;
      Vec<float, 8> v21;
      load_vector(v21, b1 + k4);
      float v22[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) v22[j] = v20[j] * v21[j];
      Vec<float, 8> v23;
      load_vector(v23, b2 + k4);
      Vec<float, 8> v24;
      #pragma unroll
      for (int j = 0; j < 8; ++j) v24[j] = v22[j] + v23[j];
      const unsigned k5 = k4 + 4 * bx * n2 + ty * n2;
      store_vector(b3 + k5, v24);
    }
  }
}
