#include "codegen/llvm/f8.h"

#include <cmath>

#include "base/error.h"

namespace plait::codegen::llvm {
namespace {

struct Format {
  int mantissa, bias;
  int64_t largest;  // magnitude that overflow gives: infinity, or the largest number
  int dropped() const { return 23 - mantissa; }
  int64_t rebias() const { return int64_t(127 - bias) << 23; }
  // Around this power of two f32 has the spacing of the format's denormal numbers.
  int denormal_exponent() const { return 24 - bias - mantissa; }
};

Format format_of(DType dtype) {
  PLAIT_CHECK(is_f8(dtype), "{} is not of eight bits", name(dtype));
  return dtype == DType::f8e4m3 ? Format{3, 7, 0x7E} : Format{2, 15, 0x7C};
}

}  // namespace

Ir f8_bits(Function& f, const Ir& x, DType dtype) {
  const Format format = format_of(dtype);
  const Type word = x.type.with(Scalar::i32);
  const auto k = [&](int64_t value) { return integer(word, value); };
  const Ir bits = f.cast("bitcast", x, word), magnitude = f.binary("and", bits, k(0x7FFFFFFF));
  // Normal results: rebias, round; a carry into the exponent is right, and the end is cut below.
  const Ir odd = f.binary("and", f.binary("lshr", magnitude, k(format.dropped())), k(1));
  const int64_t half = (int64_t(1) << (format.dropped() - 1)) - 1;
  const Ir biased = f.binary("add", f.binary("add", magnitude, k(half - format.rebias())), odd);
  const Ir normal = f.binary("lshr", biased, k(format.dropped()));
  // Denormal results: the sum rounds at their spacing and leaves the result's bits at the bottom.
  const double power = std::ldexp(1.0, format.denormal_exponent());
  const Ir sum = f.binary("fadd", f.cast("bitcast", magnitude, x.type), number(x.type, power));
  const Ir denormal = f.binary("sub", f.cast("bitcast", sum, word), k(int64_t(127 + format.denormal_exponent()) << 23));
  Ir r = f.select(f.compare("icmp ult", magnitude, k(format.rebias() + (1 << 23))), denormal, normal);
  r = f.intrinsic("llvm.umin", {r, k(format.largest)});
  r = f.select(f.compare("icmp ugt", magnitude, k(0x7F800000)), k(0x7F), r);
  const Ir sign = f.binary("and", f.binary("lshr", bits, k(24)), k(0x80));
  return f.cast("trunc", f.binary("or", r, sign), x.type.with(Scalar::i8));
}

Ir f8_value(Function& f, const Ir& byte, DType dtype) {
  const Format format = format_of(dtype);
  const Type word = byte.type.with(Scalar::i32), number_type = byte.type.with(Scalar::f32);
  const auto k = [&](int64_t value) { return integer(word, value); };
  const Ir bits = f.cast("zext", byte, word), magnitude = f.binary("and", bits, k(0x7F));
  const Ir normal = f.binary("add", f.binary("shl", magnitude, k(format.dropped())), k(format.rebias()));
  const double spacing = std::ldexp(1.0, 1 - format.bias - format.mantissa);
  const Ir denormal = f.binary("fmul", f.cast("sitofp", magnitude, number_type), number(number_type, spacing));
  const Ir small = f.compare("icmp ult", magnitude, k(1 << format.mantissa));
  Ir r = f.select(small, f.cast("bitcast", denormal, word), normal);
  if (dtype == DType::f8e5m2) r = f.select(f.compare("icmp eq", magnitude, k(0x7C)), k(0x7F800000), r);
  r = f.select(f.compare("icmp ugt", magnitude, k(format.largest)), k(0x7FC00000), r);
  const Ir sign = f.binary("shl", f.binary("and", bits, k(0x80)), k(24));
  return f.cast("bitcast", f.binary("or", r, sign), number_type);
}

}  // namespace plait::codegen::llvm
