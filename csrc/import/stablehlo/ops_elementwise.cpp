// Ops of StableHLO that work element by element, and those of CHLO that jax leaves in.
#include <algorithm>

#include "import/stablehlo/importer.h"

namespace plait::stablehlo {
namespace {

template <Pointwise function>
void apply(Call& c) {
  c.give(pointwise(function, c.all()));
}

// Of two operands as of two arguments of a region.
void combine(Call& c) { c.give(combined(c.op.name.substr(10), c.in(0), c.in(1))); }

void negate_bits(Call& c) { c.give(c.in()->dtype == DType::boolean ? logical_not(c.in()) : bitwise_not(c.in())); }

// Of integers toward zero.
void divide(Call& c) {
  TensorView *x = c.in(0), *y = c.in(1);
  c.give(is_float(x->dtype) ? div(x, y) : floor_divide(sub(x, fmod(x, y)), y));
}

void sign_of(Call& c) {
  TensorView* x = c.in();
  c.give(is_float(x->dtype) ? where(isnan(x), x, sign(x)) : sign(x));
}

void round_away(Call& c) {
  TensorView *x = c.in(), *whole = trunc(c.in());
  c.give(where(ge(abs(sub(x, whole)), 0.5), add(whole, sign(x)), whole));
}

// The bits as an unsigned number.
void shift_right_bits(Call& c) {
  TensorView *x = c.in(0), *y = c.in(1);
  if (is_unsigned(x->dtype)) return c.give(shift_right(x, y));
  const DType bits = x->dtype == DType::i8    ? DType::u8
                     : x->dtype == DType::i16 ? DType::u16
                     : x->dtype == DType::i32 ? DType::u32
                                              : DType::u64;
  c.give(bitcast(shift_right(bitcast(x, bits), bitcast(y, bits)), x->dtype));
}

void compare(Call& c) {
  std::string how = c.op.words.empty() ? "" : c.op.words[0];
  if (c.has("comparison_direction")) how = c.attribute({"comparison_direction"}).text;
  const auto kind = c.op.attributes.find("compare_type");
  const bool total = std::ranges::find(c.op.words, "TOTALORDER") != c.op.words.end() ||
                     (kind != c.op.attributes.end() && kind->second.text == "TOTALORDER");
  require(!total || !is_float(c.in()->dtype), "an order of all floats, NaN and zeros");
  TensorView *x = c.in(0), *y = c.in(1);
  if (how == "EQ") return c.give(eq(x, y));
  if (how == "NE") return c.give(ne(x, y));
  if (how == "LT") return c.give(lt(x, y));
  if (how == "LE") return c.give(le(x, y));
  if (how == "GT") return c.give(gt(x, y));
  require(how == "GE", "the comparison `{}`", how);
  c.give(ge(x, y));
}

void select(Call& c) { c.give(where(c.in(0), c.in(1), c.in(2))); }
void clamp_between(Call& c) { c.give(clamp(c.in(1), c.in(0), c.in(2))); }
void convert(Call& c) { c.give(convert_to(c.in(), c.dtype())); }
void same(Call& c) {
  for (TensorView* t : c.all()) c.give(t);
}

void bitcast_of(Call& c) {
  require(size_of(c.in()->dtype) == size_of(c.dtype()), "bits of another width");
  c.give(c.in()->dtype == c.dtype() ? c.in() : bitcast(c.in(), c.dtype()));
}

std::vector<OpRow> functions() {
  return {
      {"abs", apply<Pointwise::abs>},
      {"atan2", apply<Pointwise::atan2>},
      {"cbrt", apply<Pointwise::cbrt>},
      {"ceil", apply<Pointwise::ceil>},
      {"cosine", apply<Pointwise::cos>},
      {"exponential", apply<Pointwise::exp>},
      {"exponential_minus_one", apply<Pointwise::expm1>},
      {"floor", apply<Pointwise::floor>},
      {"is_finite", apply<Pointwise::isfinite>},
      {"log", apply<Pointwise::log>},
      {"log_plus_one", apply<Pointwise::log1p>},
      {"logistic", apply<Pointwise::sigmoid>},
      {"negate", apply<Pointwise::neg>},
      {"power", apply<Pointwise::pow>},
      {"remainder", apply<Pointwise::fmod>},
      {"round_nearest_afz", round_away},
      {"round_nearest_even", apply<Pointwise::round>},
      {"rsqrt", apply<Pointwise::rsqrt>},
      {"shift_left", apply<Pointwise::shift_left>},
      {"shift_right_arithmetic", apply<Pointwise::shift_right>},
      {"sign", sign_of},
      {"sine", apply<Pointwise::sin>},
      {"sqrt", apply<Pointwise::sqrt>},
      {"subtract", apply<Pointwise::sub>},
      {"tan", apply<Pointwise::tan>},
      {"tanh", apply<Pointwise::tanh>},
      {"chlo.acos", apply<Pointwise::acos>},
      {"chlo.acosh", apply<Pointwise::acosh>},
      {"chlo.asin", apply<Pointwise::asin>},
      {"chlo.asinh", apply<Pointwise::asinh>},
      {"chlo.atan", apply<Pointwise::atan>},
      {"chlo.atanh", apply<Pointwise::atanh>},
      {"chlo.cosh", apply<Pointwise::cosh>},
      {"chlo.digamma", apply<Pointwise::digamma>},
      {"chlo.erf", apply<Pointwise::erf>},
      {"chlo.erf_inv", apply<Pointwise::erfinv>},
      {"chlo.erfc", apply<Pointwise::erfc>},
      {"chlo.lgamma", apply<Pointwise::lgamma>},
      {"chlo.sinh", apply<Pointwise::sinh>},
      {"chlo.square", apply<Pointwise::square>},
      {"chlo.tan", apply<Pointwise::tan>},
  };
}

}  // namespace

std::vector<OpRow> elementwise_rows() {
  std::vector<OpRow> out = functions();
  for (const char* name : {"add", "and", "maximum", "minimum", "multiply", "or", "xor"}) out.push_back({name, combine});
  for (const OpRow& row : std::initializer_list<OpRow>{{"bitcast_convert", bitcast_of},
                                                       {"clamp", clamp_between},
                                                       {"compare", compare},
                                                       {"convert", convert},
                                                       {"divide", divide},
                                                       {"not", negate_bits},
                                                       {"optimization_barrier", same},
                                                       {"select", select},
                                                       {"custom_call", same},
                                                       {"sdy.sharding_constraint", same},
                                                       {"shift_right_logical", shift_right_bits}})
    out.push_back(row);
  return out;
}

}  // namespace plait::stablehlo
