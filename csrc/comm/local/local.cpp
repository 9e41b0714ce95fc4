#include "comm/local/local.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/error.h"
#include "comm/local/reduce.h"

namespace plait {
namespace {

std::byte* at(void* data, int64_t bytes) { return static_cast<std::byte*>(data) + bytes; }
const std::byte* at(const void* data, int64_t bytes) { return static_cast<const std::byte*>(data) + bytes; }

}  // namespace

LocalCommunicator::LocalCommunicator(int64_t size, CommTraffic& traffic)
    : size_(size), traffic_(traffic), chunks_(size_t(size)) {
  PLAIT_CHECK(size >= 1, "a team of {} ranks", size);
}

void LocalCommunicator::check(std::span<const CommMember> members) const {
  PLAIT_CHECK(int64_t(members.size()) == size_, "{} members called a collective of {}", members.size(), size_);
  for (int64_t p = 0; p < size_; ++p)
    PLAIT_CHECK(members[p].position == p, "member {} stands at position {}", members[p].position, p);
}

// Every member takes the pieces of the others; piece p is all of member p's `in`, or lies at its place in p's `out`.
void LocalCommunicator::gather(const CommPieces& pieces, std::span<const CommMember> members, bool pieces_in_out) {
  const int64_t unit = pieces.inner * int64_t(size_of(pieces.dtype)), row = pieces.total() * unit;
  for (const CommMember& to : members) {
    int64_t start = 0;
    for (const CommMember& from : members) {
      const int64_t bytes = pieces.counts[from.position] * unit;
      const bool own = from.position == to.position;
      if (bytes > 0 && !(own && pieces_in_out)) {
        for (int64_t o = 0; o < pieces.outer; ++o) {
          const std::byte* source = pieces_in_out ? at(from.out, o * row + start) : at(from.in, o * bytes);
          std::memcpy(at(to.out, o * row + start), source, size_t(bytes));
        }
        if (!own) traffic_.wire_bytes += pieces.outer * bytes;
      }
      start += bytes;
    }
  }
}

void LocalCommunicator::all_gather(const CommPieces& pieces, std::span<const CommMember> members) {
  check(members);
  PLAIT_CHECK(int64_t(pieces.counts.size()) == size_, "{} counts for {} members", pieces.counts.size(), size_);
  gather(pieces, members, false);
  traffic_.wire_bytes_min +=
      (size_ - 1) * pieces.outer * pieces.total() * pieces.inner * int64_t(size_of(pieces.dtype));
}

void LocalCommunicator::reduce_scatter(const CommPieces& pieces, CommReduce reduce,
                                       std::span<const CommMember> members) {
  check(members);
  PLAIT_CHECK(int64_t(pieces.counts.size()) == size_, "{} counts for {} members", pieces.counts.size(), size_);
  const int64_t unit = pieces.inner * int64_t(size_of(pieces.dtype)), row = pieces.total() * unit;
  int64_t start = 0;
  for (const CommMember& to : members) {
    const int64_t count = pieces.counts[to.position], bytes = count * unit;
    for (int64_t o = 0; o < pieces.outer; ++o)
      reduce_members(pieces.dtype, reduce, members, o * row + start, count * pieces.inner, at(to.out, o * bytes));
    traffic_.wire_bytes += (size_ - 1) * pieces.outer * bytes;
    start += bytes;
  }
  traffic_.wire_bytes_min += (size_ - 1) * pieces.outer * row;
}

void LocalCommunicator::all_reduce(DType dtype, CommReduce reduce, int64_t elements,
                                   std::span<const CommMember> members) {
  check(members);
  const int64_t chunk = (elements + size_ - 1) / size_;
  const int64_t unit = int64_t(size_of(dtype));
  // The reduce-scatter: each member reduces its chunk in place in its `out`; the others' chunks of `in` stay untouched.
  for (const CommMember& to : members) {
    const int64_t start = std::min(elements, to.position * chunk);
    chunks_[to.position] = std::min(chunk, elements - start);
    reduce_members(dtype, reduce, members, start * unit, chunks_[to.position], at(to.out, start * unit));
    traffic_.wire_bytes += (size_ - 1) * chunks_[to.position] * unit;
  }
  gather({dtype, 1, 1, chunks_}, members, true);
  traffic_.wire_bytes_min += 2 * (size_ - 1) * elements * unit;
}

void LocalCommunicator::all_to_all(const CommBlocks& blocks, std::span<const CommMember> members) {
  check(members);
  for (const CommMember& to : members) {
    const CommBlock& taken = blocks.taken[size_t(to.position)];
    for (const CommMember& from : members) {
      const CommBlock& held = blocks.held[size_t(from.position)];
      copy_part(blocks, held, from.in, taken, to.out, common(held, taken));
    }
    const CommTraffic one = member_traffic({Collective::all_to_all, CommReduce::sum, {}, blocks}, size_, to.position);
    traffic_.wire_bytes += one.wire_bytes;
    traffic_.wire_bytes_min += one.wire_bytes_min;
  }
}

// A team whose operations are recorded, for each of its ranks.
class LocalCommunicators::Team : public Communicator {
 public:
  Team(std::span<const int64_t> ranks, LocalCommunicators& all)
      : communicator_(int64_t(ranks.size()), all.traffic_), aborted_(all.aborted_) {
    for (int64_t rank : ranks) {
      FlightRecorder& recorder = all.recorders_.of(rank);
      recorders_.push_back({&recorder, recorder.team(ranks)});
    }
  }
  int64_t size() const override { return communicator_.size(); }

  void all_reduce(DType dtype, CommReduce reduce, int64_t elements, std::span<const CommMember> members) override {
    const CommCall call{Collective::all_reduce, reduce, {dtype, 1, 1, {&elements, 1}}};
    record(call, [&] { communicator_.all_reduce(dtype, reduce, elements, members); });
  }
  void all_gather(const CommPieces& pieces, std::span<const CommMember> members) override {
    record({Collective::all_gather, CommReduce::sum, pieces}, [&] { communicator_.all_gather(pieces, members); });
  }
  void reduce_scatter(const CommPieces& pieces, CommReduce reduce, std::span<const CommMember> members) override {
    record({Collective::reduce_scatter, reduce, pieces},
           [&] { communicator_.reduce_scatter(pieces, reduce, members); });
  }
  void all_to_all(const CommBlocks& blocks, std::span<const CommMember> members) override {
    record({Collective::all_to_all, CommReduce::sum, {}, blocks}, [&] { communicator_.all_to_all(blocks, members); });
  }

 private:
  struct Recording {
    FlightRecorder* recorder;
    uint32_t team;
    int64_t issue = 0;
  };
  void record(const CommCall& call, auto&& carry_out) {
    aborted_.check();
    const int64_t begin = FlightRecorder::now();
    for (Recording& r : recorders_) r.issue = r.recorder->begin(r.team, call, begin);
    carry_out();
    const int64_t end = FlightRecorder::now();
    for (Recording& r : recorders_) r.recorder->mark(r.issue, FlightState::done, end);
  }
  LocalCommunicator communicator_;
  const AbortFlag& aborted_;
  std::vector<Recording> recorders_;
};

LocalCommunicators::LocalCommunicators(CommOptions options) : options_(std::move(options)), recorders_("local") {}
LocalCommunicators::~LocalCommunicators() = default;

Communicator& LocalCommunicators::team(std::span<const int64_t> ranks) {
  auto& slot = teams_[std::vector<int64_t>(ranks.begin(), ranks.end())];
  if (!slot) slot = std::make_unique<Team>(ranks, *this);
  return *slot;
}

void LocalCommunicators::abort(std::string_view why) {
  if (aborted_.set(why)) recorders_.dump_on_failure(options_.dump_folder, why);
}

}  // namespace plait
