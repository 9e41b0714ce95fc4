#pragma once
// Where the text of stages goes: `--dump=stage[:glob][@dir]`.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

// Names of the stages in order, as `--dump` and `--until` take them.
const std::vector<std::string_view>& stage_names();

// Who asked for the texts of which stages, and where these go: to standard output, to files, or to a listener.
class DumpSink {
 public:
  // `stage`, `stage:glob` (names within the stage, * and ?), `stage@dir` (a file per dump); several with commas
  // between; folders are made. UserError for an unknown stage, with a suggestion, and for a folder that
  // cannot be written.
  void request(std::string_view specs);
  bool wants(std::string_view stage) const;
  bool idle() const { return requests_.empty() && !listener_; }  // nobody wants anything
  bool requested(std::string_view stage) const;                  // by name; a listener to all stages does not count
  // Hands over a text: written to the request's folder, or to standard output. Files of all sinks of a process are
  // numbered in one row: fusions of the same name do not overwrite each other's.
  void put(std::string_view stage, std::string_view name, std::string_view text);
  // Calls fn with the path of each file before it is written; what fn throws, put() throws.
  void check_files(std::function<void(const std::string& path)> fn) { check_ = std::move(fn); }
  // Also calls fn for every text of a wanted stage, for tests and tools; `all` makes every stage wanted.
  void listen(std::function<void(std::string_view stage, std::string_view name, std::string_view text)> fn, bool all) {
    listener_ = std::move(fn);
    all_ = all;
  }

 private:
  void request_one(std::string_view spec);

  struct Request {
    std::string stage, glob, folder;
  };
  std::vector<Request> requests_;
  std::function<void(std::string_view, std::string_view, std::string_view)> listener_;
  std::function<void(const std::string&)> check_;
  bool all_ = false;
};

// Whether the text matches a pattern of literal characters, `*` and `?`.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace plait
