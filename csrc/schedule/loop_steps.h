#pragma once
// How schedulers write the loops of a tensor.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/schedule.h"

namespace plait {

inline void add_step(std::vector<schedules::LoopStep>& out, Transform::Kind kind, int position, int64_t factor) {
  schedules::LoopStep step;
  step.kind = kind;
  step.position = position;
  step.factor = factor;
  out.push_back(step);
}

inline void reorder_loops(std::vector<schedules::LoopStep>& out, std::vector<int> order) {
  add_step(out, Transform::Kind::reorder, 0, 0);
  out.back().order = std::move(order);
}

inline void run_loop(std::vector<schedules::LoopStep>& out, int position, ParallelType type) {
  add_step(out, Transform::Kind::parallel, position, 0);
  out.back().parallel = type;
}

// What is said of a tensor by name: its loops, how many of its readers' it shares, how much of it is kept.
inline schedules::ManualTensor decided(std::string name, std::vector<schedules::LoopStep> loops,
                                       std::optional<int> inline_at, Choice keep) {
  schedules::ManualTensor out;
  out.tensor = std::move(name);
  out.loops = std::move(loops);
  if (inline_at) out.inline_at = *inline_at;
  out.keep = keep;
  return out;
}

}  // namespace plait
