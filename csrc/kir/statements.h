#pragma once
// What holds of statements of every kind, from their fields().
#include <vector>

#include "kir/kernel.h"

namespace plait::kir {

// Values that the statement reads or assigns, and those that it defines, in the order of its fields; its body's are not
// among them. Accumulate and Merge read their state, Assign its variable.
std::vector<Value> operands(const Stmt& stmt);
std::vector<Value> results(const Stmt& stmt);
// Its symbolic integers that are not null; symbols that it defines (`var`) are not among them.
std::vector<sym::Expr> expressions(const Stmt& stmt);

// The body of a For, If or LastBlock; null for others.
const Block* body_of(const Stmt& stmt);
Block* body_of(Stmt& stmt);

// Whether all threads of a block are to come to the statement at once: Sync, LastBlock, Await, Shuffle, Prefix,
// LoadMatrix, Mma, a Fold over threads.
bool cooperates(const Stmt& stmt);
bool cooperates(const Block& body);  // one of its statements, or of theirs

// Whether the loop's variable says which element of a stack buffer something in its body meets: where such a loop is
// unrolled as a whole, the buffer is registers.
bool indexes_stack(const Kernel& kernel, const For& loop);

// One more than the greatest id of a value of the kernel; 0 for a kernel without values.
uint32_t next_value_id(const Kernel& kernel);

// The same statement again, with the same values, symbols and buffers.
std::unique_ptr<Stmt> clone(const Stmt& stmt);
Block clone(const Block& block);
Kernel clone(const Kernel& kernel);  // over the same pool

}  // namespace plait::kir
