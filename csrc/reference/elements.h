#pragma once
// How ops other than pointwise ones visit and set elements. Internal to csrc/reference.
#include <span>
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

// A number that an element may be, and how far a backend may lie from it.
struct Point {
  double value, radius;
};
// What an element of several possible numbers is: the first, and the farthest from it; the radius covers the others.
struct Possible {
  Point point;
  std::optional<double> alternative;
};
Possible join(DType dtype, std::span<const Point> points);
// Sets a float, integer or bool element, but for the number in `integers`.
void set_possible(Array& out, int64_t i, const Possible& possible, bool excused);

// Alternatives as radii, for what adds or compares elements.
Array widened(const Array& in);
// Whether all that the elements may be are whole numbers, without radius: sums of them that stay small are exact.
bool is_whole(const Array& in);
// An operand as a sum reads it.
class Terms {
 public:
  explicit Terms(const Array& in) : in_(&in) {
    if (in.alternative.empty()) return;
    own_ = widened(in);
    in_ = &own_;
  }
  Terms(const Terms&) = delete;
  const Array& operator*() const { return *in_; }

 private:
  Array own_;
  const Array* in_;
};

// Sets an element of a float result; one of infinite radius is excused.
void set_float(Array& out, int64_t i, const Settled& settled, bool excused);
// Sets an element of an integer or bool result, modulo 2^bits. One with a radius is excused.
void set_integer(Array& out, int64_t i, int64_t value, double radius = 0);
// Nothing is known of the element; its value stays.
void set_unknown(Array& out, int64_t i);

// Numbers from -inf to +inf as doubles: the element's interval. Integers keep their ends, bool and unsigned theirs.
Interval range_at(const Array& in, int64_t i);

}  // namespace plait::reference
