#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "base/error.h"
#include "comm/file_bootstrap.h"
#include "comm/process_place.h"
#include "command/run_command.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// One thread per process of a job; what each returned.
template <class Fn>
std::vector<std::string> job(int64_t size, const fs::path& folder, Fn fn, milliseconds timeout = milliseconds(20'000)) {
  std::vector<std::string> out(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        FileBootstrap all({rank, size, folder.string(), timeout});
        out[size_t(rank)] = fn(all);
      } catch (const Error& e) {
        out[size_t(rank)] = e.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return out;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const auto& part : parts) out += "<" + part + ">";
  return out;
}

TEST(FileBootstrap, GathersBytesInManyRoundsAndLeavesNothing) {
  const ScratchFolder folder;
  const fs::path place = folder.path() / "new" / "job";
  const auto out = job(3, place, [](FileBootstrap& all) {
    for (int round = 0; round < 20; ++round) {
      const std::string mine(size_t(round * 1000), char('a' + all.rank()));
      const auto parts = all.all_gather(mine + std::string(1, '\0'));
      for (size_t p = 0; p < parts.size(); ++p)
        if (parts[p] != std::string(size_t(round * 1000), char('a' + p)) + std::string(1, '\0')) return "wrong bytes";
    }
    all.barrier();
    return "ok";
  });
  EXPECT_EQ(out, std::vector<std::string>(3, "ok"));
  EXPECT_TRUE(fs::is_empty(place));
}

TEST(FileBootstrap, GathersAmongSomeInTheirOrder) {
  const ScratchFolder folder;
  const auto out = job(4, folder.path(), [](FileBootstrap& all) {
    const int64_t mine[] = {all.rank() % 2 + 2, all.rank() % 2};
    const auto first = all.all_gather_among(mine, std::to_string(all.rank()));
    const auto second = all.all_gather_among(mine, "b" + std::to_string(all.rank()));
    return joined(first) + joined(second);
  });
  EXPECT_EQ(out, (std::vector<std::string>{"<2><0><b2><b0>", "<3><1><b3><b1>", "<2><0><b2><b0>", "<3><1><b3><b1>"}));
}

TEST(FileBootstrap, OneProcessNeedsNobody) {
  const ScratchFolder folder;
  FileBootstrap all({0, 1, folder.path().string()});
  EXPECT_EQ(all.all_gather("x"), std::vector<std::string>{"x"});
}

TEST(FileBootstrap, WhoDoesNotComeIsNamedInTime) {
  const ScratchFolder folder;
  const auto out = job(
      3, folder.path(),
      [](FileBootstrap& all) {
        if (all.rank() < 2) all.barrier();
        std::this_thread::sleep_for(milliseconds(all.rank() == 2 ? 200 : 0));
        return std::string("ok");
      },
      milliseconds(60));
  for (int rank : {0, 1}) {
    EXPECT_NE(out[size_t(rank)].find("has waited 60 ms for rank 2"), std::string::npos) << out[size_t(rank)];
    EXPECT_NE(out[size_t(rank)].find("round 0 of ranks 0, 1, 2"), std::string::npos) << out[size_t(rank)];
  }
}

TEST(FileBootstrap, AProcessThatEndedIsNoticedBeforeTheTimeLimit) {
  const ScratchFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    new FileBootstrap({1, 2, folder.path().string()});  // never closed
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  FileBootstrap all({0, 2, folder.path().string()});
  const auto begin = std::chrono::steady_clock::now();
  try {
    all.barrier();
    FAIL();
  } catch (const CommError& e) {
    EXPECT_NE(std::string(e.what()).find("rank 1 has ended"), std::string::npos) << e.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2000));
}

TEST(FileBootstrap, RefusesWhatCannotBe) {
  const ScratchFolder folder;
  EXPECT_THROW(FileBootstrap({2, 2, folder.path().string()}), UserError);
  EXPECT_THROW(FileBootstrap({-1, 2, folder.path().string()}), UserError);
  EXPECT_THROW(FileBootstrap({0, 0, folder.path().string()}), UserError);
  EXPECT_THROW(FileBootstrap({0, 1, ""}), UserError);
  EXPECT_THROW(FileBootstrap({0, 1, "/proc/no/such"}), UserError);
  FileBootstrap first({0, 2, folder.path().string()});
  EXPECT_THROW(FileBootstrap({0, 2, folder.path().string()}), UserError) << "the folder of another job";
}

std::optional<ProcessPlace> place_in(std::map<std::string, std::string> variables) {
  return process_place([&](const char* name) -> std::optional<std::string> {
    const auto at = variables.find(name);
    return at == variables.end() ? std::nullopt : std::optional(at->second);
  });
}

TEST(ProcessPlace, EveryLauncher) {
  EXPECT_EQ(place_in({}), std::nullopt);
  EXPECT_EQ(place_in({{"RANK", "1"}}), std::nullopt) << "a rank without a size";
  EXPECT_EQ(
      place_in({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}),
      (ProcessPlace{3, 8, 1, "Open MPI"}));
  EXPECT_EQ(place_in({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}), (ProcessPlace{0, 1, 0, "PMI"}));
  EXPECT_EQ(place_in({{"RANK", "2"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "0"}}), (ProcessPlace{2, 4, 0, "torchrun"}));
  EXPECT_EQ(place_in({{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "6"}, {"SLURM_LOCALID", "1"}}),
            (ProcessPlace{5, 6, 1, "Slurm"}));
  EXPECT_EQ(
      place_in(
          {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "9"}})
          ->launcher,
      "Open MPI");
}

TEST(ProcessPlace, ValuesThatCannotBeNameTheVariable) {
  for (const char* bad : {"x", "", "-1", "1.5", "99999999999999999999", "2"}) {
    try {
      place_in({{"RANK", bad}, {"WORLD_SIZE", "2"}});
      FAIL() << bad;
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find("RANK"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace plait::testing
