#include "api/check_program.h"

#include <set>

#include "base/error.h"
#include "base/progress.h"
#include "reference/executable.h"
#include "session/bind_inputs.h"
#include "session/boundary.h"

namespace plait {

namespace {

// The reference's view of one program: the roundings and bounds are those of its own mesh.
reference::Results evaluate_for(const Fusion& fusion, const CompileOptions& options, const Compiled& compiled,
                                const Tensors& inputs) {
  reference::EvaluateOptions evaluate;
  evaluate.sizes = program_sizes(fusion, options.sizes, compiled.mesh(), inputs);
  evaluate.ranks = compiled.mesh().ranks();
  evaluate.partial = reference::partials(compiled.sharded(), compiled.mesh(), evaluate.sizes);
  return reference::evaluate(fusion, {inputs.begin(), inputs.end()}, evaluate);
}

// A mesh symbol in the shapes or ops of the graph, or an empty name.
std::string mentioned_mesh_symbol(const Fusion& fusion) {
  Segment all;
  for (TensorView* t : fusion.inputs()) all.inputs.push_back(t);
  for (Op* op : fusion.ops()) all.ops.push_back(op);
  const auto names = reference::segment_symbols(fusion, all);
  const std::set<std::string> mentioned(names.begin(), names.end());
  for (const MeshAxis& axis : fusion.mesh().axes())
    if (!axis.symbol.empty() && mentioned.contains(axis.symbol)) return axis.symbol;
  return "";
}

const Tensor& output_of(const Tensors& outputs, const std::string& name) {
  auto it = outputs.find(name);
  PLAIT_CHECK(it != outputs.end(), "output %{} is missing", name);
  return it->second;
}

// Adds the comparison with the same fusion on a mesh whose axes are all 1.
void compare_one_rank(const Fusion& fusion, CompileOptions options, const Tensors& inputs, const Tensors& outputs,
                      const reference::Results& want, const reference::CheckOptions& how, ProgramCheck& out) {
  options.ranks.reset();
  options.one_rank = true;
  options.comm = "local";
  options.on_step = nullptr;
  options.dumps = nullptr;
  PassControl same_limit;  // unwatched
  if (options.passes) same_limit.bisect = options.passes->bisect;
  options.passes = &same_limit;
  Compiled one = compile(fusion, options);
  const Tensors one_outputs = one.run(with_own_copies(fusion, inputs));
  const reference::Results one_want = evaluate_for(fusion, options, one, inputs);
  for (OutputCheck& check : out.outputs) {
    const std::string& name = check.name;
    check.one_rank = reference::compare_runs(name, one_want.at(name), output_of(one_outputs, name), want.at(name),
                                             output_of(outputs, name), how);
    out.all.merge(*check.one_rank);
  }
}

}  // namespace

sym::Environment program_sizes(const Fusion& fusion, const Sizes& given, const DeviceMesh& mesh,
                               const Tensors& inputs) {
  sym::Environment sizes(given.begin(), given.end());
  for (const auto& [name, value] : mesh_symbols(fusion.mesh(), mesh)) sizes[name] = value;
  return reference::bind_sizes(fusion, {inputs.begin(), inputs.end()}, sizes);
}

ProgramCheck check_program(const Fusion& fusion, const CompileOptions& options, const Compiled& compiled,
                           const Tensors& inputs, const Tensors& outputs, const CheckProgramOptions& how) {
  const ProgressLine progress(fmt::format("checking @{}", fusion.name()));
  const reference::CheckOptions check{how.exact};
  const reference::Results want = evaluate_for(fusion, options, compiled, inputs);
  ProgramCheck out;
  for (const TensorView* t : fusion.outputs()) {
    OutputCheck one{t->name, reference::compare(t->name, want.at(t->name), output_of(outputs, t->name), check), {}};
    out.all.merge(one.reference);
    out.outputs.push_back(std::move(one));
  }
  if (!how.one_rank || compiled.mesh().ranks() == 1) return out;
  if (const std::string symbol = mentioned_mesh_symbol(fusion); !symbol.empty())
    out.one_rank_skipped = fmt::format("mesh symbol {} stands in the graph, which means something else there", symbol);
  else
    compare_one_rank(fusion, options, inputs, outputs, want, check, out);
  return out;
}

}  // namespace plait
