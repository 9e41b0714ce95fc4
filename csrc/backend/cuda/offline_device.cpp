#include "backend/cuda/offline_device.h"

#include "backend/cuda/compile_units.h"
#include "backend/cuda/cublaslt/cublaslt.h"
#include "backend/disk_cache.h"
#include "base/error.h"

namespace plait {
namespace {

[[noreturn]] void refuse(const std::string& architecture) {
  throw UserError(fmt::format("code for {} is compiled here, and not run", architecture), "device " + architecture,
                  "run on device cuda, sim:sm_80 or sim:sm_90a");
}

class OfflineExecutable : public Executable {
 public:
  explicit OfflineExecutable(std::string architecture) : architecture_(std::move(architecture)) {}
  void launch(const LaunchArguments&) const override { refuse(architecture_); }

 private:
  std::string architecture_;
};

class OfflineAllocator : public Allocator {
 public:
  explicit OfflineAllocator(std::string architecture) : architecture_(std::move(architecture)) {}
  std::shared_ptr<Memory> allocate(size_t) override { refuse(architecture_); }

 private:
  std::string architecture_;
};

class OfflineDevice : public Device {
 public:
  OfflineDevice(const Target& target, bool disk_cache)
      : target_(target),
        disk_(disk_cache ? &DiskCache::of_process() : nullptr),
        allocator_(target.architecture),
        executable_(std::make_shared<OfflineExecutable>(target.architecture)) {}

  std::string name() const override { return target_.architecture; }
  const Target& target() const override { return target_; }
  bool host_memory() const override { return false; }
  Allocator& allocator(int) override { return allocator_; }
  std::unique_ptr<Stream> make_stream(int) override { refuse(target_.architecture); }
  std::unique_ptr<Stream> adopt_stream(void*, int) override { refuse(target_.architecture); }

  std::shared_ptr<Executable> compile(const KernelText& kernel, KernelFacts* facts) override {
    std::vector<CompiledKernel> made = compile_many({&kernel, 1});
    if (facts != nullptr) *facts = made[0].facts;
    return made[0].executable;
  }
  std::vector<CompiledKernel> compile_many(std::span<const KernelText> kernels) override {
    std::vector<CompiledKernel> out(kernels.size(), {executable_, {}});
    for (const CompiledUnit& unit : compile_units(kernels, target_.architecture, 0, disk_))
      for (size_t i = 0; i < unit.kernels.size(); ++i) out[unit.kernels[i]].facts = unit.result.facts[i];
    return out;
  }
  std::shared_ptr<Executable> library(const LibraryContraction& contraction, std::string* why_not) override {
    if (has_dtypes(contraction.in, contraction.out)) return executable_;
    *why_not = fmt::format("cuBLASLt is not used for contractions {} -> {}", plait::name(contraction.in),
                           plait::name(contraction.out));
    return nullptr;
  }

 private:
  const Target target_;
  DiskCache* const disk_;  // may be null
  OfflineAllocator allocator_;
  std::shared_ptr<Executable> executable_;
};

}  // namespace

std::unique_ptr<Device> make_offline_device(const Target& target, bool disk_cache) {
  PLAIT_CHECK(target.cuda(), "an offline device for {}", print(target));
  return std::make_unique<OfflineDevice>(target, disk_cache);
}

}  // namespace plait
