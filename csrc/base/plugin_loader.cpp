#include "base/plugin_loader.h"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include "base/error.h"

namespace plait {
namespace {

namespace fs = std::filesystem;

void add_around(std::vector<fs::path>& folders, const fs::path& file) {
  const fs::path folder = file.parent_path();
  if (folder.empty()) return;
  for (const fs::path& candidate : {folder, folder.parent_path(), folder.parent_path() / "lib" / "plait"}) {
    folders.push_back(candidate);
  }
}

std::vector<fs::path> default_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  add_around(folders, fs::read_symlink("/proc/self/exe", error));
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&load_plugin), &info) != 0 && info.dli_fname != nullptr) {
    add_around(folders, fs::canonical(info.dli_fname, error));
  }
  return folders;
}

}  // namespace

void* load_plugin(const std::string& file, const std::string& symbol, const std::string& folder,
                  const std::string& package) {
  const std::vector<fs::path> folders = folder.empty() ? default_folders() : std::vector<fs::path>{folder};
  std::string places, reason = "no such file";
  void* library = nullptr;
  for (const fs::path& candidate : folders) {
    std::error_code error;
    if (library == nullptr && fs::exists(candidate / file, error)) {
      library = dlopen((candidate / file).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) reason = dlerror();
    }
    places += (places.empty() ? "" : ", ") + candidate.string();
  }
  if (library == nullptr && folder.empty() && reason == "no such file") {
    library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  void* address = library == nullptr ? nullptr : dlsym(library, symbol.c_str());
  if (library != nullptr && address == nullptr) reason = "it has no function " + symbol;
  if (address == nullptr) {
    throw MissingError(fmt::format("{} cannot be loaded: {}", file, reason), "looked in " + places,
                       fmt::format("install the package {} and build plait again", package));
  }
  return address;
}

}  // namespace plait
