#pragma once
// Where libraries of NVIDIA lie that are loaded at run time: kits, Python wheels, the loader's own places.
#include <span>
#include <string>
#include <vector>

namespace plait {

// Files "STEM.so*" that are tried in turn, for messages and tests: in PLAIT_CUDA_HOME, CUDA_HOME, the usual prefix, the
// wheels of VIRTUAL_ENV, those of `.venv` beside or above the executable or the working directory; then `loader_names`,
// for the loader's own search. A kit may lack a component: each is searched for on its own.
std::vector<std::string> library_candidates(const std::string& stem, std::span<const char* const> loader_names);

// Files "STEM.so*" of a folder, the newest first.
std::vector<std::string> libraries_in(const std::string& folder, const std::string& stem);

// What a user's path stands for: the libraries in it where it is a folder, else itself.
std::vector<std::string> libraries_at(const std::string& path, const std::string& stem);

// File that holds the function or object at this address; empty where the loader does not know.
std::string library_file_of(const void* address);

}  // namespace plait
