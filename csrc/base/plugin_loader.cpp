#include "base/plugin_loader.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/error.h"
#include "base/log.h"

namespace plait {

namespace fs = std::filesystem;

std::vector<LibraryFile> plugin_files(const std::string& file, const std::string& folder) {
  std::error_code error;
  std::vector<LibraryFile> out =
      folder.empty() ? plugin_folders()
                     : std::vector<LibraryFile>{{fs::absolute(folder, error).string(), "named by the caller"}};
  for (LibraryFile& each : out) each.file = (fs::path(each.file) / file).string();
  return out;
}

Plugin find_plugin(const std::string& file, const std::string& symbol, const std::string& folder,
                   const std::string& package) {
  std::error_code error;
  std::string places, reason = "no such file";
  void* library = nullptr;
  bool is_there = false;
  Plugin out;
  for (const LibraryFile& place : plugin_files(file, folder)) {
    out.file = place.file;
    out.rule = place.rule;
    places += (places.empty() ? "" : ", ") + fs::path(place.file).parent_path().string();
    if (!fs::exists(out.file, error)) continue;
    is_there = true;
    library = dlopen(out.file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    reason = dlerror();
  }
  if (library != nullptr) {
    out.symbol = dlsym(library, symbol.c_str());
    if (out.symbol == nullptr) reason = "it has no function " + symbol;
  }
  if (out.symbol == nullptr)
    throw MissingError(
        fmt::format("{} cannot be loaded: {}", file, reason), "looked in " + places,
        package.empty() ? "build plait with PLAIT_CUDA=ON"
        : is_there      ? fmt::format("install the package {}, or the library that is named", package)
                        : fmt::format("put it where plait's library lies, into lib/plait of its installation or into a "
                                           "folder that LD_LIBRARY_PATH names; a build that finds the package {} "
                                           "makes it",
                                      package));
  log(LogComponent::library, LogLevel::info, "{} loaded, {}", out.file, out.rule);
  return out;
}

void* load_plugin(const std::string& file, const std::string& symbol, const std::string& folder,
                  const std::string& package) {
  return find_plugin(file, symbol, folder, package).symbol;
}

}  // namespace plait
