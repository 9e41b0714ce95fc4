#include "api/check_graph.h"

#include "base/error.h"

namespace plait {

namespace {

// UserError where an expression of the user's speaks of the rank: it would differ between ranks of one global tensor.
void check_no_rank(sym::Expr e, const std::string& what, const std::string& where) {
  if (!e) return;
  for (const std::string& symbol : sym::symbols(e))
    if (symbol.starts_with("rank."))
      throw UserError(fmt::format("{} speaks of {}, which localized graphs of the compiler have", what, symbol), where,
                      "a fusion is of global tensors: annotate layouts, and the compiler cuts");
}

void check_no_rank(const Op& op) {
  visit(op, [&](const auto& node) {
    for_each_field(node, [&](auto field, const auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<T, sym::Expr>) check_no_rank(value, std::string(field.name), describe(op));
      if constexpr (std::is_same_v<T, std::vector<sym::Expr>>)
        for (sym::Expr e : value) check_no_rank(e, std::string(field.name), describe(op));
    });
  });
}

}  // namespace

void check_graph(const Fusion& fusion) {
  const std::string where = fmt::format("fusion @{}", fusion.name());
  for (const TensorView* t : fusion.inputs())
    for (size_t d = 0; d < t->rank(); ++d)
      check_no_rank(t->extent(d), fmt::format("extent {}", d), fmt::format("%{}: {}", t->name, type_text(*t)));
  if (fusion.outputs().empty()) throw UserError("the fusion has no outputs", where, "make a tensor an output");
  for (const Op* op : fusion.ops()) {
    bool moves = property(op->kind) == OpProperty::communication || property(op->kind) == OpProperty::local_move;
    if (moves && op->kind != OpKind::Reshard)
      throw UserError(fmt::format("{} is an op of localized graphs, which the compiler makes", text_name(*op)),
                      describe(*op), "annotate layouts instead, or use reshard");
    check_no_rank(*op);
  }
}

}  // namespace plait
