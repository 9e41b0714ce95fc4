#include "comm/threads/threads.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "comm/comm_call.h"

namespace plait {

class ThreadCommunicators::Team : public Communicator {
 public:
  Team(std::span<const int64_t> ranks, ThreadCommunicators& all)
      : all_(all),
        ranks_(ranks.begin(), ranks.end()),
        local_(int64_t(ranks.size()), traffic_),
        members_(ranks.size()),
        here_(ranks.size()) {
    for (int64_t rank : ranks) {
      FlightRecorder& recorder = all.recorders_.of(rank);
      recorders_.push_back(&recorder);
      recorder_teams_.push_back(recorder.team(ranks));
    }
  }
  int64_t size() const override { return local_.size(); }

  void all_reduce(DType dtype, CommReduce reduce, int64_t elements, std::span<const CommMember> members) override {
    meet({Collective::all_reduce, reduce, {dtype, 1, 1, {&elements, 1}}}, members);
  }
  void all_gather(const CommPieces& pieces, std::span<const CommMember> members) override {
    meet({Collective::all_gather, CommReduce::sum, pieces}, members);
  }
  void reduce_scatter(const CommPieces& pieces, CommReduce reduce, std::span<const CommMember> members) override {
    meet({Collective::reduce_scatter, reduce, pieces}, members);
  }
  void all_to_all(const CommBlocks& blocks, std::span<const CommMember> members) override {
    meet({Collective::all_to_all, CommReduce::sum, {}, blocks}, members);
  }

  const std::vector<int64_t>& ranks() const { return ranks_; }
  void wake() { changed_.notify_all(); }
  std::vector<int64_t> missing() const {
    std::vector<int64_t> out;
    for (size_t p = 0; p < ranks_.size(); ++p)
      if (!here_[p]) out.push_back(ranks_[p]);
    return out;
  }
  std::string call_text() const { return describe(call_) + " of " + rank_list(ranks_); }

 private:
  using Lock = std::unique_lock<std::mutex>;
  void meet(const CommCall& call, std::span<const CommMember> members);
  void arrive(const CommCall& call, const CommMember& member);
  void carry_out(Lock& lock);
  void wait(Lock& lock, std::span<const CommMember> members);
  void mark(std::span<const CommMember> members, std::span<const int64_t> issues, FlightState state) const;

  ThreadCommunicators& all_;
  const std::vector<int64_t> ranks_;
  std::vector<FlightRecorder*> recorders_;  // by position
  std::vector<uint32_t> recorder_teams_;
  std::condition_variable changed_;
  CommTraffic traffic_;
  LocalCommunicator local_;
  // The meeting that gathers now. Its call lies with the first who came, who stays until it is over.
  CommCall call_;
  int64_t first_ = 0;                // rank
  std::vector<CommMember> members_;  // by position
  std::vector<char> here_;
  size_t arrived_ = 0;
  bool running_ = false;  // the last who came is at work on everybody's buffers
  int64_t generation_ = 0;
};

void ThreadCommunicators::Team::arrive(const CommCall& call, const CommMember& member) {
  PLAIT_CHECK(member.position >= 0 && member.position < size(), "position {} in a team of {}", member.position, size());
  const size_t p = size_t(member.position);
  const int64_t rank = ranks_[p];
  if (arrived_ == 0) {
    call_ = call;
    first_ = rank;
  } else if (!(call == call_)) {
    all_.fail(fmt::format("members of one team ask for different collectives: rank {} for {}, rank {} for {}, of {}",
                          first_, describe(call_), rank, describe(call), rank_list(ranks_)));
  }
  if (here_[p]) all_.fail(fmt::format("rank {} asks twice at once for a collective: {}", rank, call_text()));
  here_[p] = true;
  members_[p] = member;
  ++arrived_;
}

void ThreadCommunicators::Team::carry_out(Lock& lock) {
  running_ = true;
  lock.unlock();
  std::string failure;
  try {
    const CommPieces& pieces = call_.pieces;
    switch (call_.kind) {
      case Collective::all_reduce:
        local_.all_reduce(pieces.dtype, call_.reduce, pieces.counts[0], members_);
        break;
      case Collective::all_gather:
        local_.all_gather(pieces, members_);
        break;
      case Collective::reduce_scatter:
        local_.reduce_scatter(pieces, call_.reduce, members_);
        break;
      case Collective::all_to_all:
      case Collective::gather_range:  // these are asked for as the other
      case Collective::gather_block:
        local_.all_to_all(call_.blocks, members_);
        break;
    }
  } catch (const std::exception& e) {
    failure = e.what();
  }
  lock.lock();
  running_ = false;
  if (!failure.empty()) all_.fail(fmt::format("{} failed: {}", call_text(), failure));
  all_.traffic_.wire_bytes += traffic_.wire_bytes;
  all_.traffic_.wire_bytes_min += traffic_.wire_bytes_min;
  traffic_ = {};
  std::fill(here_.begin(), here_.end(), false);
  arrived_ = 0;
  ++generation_;
  for (int64_t rank : ranks_) all_.waits_[rank] = nullptr;
  changed_.notify_all();
}

// The buffers of who waits are in use while somebody is at work on them: then neither time nor an abort lets it go.
void ThreadCommunicators::Team::wait(Lock& lock, std::span<const CommMember> members) {
  for (const CommMember& member : members) all_.waits_[ranks_[size_t(member.position)]] = this;
  const std::string deadlock = all_.find_deadlock();
  if (!deadlock.empty()) all_.fail(deadlock);
  const int64_t generation = generation_;
  const auto deadline = std::chrono::steady_clock::now() + all_.options_.timeout;
  while (generation_ == generation) {
    if (!running_) all_.aborted_.check();
    if (running_) {
      changed_.wait(lock);
    } else if (changed_.wait_until(lock, deadline) == std::cv_status::timeout && generation_ == generation &&
               !running_ && !all_.aborted_.is_set()) {
      all_.fail(fmt::format("no end of a collective after {} ms: {}", all_.options_.timeout.count(), all_.who_waits()));
    }
  }
}

void ThreadCommunicators::Team::mark(std::span<const CommMember> members, std::span<const int64_t> issues,
                                     FlightState state) const {
  const int64_t now = FlightRecorder::now();
  for (size_t i = 0; i < members.size(); ++i) recorders_[size_t(members[i].position)]->mark(issues[i], state, now);
}

void ThreadCommunicators::Team::meet(const CommCall& call, std::span<const CommMember> members) {
  constexpr size_t kMost = 64;
  PLAIT_CHECK(!members.empty() && members.size() <= kMost, "{} members come in one call", members.size());
  int64_t issues[kMost];
  const int64_t begin = FlightRecorder::now();
  for (size_t i = 0; i < members.size(); ++i) {
    const size_t p = size_t(members[i].position);
    PLAIT_CHECK(p < ranks_.size(), "position {} in a team of {}", members[i].position, size());
    issues[i] = recorders_[p]->begin(recorder_teams_[p], call, begin);
  }
  const std::span<const int64_t> issued(issues, members.size());
  Lock lock(all_.mutex_);
  try {
    all_.aborted_.check();
    for (const CommMember& member : members) arrive(call, member);
    if (arrived_ == ranks_.size()) {
      carry_out(lock);
    } else {
      wait(lock, members);
    }
  } catch (const CommError&) {
    mark(members, issued, FlightState::failed);
    throw;
  }
  mark(members, issued, FlightState::done);
}

ThreadCommunicators::ThreadCommunicators(CommOptions options) : options_(std::move(options)), recorders_("threads") {}
ThreadCommunicators::~ThreadCommunicators() = default;

Communicator& ThreadCommunicators::team(std::span<const int64_t> ranks) {
  const std::lock_guard lock(mutex_);
  auto& slot = teams_[std::vector<int64_t>(ranks.begin(), ranks.end())];
  if (!slot) {
    slot = std::make_unique<Team>(ranks, *this);
    for (int64_t rank : ranks) waits_.emplace(rank, nullptr);
  }
  return *slot;
}

CommTraffic ThreadCommunicators::traffic() const {
  const std::lock_guard lock(mutex_);
  return traffic_;
}

void ThreadCommunicators::reset_traffic() {
  const std::lock_guard lock(mutex_);
  traffic_ = {};
}

bool ThreadCommunicators::end(std::string_view why) {
  if (!aborted_.set(why)) return false;
  recorders_.dump_on_failure(options_.dump_folder, why);
  for (const auto& [ranks, team] : teams_) team->wake();
  return true;
}

void ThreadCommunicators::fail(std::string_view why) {
  if (!end(why)) aborted_.check();
  throw CommError(std::string(why), "", "");
}

void ThreadCommunicators::abort(std::string_view why) {
  const std::lock_guard lock(mutex_);
  end(why);
}

std::string ThreadCommunicators::who_waits() const {
  std::string text;
  for (const auto& [rank, team] : waits_) {
    if (team == nullptr || team->missing().empty()) continue;
    FlightRecorder* recorder = recorders_.find(rank);
    const std::string step = recorder ? recorder->step() : "";
    text += fmt::format("{}rank {}{} waits in {} for {}", text.empty() ? "" : "; ", rank,
                        step.empty() ? "" : ", in " + step + ",", team->call_text(), rank_list(team->missing()));
  }
  return text;
}

// Ranks that wait in a team for one of themselves will never go on: of all that wait, those are taken away that miss
// nobody who is left, until nothing changes.
std::string ThreadCommunicators::find_deadlock() const {
  std::set<int64_t> stuck;
  for (const auto& [rank, team] : waits_)
    if (team != nullptr) stuck.insert(rank);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = stuck.begin(); at != stuck.end();) {
      const std::vector<int64_t> missing = waits_.at(*at)->missing();
      const bool hopeless = std::any_of(missing.begin(), missing.end(), [&](int64_t r) { return stuck.contains(r); });
      changed = changed || !hopeless;
      at = hopeless ? std::next(at) : stuck.erase(at);
    }
  }
  return stuck.empty() ? "" : "deadlock: " + who_waits();
}

}  // namespace plait
