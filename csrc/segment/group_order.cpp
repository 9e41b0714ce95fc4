#include "segment/group_order.h"

#include <algorithm>
#include <numeric>
#include <queue>

#include "base/error.h"

namespace plait {

GroupOrder::GroupOrder(int count)
    : in_(static_cast<size_t>(count)),
      out_(static_cast<size_t>(count)),
      position_(static_cast<size_t>(count)),
      alive_(static_cast<size_t>(count), true) {
  std::iota(position_.begin(), position_.end(), 0);
}

void GroupOrder::add_edge(int from, int to) {
  PLAIT_CHECK(position(from) < position(to), "edge from group {} back to {}", from, to);
  out_[static_cast<size_t>(from)].insert(to);
  in_[static_cast<size_t>(to)].insert(from);
}

bool GroupOrder::reaches(int start, int target, int limit) const {
  std::set<int> seen;
  std::vector<int> work;
  const auto push = [&](int from) {
    for (int next : successors(from))
      if (!(from == start && next == target) && position(next) <= limit && seen.insert(next).second)
        work.push_back(next);
  };
  push(start);
  while (!work.empty()) {
    const int g = work.back();
    work.pop_back();
    if (g == target) return true;
    push(g);
  }
  return false;
}

bool GroupOrder::path_around(int a, int b) const {
  if (position(a) > position(b)) std::swap(a, b);
  return reaches(a, b, position(b));
}

void GroupOrder::merge(int a, int b) {
  const int low = std::min(position(a), position(b)), high = std::max(position(a), position(b));
  for (int g : successors(b)) {
    in_[static_cast<size_t>(g)].erase(b);
    if (g == a) continue;
    in_[static_cast<size_t>(g)].insert(a);
    out_[static_cast<size_t>(a)].insert(g);
  }
  for (int g : predecessors(b)) {
    out_[static_cast<size_t>(g)].erase(b);
    if (g == a) continue;
    out_[static_cast<size_t>(g)].insert(a);
    in_[static_cast<size_t>(a)].insert(g);
  }
  in_[static_cast<size_t>(b)].clear();
  out_[static_cast<size_t>(b)].clear();
  alive_[static_cast<size_t>(b)] = false;
  // Groups that stood between the two: those that lead to `a` keep their order before it, those that follow it go
  // behind. Both sets are found from `a` within the window.
  std::set<int> before, after;
  std::vector<int> work;
  const auto collect = [&](const std::vector<std::set<int>>& edges, std::set<int>& found) {
    work = {a};
    while (!work.empty()) {
      const int g = work.back();
      work.pop_back();
      for (int next : edges[static_cast<size_t>(g)])
        if (position(next) >= low && position(next) <= high && found.insert(next).second) work.push_back(next);
    }
  };
  collect(in_, before);
  collect(out_, after);
  std::vector<int> order, slots = {low, high};
  const auto by_position = [&](int x, int y) { return position(x) < position(y); };
  order.assign(before.begin(), before.end());
  std::sort(order.begin(), order.end(), by_position);
  order.push_back(a);
  std::vector<int> last(after.begin(), after.end());
  std::sort(last.begin(), last.end(), by_position);
  order.insert(order.end(), last.begin(), last.end());
  for (const auto* set : {&before, &after})
    for (int g : *set) slots.push_back(position(g));
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  // One slot is left over, that of the merged group: groups before it take the lowest, `a` and those after the highest.
  const size_t spare = slots.size() - order.size();
  for (size_t i = 0; i < order.size(); ++i) {
    const bool early = i < before.size();
    position_[static_cast<size_t>(order[i])] = slots[early ? i : i + spare];
  }
}

std::vector<size_t> topological_order(const std::vector<std::set<size_t>>& next) {
  std::vector<size_t> missing(next.size(), 0), out;
  for (const std::set<size_t>& readers : next)
    for (size_t r : readers) ++missing[r];
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < next.size(); ++i)
    if (missing[i] == 0) ready.push(i);
  while (!ready.empty()) {
    out.push_back(ready.top());
    ready.pop();
    for (size_t r : next[out.back()])
      if (--missing[r] == 0) ready.push(r);
  }
  PLAIT_CHECK(out.size() == next.size(), "{} of {} groups are in order", out.size(), next.size());
  return out;
}

}  // namespace plait
