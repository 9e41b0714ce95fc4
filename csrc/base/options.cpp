#include "base/options.h"

#include <charconv>

#include "base/error.h"
#include "base/suggest.h"

namespace plait {

namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view value, std::string_view takes) {
  throw UserError(fmt::format("`{}` is no value of option {}", value, name), "", fmt::format("it takes {}", takes));
}

void read(std::string_view name, std::string_view text, bool& out) {
  if (text == "true" || text == "1")
    out = true;
  else if (text == "false" || text == "0")
    out = false;
  else
    refuse(name, text, "true or false");
}

void read(std::string_view name, std::string_view text, int64_t& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 0) refuse(name, text, "a number from 0");
}

void read(std::string_view, std::string_view text, std::string& out) { out = text; }

std::string show(bool v) { return v ? "true" : "false"; }
std::string show(int64_t v) { return std::to_string(v); }
std::string show(const std::string& v) { return v; }

void check(const Options& options) {
  if (options.contractions != "auto" && options.contractions != "library" && options.contractions != "own" &&
      options.contractions != "nest")
    refuse("contractions", options.contractions, "auto, library, own or nest");
  if (options.cpu_threads > 1024) refuse("cpu_threads", std::to_string(options.cpu_threads), "0 to 1024");
  if (options.reduce_dtype != "narrow" && options.reduce_dtype != "f32")
    refuse("reduce_dtype", options.reduce_dtype, "narrow or f32");
  if (options.gathered != "again" && options.gathered != "kept") refuse("gathered", options.gathered, "again or kept");
  if (options.comm_timeout < 1 || options.comm_timeout > 86400)
    refuse("comm_timeout", std::to_string(options.comm_timeout), "1 to 86400");
  if (options.uneven != "auto" && options.uneven != "grouped" && options.uneven != "padded")
    refuse("uneven", options.uneven, "auto, grouped or padded");
  if (int64_t l = options.cpu_lanes; l != 0 && l != 1 && l != 4 && l != 8 && l != 16)
    refuse("cpu_lanes", std::to_string(l), "0, 1, 4, 8 or 16");
  if (const std::string& c = options.cpu; c != "native" && c != "x86-64-v2" && c != "x86-64-v3" && c != "x86-64-v4")
    refuse("cpu", c, "native, x86-64-v2, x86-64-v3 or x86-64-v4");
}

}  // namespace

void set_option(Options& options, std::string_view name, std::string_view value) {
  Options changed = options;
#define PLAIT_OPTION(type, option, initial, key, doc) \
  if (name == #option) {                              \
    read(name, value, changed.option);                \
    check(changed);                                   \
    options = changed;                                \
    return;                                           \
  }
#include "base/options.def"
#undef PLAIT_OPTION
  std::vector<std::string> names;
  for (const auto& o : option_table()) names.emplace_back(o.name);
  throw UserError(fmt::format("there is no option `{}`", name), "", suggestion(name, names));
}

std::string cache_key(const Options& options) {
  std::string out;
  Options initial;
#define PLAIT_OPTION(type, option, value, key, doc) \
  if (key && options.option != initial.option)      \
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", #option, show(options.option));
#include "base/options.def"
#undef PLAIT_OPTION
  return out;
}

std::vector<std::string> changed_options(const Options& options) {
  std::vector<std::string> out;
  Options initial;
#define PLAIT_OPTION(type, option, value, key, doc) \
  if (options.option != initial.option) out.push_back(fmt::format("{}={}", #option, show(options.option)));
#include "base/options.def"
#undef PLAIT_OPTION
  return out;
}

const std::vector<OptionInfo>& option_table() {
  static const std::vector<OptionInfo> table = {
#define PLAIT_OPTION(type, name, initial, key, doc) {#name, #type, #initial, doc, key},
#include "base/options.def"
#undef PLAIT_OPTION
  };
  return table;
}

}  // namespace plait
