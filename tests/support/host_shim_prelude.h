// Stands in front of generated CUDA text when it is compiled as host C++: the words of CUDA, its math functions, and
// host versions of the helpers that are inline assembly on a device (csrc/codegen/device, under __CUDA_ARCH__).
// Includes nothing, so that compiling is quick. Blocks and threads run one after the other.
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct HostIndex {
  unsigned x, y, z;
};
static thread_local HostIndex blockIdx, threadIdx, blockDim, gridDim;

extern "C" {
float expf(float) noexcept;
float logf(float) noexcept;
float tanhf(float) noexcept;
float sqrtf(float) noexcept;
float erff(float) noexcept;
float fabsf(float) noexcept;
float exp2f(float) noexcept;
double exp(double) noexcept;
double log(double) noexcept;
double tanh(double) noexcept;
double sqrt(double) noexcept;
double erf(double) noexcept;
double fabs(double) noexcept;
}

static inline float __uint_as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
static inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
static inline double __longlong_as_double(long long bits) { return __builtin_bit_cast(double, bits); }

// Toward zero; a value beyond the largest float becomes that.
static inline float __double2float_rz(double x) {
  float y = (float)x;
  const bool too_large = y > 0 ? (double)y > x : (double)y < x;
  if (y != y || !too_large) return y;
  return __uint_as_float(__float_as_uint(y) - 1u);
}

// ---- helpers that are assembly on a device

static inline float max_nan(float a, float b) { return a > b || a != a ? a : b; }
static inline float min_nan(float a, float b) { return a < b || a != a ? a : b; }
static inline float logistic2(float t) { return 1.0f / (1.0f + exp2f(t)); }

static inline unsigned short bf16_bits(float x) {
  const unsigned bits = __float_as_uint(x);
  if (x != x) return 0x7fff;
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static inline float f16_value(unsigned short bits) {
  const unsigned sign = (unsigned)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return __uint_as_float(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return __uint_as_float(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = (float)fraction * 0x1p-24f;
  return sign != 0 ? -small : small;
}

static inline unsigned short f16_bits(float x) {
  const unsigned bits = __float_as_uint(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x47800000u) return (unsigned short)(sign | 0x7c00u);  // from 65536 on
  if (magnitude < 0x38800000u) {                                          // below the normal numbers: add and subtract
    const float shifted = __uint_as_float(magnitude) + 0x1p-1f;           // one ulp of 0.5 is 2^-24
    return (unsigned short)(sign | (__float_as_uint(shifted) - 0x3f000000u));
  }
  return (unsigned short)(sign | ((magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13));
}

static inline unsigned bf16_pair(float lower, float upper) {
  return (unsigned)bf16_bits(upper) << 16 | bf16_bits(lower);
}
static inline unsigned f16_pair(float lower, float upper) { return (unsigned)f16_bits(upper) << 16 | f16_bits(lower); }

// ---- launching

// Turns into each parameter of a kernel in turn: pointers from `buffers`, integers from `integers`.
struct HostArguments {
  void* const* buffers;
  const long long* integers;
  template <class T>
  operator T*() {
    return (T*)*buffers++;
  }
  operator long long() { return *integers++; }
};

template <class... T>
struct HostCall {
  HostCall(void (*kernel)(T...), T... arguments) { kernel(arguments...); }
};

template <class... T>
static void host_launch(void (*kernel)(T...), void* const* buffers, const long long* integers, const long long* grid,
                        const long long* block) {
  gridDim = {(unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]};
  blockDim = {(unsigned)block[0], (unsigned)block[1], (unsigned)block[2]};
  const long long blocks = grid[0] * grid[1] * grid[2], threads = block[0] * block[1] * block[2];
  for (long long b = 0; b < blocks; ++b) {
    blockIdx = {(unsigned)(b % grid[0]), (unsigned)(b / grid[0] % grid[1]), (unsigned)(b / grid[0] / grid[1])};
    for (long long t = 0; t < threads; ++t) {
      threadIdx = {(unsigned)(t % block[0]), (unsigned)(t / block[0] % block[1]), (unsigned)(t / block[0] / block[1])};
      HostArguments arguments{buffers, integers};
      HostCall<T...>{kernel, (T)arguments...};  // braces: evaluated from left to right
    }
  }
}

// Defines what the loader calls.
#define PLAIT_HOST_ENTRY(name)                                                                          \
  extern "C" __attribute__((visibility("default"))) void plait_host_entry(                              \
      void* const* buffers, const long long* integers, const long long* grid, const long long* block) { \
    host_launch(name, buffers, integers, grid, block);                                                  \
  }
