#include "scalar/convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace plait {
namespace {

constexpr int kDoubleMantissa = 52, kDoubleBias = 1023;
constexpr uint64_t kDoubleInfinity = 0x7FF0000000000000u, kDoubleNaN = 0x7FF8000000000000u;

// A format of 8 or 16 bits: sign, exponent field, `mantissa` stored bits. Without infinity the numbers go on in the
// last exponent, and NaN is the one pattern with all bits set.
struct Narrow {
  int bits, mantissa, bias;
  bool has_infinity = true;
  constexpr uint64_t magnitude_bits() const { return (uint64_t(1) << (bits - 1)) - 1; }
  constexpr uint64_t infinity() const { return magnitude_bits() >> mantissa << mantissa; }
  constexpr uint64_t largest() const { return has_infinity ? infinity() : magnitude_bits() - 1; }  // or infinity
};
constexpr Narrow kE4m3Format{8, 3, 7, false}, kE5m2Format{8, 2, 15}, kF16Format{16, 10, 15}, kBf16Format{16, 7, 127};

uint64_t encode_nan(Narrow format, uint64_t magnitude) {
  if (format.bits == 8) return format.magnitude_bits();
  const uint64_t payload = magnitude >> (kDoubleMantissa - format.mantissa) & ((1u << format.mantissa) - 1);
  return format.infinity() | 1u << (format.mantissa - 1) | payload;
}

uint16_t encode(Narrow format, double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value), magnitude = bits & ~(uint64_t(1) << 63);
  const uint64_t sign = bits >> 63 << (format.bits - 1);
  const int drop = kDoubleMantissa - format.mantissa;
  if (magnitude > kDoubleInfinity) return uint16_t(sign | encode_nan(format, magnitude));
  if (magnitude == kDoubleInfinity) return uint16_t(sign | format.largest());
  const int exponent = int(magnitude >> kDoubleMantissa) - kDoubleBias + format.bias;  // field in the target
  const uint64_t significand = (magnitude & ((uint64_t(1) << kDoubleMantissa) - 1)) | uint64_t(1) << kDoubleMantissa;
  const bool normal = exponent >= 1;
  const int shift = normal ? drop : drop + 1 - exponent;
  // Below half of the least subnormal; doubles' own subnormals too.
  if (shift > kDoubleMantissa + 1) return uint16_t(sign);
  uint64_t quotient = significand >> shift;
  const uint64_t rest = significand & ((uint64_t(1) << shift) - 1), half = uint64_t(1) << (shift - 1);
  if (rest > half || (rest == half && (quotient & 1))) ++quotient;
  // The leading bit of a normal number adds one to the exponent field, and so does a carry of the rounding.
  const uint64_t result = normal ? (uint64_t(exponent - 1) << format.mantissa) + quotient : quotient;
  return uint16_t(sign | std::min(result, format.largest()));
}

double decode(Narrow format, uint16_t bits) {
  const uint64_t magnitude = bits & format.magnitude_bits(), sign = uint64_t(bits >> (format.bits - 1)) << 63;
  const uint64_t mantissa = magnitude & ((1u << format.mantissa) - 1);
  const int exponent = int(magnitude >> format.mantissa);
  if (magnitude > format.largest() && format.bits == 8) return std::bit_cast<double>(sign | kDoubleNaN);
  if (magnitude >= format.infinity() && format.has_infinity)
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

uint8_t f8e4m3_from_double(double value) { return uint8_t(encode(kE4m3Format, value)); }
uint8_t f8e5m2_from_double(double value) { return uint8_t(encode(kE5m2Format, value)); }
uint8_t f8e4m3_from_float(float value) { return uint8_t(encode(kE4m3Format, double(value))); }
uint8_t f8e5m2_from_float(float value) { return uint8_t(encode(kE5m2Format, double(value))); }
double f8e4m3_to_double(uint8_t bits) { return decode(kE4m3Format, bits); }
double f8e5m2_to_double(uint8_t bits) { return decode(kE5m2Format, bits); }
float f8e4m3_to_float(uint8_t bits) { return float(decode(kE4m3Format, bits)); }
float f8e5m2_to_float(uint8_t bits) { return float(decode(kE5m2Format, bits)); }
uint16_t f16_from_double(double value) { return encode(kF16Format, value); }
uint16_t bf16_from_double(double value) { return encode(kBf16Format, value); }
uint16_t f16_from_float(float value) { return encode(kF16Format, double(value)); }
uint16_t bf16_from_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16);
}
double f16_to_double(uint16_t bits) { return decode(kF16Format, bits); }
double bf16_to_double(uint16_t bits) { return decode(kBf16Format, bits); }
float f16_to_float(uint16_t bits) { return float(decode(kF16Format, bits)); }
float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

double load_double(DType dtype, const void* source) {
  switch (dtype) {
    case DType::boolean:
      return read<uint8_t>(source) != 0;
    case DType::i8:
      return double(read<int8_t>(source));
    case DType::i16:
      return double(read<int16_t>(source));
    case DType::i32:
      return double(read<int32_t>(source));
    case DType::i64:
      return double(read<int64_t>(source));
    case DType::u8:
      return double(read<uint8_t>(source));
    case DType::u16:
      return double(read<uint16_t>(source));
    case DType::u32:
      return double(read<uint32_t>(source));
    case DType::u64:
      return double(read<uint64_t>(source));
    case DType::f8e4m3:
      return f8e4m3_to_double(read<uint8_t>(source));
    case DType::f8e5m2:
      return f8e5m2_to_double(read<uint8_t>(source));
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
    case DType::i8:
      return write(target, saturate<int8_t>(value));
    case DType::i16:
      return write(target, saturate<int16_t>(value));
    case DType::i32:
      return write(target, saturate<int32_t>(value));
    case DType::i64:
      return write(target, saturate<int64_t>(value));
    case DType::u8:
      return write(target, saturate<uint8_t>(value));
    case DType::u16:
      return write(target, saturate<uint16_t>(value));
    case DType::u32:
      return write(target, saturate<uint32_t>(value));
    case DType::u64:
      return write(target, saturate<uint64_t>(value));
    case DType::f8e4m3:
      return write(target, f8e4m3_from_double(value));
    case DType::f8e5m2:
      return write(target, f8e5m2_from_double(value));
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

bool overflows(DType dtype, double value) {
  if (!is_float(dtype) || dtype == DType::f64 || !std::isfinite(value)) return false;
  // A tie goes to the even neighbour, which is the largest number in f8e4m3 only.
  const double largest = max_finite(dtype), beyond = largest + ulp(dtype, largest) / 2;
  return dtype == DType::f8e4m3 ? std::abs(value) > beyond : std::abs(value) >= beyond;
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
    case DType::i8:
      return read<int8_t>(source);
    case DType::i16:
      return read<int16_t>(source);
    case DType::i32:
      return read<int32_t>(source);
    case DType::u8:
      return read<uint8_t>(source);
    case DType::u16:
      return read<uint16_t>(source);
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
    case DType::i8:
    case DType::u8:
      return write(target, uint8_t(uint64_t(value)));
    case DType::i16:
    case DType::u16:
      return write(target, uint16_t(uint64_t(value)));
    case DType::i32:
    case DType::u32:
      return write(target, uint32_t(uint64_t(value)));
    case DType::i64:
    case DType::u64:
      return write(target, value);
    default:
      PLAIT_CHECK(false, "store_int64 of {}", name(dtype));
  }
}

int64_t wrap_to(DType dtype, int64_t value) {
  uint64_t storage = 0;
  store_int64(dtype, &storage, value);
  return load_int64(dtype, &storage);
}

}  // namespace plait
