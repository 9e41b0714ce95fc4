#pragma once
// The one option table.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

// The options of the compiler with their values; names, types, initial values and meaning: base/options.def, and `plait
// doctor --options`.
struct Options {
#define PLAIT_OPTION(type, name, initial, key, doc) type name = initial;
#include "base/options.def"
#undef PLAIT_OPTION
  bool operator==(const Options&) const = default;
};

// Sets an option from text. UserError naming the option and what it takes; unknown names get a suggestion.
void set_option(Options& options, std::string_view name, std::string_view value);

// `name=value` of the options that enter the cache key and differ from their default, with blanks between.
std::string cache_key(const Options& options);
// `name=value` of every option that differs from its default: how to repeat a run.
std::vector<std::string> changed_options(const Options& options);

// A row of the table of options. `enters_cache_key`: another value makes other kernels.
struct OptionInfo {
  std::string_view name, type, initial, doc;
  bool enters_cache_key;
};
const std::vector<OptionInfo>& option_table();  // all options, in the order of base/options.def

}  // namespace plait
