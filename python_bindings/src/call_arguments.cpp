#include "call_arguments.h"

#include <algorithm>

#include "base/error.h"

namespace plait::python {

void Given::add(const std::string& name, nb::handle object, void* stream, const std::string& why) {
  ArrayRef array = array_of(object, "input %" + name, stream);
  if (array.read_only && !why.empty())
    throw UserError("the array is read-only, " + why, "input %" + name, "give one that may be written");
  tensors[name] = taken(std::move(array), stream);
}

void Given::donate(const std::string& name, nb::handle object) {
  donated.insert(name);
  if (nb::isinstance<ArrayRef>(object)) arrays.push_back(nb::borrow(object));
}

void Given::leave_donated() const {
  for (const nb::object& object : arrays) {
    auto& array = nb::cast<ArrayRef&>(object);
    array.donated = true;
    array.queued = {};
    if (array.lent == 0) array.tensor.memory = nullptr;
  }
}

void Given::add_output(const std::string& name, nb::handle object, void* stream) {
  const std::string where = "output %" + name;
  ArrayRef array = array_of(object, where, stream);
  if (array.read_only) throw UserError("the given array is read-only", where, "give one that may be written, or none");
  outputs[name] = taken(std::move(array), stream);
}

Tensor Given::taken(ArrayRef array, void* stream) {
  const Queued& queue = array.queued;
  if (queue.stream && (queue.stream != stream || queue.written)) {
    const auto same = [&](const auto& known) {
      return known.first.stream == queue.stream && known.first.written == queue.written;
    };
    if (std::none_of(queued.begin(), queued.end(), same))
      queued.emplace_back(queue, array.tensor.memory->location().ordinal);
  }
  return std::move(array.tensor);
}

std::string written_by(const Fusion& fusion, const std::string& input) {
  for (const auto& [output, of] : fusion.aliases)
    if (of == input) return fmt::format("and output %{} ends in it", output);
  return "";
}

namespace {

// `out` of a call: a mapping by name, a list or tuple in the order of the outputs with None for those to be made, or, of
// a fusion with one output, an array.
void add_outputs(Given& given, const Fusion& fusion, const char* call, nb::handle out, void* stream) {
  if (out.is_none()) return;
  const auto& outputs = fusion.outputs();
  const std::string where = fmt::format("{}, out, fusion @{}", call, fusion.name());
  if (nb::isinstance(out, nb::module_::import_("collections.abc").attr("Mapping"))) {
    for (nb::handle item : out.attr("items")()) {
      std::string name = nb::cast<std::string>(nb::str(item[nb::int_(0)]));
      if (name.starts_with('%')) name.erase(0, 1);
      if (given.outputs.contains(name)) throw UserError("it is given twice", "output %" + name, "give one array");
      if (!item[nb::int_(1)].is_none()) given.add_output(name, item[nb::int_(1)], stream);
    }
    return;
  }
  const bool list = nb::isinstance<nb::list>(out) || nb::isinstance<nb::tuple>(out);
  const size_t count = list ? nb::len(out) : 1;
  if (count != outputs.size())
    throw UserError(fmt::format("{} {} to write into, and the fusion has {} outputs", count,
                                count == 1 ? "array" : "arrays", outputs.size()),
                    where, "give a dict by name, or a list in the order of the outputs, None for those to be made");
  for (size_t i = 0; i < count; ++i) {
    const nb::object one = list ? nb::object(out[nb::int_(i)]) : nb::borrow(out);
    if (!one.is_none()) given.add_output(outputs[i]->name, one, stream);
  }
}

constexpr const char* kGivenUp = "and the run may write into what is donated";

std::set<std::string, std::less<>> donated_names(nb::handle donate, const std::map<std::string, nb::object>& inputs,
                                                 const std::string& where) {
  std::set<std::string, std::less<>> out;
  const auto add = [&](std::string name) {
    if (name.starts_with('%')) name.erase(0, 1);
    if (!out.insert(name).second)
      throw UserError(fmt::format("input %{} is named twice", name), where, "name every input once");
  };
  if (donate.is_none() || donate.is(nb::handle(Py_False))) return out;
  if (donate.is(nb::handle(Py_True))) {
    for (const auto& [name, value] : inputs) add(name);
  } else if (nb::isinstance<nb::str>(donate)) {
    add(nb::cast<std::string>(donate));
  } else {
    if (!PySequence_Check(donate.ptr()) && !PyAnySet_Check(donate.ptr()))
      throw UserError(nb::cast<std::string>(nb::repr(donate)) + " names no inputs", where,
                      "give True, a name, or a list of names");
    for (nb::handle each : donate) {
      if (!nb::isinstance<nb::str>(each))
        throw UserError(nb::cast<std::string>(nb::repr(each)) + " is no name of an input", where,
                        "give True, a name, or a list of names");
      add(nb::cast<std::string>(each));
    }
  }
  return out;
}

}  // namespace

Given given_arrays(const Program& program, const char* call, const nb::args& positions, const nb::kwargs& keywords,
                   nb::handle out, void* stream, nb::handle donate) {
  NamedInputs inputs(*program.fusion, call);
  Given given;
  const auto& named = inputs.read(positions, keywords);
  for (const std::string& name : donated_names(donate, named, fmt::format("{}, donate, fusion @{}", call, program.fusion->name())))
    if (const auto it = named.find(name); it != named.end())
      given.donate(name, it->second);
    else
      given.donated.insert(name);  // which the run refuses
  for (const auto& [name, value] : named)
    given.add(name, value, stream, given.donated.contains(name) ? kGivenUp : written_by(*program.fusion, name));
  add_outputs(given, *program.fusion, call, out, stream);
  return given;
}

}  // namespace plait::python
