#include "sim/ptx/launch_memory.h"

#include <algorithm>

namespace plait::sim::ptx {

LaunchMemory::Page* LaunchMemory::page_at(uint64_t number, bool make) {
  if (number == last_number_ && (last_ != nullptr || !make)) return last_;
  const auto found = pages_.find(number);
  Page* page = found == pages_.end() ? nullptr : found->second.get();
  if (page == nullptr && make) page = (pages_[number] = std::make_unique<Page>()).get();
  last_number_ = number;
  return last_ = page;
}

// Whether both meet bytes in common and nothing orders the mark before the access.
bool LaunchMemory::conflicts(const Mark& mark, const Mark& access, const ThreadOrder& order) {
  if (mark.moment.epoch == 0 || (mark.bytes & access.bytes) == 0 || (mark.strong && access.strong)) return false;
  return !order.before(mark.moment, mark.lane, access.moment.warp, access.lane);
}

Race LaunchMemory::race(const Mark& mark, bool write) {
  return {mark.moment.block, mark.moment.warp, mark.lane, mark.statement, write};
}

std::optional<Race> LaunchMemory::check(const Page& page, size_t granule, const Mark& access, bool write,
                                        const ThreadOrder& order) const {
  if (conflicts(page.writes[granule], access, order)) return race(page.writes[granule], true);
  if (!write || page.reads.empty()) return {};
  for (const Mark& mark : page.reads[granule].marks)
    if (conflicts(mark, access, order)) return race(mark, false);
  return {};
}

// In the place of a read that is ordered before it, or of the same thread; else beside one.
void LaunchMemory::add_read(Reads& reads, const Mark& access, const ThreadOrder& order) const {
  for (Mark& mark : reads.marks) {
    Mark whole = access;
    whole.bytes = 0xf;
    whole.strong = false;
    if (mark.moment.epoch != 0 && conflicts(mark, whole, order)) continue;
    mark = access;
    return;
  }
}

// A strong read takes over what was given by the writes that led to its value; a strong write gives.
void LaunchMemory::hand_over(const DeviceAccess& access, ThreadOrder& order) {
  if (access.update && !access.write) return;  // with its write
  std::shared_ptr<History>& history = histories_[access.address];
  if (!access.write || access.update) {
    if (history != nullptr && !history->empty())
      order.read(access.warp, access.lane, {history, history->size(), access.scope}, access.acquires);
    if (!access.write) return;
  }
  if (!access.update || history == nullptr) history = std::make_shared<History>();
  order.give(access.warp, access.lane, access.scope, access.releases, *history);
}

std::optional<Race> LaunchMemory::enter(const DeviceAccess& access, ThreadOrder& order) {
  const uint64_t first = access.address / kGranule, last = (access.address + access.bytes - 1) / kGranule;
  Mark mark;
  mark.moment = order.now(access.warp);
  mark.statement = access.statement;
  mark.lane = static_cast<uint8_t>(access.lane);
  mark.strong = access.strong;
  const auto bytes_in = [&](uint64_t granule) {
    const uint64_t begin = granule * kGranule;
    const uint64_t from = std::max(access.address, begin) - begin;
    const uint64_t to = std::min(access.address + access.bytes, begin + kGranule) - begin;
    return static_cast<uint8_t>((1u << to) - (1u << from));
  };
  for (uint64_t g = first; g <= last; ++g) {
    const Page* page = page_at(g / kPage, !access.constant);
    mark.bytes = bytes_in(g);
    if (page != nullptr)
      if (auto found = check(*page, g % kPage, mark, access.write, order)) return found;
  }
  if (access.constant) return {};
  for (uint64_t g = first; g <= last; ++g) {
    Page& page = *page_at(g / kPage, true);
    mark.bytes = bytes_in(g);
    if (access.write) {
      page.writes[g % kPage] = mark;
    } else {
      if (page.reads.empty()) page.reads.resize(kPage);
      add_read(page.reads[g % kPage], mark, order);
    }
  }
  if (access.strong && order.fences()) hand_over(access, order);
  return {};
}

}  // namespace plait::sim::ptx
