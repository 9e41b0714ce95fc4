#pragma once
// What lookups and scatters share. Internal to csrc/reference.
#include "reference/evaluator.h"

namespace plait::reference {

// What a run hears of indices outside of their extent.
class Offences {
 public:
  // `places`: that the first operand has along the dim.
  Offences(const Op& op, const Array& index, int64_t places, const Context& context);
  // Element k of the index lies outside.
  void add(int64_t k) const;

  // Of the first operand's dim: its first place, and whether an index is one of the whole dim.
  int64_t first() const { return first_; }
  bool is_place(int64_t index) const { return index >= 0 && index < places_; }

 private:
  std::optional<CheckedLookup> lookup_;
  const Array& index_;
  uint64_t* words_ = nullptr;
  std::vector<int64_t> global_, start_;
  int64_t first_ = 0, places_ = 0;
};

std::optional<double> alternative_of(const Array& in, int64_t i);
// The element with all that it may be.
void copy_element(const Array& in, int64_t from, Array& out, int64_t to);
// Strides along the other dims.
std::vector<int64_t> without(std::vector<int64_t> strides, int64_t dim);

}  // namespace plait::reference
