#pragma once
// Reader of the text form of kernels; the grammar is docs/kernel_ir.md.
#include <string>
#include <string_view>
#include <vector>

#include "kir/kernel.h"

namespace plait::kir {

// Whether a text is that of kernels, by its first word.
bool is_kernel_text(std::string_view text);

// Reads what print() writes, and any spacing and comments (# to the end of the line): print(parse(print(k))) ==
// print(k). The kernel is not verified. UserError with `file`:line:column, the line and a mark under the column.
Kernel parse(std::string_view text, const std::string& file = "kernel");
// Kernels one after another, at least one.
std::vector<Kernel> parse_kernels(std::string_view text, const std::string& file = "kernel");

}  // namespace plait::kir
