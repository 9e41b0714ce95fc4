#pragma once
// The command `plait`: what its parts share. Text goes to standard output, errors to standard error.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/check_program.h"
#include "api/inspect.h"
#include "base/error.h"
#include "base/text.h"

namespace plait::tool {

// Exit codes: 0 ok, 1 the user's mistake, 2 ours, 3 something is missing on the machine, 4 the check is undecided.
inline constexpr int kUsersMistake = 1, kOurs = 2, kMissing = 3, kUndecided = 4;

// Of the commands that read their words themselves.
inline constexpr const char* kReduceUsage =
    "plait reduce FILE [--out FILE] [--exit N|timeout] [--match TEXT] [--max-runs N] [--timeout SECONDS] -- COMMAND";
inline constexpr const char* kLaunchUsage = "plait launch -n N [--timeout SECONDS] -- run FILE ... | PROGRAM ...";
inline constexpr const char* kCommDiffUsage = "plait comm-diff DIR";

// What the command line says.
struct Arguments {
  std::vector<std::string> words;  // as given, the program's name first
  std::string command, file;
  std::optional<std::string> text;  // of the file, where it can be read only once
  std::string device;               // empty: the best that this machine has
  std::optional<int64_t> ranks;
  std::vector<std::string> sets, inputs, outs, dumps, options, archs;
  bool check = false, exact = false, times = false, stats = false;
  uint64_t seed = 0;
  int64_t repeat = 1;
  std::string comm = "local", json, until;
  bool list_passes = false;
  std::string bisect;  // a number, `auto`, or empty
  std::vector<std::string> watch;
  std::shared_ptr<PassControl> passes;                                                    // made of these three
  std::string trace;                                                                      // run, view
  std::string page;                                                                       // view
  bool no_run = false;                                                                    // view
  bool shard = false, segments = false, schedule = false, cache = false, memory = false;  // explain
  std::string svg;                                                                        // explain
  std::string save;                                                                       // compile
  int64_t seconds = 60, rounds = 9;                                                       // tune
  bool no_keep = false, forget = false, candidates = false;                               // tune
  std::string pinned;                                                                     // tune
  std::string imported, weights;                                        // import; weights of run, view and tune too
  std::string format;                                                   // import
  std::vector<std::string> constants;                                   // import
  bool list_options = false;                                            // doctor
  bool verify_cache = false, prune_cache = false, clear_cache = false;  // cache
  std::vector<std::string> files;                                       // fmt
  bool check_layout = false, diff = false;                              // fmt
  std::string help_word;                                                // help
  bool manual = false;                                                  // help
  std::string shell;                                                    // completions
  std::function<void(CompileOptions&)> adjust;                          // of command()
};

// The command with the words of main(); returns its exit code. `adjust` gets the options of every compilation, for
// programs that are the command with something of their own.
int command(int argc, char** argv, const std::function<void(CompileOptions&)>& adjust = {});

// A file with everything that the command line says about it.
struct Loaded {
  std::unique_ptr<Fusion> fusion;
  std::unique_ptr<DumpSink> dumps;  // options.dumps
  CompileOptions options;
  std::unique_ptr<Compiled> compiled = nullptr;  // where the file is a compiled program

  Compiled program() const { return compiled ? *compiled : compile(*fusion, options); }
};

// Reads and parses args.file and settles `--set`, `--option`, `--dump`, `--comm`, `--device`. UserError for any word
// that does not fit, with a suggestion.
Loaded load(const Arguments& args);
// What args.file holds, where it is a compiled program.
std::optional<std::string> program_bytes(const Arguments& args);
// The program, with what the command line says. UserError for what is settled already.
Loaded load_program(const Arguments& args, const std::string& bytes);
// What `--check` found, for people; the exit code that says it, behind the report of a wrong result.
void print_checked(const ProgramCheck& checked);
int exit_code(const Arguments& args, const Loaded& loaded, const reference::CheckResult& checked);
// Runs it twice more; of the second run the steps are timed.
Tensors run_timed(const Fusion& fusion, Compiled& compiled, const Tensors& inputs);
// Writes what --trace asks for, of the run that was timed. Collective over the processes of a job.
void write_trace(const Arguments& args, const Compiled& compiled);
// The places of what `plait import` writes where nobody names them.
void settle_import(Arguments& args);
// Where `plait view` writes a page whose place nobody names.
std::string default_page(const Arguments& args);
// Prints the text of args.until that it holds.
int print_saved(const Arguments& args, const std::string& bytes);
// Sizes of `--set`. UserError for another name, or no size.
Sizes read_sizes(const Arguments& args, const Fusion& fusion);
inline constexpr size_t kMostText = size_t{1} << 30;
// Text of a file. UserError where it cannot be read or has more than `most` bytes.
std::string read_text(const std::string& path, size_t most = kMostText);
// Text of args.file.
std::string read_source(const Arguments& args);
// `name=value` cut at the first `=`. UserError naming the flag.
std::pair<std::string, std::string> name_and_value(const std::string& word, const std::string& flag);
// Every input: those given by `--input`, the others drawn.
Tensors make_inputs(const Arguments& args, const Loaded& loaded);
// Metadata of all inputs at their sizes by `--set` or `let`. UserError for a size without a value.
Metadata input_metadata(const Loaded& loaded);
// Of the kernels for a GPU that is not there.
Report report_for(const Loaded& loaded, const Target& target);

// "compile: 12.340 ms", and of how many kernels the code was on disk, where there were any.
std::string compile_text(const Report& report);

// Reads FILE where it is a stream, refuses outputs that would overwrite an input or each other, and where one of them
// is
// `-` turns all else that is printed to standard error.
void settle_files(Arguments& args);
// Whether the path is `-` or /dev/stdout.
bool is_standard_output(const std::string& path);
// From here on what is printed goes to standard error; returns a path that is written to standard output.
std::string divert_standard_output();
// UserError where writing `output` would take the place of `input`, or of the file that it leads to.
void refuse_overwriting(const std::string& output, const std::string& flag, const std::string& input,
                        const std::string& reads);
// The exit code, where all that was printed has gone out; else tells why not.
int finish_output(int code);
// Says that standard output cannot be written; the exit code.
int output_failed(const std::string& reason);

// A library of others that this process has loaded.
struct LoadedLibrary {
  std::string version, path;
};
// By the start of its file name: "libLLVM", "libdnnl", "libnvrtc.so".
std::optional<LoadedLibrary> loaded_library(std::string_view file);

// What the cache of kernels on disk holds, for `plait doctor`.
std::vector<std::string> cache_row();

// A word as a shell reads it back.
std::string shell_quote(const std::string& word);

// Says what went wrong, writes a reproducer file and prints the command that replays it. Returns the exit code 2.
int report_internal_error(const Arguments& args, const Error& error);
// From here on a crash leaves a reproducer too, and exit code 2.
void guard_crashes(const Arguments& args);

// What --passes, --bisect and --watch ask for; null where they ask for nothing. UserError for a bisect that is no
// number.
std::shared_ptr<PassControl> make_pass_control(const Arguments& args);
// Prints what the passes did, and where the bisection stopped. UserError where nothing watched was ever there and the
// command went `well`.
void report_passes(const Arguments& args, bool well);
// Runs the command again with one limit after another and names the first optional application with which it fails.
int bisect_command(const Arguments& args);

// The subcommands. They return the exit code.
int run_command(const Arguments& args);
int opt_command(const Arguments& args);
int compile_command(const Arguments& args);
int explain_command(const Arguments& args);
int view_command(const Arguments& args);
int tune_command(const Arguments& args);
int import_command(const Arguments& args);
int doctor_command(const Arguments& args);
int cache_command(const Arguments& args);
int fmt_command(const Arguments& args);
int help_command(const Arguments& args);
int completions_command(const Arguments& args);
int reduce_command(const std::vector<std::string>& words);  // all that follow

}  // namespace plait::tool
