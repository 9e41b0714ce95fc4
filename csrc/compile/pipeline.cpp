#include "compile/pipeline.h"

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "compile/failed_kernels.h"
#include "compile/stages.h"
#include "graph/passes.h"
#include "shard/insert_reshards.h"
#include "shard/propagate.h"
#include "shard/single_axes.h"
#include "shard/verify_sharding.h"

namespace plait {

namespace {

std::unique_ptr<Fusion> with_facts(const Fusion& fusion, const CloneOptions& facts, const PipelineContext& context) {
  auto out = clone(fusion, facts);
  if (!facts.replace.empty())  // UserError: an op asks for more than sizes of this class have
    for (const Op* op : out->ops()) infer_results(*op, *out);
  for (const auto& [output, input] : context.aliases) out->alias(output, input);
  return out;
}

// Streams of a GPU overlap.
std::shared_ptr<Program> make_program(const CompiledSpecialization& compiled, const PipelineContext& context) {
  return std::make_shared<Program>(build_program(*compiled.localized, context.mesh, compiled.segments,
                                                 compiled.in_place, context.device.target().cuda()));
}

// The facts, and those multiples of which guards say so.
CloneOptions asked_facts(const Fusion& fusion, const CloneOptions& facts, const PipelineContext& context) {
  CloneOptions out = facts;
  ask_multiples(context.multiples, fusion, context.guards, out);
  return out;
}

// The compiler. Each line is a pass; a constraint on order stands at the line that it pins.
std::unique_ptr<CompiledSpecialization> run_passes(const Fusion& fusion, const CloneOptions& facts,
                                                   const PipelineContext& context) {
  Stages stages(context);
  const Options& options = context.options.options;
  auto out = std::make_unique<CompiledSpecialization>();
  stages.begin("fusion", fusion);
  // graph: facts come first, so that expressions fold on construction
  const CloneOptions stated = asked_facts(fusion, facts, context);
  stages.make("graph", "state_facts", out->graph, [&] { return with_facts(fusion, stated, context); });
  Fusion& graph = *out->graph;
  stages.pass("graph", "drop_allocations", graph, [&] { drop_allocations(graph); });
  stages.pass("graph", "number_random_ops", graph, [&] { number_random_ops(graph); });  // before ops come and go
  stages.pass("graph", "number_lookups", graph, [&] { out->lookups = number_lookups(graph); });  // likewise
  if (!context.orders.empty()) stages.pass("graph", "lay_inputs", graph, [&] { lay_inputs(graph, context.orders); });
  stages.pass("graph", "expand", graph, [&] { expand(graph, true); });
  stages.pass("graph", "split_bias", graph, [&] { split_bias(graph); });  // a pending sum takes no bias
  stages.pass("graph", "remove_dead_code", graph, [&] { remove_dead_code(graph); });
  stages.end("graph", graph);

  // sharded: global extents, a layout per tensor, a reshard per change; contractions widen where none is pending
  out->sharded = clone(graph);
  Fusion& sharded = *out->sharded;
  stages.pass("sharded", "drop_single_axes", sharded, [&] { drop_single_axes(sharded); });
  const Annotations annotated = annotations(sharded);
  stages.pass("sharded", "propagate", sharded, [&] { propagate(sharded), check_alias_layouts(sharded); });
  if (options.verify) verify_sharding(sharded, ShardStage::propagated, &annotated);
  stages.pass("sharded", "insert_reshards", sharded, [&] { insert_reshards(sharded, options.gathered == "again"); });
  if (options.verify) verify_sharding(sharded, ShardStage::resharded, &annotated);
  stages.pass("sharded", "widen_contractions", sharded, [&] { widen_contractions(sharded, context.mesh, options); });
  stages.end("sharded", sharded);

  // localized: device axes leave, extents are those of a rank
  std::unique_ptr<Fusion> local;
  stages.make("localized", "localize", local, [&] { return localize_for(sharded, context); });
  stages.pass("localized", "expand", *local, [&] { expand(*local); });  // what was sharded as one op
  stages.pass("localized", "part_batches", *local, [&] { part_batches(*local, homes_in_file(context.file_segments)); });
  stages.pass("localized", "lift_reshapes", *local,
              [&] { lift_reshapes(*local, homes_in_file(context.file_segments)); });
  stages.pass("localized", "merge_equal", *local, [&] { merge_equal(*local, homes_in_file(context.file_segments)); });
  stages.pass("localized", "remove_unread", *local, [&] { remove_dead_code(*local); });
  stages.pass("localized", "bucket_collectives", *local, [&] { bucket_for(*local, context); });
  stages.end("localized", *local);

  // segments: cut at collectives and contractions of the library, the rest in few groups
  show_gpu_stages(*local, stages, context);
  stages.pass("segments", "segment", *local, [&] { segment_for(*local, context, &stages, out->segment_reasons); });
  stages.end("segments", *local);
  out->localized = std::move(local);

  // per group: schedule, lower, write, compile
  out->in_place = find_in_place(*out->localized);
  stages.work("kir", "lower", [&] { lower_segments(*out, stages, context); });
  out->segment_reasons += print(out->in_place);
  stages.work("kir", "compile", [&] { compile_segments(*out, stages, context); });

  // program: the steps of all ranks
  stages.make("program", "build_program", out->program, [&] { return make_program(*out, context); });
  stages.end("program", *out->program);
  out->timings = stages.finish();
  return out;
}

}  // namespace

void warn(const CompileOptions& options, const std::string& line) {
  if (options.warn) return options.warn(line);
  log(LogComponent::compile, LogLevel::warn, "{}", line);
}

std::unique_ptr<CompiledSpecialization> compile_specialization(const Fusion& fusion, const CloneOptions& facts,
                                                               const PipelineContext& context) {
  const std::string& choice = context.options.options.on_internal_error;
  if (choice != "stop" && choice != "nest")
    throw UserError(fmt::format("on_internal_error is `{}`", choice), "option on_internal_error", "stop or nest");
  PipelineContext how = context;
  const ProgressLine progress("compiling @" + fusion.name());
  std::string reasons;
  for (;;) {
    try {
      auto out = run_passes(fusion, facts, how);
      out->segment_reasons += reasons;
      return out;
    } catch (const FailedKernel& failed) {  // each time more ops stand alone
      const std::string line = take_as_nests(failed, how);
      reasons += line + "\n";
      warn(context.options, line);
    }
  }
}

}  // namespace plait
