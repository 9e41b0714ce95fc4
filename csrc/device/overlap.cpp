#include "device/overlap.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"

namespace plait {
namespace {

struct Dim {
  int64_t extent, stride;  // stride in bytes, not negative
};

// Where the elements of a tensor begin: first + sum of i * stride over its dims of more than one element.
struct Footprint {
  int64_t first = 0, size = 1;
  std::vector<Dim> dims;  // by stride, the smallest first

  int64_t reach(size_t count) const {  // bytes that the first dims span
    int64_t out = size;
    for (size_t d = 0; d < count; ++d) out += (dims[d].extent - 1) * dims[d].stride;
    return out;
  }
  int64_t end() const { return first + reach(dims.size()); }
};

Footprint footprint(const Tensor& tensor) {
  Footprint out;
  out.size = int64_t(size_of(tensor.dtype));
  out.first = int64_t(reinterpret_cast<uintptr_t>(tensor.data()));
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    if (tensor.shape[d] == 1) continue;
    const int64_t stride = tensor.strides[d] * out.size;
    if (stride < 0) out.first += (tensor.shape[d] - 1) * stride;
    out.dims.push_back({tensor.shape[d], std::abs(stride)});
  }
  std::sort(out.dims.begin(), out.dims.end(), [](const Dim& a, const Dim& b) { return a.stride < b.stride; });
  return out;
}

// The part of every row of `row` bytes that the elements lie in, as its first byte and its length; a length above `row`
// where there is no such part.
std::pair<int64_t, int64_t> part_of_rows(const Footprint& f, int64_t row) {
  int64_t length = f.size;
  for (const Dim& dim : f.dims) {
    if (dim.stride % row == 0) continue;
    if (dim.stride > row) return {0, row + 1};
    length += (dim.extent - 1) * dim.stride;
  }
  return {f.first % row, length};
}

bool apart_in_rows(const Footprint& a, const Footprint& b, int64_t row) {
  const auto [begin_a, length_a] = part_of_rows(a, row);
  const auto [begin_b, length_b] = part_of_rows(b, row);
  const int64_t between = (begin_b - begin_a + row) % row;  // from a to b, around the row
  return length_a <= row && length_b <= row && length_a <= between && length_b <= row - between;
}

}  // namespace

bool may_overlap_itself(const Tensor& tensor) {
  if (tensor.elements() == 0) return false;
  const Footprint f = footprint(tensor);
  for (size_t d = 0; d < f.dims.size(); ++d)
    if (f.dims[d].stride < f.reach(d)) return true;
  return false;
}

bool may_overlap(const Tensor& a, const Tensor& b) {
  if (a.elements() == 0 || b.elements() == 0 || a.memory->location() != b.memory->location()) return false;
  const Footprint of_a = footprint(a), of_b = footprint(b);
  if (of_a.end() <= of_b.first || of_b.end() <= of_a.first) return false;
  for (const Footprint* f : {&of_a, &of_b})
    for (const Dim& dim : f->dims)
      if (dim.stride > 0 && apart_in_rows(of_a, of_b, dim.stride)) return false;
  return true;
}

bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.shape != b.shape || a.memory->location() != b.memory->location()) return false;
  if (a.elements() == 0) return true;
  for (size_t d = 0; d < a.shape.size(); ++d)
    if (a.shape[d] != 1 && a.strides[d] != b.strides[d]) return false;
  return a.data() == b.data();
}

}  // namespace plait
