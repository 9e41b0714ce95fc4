#include "backend/cpu/noted_identity.h"

#include <cpuid.h>
#include <fmt/format.h>

#include "backend/disk_cache.h"
#include "base/environment.h"
#include "base/library_search.h"
#include "base/plugin_loader.h"

namespace plait {
namespace {

// What a processor says that it is and has, and what the system lets programs use of it. Not which of its cores one is
// on.
std::string processor() {
  struct Leaf {
    unsigned leaf, subleaf;
    bool b;  // whether EBX tells features
  };
  constexpr Leaf kLeaves[] = {{0, 0, true},         {1, 0, false},   {7, 0, true},          {7, 1, true},
                              {7, 2, true},         {0xd, 1, false}, {0x14, 0, true},       {0x19, 0, true},
                              {0x1e, 1, true},      {0x24, 0, true}, {0x80000001, 0, true}, {0x80000007, 0, true},
                              {0x80000008, 0, true}};
  std::string out;
  for (const Leaf& each : kLeaves) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    (void)__get_cpuid_count(each.leaf, each.subleaf, &a, &b, &c, &d);
    out += fmt::format("{:x}.{:x}.{:x}.{:x} ", a, each.b ? b : 0, c, d);
  }
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kSystemSaves = 1u << 27;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSystemSaves) == 0) return out;
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return out + fmt::format("{:x}.{:x}", low, high);
}

std::string source_of(const std::string& plugin, const std::string& folder) {
  std::string out = "identity of LLVM, 1: " + processor();
  for (const LibraryFile& each : plugin_files(plugin, folder)) out += "\n" + file_stamp(each.file);
  for (const char* name : {"LD_LIBRARY_PATH", "LD_PRELOAD"})
    out += fmt::format("\n{}={}", name, environment(name).value_or(""));
  return out;
}

}  // namespace

// The value: the library's file, its stamp, the identity, a line each.
std::string noted_identity(DiskCache& disk, const std::string& plugin, const std::string& folder) {
  const std::string kept = disk.find(source_of(plugin, folder)).value_or("");
  const size_t first = kept.find('\n'), second = first == kept.npos ? kept.npos : kept.find('\n', first + 1);
  if (second == kept.npos) return "";
  const std::string stamp = file_stamp(kept.substr(0, first));
  return !stamp.empty() && stamp == kept.substr(first + 1, second - first - 1) ? kept.substr(second + 1) : "";
}

void note_identity(DiskCache& disk, const std::string& plugin, const std::string& folder, const void* library,
                   const std::string& identity) {
  const std::string file = library_file_of(library), stamp = file_stamp(file);
  if (!stamp.empty()) disk.store(source_of(plugin, folder), file + "\n" + stamp + "\n" + identity);
}

}  // namespace plait
