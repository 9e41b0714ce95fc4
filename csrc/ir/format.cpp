#include "ir/format.h"

#include <algorithm>
#include <initializer_list>

#include "base/error.h"
#include "ir/format_tokens.h"

namespace plait {

namespace {

constexpr size_t kLevel = 2, kContinued = 4;  // columns

bool opens(const FormatToken& token) { return token.is("(") || token.is("[") || token.is("{"); }
bool closes(const FormatToken& token) { return token.is(")") || token.is("]") || token.is("}"); }

class TextFormatter {
 public:
  explicit TextFormatter(std::string_view text) : tokens_(format_tokens(text)), places_(tokens_.size()) {}

  std::string run() {
    match_brackets();
    while (at_ < tokens_.size()) place_statement();
    for (size_t begin = 0, end; begin < tokens_.size(); begin = end) {
      end = begin + 1;
      while (end < tokens_.size() && !places_[end].starts) ++end;
      write_line(begin, end);
    }
    check();
    return std::move(out_);
  }

 private:
  // Where a token goes.
  struct Place {
    bool starts = false;         // a line
    bool apart = false;          // an empty line is in front of it
    bool broken = false;         // of a bracket: each item has a line of its own
    size_t indent = 0;           // of the line that it starts
    size_t closing = 0;          // of an opening bracket
    std::string_view statement;  // the first word of what it belongs to
  };

  void match_brackets() {
    std::vector<size_t> open;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].is_comment() && !open.empty()) places_[open.back()].broken = true;
      if (opens(tokens_[i])) {
        open.push_back(i);
        places_[i].closing = tokens_.size();
        places_[i].broken = i + 1 < tokens_.size() && tokens_[i + 1].newlines > 0 && !closes(tokens_[i + 1]);
      } else if (closes(tokens_[i]) && !open.empty()) {
        places_[open.back()].closing = i;
        open.pop_back();
      }
    }
  }

  void start_line(size_t at, size_t indent, bool may_be_apart) {
    Place& place = places_[at];
    place.starts = true;
    place.indent = indent;
    place.apart = may_be_apart && at > 0 && tokens_[at].newlines > 1;
  }

  // The statement at at_: its tokens get their places, and at_ goes behind it.
  void place_statement() {
    const FormatToken& first = tokens_[at_];
    const bool closing = depth_ > 0 && first.is("}");
    if (closing) --depth_;
    const size_t indent = kLevel * depth_;
    if (first.is_comment() && at_ > 0 && first.newlines == 0) {  // behind the statement before
      places_[at_++].statement = "#";
      return;
    }
    start_line(at_, indent, !after_opening_ && !closing);
    const size_t begin = at_, end = find_end();
    if (first.is("fusion") && after_head_) places_[at_].apart = true;
    after_head_ = first.is("let") || first.is("given") || first.is("mesh");
    after_opening_ = opens(tokens_[end - 1]) && !closing;
    for (size_t i = begin; i < end; ++i) places_[i].statement = first.text;
    if (depth_ == 0 && (first.is("fusion") || first.is("program"))) break_long_inputs(begin, end);
    place_within(begin, end, indent);
    if (after_opening_ && depth_++ == 0) program_ = first.is("program");
    at_ = end;
  }

  // Behind the last word of the statement at at_; comments behind that are none of it.
  size_t find_end() const {
    const FormatToken& first = tokens_[at_];
    if (first.is_comment() || first.is("}")) return at_ + 1;
    const bool head = depth_ == 0 || first.is("segment");
    const bool by_line = first.is("given") || (depth_ > 0 && program_);
    bool assigned = false;
    for (size_t i = at_;;) {
      const FormatToken& token = tokens_[i];
      if (token.is("{") && head) return i + 1;
      const size_t end = opens(token) ? std::min(places_[i].closing + 1, tokens_.size()) : i + 1;
      size_t next = end;
      bool breaks = false;
      for (; next < tokens_.size(); ++next) {
        breaks |= tokens_[next].newlines > 0;
        if (!tokens_[next].is_comment()) break;
      }
      if (next == tokens_.size() || tokens_[next].is("}")) return end;
      if (by_line ? breaks : head ? begins_head(tokens_[end - 1], tokens_[next]) : assigned && token.is("("))
        return end;
      assigned |= token.is("=");
      i = next;
    }
  }

  // Whether a statement in front of a body starts here: no size, axis or mesh of that name.
  bool begins_head(const FormatToken& before, const FormatToken& token) const {
    const auto is_one = [](const FormatToken& one, std::initializer_list<const char*> words) {
      return std::any_of(words.begin(), words.end(), [&](const char* word) { return one.is(word); });
    };
    return depth_ == 0 && is_one(token, {"let", "given", "mesh", "fusion", "program"}) &&
           !is_one(before, {",", "=", "@", "let", "with"});
  }

  // Inputs have a line each where the head would pass the last column.
  void break_long_inputs(size_t begin, size_t end) {
    if (width(begin, end) <= kFormatColumns) return;
    for (size_t i = begin; i < end; ++i)
      if (tokens_[i].is("(")) {
        places_[i].broken = places_[i].closing > i + 1;
        return;
      }
  }

  // Lines of lists with an item on each, and behind comments.
  void place_within(size_t begin, size_t end, size_t indent) {
    std::vector<size_t> open;  // brackets that are open
    size_t broken = 0;
    bool item = true;  // a new item begins
    for (size_t i = begin; i < end; ++i) {
      const bool in_broken = !open.empty() && places_[open.back()].broken;
      if (in_broken && closes(tokens_[i])) {
        start_line(i, indent + kLevel * --broken, false);
      } else if (i > begin) {
        const bool comment = tokens_[i].is_comment() && tokens_[i].newlines > 0;
        const bool boundary = in_broken && (comment || (item && !tokens_[i].is_comment()));
        if (boundary || comment || tokens_[i - 1].is_comment())
          start_line(i, indent + kLevel * broken + (boundary ? 0 : kContinued), !opens(tokens_[i - 1]));
      }
      if (!tokens_[i].is_comment()) item = (tokens_[i].is(",") && in_broken) || opens(tokens_[i]);
      if (closes(tokens_[i]) && !open.empty()) open.pop_back();
      const bool body = i + 1 == end && places_[i].closing >= end;
      if (!opens(tokens_[i]) || body) continue;
      open.push_back(i);
      broken += places_[i].broken;
    }
  }

  // Columns of the tokens on one line.
  size_t width(size_t begin, size_t end) const {
    size_t out = 0;
    for (size_t i = begin; i < end && !tokens_[i].is_comment(); ++i)
      out += tokens_[i].text.size() + (i > begin && blank_before(tokens_, i, places_[i].statement));
    return out;
  }

  // The tokens of one line; of several where they would pass the last column and stood on several.
  void write_line(size_t begin, size_t end) {
    const Place& place = places_[begin];
    if (place.apart) out_ += '\n';
    out_.append(place.indent, ' ');
    const bool breaks = place.indent + width(begin, end) > kFormatColumns;
    for (size_t i = begin; i < end; ++i) {
      if (i > begin && tokens_[i].is_comment()) {
        out_ += "  ";
      } else if (i > begin && breaks && tokens_[i].newlines > 0) {
        out_ += '\n';
        out_.append(place.indent + kContinued, ' ');
      } else if (i > begin && blank_before(tokens_, i, places_[i].statement)) {
        out_ += ' ';
      }
      out_ += tokens_[i].text;
    }
    out_ += '\n';
  }

  void check() const {
    const std::vector<FormatToken> after = format_tokens(out_);
    const bool same = std::equal(after.begin(), after.end(), tokens_.begin(), tokens_.end(),
                                 [](const auto& a, const auto& b) { return a.kind == b.kind && a.text == b.text; });
    if (!same) throw InternalError("the layout of a text changed its words", "format_text", "");
  }

  std::vector<FormatToken> tokens_;
  std::vector<Place> places_;
  std::string out_;
  size_t at_ = 0;
  size_t depth_ = 0;           // of bodies
  bool program_ = false;       // the body is a program's
  bool after_head_ = false;    // the statement before is a let, a fact or a mesh
  bool after_opening_ = true;  // the statement before opens a body, or there is none
};

}  // namespace

std::string format_text(std::string_view text) { return TextFormatter(text).run(); }

}  // namespace plait
