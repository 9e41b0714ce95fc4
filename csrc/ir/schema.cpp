#include "ir/schema.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "ir/make_op.h"
#include "ir/op_fields.h"

namespace plait {

namespace {

// The word for a field's type, and its value as text where that says something.
struct Word {
  std::string_view type;
  std::optional<std::string> initial = std::nullopt;
};

Word word(TensorView*) { return {"tensor"}; }
Word word(const std::vector<TensorView*>&) { return {"tensors"}; }
Word word(bool v) { return {"bool", v ? "true" : "false"}; }
Word word(const Team&) { return {"team"}; }
Word word(int64_t v) { return {"int", std::to_string(v)}; }
Word word(double v) {
  if (std::isnan(v)) return {"float"};
  char buffer[40];
  return {"float", std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr)};
}
Word word(sym::Expr) { return {"extent"}; }
Word word(DType v) { return {"dtype", std::string(name(v))}; }
Word word(Pointwise) { return {"function"}; }
Word word(Reduction) { return {"function"}; }
Word word(ReduceOp v) { return {"reduce", std::string(name(v))}; }
Word word(LossReduction v) { return {"reduction", std::string(name(v))}; }
Word word(Bounds v) { return {"bounds", std::string(name(v))}; }
Word word(ScatterUpdate v) { return {"update", std::string(name(v))}; }
Word word(const std::string&) { return {"string"}; }
Word word(const Constant&) { return {"constant"}; }
Word word(const std::vector<int64_t>&) { return {"ints"}; }
Word word(const std::vector<sym::Expr>&) { return {"extents"}; }
Word word(const std::optional<int64_t>&) { return {"int"}; }
Word word(const std::optional<double>&) { return {"float"}; }
Word word(const std::optional<DType>&) { return {"dtype"}; }
Word word(const std::optional<ReshardKind>&) { return {"step"}; }

std::string_view role_name(const FieldRef& field) {
  switch (field.role) {
    case Role::operand:
      return "operand";
    case Role::optional:
      return "optional";
    case Role::named:
      return field.name == "seed" ? "required" : "named";
    case Role::required:
      return "required";
    default:
      return "attribute";
  }
}

void add_parameter(const FieldRef& field, OpSchema& schema) {
  Word text = std::visit([](const auto* value) { return word(*value); }, field.value);
  if (field.role == Role::required) text.initial.reset();
  schema.parameters.push_back({std::string(field.name), role_name(field), text.type, std::move(text.initial)});
  if (text.type == "constant") schema.parameters.push_back({"dtype", "required", "dtype", {}});
}

// The results of an op with its attributes at their initial values or, where a flag asks for more, with it.
void add_results(Op& op, OpSchema& schema) {
  schema.results = result_names(op);
  for (const FieldRef& field : fields(op)) {
    bool* const* flag = std::get_if<bool*>(&field.value);
    if (!flag || **flag) continue;
    **flag = true;
    std::vector<std::string> more = result_names(op);
    **flag = false;
    if (more.size() <= schema.results.size()) continue;
    schema.results = std::move(more);
    schema.with = field.name;
  }
}

OpSchema schema_of(const std::string& name) {
  const std::unique_ptr<Op> op = make_op(name);
  OpSchema out{name, op->kind, {}, {}, {}};
  const auto* function = as<PointwiseOp>(*op);
  if (!function) {
    for (const FieldRef& field : fields(*op))
      if (field.role != Role::made) add_parameter(field, out);
  } else {  // of operands x, y, z
    const char* operands[] = {"x", "y", "z"};
    for (int i = 0; i < info(function->function).arity; ++i)
      out.parameters.push_back({operands[i], "operand", "tensor", {}});
    if (function->function == Pointwise::cast) out.parameters.push_back({"to", "required", "dtype", {}});
    if (function->function == Pointwise::gelu_erf) out.parameters.push_back({"approx", "attribute", "approx", "none"});
  }
  add_results(*op, out);
  return out;
}

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

std::string json(const ParameterSchema& p) {
  std::string out = fmt::format(R"({{"name": "{}", "role": "{}", "type": "{}")", p.name, p.role, p.type);
  if (p.initial) out += R"(, "initial": )" + quoted(*p.initial);
  return out + "}";
}

std::string_view struct_name(OpKind kind) {
  switch (kind) {
#define PLAIT_OP(Name, text, properties) \
  case OpKind::Name:                     \
    return #Name;
#include "ir/ops.def"
#undef PLAIT_OP
  }
  __builtin_unreachable();
}

}  // namespace

std::string_view property_name(OpProperty property) {
  switch (property) {
    case OpProperty::none:
      return "pointwise";
    case OpProperty::creation:
      return "creation";
    case OpProperty::contraction:
      return "contraction";
    case OpProperty::reduction:
      return "reduction";
    case OpProperty::movement:
      return "movement";
    case OpProperty::indexing:
      return "indexing";
    case OpProperty::composite:
      return "composite";
    case OpProperty::communication:
      return "communication";
    case OpProperty::local_move:
      return "local_move";
  }
  __builtin_unreachable();
}

std::vector<OpSchema> op_schemas() {
  std::vector<OpSchema> out;
  for (const std::string& name : op_names()) out.push_back(schema_of(name));
  return out;
}

std::string op_schemas_json() {
  std::string out = "{\"format\": 1, \"ops\": [";
  const char* before = "\n";
  for (const OpSchema& op : op_schemas()) {
    std::string parameters, results;
    for (const ParameterSchema& p : op.parameters) parameters += (parameters.empty() ? "" : ", ") + json(p);
    for (const std::string& r : op.results) results += (results.empty() ? "" : ", ") + quoted(r);
    out += fmt::format(R"({}  {{"name": "{}", "kind": "{}", "property": "{}", "parameters": [{}], "results": [{}])",
                       before, op.name, struct_name(op.kind), property_name(property(op.kind)), parameters, results);
    if (!op.with.empty()) out += R"(, "with": )" + quoted(op.with);
    out += "}";
    before = ",\n";
  }
  return out + "\n]}\n";
}

}  // namespace plait
