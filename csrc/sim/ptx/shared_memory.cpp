#include "sim/ptx/shared_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace plait::sim::ptx {

namespace {

constexpr size_t kGranule = 4;

}  // namespace

SharedMemory::SharedMemory(size_t bytes)
    : bytes_(bytes), data_(bytes), written_(bytes), granules_((bytes + kGranule - 1) / kGranule) {}

void SharedMemory::begin(uint32_t block) {
  block_ = block;
  of_others_.clear();
  std::fill(written_.begin(), written_.end(), uint8_t(0));
  std::fill(in_flight_.begin(), in_flight_.end(), 0);
  more_.clear();
  ++blocks_;
}

uint32_t SharedMemory::in_flight(size_t offset, size_t bytes) const {
  if (in_flight_.empty()) return 0;
  for (size_t g = offset / kGranule; g <= (offset + bytes - 1) / kGranule; ++g)
    if (in_flight_[g] != 0) return in_flight_[g];
  return 0;
}

void SharedMemory::set_in_flight(size_t offset, size_t bytes, uint32_t copy) {
  in_flight_.resize(granules_.size());
  for (size_t g = offset / kGranule; g <= (offset + bytes - 1) / kGranule; ++g) in_flight_[g] = copy;
}

SharedMemory::Granule& SharedMemory::granule_at(size_t index) {
  Granule& granule = granules_[index];
  if (granule.block != blocks_) {
    granule = {};
    granule.block = blocks_;
  }
  return granule;
}

std::optional<size_t> SharedMemory::first_unwritten(size_t offset, size_t bytes) const {
  for (size_t i = offset; i < offset + bytes; ++i)
    if (written_[i] == 0) return i;
  return {};
}

namespace {

// Of the lanes of a mark one, other than that of the access, that is not ordered before it; -1: there is none.
template <class Mark>
int conflict(const Mark& mark, const Mark& access, const ThreadOrder& order) {
  if ((mark.bytes & access.bytes) == 0 || (mark.strong && access.strong) || !(mark.write || access.write)) return -1;
  const int lane = std::countr_zero(access.lanes);
  for (uint32_t rest = mark.lanes; rest != 0; rest &= rest - 1) {
    const int other = std::countr_zero(rest);
    if (mark.moment.block == access.moment.block && mark.moment.warp == access.moment.warp && other == lane) continue;
    if (!order.before(mark.moment, other, access.moment.warp, lane)) return other;
  }
  return -1;
}

template <class Mark>
bool same_but_lanes(const Mark& a, const Mark& b) {
  return a.moment == b.moment && a.bytes == b.bytes && a.strong == b.strong && a.write == b.write;
}

// Whether all that is ordered behind the access is ordered behind the mark too, so that it need not be known any more.
template <class Mark>
bool passed(const Mark& mark, const Mark& access, const ThreadOrder& order) {
  if (mark.write || (mark.bytes & ~access.bytes) != 0 || mark.strong != access.strong) return false;
  const int lane = std::countr_zero(access.lanes);
  for (uint32_t rest = mark.lanes; rest != 0; rest &= rest - 1)
    if (!order.before(mark.moment, std::countr_zero(rest), access.moment.warp, lane)) return false;
  return true;
}

}  // namespace

std::optional<Race> SharedMemory::check(const Granule& granule, const Mark& access, const ThreadOrder& order) const {
  const auto race = [&](const Mark& mark) -> std::optional<Race> {
    if (mark.lanes == 0) return {};
    const int lane = conflict(mark, access, order);
    if (lane < 0) return {};
    return Race{mark.moment.block, mark.moment.warp, lane, mark.statement, mark.write};
  };
  if (auto found = race(granule.written)) return found;
  if (access.write)
    if (auto found = race(granule.read)) return found;
  if (granule.more == 0) return {};
  for (const Mark& mark : more_[granule.more - 1])
    if (auto found = race(mark)) return found;
  return {};
}

std::vector<SharedMemory::Mark>& SharedMemory::more_of(Granule& granule) {
  if (granule.more == 0) {
    more_.emplace_back();
    granule.more = static_cast<uint32_t>(more_.size());
  }
  return more_[granule.more - 1];
}

void SharedMemory::add_read(Granule& granule, const Mark& access, const ThreadOrder& order) {
  if (granule.read.lanes != 0 && same_but_lanes(granule.read, access)) {
    granule.read.lanes |= access.lanes;
    return;
  }
  if (granule.more != 0) {
    std::vector<Mark>& more = more_[granule.more - 1];
    const auto at = std::ranges::find_if(more, [&](const Mark& mark) { return same_but_lanes(mark, access); });
    if (at != more.end()) {
      at->lanes |= access.lanes;
      return;
    }
    std::erase_if(more, [&](const Mark& mark) { return passed(mark, access, order); });
  }
  if (granule.read.lanes == 0 || passed(granule.read, access, order))
    granule.read = access;
  else
    more_of(granule).push_back(access);
}

// What is known of the bytes that are written is before the write, but for strong accesses that nothing orders; of
// other bytes it stays.
void SharedMemory::add_write(Granule& granule, const Mark& access, const ThreadOrder& order) {
  const auto beside = [&](const Mark& mark) {
    Mark plain = access;
    plain.strong = false;
    return mark.strong && access.strong && conflict(mark, plain, order) >= 0;
  };
  const auto left = [&](Mark& mark) {
    if (mark.lanes == 0 || (mark.moment.block == access.moment.block && mark.moment.epoch != access.moment.epoch))
      return false;
    if (!beside(mark)) mark.bytes &= static_cast<uint8_t>(~access.bytes);
    return mark.bytes != 0;
  };
  if (access.strong && granule.written.lanes != 0 && same_but_lanes(granule.written, access)) {
    granule.written.lanes |= access.lanes;
    return;
  }
  if (!left(granule.read)) granule.read.lanes = 0;
  if (granule.more != 0) std::erase_if(more_[granule.more - 1], [&](Mark& mark) { return !left(mark); });
  if (left(granule.written)) more_of(granule).push_back(granule.written);
  granule.written = access;
}

std::optional<Race> SharedMemory::enter(const SharedAccess& access, const ThreadOrder& order) {
  const size_t first = access.offset / kGranule, last = (access.offset + access.bytes - 1) / kGranule;
  Mark mark{.moment = order.now(access.warp),
            .lanes = uint32_t(1) << access.lane,
            .statement = access.statement,
            .write = access.write,
            .strong = access.strong};
  const auto bytes_in = [&](size_t granule) {
    const size_t begin = granule * kGranule, end = begin + kGranule;
    const size_t from = std::max(access.offset, begin) - begin;
    const size_t to = std::min(access.offset + access.bytes, end) - begin;
    return static_cast<uint8_t>((1u << to) - (1u << from));
  };
  for (size_t g = first; g <= last; ++g) {
    mark.bytes = bytes_in(g);
    if (auto found = check(granule_at(g), mark, order)) return found;
  }
  for (size_t g = first; g <= last; ++g) {
    mark.bytes = bytes_in(g);
    access.write ? add_write(granules_[g], mark, order) : add_read(granules_[g], mark, order);
  }
  if (mark.moment.block != block_)
    of_others_[{mark.moment.block, access.warp, static_cast<uint32_t>(access.lane)}] = {mark.moment, access.lane,
                                                                                        access.statement};
  if (access.write) std::memset(written_.data() + access.offset, 1, access.bytes);
  return {};
}

}  // namespace plait::sim::ptx
