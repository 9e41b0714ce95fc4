#pragma once
// The meaning of a fusion: every op in double precision, every narrow tensor a rounding point, with an error radius per
// element (docs/numerics). Shardings, schedules and backends are tested against it.
#include <map>
#include <set>
#include <string>

#include "ir/fusion.h"
#include "reference/array.h"

namespace plait::reference {

// A tensor whose sum (or reduction prod) ranks keep pending, or a product that is stored in a narrow dtype before its
// bias joins.
struct Partial {
  // Per rank of the mesh axes that hold the sum: the contracted indices it adds, of several reduced dims their
  // row-major positions. Empty where the terms are partial themselves.
  std::vector<std::vector<int64_t>> indices;
  int64_t ranks = 1;
  int64_t roundings = 0;   // reductions to whole, one per mesh axis; each rounds its operands to the tensor's dtype
  bool logsumexp = false;  // ranks keep logsumexp of their terms
};
// By name of the written tensor.
struct PartialInfo {
  using ByName = std::map<std::string, Partial, std::less<>>;
  ByName tensors;   // that are partial themselves
  ByName unbiased;  // whose contraction is, before the bias joins
};

// Which tensors of a sharded fusion (global extents, layouts settled, products widened) are partial, and how their
// contracted dim is cut. Values of size symbols come from `sizes`.
PartialInfo partials(const Fusion& sharded, const DeviceMesh& mesh, const sym::Environment& sizes);

struct EvaluateOptions {
  bool radius = true;
  int64_t ranks = 1;    // ranks that share one contraction, for the bound of its sum
  PartialInfo partial;  // tensors that ranks exchange as partial sums
  bool spread = false;  // keep Array::spread of every product, as if it were cut term by term
  bool all = false;     // keep every tensor, not only outputs and `keep`
  std::set<std::string> keep;
  sym::Environment sizes;  // symbols that no input dim gives
};

using Results = std::map<std::string, Array>;

// Size symbols: `given` first, then input dims that are plain symbols, then the `let` defaults. UserError where an
// input's rank, extents or dtype are not what the fusion says.
sym::Environment bind_sizes(const Fusion& fusion, const std::map<std::string, Tensor>& inputs,
                            const sym::Environment& given);

// Evaluates a fusion on global tensors. UserError: an input is missing, unknown, or does not fit. Collectives need
// other ranks and are refused (InternalError). With options.radius every array returned has a full `radius`.
Results evaluate(const Fusion& fusion, const std::map<std::string, Tensor>& inputs,
                 const EvaluateOptions& options = {});

}  // namespace plait::reference
