// Operators of arrays, as NumPy computes them: results are NumPy's arrays, and its numbers where no dim is left.
#include "base/error.h"
#include "bindings.h"

namespace plait::python {
namespace {

// MissingError where NumPy is not installed.
nb::module_ imported_numpy() {
  try {
    return nb::module_::import_("numpy");
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_ImportError)) throw;
    throw MissingError("operators of arrays are NumPy's, which is not installed", "plait.Array",
                       "install numpy, or give the array to a library that takes DLPack: torch.from_dlpack(y)");
  }
}

// The array as NumPy's, of the same memory. TypeError for a dtype that NumPy lacks; BufferError in a GPU's memory.
nb::object as_numpy(nb::handle self) {
  const Tensor& tensor = nb::cast<ArrayRef&>(self).live();
  const nb::module_ numpy = imported_numpy();
  if (!tensor.on_host())
    throw nb::buffer_error(
        "the array lies in a GPU's memory, and operators of arrays are NumPy's: take those of another "
        "library, torch.from_dlpack(y), or copy it to the host");
  if (!numpy_has(tensor.dtype))
    throw nb::type_error(
        fmt::format("operators of arrays are NumPy's, which has no {0}: take those of y.numpy(), which "
                    "is f32, or of torch.from_dlpack(y), which has {0}",
                    name(tensor.dtype))
            .c_str());
  return numpy.attr("asarray")(self);
}

// What NumPy computes with: arrays of other libraries as NumPy sees them, all else as it is.
nb::object operand(nb::handle object) {
  if (nb::isinstance<ArrayRef>(object)) return as_numpy(object);
  const nb::module_ numpy = imported_numpy();
  if (nb::hasattr(object, "__dlpack__") && !nb::isinstance(object, numpy.attr("ndarray")))
    return numpy.attr("asarray")(object);
  return nb::borrow(object);
}

// NotImplemented beside what is of a graph, which has an error of its own.
nb::object computed(const char* function, bool swapped, nb::handle self, nb::handle other) {
  if (nb::isinstance<TensorRef>(other) || is_size(other)) return nb::not_implemented();
  const nb::object mine = as_numpy(self), others = operand(other);
  const nb::object made = nb::module_::import_("operator").attr(function);
  return swapped ? made(others, mine) : made(mine, others);
}

nb::object divided(bool swapped, nb::handle self, nb::handle other) {
  const nb::object mine = as_numpy(self), others = operand(other);
  const nb::object made = nb::module_::import_("builtins").attr("divmod");
  return swapped ? made(others, mine) : made(mine, others);
}

// Of one dim its numbers, without NumPy; of more, whether any element equals, as NumPy says it.
bool contains(nb::handle self, nb::handle value) {
  const auto& array = nb::cast<ArrayRef&>(self);
  if (array.live().shape.size() == 1) {
    for (nb::handle each : self)
      if (each.equal(value)) return true;
    return false;
  }
  return nb::cast<bool>(nb::bool_(computed("eq", false, self, value).attr("any")()));
}

void bind_both_ways(nb::class_<ArrayRef>& arrays, const char* word, const char* function) {
  for (const bool swapped : {false, true}) {
    const std::string name = fmt::format("__{}{}__", swapped ? "r" : "", word);
    arrays.def(
        name.c_str(),
        [function, swapped](nb::handle_t<ArrayRef> self, nb::handle other) {
          return computed(function, swapped, self, other);
        },
        nb::arg("other").none(), nb::sig(fmt::format("def {}(self, other: object, /) -> typing.Any", name).c_str()),
        fmt::format("NumPy's, of {}.", swapped ? "other and self" : "self and other").c_str());
  }
}

}  // namespace

void bind_array_operators(nb::class_<ArrayRef>& arrays) {
  constexpr std::pair<const char*, const char*> kBothWays[] = {
      {"add", "add"},       {"sub", "sub"},       {"mul", "mul"},      {"truediv", "truediv"}, {"floordiv", "floordiv"},
      {"mod", "mod"},       {"pow", "pow"},       {"and", "and_"},     {"or", "or_"},          {"xor", "xor"},
      {"lshift", "lshift"}, {"rshift", "rshift"}, {"matmul", "matmul"}};
  for (const auto& [word, function] : kBothWays) bind_both_ways(arrays, word, function);
  for (const char* word : {"eq", "ne", "lt", "le", "gt", "ge"})
    arrays.def(
        fmt::format("__{}__", word).c_str(),
        [word](nb::handle_t<ArrayRef> self, nb::handle other) { return computed(word, false, self, other); },
        nb::arg("other").none(), nb::sig(fmt::format("def __{}__(self, other: object, /) -> typing.Any", word).c_str()),
        "NumPy's, element by element.");
  for (const char* word : {"neg", "pos", "abs", "invert"})
    arrays.def(
        fmt::format("__{}__", word).c_str(),
        [word](nb::handle_t<ArrayRef> self) -> nb::object {
          return nb::module_::import_("operator").attr(word)(as_numpy(self));
        },
        nb::sig(fmt::format("def __{}__(self) -> typing.Any", word).c_str()), "NumPy's, of self.");
  for (const bool swapped : {false, true})
    arrays.def(
        swapped ? "__rdivmod__" : "__divmod__",
        [swapped](nb::handle_t<ArrayRef> self, nb::handle other) { return divided(swapped, self, other); },
        nb::arg("other").none(),
        nb::sig(swapped ? "def __rdivmod__(self, other: object, /) -> typing.Any"
                        : "def __divmod__(self, other: object, /) -> typing.Any"),
        "NumPy's quotient and remainder.");
  arrays
      .def("__contains__", contains, nb::arg("value").none(),
           nb::sig("def __contains__(self, value: object, /) -> bool"), "Whether any element equals it.")
      .def(
          "__hash__", [](nb::handle_t<ArrayRef> self) { return std::hash<PyObject*>()(self.ptr()); },
          "By identity: sets and dicts know the object, and not its elements.");
}

}  // namespace plait::python
