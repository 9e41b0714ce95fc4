// Ops by name: what there are, and calls with arguments that are no text.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "capi/handles.h"
#include "capi/op_words.h"
#include "ir/schema.h"

namespace plait {
namespace {

// The schemas as the structs of the ABI.
class OpList {
 public:
  OpList() : schemas_(by_name(op_schemas())), parameters_(schemas_.size()), results_(schemas_.size()) {
    for (size_t i = 0; i < schemas_.size(); ++i) add(i);
  }
  size_t size() const { return infos_.size(); }
  const std::vector<OpSchema>& schemas() const { return schemas_; }
  const plait_op_info& operator[](size_t i) const { return infos_[i]; }

 private:
  static std::vector<OpSchema> by_name(std::vector<OpSchema> all) {
    std::ranges::sort(all, {}, &OpSchema::name);
    return all;
  }
  static int32_t role_of(std::string_view role) {
    if (role == "operand") return PLAIT_OPERAND;
    if (role == "optional") return PLAIT_OPERAND_OPTIONAL;
    if (role == "named") return PLAIT_OPERAND_NAMED;
    return role == "required" ? PLAIT_ATTRIBUTE_REQUIRED : PLAIT_ATTRIBUTE;
  }

  void add(size_t i) {
    const OpSchema& schema = schemas_[i];
    for (const ParameterSchema& p : schema.parameters)
      parameters_[i].push_back(
          {p.name.c_str(), role_of(p.role), p.type.data(), p.initial ? p.initial->c_str() : nullptr});
    for (const std::string& result : schema.results) results_[i].push_back(result.c_str());
    plait_op_info info = {};
    info.name = schema.name.c_str();
    info.property = property_name(property(schema.kind)).data();
    const auto* words = std::find_if(std::begin(kOpWords), std::end(kOpWords),
                                     [&](const OpWords& each) { return each.op == schema.name; });
    info.words = words == std::end(kOpWords) ? "" : words->words;
    info.parameter_count = parameters_[i].size();
    info.parameters = parameters_[i].data();
    info.result_count = results_[i].size();
    info.results = results_[i].data();
    info.with = schema.with.empty() ? nullptr : schema.with.c_str();
    infos_.push_back(info);
  }

  const std::vector<OpSchema> schemas_;
  std::vector<std::vector<plait_parameter_info>> parameters_;
  std::vector<std::vector<const char*>> results_;
  std::vector<plait_op_info> infos_;
};

const OpList& op_list() {
  static const auto& list = *new OpList;  // what it shows lives as long as the library
  return list;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[40];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

// "%x" of "x" and "%x"; numbers stay.
std::string operand_text(std::string word) {
  const bool number = !word.empty() && std::string_view("0123456789+-.").find(word[0]) != std::string_view::npos;
  return number || word.starts_with('%') ? word : "%" + word;
}

std::string words_text(const plait_argument& a, const std::string& name, bool operands) {
  std::string out;
  for (size_t i = 0; i < a.count; ++i) {
    const std::string word = required_text(required(a.words, name.c_str(), i), name.c_str());
    out += (i > 0 ? ", " : "") + (operands ? operand_text(word) : word);
  }
  return out;
}

// The operands of an op that have places, in order.
std::vector<const ParameterSchema*> places_of(const std::vector<OpSchema>& schemas, const std::string& op) {
  std::vector<const ParameterSchema*> out;
  const auto schema =
      std::find_if(schemas.begin(), schemas.end(), [&](const OpSchema& each) { return each.name == op; });
  if (schema == schemas.end()) return out;
  for (const ParameterSchema& p : schema->parameters)
    if (p.role == "operand" || p.role == "optional") out.push_back(&p);
  return out;
}

// Which arguments are optional operands that are left out. UserError: one with a later operand given, which the text
// would put at its place.
std::vector<bool> left_out(const plait_argument* arguments, size_t count, const std::string& op) {
  std::vector<bool> out(count, false);
  const auto places = places_of(op_list().schemas(), op);
  size_t place = 0;
  const ParameterSchema* gap = nullptr;
  for (size_t i = 0; i < count; ++i) {
    const plait_argument& a = required(arguments, "arguments", i);
    if (a.name || a.kind != PLAIT_ARGUMENT_TENSOR || place == places.size()) continue;
    const ParameterSchema& operand = *places[place++];
    if (!a.word && operand.role == "optional") {
      out[i] = true;
      if (!gap) gap = &operand;
    } else if (a.word && gap) {
      if (gap->name == "w" && operand.name == "b")
        throw UserError("a bias without a weight", op, "give a weight of ones, or add the bias afterwards");
      throw UserError(fmt::format("operand `{}` without `{}`", operand.name, gap->name), op,
                      fmt::format("give `{}` too", gap->name));
    }
  }
  return out;
}

std::string text_of(const plait_argument& a, const std::string& where) {
  std::string out;
  switch (a.kind) {
    case PLAIT_ARGUMENT_TENSOR:
      return operand_text(required_text(a.word, where.c_str()));
    case PLAIT_ARGUMENT_TENSORS:
      return words_text(a, where, true);
    case PLAIT_ARGUMENT_INTEGER:
      return std::to_string(a.integer);
    case PLAIT_ARGUMENT_INTEGERS:
      for (size_t i = 0; i < a.count; ++i)
        out += (i > 0 ? ", " : "") + std::to_string(required(a.integers, where.c_str(), i));
      return "[" + out + "]";
    case PLAIT_ARGUMENT_NUMBER:
      return number_text(a.number);
    case PLAIT_ARGUMENT_FLAG:
      return a.integer != 0 ? "true" : "false";
    case PLAIT_ARGUMENT_WORD:
      return required_text(a.word, where.c_str());
    case PLAIT_ARGUMENT_WORDS:
      return "[" + words_text(a, where, false) + "]";
    case PLAIT_ARGUMENT_STRING:
      out = required_text(a.word, where.c_str());
      if (out.find_first_of("\"\n") != std::string::npos)
        throw UserError("a text with quotes or more than one line", where, "leave these out");
      return '"' + out + '"';
    default:
      throw UserError(fmt::format("an argument of kind {}", a.kind), where, "take one of PLAIT_ARGUMENT_...");
  }
}

// "%mean, %var" of "mean, var".
std::string results_text(std::string_view names) {
  std::string out;
  while (!names.empty()) {
    std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    while (name.starts_with(' ')) name.remove_prefix(1);
    out += (out.empty() ? "" : ", ") + operand_text(std::string(name));
  }
  return out;
}

}  // namespace
}  // namespace plait

using namespace plait;  // NOLINT: this file defines the C functions

extern "C" {

size_t plait_ops_count(void) { return op_list().size(); }

plait_error* plait_ops_get(size_t index, plait_op_info* out) {
  return guarded([&] {
    if (index >= op_list().size())
      throw UserError(fmt::format("there is no op {}", index), "", fmt::format("there are {}", op_list().size()));
    give(op_list()[index], out, "out");
  });
}

plait_error* plait_fusion_op(plait_fusion* fusion, const char* op, const char* names, const plait_argument* arguments,
                             size_t argument_count, plait_text** result) {
  if (result) *result = nullptr;
  return guarded([&] {
    const std::string name = required_text(op, "op");
    std::string statement = names ? results_text(names) + " = " : "";
    statement += name + "(";
    const std::vector<bool> absent = left_out(arguments, argument_count, name);
    bool first = true;
    for (size_t i = 0; i < argument_count; ++i) {
      if (absent[i]) continue;
      const plait_argument& a = required(arguments, "arguments", i);
      const std::string where =
          a.name ? fmt::format("argument {} of {}", a.name, name) : fmt::format("argument {} of {}", i, name);
      const std::string text = text_of(a, where);
      statement += (first ? "" : ", ") + (a.name ? std::string(a.name) + " = " : "") + text;
      first = false;
    }
    auto made = std::make_unique<plait_text>();
    for (const TensorView* t : parse_statement(*required(fusion, "fusion").fusion, statement + ")"))
      made->data += (made->data.empty() ? "" : ", ") + t->name;
    if (result) *result = made.release();
  });
}

}  // extern "C"
