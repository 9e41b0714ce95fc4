// Text in, text out: every tests/kir/PASS/*.kir is
//   kernels
//   # EXPECT
//   the kernels behind the pass of that name, or behind all passes in the folder `passes`; or the error.
// BLESS=1 rewrites the expected texts; it is refused where CI is set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "command/run_command.h"
#include "kir/parse.h"
#include "kir/passes/passes.h"

namespace plait::kir {
namespace {

namespace fs = std::filesystem;
using testing::read_file;
using testing::write_file;

const fs::path kFolder = fs::path(PLAIT_SOURCE_DIR) / "tests" / "kir";
constexpr std::string_view kExpect = "\n# EXPECT\n";

void run_pass(const std::string& name, Kernel& kernel) {
  if (name == "passes") return run_passes(kernel);
  for (const KernelPass& pass : kernel_passes())
    if (pass.name == name) return pass.run(kernel);
  throw std::runtime_error("no pass is called " + name);
}

// Behind the pass, and behind it once more where that changes the text.
std::string printed(const std::string& pass, const std::string& input) {
  try {
    std::string out;
    for (Kernel& kernel : parse_kernels(input)) {
      verify(kernel);
      run_pass(pass, kernel);
      verify(kernel);
      const std::string once = print(kernel);
      EXPECT_EQ(once, print(parse(once))) << "the text does not read back";
      run_pass(pass, kernel);
      EXPECT_EQ(once, print(kernel)) << "the pass is not idempotent";
      out += once;
    }
    return out;
  } catch (const Error& error) {
    return error.message() + "\n";
  }
}

bool blessing() {
  const char* bless = std::getenv("BLESS");
  if (bless == nullptr || std::string(bless) != "1") return false;
  if (std::getenv("CI") != nullptr) throw std::runtime_error("BLESS is refused where CI is set");
  return true;
}

std::vector<std::string> folders() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.is_directory()) out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

class KirText : public ::testing::TestWithParam<std::string> {};

TEST_P(KirText, PrintsWhatIsExpected) {
  const bool bless = blessing();
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kFolder / GetParam()))
    if (entry.path().extension() == ".kir") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  EXPECT_FALSE(files.empty()) << "no tests in " << GetParam();
  for (const fs::path& path : files) {
    SCOPED_TRACE(fs::relative(path, kFolder).string());
    const std::string text = read_file(path);
    const size_t expect = text.find(kExpect);
    ASSERT_NE(expect, text.npos) << "there is no line # EXPECT";
    const std::string input = text.substr(0, expect + 1), expected = text.substr(expect + kExpect.size());
    const std::string out = printed(GetParam(), input);
    if (bless && out != expected)
      write_file(path, input + std::string(kExpect.substr(1)) + out);
    else
      EXPECT_EQ(expected, out);
  }
}

INSTANTIATE_TEST_SUITE_P(Pass, KirText, ::testing::ValuesIn(folders()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace plait::kir
