#include "run/list_executor.h"

#include <chrono>

#include "base/error.h"
#include "base/forks.h"

namespace plait {

namespace {

constexpr std::chrono::milliseconds kAskEvery{5};

}  // namespace

ListExecutor::ListExecutor(StepRunner& steps, bool graph) : steps_(steps), graph_wanted_(graph) {
  if (steps.runners().size() > 1) start_threads();
}

void ListExecutor::start_threads() {
  crew_ = std::make_unique<Crew>();
  crew_->forks = fork_count();
  for (const auto& runner : steps_.runners())
    crew_->threads.emplace_back([this, crew = crew_.get(), rank = runner.get()] { work(*crew, *rank); });
}

ListExecutor::~ListExecutor() {
  if (crew_ && crew_->forks != fork_count()) leave_behind(crew_.release());  // no threads are here to be joined
}

ListExecutor::Crew::~Crew() {
  {
    const std::lock_guard lock(mutex);
    closing = true;
  }
  start.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void ListExecutor::run(uint64_t, bool guest) {
  steps_.resume();
  if (crew_)
    run_threads();
  else
    for (const auto& runner : steps_.runners()) drive(*runner, guest, true);
  steps_.check_cancelled();
}

void ListExecutor::drive(RankRunner& runner, bool guest, bool asks) {
  if (graph_wanted_ && !guest && runner.queues() && !steps_.watched() && run_graph(runner)) return steps_.wait(runner);
  steps_.issue_all(runner, asks);
  if (!guest) steps_.wait(runner);
}

void ListExecutor::run_threads() {
  if (crew_->forks != fork_count()) {
    if (crew_->running != 0)
      throw UserError("this process was forked during a run of the program", "program @" + steps_.program().name,
                      "compile it again here, or fork between runs");
    leave_behind(crew_.release());  // neither its threads nor their locks are any good here
    start_threads();
  }
  Crew& crew = *crew_;
  steps_.stop_point().ask();  // once before a step begins, as on one thread
  std::unique_lock lock(crew.mutex);
  crew.error = nullptr;
  crew.running = crew.threads.size();
  ++crew.generation;
  crew.start.notify_all();
  const auto ended = [&] { return crew.running == 0; };
  if (!steps_.stop_point().watched()) crew.end.wait(lock, ended);
  while (!crew.end.wait_for(lock, kAskEvery, ended)) {
    lock.unlock();  // which ranks that end take
    steps_.stop_point().ask();
    lock.lock();
  }
  if (crew.error) std::rethrow_exception(std::exchange(crew.error, nullptr));
}

void ListExecutor::work(Crew& crew, RankRunner& runner) {
  for (int64_t seen = 0;;) {
    {
      std::unique_lock lock(crew.mutex);
      crew.start.wait(lock, [&] { return crew.closing || crew.generation != seen; });
      if (crew.closing) return;
      seen = crew.generation;
    }
    try {
      drive(runner, false, false);
    } catch (...) {
      fail(crew, std::current_exception());
    }
    const std::lock_guard lock(crew.mutex);
    if (--crew.running == 0) crew.end.notify_all();
  }
}

// The first error is the run's; it ends what the others wait for, and theirs follow from that.
void ListExecutor::fail(Crew& crew, const std::exception_ptr& error) {
  {
    const std::lock_guard lock(crew.mutex);
    if (crew.error) return;
    crew.error = error;
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
    steps_.issue_all(runner, false);
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
