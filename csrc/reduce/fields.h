#pragma once
// What the edits of reduce_graph share: the parts of a graph, generic over the fields of its ops. Private to
// csrc/reduce.
#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "ir/make_op.h"
#include "ir/op_fields.h"
#include "reduce/reduce_graph.h"

namespace plait {

using Edits = std::vector<GraphEdit>;

inline bool annotated(const TensorView& t) {
  return t.layout_source == LayoutSource::annotated || !t.layout.is_replicated();
}

// fn(value, initial value) for every attribute that can be compared with its initial value.
template <class Fn>
void for_each_attribute(Op& op, Fn&& fn) {
  const std::unique_ptr<Op> fresh = blank_op(op.kind);
  const std::vector<FieldRef> initial = fields(*fresh), own = fields(op);
  for (size_t i = 0; i < own.size(); ++i)
    std::visit(
        [&]<class T>(T* value) {
          if constexpr (!std::is_same_v<T, Pointwise> && !std::is_same_v<T, sym::Expr> &&
                        requires { *value == *value; })
            if (is_attribute(own[i])) fn(*value, std::as_const(*std::get<T*>(initial[i].value)));
        },
        own[i].value);
}

// fn(expression) for every extent in an op's attributes.
template <class Fn>
void for_each_extent(Op& op, Fn&& fn) {
  for_each_field(op, [&](const FieldRef&, auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, sym::Expr>) {
      if (value) fn(value);
    } else if constexpr (std::is_same_v<T, std::vector<sym::Expr>>) {
      for (sym::Expr& e : value) fn(e);
    }
  });
}

// fn(dtype), which may change it, for every dtype in an op's attributes.
template <class Fn>
void for_each_dtype(Op& op, Fn&& fn) {
  for_each_field(op, [&](const FieldRef&, auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, DType>) {
      fn(value);
    } else if constexpr (std::is_same_v<T, std::optional<DType>>) {
      if (value) fn(*value);
    } else if constexpr (std::is_same_v<T, Constant>) {
      DType dtype = value.dtype;
      fn(dtype);
      if (dtype != value.dtype) value = parse_constant(dtype, value.text()).value_or(Constant::from_int64(dtype, 1));
    }
  });
}

inline void set_shape(TensorView& t, const std::vector<sym::Expr>& shape) {
  if (shape == t.shape()) return;
  const bool same_rank = shape.size() == t.rank();
  t.domain.logical.clear();
  for (sym::Expr e : shape)
    t.domain.logical.push_back({e, e.constant() == 1 ? AxisKind::broadcast : AxisKind::iteration});
  t.domain.transforms.clear();
  if (same_rank) return;
  t.domain.strided.clear();
  t.domain.allocation.resize(shape.size());
  std::iota(t.domain.allocation.begin(), t.domain.allocation.end(), 0);
  t.layout = Layout::replicated(shape.size());
  t.layout_source = LayoutSource::open;
  t.stored.reset();
}

inline GraphEdit on_tensor(const TensorView& t, std::function<void(Fusion&, TensorView&)> fn) {
  return {[name = t.name, fn = std::move(fn)](Fusion& f) {
            if (TensorView* found = f.find(name)) fn(f, *found);
          },
          nullptr,
          {}};
}

inline GraphEdit on_op(const Op& op, std::function<void(Fusion&, Op&)> fn) {
  return on_tensor(*op.results[0], [fn = std::move(fn)](Fusion& f, TensorView& t) {
    if (t.definition) fn(f, *t.definition);
  });
}

// Edits of mesh, extents, dtypes and attributes (reduce/types.cpp).
std::span<const EditList> type_edit_lists();

}  // namespace plait
