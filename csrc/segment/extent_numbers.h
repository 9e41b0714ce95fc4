#pragma once
// Extents as numbers, to compare domains by.
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sym/expr.h"

namespace plait {

// One number per distinct extent; proven equal ones share it.
class ExtentNumbers {
 public:
  int number(sym::Expr e) {
    if (const auto it = numbers_.find(e.id()); it != numbers_.end()) return it->second;
    int number = static_cast<int>(numbers_.size());
    if (!e.constant()) {  // constants are equal only to themselves
      for (const auto& [known, k] : extents_)
        if (sym::proven(sym::eq(known, e))) number = k;
      extents_.emplace_back(e, number);
    }
    return numbers_[e.id()] = number;
  }

 private:
  std::map<uint64_t, int> numbers_;
  std::vector<std::pair<sym::Expr, int>> extents_;  // those that are no constants
};

}  // namespace plait
