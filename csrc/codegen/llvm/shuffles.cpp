#include "codegen/llvm/shuffles.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace plait::codegen::llvm {
namespace {

// Lanes of a, then of b behind them, by number.
Ir shuffle(Function& f, const Ir& a, const std::string& b, const std::vector<int>& lanes) {
  std::string chosen;
  for (int lane : lanes) chosen += fmt::format("{}i32 {}", chosen.empty() ? "" : ", ", lane);
  const int count = static_cast<int>(lanes.size());
  return f.define({a.type.scalar, count},
                  fmt::format("shufflevector {}, {} {}, <{} x i32> <{}>", a.typed(), a.type.text(), b, count, chosen));
}

int bytes_of(Scalar scalar) {
  if (scalar == Scalar::i8) return 1;
  return scalar == Scalar::i64 || scalar == Scalar::f64 ? 8 : 4;
}

// The lanes of all vectors, of which there are 2^n, in order.
Ir side_by_side(Function& f, std::vector<Ir> vectors) {
  while (vectors.size() > 1) {
    std::vector<int> lanes(size_t(2 * vectors[0].type.lanes));
    std::iota(lanes.begin(), lanes.end(), 0);
    std::vector<Ir> pairs;
    for (size_t i = 0; i < vectors.size(); i += 2) pairs.push_back(shuffle(f, vectors[i], vectors[i + 1].text, lanes));
    vectors = std::move(pairs);
  }
  return vectors[0];
}

class Square {
 public:
  Square(Function& f, Type type) : f_(f), lanes_(type.lanes), part_(std::min(type.lanes, 16 / bytes_of(type.scalar))) {}

  // Of each part of the lanes, the square that these vectors have there.
  std::vector<Ir> within_parts(const std::vector<Ir>& in) {
    const size_t half = in.size() / 2;
    if (half == 0) return in;
    std::vector<Ir> low, high;
    for (size_t i = 0; i < half; ++i) {
      low.push_back(interleaved(in[i], in[i + half], 0));
      high.push_back(interleaved(in[i], in[i + half], part_ / 2));
    }
    std::vector<Ir> out = within_parts(low), rest = within_parts(high);
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
  }

  // Parts as elements: the square of as many vectors as each has parts.
  std::vector<Ir> of_parts(const std::vector<Ir>& in) {
    if (in.size() == 1) return in;
    std::vector<Ir> even, odd;
    for (size_t i = 0; i < in.size(); i += 2) {
      even.push_back(every_second(in[i], in[i + 1], 0));
      odd.push_back(every_second(in[i], in[i + 1], 1));
    }
    even = of_parts(even);
    odd = of_parts(odd);
    std::vector<Ir> out;
    for (size_t i = 0; i < even.size(); ++i) {
      out.push_back(even[i]);
      out.push_back(odd[i]);
    }
    return out;
  }

  int part() const { return part_; }

 private:
  Ir interleaved(const Ir& a, const Ir& b, int first) {
    std::vector<int> lanes;
    for (int begin = first; begin < lanes_; begin += part_)
      for (int i = 0; i < part_ / 2; ++i) {
        lanes.push_back(begin + i);
        lanes.push_back(begin + i + lanes_);
      }
    return shuffle(f_, a, b.text, lanes);
  }

  Ir every_second(const Ir& a, const Ir& b, int first) {
    std::vector<int> lanes;
    for (int begin = first * part_; begin < 2 * lanes_; begin += 2 * part_)
      for (int i = 0; i < part_; ++i) lanes.push_back(begin + i);
    return shuffle(f_, a, b.text, lanes);
  }

  Function& f_;
  int lanes_, part_;
};

// A square of vectors.
std::vector<Ir> transpose_square(Function& f, const std::vector<Ir>& in) {
  Square square(f, in[0].type);
  const size_t part = static_cast<size_t>(square.part());
  std::vector<std::vector<Ir>> columns(part);  // by lane within a part: a vector per part of the rows
  for (size_t row = 0; row < in.size(); row += part) {
    const auto begin = in.begin() + static_cast<std::ptrdiff_t>(row);
    const std::vector<Ir> rows = square.within_parts({begin, begin + static_cast<std::ptrdiff_t>(part)});
    for (size_t i = 0; i < part; ++i) columns[i].push_back(rows[i]);
  }
  std::vector<Ir> out(in.size());
  for (size_t i = 0; i < part; ++i) {
    const std::vector<Ir> of = square.of_parts(columns[i]);
    for (size_t k = 0; k < of.size(); ++k) out[k * part + i] = of[k];
  }
  return out;
}

}  // namespace

Ir reverse(Function& f, const Ir& vector) {
  std::vector<int> lanes;
  for (int lane = vector.type.lanes; lane-- > 0;) lanes.push_back(lane);
  return vector.type.lanes == 1 ? vector : shuffle(f, vector, "poison", lanes);
}

std::vector<Ir> transpose(Function& f, const std::vector<Ir>& in) {
  if (in[0].type.scalar == Scalar::i1) {
    std::vector<Ir> bytes, out;
    for (const Ir& v : in) bytes.push_back(f.cast("zext", v, {Scalar::i8, v.type.lanes}));
    for (const Ir& v : transpose(f, bytes)) out.push_back(f.cast("trunc", v, {Scalar::i1, v.type.lanes}));
    return out;
  }
  const size_t side = static_cast<size_t>(in[0].type.lanes);
  if (side == 1) {
    Ir out{{in[0].type.scalar, static_cast<int>(in.size())}, "poison"};
    for (size_t i = 0; i < in.size(); ++i) out = f.insert(out, in[i], static_cast<int>(i));
    return {out};
  }
  std::vector<std::vector<Ir>> parts(side);  // of each result, by square
  for (size_t row = 0; row < in.size(); row += side) {
    const auto begin = in.begin() + static_cast<std::ptrdiff_t>(row);
    const std::vector<Ir> square = transpose_square(f, {begin, begin + static_cast<std::ptrdiff_t>(side)});
    for (size_t i = 0; i < side; ++i) parts[i].push_back(square[i]);
  }
  std::vector<Ir> out;
  for (const std::vector<Ir>& of : parts) out.push_back(side_by_side(f, of));
  return out;
}

Ir running(Function& f, const Ir& in, Ir before, const Ir& identity, int group,
           const std::function<Ir(const Ir& before, const Ir& here)>& combine) {
  const int lanes = std::min(group, in.type.lanes);
  const auto chosen = [&](const Ir& a, const std::string& b, auto&& which) {
    std::vector<int> numbers;
    for (int lane = 0; lane < lanes; ++lane) numbers.push_back(which(lane));
    return shuffle(f, a, b, numbers);
  };
  std::vector<Ir> groups;
  for (int first = 0; first < in.type.lanes; first += lanes) {
    Ir part = chosen(in, "poison", [&](int lane) { return first + lane; });
    for (int by = 1; by < lanes; by *= 2) {
      const Ir earlier = chosen(part, identity.text, [&](int lane) { return lane < by ? lanes + lane : lane - by; });
      part = combine(earlier, part);
    }
    groups.push_back(combine(f.splat(before, lanes), part));
    before = f.extract(groups.back(), lanes - 1);
  }
  return side_by_side(f, groups);
}

}  // namespace plait::codegen::llvm
