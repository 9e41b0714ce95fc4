#pragma once
// Params: what a scheduler decided, as a small value with a text form: `pointwise(vector = 8, split = 1)`.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace plait {

// Schedules of segments that no generated kernel computes.
inline constexpr const char* kLibrary = "library";
inline constexpr const char* kCollective = "collective";
inline constexpr const char* kCopy = "copy";
inline constexpr const char* kAlias = "alias";  // the result is its operand's memory

// Whether a generated kernel computes a segment of the schedule.
inline bool is_generated(std::string_view schedule) {
  return schedule != kLibrary && schedule != kCollective && schedule != kCopy && schedule != kAlias;
}

struct Params {
  std::string scheduler;  // pointwise, nest
  std::vector<std::pair<std::string, int64_t>> numbers;
  bool cuda = false;  // printed as `target = cuda`

  std::optional<int64_t> find(std::string_view key) const;
  int64_t get(std::string_view key) const;  // internal error where it is absent
  void set(std::string_view key, int64_t value);
  bool operator==(const Params&) const = default;
};

// `pointwise(vector = 8, unroll = 1, split = 1)`, keys in their order; `nest()` without any.
std::string print(const Params& params);
// Reads what print writes, in any spacing; the parentheses may be absent. Which keys a scheduler has is checked by
// check_keys. UserError naming `where` and the text for anything else.
Params parse_params(std::string_view text, const std::string& where = "");

}  // namespace plait
