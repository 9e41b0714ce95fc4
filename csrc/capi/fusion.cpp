// Building, reading and asking about fusions.
#include "capi/handles.h"
#include "ir/schema.h"
#include "session/bind_inputs.h"

namespace plait {
namespace {

Fusion& of(plait_fusion* fusion) { return *required(fusion, "fusion").fusion; }
const Fusion& of(const plait_fusion* fusion) { return *required(fusion, "fusion").fusion; }

plait_fusion* wrap(std::unique_ptr<Fusion> fusion) {
  auto out = std::make_unique<plait_fusion>();
  out->fusion = std::move(fusion);
  return out.release();
}

void describe_tensor(const plait_fusion& handle, bool output, size_t index, plait_tensor_info* out) {
  const Fusion& f = *handle.fusion;
  const auto& tensors = output ? f.outputs() : f.inputs();
  if (index >= tensors.size())
    throw UserError(fmt::format("there is no {} {}", output ? "output" : "input", index),
                    fmt::format("fusion @{}", f.name()), fmt::format("it has {}", tensors.size()));
  const TensorView& t = *tensors[index];
  const std::lock_guard lock(handle.texts_mutex);
  const std::string& type = *handle.texts.insert(type_text(t)).first;
  plait_tensor_info info = {};
  info.name = t.name.c_str();
  info.type = type.c_str();
  info.role = output ? PLAIT_ROLE_OUTPUT : t.role == TensorRole::parameter ? PLAIT_ROLE_PARAMETER : PLAIT_ROLE_INPUT;
  info.rank = static_cast<int32_t>(t.rank());
  info.dtype = to_c(t.dtype);
  give(info, out, "out");
}

}  // namespace
}  // namespace plait

using namespace plait;  // NOLINT: this file defines the C functions

extern "C" {

plait_error* plait_fusion_parse(const char* text, const char* file, const plait_setting* settings, size_t setting_count,
                                plait_fusion** out) {
  return guarded([&] {
    required(out, "out") = nullptr;
    ParseOptions options;
    options.file = text_or(file, "<text>");
    options.set_place = "setting ";
    for (auto& [name, value] : named_values(settings, setting_count, "settings")) options.set.emplace(name, value);
    auto fusion = parse_fusion(required_text(text, "text"), options);
    let_settings(*fusion, options.set, options.set_place);
    verify(*fusion);
    *out = wrap(std::move(fusion));
  });
}

plait_error* plait_fusion_new(const char* name, const char* mesh, plait_fusion** out) {
  return guarded([&] {
    required(out, "out") = nullptr;
    *out = wrap(std::make_unique<Fusion>(mesh ? parse_mesh(mesh, {.file = "<mesh>", .set = {}}) : Mesh(),
                                         text_or(name, "fusion")));
  });
}

plait_error* plait_fusion_copy(const plait_fusion* fusion, plait_fusion** out) {
  return guarded([&] {
    required(out, "out") = nullptr;
    *out = wrap(clone(of(fusion)));
  });
}

void plait_fusion_free(plait_fusion* fusion) { delete fusion; }

plait_error* plait_fusion_let(plait_fusion* fusion, const char* name, int64_t value) {
  return guarded([&] { of(fusion).let(required_text(name, "name"), value); });
}

plait_error* plait_fusion_input(plait_fusion* fusion, const char* declaration) {
  return guarded([&] { parse_input(of(fusion), required_text(declaration, "declaration")); });
}

plait_error* plait_fusion_typed_input(plait_fusion* fusion, int32_t role, const char* name, plait_dtype dtype,
                                      const plait_extent* extents, size_t extent_count) {
  return guarded([&] {
    Fusion& f = of(fusion);
    if (role != PLAIT_ROLE_INPUT && role != PLAIT_ROLE_PARAMETER)
      throw UserError(fmt::format("role {} of an input", role), "", "take PLAIT_ROLE_INPUT or PLAIT_ROLE_PARAMETER");
    std::string word = required_text(name, "name");
    if (word.starts_with('%')) word.erase(0, 1);
    DType type;
    try {
      type = from_c(dtype);
    } catch (UserError& e) {
      e.add_place("%" + word);
      throw;
    }
    std::vector<Fusion::Extent> shape;
    for (size_t i = 0; i < extent_count; ++i) {
      const plait_extent& extent = required(extents, "extents", i);
      shape.push_back(extent.text ? Fusion::Extent(std::string(extent.text)) : Fusion::Extent(extent.number));
    }
    if (role == PLAIT_ROLE_PARAMETER)
      f.parameter(std::move(word), shape, type);
    else
      f.input(std::move(word), shape, type);
  });
}

plait_error* plait_fusion_statement(plait_fusion* fusion, const char* statement, plait_text** result) {
  if (result) *result = nullptr;
  return guarded([&] {
    auto name = std::make_unique<plait_text>();
    for (const TensorView* t : parse_statement(of(fusion), required_text(statement, "statement")))
      name->data += (name->data.empty() ? "" : ", ") + t->name;
    if (result) *result = name.release();
  });
}

plait_error* plait_fusion_output(plait_fusion* fusion, const char* name, const char* tensor) {
  return guarded([&] {
    Fusion& f = of(fusion);
    std::string from = required_text(tensor, "tensor");
    if (from.starts_with('%')) from.erase(0, 1);
    TensorView* t = f.find(from);
    if (const std::string now = f.now_called(from); !now.empty())
      throw UserError(fmt::format("%{} is now called %{}", from, now), fmt::format("fusion @{}", f.name()),
                      "an output has one name: for a second output take a copy, set(%" + now + ")");
    if (!t)
      throw UserError(fmt::format("there is no tensor %{}", from), fmt::format("fusion @{}", f.name()),
                      "name a result or an input of this fusion");
    f.output(required_text(name, "name"), t);
  });
}

plait_error* plait_fusion_alias(plait_fusion* fusion, const char* output, const char* input) {
  return guarded([&] { of(fusion).alias(required_text(output, "output"), required_text(input, "input")); });
}

plait_error* plait_op_schemas(plait_text** out) {
  return guarded([&] {
    required(out, "out") = nullptr;
    auto text = std::make_unique<plait_text>();
    text->data = op_schemas_json();
    *out = text.release();
  });
}

plait_error* plait_fusion_print(const plait_fusion* fusion, plait_text** out) {
  return guarded([&] {
    required(out, "out") = nullptr;
    auto text = std::make_unique<plait_text>();
    text->data = print(of(fusion));
    *out = text.release();
  });
}

size_t plait_fusion_input_count(const plait_fusion* fusion) { return fusion ? fusion->fusion->inputs().size() : 0; }
size_t plait_fusion_output_count(const plait_fusion* fusion) { return fusion ? fusion->fusion->outputs().size() : 0; }

plait_error* plait_fusion_input_info(const plait_fusion* fusion, size_t index, plait_tensor_info* out) {
  return guarded([&] { describe_tensor(required(fusion, "fusion"), false, index, out); });
}
plait_error* plait_fusion_output_info(const plait_fusion* fusion, size_t index, plait_tensor_info* out) {
  return guarded([&] { describe_tensor(required(fusion, "fusion"), true, index, out); });
}

}  // extern "C"
