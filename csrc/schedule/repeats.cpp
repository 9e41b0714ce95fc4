#include "schedule/repeats.h"

#include <algorithm>

#include "base/error.h"
#include "schedule/moved.h"

namespace plait {

namespace {

constexpr int64_t kEach[] = {8, 4, 2};
// Threads that a multiprocessor has at least where each has several rows: 16 bytes of so many, several times, are under
// way at once.
constexpr int64_t kLeastThreads = 512;

// The length of the row from dim `split` on; nothing where it is not known.
std::optional<int64_t> known_row(const Segment& segment, int split) {
  const TensorView& reference = *reference_tensor(segment);
  int64_t out = 1;
  for (auto d = static_cast<size_t>(split); d < reference.rank(); ++d) {
    const auto extent = reference.extent(d).constant();
    if (!extent || *extent == 0 || *extent > (int64_t{1} << 20) || out > (int64_t{1} << 40)) return std::nullopt;
    out *= *extent;
  }
  return out;
}

// Bytes of operands that rows along the dim share, of an element of the row.
int64_t shared_bytes(const std::vector<MemoryRead>& reads, int dim, int split) {
  int64_t out = 0;
  for (const MemoryRead& r : reads) {
    const bool along_row = std::any_of(r.dims.begin(), r.dims.end(), [&](int d) { return d >= split; });
    const bool known = std::none_of(r.dims.begin(), r.dims.end(), [](int d) { return d < 0; });
    if (known && along_row && std::find(r.dims.begin(), r.dims.end(), dim) == r.dims.end())
      out += static_cast<int64_t>(size_of(r.input->dtype));
  }
  return out;
}

// Why the segment is no kernel that reads each operand where it lies; empty where it is one, or some operand lacks dims
// and all ops are elementwise.
std::string no_repeats(const Segment& segment) {
  if (has_moves(segment.ops)) return "";
  const size_t all = memory_dims(*reference_tensor(segment)).size();
  const bool lacking = std::any_of(segment.inputs.begin(), segment.inputs.end(),
                                   [&](const TensorView* t) { return t->rank() > 0 && memory_dims(*t).size() < all; });
  if (!lacking) return "every operand has each element once";
  for (const Op* op : segment.ops)
    if (property(op->kind) == OpProperty::creation && op->kind != OpKind::Full)
      return fmt::format("%{} counts along the row", op->out()->name);
  return reason_of(moved_refuses(segment.ops, segment.outputs)).value_or("");
}

void check_pinned(const Problem& problem, const schedules::Pointwise& numbers) {
  const auto refuse = [&](const std::string& what, const std::string& help) {
    throw UserError(what + " does not apply", problem.where(), help);
  };
  if (!numbers.pieces && !numbers.along && !numbers.each) return;
  if (const std::string why = no_repeats(problem.segment); !why.empty())
    refuse(numbers.pieces ? "pieces" : numbers.along ? "along" : "each", why);
  if (numbers.along.has_value() != numbers.each.has_value())
    refuse(numbers.along ? "along" : "each",
           "along and each go together: a dim, and how many of its rows a thread has");
  if (numbers.along && *numbers.along >= *numbers.split)
    refuse(fmt::format("along = {}", *numbers.along),
           fmt::format("the dims before the row are those below split = {}", *numbers.split));
  const int64_t pieces = numbers.pieces.value_or(1), lanes = numbers.vector.value_or(1) * numbers.unroll.value_or(1);
  const auto row = known_row(problem.segment, static_cast<int>(*numbers.split));
  if (pieces > 1 && (!row || *row % (pieces * lanes) != 0))
    refuse(fmt::format("pieces = {}", pieces), "the row's length is a known multiple of pieces * vector * unroll");
}

// The outer dim, before dim `split`, of which rows share the most bytes of operands, of those that 8, 4 or 2 divide,
// and the largest of these numbers; nothing where no rows share any.
struct RepeatedRows {
  int dim = 0;
  int64_t each = 1;
};
std::optional<RepeatedRows> repeated_rows(const TensorView& reference, const std::vector<MemoryRead>& reads,
                                          int split) {
  std::optional<RepeatedRows> out;
  std::pair<int64_t, int64_t> best = {0, 0};
  for (int d = 0; d < split; ++d) {
    const int64_t divisor = sym::divisor(reference.extent(static_cast<size_t>(d)));
    const auto each = std::find_if(std::begin(kEach), std::end(kEach), [&](int64_t k) { return divisor % k == 0; });
    if (each == std::end(kEach) || divisor == 0) continue;
    const std::pair<int64_t, int64_t> worth = {shared_bytes(reads, d, split), *each};
    if (worth.first == 0 || worth < best) continue;
    best = worth;
    out = RepeatedRows{d, *each};
  }
  return out;
}

// Of how many pieces a row of the length is, where an input is read at several of them; 1 where none is.
int64_t pieces_of_row(const Segment& segment, const std::vector<MemoryRead>& reads, int64_t row) {
  constexpr int64_t kHalves = 2;
  if (row % kHalves != 0) return 1;
  if (std::none_of(reads.begin(), reads.end(),
                   [](const MemoryRead& r) { return !r.dims.empty() && r.dims.back() < 0; }))
    return 1;
  // A half is somewhere a row of its own: of a reshape, a slice, what a cat puts together.
  const auto is_half = [&](const TensorView* t) {
    return t->rank() > 0 && t->extent(t->rank() - 1).constant() == row / kHalves;
  };
  for (const Op* op : segment.ops)
    for (const TensorView* t : inputs(*op))
      if (is_half(t)) return kHalves;
  return 1;
}

}  // namespace

void choose_repeats(const Problem& problem, const Target& target, schedules::Pointwise& numbers) {
  check_pinned(problem, numbers);
  if (!no_repeats(problem.segment).empty()) return;
  const int cut = static_cast<int>(*numbers.split);
  const int64_t lanes = *numbers.vector * *numbers.unroll;
  const TensorView& reference = *reference_tensor(problem.segment);
  const std::vector<MemoryRead> reads = memory_reads(problem.segment);
  if (const auto row = known_row(problem.segment, cut); row && !numbers.pieces) {
    const int64_t pieces = pieces_of_row(problem.segment, reads, *row);
    if (pieces > 1 && *row % (pieces * lanes) == 0) numbers.pieces = pieces;
  }
  const auto rows = numbers.along ? std::nullopt : repeated_rows(reference, reads, cut);
  if (!rows) return;
  sym::Expr elements = problem.fusion.pool().constant(1);
  for (size_t d = 0; d < reference.rank(); ++d) elements = elements * reference.extent(d);
  const int64_t of_thread = lanes * numbers.pieces.value_or(1);
  for (int64_t each : kEach) {
    if (each > rows->each) continue;
    const int64_t least = each * of_thread * kLeastThreads * std::max(target.multiprocessors, 1);
    if (problem.decide(sym::le(problem.fusion.pool().constant(least), elements))) {
      numbers.along = rows->dim;
      numbers.each = each;
      return;
    }
    if (!elements.is_constant()) return;  // one question of sizes
  }
}

}  // namespace plait
