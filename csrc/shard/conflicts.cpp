#include "shard/conflicts.h"

#include <algorithm>
#include <cmath>

#include "shard/normal_form.h"
#include "shard/reshard_plan.h"

namespace plait {

const TensorView& tensor_at(const Op& op, int index) {
  return index < 0 ? *op.results[result_number(index)] : *inputs(op)[static_cast<size_t>(index)];
}

int dim_in(const Factor& factor, int index) {
  return index < 0 ? factor.result_dim[result_number(index)] : factor.operand_dim[static_cast<size_t>(index)];
}

namespace {

bool has_mesh_piece(const std::vector<Piece>& pieces) {
  return std::any_of(pieces.begin(), pieces.end(), [](const Piece& p) { return !p.is_local(); });
}

bool is_sharded(const Layout& layout) {
  return std::any_of(layout.dims.begin(), layout.dims.end(), [](const auto& d) { return has_mesh_piece(d.pieces); });
}

bool share_an_axis(const std::vector<Piece>& a, const std::vector<Piece>& b) {
  const auto in_b = [&](const Piece& p) {
    return !p.is_local() && std::ranges::any_of(b, [&](const Piece& q) { return q.mesh_axis == p.mesh_axis; });
  };
  return std::ranges::any_of(a, in_b);
}

}  // namespace

Claimants::Claimants(const Op& op, const std::vector<Factor>& factors) : op_(op), factors_(factors) {
  const std::vector<TensorView*> in = inputs(op);
  for (size_t i = 0; i < in.size(); ++i)
    if (is_sharded(in[i]->layout)) all_.push_back(static_cast<int>(i));
  for (size_t r = 0; r < op.results.size(); ++r)
    if (op.results[r]->keeps_layout() && is_sharded(op.results[r]->layout)) all_.push_back(~static_cast<int>(r));
  if (all_.size() < 2) return;
  for (int i : all_) {
    places_.emplace(i, places_of(i));
    own_bytes_.emplace(i, global_bytes(tensor_at(op, i)));
  }
}

std::vector<Claimants::Place> Claimants::places_of(int index) const {
  std::vector<Place> out;
  const TensorView& t = tensor_at(op_, index);
  for (size_t f = 0; f < factors_.size(); ++f)
    if (const int dim = dim_in(factors_[f], index); dim >= 0)
      out.push_back({f, &t.layout.dims[static_cast<size_t>(dim)].pieces});
  return out;
}

std::vector<int> Claimants::order() const {
  std::vector<int> out = all_;
  if (out.size() < 2) return out;
  std::map<int, std::optional<int64_t>> all;
  for (int i : all_) all[i] = bytes(i);
  const bool all_known = std::ranges::all_of(all, [](const auto& each) { return each.second.has_value(); });
  std::stable_sort(out.begin(), out.end(), [&](int a, int b) {
    if (all_known && all[a] != all[b]) return all[a] > all[b];  // what cannot be compared is equal
    return is_parameter(tensor_at(op_, a)) && !is_parameter(tensor_at(op_, b));
  });
  return out;
}

std::vector<int> Claimants::order_behind(int first, std::vector<int> order) const {
  std::ranges::stable_partition(order, [&](int i) { return i == first; });
  std::stable_partition(order.begin() + 1, order.end(), [&](int i) { return agree(first, i); });
  return order;
}

std::optional<int64_t> Claimants::bytes(int index) const {
  int64_t out = 0;
  for (int other : all_) {
    if (other != index && !agree(index, other)) continue;
    const TensorView& t = tensor_at(op_, other);
    const auto all = own_bytes_.empty() ? global_bytes(t) : own_bytes_.at(other);
    if (!all || *all > INT64_MAX / 64) return std::nullopt;
    out += *all * (is_parameter(t) ? kParameterWeight : 1);
  }
  return out;
}

bool Claimants::joined_alike(int a, int b) const {
  return op_.kind == OpKind::Cat && a >= 0 && b >= 0 && tensor_at(op_, a).layout.dims == tensor_at(op_, b).layout.dims;
}

bool Claimants::agree(int a, int b) const {
  if (joined_alike(a, b)) return true;
  const auto found_x = places_.find(a), found_y = places_.find(b);
  const bool known = found_x != places_.end() && found_y != places_.end();
  return known ? agree(found_x->second, found_y->second) : agree(places_of(a), places_of(b));
}

bool Claimants::agree(const std::vector<Place>& x, const std::vector<Place>& y) {
  bool some = false;
  for (size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    if (x[i].factor != y[j].factor) {
      x[i].factor < y[j].factor ? ++i : ++j;
      continue;
    }
    if (*x[i].pieces != *y[j].pieces) return false;
    some = some || has_mesh_piece(*x[i].pieces);
    ++i, ++j;
  }
  return some;
}

bool Claimants::conflict() const {
  for (size_t i = 0; i < all_.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (conflict(all_[i], all_[j])) return true;
  return false;
}

bool Claimants::conflict(int a, int b) const {
  if (joined_alike(a, b)) return false;
  for (const Place& f : places_.at(a)) {
    if (!has_mesh_piece(*f.pieces)) continue;
    for (const Place& g : places_.at(b)) {
      if (!has_mesh_piece(*g.pieces)) continue;
      if (f.factor == g.factor ? *f.pieces != *g.pieces : share_an_axis(*f.pieces, *g.pieces)) return true;
    }
  }
  return false;
}

namespace {

std::optional<double> cost_of_move(const TensorView& t, const Layout& from, const Layout& to) {
  if (from == to || normal_layout(t, from) == normal_layout(t, to)) return 0;
  if (!global_bytes(t)) return std::nullopt;
  return reshard_cost(from, to, reshard_sizes(t));
}

// What an operand costs where it must lie so. One that is stored otherwise than it is computed with has the layout that
// it is computed with for its other readers, too; its one reader pays for that, and not as a move against it.
std::optional<double> cost_of_operand(const TensorView& t, const Layout& to) {
  const double weight = Claimants::is_parameter(t) ? double(kParameterWeight) : 1;
  const auto from = [&](const Layout& layout) { return cost_of_move(t, layout, to); };
  const std::optional<double> computed = from(t.layout);
  if (!computed) return std::nullopt;
  if (!t.stored) return weight * *computed;
  const std::optional<double> held = from(*t.stored);
  if (!held) return std::nullopt;
  if (t.fusion->readers(&t).size() > 1) return weight * std::min(*computed, *held);
  return (*computed == 0 ? 1 : weight) * *held;
}

}  // namespace

std::optional<double> cost_of_moves(const Op& op, const Assignment& assignment) {
  double out = 0;
  const std::vector<TensorView*> in = inputs(op);
  for (size_t i = 0; i < in.size(); ++i) {
    const auto cost = cost_of_operand(*in[i], assignment.operands[i]);
    if (!cost) return std::nullopt;
    out += *cost;
  }
  for (size_t r = 0; r < op.results.size(); ++r) {
    const TensorView& t = *op.results[r];
    Layout to = assignment.results[r];
    t.keeps_layout() ? void(to = t.layout) : to.partial.clear();
    if (!can_reshard(assignment.results[r], to)) return INFINITY;
    const auto cost = cost_of_move(t, assignment.results[r], to);
    if (!cost) return std::nullopt;
    out += *cost;
  }
  return out;
}

}  // namespace plait
