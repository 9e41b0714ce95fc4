// Option on_internal_error: where the kernel of a group fails its checks or the compiler, compiling stops, or the group
// is a kernel per op, with a file that repeats it and one warning.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "backend/cpu/cpu_device.h"
#include "base/error.h"
#include "kir/kernel.h"
#include "plait.h"
#include "reference/check.h"
#include "reference/draw_inputs.h"
#include "session/devices.h"
#include "support/forwarding_device.h"

namespace plait {
namespace {

constexpr const char* kSoftmax = R"(
fusion @f (%x: f32[6, 40]) -> (%y) {
  %y = softmax(%x, dim = 1)
}
)";

// A folder that goes with the test.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("plait_{}_{}", getpid(), ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) out.push_back(entry.path().string());
    return out;
  }

 private:
  std::filesystem::path path_;
};

std::string read(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

// The kernel of rows stores to what it only reads.
void break_rows(std::string_view, std::string_view, const PassSubject& subject) {
  auto* kernel = subject.as<kir::Kernel>();
  if (kernel == nullptr || !kernel->schedule.starts_with("norm")) return;
  for (kir::Buffer& b : kernel->buffers) b.written = false;
}

struct Ran {
  bool ok = false;
  int64_t kernels = 0;
  std::vector<std::string> warnings;
};

Ran run(const std::string& text, CompileOptions how) {
  const auto fusion = parse_fusion(text);
  Ran out;
  if (how.device_override == nullptr) how.device = "cpu";
  how.warn = [&](const std::string& line) { out.warnings.push_back(line); };
  const auto inputs = reference::draw_inputs(*fusion, {});
  const auto want = reference::evaluate(*fusion, inputs, {});
  auto compiled = compile(*fusion, how);
  const Tensors outputs = compiled.run({inputs.begin(), inputs.end()});
  out.ok = reference::compare("y", want.at("y"), outputs.at("y")).ok;
  out.kernels = compiled.report().launches;
  return out;
}

TEST(OnInternalError, StopIsTheDefault) {
  CompileOptions how;
  how.hook = break_rows;
  EXPECT_THROW(run(kSoftmax, how), InternalError);
}

TEST(OnInternalError, AGroupBecomesNests) {
  const Folder folder;
  CompileOptions how;
  how.hook = break_rows;
  how.options.on_internal_error = "nest";
  how.options.reproducers = folder.path();
  const Ran ran = run(kSoftmax, how);
  EXPECT_TRUE(ran.ok);
  EXPECT_GT(ran.kernels, 1);
  ASSERT_EQ(ran.warnings.size(), 1u);
  EXPECT_NE(ran.warnings[0].find("the kernel of %y (norm("), std::string::npos) << ran.warnings[0];
  const auto files = folder.files();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_NE(ran.warnings[0].find(files[0]), std::string::npos);
  const std::string left = read(files[0]);
  EXPECT_NE(left.find("# message: "), std::string::npos) << left;
  EXPECT_NE(left.find("# schedule: norm("), std::string::npos) << left;
  // The file holds the group, and what it shows is there again.
  how.options.on_internal_error = "stop";
  EXPECT_THROW(run(left, how), InternalError);
  how.hook = {};
  EXPECT_TRUE(run(left, how).ok);
}

TEST(OnInternalError, TheCompilerMayFailToo) {
  class Failing : public testing::ForwardingDevice {
   public:
    Failing() : ForwardingDevice(find_device("cpu", {})) {}
    std::shared_ptr<Executable> compile(const KernelText& text, KernelFacts* facts) override {
      if (failures++ == 0) throw InternalError("the compiler gives up", text.name, "");
      return inner_.compile(text, facts);
    }
    std::atomic<int> failures = 0;
  };
  const Folder folder;
  Failing device;
  CompileOptions how;
  how.device_override = &device;
  EXPECT_THROW(run(kSoftmax, how), InternalError);
  device.failures = 0;
  how.options.on_internal_error = "nest";
  how.options.reproducers = folder.path();
  const Ran ran = run(kSoftmax, how);
  EXPECT_TRUE(ran.ok);
  EXPECT_EQ(ran.warnings.size(), 1u);
  EXPECT_EQ(folder.files().size(), 1u);
}

// What fails as nests as well stops; so does what cannot be written, which is said.
TEST(OnInternalError, NestsThatFailStop) {
  const Folder folder;
  CompileOptions how;
  how.options.on_internal_error = "nest";
  how.options.reproducers = folder.path() + "/none";
  how.hook = [](std::string_view, std::string_view, const PassSubject& subject) {
    if (auto* kernel = subject.as<kir::Kernel>())
      for (kir::Buffer& b : kernel->buffers) b.written = false;
  };
  EXPECT_THROW(run(kSoftmax, how), InternalError);
  how.hook = break_rows;
  const Ran ran = run(kSoftmax, how);
  EXPECT_TRUE(ran.ok);
  ASSERT_EQ(ran.warnings.size(), 1u);
  EXPECT_NE(ran.warnings[0].find("cannot write"), std::string::npos) << ran.warnings[0];
}

// A link of that name is replaced, and what it points to stays.
TEST(OnInternalError, LinksAreNotFollowed) {
  const Folder folder;
  CompileOptions how;
  how.hook = break_rows;
  how.options.on_internal_error = "nest";
  how.options.reproducers = folder.path();
  run(kSoftmax, how);
  ASSERT_EQ(folder.files().size(), 1u);
  const std::string file = folder.files()[0], target = folder.path() + "/target";
  std::ofstream(target) << "mine";
  std::filesystem::remove(file);
  std::filesystem::create_symlink(target, file);
  run(kSoftmax, how);
  EXPECT_EQ(read(target), "mine");
  EXPECT_FALSE(std::filesystem::is_symlink(file));
}

TEST(OnInternalError, OtherWordsAreRefused) {
  CompileOptions how;
  how.options.on_internal_error = "nests";
  EXPECT_THROW(run(kSoftmax, how), UserError);
}

}  // namespace
}  // namespace plait
