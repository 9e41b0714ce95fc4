#pragma once
// Sums and products of terms in an order that the backend chooses, with bounds. Internal to csrc/reference.
#include <cmath>
#include <limits>

#include "reference/array.h"

namespace plait::reference {

// What an op's finite terms are not.
enum Mark : uint8_t { kPlusInfinity = 1, kMinusInfinity = 2, kNaNTerm = 4, kUnknownTerm = 8, kExcusedTerm = 16 };

// Terms of one sum.
struct Sum {
  double sum = 0, size = 0, radius = 0;  // of the values, of |value| + radius, of the radii
  int64_t count = 0;
  uint8_t marks = 0;
  bool exact = false;  // every term is whole, and so is what it may be instead: sums up to 1 / u are exact

  void add(double value, double r) {
    ++count;
    if (std::abs(value) <= std::numeric_limits<double>::max() && r <= std::numeric_limits<double>::max()) {
      sum += value;
      size += std::abs(value) + r;
      radius += r;
    } else {
      mark(value, r);
    }
  }
  void mark(double value, double r);
};

// What adding the finite terms in any order errs by, and their own radii; `unit` is the unit roundoff.
inline double sum_error(const Sum& sum, double unit, int64_t ranks) {
  if (sum.exact && sum.size * unit <= 1) return sum.radius;
  return sum.radius + (sum.count > 1 ? 2 * unit * static_cast<double>(sum.count + ranks) * sum.size : 0);
}

// Factors of one product.
struct Product {
  double value = 1, lo = 1, hi = 1;
  double large = 1, small = 1;  // of max(1, |factor|) and min(1, |factor|): no product of some factors lies outside
  int64_t count = 0;
  uint8_t marks = 0;
  bool zero = false, negative = false;  // a factor is 0; an odd number of factors has the sign of -1
  bool exact = false;                   // as of a sum

  void multiply(double factor, double r);
};

// A result before it is rounded to its dtype: the value, its range over the operands' intervals, and what a backend
// errs. own is infinite where nothing is known.
struct Total {
  double value;
  Interval range;
  double own;
};

// The sum in `wide`, shared by `ranks`: 2 u (terms + ranks) sum |terms|. NaN and infinities are sure unless the finite
// terms may overflow. A single term is copied.
Total total(const Sum& sum, DType wide, int64_t ranks);
// The product in `wide`. Unknown where the product of some factors may overflow and that of all need not.
Total total(const Product& product, DType wide, int64_t ranks);

// Rounded to a dtype.
Settled settle(DType dtype, const Total& total);

}  // namespace plait::reference
