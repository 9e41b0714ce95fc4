// What a program shows of itself and of its runs.
#include <algorithm>
#include <set>

#include "api/step_facts.h"
#include "api/trace.h"
#include "api/view_document.h"
#include "base/error.h"
#include "base/file_writer.h"
#include "programs.h"

namespace plait::python {
namespace {

using Spans = std::vector<std::tuple<int64_t, size_t, int64_t, int64_t>>;  // StepTrace

Spans spans(Program& program) {
  return locked(program, [&] {
    Spans out;
    for (const StepTrace& t : program.compiled->report().trace) out.emplace_back(t.rank, t.step, t.begin, t.end);
    return out;
  });
}

std::string trace_of_spans(Program& program, const Spans& spans) {
  return locked(program, [&] {
    std::vector<StepTrace> trace;
    for (const auto& [rank, step, begin, end] : spans) {
      if (step >= program.compiled->program().steps.size())
        throw UserError(fmt::format("the program has no step {}", step), "trace",
                        "take steps of the specialization that ran last");
      trace.push_back({rank, step, begin, end});
    }
    std::stable_sort(trace.begin(), trace.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    return trace_json(*program.compiled, trace);
  });
}

// What a rank does at once.
struct ProgramStep {
  std::string name, kind, schedule, text;
  std::vector<std::string> ops;
  int64_t bytes = 0;
  double run_ms = 0;
};

std::vector<ProgramStep> steps(Program& program) {
  return locked(program, [&] {
    const Compiled& compiled = *program.compiled;
    const plait::Program& made = compiled.program();
    const std::vector<StepFacts> facts = step_facts(compiled);
    std::vector<ProgramStep> out(facts.size());
    for (size_t s = 0; s < facts.size(); ++s) {
      const Step& step = *made.steps[s];
      out[s] = {facts[s].label, std::string(name(step.kind)), "", describe(made, step), {}, facts[s].bytes};
      if (facts[s].kernel) out[s].schedule = made.kernels[*facts[s].kernel].schedule;
      for (size_t segment : facts[s].segments)
        for (const Op* op : compiled.localized().segments[segment].ops) out[s].ops.emplace_back(text_name(*op));
    }
    std::set<std::tuple<size_t, int64_t, int64_t>> seen;  // a collective of stepped ranks is one span of all of them
    for (const StepTrace& t : compiled.report().trace)
      if (seen.emplace(t.step, t.begin, t.end).second) out[t.step].run_ms += static_cast<double>(t.end - t.begin) * 1e-6;
    return out;
  });
}

void bind_steps(nb::module_& m) {
  nb::class_<ProgramStep>(m, "Step", "A step of a program, which every rank takes.")
      .def_ro("name", &ProgramStep::name, "`mlp_s2`, `linear %h`, `all_reduce %h`; of steps that do no work their kind.")
      .def_ro("kind", &ProgramStep::kind, "launch, library, collective, copy; alloc, record and wait do no work.")
      .def_ro("schedule", &ProgramStep::schedule, "Of a kernel; empty where it is none.")
      .def_ro("text", &ProgramStep::text, "Its line in the program.")
      .def_ro("ops", &ProgramStep::ops, "Which ops it computes, by name.")
      .def_ro("bytes", &ProgramStep::bytes, "That rank 0 reads and writes.")
      .def_ro("run_ms", &ProgramStep::run_ms, "In the last run that time_steps() timed, all ranks of this process together.")
      .def("__repr__", [](const ProgramStep& step) { return fmt::format("<plait.Step {}>", step.text); });
}

// The spans of all processes, where any of them timed a run; each asks, so that none waits for one that does not.
std::vector<StepTrace> last_trace(const Compiled& compiled) {
  try {
    return gather_trace(compiled);
  } catch (const UserError&) {
    return {};
  }
}

// One process of a job writes for all.
void write_here(const Compiled& compiled, const std::filesystem::path& path, const std::string& text, const char* where) {
  if (!compiled.job() || compiled.job()->rank() == 0) write_whole_file(path.string(), text, where);
}

void write_trace(Program& program, const std::filesystem::path& path) {
  locked(program, [&] {
    const Compiled& compiled = *program.compiled;
    write_here(compiled, path, trace_json(compiled, gather_trace(compiled)), "trace");
  });
}

void write_page(Program& program, const std::filesystem::path& path) {
  locked(program, [&] {
    const Compiled& compiled = *program.compiled;
    write_here(compiled, path, view_page(view_document(compiled, last_trace(compiled))), "view");
  });
}

}  // namespace

void bind_looks(nb::module_& m, nb::class_<Program>& programs) {
  bind_steps(m);
  programs
      .def("trace", write_trace, nb::arg("path"),
           "Writes when each rank was at which step of the last run that time_steps() timed: Chrome's trace events, for "
           "Perfetto and `plait view`. Where the job has several processes all call, and rank 0 writes. Raises UserError.")
      .def("view", write_page, nb::arg("path"),
           "Writes a page of HTML about the class that ran last, with the timeline of its last run where time_steps() timed "
           "it. Where the job has several processes all call, and rank 0 writes. Raises UserError.")
      .def("_spans", spans, "For plait.profile: (rank, step, begin, end) of the last timed run, of this process's ranks, in nanoseconds.")
      .def("_trace_of", trace_of_spans, nb::arg("spans"), "For plait.profile: the text of a trace.")
      .def_prop_ro("steps", steps, "What a rank of the class that ran last does, in order.");
}

}  // namespace plait::python
