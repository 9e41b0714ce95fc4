#include "plait_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "api/or_null.h"
#include "backend/cuda/nvrtc.h"
#include "base/error.h"
#include "base/file_writer.h"
#include "base/machine_load.h"
#include "reference/draw_inputs.h"
#include "session/bind_inputs.h"

namespace plait::tool {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: the largest number stands for it.
Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::numeric_limits<double>::max();
}

Json kernel_json(const KernelReport& kernel) {
  return {{"name", kernel.name},
          {"schedule", kernel.schedule},
          {"arch", kernel.arch.empty() ? Json(nullptr) : Json(kernel.arch)},
          {"registers", or_null<Json>(kernel.facts.registers)},
          {"spill_bytes", or_null<Json>(kernel.facts.spill_bytes)},
          {"shared_bytes", or_null<Json>(kernel.facts.shared_bytes)},
          {"instructions", or_null<Json>(kernel.facts.instructions)},
          {"compile_ms", kernel.facts.compile_ms},
          {"from_disk", kernel.facts.from_disk}};
}

Json versions_json() {
  Json out = {{"plait", version()}};
  if (auto library = loaded_library("libLLVM")) out["llvm"] = library->version;
  if (auto library = loaded_library("libdnnl")) out["onednn"] = library->version;
  if (loaded_library("libnvrtc.so")) out["nvrtc"] = nvrtc_version();
  return out;
}

using Shapes = std::map<std::string, std::vector<int64_t>>;

// Global shapes of the outputs, from the sizes that are known without inputs.
Shapes output_shapes(const Loaded& loaded, const Compiled& compiled) {
  sym::Environment given(loaded.options.sizes.begin(), loaded.options.sizes.end());
  for (const auto& [name, value] : mesh_symbols(loaded.fusion->mesh(), compiled.mesh())) given[name] = value;
  const sym::Environment sizes = reference::bind_sizes(*loaded.fusion, {}, given);
  Shapes out;
  for (const TensorView* t : loaded.fusion->outputs())
    for (sym::Expr extent : t->shape()) out[t->name].push_back(sym::evaluate(extent, sizes));
  return out;
}

// The input in whose memory the program makes an output, or null.
Json in_place_of(const Program& program, const std::string& output) {
  for (ValueId id : program.outputs)
    if (const ProgramValue& value = program.value(id); value.name == output && value.in_place_of)
      return program.value(*value.in_place_of).name;
  return nullptr;
}

// With the errors of `checked`, which may be null.
Json outputs_json(const Loaded& loaded, const Compiled& compiled, const Shapes& shapes, const ProgramCheck* checked) {
  const auto& local = compiled.report().local_shapes;
  Json out = Json::object();
  for (const TensorView* t : loaded.fusion->outputs()) {
    const auto shape = shapes.find(t->name);
    const auto pieces = local.find(t->name);
    Json& entry = out[t->name];
    entry["shape"] = shape == shapes.end() ? Json::array() : Json(shape->second);
    entry["local_shapes"] = pieces == local.end() ? Json::array() : Json(pieces->second);
    entry["dtype"] = plait::name(t->dtype);
    entry["in_place_of"] = in_place_of(compiled.program(), t->name);
    if (checked == nullptr) continue;
    for (const OutputCheck& output : checked->outputs) {
      if (output.name != t->name) continue;
      entry["max_error"] = number(output.reference.max_error);
      entry["max_abs_error"] = number(output.reference.max_abs_error);
      if (!output.one_rank) continue;
      entry["one_rank"] = {{"max_error", number(output.one_rank->max_error)},
                           {"max_abs_error", number(output.one_rank->max_abs_error)}};
    }
  }
  return out;
}

// Every field, null until it is known.
Json document(const Arguments& args) {
  Json out = {{"format", kJsonFormat}, {"command", args.command}, {"ok", true}};
  for (const char* field :
       {"max_error", "max_abs_error", "kernels", "launches", "library_calls", "collectives", "bytes_moved",
        "bytes_least", "arena_bytes", "arena_least", "bytes_copied", "kernel_list", "wire_bytes", "wire_bytes_min"})
    out[field] = nullptr;
  out["times"] = {{"compile_ms", nullptr}, {"run_ms", nullptr},    {"runs", nullptr},  {"first_ms", nullptr},
                  {"least_ms", nullptr},   {"median_ms", nullptr}, {"steps", nullptr}, {"load", nullptr}};
  for (const char* field : {"outputs", "ranks", "device"}) out[field] = nullptr;
  out["versions"] = versions_json();
  return out;
}

void set_kernels(Json& json, const std::vector<KernelReport>& kernels) {
  json["kernel_list"] = Json::array();
  for (const KernelReport& kernel : kernels) json["kernel_list"].push_back(kernel_json(kernel));
}

void set_counts(Json& json, const Report& report) {
  json["kernels"] = report.kernels.size();
  json["launches"] = report.launches;
  json["library_calls"] = report.library_calls;
  json["collectives"] = report.collectives;
}

// What is known before a run, and the shapes of the outputs.
Json compiled_json(const Arguments& args, const Loaded& loaded, const Compiled& compiled, const Shapes& shapes,
                   const ProgramCheck* checked = nullptr) {
  const Report& report = compiled.report();
  Json out = document(args);
  set_counts(out, report);
  out["bytes_moved"] = report.bytes_moved;
  out["bytes_least"] = report.bytes_least;
  out["arena_bytes"] = report.arena_bytes;
  out["arena_least"] = report.arena_least;
  set_kernels(out, report.kernels);
  out["times"]["compile_ms"] = report.compile_ms;
  out["outputs"] = outputs_json(loaded, compiled, shapes, checked);
  out["ranks"] = compiled.mesh().ranks();
  out["device"] = loaded.options.device;
  return out;
}

// Names of a file may be no UTF-8.
std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

void write(const Arguments& args, const Json& json) { write_whole_file(args.json, text_of(json), "--json"); }

}  // namespace

void write_run_json(const Arguments& args, const Loaded& loaded, const Compiled& compiled, const Tensors& outputs,
                    std::vector<double> runs, const ProgramCheck* checked) {
  Shapes shapes;
  for (const auto& [name, tensor] : outputs) shapes[name] = tensor.shape;
  Json json = compiled_json(args, loaded, compiled, shapes, checked);
  if (checked) {
    const auto outcome = checked->all.outcome();
    json["ok"] = outcome == reference::Outcome::undecided ? Json(nullptr) : Json(outcome == reference::Outcome::ok);
    json["max_error"] = number(checked->all.max_error);
    json["max_abs_error"] = number(checked->all.max_abs_error);
  }
  const Report& report = compiled.report();
  json["bytes_copied"] = report.bytes_copied;
  json["wire_bytes"] = report.wire_bytes;
  json["wire_bytes_min"] = report.wire_bytes_min;
  Json& times = json["times"];
  times["run_ms"] = report.run_ms;
  times["runs"] = runs.size();
  times["first_ms"] = runs.front();
  std::ranges::sort(runs);
  times["least_ms"] = runs.front();
  times["median_ms"] = runs[runs.size() / 2];
  if (const auto load = machine_load()) times["load"] = *load;
  if (!report.step_ms.empty()) times["steps"] = Json::array();
  for (const auto& [step, ms] : report.step_ms) times["steps"].push_back({{"step", step}, {"ms", ms}});
  write(args, json);
}

void write_tune_json(const Arguments& args, const Loaded& loaded, const TuneResult& result) {
  Json out = compiled_json(args, loaded, *result.program, output_shapes(loaded, *result.program));
  Json& tune = out["tune"];
  tune = {{"before_ms", result.before_ms},
          {"after_ms", result.after_ms},
          {"programs", result.programs},
          {"finished", result.finished},
          {"schedules", Json::array()}};
  for (const TunedSchedule& s : result.schedules) {
    Json entry = {{"launch", s.label},        {"launches", s.launches}, {"before", s.before}, {"after", s.after},
                  {"before_ms", s.before_ms}, {"after_ms", s.after_ms}, {"tried", s.tried},   {"refused", s.refused}};
    entry["candidates"] = Json::array();
    for (const TunedSchedule::Candidate& c : s.candidates)
      entry["candidates"].push_back({{"schedule", c.schedule}, {"ms", c.ms}, {"best_ms", c.best_ms}});
    tune["schedules"].push_back(std::move(entry));
  }
  if (const auto load = machine_load()) out["times"]["load"] = *load;
  write(args, out);
}

void write_compiled_json(const Arguments& args, const Loaded& loaded, const Compiled& compiled) {
  write(args, compiled_json(args, loaded, compiled, output_shapes(loaded, compiled)));
}

void write_explain_json(const Arguments& args, const Loaded& loaded, const Compiled& compiled, const Texts& texts) {
  Json json = compiled_json(args, loaded, compiled, output_shapes(loaded, compiled));
  for (const auto& [what, text] : texts) json["explain"][what] = text;
  write(args, json);
}

void write_kernels_json(const Arguments& args, const std::vector<Report>& reports) {
  Json json = document(args);
  set_counts(json, reports.front());
  std::vector<KernelReport> kernels;
  double compile_ms = 0;
  for (const Report& report : reports) {
    kernels.insert(kernels.end(), report.kernels.begin(), report.kernels.end());
    compile_ms += report.compile_ms;
  }
  set_kernels(json, kernels);
  json["times"]["compile_ms"] = compile_ms;
  write(args, json);
}

void write_import_json(const Arguments& args, const ImportedModel& model) {
  Json json = document(args);
  json["import"] = {{"format", nullptr},         {"inputs", Json::object()},  {"outputs", Json::object()},
                    {"weights", Json::object()}, {"weights_folder", nullptr}, {"notes", Json::array()},
                    {"problems", Json::array()}};
  Json& out = json["import"];
  if (const Imported* made = model.made) {
    out["format"] = made->format;
    out["notes"] = made->notes;
    if (!made->weights.empty()) out["weights_folder"] = args.weights;
    const auto put = [&](Json& to, const TensorView* t) {
      const auto name = made->renamed.find(t->name);
      to[t->name] = {{"name", name == made->renamed.end() ? "" : name->second}, {"type", plait::type_text(*t)}};
    };
    for (const TensorView* t : made->fusion->inputs())
      put(out[made->weights.contains(t->name) ? "weights" : "inputs"], t);
    for (const TensorView* t : made->fusion->outputs()) put(out["outputs"], t);
  }
  if (const ImportError* error = model.error) {
    json["ok"] = false;
    json["error"] = {{"what", error->message()}, {"where", error->where()}, {"remedy", error->remedy()}};
    for (const ImportProblem& each : error->problems())
      out["problems"].push_back({{"reason", each.reason},
                                 {"op", each.op.empty() ? Json(nullptr) : Json(each.op)},
                                 {"count", each.count},
                                 {"nodes", each.nodes},
                                 {"remedy", each.remedy}});
  }
  write(args, json);
}

void write_text_json(const Arguments& args, const std::string& stage, const std::string& text) {
  Json json = document(args);
  if (is_program_text(text)) {
    const Program program = parse_program(text);
    json["kernels"] = program.kernels.size();
    json["launches"] = program.count(StepKind::LaunchStep);
    json["library_calls"] = program.count(StepKind::LibraryStep);
    json["collectives"] = program.count(StepKind::CollectiveStep);
    json["ranks"] = program.devices.ranks();
  }
  json["stage"] = stage;
  json["text"] = text;
  write(args, json);
}

void write_json_error(const Arguments& args, const Error& error) {
  if (args.json.empty()) return;
  Json json = document(args);
  json["ok"] = false;
  json["error"] = {{"what", error.message()}, {"where", error.where()}, {"remedy", error.remedy()}};
  try {
    write(args, json);
  } catch (const UserError&) {  // the error that it is about is told
  }
}

}  // namespace plait::tool
