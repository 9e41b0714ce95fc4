#pragma once
// Jobs of several processes: the subcommands launch and comm-diff, and what the launcher and its ranks agree on.
#include <cstdint>
#include <string>
#include <vector>

namespace plait::tool {

// The subcommands; `words` are all that follow. They return the exit code.
int launch_command(const std::vector<std::string>& words);
int comm_diff_command(const std::vector<std::string>& words);

inline constexpr const char* kLaunchFolder = "PLAIT_LAUNCH_FOLDER";  // the variable that names the job's folder
inline constexpr const char* kStatusFile = "status";
inline constexpr const char* kRankProgram = "rank-program";  // the subcommand by which a rank becomes another program
// Milliseconds between a rank's failure and the end of the others, in which they may still say what they saw.
inline constexpr int kLastWords = 900;
// Text that a rank printed: "rank_2.out", "rank_2.err".
std::string rank_file(int64_t rank, const char* which);

}  // namespace plait::tool
