// tp_mlp_s5: pointwise(vector = 8, unroll = 1, split = 1, threads = 32, rows = 8)
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

// Philox 4x32-10 (Salmon et al., 2011): four words for counter (block, offset) under the key `seed`.
struct Philox {
  unsigned w0, w1, w2, w3;
};

__device__ __forceinline__ Philox philox(unsigned long long seed, unsigned long long block, unsigned long long offset) {
  Philox c = {(unsigned)block, (unsigned)(block >> 32), (unsigned)offset, (unsigned)(offset >> 32)};
  unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned long long p0 = 0xd2511f53ull * c.w0, p1 = 0xcd9e8d57ull * c.w2;
    c = {(unsigned)(p1 >> 32) ^ c.w1 ^ k0, (unsigned)p1, (unsigned)(p0 >> 32) ^ c.w3 ^ k1, (unsigned)p0};
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return c;
}

// The upper 24 bits as a number in [0, 1).
__device__ __forceinline__ float unit_f32(unsigned word) { return (float)(word >> 8) * 0x1p-24f; }

// Number `index` of the sequence; four neighbours share a block.
__device__ __forceinline__ float uniform(unsigned long long seed, unsigned long long index, unsigned long long offset) {
  const Philox c = philox(seed, index / 4, offset);
  const unsigned low = index & 1 ? c.w1 : c.w0, high = index & 1 ? c.w3 : c.w2;
  return unit_f32(index & 2 ? high : low);
}

// N numbers from a multiple of 4 on; N is a multiple of 4.
template <int N>
__device__ __forceinline__ void uniform_vector(Vec<float, N>& out, unsigned long long seed, unsigned long long index,
                                               unsigned long long offset) {
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const Philox c = philox(seed, index / 4 + i / 4, offset);
    out[i] = unit_f32(c.w0);
    out[i + 1] = unit_f32(c.w1);
    out[i + 2] = unit_f32(c.w2);
    out[i + 3] = unit_f32(c.w3);
  }
}

extern "C" __global__ void __launch_bounds__(256) tp_mlp_s5(
    const bf16* __restrict__ b0, const bf16* __restrict__ b1, const unsigned long long* __restrict__ b2,
    bf16* __restrict__ b3, bf16* __restrict__ b4, unsigned n0, unsigned n1, long long n2) {
  const unsigned bx = blockIdx.x;
  const unsigned ty = threadIdx.y;
  const unsigned tx = threadIdx.x;
  const unsigned long long v3 = b2[0];
  const unsigned k0 = (n1 + 255) / 256;
  const unsigned k1 = bx / k0;
  const unsigned k2 = bx - k1 * k0;
  const unsigned k3 = 8 * tx + 256 * k2;
  if (k3 < n1 && ty + 8 * k1 < n0) {
    const unsigned k4 = k3 + ty * n1 + 8 * n1 * k1;
    Vec<float, 8> v0;
    load_vector(v0, b0 + k4);
    Vec<float, 8> v1;
    load_vector(v1, b1 + k3);
    Vec<float, 8> v2;
    #pragma unroll
    for (int j = 0; j < 8; ++j) v2[j] = v0[j] + v1[j];
    Vec<float, 8> v4;
    uniform_vector(v4, v3, static_cast<long long>(ty) * static_cast<long long>(n1) + 8 * static_cast<long long>(n1) * static_cast<long long>(k1) + 8 * static_cast<long long>(tx) + 256 * static_cast<long long>(k2), n2);
    Vec<float, 8> v10;
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
      const bool v6 = v4[j] >= 0.100000024f;
      const float v8 = v2[j] * 1.1111112f;
      v10[j] = v6 ? v8 : 0.0f;
    }
    store_vector(b3 + k4, v2);
    store_vector(b4 + k4, v10);
  }
}
