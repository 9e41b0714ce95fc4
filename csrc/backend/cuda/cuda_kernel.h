#pragma once
// Compiled code on the devices, and kernels in it that can be launched.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/cuda/cuda_parts.h"

namespace plait {

// Code of one or more kernels; loaded on an ordinal when a kernel is first asked for there.
class CudaModule {
 public:
  // `code` is cubin or PTX; `title` names it in errors.
  CudaModule(std::shared_ptr<CudaParts> parts, std::shared_ptr<const std::string> code, std::string title);
  ~CudaModule();
  CudaModule(const CudaModule&) = delete;

  CudaParts& parts() const { return *parts_; }
  const std::shared_ptr<const std::string>& code() const { return code_; }
  CUfunction function(int ordinal, const std::string& kernel);

 private:
  CUmodule load(int ordinal);

  std::shared_ptr<CudaParts> parts_;
  std::shared_ptr<const std::string> code_;
  std::string title_;
  std::mutex mutex_;
  std::vector<CUmodule> modules_;  // by ordinal, null until loaded; guarded by mutex_
};

// The kernel of that name. It is looked up on every ordinal whose context is open, so that launches there load nothing;
// on others by the first launch. `mark`: for profilers.
std::shared_ptr<Executable> make_cuda_kernel(std::shared_ptr<CudaModule> module, const KernelText& kernel, bool mark);
// Of an executable that make_cuda_kernel made.
const CudaModule& module_of(const Executable& kernel);

}  // namespace plait
