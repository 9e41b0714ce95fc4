#include "schedule/reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "axes/read_through.h"
#include "ir/factors.h"
#include "ir/make_op.h"
#include "ir/op_fields.h"

namespace plait {

namespace {

constexpr int64_t kMostValues = 256;  // that reads compute, at all coordinates that they are asked for
constexpr int64_t kMostAgain = 96;    // operations per element that are done more than once

int64_t cost(const Op& op) {
  if (property(op.kind) == OpProperty::creation) return inputs(op).empty() ? 0 : 64;  // random numbers
  const auto* p = as<PointwiseOp>(op);
  if (p == nullptr) return 0;
  const CostClass kind = info(p->function).cost;
  return kind == CostClass::simple ? 1 : kind == CostClass::division ? 4 : 16;
}

}  // namespace

bool reads_elsewhere(const Op& op) {
  switch (op.kind) {
    case OpKind::Reshape:
    case OpKind::Slice:
    case OpKind::Pad:
    case OpKind::Cat:
    case OpKind::Flip:
    case OpKind::Roll:
    case OpKind::Repeat:
    case OpKind::Gather:
    case OpKind::IndexSelect:
      return true;
    case OpKind::Scatter:
      return places_one(op);
    default:
      return false;
  }
}

bool places_one(const Op& op) {
  const auto* o = as<Scatter>(op);
  if (o == nullptr) return false;
  for (size_t d = 0; d < o->in->rank(); ++d) {
    const bool along = d == static_cast<size_t>(o->dim);
    if (along ? o->index->extent(d).constant() != 1 || !sym::proven(sym::ge(o->in->extent(d), 1))
              : o->index->extent(d) != o->in->extent(d))
      return false;
  }
  return true;
}

bool keeps_places(const Op& op) {
  return op.kind == OpKind::Permute || op.kind == OpKind::Broadcast || op.kind == OpKind::Squeeze ||
         op.kind == OpKind::Unsqueeze;
}

bool may_be_read(const Op& op) { return is_elementwise(op) || keeps_places(op) || reads_elsewhere(op); }

namespace {

// Ops that reductions of the group go into, these among them.
std::set<const Op*> find_reduced(std::span<Op* const> ops) {
  std::set<const Op*> out;
  for (const Op* op : ops) {
    const std::vector<TensorView*> in = inputs(*op);
    const bool after = std::any_of(in.begin(), in.end(), [&](const TensorView* t) {
      return t->definition != nullptr && out.contains(t->definition);
    });
    if (after || combines(*op)) out.insert(op);
  }
  return out;
}

// What reads elsewhere, but the reshapes of `placed`, with all that it is made of.
std::set<const Op*> with_makers(std::span<Op* const> ops, const std::set<const Op*>& placed) {
  std::set<const Op*> out;
  const std::set<const Op*> own(ops.begin(), ops.end());
  for (size_t i = ops.size(); i-- > 0;) {
    const Op& op = *ops[i];
    const bool stays = op.kind == OpKind::Reshape && placed.contains(&op);
    if (reads_elsewhere(op) && !stays) out.insert(&op);
    if (!out.contains(&op)) continue;
    for (const TensorView* t : inputs(op))
      if (t->definition != nullptr && own.contains(t->definition) && may_be_read(*t->definition))
        out.insert(t->definition);
  }
  return out;
}

// Whether reads ask the group's reductions for other elements than those of the row that is computed.
bool reads_other_rows(std::span<Op* const> ops, const std::set<const Op*>& reads) {
  const std::set<const Op*> own(ops.begin(), ops.end());
  for (const Op* op : ops) {
    if (reads.contains(op)) continue;
    for (const ReadThrough& r : read_through(*op, reads)) {
      if (r.tensor->definition == nullptr || !own.contains(r.tensor->definition)) continue;
      for (size_t d = 0; d < r.dims.size(); ++d)
        if (r.dims[d] < 0 && r.tensor->extent(d).constant() != 1) return true;
    }
  }
  return false;
}

}  // namespace

std::set<const Op*> find_reads(std::span<Op* const> ops) {
  std::set<const Op*> out = with_makers(ops, {});
  return out.empty() || !reads_other_rows(ops, out) ? out : with_makers(ops, find_reduced(ops));
}

Refused not_in_place(const Edge& edge) {
  return {fmt::format("{} cannot read %{} in place: {}", describe(*edge.op), edge.operand->name, edge.reason),
          edge.elsewhere ? "move what is in memory already: apply the move to the inputs of what it reads"
                         : "give equal dims one extent in the text, and read no tensor along two dims of one"};
}

std::optional<Refused> reads_cost_too_much(std::span<Op* const> ops, std::span<TensorView* const> outputs,
                                           const std::set<const Op*>& reads) {
  std::map<const Op*, std::set<uint64_t>> asked;  // of a read: coordinates, as the path to them
  for (const TensorView* t : outputs) asked[t->definition].insert(0);
  int64_t values = 0, again = 0;
  for (size_t i = ops.size(); i-- > 0;) {
    const Op& op = *ops[i];
    const bool read = reads.contains(&op);
    const std::set<uint64_t> at = read ? asked[&op] : std::set<uint64_t>{0};
    if (read) {
      values += static_cast<int64_t>(at.size());
      again += (static_cast<int64_t>(at.size()) - 1) * cost(op);
    }
    if (values > kMostValues)
      return Refused{"its moves read at too many places",
                     fmt::format("let fewer moves read what other moves make: at most {} values", kMostValues)};
    if (again > kMostAgain)
      return Refused{fmt::format("{} would be computed again for each of its readers", describe(op)),
                     "nothing: reading it once from memory is cheaper"};
    const std::vector<TensorView*> in = inputs(op);
    for (size_t k = 0; k < in.size(); ++k) {
      if (in[k]->definition == nullptr || !reads.contains(in[k]->definition)) continue;
      std::set<uint64_t>& theirs = asked[in[k]->definition];
      const bool same = !read || is_elementwise(op);
      for (uint64_t path : at) theirs.insert(same ? path : (path * 0x9e3779b97f4a7c15U + i * 64 + k + 1));
    }
  }
  return std::nullopt;
}

namespace {

const Op* move_of(const TensorView* t) {
  const Op* op = t->definition;
  const bool moves = op != nullptr && (keeps_places(*op) || op->kind == OpKind::Slice || op->kind == OpKind::Reshape);
  return moves ? op : nullptr;
}

}  // namespace

TensorView* moved_again(Fusion& graph, TensorView* t, std::vector<Op*>& added) {
  const Op* op = move_of(t);
  if (op == nullptr) return t;
  TensorView *in = inputs(*op)[0], *again = moved_again(graph, in, added);
  std::unique_ptr<Op> copy = blank_op(op->kind);
  copy_fields(*op, *copy, [](const auto& value) { return value; });
  added.push_back(graph.add_op(std::move(copy), graph.add_tensor(t->name + "_again", t->shape(), t->dtype)));
  if (again != in) replace_input(*added.back(), in, again);
  return added.back()->out();
}

void put_ops(Fusion& graph, const std::vector<Op*>& ops, const Op& at, bool behind) {
  std::vector<Op*> order(graph.ops().begin(), graph.ops().end());
  std::erase_if(order, [&](const Op* op) { return std::ranges::count(ops, op) > 0; });
  order.insert(std::ranges::find(order, &at) + (behind ? 1 : 0), ops.begin(), ops.end());
  graph.set_order(std::move(order));
}

bool shares_moves(const Fusion& graph, const TensorView* t) {
  for (const Op* op = move_of(t); op != nullptr; t = inputs(*op)[0], op = move_of(t))
    if (graph.readers(t).size() > 1) return true;
  return false;
}

}  // namespace plait
