#pragma once
#include <chrono>
#include <string>

namespace plait {

// What the communicators of every transport are told.
struct CommOptions {
  // How long a member waits for the others before it fails with CommError, in every call.
  std::chrono::milliseconds timeout{60'000};
  // Where the flight recorders of this process go (rank_N.json) when an operation fails, is late or is aborted. Empty:
  // nowhere; Communicators::dump writes them on request.
  std::string dump_folder;
};

}  // namespace plait
