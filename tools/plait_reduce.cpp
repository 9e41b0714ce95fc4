// plait reduce: shrinks a graph while a command fails on it.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/file_writer.h"
#include "base/suggest.h"
#include "plait_command.h"
#include "plait_process.h"
#include "program/program.h"
#include "reduce/reduce_graph.h"
#include "sym/text_reader.h"

namespace plait::tool {

namespace {

namespace fs = std::filesystem;

constexpr const char* kHolder = "{}";
constexpr const char* kFromStream = "stdin.plait";  // a file's name where a stream has none

struct ReduceWords {
  std::string file, out, match;
  std::vector<std::string> command;
  std::optional<int> exit;  // absent: what the first run gives
  bool hangs = false;       // running past the time is the failure
  int64_t max_runs = 2000;
  double seconds = 60;
};

int64_t whole_number(const std::string& text, const std::string& flag, int64_t least, int64_t most) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    throw UserError(fmt::format("`{}` is no number for {}", text, flag), flag,
                    fmt::format("give a number from {} to {}", least, most));
  return value;
}

double positive_seconds(const std::string& text) {
  const auto value = parse_constant(DType::f64, text);
  const double seconds = value ? value->to_double() : 0;
  if (!(seconds >= 0.001 && seconds <= 86400))
    throw UserError(fmt::format("`{}` is no number for --timeout", text), "--timeout",
                    "give seconds, from 0.001 to 86400");
  return seconds;
}

void set_flag(ReduceWords& out, const std::string& flag, const std::string& value) {
  if (flag == "--out") out.out = value;
  if (flag == "--match") out.match = value;
  if (flag == "--max-runs") out.max_runs = whole_number(value, flag, 1, int64_t{1} << 40);
  if (flag == "--timeout") out.seconds = positive_seconds(value);
  if (flag != "--exit") return;
  out.hangs = value == "timeout";
  if (!out.hangs) out.exit = static_cast<int>(whole_number(value, flag, 1, 255));
}

ReduceWords parse_reduce(const std::vector<std::string>& words) {
  const std::vector<std::string> flags = {"--out", "--exit", "--match", "--max-runs", "--timeout"};
  ReduceWords out;
  size_t i = 0;
  for (; i < words.size() && words[i] != "--"; ++i) {
    const size_t equals = words[i].find('=');
    const std::string flag = words[i].substr(0, equals);
    if (flag.rfind('-', 0) != 0 || flag == "-") {
      if (!out.file.empty()) throw UserError(fmt::format("unexpected `{}`", words[i]), "plait reduce", kReduceUsage);
      out.file = words[i];
      continue;
    }
    if (std::find(flags.begin(), flags.end(), flag) == flags.end())
      throw UserError(fmt::format("there is no flag `{}`", flag), "plait reduce", suggestion(flag, flags));
    if (equals == std::string::npos && i + 1 == words.size())
      throw UserError(fmt::format("{} needs a value", flag), "plait reduce", kReduceUsage);
    set_flag(out, flag, equals == std::string::npos ? words[++i] : words[i].substr(equals + 1));
  }
  if (i < words.size()) out.command.assign(words.begin() + static_cast<long>(i) + 1, words.end());
  if (out.file.empty()) throw UserError("plait reduce needs a file", "plait reduce", kReduceUsage);
  if (out.command.empty()) throw UserError("which command fails?", "plait reduce", kReduceUsage);
  if (out.out.empty()) {
    const fs::path path(is_stream(out.file) ? kFromStream : out.file);
    out.out = (path.parent_path() / (path.stem().string() + ".reduced" + path.extension().string())).string();
  }
  refuse_overwriting(out.out, "--out " + out.out, out.file, "FILE");
  if (is_standard_output(out.out)) out.out = divert_standard_output();
  return out;
}

// What a run printed as an error, below the help that ends with it.
std::string printed(const ProcessEnd& end) { return end.err.empty() ? "" : ":\n" + end.err; }

class Reduce {
 public:
  explicit Reduce(const ReduceWords& words) : words_(words), folder_("plait_reduce_") {}

  int run() {
    const std::string text = read_text(words_.file, TextReader::kMaxText);
    if (is_program_text(text))
      throw UserError(fmt::format("`{}` holds a program", words_.file), "plait reduce",
                      "reduce the fusion that it was made of");
    const auto fusion = parse_fusion(text, {.file = words_.file});
    see_it_fail(text);
    const std::string normal = print(*fusion);
    if (!fails(normal))
      throw UserError(fmt::format("the command fails on `{}` and not on the same graph printed anew", words_.file),
                      "plait reduce", "look at what its text says beside the graph: comments, or the file's name");
    say("before", *fusion, text);
    ReduceOptions how;
    how.max_runs = words_.max_runs;
    how.progress = [](const std::string& line) {
      fmt::print("  {}\n", line);
      std::fflush(stdout);
    };
    const bool keeps = !is_stream(words_.out);  // else the last one alone
    how.smaller = [&](const std::string& smaller) {
      if (keeps) write_whole_file(words_.out, smaller, "--out");
    };
    how.smaller(normal);
    const ReducedGraph found = reduce_graph(*fusion, [&](const std::string& t) { return fails(t); }, how);
    say("after ", *parse_fusion(found.text), found.text);
    if (!keeps) write_whole_file(words_.out, found.text, "--out");
    fmt::print("{}: {} runs{}\n{}", words_.out, found.runs,
               found.complete ? "" : fmt::format(", the most that --max-runs allows: it may become smaller"),
               found.text);
    return 0;
  }

 private:
  // What the command does with the file as it is decides what counts as failing.
  void see_it_fail(const std::string& text) {
    const ProcessEnd end = run_on(text);
    const std::string where = "command";
    if (words_.hangs ? !end.timed_out : end.timed_out)
      throw UserError(words_.hangs ? fmt::format("the command ends, with exit code {}", end.exit)
                                   : fmt::format("the command does not end within {} s", words_.seconds),
                      where, words_.hangs ? "leave --exit away" : "give --timeout, or --exit timeout to reduce a hang");
    if (words_.hangs) return;
    if (end.exit == 0 && words_.exit != 0)
      throw UserError(fmt::format("the command does not fail on `{}`: exit code 0", words_.file), where,
                      "give a command whose exit code is not 0 where the bug shows");
    if (words_.exit && *words_.exit != end.exit)
      throw UserError(fmt::format("the command ends with exit code {}, not {}", end.exit, *words_.exit), where,
                      "leave --exit away, or correct it" + printed(end));
    exit_ = end.exit;
    if (!matches(end))
      throw UserError(fmt::format("the command does not print `{}`", words_.match), "--match",
                      "take words of what it prints" + printed(end));
    fmt::print("{} fails with exit code {}\n", words_.file, exit_);
    if (exit_ == 1 && words_.match.empty())
      fmt::print("  note: exit code 1 is that of every refusal; --match TEXT keeps to one\n");
  }

  bool fails(const std::string& text) {
    const ProcessEnd end = run_on(text);
    if (words_.hangs) return end.timed_out;
    return !end.timed_out && end.exit == exit_ && matches(end);
  }

  bool matches(const ProcessEnd& end) const {
    return words_.match.empty() || end.out.find(words_.match) != std::string::npos ||
           end.err.find(words_.match) != std::string::npos;
  }

  ProcessEnd run_on(const std::string& text) {
    const std::string path =
        folder_.path() + "/" + (is_stream(words_.file) ? kFromStream : fs::path(words_.file).filename().string());
    write_whole_file(path, text, "plait reduce", Durable::no);
    std::vector<std::string> command = words_.command;
    bool placed = false;
    for (std::string& word : command)
      for (size_t at = word.find(kHolder); at != std::string::npos; at = word.find(kHolder, at + path.size())) {
        word.replace(at, 2, path);
        placed = true;
      }
    if (!placed) command.push_back(path);
    return run_process(command, words_.seconds);
  }

  static void say(const char* when, const Fusion& fusion, const std::string& text) {
    fmt::print("{}: ops {}, inputs {}, outputs {}, bytes {}\n", when, fusion.ops().size(), fusion.inputs().size(),
               fusion.outputs().size(), text.size());
    std::fflush(stdout);
  }

  const ReduceWords words_;
  TemporaryFolder folder_;
  int exit_ = 0;
};

}  // namespace

int reduce_command(const std::vector<std::string>& words) { return Reduce(parse_reduce(words)).run(); }

}  // namespace plait::tool
