#include "base/machine_load.h"

#include <fmt/format.h>

#include <cstdlib>
#include <thread>

namespace plait {

std::optional<double> machine_load() {
  static const std::optional<double> load = []() -> std::optional<double> {
    double last_minute = 0;
    return getloadavg(&last_minute, 1) == 1 ? std::optional(last_minute) : std::nullopt;
  }();
  return load;
}

std::string load_warning() {
  constexpr double kShare = 0.5;  // of the cores
  const auto load = machine_load();
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  if (!load || *load <= kShare * cores) return "";
  return fmt::format("others use the machine (load {:.1f} on {} core{}): times say little", *load, cores,
                     cores == 1 ? "" : "s");
}

}  // namespace plait
