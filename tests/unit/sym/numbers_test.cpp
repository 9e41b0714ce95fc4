// A rule has one number: in a comment where csrc/sym implements it, with its theorem in docs/math.md, with its test
// here.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

namespace plait::sym {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::set<int> numbers(const std::string& text, const char* pattern) {
  std::set<int> out;
  const std::regex regex(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
    out.insert(std::stoi((*at)[1].str()));
  return out;
}

std::string sources(const fs::path& folder) {
  std::string out;
  for (const auto& entry : fs::directory_iterator(folder)) out += read(entry.path());
  return out;
}

// "S6 to S12" names all between.
std::string spelled_out(std::string text) {
  const std::regex span("S([0-9]+) to S([0-9]+)");
  for (std::smatch m; std::regex_search(text, m, span);) {
    std::string all;
    for (int i = std::stoi(m[1].str()); i <= std::stoi(m[2].str()); ++i) all += "S" + std::to_string(i) + " ";
    text.replace(static_cast<size_t>(m.position()), static_cast<size_t>(m.length()), all);
  }
  return text;
}

TEST(SymNumbers, OfRulesAgreeInCodeDocumentAndTests) {
  const fs::path root = PLAIT_SOURCE_DIR;
  const std::string code = sources(root / "csrc/sym"), document = read(root / "docs/math.md");
  const std::set<int> listed = numbers(read(root / "csrc/sym/simplify.cpp"), "//   S([0-9]+) ");
  ASSERT_FALSE(listed.empty());
  EXPECT_EQ(*listed.begin(), 1);
  EXPECT_EQ(*listed.rbegin(), static_cast<int>(listed.size())) << "a number is missing";
  EXPECT_EQ(listed, numbers(document, "### S([0-9]+) ")) << "theorems of docs/math.md";
  EXPECT_EQ(listed, numbers(spelled_out(document), "\\bS([0-9]+)\\b")) << "numbers named in docs/math.md";
  EXPECT_EQ(listed, numbers(spelled_out(code), "\\bS([0-9]+)\\b")) << "numbers named in csrc/sym";
  EXPECT_EQ(listed, numbers(sources(root / "tests/unit/sym"), "TEST\\(SymTheorem, S([0-9]+)[A-Z]")) << "tests";
  // Beside the list: at the code of each rule.
  const std::string elsewhere = std::regex_replace(code, std::regex("//   S[0-9]+ [^\n]*\n|S[0-9]+ to S[0-9]+"), "");
  EXPECT_EQ(listed, numbers(elsewhere, "\\bS([0-9]+)\\b")) << "numbers named beside the list of csrc/sym/simplify.cpp";
}

}  // namespace
}  // namespace plait::sym
