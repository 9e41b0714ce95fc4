#include "run/binding.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace plait {
namespace {

// Evaluates for one rank.
class Binder {
 public:
  Binder(const Program& program, const sym::Environment& environment) : program_(program), environment_(environment) {}

  RankBinding run(int64_t rank) {
    RankBinding out;
    out.rank = rank;
    for (const ProgramValue& value : program_.values) bind_value(value, out);
    out.steps.reserve(program_.steps.size());
    for (const auto& step : program_.steps) {
      step_ = step.get();
      BoundStep& bound = out.steps.emplace_back();
      bind_views(out, bound);
      visit(*step, [&](const auto& typed) { bind_step(typed, out, bound); });
      bound.moved_bytes = moved_by(out, bound);
    }
    return out;
  }

 private:
  int64_t value_of(sym::Expr expr) const { return expr ? sym::evaluate(expr, environment_) : 1; }

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

  std::vector<int64_t> values_of(const std::vector<sym::Expr>& exprs) const {
    std::vector<int64_t> out;
    for (sym::Expr expr : exprs) out.push_back(value_of(expr));
    return out;
  }
  int64_t offset_of(const View& view) const { return view.offset ? value_of(view.offset) : 0; }
  std::vector<int64_t> extents_of(const View& view, const RankBinding& out) const {
    return view.extents.empty() ? out.shapes[view.value.index] : values_of(view.extents);
  }
  std::vector<int64_t> strides_of(const View& view, const RankBinding& out) const {
    return view.strides.empty() ? row_major_strides(extents_of(view, out)) : values_of(view.strides);
  }

  int64_t bytes_of(const View& view, const RankBinding& out) const {
    const std::vector<int64_t> extents = extents_of(view, out), strides = strides_of(view, out);
    int64_t bytes = int64_t(size_of(program_.value(view.value).dtype));
    for (size_t d = 0; d < extents.size(); ++d) bytes *= strides[d] == 0 && extents[d] > 0 ? 1 : extents[d];
    return bytes;
  }

  int64_t moved_by(const RankBinding& out, const BoundStep& bound) const {
    if (bound.skipped) return 0;
    std::vector<View> views = results(*step_);
    if (step_->kind == StepKind::CopyStep) return 2 * bytes_of(views[0], out);
    if (const auto* launch = as<LaunchStep>(*step_); launch != nullptr)
      if (const auto& taken = program_.kernels[launch->kernel.index].taken; !taken.empty()) {
        int64_t bytes = 0;
        size_t i = 0;
        for (const auto* list : {&launch->inputs, &launch->outputs, &launch->workspaces})
          for (const View& view : *list) bytes += taken[i++] * bytes_of(view, out);
        return bytes;
      }
    if (!bound.zero_fill)
      for (const View& view : operands(*step_))
        if (std::find(views.begin(), views.end(), view) == views.end()) views.push_back(view);
    int64_t bytes = 0;
    for (const View& view : views) bytes += bytes_of(view, out);
    return bytes;
  }

  // Places the views, and checks that they are inside of their values.
  void bind_views(const RankBinding& out, BoundStep& bound) const {
    std::vector<View> views = operands(*step_);
    for (const View& view : results(*step_)) views.push_back(view);
    bool placed = false;
    for (const View& view : views) {
      int64_t offset = offset_of(view);
      check_inside(view, offset, out);
      if (element_count(extents_of(view, out)) == 0) offset = 0;  // it may begin behind its value
      bound.offsets.push_back(offset * int64_t(size_of(program_.value(view.value).dtype)));
      placed = placed || offset != 0;
    }
    if (!placed) bound.offsets.clear();
  }

  void check_inside(const View& view, int64_t offset, const RankBinding& out) const {
    const std::vector<int64_t> extents = extents_of(view, out), strides = strides_of(view, out);
    int64_t last = offset;
    bool fits = offset >= 0, empty = false;
    for (size_t d = 0; d < extents.size(); ++d) {
      int64_t length;
      fits = fits && extents[d] >= 0 && strides[d] >= 0;
      empty = empty || extents[d] == 0;
      fits = fits && !__builtin_mul_overflow(extents[d] - (empty ? 0 : 1), strides[d], &length) &&
             !__builtin_add_overflow(last, length, &last);
    }
    const int64_t elements = element_count(out.shapes[view.value.index]);
    require(fits && (empty || last < elements),
            fmt::format("a view outside of %{}, which has {} elements", program_.value(view.value).name, elements));
  }

  void bind_step(const AllocStep&, const RankBinding&, BoundStep& bound) const { bound.skipped = true; }
  void bind_step(const RecordStep&, const RankBinding&, BoundStep&) const {}
  void bind_step(const WaitStep&, const RankBinding&, BoundStep&) const {}

  void bind_step(const LaunchStep& step, const RankBinding&, BoundStep& bound) const {
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

  void bind_step(const LibraryStep& step, const RankBinding& out, BoundStep& bound) const {
    const std::vector<int64_t> extents = extents_of(step.out, out), of_a = extents_of(step.a, out),
                               of_b = extents_of(step.b, out);
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
      strides[i] = strides_of(*views[i], out);
      *places[i] = {strides[i][dims], strides[i][dims + 1], offset_of(*views[i]),
                    std::span<const int64_t>(strides[i]).first(dims)};
    }
    bound.skipped = element_count(extents) == 0;
    bound.zero_fill = numbers.k == 0;
    bound.integers = bound.skipped ? numbers.integers() : simplify_contraction(numbers.integers());
  }

  template <class T>
  void bind_view(const T& step, BoundStep& bound) const {
    bound.outer = value_of(step.outer);
    bound.count = value_of(step.count);
    bound.total = value_of(step.total);
    bound.inner = value_of(step.inner);
    require(std::min({bound.outer, bound.count, bound.total, bound.inner, bound.start}) >= 0, "a negative extent");
    require(bound.start <= bound.total && bound.count <= bound.total - bound.start, "a slice past its tensor");
  }

  void bind_step(const CopyStep& step, const RankBinding& out, BoundStep& bound) const {
    bound.start = step.start ? value_of(step.start) : 0;
    bind_view(step, bound);
    require_elements(out, step.in, {bound.outer, bound.total, bound.inner});
    require_elements(out, step.out, {bound.outer, bound.count, bound.inner});
    bound.skipped = element_count(extents_of(step.out, out)) == 0;
  }

  void bind_step(const CollectiveStep& step, const RankBinding& out, BoundStep& bound) const {
    if (!info(step.collective).has_pieces()) {
      bound.count = bound.total = element_count(extents_of(step.in, out));
      require_elements(out, step.out, {bound.total});
      return;
    }
    bind_view(step, bound);
    if (step.collective == Collective::gather_range) {
      bound.start = value_of(step.start);
      bound.taken = value_of(step.taken);
      require(bound.start >= 0 && bound.taken >= 0 && bound.taken <= bound.total - bound.start, "a range past its dim");
      require_elements(out, step.in, {bound.outer, bound.count, bound.inner});
      require_elements(out, step.out, {bound.outer, bound.taken, bound.inner});
      return;
    }
    if (step.collective == Collective::all_to_all) {
      bound.middle = value_of(step.middle);
      bound.scattered = value_of(step.scattered);
      bound.scattered_total = value_of(step.scattered_total);
      require(std::min({bound.middle, bound.scattered, bound.scattered_total}) >= 0, "a negative extent");
      const int64_t rest = bound.outer * bound.middle * bound.inner;
      require_elements(out, step.in, {rest, bound.count, bound.scattered_total});
      require_elements(out, step.out, {rest, bound.total, bound.scattered});
      return;
    }
    const bool piece_in = info(step.collective).takes == Held::piece;
    require_elements(out, piece_in ? step.in : step.out, {bound.outer, bound.count, bound.inner});
    require_elements(out, piece_in ? step.out : step.in, {bound.outer, bound.total, bound.inner});
  }

  void require(bool condition, std::string_view what) const {
    if (!condition)
      throw InternalError(std::string(what), fmt::format("program @{}, {}", program_.name, describe(program_, *step_)),
                          "");
  }
  void require_elements(const RankBinding& out, const View& view, const std::vector<int64_t>& taken) const {
    const int64_t elements = element_count(extents_of(view, out));
    require(element_count(taken) == elements,
            fmt::format("%{} has {} elements, the step takes {}", program_.value(view.value).name, elements,
                        element_count(taken)));
  }

  const Program& program_;
  const sym::Environment& environment_;
  const Step* step_ = nullptr;
};

// The members of every team agree on a collective's view, and their counts make its total.
void check_teams(const Program& program, std::span<const RankBinding> ranks) {
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const auto* step = as<CollectiveStep>(*program.steps[s]);
    if (!step) continue;
    const bool pieces = info(step->collective).has_pieces();
    for (const RankBinding& rank : ranks) {
      if (program.devices.first_of_team(rank.rank, step->team) != rank.rank) continue;
      const BoundStep& mine = rank.steps[s];
      int64_t sum = 0, scattered = 0;
      bool agrees = true;
      for (int64_t member : program.devices.team(rank.rank, step->team)) {
        const BoundStep& other = ranks[member].steps[s];
        sum += other.count;
        scattered += other.scattered;
        agrees = agrees && other.outer == mine.outer && other.total == mine.total && other.inner == mine.inner &&
                 other.middle == mine.middle && other.scattered_total == mine.scattered_total;
      }
      const bool adds_up = !pieces || (sum == mine.total && scattered == mine.scattered_total);
      const std::string_view problem = !agrees    ? "members disagree on a view"
                                       : !adds_up ? "counts do not make the total"
                                                  : "";
      if (!problem.empty())
        throw InternalError(
            std::string(problem),
            fmt::format("program @{}, team of rank {}, {}", program.name, rank.rank, describe(program, *step)), "");
    }
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

std::vector<RankBinding> bind(const Program& program, const sym::Environment& sizes) {
  sym::Environment environment = sizes;
  const auto& axes = program.mesh.axes();
  for (size_t i = 0; i < axes.size(); ++i)
    if (!axes[i].symbol.empty()) environment[axes[i].symbol] = program.devices.size(int(i));
  const std::vector<Lifetime> alive = lifetimes(program);
  std::vector<RankBinding> out;
  for (int64_t rank = 0; rank < program.devices.ranks(); ++rank) {
    const std::vector<int64_t> at = program.devices.coordinates(rank);
    for (size_t i = 0; i < axes.size(); ++i) environment["rank." + axes[i].name] = at[i];
    sym::check_facts(*program.pool, environment);
    out.push_back(Binder(program, environment).run(rank));
    const bool same = rank > 0 && out[rank - 1].bytes == out[rank].bytes;
    out[rank].memory = same ? out[rank - 1].memory : plan_memory(alive, out[rank].bytes);
    if (!same) check_plan(program, alive, out[rank]);
  }
  check_teams(program, out);
  return out;
}

MovedBytes moved_bytes(const RankBinding& rank) {
  MovedBytes out{0, rank.input_bytes + rank.output_bytes};
  for (const BoundStep& step : rank.steps) out.moved += step.moved_bytes;
  return out;
}

std::string print_memory(const Program& program, std::span<const RankBinding> ranks) {
  const std::vector<Lifetime> alive = lifetimes(program);
  std::string out;
  for (const RankBinding& rank : ranks) {
    out += fmt::format("rank {}: arena {} bytes (alive at once {}), inputs {}, outputs {}, peak {}\n", rank.rank,
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
