#include "api/inspect.h"

#include "base/error.h"
#include "segment/cut_groups.h"

namespace plait {

namespace {

std::string plural(int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

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

std::vector<Boundary> boundaries_of(const Compiled& compiled) {
  const sym::Environment sizes = compiled.sizes();
  sym::Guards guards({sizes.begin(), sizes.end()}, {});
  return boundaries(compiled.localized(), compiled.device().target(), &guards,
                    kernel_limits(compiled.options().options));
}

std::string counts_text(const Report& report) {
  return fmt::format("{} of {}, {}, {}", plural(report.launches, "launch", "launches"),
                     plural(static_cast<int64_t>(report.kernels.size()), "kernel", "kernels"),
                     plural(report.library_calls, "library call", "library calls"),
                     plural(report.collectives, "collective", "collectives"));
}

}  // namespace plait
