#pragma once
// What writers of random fusions share: numbers, names, and moves that keep the shape [a, b, c].
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace plait::testing {

class RandomText {
 protected:
  RandomText(uint64_t seed, uint64_t stream) : random_(seed * 0x9E3779B97F4A7C15u + stream) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  // One of the list; the later, the likelier.
  template <class T>
  const T& pick(const std::vector<T>& list) {
    const int n = static_cast<int>(list.size());
    return list[static_cast<size_t>(std::max(below(n), below(n)))];
  }
  std::string fresh() { return fmt::format("%t{}", next_++); }
  std::string define(const std::string& value) {
    std::string name = fresh();
    body_ += fmt::format("{}{} = {}\n", indent_, name, value);
    return name;
  }

  // Where x has the shape [a, b, c]: a tensor of that shape again, of x and now and then of another of `list`, by moves
  // and lookups. Reads `%w: T[c]`, `%e: T[7, c]`, `%i: i64[a, b] in 0..7`, `%j: i64[a, b, c] in 0..2`.
  static constexpr int kMoves = 10;
  std::string moved(int kind, const std::string& x, const std::vector<std::string>& list);

  std::mt19937_64 random_;
  std::string body_, indent_ = "  ";
  std::string smooth_ = "tanh";  // a function that moves may have between them
  int next_ = 0;
};

}  // namespace plait::testing
