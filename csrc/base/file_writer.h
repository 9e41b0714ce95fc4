#pragma once
// How plait writes files: whole, or not at all.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace plait {

// Whether the bytes must be on the disk before the name is: not for files that live as long as a job.
enum class Durable : bool { no, yes };

// A file that appears under its name when all of it is written: a draft in the same folder, then a rename. Until then,
// and where anything fails, what had the name stays, and no draft is left. A symbolic link is replaced, what it points
// to stays. Devices and pipes, `/dev/stdout` and `/dev/fd/N` among them, are written as they are; `-` is standard
// output. Every function throws UserError("cannot write `PATH`: REASON", where, ...).
class FileWriter {
 public:
  FileWriter(const std::string& path, std::string_view where, Durable durable = Durable::yes);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  // Checks the last write too, and gives the file its name. Without it nothing is left. `last` is called just before
  // the name is given; where it throws, what had the name stays.
  void commit(const std::function<void()>& last = {});
  // The open file that is written, for its owner and mode.
  int file() const { return file_; }

 private:
  [[noreturn]] void fail(int reason);
  void open_draft();
  void close_draft();

  std::string path_, where_, draft_;  // no draft: written in place
  Durable durable_;
  int file_ = -1;
};

// A file of this text, at once.
void write_whole_file(const std::string& path, std::string_view text, std::string_view where,
                      Durable durable = Durable::yes);

// Whether the path is no file that could be read twice: `-`, a pipe, a socket, a terminal or another device.
bool is_stream(const std::string& path);

}  // namespace plait
