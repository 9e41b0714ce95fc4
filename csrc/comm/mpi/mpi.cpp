#include "comm/mpi/mpi.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "comm/comm_call.h"
#include "comm/local/reduce.h"
#include "comm/mpi/mpi_job.h"
#include "device/tensor.h"

namespace plait {
namespace {

int plugin_type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return kPlaitMpiBool;
    case DType::i8:
      return kPlaitMpiI8;
    case DType::i16:
      return kPlaitMpiI16;
    case DType::i32:
      return kPlaitMpiI32;
    case DType::i64:
      return kPlaitMpiI64;
    case DType::u8:
      return kPlaitMpiU8;
    case DType::u16:
      return kPlaitMpiU16;
    case DType::u32:
      return kPlaitMpiU32;
    case DType::u64:
      return kPlaitMpiU64;
    case DType::f8e4m3:
      return kPlaitMpiF8E4M3;
    case DType::f8e5m2:
      return kPlaitMpiF8E5M2;
    case DType::f16:
      return kPlaitMpiF16;
    case DType::bf16:
      return kPlaitMpiBf16;
    case DType::f32:
      return kPlaitMpiF32;
    case DType::f64:
      return kPlaitMpiF64;
  }
  __builtin_unreachable();
}

int plugin_reduce(CommReduce reduce) {
  switch (reduce) {
    case CommReduce::sum:
      return kPlaitMpiSum;
    case CommReduce::max:
      return kPlaitMpiMax;
    case CommReduce::min:
      return kPlaitMpiMin;
    case CommReduce::prod:
      return kPlaitMpiProd;
  }
  __builtin_unreachable();
}

std::byte* at(void* data, int64_t bytes) { return static_cast<std::byte*>(data) + bytes; }
const std::byte* at(const void* data, int64_t bytes) { return static_cast<const std::byte*>(data) + bytes; }

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator(std::span<const int64_t> ranks, MpiJob& job, CommTraffic& traffic);
  int64_t size() const override { return int64_t(ranks_.size()); }
  void all_reduce(DType dtype, CommReduce reduce, int64_t elements, std::span<const CommMember> members) override;
  void all_gather(const CommPieces& pieces, std::span<const CommMember> members) override;
  void reduce_scatter(const CommPieces& pieces, CommReduce reduce, std::span<const CommMember> members) override;
  void all_to_all(const CommBlocks& blocks, std::span<const CommMember> members) override;

 private:
  // Pieces one after another: elements of each, and where they start.
  struct Block {
    DType dtype;
    CommReduce reduce;
    int64_t unit;  // bytes of an element
    std::span<const int64_t> counts, starts;
    int64_t total;
  };
  // Records the call, carries it out, and counts what it took.
  void record(const CommCall& call, std::span<const CommMember> members, auto&& carry_out);
  void compare(const CommCall& call);
  MpiJob::What what() const;
  template <class Start>
  void run(Start&& start) {
    job_.run(what(), start);
  }
  Block block(const CommPieces& pieces, CommReduce reduce, int64_t rows);
  int64_t rows_at_once(const CommPieces& pieces) const;
  static void* at_least(int64_t bytes, std::shared_ptr<Memory>& memory);
  void gather(const Block& block, const void* in, void* out);
  void scatter(const Block& block, const void* in, void* out);
  void scatter_ordered(const Block& block, const void* in, void* out);
  void exchange_round(DType dtype, std::span<const int64_t> sends, std::span<const int64_t> takes, int64_t begin,
                      int64_t length, const std::byte* from, std::byte* to);
  void exchange_parts(const Block& block, const void* in, int64_t begin, int64_t length, std::byte* received);
  void set_ints(std::vector<int>& out, std::span<const int64_t> values) const {
    out.assign(values.begin(), values.end());
  }

  MpiJob& job_;
  CommTraffic& traffic_;
  const std::vector<int64_t> ranks_;
  const int64_t position_;
  PlaitMpiTeam* const team_;  // null: this process alone
  FlightRecorder& recorder_;
  const uint32_t recorder_team_;
  const CommCall* call_ = nullptr;  // the one under way
  std::vector<int64_t> counts_, starts_, chunks_;
  std::vector<int> counts_int_, starts_int_, parts_int_, part_starts_int_;
  std::vector<CommMember> parts_;
  std::shared_ptr<Memory> received_, sent_, rows_;  // of ordered sums and blocks, and packed rows
};

MpiCommunicator::MpiCommunicator(std::span<const int64_t> ranks, MpiJob& job, CommTraffic& traffic)
    : job_(job),
      traffic_(traffic),
      ranks_(ranks.begin(), ranks.end()),
      position_(std::find(ranks.begin(), ranks.end(), job.rank()) - ranks.begin()),
      team_(job.team(ranks)),
      recorder_(job.recorders.of(job.rank())),
      recorder_team_(recorder_.team(ranks)),
      counts_(ranks.size()),
      starts_(ranks.size()),
      chunks_(ranks.size()),
      parts_(ranks.size()) {}

MpiJob::What MpiCommunicator::what() const {
  return [this] { return plait::describe(*call_) + " of " + rank_list(ranks_); };
}

void MpiCommunicator::compare(const CommCall& call) {
  const std::vector<std::string> calls = job_.exchange(team_, ranks_, plait::describe(call), what());
  for (size_t p = 1; p < calls.size(); ++p)
    if (calls[p] != calls[0])
      job_.fail(fmt::format("members of one team ask for different collectives: rank {} for {}, rank {} for {}, of {}",
                            ranks_[0], calls[0], ranks_[p], calls[p], rank_list(ranks_)));
}

void MpiCommunicator::record(const CommCall& call, std::span<const CommMember> members, auto&& carry_out) {
  PLAIT_CHECK(members.size() == 1 && members[0].position == position_, "this process holds position {} alone",
              position_);
  job_.aborted.check();
  call_ = &call;
  const int64_t issue = recorder_.begin(recorder_team_, call, FlightRecorder::now());
  try {
    if (job_.options().compare_calls) compare(call);
    carry_out(members[0]);
  } catch (const CommError&) {
    recorder_.mark(issue, FlightState::failed, FlightRecorder::now());
    throw;
  }
  recorder_.mark(issue, FlightState::done, FlightRecorder::now());
  const CommTraffic taken = member_traffic(call, size(), position_);
  traffic_.wire_bytes += taken.wire_bytes;
  traffic_.wire_bytes_min += taken.wire_bytes_min;
}

// Memory that stays for later calls.
void* MpiCommunicator::at_least(int64_t bytes, std::shared_ptr<Memory>& memory) {
  if (!memory || int64_t(memory->bytes()) < bytes) memory = HostAllocator().allocate(size_t(bytes));
  return memory->data();
}

// The pieces of `rows` rows of the outer extent.
MpiCommunicator::Block MpiCommunicator::block(const CommPieces& pieces, CommReduce reduce, int64_t rows) {
  int64_t start = 0;
  for (size_t p = 0; p < ranks_.size(); ++p) {
    counts_[p] = rows * pieces.counts[p] * pieces.inner;
    starts_[p] = start;
    start += counts_[p];
  }
  return {pieces.dtype, reduce, int64_t(size_of(pieces.dtype)), counts_, starts_, start};
}

// One row needs no packing; more are packed as far as memory allows.
int64_t MpiCommunicator::rows_at_once(const CommPieces& pieces) const {
  const int64_t row = std::max<int64_t>(1, pieces.total() * pieces.inner * int64_t(size_of(pieces.dtype)));
  return std::clamp<int64_t>(job_.options().scratch_bytes / row, 1, std::max<int64_t>(1, pieces.outer));
}

// out = all pieces. `in` is this member's, or lies at its place in `out`.
void MpiCommunicator::gather(const Block& block, const void* in, void* out) {
  const int type = plugin_type(block.dtype);
  void* own = at(out, block.starts[size_t(position_)] * block.unit);
  if (block.total == 0) return;
  if (block.total <= job_.options().max_elements && team_ != nullptr) {
    set_ints(counts_int_, block.counts);
    set_ints(starts_int_, block.starts);
    run([&](const PlaitMpiInterface& mpi, char* error, size_t size) {
      return mpi.all_gather(team_, type, in == own ? out : in, out, counts_int_.data(), starts_int_.data(), error,
                            size);
    });
    return;
  }
  const int64_t own_bytes = block.counts[size_t(position_)] * block.unit;
  if (in != own && own_bytes > 0) std::memcpy(own, in, size_t(own_bytes));
  for (int64_t p = 0; p < size() && team_ != nullptr; ++p) {
    for (int64_t done = 0; done < block.counts[size_t(p)]; done += job_.options().max_elements) {
      const int64_t length = std::min(block.counts[size_t(p)] - done, job_.options().max_elements);
      run([&](const PlaitMpiInterface& mpi, char* error, size_t size) {
        return mpi.broadcast(team_, type, at(out, (block.starts[size_t(p)] + done) * block.unit), int(length), int(p),
                             error, size);
      });
    }
  }
}

// out = this member's part of the reduction of the members' `in`.
void MpiCommunicator::scatter(const Block& block, const void* in, void* out) {
  if (block.total == 0) return;
  const int type = plugin_type(block.dtype), reduce = plugin_reduce(block.reduce);
  if (team_ == nullptr) {
    const CommMember self{0, in, out};
    reduce_members(block.dtype, block.reduce, {&self, 1}, 0, block.total, out);
  } else if (job_.options().ordered) {
    scatter_ordered(block, in, out);
  } else if (block.total <= job_.options().max_elements) {
    set_ints(counts_int_, block.counts);
    run([&](const PlaitMpiInterface& mpi, char* error, size_t size) {
      return mpi.reduce_scatter(team_, type, reduce, in, out, counts_int_.data(), error, size);
    });
  } else {
    for (int64_t p = 0; p < size(); ++p) {
      for (int64_t done = 0; done < block.counts[size_t(p)]; done += job_.options().max_elements) {
        const int64_t length = std::min(block.counts[size_t(p)] - done, job_.options().max_elements);
        run([&](const PlaitMpiInterface& mpi, char* error, size_t size) {
          return mpi.reduce(team_, type, reduce, at(in, (block.starts[size_t(p)] + done) * block.unit),
                            p == position_ ? at(out, done * block.unit) : nullptr, int(length), int(p), error, size);
        });
      }
    }
  }
}

// Every member takes the others' parts of its own piece, elements begin .. begin + length of each, one part after
// another.
void MpiCommunicator::exchange_parts(const Block& block, const void* in, int64_t begin, int64_t length,
                                     std::byte* received) {
  auto part = [&](size_t p) { return std::clamp<int64_t>(block.counts[p] - begin, 0, length); };
  const bool fits = block.total <= job_.options().max_elements;
  const size_t count = ranks_.size();
  counts_int_.resize(count);
  starts_int_.resize(count);
  parts_int_.resize(count);
  part_starts_int_.resize(count);
  const int64_t own = part(size_t(position_));
  int64_t packed = 0;
  for (size_t p = 0; p < count; ++p) {
    counts_int_[p] = int(part(p));
    starts_int_[p] = int(fits ? block.starts[p] + std::min(begin, block.counts[p]) : packed);
    packed += part(p);
    parts_int_[p] = int(own);
    part_starts_int_[p] = int(own * int64_t(p));
  }
  const void* from = in;
  if (!fits) {
    from = at_least(packed * block.unit, sent_);
    for (size_t p = 0; p < count; ++p)
      if (part(p) > 0)
        std::memcpy(at(sent_->data(), starts_int_[p] * block.unit), at(in, (block.starts[p] + begin) * block.unit),
                    size_t(part(p) * block.unit));
  }
  run([&](const PlaitMpiInterface& mpi, char* error, size_t size) {
    return mpi.all_to_all(team_, plugin_type(block.dtype), from, counts_int_.data(), starts_int_.data(), received,
                          parts_int_.data(), part_starts_int_.data(), error, size);
  });
}

// Moves elements begin .. begin + length of what goes to each member, and of what comes; both lie one after another.
void MpiCommunicator::exchange_round(DType dtype, std::span<const int64_t> sends, std::span<const int64_t> takes,
                                     int64_t begin, int64_t length, const std::byte* from, std::byte* to) {
  const auto unit = int64_t(size_of(dtype));
  auto now = [&](std::span<const int64_t> all, size_t p) { return std::clamp<int64_t>(all[p] - begin, 0, length); };
  auto places = [&](std::span<const int64_t> all, std::vector<int>& counts, std::vector<int>& starts) {
    counts.clear();
    starts.clear();
    int64_t at = 0;
    for (size_t p = 0; p < all.size(); ++p) {
      counts.push_back(int(now(all, p)));
      starts.push_back(int(at));
      at += now(all, p);
    }
    return at;
  };
  const int64_t sent = places(sends, parts_int_, part_starts_int_);
  const int64_t taken = places(takes, counts_int_, starts_int_);
  const bool all = begin == 0 && std::ranges::max(sends) <= length && std::ranges::max(takes) <= length;
  std::byte* out = to;
  if (!all) {  // compacted on the way; never in one place, which libraries take for an exchange in place
    auto* compact = static_cast<std::byte*>(at_least((sent + 1 + taken) * unit, rows_));
    const std::byte* source = from;
    for (size_t p = 0; p < sends.size(); source += sends[p++] * unit)
      if (now(sends, p) > 0)
        std::memcpy(compact + part_starts_int_[p] * unit, source + begin * unit, size_t(now(sends, p) * unit));
    from = compact;
    out = compact + (sent + 1) * unit;
  }
  run([&](const PlaitMpiInterface& mpi, char* error, size_t size) {
    return mpi.all_to_all(team_, plugin_type(dtype), from, parts_int_.data(), part_starts_int_.data(), out,
                          counts_int_.data(), starts_int_.data(), error, size);
  });
  for (size_t p = 0; !all && p < takes.size(); to += takes[p++] * unit)
    if (now(takes, p) > 0) std::memcpy(to + begin * unit, out + starts_int_[p] * unit, size_t(now(takes, p) * unit));
}

void MpiCommunicator::all_to_all(const CommBlocks& blocks, std::span<const CommMember> members) {
  PLAIT_CHECK(blocks.held.size() == ranks_.size() && blocks.taken.size() == ranks_.size(), "{} blocks for {} members",
              blocks.held.size(), size());
  record({Collective::all_to_all, CommReduce::sum, {}, blocks}, members, [&](const CommMember& member) {
    const CommBlock &held = blocks.held[size_t(position_)], &taken = blocks.taken[size_t(position_)];
    if (team_ == nullptr) return copy_part(blocks, held, member.in, taken, member.out, taken);
    const auto unit = int64_t(size_of(blocks.dtype));
    std::vector<int64_t> sends, takes;
    int64_t sent = 0, received = 0;
    for (size_t p = 0; p < ranks_.size(); ++p) {
      sends.push_back(blocks.elements(common(held, blocks.taken[p])));
      takes.push_back(blocks.elements(common(blocks.held[p], taken)));
      sent += sends.back();
      received += takes.back();
    }
    auto* packed = static_cast<std::byte*>(at_least((sent + 1) * unit, sent_));
    auto* arrived = static_cast<std::byte*>(at_least((received + 1) * unit, received_));
    std::byte* next = packed;
    for (size_t p = 0; p < ranks_.size(); next += sends[p++] * unit) {
      const CommBlock part = common(held, blocks.taken[p]);
      copy_part(blocks, held, member.in, part, next, part);
    }
    // As many rounds for every member.
    const int64_t length = std::max<int64_t>(1, job_.options().max_elements / size());
    for (int64_t begin = 0; begin < blocks.most_elements(); begin += length)
      exchange_round(blocks.dtype, sends, takes, begin, length, packed, arrived);
    next = arrived;
    for (size_t p = 0; p < ranks_.size(); next += takes[p++] * unit) {
      const CommBlock part = common(blocks.held[p], taken);
      copy_part(blocks, part, next, taken, member.out, part);
    }
  });
}

void MpiCommunicator::scatter_ordered(const Block& block, const void* in, void* out) {
  const int64_t most = std::min(job_.options().scratch_bytes / block.unit, job_.options().max_elements);
  const int64_t length = std::max<int64_t>(1, most / size());
  const int64_t longest = *std::max_element(block.counts.begin(), block.counts.end());
  auto* received = static_cast<std::byte*>(at_least(size() * std::min(length, longest) * block.unit, received_));
  for (int64_t begin = 0; begin < longest; begin += length) {
    exchange_parts(block, in, begin, length, received);
    const int64_t own = std::clamp<int64_t>(block.counts[size_t(position_)] - begin, 0, length);
    for (int64_t p = 0; p < size(); ++p) parts_[size_t(p)] = {p, received + p * own * block.unit, nullptr};
    reduce_members(block.dtype, block.reduce, parts_, 0, own, at(out, begin * block.unit));
  }
}

void MpiCommunicator::all_gather(const CommPieces& pieces, std::span<const CommMember> members) {
  PLAIT_CHECK(pieces.counts.size() == ranks_.size(), "{} counts for {} members", pieces.counts.size(), size());
  record({Collective::all_gather, CommReduce::sum, pieces}, members, [&](const CommMember& member) {
    const int64_t at_once = rows_at_once(pieces), unit = pieces.inner * int64_t(size_of(pieces.dtype));
    const int64_t row = pieces.total() * unit, own = pieces.counts[size_t(position_)] * unit;
    void* gathered = at_once > 1 ? at_least(at_once * row, rows_) : nullptr;
    for (int64_t o = 0; o < pieces.outer; o += at_once) {
      const int64_t rows = std::min(at_once, pieces.outer - o);
      const Block all = block(pieces, CommReduce::sum, rows);
      void* target = rows == 1 ? at(member.out, o * row) : gathered;
      gather(all, at(member.in, o * own), target);
      for (size_t p = 0; p < ranks_.size() && rows > 1; ++p) {
        const int64_t bytes = pieces.counts[p] * unit, place = starts_[p] / rows * int64_t(size_of(pieces.dtype));
        for (int64_t r = 0; r < rows && bytes > 0; ++r)
          std::memcpy(at(member.out, (o + r) * row + place),
                      at(gathered, starts_[p] * int64_t(size_of(pieces.dtype)) + r * bytes), size_t(bytes));
      }
    }
  });
}

void MpiCommunicator::reduce_scatter(const CommPieces& pieces, CommReduce reduce, std::span<const CommMember> members) {
  PLAIT_CHECK(pieces.counts.size() == ranks_.size(), "{} counts for {} members", pieces.counts.size(), size());
  record({Collective::reduce_scatter, reduce, pieces}, members, [&](const CommMember& member) {
    const int64_t at_once = rows_at_once(pieces), unit = pieces.inner * int64_t(size_of(pieces.dtype));
    const int64_t row = pieces.total() * unit, own = pieces.counts[size_t(position_)] * unit;
    void* packed = at_once > 1 ? at_least(at_once * row, rows_) : nullptr;
    for (int64_t o = 0; o < pieces.outer; o += at_once) {
      const int64_t rows = std::min(at_once, pieces.outer - o);
      const Block all = block(pieces, reduce, rows);
      for (size_t p = 0; p < ranks_.size() && rows > 1; ++p) {
        const int64_t bytes = pieces.counts[p] * unit, place = starts_[p] / rows * int64_t(size_of(pieces.dtype));
        for (int64_t r = 0; r < rows && bytes > 0; ++r)
          std::memcpy(at(packed, starts_[p] * int64_t(size_of(pieces.dtype)) + r * bytes),
                      at(member.in, (o + r) * row + place), size_t(bytes));
      }
      scatter(all, rows == 1 ? at(member.in, o * row) : packed, at(member.out, o * own));
    }
  });
}

void MpiCommunicator::all_reduce(DType dtype, CommReduce reduce, int64_t elements,
                                 std::span<const CommMember> members) {
  record({Collective::all_reduce, reduce, {dtype, 1, 1, {&elements, 1}}}, members, [&](const CommMember& member) {
    const int64_t unit = int64_t(size_of(dtype)), most = job_.options().max_elements;
    if (team_ == nullptr || job_.options().ordered) {
      const int64_t chunk = (elements + size() - 1) / size();
      for (int64_t p = 0; p < size(); ++p)
        chunks_[size_t(p)] = std::min(chunk, elements - std::min(elements, p * chunk));
      const Block all = block({dtype, 1, 1, chunks_}, reduce, 1);
      void* own = at(member.out, starts_[size_t(position_)] * unit);
      scatter(all, member.in, own);
      gather(all, own, member.out);
      return;
    }
    for (int64_t begin = 0; begin < elements; begin += most) {
      const int64_t length = std::min(most, elements - begin);
      run([&](const PlaitMpiInterface& mpi, char* error, size_t size) {
        return mpi.all_reduce(team_, plugin_type(dtype), plugin_reduce(reduce), at(member.in, begin * unit),
                              at(member.out, begin * unit), int(length), error, size);
      });
    }
  });
}

class MpiCommunicators : public Communicators {
 public:
  explicit MpiCommunicators(const MpiOptions& options) : job_(options), bootstrap_(job_) {}
  Communicator& team(std::span<const int64_t> ranks) override {
    job_.aborted.check();
    auto& slot = teams_[{ranks.begin(), ranks.end()}];
    if (!slot) slot = std::make_unique<MpiCommunicator>(ranks, job_, traffic_);
    return *slot;
  }
  CommTraffic traffic() const override { return traffic_; }
  void reset_traffic() override { traffic_ = {}; }
  Bootstrap* bootstrap() override { return &bootstrap_; }
  void check() override { job_.aborted.check(); }
  void abort(std::string_view why) override { job_.end(why); }
  FlightRecorder* recorder(int64_t rank) override { return job_.recorders.find(rank); }
  void dump(const std::string& folder, std::string_view reason) override { job_.recorders.dump(folder, reason); }

 private:
  MpiJob job_;
  MpiBootstrap bootstrap_;
  CommTraffic traffic_;
  std::map<std::vector<int64_t>, std::unique_ptr<MpiCommunicator>> teams_;
};

}  // namespace

std::shared_ptr<Communicators> make_mpi_communicators(const MpiOptions& options) {
  return std::make_shared<MpiCommunicators>(options);
}

}  // namespace plait
