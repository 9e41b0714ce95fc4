#include "scalar/convert.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace plait {
namespace {

constexpr int kDoubleMantissa = 52, kDoubleBias = 1023;
constexpr uint64_t kDoubleInfinity = 0x7FF0000000000000u;

// A 16-bit IEEE-like format: sign, exponent field, `mantissa` stored bits.
struct Narrow {
  int mantissa, bias;
  constexpr uint64_t infinity() const { return 0x7FFFu >> mantissa << mantissa; }
};
constexpr Narrow kF16{10, 15}, kBf16{7, 127};

uint16_t encode(Narrow format, double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value), magnitude = bits & ~(uint64_t(1) << 63);
  const uint16_t sign = uint16_t(bits >> 48 & 0x8000);
  const int drop = kDoubleMantissa - format.mantissa;
  if (magnitude > kDoubleInfinity) {
    const uint64_t payload = magnitude >> drop & ((1u << format.mantissa) - 1);
    return uint16_t(sign | format.infinity() | 1u << (format.mantissa - 1) | payload);
  }
  if (magnitude == kDoubleInfinity) return uint16_t(sign | format.infinity());
  const int exponent = int(magnitude >> kDoubleMantissa) - kDoubleBias + format.bias;  // field in the target
  const uint64_t significand = (magnitude & ((uint64_t(1) << kDoubleMantissa) - 1)) | uint64_t(1) << kDoubleMantissa;
  const bool normal = exponent >= 1;
  const int shift = normal ? drop : drop + 1 - exponent;
  if (shift > kDoubleMantissa + 1) return sign;  // below half of the least subnormal; doubles' own subnormals too
  uint64_t quotient = significand >> shift;
  const uint64_t rest = significand & ((uint64_t(1) << shift) - 1), half = uint64_t(1) << (shift - 1);
  if (rest > half || (rest == half && (quotient & 1))) ++quotient;
  // The leading bit of a normal number adds one to the exponent field, and so does a carry of the rounding.
  const uint64_t result = normal ? (uint64_t(exponent - 1) << format.mantissa) + quotient : quotient;
  return uint16_t(sign | (result < format.infinity() ? result : format.infinity()));
}

double decode(Narrow format, uint16_t bits) {
  const uint64_t sign = uint64_t(bits & 0x8000) << 48;
  const uint64_t mantissa = bits & ((1u << format.mantissa) - 1);
  const int exponent = (bits & 0x7FFF) >> format.mantissa;
  if ((bits & 0x7FFFu) >= format.infinity())
    return std::bit_cast<double>(sign | kDoubleInfinity | mantissa << (kDoubleMantissa - format.mantissa));
  if (exponent == 0) {
    const double value = std::ldexp(double(mantissa), 1 - format.bias - format.mantissa);
    return sign ? -value : value;
  }
  return std::bit_cast<double>(sign | uint64_t(exponent - format.bias + kDoubleBias) << kDoubleMantissa |
                               mantissa << (kDoubleMantissa - format.mantissa));
}

template <class T>
T read(const void* source) {
  T value;
  std::memcpy(&value, source, sizeof value);
  return value;
}

template <class T>
void write(void* target, T value) {
  std::memcpy(target, &value, sizeof value);
}

// Truncation toward zero, saturating, NaN to 0.
template <class T>
T saturate(double value) {
  if (std::isnan(value)) return 0;
  // The largest value plus one is a power of two, exact in double.
  constexpr double above = 2.0 * double(T(1) << (std::numeric_limits<T>::digits - 1));
  if (value >= above) return std::numeric_limits<T>::max();
  if (value <= double(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return T(value);
}

}  // namespace

uint16_t f16_from_double(double value) { return encode(kF16, value); }
uint16_t bf16_from_double(double value) { return encode(kBf16, value); }
uint16_t f16_from_float(float value) { return encode(kF16, double(value)); }
uint16_t bf16_from_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16);
}
double f16_to_double(uint16_t bits) { return decode(kF16, bits); }
double bf16_to_double(uint16_t bits) { return decode(kBf16, bits); }
float f16_to_float(uint16_t bits) { return float(decode(kF16, bits)); }
float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

double load_double(DType dtype, const void* source) {
  switch (dtype) {
    case DType::boolean:
      return read<uint8_t>(source) != 0;
    case DType::i64:
      return double(read<int64_t>(source));
    case DType::u32:
      return double(read<uint32_t>(source));
    case DType::u64:
      return double(read<uint64_t>(source));
    case DType::f16:
      return f16_to_double(read<uint16_t>(source));
    case DType::bf16:
      return bf16_to_double(read<uint16_t>(source));
    case DType::f32:
      return double(read<float>(source));
    case DType::f64:
      return read<double>(source);
  }
  PLAIT_CHECK(false, "dtype {}", int(dtype));
}

void store_double(DType dtype, void* target, double value) {
  switch (dtype) {
    case DType::boolean:
      return write<uint8_t>(target, value != 0);
    case DType::i64:
      return write(target, saturate<int64_t>(value));
    case DType::u32:
      return write(target, saturate<uint32_t>(value));
    case DType::u64:
      return write(target, saturate<uint64_t>(value));
    case DType::f16:
      return write(target, f16_from_double(value));
    case DType::bf16:
      return write(target, bf16_from_double(value));
    case DType::f32:
      return write(target, float(value));
    case DType::f64:
      return write(target, value);
  }
  PLAIT_CHECK(false, "dtype {}", int(dtype));
}

double round_to(DType dtype, double value) {
  if (dtype == DType::f64) return value;
  if (dtype == DType::f32) return double(float(value));
  uint64_t storage = 0;
  store_double(dtype, &storage, value);
  return load_double(dtype, &storage);
}

double ulp(DType dtype, double value) {
  if (!is_float(dtype)) return 1.0;
  const double magnitude = std::abs(value);
  if (std::isnan(magnitude)) return magnitude;
  if (magnitude > max_finite(dtype)) return std::numeric_limits<double>::infinity();
  if (magnitude < min_normal(dtype)) return smallest_spacing(dtype);
  return std::ldexp(2.0 * unit_roundoff(dtype), std::ilogb(magnitude));
}

int64_t load_int64(DType dtype, const void* source) {
  switch (dtype) {
    case DType::boolean:
      return read<uint8_t>(source) != 0;
    case DType::u32:
      return read<uint32_t>(source);
    case DType::i64:
    case DType::u64:
      return read<int64_t>(source);
    default:
      PLAIT_CHECK(false, "load_int64 of {}", name(dtype));
  }
}

void store_int64(DType dtype, void* target, int64_t value) {
  switch (dtype) {
    case DType::boolean:
      return write<uint8_t>(target, value != 0);
    case DType::u32:
      return write(target, uint32_t(uint64_t(value)));
    case DType::i64:
    case DType::u64:
      return write(target, value);
    default:
      PLAIT_CHECK(false, "store_int64 of {}", name(dtype));
  }
}

}  // namespace plait
