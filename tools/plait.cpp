// The command `plait`: words of the command line to Arguments, errors to exit codes.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <new>

#include "base/error.h"
#include "base/suggest.h"
#include "plait_command.h"
#include "plait_json.h"
#include "plait_launch.h"
#include "plait_rank.h"
#include "session/communication.h"

namespace plait::tool {

namespace {

// A whole number that fits its type. UserError naming the flag.
template <class T, class Target>
std::function<void(const std::string&)> number_into(Target& target, const std::string& flag) {
  return [&target, flag](const std::string& text) {
    T value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      throw UserError(fmt::format("`{}` is no number for {}", text, flag), flag,
                      std::is_unsigned_v<T> ? "give a whole number from 0 to 2^64 - 1" : "give a whole number");
    target = value;
  };
}

// A repeatable option; each occurrence takes one word.
void add_list(CLI::App& app, const std::string& name, std::vector<std::string>& target, const std::string& type,
              const std::string& doc) {
  app.add_option(name, target, doc)->type_name(type)->allow_extra_args(false);
}

void add_passes(CLI::App& app, Arguments& args) {
  app.add_flag("--passes", args.list_passes, "list the passes with what each changed and its time");
  app.add_option("--bisect", args.bisect,
                 "only the first N optional steps of the passes run; auto: find the first with which the command fails")
      ->type_name("N|auto");
  add_list(app, "--watch", args.watch, "TENSOR",
           "print the line of a tensor after every pass that changed it; * and ?");
}

void add_json(CLI::App& app, Arguments& args, const std::string& doc) {
  app.add_option("--json", args.json, doc + " (docs/command.md); -: to standard output")->type_name("FILE");
}

void add_file(CLI::App& app, Arguments& args) {
  app.add_option("FILE", args.file, "text of a fusion (docs/ir.md); -: standard input")->type_name("");
  add_list(app, "--set", args.sets, "NAME=VALUE", "value of a size, a mesh symbol or a dtype of the file");
  app.add_option_function<std::string>("--ranks", number_into<int64_t>(args.ranks, "--ranks"),
                                       "ranks of the mesh; solves its one free symbol")
      ->type_name("N");
  app.add_option("--device", args.device, "cuda, cpu, reference or sim:ARCH[:N]; default: the first that is here")
      ->type_name("DEVICE");
  add_list(app, "--option", args.options, "NAME=VALUE", "an option of the compiler; plait doctor --options lists them");
  add_list(
      app, "--dump", args.dumps, "STAGE[:GLOB][@DIR]",
      "text of a stage: fusion graph sharded localized segments params scheduled kir cuda llvm ptx program timings");
  add_passes(app, args);
}

void add_trace(CLI::App& app, Arguments& args) {
  app.add_option("--trace", args.trace,
                 "writes when each rank was at which step of a last, timed run, for Perfetto and plait view; -: to "
                 "standard output")
      ->type_name("FILE.json");
}

// What decides about inputs and ranks of a run.
void add_inputs(CLI::App& run, Arguments& args) {
  add_list(run, "--input", args.inputs, "NAME=VALUE",
           "FILE.npy, -, nested lists [[1,2],[3,4]] or a number; absent: drawn");
  run.add_option_function<std::string>("--seed", number_into<uint64_t>(args.seed, "--seed"),
                                       "seed of drawn inputs, and value of an absent u64[] input")
      ->type_name("S");
  run.add_option("--comm", args.comm, "local[:SEED], local:threads, mpi or nccl (docs/multi_device.md)")
      ->type_name("COMM");
}

void add_run(CLI::App& app, Arguments& args) {
  CLI::App& run = *app.add_subcommand("run", "compile a file, run it and print its outputs");
  add_file(run, args);
  add_inputs(run, args);
  add_list(run, "--out", args.outs, "NAME=FILE.npy", "writes an output; -: to standard output");
  run.add_flag("--check", args.check, "compare with the reference and, on a mesh, with one rank");
  run.add_flag("--exact", args.exact, "inputs are small integers; the check asks for equal bits");
  add_json(run, args, "writes counts, errors and times");
  run.add_flag("--times", args.times, "print times of compiling, runs and steps");
  add_trace(run, args);
  run.add_flag("--stats", args.stats, "on a simulated GPU: print what the accesses of each kernel cost");
  run.add_option_function<std::string>("--repeat", number_into<int64_t>(args.repeat, "--repeat"), "how often to run")
      ->type_name("N");
}

void add_inspect(CLI::App& app, Arguments& args) {
  CLI::App& opt = *app.add_subcommand("opt", "print the text after a pass or stage");
  add_file(opt, args);
  opt.add_option("--until", args.until, "pass or stage; default: program")->type_name("NAME");
  add_json(opt, args, "writes the text, and counts of a program");
  CLI::App& compile = *app.add_subcommand("compile", "every stage up to machine code; prints a table of kernels");
  add_file(compile, args);
  add_list(compile, "--arch", args.archs, "sm_80,...", "GPU architectures instead of the CPU; needs NVRTC, no GPU");
  compile.add_option("--save", args.save, "writes the compiled program, which plait run takes; -: to standard output")
      ->type_name("FILE.plaitc");
  add_json(compile, args, "writes counts, kernels and times");
  CLI::App& explain = *app.add_subcommand("explain", "print why things are where they are");
  add_file(explain, args);
  explain.add_flag("--shard", args.shard, "layouts, their reasons, reshards");
  explain
      .add_option("--svg", args.svg,
                  "with --shard: writes a picture of who holds what and what moves; -: to standard output")
      ->type_name("FILE");
  explain.add_flag("--segments", args.segments, "what became one step");
  explain.add_flag("--schedule", args.schedule, "schedules and kernels");
  explain.add_flag("--cache", args.cache, "the facts within which nothing recompiles");
  add_json(explain, args, "writes what is printed, and counts");
  CLI::App& view = *app.add_subcommand("view", "write a page that shows what became of a file and where time goes");
  add_file(view, args);
  add_inputs(view, args);
  view.add_option("-o,--page", args.page, "the page; default: NAME.view.html here; -: to standard output")
      ->type_name("FILE.html");
  view.add_flag("--no-run", args.no_run, "compile only: the page has no timeline");
  CLI::App& doctor = *app.add_subcommand("doctor", "what this machine has, and what to install for the rest");
  doctor.add_flag("--options", args.list_options, "list the options of the compiler");
  CLI::App& cache = *app.add_subcommand("cache", "what compiled kernels are kept on disk, and where");
  cache.add_flag("--verify", args.verify_cache, "read all of them, remove what is damaged");
  cache.add_flag("--prune", args.prune_cache, "remove what was not used for longest, past the limit");
  cache.add_flag("--clear", args.clear_cache, "remove all of them");
}

// Words that nothing took: an unknown subcommand or flag, or a word too many.
void refuse_extras(const CLI::App& app, const CLI::App* chosen) {
  std::vector<std::string> commands;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(sub->get_name());
  const CLI::App& taker = chosen ? *chosen : app;
  const std::vector<std::string> extras = taker.remaining();
  if (extras.empty()) {
    if (!chosen) throw UserError("plait needs a command", "", suggestion("", commands));
    return;
  }
  std::string word = extras.front();
  if (!word.starts_with('-')) {
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
  CLI::App app("Compiles a graph of tensor operations and runs it on one or many ranks.", "plait");
  app.set_version_flag("--version", "plait " + version());
  app.allow_extras();
  app.footer(
      "Exit codes: 0 ok, 1 a mistake in what was given, 2 an internal error, 3 something missing here, or a rank "
      "gone, 4 the check is undecided.");
  add_run(app, args);
  add_inspect(app, args);
  app.add_subcommand("reduce", "shrink a graph while a command fails on it");
  app.add_subcommand("launch", "start a run as the processes of a job, one rank each");
  app.add_subcommand("comm-diff", "say where ranks stopped doing the same, from their flight recorders");
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) sub->allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    throw UserError(e.what(), "command line", "see plait --help");
  }
  const auto chosen = app.get_subcommands();
  if (!chosen.empty()) args.command = chosen.front()->get_name();
  refuse_extras(app, chosen.empty() ? nullptr : chosen.front());
  if (chosen.size() > 1) throw UserError("two commands in one line", "plait", "give one");
  return std::nullopt;
}

int run_chosen(const Arguments& args) {
  if (args.command == "run") return run_command(args);
  if (args.command == "opt") return opt_command(args);
  if (args.command == "compile") return compile_command(args);
  if (args.command == "explain") return explain_command(args);
  if (args.command == "view") return view_command(args);
  if (args.command == "cache") return cache_command(args);
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
    if (command == "launch") return launch_command({argv + 2, argv + argc});
    if (command == kRankProgram) become_program(argv + 2);
    if (command == "reduce") return reduce_command({argv + 2, argv + argc});
    if (command == "comm-diff") return comm_diff_command({argv + 2, argv + argc});
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
