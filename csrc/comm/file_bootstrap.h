#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/bootstrap.h"

namespace plait {

struct FileBootstrapOptions {
  int64_t rank = 0, size = 1;
  // A folder that all processes see. It is made; files of an earlier job in it are an error.
  std::string folder;
  std::chrono::milliseconds timeout{60'000};
};

// Processes that share a folder: every message is a file, published by one rename. Needs no launcher. A process that
// ended is noticed within 0.1 s on the same host, and by the time limit on others: CommError naming the ranks. All of
// its files are gone when the last process of the job has closed.
class FileBootstrap : public Bootstrap {
 public:
  // UserError: a rank or size that cannot be, a folder that cannot be made or was used before.
  explicit FileBootstrap(FileBootstrapOptions options);
  ~FileBootstrap() override;
  FileBootstrap(const FileBootstrap&) = delete;
  int64_t rank() const override { return options_.rank; }
  int64_t size() const override { return options_.size; }
  std::vector<std::string> all_gather(std::string_view mine) override;
  std::vector<std::string> all_gather_among(std::span<const int64_t> ranks, std::string_view mine) override;

 private:
  struct Group {
    std::string tag;
    int64_t round = 0;
  };
  std::string file(const std::string& tag, int64_t round, int64_t rank) const;
  void publish(const std::string& path, std::string_view text) const;
  std::string await(const std::string& path, int64_t rank, const std::string& what) const;
  bool is_gone(int64_t rank) const;

  const FileBootstrapOptions options_;
  std::map<std::vector<int64_t>, Group> groups_;
};

}  // namespace plait
