#pragma once
// What a processor is and has.
#include <string>
#include <string_view>

namespace plait {

// What it says that it is and has, and what the system lets programs use of it. Not which of its cores one is on.
std::string processor();

// Names of instruction sets beyond those that all have, which code made for it may use and the system lets it: " avx2
// fma".
std::string processor_features();
// Those of such a list that it lacks, in the same form, names that are not known among them; empty: none.
std::string features_missing(std::string_view features);

}  // namespace plait
