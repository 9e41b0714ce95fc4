// What a program keeps of the sizes that it has seen is bounded, and so are the mappings of its machine code.
#include <gtest/gtest.h>

#include <fstream>

#include "plait.h"
#include "session/kept.h"

namespace plait {
namespace {

int64_t mappings() {
  std::ifstream file("/proc/self/maps");
  int64_t out = 0;
  for (std::string line; std::getline(file, line);) ++out;
  return out;
}

Tensor ones(std::vector<int64_t> shape) {
  Tensor out = Tensor::empty(f32, std::move(shape));
  std::fill_n(static_cast<float*>(out.data()), out.elements(), 1.0f);
  return out;
}

// Two kernels with a temporary of the input's size between them.
std::unique_ptr<Fusion> two_kernels(double factor = 0.5) {
  auto f = std::make_unique<Fusion>();
  TensorView* x = f->input("x", {"n", 64}, f32);
  f->output("y", mul(sum(exp(x), {1}), factor));
  return f;
}

struct Seen {
  int64_t most_count = 0, most_bytes = 0, most_mappings = 0;
};
Seen run_sizes(Compiled& program, int64_t sizes) {
  Seen seen;
  for (int64_t n = 1; n <= sizes; ++n) {
    program.run({{"x", ones({n, 64})}});
    seen.most_count = std::max(seen.most_count, static_cast<int64_t>(program.kept_sizes().count));
    seen.most_bytes = std::max(seen.most_bytes, program.kept_sizes().bytes);
    if (n % 50 == 0) seen.most_mappings = std::max(seen.most_mappings, mappings());
  }
  return seen;
}

TEST(KeptSizes, AreBoundedByCount) {
  CompileOptions how;
  how.device = "cpu";
  how.options.kept_sizes = 8;
  Compiled program = compile(*two_kernels(), how);
  run_sizes(program, 40);
  const int64_t before = mappings();
  const Seen seen = run_sizes(program, 300);
  EXPECT_EQ(seen.most_count, 8);
  EXPECT_LE(seen.most_mappings - before, 40);
}

// Pieces of several ranks stay between runs.
TEST(KeptSizes, AreBoundedByBytes) {
  CompileOptions how;
  how.device = "cpu";
  how.options.kept_bytes = 100000;
  how.options.kept_sizes = 0;
  how.ranks = 2;
  const auto fusion = parse_fusion(
      "mesh @m (tp = t)\nfusion @f on @m (%x: f32[n, 64] {0: tp}) -> (%y) {\n  %y = sum(%x, dims = [1])\n}\n");
  Compiled program = compile(*fusion, how);
  const Seen seen = run_sizes(program, 300);
  EXPECT_GT(seen.most_count, 1);
  EXPECT_LE(seen.most_bytes, 100000);  // the largest size alone is below
  EXPECT_GT(seen.most_bytes, 50000);
}

// Arenas and outputs on the host are those of the device's pool.
TEST(KeptSizes, OneRankOnTheHostHoldsNoMemory) {
  Compiled program = compile(*two_kernels(), {.device = "cpu"});
  const Seen seen = run_sizes(program, 4);
  EXPECT_EQ(seen.most_count, 4);
  EXPECT_EQ(seen.most_bytes, 0);
}

TEST(KeptSizes, SpecializationsAreBounded) {
  CompileOptions how;
  how.device = "cpu";
  how.options.kept_specializations = 2;
  how.options.contractions = "nest";
  Fusion f;
  f.output("y", mul(f.input("x", {"n", "m", "k"}, f32), 2));
  Compiled program = compile(f, how);
  for (int64_t n : {3, 16})
    for (int64_t m : {3, 16})
      for (int64_t k : {3, 16}) {
        const Tensors y = program.run({{"x", ones({n, m, k})}});
        EXPECT_EQ(static_cast<const float*>(y.at("y").data())[n * m * k - 1], 2.0f);
        EXPECT_LE(program.classes(), 2u);
      }
  program.run({{"x", ones({3, 3, 3})}});  // compiled again
  EXPECT_EQ(program.classes(), 2u);
}

TEST(KeptSizes, TheOneUsedLongestAgoGoesFirst) {
  Kept<int, int> kept;
  for (int i = 0; i < 3; ++i) kept.add(i, std::make_shared<int>(i), 10, 3, 0);
  const auto held = kept.find(0);  // used last now
  kept.add(3, std::make_shared<int>(3), 10, 3, 0);
  EXPECT_EQ(kept.find(1), nullptr);
  EXPECT_NE(kept.find(0), nullptr);
  kept.add(4, std::make_shared<int>(4), 1000, 0, 100);  // larger than all may be: it stays alone
  EXPECT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept.bytes(), 1000);
  EXPECT_EQ(*held, 0);  // who uses a value keeps it
}

// Kernels lie side by side: their number is not the number of mappings.
TEST(KeptSizes, KernelsShareMappings) {
  std::vector<Compiled> programs;
  int64_t before = 0;
  for (int i = 0; i < 150; ++i) {
    if (i == 10) before = mappings();
    programs.push_back(compile(*two_kernels(1.0 + i)));
    programs.back().prepare({{"x", {f32, {5, 64}}}});
  }
  EXPECT_LE(mappings() - before, 60);
}

TEST(KeptSizes, TenThousandSizesLongRun) {
  Compiled program = compile(*two_kernels(), {.device = "cpu"});
  run_sizes(program, 100);
  const int64_t before = mappings();
  const Seen seen = run_sizes(program, 10000);
  EXPECT_EQ(seen.most_count, Options().kept_sizes);
  EXPECT_LE(seen.most_bytes, Options().kept_bytes);
  EXPECT_LE(seen.most_mappings - before, 200);
}

}  // namespace
}  // namespace plait
