#include "schedule/params.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace plait {

std::optional<int64_t> Params::find(std::string_view key) const {
  for (const auto& [k, v] : numbers)
    if (k == key) return v;
  return std::nullopt;
}

int64_t Params::get(std::string_view key) const {
  const auto value = find(key);
  PLAIT_CHECK(value.has_value(), "params of {} have no {}", scheduler, key);
  return *value;
}

void Params::set(std::string_view key, int64_t value) {
  for (auto& [k, v] : numbers)
    if (k == key) {
      v = value;
      return;
    }
  numbers.emplace_back(key, value);
}

std::string print(const Params& params) {
  std::string list;
  for (const auto& [key, value] : params.numbers)
    list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", key, value);
  if (params.cuda) list += list.empty() ? "target = cuda" : ", target = cuda";
  return fmt::format("{}({})", params.scheduler, list);
}

namespace {

class Reader {
 public:
  Reader(std::string_view text, const std::string& where) : text_(text), rest_(text), where_(where) {}

  Params read() {
    Params out;
    out.scheduler = word("a scheduler's name");
    if (accept('(') && !accept(')')) {
      do {
        pair(out);
      } while (accept(','));
      if (!accept(')')) fail("`)` or `,`");
    }
    skip();
    if (!rest_.empty()) fail("the end of the schedule");
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw UserError(fmt::format("schedule `{}`: expected {} at `{}`", text_, expected, rest_), where_,
                    "schedules look like pointwise(vector = 8, split = 1)");
  }
  void skip() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front()))) rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string word(const char* what) {
    skip();
    size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_')) ++n;
    if (n == 0 || std::isdigit(static_cast<unsigned char>(rest_[0]))) fail(what);
    std::string out(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return out;
  }
  void pair(Params& out) {
    const std::string key = word("a parameter's name");
    if (!accept('=')) fail("`=`");
    if (key == "target") {
      const std::string value = word("cpu or cuda");
      if (value != "cpu" && value != "cuda") fail("target cpu or cuda");
      out.cuda = value == "cuda";
      return;
    }
    if (out.find(key)) fail(fmt::format("{} only once", key));
    skip();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) fail("a number");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    out.numbers.emplace_back(key, value);
  }

  std::string_view text_, rest_;
  const std::string& where_;
};

}  // namespace

Params parse_params(std::string_view text, const std::string& where) { return Reader(text, where).read(); }

}  // namespace plait
