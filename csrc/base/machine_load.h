#pragma once
// Whether others used the machine when this process began, for those who measure.
#include <optional>
#include <string>

namespace plait {

// Processes that ran or wanted to, on average of the minute before the first call; nothing where the system does not
// say.
std::optional<double> machine_load();
// "others use the machine (load 3.5 on 2 cores): times say little", or nothing where they leave it to this process.
std::string load_warning();

}  // namespace plait
