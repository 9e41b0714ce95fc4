// Launches: blocks in an order that the seed gives, one after the other, or several side by side where they may wait
// for each other.
#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

#include "base/error.h"
#include "sim/ptx/cluster.h"
#include "sim/ptx/lanes.h"
#include "sim/ptx/launch_memory.h"
#include "sim/ptx/meter.h"

namespace plait::sim {
namespace ptx {

std::string thread_text(const Run& run, uint32_t warp, int lane) {
  const std::array<uint32_t, 3>& extents = run.launch->block;
  const uint32_t thread = warp * kLanes + static_cast<uint32_t>(lane);
  return text_of({thread % extents[0], thread / extents[0] % extents[1], thread / extents[0] / extents[1]});
}

std::string text_of(const std::array<uint32_t, 3>& index) {
  return fmt::format("({}, {}, {})", index[0], index[1], index[2]);
}

std::array<uint32_t, 3> block_index(const Run& run, uint32_t number) {
  const std::array<uint32_t, 3>& grid = run.launch->grid;
  return {number % grid[0], number / grid[0] % grid[1], number / grid[0] / grid[1]};
}

size_t shared_size(const Run& run) { return run.kernel->info.shared_bytes + run.launch->shared_bytes; }

void fail(const Warp& warp, const Instruction& instruction, int lane, int code, const std::string& what) {
  const Run& run = *warp.run;
  if (lane < 0) lane = std::countr_zero(warp.exec);
  throw Fault{code, fmt::format("{}\n  {}, block {}, thread {}\n  {}", what, run.space->trace().describe(run.actor->id),
                                text_of(warp.block), thread_text(run, warp.number, lane),
                                describe(*run.module, run.kernel->statements[instruction.statement]))};
}

namespace {

constexpr uint64_t kSlice = 4096;  // instructions of a warp before the next one has its turn
constexpr uint32_t kMostThreads = 1024;
constexpr uint64_t kMostBlocks = 16;        // of a cluster
constexpr size_t kMostShared = 227 * 1024;  // of a block, of any device

void check_launch(const PtxModule& module, const Launch& launch, const KernelInfo& info) {
  const auto refuse = [&](int code, const std::string& what) {
    throw Fault{code, fmt::format("launch of {}: {}", info.name, what)};
  };
  if (launch.parameters.size() != info.parameter_bytes)
    refuse(kInvalidValue, fmt::format("{} bytes of parameters of {}", launch.parameters.size(), info.parameter_bytes));
  if (launch.globals.size() != module.globals().size()) refuse(kInvalidValue, "addresses of variables are missing");
  uint64_t threads = 1;
  for (int k = 0; k < 3; ++k) {
    if (launch.grid[k] == 0 || launch.block[k] == 0)
      refuse(kInvalidValue, fmt::format("grid {} or block {} is empty", text_of(launch.grid), text_of(launch.block)));
    threads *= launch.block[k];
  }
  const auto& most = info.max_threads;
  const auto& required = info.required_threads;
  if (threads > kMostThreads || launch.block[2] > 64)
    refuse(kInvalidValue, fmt::format("block {} is larger than a device takes", text_of(launch.block)));
  if (launch.grid[1] > 65535 || launch.grid[2] > 65535 || launch.grid[0] > 0x7fffffffu)
    refuse(kInvalidValue, fmt::format("grid {} is larger than a device takes", text_of(launch.grid)));
  if (most[0] != 0 && threads > uint64_t(most[0]) * most[1] * most[2])
    refuse(kLaunchOutOfResources, fmt::format("block {} exceeds .maxntid {}", text_of(launch.block), text_of(most)));
  if (required[0] != 0 && launch.block != required)
    refuse(kInvalidValue, fmt::format("block {} is not .reqntid {}", text_of(launch.block), text_of(required)));
  if (uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] > ~uint32_t(0))
    refuse(kInvalidValue, fmt::format("grid {} has more blocks than are simulated", text_of(launch.grid)));
  if (info.shared_bytes + launch.shared_bytes > kMostShared)
    refuse(kInvalidValue,
           fmt::format("{} bytes of shared memory of {}", info.shared_bytes + launch.shared_bytes, kMostShared));
}

// Clusters in the order of their start. Any seed but 0 walks them from a drawn one in steps of a drawn number that has
// no factor with theirs.
class Clusters {
 public:
  Clusters(uint64_t count, uint64_t seed, std::mt19937_64& random) : count_(count) {
    if (seed == 0) return;
    do {
      step_ = 1 + random() % count;
    } while (std::gcd(step_, count) != 1);
    at_ = random() % count;
  }
  bool some_left() const { return begun_ < count_; }
  uint32_t next() {
    const uint64_t out = at_;
    ++begun_;
    at_ = (at_ + step_) % count_;
    return static_cast<uint32_t>(out);
  }

 private:
  uint64_t count_, step_ = 1, at_ = 0, begun_ = 0;
};

// How many clusters run side by side: one where no block waits for others; all of a cooperative launch; of another one
// they are drawn, fewer than there are, since nothing says that a block which another one waits for has begun.
uint64_t resident_clusters(const Run& run, uint64_t clusters, std::mt19937_64& random) {
  constexpr uint64_t kMost = 8;
  if (!run.program->blocks_wait) return 1;
  if (run.launch->cooperative) return clusters;
  return run.launch->seed == 0 || clusters == 1 ? 1 : 1 + random() % std::min(clusters - 1, kMost);
}

// 0, 1, ...; shuffled by any seed but 0.
std::vector<uint32_t> order_of(uint32_t count, uint64_t seed, std::mt19937_64& random) {
  std::vector<uint32_t> out(count);
  std::iota(out.begin(), out.end(), 0u);
  if (seed != 0) std::shuffle(out.begin(), out.end(), random);
  return out;
}

LaunchCounts run_clusters(const Run& run, Clusters& clusters, uint64_t resident, const std::vector<uint32_t>& warps,
                          std::mt19937_64& random) {
  const bool draws = (run.program->blocks_wait || run.program->clusters_wait) && run.launch->seed != 0;
  const std::vector<uint32_t> ranks = order_of(cluster_size(run), run.launch->seed, random);
  std::vector<std::unique_ptr<Cluster>> running, idle;
  while (true) {
    while (running.size() < resident && clusters.some_left()) {
      if (idle.empty()) idle.push_back(std::make_unique<Cluster>(run));
      running.push_back(std::move(idle.back()));
      idle.pop_back();
      running.back()->begin(clusters.next(), ranks, warps);
    }
    if (running.empty()) break;
    const uint64_t slice = draws ? uint64_t(1) << random() % 13 : kSlice;
    for (size_t i = 0; i < running.size();) {
      if (running[i]->run_turn(slice)) {
        ++i;
        continue;
      }
      idle.push_back(std::move(running[i]));
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  LaunchCounts out;
  bool waited = false;
  for (const auto& each : idle) {
    waited |= each->has_waited_for_grids();
    out.add(each->counts());
  }
  if (run.launch->programmatic && !waited)
    throw Fault{kLaunchFailed,
                fmt::format("{} ends without griddepcontrol.wait: what comes behind it may run before what is in front "
                            "of it has ended",
                            run.space->trace().describe(run.actor->id))};
  return out;
}

}  // namespace
}  // namespace ptx

std::array<uint32_t, 3> cluster_of(const Launch& launch, const KernelInfo& info) {
  const auto refuse = [&](const std::string& what) {
    throw Fault{kInvalidClusterSize, fmt::format("launch of {}: {}", info.name, what)};
  };
  const bool asked = launch.cluster[0] != 0, declared = info.cluster[0] != 0;
  if (asked && declared && launch.cluster != info.cluster)
    refuse(fmt::format("a cluster {} where the kernel declares {}", ptx::text_of(launch.cluster),
                       ptx::text_of(info.cluster)));
  const std::array<uint32_t, 3> out = asked      ? launch.cluster
                                      : declared ? info.cluster
                                                 : std::array<uint32_t, 3>{1, 1, 1};
  uint64_t blocks = 1;
  for (size_t k = 0; k < 3; ++k) {
    blocks *= out[k];
    if (out[k] == 0 || launch.grid[k] % out[k] != 0)
      refuse(fmt::format("grid {} does not consist of clusters {}", ptx::text_of(launch.grid), ptx::text_of(out)));
  }
  if (blocks > ptx::kMostBlocks)
    refuse(fmt::format("a cluster {} of more than {} blocks", ptx::text_of(out), ptx::kMostBlocks));
  return out;
}

LaunchCounts launch(const PtxModule& module, const Launch& launch, const Actor& actor, AddressSpace& space) {
  const size_t kernel = static_cast<size_t>(launch.kernel);
  const PtxCode& code = module.code();
  PLAIT_CHECK(kernel < code.programs.size(), "kernel {} of {}", launch.kernel, code.programs.size());
  ptx::check_launch(module, launch, module.kernels()[kernel]);
  MemoryCounts memory;
  ptx::Meter meter(memory);
  ptx::LaunchMemory known;
  const ptx::Run run{&code.module,
                     &code.module.kernels[kernel],
                     &code.programs[kernel],
                     &launch,
                     &actor,
                     &space,
                     launch.metered ? &meter : nullptr,
                     &known,
                     cluster_of(launch, module.kernels()[kernel])};
  const uint64_t count = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] / ptx::cluster_size(run);
  const uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  std::mt19937_64 random(launch.seed);
  ptx::Clusters clusters(count, launch.seed, random);
  const std::vector<uint32_t> warps = ptx::order_of((threads + ptx::kLanes - 1) / ptx::kLanes, launch.seed, random);
  LaunchCounts counts = ptx::run_clusters(run, clusters, ptx::resident_clusters(run, count, random), warps, random);
  counts.memory = memory;
  return counts;
}

}  // namespace plait::sim
