// Normal numbers: two uniform ones of the element's lane pair, by Box-Muller in f32.
#include <numbers>

#include "lower/statements.h"

namespace plait::lowering {

// r cos or r sin of an angle of 2 pi u. The quarter turn that u is nearest to is taken out of it exactly, so that the
// functions see at most an eighth of a turn and no digits are lost.
kir::Value Statements::normal(const Normal& op, const Replacements& copy, int lanes) {
  const sym::Expr index = random_index(op, copy), pair = sym::floordiv(index, 2) * 2;
  const auto number = [&](double v) { return literal(Constant::from_double(DType::f32, v), lanes); };
  const auto choose = [&](kir::Value x, Pointwise test, double v, kir::Value a, kir::Value b) {
    return apply(Pointwise::where, {apply(test, {x, number(v)}), a, b});
  };
  const kir::Value first = random(op, pair, copy, lanes), second = random(op, pair + 1, copy, lanes);
  const kir::Value log = apply(Pointwise::log, {apply(Pointwise::sub, {number(1), first})});
  const kir::Value radius = apply(Pointwise::sqrt, {apply(Pointwise::mul, {number(-2), log})});
  const kir::Value turns = apply(Pointwise::mul, {number(4), second});  // quarters, below 4
  kir::Value quarter = number(4);
  for (int q = 3; q >= 0; --q) quarter = choose(turns, Pointwise::lt, q + 0.5, number(q), quarter);
  const kir::Value rest =
      apply(Pointwise::mul, {number(std::numbers::pi / 2), apply(Pointwise::sub, {turns, quarter})});
  const kir::Value cosine = apply(Pointwise::cos, {rest}), sine = apply(Pointwise::sin, {rest});
  // An odd lane takes the sine: the cosine of a quarter less.
  const kir::Value odd = convert(coordinate(sym::mod(index, 2), lanes), DType::f32);
  const kir::Value turned = apply(Pointwise::sub, {quarter, odd});
  kir::Value out = cosine;  // of 0 and 4 quarters
  out = choose(turned, Pointwise::eq, 3, sine, out);
  out = choose(turned, Pointwise::eq, 2, apply(Pointwise::neg, {cosine}), out);
  out = choose(turned, Pointwise::eq, 1, apply(Pointwise::neg, {sine}), out);
  out = choose(turned, Pointwise::eq, -1, sine, out);
  return apply(Pointwise::mul, {radius, out});
}

}  // namespace plait::lowering
