#pragma once
// Queued work, what it waits for, and the order in which it runs.
//
// An operation runs when all operations it comes after are done and its `ready` says so. Which of several runs next is
// drawn by the seed. What happens before what follows from the calls alone, so it is settled when an operation is
// issued; the order of running matters only for values.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "sim/memory/address_space.h"

namespace plait::sim {

struct ContextObject;

// What an operation does. A node of a graph does it at every launch.
struct Task {
  std::string name;
  std::function<void(const Actor&)> run{};   // empty: a point in a stream. May throw Fault.
  std::function<bool()> ready{};             // empty: always
  std::function<std::string()> waits_for{};  // for whom, where `ready` says no
  std::shared_ptr<ContextObject> context{};  // lost by a fault
  bool calls_user = false;                   // runs a host function, without the lock
  bool on_device = false;                    // reaches memory as its device may; otherwise all
};

// A sequence of operations each of which is after the one before: a stream, the host, a chain of graph nodes. Its
// destruction gives the index back.
struct Lane {
  int index = 0;
  uint64_t issued = 0;
  std::string name;  // "2 of device 0"

  Lane() = default;
  Lane(int at, std::string called) : index(at), name(std::move(called)) {}
  Lane(Lane&& other) noexcept;
  Lane& operator=(Lane&& other) noexcept;
  ~Lane();
};

struct Op;
using OpRef = std::shared_ptr<Op>;

struct Op {
  enum class State : uint8_t { waiting, running, done };
  Task task;
  uint64_t number = 0;  // in order of issue
  Actor actor;
  std::vector<OpRef> after, before;  // not done yet; empty once this is done
  size_t missing = 0;                // of `after`
  State state = State::waiting;
  bool followed = false;  // work of another lane comes after it
  bool dropped = false;   // does nothing when its turn comes
  std::chrono::steady_clock::time_point finished{};
  bool done() const { return state == State::done; }
  Clock clock() const;  // what is known to be done once this is
};

// All calls under the engine's lock, which is given up while there is nothing to do. Host functions run on a thread of
// their own, without the lock, as a driver runs them.
class Scheduler {
 public:
  explicit Scheduler(std::recursive_mutex& lock) : lock_(lock) {}
  AddressSpace space;

  Lane make_lane(std::string name);
  void give_back(int lane);
  // Where nothing is queued and the host knows all that was ever issued done, clocks start anew and indices of lanes
  // that are gone serve again. Done now and then only, and false otherwise; contexts' clocks are the caller's.
  bool settle();
  // Queues an operation behind `after` (done ones and null are fine). The lane's last must be among them.
  OpRef issue(Task task, Lane& lane, const std::vector<OpRef>& after);
  // A piece of work that the host does itself, at once: ordered after all that the host knows and before all it issues
  // later.
  Actor host_operation(std::string name);
  // What the host has seen done is before whatever it issues next. Threads of the host count as one: how they order
  // themselves cannot be seen.
  void host_knows(const Clock& clock) { host_.join(clock); }
  bool host_knows_of(const Op& op) {
    return space.trace().settled(op.actor.id) || host_.of(op.actor.stream) >= op.actor.sequence;
  }

  // Runs one operation; false: none can run now.
  bool step();
  // A query: runs none, one or two operations, and looks whether nothing has moved for too long.
  void poll();
  // Runs operations until `done`. Where none can run, waits for other threads and processes; after the timeout what
  // waits is reported, its contexts are lost, and the call returns.
  void wait_until(const std::function<bool()>& done, const std::string& who);
  // Wakes threads that wait: something may have become ready.
  void notify() { changed_.notify_all(); }

  void set_seed(uint64_t seed);
  uint64_t seed() const { return seed_; }
  void set_timeout(double seconds) { timeout_ = std::chrono::duration<double>(seconds); }
  size_t pending() const { return pending_.size(); }
  // Operations not done yet, in order of issue.
  std::vector<OpRef> pending_of(const ContextObject* context) const;
  std::mt19937_64& random() { return random_; }

 private:
  OpRef choose();
  static bool runs(const Op& op);
  void run(const OpRef& op);
  void run_inside(const Op& op);
  std::string explain(std::string text);
  void run_outside(const OpRef& op);
  void serve_host_functions();
  void complete(Op& op);
  void stalled(const std::string& who);
  bool can_block() const;

  std::recursive_mutex& lock_;
  std::condition_variable_any changed_;
  std::map<uint64_t, OpRef> pending_, runnable_;  // by number; runnable_: nothing missing, `ready` aside
  std::chrono::steady_clock::time_point last_progress_{};
  std::chrono::duration<double> timeout_{60.0};
  Clock host_, issued_all_;
  Lane host_lane_{0, "host"};
  int lanes_ = 1;
  std::vector<int> gone_, free_;  // indices of lanes: not usable yet, usable
  uint64_t issued_ = 0, seed_ = 0;
  std::mt19937_64 random_{0};
  int depth_ = 0;                     // operations running under the lock
  std::deque<OpRef> host_functions_;  // handed to the thread that runs them, one after the other
  bool serving_ = false, explaining_ = false;
};

}  // namespace plait::sim
