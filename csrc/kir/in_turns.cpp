#include "kir/in_turns.h"

#include <algorithm>
#include <map>
#include <set>

#include "kir/counters.h"
#include "kir/launch_loops.h"
#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

// Where a buffer is met, with the conditions and serial loops around.
struct Meet {
  sym::Expr index;
  std::vector<sym::Expr> conditions;
  std::vector<const For*> loops;
};
struct MeetsOfBuffer {
  std::vector<Meet> loads, stores;
  bool others = false;  // atomics, copies, matrices
};

// All of one phase.
class MeetFinder {
 public:
  explicit MeetFinder(const Kernel& kernel) : kernel_(kernel) {}

  std::map<uint32_t, MeetsOfBuffer> met;  // of buffers that are not local
  bool fits = true;                       // nothing here speaks of blocks

  void walk(const Block& body) {
    for (const auto& stmt : body) {
      fits = fits && stmt->kind != StmtKind::LastBlock && stmt->kind != StmtKind::Await;
      if (const Load* s = as<Load>(*stmt)) {
        add(s->buffer, s->index, false);
      } else if (const Store* s = as<Store>(*stmt)) {
        add(s->buffer, s->index, true);
      } else {
        for (uint32_t* buffer : buffers_of(*stmt))
          if (!kernel_.buffers[*buffer].is_local()) met[*buffer].others = true;
      }
      const size_t before = conditions_.size();
      if (const If* s = as<If>(*stmt))
        for (sym::Expr c : conjuncts(s->condition)) conditions_.push_back(c);
      if (const For* s = as<For>(*stmt)) loops_.push_back(s);
      if (const Block* inner = body_of(*stmt)) walk(*inner);
      if (stmt->kind == StmtKind::For) loops_.pop_back();
      conditions_.resize(before);
    }
  }

 private:
  void add(uint32_t buffer, sym::Expr index, bool stores) {
    if (kernel_.buffers[buffer].is_local()) return;
    MeetsOfBuffer& all = met[buffer];
    (stores ? all.stores : all.loads).push_back({index, conditions_, loops_});
  }

  const Kernel& kernel_;
  std::vector<sym::Expr> conditions_;
  std::vector<const For*> loops_;
};

class TurnTaker {
 public:
  TurnTaker(Kernel& kernel, size_t phase)
      : kernel_(kernel),
        phase_(phase),
        before_(launch_loops(kernel, kernel.phases[phase].body)),
        behind_(launch_loops(kernel, kernel.phases[phase + 1].body)) {}

  bool applies() {
    if (!before_ || !behind_ || !have_same_threads(*before_, *behind_)) return false;
    const auto& a = before_->blocks;
    const auto& b = behind_->blocks;
    const auto alike = [](const For* x, const For* y) { return x->loop == y->loop && x->extent == y->extent; };
    if (!std::equal(a.begin(), a.end(), b.begin(), b.end(), alike)) return false;
    const auto x = std::ranges::find(b, LoopKind::block_x, &For::loop);
    if (x == b.end() || before_->shared + behind_->shared + kLastBlockBytes > kMostSharedBytes) return false;
    own_ = (*x)->var;
    return waits_for_those_in_front();
  }

  void run() {
    Editor editor(kernel_);
    const auto one = editor.number(1);
    std::vector<const For*> blocks = behind_->blocks;
    std::ranges::sort(blocks, {}, &For::loop);
    sym::Expr all = one;
    for (const For* loop : blocks) all = all * (blocks.size() > 1 ? sym::max(loop->extent, 0) : loop->extent);
    const uint32_t words = add_counter(kernel_, "turns", sym::max(all, 0) + 2);
    std::vector<std::unique_ptr<For>> loops;
    auto block = std::make_unique<For>();
    block->loop = LoopKind::block_x;
    block->extent = all;
    block->var = editor.symbol(own_, sym::index_facts(all));
    loops.push_back(std::move(block));
    for (const For* loop : behind_->threads) loops.push_back(editor.loop_like(*loop));
    Copier copiers[] = {Copier(editor), Copier(editor)};
    const LaunchLoops* parts[] = {&*before_, &*behind_};
    auto await = std::make_unique<Await>();
    await->buffer = words;
    for (size_t i = 0; i < 2; ++i) {
      sym::Expr number = loops.front()->var;
      for (const For* like : blocks) {  // x varies fastest
        const For* loop = *std::ranges::find(parts[i]->blocks, like->loop, &For::loop);
        const bool last = like == blocks.back();
        const sym::Expr at = last ? number : sym::mod(number, loop->extent);
        if (!last) number = sym::floordiv(number, loop->extent);
        copiers[i].symbols[loop->var.symbol_name()] = at;
        if (loop->loop == LoopKind::block_x) await->from = loops.front()->var - at;
      }
      for (size_t k = 1; k < loops.size(); ++k)
        copiers[i].symbols[parts[i]->threads[k - 1]->var.symbol_name()] = loops[k]->var;
    }
    Block& body = loops.back()->body;
    copiers[0].copy(*before_->body, body);
    body.push_back(std::move(await));
    copiers[1].copy(*behind_->body, body);
    Block out;
    out.push_back(nested(std::move(loops)));
    kernel_.phases[phase_].body = std::move(out);
    kernel_.phases.erase(kernel_.phases.begin() + static_cast<std::ptrdiff_t>(phase_) + 1);
  }

 private:
  bool waits_for_those_in_front() {
    MeetFinder first(kernel_), second(kernel_);
    first.walk(*before_->body);
    second.walk(*behind_->body);
    if (!first.fits || !second.fits) return false;
    bool waits = false;
    for (const auto& [buffer, all] : first.met) {
      const auto found = second.met.find(buffer);
      if (found == second.met.end()) continue;
      const MeetsOfBuffer& now = found->second;
      const bool plain = !all.others && !now.others;
      if (plain && all.stores.empty() && now.stores.empty()) continue;
      const bool atomics = all.loads.empty() && all.stores.empty() && now.loads.empty() && now.stores.empty();
      if (all.others && now.others && atomics && kernel_.buffers[buffer].updated) continue;  // in any order
      const bool handed =
          plain && all.loads.empty() && now.stores.empty() && kernel_.buffers[buffer].space == Space::workspace;
      if (!handed) return false;
      for (const Meet& load : now.loads)
        for (const Meet& store : all.stores)
          if (!lies_in_front(load, store)) return false;
      waits = true;
    }
    return waits;
  }

  // Whether the load meets what a block of a lesser number stored by `store`, alike in all else.
  bool lies_in_front(const Meet& load, const Meet& store) const {
    std::map<std::string, sym::Expr> alike;
    for (const For* loop : before_->blocks)
      alike[loop->var.symbol_name()] = (*std::ranges::find(behind_->blocks, loop->loop, &For::loop))->var;
    for (size_t i = 0; i < before_->threads.size(); ++i)
      alike[before_->threads[i]->var.symbol_name()] = behind_->threads[i]->var;
    const sym::Expr own = sym::substitute(store.index, alike);
    const auto is_of = [&](sym::Expr number) {
      return sym::proven(sym::ge(number, 0)) && sym::substitute(own, {{own_.symbol_name(), number}}) == load.index;
    };
    for (sym::Expr c : load.conditions)
      if (const auto negative = negative_where(c); negative && is_of(*negative + own_)) return true;
    return std::ranges::any_of(load.loops, [&](const For* loop) { return is_of(negative_within(*loop) + own_); });
  }

  // What is below 0 in every iteration.
  static sym::Expr negative_within(const For& loop) {
    const sym::Expr extent = loop.extent;
    if (extent.kind() != sym::Kind::floordiv || !extent.operands()[1].is_constant()) return loop.var - extent;
    const int64_t by = extent.operands()[1].value();
    return loop.var * by + by - extent.operands()[0] - 1;
  }

  Kernel& kernel_;
  const size_t phase_;
  const std::optional<LaunchLoops> before_, behind_;
  sym::Expr own_;  // the block's number, in the later phase
};

}  // namespace

void run_in_turns(Kernel& kernel) {
  if (kernel.target != TargetKind::cuda) return;
  for (size_t i = 0; i + 1 < kernel.phases.size(); ++i) {
    TurnTaker turns(kernel, i);
    if (turns.applies()) turns.run();
  }
}

}  // namespace plait::kir
