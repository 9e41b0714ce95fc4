#include "sim/ptx/lexer.h"

#include <charconv>

#include "base/error.h"
#include "sim/ptx/text.h"

namespace plait::sim::ptx {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool parse_integer(std::string_view text, uint64_t* value) {
  if (!text.empty() && text.back() == 'U') text.remove_suffix(1);
  int base = 10;
  const bool zero = text.size() > 1 && text[0] == '0';
  if (zero && (text[1] == 'x' || text[1] == 'X'))
    base = 16;
  else if (zero && (text[1] == 'b' || text[1] == 'B'))
    base = 2;
  else if (zero)
    base = 8;
  if (base == 16 || base == 2) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value, base);
  return error == std::errc() && end == text.data() + text.size();
}

Lexer::Lexer(std::string_view source) : source_(source) { advance(); }

void Lexer::skip_blanks() {
  while (at_ < source_.size()) {
    const std::string_view left = source_.substr(at_);
    if (left[0] == '\n' || left[0] == ' ' || left[0] == '\t' || left[0] == '\r') {
      line_ += left[0] == '\n';
      ++at_;
    } else if (left.substr(0, 2) == "//") {
      at_ += std::min(left.find('\n'), left.size());
    } else if (left.substr(0, 2) == "/*") {
      const size_t end = std::min(left.find("*/", 2), left.size() - 2) + 2;
      for (char c : left.substr(0, end)) line_ += c == '\n';
      at_ += end;
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  skip_blanks();
  token_line_ = line_;
  token_at_ = at_;
  const size_t first = at_;
  if (at_ >= source_.size() || source_[at_] == '\0') {
    at_ = source_.size();
    kind_ = Kind::end;
    token_ = {};
    return;
  }
  const char c = source_[at_];
  if (c == '"') {
    const size_t end = source_.find('"', at_ + 1);
    if (end == source_.npos) refuse(line_, "a text without its closing quote");
    token_ = source_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    kind_ = Kind::text;
    return;
  }
  kind_ = is_digit(c) ? Kind::number : is_letter(c) ? Kind::word : Kind::sign;
  ++at_;
  while (kind_ != Kind::sign && at_ < source_.size()) {
    if (is_letter(source_[at_]) || is_digit(source_[at_]))
      ++at_;
    else if (source_.substr(at_, 2) == "::")
      at_ += 2;
    else
      break;
  }
  token_ = source_.substr(first, at_ - first);
}

bool Lexer::accept(std::string_view token) {
  if (!is(token)) return false;
  advance();
  return true;
}

void Lexer::expect(std::string_view token) {
  if (!accept(token)) refuse(token_line_, fmt::format("expected `{}`, found `{}`", token, token_));
}

std::string Lexer::expect_word(const char* what) {
  if (kind_ != Kind::word) refuse(token_line_, fmt::format("expected {}, found `{}`", what, token_));
  const std::string word(token_);
  advance();
  return word;
}

uint64_t Lexer::expect_number(const char* what) {
  uint64_t value = 0;
  if (kind_ != Kind::number || !parse_integer(token_, &value))
    refuse(token_line_, fmt::format("expected {}, found `{}`", what, token_));
  advance();
  return value;
}

std::string_view Lexer::rest_of_line() {
  const size_t end = std::min(source_.find('\n', token_at_), source_.size());
  const std::string_view rest = source_.substr(token_at_, end - token_at_);
  at_ = end;
  line_ = token_line_;
  advance();
  return rest;
}

}  // namespace plait::sim::ptx
