#include "shard/own_cost.h"

#include <algorithm>
#include <map>

#include "mesh/collective_cost.h"
#include "shard/gather_ranges.h"
#include "shard/merge_parts.h"
#include "shard/normal_form.h"
#include "shard/reshard_plan.h"

namespace plait {
namespace {

constexpr int64_t kMostAsked = 16;  // ranks, of more some that lie as far apart

std::vector<Piece> without_local(std::vector<Piece> pieces) {
  std::erase_if(pieces, [](const Piece& p) { return p.is_local(); });
  return pieces;
}

// Of all dims at once.
double merge_cost(const Op& op, const Assignment& a) {
  std::vector<Piece> pieces;
  for (size_t f = 0; f < a.factors.size(); ++f)
    if (a.factors[f].kind == FactorKind::merge)
      pieces.insert(pieces.end(), a.claims[f].pieces.begin(), a.claims[f].pieces.end());
  pieces = without_local(pieces);
  const TensorView& t = *op.results[0];
  const auto bytes = pieces.empty() ? std::nullopt : at_defaults(*t.fusion, exchanged_bytes(op));
  if (!bytes) return 0;
  const int64_t members = members_of(t, pieces);
  return collective_cost(Collective::all_gather, members, static_cast<double>(*bytes) * static_cast<double>(members),
                         link_cost(t.fusion->mesh(), team_of(pieces).axes));
}

struct Range {
  int64_t start = 0, count = 0;
  int64_t shared(const Range& other) const {
    return std::max<int64_t>(0, std::min(start + count, other.start + other.count) - std::max(start, other.start));
  }
};

// Of one dim along which an op takes ranges.
class RangeCost {
 public:
  RangeCost(const Op& op, const Assignment& a, size_t dim)
      : op_(op), assignment_(a), dim_(dim), fusion_(*op.out()->fusion), in_(inputs(op)) {}

  double cost() {
    const auto length = at_defaults(fusion_, op_.out()->extent(dim_));
    const std::vector<Piece>& own = pieces_of(assignment_.results[0]);
    if (!length || (!own.empty() && own.front().is_local())) return 0;
    std::vector<sym::Expr> extents;
    for (const TensorView* t : in_) {
      const auto extent = at_defaults(fusion_, t->extent(dim_));
      if (!extent) return 0;
      extents.push_back(constant(*extent));
    }
    double out = 0;
    for (size_t i = 0; i < in_.size(); ++i) out += of_operand(i, extents, *length);
    return out;
  }

 private:
  using Places = std::map<int, int64_t>;  // of a rank, by mesh axis

  const std::vector<Piece>& pieces_of(const Layout& layout) const { return layout.dims[dim_].pieces; }
  sym::Expr constant(int64_t value) const { return fusion_.pool().constant(value); }

  // What is whole is cut where it lies.
  double of_operand(size_t i, const std::vector<sym::Expr>& extents, int64_t length) {
    std::vector<Piece> held = pieces_of(assignment_.operands[i]);
    if (held.empty() || pieces_of(in_[i]->layout).empty()) return 0;
    Range part = {0, *extents[i].constant()};  // that pieces are cut from
    if (held.front().is_local()) {
      const auto around = part_around(op_, held.front().local);
      if (!around) return 0;
      part.count /= held.front().local;
      part.start = *around * part.count;
      held.erase(held.begin());
    }
    std::vector<double> most;  // bytes of one rank, by the ranges of the operand
    const std::vector<Piece>& given = pieces_of(assignment_.results[0]);
    for (const Places& places : some_ranks(held, given)) {
      const Range out = range_of(given, {0, length}, places), own = range_of(held, part, places);
      const auto needed = needed_ranges(op_, dim_, extents, {constant(out.start), constant(out.count)})[i];
      most.resize(needed.size());
      for (size_t k = 0; k < needed.size(); ++k) {
        const auto start = at_defaults(fusion_, needed[k].start), count = at_defaults(fusion_, needed[k].count);
        if (!start || !count) return 0;
        const Range taken = {*start, *count};
        most[k] = std::max(most[k], static_cast<double>(taken.count - taken.shared(own)) * row_bytes(i));
      }
    }
    const LinkCost link = link_cost(fusion_.mesh(), team_of(held).axes);
    double out = 0;
    for (double bytes : most) out += link.latency + link.per_byte * std::max(kLeastPayloadBytes, bytes);
    return out;
  }

  // Of one place along the dim.
  double row_bytes(size_t i) const {
    double out = static_cast<double>(size_of(in_[i]->dtype));
    for (size_t d = 0; d < in_[i]->rank(); ++d)
      if (d != dim_)
        out *= static_cast<double>(at_defaults(fusion_, in_[i]->extent(d)).value_or(1)) /
               static_cast<double>(members_of(*in_[i], without_local(assignment_.operands[i].dims[d].pieces)));
    return out;
  }

  std::vector<Places> some_ranks(const std::vector<Piece>& held, const std::vector<Piece>& given) const {
    std::map<int, int64_t> members;
    int64_t all = 1;
    for (const auto* pieces : {&held, &given})
      for (const Piece& p : *pieces)
        if (const int64_t n = members_of(*op_.out(), p.mesh_axis); members.emplace(p.mesh_axis, n).second) all *= n;
    std::vector<Places> out;
    const int64_t asked = std::min(all, kMostAsked);
    for (int64_t k = 0; k < asked; ++k) {
      int64_t rank = asked == 1 ? 0 : k * (all - 1) / (asked - 1);
      Places& places = out.emplace_back();
      for (const auto& [axis, n] : members) {
        places[axis] = rank % n;
        rank /= n;
      }
    }
    return out;
  }

  Range range_of(const std::vector<Piece>& pieces, Range out, const Places& places) const {
    for (const Piece& p : pieces) {
      const int64_t chunk = out.count == 0 ? 0 : chunk_size(out.count, members_of(*op_.out(), p.mesh_axis), p.granule);
      const int64_t before = std::min(out.count, chunk * places.at(p.mesh_axis));
      out = {out.start + before, std::min(chunk, out.count - before)};
    }
    return out;
  }

  const Op& op_;
  const Assignment& assignment_;
  const size_t dim_;
  const Fusion& fusion_;
  const std::vector<TensorView*> in_;
};

}  // namespace

double own_cost(const Op& op, const Assignment& assignment) {
  double out = merge_cost(op, assignment);
  if (!gathers_ranges(op)) return out;
  for (size_t d = 0; d < op.out()->rank(); ++d) {
    const auto moves = [&](size_t f) {
      const Factor& factor = assignment.factors[f];
      return factor.kind == FactorKind::permute && !assignment.claims[f].pieces.empty() &&
             std::ranges::count(factor.operand_dim, static_cast<int>(d)) > 0;
    };
    bool some = false;
    for (size_t f = 0; f < assignment.factors.size(); ++f) some = some || moves(f);
    if (some) out += RangeCost(op, assignment, d).cost();
  }
  return out;
}

}  // namespace plait
