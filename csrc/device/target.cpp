#include "device/target.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <thread>

#include "base/error.h"

namespace plait {

namespace {

// What the largest GPU of an architecture has, in order of the architecture. Source: NVIDIA's CUDA C++ programming
// guide (technical specifications per compute capability) and the architectures' white papers.
struct Gpu {
  int capability;
  int multiprocessors;
  int64_t shared_kib, l2_mib;
};
constexpr Gpu kGpus[] = {
    {80, 108, 163, 40},    // A100
    {86, 84, 99, 6},       // GA102
    {87, 16, 163, 4},      // Orin
    {89, 142, 99, 96},     // AD102
    {90, 132, 227, 50},    // H100, H200
    {100, 148, 227, 126},  // B200
    {103, 160, 227, 126},  // B300
    {120, 188, 99, 128},   // GB202
};
constexpr int64_t kRegisters = 65536;

// 90 of "sm_90a", with one letter at most; nothing for other names.
int capability_of(std::string_view architecture) {
  constexpr std::string_view kPrefix = "sm_";
  if (!architecture.starts_with(kPrefix)) return 0;
  const std::string_view number = architecture.substr(kPrefix.size());
  int out = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), out);
  const std::string_view suffix(end, static_cast<size_t>(number.data() + number.size() - end));
  const bool good =
      error == std::errc() && !number.starts_with('0') && (suffix.empty() || suffix == "a" || suffix == "f");
  return good ? out : 0;
}

int64_t cache_bytes(int name) { return std::max<int64_t>(sysconf(name), 0); }

std::string bytes_text(int64_t bytes) {
  if (bytes == 0) return "?";
  return bytes % (1 << 20) == 0 ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
}

}  // namespace

int Target::compute_capability() const { return capability_of(architecture); }

Target target_named(std::string_view architecture) {
  const int capability = capability_of(architecture);
  if (capability < kGpus[0].capability)
    throw UserError(fmt::format("`{}` is no architecture", architecture), "architecture",
                    "take e.g. sm_80, sm_90a or sm_100a");
  const Gpu& gpu = *std::prev(
      std::find_if(std::begin(kGpus), std::end(kGpus), [&](const Gpu& g) { return g.capability > capability; }));
  Target out;
  out.kind = TargetKind::cuda;
  out.architecture = architecture;
  out.vector_lanes = 4;
  out.multiprocessors = gpu.multiprocessors;
  out.shared_bytes = gpu.shared_kib << 10;
  out.l2_bytes = gpu.l2_mib << 20;
  out.registers = kRegisters;
  return out;
}

Target host_target() {
  __builtin_cpu_init();
  Target out;
  const bool avx512 = __builtin_cpu_supports("avx512f"), avx2 = __builtin_cpu_supports("avx2");
  out.architecture = avx512 ? "x86-64-v4" : avx2 ? "x86-64-v3" : "x86-64-v2";
  out.vector_lanes = avx512 ? 16 : avx2 ? 8 : 4;
  out.cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  out.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE);
  out.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE);
  out.l3_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE);
  return out;
}

std::string print(const Target& target) {
  switch (target.kind) {
    case TargetKind::cpu:
      return fmt::format("{}, {} lanes, {} cores, caches {}, {}, {}", target.architecture, target.vector_lanes,
                         target.cores, bytes_text(target.l1_bytes), bytes_text(target.l2_bytes),
                         bytes_text(target.l3_bytes));
    case TargetKind::cuda:
      return fmt::format("{}, {} multiprocessors, {} of shared memory, L2 {}", target.architecture,
                         target.multiprocessors, bytes_text(target.shared_bytes), bytes_text(target.l2_bytes));
    case TargetKind::reference:
      return "no code";
  }
  PLAIT_CHECK(false, "target kind {}", static_cast<int>(target.kind));
}

}  // namespace plait
