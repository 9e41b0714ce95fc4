// Chains of 5 to 15 ops of one dtype, unsharded, of every op that gives numbers: each device stays inside of the
// evaluator's radius, an error of three radii leaves it, and the radius is a few rounding units of the value per op.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "plait.h"
#include "reference/check.h"
#include "reference/draw_inputs.h"
#include "scalar/convert.h"
#include "support/random_ops.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::OpWord;

constexpr int64_t kMostElements = 2048;

struct Chain {
  std::unique_ptr<Fusion> fusion;
  Tensors inputs;
  reference::Array want;
  std::vector<OpWord> words;
};

// Whether nothing bars a comparison of most elements, and whether they are numbers of a usual size.
bool is_telling(const reference::Array& array) {
  int64_t good = 0;
  for (int64_t i = 0; i < array.elements(); ++i) {
    const double size = std::abs(array.value[static_cast<size_t>(i)]);
    good += !array.excused_at(i) && size > 1e-6 && size < 1e6;
  }
  return good * 2 > array.elements();
}

class Generator {
 public:
  Generator(uint64_t seed, DType dtype) : random_(seed * 0x9E3779B97F4A7C15u + 3), seed_(seed), dtype_(dtype) {}

  Chain make() {
    out_.fusion = std::make_unique<Fusion>();
    Fusion& f = *out_.fusion;
    const std::vector<std::vector<Fusion::Extent>> shapes = {{6, 8}, {3, 5, 4}, {2, 7, 6}, {40}, {9, 16}};
    const auto& shape = shapes[draw(shapes.size())];
    for (int i = 0; i < 3; ++i) pool_.push_back(f.input("x" + std::to_string(i), shape, dtype_));
    seed_input_ = f.input("seed", {}, DType::u64);
    TensorView* latest = pool_[0];
    const size_t length = 5 + draw(11);
    for (int trial = 0; trial < 600 && out_.words.size() < length; ++trial)
      if (TensorView* next = step(latest)) latest = next;
    f.output("y", latest);
    out_.inputs = draw_all();
    out_.want = reference::evaluate(f, to_map(), {}).at("y");
    return std::move(out_);
  }

 private:
  size_t draw(size_t n) { return random_() % n; }
  std::map<std::string, Tensor> to_map() const { return {out_.inputs.begin(), out_.inputs.end()}; }
  Tensors draw_all() const {
    const auto drawn = reference::draw_inputs(*out_.fusion, {.seed = seed_});
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

  // One more op, or null where what was drawn is no number of the dtype, or has too few elements that tell anything.
  TensorView* step(TensorView* latest) {
    const OpWord& word = testing::op_words()[draw(testing::op_words().size())];
    std::vector<TensorView*> pool = pool_;
    pool.push_back(latest);
    TensorView* out = add_random_op({random_, *out_.fusion, pool, seed_input_, false, latest}, word);
    if (!out || out == latest || out->dtype != dtype_ || !depends(out, latest) || !is_small(*out)) return nullptr;
    out_.inputs = draw_all();
    reference::EvaluateOptions how;
    how.keep = {out->name};
    if (!is_telling(reference::evaluate(*out_.fusion, to_map(), how).at(out->name))) return nullptr;
    out_.words.push_back(word);
    return out;
  }

  std::mt19937_64 random_;
  uint64_t seed_;
  DType dtype_;
  Chain out_;
  std::vector<TensorView*> pool_;
  TensorView* seed_input_ = nullptr;
};

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
  return *middle / static_cast<double>(chain.words.size());
}

// An element is moved by three radii, or to the next number where that is less: the comparison must name it.
void expect_planted_error_found(const Chain& chain, const Tensor& got) {
  const reference::Array& want = chain.want;
  for (int64_t i = 0; i < want.elements(); ++i) {
    const double value = want.value[static_cast<size_t>(i)], distance = 3 * want.radius_at(i);
    if (want.excused_at(i) || !std::isfinite(value)) continue;
    std::vector<double> values = got.to_doubles();
    double moved = round_to(want.dtype, value + std::copysign(distance, value));
    while (std::isfinite(moved) && (moved == value || std::abs(moved - value) < distance))
      moved = round_to(want.dtype, moved + std::copysign(ulp(want.dtype, moved), value));
    if (!std::isfinite(moved)) continue;
    values[static_cast<size_t>(i)] = moved;
    const auto check = reference::compare("y", want, Tensor::from_doubles(want.dtype, got.shape, values));
    EXPECT_GT(check.max_error, 1) << "element " << i << ": " << value << " moved to " << moved << "\n"
                                  << print(*chain.fusion);
    return;
  }
}

struct Totals {
  int chains = 0, ops = 0, open = 0, elements = 0;
  double worst = 0;
  std::vector<double> units;
  std::set<OpWord> words;
};

void run_chain(const Chain& chain, uint64_t seed, const std::vector<std::string>& devices, Totals& totals) {
  for (const std::string& device : devices) {
    CompileOptions how;
    how.device = device;
    const Tensors out = compile(*chain.fusion, how).run(chain.inputs);
    const auto check = reference::compare("y", chain.want, out.at("y"));
    EXPECT_LE(check.max_error, 1) << "seed " << seed << " on " << device << ": " << check.message << "\n"
                                  << print(*chain.fusion);
    totals.worst = std::max(totals.worst, check.max_error);
    expect_planted_error_found(chain, out.at("y"));
  }
  ++totals.chains;
  totals.ops += static_cast<int>(chain.words.size());
  totals.words.insert(chain.words.begin(), chain.words.end());
  totals.units.push_back(units_per_op(chain));
  for (int64_t i = 0; i < chain.want.elements(); ++i, ++totals.elements) totals.open += chain.want.excused_at(i);
}

void run_chains(DType dtype, uint64_t first, int count) {
  std::vector<std::string> devices = {"cpu"};
  const bool sim = testing::why_no_device("sim:sm_80").empty();
  Totals totals;
  int failures = 0;
  for (uint64_t seed = first; totals.chains < count && failures < 5; ++seed) {
    const Chain chain = Generator(seed, dtype).make();
    if (chain.words.size() < 5) continue;
    devices.resize(1);
    if (sim) devices.push_back(seed % 2 == 0 ? "sim:sm_80" : "sim:sm_90a");
    const auto before = ::testing::Test::HasFailure();
    run_chain(chain, seed, devices, totals);
    failures += !before && ::testing::Test::HasFailure();
  }
  std::sort(totals.units.begin(), totals.units.end());
  const double median = totals.units.at(totals.units.size() / 2);
  std::printf(
      "%d chains of %s, %d ops of %zu kinds%s: radius per op, in units of the value: median %.2f, of a tenth over "
      "%.1f; "
      "largest error / radius %.2f; %.2f %% open\n",
      totals.chains, std::string(name(dtype)).c_str(), totals.ops, totals.words.size(), sim ? ", cpu and sim" : ", cpu",
      median, totals.units.at(totals.units.size() * 9 / 10), totals.worst, 100.0 * totals.open / totals.elements);
  EXPECT_LE(median, 8);
  EXPECT_LE(totals.open * 10, totals.elements);
  EXPECT_GT(totals.worst, 0.1) << "no device comes near its bound";
}

TEST(RandomChains, F32) { run_chains(DType::f32, 1, 20); }
TEST(RandomChains, Bf16) { run_chains(DType::bf16, 1, 20); }
TEST(RandomChains, LongRunF32) { run_chains(DType::f32, 1000, 500); }
TEST(RandomChains, LongRunBf16) { run_chains(DType::bf16, 1000, 500); }

}  // namespace
}  // namespace plait
