#pragma once
// Verifier of layouts over a graph.
#include <map>
#include <optional>
#include <string>

#include "ir/fusion.h"

namespace plait {

enum class ShardStage : uint8_t {
  propagated,  // every tensor has a layout
  resharded,   // and every op finds its operands as it needs them
};

// Layouts that users gave: compute, and storage where it differs, by tensor name; normalized.
using Annotations = std::map<std::string, std::pair<Layout, std::optional<Layout>>>;
Annotations annotations(const Fusion& fusion);

// InternalError naming the tensor or op where one of these fails:
// 1. every layout is of the tensor's rank, normalized, known to the mesh, and uses an axis once, pending ones included;
// 2. no layout is open; inputs, parameters and outputs are not pending;
// 3. a value pending in a result is pending in what the op gives (no whole value becomes pending);
// 4. `before`: annotated tensors have the layouts that they had (resharded: parameters that of their storage).
// Resharded, also:
// 5. every op but a reshard has its operands in the layouts that it asks for, and gives its result's layout: so no
//    pending value reaches an op that does not pass it;
// 6. every reshard carries the step that its layouts differ by;
// 7. `layout` is what memory holds: no tensor has a `stored` layout left.
void verify_sharding(const Fusion& fusion, ShardStage stage, const Annotations* before = nullptr);

// UserError naming the output: it ends in an input (Fusion::alias) that lies otherwise on the mesh. After propagation.
void check_alias_layouts(const Fusion& fusion);

}  // namespace plait
