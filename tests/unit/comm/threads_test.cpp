#include "comm/threads/threads.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "comm_cases.h"

namespace plait::testing {
namespace {

using std::chrono::milliseconds;

std::vector<int64_t> ranks_up_to(int64_t count) {
  std::vector<int64_t> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), int64_t(0));
  return out;
}

// One thread per rank; returns the text of each rank's CommError, empty where there was none.
template <class Fn>
std::vector<std::string> on_threads(int64_t ranks, Fn fn) {
  std::vector<std::string> errors(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        fn(rank);
      } catch (const CommError& e) {
        errors[size_t(rank)] = e.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

void sum(Communicator& team, int64_t position, int64_t elements, CommReduce reduce = CommReduce::sum) {
  std::vector<float> data(size_t(elements), 1);
  const CommMember member{position, data.data(), data.data()};
  team.all_reduce(DType::f32, reduce, elements, {&member, 1});
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(ThreadCommunicators, AgreeWithLocalBitByBit) {
  for (int64_t n : {1, 2, 3, 4}) {
    ThreadCommunicators comms;
    const std::vector<CommCase> cases = all_cases(n);
    const std::vector<int64_t> ranks = ranks_up_to(n);
    const auto errors = on_threads(
        n, [&](int64_t rank) { check_member(comms, comms.team(ranks), rank, cases, CommValues::normal, false); });
    for (const auto& error : errors) EXPECT_EQ(error, "");
  }
}

TEST(ThreadCommunicators, CountsAsLocalDoes) {
  ThreadCommunicators comms;
  const std::vector<int64_t> ranks = ranks_up_to(3);
  CommTraffic expected;
  const std::vector<CommCase> cases = all_cases(3);
  for (const CommCase& test : cases) expected_of(test, inputs_of(test, CommValues::exact, 1), &expected);
  on_threads(3, [&](int64_t rank) {
    for (const CommCase& test : cases) {
      const Tensor in = inputs_of(test, CommValues::exact, 1)[size_t(rank)];
      const Tensor out = blank(test.dtype, test.out_elements(rank));
      const CommMember member{rank, in.data(), out.data()};
      call(comms.team(ranks), test, {&member, 1});
    }
  });
  EXPECT_EQ(comms.traffic(), expected);
  comms.reset_traffic();
  EXPECT_EQ(comms.traffic(), CommTraffic{});
}

// Teams of rows and of columns of a 2 x 2 mesh, and one thread that drives two ranks.
TEST(ThreadCommunicators, SeveralTeamsAndSeveralMembersOfAThread) {
  ThreadCommunicators comms;
  const auto errors = on_threads(4, [&](int64_t rank) {
    const int64_t row[] = {rank / 2 * 2, rank / 2 * 2 + 1}, column[] = {rank % 2, rank % 2 + 2};
    for (int i = 0; i < 100; ++i) {
      float x = float(rank + 1), y = 0;
      const CommMember in_row{rank % 2, &x, &y}, in_column{rank / 2, &y, &x};
      comms.team(row).all_reduce(DType::f32, CommReduce::sum, 1, {&in_row, 1});
      comms.team(column).all_reduce(DType::f32, CommReduce::sum, 1, {&in_column, 1});
      EXPECT_EQ(x, 10);
    }
  });
  for (const auto& error : errors) EXPECT_EQ(error, "");
  float x[3] = {1, 2, 4};
  on_threads(2, [&](int64_t thread) {
    const CommMember members[] = {{0, &x[0], &x[0]}, {2, &x[2], &x[2]}}, other{1, &x[1], &x[1]};
    comms.team(ranks_up_to(3))
        .all_reduce(DType::f32, CommReduce::sum, 1, thread == 0 ? std::span(members) : std::span(&other, 1));
  });
  EXPECT_EQ(x[0] + x[1] + x[2], 21);
}

TEST(ThreadCommunicators, MismatchNamesBothRanksAndBothCalls) {
  const std::function<void(Communicator&, int64_t)> others[] = {
      [](Communicator& team, int64_t p) { sum(team, p, 9); },
      [](Communicator& team, int64_t p) { sum(team, p, 8, CommReduce::max); },
      [](Communicator& team, int64_t p) {
        double x[8] = {};
        const CommMember member{p, x, x};
        team.all_reduce(DType::f64, CommReduce::sum, 8, {&member, 1});
      },
      [](Communicator& team, int64_t p) {
        float in[8] = {}, out[8] = {};
        const int64_t counts[] = {3, 3, 2};
        const CommMember member{p, in, out};
        team.all_gather({DType::f32, 1, 1, counts}, {&member, 1});
      },
  };
  const std::string texts[] = {"all_reduce(f32, sum, 9 elements)", "all_reduce(f32, max, 8 elements)",
                               "all_reduce(f64, sum, 8 elements)", "all_gather(f32, 1 x [3, 3, 2] x 1)"};
  for (size_t i = 0; i < std::size(others); ++i) {
    ThreadCommunicators comms;
    const auto errors = on_threads(3, [&](int64_t rank) {
      Communicator& team = comms.team(ranks_up_to(3));
      sum(team, rank, 8);  // the same on all
      rank == 2 ? others[i](team, rank) : sum(team, rank, 8);
    });
    int named = 0;
    for (const auto& error : errors) {
      EXPECT_TRUE(has(error, "ask for different collectives")) << error;
      named += has(error, "rank 2 for " + texts[i]) && has(error, "for all_reduce(f32, sum, 8 elements)");
    }
    EXPECT_EQ(named, 3) << errors[0] << "\n" << errors[2];
  }
}

TEST(ThreadCommunicators, CrossedOrderIsADeadlockAtOnce) {
  ThreadCommunicators comms;
  const int64_t first[] = {0, 1}, second[] = {0, 1, 2};
  const auto begin = std::chrono::steady_clock::now();
  const auto errors = on_threads(2, [&](int64_t rank) {
    comms.recorder(rank)->set_step("step 3");
    rank == 0 ? sum(comms.team(first), 0, 4) : sum(comms.team(second), 1, 4);
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  for (const auto& error : errors)
    for (const char* part : {"deadlock", "rank 0, in step 3, waits in all_reduce(f32, sum, 4 elements) of ranks 0, 1",
                             "for rank 1", "rank 1, in step 3, waits in", "of ranks 0, 1, 2 for ranks 0, 2"})
      EXPECT_TRUE(has(error, part)) << part << "\n" << error;
}

TEST(ThreadCommunicators, TimeoutNamesWhoWaitsForWhom) {
  ThreadCommunicators comms({.timeout = milliseconds(50)});
  const auto errors = on_threads(2, [&](int64_t rank) { sum(comms.team(ranks_up_to(3)), rank, 4); });
  for (const auto& error : errors) {
    EXPECT_TRUE(has(error, "after 50 ms")) << error;
    EXPECT_TRUE(has(error, "of ranks 0, 1, 2 for rank 2")) << error;
  }
  EXPECT_THROW(sum(comms.team(ranks_up_to(3)), 2, 4), CommError) << "the end is for good";
  EXPECT_THROW(comms.check(), CommError);
}

TEST(ThreadCommunicators, AbortWakesAllAndEndsAll) {
  ThreadCommunicators comms;
  const auto errors = on_threads(3, [&](int64_t rank) {
    if (rank == 2) {
      std::this_thread::sleep_for(milliseconds(20));
      comms.abort("rank 2 gave up");
    }
    sum(comms.team(ranks_up_to(3)), rank, 4);
  });
  for (const auto& error : errors) EXPECT_TRUE(has(error, "rank 2 gave up")) << error;
  EXPECT_THROW(comms.check(), CommError);
  ThreadCommunicators fresh;
  EXPECT_EQ(on_threads(2, [&](int64_t rank) { sum(fresh.team(ranks_up_to(2)), rank, 4); })[0], "");
}

TEST(ThreadCommunicators, AFailureLeavesTheRecordersInTheFolder) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "plait_threads_flight";
  std::filesystem::remove_all(folder);
  ThreadCommunicators comms({.timeout = milliseconds(30), .dump_folder = folder.string()});
  on_threads(2, [&](int64_t rank) {
    sum(comms.team(std::vector<int64_t>{0, 1}), rank, 2);
    sum(comms.team(ranks_up_to(3)), rank, 4);
  });
  for (const char* file : {"rank_0.json", "rank_1.json"}) {
    std::ifstream in(folder / file);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    for (const char* part : {"\"reason\": \"no end of a collective", "\"state\": \"done\"", "\"state\": \"queued\""})
      EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace plait::testing
