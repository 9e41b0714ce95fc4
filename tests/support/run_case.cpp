#include "support/run_case.h"

#include "base/error.h"
#include "pipeline.h"
#include "reference/check.h"
#include "reference/draw_inputs.h"

namespace plait::testing {

namespace {

// Pieces of every tensor of the sharded fusion, for the shares of uneven and empty ones.
void look_at_pieces(const Fusion& sharded, const DeviceMesh& mesh, const sym::Environment& sizes, CaseResult& out) {
  for (const TensorView* t : sharded.tensors()) {
    for (size_t d = 0; d < t->rank(); ++d) {
      if (t->layout.dims[d].pieces.empty()) continue;
      int64_t extent = sym::evaluate(t->extent(d), sizes), least = INT64_MAX, most = 0;
      for (int64_t r = 0; r < mesh.ranks(); ++r) {
        auto n =
            static_cast<int64_t>(owned_indices(extent, t->layout.dims[d], mesh, mesh.coordinates(r), t->name).size());
        least = std::min(least, n);
        most = std::max(most, n);
      }
      out.uneven |= least != most;
      out.empty |= least == 0 && most > 0;
    }
  }
}

struct Side {
  Tensors outputs;
  reference::Results want;
};

Side run_side(const Fusion& fusion, const CaseOptions& options, bool one_rank,
              const std::map<std::string, Tensor>& inputs, CaseResult* out) {
  CompileOptions how;
  how.device = options.device;
  how.device_override = options.device_override;
  how.ranks = options.ranks;
  how.one_rank = one_rank;
  how.interleaving = options.interleaving;
  how.options = options.options;
  Compiled program = compile(fusion, how);
  Side side;
  side.outputs = program.run({inputs.begin(), inputs.end()});
  sym::Environment sizes = reference::bind_sizes(fusion, inputs, {});
  reference::EvaluateOptions evaluate;
  evaluate.ranks = program.mesh().ranks();
  evaluate.partial = reference::partials(program.sharded(), program.mesh(), sizes);
  side.want = reference::evaluate(fusion, inputs, evaluate);
  if (out) {
    out->report = program.report();
    out->collectives = out->report.collectives;
    out->library_calls = out->report.library_calls;
    out->kernels = static_cast<int64_t>(out->report.kernels.size());
    look_at_pieces(program.sharded(), program.mesh(), sizes, *out);
  }
  return side;
}

}  // namespace

CaseResult run_case(const std::string& text, const CaseOptions& options) {
  ParseOptions parse;
  parse.set = options.set;
  auto fusion = parse_fusion(text, parse);
  CaseResult out;
  reference::DrawOptions draw;
  draw.seed = options.seed;
  draw.exact = options.exact;
  auto inputs = reference::draw_inputs(*fusion, draw);
  Side side = run_side(*fusion, options, false, inputs, &out);
  reference::CheckOptions check;
  check.exact = options.exact;
  auto result = reference::compare(side.want, {side.outputs.begin(), side.outputs.end()}, check);
  if (options.compare_one_rank && options.ranks > 1) {
    Side one = run_side(*fusion, options, true, inputs, nullptr);
    for (const auto& [name, tensor] : side.outputs)
      result.merge(
          reference::compare_runs(name, one.want.at(name), one.outputs.at(name), side.want.at(name), tensor, check));
  }
  out.ok = result.ok;
  out.message = result.message;
  out.max_error = result.max_error;
  return out;
}

}  // namespace plait::testing
