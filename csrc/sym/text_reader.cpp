#include "sym/text_reader.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "sym/node.h"

namespace plait {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

size_t count_words(std::string_view text) {
  size_t words = 0;
  for (size_t at = 0; at < text.size(); ++at) words += is_word(text[at]) && (at == 0 || !is_word(text[at - 1]));
  return words;
}

}  // namespace

bool is_readable(sym::Expr expr) {
  const size_t nodes = expr.node()->tree_size;
  if (8 * nodes <= kMaxWords) return true;
  return nodes <= 8 * kMaxWords && count_words(sym::print(expr)) <= kMaxWords;
}

TextReader::TextReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {
  if (text.size() > kMaxText)
    fail_at(0, fmt::format("a text of {} bytes", text.size()), fmt::format("texts have at most {}", kMaxText));
}

void TextReader::skip() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (is_blank(c)) {
      ++at_;
    } else {
      return;
    }
  }
}

bool TextReader::at_end() {
  skip();
  return at_ >= text_.size();
}

size_t TextReader::here() {
  skip();
  return at_;
}

char TextReader::peek() { return at_end() ? '\0' : text_[at_]; }

bool TextReader::accept(std::string_view token) {
  skip();
  if (text_.substr(at_, token.size()) != token) return false;
  size_t end = at_ + token.size();
  if (is_word(token.back()) && end < text_.size() && is_word(text_[end])) return false;
  at_ = end;
  return true;
}

std::string TextReader::found() {
  if (at_end()) return "the end of the text";
  size_t end = at_ + 1;
  if (is_word(text_[at_]))
    while (end < text_.size() && end < at_ + 40 && is_word(text_[end])) ++end;
  std::string out;
  for (char c : text_.substr(at_, end - at_)) out += c < 32 || c > 126 ? '?' : c;
  return "`" + out + "`";
}

void TextReader::expect(std::string_view token, std::string_view context) {
  if (!accept(token)) fail(fmt::format("found {}", found()), fmt::format("expected `{}` {}", token, context));
}

bool TextReader::next_is_word() { return is_letter(peek()); }

// The letters, digits and _ from here on.
std::string TextReader::name(std::string_view what) {
  size_t begin = at_, end = begin;
  while (end < text_.size() && is_word(text_[end])) ++end;
  if (end - begin > kMaxName)
    fail(fmt::format("{} of {} characters", what, end - begin), fmt::format("names have at most {}", kMaxName));
  at_ = end;
  return std::string(text_.substr(begin, end - begin));
}

std::string TextReader::word(std::string_view what) {
  if (!next_is_word()) fail(fmt::format("found {}", found()), fmt::format("expected {}", what));
  return name(what);
}

std::string TextReader::tensor_name() {
  if (peek() != '%') fail(fmt::format("found {}", found()), "expected a tensor, e.g. %x");
  ++at_;
  if (at_ >= text_.size() || !is_letter(text_[at_])) fail("`%` without a name", "names are letters, digits and _");
  return name("a tensor name");
}

int64_t TextReader::integer(std::string_view what) {
  skip();
  int64_t value = 0;
  const char* begin = text_.data() + at_;
  auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (error == std::errc::result_out_of_range)
    fail(fmt::format("{} does not fit into 64 bits", std::string(begin, std::min<size_t>(end - begin, 40))),
         fmt::format("expected {}", what));
  if (error != std::errc()) fail(fmt::format("found {}", found()), fmt::format("expected {}", what));
  at_ += end - begin;
  return value;
}

int64_t TextReader::integer(std::string_view what, int64_t least, int64_t most) {
  size_t at = here();
  int64_t value = integer(what);
  if (value < least || value > most)
    fail_at(at, fmt::format("{} is out of range", value), fmt::format("expected {}, {} to {}", what, least, most));
  return value;
}

std::string TextReader::number_text(std::string_view what) {
  skip();
  size_t end = at_;
  while (end < text_.size() && (is_word(text_[end]) || text_[end] == '.' || text_[end] == '+' || text_[end] == '-'))
    ++end;
  if (end == at_) fail(fmt::format("found {}", found()), fmt::format("expected {}", what));
  std::string out(text_.substr(at_, end - at_));
  at_ = end;
  return out;
}

std::string TextReader::quoted(std::string_view what) {
  if (peek() != '"') fail(fmt::format("found {}", found()), fmt::format("expected {}", what));
  const size_t end = text_.find_first_of("\"\n", at_ + 1);
  if (end == text_.npos || text_[end] != '"') fail("`\"` is never closed", "expected `\"` on the same line");
  const std::string out(text_.substr(at_ + 1, end - at_ - 1));
  if (out.size() > kMaxQuoted)
    fail(fmt::format("{} of {} characters", what, out.size()), fmt::format("at most {}", kMaxQuoted));
  if (std::any_of(out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }))
    fail(fmt::format("{} with a character that is no sign of ASCII", what), "write letters, digits and signs");
  at_ = end + 1;
  return out;
}

// Counts the words up to where an expression ends at the latest.
void TextReader::check_expression(std::string_view what, size_t most_words) {
  size_t words = 0, depth = 0;
  bool inside = false;
  for (size_t at = at_; at < text_.size(); ++at) {
    const char c = text_[at];
    if (is_word(c) && !inside && ++words > most_words)
      fail(fmt::format("{} of more than {} words", what, most_words), "write a shorter expression");
    inside = is_word(c);
    if (c == '(') ++depth;
    if (depth == 0 && (c == ',' || c == ')' || c == '#')) return;
    if (c == ')') --depth;
    if (c == ']' || c == '{' || c == '}' || c == '%' || c == '[') return;
  }
}

sym::Expr TextReader::expression(sym::Pool& pool, std::string_view what) {
  skip();
  check_expression(what, kMaxWords);
  std::string_view rest = text_.substr(at_), probe = rest;
  try {
    // Sizes are at least 0: the facts are stated first, then the expression is built on them.
    for (const auto& symbol : sym::symbols(sym::parse_prefix(pool, probe)))
      pool.symbol(symbol, sym::SymbolInfo{0, {}, 1, {}});
    sym::Expr out = sym::parse_prefix(pool, rest);
    at_ = text_.size() - rest.size();
    return out;
  } catch (const UserError& e) {
    fail_within(what, e);
  }
}

// Where the error is in the expression stands in its own place as "column N of ...".
void TextReader::fail_within(std::string_view what, const UserError& error) {
  constexpr std::string_view kColumn = "column ";
  const std::string& where = error.where();
  size_t column = 1;
  if (where.rfind(kColumn, 0) == 0) std::from_chars(where.data() + kColumn.size(), where.data() + where.size(), column);
  fail_at(std::min(at_ + column - 1, text_.size()), fmt::format("{}: {}", what, error.message()),
          error.remedy().empty() ? "expected an integer expression" : error.remedy());
}

sym::Expr TextReader::known_expression(sym::Pool& pool, std::string_view what) {
  skip();
  check_expression(what, 20 * kMaxWords);
  std::string_view rest = text_.substr(at_);
  try {
    const sym::Expr out = sym::parse_prefix(pool, rest, {.create_symbols = false});
    at_ = text_.size() - rest.size();
    return out;
  } catch (const UserError& e) {
    fail_within(what, e);
  }
}

std::string TextReader::balanced(std::string_view what) {
  std::string out = word(what);
  if (peek() != '(') return out;
  int depth = 0;
  const size_t begin = at_;
  while (!at_end()) {  // skips blanks and comments
    char c = text_[at_];
    if (c < ' ' || c > '~') fail("a character that no schedule has", "write letters, digits and signs");
    bool blank = at_ > begin && (is_blank(text_[at_ - 1]));
    if (blank && out.back() != '(' && c != ')' && c != ',') out += ' ';
    out += c;
    ++at_;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0) return out;
  }
  fail_at(begin, "`(` is never closed", "expected `)`");
}

std::string TextReader::defined_later(const std::string& name) const {
  std::string token = "%" + name;
  for (size_t at = text_.find(token, at_); at != text_.npos; at = text_.find(token, at + 1)) {
    size_t end = at + token.size();
    if (end < text_.size() && is_word(text_[end])) continue;
    while (end < text_.size() && is_blank(text_[end])) ++end;
    if (end < text_.size() && (text_[end] == '=' || text_[end] == ':')) return position(at);
  }
  return "";
}

std::set<std::string> TextReader::tensor_words() const {
  std::set<std::string> out;
  for (size_t at = text_.find('%'); at != text_.npos; at = text_.find('%', at + 1)) {
    size_t end = at + 1;
    while (end < text_.size() && is_word(text_[end])) ++end;
    if (end - at <= kMaxName) out.emplace(text_.substr(at + 1, end - at - 1));
  }
  return out;
}

std::string TextReader::with_line(size_t offset, const std::string& remedy) const {
  constexpr size_t kBefore = 60, kAfter = 40;  // characters of a long line that are shown
  if (remedy.find('\n') != remedy.npos) return remedy;
  offset = std::min(offset, text_.size());
  size_t begin = offset, end = offset;
  while (begin > 0 && text_[begin - 1] != '\n' && offset - begin < kBefore) --begin;
  while (end < text_.size() && text_[end] != '\n' && end - offset < kAfter) ++end;
  std::string line;
  for (char c : text_.substr(begin, end - begin)) line += c == '\t' ? ' ' : c < 32 || c > 126 ? '?' : c;
  while (!line.empty() && (line.back() == ' ' || line.back() == '?') && line.size() > offset - begin) line.pop_back();
  return fmt::format("{}\n  | {}\n  | {}^", remedy, line, std::string(offset - begin, ' '));
}

std::string TextReader::position(size_t offset) const {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < offset && i < text_.size(); ++i) {
    ++column;
    if (text_[i] == '\n') ++line, column = 1;
  }
  return fmt::format("{}:{}:{}", file_, line, column);
}

void TextReader::fail_at(size_t offset, const std::string& what, const std::string& remedy) {
  throw UserError(what, position(offset), with_line(offset, remedy));
}

}  // namespace plait
