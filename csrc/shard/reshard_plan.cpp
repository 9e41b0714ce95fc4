#include "shard/reshard_plan.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

#include "base/error.h"
#include "mesh/collective_cost.h"
#include "shard/assign.h"

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

int64_t members_of(const TensorView& tensor, int axis) {
  constexpr int64_t kUnknown = 4;
  const Fusion& fusion = *tensor.fusion;
  PLAIT_CHECK(axis >= 0 && static_cast<size_t>(axis) < fusion.mesh().axes().size(), "%{} is on no axis {}",
              tensor.name, axis);
  const MeshAxis& along = fusion.mesh().axes()[static_cast<size_t>(axis)];
  std::optional<int64_t> size = along.size;
  if (!along.symbol.empty()) {
    size = std::nullopt;
    for (const auto& let : fusion.size_lets)
      if (let.name == along.symbol) size = let.value;
  }
  return std::max<int64_t>(1, size.value_or(kUnknown));
}

ReshardSizes reshard_sizes(const TensorView& tensor) {
  const Fusion& fusion = *tensor.fusion;
  ReshardSizes out;
  for (size_t a = 0; a < fusion.mesh().axes().size(); ++a)
    out.members.push_back(members_of(tensor, static_cast<int>(a)));
  for (size_t d = 0; d < tensor.rank(); ++d) out.extents.push_back(at_defaults(fusion, tensor.extent(d)));
  out.element_bytes = static_cast<int64_t>(size_of(tensor.dtype));
  return out;
}

namespace {

// Whether `more` is `less` with one more mesh piece at its end, and local pieces before that.
bool extends(const DimLayout& less, const DimLayout& more) {
  const auto &a = less.pieces, &b = more.pieces;
  if (b.size() <= a.size() || !std::equal(a.begin(), a.end(), b.begin())) return false;
  return std::all_of(b.begin() + static_cast<ptrdiff_t>(a.size()), b.end() - 1,
                     [](const Piece& p) { return p.is_local(); }) &&
         !b.back().is_local();
}

// Whether the lists differ in where the innermost piece of one axis is cut.
bool recuts(const DimLayout& a, const DimLayout& b) {
  if (a.pieces.empty() || a.pieces.size() != b.pieces.size()) return false;
  const Piece &p = a.pieces.back(), &q = b.pieces.back();
  return std::equal(a.pieces.begin(), a.pieces.end() - 1, b.pieces.begin()) && !p.is_local() &&
         p.mesh_axis == q.mesh_axis && p.granule != q.granule;
}

// The pieces before the innermost mesh piece.
DimLayout without_last(DimLayout dim) {
  dim.pieces.pop_back();
  while (!dim.pieces.empty() && dim.pieces.back().is_local()) dim.pieces.pop_back();
  return dim;
}

// Layouts that a search looks at before it goes without places in between: five axes that all move take fewer.
constexpr size_t kMostExpanded = 1000;

// Uniform-cost search over layouts.
class Search {
 public:
  // `between`: axes may rest where `to` does not want them.
  Search(const Layout& from, const Layout& to, const ReshardSizes& sizes, bool between)
      : from_(from), to_(to), sizes_(sizes), between_(between) {}

  // Nothing where there are too many layouts, of which without places in between there are not.
  std::optional<ReshardPlan> run() {
    reach({from_, {}, -1, 0, 0});
    for (size_t expanded = 0; !open_.empty();) {
      const auto [cost, count, at] = open_.top();
      open_.pop();
      if (nodes_[at].done || known_.at(key(nodes_[at].layout)) != at) continue;
      nodes_[at].done = true;
      if (nodes_[at].layout == to_) return plan(at);
      if (between_ && ++expanded > kMostExpanded) return std::nullopt;
      expand(at);
    }
    PLAIT_CHECK(false, "no plan of a reshard");
    __builtin_unreachable();
  }

 private:
  struct Node {
    Layout layout;
    ReshardStep step;  // that made it
    int64_t before;    // -1: the start
    double cost;
    int64_t steps;
    bool done = false;
  };
  using Key = std::vector<int64_t>;

  static Key key(const Layout& layout) {
    Key out;
    for (const DimLayout& dim : layout.dims) {
      out.push_back(-2);
      for (const Piece& p : dim.pieces) out.insert(out.end(), {p.mesh_axis, p.granule, p.local});
    }
    for (auto [axis, reduce] : layout.partial) out.insert(out.end(), {-3, axis, static_cast<int64_t>(reduce)});
    return out;
  }

  void reach(Node node) {
    const auto [slot, fresh] = known_.emplace(key(node.layout), nodes_.size());
    if (!fresh) {
      const Node& old = nodes_[slot->second];
      if (old.done || std::pair(old.cost, old.steps) <= std::pair(node.cost, node.steps)) return;
      slot->second = nodes_.size();
    }
    open_.emplace(node.cost, node.steps, nodes_.size());
    nodes_.push_back(std::move(node));
  }

  ReshardPlan plan(size_t at) {
    ReshardPlan out;
    out.cost = nodes_[at].cost;
    for (int64_t i = static_cast<int64_t>(at); nodes_[static_cast<size_t>(i)].before >= 0;) {
      Node& node = nodes_[static_cast<size_t>(i)];
      node.step.to = node.layout;
      out.steps.push_back(std::move(node.step));
      i = node.before;
    }
    std::reverse(out.steps.begin(), out.steps.end());
    return out;
  }

  // Bytes that a rank holds, of all of whom the same is taken.
  double bytes(const Layout& layout) const {
    constexpr double kUnknownExtent = 65536;
    auto out = static_cast<double>(sizes_.element_bytes);
    for (size_t d = 0; d < layout.dims.size(); ++d) {
      const auto extent = d < sizes_.extents.size() ? sizes_.extents[d] : std::nullopt;
      out *= extent ? static_cast<double>(*extent) : kUnknownExtent;
      for (const Piece& p : layout.dims[d].pieces)
        if (!p.is_local()) out /= static_cast<double>(members(p.mesh_axis));
    }
    return out;
  }
  int64_t members(int axis) const {
    const auto a = static_cast<size_t>(axis);
    return a < sizes_.members.size() ? sizes_.members[a] : 2;
  }

  void take(size_t at, ReshardStep step, Layout next) {
    double cost = nodes_[at].cost;
    if (const auto collective = collective_of(step.kind)) {
      // What the team shares: a piece that is not gathered is of all its members.
      const bool piece = info(*collective).takes == Held::piece;
      const int64_t n = members(step.axis);
      cost += collective_cost(*collective, n, bytes(nodes_[at].layout) * (piece ? static_cast<double>(n) : 1));
    }
    const int64_t steps = nodes_[at].steps + 1;
    reach({std::move(next), std::move(step), static_cast<int64_t>(at), cost, steps});
  }

  void expand(size_t at) {
    const Layout now = nodes_[at].layout;
    for (const auto& pending : now.partial) {
      const int axis = pending.first;
      const ReduceOp reduce = pending.second;
      if (to_.partial.contains(axis)) continue;
      Layout next = now;
      next.partial.erase(axis);
      take(at, {ReshardKind::all_reduce, axis, -1, {}, -1, {}, reduce, {}}, next);
      // Alone it would not pay to scatter and gather again.
      const bool others = std::ranges::any_of(
          now.partial, [&](const auto& p) { return p.first != axis && !to_.partial.contains(p.first); });
      place(next, axis, others, -1, [&](int dim, const Layout& placed) {
        take(at, {ReshardKind::reduce_scatter, axis, dim, list(placed, dim), -1, {}, reduce, {}}, placed);
      });
    }
    for (size_t d = 0; d < now.dims.size(); ++d) {
      if (now.dims[d].pieces.empty() || is_final(now.dims[d], to_.dims[d])) continue;
      const Piece last = now.dims[d].pieces.back();
      Layout next = now;
      next.dims[d] = without_last(now.dims[d]);
      const std::vector<Piece>& held = now.dims[d].pieces;
      DimLayout wanted = to_.dims[d];
      wanted.pieces.resize(std::min(wanted.pieces.size(), held.size()));
      if (recuts(now.dims[d], wanted)) {
        Layout cut = now;
        cut.dims[d] = wanted;
        const auto dim = static_cast<int>(d);
        take(at, {ReshardKind::gather_range, last.mesh_axis, dim, wanted.pieces, dim, held, {}, {}}, cut);
      }
      take(at, {ReshardKind::all_gather, last.mesh_axis, static_cast<int>(d), held, -1, {}, {}, {}}, next);
      const bool goes_on = to_.dim_of(last.mesh_axis) >= 0;
      place(next, last.mesh_axis, goes_on, static_cast<int>(d), [&](int dim, const Layout& placed) {
        take(at, {ReshardKind::all_to_all, last.mesh_axis, dim, list(placed, dim), static_cast<int>(d), held, {}, {}},
             placed);
      });
    }
    for (size_t d = 0; d < now.dims.size(); ++d)
      if (const auto next = next_wanted(now, d); next && !now.uses(next->back().mesh_axis)) {
        Layout placed = now;
        placed.dims[d].pieces = *next;
        take(at, {ReshardKind::slice, next->back().mesh_axis, static_cast<int>(d), *next, -1, {}, {}, {}}, placed);
      }
  }

  // A list all of whose pieces stay.
  static bool is_final(const DimLayout& now, const DimLayout& wanted) {
    return now.pieces.size() <= wanted.pieces.size() &&
           std::equal(now.pieces.begin(), now.pieces.end(), wanted.pieces.begin());
  }

  // The list up to the next mesh piece that `to` wants there, where all before it is there.
  std::optional<std::vector<Piece>> next_wanted(const Layout& now, size_t d) const {
    const auto &have = now.dims[d].pieces, &want = to_.dims[d].pieces;
    if (!is_final(now.dims[d], to_.dims[d])) return std::nullopt;
    const auto next = std::find_if(want.begin() + static_cast<ptrdiff_t>(have.size()), want.end(),
                                   [](const Piece& p) { return !p.is_local(); });
    if (next == want.end()) return std::nullopt;
    return std::vector<Piece>(want.begin(), next + 1);
  }

  // Layouts in which an axis that is free becomes the innermost piece of some dim but `except`: where `to` wants it
  // next, or `between`, on a dim that it divides.
  template <class Fn>
  void place(const Layout& now, int axis, bool between, int except, Fn&& fn) const {
    for (size_t d = 0; d < now.dims.size(); ++d) {
      if (static_cast<int>(d) == except) continue;
      Layout placed = now;
      if (auto next = next_wanted(now, d); next && next->back().mesh_axis == axis) {
        placed.dims[d].pieces = std::move(*next);
        fn(static_cast<int>(d), placed);
      } else if (between && between_ && divides(now.dims[d], axis, d)) {
        placed.dims[d].pieces.push_back({axis, 1, 0});
        fn(static_cast<int>(d), placed);
      }
    }
  }

  bool divides(const DimLayout& dim, int axis, size_t d) const {
    if (d >= sizes_.extents.size() || !sizes_.extents[d]) return false;
    int64_t parts = members(axis);
    for (const Piece& p : dim.pieces) {
      if (p.is_local() || p.granule != 1) return false;
      parts *= members(p.mesh_axis);
    }
    return *sizes_.extents[d] % parts == 0;
  }

  static const std::vector<Piece>& list(const Layout& layout, int dim) {
    return layout.dims[static_cast<size_t>(dim)].pieces;
  }

  const Layout &from_, &to_;
  const ReshardSizes& sizes_;
  const bool between_;
  std::vector<Node> nodes_;
  std::map<Key, size_t> known_;
  using Open = std::tuple<double, int64_t, size_t>;  // cost, steps, node
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
};

}  // namespace

ReshardPlan plan_reshard(const Layout& from, const Layout& to, const ReshardSizes& sizes) {
  PLAIT_CHECK(from.dims.size() == to.dims.size(), "layouts of {} and {} dims", from.dims.size(), to.dims.size());
  PLAIT_CHECK(can_reshard(from, to), "a whole value cannot become pending");
  if (auto plan = Search(from, to, sizes, true).run()) return std::move(*plan);
  return *Search(from, to, sizes, false).run();
}

std::optional<ReshardStep> single_step(const Layout& from, const Layout& to) {
  if (from.dims.size() != to.dims.size() || !can_reshard(from, to)) return std::nullopt;
  ReshardStep step;
  step.to = to;
  int lost = -1, gained = -1;
  for (size_t d = 0; d < from.dims.size(); ++d) {
    if (from.dims[d] == to.dims[d]) continue;
    if (recuts(from.dims[d], to.dims[d])) {
      if (lost >= 0 || gained >= 0) return std::nullopt;
      lost = gained = static_cast<int>(d);
      continue;
    }
    int& which = extends(from.dims[d], to.dims[d]) ? gained : lost;
    if (which >= 0 || (&which == &lost && !extends(to.dims[d], from.dims[d]))) return std::nullopt;
    which = static_cast<int>(d);
  }
  const size_t reduced = from.partial.size() - to.partial.size();
  if (reduced > 1 || (reduced == 1 && lost >= 0) || (reduced == 0 && lost < 0 && gained < 0)) return std::nullopt;
  if (lost >= 0) {
    step.from_dim = lost;
    step.from_pieces = from.dims[static_cast<size_t>(lost)].pieces;
    step.axis = step.from_pieces.back().mesh_axis;
  }
  if (gained >= 0) {
    step.dim = gained;
    step.pieces = to.dims[static_cast<size_t>(gained)].pieces;
    const int axis = step.pieces.back().mesh_axis;
    if (lost >= 0 && axis != step.axis) return std::nullopt;
    step.axis = axis;
    step.kind = lost < 0 ? ReshardKind::slice : lost == gained ? ReshardKind::gather_range : ReshardKind::all_to_all;
  } else if (lost >= 0) {
    step.kind = ReshardKind::all_gather;
    std::swap(step.dim, step.from_dim);
    std::swap(step.pieces, step.from_pieces);
  }
  for (auto [axis, reduce] : from.partial) {
    if (to.partial.contains(axis)) continue;
    if (gained >= 0 && axis != step.axis) return std::nullopt;
    step.axis = axis;
    step.reduce = reduce;
    step.kind = gained >= 0 ? ReshardKind::reduce_scatter : ReshardKind::all_reduce;
  }
  return step;
}

}  // namespace plait
