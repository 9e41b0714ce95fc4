#include "codegen/cuda/spelling.h"

#include <cmath>

#include <fmt/ranges.h>

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

// One Compute to spell: names of its operands, and which spelling the op takes.
struct Spelling {
  std::span<const std::string> x;
  Helpers& helpers;
  bool is_float, is_signed, is_single;

  std::string infix(const char* sign) const { return fmt::format("{} {} {}", x[0], sign, x[1]); }
  std::string call(std::string_view function) const { return fmt::format("{}({})", function, fmt::join(x, ", ")); }
  // A function of CUDA's own math library: the f32 version has the suffix f.
  std::string library(const char* function) const { return call(fmt::format("{}{}", function, is_single ? "f" : "")); }
  // A function of the device file `file`, overloaded for the types that it takes.
  std::string helper(const char* file, const char* function = nullptr) const {
    helpers.need(file);
    return call(function ? function : file);
  }
  std::string wrapping(const char* sign, const char* wrap) const {
    return is_signed ? helper("wrap", wrap) : infix(sign);
  }
  std::string larger(const char* sign) const { return fmt::format("{0} {2} {1} ? {0} : {1}", x[0], x[1], sign); }
  // An integer is its own floor.
  std::string rounded(const char* function) const { return is_float ? library(function) : x[0]; }
};

using S = Spelling;

// One function per row of pointwise.def that is core anywhere.
namespace spelled {

std::string add(const S& s) { return s.wrapping("+", "wrap_add"); }
std::string sub(const S& s) { return s.wrapping("-", "wrap_sub"); }
std::string mul(const S& s) { return s.wrapping("*", "wrap_mul"); }
std::string div(const S& s) { return s.infix("/"); }
std::string neg(const S& s) {
  if (s.is_float) return "-" + s.x[0];
  if (!s.is_signed) return "0u - " + s.x[0];
  s.helpers.need("wrap");
  return fmt::format("wrap_neg({})", s.x[0]);
}
std::string abs(const S& s) {
  if (s.is_float) return s.library("fabs");
  return s.is_signed ? s.helper("wrap", "wrap_abs") : s.x[0];
}
std::string max(const S& s) { return s.is_float ? s.helper("minmax", "max_nan") : s.larger(">"); }
std::string min(const S& s) { return s.is_float ? s.helper("minmax", "min_nan") : s.larger("<"); }
std::string fmax(const S& s) { return s.is_float ? s.library("fmax") : s.larger(">"); }
std::string fmin(const S& s) { return s.is_float ? s.library("fmin") : s.larger("<"); }
std::string floor_divide(const S& s) { return s.helper("floor_divide"); }
std::string fmod(const S& s) { return s.library("fmod"); }
std::string pow(const S& s) { return s.is_float ? s.library("pow") : s.helper("power"); }
std::string rsqrt(const S& s) { return s.library("rsqrt"); }
std::string floor(const S& s) { return s.rounded("floor"); }
std::string ceil(const S& s) { return s.rounded("ceil"); }
std::string round(const S& s) { return s.rounded("rint"); }
std::string trunc(const S& s) { return s.rounded("trunc"); }
std::string fma(const S& s) { return s.library("fma"); }
std::string hypot(const S& s) { return s.library("hypot"); }
std::string copysign(const S& s) { return s.library("copysign"); }
std::string cbrt(const S& s) { return s.library("cbrt"); }
std::string atan2(const S& s) { return s.library("atan2"); }
std::string exp(const S& s) { return s.library("exp"); }
std::string exp2(const S& s) { return s.library("exp2"); }
std::string expm1(const S& s) { return s.library("expm1"); }
std::string log(const S& s) { return s.library("log"); }
std::string log2(const S& s) { return s.library("log2"); }
std::string log10(const S& s) { return s.library("log10"); }
std::string log1p(const S& s) { return s.library("log1p"); }
std::string sqrt(const S& s) { return s.library("sqrt"); }
std::string sin(const S& s) { return s.library("sin"); }
std::string cos(const S& s) { return s.library("cos"); }
std::string tan(const S& s) { return s.library("tan"); }
std::string asin(const S& s) { return s.library("asin"); }
std::string acos(const S& s) { return s.library("acos"); }
std::string atan(const S& s) { return s.library("atan"); }
std::string sinh(const S& s) { return s.library("sinh"); }
std::string cosh(const S& s) { return s.library("cosh"); }
std::string tanh(const S& s) { return s.library("tanh"); }
std::string asinh(const S& s) { return s.library("asinh"); }
std::string acosh(const S& s) { return s.library("acosh"); }
std::string atanh(const S& s) { return s.library("atanh"); }
std::string erf(const S& s) { return s.library("erf"); }
std::string erfc(const S& s) { return s.library("erfc"); }
std::string erfinv(const S& s) { return s.library("erfinv"); }
std::string lgamma(const S& s) { return s.library("lgamma"); }
std::string digamma(const S& s) { return s.helper("digamma"); }
std::string relu(const S& s) {
  if (!s.is_float) return s.is_signed ? fmt::format("{0} > 0 ? {0} : 0", s.x[0]) : s.x[0];
  s.helpers.need("minmax");
  return fmt::format("max_nan({}, {})", s.x[0], s.is_single ? "0.0f" : "0.0");
}
std::string gelu_erf(const S& s) { return s.helper("gelu_erf"); }
std::string gelu_tanh(const S& s) { return s.helper("gelu_tanh"); }
std::string silu(const S& s) { return s.helper("silu"); }
std::string sigmoid(const S& s) { return s.helper("sigmoid"); }
std::string eq(const S& s) { return s.infix("=="); }
std::string ne(const S& s) { return s.infix("!="); }
std::string lt(const S& s) { return s.infix("<"); }
std::string le(const S& s) { return s.infix("<="); }
std::string gt(const S& s) { return s.infix(">"); }
std::string ge(const S& s) { return s.infix(">="); }
std::string bitwise_and(const S& s) { return s.infix("&"); }
std::string bitwise_or(const S& s) { return s.infix("|"); }
std::string bitwise_xor(const S& s) { return s.infix("^"); }
std::string shift_left(const S& s) { return s.helper("shift", "shift_left"); }
std::string shift_right(const S& s) { return s.helper("shift", "shift_right"); }
std::string where(const S& s) { return fmt::format("{} ? {} : {}", s.x[0], s.x[1], s.x[2]); }

}  // namespace spelled
}  // namespace

std::string spell(Pointwise function, DType compute, std::span<const std::string> x, Helpers& helpers) {
  const bool is_signed = is_integer(compute) && !is_unsigned(compute);
  const Spelling s{x, helpers, is_float(compute), is_signed, compute == DType::f32};
  switch (function) {
#define PLAIT_SPELL(name) return spelled::name(s)
#define PLAIT_core PLAIT_SPELL
#define PLAIT_derived_on_integers PLAIT_SPELL
#define PLAIT_derived_on_floats PLAIT_SPELL
#define PLAIT_derived(name) break
#define PLAIT_conversion(name) break
#define X(name, arity, type_rule, cost, ulp, continuity, argument, scale, form, ...) \
  case Pointwise::name:                                                              \
    PLAIT_##form(name);
#include "scalar/pointwise.def"
#undef X
  }
  PLAIT_CHECK(false, "{} has no spelling in CUDA", name(function));
  return "";
}

Binding binding(kir::LoopKind kind) {
  using kir::LoopKind;
  switch (kind) {
    case LoopKind::block_x:
      return {"bx", "blockIdx.x"};
    case LoopKind::block_y:
      return {"by", "blockIdx.y"};
    case LoopKind::block_z:
      return {"bz", "blockIdx.z"};
    case LoopKind::cluster:
      return {"rank", "blockIdx.y"};
    case LoopKind::thread_x:
      return {"tx", "threadIdx.x"};
    case LoopKind::thread_y:
      return {"ty", "threadIdx.y"};
    case LoopKind::thread_z:
      return {"tz", "threadIdx.z"};
    case LoopKind::serial:
    case LoopKind::cpu_thread:
    case LoopKind::lanes:
    case LoopKind::threads:
    case LoopKind::threads_y:
    case LoopKind::clusters:
      break;
  }
  PLAIT_CHECK(false, "a {} loop in a CUDA kernel", name(kind));
  return {};
}

}  // namespace plait::codegen::cuda
