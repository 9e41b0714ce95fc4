// Launches: blocks in an order that the seed gives, one after the other, or several side by side where they may wait
// for each other.
#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

#include "base/error.h"
#include "sim/ptx/lanes.h"
#include "sim/ptx/launch_memory.h"
#include "sim/ptx/meter.h"
#include "sim/ptx/thread_block.h"

namespace plait::sim {
namespace ptx {

std::string thread_text(const Run& run, uint32_t warp, int lane) {
  const std::array<uint32_t, 3>& extents = run.launch->block;
  const uint32_t thread = warp * kLanes + static_cast<uint32_t>(lane);
  return fmt::format("({}, {}, {})", thread % extents[0], thread / extents[0] % extents[1],
                     thread / extents[0] / extents[1]);
}

std::array<uint32_t, 3> block_index(const Run& run, uint32_t number) {
  const std::array<uint32_t, 3>& grid = run.launch->grid;
  return {number % grid[0], number / grid[0] % grid[1], number / grid[0] / grid[1]};
}

size_t shared_size(const Run& run) { return run.kernel->info.shared_bytes + run.launch->shared_bytes; }

void fail(const Warp& warp, const Instruction& instruction, int lane, int code, const std::string& what) {
  const Run& run = *warp.run;
  if (lane < 0) lane = std::countr_zero(warp.exec);
  throw Fault{code, fmt::format("{}\n  {}, block ({}, {}, {}), thread {}\n  {}", what,
                                run.space->trace().describe(run.actor->id), warp.block[0], warp.block[1], warp.block[2],
                                thread_text(run, warp.number, lane),
                                describe(*run.module, run.kernel->statements[instruction.statement]))};
}

namespace {

constexpr uint64_t kSlice = 4096;  // instructions of a warp before the next one has its turn
constexpr uint32_t kMostThreads = 1024;
constexpr size_t kMostShared = 227 * 1024;  // of a block, of any device

void check_launch(const PtxModule& module, const Launch& launch, const KernelInfo& info) {
  const auto refuse = [&](int code, const std::string& what) {
    throw Fault{code, fmt::format("launch of {}: {}", info.name, what)};
  };
  if (launch.parameters.size() != info.parameter_bytes)
    refuse(kInvalidValue, fmt::format("{} bytes of parameters of {}", launch.parameters.size(), info.parameter_bytes));
  if (launch.globals.size() != module.globals().size()) refuse(kInvalidValue, "addresses of variables are missing");
  const auto text = [](const auto& e) { return fmt::format("({}, {}, {})", e[0], e[1], e[2]); };
  uint64_t threads = 1;
  for (int k = 0; k < 3; ++k) {
    if (launch.grid[k] == 0 || launch.block[k] == 0)
      refuse(kInvalidValue, fmt::format("grid {} or block {} is empty", text(launch.grid), text(launch.block)));
    threads *= launch.block[k];
  }
  const auto& most = info.max_threads;
  const auto& required = info.required_threads;
  if (threads > kMostThreads || launch.block[2] > 64)
    refuse(kInvalidValue, fmt::format("block {} is larger than a device takes", text(launch.block)));
  if (launch.grid[1] > 65535 || launch.grid[2] > 65535 || launch.grid[0] > 0x7fffffffu)
    refuse(kInvalidValue, fmt::format("grid {} is larger than a device takes", text(launch.grid)));
  if (most[0] != 0 && threads > uint64_t(most[0]) * most[1] * most[2])
    refuse(kLaunchOutOfResources, fmt::format("block {} exceeds .maxntid {}", text(launch.block), text(most)));
  if (required[0] != 0 && launch.block != required)
    refuse(kInvalidValue, fmt::format("block {} is not .reqntid {}", text(launch.block), text(required)));
  if (uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] > ~uint32_t(0))
    refuse(kInvalidValue, fmt::format("grid {} has more blocks than are simulated", text(launch.grid)));
  if (info.shared_bytes + launch.shared_bytes > kMostShared)
    refuse(kInvalidValue,
           fmt::format("{} bytes of shared memory of {}", info.shared_bytes + launch.shared_bytes, kMostShared));
}

// Blocks in the order of their start. Any seed but 0 walks them from a drawn one in steps of a drawn number that has no
// factor with theirs.
class Blocks {
 public:
  Blocks(uint64_t count, uint64_t seed, std::mt19937_64& random) : count_(count) {
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

// How many run side by side: one where none waits for others; all of a cooperative launch; of another one they are
// drawn, fewer than there are, since nothing says that a block which another one waits for has begun.
uint64_t resident_blocks(const Run& run, uint64_t blocks, std::mt19937_64& random) {
  constexpr uint64_t kMost = 8;
  if (!run.program->blocks_wait) return 1;
  if (run.launch->cooperative) return blocks;
  return run.launch->seed == 0 || blocks == 1 ? 1 : 1 + random() % std::min(blocks - 1, kMost);
}

LaunchCounts run_blocks(const Run& run, Blocks& blocks, uint64_t resident, const std::vector<uint32_t>& warps,
                        std::mt19937_64& random) {
  const bool draws = run.program->blocks_wait && run.launch->seed != 0;
  std::vector<std::unique_ptr<ThreadBlock>> running, idle;
  while (true) {
    while (running.size() < resident && blocks.some_left()) {
      if (idle.empty()) idle.push_back(std::make_unique<ThreadBlock>(run));
      running.push_back(std::move(idle.back()));
      idle.pop_back();
      running.back()->begin(blocks.next(), warps);
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
                     &known};
  const uint64_t count = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  const uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  std::vector<uint32_t> warps((threads + ptx::kLanes - 1) / ptx::kLanes);
  std::iota(warps.begin(), warps.end(), 0u);
  std::mt19937_64 random(launch.seed);
  ptx::Blocks blocks(count, launch.seed, random);
  if (launch.seed != 0) std::shuffle(warps.begin(), warps.end(), random);
  LaunchCounts counts = ptx::run_blocks(run, blocks, ptx::resident_blocks(run, count, random), warps, random);
  counts.memory = memory;
  return counts;
}

}  // namespace plait::sim
