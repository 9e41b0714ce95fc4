#pragma once
// Why a scheduler does not take ops, and what a person would change for it to take them.
#include <optional>
#include <string>
#include <utility>

namespace plait {

struct Refused {
  // Neither is empty. `change` begins with `nothing: ` where no change of the ops helps, and says why.
  Refused(std::string why, std::string what) : reason(std::move(why)), change(std::move(what)) {}
  std::string reason, change;
};

// For callers that tell nobody what to change.
inline std::optional<std::string> reason_of(const std::optional<Refused>& refused) {
  return refused ? std::optional(refused->reason) : std::nullopt;
}

}  // namespace plait
