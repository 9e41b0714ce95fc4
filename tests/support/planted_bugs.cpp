#include "support/planted_bugs.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <set>

#include "base/error.h"
#include "graph/rewrite.h"
#include "kir/kernel.h"
#include "program/program.h"
#include "support/planted_kernel_bugs.h"

namespace plait::testing {

namespace {

// ---- Of the graph.

void drop_biases(Fusion& fusion) {
  for (Op* op : fusion.ops())
    if (auto* linear = as<Linear>(*op); linear && linear->b)
      fusion.edit_operands(*linear, [&] { linear->b = nullptr; });
}

void lose_parameters(Fusion& fusion) {
  for (TensorView* t : fusion.inputs())
    if (!t->stored) t->role = TensorRole::input;
}

void start_slices_at_zero(Fusion& fusion) {
  for (Op* op : fusion.ops())
    if (auto* slice = as<LocalSlice>(*op)) slice->start = fusion.pool().constant(0);
}

void start_slices_early(Fusion& fusion) {
  for (Op* op : fusion.ops())
    if (auto* slice = as<LocalSlice>(*op)) slice->start = sym::max(slice->start - 1, 0);
}

void number_locally(Fusion& fusion) {
  for (Op* op : fusion.ops())
    if (auto* uniform = as<Uniform>(*op)) {
      uniform->global.clear();
      uniform->start.clear();
    }
}

void subtract(Fusion& fusion) {
  for (Op* op : fusion.ops())
    if (auto* p = as<PointwiseOp>(*op); p && p->function == Pointwise::add) p->function = Pointwise::sub;
}

void take_partials_for_whole(Fusion& fusion) {
  Rewriter rewriter(fusion);
  rewriter.run([&](Op* op) {
    if (auto* reduce = as<AllReduce>(*op)) return rewriter.cast_as(reduce->in, reduce->out());
    rewriter.keep(op);
  });
}

// The addition that reads an all-reduce and an input, or null.
PointwiseOp* bias_behind(const Fusion& fusion, const AllReduce& reduce) {
  const auto& readers = fusion.readers(reduce.out());
  auto* add = readers.size() == 1 ? as<PointwiseOp>(*readers[0]) : nullptr;
  return add && add->function == Pointwise::add && add->in[0] == reduce.out() && !add->in[1]->definition ? add
                                                                                                         : nullptr;
}

void add_biases_on_every_rank(Fusion& fusion) {
  Rewriter rewriter(fusion);
  std::set<const Op*> moved;  // additions done before their reduction
  rewriter.run([&](Op* op) {
    auto* reduce = as<AllReduce>(*op);
    if (auto* add = reduce ? bias_behind(fusion, *reduce) : nullptr) {
      TensorView* early = rewriter.pointwise(Pointwise::add, {reduce->in, add->in[1]}, "early_bias");
      fusion.edit_operands(*reduce, [&] { reduce->in = early; });
      moved.insert(add);
    }
    if (moved.count(op)) return rewriter.cast_as(as<PointwiseOp>(*op)->in[0], op->out());
    rewriter.keep(op);
  });
}

// Operands of one dim are read backwards by results of several.
void read_rows_backwards(Fusion& fusion) {
  Rewriter rewriter(fusion);
  rewriter.run([&](Op* op) {
    if (auto* p = as<PointwiseOp>(*op); p && op->out()->rank() > 1)
      for (size_t i = 0; i < p->in.size(); ++i) {
        if (p->in[i]->rank() != 1) continue;
        auto flip = std::make_unique<Flip>();
        flip->in = p->in[i];
        flip->dims = {0};
        TensorView* backwards = rewriter.emit(std::move(flip), p->in[i]->name + "_backwards");
        backwards->layout = p->in[i]->layout;
        fusion.edit_operands(*p, [&] { p->in[i] = backwards; });
      }
    rewriter.keep(op);
  });
}

// ---- Of kernels and programs.

void lose_waits(Program& program) {
  std::erase_if(program.steps, [](const auto& step) {
    return step->kind == StepKind::RecordStep || step->kind == StepKind::WaitStep;
  });
}

// ---- Of communicators.

class Faulty : public Communicator {
 public:
  Faulty(Communicator& real, bool swapped) : real_(real), swapped_(swapped) {}
  int64_t size() const override { return real_.size(); }
  void all_reduce(DType dtype, CommReduce reduce, int64_t elements, std::span<const CommMember> members) override {
    real_.all_reduce(dtype, reduce, elements, members);
    if (swapped_ || members.size() < 2) return;
    std::memcpy(members.back().out, members.back().in, static_cast<size_t>(elements) * size_of(dtype));
  }
  void reduce_scatter(const CommPieces& pieces, CommReduce reduce, std::span<const CommMember> members) override {
    real_.reduce_scatter(pieces, reduce, members);
  }
  void all_gather(const CommPieces& pieces, std::span<const CommMember> members) override {
    std::vector<CommMember> changed(members.begin(), members.end());
    if (swapped_ && changed.size() > 1 && pieces.counts[0] == pieces.counts[1]) std::swap(changed[0].in, changed[1].in);
    real_.all_gather(pieces, changed);
  }
  void all_to_all(const CommBlocks& blocks, std::span<const CommMember> members) override {
    std::vector<CommMember> changed(members.begin(), members.end());
    const auto held = [&](size_t p) { return blocks.elements(blocks.held[p]); };
    if (swapped_ && changed.size() > 1 && held(0) == held(1)) std::swap(changed[0].in, changed[1].in);
    real_.all_to_all(blocks, changed);
  }

 private:
  Communicator& real_;
  bool swapped_;
};

class FaultyTeams : public Communicators {
 public:
  FaultyTeams(std::shared_ptr<Communicators> real, bool swapped) : real_(std::move(real)), swapped_(swapped) {}
  Communicator& team(std::span<const int64_t> ranks) override {
    auto& slot = teams_[{ranks.begin(), ranks.end()}];
    if (!slot) slot = std::make_unique<Faulty>(real_->team(ranks), swapped_);
    return *slot;
  }
  CommTraffic traffic() const override { return real_->traffic(); }
  void reset_traffic() override { real_->reset_traffic(); }

 private:
  std::shared_ptr<Communicators> real_;
  bool swapped_;
  std::map<std::vector<int64_t>, std::unique_ptr<Faulty>> teams_;
};

// ---- All of them.

struct Bug {
  std::string_view name, pass;
  void (*in_graph)(Fusion&) = nullptr;
  int (*in_kernel)(kir::Kernel&) = nullptr;
  void (*in_program)(Program&) = nullptr;
};

constexpr Bug kBugs[] = {
    {"dropped_bias", "expand", drop_biases},                       // linear forgets its bias
    {"bias_on_every_rank", "localize", add_biases_on_every_rank},  // the bias joins before the reduction
    {"wrong_chunk_bound", "localize", start_slices_early},         // a local slice starts one element too early
    {"missing_tail", "lower", nullptr, drop_tails},                // elements behind the last whole vector are left
    {"swapped_gather", ""},                                        // two members of an all-gather change places
    {"lost_conflict_rule", "split_bias", lose_parameters},         // parameters lose their rank in conflicts
    {"partial_not_reduced", "localize", take_partials_for_whole},  // a pending sum is taken for whole
    {"local_random_index", "localize", number_locally},            // random numbers use the local index
    {"stale_slice", "localize", start_slices_at_zero},             // a local slice starts at 0 on every rank
    {"wrong_broadcast", "remove_unread", read_rows_backwards},     // an operand of fewer dims is read elsewhere
    {"undelivered_sum", ""},  // the last member of an all-reduce keeps its own part
    {"lost_wait", "build_program", nullptr, nullptr, lose_waits},  // no stream of a program waits for the other
    {"subtracting_pass", "remove_unread", subtract},               // additions subtract
};

constexpr std::string_view kError = "internal_error";

[[noreturn]] void fail() { throw InternalError("a planted internal error", "a planted bug", ""); }

void plant_error(std::string_view where, CompileOptions& options) {
  if (where == "run") {
    options.on_step = [](int64_t, size_t, const std::string&) { fail(); };
  } else if (where == "bind") {
    PLAIT_CHECK(options.dumps, "a bug where sizes are bound needs a sink of dumps");
    options.dumps->listen([](auto stage, auto, auto) { return stage == "memory" ? fail() : void(); }, true);
  } else {
    options.hook = [at = std::string(where)](auto, auto pass, const PassSubject&) {
      if (at == "crash") std::raise(SIGSEGV);
      if (at.empty() || pass == at) fail();
    };
  }
}

}  // namespace

const std::vector<std::string_view>& planted_bugs() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const Bug& bug : kBugs) out.push_back(bug.name);
    return out;
  }();
  return names;
}

bool is_of_communicators(std::string_view bug) { return bug == "swapped_gather" || bug == "undelivered_sum"; }

void plant_bug(std::string_view name, CompileOptions& options) {
  if (name.empty() || is_of_communicators(name)) return;
  if (name.starts_with(kError)) {
    name.remove_prefix(std::min(name.size(), kError.size() + 1));
    return plant_error(name, options);
  }
  const auto* bug = std::find_if(std::begin(kBugs), std::end(kBugs), [&](const Bug& b) { return b.name == name; });
  PLAIT_CHECK(bug != std::end(kBugs), "there is no planted bug `{}`", name);
  options.hook = [bug](std::string_view stage, std::string_view pass, const PassSubject& subject) {
    if (pass != bug->pass || (pass == "expand" && stage != "graph")) return;
    if (Fusion* fusion = subject.as<Fusion>(); fusion && bug->in_graph) bug->in_graph(*fusion);
    if (auto* kernel = subject.as<kir::Kernel>(); kernel && bug->in_kernel) bug->in_kernel(*kernel);
    if (Program* program = subject.as<Program>(); program && bug->in_program) bug->in_program(*program);
  };
}

std::shared_ptr<Communicators> plant_bug(std::string_view bug, std::shared_ptr<Communicators> comms) {
  if (!is_of_communicators(bug)) return comms;
  return std::make_shared<FaultyTeams>(std::move(comms), bug == "swapped_gather");
}

}  // namespace plait::testing
