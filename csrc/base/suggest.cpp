#include "base/suggest.h"

#include <algorithm>
#include <numeric>

namespace plait {

namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  if (known.empty()) return "there is none";
  const std::string* best = nullptr;
  size_t best_distance = word.size() / 3 + 2;
  for (const auto& candidate : known)
    if (size_t d = edit_distance(word, candidate); d < best_distance) best_distance = d, best = &candidate;
  if (best) return "did you mean `" + *best + "`?";
  std::string out = "known: ";
  for (size_t i = 0; i < known.size() && i < 40; ++i) out += (i ? ", " : "") + known[i];
  return known.size() > 40 ? out + ", ..." : out;
}

}  // namespace plait
