#pragma once
// The attention scheduler: softmax(q k^T ...) v with what is elementwise in front of the softmax, in it and behind, as
// one kernel that holds the scores of a few queries at a time.
#include "schedule/scheduler.h"

namespace plait {

// Schedules: schedules::Attention.
const Scheduler& attention_scheduler();

// The segment of `product`, a matmul whose first operand comes of the scores of another matmul by elementwise ops and
// reductions over keys, and which nobody else reads: its ops, with the elementwise ones behind it.
// Nothing where there is no such thing. `decide` is asked about sizes: scores of a few queries must fit the stack.
// `moves`: with the moves in front of its operands, which a kernel reads where they lie.
std::set<const Op*> attention_of(const Fusion& fusion, const Op& product, bool moves,
                                 const std::function<bool(sym::Expr)>& decide);
// Whether loops can be found for the segment.
bool is_attention(const Problem& problem, const Target& target);

}  // namespace plait
