// The tensor-parallel MLP built with the C++ API.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "backend/cpu/cpu_device.h"
#include "base/error.h"
#include "plait.h"
#include "reference/check.h"
#include "reference/draw_inputs.h"
#include "session/devices.h"
#include "support/forwarding_device.h"

namespace plait {
namespace {

struct TpMlp {
  Mesh m{"m", {{"tp", 0, "t"}}};
  Fusion f{m, "tp_mlp"};
  TpMlp() {
    f.let("sb", 64);
    f.let("h", 128);
    f.let("h4", 512);
    TensorView* x = f.input("x", {"sb", "h"}, f32);
    TensorView* w0 = f.parameter("w0", {"h4", "h"}, f32);
    TensorView* b0 = f.parameter("b0", {"h4"}, f32);
    TensorView* w1 = f.parameter("w1", {"h", "h4"}, f32);
    TensorView* b1 = f.parameter("b1", {"h"}, f32);
    TensorView* seed = f.input("seed", {}, u64);
    w0->shard(0, m["tp"]);
    b0->shard(0, m["tp"]);
    w1->shard(1, m["tp"]);
    TensorView* linear1 = f.output("linear1", linear(x, w0, b0));
    TensorView* g = f.output("gelu", gelu(linear1, Gelu::tanh));
    TensorView* linear2 = f.output("linear2", linear(g, w1, b1));
    f.output("dropout", dropout(linear2, 0.1, seed));
  }
};

TEST(CppApi, TpMlpRunsOnRanks) {
  TpMlp mlp;
  auto inputs = reference::draw_inputs(mlp.f, {});
  reference::EvaluateOptions evaluate;
  evaluate.ranks = 4;
  auto want = reference::evaluate(mlp.f, inputs, evaluate);
  auto p = compile(mlp.f, {.device = "cpu", .ranks = 4});
  Tensors outputs = p.run({inputs.begin(), inputs.end()});
  EXPECT_EQ(outputs.size(), 4u);
  for (const auto& [name, tensor] : outputs) {
    auto result = reference::compare(name, want.at(name), tensor);
    EXPECT_TRUE(result.ok) << result.message;
  }
  EXPECT_EQ(p.report().collectives, 1);
  EXPECT_EQ(p.report().local_shapes.at("linear1")[0], (std::vector<int64_t>{64, 128}));
}

// A library that takes every contraction and then refuses the sizes of each.
class RefusingDevice : public testing::ForwardingDevice {
 public:
  RefusingDevice() : ForwardingDevice(find_device("cpu", {})) {}
  std::shared_ptr<Executable> library(const LibraryContraction& contraction, std::string* why_not) override {
    return std::make_shared<Refusing>(inner_.library(contraction, why_not));
  }

 private:
  struct Refusing : Executable {
    explicit Refusing(std::shared_ptr<Executable> real) : real_(std::move(real)) {}
    void launch(const LaunchArguments&) const override { ADD_FAILURE() << "the library is asked to run"; }
    size_t workspace_bytes() const override { return real_ ? real_->workspace_bytes() : 0; }
    bool accepts(std::span<const int64_t>, std::string* why_not) const override {
      if (why_not) *why_not = "these sizes are refused";
      return false;
    }
    std::shared_ptr<Executable> real_;
  };
};

TEST(CppApi, ProductsThatTheLibraryRefusesAreGenerated) {
  TpMlp mlp;
  auto inputs = reference::draw_inputs(mlp.f, {});
  const auto want = reference::evaluate(mlp.f, inputs, {});
  CompileOptions options{.device = "cpu"};
  RefusingDevice refusing;
  options.device_override = &refusing;
  auto p = compile(mlp.f, options);
  for (int i = 0; i < 2; ++i) {
    for (const auto& [name, tensor] : p.run({inputs.begin(), inputs.end()})) {
      auto result = reference::compare(name, want.at(name), tensor);
      EXPECT_TRUE(result.ok) << result.message;
    }
    EXPECT_EQ(p.report().library_calls, 0);
  }
}

// The contraction's memory is an output of another name.
TEST(CppApi, ProductsThatTheLibraryRefusesAreGeneratedUnderAnAlias) {
  const auto fusion = parse_fusion(
      "fusion @f (%x: f32[6, 8], %w: f32[10, 8]) -> (%y) {\n  %h = linear(%x, %w)\n"
      "  %y = reshape(%h, shape = [2, 3, 10])\n}\n");
  auto inputs = reference::draw_inputs(*fusion, {});
  const auto want = reference::evaluate(*fusion, inputs, {});
  CompileOptions options{.device = "cpu"};
  RefusingDevice refusing;
  for (const bool refused : {false, true}) {
    if (refused) options.device_override = &refusing;
    auto p = compile(*fusion, options);
    const Tensors out = p.run({inputs.begin(), inputs.end()});
    const auto result = reference::compare("y", want.at("y"), out.at("y"));
    EXPECT_TRUE(result.ok) << result.message;
    EXPECT_EQ(p.report().library_calls, refused ? 0 : 1);
  }
}

// Inputs that begin anywhere are read where they lie: contractions, reductions, moves, whole vectors and tails.
TEST(CppApi, InputsThatAreNotAlignedAreReadInPlace) {
  const std::string text =
      "let m = 9, n = 133, k = 17, T = f32\n"
      "fusion @f (%x: T[m, n], %w: T[k, n], %b: T[n]) -> (%y, %s, %t, %p) {\n  %h = add(%x, %b)\n"
      "  %y = gelu(%h)\n  %s = sum(%x, dims = [1])\n  %t = permute(%x, dims = [1, 0])\n  %p = linear(%x, %w)\n}\n";
  for (const char* dtype : {"f32", "bf16"}) {
    ParseOptions parse;
    parse.set["T"] = dtype;
    const auto f = parse_fusion(text, parse);
    auto inputs = reference::draw_inputs(*f, {});
    const auto want = reference::evaluate(*f, inputs, {});
    Tensors moved;
    for (const auto& [name, t] : inputs) {
      Tensor room = Tensor::empty(t.dtype, {t.elements() + 1});
      room.byte_offset = size_of(t.dtype);
      room.shape = t.shape, room.strides = t.strides;
      std::memcpy(room.data(), t.data(), t.bytes());
      moved[name] = room;
    }
    auto p = compile(*f, {.device = "cpu"});
    HostAllocator counted;
    RunOptions run;
    run.allocator = &counted;
    for (const auto& [name, tensor] : p.run(moved, run)) {
      const auto result = reference::compare(name, want.at(name), tensor);
      EXPECT_TRUE(result.ok) << result.message;
    }
    EXPECT_EQ(counted.allocations(), 4) << "outputs, and no copy of an input";
    EXPECT_EQ(p.report().bytes_copied, 0);
  }
}

// Those that cannot be, in the report of the run: strided inputs, and elements that are not aligned to their size.
TEST(CppApi, BytesOfInputsThatAreCopiedAreCounted) {
  const auto f = parse_fusion("fusion @f (%x: f32[3, 4], %b: f32[4]) -> (%y) {\n  %y = add(%x, %b)\n}\n");
  for (const char* device : {"cpu", "reference"}) {
    auto p = compile(*f, {.device = device});
    const auto drawn = reference::draw_inputs(*f, {});
    const Tensors dense(drawn.begin(), drawn.end());
    const Tensor y = p.run(dense).at("y");
    EXPECT_EQ(p.report().bytes_copied, 0) << device;
    EXPECT_EQ(p.report().launches, 1);
    EXPECT_EQ(p.report().bytes_moved, 48 + 16 + 48);
    EXPECT_EQ(p.report().bytes_least, 48 + 16 + 48);
    Tensors strided = dense, shifted = dense;
    Tensor wide = Tensor::empty(f32, {3, 9});
    wide.shape = {3, 4};
    for (int64_t row = 0; row < 3; ++row)
      std::memcpy(static_cast<float*>(wide.data()) + 9 * row, static_cast<const float*>(dense.at("x").data()) + 4 * row,
                  16);
    strided["x"] = wide;
    Tensor odd = Tensor::empty(DType::u8, {17});
    odd.dtype = f32, odd.shape = {4}, odd.strides = {1}, odd.byte_offset = 1;
    std::memcpy(odd.data(), dense.at("b").data(), 16);
    shifted["b"] = odd;
    using Case = std::pair<const Tensors*, int64_t>;
    for (const auto& [inputs, bytes] : {Case{&strided, 48}, Case{&shifted, 16}, Case{&dense, 0}}) {
      EXPECT_EQ(p.run(*inputs).at("y").to_doubles(), y.to_doubles()) << device;
      EXPECT_EQ(p.report().bytes_copied, bytes) << device;
    }
  }
}

// One compiled program on several threads, classes of sizes that compile meanwhile included.
TEST(CppApi, ThreadsRunOneProgramAtOnce) {
  const auto fusion = parse_fusion(
      "fusion @f (%x: f32[m, n], %w: f32[k, n]) -> (%y, %s) {\n  %h = linear(%x, %w)\n"
      "  %s = softmax(%h, dim = -1)\n  %y = gelu(%s)\n}\n");
  for (const char* device : {"cpu", "reference"}) {
    std::vector<Tensors> inputs, expected;
    auto serial = compile(*fusion, {.device = device}), shared = compile(*fusion, {.device = device});
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t m = 5 + i % 2, n = 24, k = 40;
      std::vector<double> x, w;
      for (int64_t e = 0; e < m * n; ++e) x.push_back(double((e * 7 + i) % 11) / 8);
      for (int64_t e = 0; e < k * n; ++e) w.push_back(double((e * 5 + i) % 13) / 16);
      inputs.push_back({{"x", Tensor::from_doubles(f32, {m, n}, x)}, {"w", Tensor::from_doubles(f32, {k, n}, w)}});
      expected.push_back(serial.run(inputs.back()));
    }
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (size_t t = 0; t < inputs.size(); ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 30; ++i) {
          const Tensors out = shared.run(inputs[t]);
          for (const char* name : {"y", "s"})
            if (out.at(name).to_doubles() != expected[t].at(name).to_doubles()) ++wrong;
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0) << device;
  }
}

// Outputs that were dropped are the memory of later ones.
TEST(CppApi, OutputsComeFromThePool) {
  const auto fusion = parse_fusion("fusion @f (%x: f32[n]) -> (%y) {\n  %y = neg(%x)\n}\n");
  CompileOptions how{.device = "cpu"};
  how.options.kept_memory = 100;  // a device, and so a pool, of its own
  auto p = compile(*fusion, how);
  const Tensor x = Tensor::from_doubles(f32, {1 << 20}, std::vector<double>(1 << 20, 1.5));
  Device& memory = find_device("cpu", how.options);
  const void* first = p.run({{"x", x}}).at("y").data();
  const MemoryCounts before = memory_counts(memory);
  EXPECT_GE(before.held_bytes, 4 << 20);
  for (int i = 0; i < 3; ++i) {
    const Tensor y = p.run({{"x", x}}).at("y");
    EXPECT_EQ(y.data(), first);
    EXPECT_EQ(y.at(12345), -1.5);
  }
  const Tensor kept = p.run({{"x", x}}).at("y");
  EXPECT_NE(p.run({{"x", x}}).at("y").data(), kept.data());
  EXPECT_EQ(memory_counts(memory).misses, before.misses + 1);
  HostAllocator mine;
  RunOptions guest;
  guest.allocator = &mine;
  p.run({{"x", x}}, guest);
  EXPECT_EQ(mine.allocated_bytes(), 4 << 20);
  how.options.kept_memory = 0;
  compile(*fusion, how).run({{"x", x}});
  EXPECT_EQ(memory_counts(find_device("cpu", how.options)).held_bytes, 0);
}

TEST(CppApi, PrepareCompilesAheadAndRunLocalTakesOneRank) {
  TpMlp mlp;
  auto p = compile(mlp.f, {.device = "cpu"});
  EXPECT_THROW(p.report(), UserError);  // nothing is compiled yet
  auto inputs = reference::draw_inputs(mlp.f, {});
  Metadata metadata;
  for (const auto& [name, t] : inputs) metadata[name] = {t.dtype, t.shape};
  p.prepare(metadata);
  const Program* program = &p.program();
  Tensors all = p.run({inputs.begin(), inputs.end()});
  EXPECT_EQ(&p.program(), program);
  Tensors local = p.run_local(0, {inputs.begin(), inputs.end()});
  EXPECT_EQ(all.at("dropout").to_doubles(), local.at("dropout").to_doubles());
  EXPECT_THROW(p.run_local(1, {inputs.begin(), inputs.end()}), UserError);
}

// Stages that are kept and those that are made again: with the steps that the bisection left out.
TEST(CppApi, TextsAreThoseOfTheCompilation) {
  for (const bool bisected : {false, true}) {
    TpMlp mlp;
    auto passes = std::make_unique<PassControl>();
    if (bisected) passes->bisect = 0;
    DumpSink dumps;
    std::map<std::string, std::string> seen;
    dumps.listen(
        [&](std::string_view stage, std::string_view, std::string_view text) { seen[std::string(stage)] += text; },
        true);
    auto p = compile(mlp.f, {.device = "cpu", .ranks = 2, .dumps = &dumps, .passes = passes.get()});
    const auto inputs = reference::draw_inputs(mlp.f, {});
    p.run({inputs.begin(), inputs.end()});
    passes = nullptr;
    for (const char* stage : {"fusion", "graph", "sharded", "localized", "segments", "params", "scheduled", "kir",
                              "llvm", "program", "memory"})
      EXPECT_EQ(p.stage_text(stage), seen.at(stage)) << stage << " bisected " << bisected;
    EXPECT_EQ(p.report().kernels.size() > 4, bisected) << p.report().kernels.size();
  }
}

TEST(CppApi, RanksThatDoNotFitTheMeshAreRefused) {
  Mesh m{"m", {{"dp", 2, ""}, {"tp", 2, ""}}};
  Fusion f{m};
  TensorView* x = f.input("x", {8}, f32);
  f.output("y", relu(x));
  try {
    compile(f, {.ranks = 3});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("dp = 2, tp = 2"), std::string::npos) << e.what();
  }
  EXPECT_THROW(compile(f, {.device = "tpu"}), UserError);
  EXPECT_THROW(compile(f, {.device = "cuda"}), MissingError);
}

// A caller's memory is used in place and kept by the caller.
TEST(CppApi, WrapsTheCallersMemory) {
  Fusion f;
  f.output("y", mul(f.input("x", {"n"}, f32), 2.0));
  auto p = compile(f, {.device = "cpu"});
  std::vector<float> data = {1, 2, 3, 4, 5};
  auto y = p.run({{"x", Tensor::wrap(f32, {5}, data.data())}}).at("y");
  EXPECT_EQ(y.to_doubles(), (std::vector<double>{2, 4, 6, 8, 10}));
  EXPECT_EQ(data, (std::vector<float>{1, 2, 3, 4, 5}));
  EXPECT_EQ(p.run({{"x", Tensor::empty(f32, {0})}}).at("y").elements(), 0);
  EXPECT_EQ(p.run({{"x", Tensor::wrap(f32, {1}, data.data() + 1)}}).at("y").to_doubles(), (std::vector<double>{4}));
}

TEST(CppApi, SizesThatContradictAFactAreRefused) {
  Fusion f;
  f.given(sym::parse_facts("n: 8 in 8..64"));
  f.output("y", reshape(f.input("x", {"n"}, f32), {8, "floordiv(n, 8)"}));
  Compiled compiled = compile(f, {.device = "cpu"});
  EXPECT_EQ(compiled.run({{"x", Tensor::from_doubles(f32, {16}, std::vector<double>(16, 1.5))}}).at("y").shape,
            (std::vector<int64_t>{8, 2}));
  for (const int64_t n : {12, 72, 0}) {
    const Tensors given = {{"x", Tensor::from_doubles(f32, {n}, std::vector<double>(size_t(n), 1.5))}};
    for (const bool evaluated : {false, true}) {
      try {
        if (evaluated)
          reference::evaluate(f, {given.begin(), given.end()});
        else
          compiled.run(given);
        ADD_FAILURE() << n;
      } catch (const UserError& e) {
        EXPECT_NE(std::string(e.what()).find("contradicts what is known"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("symbol 'n'"), std::string::npos) << e.what();
      }
    }
  }
}

}  // namespace
}  // namespace plait
