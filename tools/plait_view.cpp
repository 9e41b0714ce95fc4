// plait view: a page about a program and its run.
#include <filesystem>

#include "api/trace.h"
#include "api/view_document.h"
#include "base/error.h"
#include "base/file_writer.h"
#include "plait_command.h"
#include "plait_values.h"

namespace plait::tool {

namespace {

// What `plait run --trace` wrote, if that is what FILE holds.
std::optional<std::string> recorded_run(const Arguments& args) {
  if (args.file.empty() || program_bytes(args)) return std::nullopt;
  std::string text = read_source(args);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos || text[first] != '{') return std::nullopt;
  if (!args.sets.empty() || !args.inputs.empty() || !args.device.empty() || args.ranks || !args.options.empty() ||
      !args.dumps.empty() || args.no_run || args.comm != "local")
    throw UserError(fmt::format("`{}` is a run that is over: nothing about it can be said", args.file), "view",
                    "leave all flags but --page away");
  return text;
}

void write_page(const Arguments& args, std::string_view document) {
  write_whole_file(args.page, view_page(document), "--page");
  fmt::print("wrote {}\n", args.page);
}

bool writes_here(const Compiled& compiled) { return !compiled.job() || compiled.job()->rank() == 0; }

}  // namespace

std::string default_page(const Arguments& args) {
  const std::string stem = std::filesystem::path(args.file).stem().string();
  return (stem.empty() || args.text || args.file == "-" ? "program" : stem) + ".view.html";
}

Tensors run_timed(const Fusion& fusion, Compiled& compiled, const Tensors& inputs) {
  compiled.set_step_timing(true);
  compiled.run(with_own_copies(fusion, inputs));  // its memory is new
  return compiled.run(with_own_copies(fusion, inputs));
}

void write_trace(const Arguments& args, const Compiled& compiled) {
  const std::vector<StepTrace> trace = gather_trace(compiled);
  if (writes_here(compiled)) write_whole_file(args.trace, trace_json(compiled, trace) + "\n", "--trace");
}

int view_command(const Arguments& args) {
  if (const auto run = recorded_run(args)) {
    write_page(args, *run);
    return 0;
  }
  const Loaded loaded = load(args);
  Compiled compiled = loaded.program();
  std::vector<StepTrace> trace;
  if (args.no_run) {
    compiled.compile_for(input_metadata(loaded));
  } else {
    run_timed(*loaded.fusion, compiled, make_inputs(args, loaded));
    trace = gather_trace(compiled);
  }
  if (writes_here(compiled)) write_page(args, view_document(compiled, trace));
  return 0;
}

}  // namespace plait::tool
