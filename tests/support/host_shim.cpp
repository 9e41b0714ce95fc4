#include "support/host_shim.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

#include "base/error.h"
#include "codegen/cuda/write.h"
#include "scalar/philox.h"

extern char** environ;

namespace plait::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrelude = PLAIT_SOURCE_DIR "/tests/support/host_shim_prelude.h";
constexpr const char* kOptions =
    "-std=c++20 -O1 -w -shared -fPIC -fno-strict-aliasing -fwrapv -ffp-contract=off -fvisibility=hidden -fno-builtin";

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  PLAIT_CHECK(in.good(), "{} cannot be read", path.string());
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// 128 bits of a text as hexadecimal digits, for file names.
std::string digest(const std::string& text) {
  std::array<uint32_t, 4> words{};
  uint64_t key = 0, count = 0;
  for (const char c : text) {
    key = (key << 8) | uint8_t(c);
    if (++count % 8 == 0) words = philox(key, uint64_t(words[1]) << 32 | words[0], uint64_t(words[3]) << 32 | words[2]);
  }
  words = philox(key ^ count, uint64_t(words[1]) << 32 | words[0], uint64_t(words[3]) << 32 | words[2]);
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", words[0], words[1], words[2], words[3]);
}

// Runs a command with its output in a file; returns whether it succeeded.
bool run(const std::vector<std::string>& command, const std::string& output) {
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return failed == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The shared library of a text; compiled unless it is in the build folder. Published by one rename.
std::string library_of(const std::string& text) {
  const std::string digits = digest(fmt::format("{} {}\n{}", PLAIT_HOST_CXX, kOptions, text));
  const fs::path folder = fs::path(PLAIT_BINARY_DIR) / "host_cuda";
  fs::create_directories(folder);
  const std::string library = (folder / (digits + ".so")).string();
  if (fs::exists(library)) return library;
  const std::string own = fmt::format("{}/{}.{}", folder.string(), digits, getpid());
  std::ofstream(own + ".cpp", std::ios::binary) << text;
  std::vector<std::string> command = {PLAIT_HOST_CXX};
  std::istringstream options(kOptions);
  for (std::string option; options >> option;) command.push_back(option);
  command.insert(command.end(), {"-o", own + ".so", own + ".cpp"});
  const bool compiled = run(command, own + ".log");
  const std::string log = read_text(own + ".log");
  fs::remove(own + ".log");
  const std::string kept = (folder / (digits + ".cpp")).string();
  fs::rename(own + ".cpp", kept);
  PLAIT_CHECK(compiled, "the host compiler refuses {}:\n{}", kept, log);
  fs::remove(kept);
  fs::rename(own + ".so", library);
  return library;
}

class HostCudaKernel : public Executable {
 public:
  HostCudaKernel(const std::string& library, size_t phases) : handle_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    PLAIT_CHECK(handle_ != nullptr, "{}", dlerror());
    for (size_t i = 0; i < phases; ++i) {
      const std::string entry = fmt::format("plait_host_entry_{}", i);
      entries_.push_back(reinterpret_cast<Entry>(dlsym(handle_, entry.c_str())));
      PLAIT_CHECK(entries_.back() != nullptr, "{} lacks {}", library, entry);
    }
  }
  ~HostCudaKernel() override { dlclose(handle_); }

  void launch(const LaunchArguments& arguments) const override {
    const std::vector<long long> integers(arguments.integers.begin(), arguments.integers.end());
    for (size_t i = 0; i < entries_.size(); ++i) {
      long long grid[3], block[3];
      std::copy_n(i == 0 ? arguments.grid : arguments.later_grids.data() + 3 * (i - 1), 3, grid);
      std::copy_n(i == 0 ? arguments.block : arguments.later_blocks.data() + 3 * (i - 1), 3, block);
      PLAIT_CHECK(block[0] * block[1] * block[2] <= 1024, "a block of over 1024 threads");
      entries_[i](arguments.buffers.data(), integers.data(), grid, block);
    }
  }

 private:
  using Entry = void (*)(void* const*, const long long*, const long long*, const long long*);
  void* handle_;
  std::vector<Entry> entries_;  // by phase
};

class ShimDevice : public Device {
 public:
  std::string name() const override { return "host_cuda"; }
  const Target& target() const override { return target_; }
  Allocator& allocator(int = 0) override { return allocator_; }
  std::shared_ptr<Executable> compile(const KernelText& kernel, KernelFacts* facts) override {
    if (facts != nullptr) *facts = {};
    return compile_host_cuda(kernel);
  }
  std::shared_ptr<Executable> library(const LibraryContraction&, std::string* why_not) override {
    if (why_not != nullptr) *why_not = "host_cuda has no library of products";
    return nullptr;
  }

 private:
  // Threads run one after another: none that exchange values.
  const Target target_ = [] {
    Target out = target_named("sm_80");
    out.shared_bytes = 0;
    return out;
  }();
  HostAllocator allocator_;
};

}  // namespace

std::shared_ptr<Executable> compile_host_cuda(const KernelText& kernel) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Executable>> loaded;
  std::string text = fmt::format("{}\n{}\n", read_text(kPrelude), kernel.text);
  for (size_t i = 0; i < kernel.phases(); ++i)
    text += fmt::format("PLAIT_HOST_ENTRY({}, {})\n", phase_entry(kernel.name, i), i);
  const std::lock_guard lock(mutex);
  std::weak_ptr<Executable>& known = loaded[text];
  std::shared_ptr<Executable> executable = known.lock();
  if (executable == nullptr) known = executable = std::make_shared<HostCudaKernel>(library_of(text), kernel.phases());
  return executable;
}

std::shared_ptr<Executable> compile_host_cuda(const kir::Kernel& kernel) {
  return compile_host_cuda(KernelText{kernel.name, write_cuda(kernel), kernel.buffers.size(), kernel.integers.size()});
}

std::unique_ptr<Device> make_shim_device() { return std::make_unique<ShimDevice>(); }

void launch(const kir::Kernel& kernel, const Executable& executable, std::span<void* const> buffers,
            std::span<const int64_t> integers) {
  sym::Environment environment;
  for (size_t i = 0; i < integers.size(); ++i) environment[kernel.integers[i].symbol_name()] = integers[i];
  LaunchArguments arguments{buffers, integers};
  const kir::LaunchExtents extents = kir::launch_extents(kernel);
  for (size_t i = 0; i < 3; ++i) {
    arguments.grid[i] = std::max<int64_t>(0, sym::evaluate(extents.grid[i], environment));
    arguments.block[i] = sym::evaluate(extents.block[i], environment);
  }
  executable.launch(arguments);
}

}  // namespace plait::test
