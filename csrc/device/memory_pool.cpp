#include "device/memory_pool.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/memory_error.h"
#include "base/sanitizers.h"

#if PLAIT_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(data, bytes) ((void)(data), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(data, bytes) ((void)(data), (void)(bytes))
#endif

namespace plait {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kHugePage = size_t(2) << 20, kPage = 4096;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older headers lack

// One for all pools, so that a fork can hold it: the child finds no pool in the middle of a change.
std::mutex& forked_mutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

std::mutex& pools_mutex() {
  [[maybe_unused]] static const int registered =
      pthread_atfork([] { forked_mutex().lock(); }, [] { forked_mutex().unlock(); }, [] { forked_mutex().unlock(); });
  return forked_mutex();
}

// What blocks of `bytes` take up: an eighth of a power of two as the step.
size_t size_class(size_t bytes) {
  bytes = std::max(bytes, kBufferAlignment);
  const size_t step = std::max(kBufferAlignment, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

[[noreturn]] void no_memory(size_t bytes) {
  throw MemoryError(fmt::format("no memory for {} bytes", bytes), "host memory", "use smaller sizes or more ranks");
}

// Pages aligned to a huge one, which the system may give as such; null where there are none.
void* map_pages(size_t bytes) {
  const size_t whole = bytes + kHugePage;
  void* mapping = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapping);
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(mapping) % kHugePage) % kHugePage;
  if (before > 0) munmap(begin, before);
  if (before < kHugePage) munmap(begin + before + bytes, kHugePage - before);
  madvise(begin + before, bytes, MADV_HUGEPAGE);
  return begin + before;
}

struct Pages {
  std::byte* data;
  size_t bytes;

  // Of huge pages, whole or the last part.
  static void touch(const void* context, int64_t begin, int64_t end) {
    const auto& pages = *static_cast<const Pages*>(context);
    const size_t first = size_t(begin) * kHugePage, last = std::min(pages.bytes, size_t(end) * kHugePage);
    if (madvise(pages.data + first, last - first, kPopulateWrite) == 0 || errno != EINVAL) return;
    for (size_t at = first; at < last; at += kPage) *static_cast<volatile std::byte*>(pages.data + at) = std::byte{0};
  }
};

}  // namespace

struct MemoryPool::Block {
  void* data;
  size_t bytes;  // its class
  Clock::time_point freed{};

  bool mapped() const { return bytes >= kHugePage; }
  Block(void* at, size_t size) : data(at), bytes(size) {}
  Block(const Block&) = delete;
  ~Block() {
    ASAN_UNPOISON_MEMORY_REGION(data, bytes);
    if (mapped())
      munmap(data, bytes);
    else
      ::operator delete(data, std::align_val_t{kBufferAlignment});
  }
};

// Freed blocks by class, the latest last. Functions without a lock of their own are called under the mutex.
struct MemoryPool::State {
  explicit State(MemoryPoolOptions given) : options(std::move(given)) {}
  ~State() {
    for (void* handle : handles) ::operator delete(handle);
  }

  const MemoryPoolOptions options;
  std::map<size_t, std::vector<std::unique_ptr<Block>>> free;
  size_t kept = 0;  // bytes of `free`
  Clock::time_point next_look{};
  MemoryCounts counts;
  std::vector<void*> handles;  // room for handles of memory, all of one size
  size_t handles_made = 0;
  using Blocks = std::vector<std::unique_ptr<Block>>;

  Clock::time_point now() const { return options.clock ? options.clock() : Clock::now(); }
  std::unique_ptr<Block> take(size_t bytes);
  std::unique_ptr<Block> make(size_t bytes) const;
  void give_back(Block* block) noexcept;
  void drop_first(Blocks& from, Blocks& dropped);
  void drop_old(Clock::time_point now, Blocks& dropped);
  void drop_above(size_t limit, Blocks& dropped);
};

// Moves the block that was freed first to those that the caller frees without the lock.
void MemoryPool::State::drop_first(Blocks& from, Blocks& dropped) {
  kept -= from.front()->bytes;
  counts.held_bytes -= int64_t(from.front()->bytes);
  dropped.push_back(std::move(from.front()));
  from.erase(from.begin());
}

void MemoryPool::State::drop_old(Clock::time_point now, Blocks& dropped) {
  if (now < next_look) return;
  next_look = now + options.kept_time / 4;
  for (auto& [bytes, blocks] : free)
    while (!blocks.empty() && now - blocks.front()->freed >= options.kept_time) drop_first(blocks, dropped);
}

void MemoryPool::State::drop_above(size_t limit, Blocks& dropped) {
  while (kept > limit) {
    Blocks* oldest = nullptr;
    for (auto& [bytes, blocks] : free)
      if (!blocks.empty() && (!oldest || blocks.front()->freed < oldest->front()->freed)) oldest = &blocks;
    drop_first(*oldest, dropped);
  }
}

// Null: there is none of that class.
std::unique_ptr<MemoryPool::Block> MemoryPool::State::take(size_t bytes) {
  Blocks dropped;
  const std::lock_guard lock(pools_mutex());
  std::unique_ptr<Block> out;
  if (const auto blocks = free.find(bytes); blocks != free.end() && !blocks->second.empty()) {
    out = std::move(blocks->second.back());
    blocks->second.pop_back();
    kept -= bytes;
    ++counts.hits;
    counts.in_use_bytes += int64_t(bytes);
  }
  drop_old(now(), dropped);
  return out;
}

std::unique_ptr<MemoryPool::Block> MemoryPool::State::make(size_t bytes) const {
  void* data =
      bytes >= kHugePage ? map_pages(bytes) : ::operator new(bytes, std::align_val_t{kBufferAlignment}, std::nothrow);
  if (data == nullptr) return nullptr;
  auto out = std::make_unique<Block>(data, bytes);
  if (!out->mapped()) return out;
  const Pages pages{static_cast<std::byte*>(data), bytes};
  const auto extent = int64_t((bytes + kHugePage - 1) / kHugePage);
  if (options.parallel)
    options.parallel(extent, &Pages::touch, &pages);
  else
    Pages::touch(&pages, 0, extent);
  return out;
}

void MemoryPool::State::give_back(Block* block) noexcept {
  std::unique_ptr<Block> back(block);
  Blocks dropped;
  const std::lock_guard lock(pools_mutex());
  counts.in_use_bytes -= int64_t(block->bytes);
  try {
    const Clock::time_point at = now();
    Blocks& blocks = free[block->bytes];
    blocks.reserve(blocks.size() + 1 + blocks.size() / 2);
    block->freed = at;
    ASAN_POISON_MEMORY_REGION(block->data, block->bytes);
    kept += block->bytes;
    blocks.push_back(std::move(back));
    drop_old(at, dropped);
    drop_above(options.kept_bytes, dropped);
  } catch (const std::bad_alloc&) {  // no room to note it: it goes
    if (back) counts.held_bytes -= int64_t(block->bytes);
  }
}

// Allocates the handles of memory, shared_ptr's own part included, from what earlier ones left. Keeps the pool's state.
template <class T>
struct MemoryPool::Handles {
  using value_type = T;
  std::shared_ptr<State> state;

  explicit Handles(std::shared_ptr<State> of) : state(std::move(of)) {}
  template <class U>
  Handles(const Handles<U>& other) : state(other.state) {}  // NOLINT: allocators convert

  T* allocate(size_t count) {
    PLAIT_CHECK(count == 1, "handles come one by one");
    const std::lock_guard lock(pools_mutex());
    if (state->handles.empty()) {
      if (++state->handles_made > state->handles.capacity()) state->handles.reserve(2 * state->handles_made);
      return static_cast<T*>(::operator new(sizeof(T)));
    }
    void* out = state->handles.back();
    state->handles.pop_back();
    return static_cast<T*>(out);
  }
  void deallocate(T* handle, size_t) noexcept {
    const std::lock_guard lock(pools_mutex());
    state->handles.push_back(handle);  // for which there is room
  }
  bool operator==(const Handles& other) const { return state == other.state; }
};

MemoryPool::MemoryPool(MemoryPoolOptions options) : state_(std::make_shared<State>(std::move(options))) {}
MemoryPool::~MemoryPool() = default;

std::shared_ptr<Memory> MemoryPool::allocate(size_t bytes) {
  if (bytes > SIZE_MAX / 4) no_memory(bytes);
  const size_t size = size_class(bytes);
  std::unique_ptr<Block> block = state_->take(size);
  if (!block) {
    block = state_->make(size);
    if (!block) {
      trim();
      block = state_->make(size);
    }
    if (!block) no_memory(bytes);
    const std::lock_guard lock(pools_mutex());
    ++state_->counts.misses;
    state_->counts.held_bytes += int64_t(size);
    state_->counts.in_use_bytes += int64_t(size);
  }
  ASAN_UNPOISON_MEMORY_REGION(block->data, bytes);
  Block* const raw = block.get();
  State* const state = state_.get();  // which the handle keeps
  std::shared_ptr<Memory> out =
      std::allocate_shared<Memory>(Handles<Memory>(state_), raw->data, bytes, [state, raw] { state->give_back(raw); });
  block.release();  // NOLINT: the handle gives it back
  return out;
}

MemoryCounts MemoryPool::counts() const {
  const std::lock_guard lock(pools_mutex());
  return state_->counts;
}

void MemoryPool::trim() {
  State::Blocks dropped;
  const std::lock_guard lock(pools_mutex());
  state_->drop_above(0, dropped);
}

}  // namespace plait
