#include "run/binding.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "base/error.h"

namespace plait {
namespace {

// Evaluates for one rank.
class Binder {
 public:
  Binder(const Program& program, RankValues& values, int64_t rank) : program_(program), values_(values), rank_(rank) {}

  RankBinding run() {
    RankBinding out;
    out.rank = rank_;
    bind_values(out);
    out.steps.reserve(program_.steps.size());
    for (const auto& each : program_.steps) out.steps.push_back(step(*each));
    return out;
  }

  void bind_values(RankBinding& out) {
    for (const ProgramValue& value : program_.values) bind_value(value, out);
  }

  BoundStep step(const Step& step) {
    step_ = &step;
    BoundStep bound;
    bind_views(bound);
    visit(step, [&](const auto& typed) { bind_step(typed, bound); });
    bound.moved_bytes = moved_by(bound);
    return bound;
  }

  CutNumbers cut(const CollectiveStep& step) {
    CutNumbers out;
    if (!info(step.collective).has_pieces()) {
      out.count = out.total = element_count(extents_of(step.in));
      return out;
    }
    out.outer = value_of(step.outer);
    out.inner = value_of(step.inner);
    if (step.collective == Collective::gather_block) {
      out.middle = value_of(step.middle);
      out.totals = {value_of(step.totals[0]), value_of(step.totals[1])};
      out.held = block(step.held), out.wanted = block(step.wanted);
      return out;
    }
    out.count = value_of(step.count);
    out.total = value_of(step.total);
    if (step.start) out.start = value_of(step.start);
    if (step.taken) out.taken = value_of(step.taken);
    if (step.collective != Collective::all_to_all) return out;
    out.middle = value_of(step.middle);
    out.scattered = value_of(step.scattered);
    out.scattered_total = value_of(step.scattered_total);
    return out;
  }

 private:
  int64_t value_of(sym::Expr expr) const { return values_.value(expr, rank_); }
  CommBlock block(const std::vector<sym::Expr>& of) const {
    return {{value_of(of[0]), value_of(of[1])}, {value_of(of[2]), value_of(of[3])}};
  }

  void bind_value(const ProgramValue& value, RankBinding& out) const {
    std::vector<int64_t> shape;
    for (sym::Expr extent : value.shape) shape.push_back(value_of(extent));
    int64_t bytes;
    if (__builtin_mul_overflow(element_count(shape), int64_t(size_of(value.dtype)), &bytes))
      throw UserError("a tensor has more than 2^63 - 1 bytes", "%" + value.name, "use smaller extents");
    out.strides.push_back(row_major_strides(shape));
    out.shapes.push_back(std::move(shape));
    out.bytes.push_back(bytes);
    if (value.kind == ProgramValueKind::input) out.input_bytes += bytes;
    if (value.kind == ProgramValueKind::output) out.output_bytes += bytes;
  }

  int64_t offset_of(const View& view) const { return view.offset ? value_of(view.offset) : 0; }
  std::vector<int64_t> extents_of(const View& view) const {
    return values_.values(view.extents.empty() ? program_.value(view.value).shape : view.extents, rank_);
  }
  std::vector<int64_t> strides_of(const View& view) const {
    return view.strides.empty() ? row_major_strides(extents_of(view)) : values_.values(view.strides, rank_);
  }

  // Where a view lies; dense ones as one axis, as views of several shapes may lie in one place.
  struct Place {
    uint32_t value;
    int64_t offset;
    std::vector<int64_t> extents, strides;
    auto operator<=>(const Place&) const = default;
  };
  Place place_of(const View& view) const {
    Place out{view.value.index, offset_of(view), extents_of(view), strides_of(view)};
    if (out.strides == row_major_strides(out.extents)) out.extents = {element_count(out.extents)}, out.strides = {1};
    return out;
  }
  int64_t bytes_of(const Place& place) const {
    int64_t bytes = int64_t(size_of(program_.values[place.value].dtype));
    for (size_t d = 0; d < place.extents.size(); ++d)
      bytes *= place.strides[d] == 0 && place.extents[d] > 0 ? 1 : place.extents[d];
    return bytes;
  }

  // Bytes of views, each so many times; of those in one place the most.
  class Traffic {
   public:
    explicit Traffic(const Binder& binder) : binder_(binder) {}
    void add(const View& view, int64_t times = 1) {
      const Place place = binder_.place_of(view);
      int64_t& most = seen_[place];
      most = std::max(most, times * binder_.bytes_of(place));
    }
    int64_t total() const {
      return std::accumulate(seen_.begin(), seen_.end(), int64_t{0},
                             [](int64_t sum, const auto& each) { return sum + each.second; });
    }

   private:
    const Binder& binder_;
    std::map<Place, int64_t> seen_;
  };

  int64_t moved_by(const BoundStep& bound) const {
    if (bound.skipped) return 0;
    const std::vector<View> written = results(*step_);
    if (step_->kind == StepKind::CopyStep) return 2 * bytes_of(place_of(written[0]));
    const auto* launch = as<LaunchStep>(*step_);
    if (launch == nullptr || program_.kernels[launch->kernel.index].taken.empty()) {
      Traffic all(*this);
      for (const View& view : written) all.add(view);
      if (!bound.zero_fill)
        for (const View& view : operands(*step_)) all.add(view);
      return all.total();
    }
    const std::vector<int64_t>& taken = program_.kernels[launch->kernel.index].taken;
    Traffic reads(*this), writes(*this);
    size_t i = 0;
    for (const View& view : launch->inputs) reads.add(view, taken[i++]);
    for (const auto* list : {&launch->outputs, &launch->workspaces})
      for (const View& view : *list) writes.add(view, taken[i++]);
    return reads.total() + writes.total();
  }

  // Places the views, and checks that they are inside of their values.
  void bind_views(BoundStep& bound) const {
    std::vector<View> views = operands(*step_);
    for (const View& view : results(*step_)) views.push_back(view);
    bool placed = false;
    for (const View& view : views) {
      int64_t offset = offset_of(view);
      check_inside(view, offset);
      if (element_count(extents_of(view)) == 0) offset = 0;  // it may begin behind its value
      bound.offsets.push_back(offset * int64_t(size_of(program_.value(view.value).dtype)));
      placed = placed || offset != 0;
    }
    if (!placed) bound.offsets.clear();
  }

  void check_inside(const View& view, int64_t offset) const {
    const std::vector<int64_t> extents = extents_of(view), strides = strides_of(view);
    int64_t last = offset;
    bool fits = offset >= 0, empty = false;
    for (size_t d = 0; d < extents.size(); ++d) {
      int64_t length;
      fits = fits && extents[d] >= 0 && strides[d] >= 0;
      empty = empty || extents[d] == 0;
      fits = fits && !__builtin_mul_overflow(extents[d] - (empty ? 0 : 1), strides[d], &length) &&
             !__builtin_add_overflow(last, length, &last);
    }
    const int64_t elements = element_count(values_.values(program_.value(view.value).shape, rank_));
    require(fits && (empty || last < elements),
            fmt::format("a view outside of %{}, which has {} elements", program_.value(view.value).name, elements));
  }

  void bind_step(const AllocStep&, BoundStep& bound) const { bound.skipped = true; }
  void bind_step(const RecordStep&, BoundStep&) const {}
  void bind_step(const WaitStep&, BoundStep&) const {}

  void bind_step(const LaunchStep& step, BoundStep& bound) const {
    for (sym::Expr expr : step.integers) bound.integers.push_back(value_of(expr));
    if (!step.threads.phases.empty()) bound.threads.clear();
    for (sym::Expr extent : step.threads.phases) bound.threads.push_back(value_of(extent));
    bound.skipped = std::all_of(bound.threads.begin(), bound.threads.end(), [](int64_t n) { return n <= 0; });
    for (sym::Expr extent : step.later_grids) bound.later_grids.push_back(value_of(extent));
    for (sym::Expr extent : step.later_blocks) bound.later_blocks.push_back(value_of(extent));
    for (sym::Expr words : step.counters) bound.counters.push_back(std::max<int64_t>(value_of(words), 0));
    const auto is_empty = [](const int64_t* grid) { return *std::min_element(grid, grid + 3) <= 0; };
    for (int i = 0; i < 3; ++i) {
      bound.grid[i] = value_of(step.grid[i]);
      bound.block[i] = value_of(step.block[i]);
      bound.skipped = bound.skipped || bound.block[i] <= 0;
    }
    bool all_empty = is_empty(bound.grid.data());
    for (size_t i = 0; i < bound.later_grids.size(); i += 3)
      all_empty = all_empty && is_empty(bound.later_grids.data() + i);
    bound.skipped = bound.skipped || all_empty;
  }

  void bind_step(const LibraryStep& step, BoundStep& bound) const {
    const std::vector<int64_t> extents = extents_of(step.out), of_a = extents_of(step.a), of_b = extents_of(step.b);
    const size_t dims = extents.size() - 2;
    ContractionArguments numbers;
    numbers.batch = std::span(extents).first(dims);
    numbers.m = extents[dims], numbers.n = extents[dims + 1], numbers.k = of_a[dims + 1];
    const bool batches = std::equal(extents.begin(), extents.begin() + ptrdiff_t(dims), of_a.begin()) &&
                         std::equal(extents.begin(), extents.begin() + ptrdiff_t(dims), of_b.begin());
    require(batches && of_a[dims] == numbers.m && of_b[dims] == numbers.k && of_b[dims + 1] == numbers.n,
            "extents of a contraction differ");
    std::array<std::vector<int64_t>, 3> strides;
    ContractionOperand* const places[] = {&numbers.a, &numbers.b, &numbers.out};
    const View* const views[] = {&step.a, &step.b, &step.out};
    for (size_t i = 0; i < 3; ++i) {
      strides[i] = strides_of(*views[i]);
      *places[i] = {strides[i][dims], strides[i][dims + 1], offset_of(*views[i]),
                    std::span<const int64_t>(strides[i]).first(dims)};
    }
    bound.skipped = element_count(extents) == 0;
    bound.zero_fill = numbers.k == 0;
    bound.integers = bound.skipped ? numbers.integers() : simplify_contraction(numbers.integers());
  }

  void check_cut(const CutNumbers& numbers) const {
    require(std::min({numbers.outer, numbers.count, numbers.total, numbers.inner, numbers.start}) >= 0,
            "a negative extent");
  }

  void bind_step(const CopyStep& step, BoundStep& bound) const {
    bound.outer = value_of(step.outer);
    bound.start = step.start ? value_of(step.start) : 0;
    bound.count = value_of(step.count);
    bound.total = value_of(step.total);
    bound.inner = value_of(step.inner);
    check_cut(bound);
    require(bound.start <= bound.total && bound.count <= bound.total - bound.start, "a slice past its tensor");
    require_elements(step.in, {bound.outer, bound.total, bound.inner});
    require_elements(step.out, {bound.outer, bound.count, bound.inner});
    bound.skipped = element_count(extents_of(step.out)) == 0;
  }

  void bind_step(const CollectiveStep& step, BoundStep& bound) {
    static_cast<CutNumbers&>(bound) = cut(step);
    if (!info(step.collective).has_pieces()) return require_elements(step.out, {bound.total});
    check_cut(bound);
    require(bound.count <= bound.total, "a slice past its tensor");
    if (step.collective == Collective::gather_block) return check_block(step, bound);
    if (step.collective == Collective::gather_range) {
      require(bound.taken >= 0 && bound.taken <= bound.total - bound.start, "a range past its dim");
      require_elements(step.in, {bound.outer, bound.count, bound.inner});
      require_elements(step.out, {bound.outer, bound.taken, bound.inner});
      return;
    }
    if (step.collective == Collective::all_to_all) {
      require(std::min({bound.middle, bound.scattered, bound.scattered_total}) >= 0, "a negative extent");
      const int64_t rest = bound.outer * bound.middle * bound.inner;
      require_elements(step.in, {rest, bound.count, bound.scattered_total});
      require_elements(step.out, {rest, bound.total, bound.scattered});
      return;
    }
    const bool piece_in = info(step.collective).takes == Held::piece;
    require_elements(piece_in ? step.in : step.out, {bound.outer, bound.count, bound.inner});
    require_elements(piece_in ? step.out : step.in, {bound.outer, bound.total, bound.inner});
  }

  void check_block(const CollectiveStep& step, const BoundStep& bound) const {
    const int64_t rest = bound.outer * bound.middle * bound.inner;
    for (const auto& [block, view] : {std::pair(bound.held, step.in), {bound.wanted, step.out}}) {
      const auto inside = [](const CommRange& range, int64_t total) {
        return range.start >= 0 && range.count >= 0 && range.count <= total - range.start;
      };
      require(inside(block.first, bound.totals[0]) && inside(block.second, bound.totals[1]), "a block past its tensor");
      require_elements(view, {rest, block.first.count, block.second.count});
    }
  }

  void require(bool condition, std::string_view what) const {
    if (!condition)
      throw InternalError(std::string(what), fmt::format("program @{}, {}", program_.name, describe(program_, *step_)),
                          "");
  }
  void require_elements(const View& view, const std::vector<int64_t>& taken) const {
    const int64_t elements = element_count(extents_of(view));
    require(element_count(taken) == elements,
            fmt::format("%{} has {} elements, the step takes {}", program_.value(view.value).name, elements,
                        element_count(taken)));
  }

  const Program& program_;
  RankValues& values_;
  const int64_t rank_;
  const Step* step_ = nullptr;
};

// The expressions that the numbers of a step come from.
std::vector<sym::Expr> expressions(const Program& program, const Step& step) {
  std::vector<sym::Expr> out;
  const auto add = [&](const std::vector<sym::Expr>& exprs) { out.insert(out.end(), exprs.begin(), exprs.end()); };
  for (const auto& views : {operands(step), results(step)})
    for (const View& view : views) {
      add(program.value(view.value).shape);
      add(view.extents);
      add(view.strides);
      out.push_back(view.offset);
    }
  if (const auto* collective = as<CollectiveStep>(step))
    add({collective->outer, collective->count, collective->total, collective->inner, collective->middle,
         collective->scattered, collective->scattered_total, collective->start, collective->taken});
  if (const auto* collective = as<CollectiveStep>(step))
    for (const auto* list : {&collective->totals, &collective->held, &collective->wanted}) add(*list);
  std::erase_if(out, [](sym::Expr e) { return !e; });
  return out;
}

void check_team_of(const Program& program, RankValues& values, const CollectiveStep& step, int64_t first,
                   const Team& inside, int64_t alike) {
  const CutNumbers mine = Binder(program, values, first).cut(step);
  int64_t sum = 0, scattered = 0, held = 0;
  bool agrees = true;
  for (int64_t member : program.devices.team(first, inside)) {
    const CutNumbers other = Binder(program, values, member).cut(step);
    sum += other.count;
    scattered += other.scattered;
    held += other.held.first.count * other.held.second.count;
    agrees = agrees && other.outer == mine.outer && other.total == mine.total && other.inner == mine.inner &&
             other.middle == mine.middle && other.scattered_total == mine.scattered_total &&
             other.totals == mine.totals;
  }
  const bool adds_up =
      !info(step.collective).has_pieces() || (sum * alike == mine.total && scattered * alike == mine.scattered_total &&
                                              held * alike == mine.totals[0] * mine.totals[1]);
  const std::string_view problem = !agrees    ? "members disagree on a view"
                                   : !adds_up ? "counts do not make the total"
                                              : "";
  if (!problem.empty())
    throw InternalError(std::string(problem),
                        fmt::format("program @{}, team of rank {}, {}", program.name, first, describe(program, step)),
                        "");
}

// The members of every team agree on a collective's view, and their counts make its total. Ranks that differ along axes
// that no number of the step depends on have the same.
void check_teams(const Program& program, RankValues& values) {
  for (const auto& each : program.steps) {
    const auto* step = as<CollectiveStep>(*each);
    if (!step) continue;
    const Team depends = values.axes(expressions(program, *step));
    Team inside, outside;  // of the team
    int64_t alike = 1;
    for (int axis : step->team.axes)
      depends.has(axis) ? inside.axes.push_back(axis) : void(alike *= program.devices.size(axis));
    for (int axis : depends.axes)
      if (!step->team.has(axis)) outside.axes.push_back(axis);
    for (int64_t first : program.devices.team(0, outside)) check_team_of(program, values, *step, first, inside, alike);
  }
}
void check_plan(const Program& program, std::span<const Lifetime> alive, const RankBinding& rank) {
  const auto [a, b] = shared_while_alive(rank.memory, alive, rank.bytes);
  if (a >= 0)
    throw InternalError(fmt::format("%{} and %{} share bytes of the arena and are not ordered", program.values[a].name,
                                    program.values[b].name),
                        fmt::format("program @{}, rank {}", program.name, rank.rank), "");
}

}  // namespace

std::vector<RankBinding> bind_ranks(const Program& program, RankValues& values, std::span<const int64_t> ranks) {
  const std::vector<Lifetime> alive = lifetimes(program);
  std::vector<RankBinding> out;
  for (int64_t rank : ranks) {
    const RankBinding* before = out.empty() ? nullptr : &out.back();
    RankBinding next = Binder(program, values, rank).run();
    if (before && before->bytes == next.bytes) {
      next.memory = before->memory;
    } else {
      next.memory = plan_memory(alive, next.bytes);
      check_plan(program, alive, next);
    }
    out.push_back(std::move(next));
  }
  check_teams(program, values);
  return out;
}

std::vector<RankBinding> bind(const Program& program, const sym::Environment& sizes) {
  RankValues values(program, sizes);
  std::vector<int64_t> all(static_cast<size_t>(program.devices.ranks()));
  std::iota(all.begin(), all.end(), 0);
  return bind_ranks(program, values, all);
}

BoundStep bind_step(const Program& program, RankValues& values, int64_t rank, size_t step) {
  return Binder(program, values, rank).step(*program.steps.at(step));
}

CutNumbers cut_numbers(const Program& program, RankValues& values, int64_t rank, const CollectiveStep& step) {
  return Binder(program, values, rank).cut(step);
}

std::vector<int64_t> ranks_that_differ(const Program& program, RankValues& values, const Step& step) {
  std::vector<int64_t> out;
  for (const std::vector<int64_t>& ranks : values.classes(expressions(program, step))) out.push_back(ranks[0]);
  return out;
}

MovedBytes moved_bytes(const RankBinding& rank) {
  MovedBytes out{0, rank.input_bytes + rank.output_bytes};
  for (const BoundStep& step : rank.steps) out.moved += step.moved_bytes;
  return out;
}

namespace {

// "rank 3", "ranks 0 to 2, 5"; ascending.
std::string rank_ranges(const std::vector<int64_t>& ranks) {
  std::string out;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", ranks[i]);
    if (end - i > 1) out += fmt::format(" to {}", ranks[end - 1]);
    i = end;
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + out;
}

}  // namespace

std::vector<RankMemoryClass> memory_classes(const Program& program, RankValues& values) {
  const std::vector<Lifetime> alive = lifetimes(program);
  check_teams(program, values);
  std::vector<sym::Expr> extents;
  for (const ProgramValue& value : program.values)
    extents.insert(extents.end(), value.shape.begin(), value.shape.end());
  std::vector<RankMemoryClass> out;
  for (const std::vector<int64_t>& ranks : values.classes(extents)) {
    RankBinding& rank = out.emplace_back(RankMemoryClass{rank_ranges(ranks), {}}).first;
    rank.rank = ranks[0];
    Binder(program, values, ranks[0]).bind_values(rank);
    rank.memory = plan_memory(alive, rank.bytes);
    check_plan(program, alive, rank);
  }
  return out;
}

std::string print_memory(const Program& program, RankValues& values) {
  const std::vector<Lifetime> alive = lifetimes(program);
  std::string out;
  for (const auto& [ranks, rank] : memory_classes(program, values)) {
    out += fmt::format("{}: arena {} bytes (alive at once {}), inputs {}, outputs {}, peak {}\n", ranks,
                       rank.memory.arena_bytes, rank.memory.live_bytes, rank.input_bytes, rank.output_bytes,
                       rank.peak_bytes());
    for (size_t v = 0; v < program.values.size(); ++v) {
      if (alive[v].empty()) continue;
      out += fmt::format("  %{}: {} bytes at {}, steps {} to {}\n", program.values[v].name, rank.bytes[v],
                         rank.memory.offsets[v], alive[v].first, alive[v].last);
    }
  }
  return out;
}

}  // namespace plait
