#pragma once
// Words and comments of a text of a fusion or a program, and the blanks between two of them on a line. Private to
// csrc/ir.
#include <string_view>
#include <vector>

namespace plait {

enum class TokenKind { comment, quoted, word, sign };  // word: names, numbers, %tensors

struct FormatToken {
  TokenKind kind;
  std::string_view text;  // of a comment without the blanks behind it
  int newlines = 0;       // between the token before and this one
  bool blank = false;     // whether anything stands between them

  bool is(std::string_view sign) const { return kind != TokenKind::comment && text == sign; }
  bool is_comment() const { return kind == TokenKind::comment; }
};

// All of a text, which the tokens point into.
std::vector<FormatToken> format_tokens(std::string_view text);

// Whether `+` or `-` at `at` is the sign of what follows, not between two operands.
bool is_unary(const std::vector<FormatToken>& tokens, size_t at);

// Whether a blank stands between tokens[at - 1] and tokens[at] on one line. `statement` is the first word of theirs.
bool blank_before(const std::vector<FormatToken>& tokens, size_t at, std::string_view statement);

}  // namespace plait
