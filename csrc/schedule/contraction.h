#pragma once
// The contraction scheduler: tiles of sums in registers over a packed panel of the right operand, or on GPUs over
// panels of both in shared memory, with what is elementwise of the result behind, as one kernel.
#include "schedule/scheduler.h"

namespace plait {

// Schedules: schedules::Contraction.
const Scheduler& contraction_scheduler();

// Why there are no loops for a segment of one contraction; nothing where there are. Small ones are refused. `open`:
// what is known of the numbers.
std::optional<Refused> contraction_refuses(const Problem& problem, const Target& target,
                                           const schedules::Contraction& open);

// Of CPUs: columns of a tile where a schedule leaves them open; fewest rows that pay for packing.
int64_t contraction_columns(const Op& contraction, const Target& target);
int64_t contraction_rows();
// Of CPUs: whether its rows are so few, or its right operand is one vector, that nothing is packed. `decide` is asked
// of symbols.
bool contraction_of_few(const Op& contraction, const std::function<bool(sym::Expr)>& decide);

}  // namespace plait
