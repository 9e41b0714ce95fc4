#pragma once
// What the families of functions share: arithmetic on float lanes, helper functions, calls of C functions.
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "codegen/llvm/text.h"

namespace plait::codegen::llvm {

// Arithmetic on lanes of one float type.
class Math {
 public:
  Math(Function& f, Type type) : f(f), type(type) {}

  Ir c(double value) const { return number(type, type.scalar == Scalar::f32 ? double(float(value)) : value); }
  Ir i(int64_t value) const { return integer(bits_type(), value); }
  Ir add(const Ir& a, const Ir& b) { return f.binary("fadd", a, b); }
  Ir sub(const Ir& a, const Ir& b) { return f.binary("fsub", a, b); }
  Ir mul(const Ir& a, const Ir& b) { return f.binary("fmul", a, b); }
  Ir div(const Ir& a, const Ir& b) { return f.binary("fdiv", a, b); }
  Ir neg(const Ir& a) { return f.define(type, "fneg " + a.typed()); }
  Ir sqrt(const Ir& a) { return f.intrinsic("llvm.sqrt", {a}); }
  Ir fma(const Ir& a, const Ir& b, const Ir& c) { return f.intrinsic("llvm.fma", {a, b, c}); }
  Ir abs(const Ir& a) { return f.intrinsic("llvm.fabs", {a}); }
  Ir copysign(const Ir& magnitude, const Ir& sign) { return f.intrinsic("llvm.copysign", {magnitude, sign}); }
  Ir bits(const Ir& a) { return f.cast("bitcast", a, bits_type()); }
  Ir from_bits(const Ir& a) { return f.cast("bitcast", a, type); }
  Ir select(const Ir& condition, const Ir& a, const Ir& b) { return f.select(condition, a, b); }
  // Horner's scheme, highest coefficient first.
  Ir polynomial(const Ir& x, std::initializer_list<double> coefficients) {
    Ir p = c(*coefficients.begin());
    for (auto k = coefficients.begin() + 1; k != coefficients.end(); ++k) p = fma(p, x, c(*k));
    return p;
  }
  // a where a < limit (or > limit), else the limit; NaN stays.
  Ir at_least(const Ir& a, double limit) { return f.select(f.compare("fcmp olt", a, c(limit)), c(limit), a); }
  Ir at_most(const Ir& a, double limit) { return f.select(f.compare("fcmp ogt", a, c(limit)), c(limit), a); }

  Function& f;
  const Type type;

 private:
  Type bits_type() const { return type.with(type.scalar == Scalar::f32 ? Scalar::i32 : Scalar::i64); }
};

// Calls the helper `stem` on the operands; body(function, parameters) writes it on first use.
template <class Body>
Ir helper(Function& f, const std::string& stem, Type type, const std::vector<Ir>& operands, Body&& body) {
  const std::string name = fmt::format("plait.{}.{}", stem, operands[operands.size() > 1 ? 1 : 0].type.suffix());
  if (!f.module().has(name)) {
    Function inner(f.module());
    std::vector<Ir> parameters;
    std::string list;
    for (const Ir& operand : operands) {
      parameters.push_back({operand.type, fmt::format("%p{}", parameters.size())});
      list += (list.empty() ? "" : ", ") + parameters.back().typed();
    }
    const Ir result = body(inner, parameters);
    f.module().define(name, fmt::format("define internal {} @{}({}) alwaysinline nounwind {{\nentry:\n{}  ret {}\n}}\n",
                                        type.text(), name, list, inner.body(), result.typed()));
  }
  return f.call(name, type, operands);
}

// A helper of operands of one float type, that is its result's too: body(math, parameters) in that type.
template <class Body>
Ir elementary(Function& f, const std::string& stem, const std::vector<Ir>& operands, Body&& body) {
  const Type type = operands[0].type;
  PLAIT_CHECK(type.is_float(), "{} of {}", stem, type.text());
  return helper(f, stem, type, operands, [&](Function& inner, const std::vector<Ir>& p) {
    Math math(inner, type);
    return body(math, p);
  });
}

// The C function of doubles `name`, lane by lane; backend/cpu/c_library.cpp holds it as plait_name.
Ir library_call(Function& f, const std::string& name, const std::vector<Ir>& operands);
// `common` where `rare` does not hold; the other lanes from the C function, which is not called where there are none.
Ir with_rare_calls(Function& f, const Ir& rare, const Ir& common, const std::string& name,
                   const std::vector<Ir>& operands);

// A function as a C function of f64 alone; f32 lanes go by way of f64.
Ir from_library(Function& f, const std::string& name, const std::vector<Ir>& operands);

// f64: the C function `name`. f32: body(math, parameters) on lanes widened to f64; its result rounds once.
template <class Body>
Ir in_double(Function& f, const std::string& name, const std::vector<Ir>& operands, Body&& body) {
  const Type type = operands[0].type;
  PLAIT_CHECK(type.is_float(), "{} of {}", name, type.text());
  if (type.scalar == Scalar::f64) return from_library(f, name, operands);
  return helper(f, name, type, operands, [&](Function& inner, const std::vector<Ir>& p) {
    Math math(inner, type.with(Scalar::f64));
    std::vector<Ir> wide;
    for (const Ir& operand : p) wide.push_back(inner.cast("fpext", operand, math.type));
    return inner.cast("fptrunc", body(math, wide), type);
  });
}

}  // namespace plait::codegen::llvm
