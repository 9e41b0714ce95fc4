#pragma once
// Characters of a text with positions, for the parsers of the text forms.
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "sym/expr.h"

namespace plait {

inline constexpr size_t kMaxWords = 500;  // of an expression; making its canonical form takes more than linear time

inline constexpr size_t kMaxName = 1000;  // characters; comparing longer names for a suggestion would take long

inline constexpr size_t kMaxQuoted = 1000;  // characters of a text in quotes

// Whether the expression as print writes it has at most kMaxWords words.
bool is_readable(sym::Expr expr);

class TextReader {
 public:
  static constexpr size_t kMaxText = size_t{1} << 24;  // bytes
  // UserError where the text is longer.
  TextReader(std::string_view text, std::string file);

  // Skips blanks and comments (# to the end of the line).
  void skip();
  bool at_end();
  size_t offset() const { return at_; }
  size_t here();  // offset of the next character after blanks
  void rewind(size_t offset) { at_ = offset; }
  std::string_view rest() const { return text_.substr(at_); }
  char peek();                          // next character after blanks, or 0
  bool accept(std::string_view token);  // consumes a token; a word only where it ends there
  void expect(std::string_view token, std::string_view context);
  bool next_is_word();                      // a letter or _ follows
  std::string word(std::string_view what);  // letters, digits, _; at most kMaxName
  std::string tensor_name();                // %name, without the %
  int64_t integer(std::string_view what);
  int64_t integer(std::string_view what, int64_t least, int64_t most);
  std::string number_text(std::string_view what);                // a literal: number, nan, inf, true, false
  std::string quoted(std::string_view what);                     // "..." of one line, without the quotes
  sym::Expr expression(sym::Pool& pool, std::string_view what);  // its symbols are at least 0
  // Over symbols that the pool has; as long as kernels have them.
  sym::Expr known_expression(sym::Pool& pool, std::string_view what);
  // Position of the next `%name =` or `%name:`, or empty.
  std::string defined_later(const std::string& name) const;
  // Names of all tensors that the text writes.
  std::set<std::string> tensor_words() const;
  // A word and a parenthesised rest, as written with single blanks and without comments.
  std::string balanced(std::string_view what);

  [[noreturn]] void fail(const std::string& what, const std::string& remedy) { fail_at(at_, what, remedy); }
  [[noreturn]] void fail_at(size_t offset, const std::string& what, const std::string& remedy);
  std::string position(size_t offset) const;  // file:line:column
  // The remedy with the line of the offset below it, a mark under the offset. As it is where it has such a line.
  std::string with_line(size_t offset, const std::string& remedy) const;

 private:
  std::string found();
  void check_expression(std::string_view what, size_t most_words);
  [[noreturn]] void fail_within(std::string_view what, const UserError& error);
  std::string name(std::string_view what);
  std::string_view text_;
  size_t at_ = 0;
  std::string file_;
};

}  // namespace plait
