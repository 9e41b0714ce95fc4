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
  if (options.contractions != "auto" && options.contractions != "library" && options.contractions != "nest")
    refuse("contractions", options.contractions, "auto, library or nest");
  if (options.cpu_threads > 1024) refuse("cpu_threads", std::to_string(options.cpu_threads), "0 to 1024");
  if (options.reduce_dtype != "narrow" && options.reduce_dtype != "f32")
    refuse("reduce_dtype", options.reduce_dtype, "narrow or f32");
  if (options.comm_timeout < 1 || options.comm_timeout > 86400)
    refuse("comm_timeout", std::to_string(options.comm_timeout), "1 to 86400");
  if (options.uneven != "auto" && options.uneven != "grouped" && options.uneven != "padded")
    refuse("uneven", options.uneven, "auto, grouped or padded");
  if (int64_t l = options.cpu_lanes; l != 0 && l != 1 && l != 4 && l != 8 && l != 16)
    refuse("cpu_lanes", std::to_string(l), "0, 1, 4, 8 or 16");
  if (!options.test_bug.empty()) {
    for (auto bug : test_bugs())
      if (bug == options.test_bug) return;
    throw UserError(fmt::format("there is no planted bug `{}`", options.test_bug), "",
                    suggestion(options.test_bug, {test_bugs().begin(), test_bugs().end()}));
  }
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

bool has_test_bug(const Options& options, std::string_view name) { return options.test_bug == name; }

const std::vector<std::string_view>& test_bugs() {
  static const std::vector<std::string_view> bugs = {
      "dropped_bias",         // split_bias forgets the bias
      "bias_on_every_rank",   // the bias joins before the reduction
      "wrong_chunk_bound",    // a local slice starts one element too early
      "missing_tail",         // elements behind the last whole vector are not computed
      "swapped_gather",       // an all-gather puts the pieces of two ranks in each other's place
      "lost_conflict_rule",   // parameters lose their rank in conflicts
      "partial_not_reduced",  // a pending sum is taken for whole
      "local_random_index",   // random numbers use the local index
      "stale_slice",          // a local slice starts at 0 on every rank
      "wrong_broadcast",      // an operand of lower rank is read at the coordinate of another dim
      "undelivered_sum",      // the last rank keeps its own part of an all-reduce
      "lost_wait",            // no stream of a program waits for the other
      "subtracting_pass",     // remove_unread makes the additions subtractions
      // Each fails an internal check somewhere: for the reproducer.
      "internal_error",            // before the first pass
      "internal_error_propagate",  // in the pass of that name, as the next three
      "internal_error_segment", "internal_error_lower", "internal_error_build_program",
      "internal_error_kernel",  // where a kernel is compiled
      "internal_error_bind",    // where sizes are bound
      "library_refuses",        // every product, where sizes are bound
      "internal_error_run",     // in a run
      "internal_error_crash",   // no check: a signal, before the first pass
  };
  return bugs;
}

}  // namespace plait
