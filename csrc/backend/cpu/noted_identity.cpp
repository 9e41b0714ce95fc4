#include "backend/cpu/noted_identity.h"

#include <fmt/format.h>

#include "backend/cpu/processor.h"
#include "backend/disk_cache.h"
#include "base/environment.h"
#include "base/library_search.h"
#include "base/plugin_loader.h"

namespace plait {
namespace {

std::string source_of(const std::string& plugin, const std::string& folder, const std::string& target) {
  std::string out = fmt::format("identity of LLVM, 2: {} on {}", target, processor());
  for (const LibraryFile& each : plugin_files(plugin, folder)) out += "\n" + file_stamp(each.file);
  for (const char* name : {"LD_LIBRARY_PATH", "LD_PRELOAD"})
    out += fmt::format("\n{}={}", name, environment(name).value_or(""));
  return out;
}

}  // namespace

// The value: the library's file, its stamp, the identity, a line each.
std::string noted_identity(DiskCache& disk, const std::string& plugin, const std::string& folder,
                           const std::string& target) {
  const std::string kept = disk.find(source_of(plugin, folder, target)).value_or("");
  const size_t first = kept.find('\n'), second = first == kept.npos ? kept.npos : kept.find('\n', first + 1);
  if (second == kept.npos) return "";
  const std::string stamp = file_stamp(kept.substr(0, first));
  return !stamp.empty() && stamp == kept.substr(first + 1, second - first - 1) ? kept.substr(second + 1) : "";
}

void note_identity(DiskCache& disk, const std::string& plugin, const std::string& folder, const std::string& target,
                   const void* library, const std::string& identity) {
  const std::string file = library_file_of(library), stamp = file_stamp(file);
  if (!stamp.empty()) disk.store(source_of(plugin, folder, target), file + "\n" + stamp + "\n" + identity);
}

}  // namespace plait
