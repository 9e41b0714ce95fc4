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

// What a block becomes.
struct Change {
  std::map<const Stmt*, Block> squares;  // by the statement in front of which they stand; never iterated
  std::set<const Stmt*> gone;            // never iterated
};

class Transposer {
 public:
  explicit Transposer(Kernel& kernel) : kernel_(kernel), editor_(kernel) {}

  void block(Block& in) {
    std::vector<Run> runs;
    Change change;
    for (auto& stmt : in) {
      if (Block* body = body_of(*stmt)) block(*body);
      if (stmt->kind == StmtKind::For && as<For>(*stmt)->unroll) rows(static_cast<For&>(*stmt), change);
      if (stmt->kind == StmtKind::Load && may_be_row(*as<Load>(*stmt))) add(static_cast<Load&>(*stmt), runs);
    }
    for (Run& run : runs) squares(run, change);
    if (change.squares.empty()) return;
    Block out;
    for (auto& stmt : in) {
      if (const auto found = change.squares.find(stmt.get()); found != change.squares.end())
        std::move(found->second.begin(), found->second.end(), std::back_inserter(out));
      if (!change.gone.contains(stmt.get())) out.push_back(std::move(stmt));
    }
    in = std::move(out);
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

  // Loads of a loop over the rows of a square: the square is put into a buffer in front of the loop.
  void rows(For& loop, Change& change) {
    std::set<std::string> bound{loop.var.symbol_name()};
    for (const auto& stmt : loop.body)
      if (const Bind* bind = as<Bind>(*stmt)) bound.insert(bind->var.symbol_name());
    Block before;
    for (auto& stmt : loop.body) {
      if (stmt->kind != StmtKind::Load || !may_be_row(*as<Load>(*stmt))) continue;
      auto& load = static_cast<Load&>(*stmt);
      const auto slope = slope_in(load.index, loop.var);
      if (!slope || slope->step != 1 || loop.extent.constant() != load.out.lanes) continue;
      const std::set<std::string> symbols = sym::symbols(slope->at_zero);
      if (std::any_of(symbols.begin(), symbols.end(), [&](const auto& s) { return bound.contains(s); })) continue;
      into_buffer(load, slope->at_zero, loop.var, before);
    }
    if (!before.empty()) change.squares[&loop] = std::move(before);
  }

  void into_buffer(Load& load, sym::Expr begin, sym::Expr row, Block& out) {
    const int lanes = load.out.lanes;
    const sym::Expr lane = kernel_.pool->find_symbol(kLane);
    const std::vector<Value> square = contiguous(load, begin, out);
    const uint32_t buffer = editor_.buffer("square", load.out.dtype, editor_.number(lanes * lanes));
    auto alloc = std::make_unique<Alloc>();
    alloc->buffer = buffer;
    out.push_back(std::move(alloc));
    auto transpose = std::make_unique<Transpose>();
    transpose->in = square;
    for (int i = 0; i < lanes; ++i) transpose->out.push_back(editor_.value(load.out.dtype, lanes));
    const std::vector<Value> rows = transpose->out;
    out.push_back(std::move(transpose));
    for (int i = 0; i < lanes; ++i) {
      auto store = std::make_unique<Store>();
      store->buffer = buffer;
      store->index = editor_.number(i * lanes) + lane;
      store->in = rows[static_cast<size_t>(i)];
      store->access = Access::aligned;
      out.push_back(std::move(store));
    }
    load.buffer = buffer;
    load.index = row * lanes + lane;
    load.access = Access::aligned;
  }

  // One load per lane, along what that lane reads from its element at `begin` on.
  std::vector<Value> contiguous(const Load& like, sym::Expr begin, Block& out) {
    const sym::Expr lane = kernel_.pool->find_symbol(kLane);
    std::vector<Value> values;
    for (int i = 0; i < like.out.lanes; ++i) {
      auto load = std::make_unique<Load>();
      load->out = editor_.value(like.out.dtype, like.out.lanes);
      load->buffer = like.buffer;
      const sym::Expr from = at_lane(begin, i);
      load->index = from + lane;
      load->access = sym::divisor(from) % like.out.lanes == 0 ? Access::aligned : Access::contiguous;
      values.push_back(load->out);
      out.push_back(std::move(load));
    }
    return values;
  }

  // Of a run, from its start on, as many rows as there are lanes.
  void squares(const Run& run, Change& change) {
    const size_t lanes = static_cast<size_t>(run.first->out.lanes);
    std::vector<std::pair<int64_t, Load*>> rows;
    for (const auto& row : run.loads) {
      if (!rows.empty() && row.first != rows.back().first + 1) rows.clear();
      rows.push_back(row);
      if (rows.size() < lanes) continue;
      square(rows, run, change);
      rows.clear();
    }
  }

  void square(const std::vector<std::pair<int64_t, Load*>>& rows, const Run& run, Change& change) {
    auto transpose = std::make_unique<Transpose>();
    Block& out = change.squares[run.first];
    transpose->in = contiguous(*run.first, run.first->index + rows[0].first, out);
    for (const auto& [further, load] : rows) {
      transpose->out.push_back(load->out);
      change.gone.insert(load);
    }
    out.push_back(std::move(transpose));
  }

  Kernel& kernel_;
  Editor editor_;
};

}  // namespace

void transpose(Kernel& kernel) {
  if (kernel.target != TargetKind::cpu) return;
  Transposer pass(kernel);
  for (Phase& phase : kernel.phases) pass.block(phase.body);
}

}  // namespace plait::kir
