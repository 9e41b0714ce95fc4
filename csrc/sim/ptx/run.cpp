// Launches: blocks in order of the seed, warps of a block one after the other.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>

#include "base/error.h"
#include "sim/ptx/lanes.h"
#include "sim/ptx/program.h"

namespace plait::sim {
namespace ptx {

void fail(const Warp& warp, const Instruction& instruction, int lane, int code, const std::string& what) {
  const Run& run = *warp.run;
  if (lane < 0) lane = std::countr_zero(warp.exec);
  const std::array<uint32_t, 3>& extents = run.launch->block;
  const uint32_t thread = warp.number * kLanes + static_cast<uint32_t>(lane);
  const uint32_t x = thread % extents[0], y = thread / extents[0] % extents[1], z = thread / extents[0] / extents[1];
  throw Fault{code, fmt::format("{}\n  {}, block ({}, {}, {}), thread ({}, {}, {})\n  {}", what,
                                run.space->trace().describe(run.actor->id), warp.block[0], warp.block[1], warp.block[2],
                                x, y, z, describe(*run.module, run.kernel->statements[instruction.statement]))};
}

namespace {

constexpr uint32_t kNoPlace = ~0u;

// Where the lanes of a warp are.
class Places {
 public:
  explicit Places(uint32_t live) : live_(live), active_(live) { at_.fill(0); }
  bool any() const { return live_ != 0; }
  uint32_t active() const { return active_; }
  uint32_t place() const { return place_; }

  // The active lanes go on; lanes that wait at the new place join them.
  void next() { go(place_ + 1); }
  void branch(uint32_t taken, uint32_t target) {
    if (taken == active_) {
      target > waiting_at_ ? leave_to(target) : go(target);
    } else if (taken == 0) {
      next();
    } else {
      set(taken, target);
      set(active_ & ~taken, place_ + 1);
      choose();
    }
  }
  void leave(uint32_t lanes) {
    live_ &= ~lanes;
    set(active_ & ~lanes, place_ + 1);
    choose();
  }

 private:
  void go(uint32_t place) {
    place_ = place;
    if (place == waiting_at_) leave_to(place);
  }
  void leave_to(uint32_t place) {
    set(active_, place);
    choose();
  }
  void set(uint32_t lanes, uint32_t place) {
    for (; lanes != 0; lanes &= lanes - 1) at_[std::countr_zero(lanes)] = place;
  }
  // Those at the smallest place run, until they reach the next one that waits.
  void choose() {
    place_ = waiting_at_ = kNoPlace;
    for (uint32_t rest = live_; rest != 0; rest &= rest - 1) {
      const uint32_t at = at_[std::countr_zero(rest)];
      if (at < place_) {
        waiting_at_ = place_;
        place_ = at;
      } else if (at > place_) {
        waiting_at_ = std::min(waiting_at_, at);
      }
    }
    active_ = 0;
    for (uint32_t rest = live_; rest != 0; rest &= rest - 1)
      if (at_[std::countr_zero(rest)] == place_) active_ |= rest & (0 - rest);
  }

  std::array<uint32_t, kLanes> at_;
  uint32_t live_, active_;
  uint32_t place_ = 0, waiting_at_ = kNoPlace;
};

void run_warp(Warp& warp, uint32_t live, LaunchCounts& counts) {
  const Instruction* code = warp.run->program->code.data();
  const uint64_t budget = warp.run->launch->budget;
  uint64_t steps = 0, threads = 0;
  Places places(live);
  while (places.any()) {
    const Instruction& i = code[places.place()];
    const uint32_t lanes = places.active() & (warp.predicates[i.guard] ^ i.guard_flip);
    warp.exec = lanes;
    ++steps;
    threads += lanes == ~0u ? kLanes : static_cast<uint64_t>(std::popcount(lanes));
    if (steps > budget) {
      warp.exec = places.active();
      fail(warp, i, -1, kLaunchFailed, fmt::format("no end: a warp executed {} instructions", budget));
    }
    if (i.control == Control::next) {
      if (lanes != 0) i.run(warp, i);
      places.next();
    } else if (i.control == Control::branch) {
      places.branch(lanes, i.target);
    } else if (lanes == 0) {
      places.next();
    } else {
      places.leave(lanes);
    }
  }
  counts.warp_instructions += steps;
  counts.thread_instructions += threads;
}

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

// The state of one warp at a time, and all that it needs to start.
class Runner {
 public:
  explicit Runner(const Run& run) : run_(run), program_(*run.program) {
    const size_t bytes = (size_t(program_.words) * 4 + 63) / 64 * 64;
    file_.reset(static_cast<uint32_t*>(std::aligned_alloc(64, std::max<size_t>(bytes, 64))));
    if (!file_) throw std::bad_alloc();
    std::memset(file_.get(), 0, bytes);
    predicates_.assign(program_.predicates, 0);
    predicates_[kTrue] = ~0u;
    const size_t local = kLanes * run.kernel->info.local_bytes;
    local_.assign(local, 0);
    local_written_.assign(local, 0);
    warp_ = {.run = &run_,
             .file = file_.get(),
             .predicates = predicates_.data(),
             .local = local_.data(),
             .local_written = local_written_.data()};
    for (const FixedRow& each : program_.fixed) fill_constant(each);
  }

  void block(const std::array<uint32_t, 3>& index, const std::vector<uint32_t>& order) {
    warp_.block = index;
    for (const FixedRow& each : program_.fixed)
      if (each.kind == FixedRow::Kind::block) fill(each, index[each.value]);
    const std::array<uint32_t, 3>& extents = run_.launch->block;
    const uint32_t threads = extents[0] * extents[1] * extents[2];
    for (uint32_t number : order) {
      start(number);
      const uint32_t lanes = std::min<uint32_t>(kLanes, threads - number * kLanes);
      run_warp(warp_, lanes == kLanes ? ~0u : (1u << lanes) - 1, counts_);
    }
  }
  const LaunchCounts& counts() const { return counts_; }

 private:
  void fill(const FixedRow& row, uint64_t value) {
    for (int lane = 0; lane < kLanes; ++lane) {
      if (row.wide)
        row64(warp_, row.row)[lane] = value;
      else
        row32(warp_, row.row)[lane] = static_cast<uint32_t>(value);
    }
  }

  void fill_constant(const FixedRow& row) {
    switch (row.kind) {
      case FixedRow::Kind::value:
        return fill(row, row.value);
      case FixedRow::Kind::global:
        return fill(row, run_.launch->globals.at(static_cast<size_t>(row.global)) + row.value);
      case FixedRow::Kind::threads:
        return fill(row, run_.launch->block[row.value]);
      case FixedRow::Kind::blocks:
        return fill(row, run_.launch->grid[row.value]);
      case FixedRow::Kind::lane:
        for (int lane = 0; lane < kLanes; ++lane) row32(warp_, row.row)[lane] = static_cast<uint32_t>(lane);
        return;
      case FixedRow::Kind::thread:
      case FixedRow::Kind::block:
      case FixedRow::Kind::warp:
        return;
    }
  }

  void start(uint32_t number) {
    warp_.number = number;
    const std::array<uint32_t, 3>& extents = run_.launch->block;
    for (const FixedRow& each : program_.fixed) {
      if (each.kind == FixedRow::Kind::warp) fill(each, number);
      if (each.kind != FixedRow::Kind::thread) continue;
      for (int lane = 0; lane < kLanes; ++lane) {
        const uint32_t thread = number * kLanes + static_cast<uint32_t>(lane);
        row32(warp_, each.row)[lane] = each.value == 0   ? thread % extents[0]
                                       : each.value == 1 ? thread / extents[0] % extents[1]
                                                         : thread / extents[0] / extents[1];
      }
    }
    for (uint32_t each : program_.written) predicates_[each] = 0;
    std::fill(local_written_.begin(), local_written_.end(), uint8_t(0));
  }

  const Run& run_;
  const Program& program_;
  std::unique_ptr<uint32_t, FreeMemory> file_;
  std::vector<uint32_t> predicates_;
  std::vector<uint8_t> local_, local_written_;
  Warp warp_;
  LaunchCounts counts_;
};

constexpr uint32_t kMostThreads = 1024;

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
  if (launch.shared_bytes > 0) refuse(kInvalidValue, "shared memory is not modelled");
}

}  // namespace
}  // namespace ptx

LaunchCounts launch(const PtxModule& module, const Launch& launch, const Actor& actor, AddressSpace& space) {
  const size_t kernel = static_cast<size_t>(launch.kernel);
  const PtxCode& code = module.code();
  PLAIT_CHECK(kernel < code.programs.size(), "kernel {} of {}", launch.kernel, code.programs.size());
  ptx::check_launch(module, launch, module.kernels()[kernel]);
  const ptx::Run run{&code.module, &code.module.kernels[kernel], &code.programs[kernel], &launch, &actor, &space};
  ptx::Runner runner(run);
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
    runner.block(
        {static_cast<uint32_t>(at % launch.grid[0]), static_cast<uint32_t>(at / launch.grid[0] % launch.grid[1]),
         static_cast<uint32_t>(at / launch.grid[0] / launch.grid[1])},
        warps);
  return runner.counts();
}

}  // namespace plait::sim
