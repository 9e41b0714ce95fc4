// plait cache: what is kept on disk of what was compiled.
#include "api/kept_specializations.h"
#include "backend/disk_cache.h"
#include "compile/measured_schedules.h"
#include "plait_command.h"

namespace plait::tool {
namespace {

std::string mib(int64_t bytes) { return fmt::format("{:.1f} MiB", double(bytes) / (1 << 20)); }

std::string contents_text(const DiskCache::Contents& contents) {
  return fmt::format("{} {}, {}", contents.entries, contents.entries == 1 ? "entry" : "entries", mib(contents.bytes));
}

DiskCache::Contents done_to(DiskCache& cache, const Arguments& args) {
  if (args.prune_cache || args.clear_cache) return cache.prune(args.clear_cache ? 0 : cache.limit());
  return cache.contents(args.verify_cache);
}

}  // namespace

std::vector<std::string> cache_row() {
  DiskCache& cache = DiskCache::of_process();
  const std::string why_not = cache.why_not();
  if (!why_not.empty()) return {"kernels on disk", "none", why_not};
  const std::string no_more = cache.why_no_more();
  return {"kernels on disk", contents_text(cache.contents(false)),
          fmt::format("of at most {}; {}{}", mib(cache.limit()), cache.folder(),
                      no_more.empty() ? "" : fmt::format("; they serve, and no more are kept: {}", no_more))};
}

int cache_command(const Arguments& args) {
  DiskCache& cache = DiskCache::of_process();
  if (int(args.verify_cache) + int(args.prune_cache) + int(args.clear_cache) > 1)
    throw UserError("plait cache does one thing", "plait cache", "give one of --verify, --prune and --clear");
  if (const std::string why_not = cache.why_not(); !why_not.empty())
    throw UserError("nothing is kept on disk: " + why_not, "plait cache",
                    cache.limit() > 0 ? "set PLAIT_CACHE_DIR to a folder that only you write to"
                                      : "unset PLAIT_CACHE_MIB, or set it to a number from 1");
  DiskCache::Contents left = done_to(cache, args);
  fmt::print("{}: {} of at most {}\n", cache.folder(), contents_text(left), mib(cache.limit()));
  if (const std::string no_more = cache.why_no_more(); !no_more.empty())
    fmt::print("they serve, and no more are kept or removed: {}\n", no_more);
  DiskCache& whole = specializations_on_disk();
  if (whole.why_not().empty()) {
    const DiskCache::Contents of_whole = done_to(whole, args);
    left.damaged += of_whole.damaged;
    left.entries += of_whole.entries;
    fmt::print("whole specializations: {} of at most {}\n", contents_text(of_whole), mib(whole.limit()));
  }
  if (const int64_t count = count_schedules_on_disk(); count > 0)
    fmt::print("schedules of {} {}, which plait tune --forget removes\n", count,
               count == 1 ? "computation" : "computations");
  const std::string stays = cache.why_no_more();
  const bool damage_stays =
      left.damaged > 0 &&
      cache.contents(true).damaged + (whole.why_not().empty() ? whole.contents(true).damaged : 0) > 0;
  if (args.verify_cache) fmt::print("{} damaged{}\n", left.damaged, damage_stays ? "" : ", removed");
  if (!stays.empty() && (args.clear_cache ? left.entries > 0 : args.prune_cache && left.bytes > cache.limit()))
    throw UserError("what is kept on disk was not removed: " + stays, "plait cache",
                    "remove it where the folder can be written to");
  if (damage_stays)
    throw UserError("what is damaged was not removed: " + stays, "plait cache",
                    "remove it where the folder can be written to; it is never used");
  return 0;
}

}  // namespace plait::tool
