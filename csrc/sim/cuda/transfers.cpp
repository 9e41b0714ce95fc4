#include "sim/cuda/transfers.h"

#include <fmt/core.h>

#include <cstring>

#include "sim/cuda/streams.h"

namespace plait::sim {
namespace {

enum class Place : uint8_t { device, registered, pageable };

size_t extent(size_t bytes, size_t rows, size_t pitch) { return rows == 0 ? 0 : (rows - 1) * pitch + bytes; }

// Where a range is. The driver looks when it is called, and refuses what is no live memory then.
Place place_of(const char* name, uint64_t address, size_t bytes, Side said) {
  AddressSpace& space = machine().scheduler.space;
  const Region* region = space.find(address);
  const bool device = space.is_device_address(address);
  if (said == Side::host && device) {
    misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("{} is device memory: {}", name, space.describe(address)));
  }
  if (region == nullptr && !device) {
    if (said == Side::device) {
      misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("{} is no device memory: {}", name, space.describe(address)));
    }
    return Place::pageable;
  }
  if (region == nullptr || !region->contains(address, bytes)) {
    misuse(CUDA_ERROR_INVALID_VALUE,
           fmt::format("out of bounds: {} bytes at {}: {}", bytes, name, space.describe(address)));
  }
  if (!region->live) {
    misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("use after free: {}: {}, freed by {}", name, space.describe(address),
                                                 space.trace().describe(region->freed_by)));
  }
  return device ? Place::device : Place::registered;
}

uint8_t* bytes_at(uint64_t address, size_t bytes, Place place) {
  if (place == Place::pageable) return reinterpret_cast<uint8_t*>(address);
  return static_cast<uint8_t*>(machine().scheduler.space.host_address(address, bytes));
}

// A copy whose rows lie behind each other on both sides is one row.
Transfer flat(Transfer what) {
  if (what.rows > 1 && what.to_pitch == what.bytes && what.from_pitch == what.bytes) {
    what.bytes *= what.rows;
    what.rows = 1;
  }
  return what;
}

void copy_now(const Actor& actor, const Transfer& what, Place to, Place from) {
  AddressSpace& space = machine().scheduler.space;
  for (size_t row = 0; row < what.rows; ++row) {
    const uint64_t target = what.to + row * what.to_pitch, source = what.from + row * what.from_pitch;
    space.check_copy(actor, target, source, what.bytes);
    std::memcpy(bytes_at(target, what.bytes, to), bytes_at(source, what.bytes, from), what.bytes);
  }
  ++machine().copies;
}

// Pageable memory as it is now.
std::shared_ptr<std::vector<uint8_t>> stage(const Transfer& what) {
  auto bytes = std::make_shared<std::vector<uint8_t>>(what.bytes * what.rows);
  for (size_t row = 0; row < what.rows; ++row) {
    std::memcpy(bytes->data() + row * what.bytes, reinterpret_cast<void*>(what.from + row * what.from_pitch),
                what.bytes);
  }
  return bytes;
}

void check_overlap(const Transfer& what) {
  const size_t to = extent(what.bytes, what.rows, what.to_pitch);
  const size_t from = extent(what.bytes, what.rows, what.from_pitch);
  const bool apart = what.to + to <= what.from || what.from + from <= what.to;
  if (!apart && what.rows == 1) misuse(CUDA_ERROR_INVALID_VALUE, "source and target overlap");
}

}  // namespace

void transfer(const Call& call, const std::shared_ptr<StreamObject>& stream, Transfer what, Side to_side,
              Side from_side, bool synchronous) {
  if (what.bytes == 0 || what.rows == 0) return;
  what = flat(what);
  const Place to = place_of("the target", what.to, extent(what.bytes, what.rows, what.to_pitch), to_side);
  const Place from = place_of("the source", what.from, extent(what.bytes, what.rows, what.from_pitch), from_side);
  check_overlap(what);
  const bool captured = stream->capture != nullptr;
  Task task{call.name()};
  if (from == Place::pageable && !captured) {
    if (synchronous) wait_for(stream->last, call.name());
    const auto staged = stage(what);
    Transfer rest = what;
    rest.from = reinterpret_cast<uint64_t>(staged->data());
    rest.from_pitch = what.bytes;
    task.run = [rest, to, staged](const Actor& actor) { copy_now(actor, rest, to, Place::pageable); };
  } else {
    task.run = [what, to, from](const Actor& actor) { copy_now(actor, what, to, from); };
  }
  const OpRef op = submit(call, *stream, CU_GRAPH_NODE_TYPE_MEMCPY, std::move(task));
  const bool host = to != Place::device || from == Place::registered;
  if (op == nullptr || (to != Place::pageable && !(synchronous && host))) return;
  wait_for(op, call.name());
  call.check(*stream->owner);
}

void fill(const Call& call, const std::shared_ptr<StreamObject>& stream, CUdeviceptr to, size_t pitch, uint32_t value,
          size_t element, size_t width, size_t rows, bool synchronous) {
  size_t bytes = width * element;
  if (width == 0 || rows == 0) return;
  if (to % element != 0 || (rows > 1 && (pitch % element != 0 || pitch < bytes))) {
    misuse(CUDA_ERROR_INVALID_VALUE,
           fmt::format("misaligned: elements of {} bytes at 0x{:x}, {} bytes between rows of {}", element, to, pitch,
                       bytes));
  }
  if (rows > 1 && pitch == bytes) {
    bytes *= rows;
    rows = 1;
  }
  const Place place = place_of("the target", to, extent(bytes, rows, pitch), Side::device);
  Task task{call.name()};
  task.run = [=](const Actor& actor) {
    AddressSpace& space = machine().scheduler.space;
    for (size_t row = 0; row < rows; ++row) {
      const uint64_t target = to + row * pitch;
      space.check_write(actor, target, bytes);
      uint8_t* const at = bytes_at(target, bytes, place);
      for (size_t i = 0; i < bytes; i += element) std::memcpy(at + i, &value, element);
    }
  };
  const OpRef op = submit(call, *stream, CU_GRAPH_NODE_TYPE_MEMSET, std::move(task));
  if (op == nullptr || !synchronous || place == Place::device) return;
  wait_for(op, call.name());
  call.check(*stream->owner);
}

}  // namespace plait::sim
