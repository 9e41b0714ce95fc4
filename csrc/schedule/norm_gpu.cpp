// The norm scheduler on GPUs: a block has a row, or several, or some columns.
#include <algorithm>

#include "axes/transforms.h"
#include "schedule/moved.h"
#include "schedule/norm.h"
#include "schedule/norm_rows.h"

namespace plait {

using namespace norm;

namespace {

constexpr int64_t kWarpThreads = 32;
constexpr int64_t kMostBlock = 1024;
constexpr int64_t kVectorsOfThread = 4;
constexpr int64_t kTermsOfThread = 8;      // vectors that a thread adds one after another, so that tasks may be small
constexpr int64_t kRegisters = 64;         // of a thread, for rows that stay there between passes
constexpr int64_t kMostVectors = 8;        // of a row, for each thread that keeps them
constexpr int64_t kBlock = 128;            // threads of a block of short rows
constexpr int64_t kWideBlock = 256;        // of longer ones: more blocks are busy at once than with kLongBlock
constexpr int64_t kLongBlock = 512;        // of the longest
constexpr int64_t kFewThreads = 4;         // of a row, where it has at most two vectors for each
constexpr int64_t kScanned = 4;            // elements of a row that a thread scans at once, at least
constexpr int64_t kColumns = 32;           // vectors of columns side by side: a warp
constexpr int64_t kTall = 16;              // threads of a column
constexpr int64_t kState = 8;              // bytes of a value of a state, at most
constexpr int64_t kMostShared = 48 << 10;  // bytes that any GPU has for a block without asking
constexpr int kFirstWithClusters = 90;     // compute capability
constexpr int64_t kMostCluster = 8;        // blocks that any of these have together
constexpr int64_t kReserved = 2 << 10;     // of shared memory, for states that threads leave for each other
constexpr int64_t kOfBlock = 1 << 10;      // that the driver takes of each block
constexpr int64_t kColumnsOfThread = 8;    // of which a thread has states, where a block may have so many threads
constexpr int64_t kMostColumnsOfThread = 16;
constexpr int64_t kTasks = 384;        // that sum columns, at least, where they have more than a few rows
constexpr int64_t kBlocks = 1536;      // that rows are left for, where each goes through several
constexpr int64_t kWithWeights = 96;   // registers of a thread, for a row and what is the same for every row
constexpr int64_t kSector = 32;        // bytes that memory moves at once
constexpr int64_t kLeastAligned = 96;  // elements of a row
constexpr int64_t kLeastOfThread = 4;  // elements of a column, or the block has fewer threads

// What fits `bytes`, an access of memory, in the narrowest tensor of whole rows, and 16 in the widest, so that what a
// warp meets at once is one piece; and divides the extent.
int64_t choose_access(const Problem& problem, const Rows& rows, sym::Expr extent, int64_t bytes) {
  constexpr int64_t kMost = 8, kWidest = 16;
  int64_t least = 8, most = 1;
  for (const auto* list : {&problem.segment.inputs, &problem.segment.outputs})
    for (const TensorView* t : *list) {
      if (!rows.has_place(*t) || !rows.is_wide(*t)) continue;
      least = std::min(least, static_cast<int64_t>(size_of(t->dtype)));
      most = std::max(most, static_cast<int64_t>(size_of(t->dtype)));
    }
  int64_t vector = std::min({std::max<int64_t>(bytes / least, 1), kMost, kWidest / most});
  while (vector > 1 && sym::divisor(extent) % vector != 0) vector /= 2;
  return vector;
}

// Threads of a row: so many that each has a few vectors of it.
int64_t choose_threads(const Problem& problem, const Rows& rows, int64_t vector) {
  const sym::Expr row = rows.row(rows.row_begin());
  if (problem.decide(sym::le(row, kFewThreads * vector * 2))) return kFewThreads;
  for (int64_t threads : {kWarpThreads, kBlock, kWideBlock})
    if (problem.decide(sym::le(row, threads * vector * kVectorsOfThread))) return threads;
  return kLongBlock;
}

int64_t power_above(int64_t number) {
  int64_t out = 1;
  while (out < number) out *= 2;
  return out;
}

// Whether the threads of a row keep what several passes read of it, each its vectors, in registers. Those of a cluster
// where one block has too few.
void choose_keep(const Problem& problem, const Target& target, Rows& rows, const schedules::Norm& pinned,
                 schedules::Norm& out) {
  const int64_t of_block = *out.vector * *out.threads;
  const auto refuse = [&](const std::string& why) {
    if (pinned.keep.value_or(0) > 0)
      throw UserError(fmt::format("keep = {} does not apply: {}", *pinned.keep, why), problem.where(), "leave it out");
    if (pinned.cluster.value_or(1) > 1)
      throw UserError(fmt::format("cluster = {} does not apply: {}", *pinned.cluster, why), problem.where(),
                      "leave it out");
  };
  if (pinned.keep == 0) return refuse("keep = 0");
  if (pinned.split.value_or(0) > 0) return refuse("rows are split");
  const auto count = static_cast<int64_t>(rows.read_again(problem.segment.inputs).size());
  if (count == 0) return refuse("no pass reads again what another one has read");
  if (rows.row_begin() > 0) return refuse("a row lies in several pieces");
  const auto turns = [](const Op* op) { return is_scan(op->kind) && scan_of(*op)->reverse; };
  if (std::any_of(problem.segment.ops.begin(), problem.segment.ops.end(), turns))
    return refuse("a scan from the end gives threads other elements than other passes do");
  const std::vector<int> dims = rows.reduced_dims();
  for (size_t i = 1; i < dims.size(); ++i)  // places in the row are numbers of its elements where no dim is empty
    if (dims[i] >= 0 && !sym::proven(sym::gt(rows.row(i, i + 1), 0))) return refuse("inner dims of a row may be empty");
  const int64_t in_front = out.align.value_or(1) - 1;  // places of no element
  const auto fits = [&](int64_t blocks, int64_t vectors) {
    return count * *out.vector * vectors <= kRegisters &&
           problem.decide(sym::le(rows.row(0) + in_front, of_block * blocks * vectors));
  };
  const auto keep = [&](int64_t blocks, int64_t vectors) {
    out.keep = of_block * blocks * vectors;
    out.parts = vectors;
    if (blocks > 1) out.cluster = blocks;
  };
  const bool clusters = target.compute_capability() >= kFirstWithClusters && out.rows == 1 && !rows.scans() &&
                        *out.threads >= kWarpThreads;
  if (pinned.cluster.value_or(1) > 1 && !clusters)
    return refuse(target.compute_capability() < kFirstWithClusters ? "clusters are of sm_90 and later"
                  : rows.scans()                                   ? "rows are scanned"
                  : out.rows != 1                                  ? "a block has several rows"
                                                                   : "a block has less than a warp for a row");
  if (pinned.keep || pinned.parts) {
    const int64_t blocks = pinned.cluster.value_or(1), all = of_block * blocks;
    const int64_t parts = pinned.parts.value_or(pinned.keep.value_or(0) / all);
    if (parts < 1 || parts > kMostVectors || pinned.keep.value_or(all * parts) != all * parts || !fits(blocks, parts))
      return refuse(fmt::format("a thread keeps whole vectors of a row, at most {} and of {} registers in all",
                                kMostVectors, kRegisters));
    return keep(blocks, parts);
  }
  int64_t most = kMostVectors;  // that the registers of a thread hold
  while (most > 1 && count * *out.vector * most > kRegisters) most /= 2;
  const int64_t first = pinned.cluster.value_or(1), last = clusters && !pinned.cluster ? kMostCluster : first;
  for (int64_t blocks = first; blocks <= last; blocks *= 2) {
    for (int64_t parts : {int64_t{1}, int64_t{2}, kVectorsOfThread, kMostVectors}) {
      const bool is_known = longest(rows.row(0)) + in_front <= of_block * blocks * parts;
      const int64_t least = blocks > 1 ? most : *out.threads == kFewThreads ? 2 : kVectorsOfThread;
      if (!is_known && parts < least) continue;  // no class more
      if (fits(blocks, parts)) return keep(blocks, parts);
    }
    if (pinned.cluster) return refuse("the row is longer");
  }
}

// Whether the op reduces to positions.
bool finds_positions(const Op& op) {
  const auto* reduce = as<Reduce>(op);
  return op.kind == OpKind::MaxWithArgmax || op.kind == OpKind::MinWithArgmin ||
         (reduce != nullptr && finds_index(reduce->function));
}

// Why threads do not take rows from a multiple of `align` elements on; empty: they may.
std::string refuses_align(const Problem& problem, const Rows& rows, const schedules::Norm& numbers, int64_t align) {
  const sym::Expr row = rows.row(0);
  const auto turns = [](const Op* op) { return is_scan(op->kind) && scan_of(*op)->reverse; };
  const int64_t vector = *numbers.vector, once = vector * *numbers.threads;
  if (!rows.is_row() || rows.row_begin() > 0 || rows.reduced_dims().size() != 1) return "a row is not one dim";
  if (has_moves(problem.segment.ops)) return "there are moves";
  if (std::ranges::any_of(problem.segment.ops, turns)) return "rows are scanned from the end";
  if (numbers.split.value_or(0) > 0 || numbers.cluster.value_or(1) > 1) return "several blocks have a row";
  if (numbers.shared.value_or(0) > 0) return "rows lie in shared memory";
  if (numbers.each.value_or(1) > 1) return "threads keep what is the same for every row";
  const auto finds = [](const Op* op) { return finds_positions(*op); };
  if (vector > 1 && rows.scans() && std::ranges::any_of(problem.segment.ops, finds))
    return "positions are found beside a scan of vectors";
  if (align % vector != 0) return fmt::format("it is no multiple of vector = {}", vector);
  if (vector > 1 && (!rows.scans() || sym::divisor(row) % vector == 0)) return "rows are whole vectors";
  if (longest(row) <= once && longest(row) + align - 1 > once) return "threads have one part of a row, which it fills";
  return "";
}

// Elements of a sector of memory in the narrowest tensor, where rows begin anywhere in one. Not of short rows.
void choose_align(const Problem& problem, const Rows& rows, const schedules::Norm& pinned, schedules::Norm& out) {
  if (pinned.align || pinned != schedules::Norm{.vector = pinned.vector, .threads = pinned.threads}) return;
  int64_t least = 8;
  for (const auto* list : {&problem.segment.inputs, &problem.segment.outputs})
    for (const TensorView* t : *list)
      if (rows.has_place(*t) && rows.is_wide(*t)) least = std::min(least, static_cast<int64_t>(size_of(t->dtype)));
  const int64_t align = kSector / least;
  if (sym::divisor(rows.row(0)) % align == 0 || !refuses_align(problem, rows, out, align).empty()) return;
  if (problem.decide(sym::ge(rows.row(0), kLeastAligned))) out.align = align;
}

void choose_rows(const Problem& problem, const Target& target, Rows& rows, const schedules::Norm& pinned,
                 schedules::Norm& out) {
  const sym::Expr row = rows.row(rows.row_begin());
  out.vector = pinned.vector ? pinned.vector : choose_access(problem, rows, row, 16);
  if (!pinned.vector && rows.scans())  // threads tell each other once a vector, whether or not it is one in memory
    out.vector = std::max(*out.vector, power_above(std::min(kScanned, longest(row))));
  out.threads = pinned.threads ? pinned.threads : choose_threads(problem, rows, *out.vector);
  const bool one = sym::proven(sym::le(rows.kept_extent(), 1));             // which has no loop
  const int64_t least = std::max<int64_t>(kWarpThreads / *out.threads, 1);  // a block has whole warps
  const int64_t most = std::clamp<int64_t>(std::min(longest(rows.kept_extent()), kBlock), 1, kBlock);
  out.rows = pinned.rows ? pinned.rows
             : one       ? 1
                         : std::max(least, std::min(kBlock / std::min(*out.threads, kBlock), power_above(most)));
  if (one && least > 1 && !pinned.threads) out.threads = kWarpThreads;
  if (one && *out.rows > 1)
    throw UserError(fmt::format("rows = {} does not apply: there is one row", *out.rows), problem.where(),
                    "leave it out");
  choose_align(problem, rows, pinned, out);
  choose_keep(problem, target, rows, pinned, out);
  if (out.keep) return;
  out.keep = 0;
  const int64_t of_thread = longest(row) / (*out.vector * *out.threads);
  out.parts = pinned.parts ? pinned.parts : has_sums(problem) && of_thread > kTermsOfThread ? kTermsOfThread : 1;
}

// Rows of a block, one after another, and threads that each have a state for the same columns of all of them.
void choose_column_sums(const Problem& problem, Rows& rows, const schedules::Norm& pinned, schedules::Norm& out) {
  const sym::Expr row = rows.row(0);
  out.rows = 1;
  out.vector = pinned.vector ? pinned.vector : choose_access(problem, rows, row, 16);
  const auto fits = [&](int64_t elements) { return problem.decide(sym::le(row, elements)); };
  out.threads = pinned.threads;
  for (int64_t threads : {kWarpThreads, kBlock, kWideBlock, kLongBlock, kMostBlock})
    if (!out.threads && (threads == kMostBlock || fits(threads * std::max(*out.vector, kColumnsOfThread))))
      out.threads = threads;
  const int64_t together = *out.vector * *out.threads;
  const int64_t most = std::max<int64_t>(kColumnsOfThread / *out.vector, 1);
  out.parts = pinned.parts ? *pinned.parts : std::clamp<int64_t>((longest(row) - 1) / together + 1, 1, most);
  const std::string why =
      pinned.rows.value_or(1) != 1 || pinned.cluster.value_or(1) != 1 ? "a block has one row after another"
      : *out.threads < kWarpThreads || *out.vector * *out.parts > kMostColumnsOfThread || !fits(together * *out.parts)
          ? fmt::format("threads do not have rows of {} elements", sym::print(row))
          : "";
  if (!why.empty())
    throw UserError(fmt::format("sums of columns beside rows: {}", why), problem.where(),
                    "give other numbers, or none");
  if (pinned.shared.value_or(0) > 0)
    throw UserError(fmt::format("shared = {} does not apply: threads have states of the columns", *pinned.shared),
                    problem.where(), "leave it out");
  const auto count = static_cast<int64_t>(rows.read_again(problem.segment.inputs).size());
  const bool kept = count > 0 && count * *out.vector * *out.parts <= kRegisters && pinned.keep != 0;
  out.keep = kept ? together * *out.parts : 0;
  if (pinned.keep.value_or(0) > 0 && pinned.keep != out.keep)
    throw UserError(
        fmt::format("keep = {} does not apply: a block keeps {} elements of a row", *pinned.keep, *out.keep),
        problem.where(), "leave it out");
  out.each = pinned.each;
  for (int64_t each : {1024, 256, 64, 16, 8, 4})
    if (!out.each && (each == 4 || problem.decide(sym::ge(rows.kept_extent(), each * kTasks)))) out.each = each;
}

// Rows of a block, one group of them after another, so that what is the same for every row is read once for all.
void choose_each(const Problem& problem, Rows& rows, const schedules::Norm& pinned, schedules::Norm& out) {
  const auto weights = std::ranges::count_if(
      problem.segment.inputs, [&](const TensorView* t) { return rows.has_place(*t) && rows.is_of_every_row(*t); });
  const auto kept = static_cast<int64_t>(rows.read_again(problem.segment.inputs).size());
  const int64_t registers = (weights + kept) * *out.vector * out.parts.value_or(1);
  const std::string why = weights == 0                ? "nothing is the same for every row"
                          : out.keep.value_or(0) == 0 ? "the row is not in registers"
                          : rows.scans()              ? "rows are scanned"
                          : registers > kWithWeights
                              ? fmt::format("threads would keep {} elements, at most {}", registers, kWithWeights)
                              : "";
  if (pinned.each.value_or(1) > 1 && !why.empty())
    throw UserError(fmt::format("each = {} does not apply: {}", *pinned.each, why), problem.where(), "leave it out");
  out.each = pinned.each;
  if (out.each || !why.empty()) return;
  for (int64_t each : {16, 4})
    if (!out.each && problem.decide(sym::ge(rows.kept_extent(), each * kBlocks * *out.rows))) out.each = each;
}

// At most, of all reductions of the segment together.
int64_t bytes_of_states(const Problem& problem) {
  int64_t out = 0;
  for (const Op* op : problem.segment.ops) {
    if (!is_reduction(*op)) continue;
    const auto* reduce = as<Reduce>(*op);
    out += reduce == nullptr ? 4 * kState : finds_index(reduce->function) ? 2 * kState : kState;
  }
  return out;
}

void choose_columns(const Problem& problem, const Rows& rows, const schedules::Norm& pinned, schedules::Norm& out) {
  const TensorView& result = *rows.reference()->results[0];
  const sym::Expr column = result.extent(static_cast<size_t>(*rows.column()));
  out.vector = pinned.vector ? pinned.vector : choose_access(problem, rows, column, 4);
  const bool one = sym::proven(sym::le(rows.kept_extent(), *out.vector));  // which has no loop
  const bool scans = rows.scans();                                         // one thread has a column then
  const int64_t side_by_side = scans ? 4 * kColumns : kColumns;
  out.rows = pinned.rows ? pinned.rows : one && !scans ? 1 : side_by_side;
  int64_t tall = scans ? 1 : one ? kWarpThreads : kTall;
  if (scans && pinned.threads.value_or(1) > 1)
    throw UserError(fmt::format("threads = {} does not apply: a thread scans a column", *pinned.threads),
                    problem.where(), "leave it out");
  while (!one && tall > 1 && tall / 2 * kLeastOfThread >= longest(rows.row(0))) tall /= 2;
  out.threads = pinned.threads ? pinned.threads : tall;
  const int64_t state = bytes_of_states(problem);  // of a lane, that threads leave for each other
  const auto shared = [&] { return *out.threads > 1 ? *out.rows * *out.threads * *out.vector * state : 0; };
  while (shared() > kMostShared && *out.vector > 1 && !pinned.vector) out.vector = *out.vector / 2;
  while (shared() > kMostShared && *out.threads > 1 && !pinned.threads && !one) out.threads = *out.threads / 2;
  if (shared() > kMostShared)
    throw UserError(fmt::format("columns of {} lanes and {} threads need {} bytes of shared memory", *out.vector,
                                *out.threads, shared()),
                    problem.where(), fmt::format("a block has {}: give fewer", kMostShared));
  out.parts = pinned.parts                                                        ? pinned.parts
              : has_sums(problem) && longest(rows.row(0)) / *out.threads > kTerms ? kTerms
                                                                                  : 1;
}

}  // namespace

std::optional<int64_t> threads_of_single_row(const Problem& problem) {
  const auto* norm = std::get_if<schedules::Norm>(&problem.segment.schedule);
  if (norm == nullptr || norm->rows != 1 || !norm->threads || norm->cluster.value_or(1) > 1) return std::nullopt;
  const Rows rows = rows_of(problem);
  if (!rows.is_row() || !sym::proven(sym::le(rows.kept_extent(), 1))) return std::nullopt;
  return norm->threads;
}

schedules::Norm choose_norm_of_gpu(const Problem& problem, const Target& target, const schedules::Norm& pinned) {
  Rows rows = rows_of(problem);
  schedules::Norm out;
  if (!rows.is_row() && pinned.keep.value_or(0) > 0)
    throw UserError(fmt::format("keep = {} does not apply to columns", *pinned.keep), problem.where(), "leave it out");
  out.split = pinned.split;
  out.align = pinned.align;
  if (!rows.is_row() && pinned.cluster.value_or(1) > 1)
    throw UserError(fmt::format("cluster = {} does not apply to columns", *pinned.cluster), problem.where(),
                    "leave it out");
  if (!rows.column_sums().empty()) {
    choose_column_sums(problem, rows, pinned, out);
    return out;
  }
  out.shared = pinned.shared;
  rows.is_row() ? choose_rows(problem, target, rows, pinned, out) : choose_columns(problem, rows, pinned, out);
  choose_each(problem, rows, pinned, out);
  const int64_t block = *out.rows * *out.threads;
  if (block % kWarpThreads != 0 || block > kMostBlock || power_above(*out.rows) != *out.rows)
    throw UserError(fmt::format("{} rows of {} threads are no block", *out.rows, *out.threads), problem.where(),
                    fmt::format("powers of two whose product is {} to {}", kWarpThreads, kMostBlock));
  return out;
}

namespace {

// What several passes read of inputs; nothing where rows do not lie in one piece.
std::vector<TensorView*> shareable(const Problem& problem, Rows& rows) {
  if (!rows.is_row() || rows.row_begin() > 0 || rows.scans()) return {};
  return rows.read_again(problem.segment.inputs);
}

}  // namespace

void settle_align(const Problem& problem, bool is_pinned, schedules::Norm& numbers) {
  if (numbers.align.value_or(1) == 1) return;
  const std::string why = refuses_align(problem, rows_of(problem), numbers, *numbers.align);
  if (why.empty()) return;
  if (is_pinned)
    throw UserError(fmt::format("align = {} does not apply: {}", *numbers.align, why), problem.where(), "leave it out");
  numbers.align.reset();
}

void choose_shared(const Problem& problem, const Target& target, bool parts_are_pinned, schedules::Norm& numbers) {
  Rows rows = rows_of(problem);
  const sym::Expr row = rows.row(0);
  int64_t bytes = 0;  // of an element of a row
  for (const TensorView* t : shareable(problem, rows)) bytes += static_cast<int64_t>(size_of(t->dtype));
  const bool whole = numbers.keep.value_or(0) == 0 && numbers.split.value_or(0) == 0 && numbers.rows == 1 &&
                     sym::divisor(row) % *numbers.vector == 0;
  const int64_t vectors = *numbers.vector * *numbers.threads;
  // What each of so many blocks of a multiprocessor may have, in whole parts of so many vectors of all threads.
  const auto elements = [&](int64_t blocks, int64_t parts) {
    const int64_t of_block = (target.shared_bytes + kOfBlock) / blocks - kOfBlock - kReserved;
    return of_block / bytes / (vectors * parts) * vectors * parts;
  };
  if (const int64_t pinned = numbers.shared.value_or(0); pinned > 0) {
    std::string why;
    if (bytes == 0)
      why = "no pass reads again what another one has read in one piece";
    else if (!whole)
      why = "a block has one whole row, which is in no registers";
    else if (pinned % (vectors * *numbers.parts) != 0)
      why = fmt::format("they are no whole parts of {} elements", vectors * *numbers.parts);
    else if (pinned > elements(1, *numbers.parts))
      why = fmt::format("{} fit", elements(1, *numbers.parts));
    else if (!problem.decide(sym::le(row, pinned)))
      why = "rows are longer";
    if (why.empty()) return;
    throw UserError(fmt::format("shared = {} does not apply: {}", pinned, why), problem.where(), "leave it out");
  }
  if (numbers.shared == 0 || bytes == 0 || !whole) return;
  const int64_t least = parts_are_pinned ? *numbers.parts : 1;
  if (!problem.decide(sym::le(row, elements(1, least)))) return;
  // The last part, which may be nearly empty, has its place too.
  const int64_t known = row.constant().value_or(elements(1, least));
  const auto whole_parts = [&](int64_t parts) {
    return (known + vectors * parts - 1) / (vectors * parts) * vectors * parts;
  };
  int64_t parts = *numbers.parts;
  while (parts > least && whole_parts(parts) > elements(1, parts)) parts /= 2;
  numbers.parts = parts;
  numbers.shared = row.constant() ? whole_parts(parts) : elements(1, parts);
  if (row.constant()) return;
  for (int64_t blocks : {3, 2}) {
    if (!problem.decide(sym::le(row, elements(blocks, parts)))) continue;
    numbers.shared = elements(blocks, parts);
    return;
  }
}

namespace {

std::set<const TensorView*> keep_inputs(ScheduledGroup& group) {
  Fusion& graph = *group.graph;
  const std::vector<TensorView*> again = rows_of(group).read_again(graph.inputs());
  std::set<const TensorView*> out;
  std::vector<Op*> order;
  for (TensorView* t : again) {
    const std::vector<Op*> readers(graph.ops());
    Op* op = copy_of(graph, *t, "_kept");
    order.push_back(op);
    for (Op* reader : readers)
      if (!group.reads.contains(reader)) replace_input(*reader, t, op->out());
    out.insert(op->out());
  }
  for (Op* op : graph.ops())
    if (std::find(order.begin(), order.end(), op) == order.end()) order.push_back(op);
  graph.set_order(std::move(order));
  return out;
}

}  // namespace

std::set<const TensorView*> keep_rows(ScheduledGroup& group, const schedules::Norm& numbers) {
  std::set<const TensorView*> out = keep_inputs(group);
  std::set<const TensorView*> computed = rows_of(group).worth_keeping();
  std::erase_if(computed, [](const TensorView* t) { return is_scan(t->definition->kind); });
  int64_t registers = 0;  // of an element of each
  for (const auto* list : {&out, &computed})
    for (const TensorView* t : *list) registers += size_of(compute_type(t->dtype)) > 4 ? 2 : 1;
  const int64_t of_thread = *numbers.keep / (*numbers.threads * numbers.cluster.value_or(1));
  if (registers * of_thread <= kRegisters) out.merge(computed);
  return out;
}

std::set<const TensorView*> share_rows(ScheduledGroup& group, const schedules::Norm& numbers) {
  std::set<const TensorView*> out = keep_inputs(group);
  for (const TensorView* t : out) group.panels[t] = {.row = *numbers.shared, .filled = false};
  return out;
}

std::set<const Op*> copy_around_scans(ScheduledGroup& group) {
  Fusion& graph = *group.graph;
  std::set<const Op*> stored;
  std::vector<Op*> order;
  std::vector<TensorView*> outputs = graph.outputs();
  for (Op* op : std::vector<Op*>(graph.ops())) {
    const auto scan = scan_of(*op);
    if (!scan || group.reads.contains(op)) {
      order.push_back(op);
      continue;
    }
    auto* in = const_cast<TensorView*>(scan->in);
    if (in->definition == nullptr || group.reads.contains(in->definition)) {
      order.push_back(copy_of(graph, *in, "_scanned"));
      replace_input(*op, in, order.back()->out());
    }
    order.push_back(op);
    for (TensorView*& t : outputs) {
      if (std::find(op->results.begin(), op->results.end(), t) == op->results.end()) continue;
      order.push_back(copy_of(graph, *t, "_store"));
      t = order.back()->out();
      stored.insert(op);
    }
  }
  graph.set_order(std::move(order));
  graph.set_outputs(std::move(outputs));
  return stored;
}

bool norm_runs_on(const Target& target) { return target.kind == TargetKind::cpu || target.threads_cooperate(); }

}  // namespace plait
