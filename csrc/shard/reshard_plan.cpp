#include "shard/reshard_plan.h"

#include <algorithm>
#include <bit>
#include <cstdint>
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
  PLAIT_CHECK(axis >= 0 && static_cast<size_t>(axis) < fusion.mesh().axes().size(), "%{} is on no axis {}", tensor.name,
              axis);
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
  if (fusion.mesh().has_links())
    for (size_t a = 0; a < fusion.mesh().axes().size(); ++a)
      out.links.push_back(link_cost(fusion.mesh(), static_cast<int>(a)));
  for (size_t d = 0; d < tensor.rank(); ++d) out.extents.push_back(at_defaults(fusion, tensor.extent(d)));
  out.element_bytes = static_cast<int64_t>(size_of(tensor.dtype));
  return out;
}

int64_t members_of(const TensorView& tensor, const std::vector<Piece>& pieces) {
  int64_t out = 1;
  for (const Piece& p : pieces) out *= members_of(tensor, p.mesh_axis);
  return out;
}

Team team_of(const std::vector<Piece>& pieces) {
  Team out;
  for (const Piece& p : pieces) {
    PLAIT_CHECK(!p.is_local(), "a local piece is on no axis");
    out.axes.push_back(p.mesh_axis);
  }
  return out;
}

namespace {

bool is_local(const Piece& p) { return p.is_local(); }

// The last pieces of a list, so many.
std::vector<Piece> last_of(const std::vector<Piece>& pieces, size_t count) {
  return {pieces.end() - static_cast<ptrdiff_t>(count), pieces.end()};
}

// The team of what `more` has behind `less`: mesh pieces side by side, with local pieces before them; nothing where the
// lists do not differ by that.
std::optional<Team> added(const DimLayout& less, const DimLayout& more) {
  const auto &a = less.pieces, &b = more.pieces;
  if (b.size() <= a.size() || !std::equal(a.begin(), a.end(), b.begin())) return std::nullopt;
  const auto first = std::find_if_not(b.begin() + static_cast<ptrdiff_t>(a.size()), b.end(), is_local);
  if (first == b.end() || std::any_of(first, b.end(), is_local)) return std::nullopt;
  return team_of({first, b.end()});
}

// The team whose pieces, the innermost ones, become others: each rank's are one range of what they cut, before and
// after. Nothing where the lists do not differ by that.
std::optional<Team> recut(const DimLayout& from, const DimLayout& to) {
  const auto [p, q] = std::ranges::mismatch(from.pieces, to.pieces);
  if (p == from.pieces.end() || q == to.pieces.end()) return std::nullopt;
  if (std::any_of(p, from.pieces.end(), is_local) || std::any_of(q, to.pieces.end(), is_local)) return std::nullopt;
  return team_of({p, from.pieces.end()});
}

// Pieces that both lists begin with, local ones too that only one of them goes on with, and what each has behind them;
// nothing where local pieces are left there.
std::optional<BlockDim> block_dim(const Layout& from, const Layout& to, size_t d) {
  const auto &a = from.dims[d].pieces, &b = to.dims[d].pieces;
  auto [p, q] = std::ranges::mismatch(a, b);
  if (p == a.end()) q = std::find_if_not(q, b.end(), is_local);
  if (q == b.end()) p = std::find_if_not(p, a.end(), is_local);
  if (std::any_of(p, a.end(), is_local) || std::any_of(q, b.end(), is_local)) return std::nullopt;
  BlockDim out{static_cast<int>(d), {}, {p, a.end()}, {q, b.end()}};
  p == a.end() ? out.kept.assign(b.begin(), q) : out.kept.assign(a.begin(), p);
  return out;
}

// The step that changes two dims at once; nothing where others change, or none is held in pieces that change.
std::optional<ReshardStep> block_step(const Layout& from, const Layout& to) {
  ReshardStep out;
  out.kind = ReshardKind::gather_block;
  out.to = to;
  for (size_t d = 0; d < from.dims.size(); ++d) {
    if (from.dims[d] == to.dims[d]) continue;
    const auto changed = block_dim(from, to, d);
    if (!changed) return std::nullopt;
    for (const Piece& p : changed->held) out.team.axes.push_back(p.mesh_axis);
    out.block.push_back(*changed);
  }
  if (from.partial != to.partial || out.block.size() != 2 || out.team.axes.empty()) return std::nullopt;
  return out;
}

// Whether some mesh axis stands in the layout twice.
bool repeats_an_axis(const Layout& layout) {
  std::vector<int> axes;
  for (const DimLayout& dim : layout.dims)
    for (const Piece& p : dim.pieces)
      if (!p.is_local()) axes.push_back(p.mesh_axis);
  for (const auto& [axis, reduce] : layout.partial) axes.push_back(axis);
  std::ranges::sort(axes);
  return std::ranges::adjacent_find(axes) != axes.end();
}

// The pieces before the innermost mesh pieces, so many.
DimLayout without_last(DimLayout dim, size_t count) {
  dim.pieces.resize(dim.pieces.size() - count);
  while (!dim.pieces.empty() && dim.pieces.back().is_local()) dim.pieces.pop_back();
  return dim;
}

int64_t members_along(const ReshardSizes& sizes, int axis) {
  const auto a = static_cast<size_t>(axis);
  return a < sizes.members.size() ? sizes.members[a] : 2;
}

// Bytes that a rank holds, of all of whom the same is taken.
double held_bytes(const Layout& layout, const ReshardSizes& sizes) {
  constexpr double kUnknownExtent = 65536;
  auto out = static_cast<double>(sizes.element_bytes);
  for (size_t d = 0; d < layout.dims.size(); ++d) {
    const auto extent = d < sizes.extents.size() ? sizes.extents[d] : std::nullopt;
    out *= extent ? static_cast<double>(*extent) : kUnknownExtent;
    for (const Piece& p : layout.dims[d].pieces)
      if (!p.is_local()) out /= static_cast<double>(members_along(sizes, p.mesh_axis));
  }
  return out;
}

double step_cost(const ReshardStep& step, const Layout& before, const Layout& after, const ReshardSizes& sizes) {
  const auto collective = collective_of(step.kind);
  if (!collective) return 0;
  int64_t n = 1;
  for (int axis : step.team.axes) n *= members_along(sizes, axis);
  // What the team shares: a piece that is not gathered is of all its members. Of a range all may be others'.
  const bool piece = info(*collective).takes == Held::piece;
  const bool range = step.kind == ReshardKind::gather_range || step.kind == ReshardKind::gather_block;
  const double held = held_bytes(range ? after : before, sizes);
  return collective_cost(*collective, n, held * (piece ? static_cast<double>(n) : 1),
                         slowest(sizes.links, step.team.axes));
}

// What the plan of a step costs where all that changes is gathered, or reduced, and cut again.
double cost_by_whole(const Layout& from, const Layout& to, const ReshardSizes& sizes) {
  double out = 0;
  Layout now = from;
  const auto take = [&](ReshardKind kind, const Team& team, Layout next) {
    ReshardStep step;
    step.kind = kind, step.team = team;
    if (!team.axes.empty()) out += step_cost(step, now, next, sizes);
    now = std::move(next);
  };
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const auto first = std::ranges::mismatch(from.dims[d].pieces, to.dims[d].pieces).in1;
    Team team;
    for (auto p = first; p != from.dims[d].pieces.end(); ++p)
      if (!p->is_local()) team.axes.push_back(p->mesh_axis);
    Layout next = now;
    next.dims[d].pieces.assign(from.dims[d].pieces.begin(), first);
    take(ReshardKind::all_gather, team, std::move(next));
  }
  Team pending;
  for (const auto& [axis, reduce] : from.partial)
    if (!to.partial.contains(axis)) pending.axes.push_back(axis);
  Layout done = now;
  done.partial = to.partial;
  take(ReshardKind::all_reduce, pending, std::move(done));
  return out;
}

using Key = std::vector<int64_t>;

void add_to(Key& key, const Layout& layout) {
  for (const DimLayout& dim : layout.dims) {
    key.push_back(-2);
    for (const Piece& p : dim.pieces) key.insert(key.end(), {p.mesh_axis, p.granule, p.local});
  }
  for (auto [axis, reduce] : layout.partial) key.insert(key.end(), {-3, axis, static_cast<int64_t>(reduce)});
}

// All that a plan follows from.
Key key_of(const Layout& from, const Layout& to, const ReshardSizes& sizes) {
  Key out;
  add_to(out, from);
  out.push_back(-4);
  add_to(out, to);
  out.push_back(-4);
  out.insert(out.end(), sizes.members.begin(), sizes.members.end());
  out.push_back(-4);
  for (const auto& extent : sizes.extents) out.push_back(extent.value_or(-1));
  out.push_back(sizes.element_bytes);
  for (const LinkCost& link : sizes.links)
    out.insert(out.end(), {std::bit_cast<int64_t>(link.latency), std::bit_cast<int64_t>(link.per_byte)});
  return out;
}

// What was found for the same layouts and sizes. Ops that stand in a row ask for the same again and again.
template <class T>
class Found {
 public:
  template <class Make>
  const T& at(Key key, Make make) {
    if (const auto it = all_.find(key); it != all_.end()) return it->second;
    if (all_.size() == kMost) all_.clear();
    return all_.emplace(std::move(key), make()).first->second;
  }

 private:
  static constexpr size_t kMost = 4096;
  std::map<Key, T> all_;
};

// Layouts that a search looks at before it goes without places in between: five axes that all move take fewer.
constexpr size_t kMostExpanded = 1000;
// Those that one looks at which is after a cost alone.
constexpr size_t kMostPriced = 100;

// Uniform-cost search over layouts.
class Search {
 public:
  // `between`: axes may rest where `to` does not want them.
  Search(const Layout& from, const Layout& to, const ReshardSizes& sizes, bool between)
      : from_(from), to_(to), sizes_(sizes), between_(between) {}

  // Nothing where there are too many layouts, of which without places in between there are not.
  std::optional<ReshardPlan> run() {
    const auto at = find(between_ ? kMostExpanded : SIZE_MAX);
    return at ? std::optional(plan(*at)) : std::nullopt;
  }

  // What the cheapest plan costs that is found soon.
  double price() {
    if (const auto at = find(kMostPriced)) return nodes_[*at].cost;
    const double whole = cost_by_whole(from_, to_, sizes_);
    const auto reached = known_.find(key(to_));
    return reached == known_.end() ? whole : std::min(whole, nodes_[reached->second].cost);
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

  // The node of the end; nothing where so many layouts were looked at before.
  std::optional<size_t> find(size_t most) {
    reach({from_, {}, -1, 0, 0});
    for (size_t expanded = 0; !open_.empty();) {
      const auto [cost, count, at] = open_.top();
      open_.pop();
      if (nodes_[at].done || known_.at(key(nodes_[at].layout)) != at) continue;
      nodes_[at].done = true;
      if (nodes_[at].layout == to_) return at;
      if (++expanded > most) return std::nullopt;
      expand(at);
    }
    PLAIT_CHECK(false, "no plan of a reshard");
    __builtin_unreachable();
  }

  static Key key(const Layout& layout) {
    Key out;
    add_to(out, layout);
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

  int64_t members(int axis) const { return members_along(sizes_, axis); }

  void take(size_t at, ReshardStep step, Layout next) {
    const double cost = nodes_[at].cost + step_cost(step, nodes_[at].layout, next, sizes_);
    const int64_t steps = nodes_[at].steps + 1;
    reach({std::move(next), std::move(step), static_cast<int64_t>(at), cost, steps});
  }

  void expand(size_t at) {
    const Layout now = nodes_[at].layout;
    reduce_pending(at, now);
    cut_two_dims(at, now);
    for (size_t d = 0; d < now.dims.size(); ++d) {
      const std::vector<Piece>& held = now.dims[d].pieces;
      if (held.empty() || is_final(now.dims[d], to_.dims[d])) continue;
      cut_again(at, now, d);
      for (size_t count = 1; count <= held.size() && !held[held.size() - count].is_local(); ++count)
        move_pieces(at, now, d, count);
    }
    for (size_t d = 0; d < now.dims.size(); ++d)
      for (const std::vector<Piece>& next : next_wanted(now, d)) {
        const Team team = *added(now.dims[d], {next});
        if (std::ranges::any_of(team.axes, [&](int axis) { return now.uses(axis); })) break;
        Layout placed = now;
        placed.dims[d].pieces = next;
        take(at, {ReshardKind::slice, team, static_cast<int>(d), next, -1, {}, {}, {}, {}}, placed);
      }
  }

  // Axes that `to` does not want pending are reduced one by one, or several at once.
  void reduce_pending(size_t at, const Layout& now) {
    Team all;
    for (const auto& [axis, reduce] : now.partial)
      if (!to_.partial.contains(axis)) all.axes.push_back(axis);
    for (const int axis : all.axes) {
      const Team team{{axis}};
      const ReduceOp reduce = now.partial.at(axis);
      const Layout next = without_pending(now, team);
      take(at, {ReshardKind::all_reduce, team, -1, {}, -1, {}, reduce, {}, {}}, next);
      // Alone it would not pay to scatter and gather again.
      place(next, team, all.axes.size() > 1, -1, [&](int dim, const Layout& placed) {
        take(at, {ReshardKind::reduce_scatter, team, dim, list(placed, dim), -1, {}, reduce, {}, {}}, placed);
      });
    }
    if (all.axes.size() < 2) return;
    const ReduceOp reduce = now.partial.at(all.axes[0]);
    if (!std::ranges::all_of(all.axes, [&](int axis) { return now.partial.at(axis) == reduce; })) return;
    take(at, {ReshardKind::all_reduce, all, -1, {}, -1, {}, reduce, {}, {}}, without_pending(now, all));
    for (size_t d = 0; d < now.dims.size(); ++d)
      for (const std::vector<Piece>& next : next_wanted(now, d)) {
        const Team team = *added(now.dims[d], {next});
        if (!std::ranges::all_of(team.axes, [&](int axis) { return all.has(axis); })) break;
        if (team.axes.size() == 1) continue;
        Layout placed = without_pending(now, team);
        placed.dims[d].pieces = next;
        take(at, {ReshardKind::reduce_scatter, team, static_cast<int>(d), next, -1, {}, reduce, {}, {}}, placed);
      }
  }

  static Layout without_pending(Layout layout, const Team& team) {
    for (int axis : team.axes) layout.partial.erase(axis);
    return layout;
  }

  // The last pieces of a dim become others of it that `to` wants there.
  void cut_again(size_t at, const Layout& now, size_t d) {
    for (size_t count = 1; count <= to_.dims[d].pieces.size(); ++count) {
      Layout cut = now;
      cut.dims[d].pieces.assign(to_.dims[d].pieces.begin(), to_.dims[d].pieces.begin() + static_cast<ptrdiff_t>(count));
      const auto team = recut(now.dims[d], cut.dims[d]);
      const auto elsewhere = [&](const Piece& p) {
        const int dim = now.dim_of(p.mesh_axis);
        return !p.is_local() && (now.partial.contains(p.mesh_axis) || (dim >= 0 && dim != static_cast<int>(d)));
      };
      if (!team || std::ranges::any_of(list(cut, static_cast<int>(d)), elsewhere)) continue;
      const auto dim = static_cast<int>(d);
      take(at, {ReshardKind::gather_range, *team, dim, cut.dims[d].pieces, dim, now.dims[d].pieces, {}, {}, {}}, cut);
    }
  }

  // The last pieces of two dims become others of them: those that `to` wants there, or of the second dim those that the
  // first one gives for them.
  void cut_two_dims(size_t at, const Layout& now) {
    for (size_t d = 0; d < now.dims.size(); ++d)
      for (size_t e = 0; e < now.dims.size(); ++e) {
        if (d == e || now.dims[d] == to_.dims[d] || now.dims[e] == to_.dims[e]) continue;
        Layout next = now;
        next.dims[d] = to_.dims[d];
        next.dims[e] = to_.dims[e];
        if (d < e) cut_block(at, now, next);
        const auto first = block_dim(now, next, d);
        auto& second = next.dims[e] = now.dims[e];
        if (!between_ || !first || first->held.empty() || first->taken.size() > second.pieces.size()) continue;
        const auto given = second.pieces.end() - static_cast<ptrdiff_t>(first->taken.size());
        const auto same = [](const Piece& p, const Piece& q) { return p.mesh_axis == q.mesh_axis; };
        if (!std::equal(given, second.pieces.end(), first->taken.begin(), same)) continue;
        second.pieces.erase(given, second.pieces.end());
        second.pieces.insert(second.pieces.end(), first->held.begin(), first->held.end());
        cut_block(at, now, next);
      }
  }

  void cut_block(size_t at, const Layout& now, const Layout& next) {
    if (repeats_an_axis(next)) return;
    const auto step = single_step(now, next);
    if (!step || step->kind != ReshardKind::gather_block) return;
    if (!step->block[0].taken.empty() || !step->block[1].taken.empty()) take(at, *step, next);
  }

  // The last pieces of a dim, so many, become whole, or go to another dim.
  void move_pieces(size_t at, const Layout& now, size_t d, size_t count) {
    const std::vector<Piece>& held = now.dims[d].pieces;
    const Team team = team_of(last_of(held, count));
    Layout next = now;
    next.dims[d] = without_last(now.dims[d], count);
    take(at, {ReshardKind::all_gather, team, static_cast<int>(d), held, -1, {}, {}, {}, {}}, next);
    const bool goes_on = count == 1 && to_.dim_of(held.back().mesh_axis) >= 0;
    place(next, team, goes_on, static_cast<int>(d), [&](int dim, const Layout& placed) {
      take(at, {ReshardKind::all_to_all, team, dim, list(placed, dim), static_cast<int>(d), held, {}, {}, {}}, placed);
    });
  }

  // A list all of whose pieces stay.
  static bool is_final(const DimLayout& now, const DimLayout& wanted) {
    return now.pieces.size() <= wanted.pieces.size() &&
           std::equal(now.pieces.begin(), now.pieces.end(), wanted.pieces.begin());
  }

  // The lists up to the next mesh piece that `to` wants there, where all before it is there, and to those behind it
  // without a local one in between.
  std::vector<std::vector<Piece>> next_wanted(const Layout& now, size_t d) const {
    const auto &have = now.dims[d].pieces, &want = to_.dims[d].pieces;
    std::vector<std::vector<Piece>> out;
    if (!is_final(now.dims[d], to_.dims[d])) return out;
    auto next = std::find_if_not(want.begin() + static_cast<ptrdiff_t>(have.size()), want.end(), is_local);
    for (; next != want.end() && !next->is_local(); ++next) out.emplace_back(want.begin(), next + 1);
    return out;
  }

  // Layouts in which axes that are free become the innermost pieces of some dim but `except`: where `to` wants them
  // next, or, of one and `between`, on a dim that it divides.
  template <class Fn>
  void place(const Layout& now, const Team& team, bool between, int except, Fn&& fn) const {
    for (size_t d = 0; d < now.dims.size(); ++d) {
      if (static_cast<int>(d) == except) continue;
      Layout placed = now;
      bool wanted = false;
      for (std::vector<Piece>& next : next_wanted(now, d)) {
        if (added(now.dims[d], {next}) != team) continue;
        wanted = true;
        placed.dims[d].pieces = std::move(next);
        fn(static_cast<int>(d), placed);
      }
      if (wanted || !between || !between_ || !divides(now.dims[d], team.axes[0], d)) continue;
      placed.dims[d].pieces.push_back({team.axes[0], 1, 0});
      fn(static_cast<int>(d), placed);
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
  thread_local Found<ReshardPlan> found;
  return found.at(key_of(from, to, sizes), [&] {
    auto plan = Search(from, to, sizes, true).run();
    return plan ? std::move(*plan) : *Search(from, to, sizes, false).run();
  });
}

double reshard_cost(const Layout& from, const Layout& to, const ReshardSizes& sizes) {
  if (from == to) return 0;
  if (const auto step = single_step(from, to)) return step_cost(*step, from, to, sizes);
  thread_local Found<double> found;
  return found.at(key_of(from, to, sizes), [&] { return Search(from, to, sizes, true).price(); });
}

std::optional<ReshardStep> planned_step(const Reshard& reshard) {
  auto step = reshard.step ? single_step(held_layout(*reshard.in), reshard.out()->layout) : std::nullopt;
  if (step && (step->kind != *reshard.step || step->team != reshard.team)) step.reset();
  return step;
}

std::optional<ReshardStep> single_step(const Layout& from, const Layout& to) {
  if (from.dims.size() != to.dims.size() || !can_reshard(from, to)) return std::nullopt;
  ReshardStep step;
  step.to = to;
  std::optional<Team> lost, gained;
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const DimLayout &before = from.dims[d], &after = to.dims[d];
    if (before == after) continue;
    const auto again = recut(before, after), more = added(before, after), less = added(after, before);
    if ((!again && !more && !less) || ((again || more) && gained) || ((again || less) && lost))
      return block_step(from, to);
    if (again || more) {
      gained = again ? again : more;
      step.dim = static_cast<int>(d), step.pieces = after.pieces;
    }
    if (again || less) {
      lost = again ? again : less;
      step.from_dim = static_cast<int>(d), step.from_pieces = before.pieces;
    }
  }
  Team reduced;
  for (auto [axis, reduce] : from.partial) {
    if (to.partial.contains(axis)) continue;
    if (!reduced.axes.empty() && reduce != step.reduce) return std::nullopt;
    step.reduce = reduce;
    reduced.axes.push_back(axis);
  }
  if (!reduced.axes.empty()) {
    if (lost || (gained && !std::ranges::is_permutation(gained->axes, reduced.axes))) return std::nullopt;
    step.kind = gained ? ReshardKind::reduce_scatter : ReshardKind::all_reduce;
    step.team = gained ? *gained : reduced;
  } else if (gained) {
    if (lost && *lost != *gained) return block_step(from, to);
    step.kind = !lost                       ? ReshardKind::slice
                : step.dim == step.from_dim ? ReshardKind::gather_range
                                            : ReshardKind::all_to_all;
    step.team = *gained;
  } else if (lost) {
    step.kind = ReshardKind::all_gather;
    step.team = *lost;
    std::swap(step.dim, step.from_dim);
    std::swap(step.pieces, step.from_pieces);
  } else {
    return std::nullopt;
  }
  return step;
}

}  // namespace plait
