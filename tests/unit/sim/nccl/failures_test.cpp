// Members that disagree, do not come, or give up: within one process.
#include "unit/sim/nccl/library.h"

namespace plait::test {
namespace {

NcclWorld& world() {
  static NcclWorld world(PLAIT_BINARY_DIR, 4);
  return world;
}

class NcclFailures : public ::testing::Test {
 protected:
  NcclFailures() : nccl(world().nccl) { world().machine.findings(); }
  ~NcclFailures() override {
    nccl.set_timeout(50);
    EXPECT_EQ(world().machine.findings(), "");
  }
  // Streams end, the error is in every communicator, and aborting them leaves the process usable.
  void expect_failed(Team& team, ncclResult_t code, const std::vector<std::string>& parts) {
    for (Rank& rank : team.ranks) EXPECT_EQ(rank.synchronize(), CUDA_SUCCESS);
    const std::string findings = world().machine.findings();
    for (const std::string& part : parts) EXPECT_TRUE(has(findings, part));
    for (Rank& rank : team.ranks) {
      if (rank.comm == nullptr) continue;
      EXPECT_EQ(rank.state(), code);
      EXPECT_EQ(nccl.ncclAllReduce(nullptr, nullptr, 0, ncclFloat32, ncclSum, rank.comm, rank.native()), code);
      EXPECT_EQ(nccl.ncclCommAbort(std::exchange(rank.comm, nullptr)), ncclSuccess);
    }
    Team again(world(), team.size());
    std::vector<void*> memory;
    for (Rank& rank : again.ranks) memory.push_back(rank.put(ncclFloat32, {1}));
    again.grouped([&](Rank& rank) {
      return nccl.ncclAllReduce(memory[rank.rank], memory[rank.rank], 1, ncclFloat32, ncclSum, rank.comm,
                                rank.native());
    });
    again.synchronize();
    EXPECT_EQ(again.ranks[0].read(ncclFloat32, memory[0], 1)[0], team.size());
  }
  using RankCall = std::function<ncclResult_t(Rank&, void* in, void* out)>;
  // Groups, one after the other, with what each rank calls; buffers of 16 floats.
  void groups(Team& team, const std::vector<RankCall>& calls) {
    std::vector<void*> in, out;
    for (Rank& rank : team.ranks) {
      in.push_back(rank.put(ncclFloat32, std::vector<double>(16, 1)));
      out.push_back(rank.room(64));
    }
    for (const RankCall& call : calls) {
      team.grouped([&](Rank& rank) { return call(rank, in[rank.rank], out[rank.rank]); });
    }
  }
  void group(Team& team, const RankCall& call) { groups(team, {call}); }
  const Nccl& nccl;
};

TEST_F(NcclFailures, SwappedOrderOnOneRank) {
  Team team(world(), 3);
  auto gather = [&](Rank& rank, void* in, void* out) {
    return nccl.ncclAllGather(in, out, 4, ncclFloat32, rank.comm, rank.native());
  };
  auto reduce = [&](Rank& rank, void* in, void* out) {
    return nccl.ncclAllReduce(in, out, 16, ncclFloat32, ncclSum, rank.comm, rank.native());
  };
  groups(team, {[&](Rank& rank, void* in, void* out) {
                  return rank.rank == 1 ? gather(rank, in, out) : reduce(rank, in, out);
                },
                [&](Rank& rank, void* in, void* out) {
                  return rank.rank == 1 ? reduce(rank, in, out) : gather(rank, in, out);
                }});
  expect_failed(team, ncclInvalidUsage,
                {", collective 0: rank 0 calls ncclAllReduce(count 16, f32, sum), rank 1 calls "
                 "ncclAllGather(count 4, f32)"});
}

TEST_F(NcclFailures, WrongCountForTheShortPiece) {
  Team team(world(), 3);
  ASSERT_EQ(nccl.ncclGroupStart(), ncclSuccess);
  for (Rank& rank : team.ranks) {
    void* in = rank.put(ncclFloat32, std::vector<double>(6, 1));
    for (int root = 0; root < 3; ++root) {
      const size_t count = root < 2 ? 6 : (rank.rank == 1 ? 6 : 5);  // the last piece is short
      void* out = rank.room(24);
      EXPECT_EQ(nccl.ncclBroadcast(in, out, count, ncclFloat32, root, rank.comm, rank.native()), ncclSuccess);
    }
  }
  ASSERT_EQ(nccl.ncclGroupEnd(), ncclSuccess);
  expect_failed(team, ncclInvalidUsage,
                {", collective 2: rank 0 calls ncclBroadcast(count 5, f32, root 2), rank 1 calls "
                 "ncclBroadcast(count 6, f32, root 2)"});
}

TEST_F(NcclFailures, OtherTypeOperationAndRoot) {
  for (int what = 0; what < 3; ++what) {
    Team team(world(), 2);
    group(team, [&](Rank& rank, void* in, void* out) {
      const bool odd = rank.rank == 1;
      const auto type = odd && what == 0 ? ncclInt32 : ncclFloat32;
      const auto op = odd && what == 1 ? ncclMax : ncclSum;
      const int root = odd && what == 2 ? 1 : 0;
      return nccl.ncclReduce(in, out, 8, type, op, root, rank.comm, rank.native());
    });
    const char* const texts[] = {"rank 1 calls ncclReduce(count 8, i32, sum, root 0)",
                                 "rank 1 calls ncclReduce(count 8, f32, max, root 0)",
                                 "rank 1 calls ncclReduce(count 8, f32, sum, root 1)"};
    expect_failed(team, ncclInvalidUsage, {"rank 0 calls ncclReduce(count 8, f32, sum, root 0), ", texts[what]});
  }
}

TEST_F(NcclFailures, SendAndReceiveOfDifferentCounts) {
  Team team(world(), 2);
  group(team, [&](Rank& rank, void* in, void* out) {
    if (rank.rank == 0) return nccl.ncclSend(in, 8, ncclFloat32, 1, rank.comm, rank.native());
    return nccl.ncclRecv(out, 7, ncclFloat32, 0, rank.comm, rank.native());
  });
  expect_failed(team, ncclInvalidUsage,
                {"message 0 between ranks 0 and 1: rank 0 calls ncclSend(count 8, f32, to 1), rank 1 calls "
                 "ncclRecv(count 7, f32, from 0)"});
}

TEST_F(NcclFailures, MissingMember) {
  nccl.set_timeout(0.05);
  Team team(world(), 3);
  group(team, [&](Rank& rank, void* in, void* out) {
    return nccl.ncclAllReduce(in, out, 16, ncclFloat32, ncclSum, rank.comm, rank.native());
  });
  group(team, [&](Rank& rank, void* in, void* out) {
    if (rank.rank == 2) return ncclSuccess;
    return nccl.ncclAllGather(in, out, 5, ncclFloat32, rank.comm, rank.native());
  });
  expect_failed(
      team, ncclTimeout,
      {"ncclAllGather(count 5, f32) of rank 0 (call 1 on communicator", "has waited 0.05 s for rank 2 of process",
       "which has arrived at 1 calls, the last of them ncclAllReduce(count 16, f32, sum)"});
}

TEST_F(NcclFailures, SendsThatPassEachOtherOnlyInAGroup) {
  nccl.set_timeout(0.05);
  Team team(world(), 2);
  std::vector<void*> in, out;
  for (Rank& rank : team.ranks) {
    in.push_back(rank.put(ncclFloat32, {1}));
    out.push_back(rank.room(4));
  }
  std::vector<std::thread> threads;
  for (Rank& rank : team.ranks) {
    threads.emplace_back([&] {  // on hardware both sends may wait for their receives
      world().machine.use(rank.device);
      const int peer = 1 - rank.rank;
      EXPECT_EQ(nccl.ncclSend(in[rank.rank], 1, ncclFloat32, peer, rank.comm, rank.native()), ncclSuccess);
      EXPECT_EQ(nccl.ncclRecv(out[rank.rank], 1, ncclFloat32, peer, rank.comm, rank.native()), ncclSuccess);
      EXPECT_EQ(rank.synchronize(), CUDA_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
  expect_failed(team, ncclTimeout, {"ncclSend(count 1, f32, to "});
}

TEST_F(NcclFailures, AbortEndsPendingWork) {
  Team team(world(), 2);
  void* out = nullptr;
  group(team, [&](Rank& rank, void* in, void* to) {
    if (rank.rank == 1) return ncclSuccess;
    out = to;
    return nccl.ncclAllReduce(in, to, 16, ncclFloat32, ncclSum, rank.comm, rank.native());
  });
  EXPECT_EQ(world().machine.driver.cuStreamQuery(team.ranks[0].stream), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(nccl.ncclCommAbort(std::exchange(team.ranks[0].comm, nullptr)), ncclSuccess);
  EXPECT_EQ(team.ranks[0].synchronize(), CUDA_SUCCESS);
  const double poisoned = team.ranks[0].read(ncclFloat32, out, 1)[0];
  EXPECT_NE(poisoned, poisoned);  // no number that could pass for a result
  EXPECT_EQ(team.ranks[1].state(), ncclRemoteError);
  EXPECT_TRUE(has(nccl.ncclGetLastError(team.ranks[1].comm), "rank 0 aborted it"));
  expect_failed(team, ncclRemoteError, {});
}

TEST_F(NcclFailures, AbortFromAnotherThreadWakesOneThatWaits) {
  Team team(world(), 2);
  group(team, [&](Rank& rank, void* in, void* out) {
    if (rank.rank == 1) return ncclSuccess;
    return nccl.ncclAllReduce(in, out, 16, ncclFloat32, ncclSum, rank.comm, rank.native());
  });
  std::thread waiting([&] { EXPECT_EQ(team.ranks[0].synchronize(), CUDA_SUCCESS); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (Rank& rank : team.ranks) EXPECT_EQ(nccl.ncclCommAbort(std::exchange(rank.comm, nullptr)), ncclSuccess);
  waiting.join();
}

TEST_F(NcclFailures, MemberThatLeft) {
  Team team(world(), 2);
  EXPECT_EQ(nccl.ncclCommDestroy(std::exchange(team.ranks[1].comm, nullptr)), ncclSuccess);
  group(team, [&](Rank& rank, void* in, void* out) {
    if (rank.rank == 1) return ncclSuccess;
    return nccl.ncclAllReduce(in, out, 16, ncclFloat32, ncclSum, rank.comm, rank.native());
  });
  expect_failed(team, ncclRemoteError, {"waits for rank 1, which has destroyed its communicator"});
}

// ---- Bugs of memory, named by the call.

class NcclFaults : public NcclFailures {
 protected:
  void expect_fault(Team& team, CUresult code, const std::string& part) {
    EXPECT_EQ(team.ranks[0].synchronize(), code);
    EXPECT_TRUE(has(world().machine.findings(), part));
    for (Rank& rank : team.ranks) {
      EXPECT_EQ(nccl.ncclCommAbort(std::exchange(rank.comm, nullptr)), ncclSuccess);
      if (rank.rank > 0) {
        EXPECT_EQ(rank.synchronize(), CUDA_SUCCESS);
      }
    }
    team.ranks[0].buffers.clear();
    team.ranks[0].stream = nullptr;
    world().machine.reset(0);
  }
};

TEST_F(NcclFaults, ReceiveBufferTooSmall) {
  Team team(world(), 2);
  ASSERT_EQ(nccl.ncclGroupStart(), ncclSuccess);
  for (Rank& rank : team.ranks) {
    void* in = rank.put(ncclFloat32, {1, 2, 3});
    void* out = rank.room(rank.rank == 0 ? 20 : 24);
    EXPECT_EQ(nccl.ncclAllGather(in, out, 3, ncclFloat32, rank.comm, rank.native()), ncclSuccess);
  }
  ASSERT_EQ(nccl.ncclGroupEnd(), ncclSuccess);
  expect_fault(team, CUDA_ERROR_ILLEGAL_ADDRESS, "`ncclAllGather(count 3, f32) of rank 0 (call 0 on communicator");
}

TEST_F(NcclFaults, UninitialisedInput) {
  Team team(world(), 1);
  Rank& rank = team.ranks[0];
  void* in = rank.room(8);
  EXPECT_EQ(nccl.ncclAllReduce(in, in, 2, ncclFloat32, ncclSum, rank.comm, rank.native()), ncclSuccess);
  expect_fault(team, CUDA_ERROR_LAUNCH_FAILED, "ncclAllReduce(count 2, f32, sum) of rank 0");
}

TEST_F(NcclFaults, MissingWaitForTheComputeStream) {
  Team team(world(), 1);
  Rank& rank = team.ranks[0];
  void* in = rank.put(ncclFloat32, {1, 2});
  void* out = rank.room(8);
  const CUstream compute = world().machine.stream();
  EXPECT_EQ(nccl.ncclAllReduce(in, out, 2, ncclFloat32, ncclSum, rank.comm, rank.native()), ncclSuccess);
  // The result is used on another stream without an event.
  EXPECT_EQ(nccl.ncclAllReduce(out, in, 2, ncclFloat32, ncclSum, rank.comm, reinterpret_cast<cudaStream_t>(compute)),
            ncclSuccess);
  world().machine.driver.cuStreamSynchronize(compute);
  expect_fault(team, CUDA_ERROR_LAUNCH_FAILED, "not ordered");
}

}  // namespace
}  // namespace plait::test
