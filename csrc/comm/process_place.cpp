#include "comm/process_place.h"

#include <charconv>

#include "base/environment.h"
#include "base/error.h"

namespace plait {
namespace {

using Read = std::function<std::optional<std::string>(const char*)>;

struct Launcher {
  const char *name, *rank, *size, *local_rank;
};
constexpr Launcher kLaunchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

int64_t number(const std::string& text, const char* variable) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw UserError(fmt::format("{} is `{}`, no number", variable, text), "environment",
                    fmt::format("unset {} or give the launcher's value", variable));
  return value;
}

}  // namespace

std::optional<ProcessPlace> process_place(const Read& read) {
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = read(launcher.rank), size = read(launcher.size);
    if (!rank || !size) continue;
    ProcessPlace out{number(*rank, launcher.rank), number(*size, launcher.size), 0, launcher.name};
    if (out.rank >= out.size)
      throw UserError(fmt::format("{} = {} and {} = {}", launcher.rank, out.rank, launcher.size, out.size),
                      "environment", "ranks are numbered from 0");
    const auto local = read(launcher.local_rank);
    out.local_rank = local ? number(*local, launcher.local_rank) : out.rank;
    return out;
  }
  return std::nullopt;
}

std::optional<ProcessPlace> process_place() { return process_place(environment); }

}  // namespace plait
