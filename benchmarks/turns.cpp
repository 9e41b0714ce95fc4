#include "turns.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "base/error.h"

namespace plait::bench {

namespace {

// Lines over a local socket. Reading sleeps: a rank that waits leaves the cores to the other side.
class Lines {
 public:
  explicit Lines(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path))
      throw UserError(fmt::format("`{}` is too long for a socket", path), "turns", "take a shorter folder");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
      throw UserError(fmt::format("`{}` takes no connection", path), "turns", "the driver of the benchmark makes it");
  }
  ~Lines() { ::close(socket_); }
  Lines(const Lines&) = delete;

  void write(std::string line) {
    line += '\n';
    for (size_t at = 0; at < line.size();) {
      const ssize_t n = ::write(socket_, line.data() + at, line.size() - at);
      if (n <= 0) throw UserError("the driver is gone", "turns", "");
      at += static_cast<size_t>(n);
    }
  }
  // Nothing where the stream ends.
  std::optional<std::string> read() {
    std::string line;
    for (char c = 0; ::read(socket_, &c, 1) == 1;) {
      if (c == '\n') return line;
      line += c;
    }
    return std::nullopt;
  }

 private:
  int socket_;
};

std::string answer(const std::function<double(const std::string&, int64_t)>& turn, const std::string& line) {
  try {
    const size_t blank = line.find(' ');
    PLAIT_CHECK(blank != line.npos, "`{}` is no row", line);
    return fmt::format(R"({{"seconds": {:.9g}}})", turn(line.substr(0, blank), std::stoll(line.substr(blank + 1))));
  } catch (const MissingError& e) {
    return fmt::format(R"({{"skipped": {}}})", json_text(e.what()));
  } catch (const Error& e) {
    return fmt::format(R"({{"failed": {}}})", json_text(e.what()));
  }
}

}  // namespace

void serve_turns(const std::string& folder, const std::string& side, int64_t rank, const std::string& about,
                 const std::function<double(const std::string& row, int64_t count)>& turn) {
  Lines driver(folder + "/turns");
  driver.write(fmt::format(R"({{"side": {}, "rank": {}, "about": {}}})", json_text(side), rank, about));
  while (const auto line = driver.read()) {
    if (line->empty()) return;
    driver.write(answer(turn, *line));
  }
}

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "; ";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out + '"';
}

}  // namespace plait::bench
