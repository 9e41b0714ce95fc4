#include "api/log_compiled.h"

#include <algorithm>

#include "base/log.h"

namespace plait {

void log_compiled(const Fusion& fusion, const SpecializationEntry& entry) {
  if (!logs(LogComponent::compile, LogLevel::info)) return;
  const Report& report = entry.report;
  std::string guards;
  for (const sym::Answer& answer : entry.guards) guards += (guards.empty() ? ", guards: " : ", ") + sym::print(answer);
  const auto from_disk = std::count_if(report.kernels.begin(), report.kernels.end(),
                                       [](const KernelReport& kernel) { return kernel.facts.from_disk; });
  log(LogComponent::compile, LogLevel::info,
      "@{} {} in {:.1f} ms: {} kernels ({} from disk), {} library calls, {} collectives; sizes: {}{}", fusion.name(),
      report.from_disk ? "taken from disk" : "compiled", report.compile_ms, report.kernels.size(), from_disk,
      report.library_calls, report.collectives, entry.key.empty() ? "none" : entry.key, guards);
  for (const KernelReport& kernel : report.kernels)
    log(LogComponent::compile, LogLevel::debug, "@{}: kernel {} for {}, {}, {}", fusion.name(), kernel.name,
        kernel.arch, kernel.schedule,
        kernel.facts.from_disk ? "from disk" : fmt::format("compiled in {:.1f} ms", kernel.facts.compile_ms));
}

}  // namespace plait
