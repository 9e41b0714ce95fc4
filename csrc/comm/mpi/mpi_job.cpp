#include "comm/mpi/mpi_job.h"

#include <sched.h>

#include <chrono>
#include <numeric>

#include "base/error.h"
#include "base/plugin_loader.h"
#include "comm/comm_call.h"
#include "comm/local/reduce.h"

namespace plait {
namespace {

constexpr DType kTypes[kPlaitMpiTypes] = {DType::boolean, DType::i8,  DType::i16,  DType::i32, DType::i64,
                                          DType::u8,      DType::u16, DType::u32,  DType::u64, DType::f8e4m3,
                                          DType::f8e5m2,  DType::f16, DType::bf16, DType::f32, DType::f64};
constexpr CommReduce kReduces[kPlaitMpiReduces] = {CommReduce::sum, CommReduce::max, CommReduce::min, CommReduce::prod};

// What the MPI library leaves to us: two operands, in the accumulation type, rounded.
void combine(int type, int reduce, const void* in, void* into, int64_t count) {
  const CommMember members[] = {{0, in, into}, {1, into, into}};
  reduce_members(kTypes[type], kReduces[reduce], members, 0, count, into);
}

}  // namespace

const PlaitMpiInterface& load_mpi(const std::string& folder) {
  return *load_interface<PlaitMpiInterface>("libplait_mpi.so", "plait_mpi_interface", kPlaitMpiVersion, folder,
                                            "libopenmpi-dev");
}

std::string mpi_version(const std::string& plugin_folder) { return load_mpi(plugin_folder).library_version(); }

MpiJob::MpiJob(const MpiOptions& options) : options_(options), mpi_(load_mpi(options.plugin_folder)) {
  PLAIT_CHECK(options.max_elements >= 1 && options.max_elements < int64_t(1) << 31, "messages of {} elements",
              options.max_elements);
  char error[512] = {};
  job_ = mpi_.open(options.communicator, &combine, error, sizeof(error));
  if (job_ == nullptr)
    throw MissingError(fmt::format("MPI cannot be started: {}", error), "",
                       "start plait by `plait launch -n N -- ...` or by mpirun");
  rank_ = mpi_.rank(job_);
  size_ = mpi_.size(job_);
  recorders.of(rank_);
}

MpiJob::~MpiJob() {
  const bool broken = aborted.is_set();
  for (const auto& [ranks, team] : teams_)
    if (team != nullptr && !broken) mpi_.free_team(team);
  mpi_.close(job_, broken);
}

bool MpiJob::end(std::string_view why) {
  if (!aborted.set(why)) return false;
  recorders.dump_on_failure(options_.dump_folder, why);
  return true;
}

void MpiJob::fail(const std::string& why) {
  if (!end(why)) aborted.check();
  throw CommError(why, "", "");
}

// MPI makes progress only while it is asked, and other ranks may need the core: between questions the core is given
// away, and the clock is read now and then.
void MpiJob::wait(const What& what) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point deadline{};
  char error[512] = {};
  for (int64_t asked = 1;; ++asked) {
    const int state = mpi_.test(job_, error, sizeof(error));
    if (state > 0) return;
    if (state < 0) fail(fmt::format("{}: {}", what(), error));
    aborted.check();
    if (asked % 256 == 0) {
      const Clock::time_point now = Clock::now();
      if (deadline == Clock::time_point{}) deadline = now + options_.timeout;
      if (now > deadline) {
        const std::string step = recorders.of(rank_).step();
        fail(fmt::format("rank {}{} has waited {} ms in {}: a member has not come to it", rank_,
                         step.empty() ? "" : ", in " + step + ",", options_.timeout.count(), what()));
      }
    }
    sched_yield();
  }
}

PlaitMpiTeam* MpiJob::team(std::span<const int64_t> ranks) {
  const auto [at, fresh] = teams_.try_emplace({ranks.begin(), ranks.end()}, nullptr);
  if (!fresh || ranks.size() == 1) return at->second;
  std::vector<int> members(ranks.begin(), ranks.end());
  run([&] { return "making the team of " + rank_list(ranks); },
      [&](const PlaitMpiInterface& mpi, char* error, size_t size) {
        return mpi.meet(job_, members.data(), int(members.size()), error, size);
      });
  char error[512] = {};
  at->second = mpi_.make_team(job_, members.data(), int(members.size()), error, sizeof(error));
  if (at->second == nullptr) fail(fmt::format("no team of {}: {}", rank_list(ranks), error));
  return at->second;
}

std::vector<std::string> MpiJob::exchange(PlaitMpiTeam* team, std::span<const int64_t> ranks, std::string_view mine,
                                          const What& what) {
  if (team == nullptr) return {std::string(mine)};
  const size_t count = ranks.size();
  std::vector<int> ones(count, 1), places(count), bytes(count), starts(count);
  std::iota(places.begin(), places.end(), 0);
  std::vector<uint64_t> lengths(count);
  const uint64_t length = mine.size();
  run(what, [&](const PlaitMpiInterface& mpi, char* error, size_t size) {
    return mpi.all_gather(team, kPlaitMpiU64, &length, lengths.data(), ones.data(), places.data(), error, size);
  });
  uint64_t total = 0;
  for (size_t p = 0; p < count; ++p) {
    bytes[p] = int(lengths[p]);
    starts[p] = int(total);
    total += lengths[p];
  }
  if (total > uint64_t(options_.max_elements) && total > uint64_t(1) << 30)
    fail(what() + ": messages of over 2^30 bytes");
  std::string all(total, '\0');
  if (total > 0)
    run(what, [&](const PlaitMpiInterface& mpi, char* error, size_t size) {
      return mpi.all_gather(team, kPlaitMpiBool, mine.data(), all.data(), bytes.data(), starts.data(), error, size);
    });
  std::vector<std::string> out;
  for (size_t p = 0; p < count; ++p) out.push_back(all.substr(size_t(starts[p]), size_t(bytes[p])));
  return out;
}

std::vector<std::string> MpiBootstrap::all_gather(std::string_view mine) {
  std::vector<int64_t> all(static_cast<size_t>(size()));
  std::iota(all.begin(), all.end(), int64_t(0));
  return all_gather_among(all, mine);
}

std::vector<std::string> MpiBootstrap::all_gather_among(std::span<const int64_t> ranks, std::string_view mine) {
  return job_.exchange(job_.team(ranks), ranks, mine,
                       [&] { return "an exchange between the processes of " + rank_list(ranks); });
}

}  // namespace plait
