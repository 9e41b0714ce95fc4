// plait._plait: the compiler for Python. What users see is python_bindings/plait.
#include "api/format_source.h"
#include "base/library_search.h"

#include "bindings.h"

namespace plait::python {
namespace {

// CUDA's libraries may be packages of the interpreter, wherever plait itself lies.
void search_packages() {
  const nb::module_ site = nb::module_::import_("site");
  for (nb::handle folder : site.attr("getsitepackages")()) add_package_folder(nb::cast<std::string>(folder));
  if (nb::cast<bool>(nb::bool_(site.attr("ENABLE_USER_SITE"))))
    add_package_folder(nb::cast<std::string>(site.attr("getusersitepackages")()));
}

}  // namespace
}  // namespace plait::python

NB_MODULE(_plait, m) {
  using namespace plait::python;
  nb::set_leak_warnings(false);  // frameworks keep what they compiled until the interpreter is gone
  m.doc() = "The compiler behind the package plait.";
  m.def("version", &plait::version, "Version of the library.");
  m.def(
      "format", [](const std::string& text, const std::string& file) { return plait::format_source(text, file); },
      nb::arg("text"), nb::arg("file") = "<text>",
      "The canonical layout of a fusion's or a program's text, as `plait fmt` writes it: words and comments stay. "
      "Raises UserError with the place where it does not parse.");
  search_packages();
  bind_errors(m);
  bind_log(m);
  m.def("_type_changed", [](nb::handle type) { PyType_Modified(reinterpret_cast<PyTypeObject*>(type.ptr())); },
        nb::arg("type"), "After its attributes were changed past it.");
  bind_arrays(m);
  bind_fusions(m);
  bind_programs(m);
  bind_imports(m);
}
