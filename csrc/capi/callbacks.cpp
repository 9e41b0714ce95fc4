#include "capi/callbacks.h"

#include <algorithm>
#include <exception>
#include <numeric>

#include "base/memory_error.h"
#include "capi/handles.h"
#include "comm/comm_call.h"

namespace plait {

std::shared_ptr<Memory> CallbackAllocator::allocate_on(size_t bytes, Stream* stream) {
  void* native = stream ? stream->native() : nullptr;
  void* data = callbacks_.allocate(callbacks_.user, std::max<size_t>(bytes, 1), native);
  if (!data)
    throw MemoryError(fmt::format("the caller's allocator has no {} bytes", bytes), "allocator",
                      "free memory, or use smaller tensors");
  auto release = [callbacks = callbacks_, data, bytes, native] {
    callbacks.release(callbacks.user, data, std::max<size_t>(bytes, 1), native);
  };
  if (reinterpret_cast<uintptr_t>(data) % kBufferAlignment != 0) {
    release();
    throw UserError("the caller's allocator gave memory that is not aligned", "allocator",
                    fmt::format("align it to {} bytes", kBufferAlignment));
  }
  const Location location = native ? Location{false, stream->ordinal()} : Location{};
  return std::make_shared<Memory>(data, bytes, std::move(release), location);
}

namespace {

// One team: what is dense goes to the caller as it is, other views through memory of plait's.
class CallbackTeam : public Communicator {
 public:
  CallbackTeam(CallbackCommunicators& owner, std::vector<int64_t> ranks) : owner_(owner), ranks_(std::move(ranks)) {
    const int64_t rank = owner_.callbacks().rank;
    position_ = std::find(ranks_.begin(), ranks_.end(), rank) - ranks_.begin();
  }
  int64_t size() const override { return static_cast<int64_t>(ranks_.size()); }

  void all_reduce(DType dtype, CommReduce reduce, int64_t elements, std::span<const CommMember> members) override {
    const CommMember& me = only(members);
    const int64_t counts[] = {elements};
    count({Collective::all_reduce, reduce, {dtype, 1, 1, counts}});
    const plait_comms& c = owner_.callbacks();
    owner_.require(c.all_reduce(c.user, ranks_.data(), ranks_.size(), to_c(dtype), to_c(reduce), me.in, me.out,
                                elements, stream(me)),
                   "all_reduce");
  }

  void all_gather(const CommPieces& pieces, std::span<const CommMember> members) override {
    const CommMember& me = only(members);
    count({Collective::all_gather, CommReduce::sum, pieces});
    const Buffer packed = buffer_for(pieces, me);
    const std::vector<int64_t> counts = flat_counts(pieces);
    const plait_comms& c = owner_.callbacks();
    void* out = packed.data ? packed.data : me.out;
    owner_.require(
        c.all_gather(c.user, ranks_.data(), ranks_.size(), to_c(pieces.dtype), me.in, out, counts.data(), stream(me)),
        "all_gather");
    if (packed.data) each_piece(pieces, packed, me, static_cast<char*>(me.out), false);
  }

  void reduce_scatter(const CommPieces& pieces, CommReduce reduce, std::span<const CommMember> members) override {
    const CommMember& me = only(members);
    count({Collective::reduce_scatter, reduce, pieces});
    const Buffer packed = buffer_for(pieces, me);
    if (packed.data) each_piece(pieces, packed, me, static_cast<char*>(const_cast<void*>(me.in)), true);
    const std::vector<int64_t> counts = flat_counts(pieces);
    const plait_comms& c = owner_.callbacks();
    owner_.require(c.reduce_scatter(c.user, ranks_.data(), ranks_.size(), to_c(pieces.dtype), to_c(reduce),
                                    packed.data ? packed.data : me.in, me.out, counts.data(), stream(me)),
                   "reduce_scatter");
  }

  void all_to_all(const CommBlocks& blocks, std::span<const CommMember> members) override {
    const CommMember& me = only(members);
    const CommBlock &held = blocks.held[size_t(position_)], &taken = blocks.taken[size_t(position_)];
    const plait_comms& c = owner_.callbacks();
    std::vector<int64_t> sends, takes;
    for (size_t p = 0; p < ranks_.size(); ++p) {
      sends.push_back(blocks.elements(common(held, blocks.taken[p])));
      takes.push_back(blocks.elements(c.all_to_all ? common(blocks.held[p], taken) : blocks.held[p]));
    }
    const Buffer in = c.all_to_all ? room(blocks.dtype, sends, me) : Buffer{};
    const Buffer out = room(blocks.dtype, takes, me);
    const std::unique_ptr<Stream> host = me.stream ? nullptr : make_host_stream();
    Stream& queue = me.stream ? *me.stream : *host;
    if (c.all_to_all) {
      count({Collective::all_to_all, CommReduce::sum, {}, blocks});
      each_block(blocks, sends, [&](size_t p, size_t place) {
        const CommBlock part = common(held, blocks.taken[p]);
        copy_part(queue, blocks, held, me.in, part, in.data + place, part);
      });
      owner_.require(c.all_to_all(c.user, ranks_.data(), ranks_.size(), to_c(blocks.dtype), in.data, sends.data(),
                                  out.data, takes.data(), stream(me)),
                     "all_to_all");
    } else {
      count({Collective::all_gather, CommReduce::sum, {blocks.dtype, 1, 1, takes}});
      owner_.require(c.all_gather(c.user, ranks_.data(), ranks_.size(), to_c(blocks.dtype), me.in, out.data,
                                  takes.data(), stream(me)),
                     "all_gather");
    }
    each_block(blocks, takes, [&](size_t p, size_t place) {
      const CommBlock part = common(blocks.held[p], taken);
      copy_part(queue, blocks, c.all_to_all ? part : blocks.held[p], out.data + place, taken, me.out, part);
    });
  }

 private:
  struct Buffer {
    std::shared_ptr<Memory> memory;
    char* data = nullptr;  // null: not needed
  };

  static int32_t to_c(CommReduce reduce) { return static_cast<int32_t>(reduce); }
  static plait_dtype to_c(DType dtype) { return plait::to_c(dtype); }
  static void* stream(const CommMember& me) { return me.stream ? me.stream->native() : nullptr; }

  const CommMember& only(std::span<const CommMember> members) const {
    PLAIT_CHECK(members.size() == 1 && members[0].position == position_, "{} members of the caller's team",
                members.size());
    return members[0];
  }

  void count(const CommCall& call) { owner_.count(member_traffic(call, size(), position_)); }

  static std::vector<int64_t> flat_counts(const CommPieces& pieces) {
    std::vector<int64_t> out;
    for (int64_t n : pieces.counts) out.push_back(n * pieces.outer * pieces.inner);
    return out;
  }

  // Room for the whole tensor, piece after piece, where its pieces are not contiguous.
  Buffer buffer_for(const CommPieces& pieces, const CommMember& me) {
    if (pieces.outer <= 1) return {};
    const int64_t elements[] = {pieces.outer * pieces.total() * pieces.inner};
    return room(pieces.dtype, elements, me);
  }

  Buffer room(DType dtype, std::span<const int64_t> counts, const CommMember& me) {
    const int64_t elements = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    Buffer out;
    out.memory = owner_.device()
                     .allocator(me.stream ? me.stream->ordinal() : 0)
                     .allocate_on(static_cast<size_t>(elements) * size_of(dtype), me.stream);
    out.data = static_cast<char*>(out.memory->data());
    return out;
  }

  static void each_block(const CommBlocks& blocks, std::span<const int64_t> counts, auto&& fn) {
    size_t place = 0;
    for (size_t p = 0; p < counts.size(); ++p) {
      fn(p, place);
      place += static_cast<size_t>(counts[p]) * size_of(blocks.dtype);
    }
  }

  // Copies every piece between the packed buffer and its place in [outer, total, inner].
  void each_piece(const CommPieces& pieces, const Buffer& packed, const CommMember& me, char* whole, bool pack) {
    const std::unique_ptr<Stream> host = me.stream ? nullptr : make_host_stream();
    Stream& queue = me.stream ? *me.stream : *host;
    const auto row = static_cast<size_t>(pieces.inner) * size_of(pieces.dtype);
    const auto rows = static_cast<size_t>(pieces.outer);
    const size_t pitch = static_cast<size_t>(pieces.total()) * row;
    size_t first = 0;
    for (int64_t n : pieces.counts) {
      const size_t bytes = static_cast<size_t>(n) * row;
      char* place = whole + first;
      char* piece = packed.data + first * rows;
      if (pack)
        queue.copy_rows(piece, bytes, place, pitch, bytes, rows);
      else
        queue.copy_rows(place, pitch, piece, bytes, bytes, rows);
      first += bytes;
    }
  }

  CallbackCommunicators& owner_;
  std::vector<int64_t> ranks_;
  int64_t position_ = 0;
};

}  // namespace

CallbackCommunicators::CallbackCommunicators(const plait_comms& callbacks, Device& device)
    : callbacks_(callbacks), device_(device) {
  if (!callbacks.exchange || !callbacks.all_reduce || !callbacks.all_gather || !callbacks.reduce_scatter)
    throw UserError("a callback of the communicators is null", "comms",
                    "give exchange, all_reduce, all_gather and reduce_scatter");
  if (callbacks.size < 1 || callbacks.rank < 0 || callbacks.rank >= callbacks.size)
    throw UserError(fmt::format("rank {} of {}", callbacks.rank, callbacks.size), "comms",
                    "rank counts from 0 and is below size");
}

CallbackCommunicators::~CallbackCommunicators() = default;

Communicator& CallbackCommunicators::team(std::span<const int64_t> ranks) {
  std::vector<int64_t> key(ranks.begin(), ranks.end());
  auto& slot = teams_[key];
  if (!slot) slot = std::make_unique<CallbackTeam>(*this, std::move(key));
  return *slot;
}

void CallbackCommunicators::require(int status, const char* call) const {
  if (status == 0) return;
  const char* words = callbacks_.error ? callbacks_.error(callbacks_.user) : nullptr;
  throw CommError(fmt::format("the caller's {} returned {}{}{}", call, status, words ? ": " : "", words ? words : ""),
                  fmt::format("rank {}", callbacks_.rank), "");
}

void CallbackCommunicators::abort(std::string_view why) {
  if (callbacks_.abort) callbacks_.abort(callbacks_.user, std::string(why).c_str());
}

void CallbackCommunicators::count(const CommTraffic& more) {
  traffic_.wire_bytes += more.wire_bytes;
  traffic_.wire_bytes_min += more.wire_bytes_min;
}

std::vector<std::string> CallbackCommunicators::all_gather(std::string_view mine) {
  std::vector<int64_t> ranks(static_cast<size_t>(callbacks_.size));
  std::iota(ranks.begin(), ranks.end(), int64_t{0});
  return all_gather_among(ranks, mine);
}

std::vector<std::string> CallbackCommunicators::all_gather_among(std::span<const int64_t> ranks,
                                                                 std::string_view mine) {
  struct Sink {
    std::vector<std::string> texts;
    std::vector<bool> taken;
    size_t wrong = 0;              // calls for no rank, or for one that had its turn
    std::exception_ptr exception;  // the caller's frames are no way for it
  } sink;
  sink.texts.resize(ranks.size());
  sink.taken.resize(ranks.size());
  const auto take = [](void* to, size_t position, const void* data, size_t bytes) {
    auto& into = *static_cast<Sink*>(to);
    if (position >= into.texts.size() || into.taken[position]) {
      ++into.wrong;
      return;
    }
    try {
      into.texts[position].assign(static_cast<const char*>(data), bytes);
      into.taken[position] = true;
    } catch (...) {
      into.exception = std::current_exception();
    }
  };
  require(callbacks_.exchange(callbacks_.user, ranks.data(), ranks.size(), mine.data(), mine.size(), take, &sink),
          "exchange");
  if (sink.exception) std::rethrow_exception(sink.exception);
  const auto taken = static_cast<size_t>(std::count(sink.taken.begin(), sink.taken.end(), true));
  if (sink.wrong > 0 || taken != ranks.size())
    throw CommError(fmt::format("the caller's exchange gave {} of {} texts, and {} that nobody asked for", taken,
                                ranks.size(), sink.wrong),
                    fmt::format("rank {}", callbacks_.rank), "call take once for each of the ranks");
  return sink.texts;
}

}  // namespace plait
