#include "run/pieces.h"

#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>

#include "base/error.h"

namespace plait {
namespace {

bool is_whole_dim(int64_t extent, const std::vector<int64_t>& indices) {
  if (int64_t(indices.size()) != extent) return false;
  for (int64_t i = 0; i < extent; ++i)
    if (indices[i] != i) return false;
  return true;
}

// Steps a multi-index over the extents; false when it is back at zero.
template <class Extent>
bool step(std::vector<size_t>& index, Extent&& extent) {
  for (size_t dim = index.size(); dim-- > 0;) {
    if (++index[dim] < size_t(extent(dim))) return true;
    index[dim] = 0;
  }
  return false;
}

}  // namespace

PieceMap::PieceMap(const std::vector<int64_t>& global_shape, const std::vector<std::vector<int64_t>>& indices,
                   const std::vector<bool>& uncut)
    : global_shape_(global_shape) {
  const size_t rank = global_shape.size();
  PLAIT_CHECK(indices.size() == rank, "indices of {} dims for {}", indices.size(), rank);
  const auto is_uncut = [&](size_t dim) { return dim < uncut.size() && uncut[dim]; };
  size_t cut_dim = rank;  // one past the innermost dim that is cut
  for (size_t dim = 0; dim < rank; ++dim) {
    if (is_uncut(dim)) {
      local_shape_.push_back(global_shape[dim]);
      continue;
    }
    for (int64_t i : indices[dim])
      PLAIT_CHECK(i >= 0 && i < global_shape[dim], "index {} of an extent of {}", i, global_shape[dim]);
    local_shape_.push_back(int64_t(indices[dim].size()));
  }
  while (cut_dim > 0 && (is_uncut(cut_dim - 1) || is_whole_dim(global_shape[cut_dim - 1], indices[cut_dim - 1])))
    --cut_dim;
  whole_ = cut_dim == 0;
  if (element_count(local_shape_) == 0) return;
  std::vector<int64_t> strides = row_major_strides(global_shape);
  if (whole_) {
    runs_.push_back({0, 0, element_count(global_shape)});
    return;
  }
  const std::vector<int64_t>& last = indices[cut_dim - 1];
  const int64_t unit = strides[cut_dim - 1];
  for (size_t i = 0; i < last.size(); ++i) {
    if (i > 0 && last[i] == last[i - 1] + 1) {
      runs_.back().length += unit;
    } else {
      runs_.push_back({last[i] * unit, int64_t(i) * unit, unit});
    }
  }
  outer_step_ = int64_t(last.size()) * unit;
  for (size_t dim = 0; dim + 1 < cut_dim; ++dim) {
    outer_.push_back(indices[dim]);
    if (is_uncut(dim)) {
      outer_.back().resize(size_t(global_shape[dim]));
      std::iota(outer_.back().begin(), outer_.back().end(), int64_t(0));
    }
    for (int64_t& offset : outer_.back()) offset *= strides[dim];
  }
}

template <class Fn>
void PieceMap::for_each_run(Fn&& fn) const {
  if (runs_.empty()) return;
  std::vector<size_t> index(outer_.size(), 0);
  int64_t local = 0;
  do {
    int64_t global = 0;
    for (size_t dim = 0; dim < outer_.size(); ++dim) global += outer_[dim][index[dim]];
    for (const Run& run : runs_) fn(global + run.global, local + run.local, run.length);
    local += outer_step_;
  } while (step(index, [&](size_t dim) { return outer_[dim].size(); }));
}

void PieceMap::cut(const Tensor& global, Tensor& local) const {
  PLAIT_CHECK(global.dtype == local.dtype, "a piece of {} cut from {}", name(local.dtype), name(global.dtype));
  PLAIT_CHECK(global.shape == global_shape_ && local.shape == local_shape_, "shapes of a piece and its tensor");
  PLAIT_CHECK(local.is_contiguous(), "a piece is not dense");
  const Tensor dense = global.contiguous();
  const int64_t size = int64_t(size_of(global.dtype));
  const auto* from = static_cast<const std::byte*>(dense.data());
  auto* to = static_cast<std::byte*>(local.data());
  for_each_run([&](int64_t g, int64_t l, int64_t length) {
    std::memcpy(to + l * size, from + g * size, size_t(length * size));
  });
}

void PieceMap::put(const Tensor& local, Tensor& global) const {
  PLAIT_CHECK(global.dtype == local.dtype, "a piece of {} put to {}", name(local.dtype), name(global.dtype));
  PLAIT_CHECK(global.shape == global_shape_ && local.shape == local_shape_, "shapes of a piece and its tensor");
  PLAIT_CHECK(local.is_contiguous() && global.is_contiguous(), "a piece or its tensor is not dense");
  const int64_t size = int64_t(size_of(global.dtype));
  const auto* from = static_cast<const std::byte*>(local.data());
  auto* to = static_cast<std::byte*>(global.data());
  for_each_run([&](int64_t g, int64_t l, int64_t length) {
    std::memcpy(to + g * size, from + l * size, size_t(length * size));
  });
}

void copy_dense(const Tensor& tensor, void* target) {
  if (tensor.elements() == 0) return;
  Tensor dense = tensor;
  dense.strides = row_major_strides(tensor.shape);
  dense.memory = std::make_shared<Memory>(target, tensor.bytes(), std::function<void()>());
  dense.byte_offset = 0;
  copy_elements(tensor, dense);
}

void copy_elements(const Tensor& from, const Tensor& to) {
  PLAIT_CHECK(from.dtype == to.dtype && from.shape == to.shape, "elements of {}, copied to {}", name(from.dtype),
              name(to.dtype));
  if (from.elements() == 0) return;
  const int64_t size = int64_t(size_of(from.dtype));
  const auto* source = static_cast<const std::byte*>(from.data());
  auto* target = static_cast<std::byte*>(to.data());
  if (from.is_contiguous() && to.is_contiguous()) {
    std::memcpy(target, source, from.bytes());
    return;
  }
  size_t outer = from.shape.size();  // dims behind it are blocks in both
  int64_t block = size;
  for (; outer > 0; --outer) {
    const int64_t extent = from.shape[outer - 1];
    if (extent != 1 && (from.strides[outer - 1] * size != block || to.strides[outer - 1] * size != block)) break;
    block *= extent;
  }
  std::vector<size_t> index(outer, 0);
  do {
    int64_t at = 0, put = 0;
    for (size_t dim = 0; dim < outer; ++dim) {
      at += int64_t(index[dim]) * from.strides[dim];
      put += int64_t(index[dim]) * to.strides[dim];
    }
    std::memcpy(target + put * size, source + at * size, size_t(block));
  } while (step(index, [&](size_t dim) { return from.shape[dim]; }));
}

}  // namespace plait
