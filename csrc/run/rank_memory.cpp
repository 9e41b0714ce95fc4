#include "run/rank_memory.h"

#include <algorithm>
#include <utility>

#include "base/memory_error.h"
#include "run/pieces.h"

namespace plait {
namespace {

bool aligned(const void* data, size_t to) { return reinterpret_cast<uintptr_t>(data) % to == 0; }

}  // namespace

std::string shape_text(std::span<const int64_t> shape) {
  std::string text;
  for (int64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
  return "[" + text + "]";
}

RankMemory::RankMemory(const Program& program, const RankBinding& binding, Device& device, int ordinal,
                       size_t workspace_bytes)
    : program_(program),
      binding_(binding),
      device_(device),
      location_{device.host_memory(), ordinal},
      workspace_bytes_(workspace_bytes) {
  if (location_.host) location_.ordinal = 0;
  values_.assign(program.values.size(), nullptr);
  kept_copies_.resize(program.inputs.size());
  for (ValueId id : program.outputs)
    if (const auto of = program.value(id).in_place_of) bound_[of->index] = Tensor();
}

std::span<std::byte> RankMemory::arena() const {
  return arena_ ? std::span(static_cast<std::byte*>(arena_->data()), arena_bytes()) : std::span<std::byte>();
}

size_t RankMemory::workspace_offset() const {
  constexpr size_t kAlignment = 256;  // what libraries ask for
  return (arena_bytes() + kAlignment - 1) / kAlignment * kAlignment;
}

void* RankMemory::workspace() const {
  return arena_ && workspace_bytes_ > 0 ? static_cast<std::byte*>(arena_->data()) + workspace_offset() : nullptr;
}

void RankMemory::place_arena(std::shared_ptr<Memory> arena) {
  arena_ = std::move(arena);
  if (placed_ == arena_->data()) return;
  placed_ = arena_->data();
  for (size_t v = 0; v < values_.size(); ++v)
    if (program_.values[v].kind == ProgramValueKind::temporary)
      values_[v] = static_cast<std::byte*>(arena_->data()) + binding_.memory.offsets[v];
}

std::shared_ptr<Memory> RankMemory::allocate(size_t bytes) {
  Allocator& allocator = run_.allocator ? *run_.allocator : device_.allocator(location_.ordinal);
  std::shared_ptr<Memory> memory = allocator.allocate_on(bytes, run_.stream);
  if (memory == nullptr)
    throw MemoryError(fmt::format("the allocator has no {} bytes", bytes), fmt::format("rank {}", binding_.rank),
                      "free memory, or use smaller tensors");
  if (memory->location() != location_)
    throw UserError(
        fmt::format("the allocator gives memory of {}, not of {}",
                    memory->location().host ? "the host" : fmt::format("GPU {}", memory->location().ordinal),
                    location_.host ? "the host" : fmt::format("GPU {}", location_.ordinal)),
        fmt::format("rank {}", binding_.rank), "give an allocator of the rank's device");
  return memory;
}

void RankMemory::begin(const RunMemory& run) {
  run_ = run;
  copied_bytes_ = 0;
  donated_.clear();
  if (location_.host) return place_arena(device_.allocator(location_.ordinal).allocate(memory_bytes()));
  if (run.guest) return place_arena(allocate(memory_bytes()));
  if (!kept_arena_) {
    run_.allocator = nullptr;  // it stays beyond the run
    kept_arena_ = allocate(memory_bytes());
    run_.allocator = run.allocator;
  }
  if (arena_ != kept_arena_) place_arena(kept_arena_);
}

void RankMemory::end() {
  run_copies_.clear();
  for (auto& [value, tensor] : bound_) tensor = Tensor();
  if (run_.guest || location_.host) arena_ = nullptr;
  run_ = {};
}

void RankMemory::refuse(std::string what, ValueId id, std::string remedy) const {
  const ProgramValue& value = program_.value(id);
  throw UserError(std::move(what),
                  fmt::format("{} `{}` of rank {}", value.kind == ProgramValueKind::input ? "input" : "output",
                              value.name, binding_.rank),
                  std::move(remedy));
}

void RankMemory::check(const Tensor& tensor, ValueId id) const {
  const ProgramValue& value = program_.value(id);
  const std::vector<int64_t>& shape = binding_.shapes[id.index];
  if (!tensor.memory) refuse("the tensor has no memory", id, "give a tensor");
  if (tensor.dtype != value.dtype)
    refuse(fmt::format("dtype is {}, not {}", name(tensor.dtype), name(value.dtype)), id, "convert the tensor");
  if (tensor.shape != shape)
    refuse(fmt::format("shape is {}, not {}", shape_text(tensor.shape), shape_text(shape)), id,
           "give the rank's piece of the tensor");
}

// A copy of an input that cannot be used in place.
void* RankMemory::copied(size_t index, const Tensor& tensor, ValueId id) {
  const size_t bytes = tensor.bytes();
  const bool lies_well = tensor.is_contiguous() && tensor.on_host() && !location_.host;  // an upload
  copied_bytes_ += lies_well ? 0 : int64_t(bytes);
  if (location_.host) {
    if (!tensor.on_host()) refuse("the tensor is in a GPU's memory", id, "copy it to the host");
    run_copies_.push_back(allocate(bytes));
    copy_dense(tensor, run_copies_.back()->data());
    return run_copies_.back()->data();
  }
  const void* from = tensor.data();
  if (!tensor.is_contiguous()) {
    if (!tensor.on_host() || run_.guest)
      refuse("the tensor is strided", id, "give it dense and row-major, or in host memory");
    run_copies_.push_back(Tensor::empty(tensor.dtype, tensor.shape).memory);
    copy_dense(tensor, run_copies_.back()->data());
    from = run_copies_.back()->data();
  }
  std::shared_ptr<Memory>* to = &kept_copies_[index];
  if (run_.guest) to = &run_copies_.emplace_back();
  if (!*to) {
    Allocator* given = std::exchange(run_.allocator, run_.guest ? run_.allocator : nullptr);
    *to = allocate(bytes);
    run_.allocator = given;
  }
  if (bytes > 0) run_.stream->copy((*to)->data(), from, bytes);
  return (*to)->data();
}

void RankMemory::bind_input(size_t index, const Tensor& tensor) {
  const ValueId id = program_.inputs[index];
  check(tensor, id);
  const bool here = tensor.memory->location() == location_ || (location_.host && tensor.on_host());
  const bool in_place = here && aligned(tensor.data(), alignment(tensor.dtype)) && tensor.is_contiguous();
  values_[id.index] = in_place ? tensor.data() : copied(index, tensor, id);
  const auto bound = bound_.find(id.index);
  if (bound == bound_.end()) return;
  bound->second = {tensor.dtype, tensor.shape, row_major_strides(tensor.shape), tensor.memory, tensor.byte_offset};
  if (in_place) return;
  bound->second.memory = location_.host || run_.guest ? run_copies_.back() : kept_copies_[index];
  bound->second.byte_offset = 0;
}

bool RankMemory::take_donated(size_t input, const Tensor& donated, size_t output, Tensor& tensor) {
  const void* const bound = values_[program_.inputs[input].index];
  if (bound != donated.data() || !aligned(bound, alignment(program_.value(program_.outputs[output]).dtype)))
    return false;
  const ValueId id = program_.outputs[output];
  tensor.dtype = program_.value(id).dtype;
  tensor.shape = binding_.shapes[id.index];
  tensor.strides = binding_.strides[id.index];
  tensor.memory = donated.memory;
  tensor.byte_offset = donated.byte_offset;
  values_[id.index] = tensor.data();
  donated_.push_back(id);
  return true;
}

bool RankMemory::is_donated(ValueId output) const {
  return std::any_of(donated_.begin(), donated_.end(), [&](ValueId id) { return id.index == output.index; });
}

bool RankMemory::bind_output(size_t index, Tensor& tensor) {
  const ValueId id = program_.outputs[index];
  if (const auto of = program_.value(id).in_place_of) {
    tensor = bound_.at(of->index);
    values_[id.index] = values_[of->index];
    return false;
  }
  const bool given = tensor.memory != nullptr;
  if (!given) {
    tensor.dtype = program_.value(id).dtype;
    tensor.shape = binding_.shapes[id.index];
    tensor.strides = binding_.strides[id.index];
    tensor.byte_offset = 0;
    tensor.memory = allocate(size_t(binding_.bytes[id.index]));
  } else {
    check(tensor, id);
    if (tensor.memory->location() != location_ && !(location_.host && tensor.on_host()))
      refuse(tensor.on_host() ? "the tensor is in host memory" : "the tensor is in the memory of another device", id,
             "give memory of the rank's device, or none");
    if (!aligned(tensor.data(), alignment(tensor.dtype)) || !tensor.is_contiguous())
      refuse("the tensor is not dense, row-major and aligned", id,
             fmt::format("give memory aligned to {} bytes", alignment(tensor.dtype)));
  }
  values_[id.index] = tensor.data();
  return given;
}

}  // namespace plait
