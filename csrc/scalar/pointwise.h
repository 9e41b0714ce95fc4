#pragma once
// Meaning of the pointwise ops: type rules, values in double and in integers, own error.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "scalar/dtype.h"

namespace plait {

// Functions of elements; what each computes: scalar/pointwise.def and docs/ops.md.
enum class Pointwise : uint8_t {
#define X(name, ...) name,
#include "scalar/pointwise.def"
#undef X
};

// How many there are.
inline constexpr int kPointwiseCount = 0
#define X(name, ...) +1
#include "scalar/pointwise.def"
#undef X
    ;

// As PyTorch types its ops; where that computes integers in floats, the float is f32.
enum class TypeRule : uint8_t {
  same,        // result: promotion of the operands, integer or float (bool alone is refused)
  to_float,    // result: promotion of the operands, f32 if that is an integer or bool
  float_only,  // result: promotion of the operands, which must be a float
  compare,     // operands must have a common type; result: bool
  test,        // any operand; result: bool
  logical,     // any operands, each of which becomes bool first; result: bool
  bits,        // result: promotion of the operands, which must be an integer or bool
  shift,       // result: promotion of the operands, which must be an integer
  select,      // first operand bool; result: promotion of the other two
  cast,        // the op names its result type
};

// About what a function costs: an instruction, a division, tens of instructions.
enum class CostClass : uint8_t { simple, division, transcendental };

// Whether a small change of an operand may change the result by much.
enum class Continuity : uint8_t {
  continuous,
  discontinuous,               // a comparison: where the operands meet
  discontinuous_in_condition,  // in its first operand only
  discontinuous_to_integer,    // a cast: where a float becomes an integer, bool or f8
};

// What argument_error is a multiple of.
enum class ErrorScale : uint8_t {
  operand,   // |x|
  unit,      // 1
  span,      // (|x| + |y|) max(1, |1 - z|)
  quotient,  // what the rounding of x / y does: |y| min_normal + min(|x|, |y|), for y < 0 + |x| + |result x / y|
};

// Whether code writers spell the function, or kir/expand_functions.h says it by others before. A cast is a statement of
// its own there.
enum class FunctionForm : uint8_t { core, derived, derived_on_integers, derived_on_floats, conversion };

// A row of the table of pointwise functions.
struct PointwiseInfo {
  std::string_view name;
  int arity;
  TypeRule type_rule;
  CostClass cost;
  double error_ulp;       // own error in ulps of the result, in the computation dtype
  double argument_error;  // further own error, in units of u * scale
  ErrorScale scale;
  Continuity continuity;
  FunctionForm form;
  bool keeps_integers;  // finite integers among floats give integers
  bool discontinuous;   // in some float operand; false for cast, see is_discontinuous()
};

// The row of a function, and its name in the text.
const PointwiseInfo& info(Pointwise op);
inline std::string_view name(Pointwise op) { return info(op).name; }
// Inverse of name; nothing for an unknown text ("gelu" is no name: the IR maps it by its `approx`).
std::optional<Pointwise> parse_pointwise(std::string_view text);

// Whether a small change of operand number `operand`, of dtype `from`, may change the result, of dtype `to`, by much:
// never of integers and bool, which are exact.
bool is_discontinuous(Pointwise op, int operand, DType from, DType to);

// Type in which the op computes: compute_type of the promotion of its operands (for `where` of the two choices); f32
// for integers and bool under to_float, bool for logical ops. For cast: the operand's own type. UserError as
// result_type.
DType computation_type(Pointwise op, std::span<const DType> operands);
// Type of the result. UserError naming the op, what was found and the remedy, for a wrong number of operands, operands
// without a common type, or a type that the op's rule refuses. Not for cast, whose result the op names.
DType result_type(Pointwise op, std::span<const DType> operands);

// Exact meaning on doubles (the result is rounded once to double, or within a few ulps of double for the transcendental
// ops), as the table in docs/ops.md states it. Bool results and operands are 0 and 1. max(-0, 0) = 0 and min(-0, 0) =
// -0 here; backends may return either zero. Ops on bits have no meaning on floats and fail an internal check. cast
// returns its operand: the caller rounds to the result type.
double evaluate(Pointwise op, std::span<const double> args);

// Meaning on integers and bool; the ops of the rules to_float and float_only have none and fail an internal check.
// `operand` is the promoted type of the operands (of the two choices for `where`): u64 values travel as the int64_t
// of the same bits, all others by value. Overflow wraps modulo 2^bits of that type; abs of the least integer is itself.
// Nothing traps: x floor_divide 0 = 0, remainder and fmod of x by 0 are x; shifts by less than 0 or by at least the
// number of bits move all bits out. For `where` the first argument is 0 or 1.
int64_t evaluate_int(Pointwise op, std::span<const int64_t> args, DType operand = DType::i64);

// Whether the op has a meaning on doubles (all but the ops on bits) and on integers (see there).
bool has_float_meaning(Pointwise op);
bool has_integer_meaning(Pointwise op);

// Whether backends may differ on these operands: signbit and copysign take the sign of a NaN.
bool is_open(Pointwise op, std::span<const double> args);

// The op's own error, absolute, when computed in dtype `compute` (narrow floats compute in f32; 0 for integers and
// bool): error_ulp ulps of the result plus argument_error * u * scale. 0 where the result is NaN or infinite; infinite
// where the result or, of a `span` or `quotient`, a part of it may overflow in `compute`.
double own_error(Pointwise op, DType compute, std::span<const double> args, double result);

}  // namespace plait
