#pragma once
// One specialization on its way from a Fusion to a Program: the compiler as one page.
#include "compile/ask_multiples.h"
#include "compile/emit_program.h"
#include "compile/file_schedules.h"
#include "compile/options.h"
#include "graph/passes.h"
#include "sym/guards.h"

namespace plait {

// Everything that one specialization compiled to.
struct CompiledSpecialization {
  std::unique_ptr<Fusion> graph;            // after graph passes
  std::vector<Lookup> lookups;              // by ordinal, sizes over graph's pool
  std::unique_ptr<Fusion> sharded;          // with layouts and reshards
  std::shared_ptr<const Fusion> localized;  // with segments
  std::vector<CompiledSegment> segments;
  std::vector<InPlace> in_place;  // outputs that alias inputs
  std::shared_ptr<const Program> program;
  std::string segment_reasons;            // for explain
  std::vector<std::string> kernel_texts;  // kernel IR
  std::string timings;
};

struct PipelineContext {
  const CompileOptions& options;
  const DeviceMesh& mesh;
  Device& device;
  std::vector<FileSegment> file_segments;  // what the file says about schedules
  // Results of contractions that the library refused with the sizes at hand: they are generated.
  std::set<std::string> refused_contractions = {};
  std::vector<MultipleQuestion> multiples = {};  // what is asked of guards first
  sym::Guards* guards = nullptr;        // asked about sizes that stay symbols; null: only what facts prove holds
  std::set<std::string> as_nests = {};  // results of ops that stand alone: the kernel of their group failed
  InputOrders orders = {};              // of inputs that do not lie row-major and are read where they lie
  std::map<std::string, std::string> aliases = {};  // of outputs that a call puts in place of inputs
};

// A line for the user: to options.warn, else to the log.
void warn(const CompileOptions& options, const std::string& line);

// Errors of the user first; then stage by stage. Throws StoppedAt where options.until asks for it.
std::unique_ptr<CompiledSpecialization> compile_specialization(const Fusion& fusion, const CloneOptions& facts,
                                                               const PipelineContext& context);

}  // namespace plait
