#pragma once
// The status words of a run: the index outside of its extent that stands first, by (ordinal of the op, position in the
// index tensor). Every word holds both and 16 bits of the index, so that words that only ever become less agree about
// the first offence, in whatever order it is found.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

namespace plait {

inline constexpr int kStatusWords = 4;
inline constexpr uint64_t kNoOffence = ~uint64_t{0};
inline constexpr int kValueBits = 16, kPositionBits = 36;
inline constexpr int64_t kMostOrdinal = (1 << 11) - 1;  // later ops count as this one
inline constexpr int64_t kMostPosition = (int64_t{1} << kPositionBits) - 1;

struct IndexOffence {
  int64_t ordinal = 0, position = 0, value = 0;
  bool operator==(const IndexOffence&) const = default;
};

// Word `number` of an offence.
inline uint64_t status_word(const IndexOffence& offence, int number) {
  const auto ordinal = static_cast<uint64_t>(std::min(offence.ordinal, kMostOrdinal));
  const auto position = static_cast<uint64_t>(std::min(offence.position, kMostPosition));
  const uint64_t part = static_cast<uint64_t>(offence.value) >> (kValueBits * number) & 0xffff;
  return ordinal << (kValueBits + kPositionBits) | position << kValueBits | part;
}

// Adds an offence to the words of one thread.
inline void add_offence(std::span<uint64_t, kStatusWords> words, const IndexOffence& offence) {
  for (int i = 0; i < kStatusWords; ++i) words[size_t(i)] = std::min(words[size_t(i)], status_word(offence, i));
}

// The first offence; nothing where there was none.
inline std::optional<IndexOffence> read_offence(std::span<const uint64_t, kStatusWords> words) {
  if (words[0] == kNoOffence) return std::nullopt;
  IndexOffence out;
  out.ordinal = static_cast<int64_t>(words[0] >> (kValueBits + kPositionBits));
  out.position = static_cast<int64_t>(words[0] >> kValueBits) & kMostPosition;
  uint64_t value = 0;
  for (int i = 0; i < kStatusWords; ++i) value |= (words[size_t(i)] & 0xffff) << (kValueBits * i);
  out.value = static_cast<int64_t>(value);
  return out;
}

}  // namespace plait
