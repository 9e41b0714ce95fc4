#pragma once
// What users may write of every op, read from fields(): the one list that the Python package, the documents and the C
// ABI are made from.
#include <optional>
#include <string>
#include <vector>

#include "ir/op.h"

namespace plait {

struct ParameterSchema {
  std::string name;
  std::string_view role;  // operand, optional (operand), named (operand, as `name = %x`), attribute, required
  // tensor, tensors, bool, int, ints, extent, extents, float, dtype, constant (a number beside its dtype), axis,
  // reduce, reduction, bounds, approx
  std::string_view type;
  std::optional<std::string> initial;  // what a call without it means, as text; absent: none, or found from operands
};

struct OpSchema {
  std::string name;  // as users write it
  OpKind kind;
  std::vector<ParameterSchema> parameters;  // in order; without those that the compiler makes
  std::vector<std::string> results;         // names where nobody gives others; empty: as many as an attribute says
  std::string with;  // the attribute that asks for more results, which `results` then lists; mostly empty
};

// Every name that a text may call, those of ops that the compiler makes among them, in the order of op_names().
std::vector<OpSchema> op_schemas();

// "pointwise", "reduction", ...: the word of the JSON for what kind of op it is.
std::string_view property_name(OpProperty property);

// The same as JSON: {"format": 1, "ops": [{"name", "kind", "property", "parameters": [{"name", "role", "type",
// "initial"}], "results", "with"}]}; `initial` and `with` where there is one.
std::string op_schemas_json();

}  // namespace plait
