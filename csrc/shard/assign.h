#pragma once
// Which pieces each factor of an op gets: the one answer that propagation, reshard insertion, the verifier and explain
// share (docs: conflict rule of the text form).
#include <optional>
#include <string>
#include <vector>

#include "ir/factors.h"
#include "ir/fusion.h"

namespace plait {

// Which result an index below 0 means where those of operands count from 0.
inline size_t result_number(int index) {
  const int number = -1 - index;
  return static_cast<size_t>(number);
}

// The list of pieces a factor got, and who claimed it.
struct Claim {
  std::vector<Piece> pieces;  // empty: the factor is whole
  int operand = -1;           // index into inputs(op); -1, -2, ...: result 0, 1, ... (nobody, where pieces is empty)
  int dim = -1;               // dim of that tensor
};

// What moves cost where one claimant has its way before all others.
struct Alternative {
  int claimant = -1;  // as Claim::operand
  double cost = 0;
};

struct Assignment {
  std::vector<Factor> factors;
  std::vector<Claim> claims;     // per factor
  std::vector<Layout> operands;  // what the op needs, per operand
  std::vector<Layout> results;   // what the op then gives, per result
  // Where claimants are in conflict and sizes are known: first the one that had its way, then the others, of which some
  // are tried where there are many.
  std::vector<Alternative> alternatives;
  // The one that the claimant would have had its way in, else the cheapest of the others; null: there is none.
  const Alternative* runner_up(int claimant) const;
};

// Operands claim the layouts they have, results `wanted`, one for each (pending axes are ignored). Where they are in
// conflict the one comes first with which the moves around the op cost least (conflicts.h). Of equals, and behind it,
// come those with more global bytes, of parameters four times these, with those of all operands and annotated results
// that ask for the same; then parameters, then operands in order, then annotated results. Then pending
// reductions that pass through the op; then the other results in order. A factor takes one list and a mesh axis goes to
// one factor: an axis that is gone leaves a later list, the rest of the list stays. Factors that must be whole take
// none. A factor that is summed leaves the results pending. A reshard asks nothing: its operand stays, its result is
// `wanted`.
Assignment assign(const Op& op, const std::vector<Layout>& wanted);
// The same, where the results have the layouts that are wanted.
Assignment assign(const Op& op);

// An expression with symbols at their `let` defaults; nothing where one has no default, or the value passes int64.
std::optional<int64_t> at_defaults(const Fusion& fusion, sym::Expr e);
sym::Expr bytes_of(const TensorView& tensor);  // of the global tensor
// Global bytes of a tensor, at_defaults.
std::optional<int64_t> global_bytes(const TensorView& tensor);

// Why what operand `index` has (-1, -2, ...: a result, of layout `has`) differs from what the op needs (gives), one
// clause per difference, for people: "conflict: %x dim 1 [tp] lost to %w0 dim 0 (parameter)".
std::vector<std::string> explain_difference(const Op& op, const Assignment& assignment, int index, const Layout& has);

// Where the pieces and pending axes of result number `result` come from, as far as operands gave them, one clause each:
// "dim 2 from %w0 dim 0 through linear (parameter)".
std::vector<std::string> explain_result(const Op& op, const Assignment& assignment, size_t result);

// Clauses of a text, with "; " between them.
std::string join(const std::vector<std::string>& clauses);

}  // namespace plait
