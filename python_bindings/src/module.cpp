// plait._plait: the compiler for Python. What users see is python_bindings/plait.
#include "bindings.h"

NB_MODULE(_plait, m) {
  using namespace plait::python;
  nb::set_leak_warnings(false);  // frameworks keep what they compiled until the interpreter is gone
  m.doc() = "The compiler behind the package plait.";
  m.def("version", &plait::version, "Version of the library.");
  bind_errors(m);
  bind_arrays(m);
  bind_fusions(m);
  bind_programs(m);
}
