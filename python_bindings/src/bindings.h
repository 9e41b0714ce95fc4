#pragma once
// What the parts of the extension share.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "plait.h"

namespace plait::python {

namespace nb = nanobind;

// A fusion and what refers to it: a tensor keeps its fusion.
struct FusionRef {
  std::shared_ptr<Fusion> fusion;
};
struct TensorRef {
  std::shared_ptr<Fusion> fusion;
  TensorView* tensor = nullptr;
};

// Where the work that writes an array in a GPU's memory is queued, and the host has not waited for it.
struct Queued {
  void* stream = nullptr;          // CUstream; null: nothing is to be waited for
  Device* device = nullptr;        // null: `cuda`
  std::shared_ptr<Event> written;  // where others may not name the stream
};

// An array that a run took or gave.
struct ArrayRef {
  Tensor tensor;
  Queued queued{};
  bool read_only = false;  // as its owner says: what shares it may not write either
};

// An array over the memory of any object with DLPack or the buffer protocol, kept until the array is gone. `stream`: of
// a GPU, in whose order the producer puts its work; null: the legacy default stream. UserError naming the input.
ArrayRef array_of(nb::handle object, const std::string& input, void* stream);
// A DLPack capsule, before version 1, that owns the tensor.
nb::object capsule_of(const Tensor& tensor);
// plait.DType, its name, or an object with either NumPy's or PyTorch's name of the dtype.
DType dtype_of(nb::handle object);

void bind_errors(nb::module_& m);
void bind_arrays(nb::module_& m);
void bind_fusions(nb::module_& m);
void bind_programs(nb::module_& m);

}  // namespace plait::python
