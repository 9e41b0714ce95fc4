#pragma once
// Ops by the names they have in the text form.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op.h"

namespace plait {

// An op of the kind that the text names, its fields at their defaults, or null.
std::unique_ptr<Op> make_op(std::string_view text);
// An op of that kind, its fields at their defaults.
std::unique_ptr<Op> blank_op(OpKind kind);
// All names that make_op takes.
std::vector<std::string> op_names();

}  // namespace plait
