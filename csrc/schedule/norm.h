#pragma once
// The norm scheduler: groups whose reductions reduce the same dims, with elementwise ops before, between and behind
// them: softmax, norms, statistics. Kept dims form rows that run in parallel, reduced dims one row that is cut into
// vectors; a pass over the row for every reduction that waits for another. On CPUs sums of
// columns, over the rows, may stand beside them.
#include <functional>
#include <set>

#include "schedule/scheduler.h"

namespace plait {

// Schedules: schedules::Norm.
Scheduler norm_scheduler();

// Why the ops, in topological order, are no group of the scheduler; nothing where they are. `outputs`: their results
// that go to memory. `decide` is asked whether rows fit buffers; null: only what facts prove does. Edits nothing.
std::optional<Refused> norm_refuses(const Fusion& fusion, std::span<Op* const> ops,
                                    std::span<TensorView* const> outputs,
                                    const std::function<bool(sym::Expr)>& decide = {});

// Whether the scheduler has kernels for the target: a CPU, or a GPU with memory through which a block's threads
// exchange.
bool norm_runs_on(const Target& target);

// Why GPUs have no kernel of ops that the scheduler takes; nothing where they have. `decide` is asked whether rows are
// many; null: only what facts prove is so.
std::optional<Refused> norm_refuses_of_gpus(const Fusion& fusion, std::span<Op* const> ops,
                                            std::span<TensorView* const> outputs,
                                            const std::function<bool(sym::Expr)>& decide = {});
// Of a GPU, the rows that threads keep in registers: what several passes read of the group's inputs, which comes by way
// of tensors of its own, and, where there are registers left, what costs more to compute again.
std::set<const TensorView*> keep_rows(ScheduledGroup& group, const schedules::Norm& numbers);
// The same in shared memory: inputs alone, as panels of their own dtypes.
std::set<const TensorView*> share_rows(ScheduledGroup& group, const schedules::Norm& numbers);
// Of a GPU: what scans of vectors go through from memory, and what they give to it, moves as vectors in front and
// behind. The scans that give it.
std::set<const Op*> copy_around_scans(ScheduledGroup& group);

// Threads of the row of a GPU's kernel that has no other one; nothing for other segments and schedules.
std::optional<int64_t> threads_of_single_row(const Problem& problem);

// The numbers of a GPU's kernel but for how rows are split and what of them lies in shared memory. UserError where a
// pinned one does not apply.
schedules::Norm choose_norm_of_gpu(const Problem& problem, const Target& target, const schedules::Norm& pinned);
// How many elements of a row lie in shared memory, where several passes read inputs that threads do not keep in
// registers, and they fit; with as many parts as leave none over, unless those are pinned. `numbers`: all others.
// UserError where pinned ones do not apply.
// Leaves out `align` where the other numbers do not bear it; a pinned one is refused.
void settle_align(const Problem& problem, bool is_pinned, schedules::Norm& numbers);
void choose_shared(const Problem& problem, const Target& target, bool parts_are_pinned, schedules::Norm& numbers);

}  // namespace plait
