#pragma once
// Where the values of one rank lie: the arena, and the tensors of the run.
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "program/program.h"
#include "run/binding.h"

namespace plait {

// What a run takes memory from, and where it may queue copies.
struct RunMemory {
  Allocator* allocator = nullptr;  // the caller's, or null
  Stream* stream = nullptr;        // GPU: the compute stream
  bool guest = false;              // GPU: the stream is the caller's; nothing outlives the run
};

class RankMemory {
 public:
  // On the host the arena is a run's own, on a GPU it is kept from the first run that is no guest on. `workspace_bytes`
  // of memory for libraries lie behind it.
  RankMemory(const Program& program, const RankBinding& binding, Device& device, int ordinal, size_t workspace_bytes);

  // A run: begin, every input and output once, then the steps, end.
  void begin(const RunMemory& run);
  // Uses the tensor in place, or copies it (on the stream, where there is one). UserError: the wrong dtype, shape or
  // place, or no memory.
  void bind_input(size_t index, const Tensor& tensor);
  // Allocates a tensor without memory; one that lies in place of an input becomes that of the input as it was bound, or
  // of the copy that was. Whether it had memory. UserError as above, or where it is not dense and aligned.
  bool bind_output(size_t index, Tensor& tensor);
  // Instead, for an output without memory: that of an input which the caller gives up and which has room for it. False,
  // and nothing was done, where the input is not used in place, or is not aligned for the output.
  bool take_donated(size_t input, const Tensor& donated, size_t output, Tensor& tensor);
  // Whether an output of this run lies in such memory, which readers of the input may need until it is written.
  bool is_donated(ValueId output) const;
  // Of inputs of this run that were strided, or not aligned as the device reads them.
  int64_t copied_bytes() const { return copied_bytes_; }
  // Drops what belongs to the run alone: copies and, but for a GPU's own, the arena; those of a guest are freed in the
  // order of the stream.
  void end();

  std::span<void* const> values() const { return values_; }  // by value
  void* value(ValueId id) const { return values_[id.index]; }
  // The arena; no bytes where there is none, as between runs.
  std::span<std::byte> arena() const;
  // Behind the arena; null without workspace_bytes or arena.
  void* workspace() const;
  Location location() const { return location_; }

 private:
  size_t workspace_offset() const;
  size_t memory_bytes() const { return workspace_bytes_ > 0 ? workspace_offset() + workspace_bytes_ : arena_bytes(); }
  size_t arena_bytes() const { return size_t(binding_.memory.arena_bytes); }
  void place_arena(std::shared_ptr<Memory> arena);
  std::shared_ptr<Memory> allocate(size_t bytes);
  // Of a caller's tensor that is used in place.
  size_t alignment(DType dtype) const { return location_.host ? size_of(dtype) : kBufferAlignment; }
  void* copied(size_t index, const Tensor& tensor, ValueId id);
  void check(const Tensor& tensor, ValueId id) const;
  [[noreturn]] void refuse(std::string what, ValueId id, std::string remedy) const;

  const Program& program_;
  const RankBinding& binding_;
  Device& device_;
  Location location_;
  size_t workspace_bytes_;
  RunMemory run_;
  int64_t copied_bytes_ = 0;
  std::vector<ValueId> donated_;  // outputs of the run in memory of inputs
  std::shared_ptr<Memory> arena_, kept_arena_;
  const void* placed_ = nullptr;  // the arena that the temporaries point into
  std::vector<void*> values_;
  std::vector<std::shared_ptr<Memory>> kept_copies_;  // GPU: by input, of inputs that were in host memory
  std::vector<std::shared_ptr<Memory>> run_copies_;   // for the time of a run
  std::map<uint32_t, Tensor> bound_;  // by value, of inputs that outputs lie in place of; empty between runs
};

// "[2, 3]"
std::string shape_text(std::span<const int64_t> shape);

}  // namespace plait
