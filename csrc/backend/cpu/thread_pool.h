#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace plait {

struct OpenMp;

// Threads of an embedder's. Calls task(context) up to `count` times, at once where there are threads, and returns when
// all calls that began have returned; fewer calls, none, and calls within calls are right. From several threads.
using LentThreads = std::function<void(int64_t count, void (*task)(void* context), void* context)>;

// Runs ranges of iterations on persistent threads. Nothing is allocated per run. A run that is short stays on the
// caller's thread; one that comes while another run holds the pool does too.
class ThreadPool {
 public:
  // `threads` counts the caller. Workers start with the first run that needs them.
  explicit ThreadPool(int threads);
  // Has no threads of its own: runs that are worth sharing go to `lent`, also several at once.
  ThreadPool(int threads, LentThreads lent);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // If the process has loaded GNU OpenMP, shared runs from here on go to the OpenMP team of the calling thread. Its
  // workers stay awake for some milliseconds after other work of theirs (library contractions, PyTorch's ops), and
  // workers of the pool's own would have to contend with them for the cores. Own workers, of whom only those that came
  // are waited for, serve in a parallel region of OpenMP, in a forked process, and for a while after a run that took
  // much longer than foreseen, longer where that happens again: a team waits for each of its threads, also where other
  // processes have the cores. A forked process starts workers of its own.
  void join_openmp();

  // Calls run(context, begin, end) for pieces that cover 0 .. extent - 1, each once; returns when all are done. At most
  // `most` threads take part, the caller's included; 0: all. `run` must not throw. `pace`, the seconds of an iteration
  // that earlier runs like this one found, 0 before the first, and after one that was shared but short: a run that is
  // long by it is shared from the start, else its first piece tells, which nobody shares.
  using Run = void (*)(const void* context, int64_t begin, int64_t end);
  using Pace = std::atomic<double>;
  void run(int64_t extent, Run run, const void* context, int most = 0, Pace* pace = nullptr);

 private:
  struct Job {
    Run run = nullptr;
    const void* context = nullptr;
    int64_t extent = 0, piece = 1;
    int helpers = 0;    // workers that may join
    int64_t begin = 0;  // of what is left to be done
  };

  // The workers of one process, with the locks that they hold.
  struct Crew {
    ~Crew();
    void share(const Job& job, int threads);
    void start(int threads);
    void work();
    // Takes pieces of the job until none is left.
    void drain(const Job& job);

    uint64_t forks = 0;  // fork_count() of the process
    std::mutex in_use;   // held by the run that owns the pool; guards the next
    std::chrono::steady_clock::time_point openmp_again{};
    std::chrono::milliseconds pause{};  // of OpenMP, the last one; 0 after a run of it that did not stall
    std::mutex mutex;                   // guards what follows
    std::condition_variable wake, idle;
    Job job;
    uint64_t generation = 0;  // counts shared jobs
    bool open = false;        // workers may join the job
    bool stop = false;
    int active = 0;    // workers in the job
    int joined = 0;    // workers that came to it
    int64_t next = 0;  // first iteration not yet taken
    std::vector<std::thread> workers;
  };

  // That of this process. A forked one leaves its parent's as it is: its threads are not there, its locks may be held.
  Crew& crew();
  struct Timed;
  // `seconds`: how long one thread would take, but no longer than the run itself tells where it is `timed`.
  void share(Crew& crew, const Job& job, double seconds, const Timed* timed = nullptr);

  static void share_lent(const LentThreads& lent, const Job& job);

  const int threads_;
  const LentThreads lent_;  // empty: own threads
  std::atomic<const OpenMp*> openmp_{nullptr};
  std::atomic<Crew*> crew_;
};

}  // namespace plait
