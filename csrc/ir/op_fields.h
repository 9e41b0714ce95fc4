#pragma once
// The fields of an op by run-time type, for whoever treats all ops alike: printing, parsing, cloning, comparing, the
// schema. Made from fields() once, so that its clients are compiled once and not for every op.
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/op.h"

namespace plait {

// Where a field of an op lies. A field of a new type is one more alternative here.
using FieldPointer =
    std::variant<TensorView**, std::vector<TensorView*>*, bool*, Team*, int64_t*, double*, sym::Expr*, DType*,
                 Pointwise*, Reduction*, ReduceOp*, LossReduction*, Bounds*, ScatterUpdate*, std::string*, Constant*,
                 std::vector<int64_t>*, std::vector<sym::Expr>*, std::optional<int64_t>*, std::optional<double>*,
                 std::optional<DType>*, std::optional<ReshardKind>*>;

struct FieldRef {
  std::string_view name;
  Role role;
  FieldPointer value;
};
bool may_be_absent(const FieldRef& field);
bool is_attribute(const FieldRef& field);

// In declaration order.
std::vector<FieldRef> fields(Op& op);

// Sets the fields of `to` to map(field of `from`); both are of one kind.
template <class Fn>
void copy_fields(const Op& from, Op& to, Fn&& map) {
  const std::vector<FieldRef> source = fields(const_cast<Op&>(from)), target = fields(to);
  for (size_t i = 0; i < source.size(); ++i)
    std::visit([&]<class T>(const T* value) { *std::get<T*>(target[i].value) = map(*value); }, source[i].value);
}

// Calls fn(field, value) for every field of the op, in declaration order.
template <class Fn>
void for_each_field(Op& op, Fn&& fn) {
  for (const FieldRef& field : fields(op)) std::visit([&](auto* value) { fn(field, *value); }, field.value);
}
template <class Fn>
void for_each_field(const Op& op, Fn&& fn) {
  for (const FieldRef& field : fields(const_cast<Op&>(op)))
    std::visit([&](const auto* value) { fn(field, *value); }, field.value);
}

}  // namespace plait
