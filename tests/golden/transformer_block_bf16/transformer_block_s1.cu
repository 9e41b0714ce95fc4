// transformer_block_s1: norm(vector = 8, parts = 32, threads = 32)
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

extern "C" __global__ void __launch_bounds__(32) transformer_block_s1(
    const bf16* __restrict__ b0, const bf16* __restrict__ b1, const bf16* __restrict__ b2, bf16* __restrict__ b3,
    long long n0, long long n1, long long n2) {
  const long long bx = blockIdx.x;
  const long long tx = threadIdx.x;
  double v0[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) v0[j] = 0.0;
  double v1[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) v1[j] = 0.0;
  const long long k0 = (n2 + 8191) / 8192;
  for (long long i0 = 0; i0 < k0; ++i0) {
    float v2[8];
    #pragma unroll
    for (int j = 0; j < 8; ++j) v2[j] = 0.0f;
    const long long k1 = least(32, (n2 / 8 + 31 - tx) / 32 - 32 * i0);
    for (long long i1 = 0; i1 < k1; ++i1) {
      const long long k2 = bx * n2 + 256 * i1 + 8 * tx + 8192 * i0;
      Vec<float, 8> v42;
      load_vector(v42, b0 + k2);
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v56 = v2[j] + v42[j];
        v2[j] = v56;
      }
    }
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const double v4 = (double)v2[j];
      const double v57 = v0[j] + v4;
      v0[j] = v57;
    }
  }
  double v60[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const double v58 = v0[j];
    const double v59 = v0[j + 4];
    v60[j] = v58 + v59;
  }
  double v63[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const double v61 = v60[j];
    const double v62 = v60[j + 2];
    v63[j] = v61 + v62;
  }
  const double v64 = v63[0];
  const double v65 = v63[1];
  const double v66 = v64 + v65;
  const double v67 = __shfl_xor_sync(0xffffffffu, v66, 16);
  const double v68 = v66 + v67;
  const double v69 = __shfl_xor_sync(0xffffffffu, v68, 8);
  const double v70 = v68 + v69;
  const double v71 = __shfl_xor_sync(0xffffffffu, v70, 4);
  const double v72 = v70 + v71;
  const double v73 = __shfl_xor_sync(0xffffffffu, v72, 2);
  const double v74 = v72 + v73;
  const double v75 = __shfl_xor_sync(0xffffffffu, v74, 1);
  const double v76 = v74 + v75;
  const float v6 = (float)v76;
  const long long v7 = n2;
  const float v8 = (float)v7;
  const float v9 = v6 / v8;
  const float v53 = v9;
  for (long long i2 = 0; i2 < k0; ++i2) {
    float v10[8];
    #pragma unroll
    for (int j = 0; j < 8; ++j) v10[j] = 0.0f;
    const long long k3 = least(32, (n2 / 8 + 31 - tx) / 32 - 32 * i2);
    for (long long i3 = 0; i3 < k3; ++i3) {
      const long long k4 = bx * n2 + 8 * tx + 8192 * i2 + 256 * i3;
      Vec<float, 8> v43;
      load_vector(v43, b0 + k4);
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v44 = v43[j] - v53;
        const float v45 = v44 * v44;
        const float v77 = v10[j] + v45;
        v10[j] = v77;
      }
    }
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const double v14 = (double)v10[j];
      const double v78 = v1[j] + v14;
      v1[j] = v78;
    }
  }
  double v81[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const double v79 = v1[j];
    const double v80 = v1[j + 4];
    v81[j] = v79 + v80;
  }
  double v84[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const double v82 = v81[j];
    const double v83 = v81[j + 2];
    v84[j] = v82 + v83;
  }
  const double v85 = v84[0];
  const double v86 = v84[1];
  const double v87 = v85 + v86;
  const double v88 = __shfl_xor_sync(0xffffffffu, v87, 16);
  const double v89 = v87 + v88;
  const double v90 = __shfl_xor_sync(0xffffffffu, v89, 8);
  const double v91 = v89 + v90;
  const double v92 = __shfl_xor_sync(0xffffffffu, v91, 4);
  const double v93 = v91 + v92;
  const double v94 = __shfl_xor_sync(0xffffffffu, v93, 2);
  const double v95 = v93 + v94;
  const double v96 = __shfl_xor_sync(0xffffffffu, v95, 1);
  const double v97 = v95 + v96;
  const float v16 = (float)v97;
  const float v19 = v16 / v8;
  const float v21 = v19 + 1e-05f;
  const float v22 = sqrtf(v21);
  const float v23 = 1.0f / v22;
  const float v55 = v23;
  for (long long i4 = 0; i4 < k0; ++i4) {
    const long long k5 = least(32, (n2 / 8 + 31 - tx) / 32 - 32 * i4);
    for (long long i5 = 0; i5 < k5; ++i5) {
      const long long k6 = bx * n2 + 8192 * i4 + 8 * tx + 256 * i5;
      Vec<float, 8> v46;
      load_vector(v46, b0 + k6);
      float v48[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v47 = v46[j] - v53;
        v48[j] = v47 * v55;
      }
      const long long k7 = k6 - bx * n2;
      Vec<float, 8> v49;
      load_vector(v49, b1 + k7);
      float v50[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) v50[j] = v48[j] * v49[j];
      Vec<float, 8> v51;
      load_vector(v51, b2 + k7);
      Vec<float, 8> v52;
      #pragma unroll
      for (int j = 0; j < 8; ++j) v52[j] = v50[j] + v51[j];
      store_vector(b3 + k6, v52);
    }
  }
}
