#pragma once
// Words of a PTX text.
#include <cstdint>
#include <string>
#include <string_view>

namespace plait::sim::ptx {

class Lexer {
 public:
  enum class Kind : uint8_t { word, number, text, sign, end };  // text: in quotes; sign: one character

  explicit Lexer(std::string_view source);
  Kind kind() const { return kind_; }
  std::string_view token() const { return token_; }  // without quotes; empty at the end
  int line() const { return token_line_; }
  bool is(std::string_view token) const { return token_ == token && kind_ != Kind::text; }

  void advance();
  bool accept(std::string_view token);  // advances if it is this
  void expect(std::string_view token);  // Fault kInvalidPtx if it is not
  std::string expect_word(const char* what);
  uint64_t expect_number(const char* what);  // an integer
  std::string_view rest_of_line();           // from the token on; advances to the next line

 private:
  void skip_blanks();

  std::string_view source_, token_;
  size_t at_ = 0, token_at_ = 0;
  int line_ = 1, token_line_ = 1;
  Kind kind_ = Kind::end;
};

// "123", "0x7b", "0173", "0b11", with or without a U; false if it is something else or too large.
bool parse_integer(std::string_view text, uint64_t* value);

}  // namespace plait::sim::ptx
