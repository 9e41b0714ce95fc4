// What an embedder lends: memory, and the collectives of its job.
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "capi/c_api.h"

namespace plait::testing {
namespace {

struct CountingAllocator {
  std::atomic<int> taken = 0, given = 0;
  std::atomic<size_t> bytes = 0;
  size_t offset = 0;
  bool empty = false;
  int left = -1;  // allocations until there is no more; -1: always more
  plait_allocator callbacks = {sizeof(plait_allocator), this, &allocate, &release};

  static void* allocate(void* user, size_t bytes, void* stream) {
    auto& self = *static_cast<CountingAllocator*>(user);
    EXPECT_EQ(stream, nullptr);
    if (self.empty || self.left == 0) return nullptr;
    if (self.left > 0) --self.left;
    ++self.taken;
    self.bytes += bytes;
    return static_cast<char*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64)) + self.offset;
  }
  static void release(void* user, void* data, size_t bytes, void*) {
    auto& self = *static_cast<CountingAllocator*>(user);
    ++self.given;
    self.bytes -= bytes;
    std::free(static_cast<char*>(data) - self.offset);
  }
};

plait_run_options run_options() {
  plait_run_options out = {};
  out.struct_size = sizeof(out);
  return out;
}

TEST(CApiCallbacks, OutputsLieInTheCallersMemory) {
  const auto fusion = parsed("fusion @f (%x: f32[n]) -> (%y) { %y = neg(%x) }");
  const auto program = compiled(fusion.get());
  Values<float> x({1, 2, 3}, {3}, kF32);
  CountingAllocator memory;
  auto options = run_options();
  options.allocator = &memory.callbacks;
  auto y = run(program.get(), {{"x", &x.tensor}}, &options);
  EXPECT_EQ(read<float>(*y), (std::vector<float>{-1, -2, -3}));
  EXPECT_EQ(memory.taken - memory.given, 1);  // a copy of an input that is not aligned went back already
  y.reset();
  EXPECT_EQ(memory.taken, memory.given);
  EXPECT_EQ(memory.bytes, 0u);

  DLManagedTensorVersioned* out = nullptr;
  const plait_input input = {"x", &x.tensor};
  memory.offset = 4;
  EXPECT_NE(words(plait_program_run(program.get(), &input, 1, &options, &out, 1)).find("aligned"), std::string::npos);
  EXPECT_EQ(memory.taken, memory.given);
  memory.empty = true;
  const std::string refused = words(plait_program_run(program.get(), &input, 1, &options, &out, 1));
  EXPECT_EQ(refused.rfind(std::to_string(PLAIT_ERROR_MEMORY) + ": ", 0), 0u) << refused;
  EXPECT_NE(refused.find("allocator"), std::string::npos);
  memory.callbacks.release = nullptr;
  EXPECT_NE(words(plait_program_run(program.get(), &input, 1, &options, &out, 1)).find("release"), std::string::npos);
  EXPECT_EQ(out, nullptr);
}

TEST(CApiCallbacks, OfAFailedRunEverythingGoesBack) {
  const auto fusion = parsed("fusion @f (%x: f32[n]) -> (%y, %z) { %y = neg(%x) %z = exp(%x) }");
  const auto program = compiled(fusion.get());
  alignas(64) float data[16] = {1, 2};
  Values<float> x({}, {2}, kF32);
  x.tensor.data = data;
  const plait_input input = {"x", &x.tensor};
  CountingAllocator memory;
  memory.left = 1;
  auto options = run_options();
  options.allocator = &memory.callbacks;
  DLManagedTensorVersioned* outputs[2] = {};
  const std::string refused = words(plait_program_run(program.get(), &input, 1, &options, outputs, 2));
  EXPECT_EQ(refused.rfind(std::to_string(PLAIT_ERROR_MEMORY) + ": ", 0), 0u) << refused;
  EXPECT_EQ(memory.taken, 1);
  EXPECT_EQ(memory.given, 1);
  ASSERT_OK(plait_program_run(program.get(), &input, 1, nullptr, outputs, 2));
  const Owned<DLManagedTensorVersioned> y(outputs[0]), z(outputs[1]);
  EXPECT_EQ(read<float>(*y), (std::vector<float>{-1, -2}));
  EXPECT_EQ(memory.taken, 1);
}

// Threads that stand for the processes of a job; data of all ranks meets in one table.
struct Job {
  explicit Job(int64_t ranks) : meeting(ranks), slots(static_cast<size_t>(ranks)) {}
  std::barrier<> meeting;
  std::vector<std::pair<const void*, size_t>> slots;
  std::atomic<int> calls = 0;
};

struct Rank {
  Job* job;
  int64_t rank;
  bool fails = false;
  int aborted = 0, exchanged = 0;
  plait_comms callbacks = {};

  Rank(Job& of, int64_t which) : job(&of), rank(which) {
    callbacks.struct_size = sizeof(callbacks);
    callbacks.user = this;
    callbacks.rank = rank;
    callbacks.size = static_cast<int64_t>(of.slots.size());
    callbacks.exchange = &exchange;
    callbacks.all_reduce = &all_reduce;
    callbacks.all_gather = &all_gather;
    callbacks.reduce_scatter = &reduce_scatter;
    callbacks.all_to_all = &all_to_all;
    callbacks.error = [](void*) { return "the cable is out"; };
    callbacks.abort = [](void* user, const char*) { ++static_cast<Rank*>(user)->aborted; };
  }

  // Runs fn while every member's buffer is in the table.
  template <class Fn>
  int together(const void* mine, size_t bytes, Fn&& fn) {
    job->slots[static_cast<size_t>(rank)] = {mine, bytes};
    job->meeting.arrive_and_wait();
    fn();
    job->meeting.arrive_and_wait();
    return 0;
  }
  static Rank& of(void* user) {
    auto& self = *static_cast<Rank*>(user);
    ++self.job->calls;
    return self;
  }

  static int exchange(void* user, const int64_t* ranks, size_t count, const void* mine, size_t bytes,
                      void (*take)(void*, size_t, const void*, size_t), void* sink) {
    Rank& self = of(user);
    return self.together(mine, bytes, [&] {
      for (size_t p = 0; p < count; ++p) {
        const auto& [data, size] = self.job->slots[static_cast<size_t>(ranks[p])];
        take(sink, p, data, size);
      }
    });
  }
  static int all_reduce(void* user, const int64_t* ranks, size_t count, plait_dtype dtype, int32_t reduce,
                        const void* in, void* out, int64_t elements, void* stream) {
    Rank& self = of(user);
    if (self.fails) return 17;
    EXPECT_EQ(dtype.bits, 32);
    EXPECT_EQ(reduce, PLAIT_REDUCE_SUM);
    EXPECT_EQ(stream, nullptr);
    std::vector<float> sum(static_cast<size_t>(elements));
    const int status = self.together(in, 0, [&] {
      for (size_t p = 0; p < count; ++p)
        for (size_t i = 0; i < sum.size(); ++i)
          sum[i] += static_cast<const float*>(self.job->slots[static_cast<size_t>(ranks[p])].first)[i];
    });
    std::memcpy(out, sum.data(), sum.size() * sizeof(float));
    return status;
  }
  static int all_gather(void* user, const int64_t* ranks, size_t count, plait_dtype dtype, const void* in, void* out,
                        const int64_t* counts, void*) {
    Rank& self = of(user);
    return self.together(in, 0, [&] {
      char* to = static_cast<char*>(out);
      for (size_t p = 0; p < count; ++p) {
        const auto bytes = static_cast<size_t>(counts[p]) * dtype.bits / 8;
        if (bytes > 0) std::memcpy(to, self.job->slots[static_cast<size_t>(ranks[p])].first, bytes);
        to += bytes;
      }
    });
  }
  static int all_to_all(void* user, const int64_t* ranks, size_t count, plait_dtype dtype, const void* in,
                        const int64_t* sends, void* out, const int64_t* takes, void*) {
    Rank& self = of(user);
    ++self.exchanged;
    struct Mine {
      const void* in;
      const int64_t* sends;
    } mine = {in, sends};
    return self.together(&mine, 0, [&] {
      char* to = static_cast<char*>(out);
      for (size_t p = 0; p < count; ++p) {
        const auto& from = *static_cast<const Mine*>(self.job->slots[static_cast<size_t>(ranks[p])].first);
        size_t at = 0;
        for (size_t q = 0; ranks[q] != self.rank; ++q) at += static_cast<size_t>(from.sends[q]);
        EXPECT_EQ(from.sends[self.rank], takes[p]);
        const size_t bytes = static_cast<size_t>(takes[p]) * dtype.bits / 8;
        if (bytes > 0) std::memcpy(to, static_cast<const char*>(from.in) + at * dtype.bits / 8, bytes);
        to += bytes;
      }
    });
  }
  static int reduce_scatter(void* user, const int64_t* ranks, size_t count, plait_dtype, int32_t, const void* in,
                            void* out, const int64_t* counts, void*) {
    Rank& self = of(user);
    return self.together(in, 0, [&] {
      int64_t first = 0, mine = 0;
      for (size_t p = 0; p < count; ++p) {
        if (ranks[p] == self.rank) mine = counts[p];
        if (ranks[p] < self.rank) first += counts[p];
      }
      for (int64_t i = 0; i < mine; ++i) {
        float sum = 0;
        for (size_t p = 0; p < count; ++p)
          sum += static_cast<const float*>(self.job->slots[static_cast<size_t>(ranks[p])].first)[first + i];
        static_cast<float*>(out)[i] = sum;
      }
    });
  }
};

// Column- then row-parallel, an output cut along its second dim, and one reduced and scattered: 7 columns on 3 ranks.
constexpr const char* kSharded =
    "mesh @m (tp = t)\n"
    "fusion @f on @m (%x: f32[4, 5], param %a: f32[7, 5] {0: tp}, param %b: f32[6, 7] {1: tp}) -> (%y, %z {1: tp}, %h "
    "{})"
    " { %h = linear(%x, %a) %g = relu(%h) %y = linear(%g, %b) %w = linear(%g, %b) %z = neg(%w) }";

TEST(CApiCallbacks, RanksTalkThroughTheCallersJob) {
  std::vector<float> x(20), a(35), b(42);
  for (size_t i = 0; i < 20; ++i) x[i] = float(int(i * 7 % 5) - 2);
  for (size_t i = 0; i < 35; ++i) a[i] = float(int(i * 3 % 7) - 3);
  for (size_t i = 0; i < 42; ++i) b[i] = float(int(i * 5 % 9) - 4);
  const auto fusion = parsed(kSharded);
  const auto outputs_of = [&](int64_t ranks, const plait_comms* comms) {
    Values<float> tx(x, {4, 5}, kF32), ta(a, {7, 5}, kF32), tb(b, {6, 7}, kF32);
    const auto program = compiled(fusion.get(), "cpu", ranks, comms ? "given" : "local");
    auto options = run_options();
    options.comms = comms;
    const plait_input inputs[] = {{"x", &tx.tensor}, {"a", &ta.tensor}, {"b", &tb.tensor}};
    std::vector<std::vector<float>> out;
    for (int again = 0; again < 2; ++again) {
      DLManagedTensorVersioned* outputs[3] = {};
      EXPECT_OK(plait_program_run(program.get(), inputs, 3, &options, outputs, 3));
      out.clear();
      for (DLManagedTensorVersioned* output : outputs)
        if (output) out.push_back(read<float>(*Owned<DLManagedTensorVersioned>(output)));
    }
    return out;
  };
  const auto expected = outputs_of(1, nullptr);
  ASSERT_EQ(expected.size(), 3u);
  Job job(3);
  std::vector<std::vector<std::vector<float>>> got(3);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      Rank me(job, rank);
      got[static_cast<size_t>(rank)] = outputs_of(3, &me.callbacks);
    });
  for (auto& thread : threads) thread.join();
  for (const auto& outputs : got) EXPECT_EQ(outputs, expected);  // small integers: every order of sums is exact
  EXPECT_GT(job.calls, 6);
}

// Rows become columns on 3 ranks, 4 and 7 of them, behind an outer dim; a caller without all_to_all has all_gather do
// it.
TEST(CApiCallbacks, PiecesMoveToAnotherDim) {
  const auto fusion =
      parsed("mesh @m (tp = t)\nfusion @f on @m (%x: f32[2, 4, 7] {1: tp}) -> (%y {2: tp}) { %y = neg(%x) }");
  std::vector<float> x(56), expected(56);
  for (size_t i = 0; i < 56; ++i) expected[i] = -(x[i] = float(i));
  for (const bool given : {true, false}) {
    Job job(3);
    std::vector<std::vector<float>> got(3);
    std::vector<int> exchanged(3);
    std::vector<std::thread> threads;
    for (int64_t rank = 0; rank < 3; ++rank)
      threads.emplace_back([&, rank] {
        Rank me(job, rank);
        if (!given) me.callbacks.struct_size = offsetof(plait_comms, all_to_all);
        const auto program = compiled(fusion.get(), "cpu", 3, "given");
        Values<float> tx(x, {2, 4, 7}, kF32);
        auto options = run_options();
        options.comms = &me.callbacks;
        const plait_input input = {"x", &tx.tensor};
        DLManagedTensorVersioned* y = nullptr;
        EXPECT_OK(plait_program_run(program.get(), &input, 1, &options, &y, 1));
        if (y) got[static_cast<size_t>(rank)] = read<float>(*Owned<DLManagedTensorVersioned>(y));
        exchanged[static_cast<size_t>(rank)] = me.exchanged;
      });
    for (auto& thread : threads) thread.join();
    for (size_t rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(got[rank], expected) << given;
      EXPECT_EQ(exchanged[rank], given ? 1 : 0);
    }
  }
}

TEST(CApiCallbacks, AProgramWithoutCommunicatorsNeedsThoseOfTheRun) {
  const auto fusion = parsed(kSharded);
  const auto program = compiled(fusion.get(), "reference", 3, "given");
  const int64_t shape[] = {4, 5, 7, 5, 6, 7};
  const plait_metadata metadata[] = {{"x", kF32, 2, shape}, {"a", kF32, 2, shape + 2}, {"b", kF32, 2, shape + 4}};
  EXPECT_OK(plait_program_prepare(program.get(), metadata, 3));  // compiles, and binds nothing
  plait_text* layout = nullptr;
  EXPECT_OK(plait_program_layout(program.get(), "z", &layout));
  EXPECT_EQ(text_of(layout), "{1: tp}");
  Values<float> x(std::vector<float>(20), {4, 5}, kF32), a(std::vector<float>(35), {7, 5}, kF32),
      b(std::vector<float>(42), {6, 7}, kF32);
  const plait_input inputs[] = {{"x", &x.tensor}, {"a", &a.tensor}, {"b", &b.tensor}};
  DLManagedTensorVersioned* outputs[3] = {};
  for (int again = 0; again < 2; ++again) {
    const std::string said = words(plait_program_run(program.get(), inputs, 3, nullptr, outputs, 3));
    EXPECT_NE(said.find("1: the run has no communicators"), std::string::npos) << said;
  }
}

TEST(CApiCallbacks, AFailedCallbackEndsTheRunWithItsWords) {
  const auto fusion = parsed(
      "mesh @m (tp = t)\nfusion @f on @m (%x: f32[4, 5] {1: tp}) -> (%y) { %s = sum(%x, dims = [1]) %y = neg(%s) }");
  const auto program = compiled(fusion.get(), "cpu", 2);
  Job job(1);  // the other rank never comes
  job.slots.resize(2);
  Rank me(job, 0);
  me.fails = true;
  me.callbacks.size = 2;
  Values<float> x(std::vector<float>(20, 1), {4, 5}, kF32);
  const plait_input input = {"x", &x.tensor};
  auto options = run_options();
  options.comms = &me.callbacks;
  DLManagedTensorVersioned* y = nullptr;
  const std::string said = words(plait_program_run(program.get(), &input, 1, &options, &y, 1));
  EXPECT_NE(said.find("4: "), std::string::npos) << said;
  EXPECT_NE(said.find("the cable is out"), std::string::npos) << said;
  EXPECT_EQ(y, nullptr);
  EXPECT_GE(me.aborted, 1);
  me.callbacks.exchange = [](void*, const int64_t*, size_t, const void* mine, size_t bytes,
                             void (*take)(void*, size_t, const void*, size_t), void* sink) {
    take(sink, 0, mine, bytes);
    take(sink, 0, mine, bytes);
    return 0;
  };
  me.fails = false;
  me.callbacks.all_reduce = [](void*, const int64_t*, size_t, plait_dtype, int32_t, const void*, void*, int64_t,
                               void*) { return 0; };
  const std::string twice = words(plait_program_run(program.get(), &input, 1, &options, &y, 1));
  EXPECT_NE(twice.find("4: the caller's exchange gave 1 of 2 texts"), std::string::npos) << twice;
  me.callbacks.rank = 2;
  EXPECT_NE(words(plait_program_run(program.get(), &input, 1, &options, &y, 1)).find("rank 2 of 2"), std::string::npos);
  me.callbacks.all_gather = nullptr;
  EXPECT_NE(words(plait_program_run(program.get(), &input, 1, &options, &y, 1)).find("callback"), std::string::npos);
}

}  // namespace
}  // namespace plait::testing
