// transformer_block_s13: norm(vector = 4, parts = 32, threads = 32)
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

// a / b of numbers below 2^32, for b >= 1: a fraction of the instructions of the 64-bit division.
__device__ __forceinline__ long long quotient(unsigned a, unsigned b) { return a / b; }

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

extern "C" __global__ void __launch_bounds__(32) transformer_block_s13(
    const float* __restrict__ b0, unsigned char* __restrict__ b1, float* __restrict__ b2, float* __restrict__ b3,
    long long n0, long long n1, long long n2) {
  const long long bx = blockIdx.x;
  const long long tx = threadIdx.x;
  float v0[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) v0[j] = __uint_as_float(0xff800000u);
  double v1[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) v1[j] = 0.0;
  const long long k0 = quotient(bx, n0);
  const long long k1 = bx - k0 * n0;
  const long long v2 = k1;
  const long long v3 = 16;
  const float v4 = (float)v3;
  const float v5 = sqrtf(v4);
  const long long v73 = v2;
  const float v74 = v5;
  const long long k2 = (n0 + 4095) / 4096;
  for (long long i0 = 0; i0 < k2; ++i0) {
    const long long k3 = least(32, (n0 / 4 + 31 - tx) / 32 - 32 * i0);
    for (long long i1 = 0; i1 < k3; ++i1) {
      const long long k4 = 128 * i1 + 4 * tx + 4096 * i0;
      bool v55[4];
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const long long v54 = k4 + j;
        v55[j] = v54 <= v73;
      }
      const long long k5 = k4 + bx * n0;
      Vec<float, 4> v56;
      load_vector(v56, b0 + k5);
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float v57 = v56[j] / v74;
        const float v58 = v55[j] ? v57 : __uint_as_float(0xff800000u);
        const float v80 = max_nan(v0[j], v58);
        v0[j] = v80;
      }
    }
  }
  float v83[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v81 = v0[j];
    const float v82 = v0[j + 2];
    v83[j] = max_nan(v81, v82);
  }
  const float v84 = v83[0];
  const float v85 = v83[1];
  const float v86 = max_nan(v84, v85);
  const float v87 = __shfl_xor_sync(0xffffffffu, v86, 16);
  const float v88 = max_nan(v86, v87);
  const float v89 = __shfl_xor_sync(0xffffffffu, v88, 8);
  const float v90 = max_nan(v88, v89);
  const float v91 = __shfl_xor_sync(0xffffffffu, v90, 4);
  const float v92 = max_nan(v90, v91);
  const float v93 = __shfl_xor_sync(0xffffffffu, v92, 2);
  const float v94 = max_nan(v92, v93);
  const float v95 = __shfl_xor_sync(0xffffffffu, v94, 1);
  const float v96 = max_nan(v94, v95);
  const bool v14 = v96 == __uint_as_float(0xff800000u);
  if (tx == 0) {
    b1[bx] = v14;
  }
  const float v16 = v14 ? 0.0f : v96;
  const float v79 = v16;
  for (long long i2 = 0; i2 < k2; ++i2) {
    float v17[4];
    #pragma unroll
    for (int j = 0; j < 4; ++j) v17[j] = 0.0f;
    const long long k6 = least(32, (n0 / 4 + 31 - tx) / 32 - 32 * i2);
    for (long long i3 = 0; i3 < k6; ++i3) {
      const long long k7 = 4 * tx + 4096 * i2 + 128 * i3;
      bool v60[4];
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const long long v59 = k7 + j;
        v60[j] = v59 <= v73;
      }
      const long long k8 = k7 + bx * n0;
      Vec<float, 4> v61;
      load_vector(v61, b0 + k8);
      Vec<float, 4> v65;
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float v62 = v61[j] / v74;
        const float v63 = v60[j] ? v62 : __uint_as_float(0xff800000u);
        const float v64 = v63 - v79;
        v65[j] = expf(v64);
      }
      store_vector(b2 + k8, v65);
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float v97 = v17[j] + v65[j];
        v17[j] = v97;
      }
    }
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const double v32 = (double)v17[j];
      const double v98 = v1[j] + v32;
      v1[j] = v98;
    }
  }
  double v101[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const double v99 = v1[j];
    const double v100 = v1[j + 2];
    v101[j] = v99 + v100;
  }
  const double v102 = v101[0];
  const double v103 = v101[1];
  const double v104 = v102 + v103;
  const double v105 = __shfl_xor_sync(0xffffffffu, v104, 16);
  const double v106 = v104 + v105;
  const double v107 = __shfl_xor_sync(0xffffffffu, v106, 8);
  const double v108 = v106 + v107;
  const double v109 = __shfl_xor_sync(0xffffffffu, v108, 4);
  const double v110 = v108 + v109;
  const double v111 = __shfl_xor_sync(0xffffffffu, v110, 2);
  const double v112 = v110 + v111;
  const double v113 = __shfl_xor_sync(0xffffffffu, v112, 1);
  const double v114 = v112 + v113;
  const float v34 = (float)v114;
  if (tx == 0) {
    b3[bx] = v34;
  }
}
