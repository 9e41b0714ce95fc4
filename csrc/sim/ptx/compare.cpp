// Comparison and selection.
#include <cmath>

#include "sim/ptx/decoder.h"
#include "sim/ptx/lanes.h"
#include "sim/ptx/numbers.h"

namespace plait::sim::ptx {
namespace {

enum class Compare : uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

// The plain ones are false with a NaN, those with u are true.
template <class T>
bool compare(Compare how, T a, T b) {
  bool unordered = false;
  if constexpr (std::is_floating_point_v<T>) unordered = std::isnan(a) || std::isnan(b);
  switch (how) {
    case Compare::eq:
      return a == b;
    case Compare::ne:
      return a != b && !unordered;
    case Compare::lt:
      return a < b;
    case Compare::le:
      return a <= b;
    case Compare::gt:
      return a > b;
    case Compare::ge:
      return a >= b;
    case Compare::equ:
      return a == b || unordered;
    case Compare::neu:
      return a != b || unordered;
    case Compare::ltu:
      return a < b || unordered;
    case Compare::leu:
      return a <= b || unordered;
    case Compare::gtu:
      return a > b || unordered;
    case Compare::geu:
      return a >= b || unordered;
    case Compare::num:
      return !unordered;
    case Compare::nan:
      return unordered;
  }
  return false;
}

enum class Combine : uint8_t { none, and_, or_, xor_ };

uint32_t combined(Combine how, uint32_t mask, uint32_t other) {
  switch (how) {
    case Combine::none:
      return mask;
    case Combine::and_:
      return mask & other;
    case Combine::or_:
      return mask | other;
    case Combine::xor_:
      return mask ^ other;
  }
  return mask;
}

// immediate: bits 0-7 the Combine, bit 8 negates the predicate c. d: p, e: q.
void store_predicates(Warp& warp, const Instruction& i, uint32_t mask) {
  const Combine how = static_cast<Combine>(i.immediate & 255);
  const uint32_t other = warp.predicates[i.c] ^ ((i.immediate & 256) != 0 ? ~0u : 0u);
  const uint32_t p = combined(how, mask, other), q = combined(how, ~mask, other);
  set_predicate(warp, i.d, p);
  if (i.e != kNowhere) set_predicate(warp, i.e, q);
}

template <class T, Compare kHow, bool kFtz>
void setp_lanes(Warp& warp, const Instruction& i) {
  const auto* a = row<T>(warp, i.a);
  const auto* b = row<T>(warp, i.b);
  const auto value = [](Slot<T> slot) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>)
      return flushed<kFtz>(widened(from_slot<T>(slot)));
    else if constexpr (std::is_same_v<T, float>)
      return flushed<kFtz>(from_slot<T>(slot));
    else
      return from_slot<T>(slot);
  };
  store_predicates(warp, i, mask_of([&](int lane) { return compare(kHow, value(a[lane]), value(b[lane])); }));
}

template <class T, bool kFtz>
Handler setp_of(Compare how) {
  using enum Compare;
  switch (how) {
    case eq:
      return setp_lanes<T, eq, kFtz>;
    case ne:
      return setp_lanes<T, ne, kFtz>;
    case lt:
      return setp_lanes<T, lt, kFtz>;
    case le:
      return setp_lanes<T, le, kFtz>;
    case gt:
      return setp_lanes<T, gt, kFtz>;
    case ge:
      return setp_lanes<T, ge, kFtz>;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    return nullptr;
  } else {
    switch (how) {
      case equ:
        return setp_lanes<T, equ, kFtz>;
      case neu:
        return setp_lanes<T, neu, kFtz>;
      case ltu:
        return setp_lanes<T, ltu, kFtz>;
      case leu:
        return setp_lanes<T, leu, kFtz>;
      case gtu:
        return setp_lanes<T, gtu, kFtz>;
      case geu:
        return setp_lanes<T, geu, kFtz>;
      case num:
        return setp_lanes<T, num, kFtz>;
      default:
        return setp_lanes<T, nan, kFtz>;
    }
  }
}

Handler setp_handler(Type type, Compare how, bool ftz) {
  if (is_integer(type))
    return ftz ? nullptr : for_integer(type, [&]<class T>(T) -> Handler { return setp_of<T, false>(how); });
  if (type == Type::f64) return ftz ? nullptr : setp_of<double, false>(how);
  if (type == Type::f32) return ftz ? setp_of<float, true>(how) : setp_of<float, false>(how);
  if (type == Type::f16) return ftz ? nullptr : setp_of<Half, false>(how);
  if (type == Type::bf16) return ftz ? nullptr : setp_of<Bfloat, false>(how);
  return nullptr;
}

template <class T>
void selp_lanes(Warp& warp, const Instruction& i) {
  const Slot<T>*a = row<T>(warp, i.a), *b = row<T>(warp, i.b);
  const uint32_t mask = warp.predicates[i.c] ^ static_cast<uint32_t>(i.immediate);
  for_lanes(warp, row<T>(warp, i.d), [=](int lane) { return (mask >> lane & 1) != 0 ? a[lane] : b[lane]; });
}

template <class T>
bool has_property(int property, T x) {
  switch (property) {
    case 0:
      return std::isfinite(x);
    case 1:
      return std::isinf(x);
    case 2:
      return !std::isnan(x);
    case 3:
      return std::isnan(x);
    case 4:
      return std::fpclassify(x) == FP_NORMAL;
    default:
      return std::fpclassify(x) == FP_SUBNORMAL;
  }
}

template <class T>
void testp_lanes(Warp& warp, const Instruction& i) {
  const auto* a = row<T>(warp, i.a);
  const int property = static_cast<int>(i.immediate);
  set_predicate(warp, i.d, mask_of([&](int lane) { return has_property(property, from_slot<T>(a[lane])); }));
}

}  // namespace

void decode_setp(Decoder& d) {
  int how = d.take_one({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  const bool ftz = d.take("ftz");
  const int combine = d.take_one({"and", "or", "xor"}) + 1;
  if (how < 0) {
    const int of_unsigned = d.take_one({"lo", "ls", "hi", "hs"});
    if (of_unsigned < 0) d.refuse("an unknown comparison");
    how = static_cast<int>(Compare::lt) + of_unsigned;
  }
  const Type type = d.take_type();
  if (class_of(type) == TypeClass::bits && how > 1) d.refuse("untyped bits have no order");
  d.need_operands(combine == 0 ? 3 : 4);
  const bool two = d.operand(0).kind == Operand::Kind::predicates;
  const uint32_t p = d.predicate_target(two ? d.operand(0).elements[0] : d.operand(0));
  const uint32_t q = two ? d.predicate_target(d.operand(0).elements[1]) : kNowhere;
  const uint32_t other = combine == 0 ? kTrue : d.predicate(d.operand(3));
  Instruction& added =
      d.emit(setp_handler(type, static_cast<Compare>(how), ftz), p, d.source(1, type), d.source(2, type), other);
  added.e = q;
  added.immediate = combine | (combine != 0 && d.operand(3).negated ? 256 : 0);
}

void decode_selp(Decoder& d) {
  const Type type = d.take_type();
  d.need_operands(4);
  const Handler handler = for_bits(type, []<class T>(T) -> Handler { return selp_lanes<T>; });
  d.emit(handler, d.target(0, type), d.source(1, type), d.source(2, type), d.predicate(d.operand(3))).immediate =
      d.operand(3).negated ? 0xffffffff : 0;
}

void decode_testp(Decoder& d) {
  const int property = d.take_one({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (property < 0) d.refuse("an unknown property");
  const Type type = d.take_type();
  d.need_operands(2);
  d.emit(type == Type::f32   ? Handler(testp_lanes<float>)
         : type == Type::f64 ? Handler(testp_lanes<double>)
                             : nullptr,
         d.predicate_target(d.operand(0)), d.source(1, type))
      .immediate = property;
}

}  // namespace plait::sim::ptx
