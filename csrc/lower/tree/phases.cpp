// What the phases of a kernel leave to later ones in workspaces: states of parts of reductions, values of kept dims.
#include "base/error.h"
#include "lower/tree/emitter.h"

namespace plait::lowering {

uint32_t TreeEmitter::declare_workspace(std::string name, DType dtype, const Workspace& workspace) {
  sym::Expr count = number(1);
  for (sym::Expr e : workspace.dims) count = count * e;
  kernel_.buffers.push_back({free_name(std::move(name)), dtype, count, false, false, kir::Space::workspace});
  return static_cast<uint32_t>(kernel_.buffers.size() - 1);
}

// Dtypes of the state that a task saves: of f64 where it has parts of its own.
std::vector<std::vector<DType>> TreeEmitter::part_types(const Op& op) const {
  std::vector<std::vector<DType>> out;
  for (Combine combine : combines_of(op))
    out.push_back(state_types(combine, part_of_.contains(&op) ? DType::f64 : inputs(op).front()->dtype));
  return out;
}

void TreeEmitter::declare_workspaces() {
  for (const Op* op : group_.graph->ops()) {
    if (const auto parts = tree_.parts.find(op); parts != tree_.parts.end())
      for (const std::vector<DType>& types : part_types(*op)) {
        auto& buffers = saved_[op].emplace_back();
        for (DType type : types)
          buffers.push_back(declare_workspace(op->results[0]->name + "_parts", type, parts->second));
      }
    for (const TensorView* t : op->results)
      if (const auto kept = tree_.cross.find(t); kept != tree_.cross.end())
        cross_[t] = declare_workspace(t->name, compute_type(t->dtype), kept->second);
  }
}

// Row-major.
sym::Expr TreeEmitter::element(const Workspace& workspace) const {
  sym::Expr out = number(0);
  for (size_t d = 0; d < workspace.dims.size(); ++d) out = out * workspace.dims[d] + workspace.index[d];
  return out;
}

TreeEmitter::Part TreeEmitter::fold(Combine combine, const Part& state) {
  auto stmt = std::make_unique<kir::Fold>();
  stmt->combine = combine;
  stmt->state = state;
  for (const Value& v : state) stmt->out.push_back(fresh(v.dtype));
  Part out = stmt->out;
  add(std::move(stmt));
  return out;
}

void TreeEmitter::save(const Op& op) {
  const std::vector<Combine> combines = combines_of(op);
  const sym::Expr at = element(tree_.parts.at(&op));
  for (size_t i = 0; i < combines.size(); ++i) {
    const Part part = fold(combines[i], whole_.at(&op)[i]);
    for (size_t k = 0; k < part.size(); ++k) store(saved_.at(&op)[i][k], at, part[k]);
  }
}

void TreeEmitter::over_parts(int loop, const std::function<void()>& body) {
  const TreeLoop& l = tree_.loops[static_cast<size_t>(loop)];
  auto parts = std::make_unique<kir::For>();
  parts->var = l.var;
  parts->extent = l.extent;
  frames_.push_back({&parts->body, std::nullopt});
  body();
  leave();
  add(std::move(parts));
}

void TreeEmitter::merge_parts(const Op& op) {
  const std::vector<Combine> combines = combines_of(op);
  const sym::Expr at = element(tree_.parts.at(&op));
  for (size_t i = 0; i < combines.size(); ++i) {
    const Part& whole = whole_.at(&op)[i];
    auto stmt = std::make_unique<kir::Merge>();
    stmt->combine = combines[i];
    stmt->state = whole;
    for (size_t k = 0; k < whole.size(); ++k)
      stmt->in.push_back(convert(load(saved_.at(&op)[i][k], at), whole[k].dtype));
    add(std::move(stmt));
  }
}

}  // namespace plait::lowering
