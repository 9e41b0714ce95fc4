// simple_add_s1: pointwise(vector = 4, unroll = 1, split = 0, threads = 32)
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

extern "C" __global__ void __launch_bounds__(32) simple_add_s1(
    const float* __restrict__ b0, const float* __restrict__ b1, float* __restrict__ b2) {
  const unsigned tx = threadIdx.x;
  if (tx <= 0) {
    const unsigned k0 = 4 * tx;
    Vec<float, 4> v0;
    load_vector(v0, b0 + k0);
    Vec<float, 4> v1;
    load_vector(v1, b1 + k0);
    Vec<float, 4> v2;
    #pragma unroll
    for (int j = 0; j < 4; ++j) v2[j] = v0[j] + v1[j];
    store_vector(b2 + k0, v2);
  }
}
