#include "sim/cuda/scheduler.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "sim/cuda/machine.h"

namespace plait::sim {
namespace {

constexpr size_t kLongQueue = 4096;  // operations; beyond it calls run what they find
constexpr auto kPoll = std::chrono::milliseconds(1);

}  // namespace

thread_local bool in_host_function = false;

Clock Op::clock() const {
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

// The operation to run next: the first that is ready, or any.
OpRef Scheduler::choose() {
  std::vector<OpRef> ready;
  for (const auto& [number, op] : runnable_) {
    if (op->task.ready && op->task.context->error == CUDA_SUCCESS && !op->task.ready()) continue;
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
  const Task& task = op->task;
  if (task.run && task.context->error == CUDA_SUCCESS) {
    if (task.calls_user) {
      run_outside(*op);
    } else {
      run_inside(*op);
    }
  }
  complete(*op);
}

void Scheduler::run_inside(const Op& op) {
  ++depth_;
  try {
    op.task.run(op.actor);
  } catch (const Fault& fault) {
    machine().lose(*op.task.context, static_cast<CUresult>(fault.code), fault.text);
  } catch (const std::exception& error) {
    machine().lose(*op.task.context, CUDA_ERROR_LAUNCH_FAILED, fmt::format("`{}`: {}", op.task.name, error.what()));
  }
  --depth_;
}

void Scheduler::run_outside(const Op& op) {
  ++outside_;
  lock_.unlock();
  in_host_function = true;
  op.task.run(op.actor);
  in_host_function = false;
  lock_.lock();
  --outside_;
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

bool Scheduler::can_block() const { return !pending_.empty() && outside_ == 0; }

void Scheduler::wait_until(const std::function<bool()>& done, const std::string& who) {
  PLAIT_CHECK(depth_ == 0, "{} waits within an operation", who);
  if (!done()) last_progress_ = std::chrono::steady_clock::now();
  while (!done()) {
    if (step()) continue;
    PLAIT_CHECK(!pending_.empty(), "{} waits and nothing is queued", who);
    changed_.wait_for(lock_, kPoll);
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
