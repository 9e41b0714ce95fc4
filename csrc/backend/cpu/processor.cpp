#include "backend/cpu/processor.h"

#include <cpuid.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace plait {
namespace {

struct Feature {
  const char* name;
  bool there;
};

// All that LLVM may use unasked, by the names of compilers. What came later is switched off where LLVM compiles
// (backend/cpu/llvm_plugin/plugin.cpp).
std::vector<Feature> features() {
  __builtin_cpu_init();
#define PLAIT_HAS(name) Feature{name, __builtin_cpu_supports(name) != 0}
  return {PLAIT_HAS("sse3"),
          PLAIT_HAS("ssse3"),
          PLAIT_HAS("sse4.1"),
          PLAIT_HAS("sse4.2"),
          PLAIT_HAS("popcnt"),
          PLAIT_HAS("avx"),
          PLAIT_HAS("avx2"),
          PLAIT_HAS("fma"),
          PLAIT_HAS("f16c"),
          PLAIT_HAS("bmi"),
          PLAIT_HAS("bmi2"),
          PLAIT_HAS("lzcnt"),
          PLAIT_HAS("movbe"),
          PLAIT_HAS("adx"),
          PLAIT_HAS("aes"),
          PLAIT_HAS("pclmul"),
          PLAIT_HAS("gfni"),
          PLAIT_HAS("vaes"),
          PLAIT_HAS("vpclmulqdq"),
          PLAIT_HAS("avxvnni"),
          PLAIT_HAS("avx512f"),
          PLAIT_HAS("avx512cd"),
          PLAIT_HAS("avx512bw"),
          PLAIT_HAS("avx512dq"),
          PLAIT_HAS("avx512vl"),
          PLAIT_HAS("avx512ifma"),
          PLAIT_HAS("avx512vbmi"),
          PLAIT_HAS("avx512vbmi2"),
          PLAIT_HAS("avx512vnni"),
          PLAIT_HAS("avx512bitalg"),
          PLAIT_HAS("avx512vpopcntdq"),
          PLAIT_HAS("avx512bf16"),
          PLAIT_HAS("avx512fp16"),
          PLAIT_HAS("avx512vp2intersect"),
          PLAIT_HAS("xop"),
          PLAIT_HAS("fma4"),
          PLAIT_HAS("tbm")};
#undef PLAIT_HAS
}

// Of levels of x86-64: what each adds.
struct Level {
  std::string_view name, adds;
  int lanes;
};
constexpr Level kLevels[] = {{"x86-64-v2", " sse3 ssse3 sse4.1 sse4.2 popcnt", 4},
                             {"x86-64-v3", " avx avx2 fma f16c bmi bmi2 lzcnt movbe", 8},
                             {"x86-64-v4", " avx512f avx512cd avx512bw avx512dq avx512vl", 16}};

}  // namespace

std::string level_features(std::string_view level) {
  std::string out;
  for (const Level& each : kLevels) {
    out += each.adds;
    if (each.name == level) return out;
  }
  PLAIT_CHECK(false, "no level {}", level);
}

int level_lanes(std::string_view level) {
  for (const Level& each : kLevels)
    if (each.name == level) return each.lanes;
  PLAIT_CHECK(false, "no level {}", level);
}

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

std::string processor_features() {
  std::string out;
  for (const Feature& each : features())
    if (each.there) out += fmt::format(" {}", each.name);
  return out;
}

std::string features_missing(std::string_view asked) {
  std::string out;
  const std::string here = processor_features() + " ";
  while (!asked.empty()) {
    asked.remove_prefix(std::min(asked.find_first_not_of(' '), asked.size()));
    const std::string_view name = asked.substr(0, asked.find(' '));
    asked.remove_prefix(name.size());
    if (!name.empty() && here.find(fmt::format(" {} ", name)) == here.npos) out += fmt::format(" {}", name);
  }
  return out;
}

}  // namespace plait
