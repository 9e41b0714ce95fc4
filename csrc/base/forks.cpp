#include "base/forks.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>

namespace plait {
namespace {

std::atomic<uint64_t> forks{0};
std::atomic<bool> openmp_at_fork{false}, openmp_lost{false};

void before_fork() { openmp_at_fork = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD) != nullptr; }

void in_child() {
  ++forks;
  if (openmp_at_fork) openmp_lost = true;
}

[[maybe_unused]] const int registered = pthread_atfork(before_fork, nullptr, in_child);

}  // namespace

uint64_t fork_count() { return forks; }

bool lost_openmp() { return openmp_lost; }

}  // namespace plait
