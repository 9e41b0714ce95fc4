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

inline unsigned long long atomicMin(unsigned long long* at, unsigned long long value) {
  const unsigned long long before = *at;
  if (value < before) *at = value;
  return before;
}

#define PLAIT_HOST_MATH(name)    \
  float name##f(float) noexcept; \
  double name(double) noexcept;
#define PLAIT_HOST_MATH2(name)          \
  float name##f(float, float) noexcept; \
  double name(double, double) noexcept;
extern "C" {
PLAIT_HOST_MATH(exp)
PLAIT_HOST_MATH(exp2)
PLAIT_HOST_MATH(expm1)
PLAIT_HOST_MATH(log)
PLAIT_HOST_MATH(log2)
PLAIT_HOST_MATH(log10)
PLAIT_HOST_MATH(log1p)
PLAIT_HOST_MATH(sqrt)
PLAIT_HOST_MATH(cbrt)
PLAIT_HOST_MATH(sin)
PLAIT_HOST_MATH(cos)
PLAIT_HOST_MATH(tan)
PLAIT_HOST_MATH(asin)
PLAIT_HOST_MATH(acos)
PLAIT_HOST_MATH(atan)
PLAIT_HOST_MATH(sinh)
PLAIT_HOST_MATH(cosh)
PLAIT_HOST_MATH(tanh)
PLAIT_HOST_MATH(asinh)
PLAIT_HOST_MATH(acosh)
PLAIT_HOST_MATH(atanh)
PLAIT_HOST_MATH(erf)
PLAIT_HOST_MATH(erfc)
PLAIT_HOST_MATH(lgamma)
PLAIT_HOST_MATH(fabs)
PLAIT_HOST_MATH(floor)
PLAIT_HOST_MATH(ceil)
PLAIT_HOST_MATH(rint)
PLAIT_HOST_MATH(trunc)
PLAIT_HOST_MATH2(fmax)
PLAIT_HOST_MATH2(fmin)
PLAIT_HOST_MATH2(fmod)
PLAIT_HOST_MATH2(pow)
PLAIT_HOST_MATH2(hypot)
PLAIT_HOST_MATH2(atan2)
PLAIT_HOST_MATH2(copysign)
float fmaf(float, float, float) noexcept;
double fma(double, double, double) noexcept;
}

// CUDA has these, the C library does not.
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline double erfinv(double x) {
  const double a = fabs(x);
  if (!(a < 1.0)) return a == 1.0 ? x / 0.0 : __builtin_nan("");
  double y = a;
  if (a > 0.3) {
    const double l = log((1 - a) * (1 + a)), t = 4.33 + l / 2;
    y = sqrt(sqrt(t * t - l / 0.147) - t);
  }
  for (int i = 0; i < 5; ++i) {
    const double step = (a < 0.5 ? erf(y) - a : (1 - a) - erfc(y)) * 0.886226925452758 * exp(y * y);
    y -= step / (1 + y * step);
  }
  return copysign(y, x);
}
static inline float erfinvf(float x) { return (float)erfinv((double)x); }

static inline float __uint_as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
static inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
static inline double __longlong_as_double(long long bits) { return __builtin_bit_cast(double, bits); }

// Toward zero; a value beyond the largest float becomes that.
static inline float __double2float_rz(double x) {
  float y = (float)x;
  const bool too_large = y > 0 ? (double)y > x : y < 0 && (double)y < x;
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

// Defines what the loader calls for a phase.
#define PLAIT_HOST_ENTRY(name, phase)                                                                   \
  extern "C" __attribute__((visibility("default"))) void plait_host_entry_##phase(                      \
      void* const* buffers, const long long* integers, const long long* grid, const long long* block) { \
    host_launch(name, buffers, integers, grid, block);                                                  \
  }
