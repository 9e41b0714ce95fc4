// cp.async and its groups.
#include "sim/ptx/async_copies.h"

#include <cstring>

#include "base/error.h"
#include "sim/ptx/addresses.h"
#include "sim/ptx/decoder.h"
#include "sim/ptx/meter.h"
#include "sim/ptx/thread_block.h"

namespace plait::sim::ptx {

void AsyncCopies::begin() {
  if (count_ == 0) return;
  for (OfLane& each : lanes_) each = {};
  count_ = 0;
}

uint32_t AsyncCopies::add(AsyncCopy copy) {
  copy.number = ++count_;
  at(copy.warp, copy.lane).open.push_back(copy);
  return copy.number;
}

void AsyncCopies::commit(uint32_t warp, int lane) {
  OfLane& own = at(warp, lane);
  own.groups.push_back(std::move(own.open));
  own.open.clear();
}

const AsyncCopy* AsyncCopies::find(uint32_t number) const {
  const auto find_in = [&](const std::vector<AsyncCopy>& copies) -> const AsyncCopy* {
    const auto found = std::ranges::find(copies, number, &AsyncCopy::number);
    return found == copies.end() ? nullptr : &*found;
  };
  for (const OfLane& each : lanes_) {
    if (const AsyncCopy* copy = find_in(each.open)) return copy;
    for (const auto& group : each.groups)
      if (const AsyncCopy* copy = find_in(group)) return copy;
  }
  return nullptr;
}

std::vector<AsyncCopy> AsyncCopies::finish(uint32_t warp, int lane, uint32_t kept) {
  OfLane& own = at(warp, lane);
  std::vector<AsyncCopy> out;
  const size_t ended = own.groups.size() - std::min<size_t>(kept, own.groups.size());
  for (size_t i = 0; i < ended; ++i) out.insert(out.end(), own.groups[i].begin(), own.groups[i].end());
  own.groups.erase(own.groups.begin(), own.groups.begin() + static_cast<ptrdiff_t>(ended));
  return out;
}

namespace {

// Rows of an instruction: a, where to; b + c, where from; e, the bytes that are read; d, the predicate to read none.
void copy_lanes(Warp& warp, const Instruction& i) {
  SharedMemory& shared = warp.of->shared();
  uint64_t from[kLanes] = {};
  uint32_t reading = 0;
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint32_t asked = (warp.predicates[i.d] >> lane & 1) != 0 ? 0 : row32(warp, i.e)[lane];
    from[lane] = row64(warp, i.b)[lane] + row64(warp, i.c)[lane];
    reading |= static_cast<uint32_t>(asked != 0) << lane;
    if (asked > i.bytes)
      fail(warp, i, lane, kLaunchFailed, fmt::format("a copy of {} bytes that reads {}", i.bytes, asked));
    AsyncCopy copy{.by = &i, .warp = warp.number, .lane = lane, .bytes = i.bytes, .from = from[lane], .read = asked};
    const uint8_t* to = shared_bytes(warp, i, lane, address_at(warp, i, lane), true);
    copy.offset = static_cast<size_t>(to - shared.data());
    if (asked != 0) std::memcpy(copy.data.data(), device_source(warp, i, lane, {from[lane], asked}), asked);
    shared.set_in_flight(copy.offset, copy.bytes, warp.of->copies().add(copy));
  }
  if (warp.run->meter == nullptr) return;
  count_access(warp, i, Where::shared, true);
  if (reading != 0) warp.run->meter->device(from, reading, i.bytes, false);
}

void commit_lanes(Warp& warp, const Instruction& i) {
  (void)i;
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1)
    warp.of->copies().commit(warp.number, std::countr_zero(rest));
}

// Both ends are entered once more: who touches them after the copy began is not ordered before its end.
void finish_copy(Warp& warp, const AsyncCopy& copy) {
  const Instruction& by = *copy.by;
  if (copy.read != 0) {
    const uint8_t* now = device_source(warp, by, copy.lane, {copy.from, copy.read});
    if (std::memcmp(now, copy.data.data(), copy.read) != 0)
      fail(warp, by, copy.lane, kLaunchFailed,
           fmt::format("in flight: {} bytes at {} changed while a copy read them", copy.read,
                       warp.run->space->describe(copy.from)));
  }
  warp.of->shared().set_in_flight(copy.offset, copy.bytes, 0);
  std::memcpy(shared_bytes(warp, by, copy.lane, copy.offset, true), copy.data.data(), copy.bytes);
}

void wait_lanes(Warp& warp, const Instruction& i) {
  AsyncCopies& copies = warp.of->copies();
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (i.count != 0) copies.commit(warp.number, lane);
    for (const AsyncCopy& each : copies.finish(warp.number, lane, static_cast<uint32_t>(i.immediate)))
      finish_copy(warp, each);
  }
}

// wait_all is commit_group and wait_group 0.
void decode_wait(Decoder& d, bool all) {
  d.need_operands(all ? 0 : 1);
  if (!all && d.operand(0).kind != Operand::Kind::integer) d.refuse("a number of groups that is no literal");
  Instruction& added = d.emit(wait_lanes);
  added.immediate = all ? 0 : static_cast<int64_t>(d.operand(0).bits);
  added.count = all ? 1 : 0;
}

}  // namespace

void decode_copy(Decoder& d) {
  if (!d.take("async")) d.refuse("a copy that is not .async");
  d.need_target(80);
  d.has_copies();
  if (d.take("commit_group")) {
    d.need_operands(0);
    d.emit(commit_lanes);
    return;
  }
  if (d.take("wait_all")) return decode_wait(d, true);
  if (d.take("wait_group")) return decode_wait(d, false);
  const int cached = d.take_one({"ca", "cg"});
  const bool to_shared = d.take("shared") || d.take("shared::cta");
  if (cached < 0 || !to_shared || !d.take("global")) d.refuse("a copy of this form");
  d.skip({"L2::64B", "L2::128B", "L2::256B"});
  d.need_operands(3, 4);
  const Operand& size = d.operand(2);
  const bool wide = size.bits == 16, narrow = size.bits == 4 || size.bits == 8;
  if (size.kind != Operand::Kind::integer || !(wide || (narrow && cached == 0)))
    d.refuse("a copy of a number of bytes that is none of 4, 8, 16, or of less than 16 by .cg");
  const Address to = address_of(d, d.operand(0), Space::shared, size.bits);
  const Address from = address_of(d, d.operand(1), Space::global, size.bits);
  const bool fourth = d.operand_count() == 4, ignores = fourth && d.is_predicate(d.operand(3));
  const uint32_t read = fourth && !ignores ? d.source(3, Type::u32) : d.constant(size.bits, false);
  const uint32_t offset = d.constant(static_cast<uint64_t>(from.offset), true);
  Instruction& added = d.emit(copy_lanes);
  place_access(added, to, 1, static_cast<int>(size.bits), {.space = Space::shared});
  added.b = from.row;
  added.c = offset;
  added.e = read;
  added.d = ignores ? d.predicate(d.operand(3)) : kFalse;
}

}  // namespace plait::sim::ptx
