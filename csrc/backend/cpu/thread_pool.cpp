#include "backend/cpu/thread_pool.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <type_traits>

namespace plait {
namespace {

// A wake-up costs some microseconds: what is left must be worth it.
constexpr double kWorthSharingSeconds = 20e-6;
constexpr int64_t kPiecesPerThread = 8;
// A time slice of a thread that stands in the way of an OpenMP team is some milliseconds.
constexpr std::chrono::milliseconds kStalled{2}, kWithoutOpenMp{500};

// A run on an OpenMP team. All threads of the team take pieces, so its size does not matter.
struct OpenMpRun {
  ThreadPool::Run run;
  const void* context;
  int64_t extent, piece;
  std::atomic<int64_t> next;  // first iteration not yet taken

  static void take_pieces(void* self) {
    auto& [run, context, extent, piece, next] = *static_cast<OpenMpRun*>(self);
    for (int64_t begin = next.fetch_add(piece); begin < extent; begin = next.fetch_add(piece))
      run(context, begin, std::min(begin + piece, extent));
  }
};

}  // namespace

// What is used of the GNU OpenMP that the process has loaded.
struct OpenMp {
  void (*parallel)(void (*body)(void*), void* data, unsigned threads, unsigned flags);
  int (*in_parallel)();
  int (*max_threads)();
  inline static std::atomic<bool> forked{false};  // a forked process has none of the team's threads

  // Null: there is none. What was loaded stays.
  static const OpenMp* find() {
    void* library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return nullptr;
    static const OpenMp found = [&] {
      pthread_atfork(nullptr, nullptr, [] { forked = true; });
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
    : threads_(threads > 0 ? threads : std::max(1, int(std::thread::hardware_concurrency()))) {
  join_openmp();
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(int64_t extent, Run run, const void* context, int most) {
  if (extent <= 0) return;
  const int team = most > 0 ? std::min(most, threads_) : threads_;
  if (team == 1 || extent == 1) {
    run(context, 0, extent);
    return;
  }
  std::unique_lock owner(in_use_, std::try_to_lock);
  if (!owner.owns_lock()) {
    run(context, 0, extent);
    return;
  }
  const int64_t pieces = std::min(extent, team * kPiecesPerThread);
  Job job{run, context, extent, (extent + pieces - 1) / pieces, team - 1};
  // The first piece tells how long the rest takes.
  const auto start = std::chrono::steady_clock::now();
  run(context, 0, job.piece);
  if (job.piece == extent) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double rest = seconds * double(extent - job.piece) / double(job.piece);
  if (rest < kWorthSharingSeconds) {
    run(context, job.piece, extent);
    return;
  }
  share(job, rest);
}

void ThreadPool::join_openmp() {
#ifndef __SANITIZE_THREAD__  // which does not see how OpenMP's threads wait for each other
  if (openmp_ == nullptr) openmp_ = OpenMp::find();
#endif
}

void ThreadPool::share(const Job& job, double seconds) {
  const OpenMp* openmp = openmp_;
  const auto start = std::chrono::steady_clock::now();
  if (openmp == nullptr || OpenMp::forked || start < openmp_again_ || openmp->in_parallel() != 0)
    return share_with_workers(job);
  OpenMpRun all{job.run, job.context, job.extent, job.piece, job.piece};
  openmp->parallel(&OpenMpRun::take_pieces, &all, unsigned(std::min(job.helpers + 1, openmp->max_threads())), 0);
  const auto end = std::chrono::steady_clock::now();
  if (end - start > kStalled + std::chrono::duration<double>(seconds)) openmp_again_ = end + kWithoutOpenMp;
}

void ThreadPool::share_with_workers(const Job& job) {
  start_workers();
  {
    const std::lock_guard lock(mutex_);
    job_ = job;
    next_ = job.piece;
    open_ = true;
    joined_ = 0;
    ++generation_;
  }
  wake_.notify_all();
  drain(job);
  std::unique_lock lock(mutex_);
  open_ = false;
  idle_.wait(lock, [&] { return active_ == 0; });
}

void ThreadPool::drain(const Job& job) {
  for (;;) {
    int64_t begin;
    {
      const std::lock_guard lock(mutex_);
      if (next_ >= job.extent) return;
      begin = next_;
      next_ += job.piece;
    }
    job.run(job.context, begin, std::min(begin + job.piece, job.extent));
  }
}

void ThreadPool::start_workers() {
  while (int(workers_.size()) < threads_ - 1) workers_.emplace_back([this] { work(); });
}

void ThreadPool::work() {
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || (open_ && generation_ != seen); });
    if (stop_) return;
    seen = generation_;
    if (joined_ == job_.helpers) continue;
    ++joined_;
    const Job job = job_;
    ++active_;
    lock.unlock();
    drain(job);
    lock.lock();
    if (--active_ == 0) idle_.notify_all();
  }
}

}  // namespace plait
