#include "kir/merge_phases.h"

#include <algorithm>

#include "kir/launch_loops.h"
#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

class Merger {
 public:
  explicit Merger(Kernel& kernel) : kernel_(kernel), editor_(kernel) {}

  void run() {
    std::vector<Phase> out;
    for (size_t i = 0; i < kernel_.phases.size();) {
      size_t end = i + 1;
      while (end < kernel_.phases.size() && kernel_.phases[end].beside) ++end;
      wave(i, end, out);
      i = end;
    }
    kernel_.phases = std::move(out);
  }

 private:
  void wave(size_t begin, size_t end, std::vector<Phase>& out) {
    std::vector<std::optional<LaunchLoops>> launches;
    for (size_t i = begin; i < end; ++i) launches.push_back(launch_loops(kernel_, kernel_.phases[i].body));
    std::vector<bool> done(launches.size(), false);
    for (size_t i = 0; i < launches.size(); ++i) {
      if (done[i]) continue;
      std::vector<const LaunchLoops*> together;
      int64_t shared = 0;
      for (size_t k = i; k < launches.size() && launches[i]; ++k) {
        if (done[k] || !launches[k] || !have_same_threads(*launches[i], *launches[k])) continue;
        if (k > i && shared + launches[k]->shared > kMostSharedBytes) continue;
        shared += launches[k]->shared;
        together.push_back(&*launches[k]);
        done[k] = true;
      }
      if (together.size() > 1) {
        out.push_back({as_one(together), false});
      } else {
        kernel_.phases[begin + i].beside = false;
        out.push_back(std::move(kernel_.phases[begin + i]));
      }
    }
  }

  Block as_one(const std::vector<const LaunchLoops*>& launches) {
    sym::Expr all = editor_.number(0);
    std::vector<sym::Expr> begins;
    for (const LaunchLoops* l : launches) {
      begins.push_back(all);
      sym::Expr count = editor_.number(1);
      for (const For* loop : l->blocks) count = count * sym::max(loop->extent, 0);
      all = all + count;
    }
    begins.push_back(all);
    auto block = std::make_unique<For>();
    block->loop = LoopKind::block_x;
    block->extent = all;
    block->var = editor_.symbol(kernel_.pool->symbol("block"), sym::index_facts(all));
    std::vector<std::unique_ptr<For>> loops;
    loops.push_back(std::move(block));
    for (const For* loop : launches.front()->threads) loops.push_back(editor_.loop_like(*loop));
    const sym::Expr at = loops.front()->var;
    for (size_t i = 0; i < launches.size(); ++i) {
      auto branch = std::make_unique<If>();
      branch->condition = sym::logical_and(sym::le(begins[i], at), sym::lt(at, begins[i + 1]));
      Copier copier(editor_);
      sym::Expr number = at - begins[i];
      std::vector<const For*> blocks = launches[i]->blocks;
      std::sort(blocks.begin(), blocks.end(), [](const For* a, const For* b) { return a->loop < b->loop; });
      for (const For* loop : blocks) {  // x varies fastest
        copier.symbols[loop->var.symbol_name()] = loop == blocks.back() ? number : sym::mod(number, loop->extent);
        number = sym::floordiv(number, loop->extent);
      }
      for (size_t k = 1; k < loops.size(); ++k)
        copier.symbols[launches[i]->threads[k - 1]->var.symbol_name()] = loops[k]->var;
      copier.copy(*launches[i]->body, branch->body);
      loops.back()->body.push_back(std::move(branch));
    }
    Block out;
    out.push_back(nested(std::move(loops)));
    return out;
  }

  Kernel& kernel_;
  Editor editor_;
};

}  // namespace

void merge_phases(Kernel& kernel) {
  if (kernel.target == TargetKind::cuda) Merger(kernel).run();
}

}  // namespace plait::kir
