// Communicators between processes: this binary starts itself again, one process for each rank.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "unit/sim/nccl/library.h"

extern char** environ;

namespace plait::test {
namespace {

using Clock = std::chrono::steady_clock;

std::string to_hex(const ncclUniqueId& id) {
  std::string text;
  for (char each : id.internal) {
    text += "0123456789abcdef"[static_cast<unsigned char>(each) >> 4];
    text += "0123456789abcdef"[each & 15];
  }
  return text;
}
ncclUniqueId from_hex(const std::string& text) {
  ncclUniqueId id{};
  for (size_t i = 0; i < sizeof id.internal; ++i) id.internal[i] = char(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return id;
}

std::string own_argument(const std::string& name) {
  std::ifstream file("/proc/self/cmdline");
  for (std::string each; std::getline(file, each, '\0');) {
    if (each.rfind(name + "=", 0) == 0) return each.substr(name.size() + 1);
  }
  return {};
}

// ---- The side of one rank.

struct Worker {
  NcclWorld world{PLAIT_BINARY_DIR, 1};
  Rank self{&world, std::stoi(own_argument("--rank")), 0};
  int ranks = std::stoi(own_argument("--ranks"));

  ncclResult_t join() {
    const ncclUniqueId id = from_hex(own_argument("--id"));
    self.stream = world.machine.stream();
    return world.nccl.ncclCommInitRank(&self.comm, ranks, id, self.rank);
  }
  ncclResult_t all_reduce(void* memory, size_t count) {
    return world.nccl.ncclAllReduce(memory, memory, count, ncclFloat32, ncclSum, self.comm, self.native());
  }
};

#define REQUIRE(condition)                                                           \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "rank %d: %s is not so\n", worker.self.rank, #condition); \
      return 1;                                                                      \
    }                                                                                \
  } while (0)

int collectives(Worker& worker) {
  const Nccl& nccl = worker.world.nccl;
  Rank& self = worker.self;
  const int n = worker.ranks;
  REQUIRE(worker.join() == ncclSuccess);
  for (size_t count : {size_t{1}, size_t{1000}, size_t{1} << 18}) {
    void* memory = self.put(ncclFloat32, std::vector<double>(count, self.rank + 1));
    REQUIRE(worker.all_reduce(memory, count) == ncclSuccess);
    REQUIRE(self.synchronize() == CUDA_SUCCESS);
    REQUIRE(self.read(ncclFloat32, memory, count) == std::vector<double>(count, n * (n + 1) / 2));
  }
  // Pieces of rank + 1 elements: gathered by broadcasts, scattered by reduces.
  void* piece = self.put(ncclFloat32, std::vector<double>(size_t(self.rank) + 1, self.rank * 10));
  const size_t total = size_t(n) * size_t(n + 1) / 2;
  void* whole = self.room(total * 4);
  nccl.ncclGroupStart();
  for (int root = 0, first = 0; root < n; first += ++root) {
    REQUIRE(nccl.ncclBroadcast(piece, static_cast<float*>(whole) + first, size_t(root) + 1, ncclFloat32, root,
                               self.comm, self.native()) == ncclSuccess);
  }
  REQUIRE(nccl.ncclGroupEnd() == ncclSuccess);
  nccl.ncclGroupStart();
  for (int root = 0, first = 0; root < n; first += ++root) {
    REQUIRE(nccl.ncclReduce(static_cast<float*>(whole) + first, piece, size_t(root) + 1, ncclFloat32, ncclSum, root,
                            self.comm, self.native()) == ncclSuccess);
  }
  REQUIRE(nccl.ncclGroupEnd() == ncclSuccess);
  void* next = self.room(4);
  nccl.ncclGroupStart();
  REQUIRE(nccl.ncclSend(whole, 1, ncclFloat32, (self.rank + 1) % n, self.comm, self.native()) == ncclSuccess);
  REQUIRE(nccl.ncclRecv(next, 1, ncclFloat32, (self.rank + n - 1) % n, self.comm, self.native()) == ncclSuccess);
  REQUIRE(nccl.ncclGroupEnd() == ncclSuccess);
  REQUIRE(self.synchronize() == CUDA_SUCCESS);
  const auto got = self.read(ncclFloat32, whole, total);
  for (int root = 0, first = 0; root < n; first += ++root) {
    for (int i = 0; i <= root; ++i) REQUIRE(got[size_t(first) + size_t(i)] == root * 10);
  }
  REQUIRE(self.read(ncclFloat32, piece, 1)[0] == self.rank * 10 * n);
  for (int i = 0; i < 1500; ++i) REQUIRE(worker.all_reduce(next, 1) == ncclSuccess);
  REQUIRE(self.synchronize() == CUDA_SUCCESS);
  ncclComm_t child = nullptr;
  REQUIRE(nccl.ncclCommSplit(self.comm, self.rank % 2, self.rank, &child, nullptr) == ncclSuccess);
  int size = 0;
  REQUIRE(nccl.ncclCommCount(child, &size) == ncclSuccess);
  REQUIRE(size == (n + 1 - self.rank % 2) / 2);
  REQUIRE(nccl.ncclCommDestroy(child) == ncclSuccess);
  REQUIRE(nccl.ncclCommDestroy(self.comm) == ncclSuccess);
  REQUIRE(worker.world.machine.findings().empty());
  return 0;
}

// Rank 1 calls something else: every process says which two ranks and which two calls. Often, because all of them find
// it at once.
int mismatch(Worker& worker) {
  const Nccl& nccl = worker.world.nccl;
  REQUIRE(worker.join() == ncclSuccess);
  void* memory = worker.self.put(ncclFloat32, {1, 2, 3, 4});
  const ncclComm_t parent = worker.self.comm;
  for (int round = 0; round < 50; ++round) {
    REQUIRE(nccl.ncclCommSplit(parent, 0, worker.self.rank, &worker.self.comm, nullptr) == ncclSuccess);
    const ncclResult_t result = worker.all_reduce(memory, worker.self.rank == 1 ? 3 : 4);
    REQUIRE(result == ncclSuccess || result == ncclInvalidUsage);  // the others may have met before
    REQUIRE(worker.self.synchronize() == CUDA_SUCCESS);
    REQUIRE(worker.self.state() == ncclInvalidUsage);
    REQUIRE(nccl.ncclCommAbort(worker.self.comm) == ncclSuccess);
  }
  const std::string findings = worker.world.machine.findings();
  REQUIRE(findings.find("collective 0: rank ") != findings.npos);
  REQUIRE(findings.find("rank 1 calls ncclAllReduce(count 3, f32, sum)") != findings.npos);
  REQUIRE(nccl.ncclCommDestroy(parent) == ncclSuccess);
  return 0;
}

// The last rank dies before its second call; the others learn it, and by whom.
int death(Worker& worker) {
  REQUIRE(worker.join() == ncclSuccess);
  void* memory = worker.self.put(ncclFloat32, {1});
  REQUIRE(worker.all_reduce(memory, 1) == ncclSuccess);
  REQUIRE(worker.self.synchronize() == CUDA_SUCCESS);
  if (worker.self.rank == worker.ranks - 1) kill(getpid(), SIGKILL);
  const ncclResult_t result = worker.all_reduce(memory, 1);
  REQUIRE(result == ncclSuccess || result == ncclRemoteError);
  REQUIRE(worker.self.synchronize() == CUDA_SUCCESS);
  REQUIRE(worker.self.state() == ncclRemoteError);
  const std::string text = worker.world.nccl.ncclGetLastError(worker.self.comm);
  REQUIRE(text.find("of rank " + std::to_string(worker.ranks - 1) + " has ended") != text.npos);
  REQUIRE(worker.world.nccl.ncclCommAbort(worker.self.comm) == ncclSuccess);
  REQUIRE(worker.world.machine.findings().empty());
  return 0;
}

// The last rank dies before it joins; the others do not wait for ever.
int death_in_init(Worker& worker) {
  worker.world.nccl.set_timeout(0.5);
  if (worker.self.rank == worker.ranks - 1) kill(getpid(), SIGKILL);
  REQUIRE(worker.join() != ncclSuccess);
  REQUIRE(worker.self.comm == nullptr);
  return 0;
}

// Rank 0 aborts while the others wait for it.
int abort_of_one(Worker& worker) {
  REQUIRE(worker.join() == ncclSuccess);
  if (worker.self.rank == 0) {
    REQUIRE(worker.world.nccl.ncclCommAbort(worker.self.comm) == ncclSuccess);
    return 0;
  }
  void* memory = worker.self.put(ncclFloat32, {1});
  const ncclResult_t result = worker.all_reduce(memory, 1);
  REQUIRE(result == ncclSuccess || result == ncclRemoteError);  // rank 0 may have been quicker
  REQUIRE(worker.self.synchronize() == CUDA_SUCCESS);
  REQUIRE(worker.self.state() == ncclRemoteError);
  REQUIRE(worker.world.nccl.ncclCommAbort(worker.self.comm) == ncclSuccess);
  return 0;
}

// Started by the tests below; does nothing on its own.
TEST(NcclRankProcess, DISABLED_Run) {
  const std::string kind = own_argument("--kind");
  if (kind.empty()) GTEST_SKIP() << "for processes that other tests start";
  Worker worker;
  const std::pair<const char*, int (*)(Worker&)> kinds[] = {{"collectives", collectives},
                                                            {"mismatch", mismatch},
                                                            {"death", death},
                                                            {"death_in_init", death_in_init},
                                                            {"abort", abort_of_one}};
  for (const auto& [name, run] : kinds) {
    if (kind == name) _exit(run(worker));
  }
  _exit(2);
}

// ---- The side of the test.

struct Ended {
  int code = -1, signal = 0;
};

pid_t start(const std::string& kind, int rank, int ranks, const std::string& id) {
  std::vector<std::string> arguments = {"/proc/self/exe",
                                        "--gtest_filter=NcclRankProcess.DISABLED_Run",
                                        "--gtest_also_run_disabled_tests",
                                        "--kind=" + kind,
                                        "--rank=" + std::to_string(rank),
                                        "--ranks=" + std::to_string(ranks),
                                        "--id=" + id};
  std::vector<char*> pointers;
  for (std::string& each : arguments) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  pid_t pid = 0;
  EXPECT_EQ(posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, pointers.data(), environ), 0);
  return pid;
}

std::vector<Ended> run(const std::string& kind, int ranks) {
  static NcclWorld world(PLAIT_BINARY_DIR, 1);
  ncclUniqueId id;
  EXPECT_EQ(world.nccl.ncclGetUniqueId(&id), ncclSuccess);
  std::vector<pid_t> pids;
  for (int rank = 0; rank < ranks; ++rank) pids.push_back(start(kind, rank, ranks, to_hex(id)));
  std::vector<Ended> all;
  const auto limit = Clock::now() + std::chrono::seconds(60);
  for (pid_t pid : pids) {
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
      if (Clock::now() > limit) kill(pid, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    all.push_back({WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0});
  }
  return all;
}

void expect_success(const std::string& kind, int ranks, bool last_is_killed = false) {
  const std::vector<Ended> ended = run(kind, ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    if (last_is_killed && rank == ranks - 1) {
      EXPECT_EQ(ended[rank].signal, SIGKILL);
    } else {
      EXPECT_EQ(ended[rank].code, 0) << "rank " << rank << " of " << ranks;
    }
  }
}

class NcclProcesses : public ::testing::TestWithParam<int> {};

TEST_P(NcclProcesses, Collectives) { expect_success("collectives", GetParam()); }
TEST_P(NcclProcesses, Mismatch) { expect_success("mismatch", GetParam()); }
TEST_P(NcclProcesses, DeadProcess) { expect_success("death", GetParam(), true); }
TEST_P(NcclProcesses, DeadProcessInInit) { expect_success("death_in_init", GetParam(), true); }
TEST_P(NcclProcesses, AbortOfOne) { expect_success("abort", GetParam()); }

INSTANTIATE_TEST_SUITE_P(Ranks, NcclProcesses, ::testing::Values(2, 3, 4), ::testing::PrintToStringParamName());

}  // namespace
}  // namespace plait::test
