#pragma once
// How ops other than pointwise ones visit and set elements. Internal to csrc/reference.
#include <vector>

#include "reference/array.h"

namespace plait::reference {

// Tables of two offsets that a position in each dim of a shape adds up to.
struct Walk {
  std::vector<std::vector<int64_t>> a, b;  // [dim][position]; the extents are those of the tables
};

// Tables of a shape: position * stride in `a` and, where given, in `b`.
Walk strided(const std::vector<int64_t>& shape, const std::vector<int64_t>& a, const std::vector<int64_t>& b = {});

namespace detail {

template <class Fn>
void walk_from(const Walk& w, size_t dim, int64_t& i, int64_t a, int64_t b, Fn& fn) {
  if (dim == w.a.size()) return fn(i++, a, b);
  const auto &from_a = w.a[dim], &from_b = w.b[dim];
  const bool last = dim + 1 == w.a.size();
  for (size_t p = 0; p < from_a.size(); ++p) {
    if (last)
      fn(i++, a + from_a[p], b + from_b[p]);
    else
      walk_from(w, dim + 1, i, a + from_a[p], b + from_b[p], fn);
  }
}

}  // namespace detail

// Calls fn(i, a, b) for every element in row-major order: i counts them, a and b are the sums of both tables.
template <class Fn>
void walk(const Walk& w, Fn&& fn) {
  int64_t i = 0;
  detail::walk_from(w, 0, i, 0, 0, fn);
}

// Sets an element of a float result; one of infinite radius is excused.
void set_float(Array& out, int64_t i, const Settled& settled, bool excused);
// Sets an element of an integer or bool result, modulo 2^bits. One with a radius is excused.
void set_integer(Array& out, int64_t i, int64_t value, double radius = 0);
// Nothing is known of the element; its value stays.
void set_unknown(Array& out, int64_t i);

// Numbers from -inf to +inf as doubles: the element's interval. Integers keep their ends, bool and unsigned theirs.
Interval range_at(const Array& in, int64_t i);

}  // namespace plait::reference
