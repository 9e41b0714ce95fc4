#pragma once
// Ranks on GPUs, through NCCL or what stands in for it: calls queue work on the streams of their members.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm_options.h"
#include "comm/communicator.h"
#include "comm/uneven_cost.h"
#include "device/device.h"

namespace plait {

// Whether NCCL reduces numbers of a type as plait means it: its max and min of floats drop NaN, it has no integers of
// two bytes, and adds f8 on some GPUs only, step by step. What it does not reduce, programs gather and reduce in a
// kernel.
inline bool nccl_reduces(CommReduce reduce, DType dtype) {
  const bool extremum = reduce == CommReduce::max || reduce == CommReduce::min;
  return dtype != DType::i16 && dtype != DType::u16 && !is_f8(dtype) && !(extremum && is_float(dtype));
}

// What communicators over NCCL are told besides.
struct NcclOptions : CommOptions {
  // Path of the library, or of a folder that holds it; empty: kits, Python wheels, the loader's search.
  std::string library;
  // The GPUs of this process, which must outlive the communicators: rank r is on ordinal r % device->count().
  Device* device = nullptr;
  // Runs a function while the device of that ordinal is the calling thread's current one (backend/cuda:
  // with_cuda_context), for calls of NCCL that go by it.
  std::function<void(int ordinal, const std::function<void()>&)> with_device;
  Allocator* allocator = nullptr;  // of memory for packing and padding; null: the device's
  std::vector<int64_t> held;       // ranks of this process
  Bootstrap* bootstrap = nullptr;  // the processes, one rank each; null: this process holds all ranks
  UnevenWay uneven = UnevenWay::by_cost;
  // NCCL's max and min of floats drop NaN, so that they are refused; true takes them as they are.
  bool lose_nan = false;
  // The caller's communicators: by the ranks of a team, an ncclComm_t for each member of this process, in order of
  // position. They are used as they are and neither destroyed nor aborted.
  std::map<std::vector<int64_t>, std::vector<void*>> adopted;
};

// Communicators of GPU memory. A call brings members of this process: all that the calling thread drives, which are
// grouped; several threads may call with different members. It returns when the work is queued: buffers must stay, and
// results are there, in the order of each member's stream. Memory for packing and padding is taken and given back in
// the order of the stream. Reductions add as NCCL does. No environment is set. team() is collective; making one waits
// for the other processes, for CommOptions::timeout at most. check() sees errors of NCCL, processes that are gone as
// far as NCCL notices, and operations that are not done in time: CommError, after which all communicators are aborted;
// the process may make new ones. UserError: what nccl_reduces() denies. MissingError: no library, or plait was built
// without nccl.h.
std::shared_ptr<Communicators> make_nccl_communicators(NcclOptions options);

// The library that would be loaded, for reports; `why_not` is empty where there is one.
struct NcclFacts {
  std::string version, path, why_not, rule;  // rule: what named the file (base/library_search.h)
};
NcclFacts nccl_facts(const std::string& library = "");

}  // namespace plait
