// Kernels of threads that cooperate, written by hand (tests/sim/*.cu): right ones give what one thread computes, in
// every order of warps and blocks; each wrong one is reported, at its line.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "backend/cuda/nvrtc.h"
#include "codegen/cuda/write.h"
#include "kir/interpret.h"
#include "kir/parse.h"
#include "kir/passes/passes.h"
#include "machine.h"
#include "support/sanitized.h"
#include "support/thread_kernels.h"

namespace plait::sim {
namespace {

namespace fs = std::filesystem;

struct CudaFile {
  std::string text;
  std::map<std::string, int> settings;  // "blocks 3, threads 128" of its second line
  struct Kernel {
    std::string name, report;  // of a wrong one
    int line = 0;              // that the report must name; 0: any
  };
  std::vector<Kernel> kernels;
};

CudaFile read_file(const fs::path& path) {
  CudaFile out;
  std::ifstream in(path);
  std::string report, line;
  for (int number = 1; std::getline(in, line); ++number) {
    out.text += line + "\n";
    std::smatch found;
    if (number == 2)
      for (std::string rest = line; std::regex_search(rest, found, std::regex("([a-z]+) ([0-9]+)"));
           rest = found.suffix())
        out.settings[found[1]] = std::stoi(found[2]);
    if (line.starts_with("// wrong: ")) report = line.substr(10);
    if (std::regex_search(line, found, std::regex("__global__ void (\\w+)\\("))) {
      out.kernels.push_back({found[1], report});
      report.clear();
    }
    if (line.ends_with("// <-") && out.kernels.back().line == 0) out.kernels.back().line = number;
  }
  return out;
}

class Threads : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string why_not;
    if (!nvrtc_available(&why_not)) GTEST_SKIP() << "no NVRTC: " << why_not;
    file_ = read_file(fs::path(PLAIT_SOURCE_DIR) / "tests/sim" / (GetParam() + ".cu"));
    const std::string arch =
        file_.settings.contains("sm") ? "compute_" + std::to_string(file_.settings["sm"]) + "a" : "compute_80";
    try {
      module_ = PtxModule::load(compile_cuda(file_.text, "tests", arch).ptx, file_.text);
    } catch (const Fault& fault) {
      FAIL() << fault.text;
    }
  }

  // The words that a kernel leaves.
  std::vector<uint32_t> run(const std::string& kernel, uint64_t seed, bool one_thread = false) {
    const auto setting = [&](const char* name) { return static_cast<uint32_t>(file_.settings.at(name)); };
    test::Machine machine;
    std::vector<uint32_t> in(setting("blocks") * setting("threads")), none(setting("words"));
    uint32_t word = 12345;
    for (uint32_t& each : in) each = (word = word * 1664525 + 1013904223) >> 4;
    const uint64_t from = machine.upload(in), to = machine.upload(none);
    Launch launch;
    launch.kernel = module_->find(kernel);
    if (!one_thread) {
      launch.grid[0] = setting("blocks");
      launch.block[0] = setting("threads");
    }
    if (file_.settings.contains("shared")) launch.shared_bytes = setting("shared");
    launch.programmatic = !one_thread && file_.settings.contains("programmatic");
    launch.cooperative = !one_thread && file_.settings.contains("cooperative");
    if (!one_thread && file_.settings.contains("cluster")) launch.cluster = {setting("cluster"), 1, 1};
    launch.seed = seed;
    launch.budget = 1 << 20;
    launch.globals = machine.globals(*module_);
    launch.parameters.resize(16);
    std::memcpy(launch.parameters.data(), &from, 8);
    std::memcpy(launch.parameters.data() + 8, &to, 8);
    sim::launch(*module_, launch, machine.actor(kernel), machine.space);
    return machine.download<uint32_t>(to, none.size());
  }

  CudaFile file_;
  std::shared_ptr<const PtxModule> module_;
};

std::vector<std::string> files() {
  std::vector<std::string> out;
  for (const auto& each : fs::directory_iterator(fs::path(PLAIT_SOURCE_DIR) / "tests/sim"))
    if (each.path().extension() == ".cu") out.push_back(each.path().stem());
  std::sort(out.begin(), out.end());
  return out;
}

// Which of several reports comes may depend on the order; they stand with ` | ` between them.
bool says_one_of(const std::string& text, const std::string& reports) {
  for (size_t at = 0;;) {
    const size_t end = reports.find(" | ", at);
    if (text.find(reports.substr(at, end - at)) != text.npos) return true;
    if (end == reports.npos) return false;
    at = end + 3;
  }
}

INSTANTIATE_TEST_SUITE_P(File, Threads, ::testing::ValuesIn(files()), [](const auto& info) { return info.param; });

TEST_P(Threads, RightOnesGiveWhatOneThreadComputes) {
  const std::vector<uint32_t> want = run("expected", 0, true);
  int kernels = 0;
  for (const CudaFile::Kernel& kernel : file_.kernels) {
    if (!kernel.name.starts_with("right")) continue;
    ++kernels;
    for (uint64_t seed = 0; seed < 4; ++seed) {
      try {
        EXPECT_EQ(run(kernel.name, seed), want) << kernel.name << ", seed " << seed;
      } catch (const Fault& fault) {
        ADD_FAILURE() << kernel.name << ", seed " << seed << ": " << fault.text;
      }
    }
  }
  EXPECT_GT(kernels, 0);
}

TEST_P(Threads, WrongOnesAreReportedAtTheirLine) {
  int kernels = 0;
  for (const CudaFile::Kernel& kernel : file_.kernels) {
    if (!kernel.name.starts_with("wrong")) continue;
    ++kernels;
    ASSERT_NE(kernel.report, "") << kernel.name;
    for (uint64_t seed = 0; seed < 4; ++seed) {
      try {
        run(kernel.name, seed);
        ADD_FAILURE() << kernel.name << ", seed " << seed << " is not reported";
      } catch (const Fault& fault) {
        EXPECT_TRUE(says_one_of(fault.text, kernel.report)) << kernel.name << ", seed " << seed << ": " << fault.text;
        EXPECT_NE(fault.text.find("`" + kernel.name + "`"), std::string::npos) << fault.text;
        if (kernel.line == 0) continue;
        EXPECT_NE(fault.text.find(fmt::format("CUDA line {}:", kernel.line)), std::string::npos)
            << kernel.name << ", seed " << seed << ": " << fault.text;
      }
    }
  }
  EXPECT_GT(kernels, 0);
}

// Kernel IR of threads that cooperate, as CUDA: the bits that its own interpreter gives.
TEST(GeneratedThreads, GiveTheBitsOfTheInterpreter) {
  std::string why_not;
  if (!nvrtc_available(&why_not)) GTEST_SKIP() << "no NVRTC: " << why_not;
  for (const plait::testing::ThreadKernel& each : plait::testing::thread_kernels()) {
    kir::Kernel kernel = kir::parse(each.text);
    kir::run_passes(kernel);
    const std::string text = write_cuda(kernel);
    const auto module = PtxModule::load(compile_cuda(text, kernel.name, "compute_80").ptx, text);
    for (const auto& integers : each.sizes) {
      if (plait::testing::kSanitized && &integers != &each.sizes.front()) break;
      auto want = plait::testing::thread_kernel_memory(kernel, integers, 1);
      test::Machine machine;
      Launch launch;
      std::vector<uint64_t> parameters;
      for (const auto& bytes : want) parameters.push_back(machine.upload(bytes));
      std::vector<void*> arguments;
      for (auto& bytes : want) arguments.push_back(bytes.data());
      kir::AccessChecker none(kernel);
      kir::interpret(kernel, integers, arguments, none);
      sym::Environment environment;
      for (size_t i = 0; i < integers.size(); ++i) {
        environment[kernel.integers[i].symbol_name()] = integers[i];
        parameters.push_back(static_cast<uint64_t>(integers[i]));
      }
      const kir::LaunchExtents extents = kir::launch_extents(kernel);
      for (size_t k = 0; k < 3; ++k) {
        launch.grid[k] = static_cast<uint32_t>(sym::evaluate(extents.grid[k], environment));
        launch.block[k] = static_cast<uint32_t>(sym::evaluate(extents.block[k], environment));
      }
      launch.parameters.resize(parameters.size() * 8);
      std::memcpy(launch.parameters.data(), parameters.data(), launch.parameters.size());
      launch.globals = machine.globals(*module);
      for (uint64_t seed = 0; seed < 3; ++seed) {
        launch.seed = seed;
        try {
          sim::launch(*module, launch, machine.actor(kernel.name), machine.space);
        } catch (const Fault& fault) {
          FAIL() << each.name << ": " << fault.text << "\n" << text;
        }
        for (size_t i = 0; i < want.size(); ++i)
          EXPECT_EQ(machine.download<unsigned char>(parameters[i], want[i].size()), want[i])
              << each.name << ", " << fmt::format("{}", fmt::join(integers, ", ")) << ", seed " << seed << "\n"
              << text;
      }
    }
  }
}

}  // namespace
}  // namespace plait::sim
