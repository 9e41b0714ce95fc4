// Functions that hardware approximates: computed in double and rounded once. The hardware's errors are in
// instructions.def.
#include "sim/ptx/decoder.h"
#include "sim/ptx/numbers.h"

namespace plait::sim::ptx {
namespace {

enum class Function : uint8_t { rsqrt, ex2, lg2, tanh, sin, cos };

template <Function kWhat>
double function(double x) {
  switch (kWhat) {
    case Function::rsqrt:
      return 1.0 / std::sqrt(x);
    case Function::ex2:
      return std::exp2(x);
    case Function::lg2:
      return std::log2(x);
    case Function::tanh:
      return std::tanh(x);
    case Function::sin:
      return std::sin(x);
    case Function::cos:
      return std::cos(x);
  }
  __builtin_unreachable();
}

template <Function kWhat, bool kFtz>
float single(float x) {
  return canonical(flushed<kFtz>(static_cast<float>(function<kWhat>(flushed<kFtz>(x)))));
}

template <Function kWhat, class T>
uint16_t half(uint16_t bits) {
  const uint16_t out = narrowed<T>(function<kWhat>(widened(T{bits})), Round::rn).bits;
  // ex2 of bf16 flushes denormals, and is spelled so.
  const bool flushes = kWhat == Function::ex2 && std::is_same_v<T, Bfloat> && (out & 0x7f80) == 0;
  return flushes ? uint16_t(0) : out;
}

template <Function kWhat, class T>
uint32_t halves(uint32_t bits) {
  return half<kWhat, T>(uint16_t(bits)) | uint32_t(half<kWhat, T>(uint16_t(bits >> 16))) << 16;
}

// Without .ftz it is emulated, to full precision.
double full_rsqrt(double x) { return canonical(function<Function::rsqrt>(x)); }

double gross_rsqrt(double x) {
  if (std::isnan(x) || x < 0) return std::bit_cast<double>(uint64_t(0x7fffffff) << 32);
  const double exact = 1.0 / std::sqrt(flushed(x));
  return std::bit_cast<double>(std::bit_cast<uint64_t>(exact) & ~uint64_t(0xffffffff));
}

template <Function kWhat>
Handler by_type(Type type, bool ftz) {
  using H = uint16_t;
  using U = uint32_t;
  if (type == Type::f32)
    return ftz ? unary<single<kWhat, true>, float, float> : unary<single<kWhat, false>, float, float>;
  if constexpr (kWhat == Function::ex2 || kWhat == Function::tanh) {
    const bool flushes = kWhat == Function::ex2;
    if (type == Type::f16 && !ftz) return unary<half<kWhat, Half>, H, H>;
    if (type == Type::f16x2 && !ftz) return unary<halves<kWhat, Half>, U, U>;
    if (type == Type::bf16 && ftz == flushes) return unary<half<kWhat, Bfloat>, H, H>;
    if (type == Type::bf16x2 && ftz == flushes) return unary<halves<kWhat, Bfloat>, U, U>;
  }
  return nullptr;
}

}  // namespace

void decode_approximate(Decoder& d) {
  if (!d.take("approx")) d.refuse("no .approx");
  const bool ftz = d.take("ftz");
  const Type type = d.take_type();
  const std::string_view what = d.mnemonic();
  d.need_operands(2);
  Handler handler = nullptr;
  if (what == "rsqrt")
    handler = type != Type::f64 ? by_type<Function::rsqrt>(type, ftz)
              : ftz             ? unary<gross_rsqrt, double, double>
                                : unary<full_rsqrt, double, double>;
  else if (what == "ex2")
    handler = by_type<Function::ex2>(type, ftz);
  else if (what == "lg2")
    handler = by_type<Function::lg2>(type, ftz);
  else if (what == "tanh")
    handler = ftz ? nullptr : by_type<Function::tanh>(type, ftz);
  else if (what == "sin")
    handler = by_type<Function::sin>(type, ftz);
  else
    handler = by_type<Function::cos>(type, ftz);
  if (what == "tanh" && ftz) d.refuse("tanh has no .ftz");
  d.emit(handler, d.target(0, type), d.source(1, type));
}

}  // namespace plait::sim::ptx
