#pragma once
// Where libraries of others lie that are loaded at run time: kits, Python wheels, the loader's own places.
#include <span>
#include <string>
#include <vector>

namespace plait {

// A file to load, by its absolute path, and what says that it may be: "VIRTUAL_ENV", "the system's folders".
struct LibraryFile {
  std::string file, rule;
};

// Files of a library of NVIDIA that are tried in turn: "STEM.so*" in PLAIT_CUDA_HOME, CUDA_HOME, the usual prefix, the
// wheels of VIRTUAL_ENV, of the interpreter that loaded plait, of plait's own prefix; then `loader_names`
// ("STEM.so.13") as the process has loaded them, in LD_LIBRARY_PATH and in the system's folders. The working directory
// is none of them. A kit may lack a component: each is searched for on its own.
std::vector<LibraryFile> library_candidates(const std::string& stem, std::span<const char* const> loader_names);

// The last part of it alone: libraries that only the system has, as the driver is.
std::vector<LibraryFile> loader_candidates(std::span<const char* const> loader_names);

// What of the above says that the system's loader may take this file, which another library needs.
std::string linker_rule(const std::string& file);

// Files "STEM.so*" of a folder, the newest first.
std::vector<std::string> libraries_in(const std::string& folder, const std::string& stem);

// What a user's path stands for: the libraries in it where it is a folder, else itself.
std::vector<LibraryFile> libraries_at(const std::string& path, const std::string& stem);

// Folders where plug-ins are looked for, each once: that of the file that holds plait (its library, or the executable
// it is linked into), plait and ../lib/plait there, LD_LIBRARY_PATH, the loader's folders. Relative ones are left out.
std::vector<LibraryFile> plugin_folders();

// Adds a folder of packages of the interpreter that loads plait (its site-packages). Safe to call from any thread.
void add_package_folder(const std::string& folder);

// File that holds the function or object at this address; empty where the loader does not know.
std::string library_file_of(const void* address);

// What tells this file from others and from what it was: path, size, times. Empty where it cannot be read.
std::string file_stamp(const std::string& file);

// What tells this build of the library or program at the address from others: its build id where the linker left one,
// else its file's stamp. Empty where the loader does not know the address.
std::string library_identity(const void* address);

}  // namespace plait
