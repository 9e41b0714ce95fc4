// Compiling and running, with Python's lock released.
#include <algorithm>
#include <mutex>
#include <shared_mutex>

#include "backend/cpu/cpu_device.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/suggest.h"
#include "call_arguments.h"
#include "interrupts.h"
#include "programs.h"
#include "session/bind_inputs.h"
#include "session/devices.h"
#include "api/explain.h"
#include "api/inspect.h"
#include "api/tune.h"
#include "streams.h"

namespace plait::python {
namespace {

using Arrays = nb::typed<nb::dict, nb::str, ArrayRef>;
using Capsules = nb::typed<nb::list, nb::any>;

std::string option_text(nb::handle value) {
  if (PyBool_Check(value.ptr())) return value.is(nb::handle(Py_True)) ? "true" : "false";
  return nb::cast<std::string>(nb::str(value));
}

// None: what the environment variable PLAIT_DUMP says.
std::vector<std::string> dump_requests(const nb::object& dumps) {
  if (dumps.is_none()) {
    const auto specs = environment("PLAIT_DUMP");
    return specs ? std::vector<std::string>{*specs} : std::vector<std::string>{};
  }
  if (nb::isinstance<nb::str>(dumps)) return {nb::cast<std::string>(dumps)};
  std::vector<std::string> out;
  if (!nb::try_cast(dumps, out))
    throw UserError("dumps is neither text nor a list of texts", "compile", "give e.g. \"graph,kir@folder\"");
  return out;
}

// ---- The arguments of compile(), which refuse anything else with a sentence.

std::string shown(nb::handle value) {
  std::string text = nb::cast<std::string>(nb::repr(value));
  return text.size() <= 60 ? text : "a " + nb::cast<std::string>(value.type().attr("__name__"));
}

const FusionRef& fusion_of(nb::handle value) {
  if (nb::isinstance<FusionRef>(value)) return *nb::inst_ptr<FusionRef>(value);
  if (nb::isinstance<nb::str>(value))
    throw UserError("a text is no fusion", "compile", "read it first: plait.compile(plait.parse(text))");
  throw UserError(shown(value) + " is no fusion", "compile", "give a plait.Fusion; of a function plait.jit makes a program");
}

std::string text_of(nb::handle value, const char* what, const char* remedy) {
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  throw UserError(fmt::format("{} is {}", what, shown(value)), "compile", remedy);
}

int64_t whole_of(nb::handle value, const std::string& what, const std::string& remedy) {
  int64_t out = 0;
  if (PyBool_Check(value.ptr()) || !PyIndex_Check(value.ptr()) || !nb::try_cast(value, out))
    throw UserError(fmt::format("{} is {}", what, shown(value)), "compile", remedy);
  return out;
}

// Of a mapping: keys as texts, and values.
std::vector<std::pair<std::string, nb::object>> items_of(nb::handle value, const char* what, const char* remedy) {
  if (!nb::isinstance(value, nb::module_::import_("collections.abc").attr("Mapping")))
    throw UserError(fmt::format("{} is {}", what, shown(value)), "compile", remedy);
  std::vector<std::pair<std::string, nb::object>> out;
  for (nb::handle item : value.attr("items")()) {
    const nb::object key = item[nb::int_(0)];
    out.emplace_back(nb::cast<std::string>(nb::str(nb::handle(key))), item[nb::int_(1)]);
  }
  return out;
}

Sizes sizes_of(nb::handle given) {
  Sizes out;
  for (const auto& [name, value] : items_of(given, "sizes", "give a dict, sizes={\"n\": 4}"))
    out[name] = whole_of(value, "size " + name, "sizes are whole numbers, at least 0");
  return out;
}

std::shared_ptr<Program> compile_fusion(nb::handle given, const nb::object& device, const nb::object& communicator,
                                        const nb::object& ranks, const nb::object& sizes, const nb::object& options,
                                        const nb::object& dumps, const nb::kwargs& wrong) {
  for (auto [name, value] : wrong) {
    const auto word = nb::cast<std::string>(name);
    throw nb::type_error(fmt::format("compile() has no parameter `{}`; {}", word,
                                     suggestion(word, {"device", "comm", "ranks", "sizes", "options", "dumps"}))
                             .c_str());
  }
  const FusionRef& fusion = fusion_of(given);
  const std::string comm = text_of(communicator, "comm", "take local, local:SEED, local:threads, mpi or nccl");
  if (comm == "given")
    throw UserError("Python has no communicators to give", "compile, comm given",
                    "take local, local:SEED, local:threads, mpi or nccl");
  follow_loggers();
  auto out = std::make_shared<Program>();
  out->fusion = clone(*fusion.fusion);
  for (size_t i = 0; i < out->fusion->outputs().size(); ++i) out->results.push_back({.output = i});
  CompileOptions& how = out->options;
  if (!device.is_none()) how.device = text_of(device, "device", "name one of plait.devices(): device=\"cpu\"");
  how.comm = comm;
  if (!ranks.is_none()) how.ranks = whole_of(ranks, "ranks", "give a whole number, ranks=4");
  give_sizes(how.sizes, *out->fusion, sizes_of(sizes));
  for (const auto& [name, value] : items_of(options, "options", "give a dict, options={\"cpu_lanes\": 4}"))
    set_option(how.options, name, option_text(value));
  const std::vector<std::string> requests = dump_requests(dumps);
  for (const std::string& specs : requests) out->dumps.request(specs);
  if (!requests.empty()) how.dumps = &out->dumps;
  locked(*out, [&] {
    out->compiled = std::make_unique<Compiled>(compile(*out->fusion, how));
    out->device = &out->compiled->device();
  });
  return out;
}

std::shared_ptr<Program> load_program(const std::string& path) {
  follow_loggers();
  auto out = std::make_shared<Program>();
  locked(*out, [&] {
    out->compiled = std::make_unique<Compiled>(load(path));
    out->fusion = clone(out->compiled->fusion());
    out->device = &out->compiled->device();
  });
  for (size_t i = 0; i < out->fusion->outputs().size(); ++i) out->results.push_back({.output = i});
  return out;
}

// Runs `call` on the tensors, behind the work that writes them.
template <class Call>
Tensors run_locked(Program& program, const Given& given, void* stream, std::optional<int64_t> threads, Call call) {
  RunOptions how;
  how.stream = stream;
  how.threads = threads;
  how.outputs = given.outputs;
  how.donated = given.donated;
  Interrupts interrupts;
  how.stop = [&interrupts] { return interrupts.ask(); };
  return interrupts.guard([&] {
    return locked<std::shared_lock<std::shared_mutex>>(program, [&] {
      if (!program.device->host_memory())
        for (const auto& [queued, ordinal] : given.queued) wait_for(queued, *program.device, ordinal, stream);
      return call(given.tensors, how);
    });
  });
}

Arrays arrays(const Program& program, Tensors& tensors, void* stream) {
  nb::dict out;
  for (const TensorView* t : program.fusion->outputs()) {
    Tensor& tensor = tensors.at(t->name);
    const Queued queued = queued_on(stream, *program.device, tensor);
    out[nb::cast(t->name)] = nb::cast(ArrayRef{std::move(tensor), queued});
  }
  return out;
}

Arrays run(Program& program, const nb::args& positions, nb::object on, std::optional<int64_t> threads,
           nb::object out, nb::object donate, const nb::kwargs& keywords) {
  void* const stream = run_stream(on);
  const Given given = given_arrays(program, "run", positions, keywords, out, stream, donate);
  Tensors made = run_locked(program, given, stream, threads, [&](const Tensors& tensors, const RunOptions& how) {
    return program.compiled->run(tensors, how);
  });
  given.leave_donated();
  return arrays(program, made, stream);
}

// For adapters: DLPack capsules in the order of the fusion's inputs, and of the results, in the order of the stream.
Capsules run_capsules(Program& program, const Capsules& inputs, nb::object on) {
  const auto& names = program.fusion->inputs();
  const auto& outputs = program.fusion->outputs();
  if (inputs.size() != names.size())
    throw UserError(fmt::format("{} inputs, and the fusion has {}", inputs.size(), names.size()), "run",
                    "give one capsule for each input");
  void* const stream = run_stream(on);
  Given given;
  for (size_t i = 0; i < names.size(); ++i) given.add(names[i]->name, inputs[i], stream, written_by(*program.fusion, names[i]->name));
  const Tensors made = run_locked(
      program, given, stream, std::nullopt,
      [&](const Tensors& tensors, const RunOptions& how) { return program.compiled->run(tensors, how); });
  Capsules out;
  for (const ResultView& view : program.results)
    out.append(capsule_of(viewed(made.at(outputs.at(view.output)->name), view)));
  return out;
}

Arrays run_local(Program& program, int64_t rank, const nb::args& positions, nb::object on,
                 std::optional<int64_t> threads, nb::object out, nb::object donate, const nb::kwargs& keywords) {
  void* const stream = run_stream(on);
  const Given given = given_arrays(program, "run_local", positions, keywords, out, stream, donate);
  Tensors made = run_locked(program, given, stream, threads, [&](const Tensors& tensors, const RunOptions& how) {
    return program.compiled->run_local(rank, tensors, how);
  });
  given.leave_donated();
  return arrays(program, made, stream);
}

// A shape of numbers. UserError.
std::vector<int64_t> extents_of(nb::handle shape, const std::string& name) {
  std::vector<int64_t> out;
  if (!nb::try_cast(shape, out))
    throw UserError(fmt::format("{} is no shape", nb::cast<std::string>(nb::repr(shape))), "prepare, input %" + name,
                    "give a dtype and whole numbers: (plait.f32, (4, 1000))");
  return out;
}

// Of an input: an array, or (dtype, shape).
TensorMetadata metadata_of(nb::handle value, const std::string& name) {
  if (nb::isinstance<nb::tuple>(value) && nb::len(value) == 2)
    return {dtype_of(value[nb::int_(0)]), extents_of(value[nb::int_(1)], name)};
  const Tensor t = array_of(value, "input %" + name, nullptr).tensor;
  return {t.dtype, t.shape};
}

// Of arrays what run() takes with them; else, without `out` and `donate`, of row-major inputs.
void prepare(Program& program, const nb::args& positions, nb::object out, nb::object donate,
             const nb::kwargs& keywords) {
  NamedInputs inputs(*program.fusion, "prepare");
  const auto& named = inputs.read(positions, keywords);
  const auto is_metadata = [](const auto& item) { return nb::isinstance<nb::tuple>(item.second); };
  if (out.is_none() && donate.is_none() && std::ranges::any_of(named, is_metadata)) {
    Metadata metadata;
    for (const auto& [name, value] : named) metadata[name] = metadata_of(value, name);
    return locked(program, [&] { program.compiled->prepare(metadata); });
  }
  const Given given = given_arrays(program, "prepare", positions, keywords, out, nullptr, donate);
  RunOptions how;
  how.outputs = given.outputs;
  how.donated = given.donated;
  locked(program, [&] { program.compiled->prepare(given.tensors, how); });
}

// An interrupt ends the search; what it found until then is kept.
std::vector<TunedSchedule> tune_program(Program& program, const nb::args& positions, double seconds, int64_t rounds,
                                        bool keep, const nb::kwargs& keywords) {
  if (!(seconds >= 0) || rounds < 1)
    throw UserError(fmt::format("{} seconds and {} rounds", seconds, rounds), "tune",
                    "give seconds from 0 on, and at least one round");
  const Given given = given_arrays(program, "tune", positions, keywords, nb::none(), nullptr);
  bool interrupted = false;
  StatusLine line;
  const TuneOptions how{.seconds = seconds, .rounds = rounds, .keep = keep, .stop = [&] {
                          const nb::gil_scoped_acquire held;
                          if (PyErr_CheckSignals() != 0) {
                            PyErr_Clear();
                            interrupted = true;
                          }
                          return interrupted;
                        },
                        .progress = [&](const TuneProgress& p) { line.show(text_of(p, seconds)); }};
  return locked(program, [&] {
    TuneResult result = tune(program.compiled->fusion(), program.compiled->options(), given.tensors, how);
    *program.compiled = std::move(*result.program);
    return std::move(result.schedules);
  });
}

void bind_tuned(nb::module_& m) {
  nb::class_<TunedSchedule>(m, "TunedSchedule", "What Program.tune() found for the launches of one computation.")
      .def_ro("label", &TunedSchedule::label, "Of its first launch: `mlp_s2`.")
      .def_ro("launches", &TunedSchedule::launches, "How many launches of a run compute it.")
      .def_ro("before", &TunedSchedule::before, "The schedule that the scheduler chose.")
      .def_ro("after", &TunedSchedule::after, "The fastest one; equal where the chosen one stays.")
      .def_ro("before_ms", &TunedSchedule::before_ms, "Of all its launches in a run, the least of the rounds.")
      .def_ro("after_ms", &TunedSchedule::after_ms, "The same with the fastest schedule.")
      .def_ro("tried", &TunedSchedule::tried, "How many schedules were tried.")
      .def_prop_ro(
          "candidates",
          [](const TunedSchedule& s) {
            std::vector<std::tuple<std::string, double, double>> out;
            for (const auto& c : s.candidates) out.emplace_back(c.schedule, c.ms, c.best_ms);
            return out;
          },
          "Of each that was measured: schedule, ms, ms of the best one of its generation.")
      .def_ro("refused", &TunedSchedule::refused, "How many of them did not fit.")
      .def("__repr__", [](const TunedSchedule& s) {
        return fmt::format("<plait.TunedSchedule {}: {}, {:.4f} ms, before {:.4f}>", s.label, s.after, s.after_ms, s.before_ms);
      });
}

nb::typed<nb::dict, nb::str, nb::any> report(Program& program) {
  const Report r = locked(program, [&] { return program.compiled->report(); });
  nb::dict out;
  out["kernels"] = r.kernels.size();
  out["launches"] = r.launches;
  out["library_calls"] = r.library_calls;
  out["collectives"] = r.collectives;
  out["bytes_moved"] = r.bytes_moved;
  out["bytes_least"] = r.bytes_least;
  out["arena_bytes"] = r.arena_bytes;
  out["arena_least"] = r.arena_least;
  out["bytes_copied"] = r.bytes_copied;
  out["bytes_donated"] = r.bytes_donated;
  out["wire_bytes"] = r.wire_bytes;
  out["wire_bytes_min"] = r.wire_bytes_min;
  out["compile_ms"] = r.compile_ms;
  out["run_ms"] = r.run_ms;
  out["step_ms"] = r.step_ms;
  out["timed_runs"] = r.timed_runs;
  return out;
}

nb::typed<nb::dict, nb::str, int64_t> memory(Program& program) {
  const MemoryCounts counts = memory_counts(*program.device);
  nb::dict out;
  out["held_bytes"] = counts.held_bytes;
  out["in_use_bytes"] = counts.in_use_bytes;
  out["hits"] = counts.hits;
  out["misses"] = counts.misses;
  return out;
}

struct Kernel {
  KernelReport report;
  std::string source;
};

std::vector<Kernel> kernels(Program& program) {
  return locked(program, [&] {
    std::vector<Kernel> out;
    const auto& reports = program.compiled->report().kernels;
    for (size_t i = 0; i < reports.size(); ++i)
      out.push_back({reports[i], program.compiled->program().kernels[i].code.text});
    return out;
  });
}

std::string layout(Program& program, const std::string& name) {
  return locked(program, [&] { return layout_text(program.compiled->sharded(), name); });
}

std::vector<int64_t> local_shape(Program& program, const std::string& name, int64_t rank) {
  return locked(program, [&] { return plait::local_shape(program.compiled->report(), name, rank); });
}

std::string dump(Program& program, const std::string& stage) {
  return locked(program, [&] { return program.compiled->stage_text(stage); });
}

std::string explain(Program& program, const std::string& what) {
  return locked(program, [&] { return plait::explain(*program.compiled, what); });
}

void bind_kernels(nb::module_& m) {
  nb::class_<Kernel>(m, "Kernel", "A generated kernel.")
      .def_prop_ro("name", [](const Kernel& k) { return k.report.name; }, "The entry function.")
      .def_prop_ro("schedule", [](const Kernel& k) { return k.report.schedule; }, "Which scheduler made it.")
      .def_prop_ro("arch", [](const Kernel& k) { return k.report.arch; }, "`sm_90a`, `cpu`.")
      .def_prop_ro("source", [](const Kernel& k) { return k.source; }, "CUDA C++ or LLVM IR.")
      .def_prop_ro("registers", [](const Kernel& k) { return k.report.facts.registers; }, "None where it has none.")
      .def_prop_ro("spill_bytes", [](const Kernel& k) { return k.report.facts.spill_bytes; },
                   "Of registers, by thread; None where it has none.")
      .def_prop_ro("shared_bytes", [](const Kernel& k) { return k.report.facts.shared_bytes; },
                   "Of shared memory, by block; None where it has none.")
      .def_prop_ro("instructions", [](const Kernel& k) { return k.report.facts.instructions; },
                   "Of LLVM's, optimized. None on GPUs.")
      .def_prop_ro("compile_ms", [](const Kernel& k) { return k.report.facts.compile_ms; }, "Time of its compilation.")
      .def_prop_ro("from_disk", [](const Kernel& k) { return k.report.facts.from_disk; },
                   "Whether an earlier process compiled it.")
      .def_prop_ro("run_ms", [](const Kernel& k) { return k.report.run_ms; }, "In the last run that time_steps() timed.")
      .def("__repr__", [](const Kernel& k) {
        return fmt::format("<plait.Kernel {}: {}, {}>", k.report.name, k.report.schedule, k.report.arch);
      });
}

}  // namespace

void bind_programs(nb::module_& m) {
  const nb::sig kRun("def run(self, *inputs: typing.Any, stream: int | None = None, threads: int | None = None, "
                     "out: typing.Any = None, donate: bool | str | collections.abc.Collection[str] | None = None, "
                     "**named: typing.Any) -> dict[str, Array]");
  const nb::sig kCall("def __call__(self, *inputs: typing.Any, stream: int | None = None, threads: int | None = None, "
                      "out: typing.Any = None, donate: bool | str | collections.abc.Collection[str] | None = None, "
                      "**named: typing.Any) -> dict[str, Array]");
  const nb::sig kRunLocal("def run_local(self, rank: int, *pieces: typing.Any, stream: int | None = None, "
                          "threads: int | None = None, out: typing.Any = None, "
                          "donate: bool | str | collections.abc.Collection[str] | None = None, "
                          "**named: typing.Any) -> dict[str, Array]");
  bind_kernels(m);
  bind_tuned(m);
  auto programs = nb::class_<Program>(m, "Program", "A compiled fusion. Threads may share it: on the CPU, without collectives, their runs go on at once; other "
                          "calls queue up behind each other.")
      .def("run", run, nb::arg("inputs"), nb::arg("stream") = nb::none(), nb::arg("threads") = nb::none(),
           nb::arg("out") = nb::none(), nb::arg("donate") = nb::none(), nb::arg("named"), kRun,
           "Global arrays in, global Arrays out by name in the order of the fusion's outputs. Inputs are given by position, "
           "by keyword or as one dict, which those named `stream`, `threads`, `out` and `donate` need. `out`: arrays that outputs are "
           "written into, as a dict by name, a list in the order of the outputs with None for those to be made, or the one "
           "array of a fusion with one output; the Array that is returned is of the same memory. `donate`: names of inputs, or "
           "True for all, whose memory is given up: outputs are made there where they fit, a plait.Array that was given "
           "says so from then on, the contents of other arrays are undefined. The first run of a "
           "specialization compiles it. `stream`: a CUDA stream as an integer, 0 for the legacy default one, for one rank on a "
           "GPU: the work is queued there and the call does not wait, the inputs stay until it is done. None: the call "
           "waits. Raises UserError, CommError.")
      .def("__call__", run, nb::arg("inputs"), nb::arg("stream") = nb::none(), nb::arg("threads") = nb::none(),
           nb::arg("out") = nb::none(), nb::arg("donate") = nb::none(), nb::arg("named"), kCall,
           "The same as run().")
      .def("_run_capsules", run_capsules, nb::arg("inputs"), nb::arg("stream") = nb::none(),
           "For adapters: DLPack capsules in the order of the inputs, capsules of the results that were set, or of the "
           "outputs.")
      .def("run_local", run_local, nb::arg("rank"), nb::arg("pieces"), nb::arg("stream") = nb::none(),
           nb::arg("threads") = nb::none(), nb::arg("out") = nb::none(), nb::arg("donate") = nb::none(), nb::arg("named"),
           kRunLocal,
           "The same with the pieces of this process's rank, after prepare(). Raises UserError, CommError.")
      .def("prepare", prepare, nb::arg("inputs"), nb::arg("out") = nb::none(), nb::arg("donate") = nb::none(),
           nb::arg("named"),
           nb::sig("def prepare(self, *inputs: typing.Any, out: typing.Any = None, "
                   "donate: bool | str | collections.abc.Collection[str] | None = None, **named: typing.Any) -> None"),
           "Compiles ahead what run() takes with the same arguments, of which no element is read or written: for how the "
           "arrays lie, what is given for outputs, what is donated. An input may be (dtype, shape) instead of an array, "
           "without `out` and `donate`: it is row-major then. Raises UserError.")
      .def("tune", tune_program, nb::arg("inputs"), nb::arg("seconds") = 60.0, nb::arg("rounds") = 9, nb::arg("keep") = true,
           nb::arg("named"),
           nb::sig("def tune(self, *inputs: typing.Any, seconds: float = 60.0, rounds: int = 9, keep: bool = True, "
                   "**named: typing.Any) -> list[TunedSchedule]"),
           "Measures schedules around those that were chosen, with these inputs as run() takes them, until nothing is left "
           "to try or the seconds are over; each candidate runs `rounds` times, in turn with the others. The program has the "
           "fastest ones afterwards, and with `keep` every later compilation of the same computations and sizes on this "
           "machine. An interrupt ends the search and loses nothing. Raises UserError.")
      .def_prop_ro("report", report, "Counts and times of the class that ran last, as a dict.")
      .def("time_steps", [](Program& p, bool on) { locked(p, [&] { p.compiled->set_step_timing(on); }); },
           nb::arg("on") = true, "Whether runs time their steps, for `kernels` and the report's `step_ms`. A GPU is then "
           "waited for after each.")
      .def_prop_ro("times_steps", [](Program& p) { return locked(p, [&] { return p.compiled->step_timing(); }); },
                   "What time_steps() said last.")
      .def_prop_ro("memory", memory, "Of the device, which all programs on it share: bytes held from the system and in use, "
                   "allocations that memory which came back served, and those that it did not, as a dict.")
      .def_prop_ro("classes", [](Program& p) { return locked(p, [&] { return p.compiled->classes(); }); },
                   "How many specializations were compiled.")
      .def_prop_ro("kernels", kernels, "Generated kernels of the class that ran last.")
      .def("layout", layout, nb::arg("tensor"), "`{0: tp}` of a tensor by name, after propagation. Raises UserError.")
      .def("local_shape", local_shape, nb::arg("output"), nb::arg("rank"), "Shape of a rank's piece. Raises UserError.")
      .def("dump", dump, nb::arg("stage"),
           "Text of a stage of the class that ran last, as `plait opt --until` prints it. Raises UserError, MissingError.")
      .def("save", [](Program& p, const std::filesystem::path& path) { locked(p, [&] { p.compiled->save(path.string()); }); },
           nb::arg("path"), "Writes what was compiled so far to a file that load() takes. Raises UserError.")
      .def("__reduce__", [](Program&) -> nb::object {
             throw nb::type_error("a plait.Program is neither copied nor pickled: threads share it, other processes take what "
                                  "program.save(path) wrote by plait.load(path), or compile the fusion, which is pickled");
           },
           nb::sig("def __reduce__(self) -> typing.Never"), "Raises TypeError: files are for other processes.")
      .def("explain", explain, nb::arg("what") = "shard",
           "Why things are where they are, as `plait explain` prints it: `overview`, `shard`, `segments`, `schedule`, `cache`, "
           "`memory`. Raises UserError.")
      .def_prop_ro("mesh", [](Program& p) { return p.compiled->mesh().sizes(); }, "Sizes of the mesh axes.")
      .def_prop_ro("ranks", [](Program& p) { return p.compiled->mesh().ranks(); }, "Number of ranks.")
      .def_prop_ro("rank", [](Program& p) -> std::optional<int64_t> {
             if (const Bootstrap* job = p.compiled->job()) return job->rank();
             return std::nullopt;
           },
           "This process's rank, or None where it holds all.")
      .def_prop_ro("device", [](Program& p) { return p.device->name(); }, "Its name: `cpu`.")
      .def_prop_ro("inputs", [](Program& p) {
             std::vector<std::string> out;
             for (const TensorView* t : p.fusion->inputs()) out.push_back(t->name);
             return out;
           },
           "Names of the inputs, in order.")
      .def_prop_ro("outputs", [](Program& p) {
             std::vector<std::string> out;
             for (const TensorView* t : p.fusion->outputs()) out.push_back(t->name);
             return out;
           },
           "Names of the outputs, in order.")
      .def("__repr__", [](Program& p) {
        return fmt::format("<plait.Program @{} on {}, {} ranks>", p.fusion->name(), p.device->name(),
                           p.compiled->mesh().ranks());
      });
  nb::class_<DeviceInfo>(m, "Device", "A device that programs can be compiled for here.")
      .def_ro("name", &DeviceInfo::name, "For compile(device=...).")
      .def_ro("count", &DeviceInfo::count, "How many GPUs it is, each a rank; simulated ones are as many as `sim:ARCH:N` asks for.")
      .def_ro("description", &DeviceInfo::description, "Architecture, cores or multiprocessors, caches; empty of `reference`.")
      .def_ro("is_default", &DeviceInfo::is_default, "Whether compile() takes it where none is named, of one rank.")
      .def_prop_ro("architecture", [](const DeviceInfo& d) { return d.target.architecture; }, "`sm_90a`, `x86-64-v4`; may be empty.")
      .def_prop_ro("cores", [](const DeviceInfo& d) { return d.target.cuda() ? d.target.multiprocessors : d.target.cores; },
                   "Of a CPU; of a GPU its multiprocessors.")
      .def("__repr__", [](const DeviceInfo& d) {
        return fmt::format("<plait.Device {}{}{}>", d.name, d.description.empty() ? "" : ": ", d.description);
      });
  m.def("devices", &devices, nb::call_guard<nb::gil_scoped_release>(),
        "All that are here, the default first; what others lack says doctor().");
  bind_looks(m, programs);
  bind_adapters(programs);
  m.def("load", [](const std::filesystem::path& path) { return load_program(path.string()); }, nb::arg("path"),
        "A program that Program.save() wrote, with its device, ranks and options: its specializations run without LLVM or "
        "NVRTC, other sizes compile as ever. A file is trusted like a program: it holds machine code. Raises UserError where "
        "it cannot be read, is damaged, of another version, or for another machine; MissingError.");
  m.def("compile", compile_fusion, nb::arg("fusion").none(), nb::kw_only(), nb::arg("device") = nb::none(),
        nb::arg("comm").none() = "local", nb::arg("ranks") = nb::none(), nb::arg("sizes").none() = nb::dict(),
        nb::arg("options").none() = nb::dict(), nb::arg("dumps") = nb::none(), nb::arg("wrong"),
        nb::sig("def compile(fusion: Fusion, *, device: str | None = None, comm: str = 'local', ranks: int | None = None, "
                "sizes: dict[str, int] = {}, options: dict[str, typing.Any] = {}, dumps: typing.Any = None) -> Program"),
        "Checks mesh, ranks and device; specializations compile when they are first run or prepared. `device`: cpu, "
        "reference, cuda, sim:ARCH[:N], None: the first of cuda, cpu and reference that is here; `comm`: local[:SEED], "
        "local:threads, mpi, nccl; `ranks` solves the free size of the mesh; `sizes`: those that no input gives; `options`, by the names of `plait doctor --options`; `dumps`: "
        "`stage[:glob][@folder]`, a list or with commas between, absent: environment variable PLAIT_DUMP. Raises "
        "UserError, MissingError.");
}

}  // namespace plait::python
