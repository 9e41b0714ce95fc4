// Random graphs of one program each, run at size after size: many specializations, few of them kept.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "api/check_program.h"
#include "base/error.h"
#include "reference/draw_inputs.h"
#include "support/random_graph.h"
#include "support/run_case.h"
#include "support/sanitized.h"

namespace plait {
namespace {

struct Tally {
  int graphs = 0, runs = 0, refused = 0, undecided = 0;
};

// Symbols that the shapes of the inputs state by themselves.
std::vector<std::string> free_sizes(const Fusion& fusion) {
  std::set<std::string> stated;
  for (const TensorView* t : fusion.inputs())
    for (const Axis& a : t->domain.logical)
      if (a.extent.is_symbol()) stated.insert(a.extent.symbol_name());
  std::vector<std::string> out;
  for (const SizeLet& let : fusion.size_lets)
    if (stated.contains(let.name)) out.push_back(let.name);
  return out;
}

// Small ones, neighbours of the lanes' multiples, and a few hundreds.
int64_t draw_size(std::mt19937_64& random) {
  const uint64_t kind = random() % 8;
  if (kind == 0) return static_cast<int64_t>(random() % 2);
  if (kind == 1) return 8 * static_cast<int64_t>(1 + random() % 8) + static_cast<int64_t>(random() % 3) - 1;
  return static_cast<int64_t>(random() % (kind == 2 ? 300 : 40));
}

bool refuses(const Fusion& fusion, const Tensors& inputs) {
  try {
    compile(fusion, {.device = "reference"}).run(inputs);
    return false;
  } catch (const UserError&) {
    return true;
  }
}

void expect_equal_bits(const Tensors& again, const Tensors& before, const std::string& text) {
  for (const auto& [name, value] : again) {
    EXPECT_TRUE(value.bytes() == 0 || std::memcmp(value.data(), before.at(name).data(), value.bytes()) == 0)
        << "%" << name << " at the first sizes once more\n"
        << text;
  }
}

// One program at `sizes` sets of sizes; every `judge`-th is compared with the reference, and the first once more at the
// end, when its specialization is long forgotten: equal bits.
void run_graph(uint64_t seed, int sizes, int judge, Tally& tally) {
  const auto random = testing::make_random_case(seed);
  const auto fusion = parse_fusion(random.text);
  const std::vector<std::string> names = free_sizes(*fusion);
  if (names.empty()) return;
  ++tally.graphs;
  CompileOptions how;
  how.device = "cpu";
  how.ranks = random.ranks;
  how.options.kept_sizes = 6;
  how.options.kept_specializations = 3;
  how.options.poison = true;
  Compiled program = compile(*fusion, how);
  std::mt19937_64 draws(seed);
  Tensors first_inputs, first_outputs;
  for (int i = 0; i < sizes; ++i) {
    reference::DrawOptions draw;
    draw.seed = seed + static_cast<uint64_t>(i);
    for (const std::string& name : names) draw.sizes[name] = draw_size(draws);
    Tensors inputs, outputs;
    try {
      const auto drawn = reference::draw_inputs(*fusion, draw);
      inputs = Tensors(drawn.begin(), drawn.end());
      outputs = program.run(inputs);
    } catch (const UserError& e) {
      ++tally.refused;
      EXPECT_TRUE(random.ranks > 1 || inputs.empty() || refuses(*fusion, inputs))
          << "seed " << seed << " size " << i << "\n"
          << e.what() << "\n"
          << random.text;
      continue;
    }
    ++tally.runs;
    ASSERT_LE(program.kept_sizes().count, 6u) << "seed " << seed;
    ASSERT_LE(program.classes(), 3u) << "seed " << seed;
    if (first_outputs.empty()) {
      first_inputs = inputs;
      first_outputs = outputs;
    }
    if (i % judge != 0) continue;
    const auto check = check_program(*fusion, how, program, inputs, outputs, {.one_rank = false});
    tally.undecided += check.all.outcome() == reference::Outcome::undecided;
    EXPECT_TRUE(check.all.ok || check.all.outcome() == reference::Outcome::undecided)
        << "seed " << seed << " size " << i << "\n"
        << check.all.message << "\n"
        << random.text;
  }
  if (!first_outputs.empty()) expect_equal_bits(program.run(first_inputs), first_outputs, random.text);
}

void run_graphs(uint64_t first, int graphs, int sizes, int judge) {
  Tally tally;
  for (uint64_t seed = first; tally.graphs < graphs && !::testing::Test::HasFailure(); ++seed)
    run_graph(seed, sizes, judge, tally);
  std::printf("%d programs, %d runs at sizes of their own, %d refused, %d left undecided\n", tally.graphs, tally.runs,
              tally.refused, tally.undecided);
  EXPECT_GE(tally.runs * 2, graphs * sizes);
  EXPECT_LE(tally.undecided * 10, tally.runs);
}

TEST(RandomSizes, FortyOfEachProgram) { run_graphs(301, testing::drawn_here(3), 40, 5); }
TEST(RandomSizes, ThousandsLongRun) { run_graphs(401, 12, 2000, 40); }

}  // namespace
}  // namespace plait
