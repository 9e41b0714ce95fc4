// The norm scheduler on GPUs: a block has a row.
#include "schedule/norm.h"
#include "schedule/norm_rows.h"

namespace plait {

using namespace norm;

namespace {

// Of GPUs: what fits the bytes of one access of memory in the narrowest tensor of whole rows.
int64_t choose_access(const Problem& problem, const Rows& rows, int64_t row) {
  constexpr int64_t kBytes = 16, kMost = 8;
  int64_t least = 8;
  for (const auto* list : {&problem.segment.inputs, &problem.segment.outputs})
    for (const TensorView* t : *list)
      if (rows.is_wide(*t)) least = std::min(least, static_cast<int64_t>(size_of(t->dtype)));
  int64_t vector = std::min(kBytes / least, kMost);
  while (vector > 1 && vector / 2 >= row) vector /= 2;
  return vector;
}

// A block has a row: so many threads that each has a few vectors of it.
int64_t choose_threads(const Problem& problem, const Rows& rows, int64_t vector) {
  constexpr int64_t kVectorsOfThread = 4;
  for (int64_t threads : {32, 128})
    if (problem.decide(sym::le(rows.row(rows.row_begin()), threads * vector * kVectorsOfThread))) return threads;
  return 512;
}

}  // namespace

Schedule choose_norm_of_gpu(const Problem& problem, const schedules::Norm& pinned) {
  const Rows rows = rows_of(problem);
  schedules::Norm out;
  const auto refuse = [&](const char* key, const Choice& number, int64_t only) {
    if (number.value_or(only) != only)
      throw UserError(fmt::format("{} = {} does not apply on a GPU, where a block has one row", key, *number),
                      problem.where(), "leave it out");
  };
  refuse("rows", pinned.rows, 1);
  refuse("keep", pinned.keep, 0);
  refuse("split", pinned.split, 0);
  const int64_t row = longest(rows.row(rows.row_begin()));
  out.vector = pinned.vector ? pinned.vector : choose_access(problem, rows, row);
  out.threads = pinned.threads ? pinned.threads : choose_threads(problem, rows, *out.vector);
  const int64_t of_thread = row / (*out.vector * *out.threads);
  out.parts = pinned.parts ? pinned.parts : has_sums(problem) && of_thread > kTerms ? kTerms : 1;
  return out;
}

bool norm_runs_on(const Target& target) {
  return target.kind == TargetKind::cpu || (target.cuda() && target.shared_bytes > 0);
}

std::optional<std::string> norm_refuses_of_gpus(std::span<Op* const> ops, std::span<TensorView* const> outputs) {
  for (const Op* op : ops)
    if (is_scan(op->kind)) return fmt::format("{} is a scan, which a GPU computes alone", describe(*op));
  const std::set<const Op*> reads = find_reads(ops);
  if (!reads.empty()) return fmt::format("{} moves elements, which a GPU does alone", describe(**reads.begin()));
  const Rows rows(ops.front()->results[0]->fusion->pool(), ops, outputs, reads);
  if (rows.reference() == nullptr) return std::nullopt;
  if (rows.row_begin() >= rows.reduced_dims().size())
    return fmt::format("{} reduces dims that are not the innermost in memory", describe(*rows.reference()));
  return std::nullopt;
}

}  // namespace plait
