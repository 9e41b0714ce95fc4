#include "backend/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <numeric>
#include <utility>

#include "base/environment.h"
#include "base/log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace plait {
namespace {

constexpr char kMagic[16] = "plait code 1\n";
constexpr std::string_view kEnding = ".code", kDraft = "draft.";
constexpr int64_t kDefaultMib = 2048;
constexpr int64_t kSecond = 1'000'000'000;  // ns
constexpr int64_t kFresh = 3600 * kSecond;  // an entry used within it is not marked again, a draft may be in work
constexpr int64_t kBlock = 4096;            // what a file takes at least
constexpr int64_t kLargest = 8;             // an entry has at most this part of the limit
constexpr int64_t kScans = 64;              // the size of all is looked at when so small a part of it was stored

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

// Of a file of so many bytes; nothing where it is none of an entry.
std::optional<Header> header_of_file(std::string_view bytes, int64_t size) {
  Header out;
  if (bytes.size() < sizeof out) return std::nullopt;
  std::memcpy(&out, bytes.data(), sizeof out);
  const auto rest = uint64_t(size) - sizeof out;
  const bool fits = std::memcmp(out.magic, kMagic, sizeof kMagic) == 0 && out.source_bytes <= rest &&
                    out.code_bytes == rest - out.source_bytes;
  return fits ? std::optional(out) : std::nullopt;
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
  bool ended() { return close(std::exchange(file, -1)) == 0 || errno == EINTR; }
};

// Only this user writes to it.
bool is_private(const struct stat& facts) { return facts.st_uid == geteuid() && (facts.st_mode & 022) == 0; }

// The folder, opened, or -1 with the reason why it is not used (may be null). It is opened for each use: descriptors
// that a process keeps can be closed behind its back, and folders removed.
int open_folder(const std::string& path, std::string* why_not) {
  const int file = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat facts{};
  std::string reason;
  if (file < 0) {
    const int cause = errno;
    const bool link = lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode);
    reason = link ? path + " is a symbolic link" : path + ": " + std::strerror(cause);
  } else if (fstat(file, &facts) != 0 || facts.st_uid != geteuid()) {
    reason = path + " belongs to another user";
  } else if (!is_private(facts)) {
    reason = path + " can be written by others";
  } else {
    return file;
  }
  if (file >= 0) close(file);
  if (why_not != nullptr) *why_not = reason;
  return -1;
}

// Makes a folder that is not there, and its parents; 0, or why the first that is missing is not made.
int make_folder(const std::string& path) {
  int reason = 0;
  const auto make = [&](const std::string& folder) {
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST && reason == 0) reason = errno;
  };
  for (size_t at = path.find('/', 1); at != path.npos; at = path.find('/', at + 1)) make(path.substr(0, at));
  make(path);
  return reason;
}

enum class Reading : uint8_t { whole, damaged, impossible };

bool read_all(int file, char* to, size_t bytes, size_t from) {
  for (size_t at = 0; at < bytes;) {
    const ssize_t got = pread(file, to + at, bytes - at, off_t(from + at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += size_t(got);
  }
  return true;
}

// Reads an entry: its code, where its source is the one given (null: any). Memory is taken for what its header and its
// size agree on alone. Entries that serve are marked as used.
Reading read_entry(int folder, const std::string& name, const std::string_view* source, std::string& code) {
  const Handle handle(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat facts{};
  if (handle.file < 0 || fstat(handle.file, &facts) != 0 || !S_ISREG(facts.st_mode) || !is_private(facts))
    return Reading::impossible;
  std::string first(std::min(size_t(facts.st_size), sizeof(Header)), '\0');
  if (!read_all(handle.file, first.data(), first.size(), 0)) return Reading::impossible;
  const std::optional<Header> header = header_of_file(first, facts.st_size);
  if (!header) return Reading::damaged;
  if (source != nullptr && header->source_bytes != source->size()) return Reading::impossible;
  std::string kept(header->source_bytes, '\0');
  if (!read_all(handle.file, kept.data(), kept.size(), sizeof(Header))) return Reading::impossible;
  if (source != nullptr && kept != *source) return Reading::impossible;
  code.resize(header->code_bytes);
  if (!read_all(handle.file, code.data(), code.size(), sizeof(Header) + kept.size())) return Reading::impossible;
  const Header expected = header_of(kept, code);
  if (std::memcmp(&expected, &*header, sizeof expected) != 0) return Reading::damaged;
  if (source != nullptr && now() - nanoseconds(facts.st_mtim) > kFresh) (void)futimens(handle.file, nullptr);
  return Reading::whole;
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
  Handle handle(openat(folder, draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (handle.file < 0) return errno;
  const Header header = header_of(source, code);
  const bool written = write_all(handle.file, {reinterpret_cast<const char*>(&header), sizeof header}) &&
                       write_all(handle.file, source) && write_all(handle.file, code) && handle.ended();
  return written ? 0 : errno;
}

// Past the size that a process may give a file, a signal would end it.
bool may_write(int64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || uint64_t(bytes) <= limit.rlim_cur;
}

// Reasons that go on: no room, no rights. Others (too many open files, a folder that was just removed) pass.
bool lasts(int reason) {
  const int reasons[] = {ENOSPC, EDQUOT, EROFS, EACCES, EPERM, EFBIG, EISDIR};
  return std::find(std::begin(reasons), std::end(reasons), reason) != std::end(reasons);
}

std::string without_end_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string folder_by_environment() {
  if (getauxval(AT_SECURE) != 0) return "";
  if (const auto folder = environment("PLAIT_CACHE_DIR")) return *folder;
  if (const auto folder = environment("XDG_CACHE_HOME"); folder && folder->front() == '/') return *folder + "/plait";
  if (const auto home = environment("HOME")) return *home + "/.cache/plait";
  return "";
}

// Bytes: as many MiB as the variable names, else `mib`.
int64_t limit_by_environment(const char* variable, int64_t mib) {
  if (const auto text = environment(variable)) {
    int64_t said = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), said);
    constexpr int64_t kMost = int64_t(1) << 40;
    const bool whole = error == std::errc() && end == text->data() + text->size();
    if (whole && said >= 0 && said <= kMost)
      mib = said;
    else
      log(LogComponent::cache, LogLevel::warn, "{} is `{}`, no whole number of MiB: {} is taken", variable, *text, mib);
  }
  return mib << 20;
}

}  // namespace

DiskCache::DiskCache(std::string folder, int64_t limit, std::string outer)
    : outer_(without_end_slashes(std::move(outer))), folder_(without_end_slashes(std::move(folder))), limit_(limit) {}

DiskCache& DiskCache::of_process() {
  // Never destroyed: threads may compile until the process is gone.
  static auto& cache = *new DiskCache(folder_by_environment(), limit_by_environment("PLAIT_CACHE_MIB", kDefaultMib));
  return cache;
}

DiskCache& DiskCache::beside(std::string_view folder, const char* variable, int64_t mib) {
  const DiskCache& whole = of_process();
  const std::string path = whole.folder().empty() ? "" : fmt::format("{}/{}", whole.folder(), folder);
  return *new DiskCache(path, std::min(whole.limit(), limit_by_environment(variable, mib)), whole.folder());
}

int DiskCache::open(std::string* why_not) const {
  if (!usable()) return -1;
  if (!outer_.empty() && Handle(open_folder(outer_, why_not)).file < 0) return -1;
  return open_folder(folder_, why_not);
}

int DiskCache::make() const {
  if (outer_.empty()) return make_folder(folder_);
  const int made = make_folder(outer_);
  return Handle(open_folder(outer_, nullptr)).file < 0 ? made : make_folder(folder_);
}

std::string DiskCache::why_not() {
  if (folder_.empty()) return "the environment names no folder";
  if (limit_ <= 0) return "PLAIT_CACHE_MIB is 0";
  if (folder_[0] != '/') return folder_ + " is not an absolute path";
  const int made = make();
  std::string out;
  const Handle folder(open(&out));
  if (folder.file < 0 && made == EROFS) out = fmt::format("{} cannot be made: {}", folder_, std::strerror(made));
  const std::lock_guard lock(mutex_);
  return out.empty() ? stopped_ : out;
}

std::string DiskCache::why_no_more() {
  if (std::string out = why_not(); !out.empty()) return out;
  const Handle folder(open());
  struct statvfs facts{};
  const auto because = [&](int reason) { return fmt::format("{}: {}", folder_, std::strerror(reason)); };
  if (faccessat(folder.file, ".", W_OK, AT_EACCESS) != 0) return because(errno);
  const bool full = fstatvfs(folder.file, &facts) == 0 && facts.f_blocks > 0 && facts.f_bavail == 0;
  return full ? because(ENOSPC) : "";
}

void DiskCache::stop(const std::string& reason) {
  full_ = true;
  log(LogComponent::cache, LogLevel::info, "no more kernels are kept on disk: {}", reason);
  const std::lock_guard lock(mutex_);
  stopped_ = reason;
}

std::optional<std::string> DiskCache::code_of(std::string_view source) {
  const Handle folder(open());
  std::string code;
  if (folder.file < 0) return std::nullopt;
  const std::string name = entry_name(XXH3_128bits(source.data(), source.size()));
  const Reading reading = read_entry(folder.file, name, &source, code);
  if (reading == Reading::damaged)
    log(LogComponent::cache, LogLevel::info, "{}/{} is damaged, and compiled again", folder_, name);
  return reading == Reading::whole ? std::optional(std::move(code)) : std::nullopt;
}

std::optional<std::string> DiskCache::find(std::string_view source) noexcept {
  try {
    std::optional<std::string> out = code_of(source);
    ++(out ? hits_ : misses_);
    log(LogComponent::cache, LogLevel::debug, "{} has {}", folder_, out ? "an entry for it" : "no entry for it yet");
    return out;
  } catch (const std::exception&) {  // no memory: none either
    ++misses_;
    return std::nullopt;
  }
}

// Without fsync: after a loss of power an entry may lack bytes, which its checksum tells.
void DiskCache::write(std::string_view source, std::string_view code) {
  static std::atomic<uint64_t> count = 0;
  const int64_t bytes = int64_t(sizeof(Header) + source.size() + code.size());
  if (!usable() || full_ || bytes > limit_ / kLargest || !may_write(bytes)) return;
  int file = open();
  if (file < 0 && errno == ENOENT) {
    make();
    file = open();
  }
  const Handle folder(file);
  if (file < 0) return;
  const int64_t time = now();
  const std::string draft = fmt::format("{}{}.{}.{:x}", kDraft, getpid(), count++, time);
  const XXH128_hash_t hash = XXH3_128bits(source.data(), source.size());
  int reason = write_draft(file, draft, source, code);
  if (reason == 0 && renameat(file, draft.c_str(), file, entry_name(hash).c_str()) != 0) reason = errno;
  if (reason != 0) {
    (void)unlinkat(file, draft.c_str(), 0);
    if (lasts(reason)) stop(fmt::format("{}: {}", folder_, std::strerror(reason)));
    return;
  }
  ++stored_;
  // By chance, so that of many short processes some look, and of many that do the same not all at once.
  const int64_t seed[] = {time, getpid()};
  const auto drawn = int64_t(XXH3_64bits(seed, sizeof seed) >> 1) % std::max<int64_t>(1, limit_ / kScans);
  if (drawn >= std::max(bytes, kBlock)) return;
  std::vector<File> all = entries(file);
  const int64_t total = std::accumulate(all.begin(), all.end(), int64_t(0),
                                        [](int64_t sum, const File& each) { return sum + each.bytes; });
  if (total > limit_) (void)keep_newest(file, std::move(all), limit_ / 4 * 3);
}

void DiskCache::store(std::string_view source, std::string_view code) noexcept {
  try {
    write(source, code);
  } catch (const std::exception& error) {
    full_ = true;
  }
}

// What could be an entry. Removes what cannot, and drafts that were left behind.
std::vector<DiskCache::File> DiskCache::entries(int folder) {
  std::vector<File> out;
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listing = copy < 0 ? nullptr : fdopendir(copy);
  if (listing == nullptr) {
    if (copy >= 0) close(copy);
    return out;
  }
  const int64_t time = now();
  while (const dirent* entry = readdir(listing)) {  // NOLINT(concurrency-mt-unsafe): the listing is this call's own
    const std::string name = entry->d_name;
    const bool draft = name.starts_with(kDraft);
    struct stat facts{};
    if (!draft && !is_entry(name)) continue;
    if (fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode)) continue;
    const int64_t used = nanoseconds(facts.st_mtim);
    if (draft ? time - used > kFresh : facts.st_size < off_t(sizeof(Header))) {
      (void)unlinkat(folder, name.c_str(), 0);
    } else if (!draft) {
      out.push_back({name, (int64_t(facts.st_size) + kBlock - 1) / kBlock * kBlock, used});
    }
  }
  closedir(listing);
  return out;
}

DiskCache::Contents DiskCache::contents(bool verify) {
  Contents out;
  const Handle folder(open());
  if (folder.file < 0) return out;
  for (const File& file : entries(folder.file)) {
    std::string code;
    if (verify && read_entry(folder.file, file.name, nullptr, code) == Reading::damaged) {
      ++out.damaged;
      (void)unlinkat(folder.file, file.name.c_str(), 0);
      continue;
    }
    ++out.entries;
    out.bytes += file.bytes;
  }
  return out;
}

DiskCache::Contents DiskCache::prune(int64_t bytes) {
  const Handle folder(open());
  return folder.file < 0 ? Contents{} : keep_newest(folder.file, entries(folder.file), bytes);
}

DiskCache::Contents DiskCache::keep_newest(int folder, std::vector<File> all, int64_t bytes) {
  Contents out;
  std::sort(all.begin(), all.end(), [](const File& a, const File& b) { return a.used > b.used; });  // newest first
  bool past = false;  // all that were used before go too
  for (const File& file : all) {
    past = past || out.bytes + file.bytes > bytes;
    if (past && (unlinkat(folder, file.name.c_str(), 0) == 0 || errno == ENOENT)) continue;
    ++out.entries;
    out.bytes += file.bytes;
  }
  log(LogComponent::cache, LogLevel::info, "{}: {} of {} kernels kept, {} B", folder_, out.entries, all.size(),
      out.bytes);
  return out;
}

}  // namespace plait
