#pragma once
// Code that compilers made, kept on disk for later processes.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

// Entries of a folder, a file each: `source` is all that the code follows from (text, options, versions of compilers,
// the machine), `code` is what they made of it. An entry answers for a source that is equal byte for byte, and holds a
// checksum of both. Whatever else lies there, or is damaged, is no entry: it is compiled again, and an error is never
// thrown. The folder must belong to the user, and only the user may write to it; so must every file. Entries get their
// names when they are whole. Which one of two processes that store the same wins does not matter. Past the limit those
// go that were not used for longest. Safe to use from several threads and processes at once.
class DiskCache {
 public:
  // A folder, by its absolute path, made where it is not there (parents too); empty: nothing is kept. `limit`: bytes of
  // all entries; 0: nothing is kept.
  // `outer`: a folder that it lies in, which must be as private; empty: no matter.
  DiskCache(std::string folder, int64_t limit, std::string outer = "");
  DiskCache(const DiskCache&) = delete;

  // The cache of this process: in PLAIT_CACHE_DIR, else $XDG_CACHE_HOME/plait, else $HOME/.cache/plait, of at most
  // PLAIT_CACHE_MIB MiB (2,048). Nothing is kept where the environment is somebody else's (a program with the rights of
  // another user).
  static DiskCache& of_process();
  // A cache of its own in a folder of that one, for the life of the process: of at most so many MiB, or those that
  // `variable` names (may be empty), and no more than that one has.
  static DiskCache& beside(std::string_view folder, const char* variable, int64_t mib);

  std::optional<std::string> find(std::string_view source) noexcept;
  void store(std::string_view source, std::string_view code) noexcept;

  struct Counts {
    int64_t hits = 0, misses = 0, stored = 0;
  };
  Counts counts() const { return {hits_, misses_, stored_}; }
  const std::string& folder() const { return folder_; }
  int64_t limit() const { return limit_; }
  // Why nothing is kept, or nothing more; empty where entries are.
  std::string why_not();
  // The same, and why nothing more would be where nobody tried yet: the disk is read-only or full. What lies there
  // serves.
  std::string why_no_more();

  struct Contents {
    int64_t entries = 0, bytes = 0;  // whole blocks
    int64_t damaged = 0;             // of those that were read
  };
  // What lies there; with `verify`, read whole, and what is damaged removed.
  Contents contents(bool verify);
  // Removes entries, those not used for longest first, until they have at most so many bytes. What is left.
  Contents prune(int64_t bytes);

 private:
  struct File {
    std::string name;
    int64_t bytes;
    int64_t used;  // ns since the epoch
  };

  bool usable() const { return !folder_.empty() && folder_[0] == '/' && limit_ > 0; }
  int open(std::string* why_not = nullptr) const;  // the folder, or -1 with the reason
  int make() const;                                // 0, or why a folder that is missing is not made
  std::vector<File> entries(int folder);
  Contents keep_newest(int folder, std::vector<File> all, int64_t bytes);
  std::optional<std::string> code_of(std::string_view source);
  void write(std::string_view source, std::string_view code);
  void stop(const std::string& reason);

  const std::string outer_, folder_;
  const int64_t limit_;
  std::mutex mutex_;  // guards stopped_
  std::string stopped_;
  std::atomic<bool> full_ = false;  // nothing is stored any more
  std::atomic<int64_t> hits_ = 0, misses_ = 0, stored_ = 0;
};

}  // namespace plait
