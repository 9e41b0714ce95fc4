// FILE.plaitc: compiled programs as files of the command.
#include <fmt/ranges.h>

#include <array>
#include <fstream>
#include <set>

#include "api/program_file.h"
#include "base/error.h"
#include "base/suggest.h"
#include "plait_command.h"
#include "plait_json.h"
#include "session/bind_inputs.h"

namespace plait::tool {

namespace {

void refuse(const std::string& flag, bool given) {
  if (given)
    throw UserError(fmt::format("{} is settled: the program is compiled", flag), flag,
                    "leave it out, or compile the text again");
}

void refuse_what_is_settled(const Arguments& args) {
  refuse("--device", !args.device.empty());
  refuse("--ranks", args.ranks.has_value());
  refuse("--option", !args.options.empty());
  refuse("--comm", args.comm != "local");
  refuse("--dump", !args.dumps.empty());
  refuse("--bisect", !args.bisect.empty());
  refuse("--watch", !args.watch.empty());
  refuse("--passes", args.list_passes);
}

// Sizes of `--set`, which dims of inputs have; others and dtypes are settled.
Sizes sizes_of_inputs(const Arguments& args, const Fusion& fusion) {
  std::set<std::string> open;
  for (const TensorView* t : fusion.inputs())
    for (sym::Expr extent : t->shape())
      if (extent.is_symbol()) open.insert(extent.symbol_name());
  for (const std::string& symbol : mesh_symbols(fusion.mesh())) open.erase(symbol);
  const Sizes given = read_sizes(args, fusion);
  Sizes out;
  for (const std::string& word : args.sets) {
    const std::string name = name_and_value(word, "--set").first;
    refuse("--set " + name, !open.contains(name));
    out[name] = given.at(name);
  }
  return out;
}

// What they were written as stands for machine code.
std::map<std::string, std::string> texts_of(const SavedProgram& program) {
  const SavedClass& made = program.classes.front();
  std::map<std::string, std::string> out = made.texts;
  out["fusion"] = program.fusion;
  out["segments"] = out["segmented"];
  for (const char* other : {"segmented", "reasons", "shard"}) out.erase(other);
  if (!made.kernel_texts.empty()) out["kir"] = fmt::format("{}", fmt::join(made.kernel_texts, ""));
  std::string& code = out[program.needs.starts_with("x86-64") ? "llvm" : "cuda"];
  for (const SavedKernel& kernel : made.kernels) code += kernel.text.text;
  return out;
}

}  // namespace

std::optional<std::string> program_bytes(const Arguments& args) {
  if (args.text) return is_program_file(*args.text) ? args.text : std::nullopt;
  std::array<char, 8> first{};
  std::ifstream in(args.file, std::ios::binary);
  if (!in.read(first.data(), first.size()) || !is_program_file({first.data(), first.size()})) return std::nullopt;
  return read_text(args.file);
}

Loaded load_program(const Arguments& args, const std::string& bytes) {
  if (args.command != "run" && args.command != "view")
    throw UserError(fmt::format("`{}` is a compiled program, plait {} takes texts", args.file, args.command), "",
                    fmt::format("plait run {0}, plait view {0}, or plait opt {0} --until STAGE", args.file));
  refuse_what_is_settled(args);
  const SavedProgram saved = unpack(bytes, args.file);
  Loaded out;
  out.fusion = parse_fusion(saved.fusion, {.file = args.file});
  out.dumps = std::make_unique<DumpSink>();
  out.options.device = saved.device;
  out.options.one_rank = saved.one_rank;
  out.options.sizes = {saved.sizes.begin(), saved.sizes.end()};
  for (const auto& [name, value] : sizes_of_inputs(args, *out.fusion)) out.options.sizes[name] = value;
  out.compiled = std::make_unique<Compiled>(deserialize(bytes, {}, args.file));
  return out;
}

int print_saved(const Arguments& args, const std::string& bytes) {
  refuse_what_is_settled(args);
  refuse("--set", !args.sets.empty());
  const SavedProgram saved = unpack(bytes, args.file);
  const std::map<std::string, std::string> texts = texts_of(saved);
  const std::string stage = args.until.empty() ? "program" : args.until;
  const auto found = texts.find(stage);
  std::vector<std::string> known;
  for (const auto& [stage, text] : texts) known.push_back(stage);
  if (found == texts.end())
    throw UserError(fmt::format("`{}` holds no text of stage `{}`", args.file, stage), "--until",
                    suggestion(stage, known));
  fmt::print("{}{}", found->second, found->second.ends_with('\n') ? "" : "\n");
  if (!args.json.empty()) write_text_json(args, found->first, found->second);
  return 0;
}

}  // namespace plait::tool
