#include "kir/passes/vectorize.h"

#include <algorithm>

#include "base/error.h"
#include "kir/passes/lane_writer.h"

namespace plait::kir {
namespace {

// The statements around lanes loops: states have the lanes that these give them.
class Vectorize {
 public:
  Vectorize(Kernel& kernel, Widths& widths) : kernel_(kernel), widths_(widths), writer_(kernel, widths) {}

  void block(Block& in) {
    Block out;
    for (auto& stmt : in) {
      auto* loop = stmt->kind == StmtKind::For ? static_cast<For*>(stmt.get()) : nullptr;
      if (loop != nullptr && loop->loop == LoopKind::lanes) {
        writer_.write(*loop, out);
        continue;
      }
      const If* branch = as<If>(*stmt);
      const size_t assumed = writer_.assume(branch != nullptr ? branch->condition : kernel_.pool->constant(1));
      if (Block* body = body_of(*stmt)) block(*body);
      writer_.forget(assumed);
      widen(*stmt, out);
      out.push_back(std::move(stmt));
    }
    in = std::move(out);
  }

 private:
  // Operands and results of the lanes that they have now.
  void widen(Stmt& stmt, Block& out) {
    const std::vector<Value> read = operands(stmt), defined = results(stmt);
    if (stmt.kind == StmtKind::Merge) return merge(static_cast<Merge&>(stmt), out);
    if (stmt.kind == StmtKind::Accumulate) return accumulate(static_cast<Accumulate&>(stmt), out);
    int lanes = 1;
    for (const Value& v : read) lanes = std::max(lanes, writer_.now(v).lanes);
    for (const Value& v : defined) lanes = std::max(lanes, writer_.now(v).lanes);
    const bool mixes = stmt.kind == StmtKind::Compute || stmt.kind == StmtKind::Assign;
    edit_operands(stmt,
                  [&](const Value& v) { return mixes ? writer_.wide(writer_.now(v), lanes, out) : writer_.now(v); });
    edit_results(stmt, [&](const Value& v) { return writer_.now(v); });
    const bool allowed =
        mixes || stmt.kind == StmtKind::Convert || stmt.kind == StmtKind::Round || stmt.kind == StmtKind::Fold ||
        std::none_of(read.begin(), read.end(), [&](const Value& v) { return writer_.now(v).lanes != v.lanes; });
    PLAIT_CHECK(allowed, "kernel {} reads a state of several lanes without a fold: {}", kernel_.name,
                print(kernel_, stmt));
  }

  // An element of one lane goes into lane 0.
  void accumulate(Accumulate& stmt, Block& out) {
    for (Value& v : stmt.state) v = writer_.now(v);
    const int lanes = stmt.state[0].lanes;
    const bool one =
        std::all_of(stmt.in.begin(), stmt.in.end(), [&](const Value& v) { return writer_.now(v).lanes == 1; });
    if (one && lanes > 1) stmt.active = stmt.active ? sym::min(stmt.active, 1) : kernel_.pool->constant(1);
    for (Value& v : stmt.in) v = writer_.wide(writer_.now(v), lanes, out);
  }

  void merge(Merge& stmt, Block& out) {
    for (Value& v : stmt.state) v = writer_.now(v);
    for (Value& v : stmt.in) v = writer_.now(v);
    const int lanes = stmt.state[0].lanes;
    const auto narrow = [&](const Value& v) { return v.lanes < lanes; };
    if (std::none_of(stmt.in.begin(), stmt.in.end(), narrow)) return;
    const bool one = std::all_of(stmt.in.begin(), stmt.in.end(), [](const Value& v) { return v.lanes == 1; });
    if (!one) stmt.in = folded(stmt, out);
    for (Value& v : stmt.in) v = writer_.wide(v, lanes, out);
    stmt.in = writer_.masked_state(stmt.in, kernel_.pool->constant(1), widths_.start_of(stmt.state[0].id), out);
  }

  std::vector<Value> folded(const Merge& stmt, Block& out) {
    auto fold = std::make_unique<Fold>();
    fold->combine = stmt.combine;
    fold->state = stmt.in;
    for (const Value& v : stmt.in) fold->out.push_back(writer_.fresh(v.dtype, 1));
    const std::vector<Value> result = fold->out;
    out.push_back(std::move(fold));
    return result;
  }

  Kernel& kernel_;
  const Widths& widths_;
  LaneWriter writer_;
};

// What a lanes loop allocates holds the lanes side by side.
void spread_buffers(Kernel& kernel, Block& block, const For* lanes, std::map<uint32_t, const For*>& spread) {
  for (auto& stmt : block) {
    uint32_t* buffer = lanes != nullptr ? buffer_of(*stmt) : nullptr;
    if (buffer != nullptr && stmt->kind == StmtKind::Alloc) {
      const auto [found, fresh] = spread.emplace(*buffer, lanes);
      Buffer& b = kernel.buffers[*buffer];
      PLAIT_CHECK(found->second->extent == lanes->extent, "kernel {}: lanes loops of {} and {} lanes allocate {}",
                  kernel.name, sym::print(found->second->extent), sym::print(lanes->extent), b.name);
      if (fresh) b.extent = b.extent * lanes->extent;
    } else if (buffer != nullptr && spread.contains(*buffer)) {
      edit_fields(*stmt, [&](const auto& field, auto& member) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, sym::Expr>)
          if (field.name == "index") member = member * lanes->extent + lanes->var;
      });
    }
    const For* loop = as<For>(*stmt);
    const bool is_lanes = loop != nullptr && loop->loop == LoopKind::lanes;
    if (Block* body = body_of(*stmt)) spread_buffers(kernel, *body, is_lanes ? loop : lanes, spread);
  }
}

bool has_lanes(const Block& block) {
  return std::any_of(block.begin(), block.end(), [](const auto& stmt) {
    const For* loop = as<For>(*stmt);
    const Block* body = body_of(*stmt);
    return (loop != nullptr && loop->loop == LoopKind::lanes) || (body != nullptr && has_lanes(*body));
  });
}

}  // namespace

void vectorize(Kernel& kernel) {
  const auto lanes = [](const Phase& phase) { return has_lanes(phase.body); };
  while (
      std::any_of(kernel.phases.begin(), kernel.phases.end(), lanes)) {  // what goes in parts has lanes loops of fewer
    std::map<uint32_t, const For*> spread;
    for (Phase& phase : kernel.phases) spread_buffers(kernel, phase.body, nullptr, spread);
    Widths widths(kernel);
    Vectorize pass(kernel, widths);
    for (Phase& phase : kernel.phases) pass.block(phase.body);
    for (Phase& phase : kernel.phases) remove_unused(phase.body);
  }
}

}  // namespace plait::kir
