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

enum class OpKind : uint8_t {
#define PLAIT_OP(Name, text, properties) Name,
#include "ir/ops.def"
#undef PLAIT_OP
};
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

template <OpKind K>
struct OpBase : Op {
  static constexpr OpKind kKind = K;
  OpBase() : Op(K) {}
};

// Ops that have, or may have, several results say what they are called.
template <class Node>
concept NamesResults = requires(const Node& node) { node.result_names(); };

}  // namespace plait
