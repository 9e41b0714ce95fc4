#include "ir/op_help.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/suggest.h"
#include "ir/make_op.h"
#include "ir/op_fields.h"
#include "ir/schema.h"

namespace plait {
namespace {

struct Other {
  std::string_view theirs, ours;
};
// Names that others have for what is here under another one, far from it in letters.
constexpr Other kOps[] = {
    {"transpose", "permute"},
    {"swapaxes", "permute"},
    {"movedim", "permute"},
    {"maximum", "max"},
    {"minimum", "min"},
    {"concatenate", "cat"},
    {"concat", "cat"},
    {"clip", "clamp"},
    {"power", "pow"},
    {"multiply", "mul"},
    {"divide", "div"},
    {"true_divide", "div"},
    {"subtract", "sub"},
    {"negative", "neg"},
    {"astype", "cast"},
    {"to", "cast"},
    {"convert", "cast"},
    {"dot", "matmul"},
    {"mm", "matmul"},
    {"bmm", "matmul"},
    {"view", "reshape"},
    {"flatten", "reshape"},
    {"tile", "repeat"},
    {"arange", "iota"},
    {"ones", "full"},
    {"zeros", "full"},
    {"rand", "uniform"},
    {"randn", "normal"},
    {"take", "index_select"},
    {"where_", "where"},
    {"select", "where"},
    {"attention", "scaled_dot_product_attention"},
    {"sdpa", "scaled_dot_product_attention"},
    {"mod", "remainder"},
    {"inverse", "reciprocal"},
    {"not", "logical_not"},
    {"and", "logical_and"},
    {"or", "logical_or"},
    {"layernorm", "layer_norm"},
    {"rmsnorm", "rms_norm"},
};
constexpr Other kDTypes[] = {
    {"float", "f32"},   {"float32", "f32"},   {"double", "f64"}, {"float64", "f64"}, {"half", "f16"},
    {"float16", "f16"}, {"bfloat16", "bf16"}, {"long", "i64"},   {"int64", "i64"},   {"int", "i32"},
    {"int32", "i32"},   {"short", "i16"},     {"int16", "i16"},  {"int8", "i8"},     {"byte", "u8"},
    {"uint8", "u8"},    {"uint16", "u16"},    {"uint32", "u32"}, {"uint64", "u64"},  {"boolean", "bool"},
};

template <size_t N>
std::string_view ours(const Other (&all)[N], std::string_view theirs) {
  const auto found = std::ranges::find(all, theirs, &Other::theirs);
  return found == std::end(all) ? "" : found->ours;
}

std::string mean(std::string_view name) { return fmt::format("did you mean `{}`?", name); }

// Names of the attributes that may be written.
std::vector<std::string> attributes(const Op& node) {
  std::vector<std::string> out;
  for_each_field(node, [&](const FieldRef& field, const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, Pointwise>) {
      if (value == Pointwise::gelu_erf) out.push_back("approx");
    } else if (std::is_same_v<T, Reduction>) {  // the op's name says it
    } else if (is_attribute(field) || field.role == Role::named) {
      out.emplace_back(field.name);
      if constexpr (std::is_same_v<T, Constant>) out.emplace_back("dtype");
    }
  });
  return out;
}

bool is_operand(const ParameterSchema& p) { return p.role == "operand" || p.role == "optional"; }

// `clamp(%x, %y, %z)`.
std::string call_of(const OpSchema& op) {
  std::string out;
  for (const ParameterSchema& p : op.parameters)
    if (is_operand(p)) out += fmt::format("{}%{}", out.empty() ? "" : ", ", p.name);
  return fmt::format("{}({})", op.name, out);
}

}  // namespace

std::string op_help(std::string_view text) {
  const std::string_view other = ours(kOps, text);
  return other.empty() ? suggestion(text, op_names()) : mean(other);
}

std::string attribute_help(std::string_view op, std::string_view attribute) {
  const std::vector<OpSchema> all = op_schemas();
  const auto schema = std::ranges::find(all, op, &OpSchema::name);
  if (schema == all.end()) return "drop it";
  std::vector<std::string> known;
  for (const ParameterSchema& p : schema->parameters) {
    if (!is_operand(p)) known.push_back(p.name);
    if (is_operand(p) && p.name == attribute) return fmt::format("operands have places: write {}", call_of(*schema));
  }
  const bool of_dim = attribute == "dim" || attribute == "dims" || attribute == "axis";
  if (of_dim && (op == "max" || op == "min")) return fmt::format("along a dim it is a{}", op);
  if (of_dim && std::ranges::find(known, "dims") != known.end()) return mean("dims");
  if (of_dim && std::ranges::find(known, "dim") != known.end()) return mean("dim");
  if (known.empty()) return fmt::format("{} takes none: write {}", op, call_of(*schema));
  return suggestion(attribute, known);
}

std::string unnamed(std::string_view word) {
  return fmt::format("`{}` stands without the name of its attribute", word);
}

std::string unnamed_help(std::string_view op, std::string_view word) {
  const std::vector<OpSchema> all = op_schemas();
  const auto schema = std::ranges::find(all, op, &OpSchema::name);
  if (schema != all.end())
    for (const ParameterSchema& p : schema->parameters)
      if (!is_operand(p)) return fmt::format("write e.g. {} = {}; tensors have a % in front", p.name, word);
  return "tensors have a % in front";
}

std::string number_help(const Op& node, std::string_view number) {
  for (const std::string& name : attributes(node)) {
    if (name == "dims") return fmt::format("dims have a name: dims = [{}]", number.substr(0, 40));
    if (name == "dim") return fmt::format("the dim has a name: dim = {}", number.substr(0, 40));
  }
  return "write full(shape = [], value = 1, dtype = f32)";
}

std::string dtype_help(std::string_view text) {
  const std::string_view other = ours(kDTypes, text);
  if (!other.empty()) return mean(other);
  std::vector<std::string> names;
  for (int i = 0; i < kDTypeCount; ++i) names.emplace_back(name(static_cast<DType>(i)));
  return suggestion(text, names);
}

}  // namespace plait
