#include "import/stablehlo/mlir_text.h"

#include <algorithm>

#include "base/error.h"

namespace plait::stablehlo {
namespace {

bool is_digit_of(char c) { return c >= '0' && c <= '9'; }
bool is_letter_of(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }
bool in_word(char c) { return is_letter_of(c) || is_digit_of(c) || c == '.' || c == '-'; }

}  // namespace

void MlirText::skip() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
      ++at_;
    else if (text_.substr(at_, 2) == "//")
      at_ = std::min(text_.find('\n', at_), text_.size());
    else
      return;
  }
}

char MlirText::peek() {
  skip();
  return at_ < text_.size() ? text_[at_] : 0;
}

bool MlirText::next_is(std::string_view token) {
  skip();
  if (text_.substr(at_, token.size()) != token) return false;
  const size_t end = at_ + token.size();
  return !is_letter_of(token.back()) || end >= text_.size() || !(is_letter_of(text_[end]) || is_digit_of(text_[end]));
}

bool MlirText::accept(std::string_view token) {
  if (!next_is(token)) return false;
  at_ += token.size();
  return true;
}

void MlirText::expect(std::string_view token) {
  if (!accept(token)) fail(fmt::format("expected `{}`", token));
}

bool MlirText::next_is_word() { return is_letter_of(peek()); }

std::string MlirText::word(std::string_view what) {
  skip();
  const size_t begin = at_;
  // A `-` that begins an arrow is none of a name.
  while (at_ < text_.size() && in_word(text_[at_]) && text_.substr(at_, 2) != "->") ++at_;
  if (at_ == begin) fail(fmt::format("expected {}", what));
  return std::string(text_.substr(begin, at_ - begin));
}

std::string MlirText::quoted() {
  expect("\"");
  std::string out;
  while (at_ < text_.size() && text_[at_] != '"') {
    if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
      ++at_;
      const char c = text_[at_];
      out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    } else {
      out += text_[at_];
    }
    ++at_;
  }
  if (at_ >= text_.size()) fail("a text without end");
  ++at_;
  return out;
}

bool MlirText::next_is_number() {
  const char c = peek();
  return is_digit_of(c) || (c == '-' && at_ + 1 < text_.size() && is_digit_of(text_[at_ + 1]));
}

std::string MlirText::number() {
  if (!next_is_number()) fail("expected a number");
  const size_t begin = at_++;
  while (at_ < text_.size()) {
    const char c = text_[at_], before = text_[at_ - 1];
    const bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'E') && text_.substr(begin, 2) != "0x";
    if (!sign && c != '.' && !is_digit_of(c) && !is_letter_of(c)) break;
    ++at_;
  }
  return std::string(text_.substr(begin, at_ - begin));
}

std::string MlirText::digits_here() {
  const size_t begin = at_;
  while (at_ < text_.size() && is_digit_of(text_[at_])) ++at_;
  return std::string(text_.substr(begin, at_ - begin));
}

bool MlirText::accept_here(char c) {
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

std::string MlirText::until(std::string_view ends) {
  skip();
  const size_t begin = at_;
  int64_t depth = 0;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '"') {
      quoted();
      --at_;
      continue;
    }
    if (depth == 0 && ends.find(c) != ends.npos) break;
    const bool arrow = c == '>' && at_ > begin && text_[at_ - 1] == '-';
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if ((c == ')' || c == ']' || c == '}' || c == '>') && !arrow && --depth < 0)
      fail(fmt::format("`{}` closes nothing", c));
  }
  if (at_ >= text_.size() && ends.find('\n') == ends.npos) fail("the text ends here");
  return std::string(text_.substr(begin, at_ - begin));
}

std::string MlirText::balanced() {
  skip();
  const size_t begin = at_;
  int64_t depth = 0;
  do {
    if (at_ >= text_.size()) fail("the text ends here");
    const char c = text_[at_];
    if (c == '"') {
      quoted();
      continue;
    }
    const bool arrow = c == '>' && at_ > begin && text_[at_ - 1] == '-';
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if ((c == ')' || c == ']' || c == '}' || c == '>') && !arrow) --depth;
    ++at_;
  } while (depth > 0);
  return std::string(text_.substr(begin, at_ - begin));
}

Place MlirText::here() {
  skip();
  Place out;
  const std::string_view before = text_.substr(0, at_);
  out.line += std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  out.column = static_cast<int64_t>(at_ - (newline == before.npos ? 0 : newline + 1)) + 1;
  return out;
}

void MlirText::fail(const std::string& what) {
  const Place place = here();
  const std::string_view rest = text_.substr(at_);
  const std::string found(rest.substr(0, std::min({rest.find('\n'), rest.size(), size_t{30}})));
  throw UserError(found.empty() ? what + ", and the text ends" : fmt::format("{}, not `{}`", what, found),
                  fmt::format("{}:{}:{}", file_, place.line, place.column),
                  "give a module as jax.jit(f).lower(...).as_text() prints it");
}

}  // namespace plait::stablehlo
