#pragma once
// Addresses of lanes: which memory they name, the checks of an access, and where its bytes are.
#include <bit>

#include "sim/ptx/decoder.h"
#include "sim/ptx/lanes.h"

namespace plait::sim::ptx {

// ---- Running. The bytes of an access are Instruction::count * bytes; each function enters it for one lane, or for
// lanes at adjacent addresses, and returns where the bytes are. Fault.

enum class Where : uint8_t { device, local, shared, generic };

// Lanes at adjacent addresses, or all at one.
struct Stretch {
  uint64_t address;
  size_t bytes;
};
uint8_t* device_bytes(Warp& warp, const Instruction& i, const Stretch& at, uint32_t lanes, bool write);
// Of one lane that reads, at an address of its own, which is a multiple of Instruction::bytes.
const uint8_t* device_source(Warp& warp, const Instruction& i, int lane, const Stretch& at);
// Names the first lane whose address is misaligned, freed, out of bounds ...
void check_device_lane(Warp& warp, const Instruction& i, int lane, uint64_t address, bool write);
uint8_t* local_bytes(Warp& warp, const Instruction& i, int lane, uint64_t offset, bool write);
// Of this block's shared memory or, where the instruction may reach it, of another one of the cluster.
uint8_t* shared_bytes(Warp& warp, const Instruction& i, int lane, uint64_t offset, bool write);
// The same of bytes whose address a lane gives and which other lanes read or write, `bytes` each.
struct SharedPieces {
  size_t bytes = 0;
  std::array<uint8_t, 8> lanes{};
};
uint8_t* shared_bytes(Warp& warp, const Instruction& i, int lane, uint64_t offset, bool write,
                      const SharedPieces& pieces);

inline uint64_t address_at(Warp& warp, const Instruction& i, int lane) {
  const uint64_t base = i.narrow != 0 ? row32(warp, i.a)[lane] : row64(warp, i.a)[lane];
  return base + static_cast<uint64_t>(i.immediate);
}

// access(lane, bytes) for every executing lane, in order, after the checks of its stretch.
template <bool kWrite, class Access>
void device_lanes(Warp& warp, const Instruction& i, uint32_t lanes, Access access) {
  const size_t bytes = size_t(i.count) * i.bytes;
  uint64_t at[kLanes];
  uint64_t low_bits = 0;
  for (int lane = 0; lane < kLanes; ++lane) at[lane] = address_at(warp, i, lane);
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) low_bits |= at[std::countr_zero(rest)];
  if ((low_bits & (bytes - 1)) != 0) {
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
      check_device_lane(warp, i, std::countr_zero(rest), at[std::countr_zero(rest)], kWrite);
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
    uint8_t* data = device_bytes(warp, i, stretch, members, kWrite);
    for (; members != 0; members &= members - 1) {
      const int lane = std::countr_zero(members);
      access(lane, data + (at[lane] - first));
    }
  }
}

// Enters the access into the launch's meter.
void count_access(Warp& warp, const Instruction& i, Where where, bool write);

template <Where kWhere, bool kWrite, class Access>
void access_lanes(Warp& warp, const Instruction& i, Access access) {
  if (warp.run->meter != nullptr) count_access(warp, i, kWhere, kWrite);
  if constexpr (kWhere == Where::device) {
    device_lanes<kWrite>(warp, i, warp.exec, access);
  } else if constexpr (kWhere == Where::generic) {
    uint32_t near = 0;  // local or shared
    for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const uint64_t at = address_at(warp, i, lane), window = at >> 56 << 56;
      if (window != kLocalWindow && window != kSharedWindow) continue;
      near |= 1u << lane;
      access(lane, window == kLocalWindow ? local_bytes(warp, i, lane, at - window, kWrite)
                                          : shared_bytes(warp, i, lane, at - window, kWrite));
    }
    if (warp.exec != near) device_lanes<kWrite>(warp, i, warp.exec & ~near, access);
  } else {
    for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const uint64_t at = address_at(warp, i, lane);
      access(lane,
             kWhere == Where::local ? local_bytes(warp, i, lane, at, kWrite) : shared_bytes(warp, i, lane, at, kWrite));
    }
  }
}

// ---- Decoding.

// Takes the state space and what says when others see an access: whether it is volatile, relaxed or more, and how far
// it is heard.
struct AccessWords {
  Space space = Space::generic;
  bool strong = false, acquires = false, releases = false, cluster = false;
  Scope scope = Scope::device;
};
std::optional<Scope> take_scope(Decoder& d);
AccessWords take_access_words(Decoder& d);
// Row of the base address, of 32 bits where `narrow`; its offset. Parameters have no row.
struct Address {
  uint32_t row = 0;
  bool narrow = false;
  int64_t offset = 0;
};
Address address_of(Decoder& d, const Operand& operand, Space space, size_t bytes);
// Sets what the lanes of an access need of it.
void place_access(Instruction& instruction, const Address& address, int count, int bytes, const AccessWords& words);

}  // namespace plait::sim::ptx
