// Typical fusions, one file each (*.plait here): how many steps one rank's program takes on CPUs and on GPUs and how
// many bytes it moves, as counts.txt says at most, and whether the results are right. Of a file's head the test reads
//   # wanted N: reason        steps that suffice: launches, library calls and copies
//   # small rows = 5, n = 37  sizes with which the results are checked in f32 and bf16 (the file's let T)
// BLESS=1 lowers rows of counts.txt and adds new ones; it raises none. It is refused where CI is set.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/error.h"
#include "device/target.h"
#include "plait.h"
#include "session/bind_inputs.h"
#include "support/fusion_files.h"
#include "support/planned_device.h"
#include "support/run_case.h"

namespace plait {
namespace {

namespace fs = std::filesystem;
using Settings = std::map<std::string, std::string, std::less<>>;

const fs::path kFolder = fs::path(PLAIT_SOURCE_DIR) / "tests/fusions";
const char* const kHead =
    "# fusion, steps wanted, steps at most, bytes moved over the least at most, launches and bytes of GPUs; written by "
    "BLESS=1 plait_test_fusions\n";

struct Pattern {
  std::string text;
  int64_t wanted = 0;
  Settings small;
};

struct Work {
  int64_t steps = 0;
  double bytes = 0;  // moved over the least
};

struct Counts {
  int64_t wanted = 0;
  Work cpu, gpu;
};

Pattern pattern_of(const testing::FusionFile& file) {
  Pattern out{file.text, 0, file.small};
  std::istringstream lines(out.text);
  for (std::string line; std::getline(lines, line) && line.rfind("# ", 0) == 0;)
    if (line.rfind("# wanted ", 0) == 0) out.wanted = std::stoll(line.substr(9));
  EXPECT_GT(out.wanted, 0) << file.name << " lacks its line `# wanted N: reason`";
  return out;
}

// By name.
std::map<std::string, Pattern> patterns() {
  std::map<std::string, Pattern> out;
  for (const auto& file : testing::read_fusions(kFolder)) out[file.name] = pattern_of(file);
  EXPECT_GE(out.size(), 75u);
  return out;
}

std::map<std::string, Counts> read_table() {
  std::map<std::string, Counts> out;
  std::ifstream in(kFolder / "counts.txt");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    Counts row;
    words >> name >> row.wanted >> row.cpu.steps >> row.cpu.bytes >> row.gpu.steps >> row.gpu.bytes;
    EXPECT_FALSE(words.fail()) << "counts.txt: " << line;
    out[name] = row;
  }
  return out;
}

void write_table(const std::map<std::string, Counts>& table) {
  ASSERT_EQ(std::getenv("CI"), nullptr) << "BLESS is refused where CI is set";
  std::ofstream out(kFolder / "counts.txt");
  out << kHead;
  for (const auto& [name, row] : table)
    out << fmt::format("{:<30} {:>2} {:>3} {:>7.3f} {:>3} {:>7.3f}\n", name, row.wanted, row.cpu.steps, row.cpu.bytes,
                       row.gpu.steps, row.gpu.bytes);
}

// Of one rank's program with the sizes that the text has by itself; nothing runs.
Work work_of(const std::string& text, CompileOptions how) {
  const auto fusion = parse_fusion(text);
  how.sizes = lets_of_open_symbols(*fusion);
  Compiled program = compile(*fusion, how);
  program.prepare(testing::metadata_of(*fusion));
  auto steps = static_cast<int64_t>(program.program().launches());
  for (StepKind kind : {StepKind::LibraryStep, StepKind::CopyStep})
    steps += static_cast<int64_t>(program.program().count(kind));
  const Report& report = program.report();
  EXPECT_GT(report.bytes_least, 0);
  EXPECT_LE(report.arena_bytes, 11 * report.arena_least / 10) << text;
  return {steps, static_cast<double>(report.bytes_moved) / static_cast<double>(report.bytes_least)};
}

Counts count(const Pattern& pattern) {
  testing::PlannedDevice gpu(target_named("sm_90a"));
  return {pattern.wanted, work_of(pattern.text, {.device = "cpu"}), work_of(pattern.text, {.device_override = &gpu})};
}

// Fails where `found` is more than the row says; the lower one of both.
Work compare(const std::string& name, const Work& found, const Work& row) {
  EXPECT_LE(found.steps, row.steps) << name << " takes more steps than counts.txt says";
  EXPECT_LE(found.bytes, row.bytes + 0.001) << name << " moves more bytes over the least than counts.txt says";
  if (found.steps < row.steps || found.bytes < row.bytes - 0.001)
    std::printf("%s: %lld steps (at most %lld), bytes %.3f (at most %.3f); BLESS=1 lowers its row\n", name.c_str(),
                static_cast<long long>(found.steps), static_cast<long long>(row.steps), found.bytes, row.bytes);
  return {std::min(found.steps, row.steps), std::min(found.bytes, row.bytes)};
}

Counts compare(const std::string& name, const Counts& found, const Counts& row) {
  return {found.wanted, compare(name, found.cpu, row.cpu), compare(name + " on GPUs", found.gpu, row.gpu)};
}

// Those that every model has, and every peer measures.
const std::set<std::string> kCommon = {"softmax",
                                       "softmax_dim0",
                                       "log_softmax_nll_forward",
                                       "log_softmax_nll_backward",
                                       "layer_norm_forward",
                                       "layer_norm_backward",
                                       "rms_norm_forward",
                                       "rms_norm_backward",
                                       "residual_dropout_layer_norm",
                                       "var_mean_rows",
                                       "two_reductions",
                                       "sum_rows_and_columns",
                                       "batch_norm_relu",
                                       "group_norm",
                                       "transpose_add",
                                       "rope_q_and_k",
                                       "swiglu",
                                       "embedding_layer_norm",
                                       "cat_chains",
                                       "pad_slice_stencil",
                                       "quantise_rows_int8",
                                       "adam",
                                       "adam_8_tensors",
                                       "cumsum_chain",
                                       "one_hot_loss",
                                       "attention",
                                       "transformer_block",
                                       "max_with_argmax",
                                       "kl_divergence",
                                       "focal_loss",
                                       "huber_mean",
                                       "clip_norm_4_tensors",
                                       "top_p_mask",
                                       "l2_normalise",
                                       "cosine_rows",
                                       "logsumexp_two_dims",
                                       "segment_mean",
                                       "qkv_split_rope"};

// What all fusions take together.
struct Sums {
  int64_t steps = 0, as_wanted = 0;
  double logs = 0, logs_of_one = 0, ones = 0;  // of all, and of those that are wanted as one step

  void add(const Work& work, int64_t wanted) {
    steps += work.steps;
    as_wanted += work.steps <= wanted;
    logs += std::log(work.bytes);
    if (wanted > 1) return;
    logs_of_one += std::log(work.bytes);
    ones += 1;
  }
  double mean_bytes(size_t fusions) const { return std::exp(logs / static_cast<double>(fusions)); }
  void print(const char* where, size_t fusions, int64_t wanted) const {
    std::printf("%s: %zu fusions, %lld of them as wanted; %lld steps, %lld wanted\n", where, fusions,
                static_cast<long long>(as_wanted), static_cast<long long>(steps), static_cast<long long>(wanted));
    std::printf("  bytes over the least: geometric mean %.3f, of those that are wanted as one step %.3f\n",
                mean_bytes(fusions), std::exp(logs_of_one / ones));
  }
};

TEST(Fusions, StepsAndBytesAreAtMostThoseOfTheTable) {
  const std::map<std::string, Counts> table = read_table();
  const bool bless = std::getenv("BLESS") != nullptr;
  std::map<std::string, Counts> lowered;
  int64_t wanted = 0;
  Sums cpu, gpu, common;
  size_t common_ones = 0;
  for (const auto& [name, pattern] : patterns()) {
    const Counts found = count(pattern);
    if (kCommon.contains(name)) common.add(found.cpu, found.wanted);
    common_ones += kCommon.contains(name) ? 1 : 0;
    const auto row = table.find(name);
    EXPECT_TRUE(bless || row != table.end()) << name << " is not in counts.txt; BLESS=1 adds it";
    EXPECT_TRUE(bless || row == table.end() || row->second.wanted == found.wanted)
        << name << ": its file and counts.txt want different steps; BLESS=1 takes over the file's";
    lowered[name] = row == table.end() ? found : compare(name, found, row->second);
    wanted += found.wanted;
    cpu.add(found.cpu, found.wanted);
    gpu.add(found.gpu, found.wanted);
  }
  for (const auto& [name, row] : table)
    EXPECT_TRUE(bless || lowered.count(name)) << name << " of counts.txt has no file; BLESS=1 takes it away";
  if (bless) write_table(lowered);
  ASSERT_EQ(common_ones, kCommon.size());
  EXPECT_LE(common.mean_bytes(common_ones), 1.1);
  EXPECT_LE(cpu.mean_bytes(lowered.size()), 1.1);
  cpu.print("CPUs", lowered.size(), wanted);
  gpu.print("GPUs", lowered.size(), wanted);
  std::printf("bytes of the %zu common ones on CPUs: %.3f\n", common_ones, common.mean_bytes(common_ones));
}

// `small`: with the sizes of the file's head.
void expect_right(const std::string& dtype, bool small, const std::string& device = "cpu") {
  for (const auto& [name, pattern] : patterns()) {
    testing::CaseOptions how;
    how.device = device;
    if (small) how.set = pattern.small;
    how.set["T"] = dtype;
    const testing::CaseResult result = testing::run_case(pattern.text, how);
    EXPECT_TRUE(result.ok) << name << ": " << result.message;
  }
}

TEST(Fusions, ResultsOfSmallSizesAreRight) { expect_right("f32", true); }
TEST(Fusions, NarrowResultsOfSmallSizesAreRight) { expect_right("bf16", true); }
TEST(Fusions, ResultsOnSimulatedGpusAreRight) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  expect_right("f32", true, "sim:sm_80");
}
TEST(Fusions, NarrowResultsOnSimulatedGpusAreRight) {
  if (const std::string why = testing::why_no_device("sim:sm_90a"); !why.empty()) GTEST_SKIP() << why;
  expect_right("bf16", true, "sim:sm_90a");
}
TEST(Fusions, ResultsOfOrdinarySizesAreRightLongRun) { expect_right("f32", false); }

}  // namespace
}  // namespace plait
