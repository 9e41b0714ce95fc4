// What the stand-ins for libraries use, threads of the host, and the table of calls.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

#include "sim/cuda/calls.h"
#include "sim/cuda/engine.h"
#include "unit/sim/cuda/driver_fixture.h"

namespace plait::sim {
namespace {

constexpr int kCount = 96;

class EngineTest : public DriverTest {
 protected:
  void SetUp() override {
    SIMULATED_ONLY();
    DriverTest::SetUp();
  }
  void TearDown() override {
    if (!simulated()) return;
    plait_sim_set_timeout(60);
    DriverTest::TearDown();
  }
};

TEST_F(EngineTest, WorkOfLibraries) {
  const CUstream on = stream();
  const CUdeviceptr a = allocate(kCount * 4), b = allocate(kCount * 4);
  EXPECT_EQ(device_of(on), 0);
  EXPECT_EQ(device_of(nullptr), 0);
  EXPECT_FALSE(is_capturing(on));
  EXPECT_EQ(host_address(a, kCount * 4 + 1), nullptr);
  int here = 0;
  EXPECT_EQ(host_address(reinterpret_cast<uint64_t>(&here), 4), &here);
  EXPECT_OK(fill(on, a, 3, kCount));
  Work work{"libraryDouble", {{a, kCount * 4, false}, {b, kCount * 4, true}}, [=] {
              const auto* from = static_cast<const float*>(host_address(a, kCount * 4));
              auto* to = static_cast<float*>(host_address(b, kCount * 4));
              for (int i = 0; i < kCount; ++i) to[i] = 2 * from[i];
            }};
  EXPECT_EQ(enqueue(on, work), 0);
  EXPECT_EQ(read(b, kCount), std::vector<float>(kCount, 6));
  // Recorded and run twice.
  EXPECT_OK(cu.cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_TRUE(is_capturing(on));
  EXPECT_OK(add(on, a, a, a, kCount));
  EXPECT_EQ(enqueue(on, work), 0);
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_OK(cu.cuStreamEndCapture(on, &graph));
  EXPECT_OK(cu.cuGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cu.cuGraphLaunch(exec, on));
  EXPECT_OK(cu.cuGraphLaunch(exec, on));
  EXPECT_EQ(read(b, kCount), std::vector<float>(kCount, 24));
  EXPECT_OK(cu.cuGraphExecDestroy(exec));
  EXPECT_OK(cu.cuGraphDestroy(graph));
}

TEST_F(EngineTest, AccessesOfLibrariesAreChecked) {
  const CUstream on = stream(), elsewhere = stream();
  const CUdeviceptr a = allocate(kCount * 4);
  EXPECT_OK(fill(on, a, 3, kCount));
  EXPECT_EQ(enqueue(elsewhere, {"libraryRead", {{a, 4, false}}, [] {}}), 0);
  EXPECT_NE(cu.cuCtxSynchronize(), CUDA_SUCCESS);
  expect_findings({"not ordered", "`libraryRead`", "`fill`"});
  reset();
  EXPECT_EQ(enqueue(nullptr, {"libraryFault", {}, [] { throw Fault{CUDA_ERROR_ASSERT, "libraryFault: no"}; }}), 0);
  EXPECT_EQ(cu.cuCtxSynchronize(), CUDA_ERROR_ASSERT);
  expect_findings({"libraryFault: no"});
  reset();
  report("said by a library");
  expect_findings({"said by a library"});
}

TEST_F(EngineTest, WorkWaitsForOthers) {
  const CUstream on = stream();
  std::atomic<bool> go = false;
  bool ran = false;
  EXPECT_EQ(enqueue(on, {"libraryWait", {}, [&] { ran = true; }, [&] { return go.load(); }}), 0);
  EXPECT_EQ(cu.cuStreamQuery(on), CUDA_ERROR_NOT_READY);
  EXPECT_FALSE(ran);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    go = true;
    notify();
  });
  EXPECT_OK(cu.cuStreamSynchronize(on));
  EXPECT_TRUE(ran);
  other.join();
}

TEST_F(EngineTest, StandstillIsReported) {
  const CUstream on = stream(), behind = stream();
  plait_sim_set_timeout(0.05);
  const auto never = [] { return false; };
  const CUdeviceptr a = allocate(kCount * 4);
  EXPECT_EQ(enqueue(on, {"ncclAllReduce of rank 1", {}, [] {}, never, [] { return "rank 0"; }}), 0);
  order(on, behind, event());
  EXPECT_OK(fill(behind, a, 1, kCount));
  EXPECT_EQ(cu.cuStreamSynchronize(behind), CUDA_ERROR_LAUNCH_TIMEOUT);
  expect_findings({"deadlock: cuStreamSynchronize waits", "`ncclAllReduce of rank 1`", "waits for rank 0", "`fill`",
                   "comes after"});
  reset();
  // The same for those who ask again and again.
  const CUstream asked = stream();
  EXPECT_EQ(enqueue(asked, {"ncclSend", {}, [] {}, never, [] { return "rank 3"; }}), 0);
  CUresult got = CUDA_ERROR_NOT_READY;
  while (got == CUDA_ERROR_NOT_READY) got = cu.cuStreamQuery(asked);
  EXPECT_EQ(got, CUDA_ERROR_LAUNCH_TIMEOUT);
  expect_findings({"deadlock", "`ncclSend`", "waits for rank 3"});
  reset();
}

TEST_F(EngineTest, ThreadsOfTheHost) {
  constexpr int kThreads = 4, kRounds = 20;
  std::vector<CUstream> on;
  std::vector<CUdeviceptr> memory;
  for (int i = 0; i < kThreads; ++i) {
    on.push_back(stream());
    memory.push_back(allocate(kCount * 4));
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_OK(cu.cuCtxSetCurrent(context));
      EXPECT_OK(fill(on[i], memory[i], 1, kCount));
      for (int round = 0; round < kRounds; ++round) {
        EXPECT_OK(add(on[i], memory[i], memory[i], memory[i], kCount));
        if (round % 3 == i % 3) {
          EXPECT_OK(cu.cuStreamSynchronize(on[i]));
        }
      }
      EXPECT_OK(cu.cuStreamSynchronize(on[i]));
    });
  }
  for (std::thread& each : threads) each.join();
  for (int i = 0; i < kThreads; ++i) {
    EXPECT_EQ(read(memory[i], kCount), std::vector<float>(kCount, float(1 << kRounds)));
  }
}

TEST_F(EngineTest, LongQueuesRunByThemselves) {
  const CUstream on = stream();
  const CUdeviceptr a = allocate(4);
  plait_sim_counts before = {}, after = {};
  plait_sim_get_counts(&before);
  EXPECT_OK(fill(on, a, 1, 1));
  for (int i = 0; i < 6000; ++i) EXPECT_OK(cu.cuMemsetD8Async(a, 0, 4, on));
  EXPECT_OK(cu.cuMemsetD32Async(a, 0x3f800000, 1, on));
  plait_sim_get_counts(&after);
  EXPECT_EQ(after.launches, before.launches + 1);
  EXPECT_EQ(read(a, 1)[0], 1);
}

// ---- The table of calls.

TEST(CallTable, DocumentationShowsIt) {
  const std::string path = PLAIT_SOURCE_DIR "/docs/simulated_gpu.md";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str(), table = call_table();
  const std::string begin = "<!-- calls of the driver: written by BLESS=1 plait_test_unit_sim_cuda -->\n",
                    end = "<!-- end -->";
  const size_t first = all.find(begin), last = all.find(end, first);
  ASSERT_NE(first, all.npos);
  ASSERT_NE(last, all.npos);
  const size_t from = first + begin.size();
  if (all.substr(from, last - from) == table) return;
  if (std::getenv("BLESS") == nullptr)
    FAIL() << "docs/simulated_gpu.md does not show the table of csrc/sim/cuda/calls.def";
  std::ofstream(path) << all.substr(0, from) << table << all.substr(last);
}

TEST(CallTable, EveryCallIsItsOwn) {
  std::vector<std::string> symbols;
  for (const CallEntry& each : all_calls()) {
    EXPECT_NE(each.address, nullptr);
    EXPECT_GE(each.since, 2000) << each.symbol;
    EXPECT_LE(each.since, 13000) << each.symbol;
    symbols.push_back(each.symbol);
  }
  std::sort(symbols.begin(), symbols.end());
  EXPECT_EQ(std::adjacent_find(symbols.begin(), symbols.end()), symbols.end());
  EXPECT_GE(symbols.size(), 150u);
  EXPECT_STREQ(find_call("cuMemAlloc", 13000)->symbol, "cuMemAlloc_v2");
  EXPECT_EQ(find_call("cuMemAlloc", 2000), nullptr);
}

}  // namespace
}  // namespace plait::sim
