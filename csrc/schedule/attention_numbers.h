#pragma once
// Numbers of kernels of attention on GPUs: what is left open, and what a target has no room for.
#include <functional>
#include <string>

#include "schedule/attention_blocks.h"

namespace plait::attention_blocks {

// What a kernel needs of a target.
struct Needs {
  int64_t registers = 0, most_registers = 0;         // 32-bit ones of a thread, for fragments; of 255 in all
  std::vector<int64_t> rows;                         // elements of a row of each panel in shared memory
  std::vector<int64_t> own_rows;                     // of what a block has there of its own rows
  std::vector<std::pair<sym::Expr, int64_t>> heads;  // elements of a head, and how many there is room for
};
Needs needs_of(const BlockAttention& a, const schedules::Attention& n);
Needs needs_of(const BlockGradient& a, const schedules::Attention& n);
using NeedsOf = std::function<Needs(const schedules::Attention&)>;

// The least number of matrices that holds so many; all that a kernel may have where they are more.
int64_t most_of(const Problem& problem, sym::Expr n);
// The numbers that are left open but `features` and `values`, for so many rows.
schedules::Attention complete(const Problem& problem, sym::Expr rows, schedules::Attention out, const NeedsOf& needs);
std::optional<std::string> refuse_numbers(const Problem& problem, const Target& target, const schedules::Attention& n,
                                          const Needs& needs);

}  // namespace plait::attention_blocks
