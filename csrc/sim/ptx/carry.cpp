// Integer arithmetic of several words: sums with the carry of the one before, as a predicate of the warp.
#include "base/error.h"
#include "sim/ptx/decoder.h"
#include "sim/ptx/families.h"
#include "sim/ptx/lanes.h"

namespace plait::sim::ptx {
namespace {

constexpr int64_t kReads = 1, kWrites = 2;  // in Instruction::immediate

template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, unsigned __int128, uint64_t>;

template <class T>
T low_word(T a, T b) {
  return static_cast<T>(Wide<T>(a) * b);
}
template <class T>
T high_word(T a, T b) {
  return static_cast<T>((Wide<T>(a) * b) >> (8 * sizeof(T)));
}

// term(lane) +- carry, to row d; the new carry is what does not fit. `other` is added to or taken from `first`.
template <class T, bool kAdds, class First, class Other>
void with_carry(Warp& warp, const Instruction& i, First first, Other other) {
  auto* out = row<T>(warp, i.d);
  const uint32_t carries = i.immediate & kReads ? warp.predicates[kCarry] : 0;
  uint32_t over = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((warp.exec >> lane & 1) == 0) continue;
    const T a = first(lane), b = other(lane), carry = carries >> lane & 1;
    const Wide<T> sum = kAdds ? Wide<T>(a) + b + carry : Wide<T>(a) - b - carry;
    out[lane] = static_cast<T>(sum);
    if ((sum >> (8 * sizeof(T)) & 1) != 0) over |= 1u << lane;
  }
  if (i.immediate & kWrites) set_predicate(warp, kCarry, over);
}

template <class T, bool kAdds>
void sums(Warp& warp, const Instruction& i) {
  const auto *a = row<T>(warp, i.a), *b = row<T>(warp, i.b);
  with_carry<T, kAdds>(warp, i, [=](int lane) { return a[lane]; }, [=](int lane) { return b[lane]; });
}

template <class T, auto kProduct>
void products(Warp& warp, const Instruction& i) {
  const auto *a = row<T>(warp, i.a), *b = row<T>(warp, i.b), *c = row<T>(warp, i.c);
  with_carry<T, true>(warp, i, [=](int lane) { return kProduct(a[lane], b[lane]); }, [=](int lane) { return c[lane]; });
}

template <class T>
Handler handler_of(std::string_view mnemonic, int part) {
  if (mnemonic.substr(0, 3) == "add") return sums<T, true>;
  if (mnemonic.substr(0, 3) == "sub") return sums<T, false>;
  return part == 0 ? products<T, low_word<T>> : products<T, high_word<T>>;
}

}  // namespace

void decode_carried(Decoder& d, Type type, bool writes) {
  const std::string_view mnemonic = d.mnemonic();
  const bool reads = mnemonic.back() == 'c', multiplies = mnemonic.substr(0, 3) == "mad";
  const int part = multiplies ? d.take_one({"lo", "hi"}) : 0;
  if (part < 0) d.refuse("neither .lo nor .hi");
  if (part == 1 && (type == Type::s32 || type == Type::s64)) d.refuse("a signed product with a carry");
  d.need_operands(multiplies ? 4 : 3);
  const bool modelled = is_integer(type) && class_of(type) != TypeClass::bits && bits_of(type) >= 32;
  const Handler handler =
      bits_of(type) == 64 ? handler_of<uint64_t>(mnemonic, part) : handler_of<uint32_t>(mnemonic, part);
  Instruction& added = d.emit(modelled ? handler : nullptr, d.target(0, type), d.source(1, type), d.source(2, type),
                              multiplies ? d.source(3, type) : 0);
  added.immediate = (reads ? kReads : 0) | (writes ? kWrites : 0);
}

void decode_carry(Decoder& d) {
  const bool writes = d.take("cc");
  decode_carried(d, d.take_type(), writes);
}

}  // namespace plait::sim::ptx
