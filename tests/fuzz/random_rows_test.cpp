// Random fusions of reductions over the same dims of tensors of one shape, with elementwise ops before, between and
// behind them, by random numbers of schedule norm: rows, columns, dims that lie apart, one phase and several. Each is
// one kernel, agrees with the reference at sizes of one specialization and has equal bits on all numbers of threads.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "api/check_program.h"
#include "backend/cpu/cpu_device.h"
#include "base/error.h"
#include "reference/draw_inputs.h"
#include "schedule/norm.h"
#include "support/run_case.h"
#include "support/sanitized.h"
#include "support/tensor_bits.h"

namespace plait {
namespace {

struct RowsText {
  std::string text;
  bool split = false;
};

class RowsWriter {
 public:
  explicit RowsWriter(uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15u + 11) {}

  RowsText make() {
    rank_ = 1 + below(3);
    do
      for (int d = 0; d < rank_; ++d) reduced_[static_cast<size_t>(d)] = below(2) == 0;
    while (std::count(reduced_, reduced_ + rank_, true) == 0);
    full_ = {add("%x", false), add("%z", false)};
    kept_ = {add("%w", true)};
    const std::string inputs = fmt::format("%x: T[{0}], %z: T[{0}], %w: T[{1}]", shape(false), shape(true));
    reduction();
    for (int i = 0, n = 3 + below(9); i < n; ++i) step();
    std::string outputs;
    for (size_t i = 3; i < tensors_.size(); ++i)
      if (tensors_[i].readers == 0 || below(6) == 0) outputs += (outputs.empty() ? "" : ", ") + tensors_[i].name;
    return {
        fmt::format("let a = 3, b = 4, n = 5, T = f32\nfusion @f ({}) -> ({}) {{\n  segment @s (%x, %z, %w) -> ({}) "
                    "schedule norm({}) {{\n{}  }}\n}}\n",
                    inputs, outputs, outputs, numbers(), body_),
        split_};
  }

 private:
  struct Named {
    std::string name;
    bool kept = false;
    int readers = 0;
  };

  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }

  size_t add(const std::string& name, bool kept) {
    tensors_.push_back({name, kept, 0});
    return tensors_.size() - 1;
  }
  const std::string& read(size_t i) {
    ++tensors_[i].readers;
    return tensors_[i].name;
  }
  // The later, the likelier.
  size_t pick(const std::vector<size_t>& list) {
    const int n = static_cast<int>(list.size());
    return list[static_cast<size_t>(std::max(below(n), below(n)))];
  }

  std::string shape(bool kept) const {
    std::string out;
    for (int d = 0; d < rank_; ++d)
      out +=
          std::string(d > 0 ? ", " : "") + (kept && reduced_[static_cast<size_t>(d)] ? "1" : std::string(1, "abn"[d]));
    return out;
  }
  std::string dims() const {
    std::string out;
    for (int d = 0; d < rank_; ++d)
      if (reduced_[static_cast<size_t>(d)]) out += fmt::format("{}{}", out.empty() ? "" : ", ", d);
    return "[" + out + "]";
  }

  std::string fresh() { return fmt::format("%t{}", next_++); }

  void define(bool kept, const std::string& value) {
    const std::string name = fresh();
    body_ += fmt::format("    {} = {}\n", name, value);
    (kept ? kept_ : full_).push_back(add(name, kept));
  }

  void reduction() {
    const size_t from = pick(full_);
    const std::string of = tensors_[from].name, how = fmt::format("dims = {}, keepdim = true", dims());
    const int kind = below(8);
    if (kind != 3) ++tensors_[from].readers;
    switch (kind) {
      case 0:
        return define(true, fmt::format("amax({}, {})", of, how));
      case 1:
        return define(true, fmt::format("amin({}, {})", of, how));
      case 2: {
        const std::string mean = fresh(), var = fresh();
        body_ += fmt::format("    {}, {} = var_mean({}, {}, correction = 0)\n", mean, var, of, how);
        kept_.push_back(add(mean, true));
        kept_.push_back(add(var, true));
        return;
      }
      case 3: {  // of what is exact: among others the greatest may not be known
        const std::string at = fresh();
        body_ += fmt::format("    {} = argmax({}, {})\n", at, read(full_[static_cast<size_t>(below(2))]), how);
        return define(true, fmt::format("cast({}, to = T)", at));
      }
      case 4:
        return define(true, fmt::format("var({}, {}, correction = 0)", of, how));
      default:
        return define(true, fmt::format("sum({}, {})", of, how));
    }
  }

  void step() {
    switch (below(7)) {
      case 0:
      case 1:
        return reduction();
      case 2:
        return define(false, fmt::format("sub({}, {})", read(pick(full_)), read(pick(kept_))));
      case 3:
        return define(false, fmt::format("tanh({})", read(pick(full_))));
      case 4:
        return define(false, fmt::format("add({}, {})", read(pick(full_)), read(pick(full_))));
      case 5:
        return define(true, fmt::format("add({}, {})", read(pick(kept_)), read(pick(kept_))));
      default:
        return define(true, fmt::format("tanh({})", read(pick(kept_))));
    }
  }

  std::string numbers() {
    const int vector = 1 << below(4), parts = 1 + below(3);
    split_ = below(4) != 0;
    std::string out = fmt::format("vector = {}, parts = {}, keep = 0", vector, parts);
    if (split_) out += fmt::format(", split = {}", vector * parts * (1 + below(3)));
    return out;
  }

  std::mt19937_64 random_;
  int rank_ = 1, next_ = 0;
  bool reduced_[3] = {};
  std::vector<Named> tensors_;
  std::vector<size_t> full_, kept_;
  std::string body_;
  bool split_ = false;
};

struct RowsCounts {
  int drawn = 0, taken = 0, phased = 0;
};

void run_rows(uint64_t seed, RowsCounts& counts) {
  const RowsText drawn = RowsWriter(seed).make();
  SCOPED_TRACE(fmt::format("seed {}\n{}", seed, drawn.text));
  const auto fusion = parse_fusion(drawn.text);
  ++counts.drawn;
  const Segment& s = fusion->segments.at(0);
  if (norm_refuses(*fusion, s.ops, s.outputs)) return;  // nothing of all dims is reduced
  ++counts.taken;
  std::mt19937_64 random(seed);
  const auto one = make_cpu_device({.threads = 1}), three = make_cpu_device({.threads = 3});
  CompileOptions how, other;
  how.device_override = one.get();
  other.device_override = three.get();
  Compiled program = compile(*fusion, how), again = compile(*fusion, other);
  for (int k = 0; k < 4; ++k) {
    reference::DrawOptions draw;
    draw.seed = seed + static_cast<uint64_t>(k);
    for (const char* name : {"a", "b", "n"}) draw.sizes[name] = static_cast<int64_t>(random() % (k == 0 ? 3 : 45));
    const auto map = reference::draw_inputs(*fusion, draw);
    const Tensors inputs(map.begin(), map.end()), outputs = program.run(inputs);
    ASSERT_EQ(program.report().kernels.size(), 1u);
    if (k == 3) counts.phased += program.program().kernels.at(0).code.phases() > 1;
    for (const OutputCheck& o : check_program(*fusion, how, program, inputs, outputs, {.one_rank = false}).outputs) {
      const bool is_nan = o.reference.message.find("nothing was compared") != std::string::npos;
      EXPECT_TRUE(o.reference.ok || is_nan) << o.reference.message;
    }
    EXPECT_TRUE(testing::bits_of(again.run(inputs)) == testing::bits_of(outputs)) << "on 3 threads";
  }
}

void run_many(uint64_t first, int count) {
  RowsCounts counts;
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    try {
      run_rows(first + static_cast<uint64_t>(i), counts);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << first + static_cast<uint64_t>(i) << ": " << error.what() << "\n"
                    << RowsWriter(first + static_cast<uint64_t>(i)).make().text;
    }
  }
  std::printf("%d fusions, %d taken by norm, %d of several phases\n", counts.drawn, counts.taken, counts.phased);
  if (counts.drawn < 40) return;  // few of them, as under sanitizers, say nothing of shares
  EXPECT_GE(counts.taken * 10, counts.drawn * 9);
  EXPECT_GE(counts.phased * 2, counts.taken);
}

TEST(RandomRows, AgreeWithTheReference) { run_many(1, testing::drawn_here(40)); }
TEST(RandomRows, ThousandLongRun) { run_many(1000, 1000); }

}  // namespace
}  // namespace plait
