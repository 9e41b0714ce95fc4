#include "kir/passes/stage.h"

#include <algorithm>

#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

// The loops of a tile: element (rows*row + y, lanes*x + lane).
struct Tile {
  For *row = nullptr, *y = nullptr, *x = nullptr, *lane = nullptr;  // row and lane may be absent
  int64_t rows = 1, lanes = 1;                                      // steps of loops row and x
  int64_t size = 0;                                                 // rows, and columns
};

// A load of a tile, the conditions around it, and, once it waits there, its buffer of shared memory.
struct Waiting {
  Load* load = nullptr;
  std::vector<sym::Expr> conditions;
};
// What several loads read alike.
struct Staged {
  uint32_t from, buffer;
  sym::Expr index;
  std::vector<sym::Expr> conditions;
};

class Stager {
 public:
  explicit Stager(Kernel& kernel) : kernel_(kernel), editor_(kernel) {}

  // Statements that a block of threads runs once: within loops over blocks, and conditions.
  void block(Block& in) {
    Block out;
    for (auto& stmt : in) {
      const For* loop = as<For>(*stmt);
      if (const auto tile = tile_of(*stmt))
        stage(*tile, out);
      else if (Block* body = body_of(*stmt); body != nullptr && (loop == nullptr || is_parallel(loop->loop)))
        block(*body);
      out.push_back(std::move(stmt));
    }
    in = std::move(out);
  }

 private:
  using Symbols = std::map<std::string, sym::Expr>;

  // The one loop of the kind that a body has, through conditions.
  static For* only_loop(Block& body, LoopKind kind) {
    if (body.size() != 1) return nullptr;
    if (body.front()->kind == StmtKind::If) return only_loop(*body_of(*body.front()), kind);
    For* loop = body.front()->kind == StmtKind::For ? static_cast<For*>(body.front().get()) : nullptr;
    return loop != nullptr && loop->loop == kind ? loop : nullptr;
  }

  static std::optional<Tile> tile_of(Stmt& stmt) {
    For* outer = stmt.kind == StmtKind::For ? static_cast<For*>(&stmt) : nullptr;
    if (outer == nullptr) return std::nullopt;
    Tile out;
    if (outer->loop == LoopKind::serial) out.row = outer;
    out.y = out.row != nullptr ? only_loop(out.row->body, LoopKind::threads_y) : outer;
    if (out.y == nullptr || out.y->loop != LoopKind::threads_y) return std::nullopt;
    out.x = only_loop(out.y->body, LoopKind::threads);
    if (out.x == nullptr) return std::nullopt;
    out.lane = only_loop(out.x->body, LoopKind::lanes);
    const auto extent = [](const For* loop) { return loop == nullptr ? 1 : loop->extent.constant().value_or(0); };
    out.rows = extent(out.y);
    out.lanes = extent(out.lane);
    out.size = extent(out.row) * out.rows;
    if (out.size < 2 || extent(out.x) * out.lanes != out.size) return std::nullopt;
    return out;
  }

  // Row and column of an element of the tile.
  static std::pair<sym::Expr, sym::Expr> place(const Tile& tile) {
    sym::Expr row = tile.y->var, column = tile.x->var * tile.lanes;
    if (tile.row != nullptr) row = row + tile.row->var * tile.rows;
    if (tile.lane != nullptr) column = column + tile.lane->var;
    return {row, column};
  }

  // The variables of the loops as what they are in the element whose row and column have changed places.
  static Symbols turned(const Tile& tile) {
    const auto [row, column] = place(tile);
    Symbols out;
    if (tile.row != nullptr) out.emplace(tile.row->var.symbol_name(), sym::floordiv(column, tile.rows));
    out.emplace(tile.y->var.symbol_name(), tile.row != nullptr ? sym::mod(column, tile.rows) : column);
    if (tile.lane != nullptr) out.emplace(tile.lane->var.symbol_name(), sym::mod(row, tile.lanes));
    out.emplace(tile.x->var.symbol_name(), tile.lane != nullptr ? sym::floordiv(row, tile.lanes) : row);
    return out;
  }

  // Whether threads side by side, and lanes, meet elements side by side.
  static bool is_contiguous(sym::Expr index, const Tile& tile) {
    const auto step = [&](const For* loop) {
      const auto slope = slope_in(index, loop->var);
      return slope ? slope->step : 0;
    };
    return step(tile.x) == tile.lanes && (tile.lane == nullptr || step(tile.lane) == 1);
  }

  bool may_wait(const Load& load, const Tile& tile, const Symbols& symbols) const {
    const Buffer& buffer = kernel_.buffers[load.buffer];
    return !buffer.is_local() && !buffer.stores() && !load.active && load.out.lanes == 1 &&
           depends_on(load.index, tile.x->var) && !is_contiguous(load.index, tile) &&
           is_contiguous(sym::substitute(load.index, symbols), tile);
  }

  // Loads that, with the conditions around them, depend on loops of the tile and around it alone. `inside`: symbols
  // that have their value in the tile.
  void find(Block& body, const Tile& tile, const Symbols& symbols, Waiting& around, std::set<std::string>& inside,
            std::vector<Waiting>& out) const {
    const auto is_known = [&](sym::Expr e) {
      const auto names = sym::symbols(e);
      return std::none_of(names.begin(), names.end(), [&](const auto& n) { return inside.contains(n); });
    };
    for (auto& stmt : body) {
      if (const Bind* bind = as<Bind>(*stmt)) inside.insert(bind->var.symbol_name());
      const For* loop = as<For>(*stmt);
      if (loop != nullptr && loop != tile.y && loop != tile.x && loop != tile.lane)
        inside.insert(loop->var.symbol_name());
      const If* branch = as<If>(*stmt);
      if (branch != nullptr) around.conditions.push_back(branch->condition);
      if (Block* inner = body_of(*stmt)) find(*inner, tile, symbols, around, inside, out);
      if (branch != nullptr) around.conditions.pop_back();
      if (stmt->kind != StmtKind::Load) continue;
      around.load = static_cast<Load*>(stmt.get());
      if (is_known(around.load->index) && std::all_of(around.conditions.begin(), around.conditions.end(), is_known) &&
          may_wait(*around.load, tile, symbols))
        out.push_back(around);
    }
  }

  void stage(const Tile& tile, Block& out) {
    const Symbols symbols = turned(tile);
    std::vector<Waiting> found;
    Waiting around;
    std::set<std::string> inside;
    find(tile.row != nullptr ? tile.row->body : tile.y->body, tile, symbols, around, inside, found);
    const int64_t pitch = tile.size + 1;  // a column of the tile meets all banks
    std::vector<Staged> staged;
    const auto [row, column] = place(tile);
    for (const Waiting& w : found) {
      const auto same = [&](const Staged& s) {
        return s.from == w.load->buffer && s.index == w.load->index && s.conditions == w.conditions;
      };
      auto at = std::find_if(staged.begin(), staged.end(), same);
      if (at == staged.end()) {
        const Buffer& from = kernel_.buffers[w.load->buffer];
        const int64_t more = tile.size * pitch * static_cast<int64_t>(size_of(from.dtype));
        if (bytes_ + more > kMostSharedBytes) continue;
        bytes_ += more;
        const uint32_t buffer = editor_.buffer(from.name, from.dtype, editor_.number(tile.size * pitch));
        kernel_.buffers.back().space = Space::shared;
        staged.push_back({w.load->buffer, buffer, w.load->index, w.conditions});
        at = staged.end() - 1;
      }
      w.load->buffer = at->buffer;
      w.load->index = column * pitch + row;
      w.load->access = Access::lanewise;
    }
    if (staged.empty()) return;
    for (const Staged& s : staged) {
      auto alloc = std::make_unique<Alloc>();
      alloc->buffer = s.buffer;
      out.push_back(std::move(alloc));
    }
    out.push_back(copies(tile, staged, symbols, row * pitch + column));
    out.push_back(std::make_unique<Sync>());
  }

  // Loops as those of the tile, with names of their own, that bring its elements to shared memory.
  std::unique_ptr<Stmt> copies(const Tile& tile, const std::vector<Staged>& staged, const Symbols& symbols,
                               sym::Expr place) {
    Symbols names;
    std::vector<std::unique_ptr<For>> loops;
    for (const For* like : {tile.row, tile.y, tile.x, tile.lane}) {
      if (like == nullptr) continue;
      auto loop = editor_.loop_like(*like);
      names.emplace(like->var.symbol_name(), loop->var);
      loops.push_back(std::move(loop));
    }
    const auto here = [&](sym::Expr e) { return sym::substitute(sym::substitute(e, symbols), names); };
    for (const Staged& s : staged) {
      Block* body = &loops.back()->body;
      for (sym::Expr condition : s.conditions) {
        const sym::Expr now = here(condition);
        if (sym::proven(now)) continue;
        auto branch = std::make_unique<If>();
        branch->condition = now;
        Block* const within = &branch->body;
        body->push_back(std::move(branch));
        body = within;
      }
      auto load = std::make_unique<Load>();
      load->out = editor_.value(compute_type(kernel_.buffers[s.from].dtype), 1);
      load->buffer = s.from;
      load->index = here(s.index);
      load->access = Access::lanewise;
      auto store = std::make_unique<Store>();
      store->buffer = s.buffer;
      store->index = sym::substitute(place, names);
      store->in = load->out;
      store->access = Access::lanewise;
      body->push_back(std::move(load));
      body->push_back(std::move(store));
    }
    return nested(std::move(loops));
  }

  Kernel& kernel_;
  Editor editor_;
  int64_t bytes_ = 0;  // of all tiles of the phase
};

}  // namespace

void stage(Kernel& kernel) {
  if (kernel.target != TargetKind::cuda) return;
  for (Phase& phase : kernel.phases) Stager(kernel).block(phase.body);
}

}  // namespace plait::kir
