// Ops that write where an integer tensor says.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reference/indices.h"
#include "reference/sums.h"

namespace plait::reference {
namespace {

// Operands of a scatter, and its updates in their order.
struct Updates {
  const Array &in, &index, &src;
  int64_t dim;
  const Offences& offences;

  bool is_open(int64_t k) const { return index.radius_at(k) != 0 || index.has_alternative(k); }
  bool has_open() const { return !index.radius.empty() || !index.alternative.empty(); }

  // Calls put(place, k) for the element of the result that src[k] goes to, then, where the index may be another one,
  // open(place, k) for every element that it may mean, or, where nothing is known of it, anywhere(line, k) once.
  template <class Put, class Open, class Anywhere>
  void walk_all(Put&& put, Open&& open, Anywhere&& anywhere) const {
    const int64_t extent = in.shape[dim], stride = row_major_strides(in.shape)[dim];
    walk(strided(index.shape, without(row_major_strides(in.shape), dim)), [&](int64_t k, int64_t base, int64_t) {
      if (!offences.is_place(index.integer_at(k)))
        offences.add(k);
      else if (const int64_t at = index.integer_at(k) - offences.first(); at >= 0 && at < extent)
        put(base + at * stride, k);
      if (!is_open(k)) return;
      if (std::isinf(index.radius_at(k))) return anywhere(base, k);
      walk_open(k, [&](int64_t p) { open(base + p * stride, k); });
    });
  }
  // Calls fn(place) for the elements of a line.
  template <class Fn>
  void walk_line(int64_t line, Fn&& fn) const {
    const int64_t extent = in.shape[dim], stride = row_major_strides(in.shape)[dim];
    for (int64_t p = 0; p < extent; ++p) fn(line + p * stride);
  }

  // Calls fn for each place along the dim that element k of the index may mean.
  template <class Fn>
  void walk_open(int64_t k, Fn&& fn) const {
    const int64_t extent = in.shape[dim], first = offences.first();
    if (const auto few = index.candidates.find(k); few != index.candidates.end()) {
      for (int64_t each : few->second)
        if (each >= first && each - first < extent) fn(each - first);
      return;
    }
    const double value = index.value[k], radius = index.radius_at(k);
    const double other = index.has_alternative(k) ? *index.alternative[k] : value;
    for (int64_t p = 0; p < extent; ++p) {
      const auto place = static_cast<double>(p + first);
      if (std::abs(place - value) <= radius || std::abs(place - other) <= radius) fn(p);
    }
  }
};

// Points of a place with an open index, beyond which they are one: the hull.
constexpr size_t kMostPoints = 32;

// One point that covers all.
Point hull(std::span<const Point> points) {
  double lo = kInfinity, hi = -kInfinity;
  for (const Point& p : points) {
    if (!std::isfinite(p.value) || !std::isfinite(p.radius)) return {p.value, kInfinity};
    lo = std::min(lo, p.value - p.radius), hi = std::max(hi, p.value + p.radius);
  }
  const double middle = lo + (hi - lo) / 2;
  return {middle, std::nextafter(std::max(hi - middle, middle - lo), kInfinity)};
}

// An index that may lie elsewhere moves what it adds there: every place that it may mean is opened by its size.
Array add_floats(const Updates& updates, bool whole, const Context& context) {
  const Array &in = updates.in, &src = updates.src;
  Array out = make_array(in.dtype, in.shape);
  std::vector<Sum> sums(out.value.size(), {.exact = whole});
  std::vector<double> open(updates.has_open() ? out.value.size() : 0, 0.0);
  const auto add = [](Sum& sum, const Array& from, int64_t i) {
    sum.add(from.value[i], from.radius_at(i));
    if (from.excused_at(i)) sum.marks |= kExcusedTerm;
  };
  for (int64_t i = 0; i < in.elements(); ++i) add(sums[i], in, i);
  const auto size_of_term = [&](int64_t k) {
    const double x = src.value[k];
    return x == x ? std::abs(x) + src.radius_at(k) : HUGE_VAL;
  };
  std::map<int64_t, double> lines;
  updates.walk_all([&](int64_t place, int64_t k) { add(sums[place], src, k); },
                   [&](int64_t place, int64_t k) { open[place] += size_of_term(k); },
                   [&](int64_t line, int64_t k) { lines[line] += size_of_term(k); });
  for (const auto& [line, size] : lines) updates.walk_line(line, [&](int64_t place) { open[place] += size; });
  for (int64_t i = 0; i < out.elements(); ++i) {
    if (!open.empty()) sums[i].size += open[i];
    Total result = total(sums[i], accumulation_type(in.dtype), context.options.ranks);
    bool excused = sums[i].marks & kExcusedTerm;
    if (!open.empty() && open[i] > 0) {
      result.own += whole ? open[i] : open[i] * (1 + 1e-6);
      if (!std::isfinite(result.value)) result.own = HUGE_VAL;
      excused = true;
    }
    if (!context.options.radius) result.own = 0;
    set_float(out, i, settle(out.dtype, result), excused);
    if (context.options.spread) out.spread.push_back(sums[i].size);
  }
  return out;
}

Array add_integers(const Updates& updates) {
  const Array &in = updates.in, &src = updates.src;
  Array out = make_array(in.dtype, in.shape);
  std::vector<uint64_t> sums;
  std::vector<double> open(out.value.size(), 0.0);
  for (int64_t i = 0; i < in.elements(); ++i) {
    sums.push_back(static_cast<uint64_t>(in.integer_at(i)));
    open[i] = in.radius_at(i);
  }
  std::map<int64_t, double> lines;
  updates.walk_all(
      [&](int64_t place, int64_t k) {
        sums[place] += static_cast<uint64_t>(src.integer_at(k));
        open[place] += src.radius_at(k);
      },
      [&](int64_t place, int64_t k) { open[place] += std::abs(src.value[k]) + src.radius_at(k); },
      [&](int64_t line, int64_t k) { lines[line] += std::abs(src.value[k]) + src.radius_at(k); });
  for (const auto& [line, size] : lines) updates.walk_line(line, [&](int64_t place) { open[place] += size; });
  for (int64_t i = 0; i < out.elements(); ++i) set_integer(out, i, static_cast<int64_t>(sums[i]), open[i]);
  return out;
}

// Nothing is known of a place that an open index may mean.
Array multiply_floats(const Updates& updates, bool whole, const Context& context) {
  const Array &in = updates.in, &src = updates.src;
  Array out = make_array(in.dtype, in.shape);
  std::vector<Product> products(out.value.size(), {.exact = whole});
  std::vector<bool> open(updates.has_open() ? out.value.size() : 0, false);
  const auto multiply = [](Product& product, const Array& from, int64_t i) {
    product.multiply(from.value[i], from.radius_at(i));
    if (from.excused_at(i)) product.marks |= kExcusedTerm;
  };
  for (int64_t i = 0; i < in.elements(); ++i) multiply(products[i], in, i);
  std::set<int64_t> lines;
  updates.walk_all([&](int64_t place, int64_t k) { multiply(products[place], src, k); },
                   [&](int64_t place, int64_t) { open[place] = true; },
                   [&](int64_t line, int64_t) { lines.insert(line); });
  for (int64_t line : lines) updates.walk_line(line, [&](int64_t place) { open[place] = true; });
  for (int64_t i = 0; i < out.elements(); ++i) {
    Total result = total(products[i], accumulation_type(in.dtype), context.options.ranks);
    if (!context.options.radius) result.own = 0;
    set_float(out, i, settle(out.dtype, result), products[i].marks & kExcusedTerm);
    if (!open.empty() && open[i]) set_unknown(out, i);
    if (context.options.spread) out.spread.push_back(products[i].large);
  }
  return out;
}

// Modulo 2^64; one that may be another integer opens the place.
Array multiply_integers(const Updates& updates) {
  const Array &in = updates.in, &src = updates.src;
  Array out = make_array(in.dtype, in.shape);
  std::vector<uint64_t> products;
  std::vector<bool> open(out.value.size(), false);
  for (int64_t i = 0; i < in.elements(); ++i) {
    products.push_back(static_cast<uint64_t>(in.integer_at(i)));
    open[i] = in.radius_at(i) != 0;
  }
  std::set<int64_t> lines;
  updates.walk_all(
      [&](int64_t place, int64_t k) {
        products[place] *= static_cast<uint64_t>(src.integer_at(k));
        open[place] = open[place] || src.radius_at(k) != 0;
      },
      [&](int64_t place, int64_t) { open[place] = true; }, [&](int64_t line, int64_t) { lines.insert(line); });
  for (int64_t line : lines) updates.walk_line(line, [&](int64_t place) { open[place] = true; });
  for (int64_t i = 0; i < out.elements(); ++i)
    set_integer(out, i, static_cast<int64_t>(products[i]), open[i] ? kInfinity : 0);
  return out;
}

// Where an element of the result comes from, and what else it may hold.
struct Source {
  const Array* from;
  int64_t element;
};

// The last update by index position stays. An open index leaves what was there as another possibility, and is one
// itself wherever it may write; a sure update behind it ends both.
Array set_elements(const Updates& updates) {
  Array out = make_array(updates.in.dtype, updates.in.shape);
  std::vector<Source> last;
  for (int64_t i = 0; i < out.elements(); ++i) last.push_back({&updates.in, i});
  std::map<int64_t, std::vector<Point>> others;  // by place
  const auto add = [](std::vector<Point>& points, const Source& s) {
    points.push_back({s.from->value[s.element], s.from->radius_at(s.element)});
    if (const auto other = alternative_of(*s.from, s.element)) points.push_back({*other, s.from->radius_at(s.element)});
  };
  std::map<int64_t, std::vector<Point>> anywhere;  // by line
  const auto note_in = [&](std::vector<Point>& points, const Source& s) {
    add(points, s);
    if (points.size() > kMostPoints) points = {hull(points)};
  };
  const auto note = [&](int64_t place, const Source& s) { note_in(others[place], s); };
  updates.walk_all(
      [&](int64_t place, int64_t k) {
        if (updates.is_open(k))
          note(place, last[place]);
        else
          others.erase(place);
        last[place] = {&updates.src, k};
      },
      [&](int64_t place, int64_t k) {
        if (last[place].from != &updates.src || last[place].element != k) note(place, {&updates.src, k});
      },
      [&](int64_t line, int64_t k) { note_in(anywhere[line], {&updates.src, k}); });
  for (const auto& [line, points] : anywhere)
    updates.walk_line(line, [&](int64_t place) {
      std::vector<Point>& all = others[place];
      all.insert(all.end(), points.begin(), points.end());
    });
  for (int64_t i = 0; i < out.elements(); ++i) copy_element(*last[i].from, last[i].element, out, i);
  for (auto& [place, points] : others) {
    std::vector<Point> all;
    add(all, last[place]);
    all.insert(all.end(), points.begin(), points.end());
    set_possible(out, place, join(out.dtype, all), true);
  }
  return out;
}

// The extremum of one place so far. What is compared is turned so that the largest is sought.
struct Extremum {
  Source winner{};
  bool sure_nan = false, unknown = false, open = false;
  double lo = -kInfinity, hi = -kInfinity;  // of the extremum
  double excused = -kInfinity;              // largest end of an excused element
};

class Extrema {
 public:
  Extrema(const Updates& updates, bool least) : updates_(updates), least_(least) {}

  Array evaluate() {
    const Array& in = updates_.in;
    std::vector<Extremum> found(static_cast<size_t>(in.elements()));
    for (int64_t i = 0; i < in.elements(); ++i) {
      found[i].winner = {&in, i};
      bound(found[i], {&in, i}, true);
    }
    std::map<int64_t, Extremum> lines;  // what may be anywhere in one
    updates_.walk_all(
        [&](int64_t place, int64_t k) {
          const Source mine{&updates_.src, k};
          if (wins(mine, found[place].winner)) found[place].winner = mine;
          bound(found[place], mine, !updates_.is_open(k));
        },
        [&](int64_t place, int64_t k) {
          found[place].open = true;
          bound(found[place], {&updates_.src, k}, false);
        },
        [&](int64_t line, int64_t k) { bound(lines[line], {&updates_.src, k}, false); });
    for (const auto& [line, e] : lines)
      updates_.walk_line(line, [&](int64_t place) {
        Extremum& at = found.at(static_cast<size_t>(place));
        at.open = true;
        at.unknown |= e.unknown;
        at.hi = std::max(at.hi, e.hi);
        at.excused = std::max(at.excused, e.excused);
      });
    Array out = make_array(in.dtype, in.shape);
    for (int64_t i = 0; i < out.elements(); ++i) set(out, i, found[i]);
    return out;
  }

 private:
  // The first NaN, else the first extremum.
  bool wins(const Source& a, const Source& b) const {
    if (is_wide_integer(a.from->dtype)) {
      const int64_t x = a.from->integers[a.element], y = b.from->integers[b.element];
      if (a.from->dtype != DType::u64) return least_ ? x < y : x > y;
      return least_ ? static_cast<uint64_t>(x) < static_cast<uint64_t>(y)
                    : static_cast<uint64_t>(x) > static_cast<uint64_t>(y);
    }
    const double x = a.from->value[a.element], y = b.from->value[b.element];
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(y);
    return least_ ? x < y : x > y;
  }

  // One more element, which is surely among those of the place or may be.
  void bound(Extremum& e, const Source& s, bool sure) const {
    const double radius = s.from->radius_at(s.element);
    if (std::isnan(s.from->value[s.element]) && radius == 0) {
      (sure ? e.sure_nan : e.unknown) = true;
      return;
    }
    e.unknown |= std::isinf(radius);
    Interval range = range_at(*s.from, s.element);
    if (least_) range = {-range.hi, -range.lo};
    if (sure) e.lo = std::max(e.lo, range.lo);
    e.hi = std::max(e.hi, range.hi);
    if (s.from->excused_at(s.element)) e.excused = std::max(e.excused, range.hi);
  }

  void set(Array& out, int64_t i, const Extremum& e) const {
    const auto [from, element] = e.winner;
    out.value[i] = from->value[element];
    if (!out.integers.empty()) out.integers[i] = from->integers[element];
    if (e.sure_nan) {
      out.value[i] = kNaN;
      return;
    }
    if (e.unknown) return set_unknown(out, i);
    const bool excused = e.open || (e.excused >= e.lo && e.excused > -kInfinity);
    if (!excused && e.lo == e.hi) return;
    const double value = out.value[i];
    const Interval range = least_ ? Interval{-e.hi, -e.lo} : Interval{e.lo, e.hi};
    const Settled settled = settle(out.dtype, value, {std::min(range.lo, value), std::max(range.hi, value)}, 0);
    set_float(out, i, settled, excused || (!is_float(out.dtype) && settled.radius != 0));
  }

  const Updates& updates_;
  const bool least_;
};

}  // namespace

Array evaluate_scatter(const Scatter& op, const Operands& operands, const Context& context) {
  const Array& index = operands.at(op.index);
  const Offences offences(op, index, operands.at(op.in).shape[op.dim], context);
  if (op.update == ScatterUpdate::set)
    return set_elements({operands.at(op.in), index, operands.at(op.src), op.dim, offences});
  const Terms in(operands.at(op.in)), src(operands.at(op.src));
  const Updates updates{*in, index, *src, op.dim, offences};
  if (!rounds(op.update)) return Extrema(updates, op.update == ScatterUpdate::min).evaluate();
  const bool multiplies = op.update == ScatterUpdate::mul;
  if (!is_float((*in).dtype)) return multiplies ? multiply_integers(updates) : add_integers(updates);
  const bool whole = context.options.radius && is_whole(operands.at(op.in)) && is_whole(operands.at(op.src));
  return multiplies ? multiply_floats(updates, whole, context) : add_floats(updates, whole, context);
}

}  // namespace plait::reference
