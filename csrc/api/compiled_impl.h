#pragma once
// What stands behind Compiled.
#include <mutex>
#include <optional>
#include <set>

#include "compile/pipeline.h"
#include "plait.h"
#include "session/bound_specialization.h"
#include "session/boundary.h"
#include "session/communication.h"
#include "session/kept.h"

namespace plait {

// What one binding depends on: the class and the values of its sizes, who talks, and the rank held alone (-1: the ranks
// of the communication).
struct BindingKey {
  std::string specialization;
  std::vector<int64_t> sizes;
  uint64_t comms;  // Communicators::serial
  int64_t rank;
  auto operator<=>(const BindingKey&) const = default;
};

struct SpecializationEntry {
  std::string key;  // of its sizes and places, without answers
  std::unique_ptr<CompiledSpecialization> compiled;
  std::set<std::string> refused;  // results of the contractions that its library refuses
  std::vector<sym::Answer> guards;
  Report report;
  // Where it comes from a file: the texts that it has (SavedClass), and the machine code of its kernels.
  std::map<std::string, std::string> texts;
  std::vector<std::shared_ptr<const std::string>> codes;
};

// What is known of a program before it runs.
Report report_of(const Program& program, const Device& device);

// A class with the numbers of one set of sizes; runs keep theirs. Where a library refuses these, `entry` is not the
// class of the sizes but the one that generates its contractions.
struct Binding {
  std::shared_ptr<SpecializationEntry> entry;
  std::unique_ptr<BoundSpecialization> bound;
};

// What a run tells of itself.
struct RunFacts {
  double ms = 0;
  RunCounts counts;
};

// What a run needs to know, found or made under the lock.
struct Picked {
  std::shared_ptr<Binding> binding;
  bool timing = false;
  InputOrders orders;                               // in which the class reads inputs
  std::map<std::string, std::string> donated = {};  // by output: the input whose memory it takes
  BoundSpecialization& bound() const { return *binding->bound; }
};

class KeptSpecializations;

struct Compiled::Impl {
  Impl();
  ~Impl();

  std::mutex mutex;  // guards what changes below; held while a class is compiled and bound
  std::mutex alone;  // held by a run that shares a device's queues, communicators or observers with others

  std::shared_ptr<const Fusion> fusion;
  std::unique_ptr<const Fusion> scheduled;  // as it was given, where that says how it is scheduled
  CompileOptions options;
  DeviceMesh mesh;
  Sizes mesh_sizes;
  Device* device = nullptr;
  Communication communication;
  sym::RankPositions ranks;                                // of the mesh
  std::optional<std::vector<MultipleQuestion>> multiples;  // made with the first class
  sym::GuardTree guards;
  std::vector<sym::GuardTree> file_guards;  // of each class of a file: another target's rules may ask otherwise
  std::vector<FileSegment> file_segments;
  std::shared_ptr<RememberedSchedules> measured;  // what options.measured asks; null: nothing
  Kept<std::string, SpecializationEntry> classes;
  std::unique_ptr<KeptSpecializations> on_disk;  // made with the first class
  Kept<BindingKey, Binding> bindings;
  std::shared_ptr<SpecializationEntry> last;
  Sizes last_sizes;
  std::string last_key;    // of the class of last_sizes and last_places
  CallPlaces last_places;  // of the run before
  // Outputs that kernels cannot write in place of inputs that were given up: not asked for again.
  std::set<std::pair<std::string, std::string>> refused_donations;
  std::optional<int64_t> bisect;  // of PassControl
  bool timing = false;
  int64_t timed_runs = 0;

  // The shapes of the run before: a run with the same ones skips all checks and look-ups.
  std::vector<TensorMetadata> last_metadata;
  std::shared_ptr<Binding> last_bound;
  uint64_t last_comms = 0;

  Metadata metadata_of(const Tensors& inputs) const;
  void take_sizes(const Metadata& metadata);
  Tensors checked(const Tensors& inputs, const RunOptions& run_options) const;
  void prepare(const Metadata& metadata);
  Picked pick(const Tensors& inputs, const RunOptions& run_options);
  std::shared_ptr<Binding> bound_at(const CallPlaces& places, const Tensors& inputs, const RunOptions& run_options);
  Picked pick_local(const Tensors& pieces, const Communication& who, int64_t rank);
  std::shared_ptr<Binding> bound_for(const Metadata& metadata, const Communication& who);
  std::shared_ptr<Binding> bound_of_last(const Communication& who, int64_t rank);
  // Of these sizes; null: none is kept. `key`: Specialization::key, with places and refused contractions.
  std::shared_ptr<SpecializationEntry> kept_class(const std::string& key, const Sizes& sizes);
  void keep_class_of_file(std::shared_ptr<SpecializationEntry> entry);
  std::shared_ptr<SpecializationEntry> find_class(const std::set<std::string>& refused = {});
  std::unique_ptr<BoundSpecialization> bind(SpecializationEntry& entry, const Communication& who);
  bool same_as_last(const Tensors& inputs, uint64_t comms) const;
  void remember(const Metadata& metadata, std::shared_ptr<Binding> bound, uint64_t comms);
  Communication who(const RunOptions& run_options) const;
  ExecutorRunOptions executor_options(const RunOptions& run_options) const;
  Allocator& output_allocator(const RunOptions& run_options) const;
  template <class Run, class Traffic>
  Tensors run_picked(const Picked& picked, Run run, Traffic traffic);
  void finish_run(const Picked& picked, const RunFacts& facts, const CommTraffic& traffic);
  std::string memory_text() const;
  // What a compilation of the last sizes is told; `how` and `asked` outlive it.
  PipelineContext context(const CompileOptions& how, const std::set<std::string>& refused, sym::Guards& asked);
  void compile_last();
  // Where a kept class is of these sizes, and of no call's places: as if they had been compiled for last.
  void go_on_with(const Sizes& sizes);
  void note_class_numbers();
  void note_numbers(const RankBinding& first);
  sym::Environment environment() const { return {last_sizes.begin(), last_sizes.end()}; }
};

}  // namespace plait
