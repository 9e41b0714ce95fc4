// An internal error: what it leaves behind for whoever mends it.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "communication.h"
#include "plait_command.h"

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

std::string replay_command(const Arguments& args, const std::string& file) {
  std::string out;
  bool replaced = false;
  for (size_t i = 0; i < args.words.size(); ++i) {
    const bool here = i > 1 && !replaced && args.words[i] == args.file;
    replaced = replaced || here;
    out += (out.empty() ? "" : " ") + shell_quote(here ? file : args.words[i]);
  }
  return out;
}

// Compiles once more, every stage dumped, as far as it goes.
bool leave_dumps(const Arguments& args, const std::string& folder) {
  try {
    Arguments again = args;
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
  fmt::print(stderr, "internal error: {}\n", error.what());
  std::string text;
  try {
    text = read_text(args.file);
  } catch (const Error&) {
    return 2;  // nothing to replay
  }
  std::string comment = "# Left by an internal error of plait " + version() + ".\n";
  add_comment(comment, "message", error.message());
  if (!error.where().empty()) add_comment(comment, "at", error.where());
  add_comment(comment, "seed", std::to_string(args.seed));
  for (const auto& option : args.options) add_comment(comment, "option", option);
  const std::string name = fmt::format("plait_repro_{:08x}", hash_text(comment + text));
  const std::string file = name + ".plait", replay = replay_command(args, file);
  add_comment(comment, "replay", replay);
  std::ofstream out(file, std::ios::binary);
  out << comment << text;
  out.close();
  if (!out) {
    fmt::print(stderr, "  the reproducer {} cannot be written\n  replay: {}\n", file, replay_command(args, args.file));
    return 2;
  }
  const std::string folder = name + ".dumps";
  if (leave_dumps(args, folder)) fmt::print(stderr, "  dumps: {}\n", folder);
  fmt::print(stderr, "  reproducer: {}\n  replay: {}\n", file, replay);
  return 2;
}

}  // namespace plait::tool
