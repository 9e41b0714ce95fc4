// An internal error: what it leaves behind for whoever mends it.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/environment.h"
#include "base/error.h"
#include "base/file_writer.h"
#include "comm/process_place.h"
#include "plait_command.h"
#include "plait_launch.h"
#include "plait_process.h"
#include "session/communication.h"

namespace plait::tool {

namespace {

// FNV-1a: names the file by its text.
uint32_t hash_text(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (unsigned char c : text) hash = (hash ^ c) * 16777619u;
  return hash;
}

void add_comment(std::string& out, std::string_view title, std::string_view text) {
  out += fmt::format("# {}: ", title);
  for (char c : text) out += c == '\n' ? std::string("\n#   ") : std::string(1, c);
  out += '\n';
}

// What starts the processes of this one's job again, up to the words of one of them; empty for a process alone.
std::string starter(const Arguments& args) {
  const auto place = process_place();
  if (!place || !job_processes(args.comm)) return "";
  const std::string n = std::to_string(place->size);
  if (environment(kLaunchFolder)) return fmt::format("{} launch -n {} --", shell_quote(args.words[0]), n);
  if (place->launcher == "torchrun") return fmt::format("torchrun --nproc-per-node {} --no-python", n);
  if (place->launcher == "Slurm") return fmt::format("srun -n {}", n);
  return fmt::format("mpirun --oversubscribe -n {}", n);
}

std::string replay_command(const Arguments& args, const std::string& file) {
  std::string out = starter(args);
  bool replaced = false;
  for (size_t i = !out.empty() && environment(kLaunchFolder) ? 1 : 0; i < args.words.size(); ++i) {
    const bool here = i > 1 && !replaced && args.words[i] == args.file;
    replaced = replaced || here;
    out += (out.empty() ? "" : " ") + shell_quote(here ? file : args.words[i]);
  }
  return out;
}

// A file with the text, the options, and the command that repeats what went wrong.
struct Reproducer {
  std::string file, replay, content;
};

constexpr std::string_view kLeft = "# Left by an internal error of plait ";

// The text without what an earlier error wrote above it, so that a replay leaves the same file.
std::string_view own_text(std::string_view text) {
  if (text.substr(0, kLeft.size()) != kLeft) return text;
  constexpr std::string_view kLast = "\n# replay: ";
  const size_t at = text.find(kLast);
  if (at == text.npos) return text;
  const size_t end = text.find('\n', at + 1);
  return end == text.npos ? std::string_view() : text.substr(end + 1);
}

// Nothing where the text cannot be read, or the caller wants no file.
std::optional<Reproducer> make_reproducer(const Arguments& args, const std::string& message, const std::string& where) {
  if (args.file.empty() || args.words.empty() || environment(kNoReproducer)) return std::nullopt;
  std::string text;
  try {
    const std::string all = read_source(args);
    text = own_text(all);
  } catch (const Error&) {
    return std::nullopt;
  }
  std::string comment = std::string(kLeft) + version() + ".\n";
  add_comment(comment, "message", message);
  if (!where.empty()) add_comment(comment, "at", where);
  if (!args.device.empty()) add_comment(comment, "device", args.device);
  if (args.ranks) add_comment(comment, "ranks", std::to_string(*args.ranks));
  add_comment(comment, "comm", args.comm);
  add_comment(comment, "seed", std::to_string(args.seed));
  for (const auto& set : args.sets) add_comment(comment, "set", set);
  for (const auto& option : args.options) add_comment(comment, "option", option);
  Reproducer out;
  out.file = fmt::format("plait_repro_{:08x}.plait", hash_text(comment + text));
  out.replay = replay_command(args, out.file);
  add_comment(comment, "replay", out.replay);
  out.content = comment + text;
  return out;
}

// Processes of a job may write the same one: it appears as a whole.
bool write_reproducer(const Reproducer& reproducer) {
  try {
    write_whole_file(reproducer.file, reproducer.content, "the reproducer");
    return true;
  } catch (const UserError&) {
    return false;
  }
}

// Compiles once more, every stage dumped, as far as it goes.
bool leave_dumps(const Arguments& args, const std::string& folder) {
  try {
    Arguments again = args;
    again.passes = make_pass_control(args);
    if (again.passes) again.passes->watch.clear();
    if (const auto processes = job_processes(again.comm)) {  // the others are not asked again
      again.ranks = processes;
      again.comm = "local";
    }
    again.dumps.clear();
    for (auto stage : stage_names()) again.dumps.push_back(fmt::format("{}@{}", stage, folder));
    Loaded loaded = load(again);
    Metadata metadata;
    for (const auto& [name, tensor] : make_inputs(again, loaded)) metadata[name] = {tensor.dtype, tensor.shape};
    compile(*loaded.fusion, loaded.options).prepare(metadata);
  } catch (...) {  // most often the very same error
  }
  std::error_code error;
  return std::filesystem::exists(folder, error);
}

}  // namespace

std::string shell_quote(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=/.,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

int report_internal_error(const Arguments& args, const Error& error) {
  std::fflush(stdout);
  fmt::print(stderr, "internal error: {}\n", error.what());
  const auto reproducer = make_reproducer(args, error.message(), error.where());
  if (!reproducer) return 2;  // nothing to replay
  if (!write_reproducer(*reproducer)) {
    fmt::print(stderr, "  the reproducer {} cannot be written\n  replay: {}\n", reproducer->file,
               replay_command(args, args.file));
    return 2;
  }
  fmt::print(stderr, "  reproducer: {}\n  replay: {}\n", reproducer->file, reproducer->replay);
  std::fflush(stderr);
  const std::string folder = std::filesystem::path(reproducer->file).stem().string() + ".dumps";
  if (leave_dumps(args, folder)) fmt::print(stderr, "  dumps: {}\n", folder);
  return 2;
}

namespace {

// Made ahead: a signal handler may not allocate.
struct CrashNote {
  Reproducer reproducer;
  std::string draft;  // the file's name until it is whole
  std::string words;  // for standard error
  bool job = false;
};

CrashNote& crash_note() {
  static CrashNote note;
  return note;
}

bool write_all(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

void on_crash(int number) {
  const CrashNote& note = crash_note();
  if (const int file = open(note.draft.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666); file >= 0) {
    const bool whole = write_all(file, note.reproducer.content) && fsync(file) == 0;
    close(file);
    if (!whole || rename(note.draft.c_str(), note.reproducer.file.c_str()) != 0) unlink(note.draft.c_str());
  }
  const char* name = sigdescr_np(number);
  for (const char* text : {"internal error: ", name ? name : "a signal", "\n"})
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  write_all(STDERR_FILENO, note.words);
  if (!note.job) _exit(2);
  signal(number, SIG_DFL);  // the launcher tells how a rank ended
  raise(number);
}

}  // namespace

void guard_crashes(const Arguments& args) {
  auto reproducer = make_reproducer(args, "a crash", "");
  if (!reproducer) return;
  CrashNote& note = crash_note();
  note.reproducer = std::move(*reproducer);
  note.draft = fmt::format(".{}.{}.draft", note.reproducer.file, getpid());
  note.words = fmt::format("  reproducer: {}\n  replay: {}\n", note.reproducer.file, note.reproducer.replay);
  note.job = job_processes(args.comm).has_value();
  static char stack[1 << 16];  // the thread's own may be what ran out
  stack_t other = {};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  sigaltstack(&other, nullptr);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction before = {}, action = {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_DFL) continue;  // a sanitizer's
    action.sa_handler = on_crash;
    action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
    sigaction(number, &action, nullptr);
  }
}

}  // namespace plait::tool
