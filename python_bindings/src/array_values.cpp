// The elements of an array as Python sees them: text, numbers, parts that share its memory. Strides are in elements.
#include <algorithm>

#include "base/error.h"
#include "bindings.h"
#include "scalar/constant.h"

namespace plait::python {
namespace {

constexpr int64_t kShowAll = 1000, kEdge = 3;  // elements that are all shown; of a dim, on each side of `...`
constexpr size_t kWidth = 88;                  // of a line, where a row is broken

// As text of HTML.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

const std::byte* first(const Tensor& tensor) { return static_cast<const std::byte*>(tensor.data()); }

// ---- Text.

// Nested lists, rows of the last dim on lines of their own, numbers right-aligned, as NumPy prints arrays.
class ArrayPrinter {
 public:
  ArrayPrinter(const Tensor& tensor, size_t indent)
      : tensor_(tensor), indent_(indent), all_(tensor.elements() <= kShowAll) {}

  std::string run() {
    if (tensor_.elements() == 0) return "[]";
    visit(0, first(tensor_), [&](const std::byte* p) { width_ = std::max(width_, text(p).size()); });
    print(0, first(tensor_));
    return std::move(out_);
  }

 private:
  std::string text(const std::byte* p) const { return number_text(tensor_.dtype, p); }
  bool elided(size_t dim, int64_t i) const {
    const int64_t extent = tensor_.shape[dim];
    return !all_ && extent > 2 * kEdge && i >= kEdge && i < extent - kEdge;
  }
  const std::byte* at(const std::byte* p, size_t dim, int64_t i) const {
    return p + i * tensor_.strides[dim] * static_cast<int64_t>(size_of(tensor_.dtype));
  }

  template <class Fn>
  void visit(size_t dim, const std::byte* p, const Fn& fn) const {
    if (dim == tensor_.shape.size()) return fn(p);
    for (int64_t i = 0; i < tensor_.shape[dim]; ++i)
      if (elided(dim, i))
        i = tensor_.shape[dim] - kEdge - 1;
      else
        visit(dim + 1, at(p, dim, i), fn);
  }

  void print(size_t dim, const std::byte* p) {
    if (dim == tensor_.shape.size()) {
      const std::string number = text(p);
      out_ += std::string(tensor_.shape.empty() ? 0 : width_ - number.size(), ' ') + number;
      return;
    }
    out_ += "[";
    const size_t inner = tensor_.shape.size() - dim - 1;  // dims of what stands between the brackets
    for (int64_t i = 0; i < tensor_.shape[dim]; ++i) {
      if (i > 0) separate(dim, inner);
      if (elided(dim, i)) {
        out_ += "...";
        i = tensor_.shape[dim] - kEdge - 1;
      } else {
        print(dim + 1, at(p, dim, i));
      }
    }
    out_ += "]";
  }

  void separate(size_t dim, size_t inner) {
    const size_t line = out_.size() - (out_.rfind('\n') == std::string::npos ? 0 : out_.rfind('\n') + 1) +
                        (out_.rfind('\n') == std::string::npos ? indent_ : 0);
    out_ += ",";
    if (inner > 0 || line + 2 + width_ > kWidth)
      out_ += std::string(std::max<size_t>(inner, 1), '\n') + std::string(indent_ + dim + 1, ' ');
    else
      out_ += " ";
  }

  const Tensor& tensor_;
  const size_t indent_;
  const bool all_;
  size_t width_ = 0;
  std::string out_;
};

std::string device_of(const Tensor& tensor) {
  return tensor.on_host() ? "" : fmt::format(", cuda:{}", tensor.memory->location().ordinal);
}

// `f32[2, 3]`
std::string type_of(const Tensor& tensor) {
  std::string out = std::string(name(tensor.dtype)) + "[";
  for (size_t d = 0; d < tensor.shape.size(); ++d) out += (d > 0 ? ", " : "") + std::to_string(tensor.shape[d]);
  return out + "]";
}

std::string donated_repr(const Tensor& tensor) { return fmt::format("plait.Array({}, donated)", type_of(tensor)); }

// ---- A table for notebooks. What stands in it is of plait: types, numbers.

constexpr int64_t kTableEdge = 5;  // of a dim, on each side of what is left out

std::vector<int64_t> shown(int64_t extent) {  // -1: those that are left out
  std::vector<int64_t> out;
  for (int64_t i = 0; i < extent; ++i) {
    if (extent > 2 * kTableEdge + 1 && i == kTableEdge) {
      out.push_back(-1);
      i = extent - kTableEdge;
    }
    out.push_back(i);
  }
  return out;
}

std::string table_rows(const Tensor& tensor) {
  const size_t rank = tensor.shape.size();
  const int64_t rows = rank == 2 ? tensor.shape[0] : 1, columns = rank == 0 ? 1 : tensor.shape[rank - 1];
  std::string out;
  for (const int64_t row : shown(rows)) {
    out += "<tr>";
    for (const int64_t column : shown(columns)) {
      std::string cell = "&hellip;";
      if (row >= 0 && column >= 0) {
        const int64_t at = (rank == 2 ? row * tensor.strides[0] : 0) + (rank > 0 ? column * tensor.strides[rank - 1] : 0);
        cell = escaped(number_text(tensor.dtype, first(tensor) + at * static_cast<int64_t>(size_of(tensor.dtype))));
      }
      out += "<td>" + cell + "</td>";
    }
    out += "</tr>";
  }
  return out;
}

std::string array_html(const ArrayRef& array) {
  const Tensor& t = array.tensor;
  if (array.donated) return "<code>" + escaped(donated_repr(t)) + "</code>";
  std::string out = "<table><caption><code>plait.Array " + escaped(type_of(t)) + "</code> on " +
                    (t.on_host() ? "cpu" : fmt::format("cuda:{}", t.memory->location().ordinal)) + "</caption>";
  if (!t.on_host() || t.elements() == 0) return out + "</table>";
  if (t.shape.size() > 2) return out + "</table><pre>" + escaped(ArrayPrinter(t, 0).run()) + "</pre>";
  return out + table_rows(t) + "</table>";
}

// ---- Parts.

// A position from the end too. IndexError.
int64_t position(nb::handle index, int64_t extent, size_t dim) {
  const int64_t given = PyNumber_AsSsize_t(index.ptr(), PyExc_IndexError);
  if (given == -1 && PyErr_Occurred()) throw nb::python_error();
  const int64_t at = given < 0 ? given + extent : given;
  if (at < 0 || at >= extent)
    throw nb::index_error(fmt::format("index {} is out of bounds for dim {} of extent {}", given, dim, extent).c_str());
  return at;
}

// What indices leave of an array, dim by dim.
class Part {
 public:
  explicit Part(const Tensor& tensor) : from_(tensor), out_(tensor) {
    out_.shape.clear();
    out_.strides.clear();
  }

  void take(nb::handle index) {
    if (index.is_none()) {
      out_.shape.push_back(1);
      out_.strides.push_back(0);
      return;
    }
    if (dim_ == from_.shape.size())
      throw nb::index_error(fmt::format("too many indices for an array of {} dims", from_.shape.size()).c_str());
    if (PySlice_Check(index.ptr())) {
      take_slice(index);
    } else if (PyIndex_Check(index.ptr()) && !PyBool_Check(index.ptr())) {
      const int64_t at = position(index, from_.shape[dim_], dim_);
      skip(at * from_.strides[dim_++]);
    } else {
      throw nb::type_error("indices are integers, slices, None and `...`: take those of lists and arrays of y.numpy()");
    }
  }
  void take_rest(size_t left) {  // all dims but as many as further indices need
    while (dim_ + left < from_.shape.size()) {
      out_.shape.push_back(from_.shape[dim_]);
      out_.strides.push_back(from_.strides[dim_++]);
    }
  }
  Tensor done() { return std::move(out_); }

 private:
  void take_slice(nb::handle index) {
    Py_ssize_t start = 0, stop = 0, step = 0;
    if (PySlice_Unpack(index.ptr(), &start, &stop, &step) != 0) throw nb::python_error();
    if (step < 0) throw nb::value_error("DLPack has no negative strides: take the slice of y.numpy()");
    const Py_ssize_t count = PySlice_AdjustIndices(from_.shape[dim_], &start, &stop, step);
    if (count > 0) skip(start * from_.strides[dim_]);
    out_.shape.push_back(count);
    out_.strides.push_back(from_.strides[dim_++] * (count > 1 ? step : 1));
  }
  void skip(int64_t elements) { out_.byte_offset += static_cast<size_t>(elements) * size_of(from_.dtype); }

  const Tensor& from_;
  Tensor out_;
  size_t dim_ = 0;
};

// Integers that take each a dim away leave a number where no dim is left, all else an array of the same memory.
nb::object part(const ArrayRef& array, nb::handle key) {
  const std::vector<nb::object> indices = indices_of(key);
  Part out(array.live());
  bool numbers_only = true;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (is_rest(indices[i])) {
      const auto is_new = [](const nb::object& each) { return each.is_none(); };
      out.take_rest(indices.size() - i - 1 -
                    size_t(std::count_if(indices.begin() + int64_t(i), indices.end(), is_new)));
    } else {
      out.take(indices[i]);
    }
    numbers_only = numbers_only && PyIndex_Check(indices[i].ptr());
  }
  out.take_rest(0);
  Tensor taken = out.done();
  if (numbers_only && taken.shape.empty()) {
    require_host(taken);
    return number_at(taken.dtype, first(taken));
  }
  return nb::cast(ArrayRef{std::move(taken), array.queued, array.read_only});
}

nb::object nested_list(const Tensor& tensor, size_t dim, const std::byte* p) {
  if (dim == tensor.shape.size()) return number_at(tensor.dtype, p);
  nb::list out;
  for (int64_t i = 0; i < tensor.shape[dim]; ++i)
    out.append(nested_list(tensor, dim + 1, p + i * tensor.strides[dim] * static_cast<int64_t>(size_of(tensor.dtype))));
  return out;
}

int64_t length(const ArrayRef& array) {
  if (array.tensor.shape.empty()) throw nb::type_error("an array without dims has no len(); item() is its number");
  return array.tensor.shape[0];
}

// The one element. ValueError where there are more or none.
nb::object item(const ArrayRef& array) {
  if (array.tensor.elements() != 1)
    throw nb::value_error(fmt::format("an array of {} elements is no number", array.tensor.elements()).c_str());
  require_host(array.live());
  return number_at(array.tensor.dtype, first(array.tensor));
}

bool truth(const ArrayRef& array) {
  if (array.tensor.elements() != 1)
    throw nb::value_error("the truth of an array is that of its one element: take y.numpy().any() or .all()");
  return PyObject_IsTrue(item(array).ptr()) == 1;
}

// As Python formats the one element, or the text of all.
std::string formatted(nb::handle_t<ArrayRef> self, const std::string& how) {
  if (how.empty()) return nb::cast<std::string>(nb::str(self));
  const auto& array = nb::cast<ArrayRef&>(self);
  if (array.tensor.elements() != 1)
    throw nb::type_error(fmt::format("`{}` formats one number, and the array has {}: format those of y.tolist()", how,
                                     array.tensor.elements())
                             .c_str());
  const nb::object number = item(array);
  return nb::cast<std::string>(nb::module_::import_("builtins").attr("format")(number, how));
}

nb::object as_numpy_asks(nb::handle_t<ArrayRef> self, nb::object dtype, nb::object copy) {
  const nb::object made = self.attr("numpy")();
  const nb::object numpy = nb::module_::import_("numpy");
  const bool is_copy = !numpy_has(nb::cast<ArrayRef&>(self).tensor.dtype);
  if (!copy.is_none() && nb::cast<bool>(copy) && !is_copy) return numpy.attr("array")(made, dtype);
  if (is_copy && !copy.is_none() && !nb::cast<bool>(copy))
    throw nb::value_error("NumPy has no such dtype: only a copy of the array, in f32, is NumPy's");
  return numpy.attr("asarray")(made, dtype);
}

// Members that are missed, with what to write.
void bind_array_refusals(nb::class_<ArrayRef>& arrays) {
  arrays
      .def(
          "__setitem__",
          [](const ArrayRef&, nb::handle, nb::handle) {
            throw nb::type_error("elements of a plait.Array are written through NumPy, y.numpy()[index] = value, or through "
                                 "another library of the same memory, torch.from_dlpack(y)[index] = value");
          },
          nb::arg("index").none(), nb::arg("value").none(),
          nb::sig("def __setitem__(self, index: object, value: object, /) -> typing.Never"),
          "Raises TypeError: others write the memory.")
      .def(
          "__getattr__",
          [](const ArrayRef&, const std::string& name) -> nb::object {
            throw nb::attribute_error(
                nb::cast<std::string>(nb::module_::import_("plait._names").attr("unknown_of_array")(name)).c_str());
          },
          nb::arg("name"), nb::sig("def __getattr__(self, name: str, /) -> typing.Never"),
          "Raises AttributeError, with what to write.");
}

}  // namespace

void require_host(const Tensor& tensor) {
  if (!tensor.on_host())
    throw nb::buffer_error("the array lies in a GPU's memory: copy it to the host, e.g. by torch.from_dlpack(y).cpu()");
}

nb::object number_at(DType dtype, const std::byte* source) {
  const Constant value = Constant::load(dtype, source);
  if (dtype == DType::boolean) return nb::bool_(value.bits != 0);
  if (is_float(dtype)) return nb::float_(value.to_double());
  if (is_unsigned(dtype)) return nb::int_(value.bits);
  return nb::int_(value.to_int64());
}

std::string array_repr(const Tensor& tensor) {
  const std::string type = type_of(tensor) + device_of(tensor);
  constexpr std::string_view kBegin = "plait.Array(";
  if (!tensor.on_host()) return fmt::format("{}{})", kBegin, type);
  return fmt::format("{}{}, {})", kBegin, ArrayPrinter(tensor, kBegin.size()).run(), type);
}

void bind_array_values(nb::class_<ArrayRef>& arrays) {
  bind_array_refusals(arrays);
  arrays
      .def("__getitem__", part, nb::arg("index").none(),
           nb::sig("def __getitem__(self, index: object, /) -> typing.Any"),
           "A number, or an Array of the same memory: integers, slices with a step above 0, None, `...`. Raises "
           "IndexError, "
           "TypeError for other indices, BufferError for a number in a GPU's memory.")
      .def("__len__", length, "Extent of dim 0. Raises TypeError without dims.")
      .def(
          "__iter__",
          [](nb::handle_t<ArrayRef> self) {
            length(nb::cast<ArrayRef&>(self));
            return nb::steal<nb::object>(PySeqIter_New(self.ptr()));
          },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[typing.Any]"),
          "Along dim 0: Arrays, or numbers. Raises TypeError without dims.")
      .def(
          "tolist",
          [](const ArrayRef& a) {
            require_host(a.live());
            return nested_list(a.tensor, 0, first(a.tensor));
          },
          nb::sig("def tolist(self) -> typing.Any"),
          "Nested lists of Python's numbers; without dims one number. Raises BufferError for an array in a GPU's "
          "memory.")
      .def("item", item, nb::sig("def item(self) -> bool | int | float"),
           "The one element. Raises ValueError for another number of them, BufferError in a GPU's memory.")
      .def("__bool__", truth, "Of the one element. Raises ValueError for another number of them.")
      .def(
          "__float__", [](const ArrayRef& a) { return nb::float_(item(a)); }, nb::sig("def __float__(self) -> float"),
          "The one element. Raises ValueError for another number of them.")
      .def(
          "__int__", [](const ArrayRef& a) { return nb::int_(item(a)); }, nb::sig("def __int__(self) -> int"),
          "The one element. Raises ValueError for another number of them.")
      .def(
          "__array__",
          as_numpy_asks,
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
          nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> typing.Any"),
          "As numpy(), for numpy.asarray.")
      .def("__format__", formatted, nb::arg("format_spec"), nb::sig("def __format__(self, format_spec: str, /) -> str"),
           "Of the one element as of Python's numbers; without a format str(self). Raises TypeError for more elements.")
      .def("__repr__", [](const ArrayRef& a) { return a.donated ? donated_repr(a.tensor) : array_repr(a.tensor); })
      .def("_repr_html_", array_html,
           "A table for notebooks: type, device and values, of long dims the first and the last; of more than two dims "
           "as text.")
      .def("__str__", [](const ArrayRef& a) {
        if (a.donated) return donated_repr(a.tensor);
        return a.tensor.on_host() ? ArrayPrinter(a.tensor, 0).run() : array_repr(a.tensor);
      });
}

}  // namespace plait::python
