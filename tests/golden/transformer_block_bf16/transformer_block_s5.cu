// transformer_block_s5: attention(queries = 16, block = 16, keys = 64, stages = 2, features = 16, values = 16)
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

// N elements on their way to shared memory, where they are when the thread has waited for its group; those from
// `active` on are 0, and nothing of `from` is read for them. What has fewer than 4 bytes, and all before sm_80, is
// there at once.
template <int N, class T>
__device__ __forceinline__ void copy_async(T* to, const T* from, int active) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  constexpr int bytes = sizeof(T) * N;
  if constexpr (bytes >= 4) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    const int taken = active > 0 ? active * int(sizeof(T)) : 0;
    if constexpr (bytes % 16 == 0) {
      const char* piece = reinterpret_cast<const char*>(from);
#pragma unroll
      for (int i = 0; i < bytes; i += 16) {
        const int left = taken - i < 0 ? 0 : taken - i < 16 ? taken - i : 16;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at + i), "l"(piece + i), "r"(left)
                     : "memory");
      }
    } else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from), "n"(bytes), "r"(taken)
                   : "memory");
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < N; ++i) to[i] = i < active ? from[i] : T();
}

__device__ __forceinline__ void commit_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Until all groups but the last N are there.
template <int N>
__device__ __forceinline__ void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

// Quotient rounded towards minus infinity and its remainder; b > 0.
__device__ __forceinline__ long long floor_div(long long a, long long b) { return a / b - (a % b < 0); }
__device__ __forceinline__ long long floor_mod(long long a, long long b) { return a % b + (a % b < 0 ? b : 0); }

// N matrices of 8 by 8 elements of 2 bytes out of shared memory, two elements of each to a thread; row r of matrix i
// lies at the element of `from` that thread 8 * i + r says: numbers of 32 bits, of which one constant or another is a
// part of the instruction.
template <int N, bool transposed>
__device__ __forceinline__ void load_matrices(unsigned* to, const void* from, unsigned element) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(from)) + 2 * element;
  if constexpr (N == 4 && transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
  else if constexpr (N == 4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
  else if constexpr (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(at)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(at)
                 : "memory");
#endif
}

// 16 by 8 sums, of 16 terms each.
template <bool half>
__device__ __forceinline__ void multiply_matrices(float* sums, const unsigned* a, const unsigned* b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (half)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

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

extern "C" __global__ void __launch_bounds__(32) transformer_block_s5(
    const bf16* __restrict__ b0, const bf16* __restrict__ b1, const bf16* __restrict__ b2, bf16* __restrict__ b3,
    unsigned n0, unsigned n1, unsigned n2, unsigned n3) {
  const unsigned bx = blockIdx.x;
  const unsigned ty = threadIdx.y;
  const unsigned tx = threadIdx.x;
  unsigned b6[4];
  float b7[32] = {};
  unsigned b8[16];
  unsigned b9[4];
  float b10[8] = {};
  float b11[2] = {};
  float b12[2] = {};
  float b13[2] = {};
  Vec<float, 2> s0;
  #pragma unroll
  for (int j = 0; j < 2; ++j) s0[j] = 0.0f;
  *(b6) = bf16_pair(s0[0], s0[1]);
  const unsigned k0 = n1 / 16;
  const unsigned k1 = bx / k0;
  const unsigned k2 = bx - k1 * k0;
  const unsigned k3 = n2 * k0;
  const unsigned k4 = unsigned(static_cast<long long>(bx) / (static_cast<long long>(n2) * static_cast<long long>(k0)));
  const unsigned k5 = k1 - k4 * n2;
  const unsigned k6 = 256 * ty * n2 + 16 * n1 * n2 + 16 * n2 * (tx / 4) + 16 * n1 * n2 * k4 + 2 * (tx % 4) + 16 * k5 - 256 * n2 * k2 - 256 * n2;
  Vec<float, 2> v283;
  load_vector(v283, b0 + int(k6));
  *(b6) = bf16_pair(v283[0], v283[1]);
  Vec<float, 2> s1;
  #pragma unroll
  for (int j = 0; j < 2; ++j) s1[j] = 0.0f;
  *(b6 + 1) = bf16_pair(s1[0], s1[1]);
  const unsigned k7 = k6 + 128 * n2;
  Vec<float, 2> v285;
  load_vector(v285, b0 + int(k7));
  *(b6 + 1) = bf16_pair(v285[0], v285[1]);
  Vec<float, 2> s2;
  #pragma unroll
  for (int j = 0; j < 2; ++j) s2[j] = 0.0f;
  *(b6 + 2) = bf16_pair(s2[0], s2[1]);
  const unsigned k8 = k6 + 8;
  Vec<float, 2> v287;
  load_vector(v287, b0 + int(k8));
  *(b6 + 2) = bf16_pair(v287[0], v287[1]);
  Vec<float, 2> s3;
  #pragma unroll
  for (int j = 0; j < 2; ++j) s3[j] = 0.0f;
  *(b6 + 3) = bf16_pair(s3[0], s3[1]);
  const unsigned k9 = k6 + 128 * n2 + 8;
  Vec<float, 2> v289;
  load_vector(v289, b0 + int(k9));
  *(b6 + 3) = bf16_pair(v289[0], v289[1]);
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    b10[j] = 0.0f;
    b10[2 + j] = 0.0f;
    b10[4 + j] = 0.0f;
    b10[6 + j] = 0.0f;
  }
  b11[0] = __uint_as_float(0xff800000u);
  b13[0] = 0.0f;
  b11[1] = __uint_as_float(0xff800000u);
  b13[1] = 0.0f;
  __shared__ __align__(16) bf16 b4[2048];
  __shared__ __align__(16) bf16 b5[2048];
  __shared__ __align__(16) bf16 b17[2048];
  __shared__ __align__(16) bf16 b18[2048];
  const unsigned k10 = 256 * ty + 32 * (tx / 4) + 8 * ((tx + tx / 8) % 4);
  const unsigned k11 = 128 * ty * n2 + 16 * n2 * (tx / 4) + 16 * n1 * n2 * k4 + 8 * (tx % 4) + 16 * k5;
  const unsigned k12 = tx % 4 < 2 ? 8 : 0;
  copy_async<8>(b4 + k10, b1 + k11, int(k12));
  const unsigned k13 = k10 + 256;
  const unsigned k14 = k11 + 128 * n2;
  copy_async<8>(b4 + k13, b1 + k14, int(k12));
  const unsigned k15 = k10 + 512;
  const unsigned k16 = k11 + 256 * n2;
  const unsigned k17 = tx % 4 < 2 && 8 * ty + tx / 4 + 16 < n1 ? 8 : 0;
  copy_async<8>(b4 + k15, b1 + k16, int(k17));
  const unsigned k18 = k10 + 768;
  const unsigned k19 = k11 + 384 * n2;
  const unsigned k20 = tx % 4 < 2 && 8 * ty + tx / 4 + 24 < n1 ? 8 : 0;
  copy_async<8>(b4 + k18, b1 + k19, int(k20));
  const unsigned k21 = k10 + 1024;
  const unsigned k22 = k11 + 512 * n2;
  const unsigned k23 = tx % 4 < 2 && 8 * ty + tx / 4 + 32 < n1 ? 8 : 0;
  copy_async<8>(b4 + k21, b1 + k22, int(k23));
  const unsigned k24 = k10 + 1280;
  const unsigned k25 = k11 + 640 * n2;
  const unsigned k26 = tx % 4 < 2 && 8 * ty + tx / 4 + 40 < n1 ? 8 : 0;
  copy_async<8>(b4 + k24, b1 + k25, int(k26));
  const unsigned k27 = k10 + 1536;
  const unsigned k28 = k11 + 768 * n2;
  const unsigned k29 = tx % 4 < 2 && 8 * ty + tx / 4 + 48 < n1 ? 8 : 0;
  copy_async<8>(b4 + k27, b1 + k28, int(k29));
  const unsigned k30 = k10 + 1792;
  const unsigned k31 = k11 + 896 * n2;
  const unsigned k32 = tx % 4 < 2 && 8 * ty + tx / 4 + 56 < n1 ? 8 : 0;
  copy_async<8>(b4 + k30, b1 + k31, int(k32));
  copy_async<8>(b5 + k10, b2 + k11, int(k12));
  copy_async<8>(b5 + k13, b2 + k14, int(k12));
  copy_async<8>(b5 + k15, b2 + k16, int(k17));
  copy_async<8>(b5 + k18, b2 + k19, int(k20));
  copy_async<8>(b5 + k21, b2 + k22, int(k23));
  copy_async<8>(b5 + k24, b2 + k25, int(k26));
  copy_async<8>(b5 + k27, b2 + k28, int(k29));
  copy_async<8>(b5 + k30, b2 + k31, int(k32));
  commit_copies();
  const long long v520 = 16;
  const float v521 = (float)v520;
  const float v522 = sqrtf(v521);
  const float v524 = 1.0f / v522;
  const float v3978 = v524;
  const unsigned k33 = 16 * ty + n1 + tx / 4 - 16 * k2 - 16;
  const long long v896 = int(k33);
  const long long v4026 = v896;
  const unsigned k34 = k33 + 8;
  const long long v908 = int(k34);
  const long long v4029 = v908;
  const unsigned k35 = unsigned(floor_div(static_cast<long long>(n1) + 127 - 16 * static_cast<long long>(k2), 128));
  const unsigned k36 = 256 * (tx / 16) + 32 * (tx % 8) + 8 * ((tx / 2 + (tx / 8) % 2) % 4);
  const unsigned k37 = k36 + 512;
  const unsigned k38 = k36 + 1024;
  const unsigned k39 = k36 + 1536;
  const unsigned k40 = 32 * (tx % 16) + 8 * ((tx / 2 + tx / 16) % 4);
  const unsigned k41 = k40 + 512;
  const unsigned k42 = k40 + 1024;
  const unsigned k43 = k40 + 1536;
  for (unsigned i0 = 0; int(i0) < int(k35); ++i0) {
    wait_for_copies<0>();
    __syncthreads();
    const unsigned k44 = k11 + 2048 * i0 * n2 + 1024 * n2;
    const unsigned k45 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 64 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k10, b1 + k44, int(k45));
    const unsigned k46 = k44 + 128 * n2;
    const unsigned k47 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 72 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k13, b1 + k46, int(k47));
    const unsigned k48 = k44 + 256 * n2;
    const unsigned k49 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 80 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k15, b1 + k48, int(k49));
    const unsigned k50 = k44 + 384 * n2;
    const unsigned k51 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 88 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k18, b1 + k50, int(k51));
    const unsigned k52 = k44 + 512 * n2;
    const unsigned k53 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 96 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k21, b1 + k52, int(k53));
    const unsigned k54 = k44 + 640 * n2;
    const unsigned k55 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 104 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k24, b1 + k54, int(k55));
    const unsigned k56 = k44 + 768 * n2;
    const unsigned k57 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 112 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k27, b1 + k56, int(k57));
    const unsigned k58 = k44 + 896 * n2;
    const unsigned k59 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 120 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k30, b1 + k58, int(k59));
    copy_async<8>(b18 + k10, b2 + k44, int(k45));
    copy_async<8>(b18 + k13, b2 + k46, int(k47));
    copy_async<8>(b18 + k15, b2 + k48, int(k49));
    copy_async<8>(b18 + k18, b2 + k50, int(k51));
    copy_async<8>(b18 + k21, b2 + k52, int(k53));
    copy_async<8>(b18 + k24, b2 + k54, int(k55));
    copy_async<8>(b18 + k27, b2 + k56, int(k57));
    copy_async<8>(b18 + k30, b2 + k58, int(k59));
    commit_copies();
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      b7[j] = 0.0f;
      b7[2 + j] = 0.0f;
      b7[4 + j] = 0.0f;
      b7[6 + j] = 0.0f;
      b7[8 + j] = 0.0f;
      b7[10 + j] = 0.0f;
      b7[12 + j] = 0.0f;
      b7[14 + j] = 0.0f;
      b7[16 + j] = 0.0f;
      b7[18 + j] = 0.0f;
      b7[20 + j] = 0.0f;
      b7[22 + j] = 0.0f;
      b7[24 + j] = 0.0f;
      b7[26 + j] = 0.0f;
      b7[28 + j] = 0.0f;
      b7[30 + j] = 0.0f;
    }
    load_matrices<4, false>(b9, b4, k36);
    multiply_matrices<false>(b7, b6, b9);
    multiply_matrices<false>(b7 + 4, b6, b9 + 2);
    load_matrices<4, false>(b9, b4, k37);
    multiply_matrices<false>(b7 + 8, b6, b9);
    multiply_matrices<false>(b7 + 12, b6, b9 + 2);
    load_matrices<4, false>(b9, b4, k38);
    multiply_matrices<false>(b7 + 16, b6, b9);
    multiply_matrices<false>(b7 + 20, b6, b9 + 2);
    load_matrices<4, false>(b9, b4, k39);
    multiply_matrices<false>(b7 + 24, b6, b9);
    multiply_matrices<false>(b7 + 28, b6, b9 + 2);
    if (128 * i0 + 16 * k2 + 78 < n1) {
      float v527[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v519 = b7[j];
        const float v525 = v519 * v3978;
        v527[j] = true ? v525 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[j] = v527[j];
      float v537[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v529 = b7[2 + j];
        const float v535 = v529 * v3978;
        v537[j] = true ? v535 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[2 + j] = v537[j];
      float v547[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v539 = b7[4 + j];
        const float v545 = v539 * v3978;
        v547[j] = true ? v545 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[4 + j] = v547[j];
      float v557[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v549 = b7[6 + j];
        const float v555 = v549 * v3978;
        v557[j] = true ? v555 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[6 + j] = v557[j];
      float v567[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v559 = b7[8 + j];
        const float v565 = v559 * v3978;
        v567[j] = true ? v565 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[8 + j] = v567[j];
      float v577[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v569 = b7[10 + j];
        const float v575 = v569 * v3978;
        v577[j] = true ? v575 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[10 + j] = v577[j];
      float v587[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v579 = b7[12 + j];
        const float v585 = v579 * v3978;
        v587[j] = true ? v585 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[12 + j] = v587[j];
      float v597[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v589 = b7[14 + j];
        const float v595 = v589 * v3978;
        v597[j] = true ? v595 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[14 + j] = v597[j];
      float v607[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v599 = b7[16 + j];
        const float v605 = v599 * v3978;
        v607[j] = true ? v605 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[16 + j] = v607[j];
      float v617[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v609 = b7[18 + j];
        const float v615 = v609 * v3978;
        v617[j] = true ? v615 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[18 + j] = v617[j];
      float v627[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v619 = b7[20 + j];
        const float v625 = v619 * v3978;
        v627[j] = true ? v625 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[20 + j] = v627[j];
      float v637[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v629 = b7[22 + j];
        const float v635 = v629 * v3978;
        v637[j] = true ? v635 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[22 + j] = v637[j];
      float v647[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v639 = b7[24 + j];
        const float v645 = v639 * v3978;
        v647[j] = true ? v645 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[24 + j] = v647[j];
      float v657[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v649 = b7[26 + j];
        const float v655 = v649 * v3978;
        v657[j] = true ? v655 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[26 + j] = v657[j];
      float v667[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v659 = b7[28 + j];
        const float v665 = v659 * v3978;
        v667[j] = true ? v665 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[28 + j] = v667[j];
      float v677[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v669 = b7[30 + j];
        const float v675 = v669 * v3978;
        v677[j] = true ? v675 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[30 + j] = v677[j];
    }
    const unsigned k60 = 128 * i0 + 2 * (tx % 4);
    if (n1 < 128 * i0 + 16 * k2 + 79) {
      long long v895[2];
      float v905[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v894 = b7[j];
        v895[j] = k60 + j;
        const bool v897 = v895[j] <= v4026;
        const float v903 = v894 * v3978;
        v905[j] = v897 ? v903 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[j] = v905[j];
      float v917[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v906 = b7[2 + j];
        const bool v909 = v895[j] <= v4029;
        const float v915 = v906 * v3978;
        v917[j] = v909 ? v915 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[2 + j] = v917[j];
      const unsigned k61 = k60 + 8;
      long long v919[2];
      float v929[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v918 = b7[4 + j];
        v919[j] = k61 + j;
        const bool v921 = v919[j] <= v4026;
        const float v927 = v918 * v3978;
        v929[j] = v921 ? v927 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[4 + j] = v929[j];
      float v941[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v930 = b7[6 + j];
        const bool v933 = v919[j] <= v4029;
        const float v939 = v930 * v3978;
        v941[j] = v933 ? v939 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[6 + j] = v941[j];
      const unsigned k62 = k61 + 8;
      long long v943[2];
      float v953[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v942 = b7[8 + j];
        v943[j] = k62 + j;
        const bool v945 = v943[j] <= v4026;
        const float v951 = v942 * v3978;
        v953[j] = v945 ? v951 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[8 + j] = v953[j];
      float v965[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v954 = b7[10 + j];
        const bool v957 = v943[j] <= v4029;
        const float v963 = v954 * v3978;
        v965[j] = v957 ? v963 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[10 + j] = v965[j];
      const unsigned k63 = k61 + 16;
      long long v967[2];
      float v977[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v966 = b7[12 + j];
        v967[j] = k63 + j;
        const bool v969 = v967[j] <= v4026;
        const float v975 = v966 * v3978;
        v977[j] = v969 ? v975 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[12 + j] = v977[j];
      float v989[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v978 = b7[14 + j];
        const bool v981 = v967[j] <= v4029;
        const float v987 = v978 * v3978;
        v989[j] = v981 ? v987 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[14 + j] = v989[j];
      const unsigned k64 = k61 + 24;
      long long v991[2];
      float v1001[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v990 = b7[16 + j];
        v991[j] = k64 + j;
        const bool v993 = v991[j] <= v4026;
        const float v999 = v990 * v3978;
        v1001[j] = v993 ? v999 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[16 + j] = v1001[j];
      float v1013[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v1002 = b7[18 + j];
        const bool v1005 = v991[j] <= v4029;
        const float v1011 = v1002 * v3978;
        v1013[j] = v1005 ? v1011 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[18 + j] = v1013[j];
      const unsigned k65 = k61 + 32;
      long long v1015[2];
      float v1025[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v1014 = b7[20 + j];
        v1015[j] = k65 + j;
        const bool v1017 = v1015[j] <= v4026;
        const float v1023 = v1014 * v3978;
        v1025[j] = v1017 ? v1023 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[20 + j] = v1025[j];
      float v1037[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v1026 = b7[22 + j];
        const bool v1029 = v1015[j] <= v4029;
        const float v1035 = v1026 * v3978;
        v1037[j] = v1029 ? v1035 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[22 + j] = v1037[j];
      const unsigned k66 = k61 + 40;
      long long v1039[2];
      float v1049[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v1038 = b7[24 + j];
        v1039[j] = k66 + j;
        const bool v1041 = v1039[j] <= v4026;
        const float v1047 = v1038 * v3978;
        v1049[j] = v1041 ? v1047 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[24 + j] = v1049[j];
      float v1061[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v1050 = b7[26 + j];
        const bool v1053 = v1039[j] <= v4029;
        const float v1059 = v1050 * v3978;
        v1061[j] = v1053 ? v1059 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[26 + j] = v1061[j];
      const unsigned k67 = k61 + 48;
      long long v1063[2];
      float v1073[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v1062 = b7[28 + j];
        v1063[j] = k67 + j;
        const bool v1065 = v1063[j] <= v4026;
        const float v1071 = v1062 * v3978;
        v1073[j] = v1065 ? v1071 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[28 + j] = v1073[j];
      float v1085[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v1074 = b7[30 + j];
        const bool v1077 = v1063[j] <= v4029;
        const float v1083 = v1074 * v3978;
        v1085[j] = v1077 ? v1083 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[30 + j] = v1085[j];
    }
    if (n1 < 128 * i0 + 64) {
      if (n1 <= k60) {
        b7[0] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 2) {
        b7[1] = __uint_as_float(0xff800000u);
      }
      if (n1 <= k60) {
        b7[2] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 2) {
        b7[3] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 9) {
        b7[4] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 10) {
        b7[5] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 9) {
        b7[6] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 10) {
        b7[7] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 17) {
        b7[8] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 18) {
        b7[9] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 17) {
        b7[10] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 18) {
        b7[11] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 25) {
        b7[12] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 26) {
        b7[13] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 25) {
        b7[14] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 26) {
        b7[15] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 33) {
        b7[16] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 34) {
        b7[17] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 33) {
        b7[18] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 34) {
        b7[19] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 41) {
        b7[20] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 42) {
        b7[21] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 41) {
        b7[22] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 42) {
        b7[23] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 49) {
        b7[24] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 50) {
        b7[25] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 49) {
        b7[26] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 50) {
        b7[27] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 57) {
        b7[28] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 58) {
        b7[29] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 57) {
        b7[30] = __uint_as_float(0xff800000u);
      }
      if (n1 < k60 + 58) {
        b7[31] = __uint_as_float(0xff800000u);
      }
    }
    const float v1376 = b7[0];
    b12[0] = v1376;
    const float v1377 = b12[0];
    const float v1379 = max_nan(v1377, v1376);
    b12[0] = v1379;
    const float v1380 = b12[0];
    const float v1381 = b7[1];
    const float v1382 = max_nan(v1380, v1381);
    b12[0] = v1382;
    const float v1383 = b12[0];
    const float v1384 = b7[4];
    const float v1385 = max_nan(v1383, v1384);
    b12[0] = v1385;
    const float v1386 = b12[0];
    const float v1387 = b7[5];
    const float v1388 = max_nan(v1386, v1387);
    b12[0] = v1388;
    const float v1389 = b12[0];
    const float v1390 = b7[8];
    const float v1391 = max_nan(v1389, v1390);
    b12[0] = v1391;
    const float v1392 = b12[0];
    const float v1393 = b7[9];
    const float v1394 = max_nan(v1392, v1393);
    b12[0] = v1394;
    const float v1395 = b12[0];
    const float v1396 = b7[12];
    const float v1397 = max_nan(v1395, v1396);
    b12[0] = v1397;
    const float v1398 = b12[0];
    const float v1399 = b7[13];
    const float v1400 = max_nan(v1398, v1399);
    b12[0] = v1400;
    const float v1401 = b12[0];
    const float v1402 = b7[16];
    const float v1403 = max_nan(v1401, v1402);
    b12[0] = v1403;
    const float v1404 = b12[0];
    const float v1405 = b7[17];
    const float v1406 = max_nan(v1404, v1405);
    b12[0] = v1406;
    const float v1407 = b12[0];
    const float v1408 = b7[20];
    const float v1409 = max_nan(v1407, v1408);
    b12[0] = v1409;
    const float v1410 = b12[0];
    const float v1411 = b7[21];
    const float v1412 = max_nan(v1410, v1411);
    b12[0] = v1412;
    const float v1413 = b12[0];
    const float v1414 = b7[24];
    const float v1415 = max_nan(v1413, v1414);
    b12[0] = v1415;
    const float v1416 = b12[0];
    const float v1417 = b7[25];
    const float v1418 = max_nan(v1416, v1417);
    b12[0] = v1418;
    const float v1419 = b12[0];
    const float v1420 = b7[28];
    const float v1421 = max_nan(v1419, v1420);
    b12[0] = v1421;
    const float v1422 = b12[0];
    const float v1423 = b7[29];
    const float v1424 = max_nan(v1422, v1423);
    b12[0] = v1424;
    const float v1425 = b11[0];
    const float v1426 = b12[0];
    const float v1427 = __shfl_xor_sync(0xffffffffu, v1426, 1);
    const float v1428 = max_nan(v1426, v1427);
    const float v1429 = __shfl_xor_sync(0xffffffffu, v1428, 2);
    const float v1430 = max_nan(v1428, v1429);
    const float v1431 = max_nan(v1425, v1430);
    const bool v1434 = v1431 == __uint_as_float(0xff800000u);
    const float v1436 = v1434 ? 0.0f : v1431;
    const float v1439 = v1434 ? 0.0f : v1436;
    const bool v1441 = v1425 == __uint_as_float(0xff800000u);
    const float v1443 = v1441 ? 0.0f : v1425;
    const float v1446 = v1441 ? v1439 : v1443;
    const float v1447 = v1446 - v1439;
    const float v1449 = v1447 * 1.442695f;
    const float v1450 = exp2f(v1449);
    b11[0] = v1431;
    b12[0] = v1439;
    const float v1451 = b13[0];
    const float v1452 = v1451 * v1450;
    b13[0] = v1452;
    const float v4074 = v1450;
    float v1454[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1453 = b10[j];
      v1454[j] = v1453 * v4074;
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b10[j] = v1454[j];
    float v1456[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1455 = b10[4 + j];
      v1456[j] = v1455 * v4074;
    }
    const float v1457 = b7[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) b10[4 + j] = v1456[j];
    b12[1] = v1457;
    const float v1458 = b12[1];
    const float v1460 = max_nan(v1458, v1457);
    b12[1] = v1460;
    const float v1461 = b12[1];
    const float v1462 = b7[3];
    const float v1463 = max_nan(v1461, v1462);
    b12[1] = v1463;
    const float v1464 = b12[1];
    const float v1465 = b7[6];
    const float v1466 = max_nan(v1464, v1465);
    b12[1] = v1466;
    const float v1467 = b12[1];
    const float v1468 = b7[7];
    const float v1469 = max_nan(v1467, v1468);
    b12[1] = v1469;
    const float v1470 = b12[1];
    const float v1471 = b7[10];
    const float v1472 = max_nan(v1470, v1471);
    b12[1] = v1472;
    const float v1473 = b12[1];
    const float v1474 = b7[11];
    const float v1475 = max_nan(v1473, v1474);
    b12[1] = v1475;
    const float v1476 = b12[1];
    const float v1477 = b7[14];
    const float v1478 = max_nan(v1476, v1477);
    b12[1] = v1478;
    const float v1479 = b12[1];
    const float v1480 = b7[15];
    const float v1481 = max_nan(v1479, v1480);
    b12[1] = v1481;
    const float v1482 = b12[1];
    const float v1483 = b7[18];
    const float v1484 = max_nan(v1482, v1483);
    b12[1] = v1484;
    const float v1485 = b12[1];
    const float v1486 = b7[19];
    const float v1487 = max_nan(v1485, v1486);
    b12[1] = v1487;
    const float v1488 = b12[1];
    const float v1489 = b7[22];
    const float v1490 = max_nan(v1488, v1489);
    b12[1] = v1490;
    const float v1491 = b12[1];
    const float v1492 = b7[23];
    const float v1493 = max_nan(v1491, v1492);
    b12[1] = v1493;
    const float v1494 = b12[1];
    const float v1495 = b7[26];
    const float v1496 = max_nan(v1494, v1495);
    b12[1] = v1496;
    const float v1497 = b12[1];
    const float v1498 = b7[27];
    const float v1499 = max_nan(v1497, v1498);
    b12[1] = v1499;
    const float v1500 = b12[1];
    const float v1501 = b7[30];
    const float v1502 = max_nan(v1500, v1501);
    b12[1] = v1502;
    const float v1503 = b12[1];
    const float v1504 = b7[31];
    const float v1505 = max_nan(v1503, v1504);
    b12[1] = v1505;
    const float v1506 = b11[1];
    const float v1507 = b12[1];
    const float v1508 = __shfl_xor_sync(0xffffffffu, v1507, 1);
    const float v1509 = max_nan(v1507, v1508);
    const float v1510 = __shfl_xor_sync(0xffffffffu, v1509, 2);
    const float v1511 = max_nan(v1509, v1510);
    const float v1512 = max_nan(v1506, v1511);
    const bool v1515 = v1512 == __uint_as_float(0xff800000u);
    const float v1517 = v1515 ? 0.0f : v1512;
    const float v1520 = v1515 ? 0.0f : v1517;
    const bool v1522 = v1506 == __uint_as_float(0xff800000u);
    const float v1524 = v1522 ? 0.0f : v1506;
    const float v1527 = v1522 ? v1520 : v1524;
    const float v1528 = v1527 - v1520;
    const float v1530 = v1528 * 1.442695f;
    const float v1531 = exp2f(v1530);
    b11[1] = v1512;
    b12[1] = v1520;
    const float v1532 = b13[1];
    const float v1533 = v1532 * v1531;
    b13[1] = v1533;
    const float v4076 = v1531;
    float v1535[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1534 = b10[2 + j];
      v1535[j] = v1534 * v4076;
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b10[2 + j] = v1535[j];
    float v1537[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1536 = b10[6 + j];
      v1537[j] = v1536 * v4076;
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b10[6 + j] = v1537[j];
    const float v1647 = b12[0];
    const float v4078 = v1647;
    float v1651[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1646 = b7[j];
      const float v1648 = v1646 - v4078;
      const float v1650 = v1648 * 1.442695f;
      v1651[j] = exp2f(v1650);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[j] = v1651[j];
    const float v1653 = b12[1];
    const float v4080 = v1653;
    float v1657[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1652 = b7[2 + j];
      const float v1654 = v1652 - v4080;
      const float v1656 = v1654 * 1.442695f;
      v1657[j] = exp2f(v1656);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[2 + j] = v1657[j];
    float v1663[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1658 = b7[4 + j];
      const float v1660 = v1658 - v4078;
      const float v1662 = v1660 * 1.442695f;
      v1663[j] = exp2f(v1662);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[4 + j] = v1663[j];
    float v1669[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1664 = b7[6 + j];
      const float v1666 = v1664 - v4080;
      const float v1668 = v1666 * 1.442695f;
      v1669[j] = exp2f(v1668);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[6 + j] = v1669[j];
    float v1675[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1670 = b7[8 + j];
      const float v1672 = v1670 - v4078;
      const float v1674 = v1672 * 1.442695f;
      v1675[j] = exp2f(v1674);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[8 + j] = v1675[j];
    float v1681[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1676 = b7[10 + j];
      const float v1678 = v1676 - v4080;
      const float v1680 = v1678 * 1.442695f;
      v1681[j] = exp2f(v1680);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[10 + j] = v1681[j];
    float v1687[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1682 = b7[12 + j];
      const float v1684 = v1682 - v4078;
      const float v1686 = v1684 * 1.442695f;
      v1687[j] = exp2f(v1686);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[12 + j] = v1687[j];
    float v1693[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1688 = b7[14 + j];
      const float v1690 = v1688 - v4080;
      const float v1692 = v1690 * 1.442695f;
      v1693[j] = exp2f(v1692);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[14 + j] = v1693[j];
    float v1699[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1694 = b7[16 + j];
      const float v1696 = v1694 - v4078;
      const float v1698 = v1696 * 1.442695f;
      v1699[j] = exp2f(v1698);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[16 + j] = v1699[j];
    float v1705[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1700 = b7[18 + j];
      const float v1702 = v1700 - v4080;
      const float v1704 = v1702 * 1.442695f;
      v1705[j] = exp2f(v1704);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[18 + j] = v1705[j];
    float v1711[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1706 = b7[20 + j];
      const float v1708 = v1706 - v4078;
      const float v1710 = v1708 * 1.442695f;
      v1711[j] = exp2f(v1710);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[20 + j] = v1711[j];
    float v1717[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1712 = b7[22 + j];
      const float v1714 = v1712 - v4080;
      const float v1716 = v1714 * 1.442695f;
      v1717[j] = exp2f(v1716);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[22 + j] = v1717[j];
    float v1723[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1718 = b7[24 + j];
      const float v1720 = v1718 - v4078;
      const float v1722 = v1720 * 1.442695f;
      v1723[j] = exp2f(v1722);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[24 + j] = v1723[j];
    float v1729[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1724 = b7[26 + j];
      const float v1726 = v1724 - v4080;
      const float v1728 = v1726 * 1.442695f;
      v1729[j] = exp2f(v1728);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[26 + j] = v1729[j];
    float v1735[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1730 = b7[28 + j];
      const float v1732 = v1730 - v4078;
      const float v1734 = v1732 * 1.442695f;
      v1735[j] = exp2f(v1734);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[28 + j] = v1735[j];
    float v1741[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1736 = b7[30 + j];
      const float v1738 = v1736 - v4080;
      const float v1740 = v1738 * 1.442695f;
      v1741[j] = exp2f(v1740);
    }
    const float v1856 = b13[0];
    const float v1857 = b7[0];
    const float v1858 = v1856 + v1857;
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[30 + j] = v1741[j];
    b13[0] = v1858;
    const float v1859 = b13[0];
    const float v1860 = b7[1];
    const float v1861 = v1859 + v1860;
    b13[0] = v1861;
    const float v1862 = b13[1];
    const float v1863 = b7[2];
    const float v1864 = v1862 + v1863;
    b13[1] = v1864;
    const float v1865 = b13[1];
    const float v1866 = b7[3];
    const float v1867 = v1865 + v1866;
    b13[1] = v1867;
    const float v1868 = b13[0];
    const float v1869 = b7[4];
    const float v1870 = v1868 + v1869;
    b13[0] = v1870;
    const float v1871 = b13[0];
    const float v1872 = b7[5];
    const float v1873 = v1871 + v1872;
    b13[0] = v1873;
    const float v1874 = b13[1];
    const float v1875 = b7[6];
    const float v1876 = v1874 + v1875;
    b13[1] = v1876;
    const float v1877 = b13[1];
    const float v1878 = b7[7];
    const float v1879 = v1877 + v1878;
    b13[1] = v1879;
    const float v1880 = b13[0];
    const float v1881 = b7[8];
    const float v1882 = v1880 + v1881;
    b13[0] = v1882;
    const float v1883 = b13[0];
    const float v1884 = b7[9];
    const float v1885 = v1883 + v1884;
    b13[0] = v1885;
    const float v1886 = b13[1];
    const float v1887 = b7[10];
    const float v1888 = v1886 + v1887;
    b13[1] = v1888;
    const float v1889 = b13[1];
    const float v1890 = b7[11];
    const float v1891 = v1889 + v1890;
    b13[1] = v1891;
    const float v1892 = b13[0];
    const float v1893 = b7[12];
    const float v1894 = v1892 + v1893;
    b13[0] = v1894;
    const float v1895 = b13[0];
    const float v1896 = b7[13];
    const float v1897 = v1895 + v1896;
    b13[0] = v1897;
    const float v1898 = b13[1];
    const float v1899 = b7[14];
    const float v1900 = v1898 + v1899;
    b13[1] = v1900;
    const float v1901 = b13[1];
    const float v1902 = b7[15];
    const float v1903 = v1901 + v1902;
    b13[1] = v1903;
    const float v1904 = b13[0];
    const float v1905 = b7[16];
    const float v1906 = v1904 + v1905;
    b13[0] = v1906;
    const float v1907 = b13[0];
    const float v1908 = b7[17];
    const float v1909 = v1907 + v1908;
    b13[0] = v1909;
    const float v1910 = b13[1];
    const float v1911 = b7[18];
    const float v1912 = v1910 + v1911;
    b13[1] = v1912;
    const float v1913 = b13[1];
    const float v1914 = b7[19];
    const float v1915 = v1913 + v1914;
    b13[1] = v1915;
    const float v1916 = b13[0];
    const float v1917 = b7[20];
    const float v1918 = v1916 + v1917;
    b13[0] = v1918;
    const float v1919 = b13[0];
    const float v1920 = b7[21];
    const float v1921 = v1919 + v1920;
    b13[0] = v1921;
    const float v1922 = b13[1];
    const float v1923 = b7[22];
    const float v1924 = v1922 + v1923;
    b13[1] = v1924;
    const float v1925 = b13[1];
    const float v1926 = b7[23];
    const float v1927 = v1925 + v1926;
    b13[1] = v1927;
    const float v1928 = b13[0];
    const float v1929 = b7[24];
    const float v1930 = v1928 + v1929;
    b13[0] = v1930;
    const float v1931 = b13[0];
    const float v1932 = b7[25];
    const float v1933 = v1931 + v1932;
    b13[0] = v1933;
    const float v1934 = b13[1];
    const float v1935 = b7[26];
    const float v1936 = v1934 + v1935;
    b13[1] = v1936;
    const float v1937 = b13[1];
    const float v1938 = b7[27];
    const float v1939 = v1937 + v1938;
    b13[1] = v1939;
    const float v1940 = b13[0];
    const float v1941 = b7[28];
    const float v1942 = v1940 + v1941;
    b13[0] = v1942;
    const float v1943 = b13[0];
    const float v1944 = b7[29];
    const float v1945 = v1943 + v1944;
    b13[0] = v1945;
    const float v1946 = b13[1];
    const float v1947 = b7[30];
    const float v1948 = v1946 + v1947;
    b13[1] = v1948;
    const float v1949 = b13[1];
    const float v1950 = b7[31];
    const float v1951 = v1949 + v1950;
    b13[1] = v1951;
    Vec<float, 2> v1970;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1970[j] = b7[j];
    *(b8) = bf16_pair(v1970[0], v1970[1]);
    Vec<float, 2> v1971;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1971[j] = b7[2 + j];
    *(b8 + 1) = bf16_pair(v1971[0], v1971[1]);
    Vec<float, 2> v1972;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1972[j] = b7[4 + j];
    *(b8 + 2) = bf16_pair(v1972[0], v1972[1]);
    Vec<float, 2> v1973;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1973[j] = b7[6 + j];
    *(b8 + 3) = bf16_pair(v1973[0], v1973[1]);
    Vec<float, 2> v1974;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1974[j] = b7[8 + j];
    *(b8 + 4) = bf16_pair(v1974[0], v1974[1]);
    Vec<float, 2> v1975;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1975[j] = b7[10 + j];
    *(b8 + 5) = bf16_pair(v1975[0], v1975[1]);
    Vec<float, 2> v1976;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1976[j] = b7[12 + j];
    *(b8 + 6) = bf16_pair(v1976[0], v1976[1]);
    Vec<float, 2> v1977;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1977[j] = b7[14 + j];
    *(b8 + 7) = bf16_pair(v1977[0], v1977[1]);
    Vec<float, 2> v1978;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1978[j] = b7[16 + j];
    *(b8 + 8) = bf16_pair(v1978[0], v1978[1]);
    Vec<float, 2> v1979;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1979[j] = b7[18 + j];
    *(b8 + 9) = bf16_pair(v1979[0], v1979[1]);
    Vec<float, 2> v1980;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1980[j] = b7[20 + j];
    *(b8 + 10) = bf16_pair(v1980[0], v1980[1]);
    Vec<float, 2> v1981;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1981[j] = b7[22 + j];
    *(b8 + 11) = bf16_pair(v1981[0], v1981[1]);
    Vec<float, 2> v1982;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1982[j] = b7[24 + j];
    *(b8 + 12) = bf16_pair(v1982[0], v1982[1]);
    Vec<float, 2> v1983;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1983[j] = b7[26 + j];
    *(b8 + 13) = bf16_pair(v1983[0], v1983[1]);
    Vec<float, 2> v1984;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1984[j] = b7[28 + j];
    *(b8 + 14) = bf16_pair(v1984[0], v1984[1]);
    Vec<float, 2> v1985;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v1985[j] = b7[30 + j];
    *(b8 + 15) = bf16_pair(v1985[0], v1985[1]);
    load_matrices<4, true>(b9, b5, k40);
    multiply_matrices<false>(b10, b8, b9);
    multiply_matrices<false>(b10 + 4, b8, b9 + 2);
    load_matrices<4, true>(b9, b5, k41);
    multiply_matrices<false>(b10, b8 + 4, b9);
    multiply_matrices<false>(b10 + 4, b8 + 4, b9 + 2);
    load_matrices<4, true>(b9, b5, k42);
    multiply_matrices<false>(b10, b8 + 8, b9);
    multiply_matrices<false>(b10 + 4, b8 + 8, b9 + 2);
    load_matrices<4, true>(b9, b5, k43);
    multiply_matrices<false>(b10, b8 + 12, b9);
    multiply_matrices<false>(b10 + 4, b8 + 12, b9 + 2);
    wait_for_copies<0>();
    __syncthreads();
    const unsigned k68 = k44 + 1024 * n2;
    const unsigned k69 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 128 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k10, b1 + k68, int(k69));
    const unsigned k70 = k44 + 1152 * n2;
    const unsigned k71 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 136 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k13, b1 + k70, int(k71));
    const unsigned k72 = k44 + 1280 * n2;
    const unsigned k73 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 144 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k15, b1 + k72, int(k73));
    const unsigned k74 = k44 + 1408 * n2;
    const unsigned k75 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 152 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k18, b1 + k74, int(k75));
    const unsigned k76 = k44 + 1536 * n2;
    const unsigned k77 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 160 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k21, b1 + k76, int(k77));
    const unsigned k78 = k44 + 1664 * n2;
    const unsigned k79 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 168 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k24, b1 + k78, int(k79));
    const unsigned k80 = k44 + 1792 * n2;
    const unsigned k81 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 176 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k27, b1 + k80, int(k81));
    const unsigned k82 = k44 + 1920 * n2;
    const unsigned k83 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 184 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k30, b1 + k82, int(k83));
    copy_async<8>(b5 + k10, b2 + k68, int(k69));
    copy_async<8>(b5 + k13, b2 + k70, int(k71));
    copy_async<8>(b5 + k15, b2 + k72, int(k73));
    copy_async<8>(b5 + k18, b2 + k74, int(k75));
    copy_async<8>(b5 + k21, b2 + k76, int(k77));
    copy_async<8>(b5 + k24, b2 + k78, int(k79));
    copy_async<8>(b5 + k27, b2 + k80, int(k81));
    copy_async<8>(b5 + k30, b2 + k82, int(k83));
    commit_copies();
    if (int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64)))) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        b7[j] = 0.0f;
        b7[2 + j] = 0.0f;
        b7[4 + j] = 0.0f;
        b7[6 + j] = 0.0f;
        b7[8 + j] = 0.0f;
        b7[10 + j] = 0.0f;
        b7[12 + j] = 0.0f;
        b7[14 + j] = 0.0f;
        b7[16 + j] = 0.0f;
        b7[18 + j] = 0.0f;
        b7[20 + j] = 0.0f;
        b7[22 + j] = 0.0f;
        b7[24 + j] = 0.0f;
        b7[26 + j] = 0.0f;
        b7[28 + j] = 0.0f;
        b7[30 + j] = 0.0f;
      }
      load_matrices<4, false>(b9, b17, k36);
      multiply_matrices<false>(b7, b6, b9);
      multiply_matrices<false>(b7 + 4, b6, b9 + 2);
      load_matrices<4, false>(b9, b17, k37);
      multiply_matrices<false>(b7 + 8, b6, b9);
      multiply_matrices<false>(b7 + 12, b6, b9 + 2);
      load_matrices<4, false>(b9, b17, k38);
      multiply_matrices<false>(b7 + 16, b6, b9);
      multiply_matrices<false>(b7 + 20, b6, b9 + 2);
      load_matrices<4, false>(b9, b17, k39);
      multiply_matrices<false>(b7 + 24, b6, b9);
      multiply_matrices<false>(b7 + 28, b6, b9 + 2);
      if (128 * i0 + 16 * k2 + 142 < n1) {
        float v2209[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2201 = b7[j];
          const float v2207 = v2201 * v3978;
          v2209[j] = true ? v2207 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[j] = v2209[j];
        float v2219[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2211 = b7[2 + j];
          const float v2217 = v2211 * v3978;
          v2219[j] = true ? v2217 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[2 + j] = v2219[j];
        float v2229[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2221 = b7[4 + j];
          const float v2227 = v2221 * v3978;
          v2229[j] = true ? v2227 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[4 + j] = v2229[j];
        float v2239[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2231 = b7[6 + j];
          const float v2237 = v2231 * v3978;
          v2239[j] = true ? v2237 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[6 + j] = v2239[j];
        float v2249[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2241 = b7[8 + j];
          const float v2247 = v2241 * v3978;
          v2249[j] = true ? v2247 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[8 + j] = v2249[j];
        float v2259[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2251 = b7[10 + j];
          const float v2257 = v2251 * v3978;
          v2259[j] = true ? v2257 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[10 + j] = v2259[j];
        float v2269[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2261 = b7[12 + j];
          const float v2267 = v2261 * v3978;
          v2269[j] = true ? v2267 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[12 + j] = v2269[j];
        float v2279[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2271 = b7[14 + j];
          const float v2277 = v2271 * v3978;
          v2279[j] = true ? v2277 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[14 + j] = v2279[j];
        float v2289[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2281 = b7[16 + j];
          const float v2287 = v2281 * v3978;
          v2289[j] = true ? v2287 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[16 + j] = v2289[j];
        float v2299[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2291 = b7[18 + j];
          const float v2297 = v2291 * v3978;
          v2299[j] = true ? v2297 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[18 + j] = v2299[j];
        float v2309[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2301 = b7[20 + j];
          const float v2307 = v2301 * v3978;
          v2309[j] = true ? v2307 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[20 + j] = v2309[j];
        float v2319[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2311 = b7[22 + j];
          const float v2317 = v2311 * v3978;
          v2319[j] = true ? v2317 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[22 + j] = v2319[j];
        float v2329[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2321 = b7[24 + j];
          const float v2327 = v2321 * v3978;
          v2329[j] = true ? v2327 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[24 + j] = v2329[j];
        float v2339[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2331 = b7[26 + j];
          const float v2337 = v2331 * v3978;
          v2339[j] = true ? v2337 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[26 + j] = v2339[j];
        float v2349[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2341 = b7[28 + j];
          const float v2347 = v2341 * v3978;
          v2349[j] = true ? v2347 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[28 + j] = v2349[j];
        float v2359[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2351 = b7[30 + j];
          const float v2357 = v2351 * v3978;
          v2359[j] = true ? v2357 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[30 + j] = v2359[j];
      }
      if (n1 < 128 * i0 + 16 * k2 + 143) {
        const unsigned k84 = k60 + 64;
        long long v2577[2];
        float v2587[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2576 = b7[j];
          v2577[j] = k84 + j;
          const bool v2579 = v2577[j] <= v4026;
          const float v2585 = v2576 * v3978;
          v2587[j] = v2579 ? v2585 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[j] = v2587[j];
        float v2599[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2588 = b7[2 + j];
          const bool v2591 = v2577[j] <= v4029;
          const float v2597 = v2588 * v3978;
          v2599[j] = v2591 ? v2597 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[2 + j] = v2599[j];
        const unsigned k85 = k84 + 8;
        long long v2601[2];
        float v2611[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2600 = b7[4 + j];
          v2601[j] = k85 + j;
          const bool v2603 = v2601[j] <= v4026;
          const float v2609 = v2600 * v3978;
          v2611[j] = v2603 ? v2609 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[4 + j] = v2611[j];
        float v2623[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2612 = b7[6 + j];
          const bool v2615 = v2601[j] <= v4029;
          const float v2621 = v2612 * v3978;
          v2623[j] = v2615 ? v2621 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[6 + j] = v2623[j];
        const unsigned k86 = k84 + 16;
        long long v2625[2];
        float v2635[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2624 = b7[8 + j];
          v2625[j] = k86 + j;
          const bool v2627 = v2625[j] <= v4026;
          const float v2633 = v2624 * v3978;
          v2635[j] = v2627 ? v2633 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[8 + j] = v2635[j];
        float v2647[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2636 = b7[10 + j];
          const bool v2639 = v2625[j] <= v4029;
          const float v2645 = v2636 * v3978;
          v2647[j] = v2639 ? v2645 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[10 + j] = v2647[j];
        const unsigned k87 = k84 + 24;
        long long v2649[2];
        float v2659[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2648 = b7[12 + j];
          v2649[j] = k87 + j;
          const bool v2651 = v2649[j] <= v4026;
          const float v2657 = v2648 * v3978;
          v2659[j] = v2651 ? v2657 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[12 + j] = v2659[j];
        float v2671[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2660 = b7[14 + j];
          const bool v2663 = v2649[j] <= v4029;
          const float v2669 = v2660 * v3978;
          v2671[j] = v2663 ? v2669 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[14 + j] = v2671[j];
        const unsigned k88 = k84 + 32;
        long long v2673[2];
        float v2683[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2672 = b7[16 + j];
          v2673[j] = k88 + j;
          const bool v2675 = v2673[j] <= v4026;
          const float v2681 = v2672 * v3978;
          v2683[j] = v2675 ? v2681 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[16 + j] = v2683[j];
        float v2695[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2684 = b7[18 + j];
          const bool v2687 = v2673[j] <= v4029;
          const float v2693 = v2684 * v3978;
          v2695[j] = v2687 ? v2693 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[18 + j] = v2695[j];
        const unsigned k89 = k84 + 40;
        long long v2697[2];
        float v2707[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2696 = b7[20 + j];
          v2697[j] = k89 + j;
          const bool v2699 = v2697[j] <= v4026;
          const float v2705 = v2696 * v3978;
          v2707[j] = v2699 ? v2705 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[20 + j] = v2707[j];
        float v2719[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2708 = b7[22 + j];
          const bool v2711 = v2697[j] <= v4029;
          const float v2717 = v2708 * v3978;
          v2719[j] = v2711 ? v2717 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[22 + j] = v2719[j];
        const unsigned k90 = k84 + 48;
        long long v2721[2];
        float v2731[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2720 = b7[24 + j];
          v2721[j] = k90 + j;
          const bool v2723 = v2721[j] <= v4026;
          const float v2729 = v2720 * v3978;
          v2731[j] = v2723 ? v2729 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[24 + j] = v2731[j];
        float v2743[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2732 = b7[26 + j];
          const bool v2735 = v2721[j] <= v4029;
          const float v2741 = v2732 * v3978;
          v2743[j] = v2735 ? v2741 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[26 + j] = v2743[j];
        const unsigned k91 = k84 + 56;
        long long v2745[2];
        float v2755[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2744 = b7[28 + j];
          v2745[j] = k91 + j;
          const bool v2747 = v2745[j] <= v4026;
          const float v2753 = v2744 * v3978;
          v2755[j] = v2747 ? v2753 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[28 + j] = v2755[j];
        float v2767[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2756 = b7[30 + j];
          const bool v2759 = v2745[j] <= v4029;
          const float v2765 = v2756 * v3978;
          v2767[j] = v2759 ? v2765 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[30 + j] = v2767[j];
      }
      if (n1 < 128 * i0 + 128) {
        if (n1 < k60 + 65) {
          b7[0] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 66) {
          b7[1] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 65) {
          b7[2] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 66) {
          b7[3] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 73) {
          b7[4] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 74) {
          b7[5] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 73) {
          b7[6] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 74) {
          b7[7] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 81) {
          b7[8] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 82) {
          b7[9] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 81) {
          b7[10] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 82) {
          b7[11] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 89) {
          b7[12] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 90) {
          b7[13] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 89) {
          b7[14] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 90) {
          b7[15] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 97) {
          b7[16] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 98) {
          b7[17] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 97) {
          b7[18] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 98) {
          b7[19] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 105) {
          b7[20] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 106) {
          b7[21] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 105) {
          b7[22] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 106) {
          b7[23] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 113) {
          b7[24] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 114) {
          b7[25] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 113) {
          b7[26] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 114) {
          b7[27] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 121) {
          b7[28] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 122) {
          b7[29] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 121) {
          b7[30] = __uint_as_float(0xff800000u);
        }
        if (n1 < k60 + 122) {
          b7[31] = __uint_as_float(0xff800000u);
        }
      }
      const float v3058 = b7[0];
      b12[0] = v3058;
      const float v3059 = b12[0];
      const float v3061 = max_nan(v3059, v3058);
      b12[0] = v3061;
      const float v3062 = b12[0];
      const float v3063 = b7[1];
      const float v3064 = max_nan(v3062, v3063);
      b12[0] = v3064;
      const float v3065 = b12[0];
      const float v3066 = b7[4];
      const float v3067 = max_nan(v3065, v3066);
      b12[0] = v3067;
      const float v3068 = b12[0];
      const float v3069 = b7[5];
      const float v3070 = max_nan(v3068, v3069);
      b12[0] = v3070;
      const float v3071 = b12[0];
      const float v3072 = b7[8];
      const float v3073 = max_nan(v3071, v3072);
      b12[0] = v3073;
      const float v3074 = b12[0];
      const float v3075 = b7[9];
      const float v3076 = max_nan(v3074, v3075);
      b12[0] = v3076;
      const float v3077 = b12[0];
      const float v3078 = b7[12];
      const float v3079 = max_nan(v3077, v3078);
      b12[0] = v3079;
      const float v3080 = b12[0];
      const float v3081 = b7[13];
      const float v3082 = max_nan(v3080, v3081);
      b12[0] = v3082;
      const float v3083 = b12[0];
      const float v3084 = b7[16];
      const float v3085 = max_nan(v3083, v3084);
      b12[0] = v3085;
      const float v3086 = b12[0];
      const float v3087 = b7[17];
      const float v3088 = max_nan(v3086, v3087);
      b12[0] = v3088;
      const float v3089 = b12[0];
      const float v3090 = b7[20];
      const float v3091 = max_nan(v3089, v3090);
      b12[0] = v3091;
      const float v3092 = b12[0];
      const float v3093 = b7[21];
      const float v3094 = max_nan(v3092, v3093);
      b12[0] = v3094;
      const float v3095 = b12[0];
      const float v3096 = b7[24];
      const float v3097 = max_nan(v3095, v3096);
      b12[0] = v3097;
      const float v3098 = b12[0];
      const float v3099 = b7[25];
      const float v3100 = max_nan(v3098, v3099);
      b12[0] = v3100;
      const float v3101 = b12[0];
      const float v3102 = b7[28];
      const float v3103 = max_nan(v3101, v3102);
      b12[0] = v3103;
      const float v3104 = b12[0];
      const float v3105 = b7[29];
      const float v3106 = max_nan(v3104, v3105);
      b12[0] = v3106;
      const float v3107 = b11[0];
      const float v3108 = b12[0];
      const float v3109 = __shfl_xor_sync(0xffffffffu, v3108, 1);
      const float v3110 = max_nan(v3108, v3109);
      const float v3111 = __shfl_xor_sync(0xffffffffu, v3110, 2);
      const float v3112 = max_nan(v3110, v3111);
      const float v3113 = max_nan(v3107, v3112);
      const bool v3116 = v3113 == __uint_as_float(0xff800000u);
      const float v3118 = v3116 ? 0.0f : v3113;
      const float v3121 = v3116 ? 0.0f : v3118;
      const bool v3123 = v3107 == __uint_as_float(0xff800000u);
      const float v3125 = v3123 ? 0.0f : v3107;
      const float v3128 = v3123 ? v3121 : v3125;
      const float v3129 = v3128 - v3121;
      const float v3131 = v3129 * 1.442695f;
      const float v3132 = exp2f(v3131);
      b11[0] = v3113;
      b12[0] = v3121;
      const float v3133 = b13[0];
      const float v3134 = v3133 * v3132;
      b13[0] = v3134;
      const float v4222 = v3132;
      float v3136[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3135 = b10[j];
        v3136[j] = v3135 * v4222;
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b10[j] = v3136[j];
      float v3138[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3137 = b10[4 + j];
        v3138[j] = v3137 * v4222;
      }
      const float v3139 = b7[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) b10[4 + j] = v3138[j];
      b12[1] = v3139;
      const float v3140 = b12[1];
      const float v3142 = max_nan(v3140, v3139);
      b12[1] = v3142;
      const float v3143 = b12[1];
      const float v3144 = b7[3];
      const float v3145 = max_nan(v3143, v3144);
      b12[1] = v3145;
      const float v3146 = b12[1];
      const float v3147 = b7[6];
      const float v3148 = max_nan(v3146, v3147);
      b12[1] = v3148;
      const float v3149 = b12[1];
      const float v3150 = b7[7];
      const float v3151 = max_nan(v3149, v3150);
      b12[1] = v3151;
      const float v3152 = b12[1];
      const float v3153 = b7[10];
      const float v3154 = max_nan(v3152, v3153);
      b12[1] = v3154;
      const float v3155 = b12[1];
      const float v3156 = b7[11];
      const float v3157 = max_nan(v3155, v3156);
      b12[1] = v3157;
      const float v3158 = b12[1];
      const float v3159 = b7[14];
      const float v3160 = max_nan(v3158, v3159);
      b12[1] = v3160;
      const float v3161 = b12[1];
      const float v3162 = b7[15];
      const float v3163 = max_nan(v3161, v3162);
      b12[1] = v3163;
      const float v3164 = b12[1];
      const float v3165 = b7[18];
      const float v3166 = max_nan(v3164, v3165);
      b12[1] = v3166;
      const float v3167 = b12[1];
      const float v3168 = b7[19];
      const float v3169 = max_nan(v3167, v3168);
      b12[1] = v3169;
      const float v3170 = b12[1];
      const float v3171 = b7[22];
      const float v3172 = max_nan(v3170, v3171);
      b12[1] = v3172;
      const float v3173 = b12[1];
      const float v3174 = b7[23];
      const float v3175 = max_nan(v3173, v3174);
      b12[1] = v3175;
      const float v3176 = b12[1];
      const float v3177 = b7[26];
      const float v3178 = max_nan(v3176, v3177);
      b12[1] = v3178;
      const float v3179 = b12[1];
      const float v3180 = b7[27];
      const float v3181 = max_nan(v3179, v3180);
      b12[1] = v3181;
      const float v3182 = b12[1];
      const float v3183 = b7[30];
      const float v3184 = max_nan(v3182, v3183);
      b12[1] = v3184;
      const float v3185 = b12[1];
      const float v3186 = b7[31];
      const float v3187 = max_nan(v3185, v3186);
      b12[1] = v3187;
      const float v3188 = b11[1];
      const float v3189 = b12[1];
      const float v3190 = __shfl_xor_sync(0xffffffffu, v3189, 1);
      const float v3191 = max_nan(v3189, v3190);
      const float v3192 = __shfl_xor_sync(0xffffffffu, v3191, 2);
      const float v3193 = max_nan(v3191, v3192);
      const float v3194 = max_nan(v3188, v3193);
      const bool v3197 = v3194 == __uint_as_float(0xff800000u);
      const float v3199 = v3197 ? 0.0f : v3194;
      const float v3202 = v3197 ? 0.0f : v3199;
      const bool v3204 = v3188 == __uint_as_float(0xff800000u);
      const float v3206 = v3204 ? 0.0f : v3188;
      const float v3209 = v3204 ? v3202 : v3206;
      const float v3210 = v3209 - v3202;
      const float v3212 = v3210 * 1.442695f;
      const float v3213 = exp2f(v3212);
      b11[1] = v3194;
      b12[1] = v3202;
      const float v3214 = b13[1];
      const float v3215 = v3214 * v3213;
      b13[1] = v3215;
      const float v4224 = v3213;
      float v3217[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3216 = b10[2 + j];
        v3217[j] = v3216 * v4224;
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b10[2 + j] = v3217[j];
      float v3219[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3218 = b10[6 + j];
        v3219[j] = v3218 * v4224;
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b10[6 + j] = v3219[j];
      const float v3329 = b12[0];
      const float v4226 = v3329;
      float v3333[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3328 = b7[j];
        const float v3330 = v3328 - v4226;
        const float v3332 = v3330 * 1.442695f;
        v3333[j] = exp2f(v3332);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[j] = v3333[j];
      const float v3335 = b12[1];
      const float v4228 = v3335;
      float v3339[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3334 = b7[2 + j];
        const float v3336 = v3334 - v4228;
        const float v3338 = v3336 * 1.442695f;
        v3339[j] = exp2f(v3338);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[2 + j] = v3339[j];
      float v3345[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3340 = b7[4 + j];
        const float v3342 = v3340 - v4226;
        const float v3344 = v3342 * 1.442695f;
        v3345[j] = exp2f(v3344);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[4 + j] = v3345[j];
      float v3351[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3346 = b7[6 + j];
        const float v3348 = v3346 - v4228;
        const float v3350 = v3348 * 1.442695f;
        v3351[j] = exp2f(v3350);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[6 + j] = v3351[j];
      float v3357[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3352 = b7[8 + j];
        const float v3354 = v3352 - v4226;
        const float v3356 = v3354 * 1.442695f;
        v3357[j] = exp2f(v3356);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[8 + j] = v3357[j];
      float v3363[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3358 = b7[10 + j];
        const float v3360 = v3358 - v4228;
        const float v3362 = v3360 * 1.442695f;
        v3363[j] = exp2f(v3362);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[10 + j] = v3363[j];
      float v3369[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3364 = b7[12 + j];
        const float v3366 = v3364 - v4226;
        const float v3368 = v3366 * 1.442695f;
        v3369[j] = exp2f(v3368);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[12 + j] = v3369[j];
      float v3375[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3370 = b7[14 + j];
        const float v3372 = v3370 - v4228;
        const float v3374 = v3372 * 1.442695f;
        v3375[j] = exp2f(v3374);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[14 + j] = v3375[j];
      float v3381[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3376 = b7[16 + j];
        const float v3378 = v3376 - v4226;
        const float v3380 = v3378 * 1.442695f;
        v3381[j] = exp2f(v3380);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[16 + j] = v3381[j];
      float v3387[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3382 = b7[18 + j];
        const float v3384 = v3382 - v4228;
        const float v3386 = v3384 * 1.442695f;
        v3387[j] = exp2f(v3386);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[18 + j] = v3387[j];
      float v3393[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3388 = b7[20 + j];
        const float v3390 = v3388 - v4226;
        const float v3392 = v3390 * 1.442695f;
        v3393[j] = exp2f(v3392);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[20 + j] = v3393[j];
      float v3399[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3394 = b7[22 + j];
        const float v3396 = v3394 - v4228;
        const float v3398 = v3396 * 1.442695f;
        v3399[j] = exp2f(v3398);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[22 + j] = v3399[j];
      float v3405[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3400 = b7[24 + j];
        const float v3402 = v3400 - v4226;
        const float v3404 = v3402 * 1.442695f;
        v3405[j] = exp2f(v3404);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[24 + j] = v3405[j];
      float v3411[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3406 = b7[26 + j];
        const float v3408 = v3406 - v4228;
        const float v3410 = v3408 * 1.442695f;
        v3411[j] = exp2f(v3410);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[26 + j] = v3411[j];
      float v3417[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3412 = b7[28 + j];
        const float v3414 = v3412 - v4226;
        const float v3416 = v3414 * 1.442695f;
        v3417[j] = exp2f(v3416);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[28 + j] = v3417[j];
      float v3423[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3418 = b7[30 + j];
        const float v3420 = v3418 - v4228;
        const float v3422 = v3420 * 1.442695f;
        v3423[j] = exp2f(v3422);
      }
      const float v3538 = b13[0];
      const float v3539 = b7[0];
      const float v3540 = v3538 + v3539;
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[30 + j] = v3423[j];
      b13[0] = v3540;
      const float v3541 = b13[0];
      const float v3542 = b7[1];
      const float v3543 = v3541 + v3542;
      b13[0] = v3543;
      const float v3544 = b13[1];
      const float v3545 = b7[2];
      const float v3546 = v3544 + v3545;
      b13[1] = v3546;
      const float v3547 = b13[1];
      const float v3548 = b7[3];
      const float v3549 = v3547 + v3548;
      b13[1] = v3549;
      const float v3550 = b13[0];
      const float v3551 = b7[4];
      const float v3552 = v3550 + v3551;
      b13[0] = v3552;
      const float v3553 = b13[0];
      const float v3554 = b7[5];
      const float v3555 = v3553 + v3554;
      b13[0] = v3555;
      const float v3556 = b13[1];
      const float v3557 = b7[6];
      const float v3558 = v3556 + v3557;
      b13[1] = v3558;
      const float v3559 = b13[1];
      const float v3560 = b7[7];
      const float v3561 = v3559 + v3560;
      b13[1] = v3561;
      const float v3562 = b13[0];
      const float v3563 = b7[8];
      const float v3564 = v3562 + v3563;
      b13[0] = v3564;
      const float v3565 = b13[0];
      const float v3566 = b7[9];
      const float v3567 = v3565 + v3566;
      b13[0] = v3567;
      const float v3568 = b13[1];
      const float v3569 = b7[10];
      const float v3570 = v3568 + v3569;
      b13[1] = v3570;
      const float v3571 = b13[1];
      const float v3572 = b7[11];
      const float v3573 = v3571 + v3572;
      b13[1] = v3573;
      const float v3574 = b13[0];
      const float v3575 = b7[12];
      const float v3576 = v3574 + v3575;
      b13[0] = v3576;
      const float v3577 = b13[0];
      const float v3578 = b7[13];
      const float v3579 = v3577 + v3578;
      b13[0] = v3579;
      const float v3580 = b13[1];
      const float v3581 = b7[14];
      const float v3582 = v3580 + v3581;
      b13[1] = v3582;
      const float v3583 = b13[1];
      const float v3584 = b7[15];
      const float v3585 = v3583 + v3584;
      b13[1] = v3585;
      const float v3586 = b13[0];
      const float v3587 = b7[16];
      const float v3588 = v3586 + v3587;
      b13[0] = v3588;
      const float v3589 = b13[0];
      const float v3590 = b7[17];
      const float v3591 = v3589 + v3590;
      b13[0] = v3591;
      const float v3592 = b13[1];
      const float v3593 = b7[18];
      const float v3594 = v3592 + v3593;
      b13[1] = v3594;
      const float v3595 = b13[1];
      const float v3596 = b7[19];
      const float v3597 = v3595 + v3596;
      b13[1] = v3597;
      const float v3598 = b13[0];
      const float v3599 = b7[20];
      const float v3600 = v3598 + v3599;
      b13[0] = v3600;
      const float v3601 = b13[0];
      const float v3602 = b7[21];
      const float v3603 = v3601 + v3602;
      b13[0] = v3603;
      const float v3604 = b13[1];
      const float v3605 = b7[22];
      const float v3606 = v3604 + v3605;
      b13[1] = v3606;
      const float v3607 = b13[1];
      const float v3608 = b7[23];
      const float v3609 = v3607 + v3608;
      b13[1] = v3609;
      const float v3610 = b13[0];
      const float v3611 = b7[24];
      const float v3612 = v3610 + v3611;
      b13[0] = v3612;
      const float v3613 = b13[0];
      const float v3614 = b7[25];
      const float v3615 = v3613 + v3614;
      b13[0] = v3615;
      const float v3616 = b13[1];
      const float v3617 = b7[26];
      const float v3618 = v3616 + v3617;
      b13[1] = v3618;
      const float v3619 = b13[1];
      const float v3620 = b7[27];
      const float v3621 = v3619 + v3620;
      b13[1] = v3621;
      const float v3622 = b13[0];
      const float v3623 = b7[28];
      const float v3624 = v3622 + v3623;
      b13[0] = v3624;
      const float v3625 = b13[0];
      const float v3626 = b7[29];
      const float v3627 = v3625 + v3626;
      b13[0] = v3627;
      const float v3628 = b13[1];
      const float v3629 = b7[30];
      const float v3630 = v3628 + v3629;
      b13[1] = v3630;
      const float v3631 = b13[1];
      const float v3632 = b7[31];
      const float v3633 = v3631 + v3632;
      b13[1] = v3633;
      Vec<float, 2> v3652;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3652[j] = b7[j];
      *(b8) = bf16_pair(v3652[0], v3652[1]);
      Vec<float, 2> v3653;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3653[j] = b7[2 + j];
      *(b8 + 1) = bf16_pair(v3653[0], v3653[1]);
      Vec<float, 2> v3654;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3654[j] = b7[4 + j];
      *(b8 + 2) = bf16_pair(v3654[0], v3654[1]);
      Vec<float, 2> v3655;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3655[j] = b7[6 + j];
      *(b8 + 3) = bf16_pair(v3655[0], v3655[1]);
      Vec<float, 2> v3656;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3656[j] = b7[8 + j];
      *(b8 + 4) = bf16_pair(v3656[0], v3656[1]);
      Vec<float, 2> v3657;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3657[j] = b7[10 + j];
      *(b8 + 5) = bf16_pair(v3657[0], v3657[1]);
      Vec<float, 2> v3658;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3658[j] = b7[12 + j];
      *(b8 + 6) = bf16_pair(v3658[0], v3658[1]);
      Vec<float, 2> v3659;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3659[j] = b7[14 + j];
      *(b8 + 7) = bf16_pair(v3659[0], v3659[1]);
      Vec<float, 2> v3660;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3660[j] = b7[16 + j];
      *(b8 + 8) = bf16_pair(v3660[0], v3660[1]);
      Vec<float, 2> v3661;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3661[j] = b7[18 + j];
      *(b8 + 9) = bf16_pair(v3661[0], v3661[1]);
      Vec<float, 2> v3662;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3662[j] = b7[20 + j];
      *(b8 + 10) = bf16_pair(v3662[0], v3662[1]);
      Vec<float, 2> v3663;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3663[j] = b7[22 + j];
      *(b8 + 11) = bf16_pair(v3663[0], v3663[1]);
      Vec<float, 2> v3664;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3664[j] = b7[24 + j];
      *(b8 + 12) = bf16_pair(v3664[0], v3664[1]);
      Vec<float, 2> v3665;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3665[j] = b7[26 + j];
      *(b8 + 13) = bf16_pair(v3665[0], v3665[1]);
      Vec<float, 2> v3666;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3666[j] = b7[28 + j];
      *(b8 + 14) = bf16_pair(v3666[0], v3666[1]);
      Vec<float, 2> v3667;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v3667[j] = b7[30 + j];
      *(b8 + 15) = bf16_pair(v3667[0], v3667[1]);
      load_matrices<4, true>(b9, b18, k40);
      multiply_matrices<false>(b10, b8, b9);
      multiply_matrices<false>(b10 + 4, b8, b9 + 2);
      load_matrices<4, true>(b9, b18, k41);
      multiply_matrices<false>(b10, b8 + 4, b9);
      multiply_matrices<false>(b10 + 4, b8 + 4, b9 + 2);
      load_matrices<4, true>(b9, b18, k42);
      multiply_matrices<false>(b10, b8 + 8, b9);
      multiply_matrices<false>(b10 + 4, b8 + 8, b9 + 2);
      load_matrices<4, true>(b9, b18, k43);
      multiply_matrices<false>(b10, b8 + 12, b9);
      multiply_matrices<false>(b10 + 4, b8 + 12, b9 + 2);
    }
  }
  wait_for_copies<0>();
  const float v3726 = b11[0];
  const bool v3728 = v3726 == __uint_as_float(0xff800000u);
  const float v3730 = v3728 ? 0.0f : v3726;
  const long long v3733 = n1;
  const long long v3734 = 0;
  const bool v3735 = v3733 > v3734;
  const float v3736 = v3726 - v3730;
  const float v3738 = v3736 * 1.442695f;
  const float v3739 = exp2f(v3738);
  const bool v3740 = v3728 & v3735;
  const float v3742 = v3740 ? v3739 : 0.0f;
  const float v3743 = b13[0];
  const float v3744 = __shfl_xor_sync(0xffffffffu, v3743, 1);
  const float v3745 = v3743 + v3744;
  const float v3746 = __shfl_xor_sync(0xffffffffu, v3745, 2);
  const float v3747 = v3745 + v3746;
  const float v3748 = v3747 + v3742;
  b13[0] = v3748;
  const float v4258 = v3742;
  float v3750[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v3749 = b10[j];
    v3750[j] = v3749 + v4258;
  }
  #pragma unroll
  for (int j = 0; j < 2; ++j) b10[j] = v3750[j];
  float v3752[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v3751 = b10[4 + j];
    v3752[j] = v3751 + v4258;
  }
  const float v3753 = b11[1];
  const bool v3755 = v3753 == __uint_as_float(0xff800000u);
  const float v3757 = v3755 ? 0.0f : v3753;
  const float v3763 = v3753 - v3757;
  const float v3765 = v3763 * 1.442695f;
  const float v3766 = exp2f(v3765);
  const bool v3767 = v3755 & v3735;
  const float v3769 = v3767 ? v3766 : 0.0f;
  const float v3770 = b13[1];
  const float v3771 = __shfl_xor_sync(0xffffffffu, v3770, 1);
  const float v3772 = v3770 + v3771;
  const float v3773 = __shfl_xor_sync(0xffffffffu, v3772, 2);
  const float v3774 = v3772 + v3773;
  const float v3775 = v3774 + v3769;
  #pragma unroll
  for (int j = 0; j < 2; ++j) b10[4 + j] = v3752[j];
  b13[1] = v3775;
  const float v4260 = v3769;
  float v3777[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v3776 = b10[2 + j];
    v3777[j] = v3776 + v4260;
  }
  #pragma unroll
  for (int j = 0; j < 2; ++j) b10[2 + j] = v3777[j];
  float v3779[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v3778 = b10[6 + j];
    v3779[j] = v3778 + v4260;
  }
  #pragma unroll
  for (int j = 0; j < 2; ++j) b10[6 + j] = v3779[j];
  float b14[8] = {};
  __shared__ __align__(16) float b15[544];
  __shared__ __align__(16) float b16[1];
  b14[0] = 0.0f;
  b14[1] = 0.0f;
  b14[2] = 0.0f;
  b14[3] = 0.0f;
  b14[4] = 0.0f;
  b14[5] = 0.0f;
  b14[6] = 0.0f;
  b14[7] = 0.0f;
  const unsigned k92 = (n1 + 31) / 32 - 2 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64));
  for (unsigned i1 = 0; int(i1) < int(k92); ++i1) {
    const unsigned k93 = k11 + 512 * i1 * n2 + 1024 * n2 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64));
    Vec<float, 8> v4267;
    load_vector(v4267, b2 + int(k93), tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) < int(n1 / 8));
    const unsigned k94 = k93 + 128 * n2;
    Vec<float, 8> v4271;
    load_vector(v4271, b2 + int(k94), tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64)) + 1) < int(n1 / 8));
    const unsigned k95 = k93 + 256 * n2;
    Vec<float, 8> v4275;
    load_vector(v4275, b2 + int(k95), tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64)) + 2) < int(n1 / 8));
    const unsigned k96 = k93 + 384 * n2;
    Vec<float, 8> v4279;
    load_vector(v4279, b2 + int(k96), tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64)) + 3) < int(n1 / 8));
    if (tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) < int(n1 / 8)) {
      float v4270[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v4268 = b14[j];
        v4270[j] = fmaf(v4267[j], 0.0f, v4268);
      }
      #pragma unroll
      for (int j = 0; j < 8; ++j) b14[j] = v4270[j];
    }
    if (tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64)) + 1) < int(n1 / 8)) {
      float v4274[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v4272 = b14[j];
        v4274[j] = fmaf(v4271[j], 0.0f, v4272);
      }
      #pragma unroll
      for (int j = 0; j < 8; ++j) b14[j] = v4274[j];
    }
    if (tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64)) + 2) < int(n1 / 8)) {
      float v4278[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v4276 = b14[j];
        v4278[j] = fmaf(v4275[j], 0.0f, v4276);
      }
      #pragma unroll
      for (int j = 0; j < 8; ++j) b14[j] = v4278[j];
    }
    if (tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64)) + 3) < int(n1 / 8)) {
      float v4282[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v4280 = b14[j];
        v4282[j] = fmaf(v4279[j], 0.0f, v4280);
      }
      #pragma unroll
      for (int j = 0; j < 8; ++j) b14[j] = v4282[j];
    }
  }
  float v105 = 0.0f;
  const float v3808 = b14[0];
  const unsigned k97 = 544 * ty + 68 * (tx / 4) + tx % 4;
  b15[k97] = v3808;
  const float v3809 = v105 + v3808;
  v105 = v3809;
  const float v3810 = b14[1];
  const unsigned k98 = k97 + 5;
  b15[k98] = v3810;
  const float v3811 = v105 + v3810;
  v105 = v3811;
  const float v3812 = b14[2];
  const unsigned k99 = k97 + 10;
  b15[k99] = v3812;
  const float v3813 = v105 + v3812;
  v105 = v3813;
  const float v3814 = b14[3];
  const unsigned k100 = k97 + 15;
  b15[k100] = v3814;
  const float v3815 = v105 + v3814;
  v105 = v3815;
  const float v3816 = b14[4];
  const unsigned k101 = k97 + 20;
  b15[k101] = v3816;
  const float v3817 = v105 + v3816;
  v105 = v3817;
  const float v3818 = b14[5];
  const unsigned k102 = k97 + 25;
  b15[k102] = v3818;
  const float v3819 = v105 + v3818;
  v105 = v3819;
  const float v3820 = b14[6];
  const unsigned k103 = k97 + 30;
  b15[k103] = v3820;
  const float v3821 = v105 + v3820;
  v105 = v3821;
  const float v3822 = b14[7];
  const unsigned k104 = k97 + 35;
  b15[k104] = v3822;
  const float v3823 = v105 + v3822;
  v105 = v3823;
  const float v108 = __shfl_xor_sync(0xffffffffu, v105, 1);
  const float v109 = v105 + v108;
  const float v110 = __shfl_xor_sync(0xffffffffu, v109, 2);
  const float v111 = v109 + v110;
  const float v112 = __shfl_xor_sync(0xffffffffu, v111, 4);
  const float v113 = v111 + v112;
  const float v114 = __shfl_xor_sync(0xffffffffu, v113, 8);
  const float v115 = v113 + v114;
  const float v116 = __shfl_xor_sync(0xffffffffu, v115, 16);
  const float v117 = v115 + v116;
  if (tx == 0) {
    b16[ty] = v117;
  }
  __syncthreads();
  const float v118 = b16[0];
  const bool v119 = v118 != v118;
  const long long v120 = (long long)v119;
  const long long m0 = v120;
  if (m0 == 1) {
    float v3846 = 0.0f;
    for (unsigned i2 = 0; i2 < 8; ++i2) {
      const unsigned k105 = 68 * i2 + 10 * (tx % 4);
      const float v3847 = b15[k105];
      const float v3848 = v3846 + v3847;
      v3846 = v3848;
    }
    const float v3849 = b10[0];
    const float v3850 = v3849 + v3846;
    b10[0] = v3850;
    const float v3851 = b10[2];
    const float v3852 = v3851 + v3846;
    b10[2] = v3852;
    float v3853 = 0.0f;
    for (unsigned i3 = 0; i3 < 8; ++i3) {
      const unsigned k106 = 68 * i3 + 10 * (tx % 4) + 5;
      const float v3854 = b15[k106];
      const float v3855 = v3853 + v3854;
      v3853 = v3855;
    }
    const float v3856 = b10[1];
    const float v3857 = v3856 + v3853;
    b10[1] = v3857;
    const float v3858 = b10[3];
    const float v3859 = v3858 + v3853;
    b10[3] = v3859;
    float v3860 = 0.0f;
    for (unsigned i4 = 0; i4 < 8; ++i4) {
      const unsigned k107 = 68 * i4 + 10 * (tx % 4) + 1;
      const float v3861 = b15[k107];
      const float v3862 = v3860 + v3861;
      v3860 = v3862;
    }
    const float v3863 = b10[4];
    const float v3864 = v3863 + v3860;
    b10[4] = v3864;
    const float v3865 = b10[6];
    const float v3866 = v3865 + v3860;
    b10[6] = v3866;
    float v3867 = 0.0f;
    for (unsigned i5 = 0; i5 < 8; ++i5) {
      const unsigned k108 = 68 * i5 + 10 * (tx % 4) + 6;
      const float v3868 = b15[k108];
      const float v3869 = v3867 + v3868;
      v3867 = v3869;
    }
    const float v3870 = b10[5];
    const float v3871 = v3870 + v3867;
    b10[5] = v3871;
    const float v3872 = b10[7];
    const float v3873 = v3872 + v3867;
    b10[7] = v3873;
  }
  const float v3923 = b11[0];
  const float v3924 = b13[0];
  const bool v3926 = v3923 == __uint_as_float(0xff800000u);
  const float v3928 = v3926 ? 1.0f : v3924;
  const float v4263 = v3928;
  Vec<float, 2> v3929;
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v3922 = b10[j];
    v3929[j] = v3922 / v4263;
  }
  const unsigned k109 = 16 * n1 * k1 + 256 * ty + 16 * n1 + 16 * (tx / 4) + 2 * (tx % 4) - 256 * k2 - 256;
  store_vector(b3 + int(k109), v3929);
  Vec<float, 2> v3937;
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v3930 = b10[4 + j];
    v3937[j] = v3930 / v4263;
  }
  const unsigned k110 = k109 + 8;
  store_vector(b3 + int(k110), v3937);
  const float v3939 = b11[1];
  const float v3940 = b13[1];
  const bool v3942 = v3939 == __uint_as_float(0xff800000u);
  const float v3944 = v3942 ? 1.0f : v3940;
  const float v4265 = v3944;
  Vec<float, 2> v3945;
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v3938 = b10[2 + j];
    v3945[j] = v3938 / v4265;
  }
  const unsigned k111 = k109 + 128;
  store_vector(b3 + int(k111), v3945);
  Vec<float, 2> v3953;
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v3946 = b10[6 + j];
    v3953[j] = v3946 / v4265;
  }
  const unsigned k112 = k109 + 136;
  store_vector(b3 + int(k112), v3953);
}
