#pragma once
// What a user is told.
#include <string>

#include "base/error.h"

namespace plait::testing {

// The text of the UserError that the call throws; "not refused" where it throws none.
template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const UserError& e) {
    return e.what();
  }
  return "not refused";
}

}  // namespace plait::testing
