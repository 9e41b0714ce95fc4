#pragma once
// What all ops of the fusion IR share.
#include <string>
#include <vector>

#include "base/node.h"
#include "base/overloaded.h"
#include "ir/tensor_view.h"
#include "scalar/constant.h"
#include "scalar/pointwise.h"

namespace plait {

// Every op, in the order of ir/ops.def.
enum class OpKind : uint8_t {
#define PLAIT_OP(Name, text, properties) Name,
#include "ir/ops.def"
#undef PLAIT_OP
};
// The family of an op; what each means: ir/ops.def.
enum class OpProperty : uint8_t {
  none,
  creation,
  contraction,
  reduction,
  movement,
  indexing,
  composite,
  communication,
  local_move
};

// The op's name in the text, and its family.
std::string_view name(OpKind kind);
constexpr OpProperty property(OpKind kind) {
  switch (kind) {
#define PLAIT_OP(Name, text, properties) \
  case OpKind::Name:                     \
    return OpProperty::properties;
#include "ir/ops.def"
#undef PLAIT_OP
  }
  __builtin_unreachable();
}
// Composites that shardings know as one op, whose ranks' results are pending: they open when device axes are gone.
bool is_sharded_whole(OpKind kind);

// A node of the graph: its kind and its results. Operands and attributes are members of the op's own struct.
struct Op {
  const OpKind kind;
  uint32_t id = 0;                   // ordinal in the fusion, in order of creation
  std::vector<TensorView*> results;  // in order; most ops have one
  // The result of an op that has one; null before it is in a fusion. InternalError: it has several.
  TensorView* out() const { return results.size() == 1 ? results[0] : no_single_result(); }
  virtual ~Op() = default;
  Op(const Op&) = delete;

 protected:
  explicit Op(OpKind k) : kind(k) {}

 private:
  TensorView* no_single_result() const;
};

// Base of the struct of one kind.
template <OpKind K>
struct OpBase : Op {
  static constexpr OpKind kKind = K;
  OpBase() : Op(K) {}
};

// Ops that have, or may have, several results say what they are called.
template <class Node>
concept NamesResults = requires(const Node& node) { node.result_names(); };

}  // namespace plait
