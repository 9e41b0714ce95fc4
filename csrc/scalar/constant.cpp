#include "scalar/constant.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "scalar/convert.h"

namespace plait {
namespace {

template <class T>
std::string shortest(T value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

// Shortest decimal that rounds to the same narrow number. With d digits the nearest decimal may fall on the short side
// of a power of two, so its neighbour away from zero is tried too.
std::string shortest_narrow(DType dtype, double value) {
  char buffer[64];
  for (int digits = 0; digits < 17; ++digits) {
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, digits).ptr;
    double decimal = 0, next = 0;
    std::from_chars(buffer, end, decimal);
    if (!overflows(dtype, decimal) && round_to(dtype, decimal) == value) return shortest(decimal);
    const int exponent = value == 0 ? 0 : int(std::floor(std::log10(std::abs(value))));
    const std::string step = fmt::format("{}1e{}", value < 0 ? "-" : "", exponent - digits);
    std::from_chars(step.data(), step.data() + step.size(), next);
    char above[64];
    const auto above_end =
        std::to_chars(above, above + sizeof above, decimal + next, std::chars_format::scientific, digits).ptr;
    std::from_chars(above, above_end, next);
    if (!overflows(dtype, next) && round_to(dtype, next) == value) return shortest(next);
  }
  return shortest(value);
}

std::string float_text(DType dtype, double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (dtype == DType::f32) return shortest(float(value));
  return is_narrow(dtype) ? shortest_narrow(dtype, value) : shortest(value);
}

template <class T>
std::optional<T> read_all(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Constant> parse_float(DType dtype, std::string_view text) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (text == "nan") return Constant::from_double(dtype, std::numeric_limits<double>::quiet_NaN());
  if (dtype == DType::f8e4m3 && text.find("inf") != std::string_view::npos) return std::nullopt;
  if (text == "inf") return Constant::from_double(dtype, infinity);
  if (text == "-inf") return Constant::from_double(dtype, -infinity);
  // from_chars takes more spellings of infinity and NaN than a literal may have.
  if (text.find_first_not_of("+-.0123456789eE") != std::string_view::npos) return std::nullopt;
  if (dtype == DType::f32)
    if (const auto exact = read_all<float>(text)) return Constant::from_double(dtype, double(*exact));
  const auto value = read_all<double>(text);
  if (!value || overflows(dtype, *value) || std::isinf(round_to(dtype, *value))) return std::nullopt;
  return Constant::from_double(dtype, *value);
}

}  // namespace

Constant Constant::from_double(DType dtype, double value) {
  Constant result{dtype, 0};
  store_double(dtype, &result.bits, value);
  return result;
}

Constant Constant::from_int64(DType dtype, int64_t value) {
  Constant result{dtype, 0};
  if (dtype == DType::f32) {
    const float once = float(value);  // by way of double it would round twice
    store_double(dtype, &result.bits, double(once));
  } else if (is_float(dtype)) {
    // Below 2^53 the double is exact; above, only the sticky low bits are folded, so the narrow rounding stays single.
    uint64_t magnitude = value < 0 ? 0 - uint64_t(value) : uint64_t(value);
    if (is_narrow(dtype) && magnitude >> 53)
      magnitude = (magnitude & ~uint64_t(0xFFFF)) | (magnitude & 0xFFFF ? 0x8000 : 0);
    store_double(dtype, &result.bits, value < 0 ? -double(magnitude) : double(magnitude));
  } else {
    store_int64(dtype, &result.bits, value);
  }
  return result;
}

Constant Constant::from_bool(bool value) { return Constant{DType::boolean, value}; }

Constant Constant::load(DType dtype, const void* source) {
  Constant result{dtype, 0};
  if (dtype == DType::boolean) {
    store_int64(dtype, &result.bits, load_int64(dtype, source));
  } else {
    std::memcpy(&result.bits, source, size_of(dtype));
  }
  return result;
}

void Constant::store(void* target) const { std::memcpy(target, &bits, size_of(dtype)); }
double Constant::to_double() const { return load_double(dtype, &bits); }
int64_t Constant::to_int64() const { return load_int64(dtype, &bits); }
std::string Constant::text() const { return number_text(dtype, &bits); }

std::string number_text(DType dtype, const void* source) {
  if (is_float(dtype)) return float_text(dtype, load_double(dtype, source));
  const int64_t value = load_int64(dtype, source);
  if (dtype == DType::boolean) return value ? "true" : "false";
  return dtype == DType::u64 ? shortest(uint64_t(value)) : shortest(value);
}

std::optional<Constant> parse_constant(DType dtype, std::string_view text) {
  if (is_float(dtype)) return parse_float(dtype, text);
  if (dtype == DType::boolean) {
    if (text == "true" || text == "1") return Constant::from_bool(true);
    if (text == "false" || text == "0") return Constant::from_bool(false);
    return std::nullopt;
  }
  if (!is_unsigned(dtype)) {
    const auto value = read_all<int64_t>(text);
    if (!value || wrap_to(dtype, *value) != *value) return std::nullopt;
    return Constant::from_int64(dtype, *value);
  }
  const auto value = read_all<uint64_t>(text);
  if (!value || uint64_t(wrap_to(dtype, int64_t(*value))) != *value) return std::nullopt;
  return Constant::from_int64(dtype, int64_t(*value));
}

}  // namespace plait
