#include "ir/schedule.h"

#include <cctype>
#include <charconv>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "ir/manual_schedule.h"

namespace plait {

namespace {

template <class Fn>
void for_each_choice(const Schedule& schedule, Fn&& fn) {
  std::visit([&](const auto& own) { own.fields(own, fn); }, schedule);
}

template <class Fn, size_t... I>
void for_each_kind(Fn&& fn, std::index_sequence<I...>) {
  (fn(std::variant_alternative_t<I, Schedule>()), ...);
}
// Calls fn with an empty schedule of every kind but the open one.
template <class Fn>
void for_each_kind(Fn&& fn) {
  for_each_kind(
      [&]<class Kind>(const Kind& kind) {
        if constexpr (!std::is_same_v<Kind, schedules::Open>) fn(kind);
      },
      std::make_index_sequence<std::variant_size_v<Schedule>>());
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& where) : text_(text), rest_(text), where_(where) {}

  Schedule read() {
    Schedule out = read_kind();
    if (auto* manual = std::get_if<schedules::Manual>(&out)) {
      *manual = read_tensors();
      return out;
    }
    if (accept('(') && !accept(')')) {
      do {
        read_choice(out);
      } while (accept(','));
      if (!accept(')')) fail("`)` or `,`");
    }
    skip();
    if (!rest_.empty()) fail("the end of the schedule");
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw UserError(fmt::format("schedule `{}`: expected {} at `{}`", beginning(text_), expected, beginning(rest_)),
                    where_, "schedules look like pointwise(vector = 8, split = 1)");
  }
  static std::string beginning(std::string_view text) {
    constexpr size_t kMost = 64;
    return text.size() <= kMost ? std::string(text) : fmt::format("{} ...", text.substr(0, kMost));
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

  Schedule read_kind() {
    const std::string kind = word("a scheduler's name");
    Schedule out;
    std::vector<std::string> known;
    for_each_kind([&](const auto& one) {
      known.emplace_back(one.kName);
      if (one.kName == kind) out = one;
    });
    if (is_open(out))
      throw UserError(fmt::format("there is no scheduler {}", beginning(kind)), where_, suggestion(kind, known));
    return out;
  }

  schedules::Manual read_tensors() {
    if (!accept('(')) {
      if (!rest_.empty()) fail("`(`");
      return {};
    }
    const size_t end = rest_.rfind(')');
    if (end == std::string_view::npos || rest_.find_first_not_of(" \t\n", end + 1) != std::string_view::npos)
      fail("`)` at the end");
    return parse_tensors(rest_.substr(0, end), where_);
  }

  void read_choice(Schedule& out) {
    const std::string key = word("a number's name");
    if (!accept('=')) fail("`=`");
    if (key == "target")
      throw UserError(fmt::format("schedule `{}` states a target", beginning(text_)), where_,
                      "leave it out: a schedule is for the device that the file is compiled for");
    skip();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) fail("a number");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    bool found = false;
    std::vector<std::string> known;
    std::visit(
        [&](auto& own) {
          own.fields(own, [&](std::string_view name, Choice& choice, const ChoiceRange& range) {
            known.emplace_back(name);
            if (name != key) return;
            found = true;
            if (choice) fail(fmt::format("{} only once", key));
            check_range(key, value, range);
            choice = value;
          });
        },
        out);
    if (!found)
      throw UserError(fmt::format("{} has no number {}", name(out), beginning(key)), where_, suggestion(key, known));
  }

  void check_range(const std::string& key, int64_t value, const ChoiceRange& range) const {
    if (value >= range.least && value <= range.most && (!range.power_of_two || (value & (value - 1)) == 0)) return;
    throw UserError(
        fmt::format("{} = {} is out of range", key, value), where_,
        fmt::format("{}{} to {}", range.power_of_two ? "powers of two from " : "", range.least, range.most));
  }

  std::string_view text_, rest_;
  const std::string& where_;
};

}  // namespace

std::string_view name(const Schedule& schedule) {
  return std::visit([](const auto& own) { return own.kName; }, schedule);
}

bool is_generated(const Schedule& schedule) {
  return std::holds_alternative<schedules::Pointwise>(schedule) || std::holds_alternative<schedules::Nest>(schedule) ||
         std::holds_alternative<schedules::Norm>(schedule) || std::holds_alternative<schedules::Scatter>(schedule) ||
         std::holds_alternative<schedules::Contraction>(schedule) ||
         std::holds_alternative<schedules::Attention>(schedule) || std::holds_alternative<schedules::Manual>(schedule);
}

std::string print(const Schedule& schedule) {
  if (const auto* manual = std::get_if<schedules::Manual>(&schedule)) {
    const std::string tensors = print_tensors(*manual);
    return tensors.empty() ? std::string(manual->kName) : fmt::format("{}({})", manual->kName, tensors);
  }
  bool has_numbers = false;
  std::string list;
  for_each_choice(schedule, [&](std::string_view name, const Choice& choice, const ChoiceRange&) {
    has_numbers = true;
    if (choice) list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", name, *choice);
  });
  return has_numbers ? fmt::format("{}({})", name(schedule), list) : std::string(name(schedule));
}

Schedule parse_schedule(std::string_view text, const std::string& where) { return Reader(text, where).read(); }

}  // namespace plait
