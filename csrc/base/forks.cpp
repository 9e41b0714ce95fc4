#include "base/forks.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace plait {
namespace {

std::atomic<uint64_t> forks{0};
std::atomic<bool> openmp_at_fork{false}, openmp_lost{false};

void before_fork() { openmp_at_fork = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD) != nullptr; }

void in_child() {
  ++forks;
  if (openmp_at_fork) openmp_lost = true;
}

[[maybe_unused]] const int kRegistered = pthread_atfork(before_fork, nullptr, in_child);

}  // namespace

uint64_t fork_count() { return forks; }

bool lost_openmp() { return openmp_lost; }

void leave_behind(const void* what) {
  static std::mutex mutex;
  static auto& all = *new std::vector<const void*>;
  const std::lock_guard lock(mutex);
  all.push_back(what);
}

}  // namespace plait
