// Jobs of several processes: how they run, and how they end.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <thread>

#include "comm/flight_recorder.h"
#include "command/run_command.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

const std::string kPlait = (fs::path(PLAIT_BINARY_DIR) / "plait").string();
const std::string kExamples = (fs::path(PLAIT_SOURCE_DIR) / "docs" / "examples").string() + "/";
const std::string kTpMlp = kExamples + "tp_mlp.plait", kSpToy = kExamples + "sp_toy.plait";

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

size_t count(const std::string& text, const std::string& part) {
  size_t out = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++out;
  return out;
}

class Launch : public ::testing::Test {
 protected:
  // Jobs are there, or the reason why the test is skipped.
  void SetUp() override {
    const CommandResult result =
        run({"launch", "-n", "1", "--", "run", kTpMlp, "--set", "sb=2", "--device", "reference"});
    if (result.exit == 3) GTEST_SKIP() << result.err;
    ASSERT_EQ(result.exit, 0) << result.err;
  }
  CommandResult run(std::vector<std::string> words, const std::string& fault = "") {
    words.insert(words.begin(), kPlait);
    if (!fault.empty()) words.insert(words.begin(), {"/usr/bin/env", "PLAIT_FAULT=" + fault});
    return run_words(words, folder_.path());
  }
  // A job of three with a fault in one: it ends within 5 s of what it takes without the fault and the wait for it.
  CommandResult run_to_failure(const std::string& fault, double waits = 0) {
    const std::vector<std::string> words = {"launch", "-n",   "3",     "--timeout", "1",        "--",
                                            "run",    kTpMlp, "--set", "sb=8",      "--option", "flight_record=flight"};
    static const double healthy = [&] {
      const Clock::time_point begin = Clock::now();
      EXPECT_EQ(run(words).exit, 0);
      return std::chrono::duration<double>(Clock::now() - begin).count();
    }();
    const Clock::time_point begin = Clock::now();
    const CommandResult result = run(words, fault);
    EXPECT_LT(std::chrono::duration<double>(Clock::now() - begin).count(), healthy + waits + 5);
    EXPECT_EQ(result.exit, 2) << result.out << result.err;
    return result;
  }
  ScratchFolder folder_;
};

TEST_F(Launch, RunsTheRanksOfAFileAndPrintsOnce) {
  const CommandResult result = run({"launch", "-n", "3", "--", "run", kSpToy, "--check"});
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_EQ(count(result.out, "check ok"), 1u) << result.out;
  EXPECT_TRUE(has(result.out, "3 ranks on")) << result.out;
  EXPECT_EQ(result.err, "");
}

TEST_F(Launch, OrderedSumsAreThoseOfLocalRanks) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", kTpMlp, "--ranks", "3", "--set", "sb=4", "--out", "dropout=local.npy"},
        std::vector<std::string>{"launch", "-n", "3", "--", "run", kTpMlp, "--set", "sb=4", "--out", "dropout=mpi.npy",
                                 "--option", "ordered=true"}}) {
    const CommandResult result = run(words);
    ASSERT_EQ(result.exit, 0) << result.err;
  }
  EXPECT_EQ(read_file(folder_.path() / "local.npy"), read_file(folder_.path() / "mpi.npy"));
}

TEST_F(Launch, UnderABareMpirun) {
  const CommandResult result = run_words({"/usr/bin/env", "OMPI_MCA_orte_tmpdir_base=" + folder_.path().string(),
                                          "mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n",
                                          "2", kPlait, "run", kTpMlp, "--set", "sb=4", "--comm", "mpi", "--check"},
                                         folder_.path());
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_EQ(count(result.out, "check ok"), 1u) << result.out;
}

TEST_F(Launch, ExitCodesAreThoseOfTheFirstRankThatFails) {
  CommandResult result = run({"launch", "-n", "2", "--", "run", "none.plait"});
  EXPECT_EQ(result.exit, 1);
  EXPECT_EQ(count(result.err, "cannot read `none.plait`"), 1u) << result.err;
  result = run({"launch", "-n", "2", "--", "run", kTpMlp, "--ranks", "3"});
  EXPECT_EQ(result.exit, 1);
  EXPECT_TRUE(has(result.err, "plait launch -n 3")) << result.err;
  result = run({"launch", "-n", "2", "--", "run", kTpMlp, "--device", "cuda"});
  EXPECT_TRUE(result.exit == 0 || result.exit == 3) << result.err;
}

TEST_F(Launch, ProgramsAreRanksToo) {
  CommandResult result =
      run({"launch", "-n", "3", "--", "sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK, $OMP_NUM_THREADS"});
  EXPECT_EQ(result.exit, 0) << result.err;
  const unsigned share = std::max(1U, std::thread::hardware_concurrency() / 3);
  EXPECT_EQ(result.out, fmt::format("rank 0, {}\n", share));
  // What a rank starts is no rank.
  result = run({"launch", "-n", "2", "--", "sh", "-c", "echo ${PLAIT_LAUNCH_FOLDER-unset}"});
  EXPECT_EQ(result.out, "unset\n");
  result = run({"launch", "-n", "2", "--", "sh", "-c", "exec " + kPlait + " doctor --options"});
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_TRUE(has(result.out, "cpu_threads")) << result.out;
  result = run({"launch", "-n", "3", "--", "sh", "-c",
                "[ $OMPI_COMM_WORLD_RANK = 1 ] && { echo no more >&2; exit 1; }; sleep 60"});
  EXPECT_EQ(result.exit, 1);
  EXPECT_TRUE(has(result.err, "[rank 1] no more")) << result.err;
  EXPECT_TRUE(has(result.err, "rank 1 of 3 failed with exit code 1")) << result.err;
  result = run({"launch", "-n", "2", "--", "sh", "-c", "kill -9 $$"});
  EXPECT_EQ(result.exit, 2);
  EXPECT_TRUE(has(result.err, "was ended by signal 9")) << result.err;
}

TEST_F(Launch, ADeadRankEndsTheJob) {
  for (const char* rank : {"1", "0"}) {
    const CommandResult result = run_to_failure(std::string(rank) + ":4:kill");
    for (const std::string& part : {"error: rank " + std::string(rank) + " of 3 was ended by signal 9",
                                    std::string("at: step 4 (launch @tp_mlp_")})
      EXPECT_TRUE(has(result.err, part)) << part << "\n" << result.err;
  }
}

TEST_F(Launch, AnErrorInOneRankEndsTheJob) {
  const CommandResult result = run_to_failure("2:4:throw");
  for (const char* part : {"[rank 2] error: a fault at step 4", "[rank 2]   at: rank 2, step 4 (launch @tp_mlp_",
                           "error: rank 2 of 3 failed with exit code 2"})
    EXPECT_TRUE(has(result.err, part)) << part << "\n" << result.err;
}

// An internal error in the ranks leaves one file, and the command that starts the job again.
TEST_F(Launch, InternalErrorsReplayAsJobs) {
  for (const char* name : {"internal_error_propagate", "internal_error_run"}) {
    const PlantedBug bug(name);
    const CommandResult first = run_words({(fs::path(PLAIT_BINARY_DIR) / "plait_with_bugs").string(), "launch", "-n",
                                           "2", "--", "run", kTpMlp, "--set", "sb=8", "--device", "reference"},
                                          folder_.path());
    EXPECT_EQ(first.exit, 2) << first.out << first.err;
    const std::string mark = "  replay: ";
    const size_t at = first.err.find(mark);
    ASSERT_NE(at, std::string::npos) << first.err;
    const std::string replay = first.err.substr(at + mark.size(), first.err.find('\n', at) - at - mark.size());
    EXPECT_TRUE(has(replay, " launch -n 2 -- run plait_repro_")) << replay;
    const CommandResult second = run_words({"/bin/sh", "-c", replay}, folder_.path());
    EXPECT_EQ(second.exit, 2) << second.err;
    EXPECT_TRUE(has(second.err, "a planted internal error")) << second.err;
    EXPECT_TRUE(has(second.err, replay)) << second.err;
  }
}

TEST_F(Launch, AHungRankIsNamedAndTheRecordersTell) {
  const CommandResult result = run_to_failure("2:4:hang", 1);
  for (const char* part : {"has waited 1000 ms in all_reduce(f32, sum, 1024 elements) of ranks 0, 1, 2",
                           " did not go on: for ", "step 4 (launch @tp_mlp_"})
    EXPECT_TRUE(has(result.err, part)) << part << "\n" << result.err;
  // Said beside the failure of a rank that waited for it, or first where that one ended later.
  EXPECT_TRUE(has(result.err, "rank 2 did not go on") || has(result.err, "rank 2 of 3 did not go on")) << result.err;
  const CommandResult diff = run({"comm-diff", "flight"});
  EXPECT_EQ(diff.exit, 0) << diff.err;
  for (const char* part : {"rank 0: 1 operations; rank 0, in step ", "rank 2: left no file",
                           "rank 1: issue 0: all_reduce(f32, sum, 1024 elements), queued, in step "})
    EXPECT_TRUE(has(diff.out, part)) << part << "\n" << diff.out;
}

// ctrl-C ends all processes and leaves nothing.
TEST_F(Launch, AnInterruptEndsAllAndLeavesNothing) {
  const pid_t child = fork();
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    dup2(null, 2);
    setenv("PLAIT_FAULT", "1:4:hang", 1);
    execl(kPlait.c_str(), kPlait.c_str(), "launch", "-n", "3", "--", "run", kTpMlp.c_str(), "--set", "sb=8", nullptr);
    _exit(127);
  }
  const std::string start = "plait_launch_" + std::to_string(child) + "_";
  auto folders = [&] {
    std::vector<fs::path> out;
    for (const char* place : {"/dev/shm", "/tmp"}) {
      std::error_code error;
      for (const auto& entry : fs::directory_iterator(place, error))
        if (entry.path().filename().string().rfind(start, 0) == 0) out.push_back(entry.path());
    }
    return out;
  };
  auto processes = [&] {  // whose command line names the job's folder, or that have it as a parent's
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string environ_text = read_file(entry.path() / "environ");
      if (has(environ_text, start)) out.push_back(entry.path().string());
    }
    return out;
  };
  const Clock::time_point begin = Clock::now();
  while (processes().size() < 6 && Clock::now() - begin < std::chrono::seconds(30))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GE(processes().size(), 6u) << "three ranks and their keepers";
  kill(child, SIGINT);
  int status = 0;
  const Clock::time_point interrupted = Clock::now();
  waitpid(child, &status, 0);
  EXPECT_LT(Clock::now() - interrupted, std::chrono::seconds(5));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
  EXPECT_TRUE(folders().empty());
  EXPECT_TRUE(processes().empty());
}

class LaunchWords : public ::testing::Test {
 protected:
  void expect(int exit, std::vector<std::string> words, const std::vector<std::string>& found) {
    words.insert(words.begin(), kPlait);
    const CommandResult result = run_words(words, folder_.path());
    EXPECT_EQ(exit, result.exit) << result.out << result.err;
    for (const auto& text : found) EXPECT_TRUE(has(result.err, text)) << text << "\n" << result.err;
  }
  ScratchFolder folder_;
};

TEST_F(LaunchWords, Refused) {
  expect(1, {"launch"}, {"how many processes?", "plait launch -n N"});
  expect(1, {"launch", "-n"}, {"-n needs a number"});
  for (const char* bad : {"0", "-1", "x", "1.5", "99999999999999999999"})
    expect(1, {"launch", "-n", bad, "--", "run", kSpToy}, {std::string("`") + bad + "` is no number for -n"});
  expect(1, {"launch", "-n", "2"}, {"nothing to run"});
  expect(1, {"launch", "-n", "2", "--"}, {"nothing to run"});
  expect(1, {"launch", "-n", "2", "--", "opt", kSpToy}, {"`opt` does not run on several processes"});
  expect(1, {"launch", "-n", "2", "run", kSpToy}, {"unexpected `run`"});
  for (const char* bad : {"no-such-program", "/tmp", "./nothing", ""})
    expect(1, {"launch", "-n", "2", "--", bad}, {std::string("`") + bad + "` is neither `run` nor a program"});
  expect(1, {"launch", "--timeuot", "2", "--", "run", kSpToy}, {"no flag `--timeuot`", "did you mean `--timeout`?"});
  expect(1, {"launch", "-n", "2", "--timeout", "0", "--", "run", kSpToy}, {"`0` is no number for --timeout"});
}

TEST_F(LaunchWords, WithoutMpirun) {
  const CommandResult result =
      run_words({"/usr/bin/env", "PATH=/nowhere", kPlait, "launch", "-n", "2", "--", "run", kSpToy}, folder_.path());
  EXPECT_EQ(result.exit, 3) << result.err;
  EXPECT_TRUE(has(result.err, "openmpi")) << result.err;
}

TEST_F(LaunchWords, AFaultThatCannotBeReadIsRefused) {
  for (const char* bad : {"x", "1", "1:2", "1:2:", "1:2:die", ":2:kill", "1:2:kill:3"}) {
    const CommandResult result =
        run_words({"/usr/bin/env", std::string("PLAIT_FAULT=") + bad, kPlait, "run", kSpToy}, folder_.path());
    EXPECT_EQ(result.exit, 1) << bad;
    EXPECT_TRUE(has(result.err, "RANK:STEP:kill")) << result.err;
  }
}

// ---- comm-diff

class CommDiff : public ::testing::Test {
 protected:
  CommDiff() {
    for (int64_t rank = 0; rank < 3; ++rank) recorders_.push_back(std::make_unique<FlightRecorder>(rank, "test"));
  }
  // The ranks of a team come to an all_reduce, each of its own count; -1: it does not come.
  void reduce(std::vector<int64_t> ranks, const std::vector<int64_t>& elements) {
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (elements[i] < 0) continue;
      FlightRecorder& recorder = *recorders_[size_t(ranks[i])];
      recorder.set_step("step " + std::to_string(++steps_));
      const CommCall call{Collective::all_reduce, CommReduce::sum, {DType::f32, 1, 1, {&elements[i], 1}}};
      const int64_t time = steps_ * 1'000'000;
      recorder.mark(recorder.begin(recorder.team(ranks), call, time), FlightState::done, time + 1000);
    }
  }
  std::string diff(std::vector<int64_t> dumped = {0, 1, 2}) {
    for (int64_t rank : dumped) recorders_[size_t(rank)]->dump((folder_.path() / "flight").string(), "asked");
    const CommandResult result = run_words({kPlait, "comm-diff", "flight"}, folder_.path());
    EXPECT_EQ(result.exit, 0) << result.err;
    return result.out;
  }
  std::vector<std::unique_ptr<FlightRecorder>> recorders_;
  int64_t steps_ = 0;
  ScratchFolder folder_;
};

TEST_F(CommDiff, TheSame) {
  for (int i = 0; i < 5; ++i) reduce({0, 1, 2}, {4, 4, 4});
  EXPECT_TRUE(has(diff(), "no divergence"));
}

TEST_F(CommDiff, DifferentCalls) {
  reduce({0, 1, 2}, {4, 4, 4});
  reduce({0, 1}, {2, 2});
  reduce({0, 1, 2}, {8, 8, 9});
  reduce({0, 1, 2}, {1, 1, 2});
  const std::string text = diff();
  for (const char* part : {"first divergence: operation 1 of the team of ranks 0, 1, 2: members ask for different",
                           "rank 0: issue 2: all_reduce(f32, sum, 8 elements), done, in step ",
                           "rank 2: issue 1: all_reduce(f32, sum, 9 elements), done, in step "})
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
}

TEST_F(CommDiff, ARankThatStoppedEarlier) {
  reduce({0, 1, 2}, {4, 4, 4});
  reduce({0, 1, 2}, {8, -1, 8});
  const std::string text = diff();
  for (const char* part : {"operation 1 of the team of ranks 0, 1, 2: some members did not come",
                           "rank 1: did not come; it stopped after 1 of this team, 1 in all, in step "})
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
}

TEST_F(CommDiff, CrossedOrderOfTeams) {
  reduce({0, 1, 2}, {4, -1, -1});
  reduce({0, 1}, {-1, 4});
  const std::string text = diff();
  EXPECT_TRUE(has(text, "operation 0 of the team of ranks 0, 1, 2: some members did not come")) << text;
  EXPECT_TRUE(has(text, "rank 1: did not come; it stopped after 0 of this team, 1 in all")) << text;
}

TEST_F(CommDiff, OnlyTheLastOnesAreKept) {
  for (int64_t i = 0; i < FlightRecorder::kCapacity + 5; ++i) reduce({0, 1, 2}, {4, 4, 4});
  for (int64_t i = 0; i < 3; ++i) reduce({0, 1, 2}, {4, 4, -1});
  const std::string text = diff();
  EXPECT_TRUE(has(text, "operation 2005 of the team of ranks 0, 1, 2: some members did not come")) << text;
  EXPECT_TRUE(has(text, "rank 2: did not come; it stopped after 2005 of this team")) << text;
}

TEST_F(CommDiff, ARankWithoutAFile) {
  reduce({0, 1, 2}, {4, 4, -1});
  const std::string text = diff({0, 1});
  EXPECT_TRUE(has(text, "rank 2: left no file")) << text;
  EXPECT_TRUE(has(text, "no divergence")) << text;
}

TEST_F(CommDiff, BadFoldersAndFilesAreNamed) {
  auto refused = [&](std::vector<std::string> words, const std::string& part) {
    words.insert(words.begin(), {kPlait, "comm-diff"});
    const CommandResult result = run_words(words, folder_.path());
    EXPECT_EQ(result.exit, 1) << result.out;
    EXPECT_TRUE(has(result.err, part)) << result.err;
  };
  refused({}, "needs a folder");
  refused({"a", "b"}, "unexpected `b`");
  refused({"none"}, "`none` cannot be read");
  fs::create_directory(folder_.path() / "flight");
  refused({"flight"}, "holds no rank_N.json");
  for (const char* text :
       {"", "{", "[]", "{\"format\": \"plait flight 1\"}", "{\"format\": 3}",
        "{\"format\": \"plait flight 1\", \"rank\": 0, \"issued\": 1, \"reason\": \"\", \"step\": \"\","
        " \"teams\": [], \"operations\": [{\"team\": 7}]}"}) {
    write_file(folder_.path() / "flight" / "rank_0.json", text);
    refused({"flight"}, "rank_0.json");
  }
  fs::remove(folder_.path() / "flight" / "rank_0.json");
  recorders_[1]->dump((folder_.path() / "flight").string(), "");
  fs::copy(folder_.path() / "flight" / "rank_1.json", folder_.path() / "flight" / "rank_2.json");
  refused({"flight"}, "rank 1 is there twice");
}

}  // namespace
}  // namespace plait::testing
