// Lowering is this page: one pass per line, each in its own file.
#include "lower/lower.h"

#include <map>

#include "base/error.h"
#include "kir/expand_functions.h"
#include "lower/state.h"
#include "lower/tree/lower_tree.h"
#include "schedule/scheduler.h"

namespace plait {

LoweredKernel lower(const Fusion& fusion, const Segment& segment, const LowerOptions& options) {
  if (const auto group = scheduled_group({fusion, segment})) return lower_tree(*group, fusion.pool(), options);
  lowering::State state(fusion, segment, options);
  group_axes(state);         // before any index: all sizes become integers of the kernel here
  place_tensors(state);      // reads the transforms of the reference tensor
  declare_buffers(state);    // outputs with readers are a value for them and a store
  index_loops(state);        // a tensor's own coordinates follow from the loops
  derive_predicates(state);  // before the body: terms become bounds of loops where they can
  write_body(state);         // reads go over the edge, from the reader's coordinates
  kir::expand_functions(state.kernel);
  state.kernel.integers = state.extents.integers();
  kir::verify(state.kernel);
  return {std::move(state.kernel), state.extents.arguments(), state.status.has_value()};
}

sym::Expr over_sizes(const LoweredKernel& lowered, sym::Pool& pool, sym::Expr e) {
  std::map<std::string, sym::Expr> sizes;
  for (size_t i = 0; i < lowered.arguments.size(); ++i)
    sizes.emplace(lowered.kernel.integers[i].symbol_name(), lowered.arguments[i]);
  return sym::substitute(pool, e, sizes);
}

}  // namespace plait
