// Text in, text out: every tests/ir/FOLDER/*.plait is
//   # RUN: words of the command; the file's input is added behind them where there is one
//   input
//   # EXPECT
//   what the command prints; after an exit code that is not 0 a line `exit CODE` and the errors.
// BLESS=1 rewrites the expected texts; it is refused where CI is set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "command/run_command.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = PLAIT_SOURCE_DIR;
constexpr std::string_view kRun = "# RUN: ", kExpect = "# EXPECT\n";

struct TextTest {
  std::vector<std::string> words;
  std::string head, input, expected;  // head: the line of RUN
};

// A word that starts with docs/ is a file of the tree.
std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string word; in >> word;) out.push_back(word.rfind("docs/", 0) == 0 ? (kSource / word).string() : word);
  return out;
}

TextTest read_test(const fs::path& path) {
  const std::string text = read_file(path);
  TextTest test;
  const size_t line = text.find('\n'), expect = text.find("\n" + std::string(kExpect));
  if (text.rfind(kRun, 0) != 0 || line == text.npos) throw std::runtime_error("the first line is not # RUN: ...");
  if (expect == text.npos) throw std::runtime_error("there is no line # EXPECT");
  test.head = text.substr(0, line + 1);
  test.words = split_words(text.substr(kRun.size(), line - kRun.size()));
  test.input = text.substr(line + 1, expect + 1 > line + 1 ? expect - line : 0);
  test.expected = text.substr(expect + 1 + kExpect.size());
  return test;
}

std::string run_test(const fs::path& path, const TextTest& test) {
  ScratchFolder folder;
  std::vector<std::string> words = {(fs::path(PLAIT_BINARY_DIR) / "plait").string()};
  words.insert(words.end(), test.words.begin(), test.words.end());
  if (test.input.find_first_not_of(" \n") != std::string::npos) {
    folder.file(path.filename().string(), test.input);
    words.push_back(path.filename().string());
  }
  const CommandResult result = run_words(words, folder.path());
  std::string out = result.out;
  if (result.exit != 0) out += "exit " + std::to_string(result.exit) + "\n" + result.err;
  return out;
}

bool blessing() {
  const char* bless = std::getenv("BLESS");
  if (bless == nullptr || std::string(bless) != "1") return false;
  if (std::getenv("CI") != nullptr) throw std::runtime_error("BLESS is refused where CI is set");
  return true;
}

std::vector<std::string> folders() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(kSource / "tests" / "ir"))
    if (entry.is_directory()) out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

class IrText : public ::testing::TestWithParam<std::string> {};

TEST_P(IrText, PrintsWhatIsExpected) {
  const bool bless = blessing();
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kSource / "tests" / "ir" / GetParam()))
    if (entry.path().extension() == ".plait") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  EXPECT_FALSE(files.empty()) << "no tests in " << GetParam();
  for (const fs::path& path : files) {
    SCOPED_TRACE(fs::relative(path, kSource).string());
    const TextTest test = read_test(path);
    const std::string printed = run_test(path, test);
    if (bless && printed != test.expected)
      write_file(path, test.head + test.input + std::string(kExpect) + printed);
    else
      EXPECT_EQ(test.expected, printed);
  }
}

INSTANTIATE_TEST_SUITE_P(Folder, IrText, ::testing::ValuesIn(folders()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace plait::testing
