#pragma once
#include <string>

namespace plait {

// Loads the shared object `file` ("libplait_llvm.so") and returns the address of its function `symbol`. Looks in
// `folder`, or where that is empty beside the executable and beside the library that holds plait, one level up from
// them, in ../lib/plait, and where the system looks. The library stays loaded for good.
// MissingError names the places, the loader's reason and the `package` to install.
void* load_plugin(const std::string& file, const std::string& symbol, const std::string& folder,
                  const std::string& package);

}  // namespace plait
