// Operators of arrays, as NumPy computes them: results are NumPy's arrays, and its numbers where no dim is left.
#include <cmath>
#include <optional>

#include "base/error.h"
#include "bindings.h"
#include "scalar/constant.h"

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

void require_numpy_lies_there(const Tensor& tensor) {
  if (!tensor.on_host())
    throw nb::buffer_error(
        "the array lies in a GPU's memory, and operators of arrays are NumPy's: take those of another "
        "library, torch.from_dlpack(y), or copy it to the host");
}

// The array as NumPy's, of the same memory. TypeError for a dtype that NumPy lacks; BufferError in a GPU's memory.
nb::object as_numpy(nb::handle self) {
  const Tensor& tensor = nb::cast<ArrayRef&>(self).live();
  const nb::module_ numpy = imported_numpy();
  require_numpy_lies_there(tensor);
  if (!numpy_has(tensor.dtype))
    throw nb::type_error(
        fmt::format("operators of arrays are NumPy's, which has no {0}: take those of y.numpy(), which "
                    "is f32, or of torch.from_dlpack(y), which has {0}",
                    name(tensor.dtype))
            .c_str());
  return numpy.attr("asarray")(self);
}

// For comparisons: as above, but values that NumPy has no dtype for as f32, which holds them exactly.
nb::object as_compared(nb::handle self) {
  const Tensor& tensor = nb::cast<ArrayRef&>(self).live();
  if (numpy_has(tensor.dtype)) return as_numpy(self);
  imported_numpy();
  require_numpy_lies_there(tensor);
  return self.attr("numpy")();
}

// Whether an array is of another library than NumPy, which knows what its operators are.
bool is_of_another_library(nb::handle object) {
  if (nb::isinstance<ArrayRef>(object) || !nb::hasattr(object, "__dlpack__")) return false;
  const nb::object numpy = nb::module_::import_("sys").attr("modules").attr("get")("numpy");
  return numpy.is_none() || !nb::isinstance(object, numpy.attr("ndarray"));
}

// What the other operand's method says: `__radd__` where self stands on the left. TypeError where it says nothing.
nb::object said_by(nb::handle other, const char* method, nb::handle self) {
  const nb::handle type = other.type();
  if (nb::hasattr(type, method)) {
    nb::object made = type.attr(method)(other, self);
    if (!made.is(nb::not_implemented())) return made;
  }
  const auto text = [&](const char* word) { return nb::cast<std::string>(nb::str(type.attr(word))); };
  throw nb::type_error(
      fmt::format("operators of plait.Array are NumPy's, and the other operand is a {}.{}: give the plait.Array to that "
                  "library first, torch.from_dlpack(y) or jax.dlpack.from_dlpack(y), or make both NumPy's",
                  text("__module__"), text("__qualname__"))
          .c_str());
}

// NotImplemented beside what is of a graph, which has an error of its own. `method`: of `other`, where self stands on the
// left.
nb::object computed(const char* function, const char* method, bool swapped, nb::handle self, nb::handle other) {
  if (nb::isinstance<TensorRef>(other) || is_size(other)) return nb::not_implemented();
  if (is_of_another_library(other)) return swapped ? said_by(other, "", self) : said_by(other, method, self);
  const nb::object mine = as_numpy(self), others = nb::isinstance<ArrayRef>(other) ? as_numpy(other) : nb::borrow(other);
  const nb::object made =
      nb::module_::import_(std::string_view(function) == "divmod" ? "builtins" : "operator").attr(function);
  return swapped ? made(others, mine) : made(mine, others);
}

// Python's own numbers, as they are compared with elements of the dtype: floats that it can hold are rounded to it, as
// NumPy does.
std::optional<double> rounded(DType dtype, nb::handle number) {
  if (!is_float(dtype) || !(PyFloat_CheckExact(number.ptr()) || PyLong_Check(number.ptr()))) return std::nullopt;
  const double value = PyFloat_AsDouble(number.ptr());
  if (PyErr_Occurred()) {  // an integer beyond all floats
    PyErr_Clear();
    return std::nullopt;
  }
  return std::abs(value) <= max_finite(dtype) ? Constant::from_double(dtype, value).to_double() : value;
}

nb::object compared(const char* function, const char* method, nb::handle self, nb::handle other) {
  if (nb::isinstance<TensorRef>(other) || is_size(other)) return nb::not_implemented();
  if (is_of_another_library(other)) return said_by(other, method, self);
  const DType dtype = nb::cast<ArrayRef&>(self).live().dtype;
  const nb::object mine = as_compared(self);
  nb::object others = nb::borrow(other);
  if (nb::isinstance<ArrayRef>(other))
    others = as_compared(other);
  else if (const auto number = numpy_has(dtype) ? std::nullopt : rounded(dtype, other))
    others = nb::float_(*number);
  return nb::module_::import_("operator").attr(function)(mine, others);
}

// Whether any element of the dims from `dim` on is what `is_it` says.
template <class Fn>
bool any_element(const Tensor& tensor, size_t dim, const std::byte* p, const Fn& is_it) {
  if (dim == tensor.shape.size()) return is_it(p);
  const int64_t step = tensor.strides[dim] * int64_t(size_of(tensor.dtype));
  for (int64_t i = 0; i < tensor.shape[dim]; ++i)
    if (any_element(tensor, dim + 1, p + i * step, is_it)) return true;
  return false;
}

// As NumPy says it; beside numbers without it.
bool contains(nb::handle self, nb::handle value) {
  const Tensor& tensor = nb::cast<ArrayRef&>(self).live();
  const bool many = nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value);
  if (many || nb::isinstance<TensorRef>(value) || nb::hasattr(value, "__dlpack__")) {
    const auto equal = nb::steal(PyObject_RichCompare(self.ptr(), value.ptr(), Py_EQ));
    if (!equal) throw nb::python_error();
    return PyObject_IsTrue(nb::object(equal.attr("any")()).ptr()) == 1;
  }
  require_host(tensor);
  const auto* first = static_cast<const std::byte*>(tensor.data());
  if (const auto number = rounded(tensor.dtype, value))
    return any_element(tensor, 0, first, [&](const std::byte* p) {
      return Constant::load(tensor.dtype, p).to_double() == *number;
    });
  return any_element(tensor, 0, first, [&](const std::byte* p) { return number_at(tensor.dtype, p).equal(value); });
}

void bind_both_ways(nb::class_<ArrayRef>& arrays, const char* word, const char* function) {
  for (const bool swapped : {false, true}) {
    const std::string name = fmt::format("__{}{}__", swapped ? "r" : "", word);
    arrays.def(
        name.c_str(),
        [function, swapped, reflected = fmt::format("__r{}__", word)](nb::handle_t<ArrayRef> self, nb::handle other) {
          return computed(function, reflected.c_str(), swapped, self, other);
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
      {"lshift", "lshift"}, {"rshift", "rshift"}, {"matmul", "matmul"}, {"divmod", "divmod"}};
  for (const auto& [word, function] : kBothWays) bind_both_ways(arrays, word, function);
  constexpr std::pair<const char*, const char*> kComparisons[] = {{"eq", "__eq__"}, {"ne", "__ne__"}, {"lt", "__gt__"},
                                                                  {"le", "__ge__"}, {"gt", "__lt__"}, {"ge", "__le__"}};
  for (const auto& [word, reflected] : kComparisons)
    arrays.def(
        fmt::format("__{}__", word).c_str(),
        [word, reflected](nb::handle_t<ArrayRef> self, nb::handle other) {
          return compared(word, reflected, self, other);
        },
        nb::arg("other").none(), nb::sig(fmt::format("def __{}__(self, other: object, /) -> typing.Any", word).c_str()),
        "NumPy's, element by element; of bf16 and f8 as their values in f32.");
  for (const char* word : {"neg", "pos", "abs", "invert"})
    arrays.def(
        fmt::format("__{}__", word).c_str(),
        [word](nb::handle_t<ArrayRef> self) -> nb::object {
          return nb::module_::import_("operator").attr(word)(as_numpy(self));
        },
        nb::sig(fmt::format("def __{}__(self) -> typing.Any", word).c_str()), "NumPy's, of self.");
  arrays
      .def("__contains__", contains, nb::arg("value").none(),
           nb::sig("def __contains__(self, value: object, /) -> bool"), "Whether any element equals it.")
      .def(
          "__hash__", [](nb::handle_t<ArrayRef> self) { return std::hash<PyObject*>()(self.ptr()); },
          "By identity: sets and dicts know the object, and not its elements.");
}

}  // namespace plait::python
