// Mutated kernels of the fusions whose kernels are goldens (support/mutations.h), on the simulated GPU: nearly all are
// found, by a report, the verifier or a wrong number. Those that are not stand in mutations.txt with the reason.
#include <gtest/gtest.h>

#include <sys/time.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <regex>
#include <sstream>

#include "api/check_program.h"
#include "base/error.h"
#include "base/plugin_loader.h"
#include "plait.h"
#include "reference/draw_inputs.h"
#include "session/bind_inputs.h"
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
constexpr int kSeconds = 60;      // of a processor, after which a mutated kernel counts as one without end
constexpr int kAllSeconds = 900;  // of all runs of one

// What the elements of inputs are. drawn, exact: as the reference draws them. whole: of these the nearest whole number
// to twice each, many of which are equal; low: below -200; wide: 1000 times as far from 0. special: two of each input
// are huge, tiny or no number. index: one of each i64 is at or beyond an end of what it may be.
enum class Numbers : uint8_t { drawn, exact, whole, low, wide, special, index };
constexpr double kSpecials[] = {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL, -0.0, 1e30, 1e-40};

struct Inputs {
  Numbers are = Numbers::drawn;
  double value = 0;     // of special and index
  std::string shows{};  // what is said where no kernel is mutated: nothing, or the error of an index
};

struct Trial {
  TextSettings set;
  uint64_t order = 0;  // of blocks and streams
  std::vector<Inputs> inputs;
};

struct Golden {
  std::string name, text;
  std::vector<Trial> trials;
};

std::vector<TextSettings> sizes_of(const testing::FusionFile& file) {
  std::vector<TextSettings> out;
  for (const int64_t times : {1, 3, 2, 5, 7, 10, 8}) {  // many numbers of elements behind the last whole vector
    if (times > 3 && file.small.size() > 3) continue;   // much to compute
    TextSettings& set = out.emplace_back();
    for (const auto& [name, value] : file.small) set[name] = std::to_string(std::stoll(value) * times);
  }
  // Each dim by itself around what threads, vectors and turns of loops hold, and all turns of loops.
  for (const auto& [name, text] : file.small)
    for (const int64_t value : {1, 4, 31, 33, 65, 93, 129, 300}) {
      if ((value == 4 || value == 93 || value == 300) && file.small.size() > 2) continue;  // much to compute
      out.push_back(out[0]);
      out.back()[name] = std::to_string(value);
    }
  return out;
}

std::vector<Trial> trials_of(const testing::FusionFile& file) {
  std::vector<Trial> out;
  const auto sizes = sizes_of(file);
  for (size_t i = 0; i < sizes.size(); ++i) {
    Trial& trial =
        out.emplace_back(Trial{sizes[i], 0, {{Numbers::drawn}, {Numbers::low}, {Numbers::whole}, {Numbers::wide}}});
    if (i >= 4) continue;
    trial.inputs.push_back({Numbers::exact});
    for (const double value : kSpecials) trial.inputs.push_back({Numbers::special, value});
    trial.inputs.push_back({Numbers::index, -1});
    trial.inputs.push_back({Numbers::index, 2});
    for (const auto& [name, value] : sizes[i]) trial.inputs.push_back({Numbers::index, std::stod(value)});
  }
  for (const uint64_t order : {1, 2})
    for (size_t i = 0; i < std::min<size_t>(sizes.size(), 7); ++i) out.push_back({sizes[i], order, {{Numbers::drawn}}});
  return out;
}

std::vector<Golden> goldens() {
  std::vector<Golden> out;
  const fs::path tests = fs::path(PLAIT_SOURCE_DIR) / "tests";
  const char* const only = std::getenv("PLAIT_TEST_GOLDEN");  // its name, where others are left out
  for (const auto& entry : fs::directory_iterator(tests / "golden/fusions")) {
    if (only != nullptr && entry.path().filename() != only) continue;
    const auto file = testing::read_fusion(tests / "fusions" / (entry.path().filename().string() + ".plait"));
    // Without ranges of indices, which the host would check in front of the kernels.
    const std::string text = std::regex_replace(file.text, std::regex(R"( in 0\.\.\w+)"), "");
    out.push_back({file.name, text, trials_of(file)});
  }
  std::sort(out.begin(), out.end(), [](const Golden& a, const Golden& b) { return a.name < b.name; });
  return out;
}

Tensors made(const Fusion& fusion, const Inputs& how) {
  reference::DrawOptions draw;
  draw.exact = how.are == Numbers::exact;
  auto drawn = reference::draw_inputs(fusion, draw);
  Tensors out(drawn.begin(), drawn.end());
  std::mt19937_64 random(1);
  for (auto& [name, t] : out) {
    const bool is_index = how.are == Numbers::index;
    if (t.elements() == 0 || (is_index ? t.dtype != DType::i64 : !is_float(t.dtype))) continue;
    std::vector<double> values = t.to_doubles();
    for (double& value : values) {
      if (how.are == Numbers::whole) value = std::round(2 * value);
      if (how.are == Numbers::low) value = -200 - std::abs(value);
      if (how.are == Numbers::wide) value *= 1000;
    }
    const size_t at = random() % values.size();
    if (is_index || how.are == Numbers::special) values[at] = how.value;
    if (how.are == Numbers::special) values[(at + 5) % values.size()] = how.value;
    t = Tensor::from_doubles(t.dtype, t.shape, values);
  }
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
  static void plant(CompileOptions& how, Ground& ground) {
    how.hook = [&ground](std::string_view, std::string_view pass, const PassSubject& subject) {
      auto* kernel = subject.as<kir::Kernel>();
      if (kernel == nullptr || pass != "lower") return;
      if (const auto which = ground.pick(testing::mutations(*kernel))) testing::mutate(*kernel, *which, ground.traps);
    };
  }
};

class Ptx {
 public:
  static void plant(CompileOptions&, Ground& ground) {
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

// What a run says: nothing, or how it is wrong ("error": of the verifier or a report, "result").
std::string said(const std::function<bool()>& run) {
  // A run without end is ended, by a processor's time, or where its threads wait, by any.
  const itimerval most{{}, {kSeconds, 0}};
  setitimer(ITIMER_PROF, &most, nullptr);
  alarm(kSeconds * 10);
  try {
    return run() ? "" : "result";
  } catch (const UserError& error) {
    return std::string("refused: ") + error.what();
  } catch (const Error&) {
    return "error";
  }
}

// Calls `each` with what every one of the trial's inputs says, until it returns false.
template <class Language>
void run(const std::string& text, Ground& ground, const Trial& trial,
         const std::function<bool(size_t, std::string)>& each) {
  CompileOptions how;
  how.device = kDevice;
  how.interleaving = trial.order;
  how.options.poison = true;
  Language::plant(how, ground);
  std::unique_ptr<Fusion> fusion;
  std::optional<Compiled> compiled;
  const std::string wrong = said([&] {
    ParseOptions parse;
    parse.set = trial.set;
    fusion = parse_fusion(text, parse);
    how.sizes = lets_of_open_symbols(*fusion);
    compiled = compile(*fusion, how);
    return true;
  });
  for (size_t i = 0; i < trial.inputs.size(); ++i) {
    const auto once = [&] {
      const Tensors inputs = made(*fusion, trial.inputs[i]);
      const Tensors outputs = compiled->run(inputs);
      const bool exact = trial.inputs[i].are == Numbers::exact;
      return check_program(*fusion, how, *compiled, inputs, outputs, {.exact = exact, .one_rank = false}).all.ok;
    };
    if (!each(i, wrong.empty() ? said(once) : wrong)) return;
  }
}

// Leaves the trials that say nothing without a mutation, or that an index is wrong: dims may not be what others ask
// for, and numbers may be such that nothing can be compared.
template <class Language>
void settle(Golden& golden) {
  for (Trial& trial : golden.trials) {
    const std::string all = testing::in_child(kAllSeconds, [&] {
      Ground ground;
      std::string out = "\n";
      run<Language>(golden.text, ground, trial, [&](size_t, std::string says) {
        std::replace(says.begin(), says.end(), '\n', ' ');
        out += says + "\n";
        return true;
      });
      return out;
    });
    std::istringstream in(all);
    std::string says;
    std::getline(in, says);
    std::vector<Inputs> kept;
    for (Inputs& inputs : trial.inputs)
      if (std::getline(in, inputs.shows))
        if (inputs.shows.empty() || (inputs.are == Numbers::index && inputs.shows.starts_with("refused")))
          kept.push_back(inputs);
    trial.inputs = std::move(kept);
  }
  std::erase_if(golden.trials,
                [](const Trial& trial) { return trial.inputs.empty() || trial.inputs[0].are != Numbers::drawn; });
}

// How the mutation shows in the trial, or nothing, where it is made.
template <class Language>
std::string shown(const Golden& golden, Ground& ground, const Trial& trial) {
  std::string out;
  run<Language>(golden.text, ground, trial, [&](size_t i, std::string says) {
    std::replace(says.begin(), says.end(), '\n', ' ');
    if (ground.made && says != trial.inputs[i].shows) out = says.empty() ? "no error" : says;
    return ground.made && out.empty();
  });
  return out;
}

template <class Language>
std::vector<Mutation> all_mutations(const Golden& golden) {
  Ground ground;
  Trial trial = golden.trials.at(0);
  trial.inputs.resize(1);
  run<Language>(golden.text, ground, trial, [](size_t, const std::string&) { return true; });
  return std::move(ground.seen);
}

// All trials are made until one shows it. "not reached": in none of them anything runs there.
template <class Language>
std::string found(const Golden& golden, size_t number, const Mutation& mutation) {
  for (const bool traps : {false, true})  // last: a device that trapped reports errors ever after
    for (const Trial& trial : golden.trials) {
      if (traps && trial.order != 0) continue;
      Ground ground{.wanted = number, .is = mutation, .seen = {}, .traps = traps};
      const std::string how = shown<Language>(golden, ground, trial);
      if (!how.empty()) return traps ? "not found" : how;
    }
  return "not reached";
}

// A line of mutations.txt: mutations that nothing needs to find.
struct Reason {
  std::regex kind, where;
  std::string line;
};
std::vector<Reason> reasons() {
  std::vector<Reason> out;
  std::ifstream in(fs::path(PLAIT_SOURCE_DIR) / "tests/fuzz/mutations.txt");
  for (std::string line; std::getline(in, line);) {
    if (line[0] == '#') continue;
    const size_t kind = line.find(" ;; "), where = line.find(" ;; ", kind + 1);
    out.push_back({std::regex(line.substr(0, kind)), std::regex(line.substr(kind + 4, where - kind - 4)), line});
  }
  EXPECT_FALSE(out.empty());
  return out;
}
// Its reason, or null.
const Reason* reason_of(const Mutation& mutation, const std::vector<Reason>& reasons) {
  const auto found = std::find_if(reasons.begin(), reasons.end(), [&](const Reason& reason) {
    return std::regex_match(mutation.kind, reason.kind) && std::regex_search(mutation.where, reason.where);
  });
  return found == reasons.end() ? nullptr : &*found;
}

struct Score {
  int reached = 0, survived = 0, argued = 0;
  std::map<std::string, std::pair<int, int>> by_kind;  // reached, survived
  std::map<std::string, int> by_way, by_reason;
  int found() const { return reached - survived; }
  std::string text() const {
    return fmt::format("{} of {} mutations found where something runs, {} of the others argued", found(), reached,
                       argued);
  }
};

template <class Language>
std::vector<Mutation> listed(const Golden& golden) {
  const std::string lines = testing::in_child(kSeconds, [&] {
    std::string out;
    for (const Mutation& m : all_mutations<Language>(golden)) out += fmt::format("{}\t{}\n", m.kind, m.where);
    return out;
  });
  std::vector<Mutation> all;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);)
    all.push_back({line.substr(0, line.find('\t')), line.substr(line.find('\t') + 1)});
  EXPECT_GT(all.size(), 5u) << golden.name << "\n" << lines;
  return all;
}

template <class Language>
void judge(const Golden& golden, size_t most, const std::vector<Reason>& reasons, Score& score) {
  const auto all = listed<Language>(golden);
  for (const size_t i : testing::draw_mutations(all, most, 1)) {
    const std::string how = testing::in_child(kAllSeconds, [&] {
      std::freopen("/dev/null", "w", stderr);  // reports
      return found<Language>(golden, i, all[i]);
    });
    ++score.by_way[how.substr(0, how.find(':'))];
    if (how == "not reached") continue;
    ++score.reached;
    ++score.by_kind[all[i].kind].first;
    if (how != "not found") continue;
    ++score.survived;
    ++score.by_kind[all[i].kind].second;
    const Reason* const reason = reason_of(all[i], reasons);
    score.argued += reason != nullptr;
    if (reason != nullptr) {
      ++score.by_reason[reason->line];
      std::printf("argued: %s %s\n", all[i].kind.c_str(), all[i].where.c_str());
    }
    EXPECT_NE(reason, nullptr) << "not found, and not argued: " << golden.name << '\t' << all[i].kind << '\t'
                               << all[i].where;
  }
}

template <class Language>
void judge(const std::vector<Golden>& among, size_t most, double least) {
  if (testing::kSanitized) GTEST_SKIP() << "sanitizers end what mutations do";
  // GPUs that a process has used do not work in its children: nothing here asks for one.
  const std::string why = testing::in_child(kSeconds, [] { return testing::why_no_device(kDevice) + "-"; });
  if (why != "-") GTEST_SKIP() << why.substr(0, why.size() - 1);
  const auto why_not_found = reasons();
  Score all;
  for (Golden golden : among) {
    settle<Language>(golden);
    ASSERT_FALSE(golden.trials.empty()) << golden.name;
    Score before = all;
    judge<Language>(golden, most, why_not_found, all);
    std::printf("%-20s %3d of %3d found, %2d of the others argued\n", golden.name.c_str(), all.found() - before.found(),
                all.reached - before.reached, all.argued - before.argued);
    std::fflush(stdout);
  }
  for (const auto& [kind, counts] : all.by_kind)
    std::printf("%-24s %4d made, %3d not found\n", kind.c_str(), counts.first, counts.second);
  for (const auto& [way, count] : all.by_way) std::printf("%-24s %4d\n", way.c_str(), count);
  for (const Reason& reason : why_not_found)
    std::printf("%4d argued by: %s\n", all.by_reason[reason.line], reason.line.c_str());
  std::printf("%s\n", all.text().c_str());
  EXPECT_GE(all.found(), least * all.reached);
  EXPECT_GE(all.found(), 0.95 * (all.reached - all.argued));
}

std::vector<Golden> only(const std::vector<std::string>& names) {
  std::vector<Golden> out;
  for (Golden& golden : goldens())
    if (std::find(names.begin(), names.end(), golden.name) != names.end()) out.push_back(std::move(golden));
  EXPECT_EQ(out.size(), names.size());
  return out;
}

TEST(Mutations, SomeOfKernelIrAreFound) { judge<KernelIr>(only({"softmax", "transpose_add"}), 16, 0.8); }
TEST(Mutations, SomeOfPtxAreFound) { judge<Ptx>(only({"softmax", "transpose_add"}), 12, 0.9); }
TEST(Mutations, OfKernelIrLongRun) { judge<KernelIr>(goldens(), 40, 0.85); }
TEST(Mutations, OfPtxLongRun) { judge<Ptx>(goldens(), 20, 0.95); }

}  // namespace
}  // namespace plait
