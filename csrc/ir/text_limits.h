#pragma once
// What the text form can hold: ops of users and of ranks that pass it are refused, so that what is printed can be read.
#include "ir/fusion.h"

namespace plait {

inline constexpr size_t kMaxDims = 64;  // of a tensor

// UserError: more than kMaxDims dims, or an extent of more than sym's kMaxWords words.
void check_text_limits(const std::vector<sym::Expr>& shape, const std::string& where);
// The same of an op's result and of the expressions among its attributes.
void check_text_limits(const Op& op, const Inferred& type, const std::string& where);

}  // namespace plait
