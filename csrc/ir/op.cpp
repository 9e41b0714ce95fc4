#include "ir/op.h"

#include <algorithm>
#include <type_traits>

#include "base/error.h"

namespace plait {

std::string_view name(OpKind kind) {
  switch (kind) {
#define PLAIT_OP(Name, text, properties) \
  case OpKind::Name:                     \
    return #text;
#include "ir/ops.def"
#undef PLAIT_OP
  }
  __builtin_unreachable();
}

TensorView* Op::no_single_result() const {
  PLAIT_CHECK(results.empty(), "{} has {} results", describe(*this), results.size());
  return nullptr;
}

bool is_sharded_whole(OpKind kind) { return kind == OpKind::LogSumExp; }

std::string_view name(Reduction function) {
  switch (function) {
#define X(name)         \
  case Reduction::name: \
    return #name;
#include "ir/reductions.def"
#undef X
  }
  __builtin_unreachable();
}

std::optional<Reduction> parse_reduction(std::string_view text) {
#define X(name) \
  if (text == #name) return Reduction::name;
#include "ir/reductions.def"
#undef X
  return std::nullopt;
}

bool finds_index(Reduction function) { return function == Reduction::argmax || function == Reduction::argmin; }

std::string_view name(LossReduction reduction) {
  switch (reduction) {
    case LossReduction::mean:
      return "mean";
    case LossReduction::sum:
      return "sum";
    case LossReduction::none:
      return "none";
  }
  __builtin_unreachable();
}

std::string_view name(ScatterUpdate update) {
  switch (update) {
    case ScatterUpdate::set:
      return "set";
    case ScatterUpdate::add:
      return "add";
    case ScatterUpdate::max:
      return "max";
    case ScatterUpdate::min:
      return "min";
    case ScatterUpdate::mul:
      return "mul";
  }
  __builtin_unreachable();
}

std::string_view word_of(ReshardKind step) {
  return step == ReshardKind::slice ? "slice" : name(static_cast<Collective>(step));
}

bool rounds(ScatterUpdate update) { return update == ScatterUpdate::add || update == ScatterUpdate::mul; }

std::string_view name(Bounds bounds) { return bounds == Bounds::check ? "check" : "assume"; }

std::vector<TensorView*> inputs(const Op& op) {
  std::vector<TensorView*> out;
  visit(op, [&](const auto& node) {
    for_each_field(node, [&](auto, const auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<T, TensorView*>) {
        if (value) out.push_back(value);
      } else if constexpr (std::is_same_v<T, std::vector<TensorView*>>) {
        out.insert(out.end(), value.begin(), value.end());
      }
    });
  });
  return out;
}

bool is_elementwise(const Op& op) {
  return op.kind == OpKind::PointwiseOp || op.kind == OpKind::Full || op.kind == OpKind::Iota ||
         op.kind == OpKind::Size || op.kind == OpKind::Uniform || op.kind == OpKind::Normal;
}

bool is_of_parameters(const TensorView& tensor) {
  const TensorView* t = &tensor;
  for (int ops = 0; ops < 4; ++ops) {
    if (!t->definition) return t->role == TensorRole::parameter;
    const Op& op = *t->definition;
    const std::vector<TensorView*> in = inputs(op);
    if (in.size() != 1 || !(is_elementwise(op) || op.kind == OpKind::Permute)) return false;
    t = in[0];
  }
  return false;
}

std::optional<ScanOf> scan_of(const Op& op) {
  return visit(op, []<class Node>(const Node& node) -> std::optional<ScanOf> {
    if constexpr (is_scan(Node::kKind)) {
      if constexpr (requires { node.reverse; })
        return ScanOf{node.in, node.dim, node.exclusive, node.reverse};
      else
        return ScanOf{node.in, node.dim};
    }
    return std::nullopt;
  });
}

std::optional<int64_t>* counter_offset(Op& op) {
  if (auto* u = as<Uniform>(op)) return &u->offset;
  if (auto* n = as<Normal>(op)) return &n->offset;
  if (auto* d = as<Dropout>(op)) return &d->offset;
  return nullptr;
}

const std::optional<int64_t>* counter_offset(const Op& op) { return counter_offset(const_cast<Op&>(op)); }

std::vector<std::string> result_names(const Op& op) {
  return visit(op, []<class Node>(const Node& node) -> std::vector<std::string> {
    if constexpr (NamesResults<Node>)
      return node.result_names();
    else
      return {std::string(text_name(node))};
  });
}

std::optional<int64_t>* lookup_ordinal(Op& op) {
  return visit(op, [](auto& node) -> std::optional<int64_t>* {
    if constexpr (requires { node.ordinal; }) return &node.ordinal;
    return nullptr;
  });
}

std::optional<CheckedLookup> checked_lookup(const Op& op) {
  return visit(op, [](const auto& node) -> std::optional<CheckedLookup> {
    if constexpr (requires { node.ordinal, node.global; }) {
      if (node.ordinal && node.bounds == Bounds::check)
        return CheckedLookup{node.index, *node.ordinal, node.global, node.start};
    }
    return std::nullopt;
  });
}

const std::vector<sym::Expr>* held_range(const Op& op) {
  return visit(op, [](const auto& node) -> const std::vector<sym::Expr>* {
    if constexpr (requires { node.ordinal, node.range; })
      if (!node.range.empty()) return &node.range;
    return nullptr;
  });
}

std::string_view text_name(const Op& op) {
  if (const auto* p = as<PointwiseOp>(op)) {
    if (p->function == Pointwise::gelu_erf || p->function == Pointwise::gelu_tanh) return "gelu";
    return name(p->function);
  }
  if (const auto* r = as<Reduce>(op)) return name(r->function);
  return name(op.kind);
}

std::string describe(const Op& op) {
  constexpr size_t kShown = 16;
  const std::vector<TensorView*> operands = inputs(op);
  std::string list;
  for (size_t i = 0; i < std::min(operands.size(), kShown); ++i) list += (i ? ", %" : "%") + operands[i]->name;
  if (operands.size() > kShown) list += fmt::format(" and {} more", operands.size() - kShown);
  std::string call = fmt::format("{}({})", text_name(op), list);
  std::string names;
  for (const TensorView* t : op.results)
    if (!t->name.empty()) names += (names.empty() ? "%" : ", %") + t->name;
  return names.empty() ? call : fmt::format("{}: {} = {}", text_name(op), names, call);
}

}  // namespace plait
