// The norm scheduler on GPUs: a block has a row, or several, or some columns.
#include <algorithm>

#include "axes/transforms.h"
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
constexpr int64_t kLeastOfThread = 4;      // elements of a column, or the block has fewer threads

// What fits `bytes`, an access of memory, in the narrowest tensor of whole rows, and divides the extent.
int64_t choose_access(const Problem& problem, const Rows& rows, sym::Expr extent, int64_t bytes) {
  constexpr int64_t kMost = 8;
  int64_t least = 8;
  for (const auto* list : {&problem.segment.inputs, &problem.segment.outputs})
    for (const TensorView* t : *list)
      if (rows.has_place(*t) && rows.is_wide(*t)) least = std::min(least, static_cast<int64_t>(size_of(t->dtype)));
  int64_t vector = std::min(std::max<int64_t>(bytes / least, 1), kMost);
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

// Whether the threads of a row keep what several passes read of it, each its vectors, in registers.
void choose_keep(const Problem& problem, Rows& rows, const schedules::Norm& pinned, schedules::Norm& out) {
  const int64_t together = *out.vector * *out.threads;
  const auto refuse = [&](const std::string& why) {
    if (pinned.keep.value_or(0) > 0)
      throw UserError(fmt::format("keep = {} does not apply: {}", *pinned.keep, why), problem.where(), "leave it out");
  };
  if (pinned.keep == 0 || pinned.split.value_or(0) > 0) return refuse("rows are split");
  const auto count = static_cast<int64_t>(rows.read_again(problem.segment.inputs).size());
  if (count == 0) return refuse("no pass reads again what another one has read");
  if (rows.row_begin() > 0) return refuse("a row lies in several pieces");
  const auto turns = [](const Op* op) { return is_scan(op->kind) && scan_of(*op)->reverse; };
  if (std::any_of(problem.segment.ops.begin(), problem.segment.ops.end(), turns))
    return refuse("a scan from the end gives threads other elements than other passes do");
  const std::vector<int> dims = rows.reduced_dims();
  for (size_t i = 1; i < dims.size(); ++i)  // places in the row are numbers of its elements where no dim is empty
    if (dims[i] >= 0 && !sym::proven(sym::gt(rows.row(i, i + 1), 0))) return refuse("inner dims of a row may be empty");
  const auto fits = [&](int64_t vectors) {
    return count * *out.vector * vectors <= kRegisters && problem.decide(sym::le(rows.row(0), together * vectors));
  };
  if (pinned.keep || pinned.parts) {
    const int64_t parts = pinned.parts.value_or(pinned.keep.value_or(0) / together);
    if (parts < 1 || parts > kMostVectors || pinned.keep.value_or(together * parts) != together * parts || !fits(parts))
      return refuse(fmt::format("a thread keeps whole vectors of a row, at most {} and of {} registers in all",
                                kMostVectors, kRegisters));
    out.keep = together * parts;
    out.parts = parts;
    return;
  }
  for (int64_t parts : {int64_t{1}, int64_t{2}, kVectorsOfThread, kMostVectors}) {
    const bool is_known = longest(rows.row(0)) <= together * parts;
    if (!is_known && parts < (*out.threads == kFewThreads ? 2 : kVectorsOfThread)) continue;  // no class more
    if (!fits(parts)) continue;
    out.keep = together * parts;
    out.parts = parts;
    return;
  }
}

void choose_rows(const Problem& problem, Rows& rows, const schedules::Norm& pinned, schedules::Norm& out) {
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
  choose_keep(problem, rows, pinned, out);
  if (out.keep) return;
  out.keep = 0;
  const int64_t of_thread = longest(row) / (*out.vector * *out.threads);
  out.parts = pinned.parts ? pinned.parts : has_sums(problem) && of_thread > kTermsOfThread ? kTermsOfThread : 1;
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
  if (norm == nullptr || norm->rows != 1 || !norm->threads) return std::nullopt;
  const Rows rows = rows_of(problem);
  if (!rows.is_row() || !sym::proven(sym::le(rows.kept_extent(), 1))) return std::nullopt;
  return norm->threads;
}

schedules::Norm choose_norm_of_gpu(const Problem& problem, const schedules::Norm& pinned) {
  Rows rows = rows_of(problem);
  schedules::Norm out;
  if (!rows.is_row() && pinned.keep.value_or(0) > 0)
    throw UserError(fmt::format("keep = {} does not apply to columns", *pinned.keep), problem.where(), "leave it out");
  out.split = pinned.split;
  rows.is_row() ? choose_rows(problem, rows, pinned, out) : choose_columns(problem, rows, pinned, out);
  const int64_t block = *out.rows * *out.threads;
  if (block % kWarpThreads != 0 || block > kMostBlock || power_above(*out.rows) != *out.rows)
    throw UserError(fmt::format("{} rows of {} threads are no block", *out.rows, *out.threads), problem.where(),
                    fmt::format("powers of two whose product is {} to {}", kWarpThreads, kMostBlock));
  return out;
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
  if (registers * (*numbers.keep / *numbers.threads) <= kRegisters) out.merge(computed);
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
