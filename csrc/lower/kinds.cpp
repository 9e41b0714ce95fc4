#include "lower/kinds.h"

namespace plait::lowering {

namespace {

Combine combine(Reduction function) {
  switch (function) {
    case Reduction::sum:
      return Combine::sum;
    case Reduction::prod:
      return Combine::product;
    case Reduction::amax:
      return Combine::greatest;
    case Reduction::amin:
      return Combine::least;
    case Reduction::argmax:
      return Combine::first_greatest;
    case Reduction::argmin:
      return Combine::first_least;
  }
  __builtin_unreachable();
}

Kind kind(const PointwiseOp&) { return {Form::element}; }
Kind kind(const Full&) { return {Form::element}; }
Kind kind(const Iota&) { return {Form::element}; }
Kind kind(const Size&) { return {Form::element}; }
Kind kind(const Uniform&) { return {Form::element}; }
Kind kind(const Normal&) { return {Form::element}; }
Kind kind(const Linear&) { return {Form::sum, {Combine::sum}}; }
Kind kind(const Matmul&) { return {Form::sum, {Combine::sum}}; }
Kind kind(const Reduce& op) { return {Form::sum, {combine(op.function)}}; }
Kind kind(const Var&) { return {Form::sum, {Combine::variance}}; }
Kind kind(const VarMean&) { return {Form::sum, {Combine::sum, Combine::variance}}; }
Kind kind(const MaxWithArgmax&) { return {Form::sum, {Combine::first_greatest}}; }
Kind kind(const MinWithArgmin&) { return {Form::sum, {Combine::first_least}}; }
Kind kind(const Sort&) { return {Form::sort}; }
template <class T>
  requires(is_scan(T::kKind))
Kind kind(const T&) {
  return {Form::scan};
}
Kind kind(const Permute&) { return {Form::read}; }
Kind kind(const Broadcast&) { return {Form::read}; }
Kind kind(const Squeeze&) { return {Form::read}; }
Kind kind(const Unsqueeze&) { return {Form::read}; }
Kind kind(const Reshape&) { return {Form::read}; }
Kind kind(const Slice&) { return {Form::read}; }
Kind kind(const Pad&) { return {Form::read}; }
Kind kind(const Cat&) { return {Form::read}; }
Kind kind(const Flip&) { return {Form::read}; }
Kind kind(const Roll&) { return {Form::read}; }
Kind kind(const Repeat&) { return {Form::read}; }
Kind kind(const Bitcast&) { return {Form::read}; }
Kind kind(const Gather&) { return {Form::read}; }
Kind kind(const IndexSelect&) { return {Form::read}; }
Kind kind(const Scatter&) { return {Form::scatter}; }
template <class T>
  requires(property(T::kKind) == OpProperty::composite || property(T::kKind) == OpProperty::communication ||
           property(T::kKind) == OpProperty::local_move)
Kind kind(const T&) {
  return {Form::none};
}

}  // namespace

Kind kind_of(const Op& op) {
  return visit(op, [](const auto& node) { return kind(node); });
}

std::optional<Pointwise> combining(ScatterUpdate update) {
  switch (update) {
    case ScatterUpdate::set:
      return std::nullopt;
    case ScatterUpdate::add:
      return Pointwise::add;
    case ScatterUpdate::mul:
      return Pointwise::mul;
    case ScatterUpdate::max:
      return Pointwise::max;
    case ScatterUpdate::min:
      return Pointwise::min;
  }
  __builtin_unreachable();
}

}  // namespace plait::lowering
