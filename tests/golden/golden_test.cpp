// Generated text as checked-in files, read like source: tests/golden/PROGRAM_DTYPE/KERNEL.kir and .ll (CPU, 8 lanes)
// and .cu; of files of tests/fusions, tests/golden/fusions/NAME/KERNEL.kir and .ll. BLESS=1 rewrites them; it is
// refused where CI is set. Nothing is compiled to machine code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "plait.h"
#include "session/bind_inputs.h"
#include "support/examples.h"
#include "support/run_case.h"

namespace plait {
namespace {

namespace fs = std::filesystem;
using Settings = std::map<std::string, std::string, std::less<>>;
using Files = std::map<std::string, std::string>;  // by name: "tp_mlp_s2.ll"

struct NoExecutable : Executable {
  void launch(const LaunchArguments&) const override {}
};

// Takes every text and runs none; contractions of f32 and bf16 go to a library.
class TextDevice : public Device {
 public:
  explicit TextDevice(Target target) : target_(std::move(target)) {}
  std::string name() const override { return "text"; }
  const Target& target() const override { return target_; }
  Allocator& allocator(int = 0) override { return allocator_; }
  std::shared_ptr<Executable> compile(const KernelText&, KernelFacts*) override {
    return std::make_shared<NoExecutable>();
  }
  std::shared_ptr<Executable> library(const LibraryContraction& contraction, std::string* why_not) override {
    if (contraction.in != DType::f64) return std::make_shared<NoExecutable>();
    *why_not = "f64";
    return nullptr;
  }

 private:
  const Target target_;
  HostAllocator allocator_;
};

// The kernel IR of that name. Segments have one each, a program has one of those that are equal.
std::string text_of(const std::string& kernel, const std::vector<std::string>& texts) {
  for (const auto& text : texts)
    if (text.rfind("kernel @" + kernel + "(", 0) == 0) return text;
  ADD_FAILURE() << "there is no kernel IR of " << kernel;
  return "";
}

// Files of a program's kernels, with the facts of the sizes that its text has.
Files generate(const Fusion& fusion, const Target& target, int64_t ranks) {
  TextDevice device(target);
  CompileOptions how;
  how.device_override = &device;
  how.ranks = ranks;
  how.sizes = lets_of_open_symbols(fusion);
  Compiled compiled = compile(fusion, how);
  compiled.prepare(testing::metadata_of(fusion));
  Files out;
  for (const auto& kernel : compiled.program().kernels) {
    const KernelText& code = kernel.code;
    out[code.name + (target.cuda() ? ".cu" : ".ll")] = code.text;
    if (!target.cuda()) out[code.name + ".kir"] = text_of(code.name, compiled.kernel_texts());
  }
  return out;
}

Files generate(const std::string& program, const Settings& set, int64_t ranks) {
  ParseOptions parse;
  parse.set = set;
  const auto fusion = parse_fusion(testing::example(program), parse);
  Files out = generate(*fusion, Target(), ranks);
  out.merge(generate(*fusion, target_named("sm_90a"), ranks));
  return out;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

Files read_folder(const fs::path& folder) {
  Files out;
  if (!fs::exists(folder)) return out;
  for (const auto& entry : fs::directory_iterator(folder)) out[entry.path().filename().string()] = read(entry.path());
  return out;
}

// The first line in which two texts differ, for messages.
std::string difference(const std::string& want, const std::string& got) {
  std::istringstream a(want), b(got);
  for (int line = 1;; ++line) {
    std::string x, y;
    const bool more_a = bool(std::getline(a, x)), more_b = bool(std::getline(b, y));
    if (!more_a && !more_b) return "no line differs";
    if (x != y || more_a != more_b) return "line " + std::to_string(line) + "\n- " + x + "\n+ " + y;
  }
}

void expect_equal(const Files& want, const Files& got, const std::string& what) {
  for (const auto& [name, text] : want) {
    const auto it = got.find(name);
    EXPECT_TRUE(it != got.end()) << what << ": " << name << " is not generated any more; BLESS=1 removes it";
    if (it != got.end() && it->second != text)
      ADD_FAILURE() << what << "/" << name << " " << difference(text, it->second);
  }
  for (const auto& [name, text] : got)
    EXPECT_TRUE(want.count(name)) << what << ": " << name << " is new; BLESS=1 adds it";
}

void bless(const fs::path& folder, const Files& files) {
  ASSERT_EQ(std::getenv("CI"), nullptr) << "BLESS is refused where CI is set";
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const auto& [name, text] : files) std::ofstream(folder / name, std::ios::binary) << text;
}

struct Case {
  std::string program, dtype;
  int64_t ranks;
  std::vector<std::string> kernels;  // those that are kept; none: all
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.program << " " << c.dtype << " " << c.ranks; }
};

class Golden : public ::testing::TestWithParam<Case> {};

// Of the block: a layer norm and the weights of the attention under the causal mask, which are one kernel on CPUs; on
// GPUs the sum that layer norm begins with, its end, and the attention.
INSTANTIATE_TEST_SUITE_P(Programs, Golden,
                         ::testing::Values(Case{"simple_add", "f32", 1, {}}, Case{"tp_mlp", "f32", 4, {}},
                                           Case{"tp_mlp", "bf16", 4, {}}, Case{"softmax", "f32", 4, {}},
                                           Case{"transformer_block", "bf16", 4, {"s1", "s2", "s5", "s13", "s17"}}),
                         [](const auto& info) { return info.param.program + "_" + info.param.dtype; });

Files only(const Files& files, const std::string& kernel) {
  Files out;
  for (const auto& [name, text] : files)
    if (name.rfind(kernel + ".", 0) == 0) out[name] = text;
  return out;
}

Files generate(const Case& c) {
  const Settings set = c.program == "simple_add" ? Settings{} : Settings{{"T", c.dtype}};
  Files files = generate(c.program, set, c.ranks), kept;
  for (const auto& kernel : c.kernels) kept.merge(only(files, c.program + "_" + kernel));
  return c.kernels.empty() ? files : kept;
}

TEST_P(Golden, TextIsAsChecked) {
  const Case& c = GetParam();
  const Files files = generate(c);
  const std::string name = c.program + "_" + c.dtype;
  const fs::path folder = fs::path(PLAIT_SOURCE_DIR) / "tests/golden" / name;
  if (std::getenv("BLESS") != nullptr) bless(folder, files);
  expect_equal(read_folder(folder), files, name);
}

TEST_P(Golden, CompilingAgainGivesTheSameBytes) {
  expect_equal(generate(GetParam()), generate(GetParam()), GetParam().program);
}

// Of each scheduler and kind of kernel: elementwise, moves, lookups, scatters, rows, columns, several phases, scans.
const std::vector<std::string> kFusions = {
    "pointwise_chain",    "gelu_bias",        "bias_gelu_dropout",    "lion",         "outer_product",
    "transpose_add",      "cat_chains",       "pad_slice_stencil",    "token_shift",  "pixel_shuffle",
    "channel_shuffle",    "rope_q_and_k",     "qkv_split_rope",       "softmax",      "embedding_positions",
    "embedding_backward", "rms_norm_forward", "layer_norm_forward",   "l2_normalise", "two_reductions",
    "max_with_argmax",    "huber_mean",       "sum_rows_and_columns", "cumsum_chain", "quantise_rows_int8",
    "histogram"};

class GoldenFusion : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Fusions, GoldenFusion, ::testing::ValuesIn(kFusions),
                         [](const auto& info) { return info.param; });

TEST_P(GoldenFusion, TextIsAsChecked) {
  const fs::path tests = fs::path(PLAIT_SOURCE_DIR) / "tests", folder = tests / "golden/fusions" / GetParam();
  const Files files = generate(*parse_fusion(read(tests / "fusions" / (GetParam() + ".plait"))), Target(), 1);
  if (std::getenv("BLESS") != nullptr) bless(folder, files);
  expect_equal(read_folder(folder), files, GetParam());
}

TEST(GoldenFusions, FoldersAreThoseOfTheList) {
  for (const auto& entry : fs::directory_iterator(fs::path(PLAIT_SOURCE_DIR) / "tests/golden/fusions"))
    EXPECT_EQ(std::count(kFusions.begin(), kFusions.end(), entry.path().filename()), 1) << entry.path();
}

// Kernel IR without what its head states of sizes.
Files without_facts(Files files) {
  for (auto& [name, text] : files) {
    const size_t given = text.find(" given "), target = text.find(" target ");
    if (given < target && target < text.find('\n')) text.erase(given, target - given);
  }
  return files;
}

// A kernel knows facts, not ranks. The second kernel stands on whole tensors, of which multiples were asked by as many
// pieces as there are ranks; the first one's row is a piece, known to
// be a multiple of 8 on 2 ranks and of 4 on 4 ranks, and of nothing where 37 columns are shared by either: then only
// the greatest row that is possible differs, which no code depends on.
TEST(GoldenRanks, KernelsOfTwoAndFourRanksAreEqualWhereTheFactsAre) {
  for (const char* dtype : {"f32", "bf16"}) {
    const Files two = generate("tp_mlp", {{"T", dtype}}, 2), four = generate("tp_mlp", {{"T", dtype}}, 4);
    EXPECT_EQ(only(four, "tp_mlp_s5").size(), 3u);
    expect_equal(without_facts(only(two, "tp_mlp_s5")), without_facts(only(four, "tp_mlp_s5")), "s5");
    EXPECT_NE(only(two, "tp_mlp_s2"), only(four, "tp_mlp_s2"));
    const Settings uneven = {{"T", dtype}, {"h4", "37"}};
    expect_equal(without_facts(generate("tp_mlp", uneven, 2)), without_facts(generate("tp_mlp", uneven, 4)), "uneven");
  }
}

// Sizes with the same facts are one class: nothing in a kernel's text speaks of a size.
TEST(GoldenRanks, SizesOfOneClassGiveTheSameText) {
  const Files small = generate("tp_mlp", {{"sb", "64"}, {"h", "256"}, {"h4", "1024"}}, 4);
  expect_equal(small, generate("tp_mlp", {{"sb", "512"}, {"h", "1024"}, {"h4", "4096"}}, 4), "larger");
}

}  // namespace
}  // namespace plait
