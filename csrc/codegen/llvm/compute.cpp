#include "codegen/llvm/compute.h"

#include <cmath>

#include "base/error.h"
#include "codegen/llvm/functions.h"
#include "codegen/llvm/integers.h"

namespace plait::codegen::llvm {
namespace {

// The larger or smaller operand; NaN if one is NaN.
Ir extremum(Function& f, DType dtype, bool larger, const Ir& a, const Ir& b) {
  if (!is_float(dtype)) {
    const std::string sign = is_unsigned(dtype) ? "u" : "s";
    return f.intrinsic("llvm." + sign + (larger ? "max" : "min"), {a, b});
  }
  const Ir first = f.compare(larger ? "fcmp ugt" : "fcmp ult", a, b);  // true when unordered: a's NaN stays
  const Ir nan = f.compare("fcmp uno", b, b);
  return f.select(nan, b, f.select(first, a, b));
}

// The one that is no NaN; LLVM calls a library for minnum of some narrow types.
Ir number_extremum(Function& f, bool larger, const Ir& a, const Ir& b) {
  const Ir first = f.compare(larger ? "fcmp ogt" : "fcmp olt", a, b);  // false when unordered: b
  return f.select(f.compare("fcmp uno", b, b), a, f.select(first, a, b));
}

Ir absolute(Function& f, DType dtype, const Ir& a) {
  if (is_float(dtype)) return f.intrinsic("llvm.fabs", {a});
  if (is_unsigned(dtype)) return a;
  return f.intrinsic("llvm.smax", {a, f.binary("sub", integer(a.type, 0), a)});
}

Ir negated(Function& f, DType dtype, const Ir& a) {
  return is_float(dtype) ? f.define(a.type, "fneg " + a.typed()) : f.binary("sub", integer(a.type, 0), a);
}

Ir relu(Function& f, DType dtype, const Ir& a) {
  if (is_float(dtype)) return f.select(f.compare("fcmp ugt", a, number(a.type, 0)), a, number(a.type, 0));
  return is_unsigned(dtype) ? a : f.intrinsic("llvm.smax", {a, integer(a.type, 0)});
}

Ir comparison(Function& f, DType dtype, const char* word, const Ir& a, const Ir& b) {
  const std::string op = word;
  const bool equality = op == "eq" || op == "ne";
  if (is_float(dtype)) return f.compare((op == "ne" ? "fcmp u" : "fcmp o") + op, a, b);
  const bool as_unsigned = is_unsigned(dtype) || dtype == DType::boolean;
  return f.compare("icmp " + std::string(equality ? "" : as_unsigned ? "u" : "s") + op, a, b);
}

Ir arithmetic(Function& f, DType dtype, const char* word, const Ir& a, const Ir& b) {
  return f.binary((is_float(dtype) ? "f" : "") + std::string(word), a, b);
}

// One Compute to spell.
struct Spelling {
  Function& f;
  DType dtype;
  const std::vector<Ir>& in;

  bool on_floats() const { return is_float(dtype); }
  Sign sign() const { return is_unsigned(dtype) ? Sign::without : Sign::with; }
  Ir arithmetic(const char* word) const { return plait::codegen::llvm::arithmetic(f, dtype, word, in[0], in[1]); }
  Ir compared(const char* word) const { return comparison(f, dtype, word, in[0], in[1]); }
  // An integer is its own floor.
  Ir rounded(const char* intrinsic) const { return on_floats() ? f.intrinsic(intrinsic, in) : in[0]; }
};

using S = Spelling;

// One function per row of pointwise.def that is core anywhere.
namespace spelled {

Ir add(const S& s) { return s.arithmetic("add"); }
Ir sub(const S& s) { return s.arithmetic("sub"); }
Ir mul(const S& s) { return s.arithmetic("mul"); }
Ir div(const S& s) { return s.f.binary("fdiv", s.in[0], s.in[1]); }
Ir neg(const S& s) { return negated(s.f, s.dtype, s.in[0]); }
Ir abs(const S& s) { return absolute(s.f, s.dtype, s.in[0]); }
Ir max(const S& s) { return extremum(s.f, s.dtype, true, s.in[0], s.in[1]); }
Ir min(const S& s) { return extremum(s.f, s.dtype, false, s.in[0], s.in[1]); }
Ir fmax(const S& s) { return s.on_floats() ? number_extremum(s.f, true, s.in[0], s.in[1]) : max(s); }
Ir fmin(const S& s) { return s.on_floats() ? number_extremum(s.f, false, s.in[0], s.in[1]) : min(s); }
Ir floor_divide(const S& s) { return llvm::floor_divide(s.f, s.sign(), s.in[0], s.in[1]); }
Ir fmod(const S& s) { return llvm::fmod(s.f, s.in[0], s.in[1]); }
Ir pow(const S& s) { return s.on_floats() ? llvm::pow(s.f, s.in[0], s.in[1]) : power(s.f, s.sign(), s.in[0], s.in[1]); }
Ir rsqrt(const S& s) { return llvm::rsqrt(s.f, s.in[0]); }
Ir floor(const S& s) { return s.rounded("llvm.floor"); }
Ir ceil(const S& s) { return s.rounded("llvm.ceil"); }
Ir round(const S& s) { return s.rounded("llvm.roundeven"); }
Ir trunc(const S& s) { return s.rounded("llvm.trunc"); }
Ir fma(const S& s) { return s.f.intrinsic("llvm.fma", s.in); }
Ir hypot(const S& s) { return llvm::hypot(s.f, s.in[0], s.in[1]); }
Ir copysign(const S& s) { return s.f.intrinsic("llvm.copysign", s.in); }
Ir cbrt(const S& s) { return llvm::cbrt(s.f, s.in[0]); }
Ir atan2(const S& s) { return llvm::atan2(s.f, s.in[0], s.in[1]); }
Ir exp(const S& s) { return llvm::exp(s.f, s.in[0]); }
Ir exp2(const S& s) { return llvm::exp2(s.f, s.in[0]); }
Ir expm1(const S& s) { return llvm::expm1(s.f, s.in[0]); }
Ir log(const S& s) { return llvm::log(s.f, s.in[0]); }
Ir log2(const S& s) { return llvm::log2(s.f, s.in[0]); }
Ir log10(const S& s) { return llvm::log10(s.f, s.in[0]); }
Ir log1p(const S& s) { return llvm::log1p(s.f, s.in[0]); }
Ir sqrt(const S& s) { return s.f.intrinsic("llvm.sqrt", s.in); }
Ir sin(const S& s) { return llvm::sin(s.f, s.in[0]); }
Ir cos(const S& s) { return llvm::cos(s.f, s.in[0]); }
Ir tan(const S& s) { return llvm::tan(s.f, s.in[0]); }
Ir asin(const S& s) { return llvm::asin(s.f, s.in[0]); }
Ir acos(const S& s) { return llvm::acos(s.f, s.in[0]); }
Ir atan(const S& s) { return llvm::atan(s.f, s.in[0]); }
Ir sinh(const S& s) { return llvm::sinh(s.f, s.in[0]); }
Ir cosh(const S& s) { return llvm::cosh(s.f, s.in[0]); }
Ir tanh(const S& s) { return llvm::tanh(s.f, s.in[0]); }
Ir asinh(const S& s) { return llvm::asinh(s.f, s.in[0]); }
Ir acosh(const S& s) { return llvm::acosh(s.f, s.in[0]); }
Ir atanh(const S& s) { return llvm::atanh(s.f, s.in[0]); }
Ir erf(const S& s) { return llvm::erf(s.f, s.in[0]); }
Ir erfc(const S& s) { return llvm::erfc(s.f, s.in[0]); }
Ir erfinv(const S& s) { return llvm::erfinv(s.f, s.in[0]); }
Ir lgamma(const S& s) { return llvm::log_gamma(s.f, s.in[0]); }
Ir digamma(const S& s) { return llvm::digamma(s.f, s.in[0]); }
Ir relu(const S& s) { return llvm::relu(s.f, s.dtype, s.in[0]); }
Ir gelu_erf(const S& s) { return llvm::gelu_erf(s.f, s.in[0]); }
Ir gelu_tanh(const S& s) { return llvm::gelu_tanh(s.f, s.in[0]); }
Ir silu(const S& s) { return llvm::silu(s.f, s.in[0]); }
Ir sigmoid(const S& s) { return llvm::sigmoid(s.f, s.in[0]); }
Ir eq(const S& s) { return s.compared("eq"); }
Ir ne(const S& s) { return s.compared("ne"); }
Ir lt(const S& s) { return s.compared("lt"); }
Ir le(const S& s) { return s.compared("le"); }
Ir gt(const S& s) { return s.compared("gt"); }
Ir ge(const S& s) { return s.compared("ge"); }
Ir bitwise_and(const S& s) { return s.f.binary("and", s.in[0], s.in[1]); }
Ir bitwise_or(const S& s) { return s.f.binary("or", s.in[0], s.in[1]); }
Ir bitwise_xor(const S& s) { return s.f.binary("xor", s.in[0], s.in[1]); }
Ir shift_left(const S& s) { return llvm::shift_left(s.f, s.in[0], s.in[1]); }
Ir shift_right(const S& s) { return llvm::shift_right(s.f, s.sign(), s.in[0], s.in[1]); }
Ir where(const S& s) { return s.f.select(s.in[0], s.in[1], s.in[2]); }

}  // namespace spelled
}  // namespace

Ir compute(Function& f, Pointwise function, DType d, const std::vector<Ir>& in) {
  const Spelling s{f, d, in};
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
  PLAIT_CHECK(false, "no spelling of {}", plait::name(function));
  __builtin_unreachable();
}

namespace {

// A float as the integer that is nearest to zero beside it; beyond the type's ends those, NaN 0. LLVM makes the
// intrinsic of vectors out of scalars, lane by lane.
Ir saturated(Function& f, const Ir& in, Type type, bool has_sign) {
  if (type.lanes == 1) {
    const char* name = has_sign ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    return f.intrinsic(name, type, {in}, type.suffix() + "." + in.type.suffix());
  }
  const int bits = (type.scalar == Scalar::i64 ? 64 : 32) - (has_sign ? 1 : 0);
  const Ir zero = number(in.type, 0), end = number(in.type, std::ldexp(1.0, bits));
  const Ir least = number(in.type, has_sign ? -std::ldexp(1.0, bits) : -1);
  const Ir above = f.compare("fcmp ogt", in, least);
  const Ir inside = f.binary("and", above, f.compare("fcmp olt", in, end));
  const Ir near = f.cast(has_sign ? "fptosi" : "fptoui", f.select(inside, in, zero), type);
  const Ir most = integer(type, has_sign ? int64_t(~uint64_t(0) >> (64 - bits)) : -1);
  Ir ends = f.select(f.compare("fcmp ogt", in, zero), most, integer(type, 0));
  if (has_sign) {
    const int64_t lowest = bits == 63 ? INT64_MIN : INT32_MIN;
    ends = f.select(f.compare("fcmp olt", in, zero), integer(type, lowest), ends);
  }
  return f.select(inside, near, ends);
}

}  // namespace

Ir convert(Function& f, const Ir& in, DType from, DType to) {
  const Type type = value_type(to, in.type.lanes);
  if (from == to) return in;
  if (to == DType::boolean) {
    return is_float(from) ? f.compare("fcmp une", in, number(in.type, 0))
                          : f.compare("icmp ne", in, integer(in.type, 0));
  }
  if (is_float(from)) {
    if (is_float(to)) return f.cast(to == DType::f64 ? "fpext" : "fptrunc", in, type);
    return saturated(f, in, type, !is_unsigned(to));
  }
  const bool as_unsigned = is_unsigned(from) || from == DType::boolean;
  if (is_float(to)) return f.cast(as_unsigned ? "uitofp" : "sitofp", in, type);
  if (size_of(from) == size_of(to)) return {type, in.text};
  if (size_of(from) > size_of(to)) return f.cast("trunc", in, type);
  return f.cast(as_unsigned ? "zext" : "sext", in, type);
}

Ir round_through(Function& f, const Ir& in, DType narrow) {
  if (!is_narrow(narrow)) return from_memory(f, to_memory(f, in, compute_type(narrow), narrow), narrow);
  const Ir wide = widen_narrow(f, round_to_narrow(f, in, narrow), narrow);
  return in.type.scalar == Scalar::f64 ? f.cast("fpext", wide, in.type) : wide;
}

Ir from_memory(Function& f, const Ir& element, DType buffer) {
  if (buffer == DType::boolean) return f.compare("icmp ne", element, integer(element.type, 0));
  if (is_narrow(buffer)) return widen_narrow(f, element, buffer);
  const DType wide = compute_type(buffer);
  if (wide == buffer) return element;
  return f.cast(is_unsigned(buffer) ? "zext" : "sext", element, value_type(wide, element.type.lanes));
}

Ir to_memory(Function& f, const Ir& in, DType from, DType buffer) {
  if (buffer == DType::boolean) return f.cast("zext", in, in.type.with(Scalar::i8));
  if (is_narrow(buffer)) return round_to_narrow(f, in, buffer);
  if (compute_type(buffer) != buffer) return f.cast("trunc", in, memory_type(buffer, in.type.lanes));
  return convert(f, in, from, buffer);
}

}  // namespace plait::codegen::llvm
