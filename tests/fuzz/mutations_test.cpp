// Mutated kernels of the fusions whose kernels are goldens (support/mutations.h), on the simulated GPU: nearly all are
// found, by a report, the verifier or a wrong number. Those that are not stand in mutations.txt with the reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "base/error.h"
#include "base/plugin_loader.h"
#include "support/child.h"
#include "support/fusion_files.h"
#include "support/mutations.h"
#include "support/run_case.h"
#include "support/sanitized.h"

namespace plait {
namespace {

namespace fs = std::filesystem;
using testing::Mutation;
using TextSettings = std::map<std::string, std::string, std::less<>>;

constexpr const char* kDevice = "sim:sm_90a";
constexpr uint64_t kSpecials = 6;
constexpr int kSeconds = 60;  // of a processor, after which a mutated kernel counts as one without end

struct Golden {
  std::string name, text;
  std::vector<TextSettings> sizes;  // the small ones first
};

std::vector<Golden> goldens() {
  std::vector<Golden> out;
  const fs::path tests = fs::path(PLAIT_SOURCE_DIR) / "tests";
  for (const auto& entry : fs::directory_iterator(tests / "golden/fusions")) {
    const auto file = testing::read_fusion(tests / "fusions" / (entry.path().filename().string() + ".plait"));
    Golden golden{file.name, file.text, {}};
    for (const int64_t times : {1, 3, 2, 5, 7, 10, 8}) {  // many numbers of elements behind the last whole vector
      TextSettings& set = golden.sizes.emplace_back();
      for (const auto& [name, value] : file.small) set[name] = std::to_string(std::stoll(value) * times);
    }
    for (const auto& [name, text] : file.small) {  // each dim long by itself: all turns of loops, and 128 are not full
      const int64_t value = std::stoll(text), times = value > 0 ? 127 / value : 0;
      if (times < 2) continue;
      golden.sizes.push_back(golden.sizes[0]);
      golden.sizes.back()[name] = std::to_string(value * times);
    }
    out.push_back(std::move(golden));
  }
  std::sort(out.begin(), out.end(), [](const Golden& a, const Golden& b) { return a.name < b.name; });
  return out;
}

// ---- One mutation of a program, by its number among those of all of its kernels, or none.

struct Ground {
  // What is to be made, by its number over the kernels in the order in which they come, and what it is.
  std::optional<size_t> wanted;
  Mutation is;
  std::vector<Mutation> seen;
  bool made = false;   // other sizes may have other kernels, which have it not
  bool traps = false;  // what runs where it is to be made is ended instead

  // Which of the mutations of a kernel that comes now is to be made, if any.
  std::optional<size_t> pick(const std::vector<Mutation>& of_kernel) {
    const size_t before = seen.size();
    seen.insert(seen.end(), of_kernel.begin(), of_kernel.end());
    if (!wanted || *wanted < before || *wanted >= seen.size() || !(seen[*wanted] == is)) return std::nullopt;
    made = true;
    return *wanted - before;
  }
};

class KernelIr {
 public:
  static void plant(testing::CaseOptions& how, Ground& ground) {
    how.hook = [&ground](std::string_view, std::string_view pass, const PassSubject& subject) {
      auto* kernel = subject.as<kir::Kernel>();
      if (kernel == nullptr || pass != "lower") return;
      if (const auto which = ground.pick(testing::mutations(*kernel))) testing::mutate(*kernel, *which, ground.traps);
    };
  }
};

class Ptx {
 public:
  static void plant(testing::CaseOptions&, Ground& ground) {
    static Ground* current;
    current = &ground;
    using Edit = const char* (*)(const char*);
    auto set = reinterpret_cast<void (*)(Edit)>(load_plugin("libplait_sim_cuda.so", "plait_sim_set_code_edit", "", ""));
    set([](const char* ptx) {
      static std::string text;
      const auto which = current->pick(testing::mutations(std::string_view(ptx)));
      if (which) text = testing::mutated(ptx, *which, current->traps);
      return which ? text.c_str() : ptx;
    });
  }
};

// How the mutation shows ("error": of the verifier or a report, "result"), or nothing.
template <class Language>
std::string shown(const Golden& golden, Ground& ground, const TextSettings& set, uint64_t order, uint64_t specials = 0,
                  bool exact = false) {
  testing::CaseOptions how;
  how.device = kDevice;
  how.set = set;
  how.interleaving = order;
  how.seed = specials;
  how.specials = specials > 0;
  how.exact = exact;
  how.compare_one_rank = false;
  how.options.poison = true;
  Language::plant(how, ground);
  try {
    const testing::CaseResult result = testing::run_case(golden.text, how);
    return result.ok ? "" : "result";
  } catch (const UserError& error) {
    return std::string("refused: ") + error.what();
  } catch (const Error&) {
    return "error";
  }
}

template <class Language>
std::vector<Mutation> all_mutations(const Golden& golden) {
  Ground ground;
  const std::string wrong = shown<Language>(golden, ground, golden.sizes[0], 0);
  EXPECT_EQ(wrong, "") << golden.name;
  return std::move(ground.seen);
}

// All sizes and orders are tried until one shows it, then small whole numbers, of which many are equal, and inputs with
// an element that is huge, tiny or no number. "not reached": at none of the sizes anything runs there.
template <class Language>
std::string found(const Golden& golden, size_t number, const Mutation& mutation) {
  const auto tried = [&](bool traps, uint64_t order) -> std::string {
    for (const TextSettings& set : golden.sizes) {
      Ground ground{.wanted = number, .is = mutation, .seen = {}, .traps = traps};
      const std::string how = shown<Language>(golden, ground, set, order);
      if (!how.empty() && ground.made) return how;
    }
    return "";
  };
  for (const uint64_t order : {0, 1, 2})
    if (const std::string how = tried(false, order); !how.empty()) return how;
  for (const TextSettings& set : golden.sizes) {
    Ground none, ground{.wanted = number, .is = mutation, .seen = {}, .traps = false};
    if (!shown<Language>(golden, none, set, 0, 0, true).empty()) break;  // leaves the whole numbers
    const std::string how = shown<Language>(golden, ground, set, 0, 0, true);
    if (!how.empty() && ground.made) return how;
  }
  for (uint64_t specials = 1; specials <= kSpecials; ++specials)
    for (const TextSettings& set : golden.sizes) {
      Ground ground{.wanted = number, .is = mutation, .seen = {}, .traps = false};
      const std::string how = shown<Language>(golden, ground, set, 0, specials);
      if (!how.empty() && ground.made) return how;
    }
  return tried(true, 0).empty() ? "not reached" : "not found";  // last: a device that trapped reports errors ever after
}

// A line of mutations.txt: mutations that nothing needs to find.
struct Reason {
  std::regex kind, where;
};
std::vector<Reason> reasons() {
  std::vector<Reason> out;
  std::ifstream in(fs::path(PLAIT_SOURCE_DIR) / "tests/fuzz/mutations.txt");
  for (std::string line; std::getline(in, line);) {
    if (line[0] == '#') continue;
    const size_t kind = line.find(" ;; "), where = line.find(" ;; ", kind + 1);
    out.push_back({std::regex(line.substr(0, kind)), std::regex(line.substr(kind + 4, where - kind - 4))});
  }
  EXPECT_FALSE(out.empty());
  return out;
}
bool argued(const Mutation& mutation, const std::vector<Reason>& reasons) {
  return std::any_of(reasons.begin(), reasons.end(), [&](const Reason& reason) {
    return std::regex_match(mutation.kind, reason.kind) && std::regex_search(mutation.where, reason.where);
  });
}

template <class Language>
void judge(const std::vector<Golden>& among, size_t most, double least) {
  if (testing::kSanitized) GTEST_SKIP() << "sanitizers end what mutations do";
  // GPUs that a process has used do not work in its children: nothing here asks for one.
  const std::string why = testing::in_child(kSeconds, [] { return testing::why_no_device(kDevice) + "-"; });
  if (why != "-") GTEST_SKIP() << why.substr(0, why.size() - 1);
  const auto why_not_found = reasons();
  int reached = 0, survived = 0, seen_by_nobody = 0;
  std::map<std::string, std::pair<int, int>> by_kind;  // reached, survived
  std::map<std::string, int> by_way;
  for (Golden golden : among) {
    std::erase_if(golden.sizes, [&](const TextSettings& set) {  // dims that are not what each other's ask for
      const auto fits = [&] {
        Ground ground;
        return shown<Language>(golden, ground, set, 0) + "-";
      };
      return testing::in_child(kSeconds, fits) != "-";
    });
    const std::string listed = testing::in_child(kSeconds, [&] {
      std::string out;
      for (const Mutation& m : all_mutations<Language>(golden)) out += fmt::format("{}\t{}\n", m.kind, m.where);
      return out;
    });
    std::vector<Mutation> all;
    std::istringstream in(listed);
    for (std::string line; std::getline(in, line);)
      all.push_back({line.substr(0, line.find('\t')), line.substr(line.find('\t') + 1)});
    ASSERT_GT(all.size(), 5u) << golden.name << "\n" << listed;
    for (const size_t i : testing::draw_mutations(all, most, 1)) {
      const std::string how = testing::in_child(kSeconds, [&] {
        std::freopen("/dev/null", "w", stderr);  // reports
        return found<Language>(golden, i, all[i]);
      });
      ++by_way[how.substr(0, how.find(':'))];
      if (how == "not reached") continue;
      ++reached;
      ++by_kind[all[i].kind].first;
      if (how != "not found") continue;
      ++survived;
      ++by_kind[all[i].kind].second;
      seen_by_nobody += argued(all[i], why_not_found);
      EXPECT_TRUE(argued(all[i], why_not_found))
          << "not found, and not argued: " << golden.name << '\t' << all[i].kind << '\t' << all[i].where;
    }
  }
  for (const auto& [kind, counts] : by_kind)
    std::printf("%-24s %4d made, %3d not found\n", kind.c_str(), counts.first, counts.second);
  for (const auto& [way, count] : by_way) std::printf("%-24s %4d\n", way.c_str(), count);
  const int found = reached - survived;
  std::printf("%d of %d mutations found where something runs, %d of the others argued\n", found, reached,
              seen_by_nobody);
  EXPECT_GE(found, least * reached);
  EXPECT_GE(found, 0.95 * (reached - seen_by_nobody));
}

std::vector<Golden> only(const std::vector<std::string>& names) {
  std::vector<Golden> out;
  for (Golden& golden : goldens())
    if (std::find(names.begin(), names.end(), golden.name) != names.end()) out.push_back(std::move(golden));
  EXPECT_EQ(out.size(), names.size());
  return out;
}

TEST(Mutations, SomeOfKernelIrAreFound) { judge<KernelIr>(only({"softmax", "transpose_add"}), 16, 0.7); }
TEST(Mutations, SomeOfPtxAreFound) { judge<Ptx>(only({"softmax", "transpose_add"}), 12, 0.9); }
TEST(Mutations, OfKernelIrLongRun) { judge<KernelIr>(goldens(), 40, 0.85); }
TEST(Mutations, OfPtxLongRun) { judge<Ptx>(goldens(), 20, 0.95); }

}  // namespace
}  // namespace plait
