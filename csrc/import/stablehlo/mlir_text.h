#pragma once
// Words of MLIR's text form, with places.
#include <string>
#include <string_view>

#include "import/stablehlo/module.h"

namespace plait::stablehlo {

class MlirText {
 public:
  MlirText(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  char peek();  // the next character behind blanks and comments, or 0
  bool at_end() { return peek() == 0; }
  bool next_is(std::string_view token);
  bool accept(std::string_view token);  // a word only where it ends there
  void expect(std::string_view token);
  bool next_is_word();
  // Letters, digits, _, $, . and -: an op, a keyword, a name behind %, @ or #.
  std::string word(std::string_view what);
  std::string quoted();
  // A number as it is written: 1, -4.471500e-02, 0x7FC00000.
  std::string number();
  bool next_is_number();
  // What stands up to one of `ends` outside of brackets and texts, which is not taken.
  std::string until(std::string_view ends);
  // Takes what stands in brackets, of which the next character opens the first.
  std::string balanced();
  // Takes an unsigned number that stands right here, without blanks.
  std::string digits_here();
  bool accept_here(char c);
  Place here();
  [[noreturn]] void fail(const std::string& what);
  size_t offset() const { return at_; }
  void rewind(size_t offset) { at_ = offset; }

 private:
  void skip();
  std::string_view text_;
  std::string file_;
  size_t at_ = 0;
};

}  // namespace plait::stablehlo
