#pragma once
// A process's part in an MPI job: the plug-in, the one operation under way, the wait for its end.
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/abort_flag.h"
#include "comm/bootstrap.h"
#include "comm/flight_recorder.h"
#include "comm/mpi/mpi.h"
#include "comm/mpi/mpi_plugin/plugin.h"

namespace plait {

// MissingError where the plug-in cannot be loaded.
const PlaitMpiInterface& load_mpi(const std::string& folder);

// One thread at a time, abort() excepted.
class MpiJob {
 public:
  // Says what is waited for, for an error's text.
  using What = std::function<std::string()>;

  explicit MpiJob(const MpiOptions& options);
  ~MpiJob();
  MpiJob(const MpiJob&) = delete;

  const MpiOptions& options() const { return options_; }
  int64_t rank() const { return rank_; }
  int64_t size() const { return size_; }
  // The team of the processes, made at the first call; null where it is this process alone.
  PlaitMpiTeam* team(std::span<const int64_t> ranks);

  // Starts an operation by start(interface, error text, its size) and returns when it is done. CommError when it fails,
  // is late, or after abort().
  template <class Start>
  void run(const What& what, Start&& start) {
    aborted.check();
    char error[512] = {};
    if (start(mpi_, error, sizeof(error)) != 0) fail(fmt::format("{}: {}", what(), error));
    wait(what);
  }
  // The bytes of every member, by position.
  std::vector<std::string> exchange(PlaitMpiTeam* team, std::span<const int64_t> ranks, std::string_view mine,
                                    const What& what);
  // Ends all: records, sets the flag, throws CommError.
  [[noreturn]] void fail(const std::string& why);
  bool end(std::string_view why);

  AbortFlag aborted;
  FlightRecorders recorders{"mpi"};

 private:
  void wait(const What& what);

  const MpiOptions options_;
  const PlaitMpiInterface& mpi_;
  PlaitMpiJob* job_ = nullptr;
  int64_t rank_ = 0, size_ = 1;
  std::map<std::vector<int64_t>, PlaitMpiTeam*> teams_;
};

class MpiBootstrap : public Bootstrap {
 public:
  explicit MpiBootstrap(MpiJob& job) : job_(job) {}
  int64_t rank() const override { return job_.rank(); }
  int64_t size() const override { return job_.size(); }
  std::vector<std::string> all_gather(std::string_view mine) override;
  std::vector<std::string> all_gather_among(std::span<const int64_t> ranks, std::string_view mine) override;

 private:
  MpiJob& job_;
};

}  // namespace plait
