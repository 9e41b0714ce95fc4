#include "backend/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/environment.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace plait {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[16] = "plait code 1\n";
constexpr std::string_view kEnding = ".code", kDraft = "draft.";
constexpr int64_t kDefaultMib = 2048;
constexpr int64_t kSecond = 1'000'000'000;  // ns
constexpr int64_t kFresh = 3600 * kSecond;  // an entry used within it is not marked again, a draft may be in work
constexpr uint64_t kStoresPerCount = 64;    // of which one looks at the size of all

// In front of source and code, little endian.
struct Header {
  char magic[16];
  uint64_t source_bytes, code_bytes;
  uint64_t checksum[2];  // of the lengths, source and code
};

Header header_of(std::string_view source, std::string_view code) {
  Header out{};
  std::memcpy(out.magic, kMagic, sizeof out.magic);
  out.source_bytes = source.size();
  out.code_bytes = code.size();
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, &out.source_bytes, 2 * sizeof(uint64_t));
  XXH3_128bits_update(&state, source.data(), source.size());
  XXH3_128bits_update(&state, code.data(), code.size());
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  out.checksum[0] = hash.low64;
  out.checksum[1] = hash.high64;
  return out;
}

// Source and code of an entry's bytes; nothing where they are not as they were written.
struct Parts {
  std::string_view source, code;
};
std::optional<Parts> parts_of(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const uint64_t rest = bytes.size() - sizeof header;
  if (header.source_bytes > rest || header.code_bytes != rest - header.source_bytes) return std::nullopt;
  const Parts out{bytes.substr(sizeof header, header.source_bytes), bytes.substr(sizeof header + header.source_bytes)};
  const Header expected = header_of(out.source, out.code);
  return std::memcmp(&expected, &header, sizeof header) == 0 ? std::optional(out) : std::nullopt;
}

std::string entry_name(XXH128_hash_t hash) {
  return fmt::format("{:016x}{:016x}{}", uint64_t(hash.high64), uint64_t(hash.low64), kEnding);
}

bool is_entry(std::string_view name) { return name.size() == 32 + kEnding.size() && name.ends_with(kEnding); }

int64_t nanoseconds(const timespec& time) { return int64_t(time.tv_sec) * kSecond + time.tv_nsec; }

int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return nanoseconds(time);
}

// A file that is closed with its scope.
struct Handle {
  int file;
  explicit Handle(int f) : file(f) {}
  ~Handle() {
    if (file >= 0) close(file);
  }
  Handle(const Handle&) = delete;
};

// Only this user writes to it.
bool is_private(const struct stat& facts) { return facts.st_uid == geteuid() && (facts.st_mode & 022) == 0; }

// All bytes of an entry, which is marked as used. Nothing: there is none, or none that may be trusted, or more than
// `most` bytes, which nothing stored.
std::optional<std::string> read_entry(int folder, const std::string& name, int64_t most) {
  const Handle handle(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat facts{};
  if (handle.file < 0 || fstat(handle.file, &facts) != 0 || !S_ISREG(facts.st_mode) || !is_private(facts) ||
      facts.st_size > most)
    return std::nullopt;
  std::string out(size_t(facts.st_size), '\0');
  for (size_t at = 0; at < out.size();) {
    const ssize_t got = read(handle.file, out.data() + at, out.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    at += size_t(got);
  }
  if (now() - nanoseconds(facts.st_mtim) > kFresh) (void)futimens(handle.file, nullptr);
  return out;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes.remove_prefix(size_t(done));
  }
  return true;
}

// A whole entry under a name of its own; 0, or the reason why there is none.
int write_draft(int folder, const std::string& draft, std::string_view source, std::string_view code) {
  const Handle handle(openat(folder, draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (handle.file < 0) return errno;
  const Header header = header_of(source, code);
  const bool written = write_all(handle.file, {reinterpret_cast<const char*>(&header), sizeof header}) &&
                       write_all(handle.file, source) && write_all(handle.file, code);
  return written ? 0 : errno;
}

std::string folder_by_environment() {
  if (getauxval(AT_SECURE) != 0) return "";
  if (const auto folder = environment("PLAIT_CACHE_DIR")) return *folder;
  if (const auto folder = environment("XDG_CACHE_HOME"); folder && fs::path(*folder).is_absolute())
    return *folder + "/plait";
  if (const auto home = environment("HOME")) return *home + "/.cache/plait";
  return "";
}

int64_t limit_by_environment() {
  int64_t mib = kDefaultMib;
  if (const auto text = environment("PLAIT_CACHE_MIB")) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), mib);
    constexpr int64_t kMost = int64_t(1) << 40;
    if (error != std::errc() || end != text->data() + text->size() || mib < 0 || mib > kMost) mib = kDefaultMib;
  }
  return mib << 20;
}

}  // namespace

DiskCache::DiskCache(std::string folder, int64_t limit) : folder_(std::move(folder)), limit_(limit) {}

DiskCache::~DiskCache() {
  if (file_ >= 0) close(file_);
}

DiskCache& DiskCache::of_process() {
  static DiskCache cache(folder_by_environment(), limit_by_environment());
  return cache;
}

// The file where only this user writes to the folder, else -1 with the reason kept.
int DiskCache::check_folder(int file) {
  struct stat facts{};
  if (file < 0) {
    why_not_ = fmt::format("{}: {}", folder_, std::strerror(errno));
  } else if (fstat(file, &facts) != 0 || facts.st_uid != geteuid()) {
    why_not_ = folder_ + " belongs to another user";
  } else if (!is_private(facts)) {
    why_not_ = folder_ + " can be written by others";
  } else {
    return file;
  }
  if (file >= 0) close(file);
  return -1;
}

int DiskCache::open_folder() {
  if (opened_.load(std::memory_order_acquire)) return file_;
  const std::lock_guard lock(mutex_);
  if (opened_) return file_;
  if (folder_.empty()) {
    why_not_ = "the environment names no folder";
  } else if (limit_ <= 0) {
    why_not_ = "PLAIT_CACHE_MIB is 0";
  } else if (!fs::path(folder_).is_absolute()) {
    why_not_ = folder_ + " is not an absolute path";
  } else {
    std::error_code error;  // what is wrong, opening says
    fs::create_directories(fs::path(folder_).parent_path(), error);
    (void)mkdir(folder_.c_str(), 0700);
    file_ = check_folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  opened_.store(true, std::memory_order_release);
  return file_;
}

std::string DiskCache::why_not() {
  (void)open_folder();
  const std::lock_guard lock(mutex_);
  return why_not_;
}

void DiskCache::stop(const std::string& reason) {
  full_ = true;
  const std::lock_guard lock(mutex_);
  why_not_ = reason;
}

std::optional<std::string> DiskCache::find(std::string_view source) {
  const int folder = open_folder();
  if (folder < 0) return std::nullopt;
  const std::optional<std::string> bytes =
      read_entry(folder, entry_name(XXH3_128bits(source.data(), source.size())), most());
  const std::optional<Parts> parts = bytes ? parts_of(*bytes) : std::nullopt;
  if (!parts || parts->source != source) {
    ++misses_;
    return std::nullopt;
  }
  ++hits_;
  return std::string(parts->code);
}

// Without fsync: after a loss of power an entry may lack bytes, which its checksum tells.
void DiskCache::store(std::string_view source, std::string_view code) {
  static std::atomic<uint64_t> count = 0;
  const int folder = open_folder();
  const int64_t bytes = int64_t(sizeof(Header) + source.size() + code.size());
  if (folder < 0 || full_ || bytes > most()) return;
  const XXH128_hash_t hash = XXH3_128bits(source.data(), source.size());
  const std::string draft = fmt::format("{}{}.{}.{:x}", kDraft, getpid(), count++, now());
  int reason = write_draft(folder, draft, source, code);
  if (reason == 0 && renameat(folder, draft.c_str(), folder, entry_name(hash).c_str()) != 0) reason = errno;
  if (reason != 0) {
    (void)unlinkat(folder, draft.c_str(), 0);
    return stop(fmt::format("{}: {}", folder_, std::strerror(reason)));
  }
  ++stored_;
  if (hash.low64 % kStoresPerCount == 0 && contents(false).bytes > limit_) (void)prune(limit_ / 4 * 3);
}

std::vector<DiskCache::File> DiskCache::files(int folder) {
  std::vector<File> out;
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listing = copy < 0 ? nullptr : fdopendir(copy);
  if (listing == nullptr) {
    if (copy >= 0) close(copy);
    return out;
  }
  while (const dirent* entry = readdir(listing)) {  // NOLINT(concurrency-mt-unsafe): the listing is this call's own
    const std::string name = entry->d_name;
    struct stat facts{};
    if (!is_entry(name) && !name.starts_with(kDraft)) continue;
    if (fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode)) continue;
    out.push_back({name, int64_t(facts.st_size), nanoseconds(facts.st_mtim)});
  }
  closedir(listing);
  return out;
}

DiskCache::Contents DiskCache::contents(bool verify) {
  Contents out;
  const int folder = open_folder();
  if (folder < 0) return out;
  for (const File& file : files(folder)) {
    if (!is_entry(file.name)) continue;
    if (verify) {
      const std::optional<std::string> bytes = read_entry(folder, file.name, most());
      if (!bytes || !parts_of(*bytes)) {
        ++out.damaged;
        (void)unlinkat(folder, file.name.c_str(), 0);
        continue;
      }
    }
    ++out.entries;
    out.bytes += file.bytes;
  }
  return out;
}

DiskCache::Contents DiskCache::prune(int64_t bytes) {
  Contents out;
  const int folder = open_folder();
  if (folder < 0) return out;
  std::vector<File> all = files(folder);
  std::sort(all.begin(), all.end(), [](const File& a, const File& b) { return a.used > b.used; });  // newest first
  const int64_t time = now();
  bool past = false;  // all that were used before go too
  for (const File& file : all) {
    if (!is_entry(file.name)) {
      if (time - file.used > kFresh) (void)unlinkat(folder, file.name.c_str(), 0);
      continue;
    }
    past = past || out.bytes + file.bytes > bytes;
    if (past) {
      (void)unlinkat(folder, file.name.c_str(), 0);
      continue;
    }
    ++out.entries;
    out.bytes += file.bytes;
  }
  return out;
}

}  // namespace plait
