// softmax_s1: norm(vector = 4, rows = 1, parts = 4, keep = 2048, threads = 128)
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

extern "C" __global__ void __launch_bounds__(128) softmax_s1(
    const float* __restrict__ b0, float* __restrict__ b1, unsigned n0, unsigned n1) {
  const unsigned bx = blockIdx.x;
  const unsigned tx = threadIdx.x;
  float b2[16] = {};
  float v0[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) v0[j] = __uint_as_float(0xff800000u);
  float b3[16] = {};
  float v1[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) v1[j] = 0.0f;
  const unsigned k0 = bx * n1 + 4 * tx;
  Vec<float, 4> v12;
  load_vector(v12, b0 + k0, tx < n1 / 4);
  const unsigned k1 = k0 + 512;
  Vec<float, 4> v13;
  load_vector(v13, b0 + k1, tx + 128 < n1 / 4 && 1 < (n1 + 511) / 512);
  const unsigned k2 = k0 + 1024;
  Vec<float, 4> v14;
  load_vector(v14, b0 + k2, tx + 256 < n1 / 4 && 2 < (n1 + 511) / 512);
  const unsigned k3 = k0 + 1536;
  Vec<float, 4> v15;
  load_vector(v15, b0 + k3, tx + 384 < n1 / 4 && 3 < (n1 + 511) / 512);
  if (tx < n1 / 4) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) b2[j] = v12[j];
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float v16 = max_nan(v0[j], v12[j]);
      v0[j] = v16;
    }
  }
  if (tx + 128 < n1 / 4 && 1 < (n1 + 511) / 512) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) b2[4 + j] = v13[j];
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float v17 = max_nan(v0[j], v13[j]);
      v0[j] = v17;
    }
  }
  if (tx + 256 < n1 / 4 && 2 < (n1 + 511) / 512) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) b2[8 + j] = v14[j];
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float v18 = max_nan(v0[j], v14[j]);
      v0[j] = v18;
    }
  }
  if (tx + 384 < n1 / 4 && 3 < (n1 + 511) / 512) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) b2[12 + j] = v15[j];
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float v19 = max_nan(v0[j], v15[j]);
      v0[j] = v19;
    }
  }
  float v22[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v20 = v0[j];
    const float v21 = v0[j + 2];
    v22[j] = max_nan(v20, v21);
  }
  const float v23 = v22[0];
  const float v24 = v22[1];
  const float v25 = max_nan(v23, v24);
  const float v26 = __shfl_xor_sync(0xffffffffu, v25, 16);
  const float v27 = max_nan(v25, v26);
  const float v28 = __shfl_xor_sync(0xffffffffu, v27, 8);
  const float v29 = max_nan(v27, v28);
  const float v30 = __shfl_xor_sync(0xffffffffu, v29, 4);
  const float v31 = max_nan(v29, v30);
  const float v32 = __shfl_xor_sync(0xffffffffu, v31, 2);
  const float v33 = max_nan(v31, v32);
  const float v34 = __shfl_xor_sync(0xffffffffu, v33, 1);
  const float v35 = max_nan(v33, v34);
  __shared__ __align__(16) float b4[4];
  const unsigned k4 = tx / 32;
  if (tx - k4 * 32 == 0) {
    b4[k4] = v35;
  }
  __syncthreads();
  const unsigned k5 = tx % 4;
  const float v36 = b4[k5];
  const float v37 = __shfl_xor_sync(0xffffffffu, v36, 2);
  const float v38 = max_nan(v36, v37);
  const float v39 = __shfl_xor_sync(0xffffffffu, v38, 1);
  const float v40 = max_nan(v38, v39);
  const float v10 = v40;
  #pragma unroll
  for (unsigned i0 = 0; i0 < 4; ++i0) {
    if (i0 < (n1 + 511) / 512) {
      if (tx + 128 * i0 < n1 / 4) {
        const unsigned k6 = 4 * i0;
        float v6[4];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float v4 = b2[k6 + j];
          const float v5 = v4 - v10;
          v6[j] = expf(v5);
        }
        #pragma unroll
        for (int j = 0; j < 4; ++j) b3[k6 + j] = v6[j];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float v41 = v1[j] + v6[j];
          v1[j] = v41;
        }
      }
    }
  }
  float v44[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v42 = v1[j];
    const float v43 = v1[j + 2];
    v44[j] = v42 + v43;
  }
  const float v45 = v44[0];
  const float v46 = v44[1];
  const float v47 = v45 + v46;
  const float v48 = __shfl_xor_sync(0xffffffffu, v47, 16);
  const float v49 = v47 + v48;
  const float v50 = __shfl_xor_sync(0xffffffffu, v49, 8);
  const float v51 = v49 + v50;
  const float v52 = __shfl_xor_sync(0xffffffffu, v51, 4);
  const float v53 = v51 + v52;
  const float v54 = __shfl_xor_sync(0xffffffffu, v53, 2);
  const float v55 = v53 + v54;
  const float v56 = __shfl_xor_sync(0xffffffffu, v55, 1);
  const float v57 = v55 + v56;
  __shared__ __align__(16) float b5[4];
  if (tx - k4 * 32 == 0) {
    b5[k4] = v57;
  }
  __syncthreads();
  const float v58 = b5[k5];
  const float v59 = __shfl_xor_sync(0xffffffffu, v58, 2);
  const float v60 = v58 + v59;
  const float v61 = __shfl_xor_sync(0xffffffffu, v60, 1);
  const float v62 = v60 + v61;
  const float v11 = v62;
  #pragma unroll
  for (unsigned i1 = 0; i1 < 4; ++i1) {
    if (i1 < (n1 + 511) / 512) {
      if (128 * i1 + tx < n1 / 4) {
        const unsigned k7 = 4 * i1;
        Vec<float, 4> v9;
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float v8 = b3[k7 + j];
          v9[j] = v8 / v11;
        }
        const unsigned k8 = k0 + 512 * i1;
        store_vector(b1 + k8, v9);
      }
    }
  }
}
