#pragma once
// Ranks of one process: every member's buffers are visible, so a collective is carried out for all members in one call.
// Reductions add in the order of positions; results are the same for every interleaving of the ranks.
#include <map>
#include <memory>
#include <vector>

#include "comm/abort_flag.h"
#include "comm/comm_options.h"
#include "comm/communicator.h"
#include "comm/flight_recorder.h"

namespace plait {

// Calls give every member of the team, in order of position. Not safe to use from several threads at once.
class LocalCommunicator : public Communicator {
 public:
  // Bytes are added to `traffic`, which must outlive the communicator.
  LocalCommunicator(int64_t size, CommTraffic& traffic);
  int64_t size() const override { return size_; }
  void all_reduce(DType dtype, CommReduce reduce, int64_t elements, std::span<const CommMember> members) override;
  void all_gather(const CommPieces& pieces, std::span<const CommMember> members) override;
  void reduce_scatter(const CommPieces& pieces, CommReduce reduce, std::span<const CommMember> members) override;
  void all_to_all(const CommBlocks& blocks, std::span<const CommMember> members) override;

 private:
  void check(std::span<const CommMember> members) const;
  void gather(const CommPieces& pieces, std::span<const CommMember> members, bool pieces_in_out);
  int64_t size_;
  CommTraffic& traffic_;
  std::vector<int64_t> chunks_;  // of an all_reduce, by position
};

class LocalCommunicators : public Communicators {
 public:
  explicit LocalCommunicators(CommOptions options = {});
  ~LocalCommunicators() override;
  Communicator& team(std::span<const int64_t> ranks) override;
  CommTraffic traffic() const override { return traffic_; }
  void reset_traffic() override { traffic_ = {}; }
  void check() override { aborted_.check(); }
  void abort(std::string_view why) override;
  FlightRecorder* recorder(int64_t rank) override { return recorders_.find(rank); }
  void dump(const std::string& folder, std::string_view reason) override { recorders_.dump(folder, reason); }

 private:
  class Team;
  const CommOptions options_;
  CommTraffic traffic_;
  AbortFlag aborted_;
  FlightRecorders recorders_;
  std::map<std::vector<int64_t>, std::unique_ptr<Team>> teams_;
};

}  // namespace plait
