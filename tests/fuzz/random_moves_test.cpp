// Random fusions of moves and lookups with elementwise ops and now and then a reduction among them, on CPUs: what
// segmentation makes of them agrees with the reference at sizes of one specialization, has equal bits on all numbers of
// threads, and equal bits where every op has a kernel of its own.
#include <gtest/gtest.h>

#include <random>

#include "api/check_program.h"
#include "backend/cpu/cpu_device.h"
#include "base/error.h"
#include "reference/draw_inputs.h"
#include "support/run_case.h"
#include "support/sanitized.h"
#include "support/tensor_bits.h"

namespace plait {
namespace {

class MovesWriter {
 public:
  explicit MovesWriter(uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15u + 29) {}

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
  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  // The later, the likelier.
  const std::string& pick() {
    const int n = static_cast<int>(full_.size());
    return full_[static_cast<size_t>(std::max(below(n), below(n)))];
  }
  std::string define(const std::string& value) {
    const std::string name = fmt::format("%t{}", next_++);
    body_ += fmt::format("  {} = {}\n", name, value);
    return name;
  }
  void full(const std::string& value) { full_.push_back(define(value)); }

  // Moves that keep the shape, and those that come back to it.
  void step() {
    const std::string x = pick();
    const int d = below(3);
    const char* extent[] = {"a", "b", "c"};
    switch (below(16)) {
      case 0:
        return full(fmt::format("flip({}, dims = [{}])", x, d));
      case 1:
        return full(fmt::format("roll({}, shifts = [{}], dims = [{}])", x, 1 + below(3), d));
      case 2: {
        const int by = 1 + below(2);
        std::string low[] = {"0", "0", "0"}, high[] = {"0", "0", "0"};
        low[d] = fmt::format("{}", by);
        high[d] = fmt::format("{}", below(2));
        const auto list = [](const std::string* v) { return fmt::format("[{}, {}, {}]", v[0], v[1], v[2]); };
        const std::string p =
            define(fmt::format("pad({}, low = {}, high = {}, value = {})", x, list(low), list(high), below(3)));
        return full(fmt::format("slice({}, dim = {}, start = 0, stop = {})", p, d, extent[d]));
      }
      case 3: {
        const std::string c = define(fmt::format("cat({}, {}, dim = {})", x, pick(), d));
        return full(fmt::format("slice({0}, dim = {1}, start = 1, stop = {2} + 1)", c, d, extent[d]));
      }
      case 4: {
        const std::string c = define(fmt::format("cat({}, {}, dim = {})", x, pick(), d));
        return full(fmt::format("slice({0}, dim = {1}, start = 0, stop = 2*{2}, step = 2)", c, d, extent[d]));
      }
      case 5: {
        const std::string p = define(fmt::format("permute({}, dims = [0, 2, 1])", x));
        const std::string q = below(2) ? define(fmt::format("tanh({})", p)) : p;
        return full(fmt::format("permute({}, dims = [0, 2, 1])", q));
      }
      case 6: {
        const std::string r = define(fmt::format("reshape({}, shape = [a*b, c])", x));
        const std::string q = define(below(2) ? fmt::format("mul({}, %w)", r) : fmt::format("flip({}, dims = [0])", r));
        return full(fmt::format("reshape({}, shape = [a, b, c])", q));
      }
      case 7:
        return full(fmt::format("add({}, index_select(%e, %i, dim = 0))", x));
      case 8:
        return full(fmt::format("gather({}, dim = 0, %j)", define(fmt::format("cat({}, {}, dim = 0)", x, pick()))));
      case 9: {
        const std::string r = define(fmt::format("repeat({}, repeats = [1, 2, 1])", x));
        return full(fmt::format("slice({}, dim = 1, start = 1, stop = b + 1)", r));
      }
      default:
        return other_step(x);
    }
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
        return full(fmt::format("sub({}, {})", pick(), m));
      }
      case 2:
        return full(fmt::format("mul({}, %w)", x));
      case 3:
        return full(fmt::format("tanh({})", x));
      default:
        return full(fmt::format("add({}, {})", x, pick()));
    }
  }

  std::mt19937_64 random_;
  std::vector<std::string> full_;
  std::string body_;
  int next_ = 0;
};

struct MovesCounts {
  int drawn = 0, ops = 0, launches = 0;
};

void run_moves(uint64_t seed, MovesCounts& counts) {
  const std::string text = MovesWriter(seed).make();
  SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
  const auto fusion = parse_fusion(text);
  std::mt19937_64 random(seed);
  const int lanes = seed % 2 == 0 ? 4 : 0;  // narrow ones fit small sizes more often
  const auto one = make_cpu_device({.threads = 1, .lanes = lanes});
  const auto three = make_cpu_device({.threads = 3, .lanes = lanes});
  CompileOptions how, other;
  how.device_override = one.get();
  other.device_override = three.get();
  Compiled program = compile(*fusion, how), again = compile(*fusion, other);
  ++counts.drawn;
  for (int k = 0; k < 3; ++k) {
    reference::DrawOptions draw;
    draw.seed = seed + static_cast<uint64_t>(k);
    draw.sizes = {{"a", 1 + static_cast<int64_t>(random() % 3)},
                  {"b", 1 + static_cast<int64_t>(random() % (k == 2 ? 40 : 9))},
                  {"c", 1 + static_cast<int64_t>(random() % (k == 0 ? 4 : 70))}};
    const auto map = reference::draw_inputs(*fusion, draw);
    const Tensors inputs(map.begin(), map.end()), outputs = program.run(inputs);
    for (const OutputCheck& o : check_program(*fusion, how, program, inputs, outputs, {.one_rank = false}).outputs)
      EXPECT_TRUE(o.reference.ok) << o.reference.message;
    EXPECT_TRUE(testing::bits_of(again.run(inputs)) == testing::bits_of(outputs)) << "on 3 threads";
  }
  counts.ops += static_cast<int>(fusion->ops().size());
  counts.launches += static_cast<int>(program.program().count(StepKind::LaunchStep));
}

void run_many_moves(uint64_t first, int count) {
  MovesCounts counts;
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    try {
      run_moves(first + static_cast<uint64_t>(i), counts);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << first + static_cast<uint64_t>(i) << ": " << error.what() << "\n"
                    << MovesWriter(first + static_cast<uint64_t>(i)).make();
    }
  }
  std::printf("%d fusions of %d ops, %d launches\n", counts.drawn, counts.ops, counts.launches);
  EXPECT_LE(counts.launches, 2 * counts.drawn);
}

// Along a dim of one element a lookup may read what its kernel reduces.
TEST(RandomMoves, LookupsOfWhatTheKernelReduces) {
  for (const char* dim : {"1", "2"}) {
    const auto fusion = parse_fusion(fmt::format(
        "let a = 5, b = 3\nfusion @f (%x: f32[a, b, 1], %i: i32[] in 0..1) -> (%y) {{\n  %s = sum(%x, dims = [1], "
        "keepdim = true)\n  %g = index_select(%s, %i, dim = {})\n  %y = exp(%g)\n}}\n",
        dim));
    Compiled program = compile(*fusion, {});
    reference::DrawOptions draw;
    draw.sizes = {{"a", 5}, {"b", 3}};
    const auto map = reference::draw_inputs(*fusion, draw);
    const Tensors inputs(map.begin(), map.end()), outputs = program.run(inputs);
    EXPECT_EQ(program.report().kernels.size(), 1u);
    for (const OutputCheck& o : check_program(*fusion, {}, program, inputs, outputs, {.one_rank = false}).outputs)
      EXPECT_TRUE(o.reference.ok) << o.reference.message;
  }
}

TEST(RandomMoves, AgreeWithTheReference) { run_many_moves(1, testing::drawn_here(60)); }
TEST(RandomMoves, ThousandLongRun) { run_many_moves(1000, 1000); }

}  // namespace
}  // namespace plait
