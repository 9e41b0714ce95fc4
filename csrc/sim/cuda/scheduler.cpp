#include "sim/cuda/scheduler.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "sim/cuda/machine.h"

namespace plait::sim {
namespace {

constexpr size_t kLongQueue = 4096;  // operations; beyond it calls run what they find
// Other processes cannot wake this one: what waits for them looks often at first, then seldom.
constexpr int kShortPolls = 20;
constexpr std::chrono::microseconds kShortPoll{50}, kPoll{1000}, kPatience{20000};

}  // namespace

thread_local bool in_host_function = false;

Lane::Lane(Lane&& other) noexcept { *this = std::move(other); }

Lane& Lane::operator=(Lane&& other) noexcept {
  std::swap(index, other.index);
  std::swap(issued, other.issued);
  std::swap(name, other.name);
  return *this;
}

Lane::~Lane() {
  if (index != 0) machine().scheduler.give_back(index);
}

Lane Scheduler::make_lane(std::string name) {
  if (free_.empty()) return {lanes_++, std::move(name)};
  const int index = free_.back();
  free_.pop_back();
  return {index, std::move(name)};
}

void Scheduler::give_back(int lane) {
  std::lock_guard lock(lock_);
  gone_.push_back(lane);
}

bool Scheduler::settle() {
  constexpr size_t kWorthIt = 64;
  if (gone_.size() < kWorthIt || !pending_.empty() || !host_.includes(issued_all_)) return false;
  space.trace().settle();
  host_ = issued_all_ = Clock();
  free_.insert(free_.end(), gone_.begin(), gone_.end());
  gone_.clear();
  return true;
}

Clock Op::clock() const {
  if (machine().scheduler.space.trace().settled(actor.id)) return {};
  Clock clock = actor.before;
  clock.raise(actor.stream, actor.sequence);
  return clock;
}

OpRef Scheduler::issue(Task task, Lane& lane, const std::vector<OpRef>& after) {
  auto op = std::make_shared<Op>();
  Clock before = host_;
  for (const OpRef& each : after) {
    if (each == nullptr) continue;
    before.join(each->clock());
    if (each->actor.stream != lane.index) each->followed = true;
    if (each->done()) continue;
    op->after.push_back(each);
    each->before.push_back(op);
    ++op->missing;
  }
  const int device = task.on_device ? task.context->device : -1;
  op->actor = space.trace().begin({task.name, lane.index, ++lane.issued, lane.name}, std::move(before), device);
  op->task = std::move(task);
  issued_all_.raise(lane.index, lane.issued);
  op->number = ++issued_;
  pending_.emplace(op->number, op);
  if (op->missing == 0) runnable_.emplace(op->number, op);
  last_progress_ = std::chrono::steady_clock::now();
  if (pending_.size() > kLongQueue && depth_ == 0) {
    while (pending_.size() > kLongQueue / 2 && step()) {}
  }
  return op;
}

Actor Scheduler::host_operation(std::string name) {
  Actor actor = space.trace().begin({std::move(name), host_lane_.index, ++host_lane_.issued, host_lane_.name}, host_);
  host_.raise(host_lane_.index, host_lane_.issued);
  return actor;
}

// Work of a lost context, and work that was dropped, is passed over.
bool Scheduler::runs(const Op& op) { return !op.dropped && op.task.context->error == CUDA_SUCCESS; }

// The operation to run next: the first that is ready, or any.
OpRef Scheduler::choose() {
  std::vector<OpRef> ready;
  for (const auto& [number, op] : runnable_) {
    if (op->task.ready && runs(*op) && !op->task.ready()) continue;
    if (seed_ == 0) return op;
    ready.push_back(op);
  }
  if (ready.empty()) return nullptr;
  return ready[std::uniform_int_distribution<size_t>(0, ready.size() - 1)(random_)];
}

bool Scheduler::step() {
  if (depth_ > 0) return false;
  const OpRef op = choose();
  if (op == nullptr) return false;
  run(op);
  return true;
}

void Scheduler::run(const OpRef& op) {
  runnable_.erase(op->number);
  op->state = Op::State::running;
  if (op->task.run && runs(*op)) {
    if (op->task.calls_user) return run_outside(op);
    run_inside(*op);
  }
  complete(*op);
}

void Scheduler::run_inside(const Op& op) {
  ++depth_;
  try {
    op.task.run(op.actor);
  } catch (const Fault& fault) {
    --depth_;
    const std::string text = explain(fault.text);
    op.task.context->error = CUDA_SUCCESS;  // this fault came first, whatever the explanation met
    machine().lose(*op.task.context, static_cast<CUresult>(fault.code), text);
    return;
  } catch (const std::exception& error) {
    machine().lose(*op.task.context, CUDA_ERROR_LAUNCH_FAILED, fmt::format("`{}`: {}", op.task.name, error.what()));
  }
  --depth_;
}

// A read of memory that was never written may have come too early: if work that nothing orders after it writes the
// byte, the report names that work. What else is queued runs on for this; its faults count as its own.
std::string Scheduler::explain(std::string text) {
  if (explaining_ || text.find("uninitialised: ") == text.npos) return text;
  const uint64_t address = space.uninitialised_at();
  const auto written = [&] {
    const Region* region = space.find_live(address);
    return region != nullptr && region->shadow->first_uninitialised(address - region->address, 1) == Shadow::kNone;
  };
  explaining_ = true;
  while (const OpRef other = choose()) {
    if (other->task.calls_user) break;
    run(other);
    if (!written()) continue;
    text = fmt::format("not ordered: {}\n  {} writes it, and nothing orders that before", text,
                       space.trace().describe(other->actor.id));
    break;
  }
  explaining_ = false;
  return text;
}

// A function that does not wait for its own caller is over when this returns: the order stays that of the seed.
void Scheduler::run_outside(const OpRef& op) {
  host_functions_.push_back(op);
  if (!serving_) std::thread([this] { serve_host_functions(); }).detach();
  serving_ = true;
  changed_.notify_all();
  changed_.wait_for(lock_, kPatience, [&] { return op->done(); });
}

void Scheduler::serve_host_functions() {
  in_host_function = true;
  std::unique_lock lock(lock_);
  for (;;) {
    changed_.wait(lock, [&] { return !host_functions_.empty(); });
    const OpRef op = host_functions_.front();
    lock.unlock();
    op->task.run(op->actor);
    lock.lock();
    host_functions_.pop_front();
    complete(*op);
  }
}

void Scheduler::complete(Op& op) {
  op.state = Op::State::done;
  op.finished = last_progress_ = std::chrono::steady_clock::now();
  for (const OpRef& next : op.before) {
    if (--next->missing == 0) runnable_.emplace(next->number, next);
  }
  op.before.clear();
  op.after.clear();
  op.task.run = nullptr;
  op.task.ready = nullptr;
  op.task.waits_for = nullptr;
  op.task.context = nullptr;
  pending_.erase(op.number);
  changed_.notify_all();
}

void Scheduler::poll() {
  const int steps = seed_ == 0 ? 1 : std::uniform_int_distribution<int>(0, 2)(random_);
  for (int i = 0; i < steps; ++i) {
    if (step()) continue;
    if (can_block()) stalled("a query");
    return;
  }
}

bool Scheduler::can_block() const { return !pending_.empty() && host_functions_.empty(); }

void Scheduler::wait_until(const std::function<bool()>& done, const std::string& who) {
  PLAIT_CHECK(depth_ == 0, "{} waits within an operation", who);
  if (!done()) last_progress_ = std::chrono::steady_clock::now();
  for (int idle = 0; !done();) {
    if (step()) {
      idle = 0;
      continue;
    }
    PLAIT_CHECK(!pending_.empty(), "{} waits and nothing is queued", who);
    changed_.wait_for(lock_, idle++ < kShortPolls ? kShortPoll : kPoll);
    if (can_block()) stalled(who);
  }
}

// After the timeout without progress: says what waits for what, and gives it up.
void Scheduler::stalled(const std::string& who) {
  if (std::chrono::steady_clock::now() - last_progress_ < timeout_) return;
  std::string text = fmt::format("deadlock: {} waits, and nothing has run for {:.3g} s", who, timeout_.count());
  std::vector<OpRef> blocked;
  for (const auto& [number, op] : runnable_) {
    if (op->state == Op::State::waiting) blocked.push_back(op);
  }
  for (const OpRef& op : blocked) {
    text += fmt::format("\n  {} waits for {}", space.trace().describe(op->actor.id),
                        op->task.waits_for ? op->task.waits_for() : "something that its maker did not name");
  }
  for (const auto& [number, op] : pending_) {
    if (op->missing == 0 || text.size() > 4000) continue;
    const auto first =
        std::find_if(op->after.begin(), op->after.end(), [](const OpRef& each) { return !each->done(); });
    text += fmt::format("\n  {} comes after {}", space.trace().describe(op->actor.id),
                        space.trace().describe((*first)->actor.id));
  }
  for (const OpRef& op : blocked) machine().lose(*op->task.context, CUDA_ERROR_LAUNCH_TIMEOUT, text);
  last_progress_ = std::chrono::steady_clock::now();
}

void Scheduler::set_seed(uint64_t seed) {
  seed_ = seed;
  random_.seed(seed);
}

std::vector<OpRef> Scheduler::pending_of(const ContextObject* context) const {
  std::vector<OpRef> found;
  for (const auto& [number, op] : pending_) {
    if (op->task.context.get() == context) found.push_back(op);
  }
  return found;
}

}  // namespace plait::sim
