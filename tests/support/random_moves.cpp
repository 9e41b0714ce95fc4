// Moves among other ops, all of one shape.
#include <algorithm>

#include "support/random_fusion.h"
#include "support/random_text.h"

namespace plait::testing {

std::string RandomText::moved(int kind, const std::string& x, const std::vector<std::string>& list) {
  const int d = below(3);
  const char* extent[] = {"a", "b", "c"};
  switch (kind) {
    case 0:
      return define(fmt::format("flip({}, dims = [{}])", x, d));
    case 1:
      return define(fmt::format("roll({}, shifts = [{}], dims = [{}])", x, 1 + below(3), d));
    case 2: {
      const int by = 1 + below(2);
      std::string low[] = {"0", "0", "0"}, high[] = {"0", "0", "0"};
      low[d] = fmt::format("{}", by);
      high[d] = fmt::format("{}", below(2));
      const auto text = [](const std::string* v) { return fmt::format("[{}, {}, {}]", v[0], v[1], v[2]); };
      const std::string p =
          define(fmt::format("pad({}, low = {}, high = {}, value = {})", x, text(low), text(high), below(3)));
      return define(fmt::format("slice({}, dim = {}, start = 0, stop = {})", p, d, extent[d]));
    }
    case 3: {
      const std::string c = define(fmt::format("cat({}, {}, dim = {})", x, pick(list), d));
      return define(fmt::format("slice({0}, dim = {1}, start = 1, stop = {2} + 1)", c, d, extent[d]));
    }
    case 4: {
      const std::string c = define(fmt::format("cat({}, {}, dim = {})", x, pick(list), d));
      return define(fmt::format("slice({0}, dim = {1}, start = 0, stop = 2*{2}, step = 2)", c, d, extent[d]));
    }
    case 5: {
      const std::string p = define(fmt::format("permute({}, dims = [0, 2, 1])", x));
      const std::string q = below(2) ? define(fmt::format("{}({})", smooth_, p)) : p;
      return define(fmt::format("permute({}, dims = [0, 2, 1])", q));
    }
    case 6: {
      const std::string r = define(fmt::format("reshape({}, shape = [a*b, c])", x));
      const std::string q = define(below(2) ? fmt::format("mul({}, %w)", r) : fmt::format("flip({}, dims = [0])", r));
      return define(fmt::format("reshape({}, shape = [a, b, c])", q));
    }
    case 7:
      return define(fmt::format("add({}, index_select(%e, %i, dim = 0))", x));
    case 8:
      return define(fmt::format("gather({}, dim = 0, %j)", define(fmt::format("cat({}, {}, dim = 0)", x, pick(list)))));
    default: {
      const std::string r = define(fmt::format("repeat({}, repeats = [1, 2, 1])", x));
      return define(fmt::format("slice({}, dim = 1, start = 1, stop = b + 1)", r));
    }
  }
}

namespace {

class MovesWriter : RandomText {
 public:
  explicit MovesWriter(uint64_t seed) : RandomText(seed, 29) {}

  // All tensors but indices have the shape [a, b, c], whatever was done to them.
  std::string make() {
    full_ = {"%x", "%z"};
    for (int i = 0, n = 3 + below(8); i < n; ++i) step();
    std::string outputs = full_.back();
    if (below(3) == 0) outputs += ", " + full_[full_.size() - 2];
    if (full_[full_.size() - 2][1] != 't') outputs = full_.back();
    return fmt::format(
        "let a = 2, b = 3, c = 8, T = {}\ngiven a: 1 in 1..9, b: 1 in 1..99, c: 1 in 1..999\n\nfusion @f (%x: T[a, b, "
        "c], %z: T[a, b, c], %p: T[a, c, b], %w: T[c], %e: T[7, c], %i: i64[a, "
        "b] "
        "in 0..7, %j: i64[a, b, c] in 0..2) -> ({}) {{\n{}}}\n",
        below(4) == 0 ? "bf16" : "f32", outputs, body_);
  }

 private:
  void full(const std::string& value) { full_.push_back(define(value)); }

  void step() {
    const std::string x = pick(full_);
    const int kind = below(16);
    if (kind >= kMoves) return other_step(x);
    full_.push_back(moved(kind, x, full_));
  }

  void other_step(const std::string& x) {
    switch (below(8)) {
      case 4:  // an operand that lies across the row
        return full(fmt::format("mul({}, permute(%p, dims = [0, 2, 1]))", x));
      case 5:
        return full(fmt::format("add({}, permute(exp(permute(%p, dims = [2, 0, 1])), dims = [1, 0, 2]))", x));
      case 0: {
        const std::string m = define(fmt::format("sum({}, dims = [2], keepdim = true)", x));
        return full(fmt::format("sub({}, {})", x, m));
      }
      case 1: {
        const std::string m = define(fmt::format("amax({}, dims = [2], keepdim = true)", x));
        return full(fmt::format("sub({}, {})", pick(full_), m));
      }
      case 2:
        return full(fmt::format("mul({}, %w)", x));
      case 3:
        return full(fmt::format("tanh({})", x));
      default:
        return full(fmt::format("add({}, {})", x, pick(full_)));
    }
  }

  std::vector<std::string> full_;
};

}  // namespace

std::string random_moves(uint64_t seed) { return MovesWriter(seed).make(); }

}  // namespace plait::testing
