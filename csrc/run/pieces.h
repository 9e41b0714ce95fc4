#pragma once
// A rank's piece of a global tensor, in host memory: cutting it out and putting it back.
#include <cstdint>
#include <vector>

#include "device/tensor.h"

namespace plait {

// Which elements of a global tensor a rank holds: per dim the global indices, in local order. Made once per shape;
// runs of consecutive indices are copied as blocks.
class PieceMap {
 public:
  // `indices[dim]`: global indices in [0, shape[dim]), any order; InternalError otherwise. Of a dim that is `uncut` all
  // are held, in order, whatever `indices[dim]` is: extents may be too large for lists.
  PieceMap(const std::vector<int64_t>& global_shape, const std::vector<std::vector<int64_t>>& indices,
           const std::vector<bool>& uncut = {});
  const std::vector<int64_t>& local_shape() const { return local_shape_; }
  // Whether the piece is the whole tensor in its own order: nothing need be copied.
  bool is_whole() const { return whole_; }
  // local = the piece of `global`, which may be strided. `local` is dense, of the same dtype and of local_shape.
  void cut(const Tensor& global, Tensor& local) const;
  // Writes `local` (dense) to its place in `global` (dense); all other elements of `global` keep their values.
  void put(const Tensor& local, Tensor& global) const;

 private:
  // A block of consecutive elements of the innermost dim that is cut, with all of the dims inside of it.
  struct Run {
    int64_t global, local, length;  // in elements
  };
  template <class Fn>
  void for_each_run(Fn&& fn) const;

  std::vector<int64_t> global_shape_, local_shape_;
  std::vector<std::vector<int64_t>> outer_;  // global offsets of the indices of the dims outside of the runs' dim
  int64_t outer_step_ = 0;                   // local elements of one combination of outer indices
  std::vector<Run> runs_;
  bool whole_ = false;
};

// Copies a tensor, whatever its strides, to dense row-major memory.
void copy_dense(const Tensor& tensor, void* target);

// Copies the elements of `from` to those of `to`, which has its dtype and shape; both in host memory, whatever their
// strides. They do not overlap.
void copy_elements(const Tensor& from, const Tensor& to);

}  // namespace plait
