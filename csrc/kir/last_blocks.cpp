#include "kir/last_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "kir/counters.h"
#include "kir/launch_loops.h"
#include "kir/passes/edit.h"

namespace plait::kir {
namespace {

// ---- Which blocks a block waits for.

// A loop over blocks of the later phase and the one of the phase before that counts the same.
struct Pair {
  const For *before = nullptr, *behind = nullptr;
};

// Two phases of which one launch can be made.
struct Joint {
  LaunchLoops before, behind;
  std::vector<Pair> pairs;
  std::vector<sym::Expr> threads;  // by loops over threads of the later phase: what each counts in those before
};

// The pairs of all loops that are more than one block; nothing where a loop has no partner.
std::optional<std::vector<Pair>> pairs_of(const LaunchLoops& before, const LaunchLoops& behind) {
  std::vector<Pair> out;
  for (const For* loop : behind.blocks) {
    if (loop->extent.constant() == 1) continue;
    const auto partner = std::ranges::find_if(before.blocks, [&](const For* other) {
      return other->extent == loop->extent && std::ranges::count(out, other, &Pair::before) == 0;
    });
    if (partner == before.blocks.end()) return std::nullopt;
    out.push_back({*partner, loop});
  }
  return out;
}

// Whether an index, modulo `period`, has the loop's number as its quotient by `step`: what blocks of other numbers meet
// by such indices are other elements. The two are what one such index says of itself.
struct Places {
  sym::Expr period;
  int64_t step = 0;
  bool operator==(const Places&) const = default;
};
std::optional<Places> places_of(sym::Expr index, const For& loop) {
  const auto slope = slope_in(index, loop.var);
  if (!slope || slope->step <= 0) return std::nullopt;
  const Places out{loop.extent * slope->step, slope->step};
  sym::Expr rest = index.pool().constant(0);
  const sym::Expr others = slope->at_zero;
  const auto add = [&](sym::Expr term) {
    if (!(sym::mod(term, out.period).constant() == 0)) rest = rest + term;
  };
  if (others.kind() == sym::Kind::add)
    for (sym::Expr term : others.operands()) add(term);
  else
    add(others);
  const bool within = sym::proven(sym::ge(rest, 0)) && sym::proven(sym::lt(rest, slope->step));
  return within ? std::optional(out) : std::nullopt;
}

struct Meeting {
  sym::Expr index;
  bool writes = false;
};
using Meetings = std::map<uint32_t, std::vector<Meeting>>;  // by buffer, that is not local

void find_meetings(const Kernel& kernel, const Block& body, Meetings& out) {
  for (const auto& stmt : body) {
    const auto add = [&](uint32_t buffer, sym::Expr index, bool writes) {
      if (!kernel.buffers[buffer].is_local()) out[buffer].push_back({index, writes});
    };
    if (const Load* s = as<Load>(*stmt)) add(s->buffer, s->index, false);
    if (const Store* s = as<Store>(*stmt)) add(s->buffer, s->index, true);
    if (const CopyAsync* s = as<CopyAsync>(*stmt)) add(s->from, s->index, false);
    if (const Block* inner = body_of(*stmt)) find_meetings(kernel, *inner, out);
  }
}

// Whether what blocks of both phases meet of one buffer, one of them by a store, belongs to blocks of the same numbers.
bool lie_apart(const Kernel& kernel, const LaunchLoops& before, const LaunchLoops& behind,
               const std::vector<Pair>& pairs) {
  if (pairs.empty()) return true;
  Meetings first, second;
  find_meetings(kernel, *before.body, first);
  find_meetings(kernel, *behind.body, second);
  for (const auto& [buffer, meetings] : first) {
    const auto found = second.find(buffer);
    if (found == second.end()) continue;
    const bool read =
        std::ranges::none_of(meetings, &Meeting::writes) && std::ranges::none_of(found->second, &Meeting::writes);
    for (const Pair& pair : pairs) {
      if (read) break;
      std::optional<Places> known;
      const auto agree = [&](const std::vector<Meeting>& all, const For& loop) {
        return std::ranges::all_of(all, [&](const Meeting& meeting) {
          const auto places = places_of(meeting.index, loop);
          if (!known) known = places;
          return places && places == known;
        });
      };
      if (!agree(meetings, *pair.before) || !agree(found->second, *pair.behind)) return false;
    }
  }
  return true;
}

// ---- Both as one.

// Of the later phase's loops over threads, what each counts in the threads of the phase before: the same loops, or one
// loop over the numbers of all. Nothing where blocks have other threads.
std::optional<std::vector<sym::Expr>> threads_as(const LaunchLoops& before, const LaunchLoops& behind) {
  std::vector<sym::Expr> out;
  if (have_same_threads(before, behind)) {
    for (const For* loop : before.threads) out.push_back(loop->var);
    return out;
  }
  if (behind.threads.size() != 1 || behind.threads[0]->loop != LoopKind::thread_x) return std::nullopt;
  std::vector<const For*> loops = before.threads;
  std::ranges::sort(loops, {}, &For::loop);  // x varies fastest
  sym::Expr number = behind.threads[0]->var.pool().constant(0);
  int64_t count = 1;
  for (const For* loop : loops) {
    if (!loop->extent.is_constant()) return std::nullopt;
    number = number + loop->var * count;
    count *= loop->extent.value();
  }
  if (behind.threads[0]->extent.constant() != count) return std::nullopt;
  out.push_back(number);
  return out;
}

// The loops of the launch in which its own body stands and then what the last block runs. Where all blocks wait for
// each other there is at least one.
Block as_one(Editor& editor, const Joint& joint, uint32_t counter) {
  const auto& [before, behind, pairs, threads] = joint;
  Copier copier(editor), last_copier(editor);
  std::vector<std::unique_ptr<For>> loops;
  sym::Expr has_work = editor.number(1);
  auto last = std::make_unique<LastBlock>();
  last->buffer = counter;
  last->index = editor.number(0);
  last->blocks = editor.number(1);
  for (const For* loop : behind.blocks) last_copier.symbols[loop->var.symbol_name()] = editor.number(0);
  for (const For* loop : before.blocks) {
    loops.push_back(editor.loop_like(*loop));
    For& own = *loops.back();
    const auto pair = std::ranges::find(pairs, loop, &Pair::before);
    if (pair != pairs.end()) {
      last->index = last->index * loop->extent + own.var;
      last_copier.symbols[pair->behind->var.symbol_name()] = own.var;
    } else {
      if (!sym::proven(sym::ge(loop->extent, 1))) {
        own.extent = sym::max(loop->extent, 1);
        own.var = editor.symbol(loop->var, sym::index_facts(own.extent));
        has_work = sym::logical_and(has_work, sym::lt(own.var, loop->extent));
      }
      last->blocks = last->blocks * own.extent;
    }
    copier.symbols[loop->var.symbol_name()] = own.var;
  }
  for (const For* loop : before.threads) {
    loops.push_back(editor.loop_like(*loop));
    copier.symbols[loop->var.symbol_name()] = loops.back()->var;
  }
  for (size_t i = 0; i < threads.size(); ++i)
    last_copier.symbols[behind.threads[i]->var.symbol_name()] = copier(threads[i]);
  Block& body = loops.back()->body;
  if (sym::proven(has_work)) {
    copier.copy(*before.body, body);
  } else {
    auto branch = std::make_unique<If>();
    branch->condition = has_work;
    copier.copy(*before.body, branch->body);
    body.push_back(std::move(branch));
  }
  last_copier.copy(*behind.body, last->body);
  body.push_back(std::move(last));
  Block out;
  out.push_back(nested(std::move(loops)));
  return out;
}

// Buffers that atomics of the phase change, and all that it meets.
void find_atomics(const Kernel& kernel, const Block& body, std::set<uint32_t>& changed, std::set<uint32_t>& met) {
  Meetings others;
  find_meetings(kernel, body, others);
  for (const auto& [buffer, meetings] : others) met.insert(buffer);
  const std::function<void(const Block&)> walk = [&](const Block& block) {
    for (const auto& stmt : block) {
      if (const Atomic* s = as<Atomic>(*stmt)) changed.insert(s->buffer);
      if (const Block* inner = body_of(*stmt)) walk(*inner);
    }
  };
  walk(body);
}

// Whether one of them changes by atomics, which go anywhere, what the other one loads or stores.
bool atomics_meet(const Kernel& kernel, const Block& before, const Block& behind) {
  std::set<uint32_t> changed[2], met[2];
  find_atomics(kernel, before, changed[0], met[0]);
  find_atomics(kernel, behind, changed[1], met[1]);
  const auto meet = [](const std::set<uint32_t>& a, const std::set<uint32_t>& b) {
    return std::ranges::any_of(a, [&](uint32_t buffer) { return b.contains(buffer); });
  };
  return meet(changed[0], met[1]) || meet(changed[1], met[0]);
}

// The phase and the one behind it; nothing where they stay two.
std::optional<Joint> joint_of(const Kernel& kernel, size_t phase) {
  auto before = launch_loops(kernel, kernel.phases[phase].body),
       behind = launch_loops(kernel, kernel.phases[phase + 1].body);
  if (!before || !behind || before->blocks.empty()) return std::nullopt;
  if (atomics_meet(kernel, *before->body, *behind->body)) return std::nullopt;
  if (before->shared + behind->shared + kLastBlockBytes > kMostSharedBytes) return std::nullopt;
  auto threads = threads_as(*before, *behind);
  auto pairs = pairs_of(*before, *behind);
  if (!threads || !pairs || !lie_apart(kernel, *before, *behind, *pairs)) return std::nullopt;
  return Joint{std::move(*before), std::move(*behind), std::move(*pairs), std::move(*threads)};
}

}  // namespace

void run_last_blocks(Kernel& kernel) {
  if (kernel.target != TargetKind::cuda) return;
  for (size_t i = 0; i + 1 < kernel.phases.size();) {
    const std::optional<Joint> joint = joint_of(kernel, i);
    if (!joint) {
      ++i;
      continue;
    }
    sym::Expr words = kernel.pool->constant(1);
    for (const Pair& pair : joint->pairs) words = words * sym::max(pair.before->extent, 0);
    const uint32_t counter = add_counter(kernel, "arrived", words);
    Editor editor(kernel);
    kernel.phases[i].body = as_one(editor, *joint, counter);
    kernel.phases.erase(kernel.phases.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

}  // namespace plait::kir
