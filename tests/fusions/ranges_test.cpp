// Indices of kernels for GPUs, at sizes near the most that narrow ones count: every part of every index lies where
// kir/index_ranges.h says.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "kir/index_ranges.h"
#include "kir/parse.h"
#include "kir/statements.h"
#include "plait.h"
#include "session/bind_inputs.h"
#include "support/fusion_files.h"
#include "support/run_case.h"

namespace plait {
namespace {

using kir::IndexRanges;
using kir::Kernel;
using sym::Environment;
using sym::Expr;
using Settings = std::map<std::string, std::string, std::less<>>;

// Both dims of a grid of tiles are the same number.
constexpr const char* kSquare = R"(
let n = 1000
fusion @square (%x: f32[n, n], %y: f32[n, n]) -> (%z) {
  %z = add(permute(%x, dims = [1, 0]), %y)
}
)";

std::vector<Kernel> kernels_of(const testing::FusionFile& file, const Settings& set = {}) {
  ParseOptions parse;
  parse.set = set;
  const auto fusion = parse_fusion(file.text, parse);
  CompileOptions how;
  how.device = "sim:sm_90a";
  how.sizes = lets_of_open_symbols(*fusion);
  how.until = "kir";
  std::string text;
  try {
    compile(*fusion, how).prepare(testing::metadata_of(*fusion));
  } catch (const StoppedAt& stop) {
    text = stop.text;
  }
  std::vector<Kernel> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find("\nkernel @", at), text.size() - 1) + 1;
    out.push_back(kir::parse(text.substr(at, end - at)));
    at = end;
  }
  return out;
}

class Walk {
 public:
  Walk(const Kernel& kernel, uint64_t seed) : kernel_(kernel), ranges_(kernel), random_(seed) { draw_sizes(); }

  void run() {
    for (const auto& phase : kernel_.phases) block(phase.body);
  }
  int64_t looked_at = 0, largest = 0;  // parts of expressions; elements of an argument

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

  bool fits() {
    for (const auto& buffer : kernel_.buffers)
      if (buffer.space == kir::Space::argument && sym::evaluate(buffer.extent, at_) >= kir::kMostNarrow) return false;
    return true;
  }

  void draw_sizes() {
    for (Expr n : kernel_.integers) {
      const sym::SymbolInfo& info = kernel_.pool->info(n);
      const int64_t step = info.multiple_of;
      at_[n.symbol_name()] = (std::max<int64_t>(info.lo.value_or(0), 0) + step - 1) / step * step;
    }
    for (int tries = 0; tries < 60 && !kernel_.integers.empty(); ++tries) {
      const Expr n = kernel_.integers[static_cast<size_t>(below(static_cast<int64_t>(kernel_.integers.size())))];
      const sym::SymbolInfo& info = kernel_.pool->info(n);
      int64_t& value = at_[n.symbol_name()];
      const int64_t before = value, step = info.multiple_of;
      const int64_t most = info.hi.value_or(INT32_MAX), factor = 1 + below(20), more = below(40);
      value = value > most / 40 ? most : std::min(most, value * factor + more);
      value = value / step * step;
      if (value < before || !fits()) value = before;
    }
    for (const auto& buffer : kernel_.buffers)
      if (buffer.space == kir::Space::argument) largest = std::max(largest, sym::evaluate(buffer.extent, at_));
  }

  void expect(Expr e) {
    ++looked_at;
    const sym::Bounds range = ranges_.of(e);
    const int64_t value = sym::evaluate(e, at_);
    EXPECT_TRUE(range.lo <= value && value <= range.hi)
        << sym::print(e) << " is " << value << ", not in " << range.lo << ".." << range.hi << "\n"
        << kir::print(kernel_);
    for (Expr operand : e.operands()) expect(operand);
  }

  void block(const kir::Block& body) {
    for (const auto& stmt : body) {
      if (const auto* bind = kir::as<kir::Bind>(*stmt)) at_[bind->var.symbol_name()] = below(1000) - 500;
      const auto out = kir::results(*stmt);
      int lanes = out.empty() ? 1 : out[0].lanes;
      if (const auto* store = kir::as<kir::Store>(*stmt)) lanes = store->in.lanes;
      at_[kir::kLane] = below(lanes);
      for (Expr e : kir::expressions(*stmt)) expect(e);
      if (const auto* loop = kir::as<kir::For>(*stmt)) {
        const int64_t extent = sym::evaluate(loop->extent, at_);
        if (extent <= 0) continue;
        const int64_t choices[] = {0, extent - 1, below(extent), below(extent)};
        at_[loop->var.symbol_name()] = choices[below(4)];
        expect(loop->var);
      }
      if (const kir::Block* inner = kir::body_of(*stmt)) block(*inner);
    }
  }

  const Kernel& kernel_;
  const IndexRanges ranges_;
  std::mt19937_64 random_;
  Environment at_;
};

TEST(IndexRanges, HoldEveryIndexOfTheFusionsNearTheLimit) {
  if (const std::string why = testing::why_no_device("sim:sm_90a"); !why.empty()) GTEST_SKIP() << why;
  int64_t looked_at = 0, near = 0, walks = 0;
  auto files = testing::read_fusions(std::filesystem::path(PLAIT_SOURCE_DIR) / "tests/fusions");
  files.push_back({"square", kSquare, {}});
  for (const auto& file : files)
    for (const Kernel& kernel : kernels_of(file)) {
      EXPECT_TRUE(kernel.narrow) << file.name;
      for (uint64_t seed = 1; seed <= 60 && !::testing::Test::HasFailure(); ++seed) {
        Walk walk(kernel, seed);
        walk.run();
        looked_at += walk.looked_at;
        near += walk.largest > kir::kMostNarrow / 8;
        ++walks;
      }
    }
  std::printf("%lld parts of indices in %lld walks, %lld of them of arguments near the limit\n",
              static_cast<long long>(looked_at), static_cast<long long>(walks), static_cast<long long>(near));
  EXPECT_GT(looked_at, 200000);
  EXPECT_GT(near, walks / 2);
}

// The class of sizes says whether indices are narrow, so that each has its kernel.
TEST(IndexRanges, LargeTensorsHaveWideIndices) {
  if (const std::string why = testing::why_no_device("sim:sm_90a"); !why.empty()) GTEST_SKIP() << why;
  const auto file = testing::read_fusion(std::filesystem::path(PLAIT_SOURCE_DIR) / "tests/fusions/gelu_bias.plait");
  for (const auto& [rows, narrow] : {std::pair{"524287", true}, {"524288", false}, {"1048576", false}}) {
    const auto kernels = kernels_of(file, {{"rows", rows}, {"n", "1024"}});
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].narrow, narrow) << rows;
    EXPECT_EQ(kernels[0].integers.size(), 2u) << "sizes are symbols in both";
  }
}

}  // namespace
}  // namespace plait
