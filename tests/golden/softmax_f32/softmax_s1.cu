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
  #pragma unroll
  for (unsigned i0 = 0; i0 < 4; ++i0) {
    if (i0 < (n1 + 511) / 512) {
      if (128 * i0 + tx < n1 / 4) {
        const unsigned k0 = bx * n1 + 512 * i0 + 4 * tx;
        Vec<float, 4> v2;
        load_vector(v2, b0 + k0);
        const unsigned k1 = 4 * i0;
        #pragma unroll
        for (int j = 0; j < 4; ++j) b2[k1 + j] = v2[j];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float v12 = max_nan(v0[j], v2[j]);
          v0[j] = v12;
        }
      }
    }
  }
  float v15[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v13 = v0[j];
    const float v14 = v0[j + 2];
    v15[j] = max_nan(v13, v14);
  }
  const float v16 = v15[0];
  const float v17 = v15[1];
  const float v18 = max_nan(v16, v17);
  const float v19 = __shfl_xor_sync(0xffffffffu, v18, 16);
  const float v20 = max_nan(v18, v19);
  const float v21 = __shfl_xor_sync(0xffffffffu, v20, 8);
  const float v22 = max_nan(v20, v21);
  const float v23 = __shfl_xor_sync(0xffffffffu, v22, 4);
  const float v24 = max_nan(v22, v23);
  const float v25 = __shfl_xor_sync(0xffffffffu, v24, 2);
  const float v26 = max_nan(v24, v25);
  const float v27 = __shfl_xor_sync(0xffffffffu, v26, 1);
  const float v28 = max_nan(v26, v27);
  __shared__ __align__(16) float b4[4];
  const unsigned k2 = tx / 32;
  if (tx - k2 * 32 == 0) {
    b4[k2] = v28;
  }
  __syncthreads();
  const unsigned k3 = tx % 4;
  const float v29 = b4[k3];
  const float v30 = __shfl_xor_sync(0xffffffffu, v29, 2);
  const float v31 = max_nan(v29, v30);
  const float v32 = __shfl_xor_sync(0xffffffffu, v31, 1);
  const float v33 = max_nan(v31, v32);
  const float v10 = v33;
  #pragma unroll
  for (unsigned i1 = 0; i1 < 4; ++i1) {
    if (i1 < (n1 + 511) / 512) {
      if (tx + 128 * i1 < n1 / 4) {
        const unsigned k4 = 4 * i1;
        float v6[4];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float v4 = b2[k4 + j];
          const float v5 = v4 - v10;
          v6[j] = expf(v5);
        }
        #pragma unroll
        for (int j = 0; j < 4; ++j) b3[k4 + j] = v6[j];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float v34 = v1[j] + v6[j];
          v1[j] = v34;
        }
      }
    }
  }
  float v37[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v35 = v1[j];
    const float v36 = v1[j + 2];
    v37[j] = v35 + v36;
  }
  const float v38 = v37[0];
  const float v39 = v37[1];
  const float v40 = v38 + v39;
  const float v41 = __shfl_xor_sync(0xffffffffu, v40, 16);
  const float v42 = v40 + v41;
  const float v43 = __shfl_xor_sync(0xffffffffu, v42, 8);
  const float v44 = v42 + v43;
  const float v45 = __shfl_xor_sync(0xffffffffu, v44, 4);
  const float v46 = v44 + v45;
  const float v47 = __shfl_xor_sync(0xffffffffu, v46, 2);
  const float v48 = v46 + v47;
  const float v49 = __shfl_xor_sync(0xffffffffu, v48, 1);
  const float v50 = v48 + v49;
  __shared__ __align__(16) float b5[4];
  if (tx - k2 * 32 == 0) {
    b5[k2] = v50;
  }
  __syncthreads();
  const float v51 = b5[k3];
  const float v52 = __shfl_xor_sync(0xffffffffu, v51, 2);
  const float v53 = v51 + v52;
  const float v54 = __shfl_xor_sync(0xffffffffu, v53, 1);
  const float v55 = v53 + v54;
  const float v11 = v55;
  #pragma unroll
  for (unsigned i2 = 0; i2 < 4; ++i2) {
    if (i2 < (n1 + 511) / 512) {
      if (128 * i2 + tx < n1 / 4) {
        const unsigned k5 = 4 * i2;
        Vec<float, 4> v9;
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float v8 = b3[k5 + j];
          v9[j] = v8 / v11;
        }
        const unsigned k6 = bx * n1 + 512 * i2 + 4 * tx;
        store_vector(b1 + k6, v9);
      }
    }
  }
}
