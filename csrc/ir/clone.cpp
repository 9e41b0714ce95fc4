#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "base/error.h"
#include "ir/fusion.h"
#include "ir/make_op.h"
#include "ir/op_fields.h"

namespace plait {

namespace {

class Cloner {
 public:
  Cloner(const Fusion& from, Fusion& to, const CloneOptions& options) : from_(from), to_(to) {
    for (const auto& [name, value] : options.replace) values_.emplace(name, to_.pool().constant(value));
    // Numbers first: bounds are read with all of them.
    const sym::Facts stated = from.given();
    for (const auto& [name, row] : stated.rows())
      if (!values_.contains(name)) to_.pool().symbol(name, {row.lo, row.hi, row.multiple_of});
    for (const auto& [name, info] : options.facts) to_.pool().symbol(name, {info.lo, info.hi, info.multiple_of});
    for (const auto& [name, row] : stated.rows())
      if (!row.below.empty() && !values_.contains(name))
        to_.pool().symbol(name, {.below = expr(from.pool().info(from.pool().find_symbol(name)).below)});
    for (const auto& [name, info] : options.facts)
      if (info.below) to_.pool().symbol(name, {.below = sym::import(to_.pool(), info.below)});
  }

  void run() {
    to_.size_lets = from_.size_lets;
    to_.dtype_lets = from_.dtype_lets;
    for (const TensorView* t : from_.inputs()) clone_input(*t);
    for (const Op* op : from_.ops()) clone_op(*op);
    to_.set_outputs(map(from_.outputs()));
    to_.aliases = from_.aliases;
    for (const auto& s : from_.segments) {
      Segment copy{s.name, map(s.inputs), map(s.outputs), {}, s.schedule, s.joins};
      for (const Op* op : s.ops) copy.ops.push_back(map(op->results[0])->definition);
      to_.segments.push_back(std::move(copy));
    }
  }

  // What the segment reads becomes inputs, what it gives outputs.
  void run(const Segment& segment) {
    to_.size_lets = from_.size_lets;
    to_.dtype_lets = from_.dtype_lets;
    for (const TensorView* t : segment.inputs) clone_input(*t);
    for (const Op* op : segment.ops) {
      clone_op(*op);
      Op& copy = *to_.ops().back();
      if (auto* offset = counter_offset(copy)) *offset = offset_of(*op);
    }
    to_.set_outputs(map(segment.outputs));
    for (TensorView* t : to_.tensors()) {
      t->domain.transforms.clear();
      t->inline_position = t->kept = std::nullopt;
    }
  }

 private:
  sym::Expr expr(sym::Expr e) { return e ? sym::substitute(to_.pool(), e, values_) : e; }

  void clone_input(const TensorView& t) {
    std::vector<Fusion::Extent> shape;
    for (auto e : t.shape()) shape.push_back(expr(e));
    TensorView* copy =
        t.role == TensorRole::parameter ? to_.parameter(t.name, shape, t.dtype) : to_.input(t.name, shape, t.dtype);
    copy_details(t, copy);
  }

  // Stated, or the place among the random ops of the fusion, in order of creation.
  int64_t offset_of(const Op& op) const {
    if (const auto& given = *counter_offset(op)) return *given;
    const auto& ops = from_.ops();
    return std::count_if(ops.begin(), ops.end(), [&](const Op* o) { return counter_offset(*o) && o->id < op.id; });
  }

  TensorView* map(const TensorView* t) {
    if (!t) return nullptr;
    auto it = tensors_.find(t);
    PLAIT_CHECK(it != tensors_.end(), "%{} is not in the order", t->name);
    return it->second;
  }

  template <class T>
  T map(const T& value) {
    if constexpr (std::is_same_v<T, sym::Expr>) {
      return expr(value);
    } else if constexpr (std::is_same_v<T, std::vector<sym::Expr>>) {
      T out;
      for (auto e : value) out.push_back(expr(e));
      return out;
    } else if constexpr (std::is_same_v<T, std::vector<TensorView*>>) {
      T out;
      for (auto* t : value) out.push_back(map(static_cast<const TensorView*>(t)));
      return out;
    } else if constexpr (std::is_same_v<T, TensorView*>) {
      return map(static_cast<const TensorView*>(value));
    } else {
      return value;
    }
  }

  // As the op says it: with more facts the extents of its operands may say more than those of its results did.
  std::vector<std::vector<sym::Expr>> shapes_of(const Op& copy, const Op& from) {
    std::vector<std::vector<sym::Expr>> shapes;
    for (const TensorView* t : from.results) {
      shapes.emplace_back();
      for (auto e : t->shape()) shapes.back().push_back(expr(e));
    }
    const OpProperty kind = property(copy.kind);
    if (kind == OpProperty::communication || kind == OpProperty::local_move) return shapes;  // stated
    try {
      const std::vector<Inferred> types = infer_results(copy, to_);
      for (size_t i = 0; i < std::min(types.size(), shapes.size()); ++i)
        if (types[i].shape.size() == shapes[i].size()) shapes[i] = types[i].shape;
    } catch (const UserError&) {  // the verifier says so
    }
    return shapes;
  }

  void clone_op(const Op& op) {
    std::unique_ptr<Op> copy = blank_op(op.kind);
    copy_fields(op, *copy, [&](const auto& value) { return map(value); });
    if (auto* slice = as<Slice>(*copy)) {  // as complete() leaves it where the extent is known
      const sym::Expr extent = slice->in->extent(static_cast<size_t>(slice->dim));
      if (extent.is_constant()) slice->start = sym::min(slice->start, extent);
    }
    std::vector<TensorView*> results;
    const auto shapes = shapes_of(*copy, op);
    for (size_t i = 0; i < op.results.size(); ++i) {
      const TensorView& t = *op.results[i];
      results.push_back(to_.add_tensor(t.name, shapes[i], t.dtype));
      PLAIT_CHECK(results.back()->name == t.name, "%{} is not unique", t.name);
    }
    to_.add_op(std::move(copy), results);
    for (size_t i = 0; i < results.size(); ++i) copy_details(*op.results[i], results[i]);
  }

  void copy_details(const TensorView& from, TensorView* to) {
    tensors_[&from] = to;
    to->named_by_op = from.named_by_op;
    to->dtype_alias = from.dtype_alias;
    to->layout = from.layout;
    to->layout_source = from.layout_source;
    to->stored = from.stored;
    if (from.range) to->range = {expr(from.range->begin), expr(from.range->end)};
    to->reason = from.reason;
    to->unbiased_of = from.unbiased_of;
    to->domain.allocation = from.domain.allocation;
    to->domain.strided = from.domain.strided;
    to->domain.transforms = from.domain.transforms;
    for (auto& t : to->domain.transforms) t.factor = expr(t.factor);
    to->inline_position = from.inline_position;
    to->kept = from.kept;
    for (const auto& axis : from.domain.reduction)
      to->domain.reduction.push_back({expr(axis.extent), axis.kind, axis.parallel});
  }

  const Fusion& from_;
  Fusion& to_;
  std::map<std::string, sym::Expr> values_;
  std::map<const TensorView*, TensorView*> tensors_;
};

// Structural comparison: expressions of one pool by identity, of two by canonical text; tensors by name.
struct Same {
  bool one_pool = false;
  bool operator()(sym::Expr a, sym::Expr b) const {
    return a == b || (!one_pool && a && b && sym::print(a) == sym::print(b));
  }
  // 0 and -0 differ; a NaN equals itself.
  bool operator()(double a, double b) const {
    return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b);
  }
  template <class T>
  bool operator()(const std::optional<T>& a, const std::optional<T>& b) const {
    return a.has_value() == b.has_value() && (!a || (*this)(*a, *b));
  }
  bool operator()(const Constant& a, const Constant& b) const {
    return a == b || (a.dtype == b.dtype && std::isnan(a.to_double()) && std::isnan(b.to_double()));
  }
  bool operator()(TensorView* const& a, TensorView* const& b) const {
    return (!a && !b) || (a && b && a->name == b->name);
  }
  template <class T>
  bool operator()(const std::vector<T>& a, const std::vector<T>& b) const {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!(*this)(a[i], b[i])) return false;
    return true;
  }
  bool operator()(const ValueRange& a, const ValueRange& b) const {
    return (*this)(a.begin, b.begin) && (*this)(a.end, b.end);
  }
  bool operator()(const Transform& a, const Transform& b) const {
    return a.kind == b.kind && a.position == b.position && (*this)(a.factor, b.factor) && a.order == b.order &&
           a.parallel == b.parallel;
  }
  bool operator()(const Segment& a, const Segment& b) const {
    return a.name == b.name && (*this)(a.inputs, b.inputs) && (*this)(a.outputs, b.outputs) &&
           a.ops.size() == b.ops.size() && a.schedule == b.schedule && a.joins == b.joins;
  }
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};

bool same_tensor(const TensorView& a, const TensorView& b) {
  Same same;
  auto annotated = [](const TensorView& t) { return t.keeps_layout() || !t.layout.is_replicated(); };
  return a.name == b.name && a.dtype == b.dtype && a.dtype_alias == b.dtype_alias && a.role == b.role &&
         same(a.shape(), b.shape()) && a.layout == b.layout && annotated(a) == annotated(b) && a.stored == b.stored &&
         same(a.range, b.range) && a.domain.allocation == b.domain.allocation && a.domain.strided == b.domain.strided &&
         same(a.domain.transforms, b.domain.transforms) && a.inline_position == b.inline_position && a.kept == b.kept;
}

// What is neither read nor an output, of a fusion or a segment, has no name in the text.
bool is_unread(const TensorView& t) {
  return t.fusion->segments.empty() && t.fusion->readers(&t).empty() && !t.fusion->is_output(&t);
}

bool same_results(const Op& a, const Op& b) {
  if (a.results.size() != b.results.size()) return false;
  for (size_t i = 0; i < a.results.size(); ++i)
    if (!same_tensor(*a.results[i], *b.results[i]) &&
        (a.results.size() == 1 || !is_unread(*a.results[i]) || !is_unread(*b.results[i])))
      return false;
  return true;
}

}  // namespace

bool same_fields(const Op& a, const Op& b) {
  if (a.kind != b.kind) return false;
  const Same same{!a.results.empty() && !b.results.empty() && a.results[0]->fusion == b.results[0]->fusion};
  const std::vector<FieldRef> x = fields(const_cast<Op&>(a)), y = fields(const_cast<Op&>(b));
  for (size_t i = 0; i < x.size(); ++i)
    if (!std::visit([&]<class T>(const T* value) { return same(*value, *std::get<T*>(y[i].value)); }, x[i].value))
      return false;
  return true;
}

namespace {

// With numbers for the symbols that are replaced.
Mesh replaced(const Mesh& mesh, const CloneOptions& options) {
  std::vector<MeshAxis> axes = mesh.axes();
  for (MeshAxis& axis : axes)
    if (const auto value = options.replace.find(axis.symbol); value != options.replace.end())
      axis = {axis.name, value->second, "", axis.bandwidth, axis.latency};
  return axes.empty() ? mesh : Mesh(mesh.name(), std::move(axes), mesh.groups());
}

}  // namespace

std::unique_ptr<Fusion> clone(const Fusion& fusion, const CloneOptions& options) {
  auto out = std::make_unique<Fusion>(replaced(fusion.mesh(), options), fusion.name());
  Cloner(fusion, *out, options).run();
  return out;
}

std::unique_ptr<Fusion> clone_segment(const Fusion& fusion, const Segment& segment) {
  auto out = std::make_unique<Fusion>(fusion.mesh(), fusion.name() + "_" + segment.name);
  Cloner(fusion, *out, {}).run(segment);
  return out;
}

bool equal(const Fusion& a, const Fusion& b) {
  Same same;
  if (a.name() != b.name() || !(a.mesh() == b.mesh()) || a.size_lets != b.size_lets || a.dtype_lets != b.dtype_lets)
    return false;
  if (a.given() != b.given() || a.aliases != b.aliases) return false;
  if (a.inputs().size() != b.inputs().size() || a.ops().size() != b.ops().size()) return false;
  for (size_t i = 0; i < a.inputs().size(); ++i)
    if (!same_tensor(*a.inputs()[i], *b.inputs()[i])) return false;
  for (size_t i = 0; i < a.ops().size(); ++i)
    if (!same_results(*a.ops()[i], *b.ops()[i]) || !same_fields(*a.ops()[i], *b.ops()[i])) return false;
  return same(a.outputs(), b.outputs()) && same(a.segments, b.segments);
}

}  // namespace plait
