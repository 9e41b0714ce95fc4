#include "comm/nccl/nccl_team.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "base/log.h"

namespace plait {
namespace {

using Clock = std::chrono::steady_clock;

ncclRedOp_t nccl_op(DType dtype, CommReduce reduce) {
  const bool truth = dtype == DType::boolean;  // of 0 and 1: whether a sum, or a product, differs from 0
  switch (reduce) {
    case CommReduce::sum:
      return truth ? ncclMax : ncclSum;
    case CommReduce::prod:
      return truth ? ncclMin : ncclProd;
    case CommReduce::max:
      return ncclMax;
    case CommReduce::min:
      return ncclMin;
  }
  __builtin_unreachable();
}

}  // namespace

// Element types as the library names them. It has no integers of two bytes: those are moved as f16, which keeps their
// bits, and f8 is moved as bytes; neither is reduced (nccl_reduces).
ncclDataType_t nccl_type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::u8:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return ncclUint8;
    case DType::i8:
      return ncclInt8;
    case DType::i32:
      return ncclInt32;
    case DType::i64:
      return ncclInt64;
    case DType::u32:
      return ncclUint32;
    case DType::u64:
      return ncclUint64;
    case DType::i16:
    case DType::u16:
    case DType::f16:
      return ncclFloat16;
    case DType::bf16:
      return ncclBfloat16;
    case DType::f32:
      return ncclFloat32;
    case DType::f64:
      return ncclFloat64;
  }
  __builtin_unreachable();
}

// How the pieces of a call travel: one block per member, one after another, or at a pitch of the longest.
struct NcclTeam::Plan {
  int64_t unit = 1;                     // bytes of an element
  std::vector<int64_t> counts, starts;  // elements of each block, and where it starts on the way
  int64_t longest = 0, total = 0;
  bool even = true, padded = false;
  bool staged = false;  // what travels is packed into memory of its own
  int64_t travelling() const { return padded ? longest * int64_t(counts.size()) : total; }
};

// ---- Making and ending communicators.

NcclTeam::NcclTeam(std::span<const int64_t> ranks, NcclState& state)
    : state_(state), nccl_(state.nccl), ranks_(ranks.begin(), ranks.end()) {
  for (size_t p = 0; p < ranks_.size(); ++p) {
    const std::vector<int64_t>& mine = state.options.held;
    if (std::find(mine.begin(), mine.end(), ranks_[p]) == mine.end()) continue;
    auto held = std::make_unique<Held>();
    held->rank = ranks_[p];
    held->position = int64_t(p);
    held->recorder = &state.recorders.of(ranks_[p]);
    held->recorder_team = held->recorder->team(ranks_);
    held_.push_back(std::move(held));
  }
  PLAIT_CHECK(!held_.empty(), "a team of {}, none of which is of this process", rank_list(ranks_));
  PLAIT_CHECK(state.options.bootstrap != nullptr || held_.size() == ranks_.size(), "{} of {} held without a bootstrap",
              held_.size(), rank_list(ranks_));
  const auto given = state_.options.adopted.find(ranks_);
  if (given != state_.options.adopted.end()) {
    adopt(given->second);
  } else if (ranks_.size() > 1) {
    try {
      make();
    } catch (const Error&) {
      abort();
      throw;
    }
  }
}

void NcclTeam::adopt(const std::vector<void*>& given) {
  adopted_ = true;
  const std::string where = "communicators given for " + rank_list(ranks_);
  if (given.size() != held_.size())
    throw UserError(fmt::format("{} communicators for {} members of this process", given.size(), held_.size()), where,
                    "give one for each, in order of position");
  for (size_t i = 0; i < given.size(); ++i) {
    held_[i]->comm = static_cast<ncclComm_t>(given[i]);
    int size = 0, position = -1;
    check(nccl_.ncclCommCount(held_[i]->comm, &size), "ncclCommCount", held_[i]->comm);
    check(nccl_.ncclCommUserRank(held_[i]->comm, &position), "ncclCommUserRank", held_[i]->comm);
    if (size != this->size() || position != held_[i]->position)
      throw UserError(fmt::format("the communicator is of member {} of {}", position, size), where,
                      fmt::format("rank {} is member {} of {}", held_[i]->rank, held_[i]->position, this->size()));
  }
}

void NcclTeam::make() {
  ncclUniqueId id{};
  Bootstrap* bootstrap = state_.options.bootstrap;
  const bool first = held_.front()->position == 0;
  if (first) check(nccl_.ncclGetUniqueId(&id), "ncclGetUniqueId", nullptr);
  if (bootstrap != nullptr) {
    const std::string_view bytes(reinterpret_cast<const char*>(&id), sizeof(id));
    const std::string from_first = bootstrap->all_gather_among(ranks_, first ? bytes : std::string_view())[0];
    PLAIT_CHECK(from_first.size() == sizeof(id), "an id of {} bytes", from_first.size());
    std::memcpy(&id, from_first.data(), sizeof(id));
  }
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclResult_t code = ncclSuccess;
  check(nccl_.ncclGroupStart(), "ncclGroupStart", nullptr);
  for (const auto& held : held_) {
    state_.options.with_device(state_.ordinal(held->rank), [&] {
      const ncclResult_t one = nccl_.ncclCommInitRankConfig(&held->comm, int(size()), id, int(held->position), &config);
      if (one != ncclSuccess && one != ncclInProgress) code = one;
    });
  }
  const ncclResult_t end = nccl_.ncclGroupEnd();
  if (code == ncclSuccess && end != ncclInProgress) code = end;
  if (code != ncclSuccess)
    fail(fmt::format("no communicator of {}: {}", rank_list(ranks_),
                     nccl_.failure(code, "ncclCommInitRankConfig", nullptr)));
  wait_until_made();
  log(LogComponent::comm, LogLevel::info, "communicator of {} made", rank_list(ranks_));
}

// All members are asked in turn: a library may go on with its work when asked.
void NcclTeam::wait_until_made() {
  const Clock::time_point deadline = Clock::now() + state_.options.timeout;
  for (bool made = false; !made;) {
    state_.aborted.check();
    made = true;
    for (const auto& held : held_) {
      ncclResult_t now = ncclSuccess;
      const std::string why = ask(*held, now);
      if (!why.empty()) fail(fmt::format("no communicator of {}: {}", rank_list(ranks_), why));
      made = made && now == ncclSuccess;
    }
    if (made) return;
    if (Clock::now() > deadline)
      fail(fmt::format("{} waited {} ms for the other members of {}", held_list(), state_.options.timeout.count(),
                       rank_list(ranks_)));
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

std::string NcclTeam::held_list() const {
  std::vector<int64_t> ranks;
  for (const auto& held : held_) ranks.push_back(held->rank);
  return rank_list(ranks);
}

NcclTeam::~NcclTeam() {
  if (adopted_) return;
  for (const auto& held : held_) {
    if (held->comm == nullptr) continue;
    bool done = !state_.aborted.is_set();
    try {
      for (const Pending& pending : held->pending) done = done && pending.done->done();
    } catch (const Error&) {
      done = false;
    }
    // A destruction would wait for work that is not done.
    done ? nccl_.ncclCommDestroy(held->comm) : nccl_.ncclCommAbort(held->comm);
  }
}

void NcclTeam::abort() {
  if (adopted_) return;
  for (const auto& held : held_) {
    const std::lock_guard lock(held->mutex);
    if (held->comm != nullptr) nccl_.ncclCommAbort(held->comm);
    held->comm = nullptr;
  }
}

void NcclTeam::fail(const std::string& why) {
  state_.end(why);
  throw CommError(why, "", "");
}

void NcclTeam::check(ncclResult_t code, const char* call, ncclComm_t comm) {
  if (code != ncclSuccess && code != ncclInProgress) fail(nccl_.failure(code, call, comm));
}

NcclTeam::Held& NcclTeam::held_at(int64_t position) {
  for (const auto& held : held_)
    if (held->position == position) return *held;
  PLAIT_CHECK(false, "position {} of {} is not of this process", position, rank_list(ranks_));
}

// ---- Operations.

std::string NcclTeam::trouble() {
  const Clock::time_point now = Clock::now();
  for (const auto& held : held_) {
    const std::unique_lock lock(held->mutex, std::try_to_lock);
    if (!lock) continue;  // its thread is at work on it
    ncclResult_t code = ncclSuccess;
    if (held->comm != nullptr && !held->busy) {
      const ncclResult_t asked = nccl_.ncclCommGetAsyncError(held->comm, &code);
      if (asked != ncclSuccess) code = asked;
    }
    const std::string who = held->pending.empty() ? fmt::format("rank {}", held->rank)
                                                  : fmt::format("rank {}, {}", held->rank,
                                                                held->recorder->describe(held->pending.front().issue));
    if (code != ncclSuccess && code != ncclInProgress) return who + ": " + nccl_.failure(code, "NCCL", held->comm);
    while (!held->pending.empty() && held->pending.front().done->done()) {
      held->recorder->mark(held->pending.front().issue, FlightState::done, FlightRecorder::now());
      held->events.push_back(std::move(held->pending.front().done));
      held->pending.pop_front();
    }
    if (!held->pending.empty() && now > held->pending.front().deadline)
      return fmt::format(
          "{} is not done after {} ms: a member has not come to it, or work before it on the stream hangs", who,
          state_.options.timeout.count());
  }
  return "";
}

// Other threads may abort meanwhile, but not while NCCL is in a call.
void NcclTeam::group(Parts& parts, const std::function<void(Part&, const Note&)>& calls) {
  ncclResult_t code = ncclSuccess;
  const char* which = "ncclGroupEnd";
  const Note note = [&](ncclResult_t result, const char* call) {
    if (code == ncclSuccess && result != ncclSuccess && result != ncclInProgress) {
      code = result;
      which = call;
    }
  };
  for (Part& part : parts) part.held->mutex.lock();
  const bool there = std::all_of(parts.begin(), parts.end(), [](const Part& p) { return p.held->comm != nullptr; });
  std::string text;
  if (there) {
    note(nccl_.ncclGroupStart(), "ncclGroupStart");
    for (Part& part : parts) calls(part, note);
    note(nccl_.ncclGroupEnd(), "ncclGroupEnd");
    if (code != ncclSuccess) text = nccl_.failure(code, which, parts.front().held->comm);
    for (Part& part : parts) part.held->busy = true;
  }
  for (Part& part : parts) part.held->mutex.unlock();
  if (!text.empty()) fail(text);
  if (!there) state_.aborted.check();
  PLAIT_CHECK(there, "no communicator of {}", rank_list(ranks_));
  settle(parts);
}

// What the communicator of a member says: ncclSuccess when its last call is queued on the stream. The text of an error.
std::string NcclTeam::ask(Held& held, ncclResult_t& now) {
  const std::lock_guard lock(held.mutex);
  now = ncclInProgress;
  if (held.comm == nullptr) return "";  // aborted
  const ncclResult_t asked = nccl_.ncclCommGetAsyncError(held.comm, &now);
  if (asked != ncclSuccess) now = asked;
  held.busy = now == ncclInProgress;
  return now == ncclSuccess || now == ncclInProgress ? "" : nccl_.failure(now, "NCCL", held.comm);
}

// A non-blocking call is queued on the stream when its communicator says so.
void NcclTeam::settle(Parts& parts) {
  Clock::time_point deadline{};
  for (bool queued = false; !queued;) {
    state_.aborted.check();
    queued = true;
    for (Part& part : parts) {
      if (!part.held->busy) continue;
      ncclResult_t now = ncclSuccess;
      const std::string why = ask(*part.held, now);
      if (!why.empty()) fail(why);
      queued = queued && now == ncclSuccess;
    }
    if (queued) return;
    if (deadline == Clock::time_point{}) deadline = Clock::now() + state_.options.timeout;
    if (Clock::now() > deadline)
      fail(fmt::format("{}: NCCL has not queued an operation of {} for {} ms", held_list(), rank_list(ranks_),
                       state_.options.timeout.count()));
    std::this_thread::yield();
  }
}

// An event behind the operation tells when it is done; a capture runs nothing now.
void NcclTeam::watch(Part& part) {
  part.held->recorder->mark(part.issue, FlightState::started, FlightRecorder::now());
  if (state_.capturing) return;
  const std::lock_guard lock(part.held->mutex);
  std::unique_ptr<Event> event;
  if (part.held->events.empty()) {
    event = part.member->stream->make_event();
  } else {
    event = std::move(part.held->events.back());
    part.held->events.pop_back();
  }
  part.member->stream->record(*event);
  part.held->pending.push_back({std::move(event), part.issue, Clock::now() + state_.options.timeout});
}

void NcclTeam::run(const CommCall& call, std::span<const CommMember> members,
                   const std::function<void(Parts&)>& carry_out) {
  state_.aborted.check();
  const int64_t begin = FlightRecorder::now();
  Parts parts;
  parts.reserve(members.size());
  for (const CommMember& member : members) {
    PLAIT_CHECK(member.stream != nullptr, "member {} has no stream", member.position);
    Held& held = held_at(member.position);
    parts.push_back({&held, &member, held.recorder->begin(held.recorder_team, call, begin)});
  }
  try {
    if (const std::string why = trouble(); !why.empty()) fail(why);
    carry_out(parts);
    for (Part& part : parts) watch(part);
  } catch (const Error&) {
    for (Part& part : parts) part.held->recorder->mark(part.issue, FlightState::failed, FlightRecorder::now());
    throw;
  }
}

void NcclTeam::count(const Parts& parts, const CommCall& call, bool padded) {
  CommTraffic sum;
  for (const Part& part : parts) {
    CommTraffic one = member_traffic(call, size(), part.held->position);
    if (padded) {  // padding travels too
      const int64_t longest = *std::max_element(call.pieces.counts.begin(), call.pieces.counts.end());
      one.wire_bytes =
          (size() - 1) * call.pieces.outer * longest * call.pieces.inner * int64_t(size_of(call.pieces.dtype));
    }
    sum.wire_bytes += one.wire_bytes;
    sum.wire_bytes_min += one.wire_bytes_min;
  }
  const std::lock_guard lock(state_.traffic_mutex);
  state_.traffic.wire_bytes += sum.wire_bytes;
  state_.traffic.wire_bytes_min += sum.wire_bytes_min;
}

std::shared_ptr<Memory> NcclTeam::allocate(const Part& part, int64_t bytes) const {
  Stream* stream = part.member->stream;
  Allocator* given = state_.options.allocator;
  Allocator& from = given ? *given : state_.options.device->allocator(stream->ordinal());
  return from.allocate_on(size_t(bytes), stream);
}

NcclTeam::Plan NcclTeam::plan(const CommPieces& pieces) const {
  PLAIT_CHECK(pieces.counts.size() == ranks_.size(), "{} counts for {} members", pieces.counts.size(), size());
  Plan out;
  out.unit = int64_t(size_of(pieces.dtype));
  std::vector<int64_t> bytes;
  for (int64_t count : pieces.counts) {
    out.counts.push_back(count * pieces.outer * pieces.inner);
    out.longest = std::max(out.longest, out.counts.back());
    out.total += out.counts.back();
    bytes.push_back(out.counts.back() * out.unit);
  }
  out.even = out.longest * size() == out.total;
  const bool packed = pieces.outer > 1;
  out.padded = !out.even && choose_uneven(state_.options.uneven, bytes, packed) == UnevenWay::padded;
  out.staged = packed || out.padded;
  int64_t start = 0;
  for (int64_t count : out.counts) {
    out.starts.push_back(start);
    start += out.padded ? out.longest : count;
  }
  return out;
}

// out's rows from blocks that lie one after another in staging memory.
void NcclTeam::gather_rows(const CommPieces& pieces, const Plan& plan, Parts& parts) {
  const int64_t pitch = pieces.total() * pieces.inner * plan.unit;
  for (Part& part : parts) {
    int64_t place = 0;
    for (size_t p = 0; p < ranks_.size(); ++p) {
      const int64_t row = pieces.counts[p] * pieces.inner * plan.unit;
      const bool own = int64_t(p) == part.held->position;
      if (row > 0)
        part.member->stream->copy_rows(at(part.member->out, place), size_t(pitch),
                                       own ? part.member->in : at(part.to, plan.starts[p] * plan.unit), size_t(row),
                                       size_t(row), size_t(pieces.outer));
      place += row;
    }
  }
}

void NcclTeam::all_gather(const CommPieces& pieces, std::span<const CommMember> members) {
  const CommCall call{Collective::all_gather, CommReduce::sum, pieces};
  run(call, members, [&](Parts& parts) {
    const Plan plan = this->plan(pieces);
    const ncclDataType_t type = nccl_type(pieces.dtype);
    if (plan.total == 0) return;
    if (size() == 1)
      return parts[0].member->stream->copy(parts[0].member->out, parts[0].member->in, size_t(plan.total * plan.unit));
    for (Part& part : parts) {
      const int64_t own = plan.counts[size_t(part.held->position)] * plan.unit;
      part.from = part.member->in;
      part.to = part.member->out;
      if (plan.staged) {
        part.staging = allocate(part, plan.travelling() * plan.unit);
        part.to = part.staging->data();
      }
      if (!plan.padded || own == plan.longest * plan.unit) continue;
      // In place: the own block of the staging memory, its end filled.
      void* block = at(part.to, plan.starts[size_t(part.held->position)] * plan.unit);
      part.member->stream->copy(block, part.member->in, size_t(own));
      part.member->stream->fill(at(block, own), 0, size_t(plan.longest * plan.unit - own));
      part.from = block;
    }
    group(parts, [&](Part& part, const Note& note) {
      const auto stream = static_cast<cudaStream_t>(part.member->stream->native());
      if (plan.even || plan.padded) {
        note(nccl_.ncclAllGather(part.from, part.to, size_t(plan.longest), type, part.held->comm, stream),
             "ncclAllGather");
        return;
      }
      for (size_t p = 0; p < ranks_.size(); ++p) {
        if (plan.counts[p] == 0) continue;
        void* to = at(part.to, plan.starts[p] * plan.unit);
        const void* from = int64_t(p) == part.held->position ? part.from : to;
        note(nccl_.ncclBroadcast(from, to, size_t(plan.counts[p]), type, int(p), part.held->comm, stream),
             "ncclBroadcast");
      }
    });
    if (plan.staged) gather_rows(pieces, plan, parts);
    count(parts, call, plan.padded);
  });
}

// Staging memory with the blocks of all members one after another, from in's rows.
void NcclTeam::scatter_rows(const CommPieces& pieces, const Plan& plan, Parts& parts) {
  const int64_t pitch = pieces.total() * pieces.inner * plan.unit;
  for (Part& part : parts) {
    int64_t place = 0;
    for (size_t p = 0; p < ranks_.size(); ++p) {
      const int64_t row = pieces.counts[p] * pieces.inner * plan.unit, bytes = plan.counts[p] * plan.unit;
      void* block = at(part.staging->data(), plan.starts[p] * plan.unit);
      if (row > 0)
        part.member->stream->copy_rows(block, size_t(row), at(part.member->in, place), size_t(pitch), size_t(row),
                                       size_t(pieces.outer));
      if (plan.padded) part.member->stream->fill(at(block, bytes), 0, size_t(plan.longest * plan.unit - bytes));
      place += row;
    }
  }
}

void NcclTeam::reduce_scatter(const CommPieces& pieces, CommReduce reduce, std::span<const CommMember> members) {
  const CommCall call{Collective::reduce_scatter, reduce, pieces};
  run(call, members, [&](Parts& parts) {
    refuse(call);
    const Plan plan = this->plan(pieces);
    const ncclDataType_t type = nccl_type(pieces.dtype);
    const ncclRedOp_t op = nccl_op(pieces.dtype, reduce);
    if (plan.total == 0) return;
    if (size() == 1)
      return parts[0].member->stream->copy(parts[0].member->out, parts[0].member->in, size_t(plan.total * plan.unit));
    for (Part& part : parts) {
      const int64_t own = plan.counts[size_t(part.held->position)];
      part.from = part.member->in;
      part.to = part.member->out;
      if (plan.staged) {
        part.staging = allocate(part, plan.travelling() * plan.unit);
        part.from = part.staging->data();
      }
      if (!plan.padded || own == plan.longest) continue;
      part.padded = allocate(part, plan.longest * plan.unit);
      part.to = part.padded->data();
    }
    if (plan.staged) scatter_rows(pieces, plan, parts);
    group(parts, [&](Part& part, const Note& note) {
      const auto stream = static_cast<cudaStream_t>(part.member->stream->native());
      if (plan.even || plan.padded) {
        note(nccl_.ncclReduceScatter(part.from, part.to, size_t(plan.longest), type, op, part.held->comm, stream),
             "ncclReduceScatter");
        return;
      }
      for (size_t p = 0; p < ranks_.size(); ++p)
        if (plan.counts[p] > 0)
          note(nccl_.ncclReduce(at(part.from, plan.starts[p] * plan.unit),
                                int64_t(p) == part.held->position ? part.to : nullptr, size_t(plan.counts[p]), type, op,
                                int(p), part.held->comm, stream),
               "ncclReduce");
    });
    for (Part& part : parts)
      if (part.padded)
        part.member->stream->copy(part.member->out, part.to,
                                  size_t(plan.counts[size_t(part.held->position)] * plan.unit));
    count(parts, call, plan.padded);
  });
}

// What NCCL does not reduce; of floats it compares by rules under which a NaN loses.
void NcclTeam::refuse(const CommCall& call) const {
  const DType dtype = call.pieces.dtype;
  if (size() == 1 || nccl_reduces(call.reduce, dtype)) return;
  if (!is_float(dtype) || is_f8(dtype))
    throw UserError(fmt::format("NCCL has no {} of {}", name(call.reduce), name(dtype)), place(call),
                    "gather the pieces and reduce them in a kernel, or cast to a wider type before");
  if (!state_.options.lose_nan)
    throw UserError(fmt::format("NCCL's {} of {} drops NaN", name(call.reduce), name(dtype)), place(call),
                    "gather the pieces and reduce them in a kernel, or set NcclOptions::lose_nan where no NaN can be");
}

void NcclTeam::all_reduce(DType dtype, CommReduce reduce, int64_t elements, std::span<const CommMember> members) {
  const CommCall call{Collective::all_reduce, reduce, {dtype, 1, 1, {&elements, 1}}};
  run(call, members, [&](Parts& parts) {
    refuse(call);
    if (elements == 0) return;
    if (size() == 1) {
      const CommMember& member = *parts[0].member;
      if (member.in != member.out) member.stream->copy(member.out, member.in, size_t(elements) * size_of(dtype));
      return;
    }
    group(parts, [&](Part& part, const Note& note) {
      note(nccl_.ncclAllReduce(part.member->in, part.member->out, size_t(elements), nccl_type(dtype),
                               nccl_op(dtype, reduce), part.held->comm,
                               static_cast<cudaStream_t>(part.member->stream->native())),
           "ncclAllReduce");
    });
    count(parts, call, false);
  });
}

}  // namespace plait
