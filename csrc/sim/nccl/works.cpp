#include "sim/nccl/works.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"

namespace plait::sim::nccl {
namespace {

constexpr uint64_t kNone = ~uint64_t{0};

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool same_terms(const Terms& a, const Terms& b) {
  return a.kind == b.kind && a.type == b.type && a.combine == b.combine && a.root == b.root && a.count == b.count;
}

}  // namespace

uint64_t Call::input_bytes(int rank, int ranks) const {
  const uint64_t one = terms.count * size_of(static_cast<ncclDataType_t>(terms.type));
  const auto all = one * static_cast<uint64_t>(ranks);
  switch (terms.kind) {
    case CallKind::all_reduce:
    case CallKind::reduce:
    case CallKind::all_gather:
    case CallKind::gather:
    case CallKind::send:
      return one;
    case CallKind::reduce_scatter:
    case CallKind::all_to_all:
      return all;
    case CallKind::broadcast:
      return rank == terms.root ? one : 0;
    case CallKind::scatter:
      return rank == terms.root ? all : 0;
    case CallKind::recv:
      return 0;
  }
  PLAIT_CHECK(false, "a call of kind {}", int(terms.kind));
}

uint64_t Call::output_bytes(int rank, int ranks) const {
  const uint64_t one = terms.count * size_of(static_cast<ncclDataType_t>(terms.type));
  const auto all = one * static_cast<uint64_t>(ranks);
  switch (terms.kind) {
    case CallKind::all_reduce:
    case CallKind::reduce_scatter:
    case CallKind::broadcast:
    case CallKind::scatter:
    case CallKind::recv:
      return one;
    case CallKind::all_gather:
    case CallKind::all_to_all:
      return all;
    case CallKind::reduce:
      return rank == terms.root ? one : 0;
    case CallKind::gather:
      return rank == terms.root ? all : 0;
    case CallKind::send:
      return 0;
  }
  PLAIT_CHECK(false, "a call of kind {}", int(terms.kind));
}

Endpoint::Endpoint(MemberSetup setup)
    : control_(std::move(setup.control)),
      arenas_(std::move(setup.arenas)),
      rank_(setup.rank),
      device_(setup.device),
      label_(std::move(setup.label)),
      seen_(static_cast<size_t>(control_->ranks())) {}

int Endpoint::enqueue(std::vector<Call> calls, bool captured) {
  auto launch = std::make_shared<Launch>();
  launch->endpoint = shared_from_this();
  launch->calls = std::move(calls);
  launch->ticket = captured ? -1 : tickets_++;
  std::vector<std::pair<cudaStream_t, Work>> works;
  for (size_t i = 0; i < launch->calls.size(); ++i) {
    works.emplace_back(launch->calls[i].stream, arrive_work(launch, i));
  }
  for (size_t i = 0; i < launch->calls.size(); ++i) {
    works.emplace_back(launch->calls[i].stream, finish_work(launch, i));
  }
  for (auto& [stream, work] : works) {
    const int result = sim::enqueue(stream, std::move(work));
    if (result == 0) continue;
    control_->fail({ncclUnhandledCudaError, false,
                    fmt::format("{}: the work of rank {} could not be queued, CUresult {}", label_, rank_, result)});
    return result;
  }
  return 0;
}

std::string Endpoint::name_of(const Call& call) const {
  return fmt::format("{} of rank {} (call {} on {})", describe(call.terms), rank_, call.number, label_);
}

// ---- arrive

bool Endpoint::take_input_space(Launch& launch) {
  uint64_t total = 0;
  launch.input_offsets.clear();
  for (const Call& call : launch.calls) {
    launch.input_offsets.push_back(total);
    total += (call.input_bytes(rank_, ranks()) + 63) / 64 * 64;
  }
  launch.block = std::make_shared<Launch::Block>();
  auto used = [control = control_, rank = rank_, block = launch.block] {
    if (!block->published) return false;
    for (uint64_t position = block->first; position < block->first + block->count; ++position) {
      const Record& record = control->member(rank).records[position % kRecords];
      if (record.position == position + 1 && record.users > 0) return false;
    }
    return true;
  };
  const std::optional<uint64_t> base = arenas_[rank_]->take(total, used);
  if (!base) return false;
  for (uint64_t& offset : launch.input_offsets) offset += *base;
  return true;
}

bool Endpoint::may_arrive(Launch& launch) {
  if (ended()) return true;
  if (launch.ticket >= 0 && launch.ticket != started_) return false;  // calls of one communicator keep their order
  if (launch.arrived > 0 && launch.positions.empty()) return true;
  const uint64_t next = control_->member(rank_).arrived;
  for (uint64_t position = next; position < next + launch.calls.size(); ++position) {
    if (position >= kRecords && record(rank_, position).users > 0) return false;
  }
  return true;
}

void Endpoint::arrive(Launch& launch, size_t index) {
  if (ended()) return;
  if (!launch.positions.empty()) {  // a captured launch runs again
    launch.positions.clear();
    launch.arrived = 0;
  }
  if (launch.arrived == 0 && !take_input_space(launch)) {
    control_->fail({ncclSystemError, false, fmt::format("{}: no room for the input", name_of(launch.calls[index]))});
    report_failure();
    return;
  }
  Call& call = launch.calls[index];
  if (const uint64_t bytes = call.input_bytes(rank_, ranks()); bytes > 0) {
    const void* from = host_address(call.send, bytes);
    PLAIT_CHECK(from != nullptr, "{}: input at {:#x}", name_of(call), call.send);
    std::memcpy(arenas_[rank_]->at(launch.input_offsets[index]), from, bytes);
  }
  if (call.device_scalar != 0) {
    const auto type = static_cast<ncclDataType_t>(call.terms.type);
    const void* scalar = host_address(call.device_scalar, size_of(type));
    PLAIT_CHECK(scalar != nullptr, "{}: scalar at {:#x}", name_of(call), call.device_scalar);
    call.terms.scalar = factor_of(type, scalar);
  }
  if (++launch.arrived == launch.calls.size()) publish(launch);
}

void Endpoint::publish(Launch& launch) {
  *launch.block = {true, control_->member(rank_).arrived, launch.calls.size()};
  for (size_t i = 0; i < launch.calls.size(); ++i) {
    launch.positions.push_back(write_record(launch.calls[i], launch.input_offsets[i]));
  }
  if (launch.ticket >= 0) ++started_;
  notify();
}

uint64_t Endpoint::write_record(const Call& call, uint64_t offset) {
  Member& member = control_->member(rank_);
  const uint64_t position = member.arrived;
  Record& slot = record(rank_, position);
  slot.position.store(0, std::memory_order_release);
  slot.terms = call.terms;
  slot.offset = offset;
  if (is_pairwise(call.terms.kind)) {
    auto& counts = call.terms.kind == CallKind::send ? sends_ : recvs_;
    slot.sequence = counts[call.terms.root]++;
    slot.users = 2;
  } else {
    slot.sequence = collectives_++;
    slot.users = static_cast<uint32_t>(ranks());
  }
  slot.position.store(position + 1, std::memory_order_release);
  member.arrived.store(position + 1, std::memory_order_release);
  return position;
}

// ---- finish

void Endpoint::scan(int rank) {
  Seen& seen = seen_[rank];
  const uint64_t arrived = control_->member(rank).arrived.load(std::memory_order_acquire);
  // Records that were overwritten meanwhile had been used by all that they concern.
  if (arrived > kRecords) seen.scanned = std::max(seen.scanned, arrived - kRecords);
  for (; seen.scanned < arrived; ++seen.scanned) {
    const Record& slot = record(rank, seen.scanned);
    if (slot.position.load(std::memory_order_acquire) != seen.scanned + 1) continue;
    const CallKind kind = slot.terms.kind;
    const bool with_us = slot.terms.root == rank_;
    const uint64_t sequence = slot.sequence;
    if (slot.position.load(std::memory_order_acquire) != seen.scanned + 1) continue;
    if (!is_pairwise(kind)) seen.collectives[sequence] = seen.scanned;
    if (kind == CallKind::send && with_us) seen.sends[sequence] = seen.scanned;
    if (kind == CallKind::recv && with_us) seen.recvs[sequence] = seen.scanned;
  }
}

uint64_t Endpoint::partner(const Call& call, uint64_t sequence, int rank) {
  scan(rank);
  const Seen& seen = seen_[rank];
  const auto& table = call.terms.kind == CallKind::send   ? seen.recvs
                      : call.terms.kind == CallKind::recv ? seen.sends
                                                          : seen.collectives;
  const auto at = table.find(sequence);
  return at == table.end() ? kNone : at->second;
}

std::vector<int> Endpoint::partners(const Call& call) const {
  if (is_pairwise(call.terms.kind)) return {call.terms.root};
  std::vector<int> all(static_cast<size_t>(control_->ranks()));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  return all;
}

// The communicator fails where the record of `rank` does not agree with the call.
bool Endpoint::agree(const Call& call, uint64_t sequence, int rank, uint64_t position) {
  const Terms other = record(rank, position).terms;
  const bool pair = is_pairwise(call.terms.kind);
  const bool same =
      pair ? other.type == call.terms.type && other.count == call.terms.count : same_terms(other, call.terms);
  if (same) return true;
  // Both members find it; the one of the lower rank is named first by either.
  std::string ours = fmt::format("rank {} calls {}", rank_, describe(call.terms));
  std::string theirs = fmt::format("rank {} calls {}", rank, describe(other));
  if (rank < rank_) std::swap(ours, theirs);
  const std::string what =
      pair ? fmt::format("message {} between ranks {} and {}", sequence, std::min(rank_, rank), std::max(rank_, rank))
           : fmt::format("collective {}", sequence);
  control_->fail({ncclInvalidUsage, true, fmt::format("{}, {}: {}, {}", label_, what, ours, theirs)});
  return false;
}

bool Endpoint::may_finish(Launch& launch, size_t index) {
  if (ended()) return true;
  if (launch.positions.empty()) return false;
  const Call& call = launch.calls[index];
  const uint64_t sequence = record(rank_, launch.positions[index]).sequence;
  // One look at each record, which finds and compares it: a record that arrives during the pass waits for the next.
  int missing = -1;
  for (int rank : partners(call)) {
    const uint64_t position = partner(call, sequence, rank);
    if (position == kNone) {
      if (missing < 0) missing = rank;
    } else if (!agree(call, sequence, rank, position)) {
      return true;
    }
  }
  if (missing < 0) {
    launch.waiting_since = 0;
    return true;
  }
  // A member that left has nothing queued, so what it arrived at can be seen.
  if (control_->member(missing).state == MemberState::left && partner(call, sequence, missing) == kNone) {
    control_->fail({ncclRemoteError, true,
                    fmt::format("{}: {} waits for rank {}, which has destroyed its communicator", label_, name_of(call),
                                missing)});
  }
  check_alive();
  check_patience(launch, index);
  return ended();
}

void Endpoint::check_patience(Launch& launch, size_t index) {
  const int64_t now = now_ns();
  if (launch.waiting_since == 0) launch.waiting_since = now;
  if (static_cast<double>(now - launch.waiting_since) * 1e-9 < timeout_seconds() || ended()) return;
  control_->fail({ncclTimeout, true,
                  fmt::format("{}: {} has waited {:.3g} s for {}", label_, name_of(launch.calls[index]),
                              timeout_seconds(), waits_for(launch, index))});
}

void Endpoint::one_done(const Launch& launch) {
  if (launch.ticket < 0) return;
  if (--pending_ == 0 && leaving_) control_->member(rank_).state = MemberState::left;
}

const std::byte* Endpoint::input_of(int rank, uint64_t position) {
  return arenas_[rank]->at(record(rank, position).offset);
}

void Endpoint::compute(const Call& call, uint64_t sequence, std::byte* out) {
  const auto type = static_cast<ncclDataType_t>(call.terms.type);
  const uint64_t bytes = call.terms.count * size_of(type);
  auto input = [&](int rank) { return input_of(rank, partner(call, sequence, rank)); };
  auto copy_all = [&](uint64_t offset) {
    for (int rank = 0; rank < ranks(); ++rank) std::memcpy(out + rank * bytes, input(rank) + offset, bytes);
  };
  const uint64_t own = static_cast<uint64_t>(rank_) * bytes;
  switch (call.terms.kind) {
    case CallKind::all_reduce:
    case CallKind::reduce:
    case CallKind::reduce_scatter: {
      const uint64_t offset = call.terms.kind == CallKind::reduce_scatter ? own : 0;
      std::vector<Input> inputs;
      for (int rank = 0; rank < ranks(); ++rank) {
        inputs.push_back({input(rank) + offset, record(rank, partner(call, sequence, rank)).terms.scalar});
      }
      return reduce(type, static_cast<Combine>(call.terms.combine), inputs, call.terms.count, out);
    }
    case CallKind::all_gather:
    case CallKind::gather:
      return copy_all(0);
    case CallKind::all_to_all:
      return copy_all(own);
    case CallKind::broadcast:
    case CallKind::recv:
      std::memcpy(out, input(call.terms.root), bytes);
      return;
    case CallKind::scatter:
      std::memcpy(out, input(call.terms.root) + own, bytes);
      return;
    case CallKind::send:
      return;
  }
}

// What a call that was ended leaves: no numbers that could pass for a result.
void Endpoint::poison(const Call& call) {
  const uint64_t bytes = call.output_bytes(rank_, ranks());
  if (bytes == 0) return;
  if (void* out = host_address(call.recv, bytes)) std::memset(out, 0xff, bytes);
}

void Endpoint::finish(Launch& launch, size_t index) {
  const Call& call = launch.calls[index];
  if (ended()) {
    poison(call);
    report_failure();
    return one_done(launch);
  }
  const uint64_t sequence = record(rank_, launch.positions[index]).sequence;
  if (const uint64_t bytes = call.output_bytes(rank_, ranks()); bytes > 0) {
    auto* out = static_cast<std::byte*>(host_address(call.recv, bytes));
    PLAIT_CHECK(out != nullptr, "{}: output at {:#x}", name_of(call), call.recv);
    compute(call, sequence, out);
  }
  for (int rank : partners(call)) {
    record(rank, partner(call, sequence, rank)).users.fetch_sub(1, std::memory_order_release);
    Seen& seen = seen_[rank];
    auto& table = call.terms.kind == CallKind::send   ? seen.recvs
                  : call.terms.kind == CallKind::recv ? seen.sends
                                                      : seen.collectives;
    table.erase(sequence);
  }
  if (is_pairwise(call.terms.kind)) {
    record(rank_, launch.positions[index]).users.fetch_sub(1, std::memory_order_release);
  }
  one_done(launch);
  notify();
}

// ---- works

Work Endpoint::arrive_work(const std::shared_ptr<Launch>& launch, size_t index) {
  const Call& call = launch->calls[index];
  Work work;
  work.name = name_of(call) + ", input";
  if (const uint64_t bytes = call.input_bytes(rank_, ranks()); bytes > 0) {
    work.accesses.push_back({call.send, static_cast<size_t>(bytes), false});
  }
  if (call.device_scalar != 0) {
    work.accesses.push_back({call.device_scalar, size_of(static_cast<ncclDataType_t>(call.terms.type)), false});
  }
  work.ready = [launch] { return launch->endpoint->may_arrive(*launch); };
  work.run = [launch, index] { launch->endpoint->arrive(*launch, index); };
  work.waits_for = [launch] {
    return fmt::format("earlier calls on {}, which keep their order on every stream", launch->endpoint->label());
  };
  return work;
}

Work Endpoint::finish_work(const std::shared_ptr<Launch>& launch, size_t index) {
  const Call& call = launch->calls[index];
  Work work;
  work.name = name_of(call);
  if (const uint64_t bytes = call.output_bytes(rank_, ranks()); bytes > 0) {
    work.accesses.push_back({call.recv, static_cast<size_t>(bytes), true});
  }
  if (launch->ticket >= 0) ++pending_;
  work.ready = [launch, index] { return launch->endpoint->may_finish(*launch, index); };
  work.run = [launch, index] { launch->endpoint->finish(*launch, index); };
  work.waits_for = [launch, index] { return launch->endpoint->waits_for(*launch, index); };
  return work;
}

std::string Endpoint::last_call_of(int rank) {
  const Member& member = control_->member(rank);
  const uint64_t arrived = member.arrived.load(std::memory_order_acquire);
  std::string text = fmt::format("rank {} of process {}", rank, member.pid);
  if (arrived == 0) return text + ", which has arrived at no call";
  return text + fmt::format(", which has arrived at {} calls, the last of them {}", arrived,
                            describe(record(rank, arrived - 1).terms));
}

std::string Endpoint::waits_for(Launch& launch, size_t index) {
  if (launch.positions.empty()) return "the other calls of its group";
  const Call& call = launch.calls[index];
  const uint64_t sequence = record(rank_, launch.positions[index]).sequence;
  std::string text;
  for (int rank : partners(call)) {
    if (partner(call, sequence, rank) != kNone) continue;
    text += (text.empty() ? "" : "; ") + last_call_of(rank);
  }
  return text.empty() ? "nobody any more" : text;
}

// ---- failures

void Endpoint::check_alive() {
  constexpr int64_t kInterval = 50'000'000;
  const int64_t now = now_ns();
  int64_t due = next_check_;
  if (now < due || !next_check_.compare_exchange_strong(due, now + kInterval)) return;
  for (int rank = 0; rank < ranks(); ++rank) {
    const Member& member = control_->member(rank);
    if (member.state != MemberState::joined || member.pid == getpid()) continue;
    if (process_start(member.pid) == member.started || member.state != MemberState::joined) continue;
    control_->fail(
        {ncclRemoteError, false, fmt::format("{}: the process {} of rank {} has ended", label_, member.pid, rank)});
    notify();
    return;
  }
}

void Endpoint::leave() {
  leaving_ = true;
  if (pending_ == 0) control_->member(rank_).state = MemberState::left;
}

void Endpoint::abort() {
  aborted_ = true;
  control_->member(rank_).state = MemberState::aborted;
  control_->fail({ncclRemoteError, false, fmt::format("{}: rank {} aborted it", label_, rank_)});
  notify();
}

void Endpoint::report_failure() {
  static std::mutex mutex;
  static std::set<std::string> reported;
  const Failure failure = control_->failure();
  if (!failure.misuse) return;
  {
    const std::lock_guard lock(mutex);
    if (!reported.insert(failure.text).second) return;
  }
  report(failure.text);
}

}  // namespace plait::sim::nccl
