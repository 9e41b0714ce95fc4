// Whole specializations on disk: later programs have what earlier ones compiled, bit for bit, and nothing else.
#include "api/kept_specializations.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "api/explain.h"
#include "api/tune.h"
#include "backend/cpu/cpu_device.h"
#include "backend/disk_cache.h"
#include "plait.h"
#include "reference/draw_inputs.h"
#include "session/boundary.h"
#include "support/fusion_files.h"
#include "support/run_case.h"
#include "support/sanitized.h"
#include "support/scratch_folder.h"
#include "support/tensor_bits.h"
#include "unit/api/saved_fusions.h"

namespace plait {
namespace {

using testing::bits_of;
using testing::ScratchFolder;

class SpecializationsOnDisk : public ::testing::Test {
 protected:
  SpecializationsOnDisk() { set_specializations_on_disk(&disk_); }
  ~SpecializationsOnDisk() override { set_specializations_on_disk(nullptr); }

  struct Ran {
    std::vector<char> bits;
    bool from_disk;
    auto operator<=>(const Ran&) const = default;
  };
  static Ran run(const Compiled& program, const Sizes& sizes = {}) {
    Compiled copy = program;
    const Tensors out = copy.run(with_own_copies(copy.fusion(), inputs_of(copy.fusion(), sizes)));
    return {bits_of(out), copy.report().from_disk};
  }
  static Ran run(const std::string& text, const CompileOptions& options, const Sizes& sizes = {}) {
    const auto fusion = parse_fusion(text);
    return run(compile(*fusion, options), sizes);
  }

  const ScratchFolder scratch_;
  DiskCache disk_{scratch_ / "kept", 64 << 20};
};

TEST_F(SpecializationsOnDisk, AreTakenByLaterPrograms) {
  const CompileOptions cpu{.device = "cpu"}, ranks{.device = "cpu", .ranks = 4, .comm = "local:threads"},
      gpu{.device = "sim:sm_80"}, gpus{.device = "sim:sm_80:4", .ranks = 4};
  for (const auto& [text, options] : std::vector<std::pair<const char*, CompileOptions>>{
           {kSoftmax, cpu}, {kLookup, cpu}, {kSharded, ranks}, {kSoftmax, gpu}, {kLookup, gpu}, {kSharded, gpus}}) {
    if (!testing::why_no_device(options.device).empty()) continue;
    const Ran made = run(text, options), kept = run(text, options);
    EXPECT_FALSE(made.from_disk) << options.device;
    EXPECT_TRUE(kept.from_disk) << options.device << "\n" << text;
    EXPECT_EQ(kept.bits, made.bits) << options.device;
  }
}

TEST_F(SpecializationsOnDisk, TellWhatCompiledOnesTell) {
  const auto fusion = parse_fusion(kSharded);
  const CompileOptions options{.device = "cpu", .ranks = 4};
  Compiled made = compile(*fusion, options), kept = compile(*fusion, options);
  (void)run(made);
  (void)run(kept);
  ASSERT_TRUE(kept.report().from_disk);
  for (const char* stage :
       {"fusion", "graph", "sharded", "localized", "params", "segments", "program", "kir", "llvm", "memory"})
    EXPECT_EQ(kept.stage_text(stage), made.stage_text(stage)) << stage;
  for (const char* what : {"overview", "shard", "segments", "cache"})
    EXPECT_EQ(explain(kept, what), explain(made, what));
  EXPECT_EQ(kept.kernel_texts(), made.kernel_texts());
  EXPECT_EQ(kept.explain_layouts(), made.explain_layouts());
  EXPECT_EQ(print(kept.localized()), print(made.localized()));
  EXPECT_EQ(kept.compiled_specialization().segment_reasons, made.compiled_specialization().segment_reasons);
  EXPECT_EQ(kept.report().bytes_moved, made.report().bytes_moved);
  EXPECT_EQ(kept.report().arena_bytes, made.report().arena_bytes);
  EXPECT_EQ(kept.report().local_shapes, made.report().local_shapes);
  EXPECT_TRUE(kept.serialize() == made.serialize());
}

// What is asked about sizes decides, whichever came first.
TEST_F(SpecializationsOnDisk, AreOfTheSizesThatTheirConditionsTell) {
  const std::vector<int64_t> lengths = {1, 40, 64, 5000, 20000, 40, 41};
  const auto fusion = parse_fusion(kSoftmax);
  std::map<int64_t, std::vector<char>> right;
  size_t classes = 0;
  {
    Compiled program = compile(*fusion, {.device = "cpu"});
    for (const int64_t n : lengths) right[n] = run(program, {{"n", n}}).bits;
    classes = program.classes();
  }
  EXPECT_GT(classes, 2);
  Compiled again = compile(*fusion, {.device = "cpu"});
  for (auto n = lengths.rbegin(); n != lengths.rend(); ++n)
    EXPECT_EQ(run(again, {{"n", *n}}), (Ran{right[*n], true})) << *n;
  EXPECT_EQ(again.classes(), classes);
}

TEST_F(SpecializationsOnDisk, AreOfOneTextAndOneWayToCompileIt) {
  CompileOptions options{.device = "cpu"};
  (void)run(kSoftmax, options);
  EXPECT_TRUE(run("# said\n" + std::string(kSoftmax), options).from_disk) << "words are no part of it";
  EXPECT_FALSE(
      run("let rows = 6, n = 41\n" + std::string(kSoftmax).substr(std::string(kSoftmax).find('\n')), options).from_disk)
      << "costs see defaults";
  options.options.cpu_lanes = 4;
  EXPECT_FALSE(run(kSoftmax, options).from_disk);
  options = {.device = "cpu"};
  options.options.cpu_threads = 1;
  EXPECT_FALSE(run(kSoftmax, options).from_disk) << "another target";
  options = {.device = "cpu"};
  options.options.strict_rounding = true;
  EXPECT_FALSE(run(kSoftmax, options).from_disk);
  options = {.device = "cpu"};
  options.options.poison = true;
  EXPECT_TRUE(run(kSoftmax, options).from_disk) << "no kernel depends on it";
  (void)run(kSharded, {.device = "cpu", .ranks = 2});
  EXPECT_FALSE(run(kSharded, {.device = "cpu", .ranks = 4}).from_disk);
  EXPECT_FALSE(run(kSharded, {.device = "cpu", .one_rank = true}).from_disk);
  EXPECT_TRUE(run(kSharded, {.device = "cpu", .ranks = 2}).from_disk);
}

TEST_F(SpecializationsOnDisk, FollowMeasuredSchedules) {
  std::string wanted;
  CompileOptions options{.device = "cpu"};
  options.measured = [&](const std::string&, const std::string&) {
    std::vector<MeasuredSchedule> out;
    if (!wanted.empty()) out.push_back({{{"rows", 6}, {"n", 40}}, parse_schedule(wanted, "test"), "measured"});
    return out;
  };
  const auto fusion = parse_fusion(kSoftmax);
  const auto schedule = [&](bool from_disk) {
    Compiled program = compile(*fusion, options);
    EXPECT_EQ(run(program).from_disk, from_disk) << wanted;
    return program.report().kernels.at(0).schedule;
  };
  const std::string chosen = schedule(false);
  EXPECT_EQ(schedule(true), chosen);
  wanted = "norm(vector = 2)";
  const std::string measured = schedule(false);
  EXPECT_NE(measured, chosen);
  EXPECT_EQ(schedule(true), measured);
  wanted = "";
  EXPECT_EQ(schedule(true), chosen);
}

TEST_F(SpecializationsOnDisk, AreNotOfCompilationsThatAreWatched) {
  const auto nothing_kept = [&](const CompileOptions& options) {
    (void)run(kSoftmax, options);
    EXPECT_FALSE(run(kSoftmax, options).from_disk);
    EXPECT_EQ(disk_.counts().stored, 0);
  };
  CompileOptions options{.device = "cpu"};
  options.hook = [](std::string_view, std::string_view, const PassSubject&) {};
  nothing_kept(options);
  PassControl passes;
  options = {.device = "cpu"};
  options.passes = &passes;
  nothing_kept(options);
  options = {.device = "cpu"};
  options.options.disk_cache = false;
  nothing_kept(options);
  nothing_kept({.device = "reference"});
}

// Whoever tunes hears from compilations who asks for which schedule.
TEST_F(SpecializationsOnDisk, AreNotOfThoseWhoTune) {
  const auto fusion = parse_fusion(kSoftmax);
  (void)run(kSoftmax, {.device = "cpu"});
  const auto stored = disk_.counts().stored;
  const TuneResult result =
      tune(*fusion, {.device = "cpu"}, inputs_of(*fusion), {.seconds = 0.2, .rounds = 3, .keep = false});
  EXPECT_EQ(result.schedules.size(), 1);
  EXPECT_EQ(disk_.counts().stored, stored);
}

// A device whose plug-ins are those of a folder.
std::unique_ptr<Device> device_with(const ScratchFolder& folder, const std::vector<std::string>& plugins) {
  for (const std::string& plugin : plugins)
    std::filesystem::create_symlink(std::string(PLAIT_BINARY_DIR) + "/" + plugin, folder / plugin);
  return make_cpu_device({.plugin_folder = folder.path().string()});
}

constexpr const char* kProduct = "let n = 64\nfusion @f (%x: f32[n, n]) -> (%y) {\n  %y = matmul(%x, %x)\n}\n";

TEST_F(SpecializationsOnDisk, AreNotOfDevicesThatLackALibrary) {
  const ScratchFolder folder;
  const auto lacking = device_with(folder, {"libplait_llvm.so"});
  EXPECT_FALSE(run(kProduct, {.device_override = lacking.get()}).from_disk);
  EXPECT_EQ(disk_.counts().stored, 0) << "oneDNN may be installed, and is asked then";
  const ScratchFolder whole;
  const auto device = device_with(whole, {"libplait_llvm.so", "libplait_onednn.so"});
  Compiled program = compile(*parse_fusion(kProduct), {.device_override = device.get()});
  EXPECT_FALSE(run(program).from_disk);
  EXPECT_EQ(program.report().library_calls, 1);
}

TEST_F(SpecializationsOnDisk, NeedNoCompilerForWhatNeedsNone) {
  const ScratchFolder folder;
  const auto device = device_with(folder, {"libplait_onednn.so"});
  Compiled program = compile(*parse_fusion(kProduct), {.device_override = device.get()});
  EXPECT_FALSE(run(program).from_disk);
  EXPECT_EQ(program.report().library_calls, 1);
}

TEST_F(SpecializationsOnDisk, ThatAreDamagedAreCompiledAgain) {
  const Ran right = run(kSoftmax, {.device = "cpu"});
  for (const auto& file : std::filesystem::directory_iterator(scratch_ / "kept")) {
    const std::string bytes = testing::read_file(file.path());
    for (size_t bit = 0; bit < bytes.size() * 8; bit += 1 + bytes.size() * 8 / 40) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      testing::write_file(file.path(), damaged);
      EXPECT_EQ(run(kSoftmax, {.device = "cpu"}), right) << bit;
    }
    EXPECT_TRUE(run(kSoftmax, {.device = "cpu"}).from_disk);
  }
}

// Entries whose checksum is right and that nobody stored so: for a key that they are not of, or no class at all.
TEST_F(SpecializationsOnDisk, ThatAreNoneAreCompiledAgain) {
  const Ran right = run(kSoftmax, {.device = "cpu"});
  EXPECT_EQ(disk_.counts().stored, 2);
  std::vector<std::string> sources;
  for (const auto& file : std::filesystem::directory_iterator(scratch_ / "kept")) {
    const std::string bytes = testing::read_file(file.path());
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + 16, sizeof length);
    sources.push_back(bytes.substr(48, length));
  }
  for (const std::string& source : sources)
    for (const char* code : {"", "[", "[]", "{}", "[1]", "[{}]", R"([{"answers": 1, "measured": {}}])",
                             R"([{"answers": [["n <", true]], "measured": {}}])", "plaitc\r\n"}) {
      disk_.store(source, code);
      EXPECT_EQ(run(kSoftmax, {.device = "cpu"}), right) << code;
    }
}

// Two processes that compile, store and take the same, both killed somewhere: what is there is right.
TEST_F(SpecializationsOnDisk, AreWholeThoughProcessesAreKilled) {
  constexpr int kFusions = 12;
  const int kills = std::getenv("PLAIT_TEST_LONG") != nullptr ? 100 : 10;
  const auto text_of = [](int i) {
    return "let n = 64\nfusion @f (%x: f32[n]) -> (%y) {\n  %y = tanh(mul(%x, " + std::to_string(i % kFusions) +
           ".5))\n}\n";
  };
  std::vector<std::vector<char>> right;
  for (int i = 0; i < kFusions; ++i) right.push_back(run(text_of(i), {.device = "cpu"}).bits);
  EXPECT_EQ(disk_.contents(false).entries, 2 * kFusions);
  disk_.prune(0);
  std::mt19937 random(3);
  const auto start = [&](int first) {
    const pid_t child = fork();
    if (child != 0) return child;
    for (int i = first;; ++i)
      if (run(text_of(i), {.device = "cpu"}).bits != right[static_cast<size_t>(i % kFusions)]) _exit(1);
  };
  const auto stored_little = [&] { return disk_.contents(false).entries <= 2; };  // on a slow machine
  for (int i = 0; i < kills || (stored_little() && i < 50 * kills); ++i) {
    const pid_t children[] = {start(i), start(i * 5)};
    usleep(static_cast<useconds_t>((5000 + random() % 60000) * (testing::kSanitized ? 8 : 1)));
    for (const pid_t child : children) {
      kill(child, SIGKILL);
      int status = 0;
      waitpid(child, &status, 0);
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    }
  }
  EXPECT_EQ(disk_.contents(true).damaged, 0);
  EXPECT_GT(disk_.contents(false).entries, 2);
  for (int i = 0; i < kFusions; ++i)
    EXPECT_EQ(run(text_of(i), {.device = "cpu"}).bits, right[static_cast<size_t>(i)]) << i;
}

// Each of tests/fusions, in f32 with the sizes of its head.
TEST_F(SpecializationsOnDisk, OfEveryTypicalFusion) {
  size_t count = 0;
  for (const auto& file : testing::read_fusions(std::filesystem::path(PLAIT_SOURCE_DIR) / "tests/fusions")) {
    if (testing::kSanitized && count++ % 5 != 0) continue;
    const auto fusion = parse_fusion(file.text, {.file = file.name, .set = file.small});
    CompileOptions options{.device = "cpu"};
    for (const auto& let : fusion->size_lets) options.sizes[let.name] = let.value;
    const Ran made = run(compile(*fusion, options), options.sizes);
    EXPECT_EQ(run(compile(*fusion, options), options.sizes), (Ran{made.bits, true})) << file.name;
    count += testing::kSanitized ? 0 : 1;
  }
  EXPECT_GT(count, 90);
}

}  // namespace
}  // namespace plait
