// plait run: compile, run, print, check, report.
#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"
#include "plait_command.h"
#include "plait_npy.h"
#include "plait_values.h"

namespace plait::tool {

namespace {

using OutFiles = std::vector<std::pair<std::string, std::string>>;  // output, path

OutFiles out_files(const Arguments& args, const Fusion& fusion) {
  OutFiles out;
  std::vector<std::string> names;
  for (const TensorView* t : fusion.outputs()) names.push_back(t->name);
  for (const auto& word : args.outs) {
    auto named = name_and_value(word, "--out");
    if (std::find(names.begin(), names.end(), named.first) == names.end())
      throw UserError(fmt::format("fusion @{} has no output `{}`", fusion.name(), named.first), "--out",
                      suggestion(named.first, names));
    out.push_back(std::move(named));
  }
  return out;
}

std::string error_text(const reference::CheckResult& result) {
  std::string out = fmt::format("max_error = {:.4g}, max_abs_error = {:.4g}", result.max_error, result.max_abs_error);
  int64_t excused = 0;
  for (const auto& [name, count] : result.excused) excused += count;
  if (excused > 0) out += fmt::format(", {} excused", excused);
  return out;
}

void print_checked(const Checked& checked) {
  for (const OutputCheck& output : checked.outputs) {
    fmt::print("check {}: {}\n", output.name, error_text(output.reference));
    if (output.one_rank) fmt::print("check {} against one rank: {}\n", output.name, error_text(*output.one_rank));
  }
  fmt::print("check {}: {}\n", checked.all.ok ? "ok" : "failed", error_text(checked.all));
}

void print_times(const Report& report, std::vector<double> runs) {
  fmt::print("compile: {:.3f} ms\n", report.compile_ms);
  fmt::print("first run: {:.3f} ms", runs.front());
  std::sort(runs.begin(), runs.end());
  if (runs.size() > 1)
    fmt::print("; of {} runs: {:.3f} ms least, {:.3f} ms median", runs.size(), runs.front(), runs[runs.size() / 2]);
  fmt::print("\n");
  std::vector<std::vector<std::string>> rows = {{"ms, all ranks of one run", "step"}};
  for (const auto& [step, ms] : report.step_ms) rows.push_back({fmt::format("{:.3f}", ms), step});
  if (rows.size() > 1) fmt::print("{}", table(rows));
}

std::string plural(int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

void print_summary(const Compiled& compiled, const std::string& device) {
  const Report& report = compiled.report();
  fmt::print("{} on {}: {}, {}, {}, {} B on the wire (least {} B)\n", plural(compiled.mesh().ranks(), "rank", "ranks"),
             device, plural(static_cast<int64_t>(report.kernels.size()), "kernel", "kernels"),
             plural(report.library_calls, "library call", "library calls"),
             plural(report.collectives, "collective", "collectives"), report.wire_bytes, report.wire_bytes_min);
}

// The same fusion with every mesh axis 1.
Tensors run_on_one_rank(const Loaded& loaded, const Tensors& inputs) {
  CompileOptions options = loaded.options;
  options.ranks.reset();
  options.one_rank = true;
  options.dumps = nullptr;
  return compile(*loaded.fusion, options).run(inputs);
}

sym::Environment all_sizes(const Loaded& loaded, const Compiled& compiled,
                           const std::map<std::string, Tensor>& inputs) {
  sym::Environment given(loaded.options.sizes.begin(), loaded.options.sizes.end());
  const auto& axes = loaded.fusion->mesh().axes();
  for (size_t i = 0; i < axes.size(); ++i)
    if (!axes[i].symbol.empty()) given[axes[i].symbol] = compiled.mesh().size(static_cast<int>(i));
  return reference::bind_sizes(*loaded.fusion, inputs, given);
}

}  // namespace

Checked check_outputs(const Arguments& args, const Loaded& loaded, const Compiled& compiled, const Tensors& inputs,
                      const Tensors& outputs) {
  const std::map<std::string, Tensor> tensors(inputs.begin(), inputs.end());
  const sym::Environment sizes = all_sizes(loaded, compiled, tensors);
  reference::EvaluateOptions evaluate;
  evaluate.sizes = sizes;
  evaluate.partial = reference::partials(compiled.sharded(), compiled.mesh(), sizes);
  const reference::Results want = reference::evaluate(*loaded.fusion, tensors, evaluate);
  const bool several = compiled.mesh().ranks() > 1;
  reference::Results want_one;
  Tensors one;
  if (several) {
    evaluate.partial.clear();
    want_one = reference::evaluate(*loaded.fusion, tensors, evaluate);
    one = run_on_one_rank(loaded, inputs);
  }
  Checked out;
  const reference::CheckOptions options{args.exact};
  for (const TensorView* t : loaded.fusion->outputs()) {
    auto got = outputs.find(t->name);
    PLAIT_CHECK(got != outputs.end(), "output %{} is missing", t->name);
    OutputCheck check{t->name, reference::compare(t->name, want.at(t->name), got->second, options), {}};
    out.all.merge(check.reference);
    if (several) {
      check.one_rank = reference::compare_runs(t->name, want_one.at(t->name), one.find(t->name)->second,
                                               want.at(t->name), got->second, options);
      out.all.merge(*check.one_rank);
    }
    out.outputs.push_back(std::move(check));
  }
  return out;
}

int run_command(const Arguments& args) {
  const Loaded loaded = load(args);
  const OutFiles files = out_files(args, *loaded.fusion);
  Compiled compiled = compile(*loaded.fusion, loaded.options);
  const Tensors inputs = make_inputs(args, loaded);
  if (args.repeat < 1) throw UserError(fmt::format("{} runs", args.repeat), "--repeat", "give a number from 1");
  Tensors outputs;
  std::vector<double> runs;
  for (int64_t i = 0; i < args.repeat; ++i) {
    outputs = compiled.run(inputs);
    runs.push_back(compiled.report().run_ms);
  }
  if (args.times) {  // one run more, whose steps are timed
    compiled.set_step_timing(true);
    outputs = compiled.run(inputs);
  }
  for (const TensorView* t : loaded.fusion->outputs()) {
    const Tensor& out = outputs.find(t->name)->second;
    fmt::print("{}: {} = {}\n", t->name, type_text(out.dtype, out.shape), value_text(out));
  }
  for (const auto& [name, path] : files) write_npy(path, outputs.find(name)->second);
  print_summary(compiled, loaded.options.device);
  if (args.times) print_times(compiled.report(), runs);
  std::optional<Checked> checked;
  if (args.check) {
    checked = check_outputs(args, loaded, compiled, inputs, outputs);
    print_checked(*checked);
  }
  if (!args.json.empty()) write_json(args, loaded, compiled, outputs, checked ? &*checked : nullptr);
  if (!checked || checked->all.ok) return 0;
  return report_internal_error(args, InternalError("the check failed: " + checked->all.message,
                                                   fmt::format("fusion @{}", loaded.fusion->name()), ""));
}

}  // namespace plait::tool
