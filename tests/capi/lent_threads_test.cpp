// Kernels on threads that the embedder lends.
#include <atomic>
#include <thread>

#include "capi/c_api.h"

namespace plait::testing {
namespace {

// A pool that makes as many calls as `calls` says of those it is asked for, on threads of its own or the caller's.
struct Pool {
  int64_t calls = 0;  // -1: all
  bool threads = false, nested = false;
  std::atomic<int64_t> asked{0}, made{0};
  plait_program* inner = nullptr;  // run within the calls
  static void run(void* self, int64_t count, void (*task)(void*), void* context) {
    auto& pool = *static_cast<Pool*>(self);
    ++pool.asked;
    const int64_t calls = pool.calls < 0 ? count : std::min(pool.calls, count);
    std::vector<std::thread> threads;
    for (int64_t i = 0; i < calls; ++i) {
      ++pool.made;
      const auto call = [&] {
        task(context);
        if (pool.nested) run_inner(pool);
      };
      if (pool.threads)
        threads.emplace_back(call);
      else
        call();
    }
    for (std::thread& thread : threads) thread.join();
  }
  static void run_inner(Pool& pool) {
    Values<float> x({1, 2}, {2}, kF32);
    EXPECT_EQ(read<float>(*testing::run(pool.inner, {{"x", &x.tensor}})), (std::vector<float>{-1, -2}));
  }
};

plait_thread_pool over(Pool& pool, int64_t threads) {
  plait_thread_pool out = {};
  out.struct_size = sizeof(out);
  out.user = &pool;
  out.threads = threads;
  out.run = &Pool::run;
  return out;
}

Owned<plait_program> compiled_over(const plait_fusion* fusion, const plait_thread_pool& pool,
                                   const char* device = nullptr) {
  plait_compile_options options = {};
  options.struct_size = sizeof(options);
  options.device = device;
  options.pool = &pool;
  plait_program* out = nullptr;
  EXPECT_OK(plait_compile(fusion, &options, &out));
  return Owned<plait_program>(out);
}

// Enough work to be shared, with a result that tells each element that is missed or done twice.
constexpr const char* kWork =
    "fusion @f (%p: f32[n]) -> (%q aliases %p) { %s = sin(%p)  %a = abs(%s)  %z = mul(%a, 0)  %i = add(%p, 1)  %q = "
    "add(%i, %z) }";

TEST(CApiLentThreads, DoEachTaskOnceHoweverManyCallsAreMade) {
  const auto fusion = parsed(kWork);
  const auto small = compiled(parsed("fusion @g (%x: f32[n]) -> (%y) { %y = neg(%x) }").get());
  constexpr size_t kElements = 1 << 22;
  for (const auto& [calls, threads, nested] : std::vector<std::tuple<int64_t, bool, bool>>{
           {-1, true, false}, {1, true, false}, {0, false, false}, {-1, false, false}, {-1, true, true}}) {
    Pool pool;
    pool.calls = calls;
    pool.threads = threads;
    pool.nested = nested;
    pool.inner = small.get();
    const plait_thread_pool lent = over(pool, 4);
    const auto program = compiled_over(fusion.get(), lent, "cpu");
    Values<float> p(std::vector<float>(kElements, 0), {kElements}, kF32);
    for (int i = 0; i < 3; ++i) run(program.get(), {{"p", &p.tensor}});
    EXPECT_GE(pool.asked, 1) << "the work was worth sharing";
    EXPECT_EQ(pool.made == 0, calls == 0);
    EXPECT_EQ(std::count(p.data.begin(), p.data.end(), 3.0F), int64_t(kElements));
  }
}

TEST(CApiLentThreads, RunsAtOnceShareThem) {
  const auto fusion = parsed(kWork);
  Pool pool;
  pool.calls = -1;
  pool.threads = true;
  const plait_thread_pool lent = over(pool, 2);
  const auto one = compiled_over(fusion.get(), lent), two = compiled_over(fusion.get(), lent, "cpu");
  std::vector<std::thread> threads;
  for (plait_program* program : {one.get(), two.get(), one.get()})
    threads.emplace_back([program] {
      Values<float> p(std::vector<float>(1 << 20, 0), {1 << 20}, kF32);
      for (int i = 0; i < 5; ++i) run(program, {{"p", &p.tensor}});
      EXPECT_EQ(std::count(p.data.begin(), p.data.end(), 5.0F), 1 << 20);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(CApiLentThreads, OfOneAreNotAskedAndWhatIsWrongIsRefused) {
  const auto fusion = parsed(kWork);
  Pool pool;
  plait_thread_pool lent = over(pool, 1);
  const auto program = compiled_over(fusion.get(), lent);
  Values<float> p(std::vector<float>(1 << 20, 0), {1 << 20}, kF32);
  run(program.get(), {{"p", &p.tensor}});
  EXPECT_EQ(pool.asked, 0);
  const auto refusal = [&](const char* device) {
    plait_compile_options options = {};
    options.struct_size = sizeof(options);
    options.device = device;
    options.pool = &lent;
    plait_program* out = nullptr;
    return words(plait_compile(fusion.get(), &options, &out));
  };
  EXPECT_NE(refusal("reference").find("threads are lent to device reference"), std::string::npos);
  lent.threads = 0;
  EXPECT_NE(refusal("cpu").find("it has 0 threads | options.pool"), std::string::npos);
  lent = over(pool, 2);
  lent.run = nullptr;
  EXPECT_NE(refusal("cpu").find("its callback is null"), std::string::npos);
}

}  // namespace
}  // namespace plait::testing
