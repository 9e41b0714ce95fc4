// The command `plait`: words of the command line to Arguments, errors to exit codes.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <new>

#include "base/error.h"
#include "base/suggest.h"
#include "plait_command.h"
#include "plait_json.h"
#include "plait_launch.h"
#include "plait_rank.h"
#include "plait_words.h"
#include "session/communication.h"

namespace plait::tool {

namespace {

// Words that nothing took: an unknown subcommand or flag, or a word too many.
void refuse_extras(const CLI::App& app, const CLI::App* chosen, const std::vector<std::string>& words) {
  std::vector<std::string> commands;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(sub->get_name());
  const CLI::App& taker = chosen ? *chosen : app;
  std::vector<std::string> extras = taker.remaining();
  if (chosen)  // what stands before it, and what a `--` keeps from being its flags
    for (const std::string& word : app.remaining()) extras.push_back(word);
  std::erase(extras, "--");
  if (extras.empty()) {
    if (!chosen) throw UserError("plait needs a command", "", suggestion("", commands));
    return;
  }
  std::string word = extras.front();
  const bool plain =
      std::find(words.begin(), words.end(), word) > std::find(words.begin(), words.end(), "--");  // behind it no flags
  if (plain || !word.starts_with('-')) {
    if (!chosen) throw UserError(fmt::format("there is no command `{}`", word), "plait", suggestion(word, commands));
    throw UserError(fmt::format("unexpected `{}`", word), "plait " + chosen->get_name(),
                    fmt::format("see plait {} --help", chosen->get_name()));
  }
  word = word.substr(0, word.find('='));
  std::vector<std::string> flags;
  for (const CLI::Option* option : taker.get_options())
    for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
  throw UserError(fmt::format("there is no flag `{}`", word), chosen ? "plait " + chosen->get_name() : "plait",
                  suggestion(word, flags));
}

// Exit code where the command line asks for a text (help, version) and nothing else.
std::optional<int> parse(int argc, char** argv, Arguments& args) {
  args.words.assign(argv, argv + argc);
  const std::shared_ptr<CLI::App> line = command_line(args);
  CLI::App& app = *line;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    throw UserError(e.what(), "command line", "see plait --help");
  }
  const auto chosen = app.get_subcommands();
  if (!chosen.empty()) args.command = chosen.front()->get_name();
  refuse_extras(app, chosen.empty() ? nullptr : chosen.front(), args.words);
  return std::nullopt;
}

int run_chosen(const Arguments& args) {
  if (args.command == "run") return run_command(args);
  if (args.command == "opt") return opt_command(args);
  if (args.command == "compile") return compile_command(args);
  if (args.command == "explain") return explain_command(args);
  if (args.command == "view") return view_command(args);
  if (args.command == "tune") return tune_command(args);
  if (args.command == "import") return import_command(args);
  if (args.command == "cache") return cache_command(args);
  if (args.command == "fmt") return fmt_command(args);
  if (args.command == "help") return help_command(args);
  if (args.command == "completions") return completions_command(args);
  PLAIT_CHECK(args.command == "doctor", "command {}", args.command);
  return doctor_command(args);
}

int dispatch(Arguments& args) {
  if (args.bisect == "auto") return bisect_command(args);
  args.passes = make_pass_control(args);
  int code = 0;
  try {
    code = run_chosen(args);
  } catch (...) {
    report_passes(args, false);
    throw;
  }
  report_passes(args, code == 0);
  return code;
}

int fail(const Arguments& args, const Error& error, int code) {
  fmt::print(stderr, "error: {}\n", error.what());
  write_json_error(args, error);
  return code;
}

int run_words(int argc, char** argv, Arguments& args) {
  try {
    become_rank();
    const std::string command = argc > 1 ? argv[1] : "";
    if (command == kRankProgram) become_program(argv + 2);
    const bool help = argc > 2 && (argv[2] == std::string("--help") || argv[2] == std::string("-h"));
    if (command == "launch" && !help) return launch_command({argv + 2, argv + argc});
    if (command == "reduce" && !help) return reduce_command({argv + 2, argv + argc});
    if (command == "comm-diff" && !help) return comm_diff_command({argv + 2, argv + argc});
    if (auto code = parse(argc, argv, args)) return *code;
    settle_files(args);
    guard_crashes(args);
    return dispatch(args);
  } catch (const UserError& e) {
    return fail(args, e, kUsersMistake);
  } catch (const MissingError& e) {
    return fail(args, e, kMissing);
  } catch (const CommError& e) {
    if (job_processes(args.comm))
      return fail(args, e, kOurs);  // another process may be the cause: one alone repeats nothing
    write_json_error(args, e);
    return report_internal_error(args, e);
  } catch (const std::bad_alloc&) {
    return fail(args, MissingError("out of memory", "plait " + args.command, "take smaller sizes"), kMissing);
  } catch (const std::filesystem::filesystem_error& e) {
    return fail(args,
                UserError(fmt::format("`{}`: {}", e.path1().string(), e.code().message()), "plait " + args.command,
                          "give paths that can be read and written"),
                kUsersMistake);
  } catch (const Error& e) {
    write_json_error(args, e);
    return report_internal_error(args, e);
  } catch (const std::exception& e) {
    if (std::ferror(stdout) != 0) return kUsersMistake;  // which finish_output() tells
    const InternalError error(e.what(), "plait " + args.command, "");
    write_json_error(args, error);
    return report_internal_error(args, error);
  }
}

}  // namespace

int command(int argc, char** argv, const std::function<void(CompileOptions&)>& adjust) {
  Arguments args;
  args.adjust = adjust;
  return finish_output(run_words(argc, argv, args));
}

}  // namespace plait::tool
