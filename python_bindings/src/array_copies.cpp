// Arrays of memory of their own: copy.copy, copy.deepcopy, pickle.
#include <cstring>

#include "base/error.h"
#include "bindings.h"

namespace plait::python {
namespace {

// Row-major, and may be written. BufferError in a GPU's memory.
ArrayRef copied(const ArrayRef& array) {
  const Tensor& tensor = array.live();
  require_host(tensor);
  Tensor out = tensor.contiguous();
  if (out.memory == tensor.memory) {
    out = Tensor::empty(tensor.dtype, tensor.shape);
    if (out.bytes() > 0) std::memcpy(out.data(), tensor.data(), out.bytes());
  }
  return {std::move(out)};
}

// For pickle: what makes it again, of its dtype, shape and elements.
nb::tuple pickled(const ArrayRef& array) {
  require_host(array.live());
  const Tensor dense = array.tensor.contiguous();
  const nb::object from = nb::module_::import_("plait").attr("_array_of_bytes");
  const nb::bytes elements(dense.bytes() > 0 ? dense.data() : "", dense.bytes());
  return nb::make_tuple(from, nb::make_tuple(std::string(name(dense.dtype)), nb::tuple(nb::cast(dense.shape)), elements));
}

// UserError: the bytes are not of that dtype and shape.
ArrayRef array_of_bytes(nb::object dtype, const std::vector<int64_t>& shape, const nb::bytes& elements) {
  const DType type = dtype_of(dtype);
  const bool fits = std::ranges::all_of(shape, [](int64_t extent) { return extent >= 0; }) &&
                    size_t(element_count(shape)) * size_of(type) == elements.size();
  if (!fits)
    throw UserError(fmt::format("{} bytes are no {} of such a shape", elements.size(), name(type)), "plait.Array",
                    "read what was pickled whole");
  Tensor out = Tensor::empty(type, shape);
  if (elements.size() > 0) std::memcpy(out.data(), elements.data(), elements.size());
  return {std::move(out)};
}

}  // namespace

void bind_array_copies(nb::module_& m, nb::class_<ArrayRef>& arrays) {
  m.def("_array_of_bytes", array_of_bytes, nb::arg("dtype"), nb::arg("shape"), nb::arg("elements"),
        "An Array of row-major elements, for pickle.");
  arrays
      .def("__copy__", copied, "Of memory of its own, row-major. Raises BufferError for an array in a GPU's memory.")
      .def(
          "__deepcopy__", [](const ArrayRef& array, nb::handle) { return copied(array); }, nb::arg("memo").none(),
          nb::sig("def __deepcopy__(self, memo: object, /) -> Array"), "As copy.copy.")
      .def("__reduce__", pickled, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"),
           "For pickle: dtype, shape and elements. Raises BufferError for an array in a GPU's memory.");
}

}  // namespace plait::python
