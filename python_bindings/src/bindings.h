#pragma once
// What the parts of the extension share.
#include <algorithm>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "plait.h"

namespace plait::python {

namespace nb = nanobind;

// A fusion and what refers to it: a tensor keeps its fusion. Python has one object of each tensor, since `==` makes an
// op, and sets and dicts know tensors by identity.
struct TensorRef;
struct FusionRef {
  std::shared_ptr<Fusion> fusion;
  std::shared_ptr<std::map<TensorView*, std::weak_ptr<TensorRef>>> objects =
      std::make_shared<std::map<TensorView*, std::weak_ptr<TensorRef>>>();
};
struct TensorRef {
  FusionRef owner;
  TensorView* tensor = nullptr;
};
using TensorObject = std::shared_ptr<TensorRef>;

// The object of a tensor.
TensorObject ref(const FusionRef& f, TensorView* tensor);
// The tensor of an object. UserError: it is of another fusion.
TensorView* own(const FusionRef& f, const TensorRef& tensor);

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
  bool donated = false;    // to a run: nothing reads it any more
  int lent = 0;            // buffers of this object that are in use
  // The tensor. UserError: it was donated.
  const Tensor& live() const;
};

// An array over the memory of any object with DLPack or the buffer protocol, kept until the array is gone. `stream`: of
// a GPU, in whose order the producer puts its work; null: the legacy default stream. UserError at `where` ("input %x").
ArrayRef array_of(nb::handle object, const std::string& where, void* stream);
// A DLPack capsule, before version 1, that owns the tensor.
nb::object capsule_of(const Tensor& tensor);
// BufferError for a tensor in a GPU's memory.
void require_host(const Tensor& tensor);
// An element as Python's number.
nb::object number_at(DType dtype, const std::byte* source);
// Whether NumPy has the dtype.
bool numpy_has(DType dtype);
// plait.DType, its name, or an object with either NumPy's or PyTorch's name of the dtype.
DType dtype_of(nb::handle object);

// What fn, which adds ops to the fusion, returns; nothing stays of what it added where it throws.
template <class Fn>
auto all_or_nothing(Fusion& fusion, Fn&& fn) {
  const size_t count = fusion.tensor_count();
  try {
    return fn();
  } catch (...) {
    fusion.take_back(count);
    throw;
  }
}

// Whether an index is `...`, which stands for the dims that the others leave.
inline bool is_rest(nb::handle index) { return index.is(nb::ellipsis()); }

// The parts of what stands in brackets. Raises IndexError where more than one is `...`.
inline std::vector<nb::object> indices_of(nb::handle key) {
  std::vector<nb::object> out;
  if (PyTuple_Check(key.ptr()))
    for (nb::handle each : nb::borrow<nb::tuple>(key)) out.push_back(nb::borrow(each));
  else
    out.push_back(nb::borrow(key));
  if (std::ranges::count_if(out, is_rest) > 1) throw nb::index_error("an index has one `...`");
  return out;
}

// plait.Size, and whether an object is one.
nb::object size_type();
bool is_size(nb::handle object);

// Gives Python's logging what the log has for it, with Python's lock.
class LogFlush {
 public:
  LogFlush() = default;
  LogFlush(const LogFlush&) = delete;
  ~LogFlush();
};
// Before a program is compiled: which levels the loggers want.
void follow_loggers();

void bind_log(nb::module_& m);
void bind_errors(nb::module_& m);
void bind_arrays(nb::module_& m);
// Copies and pickles.
void bind_array_copies(nb::module_& m, nb::class_<ArrayRef>& arrays);
// Elements of an array: indices, numbers, lists, text.
void bind_array_values(nb::class_<ArrayRef>& arrays);
// Arithmetic and comparisons, which are NumPy's.
void bind_array_operators(nb::class_<ArrayRef>& arrays);
void bind_fusions(nb::module_& m);
// What Python's operators and other protocols make of a tensor, and the function apply().
void bind_operators(nb::module_& m, nb::class_<TensorRef>& tensors);
// Parts of a tensor.
void bind_indexing(nb::class_<TensorRef>& tensors);
void bind_programs(nb::module_& m);
// What python_bindings/plait/importers.py calls.
void bind_imports(nb::module_& m);

}  // namespace plait::python
