#pragma once
// How the lanes of a vector meet memory: a proof on the finished index expression.
#include <optional>

#include "sym/expr.h"

namespace plait {

// An index as start + stride*lane over lanes 0 .. W-1, proven; `divisor` divides the start (0 for the constant 0).
struct LaneForm {
  int64_t stride = 0;
  int64_t divisor = 1;
};

// The form of an index in the symbol `lane`, for vectors of `lanes` lanes; nothing where it is not proven. Every
// operator has one rule:
//   a+b: strides add, divisor gcd       a*c: both times c
//   a/c, stride 0: exact where c divides; stride 1: needs lanes | gcd(d, c); result stride 0
//   a%c, stride 0: gcd(d, c);             stride 1: needs lanes | gcd(d, c); result stride 1
std::optional<LaneForm> lane_form(sym::Expr index, sym::Expr lane, int lanes);

}  // namespace plait
