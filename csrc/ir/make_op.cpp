#include "ir/make_op.h"

namespace plait {

std::unique_ptr<Op> make_op(std::string_view text) {
#define PLAIT_OP(Name, op_text, properties)                                                      \
  if (OpKind::Name != OpKind::PointwiseOp && OpKind::Name != OpKind::Reduce && text == #op_text) \
    return std::make_unique<Name>();
#include "ir/ops.def"
#undef PLAIT_OP
  if (const auto reduction = parse_reduction(text)) {
    auto op = std::make_unique<Reduce>();
    op->function = *reduction;
    return op;
  }
  auto function = text == "gelu" ? Pointwise::gelu_erf : parse_pointwise(text);
  if (!function || (text != "gelu" && (*function == Pointwise::gelu_erf || *function == Pointwise::gelu_tanh)))
    return nullptr;
  auto op = std::make_unique<PointwiseOp>();
  op->function = *function;
  return op;
}

std::unique_ptr<Op> blank_op(OpKind kind) {
  switch (kind) {
#define PLAIT_OP(Name, text, properties) \
  case OpKind::Name:                     \
    return std::make_unique<Name>();
#include "ir/ops.def"
#undef PLAIT_OP
  }
  __builtin_unreachable();
}

std::vector<std::string> op_names() {
  std::vector<std::string> out = {"gelu"};
#define PLAIT_OP(Name, op_text, properties) \
  if (OpKind::Name != OpKind::PointwiseOp && OpKind::Name != OpKind::Reduce) out.push_back(#op_text);
#include "ir/ops.def"
#undef PLAIT_OP
#define X(name) out.push_back(#name);
#include "ir/reductions.def"
#undef X
  for (int i = 0; i < kPointwiseCount; ++i) {
    std::string n(name(static_cast<Pointwise>(i)));
    if (n.rfind("gelu_", 0) != 0) out.push_back(n);
  }
  return out;
}

}  // namespace plait
