#include "codegen/llvm/compute.h"

#include "base/error.h"
#include "codegen/llvm/functions.h"

namespace plait::codegen::llvm {
namespace {

// The larger or smaller operand; NaN if one is NaN.
Ir extremum(Function& f, DType dtype, bool larger, const Ir& a, const Ir& b) {
  if (!is_float(dtype)) {
    const std::string sign = is_unsigned(dtype) ? "u" : "s";
    return f.intrinsic("llvm." + sign + (larger ? "max" : "min"), {a, b});
  }
  const Ir first = f.compare(larger ? "fcmp ugt" : "fcmp ult", a, b);  // true when unordered: a's NaN stays
  return f.select(f.compare("fcmp uno", b, b), b, f.select(first, a, b));
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

}  // namespace

Ir compute(Function& f, Pointwise function, DType d, const std::vector<Ir>& in) {
  switch (function) {
    case Pointwise::add:
      return arithmetic(f, d, "add", in[0], in[1]);
    case Pointwise::sub:
      return arithmetic(f, d, "sub", in[0], in[1]);
    case Pointwise::mul:
      return arithmetic(f, d, "mul", in[0], in[1]);
    case Pointwise::div:
      return f.binary("fdiv", in[0], in[1]);
    case Pointwise::neg:
      return negated(f, d, in[0]);
    case Pointwise::abs:
      return absolute(f, d, in[0]);
    case Pointwise::max:
      return extremum(f, d, true, in[0], in[1]);
    case Pointwise::min:
      return extremum(f, d, false, in[0], in[1]);
    case Pointwise::exp:
      return exp(f, in[0]);
    case Pointwise::log:
      return log(f, in[0]);
    case Pointwise::tanh:
      return tanh(f, in[0]);
    case Pointwise::sqrt:
      return f.intrinsic("llvm.sqrt", {in[0]});
    case Pointwise::relu:
      return relu(f, d, in[0]);
    case Pointwise::gelu_erf:
      return gelu_erf(f, in[0]);
    case Pointwise::gelu_tanh:
      return gelu_tanh(f, in[0]);
    case Pointwise::silu:
      return silu(f, in[0]);
    case Pointwise::sigmoid:
      return sigmoid(f, in[0]);
    case Pointwise::eq:
      return comparison(f, d, "eq", in[0], in[1]);
    case Pointwise::ne:
      return comparison(f, d, "ne", in[0], in[1]);
    case Pointwise::lt:
      return comparison(f, d, "lt", in[0], in[1]);
    case Pointwise::le:
      return comparison(f, d, "le", in[0], in[1]);
    case Pointwise::gt:
      return comparison(f, d, "gt", in[0], in[1]);
    case Pointwise::ge:
      return comparison(f, d, "ge", in[0], in[1]);
    case Pointwise::where:
      return f.select(in[0], in[1], in[2]);
    case Pointwise::cast:
      break;  // kernel IR spells it convert
  }
  PLAIT_CHECK(false, "no spelling of {}", plait::name(function));
  __builtin_unreachable();
}

Ir convert(Function& f, const Ir& in, DType from, DType to) {
  const Type type = value_type(to, in.type.lanes);
  if (from == to) return in;
  if (to == DType::boolean) {
    return is_float(from) ? f.compare("fcmp une", in, number(in.type, 0))
                          : f.compare("icmp ne", in, integer(in.type, 0));
  }
  if (is_float(from)) {
    if (is_float(to)) return f.cast(to == DType::f64 ? "fpext" : "fptrunc", in, type);
    const char* name = is_unsigned(to) ? "llvm.fptoui.sat" : "llvm.fptosi.sat";  // NaN gives 0
    return f.intrinsic(name, type, {in}, type.suffix() + "." + in.type.suffix());
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
