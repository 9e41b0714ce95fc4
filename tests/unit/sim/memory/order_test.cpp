// Happens-before of accesses, against a model that keeps all accesses to every byte.
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "sim/memory/address_space.h"

namespace plait::sim {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(Clock, JoinsAndIncludes) {
  Clock a, b;
  a.raise(2, 5);
  a.raise(2, 3);
  b.raise(0, 1);
  EXPECT_EQ(a.of(2), 5u);
  EXPECT_EQ(a.of(7), 0u);
  EXPECT_FALSE(a.includes(b));
  a.join(b);
  EXPECT_TRUE(a.includes(b));
  EXPECT_FALSE(a == b);
  b.join(a);
  EXPECT_TRUE(a == b);
}

// Streams whose operations get their clocks as events give them.
class Streams {
 public:
  explicit Streams(AddressSpace& space, int count) : space_(space), clocks_(count), sequence_(count) {}
  Actor next(int stream, const std::string& name = "op") {
    clocks_[stream].raise(stream, sequence_[stream]);
    return space_.trace().begin({fmt::format("{}{}", name, ++total_), stream, ++sequence_[stream], ""},
                                clocks_[stream]);
  }
  // What `to` does from now on happens after what `from` did.
  void wait(int to, int from) {
    clocks_[from].raise(from, sequence_[from]);
    clocks_[to].join(clocks_[from]);
  }

 private:
  AddressSpace& space_;
  std::vector<Clock> clocks_;
  std::vector<uint64_t> sequence_;
  int total_ = 0;
};

TEST(Order, NamesBothOperations) {
  AddressSpace space;
  space.add_device(0, 1 << 20);
  const uint64_t a = space.allocate(0, 64);
  Streams streams(space, 2);
  EXPECT_FALSE(space.write(streams.next(0, "write"), a, 64));
  const Misuse race = space.read(streams.next(1, "read"), a + 8, 4);
  EXPECT_EQ(race.code, kLaunchFailed);
  EXPECT_EQ(race.address, a + 8);
  EXPECT_TRUE(contains(race.text, "not ordered: reads 4 bytes at allocation 1 + 8 of 64 bytes")) << race.text;
  EXPECT_TRUE(contains(race.text, "which `write1` (operation 1 on stream 0) writes")) << race.text;
  streams.wait(1, 0);
  EXPECT_FALSE(space.read(streams.next(1), a + 8, 4));
  const Misuse other = space.write(streams.next(0), a + 10, 1);
  EXPECT_TRUE(contains(other.text, "reads; nothing orders")) << other.text;
  EXPECT_FALSE(space.write(streams.next(0), a + 12, 4));
}

TEST(Order, ReadersOfSeveralStreamsAreAllRemembered) {
  for (int forgotten = 0; forgotten < 3; ++forgotten) {
    AddressSpace space;
    space.add_device(0, 1 << 20);
    const uint64_t a = space.allocate(0, 64);
    Streams streams(space, 4);
    EXPECT_FALSE(space.write(streams.next(3), a, 64));
    for (int reader = 0; reader < 3; ++reader) {
      streams.wait(reader, 3);
      EXPECT_FALSE(space.read(streams.next(reader, fmt::format("reader{}_", reader)), a, 64));
    }
    for (int reader = 0; reader < 3; ++reader)
      if (reader != forgotten) streams.wait(3, reader);
    const Misuse race = space.write(streams.next(3), a, 64);
    EXPECT_TRUE(contains(race.text, fmt::format("reader{}_", forgotten))) << race.text;
    streams.wait(3, forgotten);
    EXPECT_FALSE(space.write(streams.next(3), a, 64));
  }
}

TEST(Order, NeighboursWithinAGranuleAreApart) {
  AddressSpace space;
  space.add_device(0, 1 << 20);
  const uint64_t a = space.allocate(0, 64);
  Streams streams(space, 3);
  EXPECT_FALSE(space.write(streams.next(0), a, 6));
  EXPECT_FALSE(space.write(streams.next(1), a + 6, 10));  // bytes 6, 7 of a granule whose first two stream 0 wrote
  EXPECT_TRUE(space.read(streams.next(1), a + 5, 1));
  EXPECT_TRUE(space.read(streams.next(0), a + 6, 1));
  EXPECT_FALSE(space.read(streams.next(0), a + 5, 1));
  EXPECT_FALSE(space.read(streams.next(1), a + 6, 1));
  EXPECT_TRUE(space.write(streams.next(2), a + 4, 2));
  EXPECT_TRUE(space.write(streams.next(2), a + 6, 2));
}

TEST(Order, AllocationAndFreeAreOperations) {
  AddressSpace space;
  space.add_device(0, 1 << 20);
  Streams streams(space, 2);
  const uint64_t a = space.allocate(0, 64, streams.next(0, "cuMemAllocAsync").id, "cuMemAllocAsync");
  const Misuse early = space.write(streams.next(1), a, 4);
  EXPECT_TRUE(contains(early.text, "not ordered after its allocation by `cuMemAllocAsync1`")) << early.text;
  streams.wait(1, 0);
  EXPECT_FALSE(space.write(streams.next(1, "late"), a, 4));
  EXPECT_FALSE(space.write(streams.next(0), a + 8, 4));
  try {
    space.release(a, streams.next(0, "cuMemFreeAsync"));
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.code, kLaunchFailed);
    EXPECT_TRUE(contains(fault.text, "`cuMemFreeAsync5`")) << fault.text;
    EXPECT_TRUE(contains(fault.text, "which `late3`")) << fault.text;
  }
  EXPECT_EQ(space.live_count(), 0u);
  EXPECT_TRUE(contains(space.write(streams.next(1), a, 4).text, "use after free"));
  const uint64_t b = space.allocate(0, 64);
  EXPECT_FALSE(space.write(streams.next(1), b, 4));
  streams.wait(0, 1);
  space.release(b, streams.next(0));
}

TEST(Copies, CarryOverWhatWasWritten) {
  AddressSpace space;
  space.add_device(0, 1 << 20);
  Streams streams(space, 1);
  const uint64_t a = space.allocate(0, 100), b = space.allocate(0, 100);
  std::vector<uint8_t> host(100);
  const uint64_t pageable = reinterpret_cast<uint64_t>(host.data());
  const auto copy = [&](uint64_t to, uint64_t from, size_t bytes) {
    try {
      space.check_copy(streams.next(0, "copy"), to, from, bytes);
    } catch (const Fault& fault) {
      return fault.text;
    }
    return std::string();
  };
  const auto reads = [&](uint64_t at, size_t bytes) { return !space.read(streams.next(0), at, bytes); };
  EXPECT_EQ(copy(a + 10, pageable, 20), "");
  EXPECT_EQ(copy(b + 3, a + 5, 50), "");  // bytes 8 to 27 of b are written now
  EXPECT_TRUE(reads(b + 8, 20));
  EXPECT_FALSE(reads(b + 7, 1));
  EXPECT_FALSE(reads(b + 28, 1));
  EXPECT_EQ(copy(b, a, 32), "");  // overwrites with 10 to 29
  EXPECT_FALSE(reads(b + 8, 2));
  EXPECT_TRUE(reads(b + 10, 20));
  EXPECT_EQ(copy(pageable, b + 10, 20), "");
  EXPECT_TRUE(contains(copy(pageable, b + 10, 21), "uninitialised"));
  EXPECT_TRUE(contains(copy(pageable, b + 10, 91), "out of bounds: reads 91 bytes"));
  EXPECT_TRUE(contains(copy(a + 90, b, 11), "out of bounds: writes 11 bytes"));
  EXPECT_TRUE(contains(copy(a, b + 200, 1), "out of bounds"));
  EXPECT_EQ(copy(a + 100, b + 100, 0), "");
}

// Random operations on a few streams and bytes: a race is reported exactly where the model has one, but for accesses
// that share a granule and not a byte with a later ordered one, whose record that one may replace.
void random_accesses(uint32_t seed, bool whole_granules) {
  std::mt19937 random(seed);
  AddressSpace space;
  space.add_device(0, 1 << 20);
  constexpr size_t kBytes = 32;
  const uint64_t a = space.allocate(0, kBytes);
  const int streams_count = 2 + static_cast<int>(random() % 3);
  Streams streams(space, streams_count);
  const Actor start = streams.next(0);
  ASSERT_FALSE(space.write(start, a, kBytes));
  for (int s = 1; s < streams_count; ++s) streams.wait(s, 0);
  struct Past {
    OperationId id;
    bool write;
  };
  std::vector<std::vector<Past>> past(kBytes, {{start.id, true}});
  for (int i = 0; i < 300; ++i) {
    const int stream = static_cast<int>(random() % static_cast<uint32_t>(streams_count));
    if (random() % 3 != 0) streams.wait(stream, static_cast<int>(random() % static_cast<uint32_t>(streams_count)));
    const Actor actor = streams.next(stream);
    const size_t unit = whole_granules ? 4 : 1;
    const size_t first = random() % (kBytes / unit) * unit;
    const size_t bytes = (1 + random() % 3) * unit + (whole_granules ? 0 : random() % 5);
    if (first + bytes > kBytes) continue;
    const bool write = random() % 2 == 0;
    bool expected = false;
    for (size_t at = first; at < first + bytes; ++at)
      for (const Past& each : past[at])
        expected = expected || ((write || each.write) && !space.trace().ordered(each.id, actor));
    const Misuse found = write ? space.write(actor, a + first, bytes) : space.read(actor, a + first, bytes);
    if (whole_granules || found) {
      ASSERT_EQ(bool(found), expected) << "seed " << seed << ", access " << i;
    }
    if (expected) return;  // a kernel would have ended here
    for (size_t at = first; at < first + bytes; ++at) past[at].push_back({actor.id, write});
  }
}

TEST(Order, RandomAccessesAgreeWithTheModel) {
  for (uint32_t seed = 0; seed < 2000; ++seed) random_accesses(seed, true);
}

TEST(Order, RandomBytesAreNeverAccusedWrongly) {
  for (uint32_t seed = 0; seed < 2000; ++seed) random_accesses(seed, false);
}

}  // namespace
}  // namespace plait::sim
