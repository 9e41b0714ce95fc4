#include "base/suggest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace plait {

namespace {

// Letters that are lacking, too many or others, and neighbours that are swapped.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

// The shortest that begins so; null: none does.
const std::string* completed(std::string_view word, const std::vector<std::string>& known) {
  const std::string* out = nullptr;
  for (const std::string& each : known)
    if (each.starts_with(word) && (out == nullptr || each.size() < out->size())) out = &each;
  return word.find_first_not_of('-') == word.npos || word.size() < 2 ? nullptr : out;
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  if (known.empty()) return "there is none";
  const auto shared = [&](const std::string& other) {  // how many first letters
    return std::mismatch(word.begin(), word.end(), other.begin(), other.end()).first - word.begin();
  };
  const std::string* best = completed(word, known);
  size_t best_distance = best != nullptr ? 0 : word.size() < 4 ? 2 : word.size() / 3 + 2;
  for (const auto& candidate : known)
    if (size_t d = edit_distance(word, candidate);
        d < best_distance || (d == best_distance && best != nullptr && d > 0 && shared(candidate) > shared(*best)))
      best_distance = d, best = &candidate;
  if (best) return "did you mean `" + *best + "`?";
  std::string out = "known: ";
  for (size_t i = 0; i < known.size() && i < 40; ++i) out += (i ? ", " : "") + known[i];
  return known.size() > 40 ? out + ", ..." : out;
}

}  // namespace plait
