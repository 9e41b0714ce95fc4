#include "ir/format_tokens.h"

#include <algorithm>
#include <initializer_list>

namespace plait {

namespace {

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool in_name(char c) { return starts_name(c) || is_decimal(c); }

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

class TokenReader {
 public:
  explicit TokenReader(std::string_view text) : text_(text) {}

  std::vector<FormatToken> run() {
    std::vector<FormatToken> out;
    for (skip(); at_ < text_.size(); skip()) {
      FormatToken& token = out.emplace_back();
      token.newlines = newlines_;
      token.blank = blank_;
      const size_t begin = at_;
      token.kind = read();
      token.text = text_.substr(begin, at_ - begin);
      if (token.is_comment()) token.text = token.text.substr(0, token.text.find_last_not_of(" \t\r") + 1);
    }
    return out;
  }

 private:
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  void skip() {
    newlines_ = 0;
    const size_t begin = at_;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n' || (c == '\r' && at(at_ + 1) != '\n'))
        ++newlines_;
      else if (c != ' ' && c != '\t' && c != '\r')
        break;
    }
    blank_ = at_ > begin;
  }

  // Goes to the end of the token.
  TokenKind read() {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return TokenKind::comment;
    }
    if (c == '"') {
      const size_t end = text_.find_first_of("\"\n", at_ + 1);
      at_ = end == text_.npos ? text_.size() : text_[end] == '"' ? end + 1 : end;
      return TokenKind::quoted;
    }
    if (is_decimal(c) || (c == '.' && is_decimal(at(at_ + 1)))) return read_number();
    if (starts_name(c) || (c == '%' && starts_name(at(at_ + 1)))) return read_name();
    for (const std::string_view sign : {"->", "..", "<=", ">=", "==", "!="})
      if (text_.substr(at_, 2) == sign) return at_ += 2, TokenKind::sign;
    ++at_;
    return TokenKind::sign;
  }

  void skip_name() {
    while (in_name(at(at_))) ++at_;
  }

  // `x`, `%x`, `rank.tp`.
  TokenKind read_name() {
    ++at_;
    skip_name();
    while (at(at_) == '.' && starts_name(at(at_ + 1))) {
      ++at_;
      skip_name();
    }
    return TokenKind::word;
  }

  // `4`, `0.5`, `1e-05`.
  TokenKind read_number() {
    skip_name();
    if (at(at_) == '.' && at(at_ + 1) != '.') {
      ++at_;
      skip_name();
    }
    const bool power = at(at_ - 1) == 'e' || at(at_ - 1) == 'E';
    if (power && (at(at_) == '-' || at(at_) == '+') && is_decimal(at(at_ + 1))) {
      ++at_;
      skip_name();
    }
    return TokenKind::word;
  }

  std::string_view text_;
  size_t at_ = 0;
  int newlines_ = 0;
  bool blank_ = false;
};

// Words behind which an operand stands.
bool takes_operand(std::string_view word) { return one_of(word, {"in", "below", "at", "and", "or", "not"}); }

bool is_known(const FormatToken& token) {
  return token.kind != TokenKind::sign ||
         one_of(token.text, {"(", ")", "[", "]", "{",  "}",  ",",  ":",  "=",  "@", "*",
                             "+", "-", "<", ">", "->", "..", "<=", ">=", "==", "!="});
}

// `add(` and `partial(`, but `allocation (`, `-> (`, `fusion @f (`.
bool blank_before_parenthesis(const std::vector<FormatToken>& tokens, size_t at, std::string_view statement) {
  const FormatToken& before = tokens[at - 1];
  if (before.kind != TokenKind::word) return before.text != "*";
  if (before.text[0] == '%') return true;
  if (at >= 2 && tokens[at - 2].is("@")) return one_of(statement, {"mesh", "fusion", "program", "segment", "kernel"});
  return takes_operand(before.text) || one_of(before.text, {"allocation", "loops", "using"});
}

}  // namespace

std::vector<FormatToken> format_tokens(std::string_view text) { return TokenReader(text).run(); }

bool is_unary(const std::vector<FormatToken>& tokens, size_t at) {
  if (!tokens[at].is("-") && !tokens[at].is("+")) return false;
  if (at == 0 || tokens[at - 1].is_comment()) return true;
  const FormatToken& before = tokens[at - 1];
  if (before.kind == TokenKind::sign) return !one_of(before.text, {")", "]", "}"});
  return takes_operand(before.text);
}

bool blank_before(const std::vector<FormatToken>& tokens, size_t at, std::string_view statement) {
  const FormatToken &before = tokens[at - 1], &token = tokens[at];
  if (!is_known(before) || !is_known(token)) return token.blank;
  if (one_of(token.text, {",", ":", ")", "]", "}"}) && token.kind == TokenKind::sign) return false;
  if (before.kind == TokenKind::sign) {
    if (one_of(before.text, {"(", "[", "{", "@", "*"}) || is_unary(tokens, at - 1)) return false;
    if (before.text == "..") return token.is("below");
  }
  if (token.kind != TokenKind::sign) return !(statement == "kernel" && before.is("+"));
  if (token.text == "*") return false;
  if (token.text == "..") return before.is("in");
  if (token.text == "(") return blank_before_parenthesis(tokens, at, statement);
  if (token.text == "[") return before.kind == TokenKind::sign ? !before.is("]") : before.is("strides");
  return !(statement == "kernel" && token.is("+"));
}

}  // namespace plait
