// plait doctor: what of plait works on this machine, and what to install for the rest.
#include <algorithm>
#include <fstream>
#include <thread>

#include "backend/cpu/cpu_device.h"
#include "backend/cuda/cuda_device.h"
#include "base/error.h"
#include "base/library_search.h"
#include "base/plugin_loader.h"
#include "comm/mpi/mpi.h"
#include "comm/nccl/nccl_communicators.h"
#include "plait_command.h"
#include "plait_help.h"
#include "session/devices.h"

namespace plait::tool {

namespace {

using Row = std::vector<std::string>;

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(std::min(line.size(), line.find(':') + 2));
  return "unknown";
}

// What the memory that runs use again comes to, of a small and a large block of its own.
Row memory_row() {
  Allocator& memory = find_device("cpu", {}).allocator();
  for (int i = 0; i < 2; ++i)
    for (const size_t bytes : {size_t(1) << 16, size_t(4) << 20}) memory.allocate(bytes);
  const MemoryCounts counts = memory_counts(find_device("cpu", {}));
  return {"memory pool", fmt::format("{} KiB held", counts.held_bytes / 1024),
          fmt::format("{} KiB in use, {} allocations used again, {} new; --option kept_memory is its limit",
                      counts.in_use_bytes / 1024, counts.hits, counts.misses)};
}

std::string place(const std::string& file, const std::string& rule) { return fmt::format("{} ({})", file, rule); }

// A plug-in, what of plait's found it, and the library that it brings with that one's own version.
Row plugin_row(const std::string& title, const std::string& file, const std::string& symbol, const std::string& package,
               std::string_view library) {
  try {
    const Plugin plugin = find_plugin(file, symbol, "", package);
    const auto loaded = loaded_library(library);
    return {title, loaded ? loaded->version : "yes",
            fmt::format("{}; {}", loaded ? place(loaded->path, linker_rule(loaded->path)) : "linked into the plug-in",
                        place(file, plugin.rule))};
  } catch (const MissingError& e) {
    return {title, "missing", e.message() + "; " + e.remedy()};
  }
}

// Linked into the plug-in, it has no file whose name says the version.
Row llvm_row() {
  Row row = plugin_row("LLVM", "libplait_llvm.so", "plait_llvm_interface", "llvm-19-dev", "libLLVM");
  const std::string said = row[1] == "yes" ? find_device("cpu", {}).compiler_identity() : "";
  if (said.starts_with("LLVM ")) row[1] = said.substr(5, said.find(',') - 5);
  return row;
}

// "Open MPI v4.1.4, package: ..." is what the library says of itself; its file's name says the interface's version.
Row mpi_row() {
  Row row = plugin_row("MPI", "libplait_mpi.so", "plait_mpi_interface", "libopenmpi-dev", "libmpi");
  if (row[1] == "missing") return row;
  const std::string said = mpi_version();
  row[1] = said.substr(0, said.find_first_of(",\n"));
  return row;
}

Row nccl_row() {
  const NcclFacts facts = nccl_facts();
  if (!facts.why_not.empty()) return {"NCCL", "missing", facts.why_not};
  return {"NCCL", facts.version, place(facts.path, facts.rule)};
}

// Driver, devices and CUDA's libraries, each with version and place.
void add_cuda_rows(std::vector<Row>& rows) {
  const CudaFacts facts = cuda_facts();
  for (const CudaLibraryFacts& library : facts.libraries)
    rows.push_back(library.why_not.empty() ? Row{library.name, library.version, place(library.path, library.rule)}
                                           : Row{library.name, "missing", library.why_not});
  for (const CudaDeviceFacts& device : facts.devices)
    rows.push_back({"GPU", device.architecture,
                    fmt::format("{}, {:.1f} GiB, {} multiprocessors", device.name,
                                double(device.memory_bytes) / (1024.0 * 1024 * 1024), device.multiprocessors)});
}

// A stand-in: a file beside the command.
Row stand_in_row(const std::string& title, const std::string& file, const std::string& symbol) {
  try {
    const Plugin plugin = find_plugin(file, symbol, "", "nvidia-cuda-runtime (tools/setup)");
    return {title, "yes", place(plugin.file, plugin.rule)};
  } catch (const MissingError& e) {
    return {title, "missing", e.message() + "; " + e.remedy()};
  }
}

// What was built in and what was left out, with the reason, by the build; of the rest, what is missing can be
// installed.
Row parts_row() {
  const std::string in = PLAIT_PARTS_ON, out = PLAIT_PARTS_OFF;
  if (out.empty()) return {"parts", "all", "built with " + in};
  return {"parts", "some",
          fmt::format("built with {}; built without {}: docs/python.md says what a build needs", in, out)};
}

}  // namespace

int doctor_command(const Arguments& args) {
  if (args.list_options) {
    fmt::print("{}", options_text());
    return 0;
  }
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Row> rows = {
      {"plait", version(), "default device: " + default_device()},
      {"CPU", fmt::format("{} threads", cores), cpu_model()},
      llvm_row(),
      plugin_row("oneDNN", "libplait_onednn.so", "plait_onednn_interface", "libdnnl-dev", "libdnnl"),
      mpi_row(),
  };
  rows.insert(rows.begin() + 1, parts_row());
  rows.insert(rows.begin() + 3,
              {"target", find_device("cpu", {}).target().architecture, print(find_device("cpu", {}).target())});
  rows.insert(rows.begin() + 4, memory_row());
  rows.insert(rows.begin() + 5, cache_row());
  add_cuda_rows(rows);
  rows.push_back(nccl_row());
  rows.push_back(stand_in_row("simulated GPU", "libplait_sim_cuda.so", "plait_sim_add_devices"));
  rows.push_back(stand_in_row("simulated cuBLASLt", "libplait_sim_cublaslt.so", "cublasLtCreate"));
  rows.push_back(stand_in_row("simulated NCCL", "libplait_sim_nccl.so", "ncclGetVersion"));
  fmt::print("{}", table(rows));
  return 0;
}

}  // namespace plait::tool
