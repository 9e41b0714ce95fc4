#pragma once
// What JSON documents say of what may not be known.
#include <optional>

namespace plait {

template <class Json, class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace plait
