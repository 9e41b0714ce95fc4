#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/library_search.h"

namespace plait {

struct Plugin {
  void* symbol = nullptr;
  std::string file, rule;  // where it was found, and what named the folder (base/library_search.h)
};

// Where the shared object `file` ("libplait_llvm.so") is looked for, in turn: in `folder`, or where that is empty in
// plugin_folders(). Not all of these files exist.
std::vector<LibraryFile> plugin_files(const std::string& file, const std::string& folder);

// Loads the shared object `file` from the first of plugin_files() that can be, by its absolute path, and finds its
// function `symbol`. It stays loaded for good. MissingError names the places, the loader's reason and the `package` to
// install; an empty one is a part of PLAIT_CUDA.
Plugin find_plugin(const std::string& file, const std::string& symbol, const std::string& folder,
                   const std::string& package);

// The address of its function alone.
void* load_plugin(const std::string& file, const std::string& symbol, const std::string& folder,
                  const std::string& package);

// Its interface, in the version that this tree knows.
template <class Interface>
const Interface* load_interface(const std::string& file, const std::string& symbol, uint32_t version,
                                const std::string& folder, const std::string& package) {
  const Interface* found = reinterpret_cast<const Interface* (*)()>(load_plugin(file, symbol, folder, package))();
  if (found->version == version) return found;
  throw MissingError(fmt::format("{} has interface version {}, needed is {}", file, found->version, version), "",
                     "build plait and its plug-ins from one tree");
}

}  // namespace plait
