// plait run: compile, run, print, check, report.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <map>

#include "api/step_facts.h"
#include "base/error.h"
#include "base/machine_load.h"
#include "base/suggest.h"
#include "device/occupancy.h"
#include "plait_command.h"
#include "plait_json.h"
#include "plait_npy.h"
#include "plait_rank.h"
#include "plait_values.h"
#include "session/boundary.h"
#include "session/devices.h"

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
  if (result.nan > 0) out += fmt::format(", {} NaN on both sides", result.nan);
  return out;
}

std::string_view outcome_text(reference::Outcome outcome) {
  switch (outcome) {
    case reference::Outcome::ok:
      return "ok";
    case reference::Outcome::undecided:
      return "undecided";
    case reference::Outcome::wrong:
      return "failed";
  }
  return "";
}

}  // namespace

void print_checked(const ProgramCheck& checked) {
  for (const OutputCheck& output : checked.outputs) {
    fmt::print("check {}: {}\n", output.name, error_text(output.reference));
    if (output.one_rank) fmt::print("check {} against one rank: {}\n", output.name, error_text(*output.one_rank));
  }
  if (!checked.one_rank_skipped.empty()) fmt::print("check against one rank: skipped, {}\n", checked.one_rank_skipped);
  const reference::Outcome outcome = checked.all.outcome();
  fmt::print("check {}: {}\n", outcome_text(outcome), error_text(checked.all));
  if (outcome == reference::Outcome::undecided) fmt::print("  {}\n", checked.all.message);
}

int exit_code(const Arguments& args, const Loaded& loaded, const reference::CheckResult& checked) {
  switch (checked.outcome()) {
    case reference::Outcome::ok:
      return 0;
    case reference::Outcome::undecided:
      return kUndecided;
    case reference::Outcome::wrong:
      break;
  }
  return report_internal_error(args, InternalError("the check failed: " + checked.message,
                                                   fmt::format("fusion @{}", loaded.fusion->name()), ""));
}

namespace {

// Of the last timed run; a step of several ranks shows what the ranks of this process took together.
void print_steps(const Compiled& compiled) {
  const Report& report = compiled.report();
  std::vector<std::vector<std::string>> rows = {{"ms", "GB/s", "step"}};
  const std::vector<StepFacts> facts = step_facts(compiled);
  size_t next = 0;
  double all = 0;
  for (size_t s = 0; s < facts.size() && next < report.step_ms.size(); ++s) {
    if (!is_work(*compiled.program().steps[s])) continue;
    const auto& [step, ms] = report.step_ms[next++];
    all += ms;
    const bool rate = compiled.mesh().ranks() == 1 && ms > 0;
    rows.push_back(
        {fmt::format("{:.3f}", ms), rate ? fmt::format("{:.1f}", double(facts[s].bytes) / ms * 1e-6) : "-", step});
  }
  if (rows.size() == 1) return;
  const bool one = compiled.mesh().ranks() == 1;
  fmt::print("steps of a run of its own, {:.3f} ms{}\n{}", all,
             one ? "" : ": the ranks of this process together, waits included", table(rows));
}

void print_times(const Compiled& compiled, std::vector<double> runs) {
  const Report& report = compiled.report();
  if (const std::string loaded = load_warning(); !loaded.empty()) fmt::print(stderr, "warning: {}\n", loaded);
  fmt::print("{}\n", compile_text(report));
  fmt::print("first run: {:.3f} ms", runs.front());
  std::sort(runs.begin(), runs.end());
  if (runs.size() > 1)
    fmt::print("; of {} runs: {:.3f} ms least, {:.3f} ms median", runs.size(), runs.front(), runs[runs.size() / 2]);
  fmt::print("\n");
  fmt::print("copied: {} B of inputs and outputs in a run\n", report.bytes_copied);
  print_steps(compiled);
}

// What the assembler says of each kernel's registers, by the names of launches.
std::map<std::string, int> registers_of(const Loaded& loaded, const Target& target) {
  std::map<std::string, int> out;
  for (const KernelReport& kernel : report_for(loaded, target).kernels)
    out[kernel.name] = kernel.facts.registers.value_or(0);
  return out;
}

// Registers, how full multiprocessors are, and the bytes that each of them has asked of device memory.
std::vector<std::string> occupancy_cells(const KernelMeter& m, int registers, const Target& target) {
  const Occupancy of =
      occupancy(target, {static_cast<int>(m.threads), registers, static_cast<int64_t>(m.shared_bytes)});
  const uint64_t there = std::min<uint64_t>(
      static_cast<uint64_t>(of.blocks),
      (m.blocks + static_cast<uint64_t>(target.multiprocessors) - 1) / static_cast<uint64_t>(target.multiprocessors));
  return {registers > 0 ? fmt::to_string(registers) : "-", fmt::format("{:.0f} %, {}", 100 * of.share, of.limit),
          fmt::to_string(m.bytes_in_flight), fmt::to_string(m.bytes_in_flight * m.threads * there)};
}

// What a GPU's memory would have to do in the last run, by kernel, and how full its multiprocessors would be.
void print_meters(const std::vector<KernelMeter>& meters, const std::map<std::string, int>& registers,
                  const Target& target) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "launches", "instructions of threads", "active lanes", "float", "integer", "memory", "control",
       "together", "other", "sectors", "over the least", "passes of shared memory", "conflicts", "registers",
       "occupancy, by", "B in flight of a thread", "of a multiprocessor"}};
  const auto percent = [](uint64_t part, uint64_t whole) {
    return fmt::format("{:.1f} %",
                       100.0 * static_cast<double>(part) / static_cast<double>(std::max<uint64_t>(whole, 1)));
  };
  for (const KernelMeter& m : meters) {
    const double least = static_cast<double>(std::max<uint64_t>(m.least_sectors, 1));
    rows.push_back({m.kernel, fmt::to_string(m.launches), fmt::to_string(m.thread_instructions),
                    percent(m.thread_instructions, 32 * m.warp_instructions)});
    for (uint64_t each : m.kinds) rows.back().push_back(percent(each, m.thread_instructions));
    for (const std::string& text :
         {fmt::to_string(m.sectors), fmt::format("{:.3f}", static_cast<double>(m.sectors) / least),
          fmt::to_string(m.shared_passes), fmt::to_string(m.shared_passes - m.least_passes)})
      rows.back().push_back(text);
    auto known = registers.find(m.kernel);
    if (known == registers.end()) known = registers.find(m.kernel.substr(0, m.kernel.rfind("_phase")));
    for (const std::string& text : occupancy_cells(m, known == registers.end() ? 0 : known->second, target))
      rows.back().push_back(text);
  }
  fmt::print("{}", table(rows));
}

void print_summary(const Compiled& compiled, const std::string& device) {
  const Report& report = compiled.report();
  fmt::print("{} {} on {}: {}, {} B on the wire (least {} B)\n", compiled.mesh().ranks(),
             compiled.mesh().ranks() == 1 ? "rank" : "ranks", device, counts_text(report), report.wire_bytes,
             report.wire_bytes_min);
}

}  // namespace

namespace {

// What the work of rank 0 after the run found, on every process of the job. It may take longer than a collective may:
// meanwhile rank 0 sends word that it is alive.
reference::Outcome agree(Bootstrap* job, const std::function<reference::Outcome()>& work) {
  if (!job || job->size() == 1) return work();
  leave_steps(job->rank(), job->rank() == 0 ? "checking" : "waiting for the check");
  std::future<reference::Outcome> done;
  if (job->rank() == 0) done = std::async(std::launch::async, work);
  for (;;) {
    std::string_view word = "busy";
    if (done.valid() && done.wait_for(std::chrono::milliseconds(200)) == std::future_status::ready) {
      try {
        word = outcome_text(done.get());
      } catch (...) {
        job->all_gather("failed");
        throw;
      }
    }
    const std::string said = job->all_gather(word).front();
    for (auto outcome : {reference::Outcome::ok, reference::Outcome::undecided, reference::Outcome::wrong})
      if (said == outcome_text(outcome)) return outcome;
  }
}

}  // namespace

int run_command(const Arguments& args) {
  machine_load();  // before this process adds to it
  Loaded loaded = load(args);
  const OutFiles files = out_files(args, *loaded.fusion);
  if (watches_steps())
    loaded.options.on_step = [then = loaded.options.on_step](int64_t rank, size_t step, const std::string& text) {
      enter_step(rank, static_cast<int64_t>(step), text);
      if (then) then(rank, step, text);
    };
  Compiled compiled = loaded.program();
  const Tensors inputs = make_inputs(args, loaded);
  if (args.repeat < 1) throw UserError(fmt::format("{} runs", args.repeat), "--repeat", "give a number from 1");
  if (args.stats) {
    if (!is_simulated(loaded.options.device))
      throw UserError("--stats is for simulated GPUs", "device " + loaded.options.device,
                      "run on sim:sm_80 or sim:sm_90a");
    meter_simulated_gpus(true);
  }
  Tensors outputs;
  std::vector<double> runs;
  for (int64_t i = 0; i < args.repeat; ++i) {
    if (args.stats) take_meters();
    outputs = compiled.run(with_own_copies(*loaded.fusion, inputs));
    runs.push_back(compiled.report().run_ms);
  }
  if (args.times || !args.trace.empty()) outputs = run_timed(*loaded.fusion, compiled, inputs);
  if (!args.trace.empty()) write_trace(args, compiled);
  std::optional<ProgramCheck> checked;
  const reference::Outcome outcome = agree(compiled.job(), [&] {  // rank 0 prints and checks for all
    for (const TensorView* t : loaded.fusion->outputs()) {
      const Tensor& out = outputs.find(t->name)->second;
      fmt::print("{}: {} = {}\n", t->name, type_text(out.dtype, out.shape), value_text(out));
    }
    for (const auto& [name, path] : files) write_npy(path, outputs.find(name)->second);
    print_summary(compiled, loaded.options.device);
    if (args.times) print_times(compiled, runs);
    if (args.stats) {
      const std::vector<KernelMeter> meters = take_meters();
      const Target target = target_named(simulated_architecture(loaded.options.device));
      print_meters(meters, registers_of(loaded, target), target);
    }
    if (args.check) {
      checked = check_program(*loaded.fusion, loaded.options, compiled, inputs, outputs, {.exact = args.exact});
      print_checked(*checked);
    }
    if (!args.json.empty()) write_run_json(args, loaded, compiled, outputs, runs, checked ? &*checked : nullptr);
    return checked ? checked->all.outcome() : reference::Outcome::ok;
  });
  if (checked) return exit_code(args, loaded, checked->all);
  if (outcome == reference::Outcome::ok) return 0;
  return outcome == reference::Outcome::undecided ? kUndecided : 2;  // rank 0 has said it
}

}  // namespace plait::tool
