// Chains of 5 to 15 ops of one dtype, unsharded, of every op that gives numbers: each device stays inside of the
// evaluator's radius, an error of three radii leaves it, and so do most wrong chains; the radius is a few rounding
// units of the value per op.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "build/ops.h"
#include "plait.h"
#include "reference/check.h"
#include "reference/draw_inputs.h"
#include "scalar/convert.h"
#include "support/random_ops.h"
#include "support/run_case.h"
#include "support/sanitized.h"

namespace plait {
namespace {

using testing::OpWord;

constexpr int64_t kMostElements = 2048;

// One step of a chain: what it reads of the chain, and gives.
struct Link {
  const TensorView *in, *out;
  OpWord word;
};

struct Chain {
  uint64_t seed = 0;
  std::unique_ptr<Fusion> fusion;
  Tensors inputs;
  reference::Array want;
  std::vector<Link> links;
};

// Whether what is open passes the check's own rule, and most elements are numbers of a usual size.
bool is_telling(const reference::Array& array) {
  int64_t good = 0, excused = 0;
  for (int64_t i = 0; i < array.elements(); ++i) {
    const double size = std::abs(array.value[static_cast<size_t>(i)]);
    good += !array.excused_at(i) && size > 1e-6 && size < 1e6;
    excused += array.excused_at(i);
  }
  return good * 2 > array.elements() && !reference::too_many_excused(excused, array.elements());
}

std::map<std::string, Tensor> to_map(const Tensors& tensors) { return {tensors.begin(), tensors.end()}; }

class Generator {
 public:
  Generator(uint64_t seed, DType dtype) : random_(seed * 0x9E3779B97F4A7C15u + 3), dtype_(dtype) { out_.seed = seed; }

  Chain make() {
    out_.fusion = std::make_unique<Fusion>();
    Fusion& f = *out_.fusion;
    const std::vector<std::vector<Fusion::Extent>> shapes = {{6, 8}, {3, 5, 4}, {2, 7, 6}, {40}, {9, 16}};
    const auto& shape = shapes[draw(shapes.size())];
    for (int i = 0; i < 3; ++i) pool_.push_back(f.input("x" + std::to_string(i), shape, dtype_));
    seed_input_ = f.input("seed", {}, DType::u64);
    TensorView* latest = pool_[0];
    const size_t length = 5 + draw(11);
    for (int trial = 0; trial < 600 && out_.links.size() < length; ++trial)
      if (TensorView* next = step(latest, word(static_cast<size_t>(trial)))) latest = next;
    f.output("y", latest);
    out_.inputs = draw_all();
    out_.want = reference::evaluate(f, to_map(out_.inputs), {}).at("y");
    return std::move(out_);
  }

 private:
  size_t draw(size_t n) { return random_() % n; }
  Tensors draw_all() const {
    const auto drawn = reference::draw_inputs(*out_.fusion, {.seed = out_.seed});
    return Tensors(drawn.begin(), drawn.end());
  }

  static bool depends(const TensorView* t, const TensorView* on) {
    if (t == on) return true;
    if (!t->definition) return false;
    const auto in = plait::inputs(*t->definition);
    return std::any_of(in.begin(), in.end(), [&](const TensorView* each) { return depends(each, on); });
  }
  static bool is_small(const TensorView& t) {
    int64_t elements = 1;
    for (const sym::Expr e : t.shape()) elements *= e.constant().value_or(0);
    return elements > 0 && elements <= kMostElements;
  }

  // A chain begins with one word after another, from its seed on, so that all have their turns; then they are drawn.
  const OpWord& word(size_t trial) {
    constexpr size_t kInTurn = 4;
    const auto& words = testing::op_words();
    return words[trial < kInTurn ? (out_.seed + trial) % words.size() : draw(words.size())];
  }

  // One more op, or null where what was drawn is no number of the dtype, or has too few elements that tell anything.
  TensorView* step(TensorView* latest, const OpWord& word) {
    std::vector<TensorView*> pool = pool_;
    pool.push_back(latest);
    TensorView* out = add_random_op({random_, *out_.fusion, pool, seed_input_, false, latest}, word);
    if (!out || out == latest || out->dtype != dtype_ || !depends(out, latest) || !is_small(*out)) return nullptr;
    out_.inputs = draw_all();
    reference::EvaluateOptions how;
    how.keep = {out->name};
    if (!is_telling(reference::evaluate(*out_.fusion, to_map(out_.inputs), how).at(out->name))) return nullptr;
    out_.links.push_back({latest, out, word});
    return out;
  }

  std::mt19937_64 random_;
  DType dtype_;
  Chain out_;
  std::vector<TensorView*> pool_;
  TensorView* seed_input_ = nullptr;
};

std::vector<Chain> make_chains(DType dtype, uint64_t first, size_t count) {
  std::vector<Chain> out;
  for (uint64_t seed = first; out.size() < count; ++seed) {
    Chain chain = Generator(seed, dtype).make();
    if (chain.links.size() >= 5) out.push_back(std::move(chain));
  }
  return out;
}

Tensors run(const Fusion& fusion, const Tensors& inputs, const std::string& device) {
  CompileOptions how;
  how.device = device;
  return compile(fusion, how).run(inputs);
}

// The result of a device, which must lie inside of the radius; the largest error over radius is noted.
Tensor expect_inside(const Chain& chain, const std::string& device, double& worst) {
  Tensor y;
  try {
    y = run(*chain.fusion, chain.inputs, device).at("y");
  } catch (const std::exception& error) {
    throw std::runtime_error(
        fmt::format("seed {} on {}: {}\n{}", chain.seed, device, error.what(), print(*chain.fusion)));
  }
  const auto check = reference::compare("y", chain.want, y);
  EXPECT_TRUE(check.ok) << "seed " << chain.seed << " on " << device << ": " << check.message << "\n"
                        << print(*chain.fusion);
  worst = std::max(worst, check.max_error);
  return y;
}

// Radius over rounding unit and value of the elements that are known, the one in the middle, per op.
double units_per_op(const Chain& chain) {
  const reference::Array& want = chain.want;
  std::vector<double> ratios;
  for (int64_t i = 0; i < want.elements(); ++i) {
    const double size = std::abs(want.value[static_cast<size_t>(i)]);
    if (!want.excused_at(i) && size > 0 && std::isfinite(size))
      ratios.push_back(want.radius_at(i) / (unit_roundoff(want.dtype) * size));
  }
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle / static_cast<double>(chain.links.size());
}

// The least number that, added by a device to an element, moves it by three radii whatever the sum's rounding takes
// back, and by one unit where the radius is 0. None where nothing is known of the element or the dtype ends there.
std::optional<double> error_of_three_radii(const reference::Array& want, int64_t i) {
  const double value = want.value[static_cast<size_t>(i)], radius = want.radius_at(i);
  if (want.excused_at(i) || !std::isfinite(value) || !std::isfinite(radius)) return std::nullopt;
  const double unit = ulp(want.dtype, value == 0 ? 1 : value);
  const double least = radius == 0 ? unit : 3 * radius + ulp(want.dtype, std::abs(value) + 4 * radius + unit) / 2;
  double error = round_to(want.dtype, least);
  while (error < least) error = round_to(want.dtype, error + ulp(want.dtype, error));
  if (!std::isfinite(round_to(want.dtype, std::abs(value) + 2 * error))) return std::nullopt;
  return std::copysign(error, value);
}

struct Plants {
  int made = 0, found = 0, elements = 0, possible = 0, chains_without = 0;
};

// The device itself adds the errors, by one more op of the chain, at up to five elements: the check must name each of
// them alone, and nothing else.
void plant_in_device(const Chain& chain, const std::string& device, const Tensor& y, Plants& plants) {
  const reference::Array& want = chain.want;
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < want.elements(); ++i, ++plants.elements)
    if (error_of_three_radii(want, i)) chosen.push_back(i);
  plants.possible += static_cast<int>(chosen.size());
  plants.chains_without += chosen.empty();
  std::shuffle(chosen.begin(), chosen.end(), std::mt19937_64(chain.seed));
  chosen.resize(std::min<size_t>(chosen.size(), 5));
  std::vector<double> errors(want.value.size(), 0);
  for (int64_t i : chosen) errors[static_cast<size_t>(i)] = *error_of_three_radii(want, i);

  const auto wrong = clone(*chain.fusion);
  TensorView* clean = wrong->find("y");
  std::vector<Fusion::Extent> shape;
  for (int64_t n : want.shape) shape.emplace_back(n);
  TensorView* planted = pointwise(Pointwise::add, {clean, wrong->input("planted_error", shape, want.dtype)});
  wrong->output("planted", planted);
  Tensors inputs = chain.inputs;
  inputs.emplace("planted_error", Tensor::from_doubles(want.dtype, want.shape, errors));
  const std::vector<double> got = run(*wrong, inputs, device).at("planted").to_doubles();
  std::vector<double> rest = got;
  for (int64_t i : chosen) {
    std::vector<double> one = y.to_doubles();
    rest[static_cast<size_t>(i)] = one[static_cast<size_t>(i)];
    one[static_cast<size_t>(i)] = got[static_cast<size_t>(i)];
    const auto check = reference::compare("y", want, Tensor::from_doubles(want.dtype, want.shape, one));
    ++plants.made;
    plants.found += check.max_error > 1;
    EXPECT_GT(check.max_error, 1) << "seed " << chain.seed << " on " << device << ", element " << i << ": "
                                  << want.value[static_cast<size_t>(i)] << ", radius " << want.radius_at(i) << ", got "
                                  << got[static_cast<size_t>(i)] << "\n"
                                  << print(*chain.fusion);
  }
  const auto check = reference::compare("y", want, Tensor::from_doubles(want.dtype, want.shape, rest));
  EXPECT_TRUE(check.ok) << "seed " << chain.seed << ", no error planted: " << check.message;
}

// Chains that are wrong: how many give other numbers, and how many of those the check names.
struct Mutants {
  int made = 0, other = 0, caught = 0;
  double share() const { return static_cast<double>(caught) / std::max(other, 1); }
};

// Whether some element is off by over the share of itself: what the check should find, whatever its radius says.
bool differ(const reference::Array& a, const reference::Array& b, double share) {
  if (a.shape != b.shape) return true;
  for (size_t i = 0; i < a.value.size(); ++i)
    if (!a.excused_at(static_cast<int64_t>(i)) && std::abs(a.value[i] - b.value[i]) > share * std::abs(a.value[i]))
      return true;
  return false;
}

// Runs what is wrong on the CPU and compares with the right chain. Where the reference gives the same numbers for both,
// but for the share, nothing is wrong (relu of positive numbers may be dropped).
void judge(const Chain& chain, const std::string& what, const Fusion& wrong, const Tensors& inputs, double share,
           Mutants& mutants) {
  ++mutants.made;
  if (!differ(chain.want, reference::evaluate(wrong, to_map(inputs), {}).at("y"), share)) return;
  ++mutants.other;
  const bool caught = !reference::compare("y", chain.want, run(wrong, inputs, "cpu").at("y")).ok;
  mutants.caught += caught;
  if (!caught) std::printf("seed %llu %s: not caught\n", static_cast<unsigned long long>(chain.seed), what.c_str());
}

// The text of the chain where the link's op is a copy of its operand; "" where it changes the shape.
std::string without(const Chain& chain, const Link& link) {
  if (link.in->dtype != link.out->dtype || link.in->shape() != link.out->shape()) return "";
  if (link.out->definition->results.size() > 1) return "";
  std::string text = print(*chain.fusion);
  const size_t at = text.find("\n  %" + link.out->name + ": " + type_text(*link.out) + " = ");
  PLAIT_CHECK(at != text.npos, "no line of %{} in\n{}", link.out->name, text);
  const size_t from = text.find(" = ", at) + 3;
  return text.replace(from, text.find('\n', from) - from, fmt::format("set(%{})", link.in->name));
}

void drop_an_op(const Chain& chain, Mutants& mutants) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const Link& link : chain.links)
    if (std::string text = without(chain, link); !text.empty()) texts.emplace_back("without %" + link.out->name, text);
  if (texts.empty()) return;
  const auto& [what, text] = texts[std::mt19937_64(chain.seed)() % texts.size()];
  judge(chain, what, *parse_fusion(text), chain.inputs, 0.1, mutants);
}

// Every element of the chain's first operand is off by so many rounding units of its value.
void move_an_operand(const Chain& chain, double units, Mutants& mutants) {
  Tensors inputs = chain.inputs;
  const Tensor& x = inputs.at("x0");
  std::vector<double> values = x.to_doubles();
  for (double& v : values) v *= 1 + units * unit_roundoff(x.dtype);
  inputs.at("x0") = Tensor::from_doubles(x.dtype, x.shape, values);
  judge(chain, fmt::format("with %x0 off by {} units", units), *chain.fusion, inputs, 0, mutants);
}

void print_mutants(const char* what, const Mutants& m) {
  std::printf("%s: %d, of which %d give other numbers, of which %d (%.0f %%) are caught\n", what, m.made, m.other,
              m.caught, 100 * m.share());
}

// Ops that are no step of a chain: results that are no floats, mere bits, or depend on no operand; products (which have
// tests of their own); and what makes zeros of most numbers of usual size.
bool is_no_step(const OpWord& word) {
  static const std::set<std::string> kOthers = {"linear",  "matmul",  "argmax", "argmin",  "argsort",
                                                "any",     "all",     "eye",    "one_hot", "embedding",
                                                "bitcast", "dropout", "sign",   "trunc",   "hardshrink"};
  if (kOthers.count(text(word)) > 0 || property(word.kind) == OpProperty::creation) return true;
  if (word.kind != OpKind::PointwiseOp) return false;
  switch (info(static_cast<Pointwise>(word.which)).type_rule) {
    case TypeRule::compare:
    case TypeRule::test:
    case TypeRule::logical:
    case TypeRule::bits:
    case TypeRule::shift:
      return true;
    default:
      return false;
  }
}

void print_plants(const Plants& p) {
  std::printf("%d errors of three radii planted, %d found; possible at %d of %d elements\n", p.made, p.found,
              p.possible, p.elements);
}

void print_size(const std::vector<Chain>& chains, const std::string& devices, double worst, double& median) {
  std::vector<double> units;
  std::set<OpWord> words;
  size_t ops = 0;
  int64_t open = 0, elements = 0;
  for (const Chain& chain : chains) {
    units.push_back(units_per_op(chain));
    ops += chain.links.size();
    for (const Link& link : chain.links) words.insert(link.word);
    for (int64_t i = 0; i < chain.want.elements(); ++i, ++elements) open += chain.want.excused_at(i);
  }
  std::sort(units.begin(), units.end());
  median = units.at(units.size() / 2);
  std::printf(
      "%zu chains of %s, %zu ops of %zu kinds, on %s: radius per op, in units of the value: median %.2f, of a tenth "
      "over %.1f; largest error / radius %.2f; %.2f %% open\n",
      chains.size(), std::string(name(chains[0].want.dtype)).c_str(), ops, words.size(), devices.c_str(), median,
      units.at(units.size() * 9 / 10), worst, 100.0 * static_cast<double>(open) / static_cast<double>(elements));
  if (chains.size() < 500) return;
  for (const OpWord& word : testing::op_words()) {
    EXPECT_TRUE(words.count(word) > 0 || is_no_step(word)) << text(word) << " is in no chain";
  }
}

// `least_moved`: which share of the chains whose operand is off by 64 units must be caught.
void run_chains(DType dtype, uint64_t first, size_t count, double least_moved) {
  const std::vector<Chain> chains = make_chains(dtype, first, count);
  double worst = 0, median = 0;
  Plants plants;
  Mutants dropped, moved;
  for (size_t i = 0; i < chains.size() && !::testing::Test::HasFailure(); ++i) {
    const Tensor y = expect_inside(chains[i], "cpu", worst);
    expect_inside(chains[i], "reference", worst);
    plant_in_device(chains[i], "cpu", y, plants);
    drop_an_op(chains[i], dropped);
    move_an_operand(chains[i], 64, moved);
  }
  print_size(chains, "cpu and reference", worst, median);
  print_plants(plants);
  print_mutants("chains without one op, numbers off by a tenth", dropped);
  print_mutants("chains with an operand off by 64 units", moved);
  EXPECT_EQ(plants.chains_without, 0);
  EXPECT_EQ(plants.found, plants.made);
  if (count < 100) return;  // too few for shares
  EXPECT_LE(median, 8);
  EXPECT_GT(worst, 0.1) << "no device comes near its bound";
  EXPECT_GE(dropped.share(), 0.9);
  EXPECT_GE(moved.share(), least_moved);
}

// The same chains on both simulated GPUs by turns; every fifth has errors planted.
void run_simulated(DType dtype, uint64_t first, size_t count) {
  const std::string devices[] = {"sim:sm_80", "sim:sm_90a"};
  for (const std::string& device : devices)
    if (const std::string why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
  const std::vector<Chain> chains = make_chains(dtype, first, count);
  double worst = 0, median = 0;
  Plants plants;
  for (size_t i = 0; i < chains.size() && !::testing::Test::HasFailure(); ++i) {
    const std::string& device = devices[chains[i].seed % 2];
    const Tensor y = expect_inside(chains[i], device, worst);
    if (i % 5 == 0) plant_in_device(chains[i], device, y, plants);
  }
  print_size(chains, "simulated GPUs", worst, median);
  print_plants(plants);
  EXPECT_GT(plants.made, 0);
  EXPECT_EQ(plants.found, plants.made);
  if (count < 20) return;  // a few chains need not come near it
  EXPECT_GT(worst, 0.1) << "no device comes near its bound";
}

TEST(RandomChains, F32) { run_chains(DType::f32, 1, testing::drawn_here(40), 0.4); }
TEST(RandomChains, Bf16) { run_chains(DType::bf16, 1, testing::drawn_here(40), 0.85); }
TEST(RandomChains, F32OnSimulatedGpus) { run_simulated(DType::f32, 1, testing::drawn_here(20)); }
TEST(RandomChains, Bf16OnSimulatedGpus) { run_simulated(DType::bf16, 1, testing::drawn_here(20)); }
TEST(RandomChains, LongRunF32) { run_chains(DType::f32, 1000, 500, 0.4); }
TEST(RandomChains, LongRunBf16) { run_chains(DType::bf16, 1000, 500, 0.85); }
TEST(RandomChains, LongRunF32OnSimulatedGpus) { run_simulated(DType::f32, 1000, 500); }
TEST(RandomChains, LongRunBf16OnSimulatedGpus) { run_simulated(DType::bf16, 1000, 500); }

}  // namespace
}  // namespace plait
