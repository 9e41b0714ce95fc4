#include "support/planted_shard_bugs.h"

#include <algorithm>

#include "graph/rewrite.h"

namespace plait::testing {
namespace {

// Edits each op of a kind.
template <class T, class Edit>
int each(Fusion& fusion, Edit edit) {
  int places = 0;
  for (Op* op : fusion.ops())
    if (auto* node = as<T>(*op)) places += edit(*node) ? 1 : 0;
  return places;
}

// An op that merges statistics from parts, by what its result is called behind `_part`.
bool is_of_parts(const PointwiseOp& op, Pointwise function, bool floats) {
  return op.function == function && op.out()->name.find("_part") != std::string::npos &&
         is_float(op.out()->dtype) == floats;
}

template <Pointwise from, Pointwise to, bool floats>
int in_parts(Fusion& fusion) {
  return each<PointwiseOp>(fusion, [](PointwiseOp& op) {
    if (!is_of_parts(op, from, floats)) return false;
    op.function = to;
    return true;
  });
}

int start_halos_late(Fusion& fusion) {
  return each<GatherRange>(fusion, [](GatherRange& op) {
    op.start = sym::max(sym::min(op.start + 1, op.total - op.taken), 0);
    return true;
  });
}

int start_halos_early(Fusion& fusion) {
  return each<GatherRange>(fusion, [](GatherRange& op) {
    op.start = sym::max(op.start - 1, 0);
    return true;
  });
}

// Of the second dim, which the first one's pieces go to.
int start_blocks_early(Fusion& fusion) {
  return each<GatherBlock>(fusion, [](GatherBlock& op) {
    op.wanted[2] = sym::max(op.wanted[2] - 1, 0);
    return true;
  });
}

int swap_exchanged_dims(Fusion& fusion) {
  return each<AllToAll>(fusion, [](AllToAll& op) {
    op.scattered_first = !op.scattered_first;
    return true;
  });
}

template <class T>
int reverse_teams(Fusion& fusion) {
  return each<T>(fusion, [](T& op) {
    std::ranges::reverse(op.team.axes);
    return op.team.axes.size() > 1;
  });
}

int reverse_gathers(Fusion& fusion) { return reverse_teams<AllGather>(fusion) + reverse_teams<ReduceScatter>(fusion); }

int reduce_otherwise(Fusion& fusion) {
  const auto other = [](auto& op) {
    op.reduce = op.reduce == ReduceOp::sum ? ReduceOp::max : ReduceOp::sum;
    return true;
  };
  return each<AllReduce>(fusion, other) + each<ReduceScatter>(fusion, other);
}

int gather_by_columns(Fusion& fusion) {
  return each<AllGather>(fusion, [](AllGather& op) {
    std::swap(op.outer, op.inner);
    return true;
  });
}

template <class T>
int look_up_from_zero(Fusion& fusion) {
  return each<T>(fusion, [&](T& op) {
    if (op.range.empty()) return false;
    op.range[0] = fusion.pool().constant(0);
    return true;
  });
}

int look_up_everywhere(Fusion& fusion) {
  return look_up_from_zero<Gather>(fusion) + look_up_from_zero<IndexSelect>(fusion) +
         look_up_from_zero<Scatter>(fusion);
}

// A function of one operand that is not linear is taken of the summands.
int reduce_too_late(Fusion& fusion) {
  int places = 0;
  Rewriter rewriter(fusion);
  rewriter.run([&](Op* op) {
    auto* f = as<PointwiseOp>(*op);
    auto* sum = f && f->in.size() == 1 && f->in[0]->definition ? as<AllReduce>(*f->in[0]->definition) : nullptr;
    const bool linear = f && (f->function == Pointwise::neg || f->function == Pointwise::cast);
    if (!sum || linear || fusion.readers(sum->out()).size() != 1) return rewriter.keep(op);
    TensorView* summand = rewriter.pointwise(f->function, {sum->in}, "early");
    auto late = std::make_unique<AllReduce>();
    late->in = summand, late->team = sum->team, late->reduce = sum->reduce;
    rewriter.emit_as(std::move(late), f->out());
    ++places;
  });
  return places;
}

// What is whole is added to each summand, as if a sum passed that on: ranks add it as often as they are.
int add_on_every_rank(Fusion& fusion) {
  int places = 0;
  Rewriter rewriter(fusion);
  rewriter.run([&](Op* op) {
    auto* f = as<PointwiseOp>(*op);
    const bool adds = f && f->function == Pointwise::add;
    auto* sum = adds && f->in[0]->definition ? as<AllReduce>(*f->in[0]->definition) : nullptr;
    if (!sum || f->in[0]->shape() != f->out()->shape() || f->in[1]->dtype != f->out()->dtype) return rewriter.keep(op);
    TensorView* summand = rewriter.pointwise(f->function, {sum->in, f->in[1]}, "early");
    auto late = std::make_unique<AllReduce>();
    late->in = summand, late->team = sum->team, late->reduce = sum->reduce;
    rewriter.emit_as(std::move(late), f->out());
    ++places;
  });
  return places;
}

// Ranks that have some of a scatter's updates each start from the operand.
int start_from_all(Fusion& fusion) {
  return each<Scatter>(fusion, [](Scatter& op) {
    const auto* choice = op.in->definition ? as<PointwiseOp>(*op.in->definition) : nullptr;
    if (!choice || choice->function != Pointwise::where || op.in->name.find("_part") == std::string::npos) return false;
    replace_input(op, op.in, choice->in[1]);
    return true;
  });
}

// Places of several lanes are put together without their high parts' own place.
int lose_lanes(Fusion& fusion) {
  return each<PointwiseOp>(fusion, [](PointwiseOp& op) {
    if (!is_of_parts(op, Pointwise::bitwise_or, false)) return false;
    op.function = Pointwise::add;
    replace_input(op, op.in[0], op.in[1]);
    return true;
  });
}

// What was joined for one collective is taken from its front.
int take_first_of_bucket(Fusion& fusion) {
  return each<Slice>(fusion, [&](Slice& op) {
    if (op.in->name.find("_bucket_") == std::string::npos || op.start.constant() == 0) return false;
    op.stop = op.stop - op.start;
    op.start = fusion.pool().constant(0);
    return true;
  });
}

// An op reads a tensor as it was before a step of a reshard.
int forget_reshards(Fusion& fusion) {
  int places = 0;
  for (Op* op : fusion.ops()) {
    const auto* reshard = as<Reshard>(*op);
    if (!reshard || fusion.is_output(op->out())) continue;
    TensorView* before = reshard->in;
    for (Op* reader : std::vector<Op*>(fusion.readers(op->out()))) {
      replace_input(*reader, op->out(), before);
      ++places;
    }
  }
  return places;
}

// The winner of a conflict is said to be cut as the loser is.
int cut_results_otherwise(Fusion& fusion) {
  int places = 0;
  for (Op* op : fusion.ops())
    for (TensorView* t : op->results) {
      if (t->rank() < 2 || as<Reshard>(*op) || fusion.is_output(t)) continue;
      auto& dims = t->layout.dims;
      if (dims[0].pieces == dims[1].pieces) continue;
      std::swap(dims[0].pieces, dims[1].pieces);
      ++places;
    }
  return places;
}

// Edits the lists of each reshape's result that have several pieces.
template <class Edit>
int each_regrouped(Fusion& fusion, Edit edit) {
  int places = 0;
  for (Op* op : fusion.ops()) {
    if (!as<Reshape>(*op)) continue;
    for (DimLayout& dim : op->out()->layout.dims) {
      const DimLayout before = dim;
      edit(dim);
      places += dim != before;
    }
  }
  return places;
}

int forget_parts(Fusion& fusion) {
  return each_regrouped(fusion, [](DimLayout& dim) { std::erase_if(dim.pieces, &Piece::is_local); });
}

int join_in_reverse(Fusion& fusion) {
  return each_regrouped(fusion, [](DimLayout& dim) {
    if (!dim.pieces.empty() && !dim.pieces.front().is_local()) std::ranges::reverse(dim.pieces);
  });
}

constexpr ShardBug kShardBugs[] = {
    {"late_halo", "localize", start_halos_late},           // a range starts one element too late
    {"early_halo", "localize", start_halos_early},         // or too early
    {"early_block", "localize", start_blocks_early},       // so does a block
    {"exchanged_dims", "localize", swap_exchanged_dims},   // an all-to-all takes one dim for the other
    {"reversed_team", "localize", reverse_gathers},        // members of several axes in the wrong order
    {"other_reduction", "localize", reduce_otherwise},     // sums are taken for maxima
    {"gathered_columns", "localize", gather_by_columns},   // pieces stand side by side along another dim
    {"lookup_from_zero", "localize", look_up_everywhere},  // each rank answers for the first places
    {"late_reduction", "localize", reduce_too_late},       // a function that is not linear passes a pending sum on
    {"added_by_all", "localize", add_on_every_rank},       // a sum passes on the addition of what is whole
    {"started_by_all", "localize", start_from_all},        // each rank's scatter counts the operand
    {"lost_lanes", "localize", lose_lanes},                // positions are put together without their low parts
    {"less_stays", "localize", in_parts<Pointwise::ge, Pointwise::le, false>},  // what is here stays where it is less
    {"first_of_bucket", "bucket_collectives", take_first_of_bucket},  // joined tensors are taken from the front
    {"forgotten_reshard", "insert_reshards", forget_reshards},
    {"lost_winner", "propagate", cut_results_otherwise},       // results have other pieces than their ops give
    {"forgotten_parts", "insert_reshards", forget_parts},      // what a reshape joins loses the parts it lies in
    {"reversed_regroup", "insert_reshards", join_in_reverse},  // or has its pieces from the innermost on
    {"unclipped_part", "localize", in_parts<Pointwise::min, Pointwise::max, false>},  // the last members count too many
    {"place_in_part", "localize", in_parts<Pointwise::add, Pointwise::sub, false>},   // places count from elsewhere
    {"own_total", "localize", in_parts<Pointwise::lt, Pointwise::le, false>},         // a scan adds its own total twice
    {"means_together", "localize", in_parts<Pointwise::sub, Pointwise::add, true>},   // of distances between means
    {"unweighed_part", "localize", in_parts<Pointwise::mul, Pointwise::add, true>},   // all members weigh the same
};

}  // namespace

std::span<const ShardBug> planted_shard_bugs() { return kShardBugs; }

}  // namespace plait::testing
