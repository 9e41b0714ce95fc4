// plait completions: scripts that complete the words of the command line, made from its definition.
#include <algorithm>
#include <map>

#include "base/dump.h"
#include "base/error.h"
#include "base/options.h"
#include "base/suggest.h"
#include "kir/passes/passes.h"
#include "plait_help.h"
#include "plait_words.h"

namespace plait::tool {

namespace {

using Words = std::vector<std::string>;

constexpr const char* kAnyFile = "FILE";

// Stages, and the passes that a sharded fusion goes through, in their order, and those of kernels.
Words pass_words() {
  Words out(stage_names().begin(), stage_names().end());
  const auto fusion = parse_fusion(
      "mesh @m (tp = 2)\n"
      "fusion @f on @m (%x: f32[4, 4], param %w: f32[4, 4] {1: tp}) -> (%y) { %y = linear(%x, %w) }");
  PassControl seen;
  CompileOptions how;
  how.device = "reference";
  how.passes = &seen;
  how.until = "program";
  try {
    compile(*fusion, how).compile_for({{"x", {DType::f32, {4, 4}}}, {"w", {DType::f32, {4, 4}}}});
  } catch (const StoppedAt&) {}
  for (const PassRecord& record : seen.records)
    if (record.text) out.push_back(record.name);
  for (const kir::KernelPass& pass : kir::kernel_passes()) out.emplace_back(pass.name);
  Words once;
  for (const std::string& word : out)
    if (std::find(once.begin(), once.end(), word) == once.end()) once.push_back(word);
  return once;
}

Words option_words() {
  Words out;
  for (const OptionInfo& option : option_table()) out.push_back(std::string(option.name) + "=");
  return out;
}

Words help_words() {
  Words out;
  for (const CommandWords& command : command_words()) out.push_back(command.name);
  for (const Topic& topic : topics()) out.emplace_back(topic.name);
  const Words ops = op_words();
  out.insert(out.end(), ops.begin(), ops.end());
  return out;
}

// What a flag or a positional may be. Empty: words that nobody can list.
class Values {
 public:
  // {kAnyFile}: a path.
  const Words& of(const FlagWords& flag) const {
    static const Words none, file = {kAnyFile};
    const auto known = known_.find(flag.names.back());
    if (known != known_.end()) return known->second;
    const std::string& what = flag.positional ? flag.names.back() : flag.type;
    return what.starts_with("FILE") || what == "DIR" || what == "COMMAND" ? file : none;
  }
  bool is_file(const FlagWords& flag) const { return of(flag) == Words{kAnyFile}; }

 private:
  const std::map<std::string, Words> known_ = {
      {"--device", {"cpu", "cuda", "reference", "sim:sm_80", "sim:sm_90a"}},
      {"--arch", {"sm_80", "sm_90a", "sm_100a"}},
      {"--comm", {"local", "local:threads", "mpi", "nccl"}},
      {"--bisect", {"auto"}},
      {"--exit", {"timeout"}},
      {"--until", pass_words()},
      {"--dump", {stage_names().begin(), stage_names().end()}},
      {"--option", option_words()},
      {"SHELL", {"bash", "zsh", "fish"}},
      {"WORD", help_words()},
  };
};

std::string joined(const Words& words) { return fmt::format("{}", fmt::join(words, " ")); }

// ---- bash

std::string bash_values(const Words& values) {
  if (values == Words{kAnyFile}) return "_plait_files";
  return values.empty() ? ":" : fmt::format("_plait_words '{}'", joined(values));
}

std::string bash_command(const CommandWords& command, const Values& values) {
  std::string flags, taken, place = ":";
  for (const FlagWords& flag : command.flags) {
    if (flag.positional) {
      if (place == ":") place = bash_values(values.of(flag));
      continue;
    }
    flags += (flags.empty() ? "" : " ") + joined(flag.names);
    if (!flag.type.empty())
      taken += fmt::format("        {}) {}; return ;;\n", fmt::join(flag.names, "|"), bash_values(values.of(flag)));
  }
  std::string out = fmt::format("    {})\n", command.name);
  if (!taken.empty()) out += "      case $before in\n" + taken + "      esac\n";
  return out + fmt::format("      if [[ $word == -* ]]; then _plait_words '{}'; else {}; fi ;;\n", flags, place);
}

std::string bash_script(const std::vector<CommandWords>& commands, const Values& values) {
  std::string names, cases;
  for (const CommandWords& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    cases += bash_command(command, values);
  }
  return R"(# Completion of plait for bash: source this file, or put it where bash-completion finds it as `plait`.
# Written by `plait completions bash`.

# What $word may become. readline has only what follows its last `=` or `:`.
_plait_take() {
  local kept=${word%"${word##*[=:]}"} at
  for at in "${!COMPREPLY[@]}"; do COMPREPLY[at]=${COMPREPLY[at]#"$kept"}; done
  if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
_plait_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word")
  _plait_take
}
_plait_files() {
  mapfile -t COMPREPLY < <(compgen -f -- "$word")
  compopt -o filenames 2>/dev/null
  _plait_take
}
_plait() {
  local line=${COMP_LINE:0:COMP_POINT} word before='' command words
  COMPREPLY=()
  if [[ $line == *[\"\'\\]* ]]; then  # words that the shell unquotes: readline completes files
    compopt -o default 2>/dev/null
    return 0
  fi
  read -ra words <<<"$line"
  word=${words[-1]}
  if [[ $line == *[[:blank:]] ]]; then word=''; else unset 'words[-1]'; fi
  if ((${#words[@]} < 2)); then
    _plait_words ')" +
         names + R"( --help --version'
    return
  fi
  command=${words[1]} before=${words[-1]}
  if [[ $word == --*=* ]]; then
    before=${word%%=*} word=${word#*=}
  fi
  case $command in
)" + cases +
         R"(  esac
}
complete -F _plait plait
)";
}

// ---- zsh

// In the descriptions of _arguments, within single quotes.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string zsh_values(const FlagWords& flag, const Values& values) {
  const Words& words = values.of(flag);
  const std::string what = zsh_text(flag.positional ? flag.names.back() : flag.type);
  if (values.is_file(flag)) return fmt::format(":{}:_files", what);
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : " ") + zsh_text(word);
  return list.empty() ? fmt::format(":{}: ", what) : fmt::format(":{}:({})", what, list);
}

std::string zsh_command(const CommandWords& command, const Values& values) {
  std::string out = fmt::format("    {})\n      _arguments -S", command.name);
  for (const FlagWords& flag : command.flags) {
    if (flag.positional) {
      out += fmt::format(" \\\n        '{}{}'", flag.repeats ? "*" : "", zsh_values(flag, values));
      continue;
    }
    for (const std::string& name : flag.names)
      out += fmt::format(" \\\n        '{}{}{}[{}]{}'", flag.repeats ? "*" : "", name,
                         !flag.type.empty() && name.starts_with("--") ? "=" : "", zsh_text(flag.doc),
                         flag.type.empty() ? "" : zsh_values(flag, values));
  }
  return out + " ;;\n";
}

std::string zsh_script(const std::vector<CommandWords>& commands, const Values& values) {
  std::string names, cases;
  for (const CommandWords& command : commands) {
    names += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.doc));
    cases += zsh_command(command, values);
  }
  return "#compdef plait\n# Written by `plait completions zsh`.\n\n_plait() {\n  local -a commands\n  commands=(\n" +
         names + R"(  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
)" + cases +
         R"(  esac
}

_plait "$@"
)";
}

// ---- fish

std::string fish_text(std::string_view text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

std::string fish_values(const FlagWords& flag, const Values& values) {
  if (values.is_file(flag)) return " -F";
  const Words& words = values.of(flag);
  return words.empty() ? "" : " -a " + fish_text(joined(words));
}

std::string fish_command(const CommandWords& command, const Values& values) {
  const std::string head = fmt::format("complete -c plait -n '__fish_seen_subcommand_from {}'", command.name);
  std::string out =
      fmt::format("complete -c plait -n __fish_use_subcommand -a {} -d {}\n", command.name, fish_text(command.doc));
  bool placed = false;
  for (const FlagWords& flag : command.flags) {
    if (flag.positional) {
      if (!placed && !values.of(flag).empty()) out += head + fish_values(flag, values) + "\n";
      placed = true;
      continue;
    }
    out += head;
    for (const std::string& name : flag.names)
      out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!flag.type.empty()) out += (values.is_file(flag) ? " -r" : " -x") + fish_values(flag, values);
    out += " -d " + fish_text(flag.doc) + "\n";
  }
  return out;
}

std::string fish_script(const std::vector<CommandWords>& commands, const Values& values) {
  std::string out = "# Written by `plait completions fish`.\ncomplete -c plait -f\n";
  for (const CommandWords& command : commands) out += fish_command(command, values);
  return out;
}

}  // namespace

int completions_command(const Arguments& args) {
  using Script = std::string (*)(const std::vector<CommandWords>&, const Values&);
  const std::vector<std::pair<std::string, Script>> shells = {
      {"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
  Words names;
  for (const auto& [name, script] : shells) {
    if (name == args.shell) {
      fmt::print("{}", script(command_words(), Values()));
      return 0;
    }
    names.push_back(name);
  }
  throw UserError(
      args.shell.empty() ? "for which shell?" : fmt::format("there are no completions for `{}`", args.shell),
      "plait completions", suggestion(args.shell, names));
}

}  // namespace plait::tool
