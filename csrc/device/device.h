#pragma once
// What a backend offers: compile text to something that can be launched on buffers and integers.
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/contraction.h"
#include "device/stream.h"
#include "device/target.h"
#include "device/tensor.h"
#include "scalar/dtype.h"

namespace plait {

// Arguments of one launch. The order of buffers and integers is that of the Signature.
struct LaunchArguments {
  std::span<void* const> buffers;
  std::span<const int64_t> integers;
  int64_t thread_extent = 1;                    // CPU: iterations of the thread loop; <= 0 launches nothing
  std::span<const int64_t> later_extents = {};  // CPU: the same of the phases behind the first one
  int64_t grid[3] = {1, 1, 1};                  // GPU: any 0 launches nothing
  std::span<const int64_t> later_grids = {};    // GPU: three for each phase behind the first one
  int64_t block[3] = {1, 1, 1};                 // GPU
  std::span<const int64_t> later_blocks = {};   // GPU: as later_grids
  Stream* stream = nullptr;                     // GPU: where the launch is queued; host devices need none
  int threads = 0;            // CPU: threads that may run the launch, the caller's included; 0: all of the device
  void* workspace = nullptr;  // workspace_bytes() of device memory that no other stream uses; null: the device's own
};

// Something compiled: safe to launch from several threads at once; keeps what it needs alive.
class Executable {
 public:
  virtual ~Executable() = default;
  // Runs the code once; on a stream it queues that and returns.
  virtual void launch(const LaunchArguments& arguments) const = 0;
  // Scratch memory that a launch may use; the contents do not matter before or after.
  virtual size_t workspace_bytes() const { return 0; }
  // Whether launches with these integers and aligned buffers are possible; asked where sizes are bound. A generated
  // kernel takes all, a library may refuse extents.
  virtual bool accepts(std::span<const int64_t> /*integers*/, std::string* /*why_not*/) const { return true; }
  // Whether each launch first makes a wider copy of its operands.
  virtual bool widens() const { return false; }
};

// A kernel's text and how it is called.
struct KernelText {
  std::string name;  // the entry function
  std::string text;  // LLVM IR or CUDA C++
  size_t buffers = 0, integers = 0;
  bool status = false;                    // the last buffer in front of these holds the status words of the run
  size_t workspaces = 0;                  // of the buffers, the last ones before the counters: memory of the launch
  size_t counters = 0;                    // the very last ones: words u32, zero before a launch and after it
  std::vector<size_t> shared_bytes = {};  // GPUs: of shared memory that the launch of each phase asks for; empty: none
  bool follows = false;  // GPUs: its entries wait for what is in front of them on their stream, and may begin before
  // How many entry functions (phases) run at once, by their order; those behind them begin when these are done. On GPUs
  // one each.
  std::vector<size_t> waves = {1};
  size_t phases() const { return std::accumulate(waves.begin(), waves.end(), size_t{0}); }
  // How it is launched, which the text does not say: kernels of equal text are one only where this is equal.
  std::string signature() const;
};

// Entry function of a phase of a kernel: the kernel's name, then `NAME_phase1` and so on.
std::string phase_entry(const std::string& kernel, size_t phase);

// Measured facts about a compiled kernel; absent where they do not apply.
struct KernelFacts {
  std::optional<int> registers, spill_bytes, shared_bytes;
  std::optional<int64_t> instructions;  // of LLVM's, optimized; only of CPUs
  double compile_ms = 0;
  bool from_disk = false;  // its code was compiled by an earlier process
  std::string arch;        // what it was compiled for: "sm_90a"; empty where the device has no such names
};

// A kernel of compile_many.
struct CompiledKernel {
  std::shared_ptr<Executable> executable;
  KernelFacts facts;
};

// One kind of device; a GPU backend spreads the ranks of a process over `count` like devices, rank r on r % count().
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;  // "cpu"
  // What kernels for it are made for: the texts that compile() takes are of this kind.
  virtual const Target& target() const = 0;
  virtual int count() const { return 1; }
  // Whether buffers lie in memory that the host reads and writes. If not, data goes through streams.
  virtual bool host_memory() const { return true; }
  virtual Allocator& allocator(int ordinal = 0) = 0;
  // Memory that kernels of this device and the host both read and write: what a kernel wrote is there when the host has
  // seen it done. Without a device's memory of that kind, the allocator's.
  virtual std::shared_ptr<Memory> shared_memory(size_t bytes, int ordinal = 0);
  // A stream of its own, or one around a caller's (native() of the same device; not destroyed).
  virtual std::unique_ptr<Stream> make_stream(int ordinal = 0);
  virtual std::unique_ptr<Stream> adopt_stream(void* native, int ordinal = 0);
  // Compiles, or returns the same executable for the same text (cached by content in memory).
  virtual std::shared_ptr<Executable> compile(const KernelText& kernel, KernelFacts* facts) = 0;
  // Compiles several with different names, in the order given; a device may do so on threads and together. This one
  // compiles one by one.
  virtual std::vector<CompiledKernel> compile_many(std::span<const KernelText> kernels);
  // Machine code of a kernel, which it may share with others, and which load() takes on this machine and on others that
  // lack nothing of code_needs(). UserError: the device has none.
  virtual std::shared_ptr<const std::string> machine_code(const KernelText& kernel);
  // The kernel of such code, as compile() gives it, with these facts. UserError: the code is damaged.
  virtual std::shared_ptr<Executable> load(const KernelText& kernel, const std::shared_ptr<const std::string>& code,
                                           const KernelFacts& facts);
  // Who makes machine code of its texts, with version and build; empty: nobody, or who cannot be told. It may be loaded
  // to say so: MissingError.
  virtual std::string compiler_identity() { return {}; }
  // What machine code made here needs: "x86-64 avx avx2 fma", "sm_90a". Of such a text, what this machine lacks, as a
  // reason; empty: nothing.
  virtual std::string code_needs() const { return {}; }
  virtual std::string code_lacks(std::string_view needs) const;
  // The library's contraction, or null with the reason in `why_not`.
  virtual std::shared_ptr<Executable> library(const LibraryContraction& contraction, std::string* why_not) = 0;
  // Whether library() was ever asked while no library was here.
  virtual bool lacked_library() const { return false; }
};

}  // namespace plait
