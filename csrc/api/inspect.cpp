#include "api/inspect.h"

#include "base/error.h"

namespace plait {

std::string layout_text(const Fusion& sharded, const std::string& tensor) {
  const TensorView* t = sharded.find(tensor);
  if (!t)
    throw UserError(fmt::format("there is no tensor %{} after propagation", tensor),
                    fmt::format("fusion @{}", sharded.name()), "the dump `sharded` lists all");
  return sharded.has_mesh() ? print(t->layout, sharded.mesh()) : "{}";
}

const std::vector<int64_t>& local_shape(const Report& report, const std::string& output, int64_t rank) {
  const auto found = report.local_shapes.find(output);
  if (found == report.local_shapes.end())
    throw UserError(fmt::format("there is no output %{}", output), "local shape", "name an output of the fusion");
  if (rank < 0 || rank >= static_cast<int64_t>(found->second.size()))
    throw UserError(fmt::format("there is no rank {}", rank), "local shape",
                    fmt::format("the mesh has {} ranks", found->second.size()));
  return found->second[static_cast<size_t>(rank)];
}

}  // namespace plait
