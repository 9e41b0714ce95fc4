#pragma once
// What a processor is and has.
#include <string>
#include <string_view>

namespace plait {

// The processor that this runs on, where others are levels of x86-64.
inline constexpr const char* kNative = "native";

// What it says that it is and has, and what the system lets programs use of it. Not which of its cores one is on.
std::string processor();

// Names of instruction sets beyond those that all have, which code made for it may use and the system lets it: " avx2
// fma".
std::string processor_features();
// The same of a level of x86-64, "x86-64-v2" to "x86-64-v4", and the f32 lanes of its vectors. Source: System V ABI,
// AMD64 supplement, table 3.1; less what compilers do not use unasked.
std::string level_features(std::string_view level);
int level_lanes(std::string_view level);
// Those of such a list that it lacks, in the same form, names that are not known among them; empty: none.
std::string features_missing(std::string_view features);

}  // namespace plait
