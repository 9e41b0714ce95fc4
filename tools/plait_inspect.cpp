// plait opt, compile, explain: everything but running.
#include <algorithm>
#include <set>
#include <sstream>

#include "api/explain.h"
#include "backend/cuda/nvrtc.h"
#include "backend/cuda/offline_device.h"
#include "base/error.h"
#include "base/file_writer.h"
#include "base/suggest.h"
#include "codegen/cuda/write.h"
#include "codegen/llvm/writer.h"
#include "compile/pipeline.h"
#include "kir/parse.h"
#include "kir/passes/passes.h"
#include "plait_command.h"
#include "plait_json.h"
#include "run/memory_picture.h"
#include "schedule/scheduler.h"
#include "segment/boundaries.h"
#include "segment/segment.h"
#include "session/bind_inputs.h"
#include "session/devices.h"
#include "shard/explain.h"
#include "shard/picture.h"

namespace plait::tool {

namespace {

// Why a compilation that went to its end did not stop: the lines of its timings are `stage pass ms`.
[[noreturn]] void refuse_until(const std::string& until, const std::string& device, const std::string& timings) {
  std::vector<std::string> known(stage_names().begin(), stage_names().end());
  if (std::find(known.begin(), known.end(), until) != known.end())
    throw UserError(fmt::format("stage `{}` has no text for this file on device {}", until, device), "--until",
                    "take another stage: plait opt --help");
  std::istringstream lines(timings);
  for (std::string line, stage, pass; std::getline(lines, line);) {
    if (std::istringstream words(line); !(words >> stage >> pass) || stage == "total") continue;
    if (pass == until)
      throw UserError(fmt::format("`{}` leaves its text only at the end of its stage", until), "--until",
                      fmt::format("take the stage: --until={}", stage));
    known.push_back(pass);
  }
  throw UserError(fmt::format("there is no pass or stage `{}`", until), "--until", suggestion(until, known));
}

std::vector<Target> read_targets(const std::vector<std::string>& words) {
  std::vector<Target> out;
  for (const auto& word : words) {
    std::istringstream parts(word);
    for (std::string arch; std::getline(parts, arch, ',');) {
      out.push_back(target_named(arch));
    }
  }
  return out;
}

}  // namespace

Report report_for(const Loaded& loaded, const Target& target) {
  const std::unique_ptr<Device> device = make_offline_device(target, loaded.options.options.disk_cache);
  CompileOptions how = loaded.options;
  how.device_override = device.get();
  how.comm = "given";  // nothing is bound
  Compiled compiled = compile(*loaded.fusion, how);
  compiled.prepare(input_metadata(loaded));
  return compiled.report();
}

namespace {

int compile_for_gpus(const Arguments& args, Loaded& loaded, const std::vector<Target>& targets) {
  std::string why;
  if (!nvrtc_available(&why))
    throw MissingError("NVRTC, the compiler of CUDA text, is not here: " + why, "--arch",
                       "run tools/setup for the wheels of tools/python-packages.txt, or set PLAIT_CUDA_HOME");
  std::vector<KernelReport> rows;
  std::vector<Report> reports;
  std::string counts;
  for (const Target& target : targets) {
    reports.push_back(report_for(loaded, target));
    const Report& report = reports.back();
    rows.insert(rows.end(), report.kernels.begin(), report.kernels.end());
    counts += fmt::format("{}: {}, {}\n", target.architecture, counts_text(report), compile_text(report));
  }
  fmt::print("{}{}", kernel_table(rows), counts);
  if (!args.json.empty()) write_kernels_json(args, reports);
  return 0;
}

}  // namespace

namespace {

// A program that was printed before: read, verified, printed again.
int print_program(const Arguments& args, const std::string& text) {
  if (!args.until.empty() && args.until != "program")
    throw UserError(fmt::format("`{}` holds a program, which is past `{}`", args.file, args.until), "--until",
                    "leave --until away");
  const Program program = parse_program(text, args.file);
  verify(program);
  fmt::print("{}", print(program));
  if (!args.json.empty()) write_text_json(args, "program", print(program));
  return 0;
}

// What a kernel of a file breaks is the file's mistake.
void verify_written(const kir::Kernel& kernel) {
  try {
    kir::verify(kernel);
  } catch (const InternalError& e) {
    throw UserError(e.message(), e.where(), "docs/kernel_ir.md says what a kernel must satisfy");
  }
}

// A kernel after the passes up to `until`; after all of them as code where that is the stage of a writer.
std::string kernel_text_at(kir::Kernel& kernel, const std::string& until) {
  if (until.empty() || until == "kir") return kir::print(kernel);
  const bool cuda = until == "cuda";
  if (!cuda && until != "llvm") {
    kir::run_passes(kernel, until);
    return kir::print(kernel);
  }
  if (cuda != (kernel.target == TargetKind::cuda))
    throw UserError(fmt::format("kernel @{} is for the other target", kernel.name), "--until",
                    fmt::format("take --until={}", cuda ? "llvm" : "cuda"));
  kir::run_passes(kernel);
  return cuda ? write_cuda(kernel) : codegen::write_llvm(kernel);
}

// Kernels as they are read, or what passes and code writers make of them.
int print_kernels(const Arguments& args, const std::string& text) {
  std::vector<std::string> known{"kir", "llvm", "cuda"};
  for (const kir::KernelPass& pass : kir::kernel_passes()) known.emplace_back(pass.name);
  if (!args.until.empty() && std::find(known.begin(), known.end(), args.until) == known.end())
    throw UserError(fmt::format("`{}` holds kernels, which have no pass or stage `{}`", args.file, args.until),
                    "--until", suggestion(args.until, known));
  std::string all;
  for (kir::Kernel& kernel : kir::parse_kernels(text, args.file)) {
    verify_written(kernel);
    all += kernel_text_at(kernel, args.until);
  }
  fmt::print("{}", all);
  if (!args.json.empty()) write_text_json(args, args.until.empty() ? "kir" : args.until, all);
  return 0;
}

}  // namespace

namespace {

// Takes out sizes of `--set` that inputs tell: they choose what is compiled, and runs of the file have others.
void leave_open(const Arguments& args, const Fusion& fusion, const Metadata& metadata, Sizes& sizes) {
  const std::set<std::string> of_mesh = mesh_symbols(fusion.mesh());
  for (const std::string& word : args.sets) {
    const std::string name = name_and_value(word, "--set").first;
    Sizes without = sizes;
    if (of_mesh.contains(name) || without.erase(name) == 0) continue;
    try {
      if (bind_sizes(fusion, metadata, without) == bind_sizes(fusion, metadata, sizes)) sizes = without;
    } catch (const UserError&) {  // no input tells it
    }
  }
}

}  // namespace

int opt_command(const Arguments& args) {
  if (!args.file.empty()) {
    if (const auto bytes = program_bytes(args)) return print_saved(args, *bytes);
    const std::string text = read_source(args);
    if (is_program_text(text)) return print_program(args, text);
    if (kir::is_kernel_text(text)) return print_kernels(args, text);
  }
  Loaded loaded = load(args);
  if (loaded.options.until.empty()) loaded.options.until = "program";
  std::string timings;
  loaded.dumps->listen([&](auto stage, auto, auto text) { timings = stage == "timings" ? text : timings; }, true);
  try {
    compile(*loaded.fusion, loaded.options).compile_for(input_metadata(loaded));
  } catch (const StoppedAt& stop) {
    fmt::print("{}{}", stop.text, stop.text.empty() || stop.text.back() != '\n' ? "\n" : "");
    if (!args.json.empty()) write_text_json(args, stop.name, stop.text);
    return 0;
  }
  refuse_until(loaded.options.until, loaded.options.device, timings);
}

int compile_command(const Arguments& args) {
  Loaded loaded = load(args);
  const auto targets = read_targets(args.archs);
  if (!targets.empty() && !args.save.empty())
    throw UserError("a program is saved for one device that is here", "--save " + args.save,
                    "give --device instead of --arch");
  if (!targets.empty()) return compile_for_gpus(args, loaded, targets);
  const Metadata metadata = input_metadata(loaded);
  if (!args.save.empty()) leave_open(args, *loaded.fusion, metadata, loaded.options.sizes);
  Compiled compiled = compile(*loaded.fusion, loaded.options);
  compiled.compile_for(metadata);
  const Report& report = compiled.report();
  fmt::print("{}", kernel_table(report.kernels));
  fmt::print("{}, {}\n", counts_text(report), compile_text(report));
  if (!args.save.empty()) compiled.save(args.save);
  if (!args.json.empty()) write_compiled_json(args, loaded, compiled);
  return 0;
}

namespace {

std::string picture_of(const Arguments& args, const Compiled& compiled) {
  if (args.memory && args.shard)
    throw UserError("a picture is of the layouts or of the memory", "--svg", "give one of --shard and --memory");
  if (!args.memory) return sharding_picture(compiled.sharded(), compiled.program().devices);
  RankValues values(compiled.program(), compiled.sizes());
  return memory_picture(compiled.program(), values);
}

}  // namespace

int explain_command(const Arguments& args) {
  Loaded loaded = load(args);
  Compiled compiled = compile(*loaded.fusion, loaded.options);
  const Metadata metadata = input_metadata(loaded);
  compiled.compile_for(metadata);
  Texts texts;
  std::vector<const char*> parts;
  if (args.shard || (!args.svg.empty() && !args.memory)) parts.push_back("shard");
  if (args.segments) parts.push_back("segments");
  if (args.schedule) parts.push_back("schedule");
  if (args.cache) parts.push_back("cache");
  if (args.memory) parts.push_back("memory");
  if (parts.empty()) parts.push_back("overview");
  for (const char* part : parts) texts.emplace_back(part, explain(compiled, part));
  for (const auto& [what, text] : texts) fmt::print("{}", text);
  if (!args.svg.empty()) write_whole_file(args.svg, picture_of(args, compiled), "--svg");
  if (!args.json.empty()) write_explain_json(args, loaded, compiled, texts);
  return 0;
}

}  // namespace plait::tool
