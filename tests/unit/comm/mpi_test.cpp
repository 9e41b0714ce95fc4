// Each test starts itself as the processes of a job.
#include "comm/mpi/mpi.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <numeric>
#include <thread>

#include "base/environment.h"
#include "base/error.h"
#include "comm_cases.h"
#include "command/run_command.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char* kInJob = "PLAIT_TEST_IN_JOB";

std::vector<int64_t> ranks_up_to(int64_t count) {
  std::vector<int64_t> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), int64_t(0));
  return out;
}

// Empty where jobs can be started.
std::string why_no_job() {
  for (const char* mpirun : {"/usr/bin/mpirun", "/usr/local/bin/mpirun"}) {
    std::error_code error;
    if (!fs::exists(mpirun, error)) continue;
    try {
      mpi_version();
      return "";
    } catch (const MissingError& e) {
      return e.what();
    }
  }
  return "no mpirun";
}

CommandResult start_job(int64_t processes, const std::string& test) {
  const ScratchFolder folder;
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  return run_words(
      // A session folder of its own: jobs that begin and end together lose the one that they share.
      {"/usr/bin/env", std::string(kInJob) + "=1", "OMPI_MCA_orte_tmpdir_base=" + folder.path().string(), "mpirun",
       "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-q", "-n", std::to_string(processes), self,
       "--gtest_filter=" + test, "--gtest_brief=1"},
      folder.path());
}

class Mpi : public ::testing::Test {
 protected:
  // True in a process of the job; else starts the job of this test and checks how it ends.
  bool in_job(int64_t processes) {
    if (environment(kInJob)) return true;
    const std::string reason = why_no_job();
    if (!reason.empty()) {
      skip_ = true;
      return false;
    }
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    result_ = start_job(processes, std::string(test->test_suite_name()) + "." + test->name());
    return false;
  }
  void expect_success() {
    if (skip_) GTEST_SKIP() << "no MPI jobs here: " << why_no_job();
    EXPECT_EQ(result_.exit, 0) << result_.out << result_.err;
  }
  // A process of the job whose communication has ended leaves without the others, which mpirun takes for a failure: it
  // tells on its own.
  [[noreturn]] void leave() {
    if (!HasFailure()) std::cout << "this process is content" << std::endl;
    std::this_thread::sleep_for(std::chrono::seconds(1));  // mpirun ends the others at once
    _exit(0);
  }
  void expect_content(int processes) {
    if (skip_) GTEST_SKIP() << "no MPI jobs here: " << why_no_job();
    int found = 0;
    for (size_t at = 0; (at = result_.out.find("this process is content", at)) != std::string::npos; ++at) ++found;
    EXPECT_EQ(found, processes) << result_.out << result_.err;
  }
  bool skip_ = false;
  CommandResult result_;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

template <class Fn>
std::string comm_error(Fn fn) {
  try {
    fn();
  } catch (const CommError& e) {
    return e.what();
  }
  return "no error";
}

void sum(Communicator& team, int64_t position, int64_t elements, CommReduce reduce = CommReduce::sum) {
  std::vector<float> data(size_t(elements), 1);
  const CommMember member{position, data.data(), data.data()};
  team.all_reduce(DType::f32, reduce, elements, {&member, 1});
}

void check_all(const MpiOptions& options, CommValues values, int64_t members, bool few = false) {
  const auto comms = make_mpi_communicators(options);
  const int64_t rank = comms->bootstrap()->rank();
  std::vector<CommCase> cases = all_cases(members);
  if (few)
    std::erase_if(cases, [](const CommCase& test) { return test.dtype != DType::bf16 && test.dtype != DType::i64; });
  if (rank < members) check_member(*comms, comms->team(ranks_up_to(members)), rank, cases, values, true);
  comms->bootstrap()->barrier();
}

TEST_F(Mpi, ExactValuesAgreeWithLocal) {
  if (!in_job(4)) return expect_success();
  for (int64_t members : {1, 2, 3, 4}) check_all({}, CommValues::exact, members);
}

TEST_F(Mpi, OrderedAgreesWithLocalBitByBit) {
  if (!in_job(4)) return expect_success();
  MpiOptions options;
  options.ordered = true;
  for (int64_t members : {1, 2, 3, 4}) check_all(options, CommValues::normal, members);
}

// Messages of at most 3 elements and hardly any memory: everything is cut.
TEST_F(Mpi, SmallMessagesAndLittleMemory) {
  if (!in_job(3)) return expect_success();
  MpiOptions options;
  options.max_elements = 3;
  for (int64_t scratch : {1, 40}) {
    options.scratch_bytes = scratch;
    options.ordered = false;
    check_all(options, CommValues::exact, 3, true);
    options.ordered = true;
    check_all(options, CommValues::normal, 3, true);
  }
}

// The order of ranks in a team is that of its positions; teams of rows and columns of a mesh.
TEST_F(Mpi, TeamsInAnyOrder) {
  if (!in_job(4)) return expect_success();
  const auto comms = make_mpi_communicators();
  const int64_t rank = comms->bootstrap()->rank();
  const int64_t row[] = {rank / 2 * 2, rank / 2 * 2 + 1}, column[] = {rank % 2 + 2, rank % 2};
  const int64_t counts[] = {1, 1};
  int64_t in = rank, out[2] = {-1, -1};
  const CommMember in_row{rank % 2, &in, out};
  comms->team(row).all_gather({DType::i64, 1, 1, counts}, {&in_row, 1});
  EXPECT_EQ(out[0], row[0]);
  EXPECT_EQ(out[1], row[1]);
  const CommMember in_column{1 - rank / 2, &in, out};
  comms->team(column).all_gather({DType::i64, 1, 1, counts}, {&in_column, 1});
  EXPECT_EQ(out[0], column[0]);
  EXPECT_EQ(out[1], column[1]);
  EXPECT_EQ(&comms->team(row), &comms->team(row));
}

TEST_F(Mpi, LargestAndSmallestKeepNaN) {
  if (!in_job(3)) return expect_success();
  const auto comms = make_mpi_communicators();
  const int64_t rank = comms->bootstrap()->rank();
  for (DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (CommReduce reduce : {CommReduce::max, CommReduce::min}) {
      for (int64_t who = 0; who < 3; ++who) {
        Tensor data = Tensor::from_doubles(dtype, {1}, {rank == who ? std::nan("") : double(rank)});
        const CommMember member{rank, data.data(), data.data()};
        comms->team(ranks_up_to(3)).all_reduce(dtype, reduce, 1, {&member, 1});
        EXPECT_TRUE(std::isnan(data.at(0))) << name(dtype) << " " << name(reduce);
      }
    }
  }
}

TEST_F(Mpi, BootstrapGathersBytes) {
  if (!in_job(3)) return expect_success();
  const auto comms = make_mpi_communicators();
  Bootstrap& all = *comms->bootstrap();
  ASSERT_EQ(all.size(), 3);
  const std::vector<std::string> texts = {"", std::string("a\0b", 3), std::string(100'000, 'x')};
  EXPECT_EQ(all.all_gather(texts[size_t(all.rank())]), texts);
  EXPECT_EQ(all.all_gather(""), std::vector<std::string>(3));
  if (all.rank() > 0) {
    const int64_t some[] = {2, 1};
    EXPECT_EQ(all.all_gather_among(some, std::to_string(all.rank())), (std::vector<std::string>{"2", "1"}));
  }
  all.barrier();
}

TEST_F(Mpi, ComparedCallsNameBothRanksAndBothCalls) {
  if (!in_job(3)) return expect_content(3);
  MpiOptions options;
  options.compare_calls = true;
  const auto comms = make_mpi_communicators(options);
  const int64_t rank = comms->bootstrap()->rank();
  Communicator& team = comms->team(ranks_up_to(3));
  sum(team, rank, 8);
  const std::string error = comm_error([&] { sum(team, rank, rank == 1 ? 9 : 8); });
  EXPECT_TRUE(has(error, "rank 0 for all_reduce(f32, sum, 8 elements), rank 1 for all_reduce(f32, sum, 9 elements)"))
      << error;
  leave();
}

TEST_F(Mpi, TimeoutNamesTheOperationAndEndsAll) {
  if (!in_job(2)) return expect_content(2);
  MpiOptions options;
  options.timeout = milliseconds(100);
  const auto comms = make_mpi_communicators(options);
  const int64_t rank = comms->bootstrap()->rank();
  Communicator& team = comms->team(ranks_up_to(2));
  sum(team, rank, 8);
  if (rank == 0) {
    comms->recorder(0)->set_step("step 3 (all_reduce %x)");
    const std::string error = comm_error([&] { sum(team, rank, 8); });
    EXPECT_TRUE(has(error,
                    "rank 0, in step 3 (all_reduce %x), has waited 100 ms in all_reduce(f32, sum, 8 elements) of "
                    "ranks 0, 1"))
        << error;
    EXPECT_TRUE(has(comm_error([&] { sum(team, rank, 8); }), "communication has ended: rank 0"));
    EXPECT_THROW(comms->check(), CommError);
  } else {
    std::this_thread::sleep_for(milliseconds(300));
  }
  leave();
}

TEST_F(Mpi, AbortOfAnotherThreadEndsTheWait) {
  if (!in_job(2)) return expect_content(2);
  const auto comms = make_mpi_communicators();
  const int64_t rank = comms->bootstrap()->rank();
  Communicator& team = comms->team(ranks_up_to(2));
  if (rank == 0) {
    std::thread other([&] {
      std::this_thread::sleep_for(milliseconds(50));
      comms->abort("the user gave up");
    });
    EXPECT_TRUE(has(comm_error([&] { sum(team, rank, 8); }), "the user gave up"));
    other.join();
  } else {
    std::this_thread::sleep_for(milliseconds(200));
  }
  leave();
}

// A guest in a process that has started MPI itself: the caller's communicator is duplicated, and MPI goes on after it.
TEST_F(Mpi, AdoptsAnMpiThatIsInitialised) {
  if (!in_job(3)) return expect_success();
  void* mpi = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
  if (mpi == nullptr) mpi = dlopen("libmpi.so", RTLD_NOW | RTLD_GLOBAL);
  ASSERT_NE(mpi, nullptr) << dlerror();
  auto function = [&](const char* name) { return dlsym(mpi, name); };
  ASSERT_EQ(reinterpret_cast<int (*)(int*, char***)>(function("MPI_Init"))(nullptr, nullptr), 0);
  void* world = function("ompi_mpi_comm_world");
  if (world == nullptr) GTEST_SKIP() << "not Open MPI";
  {
    MpiOptions options;
    options.communicator = world;
    const auto comms = make_mpi_communicators(options);
    const int64_t rank = comms->bootstrap()->rank();
    sum(comms->team(ranks_up_to(3)), rank, 8);
    check_member(*comms, comms->team(ranks_up_to(3)), rank, {all_cases(3).front()}, CommValues::exact, true);
  }
  int over = 1;
  reinterpret_cast<int (*)(int*)>(function("MPI_Finalized"))(&over);
  EXPECT_EQ(over, 0);
  EXPECT_EQ(reinterpret_cast<int (*)(void*)>(function("MPI_Barrier"))(world), 0);
  EXPECT_EQ(reinterpret_cast<int (*)()>(function("MPI_Finalize"))(), 0);
}

TEST(MpiPlugin, AMissingPluginIsNamed) {
  MpiOptions options;
  options.plugin_folder = "/nowhere";
  try {
    make_mpi_communicators(options);
    FAIL();
  } catch (const MissingError& e) {
    for (const char* part : {"libplait_mpi.so", "/nowhere", "libopenmpi-dev"})
      EXPECT_TRUE(has(e.what(), part)) << e.what();
  }
}

}  // namespace
}  // namespace plait::testing
