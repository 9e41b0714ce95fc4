#pragma once
// Whole specializations on disk, beside the kernels: a later process that compiles the same has them without a pass.
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "api/compiled_impl.h"

namespace plait {

class DiskCache;

// Those of one program. An entry answers for one build of plait and for all that its compilation followed from: the
// text of the fusion, mesh, options, device, processor and compiler, what is known of sizes, what it asked about them,
// and the measured schedules that it was told of. Nothing is kept of a program whose compilation somebody watches or
// changes (dumps, passes, hook, until), or on a device that does not tell its compiler; nor, by store(), of
// one that warned, or on a device that lacked a library, which may be there later. What cannot be kept or read back is
// compiled; an error is never thrown.
class KeptSpecializations {
 public:
  explicit KeptSpecializations(const Compiled::Impl& program) : program_(program) {}

  // That of a key (of facts, places and refused contractions) whose conditions hold for the program's last sizes; null:
  // there is none.
  std::shared_ptr<SpecializationEntry> find(const std::string& key);
  // The options, that they note what the next compilation is told.
  CompileOptions watching(const CompileOptions& options);
  // Keeps what that compilation made.
  void store(const SpecializationEntry& entry);

 private:
  const std::string& source();  // empty: nothing is kept
  std::string find_source() const;

  const Compiled::Impl& program_;
  std::string source_;
  bool looked_ = false, warned_ = false;
  std::mutex mutex_;                         // guards told_: segments are scheduled on threads
  std::map<std::string, std::string> told_;  // measured schedules, by key
};

// In a folder beside the kernels; PLAIT_CACHE_SPECIALIZATIONS_MIB (512) is its limit, and theirs.
DiskCache& specializations_on_disk();
// Another cache in its place, or null: that one again. For tests, while nothing compiles.
void set_specializations_on_disk(DiskCache* cache);

}  // namespace plait
