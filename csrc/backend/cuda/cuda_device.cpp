#include "backend/cuda/cuda_device.h"

#include <algorithm>
#include <mutex>

#include "backend/cuda/compile_units.h"
#include "backend/cuda/cublaslt/cublaslt.h"
#include "backend/cuda/cuda_kernel.h"
#include "backend/cuda/cuda_parts.h"
#include "backend/cuda/cuda_stream.h"
#include "backend/cuda/nvrtc.h"
#include "backend/disk_cache.h"
#include "backend/kernel_cache.h"

namespace plait {
namespace {

constexpr size_t kCachedKernels = 4096;

int attribute_of(const DriverLibrary& driver, int ordinal, CUdevice_attribute attribute) {
  CUdevice device;
  int value = 0;
  driver.check(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet");
  driver.check(driver.cuDeviceGetAttribute(&value, attribute, device), "cuDeviceGetAttribute");
  return value;
}

// "sm_80", "sm_90a": from 9.0 on with the instructions that no later architecture promises.
std::string architecture_of(const DriverLibrary& driver, int ordinal) {
  const int major = attribute_of(driver, ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const int minor = attribute_of(driver, ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
}

Target target_of(const DriverLibrary& driver, int ordinal) {
  Target out = target_named(architecture_of(driver, ordinal));
  const auto ask = [&](CUdevice_attribute attribute) { return attribute_of(driver, ordinal, attribute); };
  out.multiprocessors = ask(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  out.shared_bytes = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  out.registers = ask(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  out.l2_bytes = ask(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  return out;
}

int device_count(const DriverLibrary& driver) {
  int count = 0;
  driver.check(driver.cuDeviceGetCount(&count), "cuDeviceGetCount");
  return count;
}

class CudaDevice : public Device {
 public:
  CudaDevice(const CudaOptions& options, const DriverLibrary& driver, const std::vector<int>& ordinals)
      : options_(options),
        target_(target_of(driver, ordinals[0])),
        parts_(std::make_shared<CudaParts>(driver, ordinals)),
        cache_(kCachedKernels) {
    for (int i = 0; i < count(); ++i) allocators_.push_back(std::make_unique<CudaAllocator>(parts_, i));
  }

  std::string name() const override { return options_.name; }
  const Target& target() const override { return target_; }
  int count() const override { return parts_->count(); }
  bool host_memory() const override { return false; }

  Allocator& allocator(int ordinal) override {
    PLAIT_CHECK(ordinal >= 0 && ordinal < count(), "ordinal {} of {}", ordinal, count());
    return *allocators_[size_t(ordinal)];
  }
  // Host memory that stays in place, at one address for all devices.
  std::shared_ptr<Memory> shared_memory(size_t bytes, int ordinal) override {
    const DriverLibrary& driver = parts_->driver();
    const ContextScope scope(driver, parts_->context(ordinal));
    void* data = nullptr;
    driver.check(driver.cuMemHostAlloc(&data, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                 "cuMemHostAlloc");
    return std::make_shared<Memory>(data, bytes, [parts = parts_, ordinal, data] {
      const ContextScope context(parts->driver(), parts->context(ordinal));
      parts->driver().cuMemFreeHost(data);
    });
  }
  std::unique_ptr<Stream> make_stream(int ordinal) override { return make_cuda_stream(parts_, ordinal); }
  std::unique_ptr<Stream> adopt_stream(void* native, int ordinal) override {
    return adopt_cuda_stream(parts_, native, ordinal);
  }

  std::shared_ptr<Executable> compile(const KernelText& kernel, KernelFacts* facts) override {
    std::vector<CompiledKernel> made = compile_many({&kernel, 1});
    if (facts != nullptr) *facts = made[0].facts;
    return made[0].executable;
  }

  std::vector<CompiledKernel> compile_many(std::span<const KernelText> kernels) override {
    std::vector<CompiledKernel> out(kernels.size());
    std::vector<KernelText> missing;
    std::vector<size_t> places;
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (const auto known = cache_.find(kernels[i])) {
        out[i] = {known->executable, known->facts};
      } else {
        missing.push_back(kernels[i]);
        places.push_back(i);
      }
    }
    if (!missing.empty()) check_driver();
    for (CompiledUnit& unit : compile_units(missing, code_target(), options_.compile_threads, disk())) {
      auto module = std::make_shared<CudaModule>(
          parts_, std::make_shared<const std::string>(std::move(unit.result.code)), unit.title);
      for (size_t i = 0; i < unit.kernels.size(); ++i) {
        const KernelText& kernel = missing[unit.kernels[i]];
        const KernelCache::Entry entry = cache_.find_or_make(kernel, [&] {
          return KernelCache::Entry{make_cuda_kernel(module, kernel, options_.nvtx), unit.result.facts[i]};
        });
        out[places[unit.kernels[i]]] = {entry.executable, entry.facts};
      }
    }
    return out;
  }

  // Of what is loaded, the code of its unit, with all kernels of that.
  std::shared_ptr<const std::string> machine_code(const KernelText& kernel) override {
    if (const auto known = cache_.find(kernel)) return module_of(*known->executable).code();
    return std::make_shared<const std::string>(compile_cuda_unit({&kernel, 1}, code_target(), disk()).code);
  }
  std::string compiler_identity() override { return nvrtc_identity(); }
  std::shared_ptr<Executable> load(const KernelText& kernel, const std::shared_ptr<const std::string>& code,
                                   const KernelFacts& facts) override {
    const auto made = [&] {
      return KernelCache::Entry{make_cuda_kernel(module_with(code, kernel.name), kernel, options_.nvtx), facts};
    };
    return cache_.find_or_make(kernel, made).executable;
  }
  std::string code_needs() const override {
    return fmt::format("{} for {}", options_.code == CudaCode::ptx ? "PTX" : "machine code", target_.architecture);
  }

  std::shared_ptr<Executable> library(const LibraryContraction& contraction, std::string* why_not) override {
    CublasLt* found = cublaslt(why_not);
    return found == nullptr ? nullptr : found->contraction(contraction, why_not);
  }

  CublasLt* cublaslt(std::string* why_not) {
    const std::lock_guard lock(mutex_);
    if (cublaslt_ == nullptr) cublaslt_ = make_cublaslt(parts_, options_.cublaslt, options_.allow_tf32, why_not);
    lacked_library_ = cublaslt_ == nullptr;
    return cublaslt_.get();
  }
  bool lacked_library() const override { return lacked_library_; }

  CudaParts& parts() { return *parts_; }

 private:
  // The module of this code, loaded once for all kernels of a unit.
  std::shared_ptr<CudaModule> module_with(const std::shared_ptr<const std::string>& code, const std::string& title) {
    const std::lock_guard lock(mutex_);
    std::erase_if(loaded_, [](const std::weak_ptr<CudaModule>& module) { return module.expired(); });
    for (const std::weak_ptr<CudaModule>& each : loaded_)
      if (auto module = each.lock(); module && (module->code() == code || *module->code() == *code)) return module;
    auto module = std::make_shared<CudaModule>(parts_, code, title);
    loaded_.push_back(module);
    return module;
  }
  // What NVRTC compiles for.
  std::string code_target() const {
    return options_.code == CudaCode::ptx ? "compute_" + target_.architecture.substr(3) : target_.architecture;
  }
  DiskCache* disk() const { return options_.disk_cache ? &DiskCache::of_process() : nullptr; }

  // Machine code of a later CUDA than the driver's would not load, with a message that says less.
  void check_driver() const {
    const int driver = parts_->driver().version / 1000, nvrtc = std::atoi(nvrtc_version().c_str());
    if (driver >= nvrtc) return;
    throw MissingError(fmt::format("the driver is of CUDA {}, too old for what NVRTC {} makes",
                                   cuda_version_text(parts_->driver().version), nvrtc_version()),
                       "device " + options_.name,
                       fmt::format("install a driver of CUDA {} or later, or NVRTC {}", nvrtc, driver));
  }

  const CudaOptions options_;
  const Target target_;
  std::shared_ptr<CudaParts> parts_;
  std::vector<std::unique_ptr<CudaAllocator>> allocators_;
  KernelCache cache_;
  std::mutex mutex_;                               // guards what follows
  std::vector<std::weak_ptr<CudaModule>> loaded_;  // of load()
  std::shared_ptr<CublasLt> cublaslt_;
  std::atomic<bool> lacked_library_ = false;
};

// The ordinals asked for, checked; all like device 0 where none are.
std::vector<int> choose_ordinals(const CudaOptions& options, const DriverLibrary& driver) {
  const int count = device_count(driver);
  std::vector<int> out = options.ordinals;
  if (out.empty()) {
    const std::string first = architecture_of(driver, 0);
    for (int i = 0; i < count; ++i)
      if (architecture_of(driver, i) == first) out.push_back(i);
  }
  for (int ordinal : out) {
    if (ordinal < 0 || ordinal >= count)
      throw UserError(fmt::format("there is no GPU {}, the driver has {}", ordinal, count), "device " + options.name,
                      fmt::format("choose from 0 to {}", count - 1));
    if (architecture_of(driver, ordinal) != architecture_of(driver, out[0]))
      throw UserError(fmt::format("GPU {} is of another architecture than GPU {}", ordinal, out[0]),
                      "device " + options.name, "choose GPUs that are alike");
  }
  return out;
}

}  // namespace

std::unique_ptr<Device> make_cuda_device(const CudaOptions& options) {
  std::string why_not;
  const DriverLibrary* driver = driver_library(options.driver, &why_not);
  if (driver == nullptr)
    throw MissingError(
        "no GPU can be used: " + why_not, "device " + options.name,
        "install a GPU and its driver, or take another device: sim:sm_90a, sim:sm_90a:N for N ranks, or cpu");
  return std::make_unique<CudaDevice>(options, *driver, choose_ordinals(options, *driver));
}

bool cuda_available(const CudaOptions& options, std::string* why_not) {
  const DriverLibrary* driver = driver_library(options.driver, why_not);
  if (driver == nullptr) return false;
  try {
    target_of(*driver, choose_ordinals(options, *driver)[0]);
    return true;
  } catch (const Error& error) {  // no device, or one that no code is made for
    if (why_not != nullptr) *why_not = error.message();
    return false;
  }
}

void with_cuda_context(Device& device, int ordinal, const std::function<void()>& body) {
  PLAIT_CHECK(device.target().cuda(), "device {} has no contexts", device.name());
  CudaParts& parts = static_cast<CudaDevice&>(device).parts();
  const ContextScope scope(parts.driver(), parts.context(ordinal));
  body();
}

CublasLt* cublaslt_of(Device& device, std::string* why_not) {
  PLAIT_CHECK(device.target().cuda(), "device {} has no cuBLASLt", device.name());
  return static_cast<CudaDevice&>(device).cublaslt(why_not);
}

CudaFacts cuda_facts(const CudaOptions& options) {
  CudaFacts out;
  CudaLibraryFacts driver_facts{"CUDA driver", "", "", "", ""}, nvrtc_facts{"NVRTC", "", "", "", ""};
  const DriverLibrary* driver = driver_library(options.driver, &driver_facts.why_not);
  if (driver != nullptr) {
    driver_facts.version = cuda_version_text(driver->version);
    driver_facts.path = driver->path;
    driver_facts.rule = driver->rule;
    for (int i = 0; i < device_count(*driver); ++i) {
      CudaDeviceFacts facts;
      char name[128] = "";
      CUdevice device;
      driver->check(driver->cuDeviceGet(&device, i), "cuDeviceGet");
      driver->check(driver->cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
      driver->check(driver->cuDeviceTotalMem(&facts.memory_bytes, device), "cuDeviceTotalMem");
      facts.name = name;
      facts.architecture = architecture_of(*driver, i);
      facts.multiprocessors = attribute_of(*driver, i, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
      out.devices.push_back(std::move(facts));
    }
  }
  if (nvrtc_available(&nvrtc_facts.why_not)) {
    nvrtc_facts.version = nvrtc_version();
    nvrtc_facts.path = nvrtc_path();
    nvrtc_facts.rule = nvrtc_rule();
  }
  out.libraries = {driver_facts, nvrtc_facts, cublaslt_facts(options.cublaslt)};
  return out;
}

}  // namespace plait
