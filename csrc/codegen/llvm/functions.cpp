#include "codegen/llvm/functions.h"

#include "codegen/llvm/f8.h"
#include "codegen/llvm/math.h"

namespace plait::codegen::llvm {
namespace {

// f64 to f32 rounded to odd: of the two neighbours the one with an odd last bit, unless exact. Rounding that to a type
// with at least two bits less gives what one rounding of the f64 would give.
Ir round_to_odd(Function& f, const Ir& x) {
  const Type narrow = x.type.with(Scalar::f32), word = x.type.with(Scalar::i32);
  const Ir near = f.cast("fptrunc", x, narrow), wide = f.cast("fpext", near, x.type);
  const Ir bits = f.cast("bitcast", near, word);
  const Ir magnitude = f.intrinsic("llvm.fabs", {wide});
  const Ir above = f.compare("fcmp ogt", magnitude, f.intrinsic("llvm.fabs", {x}));
  const Ir other = f.binary("add", bits, f.select(above, integer(word, -1), integer(word, 1)));
  const Ir even = f.compare("icmp eq", f.binary("and", bits, integer(word, 1)), integer(word, 0));
  const Ir inexact = f.compare("fcmp one", wide, x);
  return f.cast("bitcast", f.select(f.binary("and", even, inexact), other, bits), narrow);
}

Ir bf16_bits(Function& f, const Ir& x) {
  const Type word = x.type.with(Scalar::i32);
  const auto k = [&](int64_t value) { return integer(word, value); };
  const Ir bits = f.cast("bitcast", x, word), high = f.binary("lshr", bits, k(16));
  const Ir bias = f.binary("add", f.binary("and", high, k(1)), k(0x7FFF));
  const Ir rounded = f.binary("lshr", f.binary("add", bits, bias), k(16));
  const Ir nan = f.compare("fcmp uno", x, x);
  const Ir chosen = f.select(nan, f.binary("or", high, k(0x40)), rounded);
  return f.cast("trunc", chosen, x.type.with(Scalar::i16));
}

Ir f16_bits(Function& f, const Ir& x) {
  const Type word = x.type.with(Scalar::i32);
  const auto k = [&](int64_t value) { return integer(word, value); };
  const Ir bits = f.cast("bitcast", x, word), magnitude = f.binary("and", bits, k(0x7FFFFFFF));
  // Normal results: rebias the exponent by -112, round at bit 13; a carry into the exponent is right, up to infinity.
  const Ir odd = f.binary("and", f.binary("lshr", magnitude, k(13)), k(1));
  const Ir biased = f.binary("add", f.binary("add", magnitude, k(0xFFF - (int64_t(112) << 23))), odd);
  const Ir normal = f.binary("lshr", biased, k(13));
  // Denormal results: adding 1/2 rounds at 2^-24 and leaves the result's bits at the bottom.
  const Ir sum = f.binary("fadd", f.cast("bitcast", magnitude, x.type), number(x.type, 0.5));
  const Ir denormal = f.binary("sub", f.cast("bitcast", sum, word), k(0x3F000000));
  const Ir payload = f.binary("and", f.binary("lshr", magnitude, k(13)), k(0x3FF));
  const Ir nan = f.binary("or", payload, k(0x7E00));
  Ir r = f.select(f.compare("icmp ult", magnitude, k(0x38800000)), denormal, normal);
  r = f.select(f.compare("icmp ugt", magnitude, k(0x477FFFFF)), k(0x7C00), r);
  r = f.select(f.compare("icmp ugt", magnitude, k(0x7F800000)), nan, r);
  const Ir sign = f.binary("and", f.binary("lshr", bits, k(16)), k(0x8000));
  return f.cast("trunc", f.binary("or", r, sign), x.type.with(Scalar::i16));
}

Ir f16_value(Function& f, const Ir& half) {
  const Type word = half.type.with(Scalar::i32), number_type = half.type.with(Scalar::f32);
  const auto k = [&](int64_t value) { return integer(word, value); };
  const Ir bits = f.cast("zext", half, word), magnitude = f.binary("and", bits, k(0x7FFF));
  const Ir rebias = f.select(f.compare("icmp ugt", magnitude, k(0x7BFF)), k(224 << 23), k(112 << 23));
  const Ir normal = f.binary("add", f.binary("shl", magnitude, k(13)), rebias);
  const Ir quiet = f.select(f.compare("icmp ugt", magnitude, k(0x7C00)), k(0x400000), k(0));
  const Ir denormal = f.binary("fmul", f.cast("sitofp", magnitude, number_type), number(number_type, 0x1p-24));
  const Ir small = f.compare("icmp ult", magnitude, k(0x400)), tiny = f.cast("bitcast", denormal, word);
  const Ir r = f.select(small, tiny, f.binary("or", normal, quiet));
  const Ir sign = f.binary("shl", f.binary("and", bits, k(0x8000)), k(16));
  return f.cast("bitcast", f.binary("or", r, sign), number_type);
}

Ir bf16_value(Function& f, const Ir& bits) {
  const Type word = bits.type.with(Scalar::i32);
  const Ir high = f.binary("shl", f.cast("zext", bits, word), integer(word, 16));
  return f.cast("bitcast", high, bits.type.with(Scalar::f32));
}

}  // namespace

Ir round_to_narrow(Function& f, const Ir& x, DType narrow) {
  const std::string stem = fmt::format("to_{}", name(narrow));
  const Type type = memory_type(narrow, x.type.lanes);
  return helper(f, stem, type, {x}, [&](Function& inner, const std::vector<Ir>& p) {
    const Ir single = x.type.scalar == Scalar::f64 ? round_to_odd(inner, p[0]) : p[0];
    if (is_f8(narrow)) return f8_bits(inner, single, narrow);
    return narrow == DType::bf16 ? bf16_bits(inner, single) : f16_bits(inner, single);
  });
}

Ir widen_narrow(Function& f, const Ir& bits, DType narrow) {
  const std::string stem = fmt::format("from_{}", name(narrow));
  return helper(f, stem, bits.type.with(Scalar::f32), {bits}, [&](Function& inner, const std::vector<Ir>& p) {
    if (is_f8(narrow)) return f8_value(inner, p[0], narrow);
    return narrow == DType::bf16 ? bf16_value(inner, p[0]) : f16_value(inner, p[0]);
  });
}

namespace {

struct Words {
  Ir w[4];
};

// Ten rounds of Philox 4x32 on the counters. Words lie in i64 lanes with zeros above, so that a product is one
// instruction that multiplies the low halves.
Words philox_rounds(Function& f, const Ir& seed, const Ir& counter, const Ir& offset) {
  const int lanes = counter.type.lanes;
  const auto low = [&](const Ir& v) { return f.binary("and", v, integer(v.type, 0xFFFFFFFF)); };
  const auto high = [&](const Ir& v) { return f.binary("lshr", v, integer(v.type, 32)); };
  Words c{{low(counter), high(counter), f.splat(low(offset), lanes), f.splat(high(offset), lanes)}};
  Ir key0 = low(seed), key1 = high(seed);
  for (int round = 0; round < 10; ++round) {
    const Ir p0 = f.binary("mul", c.w[0], integer(counter.type, 0xD2511F53));
    const Ir p1 = f.binary("mul", c.w[2], integer(counter.type, 0xCD9E8D57));
    const Ir y0 = f.binary("xor", high(p1), c.w[1]), x0 = f.binary("xor", y0, f.splat(key0, lanes));
    const Ir y2 = f.binary("xor", high(p0), c.w[3]), x2 = f.binary("xor", y2, f.splat(key1, lanes));
    c = {{x0, low(p1), x2, low(p0)}};
    key0 = low(f.binary("add", key0, integer(key0.type, 0x9E3779B9)));
    key1 = low(f.binary("add", key1, integer(key1.type, 0xBB67AE85)));
  }
  for (Ir& word : c.w) word = f.cast("trunc", word, word.type.with(Scalar::i32));
  return c;
}

Ir uniform_of_word(Function& f, const Ir& word) {
  const Type type = word.type.with(Scalar::f32);
  const Ir bits = f.binary("lshr", word, integer(word.type, 8));
  return f.binary("fmul", f.cast("sitofp", bits, type), number(type, 0x1p-24));
}

Ir join(Function& f, const Ir& a, const Ir& b) {
  const int lanes = a.type.lanes;
  const Type type{a.type.scalar, 2 * lanes};
  if (lanes == 1) return f.insert(f.insert({type, "poison"}, a, 0), b, 1);
  return f.define(
      type, fmt::format("shufflevector {}, {}, {}", a.typed(), b.typed(), iota({Scalar::i32, 2 * lanes}).typed()));
}

// Lane 4k + w of the result is lane k of word w.
Ir interleave(Function& f, const Words& c) {
  const Ir first = join(f, c.w[0], c.w[1]), second = join(f, c.w[2], c.w[3]);
  const int counters = c.w[0].type.lanes;
  std::string mask;
  for (int lane = 0; lane < 4 * counters; ++lane) {
    mask += fmt::format("{}i32 {}", lane == 0 ? "" : ", ", lane % 4 * counters + lane / 4);
  }
  return f.define({Scalar::i32, 4 * counters}, fmt::format("shufflevector {}, {}, <{} x i32> <{}>", first.typed(),
                                                           second.typed(), 4 * counters, mask));
}

}  // namespace

Ir uniform(Function& f, const Ir& seed, const Ir& index, const Ir& offset) {
  const std::vector<Ir> operands{seed, index, offset};
  return helper(f, "uniform", index.type.with(Scalar::f32), operands, [&](Function& g, const std::vector<Ir>& p) {
    const Words c = philox_rounds(g, p[0], g.binary("lshr", p[1], integer(p[1].type, 2)), p[2]);
    const Ir which = g.binary("and", p[1], integer(p[1].type, 3));
    Ir word = c.w[0];
    for (int w = 1; w < 4; ++w) word = g.select(g.compare("icmp eq", which, integer(which.type, w)), c.w[w], word);
    return uniform_of_word(g, word);
  });
}

Ir uniform_run(Function& f, const Ir& seed, const Ir& first_index, const Ir& offset, int lanes) {
  const std::vector<Ir> operands{seed, first_index, offset};
  const std::string stem = fmt::format("uniform_run{}", lanes);
  return helper(f, stem, {Scalar::f32, lanes}, operands, [&](Function& g, const std::vector<Ir>& p) {
    const int counters = lanes / 4;
    const Ir first = g.splat(g.binary("lshr", p[1], integer(p[1].type, 2)), counters);
    const Ir counter = counters == 1 ? first : g.binary("add", first, iota({Scalar::i64, counters}));
    return uniform_of_word(g, interleave(g, philox_rounds(g, p[0], counter, p[2])));
  });
}

}  // namespace plait::codegen::llvm
