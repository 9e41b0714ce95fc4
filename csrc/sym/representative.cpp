#include <algorithm>

#include "base/error.h"
#include "sym/guards.h"

namespace plait::sym {

namespace {

constexpr int64_t kDefault = 512;

// The nearest value that the facts allow: bounds lie at multiples.
int64_t fitted(const Facts::Row& row, int64_t value) {
  value = value > INT64_MAX - row.multiple_of ? value / row.multiple_of * row.multiple_of
                                              : (value + row.multiple_of - 1) / row.multiple_of * row.multiple_of;
  if (row.lo) value = std::max(value, *row.lo);
  if (row.hi) value = std::min(value, *row.hi);
  return value;
}

// How much of a specialization the sizes satisfy: its answers, and its facts, which come first.
size_t satisfied(const Facts& facts, std::span<const Answer> answers, const Environment& sizes,
                 const RankPositions& ranks) {
  const bool bounded = std::any_of(facts.rows().begin(), facts.rows().end(),
                                   [](const auto& fact) { return !fact.second.below.empty(); });
  try {
    if (bounded) facts.check(sizes);  // numbers are fitted
  } catch (const UserError&) {
    return 0;
  }
  return 1 + static_cast<size_t>(std::count_if(answers.begin(), answers.end(), [&](const Answer& answer) {
           return answer.guard.holds(sizes, ranks) == answer.yes;
         }));
}

// Near to any size, and multiples of each small power of two that are none of the next.
std::vector<int64_t> candidates(const Facts::Row& row) {
  std::vector<int64_t> out;
  for (int bit = 0; bit <= 40; ++bit) {
    out.push_back(fitted(row, int64_t{1} << bit));
    for (int less = 0; less < std::min(bit, 8); ++less)
      out.push_back(fitted(row, (int64_t{1} << bit) + (int64_t{1} << less)));
  }
  return out;
}

}  // namespace

Environment representative(const Facts& facts, const Environment& defaults, std::span<const Answer> answers,
                           const RankPositions& ranks) {
  Environment sizes;
  for (const auto& [name, row] : facts.rows()) {
    const auto given = defaults.find(name);
    sizes[name] = fitted(row, given == defaults.end() ? kDefault : given->second);
  }
  size_t best = satisfied(facts, answers, sizes, ranks);
  for (bool helped = true; helped && best <= answers.size();) {
    helped = false;
    for (const auto& [name, row] : facts.rows())
      for (const int64_t value : candidates(row)) {
        Environment other = sizes;
        other[name] = value;
        const size_t now = satisfied(facts, answers, other, ranks);
        if (now <= best) continue;
        best = now;
        sizes = std::move(other);
        helped = true;
      }
  }
  return sizes;
}

}  // namespace plait::sym
