#pragma once
// Other programs that the command runs: bisect and reduce.
#include <string>
#include <vector>

namespace plait::tool {

struct ProcessEnd {
  int exit = 0;            // 128 + N where signal N ended it
  bool timed_out = false;  // it was ended after its time
  std::string out, err;    // what it printed, at most kMostPrinted bytes of each
  bool operator==(const ProcessEnd&) const = default;
};

inline constexpr size_t kMostPrinted = 1 << 20;
// The variable that keeps a command from writing reproducers: its caller holds the file already.
inline constexpr const char* kNoReproducer = "PLAIT_NO_REPRODUCER";

// Runs `words` (the program first; `plait` is this very one) with nothing to read and without reproducers; it and what
// it started are killed after `seconds`. UserError where there is no such program.
ProcessEnd run_process(const std::vector<std::string>& words, double seconds);

// A fresh folder, gone with the object. MissingError where none can be made.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& prefix);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace plait::tool
