#include "sim/ptx/thread_block.h"

#include <cstring>

#include "base/error.h"
#include "sim/ptx/cluster.h"
#include "sim/ptx/lanes.h"
#include "sim/ptx/launch_memory.h"

namespace plait::sim::ptx {

namespace {

uint32_t threads_of(const Launch& launch) { return launch.block[0] * launch.block[1] * launch.block[2]; }
uint32_t warps_of(const Launch& launch) { return (threads_of(launch) + kLanes - 1) / kLanes; }

}  // namespace

ThreadBlock::ThreadBlock(const Run& run, Cluster& cluster, uint32_t rank)
    : run_(run),
      program_(*run.program),
      cluster_(cluster),
      rank_(rank),
      one_state_(!run.program->waits),
      warps_(one_state_ ? 1 : warps_of(*run.launch)),
      shared_(shared_size(run)),
      order_(warps_of(*run.launch), run.program->fences),
      copies_(run.program->copies ? warps_of(*run.launch) : 0) {
  for (WarpState& each : warps_) make_state(each);
}

void ThreadBlock::make_state(WarpState& state) {
  const size_t bytes = std::max<size_t>((size_t(program_.words) * 4 + 63) / 64 * 64, 64);
  state.file.reset(static_cast<uint32_t*>(std::aligned_alloc(64, bytes)));
  if (!state.file) throw std::bad_alloc();
  std::memset(state.file.get(), 0, bytes);
  state.predicates.assign(program_.predicates, 0);
  state.predicates[kTrue] = ~0u;
  const size_t local = kLanes * run_.kernel->info.local_bytes;
  state.local.assign(local, 0);
  state.local_written.assign(local, 0);
  state.warp = {.run = &run_,
                .file = state.file.get(),
                .predicates = state.predicates.data(),
                .local = state.local.data(),
                .local_written = state.local_written.data(),
                .of = this};
  for (const FixedRow& each : program_.fixed) fill_constant(state.warp, each);
}

// ---- Rows that no instruction writes.

void ThreadBlock::fill(Warp& warp, const FixedRow& row, uint64_t value) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (row.wide)
      row64(warp, row.row)[lane] = value;
    else
      row32(warp, row.row)[lane] = static_cast<uint32_t>(value);
  }
}

void ThreadBlock::fill_constant(Warp& warp, const FixedRow& row) {
  switch (row.kind) {
    case FixedRow::Kind::value:
      return fill(warp, row, row.value);
    case FixedRow::Kind::global:
      return fill(warp, row, run_.launch->globals.at(static_cast<size_t>(row.global)) + row.value);
    case FixedRow::Kind::threads:
      return fill(warp, row, run_.launch->block[row.value]);
    case FixedRow::Kind::blocks:
      return fill(warp, row, run_.launch->grid[row.value]);
    case FixedRow::Kind::clusters:
      return fill(warp, row, run_.launch->grid[row.value] / run_.cluster[row.value]);
    case FixedRow::Kind::cluster_blocks:
      return fill(warp, row, run_.cluster[row.value]);
    case FixedRow::Kind::cluster_size:
      return fill(warp, row, cluster_size(run_));
    case FixedRow::Kind::cluster_rank:
      return fill(warp, row, rank_);
    case FixedRow::Kind::lane:
      for (int lane = 0; lane < kLanes; ++lane) row32(warp, row.row)[lane] = static_cast<uint32_t>(lane);
      return;
    case FixedRow::Kind::lane_mask:
      for (int lane = 0; lane < kLanes; ++lane) {
        const uint32_t own = 1u << lane, below = own - 1;
        const uint32_t masks[] = {own, own | below, below, ~below, ~(own | below)};
        row32(warp, row.row)[lane] = masks[row.value];
      }
      return;
    case FixedRow::Kind::thread:
    case FixedRow::Kind::block:
    case FixedRow::Kind::cluster:
    case FixedRow::Kind::cluster_block:
    case FixedRow::Kind::warp:
      return;
  }
}

void ThreadBlock::start(WarpState& state, uint32_t number, const std::array<uint32_t, 3>& index) {
  Warp& warp = state.warp;
  warp.number = number;
  warp.block = index;
  const std::array<uint32_t, 3>& extents = run_.launch->block;
  for (const FixedRow& each : program_.fixed) {
    if (each.kind == FixedRow::Kind::block) fill(warp, each, index[each.value]);
    if (each.kind == FixedRow::Kind::cluster) fill(warp, each, index[each.value] / run_.cluster[each.value]);
    if (each.kind == FixedRow::Kind::cluster_block) fill(warp, each, index[each.value] % run_.cluster[each.value]);
    if (each.kind == FixedRow::Kind::warp) fill(warp, each, number);
    if (each.kind != FixedRow::Kind::thread) continue;
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint32_t thread = number * kLanes + static_cast<uint32_t>(lane);
      row32(warp, each.row)[lane] = each.value == 0   ? thread % extents[0]
                                    : each.value == 1 ? thread / extents[0] % extents[1]
                                                      : thread / extents[0] / extents[1];
    }
  }
  for (uint32_t each : program_.written) state.predicates[each] = 0;
  std::fill(state.local_written.begin(), state.local_written.end(), uint8_t(0));
  const uint32_t lanes = std::min<uint32_t>(kLanes, threads_of(*run_.launch) - number * kLanes);
  state.places.start(lanes == kLanes ? ~0u : (1u << lanes) - 1);
  state.gathered = 0;
  state.steps = 0;
  state.cluster = {};
  warp.behind = 0;
}

// ---- Running.

void ThreadBlock::begin(uint32_t number, uint32_t cluster, const std::vector<uint32_t>& order) {
  order_.begin(number, cluster);
  if (shared_.bytes() > 0) shared_.begin(number);
  copies_.begin();
  turns_ = order;
  number_ = number;
  index_ = block_index(run_, number);
  has_ended_ = false;
  at_cluster_.clear();
  if (one_state_) return;
  for (uint32_t warp : turns_) start(warps_[warp], warp, index_);
  for (Barrier& each : barriers_) each.reset();
}

bool ThreadBlock::run_turn(uint64_t slice) {
  if (one_state_) {
    run_by_themselves();
    has_ended_ = true;
    return true;
  }
  bool some_live = false, some_ran = false;
  for (uint32_t number : turns_) {
    WarpState& state = warps_[number];
    some_ran |= state.places.active() != 0;
    run_warp(state, slice);
    some_ran |= complete_meetings(state);
    some_live |= state.places.live() != 0;
  }
  if (!some_live) end();
  return some_ran || !some_live || complete_barriers();
}

// Warps that wait for nothing, one after the other in the same registers.
void ThreadBlock::run_by_themselves() {
  for (uint32_t warp : turns_) {
    start(warps_[0], warp, index_);
    do {
      run_warp(warps_[0], ~uint64_t(0));
    } while (complete_meetings(warps_[0]));
    if (warps_[0].places.live() != 0) report_standstill();
  }
}

void ThreadBlock::run_warp(WarpState& state, uint64_t slice) {
  Warp& warp = state.warp;
  LanePlaces& places = state.places;
  const Instruction* code = program_.code.data();
  const uint64_t budget = run_.launch->budget;
  uint64_t steps = 0, threads = 0;
  while (places.active() != 0 && steps < slice) {
    const Instruction& i = code[places.place()];
    const uint32_t lanes = places.active() & (warp.predicates[i.guard] ^ i.guard_flip);
    warp.exec = lanes;
    ++steps;
    const uint64_t executing = lanes == ~0u ? kLanes : static_cast<uint64_t>(std::popcount(lanes));
    threads += executing;
    if (run_.meter != nullptr) counts_.kinds[static_cast<size_t>(i.kind)] += executing;
    if (state.steps + steps > budget) {
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
    } else if (i.control == Control::leave) {
      if (state.gathered != 0) report_divergence(state, lanes);
      places.leave(lanes);
    } else if (i.control == Control::meet) {
      meet(state, i, lanes);
    } else if (i.control == Control::cluster) {
      reach_cluster(state, i, lanes);
    } else {
      arrive(state, i, lanes);
    }
  }
  state.steps += steps;
  counts_.warp_instructions += steps;
  counts_.thread_instructions += threads;
}

// ---- Instructions of several lanes.

void ThreadBlock::meet(WarpState& state, const Instruction& i, uint32_t lanes) {
  const uint32_t* members = row32(state.warp, i.members);
  LanePlaces& places = state.places;
  bool whole = lanes == places.active();
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    whole = whole && (members[lane] & places.live()) == lanes;
    if ((members[lane] >> lane & 1) == 0)
      fail(state.warp, i, lane, kLaunchFailed,
           fmt::format("the mask {:#010x} of lanes that take part lacks lane {}, which executes it", members[lane],
                       lane));
  }
  if (whole) {
    i.run(state.warp, i);
    places.next();
    return;
  }
  places.wait(lanes);
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    if (const int lane = std::countr_zero(rest); (places.waiting() >> lane & 1) != 0) complete_meeting(state, lane);
}

// Executes the instruction at which a lane waits, if all lanes that it names and that have not ended wait there too.
bool ThreadBlock::complete_meeting(WarpState& state, int lane) {
  LanePlaces& places = state.places;
  const uint32_t place = places.place_of(lane);
  const Instruction& i = program_.code[place];
  const uint32_t* members = row32(state.warp, i.members);
  const uint32_t mask = members[lane];
  uint32_t there = 0;
  for (uint32_t rest = places.waiting(); rest != 0; rest &= rest - 1) {
    const int other = std::countr_zero(rest);
    if (places.place_of(other) != place) continue;
    if (members[other] == mask)
      there |= 1u << other;
    else if ((mask >> other & 1) != 0)
      fail(state.warp, i, lane, kLaunchFailed,
           fmt::format("lane {} takes part with the mask {:#010x}, lane {} of it with the mask {:#010x}", lane, mask,
                       other, members[other]));
  }
  if ((mask & places.live() & ~there) != 0) return false;
  state.warp.exec = there;
  i.run(state.warp, i);
  places.release(there);
  return true;
}

// Of lanes that others have stopped keeping waiting, because these ended.
bool ThreadBlock::complete_meetings(WarpState& state) {
  if (state.places.active() != 0) return false;
  for (uint32_t rest = state.places.waiting(); rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Instruction& i = program_.code[state.places.place_of(lane)];
    if (i.control == Control::meet && complete_meeting(state, lane)) return true;
  }
  return false;
}

// ---- Barriers.

// Whether all lanes of the warp are at its aligned barrier, with these that reach it; they wait for those that are not.
// Where the text has what some lanes go through in front of the barrier behind it, they come later.
bool ThreadBlock::gather(WarpState& state, uint32_t& lanes) {
  LanePlaces& places = state.places;
  if (state.gathered != 0 && places.place_of(std::countr_zero(state.gathered)) != places.place())
    report_divergence(state, lanes);
  lanes |= state.gathered;
  state.gathered = 0;
  if (lanes == places.live()) return true;
  state.gathered = lanes;
  places.wait(lanes & places.active());
  return false;
}

// Lanes of a warp go elsewhere than to the barrier at which some are gathered.
void ThreadBlock::report_divergence(WarpState& state, uint32_t others) {
  const LanePlaces& places = state.places;
  const int other = std::countr_zero(others);
  const Instruction& i = program_.code[places.place_of(std::countr_zero(state.gathered))];
  const Instruction& at = program_.code[places.place_of(other)];
  state.warp.exec = state.gathered;
  fail(state.warp, i, -1, kLaunchFailed,
       fmt::format("barrier divergence: thread {} of the same warp does not reach the barrier with this one\n"
                   "  it is at {}",
                   thread_text(run_, state.warp.number, other),
                   describe(*run_.module, run_.kernel->statements[at.statement])));
}

void ThreadBlock::arrive(WarpState& state, const Instruction& i, uint32_t lanes) {
  Warp& warp = state.warp;
  const int first = std::countr_zero(lanes);
  const uint32_t number = row32(warp, i.a)[first], expected = i.target != 0 ? row32(warp, i.b)[first] : 0;
  if (i.aligned && !gather(state, lanes)) return;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (row32(warp, i.a)[lane] != number || (i.target != 0 && row32(warp, i.b)[lane] != expected))
      fail(warp, i, lane, kLaunchFailed,
           "barrier divergence: lanes of a warp name different barriers or numbers of threads");
  }
  if (number >= barriers_.size())
    fail(warp, i, first, kLaunchFailed, fmt::format("barrier {} of {}", number, barriers_.size()));
  const uint32_t threads = warps_of(*run_.launch) * kLanes;
  if (i.target != 0 && (expected == 0 || expected % kLanes != 0 || expected > threads))
    fail(warp, i, first, kLaunchFailed,
         fmt::format("a barrier of {} threads: it must be a multiple of {}, at most the {} of the block", expected,
                     kLanes, threads));
  Barrier& barrier = barriers_[number];
  if (!barrier.begun) {
    barrier.begun = true;
    barrier.expected = expected;
    barrier.arrived.assign(warps_.size(), 0);
    barrier.waiting.assign(warps_.size(), 0);
  } else if (barrier.expected != expected) {
    fail(warp, i, first, kLaunchFailed,
         fmt::format("barrier {} is for {} threads here, and for {} where others have reached it", number, expected,
                     barrier.expected));
  }
  barrier.arrived[warp.number] |= lanes;
  barrier.threads += i.aligned ? kLanes : static_cast<uint64_t>(std::popcount(lanes));
  order_.arrive(warp.number, &barrier.together);
  if (i.barrier > BarrierKind::arrive) {
    const uint32_t holds = (warp.predicates[i.e] ^ static_cast<uint32_t>(i.immediate)) & lanes;
    barrier.count += static_cast<uint64_t>(std::popcount(holds));
    barrier.all = barrier.all && holds == lanes;
  }
  if (i.barrier != BarrierKind::arrive) {
    if (barrier.kind.value_or(i.barrier) != i.barrier)
      fail(warp, i, first, kLaunchFailed,
           "barrier divergence: threads of the block reach the barrier by instructions of different kinds");
    barrier.kind = i.barrier;
  }
  if (i.barrier == BarrierKind::arrive) {
    state.places.wait(lanes);
    state.places.release(lanes);
  } else {
    barrier.waiting[warp.number] |= lanes;
    state.places.wait(lanes);
  }
  complete_barrier(barrier);
}

// Lets those that wait go on, if all have come.
bool ThreadBlock::complete_barrier(Barrier& barrier) {
  bool everybody = true;
  for (uint32_t w = 0; w < warps_.size(); ++w)
    everybody = everybody && (warps_[w].places.live() & ~barrier.arrived[w]) == 0;
  if (barrier.expected == 0 ? !everybody : barrier.threads < barrier.expected) return false;
  const bool waits_all = [&] {  // warps that have ended count as there, but not for a number of threads
    for (uint32_t w = 0; w < warps_.size(); ++w)
      if ((warps_[w].places.live() & ~barrier.waiting[w]) != 0 || (barrier.expected != 0 && barrier.waiting[w] == 0))
        return false;
    return true;
  }();
  if (waits_all) order_.whole_barrier();
  for (uint32_t w = 0; w < warps_.size(); ++w) {
    const uint32_t lanes = barrier.waiting[w];
    if (lanes == 0) continue;
    WarpState& state = warps_[w];
    if (!waits_all) order_.take(w, barrier.together);
    const Instruction& own = program_.code[state.places.place_of(std::countr_zero(lanes))];
    state.warp.exec = lanes;
    if (own.barrier == BarrierKind::count)
      for_lanes(state.warp, row32(state.warp, own.d), [&](int) { return static_cast<uint32_t>(barrier.count); });
    else if (own.barrier == BarrierKind::all)
      set_predicate(state.warp, own.d, barrier.all ? ~0u : 0);
    else if (own.barrier == BarrierKind::any)
      set_predicate(state.warp, own.d, barrier.count > 0 ? ~0u : 0);
    state.places.release(lanes);
  }
  barrier.reset();
  return true;
}

// Those that others have stopped keeping waiting, because these ended.
bool ThreadBlock::complete_barriers() {
  for (Barrier& barrier : barriers_)
    if (barrier.kind && complete_barrier(barrier)) return true;
  return false;
}

// ---- Reports.

// "thread (32, 0, 0) and 31 more wait at PTX line ...", for each place at which lanes wait.
std::string ThreadBlock::waits_text(const WarpState& state) const {
  std::string out;
  for (uint32_t rest = state.places.waiting(); rest != 0;) {
    const int lane = std::countr_zero(rest);
    const uint32_t place = state.places.place_of(lane);
    uint32_t together = 0;
    for (uint32_t others = rest; others != 0; others &= others - 1)
      if (state.places.place_of(std::countr_zero(others)) == place) together |= others & (0 - others);
    rest &= ~together;
    const Instruction& i = program_.code[place];
    std::string whom = i.control == Control::cluster ? "the other threads of the cluster" : "the other warps";
    if (i.control == Control::meet) {
      const uint32_t missing = row32(const_cast<Warp&>(state.warp), i.members)[lane] & state.places.live() & ~together;
      whom = missing == 0 ? "each other, with different masks" : fmt::format("lanes {:#010x}", missing);
    }
    out += fmt::format("\n  warp {}, lanes {:#010x} wait for {} at {}", state.warp.number, together, whom,
                       describe(*run_.module, run_.kernel->statements[i.statement]));
  }
  return out;
}

void ThreadBlock::report_standstill() {
  for (WarpState& each : warps_)
    if (each.gathered != 0) report_divergence(each, each.places.waiting() & ~each.gathered);
  constexpr size_t kMost = 4;
  std::string out = "deadlock: no thread of the block can go on";
  WarpState* first = nullptr;
  size_t waiting = 0, ended = 0;
  for (WarpState& each : warps_) {
    ended += each.places.live() == 0;
    if (each.places.waiting() == 0) continue;
    if (first == nullptr) first = &each;
    if (++waiting <= kMost) out += waits_text(each);
  }
  if (waiting > kMost) out += fmt::format("\n  and {} more warps", waiting - kMost);
  if (ended > 0) out += fmt::format("\n  {} warps have ended", ended);
  PLAIT_CHECK(first != nullptr, "nothing waits");
  first->warp.exec = first->places.waiting();
  const int lane = std::countr_zero(first->warp.exec);
  fail(first->warp, program_.code[first->places.place_of(lane)], lane, kLaunchFailed, out);
}

}  // namespace plait::sim::ptx
