#include "kir/passes/tail_rows.h"

#include <algorithm>

#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

class Filler {
 public:
  Filler(const Kernel& kernel, const std::vector<TailRows>& rows) : kernel_(kernel), rows_(rows) {}

  void run(Block& body) {
    find(body, nullptr);
    // A buffer that anything else stores to, too, keeps the loops that store to it as they are.
    for (bool changed = true; changed;) {
      changed = false;
      for (Loop& l : loops_) {
        const bool all =
            std::ranges::all_of(l.buffers, [&](uint32_t b) { return own_.contains(b) && !other_.contains(b); });
        if (!l.fits || all) continue;
        l.fits = false;
        changed = true;
        other_.insert(l.buffers.begin(), l.buffers.end());
      }
    }
    for (const Loop& l : loops_)
      if (l.fits) fill(l.loop->body, l);
  }

 private:
  // A loop under one of the conditions, and the buffers that it stores to.
  struct Loop {
    For* loop = nullptr;
    const TailRows* rows = nullptr;
    std::set<uint32_t> buffers;
    bool fits = true;
  };

  // All stores of the body: those of a loop that fits, and others.
  void find(Block& block, Loop* around) {
    for (auto& stmt : block) {
      if (stmt->kind == StmtKind::Alloc)
        around != nullptr ? void(around->fits = false) : void(own_.insert(*buffer_of(*stmt)));
      if (around != nullptr) check(*stmt, *around);
      if (around == nullptr && stmt->kind != StmtKind::Load && stmt->kind != StmtKind::Alloc)
        for (const uint32_t* b : buffers_of(*stmt)) other_.insert(*b);
      Block* body = body_of(*stmt);
      if (body == nullptr) continue;
      const TailRows* rows =
          around == nullptr && stmt->kind == StmtKind::For ? rows_of(static_cast<For&>(*stmt)) : nullptr;
      if (rows == nullptr) {
        find(*body, around);
        continue;
      }
      Loop loop{static_cast<For*>(stmt.get()), rows};
      find(*body, &loop);
      if (!loop.fits) other_.insert(loop.buffers.begin(), loop.buffers.end());
      loops_.push_back(std::move(loop));
    }
  }

  const TailRows* rows_of(const For& loop) const {
    if (!loop.unroll || !loop.extent.is_constant()) return nullptr;
    const auto found = std::ranges::find(rows_, loop.var, &TailRows::var);
    return found == rows_.end() ? nullptr : &*found;
  }

  void check(const Stmt& stmt, Loop& in) {
    switch (stmt.kind) {
      case StmtKind::Load:
      case StmtKind::Literal:
      case StmtKind::Coordinate:
      case StmtKind::Compute:
      case StmtKind::Convert:
      case StmtKind::Round:
        return;
      case StmtKind::For:
        in.fits &= as<For>(stmt)->loop == LoopKind::lanes && !depends_on(as<For>(stmt)->extent, in.loop->var);
        return;
      case StmtKind::If:
        for (sym::Expr c : conjuncts(as<If>(stmt)->condition))
          in.fits &= c == in.rows->conjunct || !depends_on(c, in.loop->var);
        return;
      case StmtKind::Store:
        in.buffers.insert(*buffer_of(stmt));
        in.fits &= has_own_elements(*as<Store>(stmt), in);
        return;
      default:
        if (const uint32_t* buffer = buffer_of(stmt)) in.buffers.insert(*buffer);
        in.fits = false;
    }
  }

  // Whether each iteration stores to a range of elements of its own, all of them lie in the buffer, and other loops
  // divide it alike.
  bool has_own_elements(const Store& store, const Loop& in) {
    const auto slope = slope_in(store.index, in.loop->var);
    if (!slope || slope->step < 1 || store.active) return false;
    const sym::Bounds inner = sym::bounds(slope->at_zero);
    const auto extent = kernel_.buffers[store.buffer].extent.constant();
    const auto [known, fresh] = ranges_.try_emplace(store.buffer, slope->step, in.rows->rest);
    return known->second == std::pair(slope->step, in.rows->rest) && inner.lo >= 0 && inner.hi < slope->step &&
           extent && *extent >= slope->step * in.loop->extent.value();
  }

  void fill(Block& block, const Loop& in) {
    Block out;
    const sym::Expr last = sym::min(in.loop->var, in.rows->rest - 1);
    for (auto& stmt : block) {
      if (Block* body = body_of(*stmt)) fill(*body, in);
      if (stmt->kind == StmtKind::If) {
        sym::Expr left = in.loop->var.pool().constant(1);
        for (sym::Expr c : conjuncts(as<If>(*stmt)->condition))
          if (c != in.rows->conjunct) left = sym::logical_and(left, c);
        static_cast<If&>(*stmt).condition = left;
        if (sym::proven(left)) {
          Block& body = *body_of(*stmt);
          std::move(body.begin(), body.end(), std::back_inserter(out));
          continue;
        }
      }
      const uint32_t* buffer = buffer_of(*stmt);
      if (buffer == nullptr || !in.buffers.contains(*buffer))
        edit_fields(*stmt, [&](const auto& field, auto& member) {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, sym::Expr>)
            if (field.name == "index") member = sym::substitute(member, {{in.loop->var.symbol_name(), last}});
        });
      out.push_back(std::move(stmt));
    }
    block = std::move(out);
  }

  const Kernel& kernel_;
  const std::vector<TailRows>& rows_;
  std::vector<Loop> loops_;
  std::map<uint32_t, std::pair<int64_t, sym::Expr>> ranges_;  // elements of an iteration, iterations that are there
  std::set<uint32_t> own_;                                    // buffers that the body allocates
  std::set<uint32_t> other_;  // buffers that something else than a loop that fits writes
};

}  // namespace

void fill_tail_rows(const Kernel& kernel, Block& body, const std::vector<TailRows>& rows) {
  if (kernel.target == TargetKind::cpu && !rows.empty()) Filler(kernel, rows).run(body);
}

}  // namespace plait::kir
