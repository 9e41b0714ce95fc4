#pragma once
// Which LLVM would compile here, known without loading it.
#include <string>

namespace plait {

class DiskCache;

// The identity that an earlier process noted for this processor, what it compiled for (`target`: CpuOptions::processor)
// and the files of this plug-in (as find_plugin would try
// them), where the library behind it still lies where it lay, unchanged. Empty: none did.
std::string noted_identity(DiskCache& disk, const std::string& plugin, const std::string& folder,
                           const std::string& target);

// Notes it; `library` is an address in the library behind the plug-in.
void note_identity(DiskCache& disk, const std::string& plugin, const std::string& folder, const std::string& target,
                   const void* library, const std::string& identity);

}  // namespace plait
