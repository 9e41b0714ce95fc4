#include "ir/text_limits.h"

#include "base/error.h"
#include "ir/op.h"
#include "sym/text_reader.h"

namespace plait {

namespace {

void check_words(sym::Expr e, const std::string& what, const std::string& where) {
  if (e && !is_readable(e))
    throw UserError(fmt::format("{} is an expression of more than {} words", what, kMaxWords), where,
                    "name sizes of their own: an input declares one, e.g. %x: f32[n]");
}

}  // namespace

void check_text_limits(const std::vector<sym::Expr>& shape, const std::string& where) {
  if (shape.size() > kMaxDims)
    throw UserError(fmt::format("a tensor of {} dims", shape.size()), where,
                    fmt::format("tensors have at most {} dims", kMaxDims));
  for (size_t d = 0; d < shape.size(); ++d) check_words(shape[d], fmt::format("extent {}", d), where);
}

void check_text_limits(const Op& op, const Inferred& type, const std::string& where) {
  check_text_limits(type.shape, where);
  visit(op, [&](const auto& node) {
    for_each_field(node, [&](auto field, const auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<T, sym::Expr>) check_words(value, std::string(field.name), where);
      if constexpr (std::is_same_v<T, std::vector<sym::Expr>>)
        for (sym::Expr e : value) check_words(e, std::string(field.name), where);
    });
  });
}

}  // namespace plait
