#pragma once
// What the parts of the extension share.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
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

// An array that a run took or gave.
struct ArrayRef {
  Tensor tensor;
};

// A tensor over the memory of any object with DLPack or the buffer protocol, kept until the tensor is gone. `stream`: of
// a GPU, on which the tensor is then used. UserError naming the input.
Tensor tensor_of(nb::handle object, const std::string& input, nb::handle stream);
// A DLPack capsule, before version 1, that owns the tensor.
nb::object capsule_of(const Tensor& tensor);
// plait.DType, its name, or an object with either NumPy's or PyTorch's name of the dtype.
DType dtype_of(nb::handle object);

void bind_errors(nb::module_& m);
void bind_arrays(nb::module_& m);
void bind_fusions(nb::module_& m);
void bind_programs(nb::module_& m);

}  // namespace plait::python
