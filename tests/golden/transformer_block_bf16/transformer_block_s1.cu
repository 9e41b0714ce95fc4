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
  const unsigned k0 = 4 * bx * n2 + ty * n2 + 8 * tx;
  Vec<float, 8> v28;
  load_vector(v28, b0 + k0, tx < n2 / 8);
  const unsigned k1 = k0 + 256;
  Vec<float, 8> v29;
  load_vector(v29, b0 + k1, tx + 32 < n2 / 8);
  const unsigned k2 = k0 + 512;
  Vec<float, 8> v30;
  load_vector(v30, b0 + k2, tx + 64 < n2 / 8);
  const unsigned k3 = k0 + 768;
  Vec<float, 8> v31;
  load_vector(v31, b0 + k3, tx + 96 < n2 / 8);
  if (tx < n2 / 8) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) b4[j] = v28[j];
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float v68 = v0[j] + v28[j];
      v0[j] = v68;
    }
  }
  if (tx + 32 < n2 / 8) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) b4[8 + j] = v29[j];
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float v69 = v0[j] + v29[j];
      v0[j] = v69;
    }
  }
  if (tx + 64 < n2 / 8) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) b4[16 + j] = v30[j];
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float v70 = v0[j] + v30[j];
      v0[j] = v70;
    }
  }
  if (tx + 96 < n2 / 8) {
    #pragma unroll
    for (int j = 0; j < 8; ++j) b4[24 + j] = v31[j];
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float v71 = v0[j] + v31[j];
      v0[j] = v71;
    }
  }
  float v74[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float v72 = v0[j];
    const float v73 = v0[j + 4];
    v74[j] = v72 + v73;
  }
  float v77[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v75 = v74[j];
    const float v76 = v74[j + 2];
    v77[j] = v75 + v76;
  }
  const float v78 = v77[0];
  const float v79 = v77[1];
  const float v80 = v78 + v79;
  const float v81 = __shfl_xor_sync(0xffffffffu, v80, 16);
  const float v82 = v80 + v81;
  const float v83 = __shfl_xor_sync(0xffffffffu, v82, 8);
  const float v84 = v82 + v83;
  const float v85 = __shfl_xor_sync(0xffffffffu, v84, 4);
  const float v86 = v84 + v85;
  const float v87 = __shfl_xor_sync(0xffffffffu, v86, 2);
  const float v88 = v86 + v87;
  const float v89 = __shfl_xor_sync(0xffffffffu, v88, 1);
  const float v90 = v88 + v89;
  const long long v4 = n2;
  const float v5 = (float)v4;
  const float v6 = v90 / v5;
  const float v25 = v6;
  #pragma unroll
  for (unsigned i0 = 0; i0 < 4; ++i0) {
    if (tx + 32 * i0 < n2 / 8) {
      const unsigned k4 = 8 * i0;
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v7 = b4[k4 + j];
        const float v8 = v7 - v25;
        const float v9 = v8 * v8;
        const float v91 = v1[j] + v9;
        v1[j] = v91;
      }
    }
  }
  float v94[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float v92 = v1[j];
    const float v93 = v1[j + 4];
    v94[j] = v92 + v93;
  }
  float v97[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v95 = v94[j];
    const float v96 = v94[j + 2];
    v97[j] = v95 + v96;
  }
  const float v98 = v97[0];
  const float v99 = v97[1];
  const float v100 = v98 + v99;
  const float v101 = __shfl_xor_sync(0xffffffffu, v100, 16);
  const float v102 = v100 + v101;
  const float v103 = __shfl_xor_sync(0xffffffffu, v102, 8);
  const float v104 = v102 + v103;
  const float v105 = __shfl_xor_sync(0xffffffffu, v104, 4);
  const float v106 = v104 + v105;
  const float v107 = __shfl_xor_sync(0xffffffffu, v106, 2);
  const float v108 = v106 + v107;
  const float v109 = __shfl_xor_sync(0xffffffffu, v108, 1);
  const float v110 = v108 + v109;
  const float v13 = v110 / v5;
  const float v15 = v13 + 1e-05f;
  const float v16 = sqrtf(v15);
  const float v17 = 1.0f / v16;
  const unsigned k5 = 8 * tx;
  Vec<float, 8> v37;
  load_vector(v37, b1 + k5, tx < n2 / 8);
  Vec<float, 8> v39;
  load_vector(v39, b2 + k5, tx < n2 / 8);
  const unsigned k6 = k5 + 256;
  Vec<float, 8> v46;
  load_vector(v46, b1 + k6, tx + 32 < n2 / 8);
  Vec<float, 8> v48;
  load_vector(v48, b2 + k6, tx + 32 < n2 / 8);
  if (tx < n2 / 8) {
    const float v35 = v17;
    Vec<float, 8> v40;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float v32 = b4[j];
      const float v34 = v32 - v25;
      const float v36 = v34 * v35;
      const float v38 = v36 * v37[j];
      v40[j] = v38 + v39[j];
    }
    store_vector(b3 + k0, v40);
  }
  if (tx + 32 < n2 / 8) {
    const float v44 = v17;
    Vec<float, 8> v49;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float v41 = b4[8 + j];
      const float v43 = v41 - v25;
      const float v45 = v43 * v44;
      const float v47 = v45 * v46[j];
      v49[j] = v47 + v48[j];
    }
    store_vector(b3 + k1, v49);
  }
  const unsigned k7 = k5 + 512;
  Vec<float, 8> v55;
  load_vector(v55, b1 + k7, tx + 64 < n2 / 8);
  Vec<float, 8> v57;
  load_vector(v57, b2 + k7, tx + 64 < n2 / 8);
  const unsigned k8 = k5 + 768;
  Vec<float, 8> v64;
  load_vector(v64, b1 + k8, tx + 96 < n2 / 8);
  Vec<float, 8> v66;
  load_vector(v66, b2 + k8, tx + 96 < n2 / 8);
  if (tx + 64 < n2 / 8) {
    const float v53 = v17;
    Vec<float, 8> v58;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float v50 = b4[16 + j];
      const float v52 = v50 - v25;
      const float v54 = v52 * v53;
      const float v56 = v54 * v55[j];
      v58[j] = v56 + v57[j];
    }
    store_vector(b3 + k2, v58);
  }
  if (tx + 96 < n2 / 8) {
    const float v62 = v17;
    Vec<float, 8> v67;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float v59 = b4[24 + j];
      const float v61 = v59 - v25;
      const float v63 = v61 * v62;
      const float v65 = v63 * v64[j];
      v67[j] = v65 + v66[j];
    }
    store_vector(b3 + k3, v67);
  }
}
