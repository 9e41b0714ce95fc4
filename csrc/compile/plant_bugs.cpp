#include "compile/plant_bugs.h"

#include <cstring>
#include <map>
#include <set>

#include "graph/rewrite.h"

namespace plait {

void plant_before_sharding(Fusion& graph, const Options& options) {
  if (!has_test_bug(options, "lost_conflict_rule")) return;
  for (TensorView* t : graph.inputs())
    if (!t->stored) t->role = TensorRole::input;
}

namespace {

// The addition that reads an all-reduce and an input, or null.
PointwiseOp* bias_behind(const Fusion& fusion, const AllReduce& reduce) {
  const auto& readers = fusion.readers(reduce.out());
  auto* add = readers.size() == 1 ? as<PointwiseOp>(*readers[0]) : nullptr;
  return add && add->function == Pointwise::add && add->in[0] == reduce.out() && !add->in[1]->definition ? add
                                                                                                         : nullptr;
}

}  // namespace

void plant_after_localize(Fusion& localized, const Options& options) {
  Rewriter rewriter(localized);
  std::set<const Op*> moved;  // additions done before their reduction
  bool early_bias = has_test_bug(options, "bias_on_every_rank");
  bool not_reduced = has_test_bug(options, "partial_not_reduced");
  rewriter.run([&](Op* op) {
    if (auto* slice = as<LocalSlice>(*op)) {
      if (has_test_bug(options, "stale_slice")) slice->start = localized.pool().constant(0);
      if (has_test_bug(options, "wrong_chunk_bound")) slice->start = sym::max(slice->start - 1, 0);
    }
    if (auto* uniform = as<Uniform>(*op); uniform && has_test_bug(options, "local_random_index")) {
      uniform->global.clear();
      uniform->start.clear();
    }
    auto* reduce = as<AllReduce>(*op);
    if (reduce && not_reduced) return rewriter.cast_as(reduce->in, reduce->out());
    if (auto* add = reduce && early_bias ? bias_behind(localized, *reduce) : nullptr) {
      TensorView* early = rewriter.pointwise(Pointwise::add, {reduce->in, add->in[1]}, "early_bias");
      localized.edit_operands(*reduce, [&] { reduce->in = early; });
      moved.insert(add);
    }
    if (moved.count(op)) return rewriter.cast_as(as<PointwiseOp>(*op)->in[0], op->out());
    rewriter.keep(op);
  });
}

namespace {

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

}  // namespace

void plant_in_remove_unread(Fusion& localized, const Options& options) {
  if (!has_test_bug(options, "subtracting_pass")) return;
  for (Op* op : localized.ops())
    if (auto* p = as<PointwiseOp>(*op); p && p->function == Pointwise::add) p->function = Pointwise::sub;
}

void plant_in_program(Program& program, const Options& options) {
  if (!has_test_bug(options, "lost_wait")) return;
  std::erase_if(program.steps, [](const auto& step) {
    return step->kind == StepKind::RecordStep || step->kind == StepKind::WaitStep;
  });
}

std::shared_ptr<Communicators> plant_in_communication(std::shared_ptr<Communicators> comms, const Options& options) {
  bool swapped = has_test_bug(options, "swapped_gather");
  if (!swapped && !has_test_bug(options, "undelivered_sum")) return comms;
  return std::make_shared<FaultyTeams>(std::move(comms), swapped);
}

}  // namespace plait
