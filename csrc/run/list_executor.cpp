#include "run/list_executor.h"

#include "base/error.h"

namespace plait {

ListExecutor::ListExecutor(StepRunner& steps, bool graph) : steps_(steps), graph_wanted_(graph) {
  if (steps.runners().size() == 1) return;
  for (const auto& runner : steps.runners()) threads_.emplace_back([this, rank = runner.get()] { work(*rank); });
}

ListExecutor::~ListExecutor() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ListExecutor::run(uint64_t, bool guest) {
  steps_.resume();
  if (!threads_.empty()) return run_threads();
  for (const auto& runner : steps_.runners()) drive(*runner, guest);
}

void ListExecutor::drive(RankRunner& runner, bool guest) {
  if (graph_wanted_ && !guest && runner.queues() && !steps_.watched() && run_graph(runner)) return steps_.wait(runner);
  steps_.issue_all(runner);
  if (!guest) steps_.wait(runner);
}

void ListExecutor::run_threads() {
  std::unique_lock lock(mutex_);
  error_ = nullptr;
  running_ = threads_.size();
  ++generation_;
  start_.notify_all();
  end_.wait(lock, [&] { return running_ == 0; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ListExecutor::work(RankRunner& runner) {
  for (int64_t seen = 0;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return closing_ || generation_ != seen; });
      if (closing_) return;
      seen = generation_;
    }
    try {
      drive(runner, false);
    } catch (...) {
      fail(std::current_exception());
    }
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) end_.notify_all();
  }
}

// The first error is the run's; it ends what the others wait for, and theirs follow from that.
void ListExecutor::fail(const std::exception_ptr& error) {
  {
    const std::lock_guard lock(mutex_);
    if (error_) return;
    error_ = error;
  }
  steps_.stop();
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    steps_.comms().abort(e.where() + ": " + e.message());
  } catch (...) {
    steps_.comms().abort("a rank failed");
  }
}

// Runs the captured graph, capturing it first where the tensors stay where they are. False: nothing was done.
bool ListExecutor::run_graph(RankRunner& runner) {
  const bool first = addresses_.empty();
  bool stay = !first;
  size_t at = 0;
  auto compare = [&](ValueId id) {
    void* address = runner.memory().value(id);
    if (at == addresses_.size()) addresses_.push_back(nullptr);
    stay = stay && addresses_[at] == address;
    addresses_[at++] = address;
  };
  for (ValueId id : steps_.program().inputs) compare(id);
  for (ValueId id : steps_.program().outputs) compare(id);
  if (!graph_ || graph_addresses_ != addresses_) {
    if (!first && !stay) return false;
    if (!capture(runner)) return graph_wanted_ = false;
    graph_addresses_ = addresses_;
  }
  graph_->launch(runner.queues()->stream(ProgramStream::compute));
  return true;
}

bool ListExecutor::capture(RankRunner& runner) {
  Stream& stream = runner.queues()->stream(ProgramStream::compute);
  steps_.wait(runner);  // nothing may be unfinished
  if (!stream.begin_capture()) return false;
  std::exception_ptr error;
  steps_.comms().set_capturing(true);
  try {
    steps_.issue_all(runner);
  } catch (...) {
    error = std::current_exception();
  }
  runner.forget_collectives();
  steps_.comms().set_capturing(false);
  try {
    graph_ = stream.end_capture();
  } catch (...) {
    if (!error) throw;
  }
  if (error) std::rethrow_exception(error);
  return graph_ != nullptr;
}

}  // namespace plait
