#include "compile/emit_program.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "ir/launches.h"
#include "program/assign_streams.h"
#include "program/prefetch.h"
#include "segment/views.h"

namespace plait {

namespace {

sym::Expr product_of(sym::Pool& pool, const TensorView* t, size_t begin, size_t end) {
  sym::Expr out = pool.constant(1);
  for (size_t d = begin; d < end; ++d) out = out * t->extent(d);
  return out;
}

bool is_alias(const Segment& segment) { return std::holds_alternative<schedules::Alias>(segment.schedule); }

class Builder {
 public:
  Builder(const Fusion& fusion, const DeviceMesh& devices, const std::vector<CompiledSegment>& compiled)
      : fusion_(fusion), compiled_(compiled), views_(fusion) {
    program_.name = fusion.name();
    program_.pool = fusion.shared_pool();
    program_.mesh = fusion.mesh();
    program_.devices = devices;
  }

  Program run(const std::vector<InPlace>& in_place, bool ahead) {
    for (const TensorView* t : fusion_.outputs())
      if (root(t) == t) owners_[t] = t;
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
    for (const InPlace& o : in_place)
      if (o.why_not.empty()) program_.values[values_.at(o.root).index].in_place_of = values_.at(o.input);
    for (const std::vector<const Segment*>& launch : launches(fusion_)) {
      const CompiledSegment& compiled = compiled_[static_cast<size_t>(launch.front() - fusion_.segments.data())];
      if (launch.size() > 1)
        add_launch(as_one(fusion_, launch), compiled);
      else
        add_segment(*launch.front(), compiled);
    }
    for (const auto& [t, id] : copies_) add_copy(t, id);
    if (ahead) prefetch(program_);
    assign_streams(program_);
    return std::move(program_);
  }

 private:
  ValueId add(const TensorView* t, const std::string& name, ProgramValueKind kind) {
    return program_.add_value(name, t->dtype, t->shape(), kind);
  }

  const TensorView* root(const TensorView* t) const { return views_.of(t).root; }

  ValueId memory(const TensorView* root) const {
    const auto it = values_.find(root);
    PLAIT_CHECK(it != values_.end(), "%{} is not in memory", root->name);
    return it->second;
  }
  View read(const ContractionViews::Operand& view) const {
    return program_.shortened({memory(view.root), view.offset, view.extents, view.strides});
  }
  // Of a step that takes dense operands only.
  View read(const TensorView* t) const {
    const MemoryView view = views_.of(t);
    PLAIT_CHECK(view.whole, "%{} is a view that only a library reads", t->name);
    return program_.shortened({memory(view.root), {}, t->shape(), {}});
  }

  // The value of a segment's output, allocated before its first write.
  View write(const TensorView* t, std::vector<sym::Expr> extents) {
    auto it = values_.find(t);
    ValueId id = it == values_.end() ? add(t, t->name, ProgramValueKind::temporary) : it->second;
    values_[t] = id;
    program_.add_step<AllocStep>().value = id;
    return program_.shortened({id, {}, std::move(extents), {}});
  }
  View write(const TensorView* t) { return write(t, t->shape()); }

  void add_segment(const Segment& segment, const CompiledSegment& compiled) {
    if (is_alias(segment)) return;
    if (compiled.kernel || !compiled.text.name.empty()) return add_launch(segment, compiled);
    for (const Op* op : segment.ops) {
      visit(*op, overloaded{
                     [&](const AllReduce& o) { add_all_reduce(o); },
                     [&](const AllGather& o) { view(o, {}); },
                     [&](const ReduceScatter& o) { view(o, reduce_of(o.reduce)); },
                     [&](const AllToAll& o) { add_exchange(o); },
                     [&](const GatherRange& o) { add_range(o); },
                     [&](const GatherBlock& o) { add_block(o); },
                     [&](const LocalSlice& o) { add_slice(o); },
                     [&](const Linear& o) { add_contraction(o, compiled); },
                     [&](const Matmul& o) { add_contraction(o, compiled); },
                     [&](const Reshard& o) { PLAIT_CHECK(false, "{} was not localized", plait::describe(o)); },
                     [](const Op& o) { PLAIT_CHECK(false, "{} has no kernel", plait::describe(o)); },
                 });
    }
  }

  void add_launch(const Segment& segment, const CompiledSegment& compiled) {
    std::vector<View> outputs;
    for (const TensorView* t : segment.outputs) outputs.push_back(write(t));
    std::vector<View> workspaces = allocate_workspaces(segment, compiled);
    auto& step = program_.add_step<LaunchStep>();
    step.kernel.index = kernel_index(segment, compiled);
    step.workspaces = std::move(workspaces);
    for (const TensorView* t : segment.inputs) step.inputs.push_back(read(t));
    step.outputs = std::move(outputs);
    step.integers = compiled.integers;
    if (!compiled.kernel) return;
    const kir::Kernel& kernel = compiled.kernel->kernel;
    auto bind = [&](sym::Expr e) { return over_sizes(*compiled.kernel, fusion_.pool(), e); };
    for (const kir::Phase& phase : kernel.phases) {
      const kir::For* loop = kir::thread_loop(phase);
      if (loop != nullptr || (kernel.phases.size() > 1 && kernel.target == TargetKind::cpu))
        step.threads.phases.push_back(loop != nullptr ? bind(loop->extent) : fusion_.pool().constant(1));
    }
    if (kernel.target == TargetKind::cuda) {
      auto extents = kir::launch_extents(kernel);
      for (size_t i = 0; i < 3; ++i) {
        step.grid[i] = bind(extents.grid[i]);
        step.block[i] = bind(extents.block[i]);
      }
      for (size_t phase = 1; phase < kernel.phases.size(); ++phase) {
        extents = kir::launch_extents(kernel, phase);
        for (sym::Expr extent : extents.grid) step.later_grids.push_back(bind(extent));
        for (sym::Expr extent : extents.block) step.later_blocks.push_back(bind(extent));
      }
      for (const kir::Buffer& buffer : kernel.buffers)
        if (buffer.space == kir::Space::counter) step.counters.push_back(bind(buffer.extent));
    }
  }

  // Values that only the launch knows: `%s3_partials`.
  std::vector<View> allocate_workspaces(const Segment& segment, const CompiledSegment& compiled) {
    std::vector<View> out;
    if (!compiled.kernel) return out;
    for (const kir::Buffer& buffer : compiled.kernel->kernel.buffers) {
      if (buffer.space != kir::Space::workspace) continue;
      std::string name = fmt::format("{}_{}", segment.name, buffer.name);
      while (fusion_.find(name) != nullptr || !workspaces_.insert(name).second) name += "_";
      const ValueId id =
          program_.add_value(name, buffer.dtype, {over_sizes(*compiled.kernel, fusion_.pool(), buffer.extent)},
                             ProgramValueKind::temporary);
      program_.add_step<AllocStep>().value = id;
      out.push_back(id);
    }
    return out;
  }

  // Segments that run the same kernel share its slot.
  uint32_t kernel_index(const Segment& segment, const CompiledSegment& compiled) {
    auto [it, fresh] = kernels_.emplace(compiled.text.name, static_cast<uint32_t>(program_.kernels.size()));
    if (fresh) {
      const std::string schedule = compiled.kernel ? compiled.kernel->kernel.schedule : print(segment.schedule);
      const std::vector<int64_t> taken = compiled.kernel ? compiled.kernel->taken : std::vector<int64_t>();
      program_.kernels.push_back({compiled.text, schedule, taken, compiled.facts, compiled.executable});
    }
    return it->second;
  }

  void add_contraction(const Op& op, const CompiledSegment& compiled) {
    std::string why;
    const auto views = contraction_views(op, views_, &why);
    PLAIT_CHECK(views && compiled.executable, "{} was given to the library: {}", plait::describe(op), why);
    View out = write(op.out(), views->out);
    auto& step = program_.add_step<LibraryStep>();
    step.library.index = static_cast<uint32_t>(program_.libraries.size());
    program_.libraries.push_back({library_contraction(op), compiled.executable, op.out()->name});
    step.a = read(views->a);
    step.b = read(views->b);
    step.out = std::move(out);
  }

  void add_all_reduce(const AllReduce& op) {
    View out = write(op.out());
    auto& step = program_.add_step<CollectiveStep>();
    step.collective = AllReduce::kCollective;
    step.in = read(op.in);
    step.out = std::move(out);
    step.reduce = reduce_of(op.reduce);
    step.team = op.team;
  }

  void add_exchange(const AllToAll& op) {
    auto& step = view(op, {});
    step.middle = op.middle;
    step.scattered = op.scattered;
    step.scattered_total = op.scattered_total;
    step.scattered_first = op.scattered_first;
  }

  void add_range(const GatherRange& op) {
    auto& step = view(op, {});
    step.start = op.start;
    step.taken = op.taken;
  }

  void add_block(const GatherBlock& op) {
    View out = write(op.out());
    auto& step = program_.add_step<CollectiveStep>();
    step.collective = GatherBlock::kCollective;
    step.in = read(op.in);
    step.out = std::move(out);
    step.team = op.team;
    step.outer = op.outer, step.middle = op.middle, step.inner = op.inner;
    step.totals = op.totals, step.held = op.held, step.wanted = op.wanted;
  }

  template <class Node>
  CollectiveStep& view(const Node& op, std::optional<CommReduce> reduce) {
    View out = write(op.out());
    auto& step = program_.add_step<CollectiveStep>();
    step.collective = Node::kCollective;
    step.in = read(op.in);
    step.out = std::move(out);
    step.reduce = reduce;
    step.team = op.team;
    step.outer = op.outer;
    step.count = op.count;
    step.total = op.total;
    step.inner = op.inner;
    return step;
  }

  void add_slice(const LocalSlice& op) {
    View out = write(op.out());
    auto& step = program_.add_step<CopyStep>();
    step.in = read(op.in);
    step.out = std::move(out);
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
  const MemoryViews views_;                                // of aliases
  std::map<const TensorView*, const TensorView*> owners_;  // of a root's memory: the output that it is
  std::map<const TensorView*, ValueId> values_;            // of what is no alias
  std::set<std::string> workspaces_;                       // names
  std::map<std::string, uint32_t> kernels_;                // by name
  std::vector<std::pair<const TensorView*, ValueId>> copies_;
};

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

Program build_program(const Fusion& localized, const DeviceMesh& devices, const std::vector<CompiledSegment>& segments,
                      const std::vector<InPlace>& in_place, bool ahead) {
  PLAIT_CHECK(segments.size() == localized.segments.size(), "{} compiled segments of {}", segments.size(),
              localized.segments.size());
  return Builder(localized, devices, segments).run(in_place, ahead);
}

}  // namespace plait
