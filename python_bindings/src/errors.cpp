// Errors of C++ as those of plait.errors, with the same words.
#include "base/bounds_error.h"
#include "base/memory_error.h"

#include <typeinfo>

#include "bindings.h"

namespace plait::python {
namespace {

// Words of users may be cut within a character, or be no UTF-8: such bytes are shown as \\xNN.
nb::object text(const std::string& bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), Py_ssize_t(bytes.size()), "backslashreplace"));
}

void raise(const char* type, const Error& e) {
  const nb::object made =
      nb::module_::import_("plait.errors").attr(type)(text(e.message()), text(e.where()), text(e.remedy()));
  PyErr_SetObject(made.type().ptr(), made.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const BoundsError& e) {
    raise("BoundsError", e);
  } catch (const UserError& e) {
    raise("UserError", e);
  } catch (const MemoryError& e) {
    raise("OutOfMemoryError", e);
  } catch (const MissingError& e) {
    raise("MissingError", e);
  } catch (const CommError& e) {
    raise("CommError", e);
  } catch (const Error& e) {
    raise("InternalError", e);
  } catch (const std::bad_cast&) {  // of a part of an argument
    PyErr_SetString(PyExc_TypeError, "an argument holds something of another type than the function's docstring says");
  }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace plait::python
