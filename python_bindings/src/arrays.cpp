// Arrays in and out without a copy: DLPack (versions 0 and 1), and the buffer protocol where DLPack lacks a dtype.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "bindings.h"
#include "capi/dlpack.h"
#include "session/devices.h"
#include "streams.h"

namespace plait::python {
namespace {

constexpr const char* kVersioned = "dltensor_versioned";
constexpr const char* kPlain = "dltensor";

// The tensor of a capsule, whose memory goes back by `release`.
Tensor adopted(const DLTensor& tensor, const std::string& where, std::function<void()> release) {
  Tensor out;
  try {
    out = from_dlpack(tensor, where);
  } catch (...) {
    release();
    throw;
  }
  const Memory& memory = *out.memory;
  out.memory = std::make_shared<Memory>(memory.data(), memory.bytes(), std::move(release), memory.location());
  return out;
}

template <class Managed>
Tensor taken(PyObject* capsule, const char* name, const char* used, const std::string& where) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  PyCapsule_SetName(capsule, used);
  return adopted(managed->dl_tensor, where, [managed] {
    if (managed->deleter) managed->deleter(managed);
  });
}

ArrayRef from_capsule(const nb::object& capsule, const std::string& where) {
  PyObject* p = capsule.ptr();
  if (PyCapsule_IsValid(p, kVersioned)) {
    const auto* managed = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(p, kVersioned));
    if (managed->version.major > 1)
      throw UserError(fmt::format("__dlpack__ gave version {}.{}", managed->version.major, managed->version.minor),
                      where, "give an array of a library that exports DLPack 1");
    const bool read_only = (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
    return {taken<DLManagedTensorVersioned>(p, kVersioned, "used_dltensor_versioned", where), {}, read_only};
  }
  if (PyCapsule_IsValid(p, kPlain)) return {taken<DLManagedTensor>(p, kPlain, "used_dltensor", where)};
  throw UserError("__dlpack__ gave no capsule of DLPack", where, "give an array, or a tensor of PyTorch");
}

// The element type of a buffer's format, in native byte order.
std::optional<DType> dtype_of_format(const char* format, Py_ssize_t bytes) {
  if (!format) return DType::u8;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (std::strlen(format) != 1) return std::nullopt;
  const auto sized = [&](std::array<DType, 4> types) -> std::optional<DType> {
    for (DType t : types)
      if (static_cast<Py_ssize_t>(size_of(t)) == bytes) return t;
    return std::nullopt;
  };
  if (*format == '?') return DType::boolean;
  if (std::strchr("efd", *format)) return sized({DType::f16, DType::f32, DType::f64, DType::f64});
  if (std::strchr("bhilqn", *format)) return sized({DType::i8, DType::i16, DType::i32, DType::i64});
  if (std::strchr("BHILQN", *format)) return sized({DType::u8, DType::u16, DType::u32, DType::u64});
  return std::nullopt;
}

const char* format_of(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return "?";
    case DType::i8:
      return "b";
    case DType::i16:
      return "h";
    case DType::i32:
      return "i";
    case DType::i64:
      return "q";
    case DType::u8:
      return "B";
    case DType::u16:
      return "H";
    case DType::u32:
      return "I";
    case DType::u64:
      return "Q";
    case DType::f16:
      return "e";
    case DType::f32:
      return "f";
    case DType::f64:
      return "d";
    case DType::bf16:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return nullptr;
  }
  return nullptr;
}

// Releases a buffer from any thread.
void release_buffer(Py_buffer* view) {
  if (!Py_IsInitialized()) return;
  const nb::gil_scoped_acquire lock;
  PyBuffer_Release(view);
  delete view;
}

ArrayRef from_buffer(nb::handle object, const std::string& where) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_FULL_RO) != 0) {
    const nb::python_error refused;
    if (!refused.matches(PyExc_ValueError) && !refused.matches(PyExc_BufferError)) throw refused;
    throw UserError(fmt::format("the array cannot be shared: {}", nb::cast<std::string>(nb::str(refused.value()))), where,
                    "convert the array");
  }
  Py_buffer* held = view.release();
  std::shared_ptr<void> owner(held, [](void* p) { release_buffer(static_cast<Py_buffer*>(p)); });
  const auto dtype = dtype_of_format(held->format, held->itemsize);
  if (!dtype)
    throw UserError(fmt::format("elements of format `{}` are of no dtype of plait", held->format ? held->format : ""),
                    where, "convert the array");
  Tensor out;
  out.dtype = *dtype;
  size_t reach = held->len == 0 ? 0 : static_cast<size_t>(held->itemsize);
  for (int d = 0; d < held->ndim; ++d) {
    const Py_ssize_t step = held->strides[d];
    if (step < 0 || step % held->itemsize != 0)
      throw UserError(fmt::format("dim {} has a stride of {} bytes", d, step), where,
                      "make the array contiguous, e.g. by numpy.ascontiguousarray");
    out.shape.push_back(held->shape[d]);
    out.strides.push_back(step / held->itemsize);
    if (held->len > 0) reach += static_cast<size_t>(step * (held->shape[d] - 1));
  }
  alignas(kBufferAlignment) static char nothing[kBufferAlignment];
  void* data = held->buf ? held->buf : nothing;
  out.memory = std::make_shared<Memory>(data, reach, [owner]() mutable { owner.reset(); });
  return {std::move(out), {}, held->readonly != 0};
}

// The capsule of an object with __dlpack__. Of a GPU's memory: the producer is told `stream`, null: the legacy default.
nb::object capsule_from(nb::handle object, void* stream) {
  const auto type = nb::cast<int>(object.attr("__dlpack_device__")()[nb::int_(0)]);
  nb::dict words;
  if (type == kDLCUDA || type == kDLCUDAManaged)
    words["stream"] = nb::int_(stream ? reinterpret_cast<uintptr_t>(stream) : 1);
  nb::dict versioned;
  versioned.update(words);
  versioned["max_version"] = nb::make_tuple(DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
  try {
    return object.attr("__dlpack__")(**versioned);
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;  // older producers take no version
    return object.attr("__dlpack__")(**words);
  }
}

std::string text_of(nb::handle value) { return nb::cast<std::string>(nb::str(value)); }

// Whose arrays never change, which their capsules do not say.
bool is_of_jax(nb::handle object) { return text_of(object.type().attr("__module__")).starts_with("jax"); }

// UserError for a tensor of PyTorch whose elements are those of its memory negated, which its capsule does not say.
void refuse_negated(nb::handle object, const std::string& where) {
  const std::string_view type = Py_TYPE(object.ptr())->tp_name;
  if ((type == "Tensor" || type == "Parameter") && nb::hasattr(object, "is_neg") && nb::cast<bool>(object.attr("is_neg")()))
    throw UserError("the tensor is a negated view of its memory", where, "give x.resolve_neg()");
}

// UserError where it is what JAX traces a function with: it has a shape and no elements.
void refuse_tracer(nb::handle object, const std::string& where) {
  if (is_of_jax(object) && text_of(object.type().attr("__name__")).ends_with("Tracer"))
    throw UserError("JAX traces the array here, which has no elements yet", where,
                    "call plait outside of jax.jit, or within it by jax.pure_callback");
}

ArrayRef imported(nb::handle object, const std::string& where, void* stream) {
  if (PyCapsule_CheckExact(object.ptr())) return from_capsule(nb::borrow(object), where);
  if (!nb::hasattr(object, "__dlpack__")) {
    if (PyObject_CheckBuffer(object.ptr())) return from_buffer(object, where);
    refuse_tracer(object, where);
    throw UserError(fmt::format("{} is no array", nb::cast<std::string>(nb::repr(object.type()))), where,
                    "give an object with __dlpack__ or a buffer: NumPy, PyTorch, JAX");
  }
  refuse_negated(object, where);
  try {
    ArrayRef array = from_capsule(capsule_from(object, stream), where);
    array.read_only = array.read_only || is_of_jax(object);
    return array;
  } catch (nb::python_error& e) {
    // NumPy exports no bool and nothing that is read-only by DLPack.
    if (PyObject_CheckBuffer(object.ptr()) && (e.matches(PyExc_BufferError) || e.matches(PyExc_TypeError)))
      return from_buffer(object, where);
    if (!e.matches(PyExc_Exception) || e.matches(PyExc_MemoryError)) throw;
    refuse_tracer(object, where);
    throw UserError(fmt::format("the array cannot be shared: {}", nb::cast<std::string>(nb::str(e.value()))),
                    where, "give an array that DLPack can export");
  }
}

// ---- Out.

// Frees the tensor of a capsule that nobody took.
template <class Managed>
PyObject* capsule(Managed* managed, const char* name) {
  return PyCapsule_New(managed, name, [](PyObject* self) {
    const char* now = PyCapsule_GetName(self);
    if (!now || (std::strcmp(now, kVersioned) != 0 && std::strcmp(now, kPlain) != 0)) return;
    auto* kept = static_cast<Managed*>(PyCapsule_GetPointer(self, now));
    kept->deleter(kept);
  });
}

DLManagedTensor* to_plain(const Tensor& tensor) {
  DLManagedTensorVersioned* versioned = to_dlpack(tensor);
  auto out = std::make_unique<DLManagedTensor>();
  out->dl_tensor = versioned->dl_tensor;
  out->manager_ctx = versioned;
  out->deleter = [](DLManagedTensor* self) {
    auto* inner = static_cast<DLManagedTensorVersioned*>(self->manager_ctx);
    inner->deleter(inner);
    delete self;
  };
  return out.release();
}

nb::object checked(PyObject* made) {
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

Location location(const ArrayRef& array) { return array.tensor.memory ? array.tensor.memory->location() : Location{}; }

nb::tuple dlpack_device(const ArrayRef& array) {
  array.live();
  const Location at = location(array);
  return nb::make_tuple(static_cast<int>(at.host ? kDLCPU : kDLCUDA), at.host ? 0 : at.ordinal);
}

nb::object exported(const ArrayRef& array, nb::object stream, nb::object max_version, nb::object device, nb::object copy) {
  array.live();
  const bool versioned = !max_version.is_none() && nb::cast<int>(max_version[nb::int_(0)]) >= 1;
  if (!copy.is_none() && nb::cast<bool>(copy)) throw nb::buffer_error("plait makes no copies: copy what the consumer makes of it");
  if (!device.is_none() && !dlpack_device(array).equal(device))
    throw nb::buffer_error("plait moves nothing to other devices: leave out dl_device");
  if (array.read_only && !versioned) throw nb::buffer_error("the array is read-only, which DLPack says from version 1 on");
  if (array.queued.stream) {
    Device& device = array.queued.device ? *array.queued.device : find_device("cuda", {});
    void* const consumer = export_stream(stream);
    if (consumer) wait_for(array.queued, device, location(array).ordinal, consumer);
  } else if (!array.tensor.on_host()) {
    export_stream(stream);  // the host waited for the run: the array is written
  }
  if (!versioned) return capsule_of(array.tensor);
  DLManagedTensorVersioned* managed = to_dlpack(array.tensor);
  if (array.read_only) managed->flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  return checked(capsule(managed, kVersioned));
}

bool is_column_major(Tensor tensor) {
  std::reverse(tensor.shape.begin(), tensor.shape.end());
  std::reverse(tensor.strides.begin(), tensor.strides.end());
  return tensor.is_contiguous();
}

// Shape and strides of a buffer that is lent.
struct Lent {
  std::vector<Py_ssize_t> shape, strides;
};

int lend_buffer(PyObject* self, Py_buffer* view, int flags) {
  auto* array = nb::inst_ptr<ArrayRef>(self);
  if (array->donated) {
    PyErr_SetString(PyExc_BufferError, "the array was donated to a run");
    return -1;
  }
  const Tensor& t = array->tensor;
  const char* format = format_of(t.dtype);
  if (!t.on_host() || !format) {
    PyErr_Format(PyExc_BufferError, "an array of %s%s has no buffer", std::string(name(t.dtype)).c_str(),
                 t.on_host() ? "" : " in a GPU's memory");
    return -1;
  }
  const auto asks = [&](int flag) { return (flags & flag) == flag; };
  if (array->read_only && asks(PyBUF_WRITABLE)) {
    PyErr_SetString(PyExc_BufferError, "the array is read-only");
    return -1;
  }
  const bool rows = t.is_contiguous(), columns = is_column_major(t);
  if ((!rows && (!asks(PyBUF_STRIDES) || asks(PyBUF_C_CONTIGUOUS))) || (!columns && asks(PyBUF_F_CONTIGUOUS)) ||
      (!rows && !columns && asks(PyBUF_ANY_CONTIGUOUS))) {
    PyErr_SetString(PyExc_BufferError, "the array is not contiguous");
    return -1;
  }
  auto lent = std::make_unique<Lent>();
  const auto bytes = static_cast<Py_ssize_t>(size_of(t.dtype));
  for (size_t d = 0; d < t.shape.size(); ++d) {
    lent->shape.push_back(t.shape[d]);
    lent->strides.push_back(t.strides[d] * bytes);
  }
  view->obj = self;
  Py_INCREF(self);
  view->buf = t.data();
  view->len = static_cast<Py_ssize_t>(t.bytes());
  view->readonly = array->read_only;
  view->itemsize = bytes;
  view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
  view->ndim = static_cast<int>(t.shape.size());
  view->shape = (flags & PyBUF_ND) ? lent->shape.data() : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? lent->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = lent.release();
  ++array->lent;
  return 0;
}

void take_buffer_back(PyObject* self, Py_buffer* view) {
  --nb::inst_ptr<ArrayRef>(self)->lent;
  delete static_cast<Lent*>(view->internal);
}

PyType_Slot kBufferSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(lend_buffer)},
                              {Py_bf_releasebuffer, reinterpret_cast<void*>(take_buffer_back)},
                              {0, nullptr}};

nb::object to_numpy(nb::handle_t<ArrayRef> self) {
  const Tensor& tensor = nb::cast<ArrayRef&>(self).live();
  const nb::module_ numpy = nb::module_::import_("numpy");
  if (tensor.on_host() && !format_of(tensor.dtype))
    return numpy.attr("array")(tensor.to_doubles(), numpy.attr("float32")).attr("reshape")(tensor.shape);
  return numpy.attr("asarray")(checked(PyMemoryView_FromObject(self.ptr())));
}

ArrayRef transposed(const ArrayRef& array) {
  Tensor out = array.live();
  std::reverse(out.shape.begin(), out.shape.end());
  std::reverse(out.strides.begin(), out.strides.end());
  return {std::move(out), array.queued, array.read_only};
}

std::string device_text(const ArrayRef& array) {
  array.live();
  const Location at = location(array);
  return at.host ? "cpu" : fmt::format("cuda:{}", at.ordinal);
}

}  // namespace

const Tensor& ArrayRef::live() const {
  if (donated)
    throw UserError("the array was donated to a run", "plait.Array",
                    "take what the run gave, or copy the array before it is donated");
  return tensor;
}

ArrayRef array_of(nb::handle object, const std::string& where, void* stream) {
  if (nb::isinstance<ArrayRef>(object)) {
    const auto& array = nb::cast<ArrayRef&>(object);
    try {
      return {array.live(), array.queued, array.read_only};
    } catch (UserError& e) {
      e.add_place(where);
      throw;
    }
  }
  ArrayRef array = imported(object, where, stream);
  array.queued = queued_by_producer(stream, array.tensor);
  return array;
}

bool numpy_has(DType dtype) { return format_of(dtype) != nullptr; }

nb::object capsule_of(const Tensor& tensor) { return checked(capsule(to_plain(tensor), kPlain)); }

void bind_arrays(nb::module_& m) {
  using Numbers = nb::typed<nb::tuple, int, nb::ellipsis>;
  nb::class_<ArrayRef> type(m, "Array", nb::type_slots(kBufferSlots),
                            "An array that a run gave. Any library with DLPack takes it without a copy; its operators are "
                            "NumPy's, with NumPy's arrays as results.");
  bind_array_values(type);
  bind_array_operators(type);
  bind_array_copies(m, type);
  type.def_prop_ro("shape", [](const ArrayRef& a) { return Numbers(nb::tuple(nb::cast(a.tensor.shape))); }, "Extents.")
      .def_prop_ro("strides", [](const ArrayRef& a) { return Numbers(nb::tuple(nb::cast(a.tensor.strides))); },
                   "Strides, in elements.")
      .def_prop_ro("ndim", [](const ArrayRef& a) { return a.tensor.shape.size(); }, "Number of dims.")
      .def_prop_ro("size", [](const ArrayRef& a) { return a.tensor.elements(); }, "Number of elements.")
      .def_prop_ro("T", transposed, "The dims the other way round, of the same memory. Raises UserError for one that was donated.")
      .def_prop_ro("dtype", [](const ArrayRef& a) { return a.tensor.dtype; }, "Element type.")
      .def_prop_ro("device", device_text, "`cpu`, or `cuda:N`.")
      .def("__dlpack__", exported, nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
           nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none(),
           "A DLPack capsule. On a GPU the stream `stream` waits for what writes the array: 1 or None, the legacy "
           "default one; 2, the thread's; -1, none. Raises UserError; BufferError for a copy, another device, and for "
           "what is read-only where `max_version` is below 1.")
      .def("__dlpack_device__",
           [](const ArrayRef& a) { return nb::typed<nb::tuple, int, int>(dlpack_device(a)); },
           "DLPack's type of the device, and its ordinal.")
      .def("numpy", to_numpy, nb::sig("def numpy(self) -> typing.Any"),
           "The elements as a NumPy array: of the same memory, but for bf16 and f8, which NumPy lacks and which become "
           "f32. Raises BufferError for an array in a GPU's memory.")
      .def("to_doubles", [](const ArrayRef& a) { return a.live().to_doubles(); },
           "All elements in row-major order, as floats. Of host memory.");
  m.def("array", [](nb::object object) { return array_of(object, "input %array", nullptr); }, nb::arg("object").none(),
        "An Array over the memory of any array.");
}

}  // namespace plait::python
