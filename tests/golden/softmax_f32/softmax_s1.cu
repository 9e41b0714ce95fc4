// softmax_s1: norm(vector = 4, rows = 1, parts = 8, threads = 128)
__device__ __forceinline__ long long least(long long a, long long b) { return a < b ? a : b; }
__device__ __forceinline__ long long most(long long a, long long b) { return a > b ? a : b; }

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
  float v0[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) v0[j] = __uint_as_float(0xff800000u);
  double v1[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) v1[j] = 0.0;
  const long long k0 = (n1 + 4095) / 4096;
  for (long long i0 = 0; i0 < k0; ++i0) {
    const long long k1 = least(8, (n1 / 4 + 127 - tx) / 128 - 8 * i0);
    for (long long i1 = 0; i1 < k1; ++i1) {
      const long long k2 = bx * n1 + 512 * i1 + 4 * tx + 4096 * i0;
      Vec<float, 4> v15;
      load_vector(v15, b0 + k2);
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float v26 = max_nan(v0[j], v15[j]);
        v0[j] = v26;
      }
    }
  }
  float v29[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v27 = v0[j];
    const float v28 = v0[j + 2];
    v29[j] = max_nan(v27, v28);
  }
  const float v30 = v29[0];
  const float v31 = v29[1];
  const float v32 = max_nan(v30, v31);
  const float v33 = __shfl_xor_sync(0xffffffffu, v32, 16);
  const float v34 = max_nan(v32, v33);
  const float v35 = __shfl_xor_sync(0xffffffffu, v34, 8);
  const float v36 = max_nan(v34, v35);
  const float v37 = __shfl_xor_sync(0xffffffffu, v36, 4);
  const float v38 = max_nan(v36, v37);
  const float v39 = __shfl_xor_sync(0xffffffffu, v38, 2);
  const float v40 = max_nan(v38, v39);
  const float v41 = __shfl_xor_sync(0xffffffffu, v40, 1);
  const float v42 = max_nan(v40, v41);
  __shared__ float b2[4];
  const long long k3 = tx / 32;
  if (tx - k3 * 32 == 0) {
    b2[k3] = v42;
  }
  __syncthreads();
  const long long k4 = tx % 4;
  const float v43 = b2[k4];
  const float v44 = __shfl_xor_sync(0xffffffffu, v43, 2);
  const float v45 = max_nan(v43, v44);
  const float v46 = __shfl_xor_sync(0xffffffffu, v45, 1);
  const float v47 = max_nan(v45, v46);
  const float v23 = v47;
  for (long long i2 = 0; i2 < k0; ++i2) {
    float v4[4];
    #pragma unroll
    for (int j = 0; j < 4; ++j) v4[j] = 0.0f;
    const long long k5 = least(8, (n1 / 4 + 127 - tx) / 128 - 8 * i2);
    for (long long i3 = 0; i3 < k5; ++i3) {
      const long long k6 = bx * n1 + 4 * tx + 4096 * i2 + 512 * i3;
      Vec<float, 4> v16;
      load_vector(v16, b0 + k6);
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float v17 = v16[j] - v23;
        const float v18 = expf(v17);
        const float v48 = v4[j] + v18;
        v4[j] = v48;
      }
    }
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const double v8 = (double)v4[j];
      const double v49 = v1[j] + v8;
      v1[j] = v49;
    }
  }
  double v52[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const double v50 = v1[j];
    const double v51 = v1[j + 2];
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
  __shared__ double b3[4];
  if (tx - k3 * 32 == 0) {
    b3[k3] = v65;
  }
  __syncthreads();
  const double v66 = b3[k4];
  const double v67 = __shfl_xor_sync(0xffffffffu, v66, 2);
  const double v68 = v66 + v67;
  const double v69 = __shfl_xor_sync(0xffffffffu, v68, 1);
  const double v70 = v68 + v69;
  const float v10 = (float)v70;
  const float v25 = v10;
  for (long long i4 = 0; i4 < k0; ++i4) {
    const long long k7 = least(8, (n1 / 4 + 127 - tx) / 128 - 8 * i4);
    for (long long i5 = 0; i5 < k7; ++i5) {
      const long long k8 = bx * n1 + 4096 * i4 + 4 * tx + 512 * i5;
      Vec<float, 4> v19;
      load_vector(v19, b0 + k8);
      Vec<float, 4> v22;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float v20 = v19[j] - v23;
        const float v21 = expf(v20);
        v22[j] = v21 / v25;
      }
      store_vector(b1 + k8, v22);
    }
  }
}
