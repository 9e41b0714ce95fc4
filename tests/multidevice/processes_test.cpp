// The programs of docs/examples as processes of a job, by the command: Open MPI on the CPU, NCCL on simulated GPUs.
#include <gtest/gtest.h>

#include "command/run_command.h"
#include "support/random_graph.h"
#include "support/run_case.h"

namespace plait {
namespace {

namespace fs = std::filesystem;
using testing::CommandResult;
using testing::read_file;
using testing::run_words;
using testing::ScratchFolder;
using Words = std::vector<std::string>;

const fs::path kPlait = fs::path(PLAIT_BINARY_DIR) / "plait";
const fs::path kExamples = fs::path(PLAIT_SOURCE_DIR) / "docs" / "examples";

// A program, its processes and its outputs.
struct Case {
  const char* name;
  int ranks;
  Words words;
  Words outputs;
};

// Dividing, uneven, and with empty pieces.
const std::vector<Case>& cases() {
  const Words mlp = {"linear1", "gelu", "linear2", "dropout"};
  static const std::vector<Case> all = {
      {"tp_mlp", 2, {"--set", "sb=16", "--set", "h=32", "--set", "h4=64"}, mlp},
      {"tp_mlp", 3, {"--set", "sb=5", "--set", "h=33", "--set", "h4=128"}, mlp},
      {"tp_mlp", 4, {"--set", "sb=3", "--set", "h=6", "--set", "h4=5"}, mlp},
      {"sp_toy", 3, {}, {"y"}},
      {"sp_toy", 3, {"--set", "s=2"}, {"y"}},
      {"mlp_2d", 4, {"--set", "sb=7"}, {"dropout"}},
  };
  return all;
}

void add(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

// Runs and writes the outputs to files of this name's start; returns the files' bytes.
std::vector<std::string> run(const Case& c, const std::string& dtype, bool as_job, const Words& how,
                             const fs::path& folder, bool with_outputs) {
  Words words = {kPlait.string()};
  if (as_job) add(words, {"launch", "-n", std::to_string(c.ranks), "--"});
  add(words, {"run", (kExamples / (std::string(c.name) + ".plait")).string(), "--set", "T=" + dtype});
  if (!as_job) add(words, {"--ranks", std::to_string(c.ranks)});
  add(words, c.words);
  add(words, how);
  if (with_outputs)
    for (const auto& output : c.outputs) add(words, {"--out", output + "=" + output + ".npy"});
  const CommandResult result = run_words(words, folder);
  std::string line;
  for (const auto& word : words) line += word + " ";
  EXPECT_EQ(0, result.exit) << line << "\n" << result.out << result.err;
  std::vector<std::string> bytes;
  if (with_outputs)
    for (const auto& output : c.outputs) bytes.push_back(read_file(folder / (output + ".npy")));
  return bytes;
}

std::string why_no_mpi(const fs::path& folder) {
  const CommandResult result = run_words({kPlait.string(), "launch", "-n", "1", "--", "run",
                                          (kExamples / "simple_add.plait").string(), "--device", "reference"},
                                         folder);
  return result.exit == 3 ? result.err : "";
}

class Processes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = why_no_mpi(folder_.path()); !why.empty()) GTEST_SKIP() << why;
  }
  void agree(const std::string& dtype, size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      const Case& c = cases()[i];
      // The check says that sums added by MPI stay in their bound; ordered ones are those of stepped ranks.
      run(c, dtype, true, {"--check", "--device", "cpu"}, folder_.path(), false);
      const auto local = run(c, dtype, false, {"--device", "cpu"}, folder_.path(), true);
      const auto ordered = run(c, dtype, true, {"--option", "ordered=true", "--device", "cpu"}, folder_.path(), true);
      EXPECT_EQ(local, ordered) << c.name << " " << c.ranks << " " << dtype;
    }
  }
  void on_simulated(const std::string& dtype, size_t first, size_t last) {
    if (const auto why = testing::why_no_device("sim:sm_90a:4"); !why.empty()) GTEST_SKIP() << why;
    for (size_t i = first; i < last; ++i)
      run(cases()[i], dtype, true, {"--comm", "nccl", "--device", "sim:sm_90a:4", "--check"}, folder_.path(), false);
  }
  ScratchFolder folder_;
};

TEST_F(Processes, MpiInF32) { agree("f32", 1, cases().size()); }
TEST_F(Processes, MpiInBf16) { agree("bf16", 2, 4); }
TEST_F(Processes, MpiInF64) { agree("f64", 5, 6); }
TEST_F(Processes, NcclInF32) { on_simulated("f32", 2, cases().size()); }
TEST_F(Processes, NcclInBf16) { on_simulated("bf16", 1, 2); }

TEST_F(Processes, LongRunAllOnMpi) {
  for (const char* dtype : {"f32", "bf16", "f64"}) agree(dtype, 0, cases().size());
}
TEST_F(Processes, LongRunAllOnNccl) {
  for (const char* dtype : {"f32", "bf16", "f64"}) on_simulated(dtype, 0, cases().size());
}

// Random graphs of integers: bit for bit those of one rank and of the reference.
void random_graphs_on_mpi(const fs::path& folder, uint64_t first, int count) {
  int run = 0, refused = 0;
  for (uint64_t seed = first; run < count; ++seed) {
    const auto random = testing::make_random_case(seed);
    if (!random.exact || random.ranks < 2 || random.ranks > 4) continue;
    const fs::path file = folder / "random.plait";
    testing::write_file(file, random.text);
    const Words words = {
        kPlait.string(), "launch",   "-n", std::to_string(random.ranks), "--", "run", file.string(), "--exact",
        "--check",       "--device", "cpu"};
    const CommandResult result = run_words(words, folder);
    if (result.exit == 1 && ++refused <= count) continue;  // a graph that is its user's error
    ++run;
    EXPECT_EQ(0, result.exit) << "seed " << seed << "\n" << random.text << result.out << result.err;
  }
  EXPECT_LE(refused * 4, count) << "refused";
}

TEST_F(Processes, RandomGraphsOnMpi) { random_graphs_on_mpi(folder_.path(), 1, 3); }
TEST_F(Processes, LongRunRandomGraphsOnMpi) { random_graphs_on_mpi(folder_.path(), 100, 50); }

TEST_F(Processes, AJobOfTheWrongSizeIsRefused) {
  const CommandResult result = run_words({kPlait.string(), "launch", "-n", "2", "--", "run",
                                          (kExamples / "tp_mlp.plait").string(), "--ranks", "3", "--device", "cpu"},
                                         folder_.path());
  EXPECT_EQ(1, result.exit) << result.err;
  EXPECT_NE(result.err.find("the job has 2 processes, the mesh 3 ranks"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace plait
