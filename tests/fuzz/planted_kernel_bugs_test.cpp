// Every planted bug of the back half (support/planted_kernel_bugs.h) is found, by fusions that somebody wrote and by
// random ones, most of them by the random fusions alone. Each is looked for in a process of its own, which may crash.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <regex>
#include <sstream>

#include "base/error.h"
#include "compile/options.h"
#include "kir/statements.h"
#include "plait.h"
#include "session/bind_inputs.h"
#include "support/child.h"
#include "support/fusion_files.h"
#include "support/norm_cases.h"
#include "support/planted_kernel_bugs.h"
#include "support/random_attention.h"
#include "support/random_fusion.h"
#include "support/run_case.h"
#include "support/sanitized.h"

namespace plait {
namespace {

using testing::KernelBug;
using Bugs = std::vector<KernelBug>;

constexpr int kSeconds = 300;  // of a child's processor

using TextSettings = std::map<std::string, std::string, std::less<>>;

// A text with sizes to run it at.
struct Specimen {
  std::string name, text;
  TextSettings set;
  bool exact = false, specials = false;  // see CaseOptions
  uint64_t seed = 0;
  std::vector<int> places{};  // that each bug changes in it
};

struct Kind {
  std::string name;
  std::vector<Specimen> specimens;
};

TextSettings drawn_sizes(std::mt19937_64& random, bool small) {
  const auto n = [&](int most) { return std::to_string(1 + static_cast<int>(random() % static_cast<uint64_t>(most))); };
  return {{"a", n(3)}, {"b", n(small ? 9 : 40)}, {"c", n(small ? 9 : 90)}};
}

Kind written() {
  Kind out{"fusions", {}};
  for (const auto& file : testing::read_fusions(std::filesystem::path(PLAIT_SOURCE_DIR) / "tests/fusions"))
    for (const char* dtype : {"f32", "bf16"}) {
      TextSettings set = file.small;
      set["T"] = dtype;
      out.specimens.push_back({file.name + "_" + dtype, file.text, set});
    }
  return out;
}

Kind rows_in_one_kernel() {
  Kind out{"rows", {}};
  for (const char* numbers : {"", "vector = 8, parts = 2, split = 16", "vector = 4, parts = 1, split = 8"})
    for (const auto& c : test::norm_cases(numbers))
      out.specimens.push_back({fmt::format("{}({})", c.name, numbers), c.text, {{"a", "3"}, {"b", "5"}, {"n", "37"}}});
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    TextSettings set = drawn_sizes(random, false);
    set["n"] = set["c"];
    set.erase("c");
    out.specimens.push_back({fmt::format("rows_{}", seed), testing::random_rows(seed).text, set});
  }
  return out;
}

Kind moves(uint64_t count) {
  Kind out{"moves", {}};
  for (uint64_t seed = 1; seed <= count; ++seed) {
    std::mt19937_64 random(seed);
    out.specimens.push_back({fmt::format("moves_{}", seed), testing::random_moves(seed), drawn_sizes(random, false)});
  }
  return out;
}

Kind random_fusions(uint64_t count) {
  Kind out{"random", {}};
  for (uint64_t seed = 1; seed <= count; ++seed) {
    std::mt19937_64 random(seed);
    const testing::RandomFusion drawn = testing::random_fusion(seed);
    TextSettings set = drawn_sizes(random, seed % 2 == 0);
    if (seed % 4 == 1) set = {{"a", "2"}, {"b", "300"}, {"c", "3"}};  // tasks share columns
    out.specimens.push_back({fmt::format("random_{}", seed), drawn.text, set, drawn.exact, !drawn.exact, seed});
  }
  return out;
}

Kind written_attentions() {
  const std::string inputs = "%q: f32[2, 300, 8], %k: f32[2, 300, 8], %v: f32[2, 300, 5]",
                    positions =
                        "%i = iota(shape = [300, 1], dim = 0)\n%j = iota(shape = [300], dim = 0)\n"
                        "%s = matmul(%q, permute(%k, dims = [0, 2, 1]))\n",
                    window = "logical_and(le(%j, %i), lt(sub(%i, %j), 41))";
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"causal",
       fmt::format("fusion @f ({}) -> (%y) {{ %y = scaled_dot_product_attention(%q, %k, %v, causal = true) }}",
                   inputs)},
      {"window", fmt::format("fusion @f ({}) -> (%y) {{\n{}%y = matmul(softmax(where({}, %s, -inf), dim = 2), %v)\n}}",
                             inputs, positions, window)},
      {"gradient",
       fmt::format("fusion @f ({}, %g: f32[2, 300, 5], %l: f32[2, 300, 1]) -> (%y) {{\n{}"
                   "%p = where({}, exp(sub(%s, %l)), 0.0)\n%y = matmul(permute(%p, dims = [0, 2, 1]), %g)\n}}",
                   inputs, positions, window)},
      {"gradient_of_heads",
       fmt::format("fusion @f (%q: f32[8, 260, 3], %k: f32[8, 260, 3], %v: f32[8, 260, 3], %g: f32[8, 260, 3], "
                   "%l: f32[8, 260, 1]) -> (%y, %z) {{\n{}%p = where({}, exp(sub(%s, %l)), 0.0)\n"
                   "%y = matmul(permute(%p, dims = [0, 2, 1]), %g)\n%z = matmul(%p, %v)\n}}",
                   std::regex_replace(positions, std::regex("300"), "260"), window)}};
  Kind out{"attention", {}};
  for (const auto& [name, text] : texts)
    for (const uint64_t seed : name == "gradient_of_heads" ? std::vector<uint64_t>{1} : std::vector<uint64_t>{1, 2, 3})
      out.specimens.push_back(
          {.name = fmt::format("{}_{}", name, seed), .text = text, .specials = seed > 1, .seed = seed});
  return out;
}

// Those of few keys, or narrow types, are left to the library, where no bug of kernels applies.
Kind attentions(uint64_t count) {
  Kind out{"attention", {}};
  for (uint64_t seed = 1; seed <= count; ++seed)
    out.specimens.push_back({.name = fmt::format("attention_{}", seed),
                             .text = testing::random_attention(seed, 1000000),
                             .specials = seed % 2 == 0,
                             .seed = seed});
  return out;
}

// ---- Where a bug applies, and whether it shows.

// Places that each bug changes in the kernels of a specimen, by the bug's place in the list. The edits are made of
// copies; bugs of groups and programs, of which there are none, may apply anywhere.
std::vector<int> places_in(const Specimen& s, const Bugs& bugs) {
  std::vector<int> out(bugs.size());
  ParseOptions parse;
  parse.set = s.set;
  const auto fusion = parse_fusion(s.text, parse);
  CompileOptions how;
  how.device = "cpu";
  how.sizes = lets_of_open_symbols(*fusion);
  how.until = "kir";
  how.hook = [&](std::string_view, std::string_view pass, const PassSubject& subject) {
    for (size_t i = 0; i < bugs.size(); ++i) {
      if (bugs[i].pass != pass) continue;
      if (const auto* kernel = subject.as<kir::Kernel>(); kernel && bugs[i].in_kernel) {
        kir::Kernel copy = kir::clone(*kernel);
        out[i] += bugs[i].in_kernel(copy);
      }
    }
  };
  try {
    compile(*fusion, how).prepare(testing::metadata_of(*fusion));
  } catch (const StoppedAt&) {  // as asked
  } catch (const UserError&) {  // rows of which schedule norm takes none
    return std::vector<int>(bugs.size());
  }
  for (size_t i = 0; i < bugs.size(); ++i)
    if (!bugs[i].in_kernel) out[i] = 1;
  return out;
}

enum class Verdict : uint8_t { nothing, applied, found };

// How a wrong result or an error shows the bug (null: none), or nothing; `places` is raised by what the bug changed.
std::string shown(const Specimen& s, const KernelBug* bug, int& places) {
  testing::CaseOptions how;
  how.set = s.set;
  how.exact = s.exact;
  how.specials = s.specials;
  how.seed = s.seed;
  how.options.poison = true;
  if (bug != nullptr) how.hook = testing::kernel_bug_hook(*bug, &places);
  try {
    const testing::CaseResult result = testing::run_case(s.text, how);
    return result.ok || result.undecided ? "" : "result";
  } catch (const UserError&) {  // a refusal shows nothing
    return "";
  } catch (const Error&) {
    return "error";
  }
}

struct Found {
  Verdict verdict = Verdict::nothing;
  std::string by;
  int tries = 0;
};

std::string text_of(const Found& f) {
  if (f.verdict == Verdict::nothing) return "nowhere";
  if (f.verdict == Verdict::applied) return fmt::format("no ({})", f.tries);
  return fmt::format("{} ({})", f.by, f.tries);
}

// Tries specimens in which the bug applies until one shows it.
Found look_for(const Bugs& bugs, size_t bug, const Kind& kind, int most) {
  const KernelBug& what = bugs[bug];
  const std::string line = testing::in_child(kSeconds, [&]() -> std::string {
    Verdict verdict = Verdict::nothing;
    int tries = 0;
    for (const Specimen& s : kind.specimens) {
      if (s.places.at(bug) == 0 || tries >= most) continue;
      int places = 0;
      const std::string how = shown(s, &what, places);
      tries += places > 0;
      if (places > 0) verdict = Verdict::applied;
      if (!how.empty() && places > 0) return fmt::format("2 {} {} of {}", tries, how, s.name);
    }
    return fmt::format("{} {} -", static_cast<int>(verdict), tries);
  });
  Found out;
  if (line.rfind("signal", 0) == 0 || line == "an exit") return {Verdict::found, line, 1};
  int verdict = 0;
  std::istringstream in(line);
  in >> verdict >> out.tries >> std::ws;
  std::getline(in, out.by);
  out.verdict = static_cast<Verdict>(verdict);
  return out;
}

struct Expected {
  int all, alone = 0;      // at least so many are found, by the random fusions alone
  bool everywhere = true;  // each applies somewhere
};

void judge(const Bugs& bugs, std::vector<Kind> kinds, int most, const Expected& expected) {
  if (testing::kSanitized) GTEST_SKIP() << "sanitizers end what planted bugs do";
  for (Kind& kind : kinds)
    for (Specimen& s : kind.specimens) s.places = places_in(s, bugs);
  // What is found is the bug: nothing is wrong without one.
  for (const Kind& kind : kinds)
    EXPECT_EQ(testing::in_child(kSeconds,
                                [&] {
                                  std::string wrong = "none";
                                  int none = 0;
                                  for (const Specimen& s : kind.specimens)
                                    if (!shown(s, nullptr, none).empty()) wrong += ", " + s.name;
                                  return wrong;
                                }),
              "none")
        << kind.name;
  int all = 0, alone = 0;
  for (size_t i = 0; i < bugs.size(); ++i) {
    bool found = false, applied = false;
    std::string line = fmt::format("{:<18}", bugs[i].name);
    for (const Kind& kind : kinds) {
      const Found by = look_for(bugs, i, kind, most);
      line += fmt::format(" {}: {};", kind.name, text_of(by));
      applied |= by.verdict != Verdict::nothing;
      found |= by.verdict == Verdict::found;
      alone += kind.name == "random" && by.verdict == Verdict::found;
    }
    all += found;
    std::printf("%s\n", line.c_str());
    EXPECT_TRUE(applied || !expected.everywhere) << bugs[i].name << " (" << bugs[i].what << ") applies nowhere";
  }
  std::printf("%d of %zu bugs found, %d by random fusions alone\n", all, bugs.size(), alone);
  EXPECT_GE(all, expected.all);
  EXPECT_GE(alone, expected.alone);
}

TEST(PlantedKernelBugs, MostAreFoundByRandomFusionsAlone) {
  judge(testing::kernel_bugs(), {random_fusions(48)}, 6, {33, 33});
}
TEST(PlantedKernelBugs, AllAreFoundLongRun) {
  judge(testing::kernel_bugs(), {written(), rows_in_one_kernel(), moves(40), random_fusions(120)}, 40, {36, 34});
}

// Those of schedule `attention`; in the long run also the others, of which not each applies.
TEST(PlantedKernelBugs, OfAttentionAreAllFound) {
  judge(testing::attention_bugs(), {written_attentions()}, 9, {int(testing::attention_bugs().size())});
}
TEST(PlantedKernelBugs, OthersAreFoundInAttentionLongRun) {
  judge(testing::kernel_bugs(), {attentions(60)}, 12, {.all = 15, .everywhere = false});
  judge(testing::attention_bugs(), {attentions(60)}, 12, {.all = 5, .everywhere = false});
}

}  // namespace
}  // namespace plait
