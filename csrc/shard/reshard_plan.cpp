#include "shard/reshard_plan.h"

#include <algorithm>

#include "base/error.h"

namespace plait {

std::optional<Collective> collective_of(ReshardKind kind) {
  return kind == ReshardKind::slice ? std::nullopt : std::optional(static_cast<Collective>(kind));
}

std::string name(ReshardKind kind) {
  const auto collective = collective_of(kind);
  std::string out(collective ? name(*collective) : "slice");
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

const Layout& held_layout(const TensorView& tensor) { return tensor.stored ? *tensor.stored : tensor.layout; }

bool can_reshard(const Layout& from, const Layout& to) {
  return std::all_of(to.partial.begin(), to.partial.end(), [&](const auto& p) {
    auto it = from.partial.find(p.first);
    return it != from.partial.end() && it->second == p.second;
  });
}

namespace {

class Planner {
 public:
  Planner(const Layout& from, const Layout& to) : now_(from), to_(to) {}

  std::vector<ReshardStep> run() {
    reduce_unplaced();
    for (size_t d = 0; d < now_.dims.size(); ++d) gather(d);
    while (make_piece(false) || make_piece(true)) {}
    PLAIT_CHECK(now_ == to_, "a reshard plan ends elsewhere");
    return std::move(steps_);
  }

 private:
  void push(ReshardStep step) {
    now_.normalize();
    step.to = now_;
    steps_.push_back(std::move(step));
  }

  void reduce_unplaced() {
    std::vector<std::pair<int, ReduceOp>> pending(now_.partial.begin(), now_.partial.end());
    for (auto [axis, reduce] : pending) {
      if (to_.partial.count(axis) || to_.dim_of(axis) >= 0) continue;
      now_.partial.erase(axis);
      push({ReshardKind::all_reduce, axis, -1, {}, reduce, {}});
    }
  }

  void gather(size_t d) {
    auto& pieces = now_.dims[d].pieces;
    const auto& wanted = to_.dims[d].pieces;
    size_t keep = 0;
    while (keep < pieces.size() && keep < wanted.size() && pieces[keep] == wanted[keep]) ++keep;
    while (pieces.size() > keep) {
      // A normalized list ends with a mesh piece.
      ReshardStep step{ReshardKind::all_gather, pieces.back().mesh_axis, static_cast<int>(d), pieces, {}, {}};
      pieces.pop_back();
      push(std::move(step));
    }
  }

  // Makes the next piece of some dim: by a slice, or where `scatter` by a reduce-scatter.
  bool make_piece(bool scatter) {
    for (size_t d = 0; d < now_.dims.size(); ++d) {
      auto& pieces = now_.dims[d].pieces;
      const auto& wanted = to_.dims[d].pieces;
      auto next = std::find_if(wanted.begin() + static_cast<ptrdiff_t>(pieces.size()), wanted.end(),
                               [](const Piece& p) { return !p.is_local(); });
      if (next == wanted.end()) continue;
      auto pending = now_.partial.find(next->mesh_axis);
      if ((pending != now_.partial.end()) != scatter) continue;
      ReshardStep step{ReshardKind::slice, next->mesh_axis, static_cast<int>(d), {wanted.begin(), next + 1}, {}, {}};
      if (scatter) {
        step.kind = ReshardKind::reduce_scatter;
        step.reduce = pending->second;
        now_.partial.erase(pending);
      }
      pieces = step.pieces;
      push(std::move(step));
      return true;
    }
    return false;
  }

  Layout now_;
  const Layout& to_;
  std::vector<ReshardStep> steps_;
};

}  // namespace

std::vector<ReshardStep> plan_reshard(const Layout& from, const Layout& to) {
  PLAIT_CHECK(from.dims.size() == to.dims.size(), "layouts of {} and {} dims", from.dims.size(), to.dims.size());
  PLAIT_CHECK(can_reshard(from, to), "a whole value cannot become pending");
  return Planner(from, to).run();
}

std::optional<ReshardStep> single_step(const Layout& from, const Layout& to) {
  if (from.dims.size() != to.dims.size() || !can_reshard(from, to)) return std::nullopt;
  auto steps = plan_reshard(from, to);
  if (steps.size() != 1) return std::nullopt;
  return std::move(steps.front());
}

}  // namespace plait
