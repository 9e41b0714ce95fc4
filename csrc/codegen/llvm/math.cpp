#include "codegen/llvm/math.h"

namespace plait::codegen::llvm {

Ir library_call(Function& f, const std::string& name, const std::vector<Ir>& operands) {
  const Type type = operands[0].type, lane_type = type.with(Scalar::f64);
  std::string types;
  for (size_t i = 0; i < operands.size(); ++i) types += i == 0 ? "double" : ", double";
  const std::string symbol = "plait_" + name;
  f.module().declare(symbol, fmt::format("declare double @{}({}) nounwind willreturn memory(none)", symbol, types));
  Ir result{lane_type, "poison"};
  for (int lane = 0; lane < type.lanes; ++lane) {
    std::vector<Ir> arguments;
    for (const Ir& operand : operands) arguments.push_back(f.extract(operand, lane));
    result = f.insert(result, f.call(symbol, {Scalar::f64, 1}, arguments), lane);
  }
  return result;
}

Ir with_rare_calls(Function& f, const Ir& rare, const Ir& common, const std::string& name,
                   const std::vector<Ir>& operands) {
  const Type flag{Scalar::i1, 1};
  const Ir some = rare.type.lanes == 1 ? rare : f.intrinsic("llvm.vector.reduce.or", flag, {rare}, rare.type.suffix());
  const std::string before = f.block(), calls = f.fresh_label("rare"), join = f.fresh_label("common");
  f.line(fmt::format("br {}, label %{}, label %{}", some.typed(), calls, join));
  f.label(calls);
  const Ir chosen = f.select(rare, library_call(f, name, operands), common);
  f.line("br label %" + join);
  f.label(join);
  return f.define(common.type, fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]", common.type.text(), chosen.text, calls,
                                           common.text, before));
}

Ir from_library(Function& f, const std::string& name, const std::vector<Ir>& operands) {
  const Type type = operands[0].type;
  PLAIT_CHECK(type.is_float(), "{} of {}", name, type.text());
  return helper(f, name, type, operands, [&](Function& inner, const std::vector<Ir>& p) {
    if (type.scalar == Scalar::f64) return library_call(inner, name, p);
    std::vector<Ir> wide;
    for (const Ir& operand : p) wide.push_back(inner.cast("fpext", operand, type.with(Scalar::f64)));
    return inner.cast("fptrunc", library_call(inner, name, wide), type);
  });
}

}  // namespace plait::codegen::llvm
