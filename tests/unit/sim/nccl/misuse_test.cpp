// What a caller of the stand-in for NCCL can get wrong, and what it says.
#include "unit/sim/nccl/library.h"

namespace plait::test {
namespace {

NcclWorld& world() {
  static NcclWorld world(PLAIT_BINARY_DIR, 4);
  return world;
}

class NcclMisuse : public ::testing::Test {
 protected:
  NcclMisuse() : nccl(world().nccl) { world().machine.findings(); }
  ~NcclMisuse() override {
    EXPECT_EQ(world().machine.findings(), "");
    nccl.set_timeout(50);
  }
  void expect(ncclResult_t got, ncclResult_t result, const std::string& part) {
    EXPECT_EQ(got, result);
    EXPECT_TRUE(has(world().machine.findings(), part));
    EXPECT_TRUE(has(nccl.ncclGetLastError(nullptr), part));
  }
  ncclUniqueId new_id() {
    ncclUniqueId id;
    EXPECT_EQ(nccl.ncclGetUniqueId(&id), ncclSuccess);
    return id;
  }
  const Nccl& nccl;
};

TEST_F(NcclMisuse, ArgumentsOfInit) {
  ncclComm_t comm = nullptr;
  expect(nccl.ncclCommInitRank(&comm, 2, new_id(), 2), ncclInvalidArgument, "rank 2 of 2 ranks");
  expect(nccl.ncclCommInitRank(&comm, 0, new_id(), 0), ncclInvalidArgument, "rank 0 of 0 ranks");
  expect(nccl.ncclCommInitRank(&comm, 1, ncclUniqueId{}, 0), ncclInvalidArgument, "not made by ncclGetUniqueId");
  ncclConfig_t config{};
  expect(nccl.ncclCommInitRankConfig(&comm, 1, new_id(), 0, &config), ncclInvalidArgument, "NCCL_CONFIG_INITIALIZER");
  config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 3;
  expect(nccl.ncclCommInitRankConfig(&comm, 1, new_id(), 0, &config), ncclInvalidArgument, "blocking is 3");
  world().machine.driver.cuCtxSetCurrent(nullptr);
  expect(nccl.ncclCommInitRank(&comm, 1, new_id(), 0), ncclUnhandledCudaError, "no context is current");
  world().machine.use(0);
}

TEST_F(NcclMisuse, TwoRanksOnOneDevice) {
  const int devices[] = {1, 1};
  ncclComm_t comms[2] = {};
  expect(nccl.ncclCommInitAll(comms, 2, devices), ncclInvalidUsage, "device 1 is named twice");
  const ncclUniqueId id = new_id();
  ASSERT_EQ(nccl.ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < 2; ++rank) EXPECT_EQ(nccl.ncclCommInitRank(&comms[rank], 2, id, rank), ncclSuccess);
  expect(nccl.ncclGroupEnd(), ncclInvalidUsage, "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 0");
  EXPECT_EQ(comms[0], nullptr);
  EXPECT_EQ(comms[1], nullptr);
}

TEST_F(NcclMisuse, TwoMembersAreOneRank) {
  const ncclUniqueId id = new_id();
  ncclComm_t comms[2] = {};
  ASSERT_EQ(nccl.ncclGroupStart(), ncclSuccess);
  for (int i = 0; i < 2; ++i) {
    world().machine.use(i);
    EXPECT_EQ(nccl.ncclCommInitRank(&comms[i], 2, id, 0), ncclSuccess);
  }
  expect(nccl.ncclGroupEnd(), ncclInvalidArgument, "two members are rank 0");
  world().machine.use(0);
}

TEST_F(NcclMisuse, MembersDisagreeAboutTheirNumber) {
  const ncclUniqueId id = new_id();
  ncclComm_t comms[2] = {};
  ASSERT_EQ(nccl.ncclGroupStart(), ncclSuccess);
  for (int i = 0; i < 2; ++i) {
    world().machine.use(i);
    EXPECT_EQ(nccl.ncclCommInitRank(&comms[i], 2 + i, id, i), ncclSuccess);
  }
  expect(nccl.ncclGroupEnd(), ncclInvalidArgument, "rank 1 says 3 ranks, another one says otherwise");
  world().machine.use(0);
}

// One thread makes one of two ranks without a group: on hardware it waits for ever.
TEST_F(NcclMisuse, InitWithoutGroup) {
  nccl.set_timeout(0.05);
  ncclComm_t comm = nullptr;
  expect(nccl.ncclCommInitRank(&comm, 2, new_id(), 0), ncclTimeout, "waits for ranks 1 to join");
  EXPECT_EQ(comm, nullptr);
}

TEST_F(NcclMisuse, CommunicatorsAfterTheirEnd) {
  Team team(world(), 2);
  int count = 0;
  const ncclComm_t destroyed = std::exchange(team.ranks[0].comm, nullptr);
  const ncclComm_t aborted = std::exchange(team.ranks[1].comm, nullptr);
  ASSERT_EQ(nccl.ncclCommDestroy(destroyed), ncclSuccess);
  ASSERT_EQ(nccl.ncclCommAbort(aborted), ncclSuccess);
  expect(nccl.ncclCommCount(destroyed, &count), ncclInvalidArgument, "given up before by ncclCommDestroy");
  expect(nccl.ncclAllReduce(nullptr, nullptr, 0, ncclFloat32, ncclSum, aborted, nullptr), ncclInvalidArgument,
         "given up before by ncclCommAbort");
  expect(nccl.ncclCommDestroy(destroyed), ncclInvalidArgument, "given up before");
  expect(nccl.ncclCommCount(nullptr, &count), ncclInvalidArgument, "the communicator is null");
  ncclResult_t error = ncclSuccess;
  expect(nccl.ncclCommGetAsyncError(reinterpret_cast<ncclComm_t>(&count), &error), ncclInvalidArgument,
         "none of this library");
  EXPECT_EQ(nccl.ncclCommDestroy(nullptr), ncclSuccess);
}

TEST_F(NcclMisuse, ArgumentsOfCalls) {
  Team team(world(), 2);
  Rank& rank = team.ranks[0];
  void* memory = rank.put(ncclFloat32, {1, 2, 3, 4});
  void* out = rank.room(16);
  auto all_reduce = [&](void* in, void* to, size_t count, int type, int op) {
    return nccl.ncclAllReduce(in, to, count, static_cast<ncclDataType_t>(type), static_cast<ncclRedOp_t>(op), rank.comm,
                              rank.native());
  };
  expect(all_reduce(memory, out, 4, 12, ncclSum), ncclInvalidArgument, "ncclAllReduce: type 12 (rank 0 of");
  expect(all_reduce(memory, out, 4, ncclFloat32, 5), ncclInvalidArgument, "reduction 5");
  expect(all_reduce(memory, out, 4, ncclFloat8e4m3, 0), ncclInvalidArgument, "a reduction of e4m3 is not simulated");
  expect(all_reduce(nullptr, out, 4, ncclFloat32, ncclSum), ncclInvalidArgument, "the send buffer is null");
  expect(all_reduce(memory, nullptr, 4, ncclFloat32, ncclSum), ncclInvalidArgument, "the receive buffer is null");
  float host[4] = {};
  expect(all_reduce(host, out, 4, ncclFloat32, ncclSum), ncclInvalidArgument, "is in no live allocation");
  expect(all_reduce(memory, static_cast<float*>(memory) + 1, 2, ncclFloat32, ncclSum), ncclInvalidArgument,
         "overlaps the send buffer");
  expect(nccl.ncclBroadcast(memory, out, 4, ncclFloat32, 2, rank.comm, rank.native()), ncclInvalidArgument,
         "root 2 of 2 ranks");
  expect(nccl.ncclSend(memory, 4, ncclFloat32, -1, rank.comm, rank.native()), ncclInvalidArgument, "peer -1 of 2");
  expect(nccl.ncclReduceScatter(memory, static_cast<float*>(memory) + 1, 2, ncclFloat32, ncclSum, rank.comm,
                                rank.native()),
         ncclInvalidArgument, "is not in place");
  expect(nccl.ncclAlltoAll(memory, memory, 2, ncclFloat32, rank.comm, rank.native()), ncclInvalidArgument,
         "is not in place");
}

TEST_F(NcclMisuse, BufferAndStreamOfAnotherDevice) {
  Team team(world(), 2);
  Rank &rank = team.ranks[0], &other = team.ranks[1];
  void* memory = rank.put(ncclFloat32, {1, 2});
  void* far = other.room(8);
  expect(nccl.ncclAllReduce(memory, far, 2, ncclFloat32, ncclSum, rank.comm, rank.native()), ncclInvalidArgument,
         "the receive buffer is on device 1, and rank 0 of communicator");
  expect(nccl.ncclAllReduce(memory, memory, 2, ncclFloat32, ncclSum, rank.comm, other.native()), ncclUnhandledCudaError,
         "the stream is of device 1, and rank 0 of communicator");
}

TEST_F(NcclMisuse, MissingGroup) {
  Team team(world(), 2);
  std::vector<void*> memory;
  for (Rank& rank : team.ranks) memory.push_back(rank.put(ncclFloat32, {1}));
  for (Rank& rank : team.ranks) {
    EXPECT_EQ(
        nccl.ncclAllReduce(memory[rank.rank], memory[rank.rank], 1, ncclFloat32, ncclSum, rank.comm, rank.native()),
        ncclSuccess);
  }
  EXPECT_TRUE(has(world().machine.findings(), "ncclAllReduce: missing group: one thread makes call 0 on communicator"));
  team.synchronize();
}

TEST_F(NcclMisuse, Groups) {
  Team team(world(), 2);
  expect(nccl.ncclGroupEnd(), ncclInvalidUsage, "there was no ncclGroupStart");
  // A failed call fails the group, and nothing of it starts.
  std::vector<void*> memory;
  for (Rank& rank : team.ranks) memory.push_back(rank.put(ncclFloat32, {1}));
  ASSERT_EQ(nccl.ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(
      nccl.ncclAllReduce(memory[0], memory[0], 1, ncclFloat32, ncclSum, team.ranks[0].comm, team.ranks[0].native()),
      ncclSuccess);
  EXPECT_EQ(nccl.ncclAllReduce(nullptr, memory[1], 1, ncclFloat32, ncclSum, team.ranks[1].comm, team.ranks[1].native()),
            ncclInvalidArgument);
  EXPECT_EQ(nccl.ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_TRUE(has(world().machine.findings(), "the send buffer is null"));
  team.synchronize();
  ASSERT_EQ(nccl.ncclGroupStart(), ncclSuccess);
  ncclComm_t extra = nullptr;
  EXPECT_EQ(nccl.ncclCommInitRank(&extra, 1, new_id(), 0), ncclSuccess);
  EXPECT_EQ(
      nccl.ncclAllReduce(memory[0], memory[0], 1, ncclFloat32, ncclSum, team.ranks[0].comm, team.ranks[0].native()),
      ncclSuccess);
  expect(nccl.ncclGroupEnd(), ncclInvalidUsage, "a group holds calls and communicators in the making");
  EXPECT_EQ(extra, nullptr);
}

TEST_F(NcclMisuse, NonBlockingCallsAreAskedAfter) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  config.commName = "tensor";
  const ncclUniqueId id = new_id();
  Rank ranks[2] = {{&world(), 0, 0}, {&world(), 1, 1}};
  for (Rank& rank : ranks) {
    world().machine.use(rank.device);
    rank.stream = world().machine.stream();
    EXPECT_EQ(nccl.ncclCommInitRankConfig(&rank.comm, 2, id, rank.rank, &config), ncclInProgress);
    if (rank.rank == 0) {
      EXPECT_EQ(rank.state(), ncclInProgress);
      int count = 0;
      expect(nccl.ncclCommCount(rank.comm, &count), ncclInvalidArgument,
             "communicator tensor of rank 0 is not made yet");
    }
  }
  for (Rank& rank : ranks) {
    while (rank.state() == ncclInProgress) {}
    EXPECT_EQ(rank.state(), ncclSuccess);
  }
  std::vector<void*> memory;
  for (Rank& rank : ranks) memory.push_back(rank.put(ncclFloat32, {double(rank.rank + 1)}));
  auto all_reduce = [&](Rank& rank) {
    return nccl.ncclAllReduce(memory[rank.rank], memory[rank.rank], 1, ncclFloat32, ncclSum, rank.comm, rank.native());
  };
  ASSERT_EQ(nccl.ncclGroupStart(), ncclSuccess);
  for (Rank& rank : ranks) EXPECT_EQ(all_reduce(rank), ncclSuccess);
  EXPECT_EQ(nccl.ncclGroupEnd(), ncclInProgress);
  expect(all_reduce(ranks[0]), ncclInvalidArgument, "returned ncclInProgress");
  for (Rank& rank : ranks) {
    EXPECT_EQ(rank.state(), ncclInProgress);
    EXPECT_EQ(rank.state(), ncclSuccess);
    EXPECT_EQ(rank.synchronize(), CUDA_SUCCESS);
    EXPECT_EQ(rank.read(ncclFloat32, memory[rank.rank], 1)[0], 3);
  }
  for (Rank& rank : ranks) {
    EXPECT_EQ(nccl.ncclCommFinalize(rank.comm), ncclSuccess);
    expect(all_reduce(rank), ncclInvalidArgument, "was finalized");
    EXPECT_EQ(nccl.ncclCommDestroy(rank.comm), ncclSuccess);
    world().machine.driver.cuStreamDestroy(rank.stream);
    for (CUdeviceptr buffer : rank.buffers) world().machine.driver.cuMemFree(buffer);
  }
  world().machine.use(0);
}

TEST_F(NcclMisuse, OperationsOfOtherTypesAndDestroyedOnes) {
  Team team(world(), 1);
  Rank& rank = team.ranks[0];
  ncclRedOp_t op;
  float factor = 2;
  ASSERT_EQ(nccl.ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat32, ncclScalarHostImmediate, rank.comm), ncclSuccess);
  void* memory = rank.put(ncclFloat64, {1});
  expect(nccl.ncclAllReduce(memory, memory, 1, ncclFloat64, op, rank.comm, rank.native()), ncclInvalidArgument,
         "was made for f32, not for f64");
  ASSERT_EQ(nccl.ncclRedOpDestroy(op, rank.comm), ncclSuccess);
  expect(nccl.ncclRedOpDestroy(op, rank.comm), ncclInvalidArgument, "is not one that was made");
  expect(nccl.ncclAllReduce(memory, memory, 1, ncclFloat32, op, rank.comm, rank.native()), ncclInvalidArgument,
         "was destroyed");
}

TEST_F(NcclMisuse, RegisteredMemory) {
  Team team(world(), 1);
  Rank& rank = team.ranks[0];
  void *memory = nullptr, *handle = nullptr;
  ASSERT_EQ(nccl.ncclMemAlloc(&memory, 4096), ncclSuccess);
  ASSERT_EQ(nccl.ncclCommRegister(rank.comm, memory, 4096, &handle), ncclSuccess);
  expect(nccl.ncclCommRegister(rank.comm, memory, 1 << 20, &handle), ncclInvalidArgument,
         "does not lie within one live allocation");
  ASSERT_EQ(nccl.ncclCommDeregister(rank.comm, handle), ncclSuccess);
  expect(nccl.ncclCommDeregister(rank.comm, handle), ncclInvalidArgument, "was not given by ncclCommRegister");
  EXPECT_EQ(nccl.ncclMemFree(memory), ncclSuccess);
}

TEST_F(NcclMisuse, VersionsAndTexts) {
  int version = 0;
  ASSERT_EQ(nccl.ncclGetVersion(&version), ncclSuccess);
  EXPECT_EQ(version, NCCL_VERSION_CODE);
  EXPECT_STREQ(nccl.ncclGetErrorString(ncclInvalidUsage), "invalid usage");
}

}  // namespace
}  // namespace plait::test
