// Mutated texts: parse gives a fusion that verifies and round-trips, or a UserError that says something; what is
// accepted compiles, or is refused by a UserError.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/sanitizers.h"
#include "fuzz/text_corpus.h"
#include "fuzz/text_harness.h"
#include "ir/fusion.h"
#include "plait.h"
#include "support/sanitized.h"

namespace plait {
namespace {

constexpr uint64_t kSeed = 20240607;

std::vector<std::string> corpus() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(PLAIT_SOURCE_DIR "/docs/examples"))
    if (entry.path().extension() == ".plait") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> out(test::kTextCorpus.begin(), test::kTextCorpus.end());
  for (const auto& path : paths) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    out.push_back(text.str());
  }
  return out;
}

// Words, numbers and signs of a text, blanks between them included.
std::vector<std::string> tokens(const std::string& text) {
  std::vector<std::string> out;
  auto group = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? 1 : c == ' ' ? 2 : 0; };
  for (char c : text) {
    if (!out.empty() && group(c) && group(c) == group(out.back().back()))
      out.back() += c;
    else
      out.emplace_back(1, c);
  }
  return out;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const auto& p : parts) out += p;
  return out;
}

class Mutator {
 public:
  Mutator(std::vector<std::string> texts, uint64_t seed) : texts_(std::move(texts)), random_(seed) {}

  std::string next() {
    std::string text = texts_[below(texts_.size())];
    for (size_t k = 1 + below(2) * below(3); k > 0; --k) text = mutate(text);
    return text;
  }

 private:
  size_t below(size_t n) { return n ? random_() % n : 0; }

  std::string mutate(std::string text) {
    if (text.empty()) return text;
    switch (below(9)) {
      case 0: {  // a byte
        text[below(text.size())] = static_cast<char>(below(4) ? 32 + below(95) : below(256));
        return text;
      }
      case 1: {  // a stretch goes
        size_t at = below(text.size());
        return text.erase(at, 1 + below(below(4) ? 6 : 60));
      }
      case 2: {  // a stretch comes twice
        size_t at = below(text.size());
        return text.insert(below(text.size()), text.substr(at, 1 + below(80)));
      }
      case 3: {  // the head of one with the tail of another
        const std::string& other = texts_[below(texts_.size())];
        return text.substr(0, below(text.size())) + other.substr(below(other.size()));
      }
      case 4:
      case 5:
        return mutate_lines(text);
      default:
        return mutate_tokens(text);
    }
  }

  // Lines are swapped, or one comes twice or goes.
  std::string mutate_lines(const std::string& text) {
    std::vector<std::string> lines(1);
    for (char c : text) {
      lines.back() += c;
      if (c == '\n') lines.emplace_back();
    }
    size_t a = below(lines.size()), b = below(lines.size());
    if (size_t how = below(3); how == 0)
      std::swap(lines[a], lines[b]);
    else if (how == 1)
      lines[a] = lines[b];
    else
      lines.erase(lines.begin() + static_cast<long>(a));
    return joined(lines);
  }

  std::string mutate_tokens(const std::string& text) {
    auto parts = tokens(text);
    size_t a = below(parts.size()), b = below(parts.size());
    switch (below(4)) {
      case 0:
        std::swap(parts[a], parts[b]);
        break;
      case 1:
        parts[a] = parts[b];
        break;
      case 2: {  // a token of another text
        auto others = tokens(texts_[below(texts_.size())]);
        parts[a] = others[below(others.size())];
        break;
      }
      default: {  // a number
        static const char* kNumbers[] = {"0",
                                         "1",
                                         "-1",
                                         "2",
                                         "3",
                                         "4294967296",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "99999999999999999999",
                                         "1e400",
                                         "nan",
                                         "0.5",
                                         "1000003"};
        for (size_t i = 0; i < parts.size(); ++i) {
          auto& p = parts[(a + i) % parts.size()];
          if (std::isdigit(static_cast<unsigned char>(p[0]))) {
            p = kNumbers[below(std::size(kNumbers))];
            break;
          }
        }
      }
    }
    return joined(parts);
  }

  std::vector<std::string> texts_;
  std::mt19937_64 random_;
};

constexpr int64_t kMostElements = 65536, kMostRanks = 8;

// Metadata of all inputs, every free size 4. Nothing where a tensor is too large for a quick run or has no elements to
// count, or where the sizes contradict each other.
std::optional<Metadata> small_metadata(const Fusion& fusion, Sizes& sizes) {
  for (const SizeLet& let : fusion.size_lets) sizes.emplace(let.name, let.value);
  if (resolve(fusion.mesh(), sizes, std::nullopt).ranks() > kMostRanks) return std::nullopt;
  for (const MeshAxis& axis : fusion.mesh().axes())
    if (!axis.symbol.empty()) sizes.emplace(axis.symbol, 1);
  for (const TensorView* t : fusion.tensors())
    for (sym::Expr extent : t->shape())
      for (const auto& name : sym::symbols(extent))
        if (name.rfind("rank.", 0) != 0) sizes.emplace(name, 4);
  sym::Environment values(sizes.begin(), sizes.end());
  for (const MeshAxis& axis : fusion.mesh().axes()) values["rank." + axis.name] = 0;
  Metadata out;
  for (const TensorView* t : fusion.tensors()) {
    int64_t elements = 1;
    std::vector<int64_t> shape;
    for (sym::Expr extent : t->shape()) {
      shape.push_back(sym::evaluate(extent, values));
      if (shape.back() < 0 || shape.back() > kMostElements) return std::nullopt;
      elements *= std::max<int64_t>(shape.back(), 1);
      if (elements > kMostElements) return std::nullopt;
    }
    if (!t->definition) out[t->name] = {t->dtype, shape};
  }
  return out;
}

// Compiles an accepted text as far as its program. Empty, or what is wrong: anything but a program or a UserError.
std::string compile_problem(const std::string& text, bool& compiled) {
  compiled = false;
  try {
    auto fusion = parse_fusion(text, {.file = "f"});
    CompileOptions options;
    options.device = "reference";
    options.until = "program";
    const auto metadata = small_metadata(*fusion, options.sizes);
    if (metadata) compile(*fusion, options).prepare(*metadata);
  } catch (const StoppedAt&) {
    compiled = true;
  } catch (const UserError& e) {
    if (e.message().empty()) return "an error without words";
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

void run_compilations(uint64_t seed, int count) {
  Mutator mutator(corpus(), seed);
  int accepted_count = 0, compiled_count = 0, failures = 0;
  for (int i = 0; i < count && failures < 5; ++i) {
    const std::string text = mutator.next();
    bool accepted = false, compiled = false;
    try {
      parse_fusion(text, {.file = "f"});
      accepted = true;
    } catch (const UserError&) {}
    if (!accepted) continue;
    ++accepted_count;
    const std::string problem = compile_problem(text, compiled);
    compiled_count += compiled;
    if (!problem.empty()) {
      ADD_FAILURE() << "seed " << seed << " mutation " << i << ": " << problem << "\ntext\n" << text;
      ++failures;
    }
  }
  std::printf("%d texts accepted, %d compiled\n", accepted_count, compiled_count);
  EXPECT_GT(compiled_count * 2, accepted_count);
}

// Ends the process, with words, where one text takes too long: no test may hang.
class Watchdog {
 public:
  explicit Watchdog(uint64_t seed) : seed_(seed), thread_([this] { watch(); }) {}
  ~Watchdog() {
    done_ = true;
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  void enter(int mutation) { at_ = mutation; }

 private:
  void watch() {
    int before = -1, ticks = 0;
    while (!done_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const int now = at_;
      ticks = now == before ? ticks + 1 : 0;
      before = now;
      if (ticks < 600) continue;
      std::fprintf(stderr, "seed %llu mutation %d takes over a minute\n", static_cast<unsigned long long>(seed_), now);
      std::abort();
    }
  }
  const uint64_t seed_;
  std::atomic<int> at_ = 0;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

int64_t most_resident_kilobytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void run_mutations(uint64_t seed, int count) {
  Mutator mutator(corpus(), seed);
  Watchdog watchdog(seed);
  int accepted_count = 0, failures = 0;
  double slowest = 0;
  const int64_t memory = most_resident_kilobytes();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count && failures < 5; ++i) {
    watchdog.enter(i);
    const std::string text = mutator.next();
    const auto begin = std::chrono::steady_clock::now();
    bool accepted = false;
    const std::string problem = test::problem_of_text(text, accepted);
    slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    accepted_count += accepted;
    if (!problem.empty()) {
      ADD_FAILURE() << "seed " << seed << " mutation " << i << ": " << problem << "\ntext\n" << text;
      ++failures;
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const int64_t grown = most_resident_kilobytes() - memory;
  std::printf("%d mutations, %d accepted, %.1f s, slowest %.3f s, %lld kB more memory\n", count, accepted_count,
              seconds, slowest, static_cast<long long>(grown));
  ::testing::Test::RecordProperty("accepted", accepted_count);
  EXPECT_GT(accepted_count, count / 20) << "too few mutations leave a text that is read to the end";
#if !PLAIT_ASAN && !PLAIT_TSAN
  EXPECT_LT(grown, 128 * 1024) << "kB";
#endif
}

TEST(TextFuzz, CorpusIsRead) {
  int accepted_count = 0;
  for (const auto& text : corpus()) {
    bool accepted = false;
    EXPECT_EQ(test::problem_of_text(text, accepted), "") << text;
    accepted_count += accepted;
  }
  EXPECT_GE(accepted_count, 9);
}

// A new op gets its line in text_corpus.h.
TEST(TextFuzz, CorpusHasEveryKindOfOp) {
  std::set<OpKind> seen;
  for (const auto& text : corpus()) {
    const auto fusion = parse_fusion(text);
    for (const Op* op : fusion->ops()) seen.insert(op->kind);
  }
#define PLAIT_OP(Name, text, properties) EXPECT_TRUE(seen.count(OpKind::Name)) << #text;
#include "ir/ops.def"
#undef PLAIT_OP
}

TEST(TextFuzz, Mutations) { run_mutations(kSeed, testing::kSanitized ? 2000 : 10000); }

TEST(TextFuzz, AcceptedMutationsCompile) { run_compilations(kSeed + 2, testing::drawn_here(3000)); }

TEST(TextFuzz, MutationsLongRun) {
  if (!std::getenv("PLAIT_TEST_LONG")) GTEST_SKIP() << "1,000,000 mutations; set PLAIT_TEST_LONG=1";
  run_mutations(kSeed + 1, 1000000);
}

TEST(TextFuzz, CompilationsLongRun) {
  if (!std::getenv("PLAIT_TEST_LONG")) GTEST_SKIP() << "100,000 mutations; set PLAIT_TEST_LONG=1";
  run_compilations(kSeed + 3, 100000);
}

// Texts whose size or depth, and nothing else, is out of bounds: refused at once.
struct Large {
  const char* name;
  std::string text;
  const char* words;  // of the refusal; null: it is read
};

std::string repeated(size_t count, const std::string& part) {
  std::string out;
  out.reserve(count * part.size());
  for (size_t i = 0; i < count; ++i) out += part;
  return out;
}

std::string numbered(size_t count, const std::string& before, const std::string& behind) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += before + std::to_string(i) + behind;
  return out;
}

std::string with_extent(const std::string& extent) {
  return "fusion @f (%x: f32[" + extent + "]) -> (%y) {\n  %y = exp(%x)\n}\n";
}

std::vector<Large> large_texts() {
  const std::string body = " -> (%y) {\n  %y = exp(%x)\n}\n";
  const std::string deep = repeated(100000, "("), close = repeated(100000, ")");
  return {
      {"bytes", repeated(size_t{1} << 24, " ") + with_extent("4"), "a text of 16777"},
      {"blanks", repeated(4000000, " ") + with_extent("4"), nullptr},
      {"comments", repeated(400000, "# comment\n") + with_extent("4"), nullptr},
      {"parentheses", with_extent(deep + "h" + close), "less nesting"},
      {"minus", with_extent(repeated(100000, "-") + "h"), nullptr},
      {"not", with_extent(repeated(100000, "not ") + "h"), "more than 500 words"},
      {"calls", with_extent(repeated(50000, "min(") + "h" + repeated(50000, ", 1)")), "more than 500 words"},
      {"sum", with_extent("h" + numbered(20000, " + a", "")), "more than 500 words"},
      {"sum of 500", with_extent("h" + numbered(499, " + a", "")), nullptr},
      {"product", with_extent("h" + numbered(20000, "*a", "")), "more than 500 words"},
      {"maximum", with_extent("max(h" + numbered(5000, ", a", "") + ")"), "more than 500 words"},
      {"maximum of 500", with_extent("max(h" + numbered(498, ", a", "") + ")"), nullptr},
      {"powers", with_extent("(a + b)" + repeated(160, "*(a + b + c)")), nullptr},
      {"floors", with_extent(repeated(160, "floordiv(") + "h" + repeated(160, " + b, 7)")), nullptr},
      {"digits", with_extent(repeated(100000, "9")), "past 64 bits"},
      {"dims", with_extent("4" + repeated(100000, ", 4")), "more than 64 extents"},
      {"64 dims", with_extent("1" + repeated(63, ", 1")), nullptr},
      {"numbers", "fusion @f (%x: f32[4]) -> (%y) {\n  %y = flip(%x, dims = [0" + repeated(100000, ", 0") + "])\n}\n",
       "more than 64 numbers"},
      {"list of operands", "fusion @f (%x: f32[4]) -> (%y) {\n  %y = cat(%x" + repeated(20000, ", %x") + ")\n}\n",
       nullptr},
      {"names", "fusion @f (%" + repeated(1000000, "x") + ": f32[4])" + body, "a tensor name of 1000000"},
      {"lets", "let a = 1" + numbered(20000, ", b", " = 1") + "\n" + with_extent("4"), "more than 10000 lets"},
      {"inputs", "fusion @f (%x: f32[4]" + numbered(20000, ", %i", ": f32[4]") + ")" + body, nullptr},
      {"operands", "fusion @f (%x: f32[4]) -> (%y) {\n  %y = add(%x" + repeated(100000, ", %x") + ")\n}\n",
       "takes 2 operands"},
      {"results",
       "fusion @f (%x: f32[4]) -> (%y) {\n" + numbered(20000, "  %t", " = exp(%x)\n") + "  %y = exp(%q)\n}\n",
       "%q is not defined"},
      {"segments", "fusion @f (%x: f32[4]) -> (%y) {\n" + repeated(20000, "segment @s () -> () {"), "within a segment"},
      {"schedule",
       "fusion @f (%x: f32[4]) -> (%y) {\n segment @s (%x) -> (%y) schedule nest" + deep + close +
           " { %y = exp(%x) }\n}\n",
       "expected a number's name"},
      {"layout", "mesh @m (a = 2)\nfusion @f on @m (%x: f32[4] {0: [" + repeated(20000, "local 2, ") + "a]})" + body,
       nullptr},
  };
}

// A text whose cost grows with the square of its size takes longer than the watchdog allows.
TEST(TextFuzz, LargeTextsAreRefusedOrRead) {
  Watchdog watchdog(0);
  int number = 0;
  for (const Large& large : large_texts()) {
    SCOPED_TRACE(large.name);
    watchdog.enter(number++);
    const auto begin = std::chrono::steady_clock::now();
    std::string said;
    try {
      const auto fusion = parse_fusion(large.text, {.file = "f"});
      verify(*fusion);
      const std::string printed = print(*fusion);
      EXPECT_EQ(print(*parse_fusion(printed)), printed);
    } catch (const UserError& e) {
      said = e.what();
      EXPECT_LT(said.size(), 2000u);
    }
    if (large.words) {
      EXPECT_NE(said.find(large.words), std::string::npos) << said.substr(0, 300);
    } else {
      EXPECT_EQ(said, "");
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (seconds > 0.3) std::printf("%s: %.2f s\n", large.name, seconds);
  }
}

}  // namespace
}  // namespace plait
