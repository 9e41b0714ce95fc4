// Missing orders between streams are found and existing ones are not complained about, whatever the order of running.
#include <cstring>
#include <functional>
#include <numeric>

#include "unit/sim/cuda/driver_fixture.h"

namespace plait::sim {
namespace {

constexpr int kCount = 96;  // floats of a buffer
constexpr uint64_t kSeeds = 51;

class OrderTest : public DriverTest {
 protected:
  // Runs a piece of a program with every seed. `wrong` leaves out the order in question: then the two operations named
  // must be reported, otherwise nothing.
  void check(const std::function<void(bool wrong)>& program, const std::vector<std::string>& reported) {
    SIMULATED_ONLY();
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      SCOPED_TRACE(seed);
      plait_sim_set_seed(seed);
      program(false);
      EXPECT_OK(cu.cuCtxSynchronize());
      ASSERT_EQ(findings(), "");
      free_all();
      program(true);
      EXPECT_TRUE(lost(cu.cuCtxSynchronize()));
      expect_findings(reported);
      reset();
      ASSERT_FALSE(HasFailure());
    }
    plait_sim_set_seed(0);
  }
  // Of an access in the wrong order, or of one to memory that is freed already.
  static bool lost(CUresult code) { return code == CUDA_ERROR_LAUNCH_FAILED || code == CUDA_ERROR_ILLEGAL_ADDRESS; }
  CUdeviceptr buffer() { return allocate(kCount * sizeof(float)); }
  // A buffer that all streams may use.
  CUdeviceptr filled(float value) {
    const CUdeviceptr made = buffer();
    unsigned bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    EXPECT_OK(cu.cuMemsetD32(made, bits, kCount));
    EXPECT_OK(cu.cuCtxSynchronize());
    return made;
  }
  void expect_all(CUdeviceptr memory, float value) {
    EXPECT_EQ(read(memory, kCount), std::vector<float>(kCount, value));
  }
};

TEST_F(OrderTest, ReadAfterWrite) {
  check(
      [&](bool wrong) {
        const CUstream first = stream(), second = stream();
        const CUdeviceptr a = buffer(), b = buffer();
        EXPECT_OK(fill(first, a, 3, kCount));
        if (!wrong) order(first, second, event());
        EXPECT_OK(add(second, b, a, a, kCount));
        if (!wrong) expect_all(b, 6);
      },
      {"`fill` (operation 1", "`add` (operation 1"});
}

TEST_F(OrderTest, WriteAfterRead) {
  check(
      [&](bool wrong) {
        const CUstream first = stream(), second = stream();
        const CUdeviceptr a = filled(1), b = buffer();
        EXPECT_OK(add(first, b, a, a, kCount));
        if (!wrong) order(first, second, event());
        EXPECT_OK(fill(second, a, 9, kCount));
        if (!wrong) expect_all(b, 2);
      },
      {"not ordered", "`fill`", "`add`"});
}

TEST_F(OrderTest, WriteAfterWrite) {
  check(
      [&](bool wrong) {
        const CUstream first = stream(), second = stream();
        const CUdeviceptr a = buffer();
        EXPECT_OK(fill(first, a, 1, kCount));
        if (!wrong) order(first, second, event());
        EXPECT_OK(cu.cuMemsetD8Async(a, 0, kCount * 4, second));
        if (!wrong) expect_all(a, 0);
      },
      {"not ordered", "`fill`", "`cuMemsetD8Async`"});
}

TEST_F(OrderTest, ForkNeedsItsWait) {
  check(
      [&](bool wrong) {
        const CUstream main = stream(), left = stream(), right = stream();
        const CUdeviceptr a = buffer(), b = buffer(), c = buffer();
        const CUevent forked = event();
        EXPECT_OK(fill(main, a, 2, kCount));
        EXPECT_OK(cu.cuEventRecord(forked, main));
        EXPECT_OK(cu.cuStreamWaitEvent(left, forked, 0));
        if (!wrong) {
          EXPECT_OK(cu.cuStreamWaitEvent(right, forked, 0));
        }
        EXPECT_OK(add(left, b, a, a, kCount));
        EXPECT_OK(add(right, c, a, a, kCount));
        if (wrong) return;
        order(left, main, event());
        order(right, main, event());
        EXPECT_OK(add(main, a, b, c, kCount));
        expect_all(a, 8);
      },
      {"not ordered", "`fill`", "`add`"});
}

TEST_F(OrderTest, JoinNeedsItsWait) {
  check(
      [&](bool wrong) {
        const CUstream main = stream(), side = stream();
        const CUdeviceptr a = buffer(), b = buffer(), c = buffer();
        EXPECT_OK(fill(main, a, 2, kCount));
        order(main, side, event());
        EXPECT_OK(add(side, b, a, a, kCount));
        EXPECT_OK(add(main, c, a, a, kCount));
        if (!wrong) order(side, main, event());
        EXPECT_OK(cu.cuMemcpyDtoDAsync(c, b, kCount * 4, main));
        if (!wrong) expect_all(c, 4);
      },
      {"not ordered", "`add`", "`cuMemcpyDtoDAsync`"});
}

TEST_F(OrderTest, EventRecordedAgainIsWaitedForAgain) {
  check(
      [&](bool wrong) {
        const CUstream first = stream(), second = stream();
        const CUdeviceptr a = buffer(), b = buffer();
        const CUevent done = event();
        EXPECT_OK(fill(first, a, 1, kCount));
        order(first, second, done);
        EXPECT_OK(fill(first, b, 2, kCount));
        EXPECT_OK(cu.cuEventRecord(done, first));
        if (!wrong) {
          EXPECT_OK(cu.cuStreamWaitEvent(second, done, 0));
        }
        EXPECT_OK(add(second, a, a, b, kCount));
        if (!wrong) expect_all(a, 3);
      },
      {"not ordered", "`fill` (operation 3", "`add`"});
}

TEST_F(OrderTest, DoubleBufferWaitsBothWays) {
  check(
      [&](bool wrong) {
        const CUstream copies = stream(), work = stream();
        const CUdeviceptr source = filled(1), sum = filled(0);
        const CUdeviceptr half[] = {buffer(), buffer()};
        const CUevent full[] = {event(), event()}, empty[] = {event(), event()};
        for (int step = 0; step < 6; ++step) {
          const int at = step % 2;
          if (!wrong && step > 1) {
            EXPECT_OK(cu.cuStreamWaitEvent(copies, empty[at], 0));
          }
          EXPECT_OK(cu.cuMemcpyDtoDAsync(half[at], source, kCount * 4, copies));
          order(copies, work, full[at]);
          EXPECT_OK(add(work, sum, sum, half[at], kCount));
          EXPECT_OK(cu.cuEventRecord(empty[at], work));
        }
        if (!wrong) expect_all(sum, 6);
      },
      {"not ordered", "`cuMemcpyDtoDAsync`", "`add`"});
}

TEST_F(OrderTest, HostWaitsForTheRightStream) {
  check(
      [&](bool wrong) {
        const CUstream first = stream(), second = stream();
        const CUdeviceptr a = buffer(), b = buffer();
        EXPECT_OK(fill(first, a, 3, kCount));
        EXPECT_OK(cu.cuStreamSynchronize(wrong ? second : first));
        EXPECT_OK(add(second, b, a, a, kCount));
        if (!wrong) expect_all(b, 6);
      },
      {"not ordered", "`fill`", "`add`"});
}

TEST_F(OrderTest, EventSynchronisedByHost) {
  check(
      [&](bool wrong) {
        const CUstream first = stream(), second = stream();
        const CUdeviceptr a = buffer(), b = buffer();
        const CUevent early = event(), late = event();
        EXPECT_OK(cu.cuEventRecord(early, first));
        EXPECT_OK(fill(first, a, 3, kCount));
        EXPECT_OK(cu.cuEventRecord(late, first));
        EXPECT_OK(cu.cuEventSynchronize(wrong ? early : late));
        EXPECT_OK(add(second, b, a, a, kCount));
        if (!wrong) expect_all(b, 6);
      },
      {"not ordered", "`fill`", "`add`"});
}

TEST_F(OrderTest, QueryThatSucceedsIsAnOrder) {
  check(
      [&](bool wrong) {
        const CUstream first = stream(), second = stream();
        const CUdeviceptr a = buffer(), b = buffer();
        EXPECT_OK(fill(first, a, 3, kCount));
        if (wrong) {
          cu.cuStreamQuery(second);  // another's
        } else {
          while (cu.cuStreamQuery(first) == CUDA_ERROR_NOT_READY) {}
        }
        EXPECT_OK(add(second, b, a, a, kCount));
        if (!wrong) expect_all(b, 6);
      },
      {"not ordered", "`fill`", "`add`"});
}

TEST_F(OrderTest, OrderPassesThroughAThirdStream) {
  check(
      [&](bool wrong) {
        const CUstream first = stream(), between = stream(), last = stream();
        const CUdeviceptr a = buffer(), b = buffer();
        EXPECT_OK(fill(first, a, 3, kCount));
        const CUevent one = event(), two = event();
        EXPECT_OK(cu.cuEventRecord(one, first));
        if (wrong) {
          EXPECT_OK(cu.cuEventRecord(two, between));
        }
        EXPECT_OK(cu.cuStreamWaitEvent(between, one, 0));
        if (!wrong) {
          EXPECT_OK(cu.cuEventRecord(two, between));
        }
        EXPECT_OK(cu.cuStreamWaitEvent(last, two, 0));
        EXPECT_OK(add(last, b, a, a, kCount));
        if (!wrong) expect_all(b, 6);
      },
      {"not ordered", "`fill`", "`add`"});
}

TEST_F(OrderTest, WaitBeforeRecordIsNoOrder) {
  check(
      [&](bool wrong) {
        const CUstream first = stream(), second = stream();
        const CUdeviceptr a = buffer(), b = buffer();
        const CUevent done = event();
        EXPECT_OK(fill(first, a, 3, kCount));
        if (wrong) {
          EXPECT_OK(cu.cuStreamWaitEvent(second, done, 0));
        }
        EXPECT_OK(cu.cuEventRecord(done, first));
        if (!wrong) {
          EXPECT_OK(cu.cuStreamWaitEvent(second, done, 0));
        }
        EXPECT_OK(add(second, b, a, a, kCount));
        if (!wrong) expect_all(b, 6);
      },
      {"not ordered", "`fill`", "`add`", "was not recorded: that orders nothing"});
}

TEST_F(OrderTest, LegacyStreamOrdersBlockingStreamsOnly) {
  check(
      [&](bool wrong) {
        const CUstream side = stream(wrong ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
        const CUdeviceptr a = buffer(), b = buffer();
        EXPECT_OK(fill(side, a, 3, kCount));
        EXPECT_OK(add(nullptr, b, a, a, kCount));
        EXPECT_OK(add(side, a, b, b, kCount));
        if (!wrong) expect_all(a, 12);
      },
      {"not ordered", "`fill`", "`add`", "default of device 0"});
}

TEST_F(OrderTest, CopyFromPageableMemoryMayStillRunWhenTheCallReturns) {
  check(
      [&](bool wrong) {
        const CUstream side = stream();
        const CUdeviceptr a = buffer(), b = buffer();
        const std::vector<float> values(kCount, 4);
        EXPECT_OK(cu.cuMemcpyHtoD(a, values.data(), kCount * 4));
        if (!wrong) {
          EXPECT_OK(cu.cuStreamSynchronize(nullptr));
        }
        EXPECT_OK(add(side, b, a, a, kCount));
        if (!wrong) expect_all(b, 8);
      },
      {"not ordered", "`cuMemcpyHtoD`", "`add`"});
}

TEST_F(OrderTest, PinnedMemoryIsReusedAfterItsCopy) {
  void* pinned = nullptr;
  ASSERT_OK(cu.cuMemHostAlloc(&pinned, kCount * 4, 0));
  bool wrong_ran = false;
  check(
      [&](bool wrong) {
        if (wrong_ran) {  // the reset freed it
          ASSERT_OK(cu.cuMemHostAlloc(&pinned, kCount * 4, 0));
        }
        const CUstream first = stream(), second = stream();
        const CUdeviceptr a = filled(1), b = filled(2);
        EXPECT_OK(cu.cuMemcpyDtoHAsync(pinned, a, kCount * 4, first));
        if (!wrong) order(first, second, event());
        EXPECT_OK(cu.cuMemcpyDtoHAsync(pinned, b, kCount * 4, second));
        if (!wrong) {
          EXPECT_OK(cu.cuStreamSynchronize(second));
        }
        if (!wrong) {
          EXPECT_EQ(static_cast<float*>(pinned)[kCount - 1], 2);
        }
        wrong_ran = wrong;
      },
      {"not ordered", "`cuMemcpyDtoHAsync`", "registered memory"});
  if (!simulated()) {
    EXPECT_OK(cu.cuMemFreeHost(pinned));
  }
}

TEST_F(OrderTest, AsynchronousAllocationIsOrdered) {
  check(
      [&](bool wrong) {
        const CUstream first = stream(), second = stream();
        CUdeviceptr made = 0;
        EXPECT_OK(cu.cuMemAllocAsync(&made, kCount * 4, first));
        if (!wrong) order(first, second, event());
        EXPECT_OK(fill(second, made, 1, kCount));
        if (wrong) return;
        expect_all(made, 1);
        EXPECT_OK(cu.cuMemFreeAsync(made, second));
      },
      {"not ordered after its allocation by `cuMemAllocAsync`", "`fill`"});
}

TEST_F(OrderTest, AsynchronousFreeIsOrdered) {
  check(
      [&](bool wrong) {
        const CUstream first = stream(), second = stream();
        CUdeviceptr made = 0;
        EXPECT_OK(cu.cuMemAllocAsync(&made, kCount * 4, first));
        order(first, second, event());
        EXPECT_OK(fill(second, made, 1, kCount));
        if (!wrong) order(second, first, event());
        EXPECT_OK(cu.cuMemFreeAsync(made, first));
      },
      {"`cuMemFreeAsync`", "`fill`"});
}

TEST_F(OrderTest, ReadersNeedNoOrder) {
  SIMULATED_ONLY();
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    plait_sim_set_seed(seed);
    const CUdeviceptr a = filled(1), b = buffer(), c = buffer();
    EXPECT_OK(add(stream(), b, a, a, kCount));
    EXPECT_OK(add(stream(), c, a, a, kCount));
    EXPECT_OK(cu.cuCtxSynchronize());
    ASSERT_EQ(findings(), "");
    free_all();
  }
}

TEST_F(OrderTest, HalvesNeedNoOrder) {
  SIMULATED_ONLY();
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    plait_sim_set_seed(seed);
    const CUdeviceptr a = buffer();
    EXPECT_OK(fill(stream(), a, 1, kCount / 2));
    EXPECT_OK(fill(stream(), a + kCount / 2 * 4, 2, kCount / 2));
    EXPECT_OK(cu.cuCtxSynchronize());
    ASSERT_EQ(findings(), "");
    free_all();
  }
}

// Waiting for the legacy stream is waiting for what it would wait for.
TEST_F(OrderTest, LegacyStreamIsWaitedFor) {
  check(
      [&](bool wrong) {
        const CUstream side = stream(wrong ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
        const CUdeviceptr a = buffer(), b = buffer();
        EXPECT_OK(fill(side, a, 3, kCount));
        EXPECT_OK(cu.cuStreamSynchronize(nullptr));
        EXPECT_OK(add(stream(), b, a, a, kCount));
        if (!wrong) expect_all(b, 6);
      },
      {"not ordered", "`fill`", "`add`"});
}

// The order of running differs by seed: otherwise the tests above show little.
TEST_F(OrderTest, SeedsInterleave) {
  SIMULATED_ONLY();
  std::vector<float> seen;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    plait_sim_set_seed(seed);
    std::vector<int> order;
    const CUstream first = stream(), second = stream();
    struct Note {
      std::vector<int>* order;
      int value;
    } notes[] = {{&order, 1}, {&order, 2}};
    const CUhostFn function = [](void* data) {
      auto* note = static_cast<Note*>(data);
      note->order->push_back(note->value);
    };
    EXPECT_OK(cu.cuLaunchHostFunc(first, function, &notes[0]));
    EXPECT_OK(cu.cuLaunchHostFunc(second, function, &notes[1]));
    EXPECT_OK(cu.cuCtxSynchronize());
    ASSERT_EQ(order.size(), 2u);
    if (seed == 0) {
      EXPECT_EQ(order[0], 1);
    }
    seen.push_back(static_cast<float>(order[0]));
    free_all();
  }
  const double mean = std::accumulate(seen.begin(), seen.end(), 0.0) / static_cast<double>(seen.size());
  EXPECT_GT(mean, 1.2);
  EXPECT_LT(mean, 1.8);
}

}  // namespace
}  // namespace plait::sim
