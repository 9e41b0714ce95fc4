// Launches: blocks one after the other, in an order that the seed gives.
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
  if (info.shared_bytes + launch.shared_bytes > kMostShared)
    refuse(kInvalidValue,
           fmt::format("{} bytes of shared memory of {}", info.shared_bytes + launch.shared_bytes, kMostShared));
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
  ptx::ThreadBlock runner(run);
  const uint64_t blocks = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  const uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  std::vector<uint32_t> warps((threads + ptx::kLanes - 1) / ptx::kLanes);
  std::iota(warps.begin(), warps.end(), 0u);
  std::mt19937_64 random(launch.seed);
  // Any seed but 0 walks the blocks from a drawn one in steps of a drawn number that has no factor with theirs.
  uint64_t step = 1, at = 0;
  if (launch.seed != 0) {
    do {
      step = 1 + random() % blocks;
    } while (std::gcd(step, blocks) != 1);
    at = random() % blocks;
    std::shuffle(warps.begin(), warps.end(), random);
  }
  for (uint64_t i = 0; i < blocks; ++i, at = (at + step) % blocks)
    runner.run_block(
        {static_cast<uint32_t>(at % launch.grid[0]), static_cast<uint32_t>(at / launch.grid[0] % launch.grid[1]),
         static_cast<uint32_t>(at / launch.grid[0] / launch.grid[1])},
        warps);
  LaunchCounts counts = runner.counts();
  counts.memory = memory;
  return counts;
}

}  // namespace plait::sim
