#include "backend/cuda/cuda_kernel.h"

#include <array>
#include <atomic>

#include "backend/cuda/nvtx.h"
#include "base/error.h"

namespace plait {
namespace {

constexpr size_t kInlineParameters = 64;  // more need memory for the launch
constexpr int64_t kMaxGrid[3] = {0x7fffffff, 65535, 65535};

class CudaKernel : public Executable {
 public:
  CudaKernel(std::shared_ptr<CudaModule> module, const KernelText& kernel, bool mark)
      : module_(std::move(module)),
        driver_(module_->parts().driver()),
        name_(kernel.name),
        phases_(kernel.phases()),
        buffers_(kernel.buffers),
        integers_(kernel.integers),
        shared_(kernel.shared_bytes),
        mark_(mark),
        follows_(kernel.follows),
        functions_(new std::atomic<CUfunction>[size_t(module_->parts().count()) * phases_]) {
    for (int i = 0; i < module_->parts().count(); ++i)
      for (size_t phase = 0; phase < phases_; ++phase)
        function_slot(i, phase).store(module_->parts().is_open(i) ? find_function(i, phase) : nullptr);
  }

  const CudaModule& module() const { return *module_; }

  void launch(const LaunchArguments& arguments) const override {
    PLAIT_CHECK(arguments.buffers.size() == buffers_ && arguments.integers.size() == integers_,
                "kernel {} takes {} buffers and {} integers, given are {} and {}", name_, buffers_, integers_,
                arguments.buffers.size(), arguments.integers.size());
    const size_t later = 3 * (phases_ - 1);
    PLAIT_CHECK(arguments.later_grids.size() == later && arguments.later_blocks.size() == later,
                "kernel {} has {} phases, given are {} and {} extents behind", name_, phases_,
                arguments.later_grids.size(), arguments.later_blocks.size());
    PLAIT_CHECK(arguments.stream != nullptr, "kernel {} is launched without a stream", name_);
    if (buffers_ + integers_ <= kInlineParameters) {
      std::array<void*, kInlineParameters> parameters;
      launch_with(arguments, parameters.data());
    } else {
      std::vector<void*> parameters(buffers_ + integers_);
      launch_with(arguments, parameters.data());
    }
  }

 private:
  // `parameters` has room for the address of every argument.
  void launch_with(const LaunchArguments& arguments, void** parameters) const {
    const int ordinal = arguments.stream->ordinal();
    void** next = parameters;
    for (void* const& buffer : arguments.buffers) *next++ = const_cast<void**>(&buffer);
    for (const int64_t& integer : arguments.integers) *next++ = const_cast<int64_t*>(&integer);
    const ContextScope scope(driver_, module_->parts().context(ordinal));
    const NvtxRange range(mark_ ? name_.c_str() : nullptr);
    for (size_t phase = 0; phase < phases_; ++phase) {
      const int64_t* grid = phase == 0 ? arguments.grid : arguments.later_grids.data() + 3 * (phase - 1);
      const int64_t* block = phase == 0 ? arguments.block : arguments.later_blocks.data() + 3 * (phase - 1);
      CUlaunchConfig config = {};
      if (!set_extents(grid, block, config)) continue;
      config.sharedMemBytes = shared_.empty() ? 0 : unsigned(shared_[phase]);
      config.hStream = static_cast<CUstream>(arguments.stream->native());
      CUlaunchAttribute follows = {};
      follows.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      follows.value.programmaticStreamSerializationAllowed = 1;
      config.attrs = &follows;
      config.numAttrs = follows_ ? 1 : 0;
      const CUresult code = driver_.cuLaunchKernelEx(&config, function(ordinal, phase), parameters, nullptr);
      if (code != CUDA_SUCCESS) driver_.fail(code, "cuLaunchKernelEx", place(grid, block));
    }
  }

  std::atomic<CUfunction>& function_slot(int ordinal, size_t phase) const {
    return functions_[size_t(ordinal) * phases_ + phase];
  }

  // What asks for more shared memory than any block has may do so once this has been called.
  CUfunction find_function(int ordinal, size_t phase) const {
    const CUfunction function = module_->function(ordinal, phase_entry(name_, phase));
    if (shared_.empty() || shared_[phase] == 0) return function;
    const ContextScope scope(driver_, module_->parts().context(ordinal));
    driver_.check(driver_.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             static_cast<int>(shared_[phase])),
                  "cuFuncSetAttribute", fmt::format("kernel {}, {} bytes of shared memory", name_, shared_[phase]));
    return function;
  }

  CUfunction function(int ordinal, size_t phase) const {
    std::atomic<CUfunction>& known = function_slot(ordinal, phase);
    CUfunction function = known.load(std::memory_order_acquire);
    if (function == nullptr) {
      function = find_function(ordinal, phase);
      known.store(function, std::memory_order_release);
    }
    return function;
  }

  // Whether there is anything to launch.
  bool set_extents(const int64_t* blocks, const int64_t* threads, CUlaunchConfig& config) const {
    unsigned* const grid[3] = {&config.gridDimX, &config.gridDimY, &config.gridDimZ};
    unsigned* const block[3] = {&config.blockDimX, &config.blockDimY, &config.blockDimZ};
    for (int i = 0; i < 3; ++i) {
      if (blocks[i] <= 0) return false;
      if (blocks[i] > kMaxGrid[i]) {
        throw UserError(
            fmt::format("the grid needs {} blocks in dimension {}, {} is the most", blocks[i], "xyz"[i], kMaxGrid[i]),
            place(blocks, threads), "use smaller sizes or more ranks");
      }
      PLAIT_CHECK(threads[i] > 0 && threads[i] <= 1024, "kernel {} with blocks of {}", name_, threads[i]);
      *grid[i] = unsigned(blocks[i]);
      *block[i] = unsigned(threads[i]);
    }
    return true;
  }

  std::string place(const int64_t* g, const int64_t* b) const {
    return fmt::format("kernel {}, grid ({}, {}, {}), block ({}, {}, {})", name_, g[0], g[1], g[2], b[0], b[1], b[2]);
  }

  std::shared_ptr<CudaModule> module_;
  const DriverLibrary& driver_;
  std::string name_;
  size_t phases_, buffers_, integers_;
  std::vector<size_t> shared_;  // KernelText::shared_bytes
  bool mark_, follows_;
  std::unique_ptr<std::atomic<CUfunction>[]> functions_;  // of the phases, by ordinal; null until looked up
};

}  // namespace

CudaModule::CudaModule(std::shared_ptr<CudaParts> parts, std::shared_ptr<const std::string> code, std::string title)
    : parts_(std::move(parts)),
      code_(std::move(code)),
      title_(std::move(title)),
      modules_(size_t(parts_->count()), nullptr) {}

CudaModule::~CudaModule() {
  for (int i = 0; i < parts_->count(); ++i) {
    if (modules_[size_t(i)] == nullptr) continue;
    try {
      const ContextScope scope(parts_->driver(), parts_->context(i));
      parts_->driver().cuModuleUnload(modules_[size_t(i)]);
    } catch (const Error&) {  // the driver is shutting down, and the module with it
    }
  }
}

CUfunction CudaModule::function(int ordinal, const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  const ContextScope scope(parts_->driver(), parts_->context(ordinal));
  CUmodule& module = modules_[size_t(ordinal)];
  if (module == nullptr) module = load(ordinal);
  CUfunction function = nullptr;
  parts_->driver().check(parts_->driver().cuModuleGetFunction(&function, module, kernel.c_str()), "cuModuleGetFunction",
                         "kernel " + kernel);
  return function;
}

CUmodule CudaModule::load(int ordinal) {
  const DriverLibrary& driver = parts_->driver();
  const RelaxedCapture relaxed(driver);
  std::array<char, 4096> log = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  const CUresult code = driver.cuModuleLoadDataEx(&module, code_->c_str(), 2, options, values);
  if (code != CUDA_SUCCESS) {
    log.back() = '\0';
    driver.fail(code, "cuModuleLoadDataEx",
                fmt::format("{} on device {}{}{}", title_, parts_->driver_ordinal(ordinal), log[0] == 0 ? "" : ":\n",
                            log.data()));
  }
  return module;
}

std::shared_ptr<Executable> make_cuda_kernel(std::shared_ptr<CudaModule> module, const KernelText& kernel, bool mark) {
  return std::make_shared<CudaKernel>(std::move(module), kernel, mark);
}

const CudaModule& module_of(const Executable& kernel) { return static_cast<const CudaKernel&>(kernel).module(); }

}  // namespace plait
