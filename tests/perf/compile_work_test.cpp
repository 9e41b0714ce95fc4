// Work of a whole compilation, up to the kernels' text, counted in allocations: near-linear in the ops of a graph.
#include <gtest/gtest.h>

#include <functional>

#include "backend/cpu/cpu_device.h"
#include "base/pass.h"
#include "plait.h"
#include "support/allocation_counter.h"
#include "support/run_case.h"

namespace plait {
namespace {

std::string name(const char* letter, int i) { return letter + std::to_string(i); }

// A mesh axis cuts the first dim of every input, or of every weight, where the graph has a mesh.
TensorView* input(Fusion& f, const std::string& tensor, const std::vector<Fusion::Extent>& shape) {
  TensorView* t = f.input(tensor, shape, f32);
  if (f.has_mesh()) t->shard(0, f.mesh()["m"]);
  return t;
}

void chain(Fusion& f, int ops) {
  TensorView* t = input(f, "x", {4096});
  for (int i = 0; i < ops; ++i) t = i % 3 ? sin(t) : add(t, t);
  f.output("y", t);
}

// linear, bias, gelu, residual.
void blocks(Fusion& f, int ops) {
  TensorView* t = f.input("x", {64, 64}, bf16);
  for (int i = 0; i < ops / 4; ++i) {
    TensorView* w = f.parameter(name("w", i), {64, 64}, bf16);
    TensorView* b = f.parameter(name("b", i), {64}, bf16);
    if (f.has_mesh()) w->shard(1, f.mesh()["m"]);
    t = add(gelu(linear(t, w, b)), t);
  }
  f.output("y", t);
}

void many_outputs(Fusion& f, int ops) {
  TensorView* x = input(f, "x", {4096});
  for (int i = 0; i < ops; ++i) f.output(name("y", i), mul(x, i + 2));
}

void many_inputs(Fusion& f, int ops) {
  TensorView* t = input(f, "x", {4096});
  for (int i = 0; i < ops; ++i) t = add(t, input(f, name("x", i), {4096}));
  f.output("y", t);
}

void random_numbers(Fusion& f, int ops) {
  TensorView* t = input(f, "x", {4096});
  TensorView* seed = f.input("seed", {}, u64);
  for (int i = 0; i < ops / 2; ++i) t = add(t, uniform(seed, {4096}));
  f.output("y", t);
}

// Every value of the first half is read in the second, the last one first.
void many_live(Fusion& f, int ops) {
  std::vector<TensorView*> made = {input(f, "x", {4096})};
  for (int i = 0; i < ops / 2; ++i) made.push_back(sin(made.back()));
  TensorView* t = made.back();
  for (int i = ops / 2; i > 0; --i) t = add(t, made[static_cast<size_t>(i - 1)]);
  f.output("y", t);
}

// Frames of zeros around what is inside of them.
void pads(Fusion& f, int ops) {
  TensorView* t = input(f, "x", {4096});
  for (int i = 0; i < ops / 2; ++i) t = pad(slice(t, 0, 1, -1), {2}, {0});
  f.output("y", t);
}

void many_parts(Fusion& f, int ops) {
  TensorView* x = input(f, "x", {64, 1});
  std::vector<TensorView*> parts;
  for (int i = 1; i < ops; ++i) parts.push_back(mul(x, i + 1));
  f.output("y", cat(parts, 1));
}

// Rows, and sums over all of them.
void column_sums(Fusion& f, int ops) {
  TensorView* t = input(f, "x", {512, 64});
  for (int i = 0; i < ops / 4; ++i) {
    t = sub(t, sum(t, {1}, true));
    f.output(name("c", i), sum(mul(t, i + 2), {0}));
  }
  f.output("y", t);
}

struct Graph {
  const char* name;
  void (*build)(Fusion&, int);
};

class CompileWork : public ::testing::TestWithParam<std::tuple<Graph, int>> {
 protected:
  // Allocations until the text of the last kernel.
  static int64_t work(int ops) {
    const auto& [graph, ranks] = GetParam();
    auto f = ranks > 1 ? std::make_unique<Fusion>(Mesh("mesh", {{"m", ranks}})) : std::make_unique<Fusion>();
    graph.build(*f, ops);
    Metadata metadata;
    for (const TensorView* t : f->inputs()) {
      std::vector<int64_t> shape;
      for (sym::Expr e : t->shape()) shape.push_back(e.value());
      metadata[t->name] = {t->dtype, shape};
    }
    CompileOptions how;
    how.device = "cpu";
    how.until = "llvm";
    Compiled program = compile(*f, how);
    const int64_t before = test::allocations();
    EXPECT_THROW(program.prepare(metadata), StoppedAt);
    return test::allocations() - before;
  }
};

// Dropouts differ by the offset of their numbers, which is an argument of the one kernel that all of them launch.
TEST(CompileWork, RandomOpsShareTheirKernel) {
  Fusion f;
  TensorView* t = f.input("x", {64, 64}, f32);
  TensorView* seed = f.input("seed", {}, u64);
  for (int i = 0; i < 12; ++i) {
    t = linear(t, f.parameter(name("w", i), {64, 64}, f32));
    t = dropout(t, 0.5, seed);
    if (i < 11) t = linear(t, f.parameter(name("v", i), {64, 64}, f32));
  }
  f.output("y", t);
  Compiled compiled = compile(f, {.device = "cpu"});
  Metadata metadata;
  for (const TensorView* input : f.inputs())
    metadata[input->name] = {input->dtype, std::vector<int64_t>(input->rank(), 64)};
  compiled.prepare(metadata);
  EXPECT_EQ(compiled.report().launches, 12);
  EXPECT_EQ(compiled.program().kernels.size(), 1u);
}

// What LLVM compiles for a fusion, in instructions behind its passes: these decide the time of a compilation. Bounds
// are what vectors of 16 lanes take, and a third.
class InstructionsOfKernels : public ::testing::TestWithParam<int> {};

TEST_P(InstructionsOfKernels, AreFew) {
  const auto device = make_cpu_device({.threads = 1, .lanes = GetParam()});
  const auto instructions = [&](const std::string& inputs, const std::string& body) {
    const auto f = parse_fusion(fmt::format("fusion @f ({}) -> (%y) {{\n{}\n}}\n", inputs, body));
    CompileOptions how;
    how.device_override = device.get();
    Compiled compiled = compile(*f, how);
    compiled.prepare(testing::metadata_of(*f));
    int64_t count = 0;
    for (const KernelReport& k : compiled.report().kernels) count += k.facts.instructions.value_or(0);
    return count;
  };
  const auto sines = [&](int count) {
    std::string body = "%t0 = tanh(%x)\n";
    for (int i = 1; i < count; ++i) body += fmt::format("%t{} = tanh(%t{})\n", i, i - 1);
    return instructions("%x: f32[4096]", fmt::format("{}%y = neg(%t{})", body, count - 1));
  };
  const int64_t few = sines(6), many = sines(24);
  EXPECT_GT(few, 6 * 10);
  EXPECT_LE(many, 4 * few) << few << " of 6 ops, " << many << " of 24";
  EXPECT_LE(instructions("%x: f32[512, 1024]", "%y = softmax(%x, dim = 1)"), 190);
  EXPECT_LE(instructions("%x: bf16[512, 1024], %w: bf16[1024], %b: bf16[1024]", "%y = layer_norm(%x, %w, %b)"), 180);
  EXPECT_LE(instructions("%x: f32[512, 1024], %z: f32[1024, 512]", "%y = add(%x, permute(%z, dims = [1, 0]))"), 330);
  EXPECT_LE(instructions("%x: f32[512, 1024]", "%y = sum(%x, dims = [0])"), 100);
}

INSTANTIATE_TEST_SUITE_P(Lanes, InstructionsOfKernels, ::testing::Values(4, 8, 16),
                         ::testing::PrintToStringParamName());

TEST_P(CompileWork, GrowsWithTheOps) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations are the sanitizer's";
  work(50);  // what is made once in a process
  const int64_t few = work(500), many = work(4000);
  EXPECT_LE(many, few * 10) << few << " allocations for 500 ops, " << many << " for 4,000";
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, CompileWork,
    ::testing::Combine(::testing::Values(Graph{"chain", chain}, Graph{"blocks", blocks},
                                         Graph{"many_outputs", many_outputs}, Graph{"many_inputs", many_inputs},
                                         Graph{"random_numbers", random_numbers}, Graph{"many_live", many_live},
                                         Graph{"pads", pads}, Graph{"many_parts", many_parts}),
                       ::testing::Values(1, 2)),
    [](const auto& info) { return fmt::format("{}_{}", std::get<0>(info.param).name, std::get<1>(info.param)); });
// Of one rank: a group is placed whenever another op is to join it.
INSTANTIATE_TEST_SUITE_P(Rows, CompileWork, ::testing::Values(std::tuple(Graph{"column_sums", column_sums}, 1)),
                         [](const auto& info) { return std::string(std::get<0>(info.param).name); });

}  // namespace
}  // namespace plait
