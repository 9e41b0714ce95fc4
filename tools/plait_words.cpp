// The words of the command line, command by command.
#include "plait_words.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>

#include "base/error.h"
#include "plait_tables.h"

namespace plait::tool {

namespace {

constexpr const char *kStart = "Get started", *kInside = "Look inside", *kJobs = "Jobs of several processes",
                     *kKeeping = "House-keeping";

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
  run.add_option("--weights", args.weights,
                 "a folder as plait import writes it: NAME.npy of each param, and of other inputs that it has")
      ->type_name("FOLDER");
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

void add_explain(CLI::App& app, Arguments& args) {
  CLI::App& explain = *app.add_subcommand("explain", "print why things are where they are");
  add_file(explain, args);
  explain.add_flag("--shard", args.shard, "layouts, their reasons, reshards");
  explain
      .add_option(
          "--svg", args.svg,
          "with --shard: writes a picture of who holds what and what moves, with --memory of what lies where and "
          "when; -: to standard output")
      ->type_name("FILE");
  explain.add_flag("--segments", args.segments, "what became one step");
  explain.add_flag("--schedule", args.schedule, "schedules and kernels");
  explain.add_flag("--cache", args.cache, "the facts within which nothing recompiles");
  explain.add_flag("--memory", args.memory, "the bytes of each rank, and what is alive at the peak");
  add_json(explain, args, "writes what is printed, and counts");
}

void add_view(CLI::App& app, Arguments& args) {
  CLI::App& view = *app.add_subcommand("view", "write a page that shows what became of a file and where time goes");
  add_file(view, args);
  add_inputs(view, args);
  view.add_option("-o,--page", args.page, "the page; default: NAME.view.html here; -: to standard output")
      ->type_name("FILE.html");
  view.add_flag("--no-run", args.no_run, "compile only: the page has no timeline");
}

void add_import(CLI::App& app, Arguments& args) {
  CLI::App& import = *app.add_subcommand("import", "make a fusion of a model of ONNX, or of StableHLO's text");
  import.add_option("FILE", args.file, "the model; -: standard input")->type_name("");
  import.add_option("-o,--out", args.imported, "the fusion; default: NAME.plait here; -: to standard output")
      ->type_name("FILE.plait");
  import
      .add_option("--weights", args.weights,
                  "where a file NAME.npy for each weight is written; default: as -o, with .weights for its suffix")
      ->type_name("FOLDER");
  add_list(import, "--set", args.sets, "NAME=VALUE", "a number for a size that the model leaves open");
  add_list(import, "--constant", args.constants, "NAME=VALUE",
           "an input that always has this value: FILE.npy, a list or a number");
  import.add_option("--format", args.format, "onnx or stablehlo; default: as the file looks")->type_name("FORMAT");
  add_json(import, args, "writes what was imported, or all that cannot be");
}

void add_tune(CLI::App& app, Arguments& args) {
  CLI::App& tune = *app.add_subcommand("tune", "measure other schedules of each kernel, and keep the fastest");
  add_file(tune, args);
  add_inputs(tune, args);
  tune.add_option_function<std::string>("--seconds", number_into<int64_t>(args.seconds, "--seconds"),
                                        "nothing more is tried after these; default: 60")
      ->type_name("S");
  tune.add_option_function<std::string>("--rounds", number_into<int64_t>(args.rounds, "--rounds"),
                                        "runs of each program, in turn with the others; default: 9")
      ->type_name("N");
  tune.add_flag("--check", args.check, "compare what the fastest program computes with the reference");
  tune.add_flag("--candidates", args.candidates, "print every schedule that was measured, with its time");
  add_json(tune, args, "writes the schedules, their candidates and times");
  tune.add_flag("--no-keep", args.no_keep, "print only: later compilations do not take them");
  tune.add_option("--out", args.pinned, "writes the fusion with the fastest schedules as a text; -: to standard output")
      ->type_name("FILE.plait");
  tune.add_flag("--forget", args.forget, "remove all schedules that were kept on this machine; takes no file");
}

void add_opt(CLI::App& app, Arguments& args) {
  CLI::App& opt = *app.add_subcommand("opt", "print the text after a pass or stage");
  add_file(opt, args);
  opt.add_option("--until", args.until, "pass or stage; default: program")->type_name("NAME");
  add_json(opt, args, "writes the text, and counts of a program");
}

void add_compile(CLI::App& app, Arguments& args) {
  CLI::App& compile = *app.add_subcommand("compile", "every stage up to machine code; prints a table of kernels");
  add_file(compile, args);
  add_list(compile, "--arch", args.archs, "sm_80,...", "GPU architectures instead of the CPU; needs NVRTC, no GPU");
  compile.add_option("--save", args.save, "writes the compiled program, which plait run takes; -: to standard output")
      ->type_name("FILE.plaitc");
  add_json(compile, args, "writes counts, kernels and times");
}

// The usage line of a command that reads its words itself.
class OwnUsage : public CLI::Formatter {
 public:
  explicit OwnUsage(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App*, std::string) const override { return "Usage: " + usage_ + "\n"; }

 private:
  std::string usage_;
};

CLI::App& add_own(CLI::App& app, const std::string& name, const std::string& doc, const char* usage) {
  CLI::App& command = *app.add_subcommand(name, doc);
  command.formatter(std::make_shared<OwnUsage>(usage));
  return command;
}

// A flag that the command reads itself.
void describe(CLI::App& command, const std::string& flag, const std::string& type, const std::string& doc) {
  command.add_option_function<std::string>(flag, [](const std::string&) {}, doc)->type_name(type);
}

void add_reduce(CLI::App& app) {
  CLI::App& reduce = add_own(app, "reduce", "shrink a graph while a command fails on it", kReduceUsage);
  describe(reduce, "FILE", "", "text of a fusion on which COMMAND fails; -: standard input");
  describe(reduce, "COMMAND", "",
           "what fails, behind --: {} in it stands for the file to try, else that is its last word; `plait` is this "
           "program");
  describe(reduce, "--out", "FILE", "where the smallest graph is kept; default: NAME.reduced.plait beside FILE");
  describe(reduce, "--exit", "N|timeout",
           "the exit code that counts as failing, or running past --timeout; default: what FILE gives");
  describe(reduce, "--match", "TEXT", "only what prints this text counts");
  describe(reduce, "--max-runs", "N", "how often to run the command at most; default 2000");
  describe(reduce, "--timeout", "SECONDS", "how long one run may last; default 60");
}

void add_jobs(CLI::App& app) {
  CLI::App& launch =
      add_own(app, "launch", "start a run, or a program that uses plait, as the processes of a job, one rank each",
              kLaunchUsage);
  describe(launch, "-n", "N", "processes, by mpirun; all end when one fails");
  describe(launch, "--timeout", "SECONDS",
           "how long a step, or a wait for other ranks, may last; default 60; not of a program");
  CLI::App& diff =
      add_own(app, "comm-diff", "say where ranks stopped doing the same, from their flight recorders", kCommDiffUsage);
  describe(diff, "DIR", "", "folder of the option flight_record");
}

void add_fmt(CLI::App& app, Arguments& args) {
  CLI::App& format = *app.add_subcommand("fmt", "put files in their canonical layout, in place");
  format
      .add_option(
          "FILE", args.files,
          "texts of fusions or programs, or folders: all .plait files in them; -: standard input, to standard output")
      ->type_name("");
  format.add_flag("--check", args.check_layout,
                  "write nothing: list the files that would change; exit code 1 if there are any");
  format.add_flag("--diff", args.diff, "write nothing: print what would change as a unified diff");
}

void add_keeping(CLI::App& app, Arguments& args) {
  CLI::App& doctor = *app.add_subcommand("doctor", "what this machine has, and what to install for the rest");
  doctor.add_flag("--options", args.list_options, "list the options of the compiler");
  CLI::App& cache = *app.add_subcommand("cache", "what compiled kernels are kept on disk, and where");
  cache.add_flag("--verify", args.verify_cache, "read all of them, remove what is damaged");
  cache.add_flag("--prune", args.prune_cache, "remove what was not used for longest, past the limit");
  cache.add_flag("--clear", args.clear_cache, "remove all of them");
  CLI::App& help = *app.add_subcommand("help", "explain a command, a topic or an op");
  help.add_option("WORD", args.help_word, "a command, a topic or an op; without it: an overview")->type_name("");
  help.add_flag("--man", args.manual, "print the manual page plait.1")->group("");
  CLI::App& completions =
      *app.add_subcommand("completions", "print a script that completes the words of plait in a shell");
  completions.add_option("SHELL", args.shell, "bash, zsh or fish")->type_name("");
}

FlagWords flag_words(const CLI::Option& option) {
  FlagWords out;
  for (const auto& name : option.get_snames()) out.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) out.names.push_back("--" + name);
  out.positional = option.get_positional();
  if (out.positional) out.names = {option.get_name(true, false)};
  if (option.get_type_size() != 0) out.type = option.get_type_name();
  out.doc = option.get_description();
  out.repeats = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  return out;
}

CommandWords words_of(const CLI::App& command) {
  CommandWords out{command.get_name(), command.get_group(), command.get_description(), "", {}};
  const std::string help = command.help("plait");
  const size_t usage = help.find("Usage: ") + 7;
  out.usage = help.substr(usage, help.find('\n', usage) - usage);
  for (const CLI::Option* option : command.get_options())
    if (!option->get_group().empty()) out.flags.push_back(flag_words(*option));
  return out;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> all = app.get_subcommands([](const CLI::App*) { return true; });
  std::erase_if(all, [](const CLI::App* command) { return command->get_name().empty(); });
  return all;
}

}  // namespace

std::shared_ptr<CLI::App> command_line(Arguments& args) {
  auto line =
      std::make_shared<CLI::App>("Compiles a graph of tensor operations and runs it on one or many ranks.", "plait");
  CLI::App& app = *line;
  app.set_version_flag("--version", "plait " + version());
  app.allow_extras();
  app.require_subcommand(0, 1);  // a word behind a command is none
  app.footer(exit_code_line());
  const auto group = [&](const char* name) {
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
      if (command->get_group() == "Subcommands") command->group(name)->allow_extras();
  };
  add_run(app, args), add_explain(app, args), add_view(app, args), add_import(app, args), group(kStart);
  add_opt(app, args), add_compile(app, args), add_tune(app, args), add_reduce(app), group(kInside);
  add_jobs(app), group(kJobs);
  add_fmt(app, args), add_keeping(app, args), group(kKeeping);
  return line;
}

std::vector<CommandWords> command_words() {
  Arguments args;
  const auto app = command_line(args);
  std::vector<CommandWords> out;
  for (const CLI::App* command : commands_of(*app)) out.push_back(words_of(*command));
  return out;
}

std::string help_of(const std::string& command) {
  Arguments args;
  return command_line(args)->get_subcommand(command)->help("plait");
}

}  // namespace plait::tool
