#include "support/allocation_counter.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {
std::atomic<int64_t> large = 0, calls = 0;
constexpr size_t kLarge = 4096;
void count(size_t bytes) {
  large.fetch_add(bytes > kLarge, std::memory_order_relaxed);
  calls.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

#if defined(PLAIT_SANITIZED) || !defined(__GLIBC__)
namespace plait::test {
bool counts_allocations() { return false; }
int64_t large_allocations() { return large; }
int64_t allocations() { return calls; }
}  // namespace plait::test
#else
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) noexcept {
  count(bytes);
  return __libc_malloc(bytes);
}
void* calloc(size_t elements, size_t bytes) noexcept {
  count(elements * bytes);
  return __libc_calloc(elements, bytes);
}
void* realloc(void* old, size_t bytes) noexcept {
  count(bytes);
  return __libc_realloc(old, bytes);
}
void* memalign(size_t alignment, size_t bytes) noexcept {
  count(bytes);
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  count(bytes);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** result, size_t alignment, size_t bytes) noexcept {
  count(bytes);
  *result = __libc_memalign(alignment, bytes);
  return *result == nullptr ? ENOMEM : 0;
}
}
namespace plait::test {
bool counts_allocations() { return true; }
int64_t large_allocations() { return large; }
int64_t allocations() { return calls; }
}  // namespace plait::test
#endif
