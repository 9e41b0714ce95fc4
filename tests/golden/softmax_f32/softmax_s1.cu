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
    const float* __restrict__ b0, float* __restrict__ b1, long long n0, long long n1) {
  const long long bx = blockIdx.x;
  const long long tx = threadIdx.x;
  float b2[16] = {};
  float v0[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) v0[j] = __uint_as_float(0xff800000u);
  float v1[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) v1[j] = 0.0f;
  #pragma unroll
  for (long long i0 = 0; i0 < 4; ++i0) {
    if (i0 < (n1 + 511) / 512) {
      if (128 * i0 + tx < n1 / 4) {
        const long long k0 = bx * n1 + 512 * i0 + 4 * tx;
        Vec<float, 4> v2;
        load_vector(v2, b0 + k0);
        const long long k1 = 4 * i0;
        #pragma unroll
        for (int j = 0; j < 4; ++j) b2[k1 + j] = v2[j];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float v15 = max_nan(v0[j], v2[j]);
          v0[j] = v15;
        }
      }
    }
  }
  float v18[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v16 = v0[j];
    const float v17 = v0[j + 2];
    v18[j] = max_nan(v16, v17);
  }
  const float v19 = v18[0];
  const float v20 = v18[1];
  const float v21 = max_nan(v19, v20);
  const float v22 = __shfl_xor_sync(0xffffffffu, v21, 16);
  const float v23 = max_nan(v21, v22);
  const float v24 = __shfl_xor_sync(0xffffffffu, v23, 8);
  const float v25 = max_nan(v23, v24);
  const float v26 = __shfl_xor_sync(0xffffffffu, v25, 4);
  const float v27 = max_nan(v25, v26);
  const float v28 = __shfl_xor_sync(0xffffffffu, v27, 2);
  const float v29 = max_nan(v27, v28);
  const float v30 = __shfl_xor_sync(0xffffffffu, v29, 1);
  const float v31 = max_nan(v29, v30);
  __shared__ float b3[4];
  const long long k2 = tx / 32;
  if (tx - k2 * 32 == 0) {
    b3[k2] = v31;
  }
  __syncthreads();
  const long long k3 = tx % 4;
  const float v32 = b3[k3];
  const float v33 = __shfl_xor_sync(0xffffffffu, v32, 2);
  const float v34 = max_nan(v32, v33);
  const float v35 = __shfl_xor_sync(0xffffffffu, v34, 1);
  const float v36 = max_nan(v34, v35);
  const float v12 = v36;
  #pragma unroll
  for (long long i1 = 0; i1 < 4; ++i1) {
    if (i1 < (n1 + 511) / 512) {
      if (tx + 128 * i1 < n1 / 4) {
        const long long k4 = 4 * i1;
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float v4 = b2[k4 + j];
          const float v5 = v4 - v12;
          const float v6 = expf(v5);
          const float v37 = v1[j] + v6;
          v1[j] = v37;
        }
      }
    }
  }
  float v40[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v38 = v1[j];
    const float v39 = v1[j + 2];
    v40[j] = v38 + v39;
  }
  const float v41 = v40[0];
  const float v42 = v40[1];
  const float v43 = v41 + v42;
  const float v44 = __shfl_xor_sync(0xffffffffu, v43, 16);
  const float v45 = v43 + v44;
  const float v46 = __shfl_xor_sync(0xffffffffu, v45, 8);
  const float v47 = v45 + v46;
  const float v48 = __shfl_xor_sync(0xffffffffu, v47, 4);
  const float v49 = v47 + v48;
  const float v50 = __shfl_xor_sync(0xffffffffu, v49, 2);
  const float v51 = v49 + v50;
  const float v52 = __shfl_xor_sync(0xffffffffu, v51, 1);
  const float v53 = v51 + v52;
  __shared__ float b4[4];
  if (tx - k2 * 32 == 0) {
    b4[k2] = v53;
  }
  __syncthreads();
  const float v54 = b4[k3];
  const float v55 = __shfl_xor_sync(0xffffffffu, v54, 2);
  const float v56 = v54 + v55;
  const float v57 = __shfl_xor_sync(0xffffffffu, v56, 1);
  const float v58 = v56 + v57;
  const float v14 = v58;
  #pragma unroll
  for (long long i2 = 0; i2 < 4; ++i2) {
    if (i2 < (n1 + 511) / 512) {
      if (128 * i2 + tx < n1 / 4) {
        const long long k5 = 4 * i2;
        Vec<float, 4> v11;
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float v8 = b2[k5 + j];
          const float v9 = v8 - v12;
          const float v10 = expf(v9);
          v11[j] = v10 / v14;
        }
        const long long k6 = bx * n1 + 512 * i2 + 4 * tx;
        store_vector(b1 + k6, v11);
      }
    }
  }
}
