// Random fusions of scans along one dim, with reductions of the same dim and elementwise ops before, between and behind
// them, by random numbers of schedule norm: rows and columns, from the beginning and from the end, one phase and
// several, and moves that read running sums at other places. Each is one kernel, agrees with the reference at sizes of
// one specialization and has equal bits on all numbers of threads.
#include <gtest/gtest.h>

#include <random>

#include "api/check_program.h"
#include "backend/cpu/cpu_device.h"
#include "reference/draw_inputs.h"
#include "schedule/norm.h"
#include "support/run_case.h"
#include "support/sanitized.h"
#include "support/tensor_bits.h"

namespace plait {
namespace {

class ScansWriter {
 public:
  explicit ScansWriter(uint64_t seed, bool on_gpu = false) : random_(seed * 0x9E3779B97F4A7C15u + 5), on_gpu_(on_gpu) {}

  std::string make() {
    rank_ = 1 + below(3);
    dim_ = below(2) == 0 ? rank_ - 1 : below(rank_);
    reverse_ = below(3) == 0;
    split_ = below(2) == 0;
    full_ = {"%x", "%z"};
    define(full_, "add(%x, %w)");  // links the dims of all
    define(full_, "sub(%z, %x)");
    define(kept_, fmt::format("amax({}, dims = [{}], keepdim = true)", pick(full_), dim_));
    scan();
    for (int i = 0, n = 2 + below(7); i < n; ++i) step();
    std::string outputs;
    for (size_t i = 0; i < made_.size(); ++i)
      if (!read_.contains(made_[i]) || below(5) == 0) outputs += (outputs.empty() ? "" : ", ") + made_[i];
    const char* type = below(3) > 0 ? "f32" : below(2) == 0 ? "f64" : "bf16";
    return fmt::format(
        "let a = 3, b = 4, n = 5, T = {}\nfusion @f (%x: T[{}], %z: T[{}], %w: T[{}]) -> ({}) {{\n"
        "  segment @s (%x, %z, %w) -> ({}) schedule norm({}) {{\n{}  }}\n}}\n",
        type, shape(false), shape(false), shape(true), outputs, outputs, numbers(), body_);
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  // The later, the likelier.
  std::string pick(const std::vector<std::string>& list) {
    const int n = static_cast<int>(list.size());
    const std::string& name = list[static_cast<size_t>(std::max(below(n), below(n)))];
    read_.insert(name);
    return name;
  }
  std::string shape(bool kept) const {
    std::string out;
    for (int d = 0; d < rank_; ++d)
      out += std::string(d > 0 ? ", " : "") + (kept && d == dim_ ? "1" : std::string(1, "abn"[d]));
    return out;
  }
  std::string fresh() { return made_.emplace_back(fmt::format("%t{}", made_.size())); }
  void define(std::vector<std::string>& into, const std::string& value) {
    const std::string name = fresh();
    body_ += fmt::format("    {} = {}\n", name, value);
    into.push_back(name);
  }

  void scan() {
    const std::string of = pick(full_);
    const auto along = [&](bool both) {
      return fmt::format("{}, dim = {}{}{}", of, dim_, both && below(3) == 0 ? ", exclusive = true" : "",
                         both && reverse_ ? ", reverse = true" : "");
    };
    const int kind = below(reverse_ ? 3 : 7);
    if (kind <= 1) {
      define(full_, fmt::format("cumsum({})", along(true)));
      sums_.push_back(full_.back());
      return;
    }
    if (kind == 2) {  // of what is below 1
      const std::string factors = fmt::format("tanh({})", of);
      define(full_, factors);
      const std::string& last = full_.back();
      read_.insert(last);
      return define(full_, fmt::format("cumprod({}, dim = {}{})", last, dim_, reverse_ ? ", reverse = true" : ""));
    }
    if (kind == 3) return define(full_, fmt::format("logcumsumexp({})", along(false)));
    const std::string values = fresh(), places = fresh();
    body_ += fmt::format("    {}, {} = {}({}, dim = {})\n", values, places, kind == 4 ? "cummin" : "cummax",
                         below(2) == 0 ? "%x" : "%z", dim_);
    full_.push_back(values);
    read_.insert(places);
    define(full_, fmt::format("cast({}, to = T)", places));
  }

  // A read of a running sum at other places of its row.
  void moved() {
    if (on_gpu_) return scan();  // no GPU keeps whole rows
    const std::string& of = sums_[static_cast<size_t>(below(static_cast<int>(sums_.size())))];
    read_.insert(of);
    std::string low;
    for (int d = 0; d < rank_; ++d) low += (d > 0 ? ", " : "") + std::to_string(d == dim_ ? 1 + below(9) : 0);
    std::string none = "0";
    for (int d = 1; d < rank_; ++d) none += ", 0";
    const std::string extent(1, "abn"[dim_]);
    if (below(3) == 0) return define(full_, fmt::format("mul(flip({}, dims = [{}]), {})", of, dim_, of));
    define(full_, fmt::format("sub({}, slice(pad({}, low = [{}], high = [{}]), dim = {}, start = 0, stop = {}))", of,
                              of, low, none, dim_, extent));
  }

  // A sum of exp(x - greatest).
  void exponentials() {
    const std::string of = pick(full_), how = fmt::format("dims = [{}], keepdim = true", dim_);
    define(kept_, fmt::format("amax({}, {})", of, how));
    const std::string greatest = kept_.back();
    read_.insert(greatest);
    define(full_, fmt::format("exp(sub({}, {}))", of, greatest));
    read_.insert(full_.back());
    define(kept_, fmt::format("sum({}, {})", full_.back(), how));
    if (below(2) == 0) full_.pop_back();
  }

  void step() {
    if (!split_ && !sums_.empty() && dim_ == rank_ - 1 && moves_ < 3 && below(6) == 0) {
      ++moves_;
      return moved();
    }
    switch (below(9)) {
      case 0:
      case 1:
        return scan();
      case 2:
        return define(full_, fmt::format("sub({}, {})", pick(full_), pick(kept_)));
      case 3:
        return define(full_, fmt::format("tanh({})", pick(full_)));
      case 4:
        return define(full_, fmt::format("add({}, {})", pick(full_), pick(full_)));
      case 5:
        return define(kept_, fmt::format("tanh({})", pick(kept_)));
      case 6:
        return exponentials();
      default:
        return define(kept_, fmt::format("{}({}, dims = [{}], keepdim = true)", below(2) == 0 ? "sum" : "amax",
                                         pick(full_), dim_));
    }
  }

  std::string numbers() {
    if (below(4) == 0 && !split_) return "";
    if (on_gpu_) return numbers_of_gpu();
    const int vector = 1 << below(5), parts = 1 + below(3);
    return fmt::format("vector = {}, parts = {}", vector, parts) +
           (split_ ? fmt::format(", split = {}", vector * parts * (1 + below(3))) : "");
  }

  // A row has threads together, a column one.
  std::string numbers_of_gpu() {
    const bool row = dim_ == rank_ - 1;
    const int vector = 1 << below(4), parts = 1 + below(3),
              threads = row ? 1 << (rank_ == 1 ? 5 + below(3) : 1 + below(7)) : 1;
    const int rows = row ? (rank_ == 1 ? 1 : std::max(1, 32 / threads) << below(2)) : 32 << below(2);
    const int together = (row ? vector : 1) * parts * threads;
    return fmt::format("vector = {}, rows = {}, parts = {}, keep = 0, threads = {}", vector, rows, parts, threads) +
           (split_ ? fmt::format(", split = {}", together * (1 + below(3))) : "");
  }

  std::mt19937_64 random_;
  const bool on_gpu_;
  int rank_ = 1, dim_ = 0;
  bool reverse_ = false, split_ = false;
  int moves_ = 0;
  std::vector<std::string> full_, kept_, made_, sums_;
  std::set<std::string> read_;
  std::string body_;
};

struct ScanCounts {
  int drawn = 0, taken = 0, phased = 0;
};

// Kept dims that are linked with those of no row are not taken.
void run_scans(uint64_t seed, ScanCounts& counts) {
  ++counts.drawn;
  const std::string text = ScansWriter(seed).make();
  SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
  const auto fusion = parse_fusion(text);
  const Segment& s = fusion->segments.at(0);
  if (norm_refuses(*fusion, s.ops, s.outputs, [](sym::Expr) { return true; })) return;
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
    for (const char* name : {"a", "b", "n"}) draw.sizes[name] = static_cast<int64_t>(random() % (k == 0 ? 3 : 70));
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

// On the simulated GPU.
void run_scans_on_sim(uint64_t seed, ScanCounts& counts) {
  ++counts.drawn;
  const std::string text = ScansWriter(seed, true).make();
  SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
  const auto fusion = parse_fusion(text);
  const Segment& s = fusion->segments.at(0);
  if (norm_refuses(*fusion, s.ops, s.outputs, [](sym::Expr) { return true; }) ||
      norm_refuses_of_gpus(*fusion, s.ops, s.outputs))
    return;
  ++counts.taken;
  std::mt19937_64 random(seed);
  CompileOptions how;
  how.device = seed % 2 == 0 ? "sim:sm_80" : "sim:sm_90a";
  Compiled program = compile(*fusion, how);
  for (int k = 0; k < 3; ++k) {
    reference::DrawOptions draw;
    draw.seed = seed + static_cast<uint64_t>(k);
    for (const char* name : {"a", "b"})
      draw.sizes[name] = 2 + static_cast<int64_t>(random() % 11);  // one row has other schedules
    draw.sizes["n"] = 2 + static_cast<int64_t>(random() % (k == 0 ? 3 : 300));
    const auto map = reference::draw_inputs(*fusion, draw);
    const Tensors inputs(map.begin(), map.end()), outputs = program.run(inputs);
    ASSERT_EQ(program.report().kernels.size(), 1u);
    if (k == 2) counts.phased += program.program().kernels.at(0).code.phases() > 1;
    for (const OutputCheck& o : check_program(*fusion, how, program, inputs, outputs, {.one_rank = false}).outputs) {
      const bool is_nan = o.reference.message.find("nothing was compared") != std::string::npos;
      EXPECT_TRUE(o.reference.ok || is_nan) << o.reference.message;
    }
  }
}

void run_scans(uint64_t first, int count, void (*run)(uint64_t, ScanCounts&) = run_scans) {
  ScanCounts counts;
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    try {
      run(seed, counts);
    } catch (const UserError& error) {  // equal scans became one: fewer scans, as often
      EXPECT_NE(error.message().find("scans would run"), std::string::npos)
          << "seed " << seed << ": " << error.what() << "\n"
          << ScansWriter(seed, run == run_scans_on_sim).make();
      --counts.taken;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n"
                    << ScansWriter(seed, run == run_scans_on_sim).make();
    }
  }
  std::printf("%d fusions, %d taken by norm, %d of several phases\n", counts.drawn, counts.taken, counts.phased);
  if (counts.drawn < 40) return;  // few of them, as under sanitizers, say nothing of shares
  EXPECT_GE(counts.taken * 10, counts.drawn * 9);
  EXPECT_GE(counts.phased * 4, counts.taken);
}

TEST(RandomScans, AgreeWithTheReference) { run_scans(1, testing::drawn_here(24)); }
TEST(RandomScans, ThousandLongRun) { run_scans(1000, 1000); }
TEST(RandomScans, OnSimulatedGpus) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  run_scans(1, testing::drawn_here(12), run_scans_on_sim);
}
TEST(RandomScans, ThousandOnSimulatedGpusLongRun) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  run_scans(1000, 1000, run_scans_on_sim);
}

}  // namespace
}  // namespace plait
