#include "kir/passes/transpose.h"

#include <algorithm>

#include "kir/lane.h"
#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

constexpr int kLeastLanes = 4;
constexpr size_t kMostRuns = 32;  // of a block, so that its loads are gone through in linear time

// Loads of a block whose indices differ by a constant.
struct Run {
  const Load* first = nullptr;     // in the order of the block
  std::map<int64_t, Load*> loads;  // by how much further they read than that
};

class Transposer {
 public:
  explicit Transposer(Kernel& kernel) : kernel_(kernel), editor_(kernel) {}

  void block(Block& in) {
    std::vector<Run> runs;
    for (auto& stmt : in) {
      if (Block* body = body_of(*stmt)) block(*body);
      if (stmt->kind == StmtKind::Load && may_be_row(*as<Load>(*stmt))) add(static_cast<Load&>(*stmt), runs);
    }
    for (Run& run : runs) squares(run);
    if (squares_.empty()) return;
    Block out;
    for (auto& stmt : in) {
      if (const auto found = squares_.find(stmt.get()); found != squares_.end())
        std::move(found->second.begin(), found->second.end(), std::back_inserter(out));
      if (!gone_.contains(stmt.get())) out.push_back(std::move(stmt));
    }
    in = std::move(out);
    squares_.clear();
    gone_.clear();
  }

 private:
  bool may_be_row(const Load& load) const {
    return load.access == Access::lanewise && load.out.lanes >= kLeastLanes && !load.active &&
           load.out.dtype != DType::boolean && !kernel_.buffers[load.buffer].stores();
  }

  static void add(Load& load, std::vector<Run>& runs) {
    for (Run& run : runs) {
      if (run.first->buffer != load.buffer || run.first->out.lanes != load.out.lanes) continue;
      const auto further = (load.index - run.first->index).constant();
      if (!further) continue;
      run.loads.emplace(*further, &load);
      return;
    }
    if (runs.size() < kMostRuns) runs.push_back({&load, {{0, &load}}});
  }

  // Of a run, from its start on, as many rows as there are lanes.
  void squares(const Run& run) {
    const size_t lanes = static_cast<size_t>(run.first->out.lanes);
    std::vector<std::pair<int64_t, Load*>> rows;
    for (const auto& row : run.loads) {
      if (!rows.empty() && row.first != rows.back().first + 1) rows.clear();
      rows.push_back(row);
      if (rows.size() < lanes) continue;
      square(rows, run);
      rows.clear();
    }
  }

  void square(const std::vector<std::pair<int64_t, Load*>>& rows, const Run& run) {
    auto transpose = std::make_unique<Transpose>();
    const sym::Expr lane = kernel_.pool->find_symbol(kLane), begin = run.first->index + rows[0].first;
    Block& out = squares_[run.first];
    const int lanes = run.first->out.lanes;
    for (int i = 0; i < lanes; ++i) {
      auto load = std::make_unique<Load>();
      load->out = editor_.value(run.first->out.dtype, lanes);
      load->buffer = run.first->buffer;
      const sym::Expr from = at_lane(begin, i);
      load->index = from + lane;
      load->access = sym::divisor(from) % lanes == 0 ? Access::aligned : Access::contiguous;
      transpose->in.push_back(load->out);
      transpose->out.push_back(rows[static_cast<size_t>(i)].second->out);
      gone_.insert(rows[static_cast<size_t>(i)].second);
      out.push_back(std::move(load));
    }
    out.push_back(std::move(transpose));
  }

  Kernel& kernel_;
  Editor editor_;
  std::map<const Stmt*, Block> squares_;  // by the load in front of which they stand; never iterated
  std::set<const Stmt*> gone_;            // never iterated
};

}  // namespace

void transpose(Kernel& kernel) {
  if (kernel.target != TargetKind::cpu) return;
  Transposer pass(kernel);
  for (Phase& phase : kernel.phases) pass.block(phase.body);
}

}  // namespace plait::kir
