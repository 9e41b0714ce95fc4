#include "schedule/nest.h"

#include <algorithm>
#include <numeric>

#include "axes/transforms.h"

namespace plait {

namespace {

constexpr ParamKey kKeys[] = {{"vector", 1, 64, true}, {"rows", 1, 16}, {"threads", 1, 1024, true}};
constexpr int64_t kRows = 8;

bool is_product(const Op& op) { return property(op.kind) == OpProperty::contraction; }

// Rows of a tile: no more than the result has. A matmul's batches are not rows, their operands differ.
int64_t choose_rows(const Op& op) {
  const size_t last = op.out->rank() - 1;
  int64_t most = 1;
  for (size_t d = op.kind == OpKind::Matmul ? last - 1 : 0; d < last; ++d) {
    const int64_t hi = sym::bounds(op.out->extent(d)).hi;
    if (hi >= kRows) return kRows;
    most *= std::max<int64_t>(hi, 1);
  }
  return std::min(most, kRows);
}

std::optional<std::string> accept(const Problem& problem) {
  if (problem.segment.ops.size() != 1)
    return fmt::format("{} ops, and a nest computes a single one", problem.segment.ops.size());
  const Op& op = *problem.segment.ops.front();
  if (!is_product(op) && !is_elementwise(op)) return fmt::format("{} is no computation", describe(op));
  return std::nullopt;
}

Params params(const Problem& problem, const Machine& machine, const Params& pinned) {
  const Op& op = *problem.segment.ops.front();
  const TensorView& out_tensor = *op.out;
  Params out{"nest", {}, pinned.cuda || machine.cuda};
  const auto refuse = [&](const char* key, std::string why) {
    if (pinned.find(key))
      throw UserError(fmt::format("{} does not apply: {}", key, why), problem.where(), "leave it out");
  };
  if (out.cuda) {
    refuse("rows", "a thread computes one element");
    refuse("vector", "a thread computes one element");
    out.set("threads", pinned.find("threads").value_or(machine.threads));
    return out;
  }
  refuse("threads", "it belongs to target cuda");
  if (out_tensor.rank() == 0) {
    refuse("vector", "the result has no dim");
    refuse("rows", "the result has no dim");
    return out;
  }
  const bool column = out_tensor.shape().back().constant() == 1;
  const int64_t lanes = column ? 1 : size_of(out_tensor.dtype) == 8 ? machine.lanes / 2 : machine.lanes;
  out.set("vector", pinned.find("vector").value_or(std::max<int64_t>(1, lanes)));
  if (!is_product(op) || out_tensor.rank() < 2)
    refuse("rows", is_product(op) ? "the result has one dim" : "the op sums nothing");
  else
    out.set("rows", pinned.find("rows").value_or(choose_rows(op)));
  return out;
}

void apply_cuda(TensorView& t, int kept, int64_t threads) {
  for (int d = kept - 1; d > 0; --d) merge(t, d - 1);
  if (kept == 0) return;
  split(t, 0, threads);
  parallelize(t, 0, ParallelType::block_x);
  parallelize(t, 1, ParallelType::thread_x);
}

// Loops: [batch * columns / vector * rows / tile] parallel, [rows of a tile] unrolled, sum, lanes.
void apply(const Problem& problem, const Params& params) {
  const Op& op = *problem.segment.ops.front();
  TensorView& t = *op.out;
  state_reduction_axes(t);
  const int kept = static_cast<int>(t.rank()), sums = static_cast<int>(t.domain.reduction.size());
  if (params.cuda) return apply_cuda(t, kept, params.get("threads"));
  if (kept == 0) return;
  const int64_t vector = params.get("vector"), rows = params.find("rows").value_or(1);
  // Dims before the last: those that the rows of a tile share their operand over are one.
  const int batch = op.kind == OpKind::Matmul ? std::max(kept - 2, 0) : 0;
  for (int d = batch - 1; d > 0; --d) merge(t, d - 1);
  const int row = batch > 0 ? 1 : 0;
  for (int d = kept - 1 - batch; d > 1; --d) merge(t, row);
  const bool has_rows = kept - batch > 1;
  int column = has_rows ? row + 1 : row;
  const bool tile = has_rows && rows > 1, lanes = vector > 1;
  if (tile) {
    split(t, row, rows);
    parallelize(t, row + 1, ParallelType::unroll);
    ++column;
  }
  if (lanes) {
    split(t, column, vector);
    parallelize(t, column + 1, ParallelType::vectorize);
  }
  // Columns before rows: a panel of the weights stays in the cache while the rows pass.
  std::vector<int> order, sum_loops(static_cast<size_t>(sums));
  std::iota(sum_loops.begin(), sum_loops.end(), column + 1 + (lanes ? 1 : 0));
  if (batch > 0) order.push_back(0);
  order.push_back(column);
  if (has_rows) order.push_back(row);
  const size_t outer = order.size();
  if (tile) order.push_back(row + 1);
  order.insert(order.end(), sum_loops.begin(), sum_loops.end());
  if (lanes) order.push_back(column + 1);
  reorder(t, order);
  for (size_t i = 1; i < outer; ++i) merge(t, 0);
  parallelize(t, 0, ParallelType::cpu_thread);
}

}  // namespace

Scheduler nest_scheduler() { return {"nest", kKeys, accept, params, apply}; }

}  // namespace plait
