// Loads, stores and atomics.
#include <algorithm>
#include <cstring>

#include "base/error.h"
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

// ---- Device memory.

// Lanes [first, last) of those that execute, at adjacent addresses or all at one.
struct Stretch {
  uint64_t address;
  size_t bytes;
};

[[noreturn]] void refuse_lane(Warp& warp, const Instruction& i, int lane, const Misuse& misuse) {
  fail(warp, i, lane, misuse.code, misuse.text);
}

Region* reach(Warp& warp, const Instruction& i, const Stretch& at, bool write, Misuse* misuse) {
  const Run& run = *warp.run;
  Region*& known = warp.regions[i.statement % warp.regions.size()];
  if (known != nullptr && known->contains(at.address, at.bytes)) return known;
  Region* region = run.space->reach(*run.actor, at.address, at.bytes, write, misuse);
  if (region != nullptr) known = region;
  return region;
}

// Checks one lane alone: the first that is in the wrong is named.
void check_lane(Warp& warp, const Instruction& i, int lane, uint64_t address, bool write) {
  const Run& run = *warp.run;
  const size_t bytes = size_t(i.count) * i.bytes;
  Misuse misuse;
  if (address % bytes != 0) {
    misuse = {kMisalignedAddress, address,
              fmt::format("misaligned: {} {} bytes at {}, which is no multiple of {}", write ? "writes" : "reads",
                          bytes, run.space->describe(address), bytes)};
  } else if (Region* region = reach(warp, i, {address, bytes}, write, &misuse)) {
    misuse = run.space->enter(*run.actor, *region, address, bytes, write);
  }
  if (misuse) refuse_lane(warp, i, lane, misuse);
}

// Checks a stretch and enters it; where something is wrong, lane by lane. Returns its bytes.
uint8_t* check_stretch(Warp& warp, const Instruction& i, const Stretch& at, uint32_t lanes, bool write) {
  Misuse misuse;
  const Run& run = *warp.run;
  Region* region = reach(warp, i, at, write, &misuse);
  if (region != nullptr) {
    misuse = run.space->enter(*run.actor, *region, at.address, at.bytes, write);
    if (!misuse) return region->data + (at.address - region->address);
  }
  const uint64_t* base = row64(warp, i.a);
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    check_lane(warp, i, lane, base[lane] + static_cast<uint64_t>(i.immediate), write);
  }
  refuse_lane(warp, i, -1, misuse);
}

// access(lane, bytes) for every executing lane, in order, after the checks of its stretch.
template <bool kWrite, class Access>
void device_lanes(Warp& warp, const Instruction& i, uint32_t lanes, Access access) {
  const size_t bytes = size_t(i.count) * i.bytes;
  const uint64_t* base = row64(warp, i.a);
  uint64_t at[kLanes];
  uint64_t low_bits = 0;
  for (int lane = 0; lane < kLanes; ++lane) at[lane] = base[lane] + static_cast<uint64_t>(i.immediate);
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) low_bits |= at[std::countr_zero(rest)];
  if ((low_bits & (bytes - 1)) != 0) {
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
      check_lane(warp, i, std::countr_zero(rest), at[std::countr_zero(rest)], kWrite);
  }
  for (uint32_t rest = lanes; rest != 0;) {
    const uint64_t first = at[std::countr_zero(rest)];
    Stretch stretch{first, bytes};
    uint32_t members = 0;
    for (; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const uint64_t offset = at[lane] - first;
      if (offset != stretch.bytes && offset != stretch.bytes - bytes) break;
      stretch.bytes = offset + bytes;
      members |= 1u << lane;
    }
    uint8_t* data = check_stretch(warp, i, stretch, members, kWrite);
    for (; members != 0; members &= members - 1) {
      const int lane = std::countr_zero(members);
      access(lane, data + (at[lane] - first));
    }
  }
}

// ---- Local memory: bytes of each lane, one lane's after the other's.

template <bool kWrite, class Access>
void local_lanes(Warp& warp, const Instruction& i, uint32_t lanes, uint64_t window, Access access) {
  const size_t bytes = size_t(i.count) * i.bytes, size = warp.run->kernel->info.local_bytes;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t offset = row64(warp, i.a)[lane] + static_cast<uint64_t>(i.immediate) - window;
    const char* verb = kWrite ? "writes" : "reads";
    if (offset > size || bytes > size - offset)
      fail(warp, i, lane, kIllegalAddress,
           fmt::format("out of bounds: {} {} bytes at offset {} of {} bytes of local memory", verb, bytes,
                       static_cast<int64_t>(offset), size));
    if (offset % bytes != 0)
      fail(warp, i, lane, kMisalignedAddress,
           fmt::format("misaligned: {} {} bytes at offset {} of local memory", verb, bytes, offset));
    const size_t at = static_cast<size_t>(lane) * size + offset;
    for (size_t k = 0; k < bytes; ++k) {
      if (!kWrite && warp.local_written[at + k] == 0)
        fail(warp, i, lane, kLaunchFailed,
             fmt::format("uninitialised: reads {} bytes at offset {} of local memory, of which the byte at {} was "
                         "never written",
                         bytes, offset, offset + k));
      if (kWrite) warp.local_written[at + k] = 1;
    }
    access(lane, warp.local + at);
  }
}

enum class Where : uint8_t { device, local, generic };

template <Where kWhere, bool kWrite, class Access>
void access_lanes(Warp& warp, const Instruction& i, Access access) {
  if constexpr (kWhere == Where::device) {
    device_lanes<kWrite>(warp, i, warp.exec, access);
  } else if constexpr (kWhere == Where::local) {
    local_lanes<kWrite>(warp, i, warp.exec, 0, access);
  } else {
    uint32_t local = 0;
    for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const uint64_t at = row64(warp, i.a)[lane] + static_cast<uint64_t>(i.immediate);
      if (at >> 56 == kLocalWindow >> 56) local |= 1u << lane;
    }
    if (local != 0) local_lanes<kWrite>(warp, i, local, kLocalWindow, access);
    if (warp.exec != local) device_lanes<kWrite>(warp, i, warp.exec & ~local, access);
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

// ---- Atomics: lanes one after the other. The value before goes to a register where `count` says so.

template <bool kResult>
void atomic_min(Warp& warp, const Instruction& i) {
  device_lanes<false>(warp, i, warp.exec, [](int, const uint8_t*) {});
  device_lanes<true>(warp, i, warp.exec, [&](int lane, uint8_t* at) {
    uint64_t before;
    std::memcpy(&before, at, sizeof before);
    const uint64_t after = std::min(before, row64(warp, i.b)[lane]);
    std::memcpy(at, &after, sizeof after);
    if constexpr (kResult) row64(warp, i.d)[lane] = before;
  });
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
      if (space == Space::generic) return store_lanes<T, w, Where::generic>;
      return store_lanes<T, w, Where::device>;
    });
  });
}

// Modifiers that do not change what one thread sees; the state space; the number of elements.
Space take_access(Decoder& d, uint8_t* count) {
  if (d.takes_prefix("shared")) d.refuse("shared memory is not modelled");
  const int space = d.take_one({"param", "global", "const", "local"});
  d.skip(
      {"weak", "volatile", "relaxed", "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "cta", "cluster", "gpu", "sys"});
  while (d.takes_prefix("L1::") || d.takes_prefix("L2::")) {}
  const int vector = d.take_one({"v2", "v4", "v8"});
  *count = static_cast<uint8_t>(vector < 0 ? 1 : 2 << vector);
  constexpr Space spaces[] = {Space::param, Space::global, Space::constant, Space::local};
  return space < 0 ? Space::generic : spaces[space];
}

// Row of the base address; its offset goes to `offset`. Parameters have no row.
uint32_t address_of(Decoder& d, const Operand& operand, Space space, size_t bytes, int64_t* offset) {
  if (operand.kind != Operand::Kind::address || operand.elements.empty()) d.refuse("an address of this form");
  const Operand& base = operand.elements[0];
  *offset = operand.offset;
  if (base.kind == Operand::Kind::reg) {
    if (space == Space::param) d.refuse("a parameter's address in a register");
    return d.source(base, Type::u64);
  }
  if (const int global = d.global(base.name); global >= 0 && (space == Space::global || space == Space::constant)) {
    FixedRow row;
    row.kind = FixedRow::Kind::global;
    row.wide = true;
    row.global = global;
    return d.fixed(row);
  }
  const Variable* variable = d.variable(base.name);
  if (variable == nullptr || variable->space != space) d.refuse(fmt::format("no variable {} in this space", base.name));
  if (operand.offset < 0 || static_cast<size_t>(operand.offset) + bytes > variable->bytes)
    d.refuse(fmt::format("an access beyond {}", base.name));
  *offset += static_cast<int64_t>(variable->offset);
  return space == Space::param ? 0 : d.constant(0, true);
}

void decode_access(Decoder& d, bool store) {
  uint8_t count = 1;
  const Space space = take_access(d, &count);
  const Type type = d.take_type();
  d.need_operands(2);
  if (store && (space == Space::param || space == Space::constant)) d.refuse("a store to a space that is only read");
  const Operand& data = d.operand(store ? 1 : 0);
  const std::vector<Operand> elements = count > 1 ? data.elements : std::vector<Operand>{data};
  if (elements.size() != count) d.refuse("a vector of another length");
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
  int64_t offset = 0;
  const uint32_t address =
      address_of(d, d.operand(store ? 0 : 1), space, size_t(count) * static_cast<size_t>(bytes), &offset);
  const uint32_t first = d.rows(rows);
  Instruction& added = d.emit(store ? store_handler(type, bits, space) : load_handler(type, bits, space), 0, address);
  added.target = first;
  added.count = count;
  added.bytes = static_cast<uint8_t>(bytes);
  added.immediate = offset;
}

}  // namespace

void decode_load(Decoder& d) { decode_access(d, false); }
void decode_store(Decoder& d) { decode_access(d, true); }

void decode_atomic(Decoder& d) {
  const bool result = d.mnemonic() == "atom";
  if (!d.take("global")) d.refuse("an atomic elsewhere than in global memory");
  d.skip({"relaxed", "cta", "cluster", "gpu", "sys"});
  if (!d.take("min") || d.take_type() != Type::u64) d.refuse("an atomic that is not min.u64");
  d.need_operands(result ? 3 : 2);
  int64_t offset = 0;
  const uint32_t to = result ? d.target(0, Type::u64) : 0;
  const uint32_t address = address_of(d, d.operand(result ? 1 : 0), Space::global, 8, &offset);
  const uint32_t value = d.source(result ? 2 : 1, Type::u64);
  Instruction& added = d.emit(result ? atomic_min<true> : atomic_min<false>, to, address, value);
  added.count = 1;
  added.bytes = 8;
  added.immediate = offset;
}

}  // namespace plait::sim::ptx
