// Runs for adapters of frameworks: tensors by position, results as they are asked for.
#include <shared_mutex>

#include "base/error.h"
#include "interrupts.h"
#include "programs.h"

namespace plait::python {
namespace {

constexpr const char* kExchange = "dlpack_exchange_api";

// Of every result the number of an output, or (number, shape, strides, offset).
void set_results(Program& program, const nb::list& results) {
  program.results.clear();
  for (nb::handle each : results) {
    ResultView& view = program.results.emplace_back();
    view.whole = nb::isinstance<nb::int_>(each);
    view.output = nb::cast<size_t>(view.whole ? nb::borrow(each) : each[nb::int_(0)]);
    if (view.output >= program.fusion->outputs().size())
      throw UserError(fmt::format("there is no output {}", view.output), "results", "give numbers of outputs");
    if (view.whole) continue;
    view.shape = nb::cast<std::vector<int64_t>>(each[nb::int_(1)]);
    view.strides = nb::cast<std::vector<int64_t>>(each[nb::int_(2)]);
    view.offset = nb::cast<int64_t>(each[nb::int_(3)]);
  }
}

// Whether tensors of the type can be given to run_tensors(): it has the functions of DLPack 1, and outputs have memory of
// their own, so that nothing of a tensor is kept.
bool set_tensor_type(Program& program, nb::object type) {
  program.exchange = nullptr;
  nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (!program.device->host_memory() || !PyType_Check(type.ptr()) || !PyCapsule_IsValid(capsule.ptr(), kExchange)) return false;
  if (!program.fusion->aliases.empty()) return false;
  const auto* found = static_cast<const DLPackExchangeAPI*>(PyCapsule_GetPointer(capsule.ptr(), kExchange));
  if (found->header.version.major != 1 || !found->dltensor_from_py_object_no_sync || !found->managed_tensor_to_py_object_no_sync) return false;
  program.exchange = found;
  program.tensor_type = std::move(type);
  return true;
}

// Borrowed, which its object in the caller's list allows until the run is over.
Tensor borrowed(const Program& program, nb::handle object, const std::string& name) {
  if (!PyObject_TypeCheck(object.ptr(), reinterpret_cast<PyTypeObject*>(program.tensor_type.ptr())))
    throw UserError("it is no tensor of the framework", "input %" + name, "give tensors of the type that was set");
  DLTensor tensor{};
  if (program.exchange->dltensor_from_py_object_no_sync(object.ptr(), &tensor) != 0) throw nb::python_error();
  static const std::string kWhere = "an input";
  try {
    return from_dlpack(tensor, kWhere);
  } catch (UserError& e) {
    e.add_place("input %" + name);
    throw;
  }
}

nb::list run_tensors(Program& program, const nb::list& inputs) {
  const auto& names = program.fusion->inputs();
  const auto& outputs = program.fusion->outputs();
  if (!program.exchange || inputs.size() != names.size())
    throw UserError(fmt::format("{} inputs, and the fusion has {}", inputs.size(), names.size()), "run",
                    program.exchange ? "give one tensor for each input" : "set the type of the tensors first");
  Tensors given;
  for (size_t i = 0; i < names.size(); ++i) given.emplace(names[i]->name, borrowed(program, inputs[i], names[i]->name));
  Interrupts interrupts;
  RunOptions how;
  how.stop = [&interrupts] { return interrupts.ask(); };
  const Tensors made = interrupts.guard([&] {
    return locked<std::shared_lock<std::shared_mutex>>(program, [&] { return program.compiled->run(given, how); });
  });
  nb::list out;
  for (const ResultView& view : program.results) {
    void* object = nullptr;
    DLManagedTensorVersioned* tensor = to_dlpack(viewed(made.at(outputs.at(view.output)->name), view));
    if (program.exchange->managed_tensor_to_py_object_no_sync(tensor, &object) != 0) throw nb::python_error();
    out.append(nb::steal(static_cast<PyObject*>(object)));
  }
  return out;
}

}  // namespace

Tensor viewed(Tensor tensor, const ResultView& view) {
  if (view.whole) return tensor;
  bool inside = view.shape.size() == view.strides.size() && view.offset >= 0;
  int64_t elements = 1, last = view.offset;
  for (size_t d = 0; inside && d < view.shape.size(); ++d) {
    inside = view.shape[d] >= 0 && view.strides[d] >= 0;
    elements *= view.shape[d];
    last += (view.shape[d] - 1) * view.strides[d];
  }
  PLAIT_CHECK(inside && (elements == 0 || last < tensor.elements()), "a view of output {} leaves its {} elements", view.output,
              tensor.elements());
  tensor.shape = view.shape;
  tensor.strides = view.strides;
  tensor.byte_offset += static_cast<size_t>(elements == 0 ? 0 : view.offset) * size_of(tensor.dtype);
  return tensor;
}

void bind_adapters(nb::class_<Program>& programs) {
  programs
      .def("_set_results", set_results, nb::arg("results"),
           "What _run_capsules and _run_tensors give: outputs by number, or parts of them as (number, shape, strides, offset).")
      .def("_set_tensor_type", set_tensor_type, nb::arg("type"), "Whether _run_tensors takes tensors of the type, in which nothing is left to be done (a lazy negation).")
      .def("_run_tensors", run_tensors, nb::arg("inputs"),
           "For adapters: as _run_capsules, with tensors of the type that was set, in the host's memory.");
}

}  // namespace plait::python
