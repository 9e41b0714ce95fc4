#pragma once
// Groups of rows as texts: reductions over the same dims with what is elementwise around them, each one segment pinned
// to `norm`. Sizes a, b, n; dtypes T, and W, in which it computes.
#include <cstdint>
#include <string>
#include <vector>

namespace plait::test {

struct NormCase {
  const char* name;
  std::string text;
  bool floats_only = true;
  int64_t most = INT64_MAX;  // elements of a row, beyond which numbers leave f16
};

// `numbers` stands between the parentheses of the schedule.
std::vector<NormCase> norm_cases(const std::string& numbers = "");

// The same of groups with scans.
std::vector<NormCase> scan_cases(const std::string& numbers = "");

}  // namespace plait::test
