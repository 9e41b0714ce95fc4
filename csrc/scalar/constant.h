#pragma once
// Scalar literals and the text of numbers.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "scalar/dtype.h"

namespace plait {

// A scalar of one dtype. `bits` holds the element's bits in the low size_of(dtype) bytes, zero above; equality is by
// bits, so 0 and -0 differ and a NaN equals itself.
struct Constant {
  DType dtype = DType::f32;
  uint64_t bits = 0;

  static Constant from_double(DType dtype, double value);  // rounds as store_double
  static Constant from_int64(DType dtype, int64_t value);  // floats: rounded to nearest; integers: modulo 2^bits
  static Constant from_bool(bool value);                   // dtype bool
  static Constant load(DType dtype, const void* source);   // one element from memory
  void store(void* target) const;                          // writes size_of(dtype) bytes

  double to_double() const;  // as load_double
  int64_t to_int64() const;  // as load_int64; integers and bool only
  std::string text() const;  // as number_text
  bool operator==(const Constant&) const = default;
};

// Shortest text that reads back to the same bits, without a trailing dot: "10", "0.1", "1e+20", "-0", "nan", "inf",
// "-inf", "true", "false". Sign and payload of a NaN are not kept. `source` is one element in memory.
std::string number_text(DType dtype, const void* source);

// Reads all of `text` as a literal of `dtype`. Floats: decimal or scientific, nan, inf, -inf, rounded once to the type;
// a text that overflows the type is refused, one that underflows rounds, and f8e4m3 has no inf. Integers: decimal
// digits with a sign, in range. bool: true, false, 1, 0. Nothing when the text is not such a literal.
std::optional<Constant> parse_constant(DType dtype, std::string_view text);

}  // namespace plait

template <>
struct std::hash<plait::Constant> {
  size_t operator()(const plait::Constant& c) const noexcept {
    const uint64_t x = (c.bits ^ (uint64_t(c.dtype) << 56)) * 0x9E3779B97F4A7C15u;
    return size_t(x ^ (x >> 32));
  }
};
