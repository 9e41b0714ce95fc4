#pragma once
// Random fusions of what schedulers fuse, as text: what fails is replayed by `plait run FILE --check`.
#include <cstdint>
#include <string>

namespace plait::testing {

// One segment of reductions over the same dims of tensors of one shape, with elementwise ops before, between and behind
// them, by random numbers of schedule norm: rows, columns, dims that lie apart. Sizes a, b, n.
struct RandomRows {
  std::string text;
  bool split = false;  // rows are shared by tasks
};
RandomRows random_rows(uint64_t seed);
RandomRows random_rows_of_gpus(uint64_t seed);  // the same by numbers that blocks of threads have

// Moves and lookups with elementwise ops and now and then a reduction among them. Sizes a, b, c.
std::string random_moves(uint64_t seed);

// What a fusion has most of, beside elementwise ops.
enum class FusionKind : uint8_t { reductions, norms, moves, lookups, scatters, scans };
inline constexpr int kFusionKinds = 6;
std::string_view name(FusionKind kind);

struct RandomFusion {
  std::string text;  // sizes a in 1..9, b in 1..999, c in 1..99999
  FusionKind kind = FusionKind::reductions;
  bool exact = false;  // integers stay integers
};
// All kinds by turns; two ops of each fusion are those whose turn it is, of all that users name, so that none is rare.
RandomFusion random_fusion(uint64_t seed);

}  // namespace plait::testing
