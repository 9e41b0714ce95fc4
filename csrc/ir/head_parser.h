#pragma once
// The part of the Fusion parser that reads what stands before a fusion: sizes, dtypes, facts. Private to csrc/ir.
#include <algorithm>
#include <set>

#include "ir/fusion.h"
#include "ir/value_parser.h"

namespace plait {

class HeadParser : protected ValueParser {
 public:
  HeadParser(std::string_view text, const ParseOptions& options) : ValueParser(text, options.file), options_(options) {}

 protected:
  // To the end of the line.
  void read_facts() {
    std::string_view line = in_.rest();
    line = line.substr(0, line.find_first_of("#\r\n"));
    const size_t blanks = std::min(line.find_first_not_of(" \t"), line.size());
    facts_at_ = in_.offset() + blanks;
    line.remove_prefix(blanks);
    if (line.empty()) in_.fail("no facts", "write e.g. given n: 16 in 16..4096");
    guarded(facts_at_, [&] { facts_.merge(sym::parse_facts(line)); });
    if (facts_.rows().size() > kMaxLets)
      in_.fail(fmt::format("facts about more than {} symbols", kMaxLets), "write numbers instead");
    in_.rewind(facts_at_ + line.size());
  }

  void read_lets() {
    do {
      const size_t at = in_.here();
      std::string name = in_.word("a name");
      if (lets_.size() == kMaxLets)
        in_.fail_at(at, fmt::format("more than {} lets", kMaxLets), "write numbers instead");
      if (!lets_.insert(name).second) in_.fail_at(at, fmt::format("`{}` is defined twice", name), "let a name once");
      if (parse_dtype(name)) in_.fail_at(at, fmt::format("`{}` is a dtype", name), "choose another name");
      in_.expect("=", fmt::format("after `{}`", name));
      auto set = options_.set.find(name);
      if (in_.next_is_word()) {
        const size_t value_at = in_.here();
        std::string text = in_.word("a dtype");
        auto dtype = parse_dtype(text);
        if (!dtype) in_.fail_at(value_at, fmt::format("`{}` is no dtype", text), dtype_help(text));
        if (set != options_.set.end()) {
          dtype = parse_dtype(set->second);
          if (!dtype)
            throw UserError(fmt::format("`{}` is no dtype", set->second), options_.set_place + name,
                            dtype_help(set->second));
        }
        dtypes_.push_back({name, *dtype});
      } else {
        int64_t value = in_.integer("a size or a dtype");
        if (value < 0) in_.fail_at(at, fmt::format("size {} = {} is negative", name, value), "sizes are at least 0");
        if (set != options_.set.end()) value = setting(set->second, options_.set_place + name);
        sizes_.push_back({name, value});
        size_at_.push_back(at);
      }
    } while (in_.accept(","));
  }

  sym::Facts facts_;
  size_t facts_at_ = 0;
  std::vector<size_t> size_at_;

 private:
  static constexpr size_t kMaxLets = 10000;

  const ParseOptions& options_;
  std::set<std::string> lets_;
};

}  // namespace plait
