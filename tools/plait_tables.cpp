#include "plait_tables.h"

#include <fmt/format.h>

#include <array>

namespace plait::tool {

namespace {

constexpr std::array kExitCodes = std::to_array<ExitCode>({
    {0, "ok", "done; with --check, the results are right", "-"},
    {1, "a mistake in what was given", "a mistake in what was given; the message says what, where, and what to do",
     "the user"},
    {2, "an internal error, a wrong result, or a rank gone", "an internal error, a wrong result, or a rank that failed",
     "plait"},
    {3, "something missing here", "the machine lacks a part", "the user, or nobody"},
    {4, "the check is undecided",
     "--check is undecided: nothing is wrong, but too much hangs on discontinuities, or nothing could be compared",
     "the user: other inputs"},
});

constexpr std::array kVariables = std::to_array<EnvironmentVariable>({
    {"PLAIT_CACHE_DIR", "folder of the kernels that are kept on disk"},
    {"XDG_CACHE_HOME", "without it: they are in plait/ there"},
    {"HOME", "without either: they are in .cache/plait there"},
    {"PLAIT_CACHE_MIB", "most MiB of them; 2048 where it is not set, 0: none are kept"},
    {"PLAIT_CACHE_SPECIALIZATIONS_MIB", "most MiB of whole specializations beside them; 512, 0: none are kept"},
    {"PLAIT_CUDA_HOME", "CUDA kit whose NVRTC, cuBLASLt and NCCL come first"},
    {"CUDA_HOME", "the same, after it"},
    {"VIRTUAL_ENV", "Python environment whose wheels of CUDA's libraries serve"},
    {"LD_LIBRARY_PATH", "absolute folders where libraries are looked for, towards the end"},
    {"PLAIT_DUMP", "in Python: what `dumps` is where nobody says it, as --dump"},
    {"PLAIT_LOG", "what is told of compiling, caches, runs: info, or compile=debug,cache=info; else warnings alone"},
    {"TORCH_LOGS", "under PyTorch: +plait, plait or -plait, as for its own modules"},
    {"NVTX_INJECTION64_PATH", "a profiler's library, which option nvtx marks launches for"},
    {"PLAIT_NO_REPRODUCER", "set: an internal error writes no reproducer file"},
    {"PLAIT_FAULT", "RANK:STEP:kill|hang|throw makes a rank of a job fail there"},
    {"OMP_NUM_THREADS", "threads of a process of `plait launch`; else it gets its share of the cores"},
    {"PATH", "where `plait launch` finds mpirun and programs"},
    {"TERM", "dumb, or not set: no line of progress on a terminal"},
    {"TMPDIR", "folder of temporary files instead of /tmp"},
    {"NCCL_MULTI_RANK_GPU_ENABLE", "1: ranks may share a simulated GPU, as NCCL's own variable says of real ones"},
});

}  // namespace

std::span<const ExitCode> exit_codes() { return kExitCodes; }

std::span<const EnvironmentVariable> environment_variables() { return kVariables; }

std::string exit_code_line() {
  std::string out;
  for (const ExitCode& one : kExitCodes)
    out += fmt::format("{}{} {}", out.empty() ? "Exit codes: " : ", ", one.code, one.brief);
  return out + ".";
}

std::string wrapped(std::string_view text, size_t indent, size_t columns) {
  std::string out, line;
  const auto end_line = [&] {
    out += line.empty() ? "\n" : std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (!line.empty() && indent + line.size() + 1 + word.size() > columns) end_line();
    if (!word.empty()) line += (line.empty() ? "" : " ") + std::string(word);
    if (end < text.size() && text[end] == '\n') end_line();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!line.empty()) end_line();
  return out;
}

}  // namespace plait::tool
