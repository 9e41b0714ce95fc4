// Loads and stores.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "sim/ptx/addresses.h"
#include "sim/ptx/decoder.h"
#include "sim/ptx/lanes.h"

namespace plait::sim::ptx {
namespace {

// ---- Elements between memory and registers.

// T: as in memory; R: the register's word.
template <class T, class R>
void load_element(R* out, const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  if constexpr (sizeof(T) == 1 || sizeof(R) > sizeof(T))
    *out = static_cast<R>(value);  // extended by its sign, or by zeros
  else
    *out = std::bit_cast<R>(value);
}

template <class T>
void store_element(uint8_t* to, Slot<T> value) {
  const T narrow = static_cast<T>(value);
  std::memcpy(to, &narrow, sizeof(T));
}

// Registers of 16 bits keep the upper half of their word zero.
enum Width : uint8_t { half, single, wide };

template <class T, Width kWidth>
void load_lane(Warp& warp, const Instruction& i, int lane, const uint8_t* from) {
  const uint32_t* rows = warp.run->program->rows.data() + i.target;
  for (int k = 0; k < i.count; ++k, from += sizeof(T)) {
    if constexpr (kWidth == wide) {
      load_element<T>(row64(warp, rows[k]) + lane, from);
    } else if constexpr (sizeof(T) <= 4) {
      uint32_t* out = row32(warp, rows[k]) + lane;
      load_element<T>(out, from);
      if constexpr (kWidth == half) *out &= 0xffff;
    }
  }
}

template <class T, Width kWidth>
void store_lane(Warp& warp, const Instruction& i, int lane, uint8_t* to) {
  const uint32_t* rows = warp.run->program->rows.data() + i.target;
  for (int k = 0; k < i.count; ++k, to += sizeof(T)) {
    const uint64_t value = kWidth == wide ? row64(warp, rows[k])[lane] : row32(warp, rows[k])[lane];
    store_element<T>(to, static_cast<Slot<T>>(value));
  }
}

template <class T, Width kWidth, Where kWhere>
void load_lanes(Warp& warp, const Instruction& i) {
  access_lanes<kWhere, false>(warp, i,
                              [&](int lane, const uint8_t* from) { load_lane<T, kWidth>(warp, i, lane, from); });
}

template <class T, Width kWidth, Where kWhere>
void store_lanes(Warp& warp, const Instruction& i) {
  access_lanes<kWhere, true>(warp, i, [&](int lane, uint8_t* to) { store_lane<T, kWidth>(warp, i, lane, to); });
}

template <class T, Width kWidth>
void load_parameter(Warp& warp, const Instruction& i) {
  const int first = std::countr_zero(warp.exec);
  load_lane<T, kWidth>(warp, i, first, warp.run->launch->parameters.data() + i.immediate);
  for (int k = 0; k < i.count; ++k) {  // the same for all
    const uint32_t to = warp.run->program->rows[i.target + static_cast<uint32_t>(k)];
    if constexpr (kWidth == wide)
      for_lanes(warp, row64(warp, to), [value = row64(warp, to)[first]](int) { return value; });
    else
      for_lanes(warp, row32(warp, to), [value = row32(warp, to)[first]](int) { return value; });
  }
}

// ---- Decoding.

// fn(T{}) of the type in memory.
template <class Fn>
Handler for_memory(Type type, Fn fn) {
  switch (type) {
    case Type::s8:
      return fn(int8_t());
    case Type::b8:
    case Type::u8:
      return fn(uint8_t());
    case Type::s16:
      return fn(int16_t());
    case Type::s32:
      return fn(int32_t());
    case Type::pred:
      return nullptr;
    default:
      return for_bits(type, fn);
  }
}

template <class Fn>
Handler for_width(int bits, Fn fn) {
  return bits == 64   ? fn(std::integral_constant<Width, wide>())
         : bits == 32 ? fn(std::integral_constant<Width, single>())
                      : fn(std::integral_constant<Width, half>());
}

Handler load_handler(Type type, int register_bits, Space space) {
  return for_memory(type, [&]<class T>(T) {
    return for_width(register_bits, [&](auto width) -> Handler {
      constexpr Width w = decltype(width)::value;
      if (space == Space::param) return load_parameter<T, w>;
      if (space == Space::local) return load_lanes<T, w, Where::local>;
      if (space == Space::shared) return load_lanes<T, w, Where::shared>;
      if (space == Space::generic) return load_lanes<T, w, Where::generic>;
      return load_lanes<T, w, Where::device>;
    });
  });
}

Handler store_handler(Type type, int register_bits, Space space) {
  return for_memory(type, [&]<class T>(T) {
    return for_width(register_bits, [&](auto width) -> Handler {
      constexpr Width w = decltype(width)::value;
      if (space == Space::local) return store_lanes<T, w, Where::local>;
      if (space == Space::shared) return store_lanes<T, w, Where::shared>;
      if (space == Space::generic) return store_lanes<T, w, Where::generic>;
      return store_lanes<T, w, Where::device>;
    });
  });
}

// The number of elements; takes hints too.
int take_vector(Decoder& d) {
  d.skip({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  while (d.takes_prefix("L1::") || d.takes_prefix("L2::")) {}
  const int vector = d.take_one({"v2", "v4", "v8"});
  return vector < 0 ? 1 : 2 << vector;
}

void decode_access(Decoder& d, bool store) {
  const AccessWords words = take_access_words(d);
  const Space space = words.space;
  const bool constant = d.take("nc");
  const int count = take_vector(d);
  const Type type = d.take_type();
  d.need_operands(2);
  if (store && (space == Space::param || space == Space::constant)) d.refuse("a store to a space that is only read");
  const Operand& data = d.operand(store ? 1 : 0);
  const std::vector<Operand> elements = count > 1 ? data.elements : std::vector<Operand>{data};
  if (elements.size() != static_cast<size_t>(count)) d.refuse("a vector of another length");
  const int bytes = bits_of(type) / 8;
  if (count * bytes > 32) d.refuse("an access of more than 32 bytes");
  std::vector<uint32_t> rows;
  int bits = 0;
  for (const Operand& each : elements) {
    rows.push_back(store ? d.source(each, type, true) : d.target(each, type, true));
    bits = std::max(bits, d.register_bits(each));
  }
  if (bits == 0) bits = std::max(16, bits_of(type));  // only literals, or only sinks
  for (const Operand& each : elements)
    if (d.register_bits(each) != 0 && d.register_bits(each) != bits) d.refuse("a vector of different registers");
  const Address address =
      address_of(d, d.operand(store ? 0 : 1), space, static_cast<size_t>(count) * static_cast<size_t>(bytes));
  const uint32_t first = d.rows(rows);
  Instruction& added = d.emit(store ? store_handler(type, bits, space) : load_handler(type, bits, space));
  place_access(added, address, count, bytes, words);
  added.constant = constant ? 1 : 0;
  added.target = first;
  if (words.strong) d.warps_wait();
  if (words.strong && !store && (space == Space::global || space == Space::generic)) d.blocks_wait();
}

}  // namespace

void decode_load(Decoder& d) { decode_access(d, false); }
void decode_store(Decoder& d) { decode_access(d, true); }

}  // namespace plait::sim::ptx
