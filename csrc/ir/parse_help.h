#pragma once
// What the Fusion parser's errors say of attributes. Private to csrc/ir.
#include <fmt/core.h>

#include "ir/op_fields.h"

namespace plait {

// How an attribute that is missing may be written.
template <class T>
std::string example(std::string_view name) {
  if constexpr (std::is_same_v<T, Constant>) return "write value = 0, dtype = f32";
  if constexpr (std::is_same_v<T, std::vector<sym::Expr>>) return fmt::format("write {0} = [b, 4], or {0} = []", name);
  if constexpr (std::is_same_v<T, std::vector<int64_t>>) return fmt::format("write {} = [1]", name);
  if constexpr (std::is_same_v<T, std::string>) return fmt::format("write {} = \"ij,jk->ik\"", name);
  if constexpr (std::is_same_v<T, DType>) return fmt::format("write {} = f32", name);
  if constexpr (std::is_same_v<T, double>) return fmt::format("write {} = 0.1", name);
  if constexpr (std::is_same_v<T, Team>) return fmt::format("write {} = tp, an axis of the mesh, or several", name);
  if (name == "dim") return "write dim = 0, or dim = -1 for the last";
  return fmt::format("write {} = 2", name);
}

}  // namespace plait
