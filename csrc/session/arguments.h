#pragma once
// What a run takes and gives: tensors by name, what is known of them ahead, what the embedder lends.
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "device/device.h"

namespace plait {

// Inputs or outputs of a run, by name.
using Tensors = std::map<std::string, Tensor, std::less<>>;

// What the embedder lends to one run; all optional. With a stream plait is a guest: work is queued there, or on streams
// that fork from it and join it, and run() does not wait; host inputs must stay until the stream is done.
struct RunOptions {
  void* stream = nullptr;          // CUstream; for one rank on a GPU
  Allocator* allocator = nullptr;  // of outputs; with a stream of all device memory of the run
  Communicators* comms = nullptr;  // instead of the program's own
  std::optional<int64_t> threads;  // of a kernel on the CPU; 0: all of the device
  // Tensors that outputs are written into, by name, and that run() then returns; others are allocated. On the host they
  // may lie in any way; what the program cannot write where it lies (strided, or in memory of an input) it writes
  // elsewhere and copies at the end (RunCounts). In a GPU's memory: dense, aligned to 64 bytes, apart from the inputs.
  // After an error of the run their contents are undefined; one that is refused before leaves them as they were.
  Tensors outputs = {};
  // Inputs by name whose memory the caller gives up, apart from all other tensors of the call: outputs are made there
  // where they fit (Report::bytes_donated), and hold it from then on. What is in it after the run is undefined but for
  // these, after an error too, unless the call was refused.
  std::set<std::string, std::less<>> donated = {};
  // Whether the run shall end: asked by the thread that calls run(), before each step that it drives, and every few
  // milliseconds while other threads drive the ranks. True: CancelledError (base/cancelled_error.h) before a next step;
  // the outputs are undefined, the program goes on working. Of one process of several it ends the job's communication,
  // as an error of a rank does. Empty: the run ends by itself. It must not throw.
  std::function<bool()> stop = {};
};

// dtype and global shape of an input.
struct TensorMetadata {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
};
using Metadata = std::map<std::string, TensorMetadata, std::less<>>;

}  // namespace plait
