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

// Signed arithmetic modulo 2^32 and 2^64.
__device__ __forceinline__ long long wrap_add(long long a, long long b) {
  return (long long)((unsigned long long)a + (unsigned long long)b);
}
__device__ __forceinline__ long long wrap_sub(long long a, long long b) {
  return (long long)((unsigned long long)a - (unsigned long long)b);
}
__device__ __forceinline__ long long wrap_mul(long long a, long long b) {
  return (long long)((unsigned long long)a * (unsigned long long)b);
}
__device__ __forceinline__ long long wrap_neg(long long a) { return (long long)(0ull - (unsigned long long)a); }
__device__ __forceinline__ long long wrap_abs(long long a) { return a < 0 ? wrap_neg(a) : a; }
__device__ __forceinline__ int wrap_add(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
__device__ __forceinline__ int wrap_sub(int a, int b) { return (int)((unsigned)a - (unsigned)b); }
__device__ __forceinline__ int wrap_mul(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
__device__ __forceinline__ int wrap_neg(int a) { return (int)(0u - (unsigned)a); }
__device__ __forceinline__ int wrap_abs(int a) { return a < 0 ? wrap_neg(a) : a; }

extern "C" __global__ void __launch_bounds__(32) transformer_block_s5(
    const bf16* __restrict__ b0, const bf16* __restrict__ b1, const bf16* __restrict__ b2, bf16* __restrict__ b3,
    unsigned n0, unsigned n1, unsigned n2) {
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
  Vec<float, 2> v307;
  load_vector(v307, b0 + int(k6));
  *(b6) = bf16_pair(v307[0], v307[1]);
  Vec<float, 2> s1;
  #pragma unroll
  for (int j = 0; j < 2; ++j) s1[j] = 0.0f;
  *(b6 + 1) = bf16_pair(s1[0], s1[1]);
  const unsigned k7 = k6 + 128 * n2;
  Vec<float, 2> v309;
  load_vector(v309, b0 + int(k7));
  *(b6 + 1) = bf16_pair(v309[0], v309[1]);
  Vec<float, 2> s2;
  #pragma unroll
  for (int j = 0; j < 2; ++j) s2[j] = 0.0f;
  *(b6 + 2) = bf16_pair(s2[0], s2[1]);
  const unsigned k8 = k6 + 8;
  Vec<float, 2> v311;
  load_vector(v311, b0 + int(k8));
  *(b6 + 2) = bf16_pair(v311[0], v311[1]);
  Vec<float, 2> s3;
  #pragma unroll
  for (int j = 0; j < 2; ++j) s3[j] = 0.0f;
  *(b6 + 3) = bf16_pair(s3[0], s3[1]);
  const unsigned k9 = k6 + 128 * n2 + 8;
  Vec<float, 2> v313;
  load_vector(v313, b0 + int(k9));
  *(b6 + 3) = bf16_pair(v313[0], v313[1]);
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
  const long long v544 = 16;
  const float v545 = (float)v544;
  const float v546 = sqrtf(v545);
  const float v548 = 1.0f / v546;
  const float v4546 = v548;
  int v1068[2];
  int v1108[2];
  int v1148[2];
  int v1188[2];
  int v1228[2];
  int v1268[2];
  int v1308[2];
  int v1348[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const long long v1067 = int(-1 * j);
    v1068[j] = (int)v1067;
    const long long v1107 = int(-j - 8);
    v1108[j] = (int)v1107;
    const long long v1147 = int(-j - 16);
    v1148[j] = (int)v1147;
    const long long v1187 = int(-j - 24);
    v1188[j] = (int)v1187;
    const long long v1227 = int(-j - 32);
    v1228[j] = (int)v1227;
    const long long v1267 = int(-j - 40);
    v1268[j] = (int)v1267;
    const long long v1307 = int(-j - 48);
    v1308[j] = (int)v1307;
    const long long v1347 = int(-j - 56);
    v1348[j] = (int)v1347;
  }
  const unsigned k33 = unsigned(floor_div(static_cast<long long>(n1) + 127 - 16 * static_cast<long long>(k2), 128));
  const unsigned k34 = 256 * (tx / 16) + 32 * (tx % 8) + 8 * ((tx / 2 + (tx / 8) % 2) % 4);
  const unsigned k35 = k34 + 512;
  const unsigned k36 = k34 + 1024;
  const unsigned k37 = k34 + 1536;
  const unsigned k38 = 32 * (tx % 16) + 8 * ((tx / 2 + tx / 16) % 4);
  const unsigned k39 = k38 + 512;
  const unsigned k40 = k38 + 1024;
  const unsigned k41 = k38 + 1536;
  for (unsigned i0 = 0; int(i0) < int(k33); ++i0) {
    wait_for_copies<0>();
    __syncthreads();
    const unsigned k42 = k11 + 2048 * i0 * n2 + 1024 * n2;
    const unsigned k43 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 64 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k10, b1 + k42, int(k43));
    const unsigned k44 = k42 + 128 * n2;
    const unsigned k45 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 72 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k13, b1 + k44, int(k45));
    const unsigned k46 = k42 + 256 * n2;
    const unsigned k47 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 80 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k15, b1 + k46, int(k47));
    const unsigned k48 = k42 + 384 * n2;
    const unsigned k49 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 88 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k18, b1 + k48, int(k49));
    const unsigned k50 = k42 + 512 * n2;
    const unsigned k51 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 96 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k21, b1 + k50, int(k51));
    const unsigned k52 = k42 + 640 * n2;
    const unsigned k53 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 104 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k24, b1 + k52, int(k53));
    const unsigned k54 = k42 + 768 * n2;
    const unsigned k55 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 112 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k27, b1 + k54, int(k55));
    const unsigned k56 = k42 + 896 * n2;
    const unsigned k57 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 120 < n1 && int(2 * i0 + 1) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b17 + k30, b1 + k56, int(k57));
    copy_async<8>(b18 + k10, b2 + k42, int(k43));
    copy_async<8>(b18 + k13, b2 + k44, int(k45));
    copy_async<8>(b18 + k15, b2 + k46, int(k47));
    copy_async<8>(b18 + k18, b2 + k48, int(k49));
    copy_async<8>(b18 + k21, b2 + k50, int(k51));
    copy_async<8>(b18 + k24, b2 + k52, int(k53));
    copy_async<8>(b18 + k27, b2 + k54, int(k55));
    copy_async<8>(b18 + k30, b2 + k56, int(k57));
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
    load_matrices<4, false>(b9, b4, k34);
    multiply_matrices<false>(b7, b6, b9);
    multiply_matrices<false>(b7 + 4, b6, b9 + 2);
    load_matrices<4, false>(b9, b4, k35);
    multiply_matrices<false>(b7 + 8, b6, b9);
    multiply_matrices<false>(b7 + 12, b6, b9 + 2);
    load_matrices<4, false>(b9, b4, k36);
    multiply_matrices<false>(b7 + 16, b6, b9);
    multiply_matrices<false>(b7 + 20, b6, b9 + 2);
    load_matrices<4, false>(b9, b4, k37);
    multiply_matrices<false>(b7 + 24, b6, b9);
    multiply_matrices<false>(b7 + 28, b6, b9 + 2);
    if (128 * i0 + 16 * k2 + 78 < n1) {
      float v551[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v543 = b7[j];
        const float v549 = v543 * v4546;
        v551[j] = true ? v549 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[j] = v551[j];
      float v561[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v553 = b7[2 + j];
        const float v559 = v553 * v4546;
        v561[j] = true ? v559 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[2 + j] = v561[j];
      float v571[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v563 = b7[4 + j];
        const float v569 = v563 * v4546;
        v571[j] = true ? v569 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[4 + j] = v571[j];
      float v581[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v573 = b7[6 + j];
        const float v579 = v573 * v4546;
        v581[j] = true ? v579 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[6 + j] = v581[j];
      float v591[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v583 = b7[8 + j];
        const float v589 = v583 * v4546;
        v591[j] = true ? v589 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[8 + j] = v591[j];
      float v601[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v593 = b7[10 + j];
        const float v599 = v593 * v4546;
        v601[j] = true ? v599 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[10 + j] = v601[j];
      float v611[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v603 = b7[12 + j];
        const float v609 = v603 * v4546;
        v611[j] = true ? v609 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[12 + j] = v611[j];
      float v621[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v613 = b7[14 + j];
        const float v619 = v613 * v4546;
        v621[j] = true ? v619 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[14 + j] = v621[j];
      float v631[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v623 = b7[16 + j];
        const float v629 = v623 * v4546;
        v631[j] = true ? v629 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[16 + j] = v631[j];
      float v641[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v633 = b7[18 + j];
        const float v639 = v633 * v4546;
        v641[j] = true ? v639 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[18 + j] = v641[j];
      float v651[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v643 = b7[20 + j];
        const float v649 = v643 * v4546;
        v651[j] = true ? v649 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[20 + j] = v651[j];
      float v661[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v653 = b7[22 + j];
        const float v659 = v653 * v4546;
        v661[j] = true ? v659 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[22 + j] = v661[j];
      float v671[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v663 = b7[24 + j];
        const float v669 = v663 * v4546;
        v671[j] = true ? v669 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[24 + j] = v671[j];
      float v681[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v673 = b7[26 + j];
        const float v679 = v673 * v4546;
        v681[j] = true ? v679 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[26 + j] = v681[j];
      float v691[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v683 = b7[28 + j];
        const float v689 = v683 * v4546;
        v691[j] = true ? v689 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[28 + j] = v691[j];
      float v701[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v693 = b7[30 + j];
        const float v699 = v693 * v4546;
        v701[j] = true ? v699 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[30 + j] = v701[j];
    }
    if (n1 < 128 * i0 + 16 * k2 + 79) {
      const unsigned k58 = 16 * ty + n1 + tx / 4 - 128 * i0 - 2 * (tx % 4) - 16 * k2 - 16;
      const long long v1062 = 16 * static_cast<long long>(ty) + static_cast<long long>(n1) + static_cast<long long>(tx) / 4 - 128 * static_cast<long long>(i0) - 2 * (static_cast<long long>(tx) % 4) - 16 * static_cast<long long>(k2) - 16;
      const long long v1064 = v1062 < 1073741824ll ? v1062 : 1073741824ll;
      const long long v1066 = v1064 > (-1073741824ll) ? v1064 : (-1073741824ll);
      const int v1069 = (int)v1066;
      const int v4594 = v1069;
      float v1081[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1070 = wrap_add(v4594, v1068[j]);
        const bool v1072 = v1070 >= 0;
        const float v1073 = b7[j];
        const float v1079 = v1073 * v4546;
        v1081[j] = v1072 ? v1079 : __uint_as_float(0xff800000u);
      }
      const unsigned k59 = k58 + 8;
      const long long v1082 = 16 * static_cast<long long>(ty) + static_cast<long long>(n1) + static_cast<long long>(tx) / 4 - 128 * static_cast<long long>(i0) - 2 * (static_cast<long long>(tx) % 4) - 16 * static_cast<long long>(k2) - 8;
      const long long v1084 = v1082 < 1073741824ll ? v1082 : 1073741824ll;
      const long long v1086 = v1084 > (-1073741824ll) ? v1084 : (-1073741824ll);
      const int v1089 = (int)v1086;
      const int v4598 = v1089;
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[j] = v1081[j];
      float v1101[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1090 = wrap_add(v4598, v1068[j]);
        const bool v1092 = v1090 >= 0;
        const float v1093 = b7[2 + j];
        const float v1099 = v1093 * v4546;
        v1101[j] = v1092 ? v1099 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[2 + j] = v1101[j];
      float v1121[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1110 = wrap_add(v4594, v1108[j]);
        const bool v1112 = v1110 >= 0;
        const float v1113 = b7[4 + j];
        const float v1119 = v1113 * v4546;
        v1121[j] = v1112 ? v1119 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[4 + j] = v1121[j];
      float v1141[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1130 = wrap_add(v4598, v1108[j]);
        const bool v1132 = v1130 >= 0;
        const float v1133 = b7[6 + j];
        const float v1139 = v1133 * v4546;
        v1141[j] = v1132 ? v1139 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[6 + j] = v1141[j];
      float v1161[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1150 = wrap_add(v4594, v1148[j]);
        const bool v1152 = v1150 >= 0;
        const float v1153 = b7[8 + j];
        const float v1159 = v1153 * v4546;
        v1161[j] = v1152 ? v1159 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[8 + j] = v1161[j];
      float v1181[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1170 = wrap_add(v4598, v1148[j]);
        const bool v1172 = v1170 >= 0;
        const float v1173 = b7[10 + j];
        const float v1179 = v1173 * v4546;
        v1181[j] = v1172 ? v1179 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[10 + j] = v1181[j];
      float v1201[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1190 = wrap_add(v4594, v1188[j]);
        const bool v1192 = v1190 >= 0;
        const float v1193 = b7[12 + j];
        const float v1199 = v1193 * v4546;
        v1201[j] = v1192 ? v1199 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[12 + j] = v1201[j];
      float v1221[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1210 = wrap_add(v4598, v1188[j]);
        const bool v1212 = v1210 >= 0;
        const float v1213 = b7[14 + j];
        const float v1219 = v1213 * v4546;
        v1221[j] = v1212 ? v1219 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[14 + j] = v1221[j];
      float v1241[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1230 = wrap_add(v4594, v1228[j]);
        const bool v1232 = v1230 >= 0;
        const float v1233 = b7[16 + j];
        const float v1239 = v1233 * v4546;
        v1241[j] = v1232 ? v1239 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[16 + j] = v1241[j];
      float v1261[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1250 = wrap_add(v4598, v1228[j]);
        const bool v1252 = v1250 >= 0;
        const float v1253 = b7[18 + j];
        const float v1259 = v1253 * v4546;
        v1261[j] = v1252 ? v1259 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[18 + j] = v1261[j];
      float v1281[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1270 = wrap_add(v4594, v1268[j]);
        const bool v1272 = v1270 >= 0;
        const float v1273 = b7[20 + j];
        const float v1279 = v1273 * v4546;
        v1281[j] = v1272 ? v1279 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[20 + j] = v1281[j];
      float v1301[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1290 = wrap_add(v4598, v1268[j]);
        const bool v1292 = v1290 >= 0;
        const float v1293 = b7[22 + j];
        const float v1299 = v1293 * v4546;
        v1301[j] = v1292 ? v1299 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[22 + j] = v1301[j];
      float v1321[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1310 = wrap_add(v4594, v1308[j]);
        const bool v1312 = v1310 >= 0;
        const float v1313 = b7[24 + j];
        const float v1319 = v1313 * v4546;
        v1321[j] = v1312 ? v1319 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[24 + j] = v1321[j];
      float v1341[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1330 = wrap_add(v4598, v1308[j]);
        const bool v1332 = v1330 >= 0;
        const float v1333 = b7[26 + j];
        const float v1339 = v1333 * v4546;
        v1341[j] = v1332 ? v1339 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[26 + j] = v1341[j];
      float v1361[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1350 = wrap_add(v4594, v1348[j]);
        const bool v1352 = v1350 >= 0;
        const float v1353 = b7[28 + j];
        const float v1359 = v1353 * v4546;
        v1361[j] = v1352 ? v1359 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[28 + j] = v1361[j];
      float v1381[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int v1370 = wrap_add(v4598, v1348[j]);
        const bool v1372 = v1370 >= 0;
        const float v1373 = b7[30 + j];
        const float v1379 = v1373 * v4546;
        v1381[j] = v1372 ? v1379 : __uint_as_float(0xff800000u);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[30 + j] = v1381[j];
    }
    if (n1 < 128 * i0 + 64) {
      if (n1 <= 128 * i0 + 2 * (tx % 4)) {
        b7[0] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 2) {
        b7[1] = __uint_as_float(0xff800000u);
      }
      if (n1 <= 128 * i0 + 2 * (tx % 4)) {
        b7[2] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 2) {
        b7[3] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 9) {
        b7[4] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 10) {
        b7[5] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 9) {
        b7[6] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 10) {
        b7[7] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 17) {
        b7[8] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 18) {
        b7[9] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 17) {
        b7[10] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 18) {
        b7[11] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 25) {
        b7[12] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 26) {
        b7[13] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 25) {
        b7[14] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 26) {
        b7[15] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 33) {
        b7[16] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 34) {
        b7[17] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 33) {
        b7[18] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 34) {
        b7[19] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 41) {
        b7[20] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 42) {
        b7[21] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 41) {
        b7[22] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 42) {
        b7[23] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 49) {
        b7[24] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 50) {
        b7[25] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 49) {
        b7[26] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 50) {
        b7[27] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 57) {
        b7[28] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 58) {
        b7[29] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 57) {
        b7[30] = __uint_as_float(0xff800000u);
      }
      if (n1 < 128 * i0 + 2 * (tx % 4) + 58) {
        b7[31] = __uint_as_float(0xff800000u);
      }
    }
    const float v1672 = b7[0];
    b12[0] = v1672;
    const float v1673 = b12[0];
    const float v1675 = max_nan(v1673, v1672);
    b12[0] = v1675;
    const float v1676 = b12[0];
    const float v1677 = b7[1];
    const float v1678 = max_nan(v1676, v1677);
    b12[0] = v1678;
    const float v1679 = b12[0];
    const float v1680 = b7[4];
    const float v1681 = max_nan(v1679, v1680);
    b12[0] = v1681;
    const float v1682 = b12[0];
    const float v1683 = b7[5];
    const float v1684 = max_nan(v1682, v1683);
    b12[0] = v1684;
    const float v1685 = b12[0];
    const float v1686 = b7[8];
    const float v1687 = max_nan(v1685, v1686);
    b12[0] = v1687;
    const float v1688 = b12[0];
    const float v1689 = b7[9];
    const float v1690 = max_nan(v1688, v1689);
    b12[0] = v1690;
    const float v1691 = b12[0];
    const float v1692 = b7[12];
    const float v1693 = max_nan(v1691, v1692);
    b12[0] = v1693;
    const float v1694 = b12[0];
    const float v1695 = b7[13];
    const float v1696 = max_nan(v1694, v1695);
    b12[0] = v1696;
    const float v1697 = b12[0];
    const float v1698 = b7[16];
    const float v1699 = max_nan(v1697, v1698);
    b12[0] = v1699;
    const float v1700 = b12[0];
    const float v1701 = b7[17];
    const float v1702 = max_nan(v1700, v1701);
    b12[0] = v1702;
    const float v1703 = b12[0];
    const float v1704 = b7[20];
    const float v1705 = max_nan(v1703, v1704);
    b12[0] = v1705;
    const float v1706 = b12[0];
    const float v1707 = b7[21];
    const float v1708 = max_nan(v1706, v1707);
    b12[0] = v1708;
    const float v1709 = b12[0];
    const float v1710 = b7[24];
    const float v1711 = max_nan(v1709, v1710);
    b12[0] = v1711;
    const float v1712 = b12[0];
    const float v1713 = b7[25];
    const float v1714 = max_nan(v1712, v1713);
    b12[0] = v1714;
    const float v1715 = b12[0];
    const float v1716 = b7[28];
    const float v1717 = max_nan(v1715, v1716);
    b12[0] = v1717;
    const float v1718 = b12[0];
    const float v1719 = b7[29];
    const float v1720 = max_nan(v1718, v1719);
    b12[0] = v1720;
    const float v1721 = b11[0];
    const float v1722 = b12[0];
    const float v1723 = __shfl_xor_sync(0xffffffffu, v1722, 1);
    const float v1724 = max_nan(v1722, v1723);
    const float v1725 = __shfl_xor_sync(0xffffffffu, v1724, 2);
    const float v1726 = max_nan(v1724, v1725);
    const float v1727 = max_nan(v1721, v1726);
    const bool v1730 = v1727 == __uint_as_float(0xff800000u);
    const float v1732 = v1730 ? 0.0f : v1727;
    const float v1735 = v1730 ? 0.0f : v1732;
    const bool v1737 = v1721 == __uint_as_float(0xff800000u);
    const float v1739 = v1737 ? 0.0f : v1721;
    const float v1742 = v1737 ? v1735 : v1739;
    const float v1743 = v1742 - v1735;
    const float v1745 = v1743 * 1.442695f;
    const float v1746 = exp2f(v1745);
    b11[0] = v1727;
    b12[0] = v1735;
    const float v1747 = b13[0];
    const float v1748 = v1747 * v1746;
    b13[0] = v1748;
    const float v4658 = v1746;
    float v1750[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1749 = b10[j];
      v1750[j] = v1749 * v4658;
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b10[j] = v1750[j];
    float v1752[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1751 = b10[4 + j];
      v1752[j] = v1751 * v4658;
    }
    const float v1753 = b7[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) b10[4 + j] = v1752[j];
    b12[1] = v1753;
    const float v1754 = b12[1];
    const float v1756 = max_nan(v1754, v1753);
    b12[1] = v1756;
    const float v1757 = b12[1];
    const float v1758 = b7[3];
    const float v1759 = max_nan(v1757, v1758);
    b12[1] = v1759;
    const float v1760 = b12[1];
    const float v1761 = b7[6];
    const float v1762 = max_nan(v1760, v1761);
    b12[1] = v1762;
    const float v1763 = b12[1];
    const float v1764 = b7[7];
    const float v1765 = max_nan(v1763, v1764);
    b12[1] = v1765;
    const float v1766 = b12[1];
    const float v1767 = b7[10];
    const float v1768 = max_nan(v1766, v1767);
    b12[1] = v1768;
    const float v1769 = b12[1];
    const float v1770 = b7[11];
    const float v1771 = max_nan(v1769, v1770);
    b12[1] = v1771;
    const float v1772 = b12[1];
    const float v1773 = b7[14];
    const float v1774 = max_nan(v1772, v1773);
    b12[1] = v1774;
    const float v1775 = b12[1];
    const float v1776 = b7[15];
    const float v1777 = max_nan(v1775, v1776);
    b12[1] = v1777;
    const float v1778 = b12[1];
    const float v1779 = b7[18];
    const float v1780 = max_nan(v1778, v1779);
    b12[1] = v1780;
    const float v1781 = b12[1];
    const float v1782 = b7[19];
    const float v1783 = max_nan(v1781, v1782);
    b12[1] = v1783;
    const float v1784 = b12[1];
    const float v1785 = b7[22];
    const float v1786 = max_nan(v1784, v1785);
    b12[1] = v1786;
    const float v1787 = b12[1];
    const float v1788 = b7[23];
    const float v1789 = max_nan(v1787, v1788);
    b12[1] = v1789;
    const float v1790 = b12[1];
    const float v1791 = b7[26];
    const float v1792 = max_nan(v1790, v1791);
    b12[1] = v1792;
    const float v1793 = b12[1];
    const float v1794 = b7[27];
    const float v1795 = max_nan(v1793, v1794);
    b12[1] = v1795;
    const float v1796 = b12[1];
    const float v1797 = b7[30];
    const float v1798 = max_nan(v1796, v1797);
    b12[1] = v1798;
    const float v1799 = b12[1];
    const float v1800 = b7[31];
    const float v1801 = max_nan(v1799, v1800);
    b12[1] = v1801;
    const float v1802 = b11[1];
    const float v1803 = b12[1];
    const float v1804 = __shfl_xor_sync(0xffffffffu, v1803, 1);
    const float v1805 = max_nan(v1803, v1804);
    const float v1806 = __shfl_xor_sync(0xffffffffu, v1805, 2);
    const float v1807 = max_nan(v1805, v1806);
    const float v1808 = max_nan(v1802, v1807);
    const bool v1811 = v1808 == __uint_as_float(0xff800000u);
    const float v1813 = v1811 ? 0.0f : v1808;
    const float v1816 = v1811 ? 0.0f : v1813;
    const bool v1818 = v1802 == __uint_as_float(0xff800000u);
    const float v1820 = v1818 ? 0.0f : v1802;
    const float v1823 = v1818 ? v1816 : v1820;
    const float v1824 = v1823 - v1816;
    const float v1826 = v1824 * 1.442695f;
    const float v1827 = exp2f(v1826);
    b11[1] = v1808;
    b12[1] = v1816;
    const float v1828 = b13[1];
    const float v1829 = v1828 * v1827;
    b13[1] = v1829;
    const float v4660 = v1827;
    float v1831[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1830 = b10[2 + j];
      v1831[j] = v1830 * v4660;
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b10[2 + j] = v1831[j];
    float v1833[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1832 = b10[6 + j];
      v1833[j] = v1832 * v4660;
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b10[6 + j] = v1833[j];
    const float v1943 = b12[0];
    const float v4662 = v1943;
    float v1947[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1942 = b7[j];
      const float v1944 = v1942 - v4662;
      const float v1946 = v1944 * 1.442695f;
      v1947[j] = exp2f(v1946);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[j] = v1947[j];
    const float v1949 = b12[1];
    const float v4664 = v1949;
    float v1953[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1948 = b7[2 + j];
      const float v1950 = v1948 - v4664;
      const float v1952 = v1950 * 1.442695f;
      v1953[j] = exp2f(v1952);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[2 + j] = v1953[j];
    float v1959[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1954 = b7[4 + j];
      const float v1956 = v1954 - v4662;
      const float v1958 = v1956 * 1.442695f;
      v1959[j] = exp2f(v1958);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[4 + j] = v1959[j];
    float v1965[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1960 = b7[6 + j];
      const float v1962 = v1960 - v4664;
      const float v1964 = v1962 * 1.442695f;
      v1965[j] = exp2f(v1964);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[6 + j] = v1965[j];
    float v1971[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1966 = b7[8 + j];
      const float v1968 = v1966 - v4662;
      const float v1970 = v1968 * 1.442695f;
      v1971[j] = exp2f(v1970);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[8 + j] = v1971[j];
    float v1977[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1972 = b7[10 + j];
      const float v1974 = v1972 - v4664;
      const float v1976 = v1974 * 1.442695f;
      v1977[j] = exp2f(v1976);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[10 + j] = v1977[j];
    float v1983[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1978 = b7[12 + j];
      const float v1980 = v1978 - v4662;
      const float v1982 = v1980 * 1.442695f;
      v1983[j] = exp2f(v1982);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[12 + j] = v1983[j];
    float v1989[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1984 = b7[14 + j];
      const float v1986 = v1984 - v4664;
      const float v1988 = v1986 * 1.442695f;
      v1989[j] = exp2f(v1988);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[14 + j] = v1989[j];
    float v1995[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1990 = b7[16 + j];
      const float v1992 = v1990 - v4662;
      const float v1994 = v1992 * 1.442695f;
      v1995[j] = exp2f(v1994);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[16 + j] = v1995[j];
    float v2001[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v1996 = b7[18 + j];
      const float v1998 = v1996 - v4664;
      const float v2000 = v1998 * 1.442695f;
      v2001[j] = exp2f(v2000);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[18 + j] = v2001[j];
    float v2007[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v2002 = b7[20 + j];
      const float v2004 = v2002 - v4662;
      const float v2006 = v2004 * 1.442695f;
      v2007[j] = exp2f(v2006);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[20 + j] = v2007[j];
    float v2013[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v2008 = b7[22 + j];
      const float v2010 = v2008 - v4664;
      const float v2012 = v2010 * 1.442695f;
      v2013[j] = exp2f(v2012);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[22 + j] = v2013[j];
    float v2019[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v2014 = b7[24 + j];
      const float v2016 = v2014 - v4662;
      const float v2018 = v2016 * 1.442695f;
      v2019[j] = exp2f(v2018);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[24 + j] = v2019[j];
    float v2025[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v2020 = b7[26 + j];
      const float v2022 = v2020 - v4664;
      const float v2024 = v2022 * 1.442695f;
      v2025[j] = exp2f(v2024);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[26 + j] = v2025[j];
    float v2031[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v2026 = b7[28 + j];
      const float v2028 = v2026 - v4662;
      const float v2030 = v2028 * 1.442695f;
      v2031[j] = exp2f(v2030);
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[28 + j] = v2031[j];
    float v2037[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float v2032 = b7[30 + j];
      const float v2034 = v2032 - v4664;
      const float v2036 = v2034 * 1.442695f;
      v2037[j] = exp2f(v2036);
    }
    const float v2152 = b13[0];
    const float v2153 = b7[0];
    const float v2154 = v2152 + v2153;
    #pragma unroll
    for (int j = 0; j < 2; ++j) b7[30 + j] = v2037[j];
    b13[0] = v2154;
    const float v2155 = b13[0];
    const float v2156 = b7[1];
    const float v2157 = v2155 + v2156;
    b13[0] = v2157;
    const float v2158 = b13[1];
    const float v2159 = b7[2];
    const float v2160 = v2158 + v2159;
    b13[1] = v2160;
    const float v2161 = b13[1];
    const float v2162 = b7[3];
    const float v2163 = v2161 + v2162;
    b13[1] = v2163;
    const float v2164 = b13[0];
    const float v2165 = b7[4];
    const float v2166 = v2164 + v2165;
    b13[0] = v2166;
    const float v2167 = b13[0];
    const float v2168 = b7[5];
    const float v2169 = v2167 + v2168;
    b13[0] = v2169;
    const float v2170 = b13[1];
    const float v2171 = b7[6];
    const float v2172 = v2170 + v2171;
    b13[1] = v2172;
    const float v2173 = b13[1];
    const float v2174 = b7[7];
    const float v2175 = v2173 + v2174;
    b13[1] = v2175;
    const float v2176 = b13[0];
    const float v2177 = b7[8];
    const float v2178 = v2176 + v2177;
    b13[0] = v2178;
    const float v2179 = b13[0];
    const float v2180 = b7[9];
    const float v2181 = v2179 + v2180;
    b13[0] = v2181;
    const float v2182 = b13[1];
    const float v2183 = b7[10];
    const float v2184 = v2182 + v2183;
    b13[1] = v2184;
    const float v2185 = b13[1];
    const float v2186 = b7[11];
    const float v2187 = v2185 + v2186;
    b13[1] = v2187;
    const float v2188 = b13[0];
    const float v2189 = b7[12];
    const float v2190 = v2188 + v2189;
    b13[0] = v2190;
    const float v2191 = b13[0];
    const float v2192 = b7[13];
    const float v2193 = v2191 + v2192;
    b13[0] = v2193;
    const float v2194 = b13[1];
    const float v2195 = b7[14];
    const float v2196 = v2194 + v2195;
    b13[1] = v2196;
    const float v2197 = b13[1];
    const float v2198 = b7[15];
    const float v2199 = v2197 + v2198;
    b13[1] = v2199;
    const float v2200 = b13[0];
    const float v2201 = b7[16];
    const float v2202 = v2200 + v2201;
    b13[0] = v2202;
    const float v2203 = b13[0];
    const float v2204 = b7[17];
    const float v2205 = v2203 + v2204;
    b13[0] = v2205;
    const float v2206 = b13[1];
    const float v2207 = b7[18];
    const float v2208 = v2206 + v2207;
    b13[1] = v2208;
    const float v2209 = b13[1];
    const float v2210 = b7[19];
    const float v2211 = v2209 + v2210;
    b13[1] = v2211;
    const float v2212 = b13[0];
    const float v2213 = b7[20];
    const float v2214 = v2212 + v2213;
    b13[0] = v2214;
    const float v2215 = b13[0];
    const float v2216 = b7[21];
    const float v2217 = v2215 + v2216;
    b13[0] = v2217;
    const float v2218 = b13[1];
    const float v2219 = b7[22];
    const float v2220 = v2218 + v2219;
    b13[1] = v2220;
    const float v2221 = b13[1];
    const float v2222 = b7[23];
    const float v2223 = v2221 + v2222;
    b13[1] = v2223;
    const float v2224 = b13[0];
    const float v2225 = b7[24];
    const float v2226 = v2224 + v2225;
    b13[0] = v2226;
    const float v2227 = b13[0];
    const float v2228 = b7[25];
    const float v2229 = v2227 + v2228;
    b13[0] = v2229;
    const float v2230 = b13[1];
    const float v2231 = b7[26];
    const float v2232 = v2230 + v2231;
    b13[1] = v2232;
    const float v2233 = b13[1];
    const float v2234 = b7[27];
    const float v2235 = v2233 + v2234;
    b13[1] = v2235;
    const float v2236 = b13[0];
    const float v2237 = b7[28];
    const float v2238 = v2236 + v2237;
    b13[0] = v2238;
    const float v2239 = b13[0];
    const float v2240 = b7[29];
    const float v2241 = v2239 + v2240;
    b13[0] = v2241;
    const float v2242 = b13[1];
    const float v2243 = b7[30];
    const float v2244 = v2242 + v2243;
    b13[1] = v2244;
    const float v2245 = b13[1];
    const float v2246 = b7[31];
    const float v2247 = v2245 + v2246;
    b13[1] = v2247;
    Vec<float, 2> v2266;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2266[j] = b7[j];
    *(b8) = bf16_pair(v2266[0], v2266[1]);
    Vec<float, 2> v2267;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2267[j] = b7[2 + j];
    *(b8 + 1) = bf16_pair(v2267[0], v2267[1]);
    Vec<float, 2> v2268;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2268[j] = b7[4 + j];
    *(b8 + 2) = bf16_pair(v2268[0], v2268[1]);
    Vec<float, 2> v2269;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2269[j] = b7[6 + j];
    *(b8 + 3) = bf16_pair(v2269[0], v2269[1]);
    Vec<float, 2> v2270;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2270[j] = b7[8 + j];
    *(b8 + 4) = bf16_pair(v2270[0], v2270[1]);
    Vec<float, 2> v2271;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2271[j] = b7[10 + j];
    *(b8 + 5) = bf16_pair(v2271[0], v2271[1]);
    Vec<float, 2> v2272;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2272[j] = b7[12 + j];
    *(b8 + 6) = bf16_pair(v2272[0], v2272[1]);
    Vec<float, 2> v2273;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2273[j] = b7[14 + j];
    *(b8 + 7) = bf16_pair(v2273[0], v2273[1]);
    Vec<float, 2> v2274;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2274[j] = b7[16 + j];
    *(b8 + 8) = bf16_pair(v2274[0], v2274[1]);
    Vec<float, 2> v2275;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2275[j] = b7[18 + j];
    *(b8 + 9) = bf16_pair(v2275[0], v2275[1]);
    Vec<float, 2> v2276;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2276[j] = b7[20 + j];
    *(b8 + 10) = bf16_pair(v2276[0], v2276[1]);
    Vec<float, 2> v2277;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2277[j] = b7[22 + j];
    *(b8 + 11) = bf16_pair(v2277[0], v2277[1]);
    Vec<float, 2> v2278;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2278[j] = b7[24 + j];
    *(b8 + 12) = bf16_pair(v2278[0], v2278[1]);
    Vec<float, 2> v2279;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2279[j] = b7[26 + j];
    *(b8 + 13) = bf16_pair(v2279[0], v2279[1]);
    Vec<float, 2> v2280;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2280[j] = b7[28 + j];
    *(b8 + 14) = bf16_pair(v2280[0], v2280[1]);
    Vec<float, 2> v2281;
    #pragma unroll
    for (int j = 0; j < 2; ++j) v2281[j] = b7[30 + j];
    *(b8 + 15) = bf16_pair(v2281[0], v2281[1]);
    load_matrices<4, true>(b9, b5, k38);
    multiply_matrices<false>(b10, b8, b9);
    multiply_matrices<false>(b10 + 4, b8, b9 + 2);
    load_matrices<4, true>(b9, b5, k39);
    multiply_matrices<false>(b10, b8 + 4, b9);
    multiply_matrices<false>(b10 + 4, b8 + 4, b9 + 2);
    load_matrices<4, true>(b9, b5, k40);
    multiply_matrices<false>(b10, b8 + 8, b9);
    multiply_matrices<false>(b10 + 4, b8 + 8, b9 + 2);
    load_matrices<4, true>(b9, b5, k41);
    multiply_matrices<false>(b10, b8 + 12, b9);
    multiply_matrices<false>(b10 + 4, b8 + 12, b9 + 2);
    wait_for_copies<0>();
    __syncthreads();
    const unsigned k60 = k42 + 1024 * n2;
    const unsigned k61 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 128 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k10, b1 + k60, int(k61));
    const unsigned k62 = k42 + 1152 * n2;
    const unsigned k63 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 136 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k13, b1 + k62, int(k63));
    const unsigned k64 = k42 + 1280 * n2;
    const unsigned k65 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 144 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k15, b1 + k64, int(k65));
    const unsigned k66 = k42 + 1408 * n2;
    const unsigned k67 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 152 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k18, b1 + k66, int(k67));
    const unsigned k68 = k42 + 1536 * n2;
    const unsigned k69 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 160 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k21, b1 + k68, int(k69));
    const unsigned k70 = k42 + 1664 * n2;
    const unsigned k71 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 168 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k24, b1 + k70, int(k71));
    const unsigned k72 = k42 + 1792 * n2;
    const unsigned k73 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 176 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k27, b1 + k72, int(k73));
    const unsigned k74 = k42 + 1920 * n2;
    const unsigned k75 = tx % 4 < 2 && 8 * ty + 128 * i0 + tx / 4 + 184 < n1 && int(2 * i0 + 2) < int(unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) ? 8 : 0;
    copy_async<8>(b4 + k30, b1 + k74, int(k75));
    copy_async<8>(b5 + k10, b2 + k60, int(k61));
    copy_async<8>(b5 + k13, b2 + k62, int(k63));
    copy_async<8>(b5 + k15, b2 + k64, int(k65));
    copy_async<8>(b5 + k18, b2 + k66, int(k67));
    copy_async<8>(b5 + k21, b2 + k68, int(k69));
    copy_async<8>(b5 + k24, b2 + k70, int(k71));
    copy_async<8>(b5 + k27, b2 + k72, int(k73));
    copy_async<8>(b5 + k30, b2 + k74, int(k75));
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
      load_matrices<4, false>(b9, b17, k34);
      multiply_matrices<false>(b7, b6, b9);
      multiply_matrices<false>(b7 + 4, b6, b9 + 2);
      load_matrices<4, false>(b9, b17, k35);
      multiply_matrices<false>(b7 + 8, b6, b9);
      multiply_matrices<false>(b7 + 12, b6, b9 + 2);
      load_matrices<4, false>(b9, b17, k36);
      multiply_matrices<false>(b7 + 16, b6, b9);
      multiply_matrices<false>(b7 + 20, b6, b9 + 2);
      load_matrices<4, false>(b9, b17, k37);
      multiply_matrices<false>(b7 + 24, b6, b9);
      multiply_matrices<false>(b7 + 28, b6, b9 + 2);
      if (128 * i0 + 16 * k2 + 142 < n1) {
        float v2505[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2497 = b7[j];
          const float v2503 = v2497 * v4546;
          v2505[j] = true ? v2503 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[j] = v2505[j];
        float v2515[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2507 = b7[2 + j];
          const float v2513 = v2507 * v4546;
          v2515[j] = true ? v2513 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[2 + j] = v2515[j];
        float v2525[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2517 = b7[4 + j];
          const float v2523 = v2517 * v4546;
          v2525[j] = true ? v2523 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[4 + j] = v2525[j];
        float v2535[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2527 = b7[6 + j];
          const float v2533 = v2527 * v4546;
          v2535[j] = true ? v2533 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[6 + j] = v2535[j];
        float v2545[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2537 = b7[8 + j];
          const float v2543 = v2537 * v4546;
          v2545[j] = true ? v2543 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[8 + j] = v2545[j];
        float v2555[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2547 = b7[10 + j];
          const float v2553 = v2547 * v4546;
          v2555[j] = true ? v2553 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[10 + j] = v2555[j];
        float v2565[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2557 = b7[12 + j];
          const float v2563 = v2557 * v4546;
          v2565[j] = true ? v2563 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[12 + j] = v2565[j];
        float v2575[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2567 = b7[14 + j];
          const float v2573 = v2567 * v4546;
          v2575[j] = true ? v2573 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[14 + j] = v2575[j];
        float v2585[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2577 = b7[16 + j];
          const float v2583 = v2577 * v4546;
          v2585[j] = true ? v2583 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[16 + j] = v2585[j];
        float v2595[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2587 = b7[18 + j];
          const float v2593 = v2587 * v4546;
          v2595[j] = true ? v2593 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[18 + j] = v2595[j];
        float v2605[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2597 = b7[20 + j];
          const float v2603 = v2597 * v4546;
          v2605[j] = true ? v2603 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[20 + j] = v2605[j];
        float v2615[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2607 = b7[22 + j];
          const float v2613 = v2607 * v4546;
          v2615[j] = true ? v2613 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[22 + j] = v2615[j];
        float v2625[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2617 = b7[24 + j];
          const float v2623 = v2617 * v4546;
          v2625[j] = true ? v2623 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[24 + j] = v2625[j];
        float v2635[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2627 = b7[26 + j];
          const float v2633 = v2627 * v4546;
          v2635[j] = true ? v2633 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[26 + j] = v2635[j];
        float v2645[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2637 = b7[28 + j];
          const float v2643 = v2637 * v4546;
          v2645[j] = true ? v2643 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[28 + j] = v2645[j];
        float v2655[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float v2647 = b7[30 + j];
          const float v2653 = v2647 * v4546;
          v2655[j] = true ? v2653 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[30 + j] = v2655[j];
      }
      if (n1 < 128 * i0 + 16 * k2 + 143) {
        const unsigned k76 = 16 * ty + n1 + tx / 4 - 128 * i0 - 2 * (tx % 4) - 16 * k2 - 80;
        const long long v3016 = 16 * static_cast<long long>(ty) + static_cast<long long>(n1) + static_cast<long long>(tx) / 4 - 128 * static_cast<long long>(i0) - 2 * (static_cast<long long>(tx) % 4) - 16 * static_cast<long long>(k2) - 80;
        const long long v3018 = v3016 < 1073741824ll ? v3016 : 1073741824ll;
        const long long v3020 = v3018 > (-1073741824ll) ? v3018 : (-1073741824ll);
        const int v3023 = (int)v3020;
        const int v4758 = v3023;
        float v3035[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3024 = wrap_add(v4758, v1068[j]);
          const bool v3026 = v3024 >= 0;
          const float v3027 = b7[j];
          const float v3033 = v3027 * v4546;
          v3035[j] = v3026 ? v3033 : __uint_as_float(0xff800000u);
        }
        const unsigned k77 = k76 + 8;
        const long long v3036 = 16 * static_cast<long long>(ty) + static_cast<long long>(n1) + static_cast<long long>(tx) / 4 - 128 * static_cast<long long>(i0) - 2 * (static_cast<long long>(tx) % 4) - 16 * static_cast<long long>(k2) - 72;
        const long long v3038 = v3036 < 1073741824ll ? v3036 : 1073741824ll;
        const long long v3040 = v3038 > (-1073741824ll) ? v3038 : (-1073741824ll);
        const int v3043 = (int)v3040;
        const int v4762 = v3043;
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[j] = v3035[j];
        float v3055[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3044 = wrap_add(v4762, v1068[j]);
          const bool v3046 = v3044 >= 0;
          const float v3047 = b7[2 + j];
          const float v3053 = v3047 * v4546;
          v3055[j] = v3046 ? v3053 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[2 + j] = v3055[j];
        float v3075[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3064 = wrap_add(v4758, v1108[j]);
          const bool v3066 = v3064 >= 0;
          const float v3067 = b7[4 + j];
          const float v3073 = v3067 * v4546;
          v3075[j] = v3066 ? v3073 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[4 + j] = v3075[j];
        float v3095[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3084 = wrap_add(v4762, v1108[j]);
          const bool v3086 = v3084 >= 0;
          const float v3087 = b7[6 + j];
          const float v3093 = v3087 * v4546;
          v3095[j] = v3086 ? v3093 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[6 + j] = v3095[j];
        float v3115[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3104 = wrap_add(v4758, v1148[j]);
          const bool v3106 = v3104 >= 0;
          const float v3107 = b7[8 + j];
          const float v3113 = v3107 * v4546;
          v3115[j] = v3106 ? v3113 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[8 + j] = v3115[j];
        float v3135[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3124 = wrap_add(v4762, v1148[j]);
          const bool v3126 = v3124 >= 0;
          const float v3127 = b7[10 + j];
          const float v3133 = v3127 * v4546;
          v3135[j] = v3126 ? v3133 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[10 + j] = v3135[j];
        float v3155[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3144 = wrap_add(v4758, v1188[j]);
          const bool v3146 = v3144 >= 0;
          const float v3147 = b7[12 + j];
          const float v3153 = v3147 * v4546;
          v3155[j] = v3146 ? v3153 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[12 + j] = v3155[j];
        float v3175[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3164 = wrap_add(v4762, v1188[j]);
          const bool v3166 = v3164 >= 0;
          const float v3167 = b7[14 + j];
          const float v3173 = v3167 * v4546;
          v3175[j] = v3166 ? v3173 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[14 + j] = v3175[j];
        float v3195[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3184 = wrap_add(v4758, v1228[j]);
          const bool v3186 = v3184 >= 0;
          const float v3187 = b7[16 + j];
          const float v3193 = v3187 * v4546;
          v3195[j] = v3186 ? v3193 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[16 + j] = v3195[j];
        float v3215[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3204 = wrap_add(v4762, v1228[j]);
          const bool v3206 = v3204 >= 0;
          const float v3207 = b7[18 + j];
          const float v3213 = v3207 * v4546;
          v3215[j] = v3206 ? v3213 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[18 + j] = v3215[j];
        float v3235[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3224 = wrap_add(v4758, v1268[j]);
          const bool v3226 = v3224 >= 0;
          const float v3227 = b7[20 + j];
          const float v3233 = v3227 * v4546;
          v3235[j] = v3226 ? v3233 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[20 + j] = v3235[j];
        float v3255[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3244 = wrap_add(v4762, v1268[j]);
          const bool v3246 = v3244 >= 0;
          const float v3247 = b7[22 + j];
          const float v3253 = v3247 * v4546;
          v3255[j] = v3246 ? v3253 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[22 + j] = v3255[j];
        float v3275[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3264 = wrap_add(v4758, v1308[j]);
          const bool v3266 = v3264 >= 0;
          const float v3267 = b7[24 + j];
          const float v3273 = v3267 * v4546;
          v3275[j] = v3266 ? v3273 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[24 + j] = v3275[j];
        float v3295[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3284 = wrap_add(v4762, v1308[j]);
          const bool v3286 = v3284 >= 0;
          const float v3287 = b7[26 + j];
          const float v3293 = v3287 * v4546;
          v3295[j] = v3286 ? v3293 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[26 + j] = v3295[j];
        float v3315[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3304 = wrap_add(v4758, v1348[j]);
          const bool v3306 = v3304 >= 0;
          const float v3307 = b7[28 + j];
          const float v3313 = v3307 * v4546;
          v3315[j] = v3306 ? v3313 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[28 + j] = v3315[j];
        float v3335[2];
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int v3324 = wrap_add(v4762, v1348[j]);
          const bool v3326 = v3324 >= 0;
          const float v3327 = b7[30 + j];
          const float v3333 = v3327 * v4546;
          v3335[j] = v3326 ? v3333 : __uint_as_float(0xff800000u);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) b7[30 + j] = v3335[j];
      }
      if (n1 < 128 * i0 + 128) {
        if (n1 < 128 * i0 + 2 * (tx % 4) + 65) {
          b7[0] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 66) {
          b7[1] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 65) {
          b7[2] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 66) {
          b7[3] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 73) {
          b7[4] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 74) {
          b7[5] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 73) {
          b7[6] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 74) {
          b7[7] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 81) {
          b7[8] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 82) {
          b7[9] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 81) {
          b7[10] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 82) {
          b7[11] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 89) {
          b7[12] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 90) {
          b7[13] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 89) {
          b7[14] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 90) {
          b7[15] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 97) {
          b7[16] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 98) {
          b7[17] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 97) {
          b7[18] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 98) {
          b7[19] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 105) {
          b7[20] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 106) {
          b7[21] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 105) {
          b7[22] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 106) {
          b7[23] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 113) {
          b7[24] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 114) {
          b7[25] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 113) {
          b7[26] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 114) {
          b7[27] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 121) {
          b7[28] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 122) {
          b7[29] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 121) {
          b7[30] = __uint_as_float(0xff800000u);
        }
        if (n1 < 128 * i0 + 2 * (tx % 4) + 122) {
          b7[31] = __uint_as_float(0xff800000u);
        }
      }
      const float v3626 = b7[0];
      b12[0] = v3626;
      const float v3627 = b12[0];
      const float v3629 = max_nan(v3627, v3626);
      b12[0] = v3629;
      const float v3630 = b12[0];
      const float v3631 = b7[1];
      const float v3632 = max_nan(v3630, v3631);
      b12[0] = v3632;
      const float v3633 = b12[0];
      const float v3634 = b7[4];
      const float v3635 = max_nan(v3633, v3634);
      b12[0] = v3635;
      const float v3636 = b12[0];
      const float v3637 = b7[5];
      const float v3638 = max_nan(v3636, v3637);
      b12[0] = v3638;
      const float v3639 = b12[0];
      const float v3640 = b7[8];
      const float v3641 = max_nan(v3639, v3640);
      b12[0] = v3641;
      const float v3642 = b12[0];
      const float v3643 = b7[9];
      const float v3644 = max_nan(v3642, v3643);
      b12[0] = v3644;
      const float v3645 = b12[0];
      const float v3646 = b7[12];
      const float v3647 = max_nan(v3645, v3646);
      b12[0] = v3647;
      const float v3648 = b12[0];
      const float v3649 = b7[13];
      const float v3650 = max_nan(v3648, v3649);
      b12[0] = v3650;
      const float v3651 = b12[0];
      const float v3652 = b7[16];
      const float v3653 = max_nan(v3651, v3652);
      b12[0] = v3653;
      const float v3654 = b12[0];
      const float v3655 = b7[17];
      const float v3656 = max_nan(v3654, v3655);
      b12[0] = v3656;
      const float v3657 = b12[0];
      const float v3658 = b7[20];
      const float v3659 = max_nan(v3657, v3658);
      b12[0] = v3659;
      const float v3660 = b12[0];
      const float v3661 = b7[21];
      const float v3662 = max_nan(v3660, v3661);
      b12[0] = v3662;
      const float v3663 = b12[0];
      const float v3664 = b7[24];
      const float v3665 = max_nan(v3663, v3664);
      b12[0] = v3665;
      const float v3666 = b12[0];
      const float v3667 = b7[25];
      const float v3668 = max_nan(v3666, v3667);
      b12[0] = v3668;
      const float v3669 = b12[0];
      const float v3670 = b7[28];
      const float v3671 = max_nan(v3669, v3670);
      b12[0] = v3671;
      const float v3672 = b12[0];
      const float v3673 = b7[29];
      const float v3674 = max_nan(v3672, v3673);
      b12[0] = v3674;
      const float v3675 = b11[0];
      const float v3676 = b12[0];
      const float v3677 = __shfl_xor_sync(0xffffffffu, v3676, 1);
      const float v3678 = max_nan(v3676, v3677);
      const float v3679 = __shfl_xor_sync(0xffffffffu, v3678, 2);
      const float v3680 = max_nan(v3678, v3679);
      const float v3681 = max_nan(v3675, v3680);
      const bool v3684 = v3681 == __uint_as_float(0xff800000u);
      const float v3686 = v3684 ? 0.0f : v3681;
      const float v3689 = v3684 ? 0.0f : v3686;
      const bool v3691 = v3675 == __uint_as_float(0xff800000u);
      const float v3693 = v3691 ? 0.0f : v3675;
      const float v3696 = v3691 ? v3689 : v3693;
      const float v3697 = v3696 - v3689;
      const float v3699 = v3697 * 1.442695f;
      const float v3700 = exp2f(v3699);
      b11[0] = v3681;
      b12[0] = v3689;
      const float v3701 = b13[0];
      const float v3702 = v3701 * v3700;
      b13[0] = v3702;
      const float v4822 = v3700;
      float v3704[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3703 = b10[j];
        v3704[j] = v3703 * v4822;
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b10[j] = v3704[j];
      float v3706[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3705 = b10[4 + j];
        v3706[j] = v3705 * v4822;
      }
      const float v3707 = b7[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) b10[4 + j] = v3706[j];
      b12[1] = v3707;
      const float v3708 = b12[1];
      const float v3710 = max_nan(v3708, v3707);
      b12[1] = v3710;
      const float v3711 = b12[1];
      const float v3712 = b7[3];
      const float v3713 = max_nan(v3711, v3712);
      b12[1] = v3713;
      const float v3714 = b12[1];
      const float v3715 = b7[6];
      const float v3716 = max_nan(v3714, v3715);
      b12[1] = v3716;
      const float v3717 = b12[1];
      const float v3718 = b7[7];
      const float v3719 = max_nan(v3717, v3718);
      b12[1] = v3719;
      const float v3720 = b12[1];
      const float v3721 = b7[10];
      const float v3722 = max_nan(v3720, v3721);
      b12[1] = v3722;
      const float v3723 = b12[1];
      const float v3724 = b7[11];
      const float v3725 = max_nan(v3723, v3724);
      b12[1] = v3725;
      const float v3726 = b12[1];
      const float v3727 = b7[14];
      const float v3728 = max_nan(v3726, v3727);
      b12[1] = v3728;
      const float v3729 = b12[1];
      const float v3730 = b7[15];
      const float v3731 = max_nan(v3729, v3730);
      b12[1] = v3731;
      const float v3732 = b12[1];
      const float v3733 = b7[18];
      const float v3734 = max_nan(v3732, v3733);
      b12[1] = v3734;
      const float v3735 = b12[1];
      const float v3736 = b7[19];
      const float v3737 = max_nan(v3735, v3736);
      b12[1] = v3737;
      const float v3738 = b12[1];
      const float v3739 = b7[22];
      const float v3740 = max_nan(v3738, v3739);
      b12[1] = v3740;
      const float v3741 = b12[1];
      const float v3742 = b7[23];
      const float v3743 = max_nan(v3741, v3742);
      b12[1] = v3743;
      const float v3744 = b12[1];
      const float v3745 = b7[26];
      const float v3746 = max_nan(v3744, v3745);
      b12[1] = v3746;
      const float v3747 = b12[1];
      const float v3748 = b7[27];
      const float v3749 = max_nan(v3747, v3748);
      b12[1] = v3749;
      const float v3750 = b12[1];
      const float v3751 = b7[30];
      const float v3752 = max_nan(v3750, v3751);
      b12[1] = v3752;
      const float v3753 = b12[1];
      const float v3754 = b7[31];
      const float v3755 = max_nan(v3753, v3754);
      b12[1] = v3755;
      const float v3756 = b11[1];
      const float v3757 = b12[1];
      const float v3758 = __shfl_xor_sync(0xffffffffu, v3757, 1);
      const float v3759 = max_nan(v3757, v3758);
      const float v3760 = __shfl_xor_sync(0xffffffffu, v3759, 2);
      const float v3761 = max_nan(v3759, v3760);
      const float v3762 = max_nan(v3756, v3761);
      const bool v3765 = v3762 == __uint_as_float(0xff800000u);
      const float v3767 = v3765 ? 0.0f : v3762;
      const float v3770 = v3765 ? 0.0f : v3767;
      const bool v3772 = v3756 == __uint_as_float(0xff800000u);
      const float v3774 = v3772 ? 0.0f : v3756;
      const float v3777 = v3772 ? v3770 : v3774;
      const float v3778 = v3777 - v3770;
      const float v3780 = v3778 * 1.442695f;
      const float v3781 = exp2f(v3780);
      b11[1] = v3762;
      b12[1] = v3770;
      const float v3782 = b13[1];
      const float v3783 = v3782 * v3781;
      b13[1] = v3783;
      const float v4824 = v3781;
      float v3785[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3784 = b10[2 + j];
        v3785[j] = v3784 * v4824;
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b10[2 + j] = v3785[j];
      float v3787[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3786 = b10[6 + j];
        v3787[j] = v3786 * v4824;
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b10[6 + j] = v3787[j];
      const float v3897 = b12[0];
      const float v4826 = v3897;
      float v3901[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3896 = b7[j];
        const float v3898 = v3896 - v4826;
        const float v3900 = v3898 * 1.442695f;
        v3901[j] = exp2f(v3900);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[j] = v3901[j];
      const float v3903 = b12[1];
      const float v4828 = v3903;
      float v3907[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3902 = b7[2 + j];
        const float v3904 = v3902 - v4828;
        const float v3906 = v3904 * 1.442695f;
        v3907[j] = exp2f(v3906);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[2 + j] = v3907[j];
      float v3913[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3908 = b7[4 + j];
        const float v3910 = v3908 - v4826;
        const float v3912 = v3910 * 1.442695f;
        v3913[j] = exp2f(v3912);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[4 + j] = v3913[j];
      float v3919[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3914 = b7[6 + j];
        const float v3916 = v3914 - v4828;
        const float v3918 = v3916 * 1.442695f;
        v3919[j] = exp2f(v3918);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[6 + j] = v3919[j];
      float v3925[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3920 = b7[8 + j];
        const float v3922 = v3920 - v4826;
        const float v3924 = v3922 * 1.442695f;
        v3925[j] = exp2f(v3924);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[8 + j] = v3925[j];
      float v3931[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3926 = b7[10 + j];
        const float v3928 = v3926 - v4828;
        const float v3930 = v3928 * 1.442695f;
        v3931[j] = exp2f(v3930);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[10 + j] = v3931[j];
      float v3937[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3932 = b7[12 + j];
        const float v3934 = v3932 - v4826;
        const float v3936 = v3934 * 1.442695f;
        v3937[j] = exp2f(v3936);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[12 + j] = v3937[j];
      float v3943[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3938 = b7[14 + j];
        const float v3940 = v3938 - v4828;
        const float v3942 = v3940 * 1.442695f;
        v3943[j] = exp2f(v3942);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[14 + j] = v3943[j];
      float v3949[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3944 = b7[16 + j];
        const float v3946 = v3944 - v4826;
        const float v3948 = v3946 * 1.442695f;
        v3949[j] = exp2f(v3948);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[16 + j] = v3949[j];
      float v3955[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3950 = b7[18 + j];
        const float v3952 = v3950 - v4828;
        const float v3954 = v3952 * 1.442695f;
        v3955[j] = exp2f(v3954);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[18 + j] = v3955[j];
      float v3961[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3956 = b7[20 + j];
        const float v3958 = v3956 - v4826;
        const float v3960 = v3958 * 1.442695f;
        v3961[j] = exp2f(v3960);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[20 + j] = v3961[j];
      float v3967[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3962 = b7[22 + j];
        const float v3964 = v3962 - v4828;
        const float v3966 = v3964 * 1.442695f;
        v3967[j] = exp2f(v3966);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[22 + j] = v3967[j];
      float v3973[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3968 = b7[24 + j];
        const float v3970 = v3968 - v4826;
        const float v3972 = v3970 * 1.442695f;
        v3973[j] = exp2f(v3972);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[24 + j] = v3973[j];
      float v3979[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3974 = b7[26 + j];
        const float v3976 = v3974 - v4828;
        const float v3978 = v3976 * 1.442695f;
        v3979[j] = exp2f(v3978);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[26 + j] = v3979[j];
      float v3985[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3980 = b7[28 + j];
        const float v3982 = v3980 - v4826;
        const float v3984 = v3982 * 1.442695f;
        v3985[j] = exp2f(v3984);
      }
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[28 + j] = v3985[j];
      float v3991[2];
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float v3986 = b7[30 + j];
        const float v3988 = v3986 - v4828;
        const float v3990 = v3988 * 1.442695f;
        v3991[j] = exp2f(v3990);
      }
      const float v4106 = b13[0];
      const float v4107 = b7[0];
      const float v4108 = v4106 + v4107;
      #pragma unroll
      for (int j = 0; j < 2; ++j) b7[30 + j] = v3991[j];
      b13[0] = v4108;
      const float v4109 = b13[0];
      const float v4110 = b7[1];
      const float v4111 = v4109 + v4110;
      b13[0] = v4111;
      const float v4112 = b13[1];
      const float v4113 = b7[2];
      const float v4114 = v4112 + v4113;
      b13[1] = v4114;
      const float v4115 = b13[1];
      const float v4116 = b7[3];
      const float v4117 = v4115 + v4116;
      b13[1] = v4117;
      const float v4118 = b13[0];
      const float v4119 = b7[4];
      const float v4120 = v4118 + v4119;
      b13[0] = v4120;
      const float v4121 = b13[0];
      const float v4122 = b7[5];
      const float v4123 = v4121 + v4122;
      b13[0] = v4123;
      const float v4124 = b13[1];
      const float v4125 = b7[6];
      const float v4126 = v4124 + v4125;
      b13[1] = v4126;
      const float v4127 = b13[1];
      const float v4128 = b7[7];
      const float v4129 = v4127 + v4128;
      b13[1] = v4129;
      const float v4130 = b13[0];
      const float v4131 = b7[8];
      const float v4132 = v4130 + v4131;
      b13[0] = v4132;
      const float v4133 = b13[0];
      const float v4134 = b7[9];
      const float v4135 = v4133 + v4134;
      b13[0] = v4135;
      const float v4136 = b13[1];
      const float v4137 = b7[10];
      const float v4138 = v4136 + v4137;
      b13[1] = v4138;
      const float v4139 = b13[1];
      const float v4140 = b7[11];
      const float v4141 = v4139 + v4140;
      b13[1] = v4141;
      const float v4142 = b13[0];
      const float v4143 = b7[12];
      const float v4144 = v4142 + v4143;
      b13[0] = v4144;
      const float v4145 = b13[0];
      const float v4146 = b7[13];
      const float v4147 = v4145 + v4146;
      b13[0] = v4147;
      const float v4148 = b13[1];
      const float v4149 = b7[14];
      const float v4150 = v4148 + v4149;
      b13[1] = v4150;
      const float v4151 = b13[1];
      const float v4152 = b7[15];
      const float v4153 = v4151 + v4152;
      b13[1] = v4153;
      const float v4154 = b13[0];
      const float v4155 = b7[16];
      const float v4156 = v4154 + v4155;
      b13[0] = v4156;
      const float v4157 = b13[0];
      const float v4158 = b7[17];
      const float v4159 = v4157 + v4158;
      b13[0] = v4159;
      const float v4160 = b13[1];
      const float v4161 = b7[18];
      const float v4162 = v4160 + v4161;
      b13[1] = v4162;
      const float v4163 = b13[1];
      const float v4164 = b7[19];
      const float v4165 = v4163 + v4164;
      b13[1] = v4165;
      const float v4166 = b13[0];
      const float v4167 = b7[20];
      const float v4168 = v4166 + v4167;
      b13[0] = v4168;
      const float v4169 = b13[0];
      const float v4170 = b7[21];
      const float v4171 = v4169 + v4170;
      b13[0] = v4171;
      const float v4172 = b13[1];
      const float v4173 = b7[22];
      const float v4174 = v4172 + v4173;
      b13[1] = v4174;
      const float v4175 = b13[1];
      const float v4176 = b7[23];
      const float v4177 = v4175 + v4176;
      b13[1] = v4177;
      const float v4178 = b13[0];
      const float v4179 = b7[24];
      const float v4180 = v4178 + v4179;
      b13[0] = v4180;
      const float v4181 = b13[0];
      const float v4182 = b7[25];
      const float v4183 = v4181 + v4182;
      b13[0] = v4183;
      const float v4184 = b13[1];
      const float v4185 = b7[26];
      const float v4186 = v4184 + v4185;
      b13[1] = v4186;
      const float v4187 = b13[1];
      const float v4188 = b7[27];
      const float v4189 = v4187 + v4188;
      b13[1] = v4189;
      const float v4190 = b13[0];
      const float v4191 = b7[28];
      const float v4192 = v4190 + v4191;
      b13[0] = v4192;
      const float v4193 = b13[0];
      const float v4194 = b7[29];
      const float v4195 = v4193 + v4194;
      b13[0] = v4195;
      const float v4196 = b13[1];
      const float v4197 = b7[30];
      const float v4198 = v4196 + v4197;
      b13[1] = v4198;
      const float v4199 = b13[1];
      const float v4200 = b7[31];
      const float v4201 = v4199 + v4200;
      b13[1] = v4201;
      Vec<float, 2> v4220;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4220[j] = b7[j];
      *(b8) = bf16_pair(v4220[0], v4220[1]);
      Vec<float, 2> v4221;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4221[j] = b7[2 + j];
      *(b8 + 1) = bf16_pair(v4221[0], v4221[1]);
      Vec<float, 2> v4222;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4222[j] = b7[4 + j];
      *(b8 + 2) = bf16_pair(v4222[0], v4222[1]);
      Vec<float, 2> v4223;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4223[j] = b7[6 + j];
      *(b8 + 3) = bf16_pair(v4223[0], v4223[1]);
      Vec<float, 2> v4224;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4224[j] = b7[8 + j];
      *(b8 + 4) = bf16_pair(v4224[0], v4224[1]);
      Vec<float, 2> v4225;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4225[j] = b7[10 + j];
      *(b8 + 5) = bf16_pair(v4225[0], v4225[1]);
      Vec<float, 2> v4226;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4226[j] = b7[12 + j];
      *(b8 + 6) = bf16_pair(v4226[0], v4226[1]);
      Vec<float, 2> v4227;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4227[j] = b7[14 + j];
      *(b8 + 7) = bf16_pair(v4227[0], v4227[1]);
      Vec<float, 2> v4228;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4228[j] = b7[16 + j];
      *(b8 + 8) = bf16_pair(v4228[0], v4228[1]);
      Vec<float, 2> v4229;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4229[j] = b7[18 + j];
      *(b8 + 9) = bf16_pair(v4229[0], v4229[1]);
      Vec<float, 2> v4230;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4230[j] = b7[20 + j];
      *(b8 + 10) = bf16_pair(v4230[0], v4230[1]);
      Vec<float, 2> v4231;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4231[j] = b7[22 + j];
      *(b8 + 11) = bf16_pair(v4231[0], v4231[1]);
      Vec<float, 2> v4232;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4232[j] = b7[24 + j];
      *(b8 + 12) = bf16_pair(v4232[0], v4232[1]);
      Vec<float, 2> v4233;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4233[j] = b7[26 + j];
      *(b8 + 13) = bf16_pair(v4233[0], v4233[1]);
      Vec<float, 2> v4234;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4234[j] = b7[28 + j];
      *(b8 + 14) = bf16_pair(v4234[0], v4234[1]);
      Vec<float, 2> v4235;
      #pragma unroll
      for (int j = 0; j < 2; ++j) v4235[j] = b7[30 + j];
      *(b8 + 15) = bf16_pair(v4235[0], v4235[1]);
      load_matrices<4, true>(b9, b18, k38);
      multiply_matrices<false>(b10, b8, b9);
      multiply_matrices<false>(b10 + 4, b8, b9 + 2);
      load_matrices<4, true>(b9, b18, k39);
      multiply_matrices<false>(b10, b8 + 4, b9);
      multiply_matrices<false>(b10 + 4, b8 + 4, b9 + 2);
      load_matrices<4, true>(b9, b18, k40);
      multiply_matrices<false>(b10, b8 + 8, b9);
      multiply_matrices<false>(b10 + 4, b8 + 8, b9 + 2);
      load_matrices<4, true>(b9, b18, k41);
      multiply_matrices<false>(b10, b8 + 12, b9);
      multiply_matrices<false>(b10 + 4, b8 + 12, b9 + 2);
    }
  }
  wait_for_copies<0>();
  const float v4294 = b11[0];
  const bool v4296 = v4294 == __uint_as_float(0xff800000u);
  const float v4298 = v4296 ? 0.0f : v4294;
  const long long v4301 = n1;
  const long long v4302 = 0;
  const bool v4303 = v4301 > v4302;
  const float v4304 = v4294 - v4298;
  const float v4306 = v4304 * 1.442695f;
  const float v4307 = exp2f(v4306);
  const bool v4308 = v4296 & v4303;
  const float v4310 = v4308 ? v4307 : 0.0f;
  const float v4311 = b13[0];
  const float v4312 = __shfl_xor_sync(0xffffffffu, v4311, 1);
  const float v4313 = v4311 + v4312;
  const float v4314 = __shfl_xor_sync(0xffffffffu, v4313, 2);
  const float v4315 = v4313 + v4314;
  const float v4316 = v4315 + v4310;
  b13[0] = v4316;
  const float v4858 = v4310;
  float v4318[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v4317 = b10[j];
    v4318[j] = v4317 + v4858;
  }
  #pragma unroll
  for (int j = 0; j < 2; ++j) b10[j] = v4318[j];
  float v4320[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v4319 = b10[4 + j];
    v4320[j] = v4319 + v4858;
  }
  const float v4321 = b11[1];
  const bool v4323 = v4321 == __uint_as_float(0xff800000u);
  const float v4325 = v4323 ? 0.0f : v4321;
  const float v4331 = v4321 - v4325;
  const float v4333 = v4331 * 1.442695f;
  const float v4334 = exp2f(v4333);
  const bool v4335 = v4323 & v4303;
  const float v4337 = v4335 ? v4334 : 0.0f;
  const float v4338 = b13[1];
  const float v4339 = __shfl_xor_sync(0xffffffffu, v4338, 1);
  const float v4340 = v4338 + v4339;
  const float v4341 = __shfl_xor_sync(0xffffffffu, v4340, 2);
  const float v4342 = v4340 + v4341;
  const float v4343 = v4342 + v4337;
  #pragma unroll
  for (int j = 0; j < 2; ++j) b10[4 + j] = v4320[j];
  b13[1] = v4343;
  const float v4860 = v4337;
  float v4345[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v4344 = b10[2 + j];
    v4345[j] = v4344 + v4860;
  }
  #pragma unroll
  for (int j = 0; j < 2; ++j) b10[2 + j] = v4345[j];
  float v4347[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v4346 = b10[6 + j];
    v4347[j] = v4346 + v4860;
  }
  #pragma unroll
  for (int j = 0; j < 2; ++j) b10[6 + j] = v4347[j];
  __shared__ __align__(16) float b14[544];
  __shared__ __align__(16) float b15[1];
  float b16[8] = {};
  b16[0] = 0.0f;
  b16[1] = 0.0f;
  b16[2] = 0.0f;
  b16[3] = 0.0f;
  b16[4] = 0.0f;
  b16[5] = 0.0f;
  b16[6] = 0.0f;
  b16[7] = 0.0f;
  const unsigned k78 = (n1 + 31) / 32 - 2 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64));
  for (unsigned i1 = 0; int(i1) < int(k78); ++i1) {
    const unsigned k79 = k11 + 512 * i1 * n2 + 1024 * n2 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64));
    Vec<float, 8> v4867;
    load_vector(v4867, b2 + int(k79), tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) < int(n1 / 8));
    const unsigned k80 = k79 + 128 * n2;
    Vec<float, 8> v4871;
    load_vector(v4871, b2 + int(k80), tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64)) + 1) < int(n1 / 8));
    const unsigned k81 = k79 + 256 * n2;
    Vec<float, 8> v4875;
    load_vector(v4875, b2 + int(k81), tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64)) + 2) < int(n1 / 8));
    const unsigned k82 = k79 + 384 * n2;
    Vec<float, 8> v4879;
    load_vector(v4879, b2 + int(k82), tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64)) + 3) < int(n1 / 8));
    if (tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64))) < int(n1 / 8)) {
      float v4870[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v4868 = b16[j];
        v4870[j] = fmaf(v4867[j], 0.0f, v4868);
      }
      #pragma unroll
      for (int j = 0; j < 8; ++j) b16[j] = v4870[j];
    }
    if (tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64)) + 1) < int(n1 / 8)) {
      float v4874[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v4872 = b16[j];
        v4874[j] = fmaf(v4871[j], 0.0f, v4872);
      }
      #pragma unroll
      for (int j = 0; j < 8; ++j) b16[j] = v4874[j];
    }
    if (tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64)) + 2) < int(n1 / 8)) {
      float v4878[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v4876 = b16[j];
        v4878[j] = fmaf(v4875[j], 0.0f, v4876);
      }
      #pragma unroll
      for (int j = 0; j < 8; ++j) b16[j] = v4878[j];
    }
    if (tx % 4 < 2 && int(4 * i1 + 8 * unsigned(floor_div(static_cast<long long>(n1) + 63 - 16 * static_cast<long long>(k2), 64)) + 3) < int(n1 / 8)) {
      float v4882[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float v4880 = b16[j];
        v4882[j] = fmaf(v4879[j], 0.0f, v4880);
      }
      #pragma unroll
      for (int j = 0; j < 8; ++j) b16[j] = v4882[j];
    }
  }
  float v113 = 0.0f;
  const float v4376 = b16[0];
  const unsigned k83 = 544 * ty + 68 * (tx / 4) + tx % 4;
  b14[k83] = v4376;
  const float v4377 = v113 + v4376;
  v113 = v4377;
  const float v4378 = b16[1];
  const unsigned k84 = k83 + 5;
  b14[k84] = v4378;
  const float v4379 = v113 + v4378;
  v113 = v4379;
  const float v4380 = b16[2];
  const unsigned k85 = k83 + 10;
  b14[k85] = v4380;
  const float v4381 = v113 + v4380;
  v113 = v4381;
  const float v4382 = b16[3];
  const unsigned k86 = k83 + 15;
  b14[k86] = v4382;
  const float v4383 = v113 + v4382;
  v113 = v4383;
  const float v4384 = b16[4];
  const unsigned k87 = k83 + 20;
  b14[k87] = v4384;
  const float v4385 = v113 + v4384;
  v113 = v4385;
  const float v4386 = b16[5];
  const unsigned k88 = k83 + 25;
  b14[k88] = v4386;
  const float v4387 = v113 + v4386;
  v113 = v4387;
  const float v4388 = b16[6];
  const unsigned k89 = k83 + 30;
  b14[k89] = v4388;
  const float v4389 = v113 + v4388;
  v113 = v4389;
  const float v4390 = b16[7];
  const unsigned k90 = k83 + 35;
  b14[k90] = v4390;
  const float v4391 = v113 + v4390;
  v113 = v4391;
  const float v116 = __shfl_xor_sync(0xffffffffu, v113, 1);
  const float v117 = v113 + v116;
  const float v118 = __shfl_xor_sync(0xffffffffu, v117, 2);
  const float v119 = v117 + v118;
  const float v120 = __shfl_xor_sync(0xffffffffu, v119, 4);
  const float v121 = v119 + v120;
  const float v122 = __shfl_xor_sync(0xffffffffu, v121, 8);
  const float v123 = v121 + v122;
  const float v124 = __shfl_xor_sync(0xffffffffu, v123, 16);
  const float v125 = v123 + v124;
  if (tx == 0) {
    b15[ty] = v125;
  }
  __syncthreads();
  const float v126 = b15[0];
  const bool v127 = v126 != v126;
  const long long v128 = (long long)v127;
  const long long m0 = v128;
  if (m0 == 1) {
    float v4414 = 0.0f;
    for (unsigned i2 = 0; i2 < 8; ++i2) {
      const unsigned k91 = 68 * i2 + 10 * (tx % 4);
      const float v4415 = b14[k91];
      const float v4416 = v4414 + v4415;
      v4414 = v4416;
    }
    const float v4417 = b10[0];
    const float v4418 = v4417 + v4414;
    b10[0] = v4418;
    const float v4419 = b10[2];
    const float v4420 = v4419 + v4414;
    b10[2] = v4420;
    float v4421 = 0.0f;
    for (unsigned i3 = 0; i3 < 8; ++i3) {
      const unsigned k92 = 68 * i3 + 10 * (tx % 4) + 5;
      const float v4422 = b14[k92];
      const float v4423 = v4421 + v4422;
      v4421 = v4423;
    }
    const float v4424 = b10[1];
    const float v4425 = v4424 + v4421;
    b10[1] = v4425;
    const float v4426 = b10[3];
    const float v4427 = v4426 + v4421;
    b10[3] = v4427;
    float v4428 = 0.0f;
    for (unsigned i4 = 0; i4 < 8; ++i4) {
      const unsigned k93 = 68 * i4 + 10 * (tx % 4) + 1;
      const float v4429 = b14[k93];
      const float v4430 = v4428 + v4429;
      v4428 = v4430;
    }
    const float v4431 = b10[4];
    const float v4432 = v4431 + v4428;
    b10[4] = v4432;
    const float v4433 = b10[6];
    const float v4434 = v4433 + v4428;
    b10[6] = v4434;
    float v4435 = 0.0f;
    for (unsigned i5 = 0; i5 < 8; ++i5) {
      const unsigned k94 = 68 * i5 + 10 * (tx % 4) + 6;
      const float v4436 = b14[k94];
      const float v4437 = v4435 + v4436;
      v4435 = v4437;
    }
    const float v4438 = b10[5];
    const float v4439 = v4438 + v4435;
    b10[5] = v4439;
    const float v4440 = b10[7];
    const float v4441 = v4440 + v4435;
    b10[7] = v4441;
  }
  const float v4491 = b11[0];
  const float v4492 = b13[0];
  const bool v4494 = v4491 == __uint_as_float(0xff800000u);
  const float v4496 = v4494 ? 1.0f : v4492;
  const float v4863 = v4496;
  Vec<float, 2> v4497;
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v4490 = b10[j];
    v4497[j] = v4490 / v4863;
  }
  const unsigned k95 = 16 * n1 * k1 + 256 * ty + 16 * n1 + 16 * (tx / 4) + 2 * (tx % 4) - 256 * k2 - 256;
  store_vector(b3 + int(k95), v4497);
  Vec<float, 2> v4505;
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v4498 = b10[4 + j];
    v4505[j] = v4498 / v4863;
  }
  const unsigned k96 = k95 + 8;
  store_vector(b3 + int(k96), v4505);
  const float v4507 = b11[1];
  const float v4508 = b13[1];
  const bool v4510 = v4507 == __uint_as_float(0xff800000u);
  const float v4512 = v4510 ? 1.0f : v4508;
  const float v4865 = v4512;
  Vec<float, 2> v4513;
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v4506 = b10[2 + j];
    v4513[j] = v4506 / v4865;
  }
  const unsigned k97 = k95 + 128;
  store_vector(b3 + int(k97), v4513);
  Vec<float, 2> v4521;
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float v4514 = b10[6 + j];
    v4521[j] = v4514 / v4865;
  }
  const unsigned k98 = k95 + 136;
  store_vector(b3 + int(k98), v4521);
}
