#pragma once
// The arguments of a program's calls: inputs, outputs to write into, what is given up.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "programs.h"
#include "streams.h"

namespace plait::python {

// What a run takes: inputs, outputs to write into, inputs that are given up, and the work of other streams that it
// waits for.
struct Given {
  Tensors tensors, outputs;
  std::set<std::string, std::less<>> donated;  // names of inputs
  std::vector<nb::object> arrays;              // of these, that are Array
  std::vector<std::pair<Queued, int>> queued;  // with the ordinal of the GPU

  // UserError: what is written (`why`: the run ends an output in it, or it is given up) is read-only.
  void add(const std::string& name, nb::handle object, void* stream, const std::string& why = "");
  void add_output(const std::string& name, nb::handle object, void* stream);
  void donate(const std::string& name, nb::handle object);
  // After the run: the arrays that were given up let go of their memory, but for what buffers of theirs show.
  void leave_donated() const;

 private:
  Tensor taken(ArrayRef array, void* stream);
};

// Why the run writes into an input of the fusion, or empty: `and output %q ends in it`.
std::string written_by(const Fusion& fusion, const std::string& input);

// Inputs by name, as a call gives them: by position in the order of the fusion's inputs, by keyword, or by one mapping,
// which keywords may add to. UserError: too many, one that is given twice, a key that is no name. Whether the fusion has
// them is not checked.
class NamedInputs {
 public:
  NamedInputs(const Fusion& fusion, const char* call) : fusion_(fusion), call_(call) {}

  const std::map<std::string, nb::object>& read(const nb::args& positions, const nb::kwargs& keywords) {
    if (positions.size() == 1 && is_mapping(positions[0])) {
      for (nb::handle item : positions[0].attr("items")()) add(item[nb::int_(0)], item[nb::int_(1)]);
    } else {
      const auto& inputs = fusion_.inputs();
      if (positions.size() > inputs.size())
        throw UserError(fmt::format("{} inputs by position, and the fusion has {}", positions.size(), inputs.size()),
                        fmt::format("{}, fusion @{}", call_, fusion_.name()), order());
      for (size_t i = 0; i < positions.size(); ++i) put(inputs[i]->name, positions[i]);
    }
    for (auto [key, value] : keywords) add(key, value);
    return named_;
  }

 private:
  static bool is_mapping(nb::handle object) {
    if (PyDict_Check(object.ptr())) return true;
    if (nb::isinstance<ArrayRef>(object) || nb::hasattr(object, "__dlpack__")) return false;  // most are
    return nb::isinstance(object, nb::module_::import_("collections.abc").attr("Mapping"));
  }
  void add(nb::handle key, nb::handle value) {
    if (!nb::isinstance<nb::str>(key))
      throw UserError(fmt::format("{} is no name of an input", nb::cast<std::string>(nb::repr(key))),
                      fmt::format("{}, fusion @{}", call_, fusion_.name()), order());
    std::string name = nb::cast<std::string>(key);
    if (name.starts_with('%')) name.erase(0, 1);
    put(name, value);
  }
  void put(const std::string& name, nb::handle value) {
    if (!named_.emplace(name, nb::borrow(value)).second)
      throw UserError(fmt::format("input %{} is given twice", name), fmt::format("{}, fusion @{}", call_, fusion_.name()),
                      "give every input once: by position, by keyword or in a dict");
  }
  std::string order() const {
    std::string names;
    for (const TensorView* t : fusion_.inputs()) names += (names.empty() ? "" : ", ") + t->name;
    return "the inputs are, in order: " + names;
  }

  const Fusion& fusion_;
  const char* call_;
  std::map<std::string, nb::object> named_;
};

// The arguments of a call. `out`: a mapping by name, a list or tuple in the order of the outputs with None for those to
// be made, or, of a fusion with one output, an array. `donate`: names of inputs, one or several, True for all of them,
// False or None for none.
Given given_arrays(const Program& program, const char* call, const nb::args& positions, const nb::kwargs& keywords,
                   nb::handle out, void* stream, nb::handle donate = nb::none());

}  // namespace plait::python
