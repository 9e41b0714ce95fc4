// softmax_s1: norm(vector = 4, parts = 32, threads = 128)
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
  const long long k0 = (n1 + 16383) / 16384;
  for (long long i0 = 0; i0 < k0; ++i0) {
    const long long k1 = least(32, (n1 / 4 + 127 - tx) / 128 - 32 * i0);
    for (long long i1 = 0; i1 < k1; ++i1) {
      const long long k2 = bx * n1 + 512 * i1 + 4 * tx + 16384 * i0;
      Vec<float, 4> v23;
      load_vector(v23, b0 + k2);
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float v34 = max_nan(v0[j], v23[j]);
        v0[j] = v34;
      }
    }
  }
  float v37[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v35 = v0[j];
    const float v36 = v0[j + 2];
    v37[j] = max_nan(v35, v36);
  }
  const float v38 = v37[0];
  const float v39 = v37[1];
  const float v40 = max_nan(v38, v39);
  const float v41 = __shfl_xor_sync(0xffffffffu, v40, 16);
  const float v42 = max_nan(v40, v41);
  const float v43 = __shfl_xor_sync(0xffffffffu, v42, 8);
  const float v44 = max_nan(v42, v43);
  const float v45 = __shfl_xor_sync(0xffffffffu, v44, 4);
  const float v46 = max_nan(v44, v45);
  const float v47 = __shfl_xor_sync(0xffffffffu, v46, 2);
  const float v48 = max_nan(v46, v47);
  const float v49 = __shfl_xor_sync(0xffffffffu, v48, 1);
  const float v50 = max_nan(v48, v49);
  __shared__ float b2[4];
  const long long k3 = tx / 32;
  if (tx - k3 * 32 == 0) {
    b2[k3] = v50;
  }
  __syncthreads();
  const long long k4 = tx % 4;
  const float v51 = b2[k4];
  const float v52 = __shfl_xor_sync(0xffffffffu, v51, 2);
  const float v53 = max_nan(v51, v52);
  const float v54 = __shfl_xor_sync(0xffffffffu, v53, 1);
  const float v55 = max_nan(v53, v54);
  const float v31 = v55;
  for (long long i2 = 0; i2 < k0; ++i2) {
    float v4[4];
    #pragma unroll
    for (int j = 0; j < 4; ++j) v4[j] = 0.0f;
    const long long k5 = least(32, (n1 / 4 + 127 - tx) / 128 - 32 * i2);
    for (long long i3 = 0; i3 < k5; ++i3) {
      const long long k6 = bx * n1 + 4 * tx + 16384 * i2 + 512 * i3;
      Vec<float, 4> v24;
      load_vector(v24, b0 + k6);
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float v25 = v24[j] - v31;
        const float v26 = expf(v25);
        const float v56 = v4[j] + v26;
        v4[j] = v56;
      }
    }
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const double v8 = (double)v4[j];
      const double v57 = v1[j] + v8;
      v1[j] = v57;
    }
  }
  double v60[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const double v58 = v1[j];
    const double v59 = v1[j + 2];
    v60[j] = v58 + v59;
  }
  const double v61 = v60[0];
  const double v62 = v60[1];
  const double v63 = v61 + v62;
  const double v64 = __shfl_xor_sync(0xffffffffu, v63, 16);
  const double v65 = v63 + v64;
  const double v66 = __shfl_xor_sync(0xffffffffu, v65, 8);
  const double v67 = v65 + v66;
  const double v68 = __shfl_xor_sync(0xffffffffu, v67, 4);
  const double v69 = v67 + v68;
  const double v70 = __shfl_xor_sync(0xffffffffu, v69, 2);
  const double v71 = v69 + v70;
  const double v72 = __shfl_xor_sync(0xffffffffu, v71, 1);
  const double v73 = v71 + v72;
  __shared__ double b3[4];
  if (tx - k3 * 32 == 0) {
    b3[k3] = v73;
  }
  __syncthreads();
  const double v74 = b3[k4];
  const double v75 = __shfl_xor_sync(0xffffffffu, v74, 2);
  const double v76 = v74 + v75;
  const double v77 = __shfl_xor_sync(0xffffffffu, v76, 1);
  const double v78 = v76 + v77;
  const float v10 = (float)v78;
  const float v33 = v10;
  for (long long i4 = 0; i4 < k0; ++i4) {
    const long long k7 = least(32, (n1 / 4 + 127 - tx) / 128 - 32 * i4);
    for (long long i5 = 0; i5 < k7; ++i5) {
      const long long k8 = bx * n1 + 16384 * i4 + 4 * tx + 512 * i5;
      Vec<float, 4> v27;
      load_vector(v27, b0 + k8);
      Vec<float, 4> v30;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float v28 = v27[j] - v31;
        const float v29 = expf(v28);
        v30[j] = v29 / v33;
      }
      store_vector(b1 + k8, v30);
    }
  }
}
