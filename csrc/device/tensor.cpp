#include "device/tensor.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/bounds_error.h"
#include "base/memory_error.h"
#include "scalar/convert.h"

namespace plait {
namespace {

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (int64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
  return "[" + text + "]";
}

std::string tensor_text(DType dtype, const std::vector<int64_t>& shape) {
  return fmt::format("tensor {}{}", name(dtype), shape_text(shape));
}

size_t byte_count(DType dtype, const std::vector<int64_t>& shape) {
  int64_t bytes;
  if (__builtin_mul_overflow(element_count(shape), int64_t(size_of(dtype)), &bytes))
    throw UserError(fmt::format("a {} has more than 2^63 - 1 bytes", tensor_text(dtype, shape)), "",
                    "use smaller extents");
  return size_t(bytes);
}

// Product of the extents without the zeros' help: [2^40, 2^40, 0] overflows too, as its strides would.
bool multiply(const std::vector<int64_t>& shape, int64_t* product, int64_t* strided) {
  *product = *strided = 1;
  for (int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(*strided, std::max<int64_t>(extent, 1), strided)) return false;
    *product *= extent;
  }
  return true;
}

// Calls fn(element offset) for every element in row-major order.
template <class Fn>
void for_each_offset(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, Fn&& fn) {
  const int64_t count = element_count(shape);
  std::vector<int64_t> index(shape.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    fn(offset);
    for (size_t dim = shape.size(); dim-- > 0;) {
      offset += strides[dim];
      if (++index[dim] < shape[dim]) break;
      offset -= index[dim] * strides[dim];
      index[dim] = 0;
    }
  }
}

}  // namespace

Memory::Memory(void* data, size_t bytes, std::function<void()> release, Location location)
    : data_(data), bytes_(bytes), release_(std::move(release)), location_(location) {
  PLAIT_CHECK(data != nullptr, "memory of {} bytes without an address", bytes);
}

Memory::~Memory() {
  if (release_) release_();
}

std::shared_ptr<Memory> HostAllocator::allocate(size_t bytes) {
  const size_t size = std::max<size_t>(bytes, 1);
  void* data = ::operator new(size, std::align_val_t{kBufferAlignment}, std::nothrow);
  if (data == nullptr) {
    throw MemoryError(fmt::format("no memory for {} bytes", bytes), "host memory", "use smaller sizes or more ranks");
  }
  ++count_;
  bytes_ += int64_t(bytes);
  return std::make_shared<Memory>(data, bytes, [data] { ::operator delete(data, std::align_val_t{kBufferAlignment}); });
}

std::vector<int64_t> row_major_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  element_count(shape);  // refuses what overflows
  for (size_t dim = shape.size(); dim-- > 1;) strides[dim - 1] = strides[dim] * std::max<int64_t>(shape[dim], 1);
  return strides;
}

int64_t element_count(const std::vector<int64_t>& shape) {
  int64_t product, strided;
  if (!multiply(shape, &product, &strided)) {
    throw UserError(fmt::format("a shape {} has a negative extent or more than 2^63 - 1 elements", shape_text(shape)),
                    "", "use smaller extents");
  }
  return product;
}

Tensor Tensor::empty(DType dtype, std::vector<int64_t> shape) {
  HostAllocator allocator;
  const size_t bytes = byte_count(dtype, shape);
  std::vector<int64_t> strides = row_major_strides(shape);
  return Tensor{dtype, std::move(shape), std::move(strides), allocator.allocate(bytes), 0};
}

Tensor Tensor::wrap(DType dtype, std::vector<int64_t> shape, void* data, Location location) {
  alignas(kBufferAlignment) static char nothing[kBufferAlignment];  // tensors without elements may have no address
  const size_t bytes = byte_count(dtype, shape);
  if (data == nullptr && bytes > 0)
    throw UserError("the address of its elements is null", tensor_text(dtype, shape),
                    "give the memory, or make a tensor that has its own: Tensor::empty");
  if (data == nullptr) data = nothing;
  std::vector<int64_t> strides = row_major_strides(shape);
  return Tensor{dtype, std::move(shape), std::move(strides),
                std::make_shared<Memory>(data, bytes, std::function<void()>(), location), 0};
}

Tensor Tensor::from_doubles(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  Tensor tensor = empty(dtype, std::move(shape));
  if (int64_t(values.size()) != tensor.elements()) {
    throw UserError(fmt::format("{} values for a tensor of shape {}", values.size(), shape_text(tensor.shape)), "",
                    fmt::format("give {} values", tensor.elements()));
  }
  auto* bytes = static_cast<std::byte*>(tensor.data());
  for (size_t i = 0; i < values.size(); ++i) store_double(dtype, bytes + i * size_of(dtype), values[i]);
  return tensor;
}

int64_t Tensor::elements() const { return element_count(shape); }

bool Tensor::is_contiguous() const {
  int64_t expected = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] == 0) return true;
    if (shape[dim] != 1 && strides[dim] != expected) expected = -1;
    if (expected < 0) break;
    expected *= shape[dim];
  }
  return expected >= 0 || elements() == 0;
}

Tensor Tensor::contiguous() const {
  if (is_contiguous()) return *this;
  Tensor copy = empty(dtype, shape);
  const size_t size = size_of(dtype);
  const auto* source = static_cast<const std::byte*>(data());
  auto* target = static_cast<std::byte*>(copy.data());
  for_each_offset(shape, strides, [&](int64_t offset) {
    std::memcpy(target, source + offset * int64_t(size), size);
    target += size;
  });
  return copy;
}

bool Tensor::lies_in(const std::vector<int>& order, const std::vector<bool>& strided) const {
  PLAIT_CHECK(order.size() == shape.size() && strides.size() == shape.size(), "an order of {} dims", order.size());
  if (elements() == 0) return true;
  int64_t stride = 0, span = 1;  // of the inner dim; what the inner dims span
  for (size_t place = order.size(); place-- > 0;) {
    const size_t dim = size_t(order[place]);
    if (shape[dim] == 1) continue;
    const bool free = !strided.empty() && strided[place];
    if (free && strides[dim] == 0) continue;
    if (free ? strides[dim] < stride : strides[dim] != span) return false;
    stride = strides[dim];
    span = stride * shape[dim];
  }
  return true;
}

Tensor Tensor::in_order(const std::vector<int>& order, Allocator& allocator) const {
  if (lies_in(order)) return *this;
  Tensor copy{dtype, shape, std::vector<int64_t>(shape.size()), allocator.allocate(bytes()), 0};
  if (copy.memory == nullptr)
    throw MemoryError(fmt::format("the allocator has no {} bytes", bytes()), "", "free memory, or use smaller tensors");
  int64_t span = 1;
  for (size_t place = order.size(); place-- > 0;) {
    copy.strides[size_t(order[place])] = span;
    span *= shape[size_t(order[place])];
  }
  // Walked in the copy's own order, which is dense.
  std::vector<int64_t> extents, from;
  for (int dim : order) {
    extents.push_back(shape[size_t(dim)]);
    from.push_back(strides[size_t(dim)]);
  }
  const size_t size = size_of(dtype);
  const auto* source = static_cast<const std::byte*>(data());
  auto* target = static_cast<std::byte*>(copy.data());
  for_each_offset(extents, from, [&](int64_t offset) {
    std::memcpy(target, source + offset * int64_t(size), size);
    target += size;
  });
  return copy;
}

void* Tensor::data() const {
  if (memory == nullptr)
    throw UserError("the tensor has no memory", tensor_text(dtype, shape),
                    "make it by Tensor::empty, Tensor::wrap or Tensor::from_doubles");
  return static_cast<std::byte*>(memory->data()) + byte_offset;
}

double Tensor::at(int64_t linear) const {
  if (const int64_t count = elements(); linear < 0 || linear >= count)
    throw BoundsError(fmt::format("there is no element {}", linear), tensor_text(dtype, shape),
                      count == 0 ? "it has none" : fmt::format("elements are 0 to {}", count - 1));
  int64_t offset = 0;
  for (size_t dim = shape.size(); dim-- > 0;) {
    offset += linear % shape[dim] * strides[dim];
    linear /= shape[dim];
  }
  return load_double(dtype, static_cast<const std::byte*>(data()) + offset * int64_t(size_of(dtype)));
}

std::vector<double> Tensor::to_doubles() const {
  const int64_t count = elements();
  const bool floats_lie_here =
      dtype == DType::f32 && count > 0 && is_contiguous() && reinterpret_cast<uintptr_t>(data()) % alignof(float) == 0;
  if (floats_lie_here) {  // the common case
    const auto* floats = static_cast<const float*>(data());
    return std::vector<double>(floats, floats + count);
  }
  std::vector<double> values;
  values.reserve(size_t(count));
  const auto* bytes = static_cast<const std::byte*>(data());
  for_each_offset(shape, strides, [&](int64_t offset) {
    values.push_back(load_double(dtype, bytes + offset * int64_t(size_of(dtype))));
  });
  return values;
}

}  // namespace plait
