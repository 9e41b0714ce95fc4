#pragma once
#include <string>

namespace plait {

struct Plugin {
  void* symbol = nullptr;
  std::string file, rule;  // where it was found, and what named the folder (base/library_search.h)
};

// Loads the shared object `file` ("libplait_llvm.so") from `folder`, or where that is empty from the first of
// plugin_folders() that has it, by its absolute path, and finds its function `symbol`. It stays loaded for good.
// MissingError names the places, the loader's reason and the `package` to install.
Plugin find_plugin(const std::string& file, const std::string& symbol, const std::string& folder,
                   const std::string& package);

// The address of its function alone.
void* load_plugin(const std::string& file, const std::string& symbol, const std::string& folder,
                  const std::string& package);

}  // namespace plait
