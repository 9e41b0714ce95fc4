#include "comm/status.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace plait {
namespace {

constexpr uint64_t kMagic = 0x31737574617473ull;  // "status1"
using Word = std::atomic<int64_t>;
static_assert(Word::is_always_lock_free);

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw UserError(fmt::format("the status of ranks cannot be kept: {}", why), path,
                  "give a folder that can be written to");
}

}  // namespace

struct StatusBoard::Header {
  Word magic, ranks, first_failed;  // first_failed: rank + 1
};

// The step is written between two increments of `version`: odd while it changes.
struct StatusBoard::Place {
  static constexpr size_t kWords = kTextBytes / 8;
  alignas(64) Word state, process, exit, signal;
  Word version, step, since;
  Word text[kWords];  // words, so that reading while another process writes is no race
};

size_t StatusBoard::bytes_for(int64_t ranks) { return 64 + size_t(ranks) * sizeof(Place); }

StatusBoard::StatusBoard(void* memory, size_t bytes) : memory_(memory), bytes_(bytes) {}
StatusBoard::~StatusBoard() { munmap(memory_, bytes_); }

StatusBoard::Header& StatusBoard::header() const { return *static_cast<Header*>(memory_); }
StatusBoard::Place& StatusBoard::place(int64_t rank) const {
  PLAIT_CHECK(rank >= 0 && rank < ranks_, "rank {} of {}", rank, ranks_);
  return reinterpret_cast<Place*>(static_cast<char*>(memory_) + 64)[rank];
}

std::unique_ptr<StatusBoard> StatusBoard::create(const std::string& path, int64_t ranks) {
  const size_t bytes = bytes_for(ranks);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) refuse(path, std::strerror(errno));
  const bool sized = ftruncate(file, off_t(bytes)) == 0;
  void* memory = sized ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  const int error = errno;
  close(file);
  if (memory == MAP_FAILED) refuse(path, std::strerror(error));
  std::unique_ptr<StatusBoard> out(new StatusBoard(memory, bytes));
  out->ranks_ = ranks;
  out->header().ranks = ranks;
  out->header().magic = int64_t(kMagic);
  return out;
}

std::unique_ptr<StatusBoard> StatusBoard::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) refuse(path, std::strerror(errno));
  struct stat facts = {};
  const bool known = fstat(file, &facts) == 0 && facts.st_size >= 64;
  const size_t bytes = known ? size_t(facts.st_size) : 0;
  void* memory = known ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  close(file);
  if (memory == MAP_FAILED) refuse(path, "it is no status file");
  std::unique_ptr<StatusBoard> out(new StatusBoard(memory, bytes));
  out->ranks_ = out->header().ranks;
  if (out->header().magic != int64_t(kMagic) || bytes_for(out->ranks_) != bytes) refuse(path, "it is no status file");
  return out;
}

int64_t StatusBoard::now() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

void StatusBoard::start(int64_t rank, int64_t process) {
  Place& at = place(rank);
  at.process = process;
  set_step(rank, -1, "starting");
  at.state = int64_t(RankState::running);
}

void StatusBoard::set_step(int64_t rank, int64_t step, std::string_view text) {
  Place& at = place(rank);
  at.version.fetch_add(1, std::memory_order_acq_rel);
  at.step.store(step, std::memory_order_relaxed);
  at.since.store(now(), std::memory_order_relaxed);
  text = text.substr(0, kTextBytes);
  for (size_t i = 0; i * 8 < kTextBytes; ++i) {
    int64_t word = 0;
    if (i * 8 < text.size()) std::memcpy(&word, text.data() + i * 8, std::min<size_t>(8, text.size() - i * 8));
    at.text[i].store(word, std::memory_order_relaxed);
    if ((i + 1) * 8 > text.size()) break;
  }
  at.version.fetch_add(1, std::memory_order_release);
}

void StatusBoard::end(int64_t rank, RankEnd how, bool called_off) {
  Place& at = place(rank);
  at.exit = how.exit;
  at.signal = how.signal;
  at.state = int64_t(RankState::ended);
  if (!how.failed() || called_off) return;
  int64_t none = 0;
  header().first_failed.compare_exchange_strong(none, rank + 1);
}

int64_t StatusBoard::first_failed() const { return header().first_failed - 1; }

RankStatus StatusBoard::read(int64_t rank) const {
  const Place& at = place(rank);
  RankStatus out;
  out.state = RankState(at.state.load());
  out.process = at.process;
  out.end = {int(at.exit), int(at.signal)};
  // A process that died while writing leaves the version odd: then what is there must do.
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const int64_t before = at.version.load(std::memory_order_acquire);
    char text[kTextBytes + 1] = {};
    out.step = at.step.load(std::memory_order_relaxed);
    out.since = at.since.load(std::memory_order_relaxed);
    for (size_t i = 0; i * 8 < kTextBytes; ++i) {
      const int64_t word = at.text[i].load(std::memory_order_relaxed);
      std::memcpy(text + i * 8, &word, 8);
    }
    out.text = text;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && at.version.load(std::memory_order_relaxed) == before) break;
  }
  return out;
}

}  // namespace plait
