#include "support/fake_gpu.h"

#include <cstring>

#include "base/error.h"

namespace plait::test {

int FakeEngine::add_queue() {
  const std::lock_guard lock(mutex_);
  queues_.emplace_back();
  return int(queues_.size()) - 1;
}

void FakeEngine::enqueue(int queue, Work work) {
  const std::lock_guard lock(mutex_);
  ++enqueued;
  if (captured_.count(queue))
    capture_.push_back(std::move(work));
  else
    queues_[queue].push_back(std::move(work));
}

bool FakeEngine::run_one() {
  const size_t first = random_() % queues_.size();
  for (size_t i = 0; i < queues_.size(); ++i) {
    auto& queue = queues_[(first + i) % queues_.size()];
    if (queue.empty()) continue;
    Work work = queue.front();
    try {
      if (!work()) continue;
    } catch (...) {
      errors_[int((first + i) % queues_.size())] = std::current_exception();
    }
    queue.pop_front();
    return true;
  }
  return false;
}

bool FakeEngine::poll(int queue) {
  const std::lock_guard lock(mutex_);
  PLAIT_CHECK(!captured_.count(queue), "a stream is asked while it is captured");
  for (size_t n = random_() % 4 + 1; n > 0 && !queues_[queue].empty(); --n)
    if (!run_one()) break;
  throw_error(queue);
  return queues_[queue].empty();
}

void FakeEngine::synchronize(int queue) {
  const std::lock_guard lock(mutex_);
  while (!queues_[queue].empty()) PLAIT_CHECK(run_one(), "queue {} cannot go on", queue);
  throw_error(queue);
}

void FakeEngine::throw_error(int queue) {
  if (auto error = errors_.find(queue); error != errors_.end()) std::rethrow_exception(error->second);
}

bool FakeEngine::begin_capture(int queue) {
  const std::lock_guard lock(mutex_);
  ++capture_begins;
  if (can_capture) captured_.insert(queue);
  return can_capture;
}

std::vector<FakeEngine::Work> FakeEngine::end_capture() {
  const std::lock_guard lock(mutex_);
  captured_.clear();
  return std::exchange(capture_, {});
}

void FakeEngine::join_capture(int queue, int from) {
  const std::lock_guard lock(mutex_);
  if (captured_.count(from)) captured_.insert(queue);
}

namespace {

// Counts of records, made and done: a wait is for the record that was latest when it was queued.
struct EventState {
  std::atomic<int64_t> recorded = 0, reached = 0;
  int queue = -1;                                // of the latest record
  std::chrono::steady_clock::time_point when{};  // reached last
};

class FakeEvent : public Event {
 public:
  std::shared_ptr<EventState> state = std::make_shared<EventState>();
  bool done() const override { return state->reached >= state->recorded; }
  double milliseconds_since(const Event& earlier) const override {
    const auto& before = *static_cast<const FakeEvent&>(earlier).state;
    return std::chrono::duration<double, std::milli>(state->when - before.when).count();
  }
};

class FakeGraph : public Graph {
 public:
  explicit FakeGraph(std::vector<FakeEngine::Work> works) : works_(std::move(works)) {}
  void launch(Stream& stream) override {
    static_cast<FakeStream&>(stream).enqueue([works = works_] {
      for (const auto& work : works) PLAIT_CHECK(work(), "work of a graph that cannot run");
      return true;
    });
  }

 private:
  std::vector<FakeEngine::Work> works_;
};

}  // namespace

FakeStream::FakeStream(std::shared_ptr<FakeEngine> engine, int ordinal, int queue)
    : engine_(std::move(engine)), ordinal_(ordinal), queue_(queue < 0 ? engine_->add_queue() : queue) {}

void FakeStream::copy(void* to, const void* from, size_t bytes) {
  enqueue([=] {
    std::memmove(to, from, bytes);
    return true;
  });
}

void FakeStream::copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t row_bytes,
                           size_t rows) {
  enqueue([=] {
    for (size_t row = 0; row < rows; ++row)
      std::memcpy(static_cast<std::byte*>(to) + row * to_pitch, static_cast<const std::byte*>(from) + row * from_pitch,
                  row_bytes);
    return true;
  });
}

void FakeStream::fill(void* to, uint8_t value, size_t bytes) {
  enqueue([=] {
    std::memset(to, value, bytes);
    return true;
  });
}

std::unique_ptr<Event> FakeStream::make_event() { return std::make_unique<FakeEvent>(); }

void FakeStream::record(Event& event) {
  auto state = static_cast<FakeEvent&>(event).state;
  const int64_t number = ++state->recorded;
  state->queue = queue_;
  enqueue([state, number] {
    state->when = std::chrono::steady_clock::now();
    state->reached = std::max(state->reached.load(), number);
    return true;
  });
}

void FakeStream::wait(const Event& event) {
  auto state = static_cast<const FakeEvent&>(event).state;
  if (state->queue >= 0) engine_->join_capture(queue_, state->queue);
  enqueue([state, number = state->recorded.load()] { return state->reached >= number; });
}

std::unique_ptr<Graph> FakeStream::end_capture() { return std::make_unique<FakeGraph>(engine_->end_capture()); }

std::shared_ptr<Memory> FakeAllocator::allocate_on(size_t bytes, Stream* stream) {
  ++allocations;
  ++*live;
  streams.push_back(stream);
  auto memory = host_.allocate(bytes);
  void* data = memory->data();
  std::memset(data, 0xee, bytes);
  // Freed, and spoiled, in the order of the stream's work.
  FakeEngine::Work release = [memory, bytes, live = live] {
    std::memset(memory->data(), 0xdd, bytes);
    --*live;
    return true;
  };
  if (stream)
    release = [release, engine = static_cast<FakeStream*>(stream)->engine(),
               queue = static_cast<FakeStream*>(stream)->queue()] {
      engine->enqueue(queue, release);
      return true;
    };
  return std::make_shared<Memory>(data, bytes, [release] { release(); }, Location{false, ordinal_});
}

FakeGpu::FakeGpu(uint64_t seed, int count) : engine_(std::make_shared<FakeEngine>(seed)) {
  for (int i = 0; i < count; ++i) allocators_.push_back(std::make_unique<FakeAllocator>(i));
}

std::unique_ptr<Stream> FakeGpu::make_stream(int ordinal) {
  ++streams_made;
  return std::make_unique<FakeStream>(engine_, ordinal);
}

std::unique_ptr<Stream> FakeGpu::adopt_stream(void* native, int ordinal) {
  ++streams_adopted;
  return std::make_unique<FakeStream>(engine_, ordinal, int(reinterpret_cast<uintptr_t>(native) - 1));
}

class FakeNccl::Team : public Communicator {
 public:
  Team(FakeNccl& owner, Communicator& local) : owner_(owner), local_(local), calls_(size_t(local.size()), 0) {}
  int64_t size() const override { return local_.size(); }

  void all_reduce(DType dtype, CommReduce reduce, int64_t elements, std::span<const CommMember> members) override {
    queue(members, [=, this](std::span<const CommMember> all) { local_.all_reduce(dtype, reduce, elements, all); });
  }
  void all_gather(const CommPieces& pieces, std::span<const CommMember> members) override {
    queue(members, [this, pieces,
                    counts = std::vector(pieces.counts.begin(), pieces.counts.end())](std::span<const CommMember> all) {
      CommPieces mine = pieces;
      mine.counts = counts;
      local_.all_gather(mine, all);
    });
  }
  void reduce_scatter(const CommPieces& pieces, CommReduce reduce, std::span<const CommMember> members) override {
    queue(members, [this, pieces, reduce,
                    counts = std::vector(pieces.counts.begin(), pieces.counts.end())](std::span<const CommMember> all) {
      CommPieces mine = pieces;
      mine.counts = counts;
      local_.reduce_scatter(mine, reduce, all);
    });
  }
  void all_to_all(const CommBlocks& blocks, std::span<const CommMember> members) override {
    queue(members, [this, blocks, held = std::vector(blocks.held.begin(), blocks.held.end()),
                    taken = std::vector(blocks.taken.begin(), blocks.taken.end())](std::span<const CommMember> all) {
      CommBlocks mine = blocks;
      mine.held = held;
      mine.taken = taken;
      local_.all_to_all(mine, all);
    });
  }

 private:
  using Move = std::function<void(std::span<const CommMember>)>;
  struct Operation {
    std::map<int64_t, CommMember> here;  // by position
    bool done = false;
  };

  void queue(std::span<const CommMember> members, const Move& move) {
    const std::lock_guard lock(owner_.engine_->mutex());
    for (const CommMember& member : members) {
      const int64_t number = calls_[member.position]++;
      auto& slot = operations_[number];
      if (!slot) slot = std::make_shared<Operation>();
      auto lost = owner_.lost.find(member.position);
      const bool comes = lost == owner_.lost.end() || lost->second != number;
      static_cast<FakeStream*>(member.stream)->enqueue([this, member, operation = slot, move, comes] {
        if (owner_.ended_ || operation->done) return true;
        if (!comes) return false;
        operation->here[member.position] = member;
        if (int64_t(operation->here.size()) < size()) return false;
        std::vector<CommMember> all;
        for (const auto& [position, one] : operation->here) all.push_back(one);
        move(all);
        operation->done = true;
        if (size() == 1) *operation = {};  // work of a graph runs again
        return true;
      });
    }
  }

  FakeNccl& owner_;
  Communicator& local_;
  std::vector<int64_t> calls_;  // by position
  std::map<int64_t, std::shared_ptr<Operation>> operations_;
};

FakeNccl::FakeNccl(std::shared_ptr<FakeEngine> engine) : engine_(std::move(engine)) {}
FakeNccl::~FakeNccl() = default;

Communicator& FakeNccl::team(std::span<const int64_t> ranks) {
  auto& slot = teams_[{ranks.begin(), ranks.end()}];
  if (!slot) slot = std::make_unique<Team>(*this, local_.team(ranks));
  return *slot;
}

void FakeNccl::check() {
  if (ended_) throw CommError("communication has ended: " + aborted, "", "");
  if (checks_until_timeout >= 0 && checks_until_timeout-- == 0) throw CommError("a collective hangs", "", "");
}

void FakeNccl::abort(std::string_view why) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  aborted = why;
  ended_ = true;
}

}  // namespace plait::test
