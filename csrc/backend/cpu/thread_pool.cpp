#include "backend/cpu/thread_pool.h"

#include <dlfcn.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>

#include "base/forks.h"
#include "base/sanitizers.h"

namespace plait {
namespace {

// A wake-up costs some microseconds: what is left must be worth it.
constexpr double kWorthSharingSeconds = 20e-6;
constexpr int64_t kPiecesPerThread = 8;
// A run that was so long before is shared at once.
constexpr double kSharedAtOnceSeconds = 100e-6;
// A time slice of a thread that stands in the way of an OpenMP team is some milliseconds.
constexpr std::chrono::milliseconds kStalled{2};
// How long own workers serve then: twice as long each time that OpenMP stalls again at once.
constexpr std::chrono::milliseconds kFirstPause{20}, kLongestPause{500};

// A run on threads of others. All calls take pieces, so that it does not matter how many come.
struct SharedRun {
  ThreadPool::Run run;
  const void* context;
  int64_t extent, piece;
  std::atomic<int64_t> next;  // first iteration not yet taken

  static void take_pieces(void* self) {
    auto& [run, context, extent, piece, next] = *static_cast<SharedRun*>(self);
    for (int64_t begin = next.fetch_add(piece); begin < extent; begin = next.fetch_add(piece))
      run(context, begin, std::min(begin + piece, extent));
  }
};

}  // namespace

// A run that tells how long an iteration takes at least: a piece that nothing stood in the way of.
struct ThreadPool::Timed {
  // Pieces may be so uneven.
  static constexpr double kUneven = 8;
  Run run;
  const void* context;
  mutable std::atomic<double> least = std::numeric_limits<double>::infinity();

  static void piece(const void* self, int64_t begin, int64_t end) {
    const auto& timed = *static_cast<const Timed*>(self);
    const auto start = std::chrono::steady_clock::now();
    timed.run(timed.context, begin, end);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double each = seconds / double(end - begin);
    double known = timed.least.load(std::memory_order_relaxed);
    while (each < known && !timed.least.compare_exchange_weak(known, each, std::memory_order_relaxed)) {}
  }
  double at_most() const { return kUneven * least.load(std::memory_order_relaxed); }
};

// What is used of the GNU OpenMP that the process has loaded.
struct OpenMp {
  void (*parallel)(void (*body)(void*), void* data, unsigned threads, unsigned flags);
  int (*in_parallel)();
  int (*max_threads)();

  // Null: there is none. What was loaded stays.
  static const OpenMp* find() {
    void* library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return nullptr;
    static const OpenMp found = [&] {
      auto get = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      };
      OpenMp out{};
      get(out.parallel, "GOMP_parallel");
      get(out.in_parallel, "omp_in_parallel");
      get(out.max_threads, "omp_get_max_threads");
      return out;
    }();
    return found.parallel && found.in_parallel && found.max_threads ? &found : nullptr;
  }
};

ThreadPool::ThreadPool(int threads)
    : threads_(threads > 0 ? threads : std::max(1, int(std::thread::hardware_concurrency()))), crew_(new Crew) {
  crew_.load()->forks = fork_count();
  join_openmp();
}

ThreadPool::ThreadPool(int threads, LentThreads lent)
    : threads_(std::max(1, threads)), lent_(std::move(lent)), crew_(new Crew) {
  crew_.load()->forks = fork_count();
}

ThreadPool::~ThreadPool() {
  Crew* const last = crew_;
  if (last->forks == fork_count())
    delete last;
  else
    leave_behind(last);
}

ThreadPool::Crew::~Crew() {
  {
    const std::lock_guard lock(mutex);
    stop = true;
  }
  wake.notify_all();
  for (std::thread& worker : workers) worker.join();
}

ThreadPool::Crew& ThreadPool::crew() {
  Crew* known = crew_;
  if (known->forks == fork_count()) return *known;
  auto fresh = std::make_unique<Crew>();
  fresh->forks = fork_count();
  Crew* expected = known;
  if (!crew_.compare_exchange_strong(expected, fresh.get())) return *expected;  // another thread's
  leave_behind(known);
  return *fresh.release();
}

void ThreadPool::run(int64_t extent, Run run, const void* context, int most, Pace* pace) {
  if (extent <= 0) return;
  const int team = most > 0 ? std::min(most, threads_) : threads_;
  if (team == 1 || extent == 1) {
    run(context, 0, extent);
    return;
  }
  Crew& mine = crew();
  std::unique_lock owner(mine.in_use, std::defer_lock);
  if (!lent_ && !owner.try_lock()) {
    run(context, 0, extent);
    return;
  }
  const int64_t pieces = std::min(extent, team * kPiecesPerThread);
  Job job{run, context, extent, (extent + pieces - 1) / pieces, team - 1};
  auto start = std::chrono::steady_clock::now();
  if (const double known = pace != nullptr ? pace->load(std::memory_order_relaxed) : 0;
      known * double(extent) >= kSharedAtOnceSeconds) {
    const Timed timed{run, context};
    job.run = &Timed::piece;
    job.context = &timed;
    lent_ ? share_lent(lent_, job) : share(mine, job, known * double(extent), &timed);
    // One that was shared in vain, by a pace that something else made slow, is measured anew by the next.
    const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const bool in_vain = taken < kSharedAtOnceSeconds;
    const double corrected = std::min({known, taken * team / double(extent), timed.at_most()});
    pace->store(in_vain ? 0 : corrected, std::memory_order_relaxed);
    return;
  }
  // Each piece tells how long the rest takes, if that is like it.
  for (; job.begin < extent; job.begin += job.piece) {
    run(context, job.begin, std::min(job.begin + job.piece, extent));
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start).count();
    const double rest = seconds * double(extent - job.begin - job.piece) / double(job.piece);
    start = now;
    if (pace != nullptr) pace->store(seconds / double(job.piece), std::memory_order_relaxed);
    if (rest < kWorthSharingSeconds) continue;
    job.begin += job.piece;
    if (lent_)
      share_lent(lent_, job);
    else
      share(mine, job, rest);
    return;
  }
}

// What no call of the lender's takes, this thread does.
void ThreadPool::share_lent(const LentThreads& lent, const Job& job) {
  SharedRun all{job.run, job.context, job.extent, job.piece, job.begin};
  const int64_t pieces = (job.extent - job.begin + job.piece - 1) / job.piece;
  const int64_t calls = std::min<int64_t>(job.helpers + 1, pieces);
  if (calls > 1) lent(calls, &SharedRun::take_pieces, &all);
  SharedRun::take_pieces(&all);
}

void ThreadPool::join_openmp() {
  if (lent_) return;
#if !PLAIT_TSAN  // which does not see how OpenMP's threads wait for each other
  if (openmp_ == nullptr) openmp_ = OpenMp::find();
#endif
}

void ThreadPool::share(Crew& crew, const Job& job, double seconds, const Timed* timed) {
  const OpenMp* openmp = openmp_;
  const auto start = std::chrono::steady_clock::now();
  if (openmp == nullptr || lost_openmp() || start < crew.openmp_again || openmp->in_parallel() != 0)
    return crew.share(job, threads_);
  SharedRun all{job.run, job.context, job.extent, job.piece, job.begin};
  openmp->parallel(&SharedRun::take_pieces, &all, unsigned(std::min(job.helpers + 1, openmp->max_threads())), 0);
  const auto end = std::chrono::steady_clock::now();
  if (timed != nullptr) seconds = std::min(seconds, timed->at_most() * double(job.extent));
  if (end - start <= kStalled + std::chrono::duration<double>(seconds)) {
    crew.pause = {};
    return;
  }
  crew.pause = std::clamp(2 * crew.pause, kFirstPause, kLongestPause);
  crew.openmp_again = end + crew.pause;
}

void ThreadPool::Crew::share(const Job& shared, int threads) {
  start(threads);
  {
    const std::lock_guard lock(mutex);
    job = shared;
    next = shared.begin;
    open = true;
    joined = 0;
    ++generation;
  }
  wake.notify_all();
  drain(shared);
  std::unique_lock lock(mutex);
  open = false;
  idle.wait(lock, [&] { return active == 0; });
}

void ThreadPool::Crew::drain(const Job& shared) {
  for (;;) {
    int64_t begin;
    {
      const std::lock_guard lock(mutex);
      if (next >= shared.extent) return;
      begin = next;
      next += shared.piece;
    }
    shared.run(shared.context, begin, std::min(begin + shared.piece, shared.extent));
  }
}

void ThreadPool::Crew::start(int threads) {
  while (int(workers.size()) < threads - 1) workers.emplace_back([this] { work(); });
}

void ThreadPool::Crew::work() {
  uint64_t seen = 0;
  std::unique_lock lock(mutex);
  for (;;) {
    wake.wait(lock, [&] { return stop || (open && generation != seen); });
    if (stop) return;
    seen = generation;
    if (joined == job.helpers) continue;
    ++joined;
    const Job mine = job;
    ++active;
    lock.unlock();
    drain(mine);
    lock.lock();
    if (--active == 0) idle.notify_all();
  }
}

}  // namespace plait
