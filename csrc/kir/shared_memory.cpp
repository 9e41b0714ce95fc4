#include "kir/shared_memory.h"

#include "kir/statements.h"

namespace plait::kir {
namespace {

void find_buffers(const Kernel& kernel, const Block& body, std::map<uint32_t, int64_t>& bytes) {
  for (const auto& stmt : body) {
    const Alloc* alloc = as<Alloc>(*stmt);
    if (alloc != nullptr && kernel.buffers[alloc->buffer].space == Space::shared) {
      const Buffer& buffer = kernel.buffers[alloc->buffer];
      bytes[alloc->buffer] = buffer.extent.value() * static_cast<int64_t>(size_of(buffer.dtype));
    }
    if (const Block* inner = body_of(*stmt)) find_buffers(kernel, *inner, bytes);
  }
}

}  // namespace

int64_t shared_bytes(const Kernel& kernel, const Block& body) {
  std::map<uint32_t, int64_t> bytes;
  find_buffers(kernel, body, bytes);
  int64_t out = 0;
  for (const auto& [buffer, size] : bytes) out += size;
  return out;
}

SharedPlaces places_in_shared(const Kernel& kernel, const Block& phase) {
  SharedPlaces out;
  if (kernel.target != TargetKind::cuda || shared_bytes(kernel, phase) <= kMostSharedBytes) return out;
  find_buffers(kernel, phase, out.begin);
  for (auto& [buffer, place] : out.begin) {
    const int64_t size = place;
    place = out.bytes;
    out.bytes += (size + kBankBytes - 1) / kBankBytes * kBankBytes;
  }
  return out;
}

}  // namespace plait::kir
