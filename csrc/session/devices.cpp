// The devices of the process, by name.
#include <dlfcn.h>

#include <atomic>
#include <charconv>
#include <filesystem>
#include <map>
#include <mutex>

#include "backend/cpu/cpu_device.h"
#include "backend/cuda/cuda_device.h"
#include "base/error.h"
#include "base/forks.h"
#include "base/log.h"
#include "base/plugin_loader.h"
#include "base/suggest.h"
#include "reference/contraction_executable.h"
#include "session/communication.h"
#include "session/devices.h"

namespace plait {

namespace {

constexpr std::string_view kSimulated = "sim:";

// As the stand-in has it (sim/cuda/simulator.h).
struct RawMeter {
  const char* kernel;
  uint64_t launches, warp_instructions, thread_instructions;
  uint64_t kinds[6];
  uint64_t requests, sectors, least_sectors;
  uint64_t shared_requests, shared_passes, least_passes;
  uint64_t blocks, threads, shared_bytes, bytes_in_flight;
};

// The stand-in for the driver, loaded where it is first asked for.
struct SimulatedDriver {
  int (*add_devices)(const char*, int) = nullptr;
  void (*set_seed)(uint64_t) = nullptr;
  void (*set_metering)(int) = nullptr;
  size_t (*take_meters)(const RawMeter**) = nullptr;
  std::string path;
};

const SimulatedDriver& simulated_driver() {
  static const SimulatedDriver driver = [] {
    auto load = [](const char* symbol) { return load_plugin("libplait_sim_cuda.so", symbol, "", ""); };
    SimulatedDriver out;
    void* add = load("plait_sim_add_devices");
    out.add_devices = reinterpret_cast<int (*)(const char*, int)>(add);
    out.set_seed = reinterpret_cast<void (*)(uint64_t)>(load("plait_sim_set_seed"));
    out.set_metering = reinterpret_cast<void (*)(int)>(load("plait_sim_set_metering"));
    out.take_meters = reinterpret_cast<size_t (*)(const RawMeter**)>(load("plait_sim_take_meters"));
    Dl_info info;
    PLAIT_CHECK(dladdr(add, &info) != 0 && info.dli_fname, "the simulated driver has no path");
    out.path = info.dli_fname;
    return out;
  }();
  return driver;
}

// A library beside the simulated driver.
std::string simulated_library(const char* file) {
  return (std::filesystem::path(simulated_driver().path).parent_path() / file).string();
}

struct SimulatedName {
  std::string architecture;
  int count = 1;
};

// "sim:sm_90a:4"
SimulatedName parse_simulated(const std::string& name) {
  constexpr const char* kRemedy = "write sim:ARCH or sim:ARCH:N, e.g. sim:sm_90a:4";
  SimulatedName out;
  out.architecture = name.substr(kSimulated.size());
  if (size_t at = out.architecture.find(':'); at != std::string::npos) {
    const std::string text = out.architecture.substr(at + 1);
    out.architecture.resize(at);
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.count);
    if (error != std::errc() || end != text.data() + text.size() || out.count < 1 || out.count > 64)
      throw UserError(fmt::format("`{}` is no number of simulated devices", text), "device " + name, kRemedy);
  }
  if (out.architecture != "sm_80" && out.architecture != "sm_90a")
    throw UserError(fmt::format("there is no simulated device `{}`", out.architecture), "device " + name,
                    suggestion(out.architecture, {"sm_80", "sm_90a"}));
  return out;
}

std::unique_ptr<Device> make_gpu(const std::string& name, const Options& options) {
  CudaOptions how;
  how.name = name;
  how.allow_tf32 = options.allow_tf32;
  how.nvtx = options.nvtx;
  how.disk_cache = options.disk_cache;
  if (is_simulated(name)) {
    const SimulatedName simulated = parse_simulated(name);
    const int first = simulated_driver().add_devices(simulated.architecture.c_str(), simulated.count);
    PLAIT_CHECK(first >= 0, "the simulated driver has no {}", simulated.architecture);
    for (int i = 0; i < simulated.count; ++i) how.ordinals.push_back(first + i);
    how.driver = simulated_driver().path;
    how.code = CudaCode::ptx;
    how.cublaslt = simulated_library("libplait_sim_cublaslt.so");
  }
  return make_cuda_device(how);
}

}  // namespace

std::string default_device(int64_t ranks, const std::string& comm) {
  const int64_t here = comm == "given" || job_processes(comm) ? 1 : ranks;
  if (comm != "mpi" && cuda_available({}, nullptr) && (here == 1 || find_device("cuda", {}).count() >= here))
    return "cuda";
  try {
    load_plugin("libplait_llvm.so", "plait_llvm_interface", "", "llvm-19-dev");
    return "cpu";
  } catch (const MissingError& e) {
    static std::atomic<bool> told = false;
    if (!told.exchange(true))
      log(LogComponent::library, LogLevel::warn,
          "there is no compiler, and the device `reference` is taken, which evaluates op by op: {}; {}", e.message(),
          e.remedy());
    return "reference";
  }
}

std::vector<DeviceInfo> devices() {
  const std::string first = default_device();
  std::vector<DeviceInfo> out;
  for (const char* name : {"cuda", "cpu", "reference", "sim:sm_80", "sim:sm_90a"}) {
    if (name == std::string_view("cpu") && first == "reference") continue;  // there is no LLVM
    try {
      Device& device = find_device(name, {});
      const Target& target = device.target();
      out.push_back(
          {name, device.count(), target, target.kind == TargetKind::reference ? "" : print(target), name == first});
    } catch (const MissingError&) {  // not here
    } catch (const UserError&) {     // not in this forked process
    }
  }
  std::ranges::stable_partition(out, &DeviceInfo::is_default);
  return out;
}

bool is_simulated(const std::string& device) { return device.rfind(kSimulated, 0) == 0; }

std::string simulated_architecture(const std::string& device) { return parse_simulated(device).architecture; }

void meter_simulated_gpus(bool on) { simulated_driver().set_metering(on ? 1 : 0); }

std::vector<KernelMeter> take_meters() {
  const RawMeter* meters = nullptr;
  const size_t count = simulated_driver().take_meters(&meters);
  std::vector<KernelMeter> out;
  for (const RawMeter* m = meters; m != meters + count; ++m)
    out.push_back({m->kernel, m->launches, m->warp_instructions, m->thread_instructions, std::to_array(m->kinds),
                   m->requests, m->sectors, m->least_sectors, m->shared_requests, m->shared_passes, m->least_passes,
                   m->blocks, m->threads, m->shared_bytes, m->bytes_in_flight});
  return out;
}

std::string nccl_library(const Device& device) {
  return is_simulated(device.name()) ? simulated_library("libplait_sim_nccl.so") : "";
}

void set_simulation_seed(const Device& device, uint64_t seed) {
  if (is_simulated(device.name())) simulated_driver().set_seed(seed);
}

Device& find_device(const std::string& name, const Options& options) {
  static std::mutex mutex;
  // The device table of the process. GPUs stay until it ends: their libraries may be gone before static objects are.
  static std::map<std::string, std::unique_ptr<Device>> hosts;
  static auto& gpus = *new std::map<std::string, std::unique_ptr<Device>>;
  std::lock_guard lock(mutex);
  if (name == "cuda" || is_simulated(name)) {
    auto& slot = gpus[fmt::format("{}:{}:{}:{}", name, options.allow_tf32, options.nvtx, options.disk_cache)];
    if (!slot) slot = make_gpu(name, options);
    static const uint64_t forks = fork_count();  // of the process that first asked for a GPU
    if (forks != fork_count())
      throw UserError("this process was forked from one that has used GPUs, whose driver does not work here",
                      "device " + name, "start it as a new process (multiprocessing: the method spawn)");
    return *slot;
  }
  auto& slot = hosts[fmt::format("{}:{}:{}:{}:{}:{}", name, options.cpu_threads, options.cpu_lanes, options.cpu,
                                 options.kept_memory, options.disk_cache)];
  if (slot) return *slot;
  if (name == "cpu") {
    slot = make_cpu_device({static_cast<int>(options.cpu_threads),
                            static_cast<int>(options.cpu_lanes),
                            "",
                            options.kept_memory,
                            options.disk_cache,
                            {},
                            options.cpu});
  } else if (name == "reference") {
    slot = reference::make_reference_device();
  } else {
    throw UserError(fmt::format("there is no device `{}`", name), "",
                    name == "gpu" || name == "nvidia"
                        ? "did you mean `cuda`?"
                        : suggestion(name, {"cpu", "reference", "cuda", "sim:sm_80", "sim:sm_90a"}));
  }
  return *slot;
}

}  // namespace plait
