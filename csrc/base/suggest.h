#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace plait {

// Help text for an unknown word: the nearest of the known ones if it is close, else the list of all.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace plait
