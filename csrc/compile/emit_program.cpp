#include "compile/emit_program.h"

#include <algorithm>

#include "base/error.h"
#include "program/assign_streams.h"
#include "schedule/params.h"

namespace plait {

namespace {

sym::Expr product_of(sym::Pool& pool, const TensorView* t, size_t begin, size_t end) {
  sym::Expr out = pool.constant(1);
  for (size_t d = begin; d < end; ++d) out = out * t->extent(d);
  return out;
}

class Builder {
 public:
  Builder(const Fusion& fusion, const DeviceMesh& devices, const std::vector<CompiledSegment>& compiled)
      : fusion_(fusion), compiled_(compiled) {
    program_.name = fusion.name();
    program_.pool = fusion.shared_pool();
    program_.mesh = fusion.mesh();
    program_.devices = devices;
  }

  Program run() {
    find_aliases();
    for (const TensorView* t : fusion_.inputs()) values_[t] = add(t, t->name, ProgramValueKind::input);
    // Outputs keep their order; one that is an input's memory, or that of an output before it, is a copy.
    for (const TensorView* t : fusion_.outputs()) {
      const ValueId id = add(t, t->name + (values_.count(t) > 0 ? "_out" : ""), ProgramValueKind::output);
      const bool first = owners_.try_emplace(root(t), t).first->second == t && values_.count(root(t)) == 0;
      if (first)
        values_[root(t)] = id;
      else
        copies_.emplace_back(t, id);
    }
    for (size_t i = 0; i < fusion_.segments.size(); ++i) add_segment(fusion_.segments[i], compiled_[i]);
    for (const auto& [t, id] : copies_) add_copy(t, id);
    assign_streams(program_);
    return std::move(program_);
  }

 private:
  ValueId add(const TensorView* t, const std::string& name, ProgramValueKind kind) {
    return program_.add_value(name, t->dtype, t->shape(), kind);
  }

  // What an alias is another name of.
  void find_aliases() {
    for (const Segment& segment : fusion_.segments)
      if (segment.schedule == kAlias) roots_[segment.ops[0]->out()] = root(segment.inputs[0]);
    for (const TensorView* t : fusion_.outputs())
      if (root(t) == t) owners_[t] = t;
  }

  const TensorView* root(const TensorView* t) const {
    const auto it = roots_.find(t);
    return it == roots_.end() ? t : it->second;
  }

  ValueId read(const TensorView* t) const {
    auto it = values_.find(root(t));
    PLAIT_CHECK(it != values_.end(), "%{} is not in memory", t->name);
    return it->second;
  }

  // The value of a segment's output, allocated before its first write.
  ValueId write(const TensorView* t) {
    auto it = values_.find(t);
    ValueId id = it == values_.end() ? add(t, t->name, ProgramValueKind::temporary) : it->second;
    values_[t] = id;
    program_.add_step<AllocStep>().value = id;
    return id;
  }

  void add_segment(const Segment& segment, const CompiledSegment& compiled) {
    if (segment.schedule == kAlias) return;
    if (compiled.kernel || !compiled.text.name.empty()) return add_launch(segment, compiled);
    for (const Op* op : segment.ops) {
      visit(*op, overloaded{
                     [&](const AllReduce& o) { add_all_reduce(o); },
                     [&](const AllGather& o) { view(o, {}); },
                     [&](const ReduceScatter& o) { view(o, reduce_of(o.reduce)); },
                     [&](const LocalSlice& o) { add_slice(o); },
                     [&](const Linear& o) { add_contraction(o, compiled); },
                     [&](const Matmul& o) { add_contraction(o, compiled); },
                     [&](const Reshard& o) { PLAIT_CHECK(false, "{} was not localized", plait::describe(o)); },
                     [](const Op& o) { PLAIT_CHECK(false, "{} has no kernel", plait::describe(o)); },
                 });
    }
  }

  void add_launch(const Segment& segment, const CompiledSegment& compiled) {
    std::vector<ValueId> outputs;
    for (const TensorView* t : segment.outputs) outputs.push_back(write(t));
    auto& step = program_.add_step<LaunchStep>();
    step.kernel.index = kernel_index(segment, compiled);
    for (const TensorView* t : segment.inputs) step.inputs.push_back(read(t));
    step.outputs = std::move(outputs);
    step.integers = compiled.integers;
    if (!compiled.kernel) return;
    const kir::Kernel& kernel = compiled.kernel->kernel;
    std::map<std::string, sym::Expr> arguments;
    for (size_t i = 0; i < kernel.integers.size(); ++i)
      arguments.emplace(kernel.integers[i].symbol_name(), compiled.kernel->arguments[i]);
    auto bind = [&](sym::Expr e) { return sym::substitute(fusion_.pool(), e, arguments); };
    if (const kir::For* loop = kir::thread_loop(kernel)) step.threads = bind(loop->extent);
    if (kernel.target == kir::Target::cuda) {
      auto extents = kir::launch_extents(kernel);
      for (size_t i = 0; i < 3; ++i) {
        step.grid[i] = bind(extents.grid[i]);
        step.block[i] = bind(extents.block[i]);
      }
    }
  }

  // Segments that run the same kernel share its slot.
  uint32_t kernel_index(const Segment& segment, const CompiledSegment& compiled) {
    auto [it, fresh] = kernels_.emplace(compiled.text.name, static_cast<uint32_t>(program_.kernels.size()));
    if (fresh) program_.kernels.push_back({compiled.text, segment.schedule, compiled.facts, compiled.executable});
    return it->second;
  }

  void add_contraction(const Op& op, const CompiledSegment& compiled) {
    std::string why;
    auto view = contraction_view(op, &why);
    PLAIT_CHECK(view && compiled.executable, "{} was given to the library: {}", plait::describe(op), why);
    ValueId out = write(op.out());
    auto& step = program_.add_step<LibraryStep>();
    step.library.index = static_cast<uint32_t>(program_.libraries.size());
    program_.libraries.push_back({view->contraction, compiled.executable});
    step.a = read(view->a);
    step.b = read(view->b);
    step.out = out;
    step.batch = view->batch;
    step.m = view->m;
    step.n = view->n;
    step.k = view->k;
  }

  void add_all_reduce(const AllReduce& op) {
    ValueId out = write(op.out());
    auto& step = program_.add_step<CollectiveStep>();
    step.collective = AllReduce::collective;
    step.in = read(op.in);
    step.out = out;
    step.reduce = reduce_of(op.reduce);
    step.team.index = op.axis;
  }

  template <class Node>
  void view(const Node& op, std::optional<CommReduce> reduce) {
    ValueId out = write(op.out());
    auto& step = program_.add_step<CollectiveStep>();
    step.collective = Node::collective;
    step.in = read(op.in);
    step.out = out;
    step.reduce = reduce;
    step.team.index = op.axis;
    step.outer = op.outer;
    step.count = op.count;
    step.total = op.total;
    step.inner = op.inner;
  }

  void add_slice(const LocalSlice& op) {
    ValueId out = write(op.out());
    auto& step = program_.add_step<CopyStep>();
    step.in = read(op.in);
    step.out = out;
    step.outer = op.outer;
    step.start = op.start;
    step.count = op.count;
    step.total = op.total;
    step.inner = op.inner;
  }

  void add_copy(const TensorView* t, ValueId out) {
    program_.add_step<AllocStep>().value = out;
    auto& step = program_.add_step<CopyStep>();
    step.in = read(t);
    step.out = out;
    step.start = fusion_.pool().constant(0);
    step.count = step.total = product_of(fusion_.pool(), t, 0, t->rank());
  }

  const Fusion& fusion_;
  const std::vector<CompiledSegment>& compiled_;
  Program program_;
  std::map<const TensorView*, const TensorView*> roots_;   // of aliases
  std::map<const TensorView*, const TensorView*> owners_;  // of a root's memory: the output that it is
  std::map<const TensorView*, ValueId> values_;            // of what is no alias
  std::map<std::string, uint32_t> kernels_;                // by name
  std::vector<std::pair<const TensorView*, ValueId>> copies_;
};

// Whether an operand lies row-major, or with its last two dims swapped.
bool lies(const TensorView& operand, bool* transposed, std::string* why) {
  std::vector<int> order = operand.domain.allocation;
  if (order.size() > 1 && order[order.size() - 2] > order[order.size() - 1]) {
    *transposed = true;
    std::swap(order[order.size() - 2], order[order.size() - 1]);
  }
  if (std::is_sorted(order.begin(), order.end())) return true;
  *why = fmt::format("%{} lies in another order", operand.name);
  return false;
}

}  // namespace

CommReduce reduce_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return CommReduce::sum;
    case ReduceOp::max:
      return CommReduce::max;
    case ReduceOp::min:
      return CommReduce::min;
    case ReduceOp::prod:
      return CommReduce::prod;
    case ReduceOp::logsumexp:  // of gathered parts
      break;
  }
  PLAIT_CHECK(false, "communicators do not reduce by {}", name(op));
  __builtin_unreachable();
}

std::optional<ContractionView> contraction_view(const Op& op, std::string* why) {
  sym::Pool& pool = op.out()->fusion->pool();
  ContractionView view;
  view.batch = pool.constant(1);
  view.contraction.out = op.out()->dtype;
  if (const auto* linear = as<Linear>(op)) {
    if (linear->b) {
      *why = "the bias is part of the contraction";
      return std::nullopt;
    }
    size_t rank = linear->x->rank();
    view.a = linear->x;
    view.b = linear->w;
    view.m = product_of(pool, linear->x, 0, rank - 1);
    view.n = linear->w->extent(0);
    view.k = linear->w->extent(1);
    view.contraction.linear = true;
  } else if (const auto* matmul = as<Matmul>(op)) {
    view.a = matmul->a;
    view.b = matmul->b;
    if (!lies(*view.a, &view.contraction.transpose_a, why) || !lies(*view.b, &view.contraction.transpose_b, why))
      return std::nullopt;
    size_t ra = view.a->rank(), rb = view.b->rank();
    view.m = view.a->extent(ra - 2);
    view.k = view.a->extent(ra - 1);
    view.n = view.b->extent(rb - 1);
    view.contraction.linear = false;
    bool same = ra == rb;
    for (size_t d = 0; same && d + 2 < ra; ++d) same = view.a->extent(d) == view.b->extent(d);
    if (same) {
      view.batch = product_of(pool, view.a, 0, ra - 2);
    } else if (rb == 2 && !view.contraction.transpose_a) {
      view.m = product_of(pool, view.a, 0, ra - 1);
    } else {
      *why = "batch dims broadcast";
      return std::nullopt;
    }
    if (rb == 2 && view.contraction.transpose_b && !view.contraction.transpose_a) {
      view.contraction.linear = true;
      view.contraction.transpose_b = false;
    }
  } else {
    *why = "not a contraction";
    return std::nullopt;
  }
  view.contraction.in = view.a->dtype;
  return view;
}

Program build_program(const Fusion& localized, const DeviceMesh& devices,
                      const std::vector<CompiledSegment>& segments) {
  PLAIT_CHECK(segments.size() == localized.segments.size(), "{} compiled segments of {}", segments.size(),
              localized.segments.size());
  return Builder(localized, devices, segments).run();
}

}  // namespace plait
