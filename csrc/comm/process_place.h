#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace plait {

// Which process of a job this is, as its launcher says.
struct ProcessPlace {
  int64_t rank = 0, size = 1;
  int64_t local_rank = 0;  // among the processes of the host
  std::string launcher;    // "Open MPI", "PMI", "torchrun", "Slurm"
  bool operator==(const ProcessPlace&) const = default;
};

// Reads what launchers set: OMPI_COMM_WORLD_RANK, PMI_RANK, RANK with WORLD_SIZE, SLURM_PROCID, in this order; nothing
// where none of them is set. UserError naming the variable whose value cannot be. `read` gives the value of a variable.
std::optional<ProcessPlace> process_place(const std::function<std::optional<std::string>(const char*)>& read);
std::optional<ProcessPlace> process_place();  // of this process's environment

}  // namespace plait
