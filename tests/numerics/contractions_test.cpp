// Random contractions: equations of einsum with batches, sums, transposes, broadcasts, diagonals and `...`, of whole
// numbers so small that every order of summing gives the same bits, against loops over all labels. A fifth are few rows
// of a matrix, which may be of bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "plait.h"
#include "scalar/convert.h"
#include "support/run_case.h"

namespace plait {
namespace {

struct Operand {
  std::string labels;  // a letter for each dim; those of `...` are capitals
  std::vector<int64_t> shape;
  std::vector<double> values;
};

struct Contraction {
  DType dtype = DType::f32;
  std::vector<Operand> in;
  std::string out, equation;
  std::map<char, int64_t> extents;
  bool biased = false, symbolic = false;
  int opened = -1;  // the operand that is of bytes, which are doubled in front
};

class Drawer {
 public:
  explicit Drawer(uint64_t seed) : random_(seed) {}

  Contraction run() {
    Contraction c;
    c.dtype = pick({DType::f32, DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32});
    c.symbolic = chance(40);
    if (chance(20)) return few_rows(c);
    const int operands = 1 + draw(10) / 2 % 3, labels = 1 + draw(5);
    for (int i = 0; i < labels; ++i) c.extents['a' + char(i)] = extent();
    dots_ = chance(20) ? 1 + draw(2) : 0;
    for (int i = 0; i < dots_; ++i) c.extents['A' + char(i)] = 1 + draw(3);
    for (int i = 0; i < operands; ++i) c.in.push_back(operand(c));
    result(c);
    const double most = largest(c);
    for (Operand& o : c.in) fill(o, most);
    c.biased = is_float(c.dtype) && !c.out.empty() && chance(40);
    return c;
  }

 private:
  // A few rows times a matrix large enough to be read where it lies; of bytes, too.
  Contraction few_rows(Contraction c) {
    c.dtype = pick({DType::f32, DType::f32, DType::f64, DType::bf16, DType::f16});
    const char* const forms[][3] = {{"ab", "cb", "ac"}, {"ab", "bc", "ac"},    {"zab", "cb", "zac"},
                                    {"b", "cb", "c"},   {"zab", "zcb", "zac"}, {"cb", "b", "c"},
                                    {"ba", "bc", "ac"}, {"ab", "cb", "ca"}};
    const auto& form = forms[draw(std::size(forms))];
    const bool vector = std::string(form[1]) == "b";
    c.extents = {{'a', 1 + draw(chance(20) ? 23 : 5)}, {'b', 64 + draw(40)}, {'c', 64 + draw(80)}, {'z', 1 + draw(2)}};
    for (int i = 0; i < 2; ++i) {
      Operand o{form[i], {}, {}};
      for (char label : o.labels) o.shape.push_back(c.extents.at(label));
      c.in.push_back(std::move(o));
    }
    c.out = form[2];
    std::erase_if(c.extents,
                  [&](const auto& e) { return (c.in[0].labels + c.in[1].labels).find(e.first) == std::string::npos; });
    c.equation = fmt::format("{},{}->{}", form[0], form[1], form[2]);
    c.opened = chance(40) ? (vector ? 0 : 1) : -1;
    const double most = largest(c);
    for (Operand& o : c.in) fill(o, most);
    c.biased = chance(40);
    return c;
  }

  int draw(int n) { return int(random_() % uint64_t(n)); }
  bool chance(int percent) { return draw(100) < percent; }
  DType pick(const std::vector<DType>& of) { return of[size_t(draw(int(of.size())))]; }
  int64_t extent() { return chance(4) ? 0 : chance(15) ? 20 + draw(30) : 1 + draw(6); }

  Operand operand(const Contraction& c) {
    Operand out;
    for (const auto& [label, extent] : c.extents)
      if (label >= 'a' && chance(65)) out.labels += label;
    std::shuffle(out.labels.begin(), out.labels.end(), random_);
    if (!out.labels.empty() && chance(8)) out.labels += out.labels[size_t(draw(int(out.labels.size())))];
    if (dots_ > 0) {
      std::string dots;
      for (int d = draw(dots_ + 1); d > 0; --d) dots += char('A' + d - 1);
      out.labels.insert(size_t(draw(int(out.labels.size()) + 1)), dots.empty() ? "." : dots);
    }
    std::erase(out.labels, '.');
    for (char label : out.labels) {
      const bool once = std::count(out.labels.begin(), out.labels.end(), label) == 1;
      out.shape.push_back(once && chance(10) ? 1 : c.extents.at(label));
    }
    return out;
  }

  // Extents that no operand has are 1 or unknown; the result takes some of the rest.
  void result(Contraction& c) {
    std::map<char, int64_t> found;
    std::map<char, int> times;
    int dots = 0;
    for (const Operand& o : c.in)
      for (size_t d = 0; d < o.labels.size(); ++d) {
        found[o.labels[d]] = found.contains(o.labels[d]) && o.shape[d] == 1 ? found[o.labels[d]] : o.shape[d];
        ++times[o.labels[d]];
        if (o.labels[d] < 'a') dots = std::max(dots, o.labels[d] - 'A' + 1);
      }
    c.extents = found;
    const bool implied = chance(15);
    std::string letters, front;
    for (const auto& [label, n] : times)
      if (label >= 'a' && (implied ? n == 1 : chance(50))) letters += label;
    for (int d = dots; d > 0; --d) front += char('A' + d - 1);
    if (!implied) std::shuffle(letters.begin(), letters.end(), random_);
    c.out = front + letters;
    for (const Operand& o : c.in)
      c.equation += (c.equation.empty() && &o == c.in.data() ? "" : ",") + written(o.labels);
    if (!implied) c.equation += (chance(20) ? " -> " : "->") + (dots_ > 0 ? "..." + letters : letters);
  }
  // Labels as the equation has them: `...` for the capitals.
  std::string written(const std::string& labels) {
    std::string out;
    bool dotted = false;
    for (char label : labels) {
      if (label >= 'a')
        out += label;
      else if (!dotted)
        out += "...", dotted = true;
    }
    return dots_ > 0 && !dotted ? "..." + out : out;
  }

  // The largest magnitude of the operands' numbers for which every partial sum is whole in the dtype.
  double largest(const Contraction& c) {
    double terms = c.opened >= 0 ? 2 : 1;
    for (const auto& [label, extent] : c.extents)
      if (c.out.find(label) == c.out.npos) terms *= double(std::max<int64_t>(extent, 1));
    const double exact = c.dtype == DType::bf16 ? 256 : c.dtype == DType::f16 ? 2048 : 1 << 24;
    const double most = std::floor(std::pow(exact / (terms + 1), 1.0 / double(c.in.size())));
    return std::clamp(most, 0.0, 3.0);
  }
  void fill(Operand& o, double most) {
    int64_t n = 1;
    for (int64_t e : o.shape) n *= e;
    for (int64_t i = 0; i < n; ++i) o.values.push_back(double(draw(2 * int(most) + 1)) - most);
  }

  std::mt19937_64 random_;
  int dots_ = 0;
};

int64_t position(const Operand& o, const std::map<char, int64_t>& at) {
  int64_t out = 0;
  for (size_t d = 0; d < o.shape.size(); ++d) out = out * o.shape[d] + (o.shape[d] == 1 ? 0 : at.at(o.labels[d]));
  return out;
}

// By loops over every label.
std::vector<double> direct(const Contraction& c) {
  int64_t count = 1;
  for (char label : c.out) count *= c.extents.at(label);
  std::vector<double> out(size_t(count), 0.0);
  std::map<char, int64_t> at;
  const auto add = [&](auto& self, auto next) -> void {
    if (next != c.extents.end()) {
      for (at[next->first] = 0; at[next->first] < next->second; ++at[next->first]) self(self, std::next(next));
      return;
    }
    double product = c.opened >= 0 ? 2 : 1;
    for (const Operand& o : c.in) product *= o.values[size_t(position(o, at))];
    int64_t to = 0;
    for (char label : c.out) to = to * c.extents.at(label) + at.at(label);
    out[size_t(to)] += product;
  };
  add(add, c.extents.begin());
  if (c.biased)  // and its absolute value
    for (size_t i = 0; i < out.size(); ++i) out[i] = std::abs(out[i] + 1);
  return out;
}

std::string text(const Contraction& c) {
  std::string inputs, names;
  for (size_t i = 0; i < c.in.size(); ++i) {
    std::string shape;
    for (size_t d = 0; d < c.in[i].shape.size(); ++d) {
      const bool named = c.symbolic && c.in[i].shape[d] > 1 && c.in[i].shape[d] == c.extents.at(c.in[i].labels[d]);
      shape += (d ? ", " : "") + (named ? fmt::format("n_{}", c.in[i].labels[d]) : std::to_string(c.in[i].shape[d]));
    }
    inputs += fmt::format("{}%x{}: {}[{}]", i ? ", " : "", i, name(int(i) == c.opened ? DType::i8 : c.dtype), shape);
    names += fmt::format("%{}{}, ", int(i) == c.opened ? 'w' : 'x', i);
  }
  std::string body;
  if (c.opened >= 0) body = fmt::format("  %w{0} = mul(cast(%x{0}, to = {1}), 2)\n", c.opened, name(c.dtype));
  body += fmt::format("  %y = einsum({}equation = \"{}\")\n", names, c.equation);
  if (c.biased) body += "  %z = abs(add(%y, 1))\n";
  return fmt::format("fusion @contraction ({}) -> ({}) {{\n{}}}\n", inputs, c.biased ? "%z" : "%y", body);
}

struct Seen {
  int few = 0, opened = 0, summed = 0, diagonals = 0, dots = 0, units = 0, empty = 0, several = 0;
  void add(const Contraction& c) {
    summed += c.out.size() < c.extents.size();
    dots += c.equation.find("...") != c.equation.npos;
    several += c.in.size() > 2;
    few += c.extents.contains('b') && c.extents.at('b') >= 64;
    opened += c.opened >= 0;
    for (const Operand& o : c.in)
      for (size_t d = 0; d < o.shape.size(); ++d) {
        diagonals += o.labels.find(o.labels[d]) != d;
        units += o.shape[d] == 1 && c.extents.at(o.labels[d]) != 1;
        empty += o.shape[d] == 0;
      }
  }
};

void check(const std::string& device, int cases, uint64_t first) {
  if (const std::string why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
  Seen seen;
  for (int i = 0; i < cases; ++i) {
    const uint64_t seed = first + uint64_t(i);
    const Contraction c = Drawer(seed).run();
    SCOPED_TRACE(fmt::format("seed {} on {}\n{}", seed, device, text(c)));
    seen.add(c);
    Tensors inputs;
    for (size_t k = 0; k < c.in.size(); ++k)
      inputs["x" + std::to_string(k)] =
          Tensor::from_doubles(int(k) == c.opened ? DType::i8 : c.dtype, c.in[k].shape, c.in[k].values);
    const auto fusion = parse_fusion(text(c));
    CompileOptions how;
    how.device = device;
    if (seed % 2 == 1) how.options.contractions = "own";
    EXPECT_TRUE(equal(*parse_fusion(print(*fusion)), *fusion)) << print(*fusion);
    const Tensors got = compile(*fusion, how).run(inputs);
    ASSERT_EQ(got.size(), 1u);
    const Tensor& y = got.begin()->second;
    std::vector<int64_t> shape;
    for (char label : c.out) shape.push_back(c.extents.at(label));
    ASSERT_EQ(y.shape, shape);
    ASSERT_EQ(y.to_doubles(), direct(c));
  }
  for (const auto& [what, n] : {std::pair("sums", seen.summed),
                                {"`...`", seen.dots},
                                {"more than two", seen.several},
                                {"diagonals", seen.diagonals},
                                {"extents of 1", seen.units},
                                {"of 0", seen.empty},
                                {"few rows of a large matrix", seen.few},
                                {"bytes", seen.opened}})
    EXPECT_GE(n, cases >= 50 ? cases / 50 : 0) << what;
}

TEST(Contractions, OfWholeNumbersOnTheCpu) { check("cpu", 100, 1); }
TEST(Contractions, OfWholeNumbersByTheReference) { check("reference", 100, 1000); }
TEST(Contractions, OfWholeNumbersOnASimulatedGpu) { check("sim:sm_90a", 12, 2000); }
TEST(ContractionsLongRun, OnTheCpu) { check("cpu", 2000, 10000); }
TEST(ContractionsLongRun, OnSimulatedGpus) {
  check("sim:sm_80", 250, 20000);
  check("sim:sm_90a", 250, 30000);
}

}  // namespace
}  // namespace plait
