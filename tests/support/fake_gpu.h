#pragma once
// GPUs without hardware: streams queue their work, and run it in an order that a seed draws, so that an event that is
// missing shows in the results. Memory is the host's and is said not to be.
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "comm/local/local.h"
#include "device/device.h"

namespace plait::test {

// All queues of all fake GPUs of a test. Safe to use from several threads at once.
class FakeEngine {
 public:
  // A piece of work: whether it could run. Asked again until it could.
  using Work = std::function<bool()>;
  explicit FakeEngine(uint64_t seed) : random_(seed) {}

  int add_queue();
  void enqueue(int queue, Work work);
  // Runs some work of any queue; whether this one is empty.
  bool poll(int queue);
  void synchronize(int queue);
  std::recursive_mutex& mutex() { return mutex_; }

  // Capturing: work of these queues goes to a list instead.
  bool begin_capture(int queue);
  std::vector<Work> end_capture();
  void join_capture(int queue, int from);

  int queues() const { return int(queues_.size()); }
  int64_t enqueued = 0;        // pieces of work of all times
  int64_t capture_begins = 0;  // also refused ones
  bool can_capture = true;

 private:
  bool run_one();
  void throw_error(int queue);
  std::recursive_mutex mutex_;
  std::mt19937_64 random_;
  std::vector<std::deque<Work>> queues_;
  std::map<int, std::exception_ptr> errors_;  // of work that threw, by queue
  std::set<int> captured_;
  std::vector<Work> capture_;
};

class FakeStream : public Stream {
 public:
  // `queue`: -1 makes one.
  FakeStream(std::shared_ptr<FakeEngine> engine, int ordinal, int queue = -1);
  int ordinal() const override { return ordinal_; }
  void* native() const override { return reinterpret_cast<void*>(uintptr_t(queue_) + 1); }
  void copy(void* to, const void* from, size_t bytes) override;
  void copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t row_bytes,
                 size_t rows) override;
  void fill(void* to, uint8_t value, size_t bytes) override;
  std::unique_ptr<Event> make_event() override;
  std::unique_ptr<Event> make_timer() override { return make_event(); }
  void record(Event& event) override;
  void wait(const Event& event) override;
  bool done() override { return engine_->poll(queue_); }
  void synchronize() override { engine_->synchronize(queue_); }
  bool begin_capture() override { return engine_->begin_capture(queue_); }
  std::unique_ptr<Graph> end_capture() override;
  std::shared_ptr<FakeEngine> engine() const { return engine_; }
  int queue() const { return queue_; }
  void enqueue(FakeEngine::Work work) { engine_->enqueue(queue_, std::move(work)); }

 private:
  std::shared_ptr<FakeEngine> engine_;
  int ordinal_, queue_;
};

// Host memory at an ordinal; counts.
class FakeAllocator : public Allocator {
 public:
  explicit FakeAllocator(int ordinal = 0) : ordinal_(ordinal) {}
  std::shared_ptr<Memory> allocate(size_t bytes) override { return allocate_on(bytes, nullptr); }
  std::shared_ptr<Memory> allocate_on(size_t bytes, Stream* stream) override;
  int64_t allocations = 0;
  std::shared_ptr<int64_t> live = std::make_shared<int64_t>(0);
  std::vector<Stream*> streams;  // by allocation

 private:
  HostAllocator host_;
  int ordinal_;
};

class FakeGpu : public Device {
 public:
  explicit FakeGpu(uint64_t seed, int count = 1);
  std::string name() const override { return "fake"; }
  const Target& target() const override { return target_; }
  int count() const override { return int(allocators_.size()); }
  bool host_memory() const override { return false; }
  FakeAllocator& allocator(int ordinal = 0) override { return *allocators_[ordinal]; }
  std::unique_ptr<Stream> make_stream(int ordinal = 0) override;
  std::unique_ptr<Stream> adopt_stream(void* native, int ordinal = 0) override;
  std::shared_ptr<Executable> compile(const KernelText&, KernelFacts*) override { return nullptr; }
  std::shared_ptr<Executable> library(const LibraryContraction&, std::string*) override { return nullptr; }
  std::shared_ptr<FakeEngine> engine() const { return engine_; }

  int64_t streams_made = 0, streams_adopted = 0;

 private:
  const Target target_ = target_named("sm_90a");
  std::shared_ptr<FakeEngine> engine_;
  std::vector<std::unique_ptr<FakeAllocator>> allocators_;
};

// Collectives between fake GPUs: calls queue their members' work; the data moves when all members are at it.
class FakeNccl : public Communicators {
 public:
  explicit FakeNccl(std::shared_ptr<FakeEngine> engine);
  ~FakeNccl() override;
  Communicator& team(std::span<const int64_t> ranks) override;
  CommTraffic traffic() const override { return local_.traffic(); }
  void reset_traffic() override { local_.reset_traffic(); }
  void check() override;
  void abort(std::string_view why) override;
  void set_capturing(bool on) override { capturing.push_back(on); }

  // The nth collective call of a rank is lost: its member never comes. check() throws after that many calls.
  std::map<int64_t, int64_t> lost;  // by position in the team
  std::atomic<int64_t> checks_until_timeout = -1;
  std::string aborted;
  std::vector<bool> capturing;

 private:
  class Team;
  std::shared_ptr<FakeEngine> engine_;
  LocalCommunicators local_;
  std::mutex mutex_;
  std::atomic<bool> ended_ = false;
  std::map<std::vector<int64_t>, std::unique_ptr<Team>> teams_;
};

}  // namespace plait::test
