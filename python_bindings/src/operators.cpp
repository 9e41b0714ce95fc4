// What Python's operators and protocols make of a tensor of a graph: ops, or an error that says what to write instead.
#include "base/error.h"
#include "bindings.h"

namespace plait::python {
namespace {

std::string described(const TensorRef& t) { return fmt::format("%{}: {}", t.tensor->name, type_text(*t.tensor)); }

std::string shown(nb::handle object) { return nb::cast<std::string>(nb::repr(object)); }

// ---- Operands.

TensorOrNumber whole_number(nb::handle number) {
  int overflow = 0;
  const int64_t value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) return value;
  uint64_t large = 0;
  if (overflow > 0 && nb::try_cast(number, large)) return large;
  throw UserError(fmt::format("{} is no number of 64 bits", shown(number)), "",
                  "give a float, or an integer from -2^63 to 2^64 - 1");
}

TensorOrNumber operand_of(nb::handle object) {
  if (nb::isinstance<TensorRef>(object)) return nb::cast<TensorRef&>(object).tensor;
  if (PyFloat_Check(object.ptr())) return nb::cast<double>(object);
  if (PyIndex_Check(object.ptr())) {
    const nb::object number = nb::steal(PyNumber_Index(object.ptr()));
    if (number.is_valid()) return whole_number(number);
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();  // an array of floats without dims
  }
  if (PyNumber_Check(object.ptr()) && !PyComplex_Check(object.ptr())) {
    const nb::object number = nb::steal(PyNumber_Float(object.ptr()));
    if (number.is_valid()) return nb::cast<double>(number);
    PyErr_Clear();
  }
  throw UserError(fmt::format("{} is no operand", shown(object)), "", "give a tensor or a number");
}

[[noreturn]] void refuse_array(const std::string& beside) {
  throw nb::type_error(fmt::format("{} is a tensor of a graph and has no values to compute with an array's: make the "
                                   "array an input of the fusion, and give it to run()",
                                   beside)
                           .c_str());
}

// Whether the object is a number beside a tensor: one of Python, a size, or one of NumPy and its like without dims.
// TypeError for an array.
bool is_number(nb::handle object, const TensorRef& beside) {
  if (PyLong_Check(object.ptr()) || PyFloat_Check(object.ptr()) || is_size(object)) return true;
  if (!nb::hasattr(object, "shape") || !nb::hasattr(object, "dtype")) return PyIndex_Check(object.ptr());
  const nb::object shape = object.attr("shape"), dtype = object.attr("dtype");
  if (nb::len(shape) == 0)
    return PyNumber_Check(object.ptr()) && shown(nb::str(nb::handle(dtype))).find("complex") == std::string::npos;
  refuse_array(described(beside));
}

Pointwise function_of(const std::string& name) {
  for (int i = 0; i < kPointwiseCount; ++i)
    if (plait::name(static_cast<Pointwise>(i)) == name) return static_cast<Pointwise>(i);
  throw UserError(fmt::format("there is no function `{}`", name), "", "");
}

// What a size is beside these: of the dtype of the first that can have it, else i64.
DType dtype_of_sizes(const std::vector<TensorView*>& tensors) {
  for (const TensorView* each : tensors)
    if (class_of(each->dtype) == DTypeClass::floating || class_of(each->dtype) == DTypeClass::signed_integer)
      return each->dtype;
  return DType::i64;
}

TensorView* computed(const FusionRef& fusion, Pointwise function, const std::vector<nb::object>& operands,
                     const std::vector<TensorView*>& given) {
  std::vector<TensorView*> tensors;
  std::vector<TensorOrNumber> all;
  for (const nb::object& each : operands) {
    all.push_back(is_size(each) ? size(*fusion.fusion, nb::cast<std::string>(each), dtype_of_sizes(given))
                                : operand_of(each));
    if (!all.back().is_number()) tensors.push_back(all.back().tensor());
  }
  if (tensors.size() == all.size()) return pointwise(function, tensors);
  if (all.size() == 3) return pointwise(function, all[0], all[1], all[2]);
  return all[0].is_number() ? pointwise(function, all[0].number(), all[1].tensor())
                            : pointwise(function, all[0].tensor(), all[1].number());
}

// function(operands...): tensors, sizes and numbers, at least one a tensor. Nothing stays of one that is refused.
TensorObject applied(const std::string& name, const std::vector<nb::object>& operands) {
  const Pointwise function = function_of(name);
  std::optional<FusionRef> fusion;
  std::vector<TensorView*> tensors;
  for (const nb::object& each : operands)
    if (nb::isinstance<TensorRef>(each)) {
      const auto& tensor = nb::cast<TensorRef&>(each);
      if (!fusion) fusion = tensor.owner;
      tensors.push_back(own(*fusion, tensor));
    }
  if (!fusion) throw UserError(fmt::format("{} of numbers only", name), "", "give at least one tensor");
  return all_or_nothing(*fusion->fusion, [&] { return ref(*fusion, computed(*fusion, function, operands, tensors)); });
}

// ---- Operators.

// NotImplemented for what is no operand, so that the other side is asked.
nb::object operator_result(const char* function, bool swapped, nb::handle_t<TensorRef> self, nb::handle other) {
  if (!nb::isinstance<TensorRef>(other) && !is_number(other, nb::cast<TensorRef&>(self))) return nb::not_implemented();
  std::vector<nb::object> operands = {nb::borrow(self), nb::borrow(other)};
  if (swapped) std::swap(operands[0], operands[1]);
  return nb::cast(applied(function, operands));
}

nb::object contraction(const TensorRef& self, nb::handle other) {
  if (nb::isinstance<TensorRef>(other))
    return nb::cast(ref(self.owner, matmul(self.tensor, own(self.owner, nb::cast<TensorRef&>(other)))));
  is_number(other, self);
  return nb::not_implemented();
}

void bind_arithmetic(nb::class_<TensorRef>& tensors) {
  const auto bind = [&](const char* word, const char* function, bool swapped) {
    const std::string name = fmt::format("__{}{}__", swapped ? "r" : "", word);
    const std::string doc = fmt::format("plait.ops.{} of {}.", function, swapped ? "other and self" : "self and other");
    tensors.def(
        name.c_str(),
        [function, swapped](nb::handle_t<TensorRef> self, nb::handle other) {
          return operator_result(function, swapped, self, other);
        },
        nb::sig(fmt::format("def {}(self, other: Tensor | float | plait.size.Size, /) -> Tensor", name).c_str()), nb::is_operator(),
        doc.c_str());
  };
  constexpr std::pair<const char*, const char*> kBothWays[] = {{"add", "add"},
                                                               {"sub", "sub"},
                                                               {"mul", "mul"},
                                                               {"truediv", "div"},
                                                               {"floordiv", "floor_divide"},
                                                               {"mod", "remainder"},
                                                               {"pow", "pow"},
                                                               {"and", "bitwise_and"},
                                                               {"or", "bitwise_or"},
                                                               {"xor", "bitwise_xor"},
                                                               {"lshift", "shift_left"},
                                                               {"rshift", "shift_right"}};
  for (const auto& [word, function] : kBothWays) {
    bind(word, function, false);
    bind(word, function, true);
  }
  for (const char* word : {"eq", "ne", "lt", "le", "gt", "ge"}) bind(word, word, false);
  constexpr std::pair<const char*, const char*> kUnary[] = {{"neg", "neg"}, {"abs", "abs"}, {"invert", "bitwise_not"}};
  for (const auto& [word, function] : kUnary)
    tensors.def(
        fmt::format("__{}__", word).c_str(),
        [function](nb::handle_t<TensorRef> self) { return applied(function, {nb::borrow(self)}); },
        fmt::format("plait.ops.{} of self.", function).c_str());
  tensors.def(
      "__pos__", [](nb::handle_t<TensorRef> self) { return nb::borrow<nb::object>(self); },
      nb::sig("def __pos__(self) -> Tensor"), "The tensor itself.");
  tensors.def("__matmul__", contraction, nb::sig("def __matmul__(self, other: Tensor, /) -> Tensor"), nb::is_operator(),
              "plait.ops.matmul of self and other.");
  // The left side is no tensor: an array, which gets its error.
  tensors.def("__rmatmul__", contraction, nb::sig("def __rmatmul__(self, other: Tensor, /) -> Tensor"),
              nb::is_operator(), "plait.ops.matmul of other and self.");
}

// ---- NumPy's functions.

struct UfuncOperator {
  const char *ufunc, *function, *swapped;  // function(x, y) is swapped(y, x); null: with the operands the other way round
};
constexpr UfuncOperator kUfuncOperators[] = {{"add", "add", nullptr},
                                             {"subtract", "sub", nullptr},
                                             {"multiply", "mul", nullptr},
                                             {"divide", "div", nullptr},
                                             {"floor_divide", "floor_divide", nullptr},
                                             {"remainder", "remainder", nullptr},
                                             {"power", "pow", nullptr},
                                             {"bitwise_and", "bitwise_and", nullptr},
                                             {"bitwise_or", "bitwise_or", nullptr},
                                             {"bitwise_xor", "bitwise_xor", nullptr},
                                             {"left_shift", "shift_left", nullptr},
                                             {"right_shift", "shift_right", nullptr},
                                             {"equal", "eq", "eq"},
                                             {"not_equal", "ne", "ne"},
                                             {"less", "lt", "gt"},
                                             {"less_equal", "le", "ge"},
                                             {"greater", "gt", "lt"},
                                             {"greater_equal", "ge", "le"},
                                             {"matmul", nullptr, nullptr}};

// What an operator of NumPy's number or array on the left asks: the op, or the error for arrays. All else is a TypeError
// that names the function of plait.ops.
nb::object ufunc_result(nb::handle_t<TensorRef> self, nb::handle ufunc, const std::string& method, nb::args inputs,
                        nb::kwargs named) {
  const auto name = nb::cast<std::string>(ufunc.attr("__name__"));
  const auto& tensor = nb::cast<TensorRef&>(self);
  const auto* known = std::ranges::find(kUfuncOperators, name, &UfuncOperator::ufunc);
  if (known != std::end(kUfuncOperators) && method == "__call__" && inputs.size() == 2 && inputs[1].is(self) &&
      nb::hasattr(inputs[0], "dtype") && !nb::isinstance<TensorRef>(inputs[0]) && is_number(inputs[0], tensor) &&
      named.size() == 0 && known->function) {
    const char* function = known->swapped ? known->swapped : known->function;
    return operator_result(function, !known->swapped, self, inputs[0]);
  }
  throw nb::type_error(fmt::format("numpy.{} computes with arrays, and {} is a tensor of a graph: {}", name, described(tensor),
                                   nb::cast<std::string>(nb::module_::import_("plait._names").attr("function_for")(name)))
                           .c_str());
}

// What a function of PyTorch asks. TypeError: beside arrays as operators say it, else it names the function of plait.ops.
[[noreturn]] void refuse_torch(nb::handle function, nb::handle operands) {
  const TensorRef* tensor = nullptr;
  bool has_arrays = false;
  for (nb::handle each : operands) {
    if (nb::isinstance<TensorRef>(each))
      tensor = &nb::cast<TensorRef&>(each);
    else
      has_arrays = has_arrays || nb::hasattr(each, "__dlpack__");
  }
  const std::string given = tensor ? described(*tensor) : "what it is given";
  if (has_arrays) refuse_array(given);
  const auto name = nb::cast<std::string>(nb::str(nb::getattr(function, "__name__", nb::str("function"))));
  throw nb::type_error(
      fmt::format("torch.{} computes with PyTorch's tensors, and {} is a tensor of a graph: {}", name, given,
                  nb::cast<std::string>(nb::module_::import_("plait._names").attr("function_for")(name)))
          .c_str());
}

// ---- What a tensor without values has not.

[[noreturn]] void refuse(const TensorRef& t, const char* what) {
  throw nb::type_error(fmt::format("{} {}", described(t), what).c_str());
}

int64_t length(const TensorRef& t) {
  if (t.tensor->rank() == 0) refuse(t, "has no dims, and so no len()");
  const auto extent = t.tensor->shape()[0].constant();
  if (!extent) refuse(t, "has a length that its inputs tell: shape[0] is its size");
  return *extent;
}

int64_t no_number(const TensorRef& t) {
  refuse(t, "is a tensor of a graph and has no number: plait.ops.cast changes its dtype, run() gives arrays");
}

void bind_protocols(nb::class_<TensorRef>& tensors) {
  tensors
      .def(
          "__bool__",
          [](const TensorRef& t) -> bool {
            refuse(
                t,
                "is a tensor of a graph, true or false only when a program runs: take plait.ops.where(condition, a, b) "
                "for `if`, and &, | and ~ for `and`, `or` and `not`");
          },
          "Raises TypeError: a graph has no values.")
      .def("__float__", no_number, nb::sig("def __float__(self) -> typing.Never"),
           "Raises TypeError: a graph has no values.")
      .def("__int__", no_number, nb::sig("def __int__(self) -> typing.Never"),
           "Raises TypeError: a graph has no values.")
      .def("__len__", length, "Extent of dim 0. Raises TypeError for a size that has a name, or without dims.")
      .def(
          "__iter__",
          [](const TensorRef& t) -> nb::object {
            refuse(t, "is a tensor of a graph and is not iterated: plait.ops.split and plait.ops.slice take parts");
          },
          nb::sig("def __iter__(self) -> typing.Never"), "Raises TypeError: parts are ops.")
      .def(
          "__contains__",
          [](const TensorRef& t, nb::handle) -> bool {
            refuse(t, "is a tensor of a graph, and what is in it is known when a program runs: plait.ops.any(x == value) says it then");
          },
          nb::arg("value").none(), nb::sig("def __contains__(self, value: object, /) -> typing.Never"),
          "Raises TypeError: a graph has no values.")
      .def(
          "__setitem__",
          [](const TensorRef& t, nb::handle, nb::handle) {
            refuse(t, "is a tensor of a graph and never changes: plait.ops.where, slice_update and scatter make another");
          },
          nb::arg("index").none(), nb::arg("value").none(),
          nb::sig("def __setitem__(self, index: object, value: object, /) -> typing.Never"),
          "Raises TypeError: ops make tensors.")
      .def(
          "__reduce__",
          [](const TensorRef& t) -> nb::object {
            refuse(t, "is a tensor of a graph, of which there is no copy: fusions are copied and pickled");
          },
          nb::sig("def __reduce__(self) -> typing.Never"), "Raises TypeError: fusions are pickled.")
      .def(
          "__array__",
          [](const TensorRef& t, nb::args, nb::kwargs) -> nb::object {
            refuse(t, "is a tensor of a graph: arrays are what run() gives");
          },
          nb::sig("def __array__(self, *args: object, **kwargs: object) -> typing.Never"),
          "Raises TypeError: a graph has no values.")
      .def("__hash__", [](const TensorRef& t) { return std::hash<TensorView*>()(t.tensor); }, "By identity.");
  tensors.def("__array_ufunc__", ufunc_result, nb::arg("ufunc"), nb::arg("method"), nb::arg("inputs"), nb::arg("named"),
              nb::sig("def __array_ufunc__(self, ufunc: object, method: str, *inputs: object, **named: object) -> Tensor"),
              "The op of an operator beside a number of NumPy. Raises TypeError for its functions.");
  tensors.def_static(
      "__torch_function__",
      [](nb::handle function, nb::handle, nb::handle operands, nb::handle) { refuse_torch(function, operands); },
      nb::arg("function"), nb::arg("types"), nb::arg("operands"), nb::arg("named").none() = nb::none(),
      nb::sig("def __torch_function__(function: object, types: object, operands: object, named: object = None) -> typing.Never"),
      "Raises TypeError: functions of graphs are in plait.ops.");
  tensors.def(
      "__getattr__",
      [](const TensorRef&, const std::string& name) -> nb::object {
        const nb::object members = nb::module_::import_("builtins").attr("dir")(nb::type<TensorRef>());
        throw nb::attribute_error(
            nb::cast<std::string>(nb::module_::import_("plait._names").attr("unknown_member")(name, members)).c_str());
      },
      nb::arg("name"), nb::sig("def __getattr__(self, name: str, /) -> typing.Never"), "Raises AttributeError, with a guess.");
}

}  // namespace

nb::object size_type() { return nb::module_::import_("plait.size").attr("Size"); }

bool is_size(nb::handle object) {
  return PyUnicode_Check(object.ptr()) && !PyUnicode_CheckExact(object.ptr()) && nb::isinstance(object, size_type());
}

TensorObject ref(const FusionRef& f, TensorView* tensor) {
  std::weak_ptr<TensorRef>& known = (*f.objects)[tensor];
  TensorObject out = known.lock();
  if (!out) known = out = std::make_shared<TensorRef>(TensorRef{f, tensor});
  return out;
}

TensorView* own(const FusionRef& f, const TensorRef& tensor) {
  if (f.fusion != tensor.owner.fusion)
    throw UserError(fmt::format("%{} is of another fusion", tensor.tensor->name),
                    fmt::format("fusion @{}", f.fusion->name()), "use the tensors of one fusion");
  return tensor.tensor;
}

void bind_operators(nb::module_& m, nb::class_<TensorRef>& tensors) {
  bind_arithmetic(tensors);
  bind_indexing(tensors);
  bind_protocols(tensors);
  m.def("apply", applied, nb::arg("function"), nb::arg("operands"), "A pointwise function of tensors and numbers.");
}

}  // namespace plait::python
