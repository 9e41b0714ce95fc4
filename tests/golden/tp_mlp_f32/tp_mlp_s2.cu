// tp_mlp_s2: pointwise(vector = 4, unroll = 1, split = 1, threads = 32, rows = 8)
// 1 / (1 + 2^t) for a factor of a product: its absolute error is a few times 2^-24.
#ifdef __CUDA_ARCH__
__device__ __forceinline__ float logistic2(float t) {
  float power, y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(t));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(1.0f + power));
  return y;
}
#endif

// x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3).
__device__ __forceinline__ float gelu_tanh(float x) {
  return x * logistic2(x * (-0.102943242f * (x * x) - 2.30220819f));  // -2 sqrt(2/pi) log2(e) (0.044715, 1)
}

__device__ __forceinline__ double gelu_tanh(double x) {
  return x / (1.0 + exp(-2.0 * 0.7978845608028654 * (x * (1.0 + 0.044715 * (x * x)))));
}

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

extern "C" __global__ void __launch_bounds__(256) tp_mlp_s2(
    const float* __restrict__ b0, const float* __restrict__ b1, float* __restrict__ b2, float* __restrict__ b3,
    unsigned n0, unsigned n1) {
  const unsigned bx = blockIdx.x;
  const unsigned ty = threadIdx.y;
  const unsigned tx = threadIdx.x;
  const unsigned k0 = (n1 + 127) / 128;
  const unsigned k1 = bx / k0;
  const unsigned k2 = bx - k1 * k0;
  const unsigned k3 = 4 * tx + 128 * k2;
  if (k3 < n1 && ty + 8 * k1 < n0) {
    const unsigned k4 = k3 + ty * n1 + 8 * n1 * k1;
    Vec<float, 4> v0;
    load_vector(v0, b0 + k4);
    Vec<float, 4> v1;
    load_vector(v1, b1 + k3);
    Vec<float, 4> v2;
    Vec<float, 4> v3;
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      v2[j] = v0[j] + v1[j];
      v3[j] = gelu_tanh(v2[j]);
    }
    store_vector(b2 + k4, v2);
    store_vector(b3 + k4, v3);
  }
}
