#pragma once
// What errors of the text form say to whoever wrote a word that is none: of ops, their attributes, dtypes.
#include <string>
#include <string_view>

#include "ir/op.h"

namespace plait {

// `did you mean permute?`: the nearest op, or the one that PyTorch and NumPy call so.
std::string op_help(std::string_view text);
// Of an attribute that the op of this name does not have: the nearest, or how the op is written.
std::string attribute_help(std::string_view op, std::string_view attribute);
// A word without a name in front of it: what is wrong, and what to write.
std::string unnamed(std::string_view word);
std::string unnamed_help(std::string_view op, std::string_view word);
// Of a number where the op takes a tensor.
std::string number_help(const Op& node, std::string_view number);
std::string dtype_help(std::string_view text);

}  // namespace plait
