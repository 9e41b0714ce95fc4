// softmax_s2: pointwise(vector = 4, unroll = 1, split = 1, threads = 256)
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

extern "C" __global__ void __launch_bounds__(256) softmax_s2(
    const float* __restrict__ b0, const float* __restrict__ b1, float* __restrict__ b2, long long n0, long long n1) {
  const long long bx = blockIdx.x;
  const long long tx = threadIdx.x;
  const long long k0 = (n1 + 1023) / 1024;
  const long long k1 = quotient(bx, k0);
  const float v1 = b1[k1];
  const long long k2 = bx - k1 * k0;
  if (4 * tx + 1024 * k2 < n1) {
    const long long k3 = n1 * k1 + 4 * tx + 1024 * k2;
    Vec<float, 4> v0;
    load_vector(v0, b0 + k3);
    Vec<float, 4> v3;
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float v2 = v0[j] - v1;
      v3[j] = expf(v2);
    }
    store_vector(b2 + k3, v3);
  }
}
