#pragma once
// A header of the consumer's own, named as one of plait's.
#include <string>

namespace consumer {

inline std::string described(const std::string& what) { return "error: " + what; }

}  // namespace consumer
