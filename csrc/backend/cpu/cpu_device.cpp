#include "backend/cpu/cpu_device.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "backend/cpu/llvm_compiler.h"
#include "backend/cpu/onednn_contraction.h"
#include "backend/cpu/processor.h"
#include "backend/cpu/thread_pool.h"
#include "backend/disk_cache.h"
#include "backend/kernel_cache.h"
#include "base/error.h"

namespace plait {
namespace {

constexpr const char* kName = "cpu";
constexpr size_t kCachedKernels = 4096;

Target target_of(const CpuOptions& options) {
  Target out = host_target();
  if (options.processor != kNative) {
    out.architecture = options.processor;
    out.vector_lanes = level_lanes(options.processor);
  }
  if (options.lanes > 0) out.vector_lanes = options.lanes;
  if (options.threads > 0) out.cores = options.threads;
  return out;
}

size_t kept_bytes(int64_t mib) {
  if (mib >= 0) return size_t(std::min<int64_t>(mib, int64_t(1) << 40)) << 20;
  return size_t(sysconf(_SC_PHYS_PAGES)) / 4 * size_t(sysconf(_SC_PAGESIZE));
}

MemoryPoolOptions pool_options(const CpuOptions& options, std::shared_ptr<ThreadPool> pool) {
  MemoryPoolOptions out;
  out.kept_bytes = kept_bytes(options.kept_mib);
  out.parallel = [pool = std::move(pool)](int64_t extent, MemoryPoolOptions::Piece piece, const void* context) {
    pool->run(extent, piece, context);
  };
  return out;
}

class CpuExecutable : public Executable {
 public:
  // `lacks`: what the host lacks to run it (Device::code_lacks).
  CpuExecutable(LlvmCompiler::Compiled compiled, const KernelText& kernel, std::shared_ptr<ThreadPool> pool,
                std::string lacks)
      : compiled_(std::move(compiled)),
        name_(kernel.name),
        buffers_(kernel.buffers),
        integers_(kernel.integers),
        waves_(kernel.waves),
        paces_(waves_.size()),
        pool_(std::move(pool)),
        lacks_(std::move(lacks)) {}

  void launch(const LaunchArguments& arguments) const override {
    PLAIT_CHECK(arguments.buffers.size() == buffers_ && arguments.integers.size() == integers_,
                "kernel {} takes {} buffers and {} integers, given are {} and {}", name_, buffers_, integers_,
                arguments.buffers.size(), arguments.integers.size());
    PLAIT_CHECK(arguments.later_extents.size() + 1 == compiled_.entries.size(),
                "kernel {} has {} phases, given are extents of {}", name_, compiled_.entries.size(),
                arguments.later_extents.size() + 1);
    if (!lacks_.empty())
      throw UserError(fmt::format("kernel @{} does not run here: {}", name_, lacks_), "option cpu",
                      "save the program (`plait compile --save`) and run it there, or take cpu = native");
    size_t first = 0;
    for (size_t wave = 0; wave < waves_.size(); ++wave) {  // run() returns when it is done
      const size_t count = waves_[wave];
      const Call call{std::span(compiled_.entries).subspan(first, count), first, &arguments};
      int64_t extent = 0;
      for (size_t i = 0; i < count; ++i) extent += call.extent(i);
      pool_->run(extent, &Call::run, &call, arguments.threads, &paces_[wave]);
      first += count;
    }
  }

 private:
  // A wave: phases that run at once, whose tasks are numbered one behind the other.
  struct Call {
    std::span<const KernelEntry> entries;
    size_t first;  // phase
    const LaunchArguments* arguments;

    int64_t extent(size_t i) const {
      const size_t phase = first + i;
      return std::max<int64_t>(0, phase == 0 ? arguments->thread_extent : arguments->later_extents[phase - 1]);
    }
    static void run(const void* context, int64_t begin, int64_t end) {
      const auto* call = static_cast<const Call*>(context);
      int64_t start = 0;  // of the phase at hand
      for (size_t i = 0; i < call->entries.size() && start < end; ++i) {
        const int64_t stop = start + call->extent(i);
        const int64_t from = std::max(begin, start), to = std::min(end, stop);
        if (from < to)
          call->entries[i](call->arguments->buffers.data(), call->arguments->integers.data(), from - start, to - start);
        start = stop;
      }
    }
  };

  LlvmCompiler::Compiled compiled_;
  std::string name_;
  size_t buffers_, integers_;
  std::vector<size_t> waves_;
  mutable std::vector<ThreadPool::Pace> paces_;  // by wave
  std::shared_ptr<ThreadPool> pool_;
  const std::string lacks_;
};

class CpuDevice : public Device {
 public:
  explicit CpuDevice(const CpuOptions& options)
      : options_(options),
        target_(target_of(options)),
        pool_(options.lent ? std::make_shared<ThreadPool>(options.threads, options.lent)
                           : std::make_shared<ThreadPool>(options.threads)),
        allocator_(std::make_shared<MemoryPool>(pool_options(options, pool_))),
        cache_(kCachedKernels) {}

  std::string name() const override { return kName; }
  MemoryPool& allocator(int = 0) override { return *allocator_; }
  const Target& target() const override { return target_; }

  std::shared_ptr<Executable> compile(const KernelText& kernel, KernelFacts* facts) override {
    const KernelCache::Entry entry = cache_.find_or_make(kernel, [&] { return make(kernel); });
    if (facts != nullptr) *facts = entry.facts;
    return entry.executable;
  }

  std::shared_ptr<const std::string> machine_code(const KernelText& kernel) override {
    return std::make_shared<const std::string>(compiler()->object(kernel.text, entries_of(kernel)).bytes);
  }
  std::shared_ptr<Executable> load(const KernelText& kernel, const std::shared_ptr<const std::string>& code,
                                   const KernelFacts& facts) override {
    const auto made = [&] {
      const LlvmCompiler::Compiled linked = compiler()->link(*code, kernel.name, entries_of(kernel));
      return KernelCache::Entry{executable(linked, kernel), facts};
    };
    return cache_.find_or_make(kernel, made).executable;
  }
  std::string compiler_identity() override { return options_.disk_cache ? compiler()->identity() : ""; }
  std::string code_needs() const override {
    return "x86-64" + (options_.processor == kNative ? processor_features() : level_features(options_.processor));
  }
  std::string code_lacks(std::string_view needs) const override {
    if (!needs.starts_with("x86-64")) return fmt::format("it needs {}, and this is a processor of x86-64", needs);
    const std::string missing = features_missing(needs.substr(std::string_view("x86-64").size()));
    return missing.empty() ? "" : "it needs a processor with" + missing;
  }

  bool lacked_library() const override {
    const std::lock_guard lock(mutex_);
    return onednn_ != nullptr && onednn_->is_missing();
  }

  std::shared_ptr<Executable> library(const LibraryContraction& contraction, std::string* why_not) override {
    const std::lock_guard lock(mutex_);
    if (onednn_ == nullptr) onednn_ = std::make_unique<OneDnn>(options_.plugin_folder, pool_, allocator_);
    std::shared_ptr<Executable> executable = onednn_->contraction(contraction, why_not);
    pool_->join_openmp();  // on which contractions run
    return executable;
  }

 private:
  static std::vector<std::string> entries_of(const KernelText& kernel) {
    std::vector<std::string> out;
    for (size_t phase = 0; phase < kernel.phases(); ++phase) out.push_back(phase_entry(kernel.name, phase));
    return out;
  }

  std::shared_ptr<Executable> executable(const LlvmCompiler::Compiled& compiled, const KernelText& kernel) const {
    return std::make_shared<CpuExecutable>(compiled, kernel, pool_, code_lacks(code_needs()));
  }

  KernelCache::Entry make(const KernelText& kernel) {
    const auto start = std::chrono::steady_clock::now();
    const std::shared_ptr<const LlvmCompiler> compiler = this->compiler();
    const LlvmCompiler::Compiled compiled = compiler->compile(kernel.text, entries_of(kernel));
    KernelCache::Entry entry{executable(compiled, kernel), {}};
    entry.facts.instructions = compiled.instructions;
    entry.facts.from_disk = compiled.from_disk;
    entry.facts.compile_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return entry;
  }

  std::shared_ptr<const LlvmCompiler> compiler() {
    const std::lock_guard lock(mutex_);
    pool_->join_openmp();  // others may have loaded it meanwhile
    DiskCache* const disk = options_.disk_cache ? &DiskCache::of_process() : nullptr;
    if (compiler_ == nullptr)
      compiler_ = std::make_shared<const LlvmCompiler>(options_.plugin_folder, disk, options_.processor);
    return compiler_;
  }

  const CpuOptions options_;
  const Target target_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<MemoryPool> allocator_;
  mutable std::mutex mutex_;  // guards the plug-ins
  std::shared_ptr<const LlvmCompiler> compiler_;
  std::unique_ptr<OneDnn> onednn_;
  KernelCache cache_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(const CpuOptions& options) { return std::make_unique<CpuDevice>(options); }

MemoryCounts memory_counts(Device& device) {
  if (device.name() != kName) return {};
  return static_cast<MemoryPool&>(device.allocator()).counts();
}

}  // namespace plait
