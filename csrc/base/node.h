#pragma once
// Fields of an IR node: one `fields()` line per node, from which print, parse, hash, equality and clone are derived.
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace plait {

// What a field is to its node; print, parse, hash and equality go by it.
enum class Role : uint8_t {
  operand,    // a value the node reads
  optional,   // the same, and may be absent: stands last among the operands
  named,      // the same, written `name = %x`, and may be absent unless it is a seed
  result,     // a value the node defines
  attribute,  // printed as `name = value`; the field's initial value where a text leaves it out
  required,   // the same, and a text must give it
  made,       // as an attribute, but the compiler's: users write it in no text of their own
  body,       // nested statements
};

// A field of a node: its name in the text, the member that holds it, its role.
template <class Node, class Member>
struct Field {
  std::string_view name;
  Member Node::* member;
  Role role;
};

// Fields of each role, for the `fields()` of a node.
template <class Node, class Member>
constexpr Field<Node, Member> operand(std::string_view name, Member Node::* member) {
  return {name, member, Role::operand};
}
template <class Node, class Member>
constexpr Field<Node, Member> optional_operand(std::string_view name, Member Node::* member) {
  return {name, member, Role::optional};
}
template <class Node, class Member>
constexpr Field<Node, Member> named_operand(std::string_view name, Member Node::* member) {
  return {name, member, Role::named};
}
template <class Node, class Member>
constexpr Field<Node, Member> result(std::string_view name, Member Node::* member) {
  return {name, member, Role::result};
}
template <class Node, class Member>
constexpr Field<Node, Member> attribute(std::string_view name, Member Node::* member) {
  return {name, member, Role::attribute};
}
template <class Node, class Member>
constexpr Field<Node, Member> required(std::string_view name, Member Node::* member) {
  return {name, member, Role::required};
}
template <class Node, class Member>
constexpr Field<Node, Member> made(std::string_view name, Member Node::* member) {
  return {name, member, Role::made};
}
template <class Node, class Member>
constexpr Field<Node, Member> body(std::string_view name, Member Node::* member) {
  return {name, member, Role::body};
}

// Whether a node is complete without the operand. Random ops need their seed.
template <class Node, class Member>
constexpr bool may_be_absent(const Field<Node, Member>& field) {
  return field.role == Role::optional || (field.role == Role::named && field.name != "seed");
}

// Whether the text has the field as `name = value`, whoever writes it.
template <class Node, class Member>
constexpr bool is_attribute(const Field<Node, Member>& field) {
  return field.role == Role::attribute || field.role == Role::required || field.role == Role::made;
}

// Calls fn(field, node.*field.member) for every field, in declaration order.
template <class Node, class Fn>
void for_each_field(Node& node, Fn&& fn) {
  std::apply([&](auto... field) { (fn(field, node.*(field.member)), ...); }, std::remove_const_t<Node>::fields());
}

}  // namespace plait
