#include "codegen/llvm/integers.h"

#include "codegen/llvm/math.h"

namespace plait::codegen::llvm {
namespace {

// Arithmetic on lanes of one integer type.
struct Whole {
  Function& f;
  Type type;
  bool has_sign;

  Ir c(int64_t value) const { return integer(type, value); }
  Ir is(const Ir& a, int64_t value) const { return f.compare("icmp eq", a, c(value)); }
  Ir negative(const Ir& a) const { return f.compare("icmp slt", a, c(0)); }
};

int bits_of(Type type) { return type.scalar == Scalar::i32 ? 32 : 64; }

// x / d rounded down; d is not 0 and, with sign, not -1. In 32 bits by way of f64: a quotient that is no integer is
// further from one than its rounding error.
Ir quotient(const Whole& w, const Ir& x, const Ir& d) {
  Function& f = w.f;
  if (w.type.scalar == Scalar::i32) {
    const Type wide = w.type.with(Scalar::f64);
    const char* to_float = w.has_sign ? "sitofp" : "uitofp";
    const Ir dividend = f.cast(to_float, x, wide);
    const Ir q = f.binary("fdiv", dividend, f.cast(to_float, d, wide));
    return f.cast(w.has_sign ? "fptosi" : "fptoui", f.intrinsic("llvm.floor", {q}), w.type);
  }
  if (!w.has_sign) return f.binary("udiv", x, d);
  const Ir q = f.binary("sdiv", x, d), rest = f.binary("sub", x, f.binary("mul", q, d));
  const Ir differ = f.compare("icmp slt", f.binary("xor", rest, d), w.c(0));
  const Ir above = f.binary("and", differ, f.compare("icmp ne", rest, w.c(0)));
  return f.binary("add", q, f.cast("sext", above, w.type));
}

Ir floor_divide_body(const Whole& w, const Ir& x, const Ir& y) {
  Function& f = w.f;
  const Ir zero = w.is(y, 0);
  if (!w.has_sign) return f.select(zero, w.c(0), quotient(w, x, f.select(zero, w.c(1), y)));
  const Ir minus = w.is(y, -1), trap = f.binary("or", zero, minus);
  const Ir q = quotient(w, x, f.select(trap, w.c(1), y));
  return f.select(zero, w.c(0), f.select(minus, f.binary("sub", w.c(0), x), q));
}

// Squares and multiplies until no lane has bits of the exponent left.
Ir raised(const Whole& w, const Ir& x, const Ir& exponent) {
  Function& f = w.f;
  const std::string before = f.block(), loop = f.fresh_label("power"), done = f.fresh_label("raised");
  f.line("br label %" + loop);
  f.label(loop);
  const auto phi = [&](const Ir& first, const char* name) {
    return f.define(w.type, fmt::format("phi {} [ {}, %{} ], [ %{}.{}, %{} ]", w.type.text(), first.text, before, loop,
                                        name, loop));
  };
  const Ir result = phi(w.c(1), "result"), base = phi(x, "base"), rest = phi(exponent, "rest");
  const auto next = [&](const Ir& value, const char* name) {
    // An instruction of a name that the phi above could use already.
    f.line(fmt::format("%{}.{} = or {}, {}", loop, name, value.typed(), w.c(0).text));
  };
  const Ir odd = f.compare("icmp ne", f.binary("and", rest, w.c(1)), w.c(0));
  const Ir product = f.select(odd, f.binary("mul", result, base), result);
  const Ir fewer = f.binary("lshr", rest, w.c(1));
  next(product, "result");
  next(f.binary("mul", base, base), "base");
  next(fewer, "rest");
  Ir more = f.compare("icmp ne", fewer, w.c(0));
  if (more.type.lanes > 1) {
    more = f.intrinsic("llvm.vector.reduce.or", {Scalar::i1, 1}, {more}, more.type.suffix());
  }
  f.line(fmt::format("br {}, label %{}, label %{}", more.typed(), loop, done));
  f.label(done);
  return product;
}

Ir power_body(const Whole& w, const Ir& x, const Ir& y) {
  Function& f = w.f;
  if (!w.has_sign) return raised(w, x, y);
  const Ir negative = w.negative(y);
  const Ir whole = raised(w, x, f.select(negative, w.c(0), y));
  const Ir even = f.compare("icmp eq", f.binary("and", y, w.c(1)), w.c(0));
  const Ir of_minus_one = f.select(even, w.c(1), w.c(-1));
  const Ir inverse = f.select(w.is(x, 1), w.c(1), f.select(w.is(x, -1), of_minus_one, w.c(0)));
  return f.select(negative, inverse, whole);
}

template <class Body>
Ir whole_helper(Function& f, const char* stem, Sign sign, const Ir& x, const Ir& y, Body&& body) {
  const bool has_sign = sign == Sign::with;
  PLAIT_CHECK(x.type.scalar == Scalar::i32 || x.type.scalar == Scalar::i64, "{} of {}", stem, x.type.text());
  return helper(
      f, fmt::format("{}_{}", has_sign ? "signed" : "unsigned", stem), x.type, {x, y},
      [&](Function& inner, const std::vector<Ir>& p) { return body(Whole{inner, x.type, has_sign}, p[0], p[1]); });
}

Ir inside(Function& f, const Ir& y) { return f.compare("icmp ult", y, integer(y.type, bits_of(y.type))); }

}  // namespace

Ir floor_divide(Function& f, Sign sign, const Ir& x, const Ir& y) {
  return whole_helper(f, "floor_divide", sign, x, y, floor_divide_body);
}

Ir power(Function& f, Sign sign, const Ir& x, const Ir& y) { return whole_helper(f, "power", sign, x, y, power_body); }

Ir shift_left(Function& f, const Ir& x, const Ir& y) {
  const Ir within = inside(f, y), zero = integer(x.type, 0);
  return f.select(within, f.binary("shl", x, f.select(within, y, zero)), zero);
}

Ir shift_right(Function& f, Sign sign, const Ir& x, const Ir& y) {
  const Ir within = inside(f, y), zero = integer(x.type, 0);
  if (sign == Sign::with) return f.binary("ashr", x, f.select(within, y, integer(x.type, bits_of(x.type) - 1)));
  return f.select(within, f.binary("lshr", x, f.select(within, y, zero)), zero);
}

}  // namespace plait::codegen::llvm
