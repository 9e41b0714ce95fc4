#include "ir/op_fields.h"

namespace plait {

bool may_be_absent(const FieldRef& field) {
  return field.role == Role::optional || (field.role == Role::named && field.name != "seed");
}

bool is_attribute(const FieldRef& field) {
  return field.role == Role::attribute || field.role == Role::required || field.role == Role::made;
}

std::vector<FieldRef> fields(Op& op) {
  return visit(op, []<class Node>(Node& node) {
    return std::apply(
        [&](auto... field) { return std::vector<FieldRef>{{field.name, field.role, &(node.*(field.member))}...}; },
        Node::fields());
  });
}

}  // namespace plait
