#include "support/planted_kernel_bugs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "kir/passes/edit.h"
#include "program/program.h"
#include "schedule/scheduled_group.h"

namespace plait::testing {

namespace {

using namespace kir;
using Loops = std::vector<For*>;

// ---- Walks.

// fn(block, loops around it) for every block, the inner ones first; fn may change the block.
template <class Fn>
int each_block(Block& block, Loops& loops, const Fn& fn) {
  int places = 0;
  for (auto& stmt : block) {
    auto* loop = stmt->kind == StmtKind::For ? static_cast<For*>(stmt.get()) : nullptr;
    if (loop != nullptr) loops.push_back(loop);
    if (Block* body = body_of(*stmt)) places += each_block(*body, loops, fn);
    if (loop != nullptr) loops.pop_back();
  }
  return places + fn(block, loops);
}
template <class Fn>
int each_block(Kernel& kernel, const Fn& fn) {
  int places = 0;
  Loops loops;
  for (Phase& phase : kernel.phases) places += each_block(phase.body, loops, fn);
  return places;
}
// fn(statement, loops) for every statement of the kind T.
template <class T, class Fn>
int each(Kernel& kernel, const Fn& fn) {
  return each_block(kernel, [&](Block& block, const Loops& loops) {
    int places = 0;
    for (auto& stmt : block)
      if (stmt->kind == T::kKind) places += fn(static_cast<T&>(*stmt), loops);
    return places;
  });
}
template <class T>
bool holds(const Block& block) {
  return std::any_of(block.begin(), block.end(), [](const auto& stmt) {
    const Block* body = body_of(*stmt);
    return stmt->kind == T::kKind || (body != nullptr && holds<T>(*body));
  });
}

bool is_argument(const Kernel& k, uint32_t buffer) { return k.buffers[buffer].space == Space::argument; }
bool is_workspace(const Kernel& k, uint32_t buffer) { return k.buffers[buffer].space == Space::workspace; }

// Variables of the serial loops that the index depends on, the outer ones first.
std::vector<sym::Expr> walked(sym::Expr index, const Loops& loops) {
  std::vector<sym::Expr> out;
  for (const For* loop : loops)
    if (loop->loop == LoopKind::serial && depends_on(index, loop->var)) out.push_back(loop->var);
  return out;
}
sym::Expr put(sym::Expr e, sym::Expr var, sym::Expr value) { return sym::substitute(e, {{var.symbol_name(), value}}); }
int change(sym::Expr& e, sym::Expr to) {
  if (e == to) return 0;
  e = to;
  return 1;
}

// ---- Of the scheduled group.

template <class T, class Fn>
int each_op(ScheduledGroup& group, const Fn& fn) {
  int places = 0;
  for (Op* op : group.graph->ops())
    if (auto* t = as<T>(*op)) places += fn(*group.graph, *t);
  return places;
}

int lose_fill(ScheduledGroup& group) {
  return each_op<Pad>(group, [](Fusion&, Pad& pad) {
    pad.value += 1;
    return 1;
  });
}
int swap_parts(ScheduledGroup& group) {
  return each_op<Cat>(group, [](Fusion& graph, Cat& cat) {
    if (cat.in.size() < 2 || cat.in[0] == cat.in[1] || cat.in[0]->shape() != cat.in[1]->shape()) return 0;
    graph.edit_operands(cat, [&] { std::swap(cat.in[0], cat.in[1]); });
    return 1;
  });
}
int roll_further(ScheduledGroup& group) {
  return each_op<Roll>(group, [](Fusion&, Roll& roll) {
    ++roll.shifts.at(0);
    return 1;
  });
}

// ---- Of what lowering emits.

// a < b becomes a < b - by, in every conjunct.
sym::Expr moved_bound(sym::Expr condition, int64_t by) {
  sym::Expr out;
  for (sym::Expr c : conjuncts(condition)) {
    const bool compares = c.kind() == sym::Kind::lt || c.kind() == sym::Kind::le;
    if (compares && c.kind() == sym::Kind::lt)
      c = sym::lt(c.operands()[0], c.operands()[1] - by);
    else if (compares)
      c = sym::le(c.operands()[0], c.operands()[1] - by);
    out = out ? sym::logical_and(out, c) : c;
  }
  return out;
}
int move_bounds(Kernel& k, int64_t by) {
  return each<If>(
      k, [&](If& branch, const Loops&) { return change(branch.condition, moved_bound(branch.condition, by)); });
}
int bound_too_low(Kernel& k) { return move_bounds(k, 1); }
int bound_too_high(Kernel& k) { return move_bounds(k, -1); }

// The condition is dropped around what only reads.
int drop_conditions(Kernel& k) {
  return each<If>(k, [&](If& branch, const Loops&) {
    if (holds<Store>(branch.body) || holds<Atomic>(branch.body) || !holds<Load>(branch.body)) return 0;
    return change(branch.condition, k.pool->constant(1));
  });
}

int swap_strides(Kernel& k, bool local) {
  return each<Load>(k, [&](Load& load, const Loops& loops) {
    if (k.buffers[load.buffer].is_local() != local) return 0;
    const auto vars = walked(load.index, loops);
    if (vars.size() < 2) return 0;
    const sym::Expr a = vars[vars.size() - 2], b = vars.back();
    return change(load.index, sym::substitute(load.index, {{a.symbol_name(), b}, {b.symbol_name(), a}}));
  });
}
int swap_strides_of_arguments(Kernel& k) { return swap_strides(k, false); }
int transpose_buffers(Kernel& k) { return swap_strides(k, true); }

// What begins in every row begins in the first one only.
int start_once(Kernel& k) {
  return each_block(k, [](Block& block, const Loops&) {
    int places = 0;
    for (size_t i = 0; i < block.size(); ++i) {
      auto* loop = block[i]->kind == StmtKind::For ? static_cast<For*>(block[i].get()) : nullptr;
      if (loop == nullptr || loop->loop != LoopKind::serial) continue;
      Block starts;
      for (auto& stmt : loop->body)
        if (stmt->kind == StmtKind::Start) starts.push_back(std::move(stmt)), ++places;
      std::erase(loop->body, nullptr);
      const size_t n = starts.size();
      std::move(starts.begin(), starts.end(), std::inserter(block, block.begin() + static_cast<std::ptrdiff_t>(i)));
      i += n;
    }
    return places;
  });
}

Combine other(Combine c) {
  switch (c) {
    case Combine::sum:
      return Combine::greatest;
    case Combine::greatest:
      return Combine::least;
    case Combine::least:
      return Combine::greatest;
    case Combine::first_greatest:
      return Combine::first_least;
    case Combine::first_least:
      return Combine::first_greatest;
    case Combine::any:
      return Combine::all;
    case Combine::all:
      return Combine::any;
    default:
      return c;
  }
}
template <class T>
int combine_otherwise(Kernel& k) {
  return each<T>(k, [](T& stmt, const Loops&) {
    const Combine to = other(stmt.combine);
    const int places = to != stmt.combine;
    stmt.combine = to;
    return places;
  });
}
int reduce_otherwise(Kernel& k) {
  return combine_otherwise<Start>(k) + combine_otherwise<Accumulate>(k) + combine_otherwise<Merge>(k) +
         combine_otherwise<Fold>(k);
}
int fold_otherwise(Kernel& k) { return combine_otherwise<Fold>(k); }
int merge_otherwise(Kernel& k) { return combine_otherwise<Merge>(k); }

// Elements of a variance count twice.
int count_twice(Kernel& k) {
  return each_block(k, [](Block& block, const Loops&) {
    int places = 0;
    for (size_t i = 0; i < block.size(); ++i) {
      const auto* add = kir::as<Accumulate>(*block[i]);
      if (add == nullptr || add->combine != Combine::variance) continue;
      block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), clone(*block[i]));
      ++i, ++places;
    }
    return places;
  });
}

// Loops around a statement of the kind, the innermost ones, begin one late: their first iteration does the second's.
template <class T>
int skip_first(Kernel& k) {
  return each<For>(k, [](For& loop, const Loops&) {
    int places = 0;
    for (auto& stmt : loop.body)
      if (stmt->kind == StmtKind::Load && holds<T>(loop.body)) {
        auto& load = static_cast<Load&>(*stmt);
        if (!depends_on(load.index, loop.var)) continue;
        places += change(load.index, put(load.index, loop.var, sym::min(loop.var + 1, loop.extent - 1)));
      }
    return places;
  });
}
int skip_first_element(Kernel& k) { return skip_first<Accumulate>(k); }

// The last part of a row that tasks share is left out.
int drop_last_part(Kernel& k) {
  return each<For>(k, [](For& loop, const Loops&) {
    const auto merges = [](const auto& stmt) { return stmt->kind == StmtKind::Merge; };
    if (std::none_of(loop.body.begin(), loop.body.end(), merges)) return 0;
    const bool is_parts =
        std::any_of(loop.body.begin(), loop.body.end(), [](const auto& stmt) { return stmt->kind == StmtKind::Load; });
    return is_parts ? change(loop.extent, loop.extent - 1) : 0;
  });
}

sym::Expr one_less(sym::Expr index) { return sym::max(index - 1, 0); }
int shift_workspaces(Kernel& k) {
  return each<Load>(k, [&](Load& load, const Loops&) {
    return is_workspace(k, load.buffer) ? change(load.index, one_less(load.index)) : 0;
  });
}
int read_neighbour(Kernel& k) {
  return each<Load>(k, [&](Load& load, const Loops&) {
    return is_argument(k, load.buffer) ? change(load.index, one_less(load.index)) : 0;
  });
}
// What lies backwards is read one element further on.
int flip_off_by_one(Kernel& k) {
  return each<Load>(k, [&](Load& load, const Loops& loops) {
    for (const For* loop : loops) {
      const auto slope = slope_in(load.index, loop->var);
      if (slope && slope->step < 0)
        return change(load.index, sym::min(load.index + 1, k.buffers[load.buffer].extent - 1));
    }
    return 0;
  });
}

template <class T>
int each_bound(Kernel& kernel, sym::Expr T::* member) {
  return each_block(kernel, [&](Block& block, const Loops&) {
    int places = 0;
    for (size_t i = 0; i < block.size(); ++i) {
      const auto* bind = kir::as<Bind>(*block[i]);
      if (bind == nullptr) continue;
      Loops none;
      for (size_t j = i + 1; j < block.size(); ++j) {
        Block* body = body_of(*block[j]);
        const auto edit = [&](Stmt& stmt) {
          if (stmt.kind != T::kKind) return 0;
          auto& access = static_cast<T&>(stmt);
          if (!depends_on(access.*member, bind->var)) return 0;
          return change(access.*member, put(access.*member, bind->var, one_less(bind->var)));
        };
        places += edit(*block[j]);
        if (body != nullptr)
          places += each_block(*body, none, [&](Block& inner, const Loops&) {
            int n = 0;
            for (auto& stmt : inner) n += edit(*stmt);
            return n;
          });
      }
    }
    return places;
  });
}
int look_up_the_row_before(Kernel& k) { return each_bound<Load>(k, &Load::index); }

// Scatters walk their index backwards.
int reverse_walks(Kernel& k) {
  if (!k.schedule.starts_with("scatter")) return 0;
  return each<For>(k, [](For& loop, const Loops&) {
    if (loop.loop != LoopKind::serial || !holds<Bind>(loop.body)) return 0;
    int places = 0;
    Loops none;
    each_block(loop.body, none, [&](Block& block, const Loops&) {
      for (auto& stmt : block)
        if (stmt->kind == StmtKind::Load) {
          auto& load = static_cast<Load&>(*stmt);
          if (depends_on(load.index, loop.var))
            places += change(load.index, put(load.index, loop.var, loop.extent - 1 - loop.var));
        }
      return 0;
    });
    return places;
  });
}

int swap_operands(Kernel& k) {
  return each<Compute>(k, [](Compute& c, const Loops&) {
    const bool ordered = c.function == Pointwise::sub || c.function == Pointwise::div || c.function == Pointwise::pow;
    if (!ordered || c.in[0] == c.in[1]) return 0;
    std::swap(c.in[0], c.in[1]);
    return 1;
  });
}

// Both outputs get what is the first's.
int store_the_other(Kernel& k) {
  return each_block(k, [&](Block& block, const Loops&) {
    Store* first = nullptr;
    int places = 0;
    for (auto& stmt : block) {
      if (stmt->kind != StmtKind::Store) continue;
      auto& store = static_cast<Store&>(*stmt);
      if (!is_argument(k, store.buffer)) continue;
      if (first != nullptr && first->buffer != store.buffer && first->in != store.in &&
          first->in.dtype == store.in.dtype && first->in.lanes == store.in.lanes)
        store.in = first->in, ++places;
      if (first == nullptr) first = &store;
    }
    return places;
  });
}

// A value is taken over in the storage dtype of its kernel: sums of wide numbers lose bits.
int round_what_is_added(Kernel& k) {
  uint32_t next = next_value_id(k);
  return each_block(k, [&](Block& block, const Loops&) {
    int places = 0;
    for (size_t i = 0; i < block.size(); ++i) {
      auto* add = block[i]->kind == StmtKind::Accumulate ? static_cast<Accumulate*>(block[i].get()) : nullptr;
      if (add == nullptr || add->in[0].dtype != DType::f32) continue;
      auto round = std::make_unique<Round>();
      round->in = add->in[0];
      round->out = {next++, DType::f32, add->in[0].lanes};
      round->to = DType::bf16;
      add->in[0] = round->out;
      block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), std::move(round));
      ++i, ++places;
    }
    return places;
  });
}
// Narrow floats stay wide where a kernel rounds them.
int drop_roundings(Kernel& k) {
  return each_block(k, [](Block& block, const Loops&) {
    int places = 0;
    for (auto& stmt : block)
      if (const auto* round = kir::as<Round>(*stmt)) {
        auto same = std::make_unique<Convert>();
        same->out = round->out;
        same->in = round->in;
        stmt = std::move(same);
        ++places;
      }
    return places;
  });
}

int shift_random(Kernel& k) {
  return each<Random>(k, [](Random& r, const Loops&) { return change(r.index, r.index + 1); });
}

// ---- Of what passes leave.

// A load is made once, before the loop that walks over what it reads: its index is the first one's.
int hoist_too_far(Kernel& k) {
  return each<Load>(k, [&](Load& load, const Loops& loops) {
    const auto vars = walked(load.index, loops);
    return vars.empty() ? 0 : change(load.index, put(load.index, vars.back(), k.pool->constant(0)));
  });
}

int begin_at_zero(Kernel& k) {
  return each<Variable>(k, [](Variable& v, const Loops&) {
    if (!is_float(v.initial.dtype) || !std::isinf(v.initial.to_double())) return 0;
    v.initial = Constant::from_double(v.initial.dtype, 0);
    return 1;
  });
}
// Both halves of a fold are the lower one.
int fold_one_half(Kernel& k) {
  return each<Half>(k, [](Half& h, const Loops&) {
    const int places = h.upper;
    h.upper = false;
    return places;
  });
}

const Stmt* definition(const Block& block, const Value& v) {
  for (const auto& stmt : block)
    for (const Value& r : results(*stmt))
      if (r == v) return stmt.get();
  return nullptr;
}
// fn(compute, what makes its first operand), where both stand in one block.
template <class Fn>
int each_compute(Kernel& k, Pointwise function, const Fn& fn) {
  return each_block(k, [&](Block& block, const Loops&) {
    int places = 0;
    for (auto& stmt : block)
      if (stmt->kind == StmtKind::Compute && static_cast<Compute&>(*stmt).function == function)
        places += fn(static_cast<Compute&>(*stmt), definition(block, static_cast<Compute&>(*stmt).in[0]));
    return places;
  });
}
// Lanes behind the end count, the others do not.
int invert_lane_masks(Kernel& k) {
  return each_compute(k, Pointwise::lt, [](Compute& c, const Stmt* made) {
    const auto* lane = made == nullptr ? nullptr : kir::as<Coordinate>(*made);
    if (lane == nullptr || !lane->index.is_symbol() || lane->index.symbol_name() != kLane) return 0;
    c.function = Pointwise::ge;
    return 1;
  });
}
// Of equal elements the last one's position is found: positions of what is compared by order and position.
int last_of_equals(Kernel& k) {
  return each_compute(k, Pointwise::lt, [](Compute& c, const Stmt* made) {
    const auto* lane = made == nullptr ? nullptr : kir::as<Coordinate>(*made);
    if (c.in[0].dtype != DType::i64 || (lane != nullptr && lane->index.is_symbol())) return 0;
    c.function = Pointwise::gt;
    return 1;
  });
}
// max(a, NaN) is a.
int drop_nan(Kernel& k) {
  return each<Compute>(k, [](Compute& c, const Loops&) {
    if (!is_float(c.out.dtype)) return 0;
    if (c.function != Pointwise::max && c.function != Pointwise::min) return 0;
    c.function = c.function == Pointwise::max ? Pointwise::fmax : Pointwise::fmin;
    return 1;
  });
}

// ---- Of phases and programs.

int merge_phases(Kernel& k) {
  if (k.phases.size() < 2) return 0;
  Block& first = k.phases[k.phases.size() - 2].body;
  for (auto& stmt : k.phases.back().body) first.push_back(std::move(stmt));
  k.phases.pop_back();
  return 1;
}
int swap_phases(Kernel& k) {
  if (k.phases.size() < 2) return 0;
  std::swap(k.phases.back(), k.phases[k.phases.size() - 2]);
  return 1;
}
// Tasks find in a workspace what was there before.
int lose_stores_to_workspaces(Kernel& k) {
  return each_block(k, [&](Block& block, const Loops&) {
    return static_cast<int>(std::erase_if(block, [&](const auto& stmt) {
      const auto* store = kir::as<Store>(*stmt);
      return store != nullptr && is_workspace(k, store->buffer);
    }));
  });
}
int swap_arguments(Program& program) {
  int places = 0;
  for (auto& step : program.steps) {
    if (step->kind != StepKind::LaunchStep) continue;
    auto& in = static_cast<LaunchStep&>(*step).inputs;
    for (size_t i = 0; i + 1 < in.size(); ++i) {
      const ProgramValue &a = program.value(in[i].value), &b = program.value(in[i + 1].value);
      if (in[i].value == in[i + 1].value || a.dtype != b.dtype || a.shape != b.shape) continue;
      std::swap(in[i], in[i + 1]);
      ++places;
      break;
    }
  }
  return places;
}
int swap_launches(Program& program) {
  size_t before = SIZE_MAX;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    if (program.steps[i]->kind != StepKind::LaunchStep) continue;
    if (before != SIZE_MAX) {
      std::swap(program.steps[before], program.steps[i]);
      return 1;
    }
    before = i;
  }
  return 0;
}

bool touches_part(const Block& block) {
  return std::any_of(block.begin(), block.end(), [](const auto& stmt) {
    if (const auto* load = kir::as<Load>(*stmt)) return bool(load->active);
    if (const auto* store = kir::as<Store>(*stmt)) return bool(store->active);
    const Block* body = body_of(*stmt);
    return body != nullptr && touches_part(*body);
  });
}

}  // namespace

int drop_tails(Kernel& k) {
  return each_block(k, [](Block& block, const Loops&) {
    return static_cast<int>(std::erase_if(block, [](const auto& stmt) {
      const auto* branch = kir::as<If>(*stmt);
      return branch != nullptr && touches_part(branch->body);
    }));
  });
}

const std::vector<KernelBug>& kernel_bugs() {
  static const std::vector<KernelBug> kBugs = {
      {"lost_fill", "schedule", "pads are filled with another number", lose_fill},
      {"swapped_parts", "schedule", "a cat reads its first two operands in turn", swap_parts},
      {"rolled_further", "schedule", "a roll moves by one element more", roll_further},
      {"bound_too_low", "emit", "every condition stops one short", nullptr, bound_too_low},
      {"bound_too_high", "emit", "every condition, < for <=", nullptr, bound_too_high},
      {"dropped_condition", "emit", "what only reads is without its conditions", nullptr, drop_conditions},
      {"swapped_strides", "emit", "loads of arguments: the two inner loops change places", nullptr,
       swap_strides_of_arguments},
      {"transposed_buffer", "emit", "loads of local buffers, likewise", nullptr, transpose_buffers},
      {"start_once", "emit", "states begin anew in the first row only", nullptr, start_once},
      {"wrong_reduction", "emit", "a reduction is another one", nullptr, reduce_otherwise},
      {"wrong_fold", "emit", "the lanes of a state fold as of another reduction", nullptr, fold_otherwise},
      {"wrong_merge", "emit", "states merge as of another reduction", nullptr, merge_otherwise},
      {"variance_count", "emit", "elements of a variance count twice", nullptr, count_twice},
      {"first_element", "emit", "loops over what is reduced skip the first element", nullptr, skip_first_element},
      {"last_part", "emit", "the last part of a row that tasks share is left out", nullptr, drop_last_part},
      {"workspace_shifted", "emit", "loads of workspaces are one element off", nullptr, shift_workspaces},
      {"neighbour", "emit", "loads of arguments are one element off", nullptr, read_neighbour},
      {"flip_by_one", "emit", "what is read backwards is one element off", nullptr, flip_off_by_one},
      {"row_before", "emit", "lookups read the row before", nullptr, look_up_the_row_before},
      {"reversed_scatter", "emit", "scatters walk their index backwards", nullptr, reverse_walks},
      {"swapped_operands", "emit", "sub, div and pow, the other way round", nullptr, swap_operands},
      {"other_output", "emit", "two outputs get what is the first's", nullptr, store_the_other},
      {"rounded_element", "emit", "f32 elements of reductions are rounded to bf16", nullptr, round_what_is_added},
      {"unrounded", "emit", "narrow floats stay wide where the kernel rounds them", nullptr, drop_roundings},
      {"shifted_random", "emit", "random numbers are those of the next element", nullptr, shift_random},
      {"missing_tail", "lower", "elements behind the last whole vector are left", nullptr, drop_tails},
      {"hoisted_load", "hoist", "loads are made once before the innermost loop", nullptr, hoist_too_far},
      {"initial_value", "expand_reductions", "greatest and least begin at 0", nullptr, begin_at_zero},
      {"one_half", "expand_reductions", "both halves of a fold are the lower one", nullptr, fold_one_half},
      {"inverted_mask", "expand_reductions", "lanes behind the end count, the others do not", nullptr,
       invert_lane_masks},
      {"last_of_equals", "expand_reductions", "of equals the last position is found", nullptr, last_of_equals},
      {"dropped_nan", "expand_reductions", "max and min drop NaN", nullptr, drop_nan},
      {"merged_phases", "lower", "the last two phases are one", nullptr, merge_phases},
      {"swapped_phases", "lower", "the last two phases change places", nullptr, swap_phases},
      {"stale_workspace", "lower", "nothing is stored to workspaces", nullptr, lose_stores_to_workspaces},
      {"swapped_arguments", "build_program", "launches: two inputs of one shape change places", nullptr, nullptr,
       swap_arguments},
      {"swapped_launches", "build_program", "the first two launches change places", nullptr, nullptr, swap_launches},
  };
  return kBugs;
}

PassHook kernel_bug_hook(const KernelBug& bug, int* places) {
  return [&bug, places](std::string_view, std::string_view pass, const PassSubject& subject) {
    if (pass != bug.pass) return;
    int changed = 0;
    if (auto* group = subject.as<ScheduledGroup>(); group && bug.in_group) changed = bug.in_group(*group);
    if (auto* kernel = subject.as<kir::Kernel>(); kernel && bug.in_kernel) changed = bug.in_kernel(*kernel);
    if (auto* program = subject.as<Program>(); program && bug.in_program) changed = bug.in_program(*program);
    if (places != nullptr) *places += changed;
  };
}

}  // namespace plait::testing
