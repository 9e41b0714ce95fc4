#include "codegen/cuda/spelling.h"

#include <cmath>

#include "base/error.h"

namespace plait::codegen::cuda {

std::string_view value_type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return "bool";
    case DType::i8:
      return "signed char";
    case DType::i16:
      return "short";
    case DType::i32:
      return "int";
    case DType::i64:
      return "long long";
    case DType::u8:
      return "unsigned char";
    case DType::u16:
      return "unsigned short";
    case DType::u32:
      return "unsigned";
    case DType::u64:
      return "unsigned long long";
    case DType::f8e4m3:
      return "f8e4m3";
    case DType::f8e5m2:
      return "f8e5m2";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
  }
  __builtin_unreachable();
}

std::string_view memory_type(DType dtype, Helpers& helpers) {
  if (dtype == DType::boolean) return "unsigned char";
  if (is_narrow(dtype)) helpers.need(name(dtype));
  return value_type(dtype);
}

namespace {

std::string float_literal(const Constant& c) {
  const double value = c.to_double();
  const bool single = c.dtype == DType::f32;
  if (!std::isfinite(value))
    return single ? fmt::format("__uint_as_float(0x{:08x}u)", c.bits)
                  : fmt::format("__longlong_as_double(0x{:016x}ll)", c.bits);
  std::string text = c.text();
  if (text.find_first_of(".e") == text.npos) text += ".0";
  if (single) text += "f";
  return text[0] == '-' ? "(" + text + ")" : text;
}

}  // namespace

std::string literal(const Constant& c) {
  switch (c.dtype) {
    case DType::boolean:
      return c.bits != 0 ? "true" : "false";
    case DType::i32:
      if (c.bits == uint64_t(1) << 31) return "(-2147483647 - 1)";
      return c.to_int64() < 0 ? fmt::format("({})", c.to_int64()) : fmt::format("{}", c.to_int64());
    case DType::i64:
      if (c.bits == uint64_t(1) << 63) return "(-9223372036854775807ll - 1)";
      return c.to_int64() < 0 ? fmt::format("({}ll)", c.to_int64()) : fmt::format("{}ll", c.to_int64());
    case DType::u32:
      return fmt::format("{}u", c.bits);
    case DType::u64:
      return fmt::format("{}ull", c.bits);
    case DType::f32:
    case DType::f64:
      return float_literal(c);
    case DType::i8:
    case DType::i16:
    case DType::u8:
    case DType::u16:
    case DType::f8e4m3:
    case DType::f8e5m2:
    case DType::f16:
    case DType::bf16:
      break;
  }
  PLAIT_CHECK(false, "a value of storage dtype {}", name(c.dtype));
  return "";
}

namespace {

std::string round_narrow(const std::string& text, DType from, DType to, Helpers& helpers) {
  helpers.need(name(to));
  if (from != DType::f64) return fmt::format("to_{}({})", name(to), convert(text, from, DType::f32, helpers));
  helpers.need("odd_f32");
  return fmt::format("to_{}(odd_f32({}))", name(to), text);
}

}  // namespace

std::string convert(const std::string& text, DType from, DType to, Helpers& helpers) {
  if (from == to) return text;
  if (is_narrow(from)) {
    helpers.need(name(from));
    return convert(fmt::format("to_f32({})", text), DType::f32, to, helpers);
  }
  if (is_narrow(to)) return round_narrow(text, from, to, helpers);
  if (to == DType::boolean) return fmt::format("({} != 0)", text);
  if (is_float(from) && is_integer(to)) {
    helpers.need("to_integer");
    return fmt::format("to_{}({})", name(to), text);
  }
  if (is_integer(to) && size_of(from) < size_of(to) && from != DType::boolean && compute_type(from) == to) return text;
  return fmt::format("({}){}", value_type(to), text);
}

namespace {

// Which spelling an op takes: floats, signed integers, unsigned integers or bool.
struct Family {
  bool is_float, is_signed, is_single;
};

std::string infix(const char* sign, std::span<const std::string> x) {
  return fmt::format("{} {} {}", x[0], sign, x[1]);
}

std::string wrapping(const char* sign, const char* wrap, Family family, std::span<const std::string> x,
                     Helpers& helpers) {
  if (!family.is_signed) return infix(sign, x);
  helpers.need("wrap");
  return fmt::format("{}({}, {})", wrap, x[0], x[1]);
}

std::string extremum(const char* sign, const char* name, Family family, std::span<const std::string> x,
                     Helpers& helpers) {
  if (!family.is_float) return fmt::format("{0} {2} {1} ? {0} : {1}", x[0], x[1], sign);
  helpers.need("minmax");
  return fmt::format("{}({}, {})", name, x[0], x[1]);
}

std::string negated(Family family, const std::string& x, Helpers& helpers) {
  if (family.is_float) return "-" + x;
  if (!family.is_signed) return "0u - " + x;
  helpers.need("wrap");
  return fmt::format("wrap_neg({})", x);
}

std::string magnitude(Family family, const std::string& x, Helpers& helpers) {
  if (family.is_float) return fmt::format("{}({})", family.is_single ? "fabsf" : "fabs", x);
  if (!family.is_signed) return x;
  helpers.need("wrap");
  return fmt::format("wrap_abs({})", x);
}

std::string rectified(Family family, const std::string& x, Helpers& helpers) {
  if (!family.is_float) return family.is_signed ? fmt::format("{0} > 0 ? {0} : 0", x) : x;
  helpers.need("minmax");
  return fmt::format("max_nan({}, {})", x, family.is_single ? "0.0f" : "0.0");
}

// A function of CUDA's own math library: the f32 version has the suffix f.
std::string library(const char* function, Family family, const std::string& x) {
  return fmt::format("{}{}({})", function, family.is_single ? "f" : "", x);
}

// A function of a device file, overloaded for f32 and f64.
std::string helper(const char* function, const std::string& x, Helpers& helpers) {
  helpers.need(function);
  return fmt::format("{}({})", function, x);
}

}  // namespace

std::string spell(Pointwise function, DType compute, std::span<const std::string> x, Helpers& helpers) {
  const Family family{is_float(compute), is_integer(compute) && !is_unsigned(compute), compute == DType::f32};
  switch (function) {
    case Pointwise::add:
      return wrapping("+", "wrap_add", family, x, helpers);
    case Pointwise::sub:
      return wrapping("-", "wrap_sub", family, x, helpers);
    case Pointwise::mul:
      return wrapping("*", "wrap_mul", family, x, helpers);
    case Pointwise::div:
      return infix("/", x);
    case Pointwise::neg:
      return negated(family, x[0], helpers);
    case Pointwise::abs:
      return magnitude(family, x[0], helpers);
    case Pointwise::max:
      return extremum(">", "max_nan", family, x, helpers);
    case Pointwise::min:
      return extremum("<", "min_nan", family, x, helpers);
    case Pointwise::exp:
      return library("exp", family, x[0]);
    case Pointwise::log:
      return library("log", family, x[0]);
    case Pointwise::tanh:
      return library("tanh", family, x[0]);
    case Pointwise::sqrt:
      return library("sqrt", family, x[0]);
    case Pointwise::relu:
      return rectified(family, x[0], helpers);
    case Pointwise::gelu_erf:
      return helper("gelu_erf", x[0], helpers);
    case Pointwise::gelu_tanh:
      return helper("gelu_tanh", x[0], helpers);
    case Pointwise::silu:
      return helper("silu", x[0], helpers);
    case Pointwise::sigmoid:
      return helper("sigmoid", x[0], helpers);
    case Pointwise::eq:
      return infix("==", x);
    case Pointwise::ne:
      return infix("!=", x);
    case Pointwise::lt:
      return infix("<", x);
    case Pointwise::le:
      return infix("<=", x);
    case Pointwise::gt:
      return infix(">", x);
    case Pointwise::ge:
      return infix(">=", x);
    case Pointwise::where:
      return fmt::format("{} ? {} : {}", x[0], x[1], x[2]);
    case Pointwise::cast:
      break;
  }
  PLAIT_CHECK(false, "{} has no spelling in CUDA", name(function));
  return "";
}

}  // namespace plait::codegen::cuda
