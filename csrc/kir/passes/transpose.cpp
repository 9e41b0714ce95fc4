#include "kir/passes/transpose.h"

#include <algorithm>
#include <bit>
#include <span>

#include "kir/lane.h"
#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

constexpr int kLeastRows = 4;
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
    return load.access == Access::lanewise && load.out.lanes >= kLeastRows && !kernel_.buffers[load.buffer].stores();
  }

  static void add(Load& load, std::vector<Run>& runs) {
    for (Run& run : runs) {
      const Load& first = *run.first;
      if (first.buffer != load.buffer || first.out.lanes != load.out.lanes || first.active != load.active) continue;
      const auto further = (load.index - first.index).constant();
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
      std::set<std::string> symbols = sym::symbols(slope->at_zero);
      if (load.active) symbols.merge(sym::symbols(load.active));
      if (std::any_of(symbols.begin(), symbols.end(), [&](const auto& s) { return bound.contains(s); })) continue;
      into_buffer(load, slope->at_zero, loop.var, before);
    }
    if (!before.empty()) change.squares[&loop] = std::move(before);
  }

  void into_buffer(Load& load, sym::Expr begin, sym::Expr row, Block& out) {
    const int lanes = load.out.lanes;
    const std::vector<Value> square = contiguous(load, begin, lanes, out);
    const uint32_t buffer = allocate("square", load.out.dtype, lanes * lanes, out);
    auto transpose = std::make_unique<Transpose>();
    transpose->in = square;
    for (int i = 0; i < lanes; ++i) transpose->out.push_back(editor_.value(load.out.dtype, lanes));
    const std::vector<Value> rows = transpose->out;
    out.push_back(std::move(transpose));
    for (int i = 0; i < lanes; ++i) store(rows[static_cast<size_t>(i)], buffer, editor_.number(i * lanes), out);
    load.buffer = buffer;
    load.index = row * lanes + lane();
    load.access = Access::aligned;
    load.active = {};
  }

  sym::Expr lane() const { return kernel_.pool->find_symbol(kLane); }

  uint32_t allocate(const char* name, DType dtype, int64_t extent, Block& out) {
    auto alloc = std::make_unique<Alloc>();
    alloc->buffer = editor_.buffer(name, dtype, editor_.number(extent));
    out.push_back(std::move(alloc));
    return static_cast<const Alloc&>(*out.back()).buffer;
  }

  // To as many elements as the value has lanes, at a multiple of them.
  void store(Value value, uint32_t buffer, sym::Expr begin, Block& out) {
    auto store = std::make_unique<Store>();
    store->buffer = buffer;
    store->index = begin + lane();
    store->in = value;
    store->access = Access::aligned;
    out.push_back(std::move(store));
  }

  Value load(uint32_t buffer, sym::Expr begin, DType dtype, int lanes, Block& out) {
    auto load = std::make_unique<Load>();
    load->out = editor_.value(dtype, lanes);
    load->buffer = buffer;
    load->index = begin + lane();
    load->access = sym::divisor(begin) % lanes == 0 ? Access::aligned : Access::contiguous;
    out.push_back(std::move(load));
    return static_cast<const Load&>(*out.back()).out;
  }

  // One load per lane, along the `count` elements that it reads from its element at `begin` on.
  std::vector<Value> contiguous(const Load& like, sym::Expr begin, int count, Block& out) {
    std::vector<Value> values;
    const uint32_t buffer = like.active ? of_active_lanes(like, begin, count, out) : like.buffer;
    for (int i = 0; i < like.out.lanes; ++i) {
      const sym::Expr from = like.active ? editor_.number(i * count) : at_lane(begin, i);
      values.push_back(load(buffer, from, like.out.dtype, count, out));
    }
    return values;
  }

  // The same in a stack buffer: a loop over the active lanes fills what begins as zeros.
  uint32_t of_active_lanes(const Load& like, sym::Expr begin, int count, Block& out) {
    const int lanes = like.out.lanes;
    const uint32_t buffer = allocate("rows", like.out.dtype, lanes * count, out);
    auto zero = std::make_unique<Literal>();
    zero->out = editor_.value(like.out.dtype, lanes);
    zero->constant = Constant::from_double(like.out.dtype, 0);
    const Value zeros = zero->out;
    out.push_back(std::move(zero));
    for (int i = 0; i < count; ++i) store(zeros, buffer, editor_.number(i * lanes), out);
    auto loop = std::make_unique<For>();
    loop->extent = sym::min(like.active, lanes);
    loop->var = editor_.symbol(lane(), sym::index_facts(loop->extent));
    const sym::Expr from = sym::substitute(begin, {{kLane, loop->var}});
    store(load(like.buffer, from, like.out.dtype, count, loop->body), buffer, count * loop->var, loop->body);
    out.push_back(std::move(loop));
    return buffer;
  }

  using Rows = std::span<const std::pair<int64_t, Load*>>;

  // Of a run, from its start on, as many rows as there are lanes, and of what is left the most that are 2^n.
  void squares(const Run& run, Change& change) {
    const std::vector<std::pair<int64_t, Load*>> loads(run.loads.begin(), run.loads.end());
    for (size_t begin = 0, end = 0; begin < loads.size(); begin = end) {
      for (end = begin + 1; end < loads.size() && loads[end].first == loads[end - 1].first + 1;) ++end;
      Rows rows = Rows(loads).subspan(begin, end - begin);
      while (rows.size() >= kLeastRows) {
        const size_t count = std::min(std::bit_floor(rows.size()), static_cast<size_t>(run.first->out.lanes));
        square(rows.first(count), run, change);
        rows = rows.subspan(count);
      }
    }
  }

  void square(Rows rows, const Run& run, Change& change) {
    auto transpose = std::make_unique<Transpose>();
    Block& out = change.squares[run.first];
    transpose->in = contiguous(*run.first, run.first->index + rows[0].first, int(rows.size()), out);
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
