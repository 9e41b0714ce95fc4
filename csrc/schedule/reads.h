#pragma once
// Which ops of a group are reads (axes/read_through.h): moves, lookups, and what is elementwise before them.
#include <set>
#include <span>

#include "axes/build_graph.h"
#include "ir/fusion.h"
#include "schedule/refusal.h"

namespace plait {

// An op that reads its operand at other coordinates than its own, by arithmetic or by an index; also a scatter that has
// one index for each row, whose result is an element of its operand or of its source.
bool reads_elsewhere(const Op& op);
// Such a scatter.
bool places_one(const Op& op);
// Dims change places, come or go, and every element stays at its coordinates.
bool keeps_places(const Op& op);

// The same values, by moves of their own, up to what is computed: what two read in loops of their own would need a
// buffer. The moves go to the end of the graph, and are listed.
TensorView* moved_again(Fusion& graph, TensorView* t, std::vector<Op*>& added);
// Puts ops, in this order, in front of another one, or behind it, in the order of the graph.
void put_ops(Fusion& graph, const std::vector<Op*>& ops, const Op& at, bool behind);
// Whether one of these moves has other readers.
bool shares_moves(const Fusion& graph, const TensorView* t);
// One that a kernel may compute at any coordinates that it is asked for.
bool may_be_read(const Op& op);

// Reads of a kernel that places reductions and what follows them: every op that reads elsewhere, and all that these are
// made of, up to reductions. Where they would ask reductions for other rows, reshapes of what is reduced are none.
std::set<const Op*> find_reads(std::span<Op* const> ops);

// Of an edge that is cut, or along which an op reads elsewhere than its operand is made.
Refused not_in_place(const Edge& edge);

// Why the reads of a group are too many values, or too dear to compute again for each of their readers; nothing where
// they are not. Ops in topological order.
std::optional<Refused> reads_cost_too_much(std::span<Op* const> ops, std::span<TensorView* const> outputs,
                                           const std::set<const Op*>& reads);

}  // namespace plait
