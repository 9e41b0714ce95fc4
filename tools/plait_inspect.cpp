// plait opt, compile, explain: everything but running.
#include <algorithm>
#include <set>
#include <sstream>

#include "backend/cuda/nvrtc.h"
#include "base/error.h"
#include "base/suggest.h"
#include "compile/pipeline.h"
#include "plait_command.h"
#include "plait_json.h"
#include "schedule/scheduler.h"
#include "segment/segment.h"
#include "session/bind_inputs.h"
#include "session/devices.h"
#include "shard/explain.h"

namespace plait::tool {

namespace {

std::string fact(const std::optional<int>& value) { return value ? std::to_string(*value) : "-"; }

std::string names(const std::vector<TensorView*>& tensors) {
  std::string out;
  for (const TensorView* t : tensors) out += (out.empty() ? "%" : ", %") + t->name;
  return out;
}

std::string op_names(const Segment& segment) {
  std::string out;
  for (const Op* op : segment.ops) out += (out.empty() ? "" : " ") + std::string(text_name(*op));
  return out;
}

std::string kernel_table(const std::vector<KernelReport>& kernels) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "schedule", "arch", "registers", "spill bytes", "shared bytes", "compile ms"}};
  for (const KernelReport& k : kernels)
    rows.push_back({k.name, k.schedule, k.arch.empty() ? "-" : k.arch, fact(k.facts.registers),
                    fact(k.facts.spill_bytes), fact(k.facts.shared_bytes), fmt::format("{:.2f}", k.facts.compile_ms)});
  return table(rows);
}

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

std::vector<std::string> read_archs(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const auto& word : words) {
    std::istringstream parts(word);
    for (std::string arch; std::getline(parts, arch, ',');) {
      if (arch.size() < 5 || arch.compare(0, 3, "sm_") != 0 || arch.find_first_not_of("0123456789", 3) < 5)
        throw UserError(fmt::format("`{}` is no architecture", arch), "--arch", "take e.g. sm_80, sm_90a or sm_100a");
      out.push_back(arch);
    }
  }
  return out;
}

std::string segments_text(const Fusion& localized) {
  std::vector<std::vector<std::string>> rows = {{"segment", "schedule", "inputs", "outputs", "ops"}};
  for (const Segment& s : localized.segments)
    rows.push_back({s.name, s.schedule, names(s.inputs), names(s.outputs), op_names(s)});
  return table(rows);
}

std::string cache_text(const Loaded& loaded, const Compiled& compiled, const Metadata& metadata) {
  const Sizes mesh = mesh_symbols(loaded.fusion->mesh(), compiled.mesh());
  Sizes given = loaded.options.sizes;
  for (const auto& [name, value] : mesh) given[name] = value;
  const CompileOptions& how = loaded.options;
  const Device& device = how.device_override ? *how.device_override : find_device(how.device, how.options);
  const Specialization specialize =
      plait::specialize(bind_sizes(*loaded.fusion, metadata, given), mesh,
                        class_divisors(*loaded.fusion, compiled.mesh(), device.language()));
  const std::string options = cache_key(loaded.options.options);
  std::string axes;
  for (int64_t size : compiled.mesh().sizes()) axes += fmt::format("{}{}", axes.empty() ? "" : " x ", size);
  return fmt::format("sizes:   {}\nmesh:    {}\noptions: {}\ndevice:  {}\n",
                     specialize.key.empty() ? "none" : specialize.key, axes.empty() ? "none" : axes,
                     options.empty() ? "defaults" : options, loaded.options.device);
}

// Without those that differ from an earlier one by their name alone: a program has each once.
std::vector<CudaKernel> distinct(const std::vector<CudaKernel>& kernels) {
  std::vector<CudaKernel> out;
  std::set<std::string> texts;
  for (const CudaKernel& kernel : kernels) {
    std::string text = kernel.text;
    for (size_t at = text.find(kernel.name); at != text.npos; at = text.find(kernel.name, at))
      text.erase(at, kernel.name.size());
    if (texts.insert(text).second) out.push_back(kernel);
  }
  return out;
}

int compile_for_gpus(const Arguments& args, Loaded& loaded, const std::vector<std::string>& archs) {
  std::string why;
  if (!nvrtc_available(&why))
    throw MissingError("NVRTC, the compiler of CUDA text, is not here: " + why, "--arch",
                       "run tools/setup for the wheels of tools/python-packages.txt, or set PLAIT_CUDA_HOME");
  Compiled compiled = compile(*loaded.fusion, loaded.options);
  compiled.prepare(input_metadata(loaded));
  const auto launched = write_cuda_kernels(compiled.compiled_specialization(), loaded.options);
  const auto kernels = distinct(launched);
  std::vector<KernelReport> rows;
  for (const auto& kernel : kernels)
    for (const auto& arch : archs)
      rows.push_back({kernel.name, kernel.schedule, arch, facts(compile_cuda(kernel.text, kernel.name, arch))});
  fmt::print("{}{} launches of {} kernels\n", kernel_table(rows), launched.size(), kernels.size());
  if (!args.json.empty())
    write_kernels_json(args, loaded, rows, static_cast<int64_t>(launched.size()), compiled.report().compile_ms);
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

}  // namespace

int opt_command(const Arguments& args) {
  if (!args.file.empty())
    if (const std::string text = read_source(args); is_program_text(text)) return print_program(args, text);
  Loaded loaded = load(args);
  if (loaded.options.until.empty()) loaded.options.until = "program";
  std::string timings;
  loaded.dumps->listen([&](auto stage, auto, auto text) { timings = stage == "timings" ? text : timings; }, true);
  try {
    compile(*loaded.fusion, loaded.options).prepare(input_metadata(loaded));
  } catch (const StoppedAt& stop) {
    fmt::print("{}{}", stop.text, stop.text.empty() || stop.text.back() != '\n' ? "\n" : "");
    if (!args.json.empty()) write_text_json(args, stop.name, stop.text);
    return 0;
  }
  refuse_until(loaded.options.until, loaded.options.device, timings);
}

int compile_command(const Arguments& args) {
  Loaded loaded = load(args);
  const auto archs = read_archs(args.archs);
  if (!archs.empty()) return compile_for_gpus(args, loaded, archs);
  Compiled compiled = compile(*loaded.fusion, loaded.options);
  compiled.prepare(input_metadata(loaded));
  const Report& report = compiled.report();
  fmt::print("{}", kernel_table(report.kernels));
  fmt::print("{}, compile: {:.2f} ms\n", counts_text(report), report.compile_ms);
  if (!args.json.empty()) write_compiled_json(args, loaded, compiled);
  return 0;
}

int explain_command(const Arguments& args) {
  if (!args.shard && !args.segments && !args.schedule && !args.cache)
    throw UserError("plait explain needs to know what", "", "add --shard, --segments, --schedule or --cache");
  Loaded loaded = load(args);
  Compiled compiled = compile(*loaded.fusion, loaded.options);
  const Metadata metadata = input_metadata(loaded);
  compiled.prepare(metadata);
  Texts texts;
  if (args.shard) texts.emplace_back("shard", explain_sharding(compiled.sharded()));
  if (args.segments)
    texts.emplace_back("segments", fmt::format("{}\n{}", segments_text(compiled.localized()),
                                               compiled.compiled_specialization().segment_reasons));
  if (args.schedule)
    texts.emplace_back("schedule",
                       fmt::format("{}\n{}\n{}\n", explain_schedules(compiled.localized()),
                                   kernel_table(compiled.report().kernels), counts_text(compiled.report())));
  if (args.cache) texts.emplace_back("cache", cache_text(loaded, compiled, metadata));
  for (const auto& [what, text] : texts) fmt::print("{}", text);
  if (!args.json.empty()) write_explain_json(args, loaded, compiled, texts);
  return 0;
}

}  // namespace plait::tool
