// transformer_block_s1: norm(vector = 8, rows = 4, parts = 8, threads = 32)
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

__device__ __forceinline__ long long least(long long a, long long b) { return a < b ? a : b; }
__device__ __forceinline__ long long most(long long a, long long b) { return a > b ? a : b; }

extern "C" __global__ void __launch_bounds__(128) transformer_block_s1(
    const bf16* __restrict__ b0, const bf16* __restrict__ b1, const bf16* __restrict__ b2, bf16* __restrict__ b3,
    long long n0, long long n1, long long n2) {
  const long long bx = blockIdx.x;
  const long long ty = threadIdx.y;
  const long long tx = threadIdx.x;
  double v0[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) v0[j] = 0.0;
  double v1[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) v1[j] = 0.0;
  const long long k0 = (n2 + 2047) / 2048;
  for (long long i0 = 0; i0 < k0; ++i0) {
    float v2[8];
    #pragma unroll
    for (int j = 0; j < 8; ++j) v2[j] = 0.0f;
    const long long k1 = least(8, (n2 / 8 + 31 - tx) / 32 - 8 * i0);
    for (long long i1 = 0; i1 < k1; ++i1) {
      const long long k2 = 4 * bx * n2 + ty * n2 + 2048 * i0 + 256 * i1 + 8 * tx;
      Vec<float, 8> v31;
      load_vector(v31, b0 + k2);
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v45 = v2[j] + v31[j];
        v2[j] = v45;
      }
    }
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const double v4 = (double)v2[j];
      const double v46 = v0[j] + v4;
      v0[j] = v46;
    }
  }
  double v49[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const double v47 = v0[j];
    const double v48 = v0[j + 4];
    v49[j] = v47 + v48;
  }
  double v52[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const double v50 = v49[j];
    const double v51 = v49[j + 2];
    v52[j] = v50 + v51;
  }
  const double v53 = v52[0];
  const double v54 = v52[1];
  const double v55 = v53 + v54;
  const double v56 = __shfl_xor_sync(0xffffffffu, v55, 16);
  const double v57 = v55 + v56;
  const double v58 = __shfl_xor_sync(0xffffffffu, v57, 8);
  const double v59 = v57 + v58;
  const double v60 = __shfl_xor_sync(0xffffffffu, v59, 4);
  const double v61 = v59 + v60;
  const double v62 = __shfl_xor_sync(0xffffffffu, v61, 2);
  const double v63 = v61 + v62;
  const double v64 = __shfl_xor_sync(0xffffffffu, v63, 1);
  const double v65 = v63 + v64;
  const float v6 = (float)v65;
  const long long v7 = n2;
  const float v8 = (float)v7;
  const float v9 = v6 / v8;
  const float v42 = v9;
  for (long long i2 = 0; i2 < k0; ++i2) {
    float v10[8];
    #pragma unroll
    for (int j = 0; j < 8; ++j) v10[j] = 0.0f;
    const long long k3 = least(8, (n2 / 8 + 31 - tx) / 32 - 8 * i2);
    for (long long i3 = 0; i3 < k3; ++i3) {
      const long long k4 = 4 * bx * n2 + ty * n2 + 8 * tx + 2048 * i2 + 256 * i3;
      Vec<float, 8> v32;
      load_vector(v32, b0 + k4);
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v33 = v32[j] - v42;
        const float v34 = v33 * v33;
        const float v66 = v10[j] + v34;
        v10[j] = v66;
      }
    }
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const double v14 = (double)v10[j];
      const double v67 = v1[j] + v14;
      v1[j] = v67;
    }
  }
  double v70[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const double v68 = v1[j];
    const double v69 = v1[j + 4];
    v70[j] = v68 + v69;
  }
  double v73[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const double v71 = v70[j];
    const double v72 = v70[j + 2];
    v73[j] = v71 + v72;
  }
  const double v74 = v73[0];
  const double v75 = v73[1];
  const double v76 = v74 + v75;
  const double v77 = __shfl_xor_sync(0xffffffffu, v76, 16);
  const double v78 = v76 + v77;
  const double v79 = __shfl_xor_sync(0xffffffffu, v78, 8);
  const double v80 = v78 + v79;
  const double v81 = __shfl_xor_sync(0xffffffffu, v80, 4);
  const double v82 = v80 + v81;
  const double v83 = __shfl_xor_sync(0xffffffffu, v82, 2);
  const double v84 = v82 + v83;
  const double v85 = __shfl_xor_sync(0xffffffffu, v84, 1);
  const double v86 = v84 + v85;
  const float v16 = (float)v86;
  const float v19 = v16 / v8;
  const float v21 = v19 + 1e-05f;
  const float v22 = sqrtf(v21);
  const float v23 = 1.0f / v22;
  const float v44 = v23;
  for (long long i4 = 0; i4 < k0; ++i4) {
    const long long k5 = least(8, (n2 / 8 + 31 - tx) / 32 - 8 * i4);
    for (long long i5 = 0; i5 < k5; ++i5) {
      const long long k6 = 4 * bx * n2 + ty * n2 + 8 * tx + 2048 * i4 + 256 * i5;
      Vec<float, 8> v35;
      load_vector(v35, b0 + k6);
      float v37[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v36 = v35[j] - v42;
        v37[j] = v36 * v44;
      }
      const long long k7 = 8 * tx + 2048 * i4 + 256 * i5;
      Vec<float, 8> v38;
      load_vector(v38, b1 + k7);
      float v39[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) v39[j] = v37[j] * v38[j];
      Vec<float, 8> v40;
      load_vector(v40, b2 + k7);
      Vec<float, 8> v41;
      #pragma unroll
      for (int j = 0; j < 8; ++j) v41[j] = v39[j] + v40[j];
      store_vector(b3 + k6, v41);
    }
  }
}
