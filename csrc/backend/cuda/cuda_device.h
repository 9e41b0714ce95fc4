#pragma once
// GPUs as a device, through the CUDA driver's library: the real one, or the stand-in at a given path.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/memory_error.h"
#include "device/device.h"

namespace plait {

enum class CudaCode : uint8_t { cubin, ptx };  // what NVRTC makes: machine code, or text that the driver translates

// How a device of GPUs is made: which driver, which GPUs, what code, where the libraries are.
struct CudaOptions {
  std::string name = "cuda";  // what Device::name() says: "cuda", "sim:sm_90a:4"
  std::string driver;         // path of the driver's library; empty: libcuda.so.1 where the loader finds it
  std::vector<int> ordinals;  // the driver's devices, all of one architecture; empty: all that are like device 0
  CudaCode code = CudaCode::cubin;
  int compile_threads = 0;  // threads that compile_many may use, the caller's included; 0: one per core; 1 starts none
  std::string cublaslt;     // library, or folder that holds it; empty: kit, wheels, the loader's search
  bool allow_tf32 = false;  // f32 products of the library may round their operands to TF32
  bool nvtx = false;        // mark launches for profilers, where plait was built with NVTX's header
  bool disk_cache = true;   // code is kept in DiskCache::of_process()
};

// A call of the driver, or of a library on it, that failed: "CALL failed: NAME: TEXT"; where() names the kernel or
// call. Work that faulted leaves its device unusable for this process, as the driver does; a refused call does not.
class CudaError : public InternalError {
 public:
  CudaError(std::string what, std::string where, int code);
  int code() const { return code_; }  // CUresult

 private:
  int code_;
};

// Device memory ran out, also after cached memory was given back. The process and the device stay usable.
class CudaMemoryError : public MemoryError {
 public:
  using MemoryError::MemoryError;
};

// The GPUs behind the driver's library. Ordinals of the Device count the entries of `ordinals`. A guest in the process:
// uses the primary contexts (retained on first use of an ordinal, released with the last of what came from the device),
// leaves the current context as it found it, sets no environment variable, and starts threads in compile_many only.
// Everything may be used from several threads at once; a Stream from one at a time. Streams, events, graphs, memory and
// executables keep the device's parts alive and may outlive it.
// compile() throws MissingError without an NVRTC that knows the architecture, InternalError if it refuses the text.
// MissingError: no driver, one older than 12.0, no device. UserError: an ordinal that is not there, or devices of
// different architectures.
std::unique_ptr<Device> make_cuda_device(const CudaOptions& options = {});

// Whether make_cuda_device would find a driver and a device. If not, `why_not` (may be null) gets the reason.
bool cuda_available(const CudaOptions& options, std::string* why_not);

// Runs `body` while the primary context of the ordinal is current, for libraries that go by the current device (NCCL's
// initialisation). `device` must come from make_cuda_device.
void with_cuda_context(Device& device, int ordinal, const std::function<void()>& body);

// The contractions of cuBLASLt beyond Device::library (backend/cuda/cublaslt/cublaslt.h), or null with the reason in
// `why_not` (may be null). It lives as long as the device.
class CublasLt* cublaslt_of(Device& device, std::string* why_not);

// One GPU of the machine, for reports.
struct CudaDeviceFacts {
  std::string name, architecture;  // "NVIDIA H200", "sm_90a"
  size_t memory_bytes = 0;
  int multiprocessors = 0;
};

// One library that the back end looks for.
struct CudaLibraryFacts {
  std::string name;           // "CUDA driver", "NVRTC", "cuBLASLt"
  std::string version, path;  // empty where it is missing
  std::string why_not;        // empty where it is there
  std::string rule;           // what named its file (base/library_search.h)
};

// The GPUs and libraries of the machine.
struct CudaFacts {
  std::vector<CudaDeviceFacts> devices;
  std::vector<CudaLibraryFacts> libraries;
};

// What of CUDA is there, for reports. Throws nothing for what is missing.
CudaFacts cuda_facts(const CudaOptions& options = {});

}  // namespace plait
