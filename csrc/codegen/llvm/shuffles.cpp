#include "codegen/llvm/shuffles.h"

#include <algorithm>

#include "base/error.h"

namespace plait::codegen::llvm {
namespace {

// Lanes of a, then of b behind them, by number.
Ir shuffle(Function& f, const Ir& a, const std::string& b, const std::vector<int>& lanes) {
  std::string chosen;
  for (int lane : lanes) chosen += fmt::format("{}i32 {}", chosen.empty() ? "" : ", ", lane);
  return f.define(a.type, fmt::format("shufflevector {}, {} {}, <{} x i32> <{}>", a.typed(), a.type.text(), b,
                                      a.type.lanes, chosen));
}

int bytes_of(Scalar scalar) { return scalar == Scalar::i64 || scalar == Scalar::f64 ? 8 : 4; }

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

}  // namespace

Ir reverse(Function& f, const Ir& vector) {
  std::vector<int> lanes;
  for (int lane = vector.type.lanes; lane-- > 0;) lanes.push_back(lane);
  return vector.type.lanes == 1 ? vector : shuffle(f, vector, "poison", lanes);
}

std::vector<Ir> transpose(Function& f, const std::vector<Ir>& in) {
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

}  // namespace plait::codegen::llvm
