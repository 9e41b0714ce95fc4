// Models of other formats: what python_bindings/plait/importers.py asks for.
#include "import/onnx/import_onnx.h"
#include "import/stablehlo/import_stablehlo.h"

#include "bindings.h"

namespace plait::python {
namespace {

using Sizes = std::map<std::string, int64_t>;
using Constants = std::map<std::string, nb::object>;

ImportOptions options_of(const std::string& file, const std::string& folder, const std::string& name,
                         const Sizes& sizes, const Constants& constants) {
  ImportOptions out{.file = file, .name = name, .folder = folder, .sizes = sizes};
  for (const auto& [name, value] : constants)
    out.constants[name] = [tensor = array_of(value, "constant " + name, nullptr).tensor](DType) { return tensor; };
  return out;
}

nb::tuple parts_of(Imported made) {
  nb::dict weights;
  for (auto& [name, tensor] : made.weights) weights[nb::cast(name)] = nb::cast(ArrayRef{std::move(tensor)});
  return nb::make_tuple(FusionRef{std::move(made.fusion)}, weights, made.renamed, made.notes, made.format);
}

}  // namespace

void bind_imports(nb::module_& m) {
  m.def(
      "_import_onnx",
      [](const nb::bytes& model, const std::string& file, const std::string& folder, const std::string& name,
         const Sizes& sizes, const Constants& constants) {
        return parts_of(import_onnx({model.c_str(), model.size()}, options_of(file, folder, name, sizes, constants)));
      },
      nb::arg("model"), nb::arg("file"), nb::arg("folder"), nb::arg("name"), nb::arg("sizes"), nb::arg("constants"));
  m.def(
      "_import_stablehlo",
      [](const std::string& text, const std::string& file, const std::string& name, const Constants& constants) {
        return parts_of(import_stablehlo(text, options_of(file, "", name, {}, constants)));
      },
      nb::arg("text"), nb::arg("file"), nb::arg("name"), nb::arg("constants"));
}

}  // namespace plait::python
