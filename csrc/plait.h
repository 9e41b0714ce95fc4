#pragma once
// The public C++ entry: compile a Fusion, run it on tensors.
//
//   Fusion f; TensorView* x = f.input("x", {"b", "h"}, f32); ... f.output("y", y);
//   auto p = compile(f, {.device = "cpu", .ranks = 4});
//   auto y = p.run({{"x", tx}})["y"];
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "build/build.h"
#include "build/ops.h"
#include "compile/options.h"
#include "ir/fusion.h"
#include "program/program.h"
#include "session/arguments.h"
#include "sym/guards.h"

namespace plait {

// A generated kernel: its schedule, the architecture it was compiled for, what the compiler says of it.
struct KernelReport {
  std::string name, schedule, arch;
  KernelFacts facts;
  double run_ms = 0;  // of the last timed run, all launches and ranks together
};

// When a rank was at a step of a run, in nanoseconds of a steady clock.
struct StepTrace {
  int64_t rank = 0;
  size_t step = 0;  // of Program::steps
  int64_t begin = 0, end = 0;
};

// What one class of inputs compiled to, and what runs of it did.
struct Report {
  std::vector<KernelReport> kernels;                         // distinct ones
  int64_t launches = 0, library_calls = 0, collectives = 0;  // steps of one rank
  int64_t bytes_moved = 0, bytes_least = 0;                  // by rank 0 with the last sizes: MovedBytes
  int64_t arena_bytes = 0, arena_least = 0;                  // of its temporaries; most alive at once
  int64_t bytes_copied = 0, bytes_donated = 0;               // in the last run: RunCounts
  int64_t wire_bytes = 0, wire_bytes_min = 0;                // of the last run
  double compile_ms = 0, run_ms = 0;                         // of the class; of the last run
  bool from_disk = false;  // the class as a whole was compiled by an earlier process, or comes from a file
  std::map<std::string, std::vector<std::vector<int64_t>>> local_shapes;  // output -> by rank
  std::vector<std::pair<std::string, double>> step_ms;                    // of the last timed run, all ranks together
  int64_t timed_runs = 0;        // of the program, with the last one of the class
  std::vector<StepTrace> trace;  // of the last timed run, this process's ranks
};

// Sizes whose bindings are kept, and the bytes of memory that these hold between runs.
struct KeptSizes {
  size_t count = 0;
  int64_t bytes = 0;
};

// A fusion on its way to devices. What was compiled and bound for earlier sizes is kept within the options
// kept_specializations, kept_sizes and kept_bytes; a reference to a stage holds until other sizes run. Cheap to copy;
// copies share everything. Several threads may call run(), run_local() and prepare(): runs on the host without
// collectives, one process for all ranks, go on at once, all others (GPUs, collectives, timed steps, on_step) one after
// another. All else is asked while no other thread runs or prepares.
class Compiled {
 public:
  // Global tensors in, global tensors out. The first run of a specialization compiles it. Where the job has several
  // processes, all of them call with the same inputs and all get the outputs. Outputs are on the host, but for one rank
  // on a GPU, where a stream or an input in its memory is given.
  // UserError: an input is missing, unknown, or of the wrong dtype, rank or extents. CommError: a rank failed or hangs.
  Tensors run(const Tensors& inputs, const RunOptions& options = {});
  // Compiles the class that the metadata belongs to, and binds its sizes, ahead of a run; with comm = given, whose
  // communicators come with the run, it binds nothing.
  void prepare(const Metadata& metadata);
  // The same of the class that run() takes for these tensors and options: for how inputs lie, what is given for
  // outputs, what is donated. Reads and writes no element. UserError: what run() refuses.
  void prepare(const Tensors& inputs, const RunOptions& options);
  // Compiles the same class and binds nothing: for who looks at what was made, of any number of ranks.
  void compile_for(const Metadata& metadata);
  // Takes and returns the pieces of this process's rank, on the device they are on; prepare() has told the global
  // sizes. UserError where one process holds all ranks of several: those run together by run().
  Tensors run_local(int64_t rank, const Tensors& pieces, const RunOptions& options = {});

  const Fusion& fusion() const;           // as it was given, without schedules of its own
  const CompileOptions& options() const;  // as they were given, `device` with the name of the one that was taken
  const DeviceMesh& mesh() const;
  Device& device() const;
  // The processes that share the ranks; null where this one holds all of them.
  Bootstrap* job() const;
  const Report& report() const;  // of the class that ran or was prepared last
  const Program& program() const;
  const Fusion& sharded() const;                                         // with layouts and reshards, global extents
  std::string explain_layouts() const;                                   // of sharded(), with the reason of each
  const Fusion& localized() const;                                       // with segments, extents of a rank
  const struct CompiledSpecialization& compiled_specialization() const;  // all stages (pipeline.h)
  // What its compilation asked about sizes that stay symbols, with who asked: other answers are another class.
  const std::vector<sym::Answer>& guards() const;
  sym::Environment sizes() const;  // of the last run, or what was prepared last
  // The sizes that costs of the last run's specialization may see (sym/guards.h).
  sym::Environment representative() const;
  const std::vector<std::string>& kernel_texts() const;  // kernel IR of the generated kernels
  // The text of a stage of that class, as `plait opt --until` gives it; `timings` without what passes changed.
  // UserError: an unknown stage, one without text on this device, `memory` of sizes that are not bound; MissingError:
  // what writes it is not here.
  std::string stage_text(const std::string& stage) const;
  size_t classes() const;  // how many are kept
  KeptSizes kept_sizes() const;
  void set_step_timing(bool on);  // later runs time their steps
  bool step_timing() const;

  // Writes what was compiled so far (the specializations that are kept) to a file that load() takes: texts of stages,
  // machine code, sizes, options. UserError: nothing is compiled, a device without machine code (reference), a file
  // that cannot be written; what was there stays then.
  void save(const std::string& path) const;
  std::string serialize() const;  // what that file holds

  struct Impl;
  explicit Compiled(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  friend Compiled deserialize(std::string_view bytes, const struct LoadOptions& options, const std::string& file);
  std::shared_ptr<Impl> impl_;
};

// How a saved program is brought back.
struct LoadOptions {
  Device* device_override = nullptr;               // where not null: this device; the caller keeps it
  std::function<void(const std::string&)> warn{};  // as CompileOptions::warn
  std::function<void(int64_t rank, size_t step, const std::string& text)> on_step;  // as CompileOptions::on_step
  // Options by name with other values than the file's: of those that make no other kernels (option_table()).
  std::map<std::string, std::string, std::less<>> settings{};
  // Where given: makes the device of the program, whose options it gets; the caller keeps it.
  std::function<Device*(const CompileOptions&)> device_for{};
};

// A program that save() wrote, on a device like the one it was compiled for, with the same ranks and options; what is
// asked of it before it runs is of the sizes that it had last. Its specializations run without LLVM or NVRTC; other
// sizes compile as ever. A file is trusted like a program: it holds machine code. UserError: it cannot be read, is no
// such file, damaged, of another version of plait, or needs what this machine lacks; a setting is unknown or makes
// other kernels; MissingError: the device or a
// library is not here.
Compiled load(const std::string& path, const LoadOptions& options = {});
// Of what serialize() gave; `file` names it in errors.
Compiled deserialize(std::string_view bytes, const LoadOptions& options = {}, const std::string& file = "program");

// Checks what can be checked without sizes: mesh, ranks, device. The fusion is copied.
// UserError, MissingError: ranks that do not fit the mesh, an unknown device, a device that is not here.
Compiled compile(const Fusion& fusion, const CompileOptions& options = {});

// Version of the library, "0.1.0".
std::string version();

}  // namespace plait
