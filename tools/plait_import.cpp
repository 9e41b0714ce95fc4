// plait import: models of other formats as fusions.
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "base/file_writer.h"
#include "base/suggest.h"
#include "import/onnx/import_onnx.h"
#include "import/stablehlo/import_stablehlo.h"
#include "plait_command.h"
#include "plait_json.h"
#include "plait_npy.h"
#include "plait_values.h"

namespace plait::tool {

namespace {

constexpr size_t kMostModel = size_t{1} << 32;  // bytes; a model of ONNX has at most half of it
constexpr size_t kMostNamesTold = 200;          // lines of a text about names

enum class Format : uint8_t { onnx, stablehlo };

// As --format says, else by the file's name, else by how it begins.
Format format_of(const Arguments& args, const std::string& bytes) {
  if (args.format == "onnx") return Format::onnx;
  if (args.format == "stablehlo") return Format::stablehlo;
  if (!args.format.empty())
    throw UserError(fmt::format("`{}` is no format", args.format), "--format",
                    suggestion(args.format, {"onnx", "stablehlo"}));
  if (args.file.ends_with(".onnx")) return Format::onnx;
  if (args.file.ends_with(".mlir")) return Format::stablehlo;
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  const std::string_view start = first == bytes.npos ? "" : std::string_view(bytes).substr(first, 60);
  for (const char* word : {"module", "func.func", "\"builtin.module\"", "//", "#loc"})
    if (start.starts_with(word)) return Format::stablehlo;
  return Format::onnx;
}

int64_t size_of_word(const std::string& name, const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw UserError(fmt::format("`{}` is no size", text), "--set " + name, "sizes are whole numbers, at least 0");
  return value;
}

ImportOptions read_options(const Arguments& args) {
  ImportOptions out;
  out.file = args.file;
  out.folder = args.text ? "" : std::filesystem::absolute(args.file).parent_path().string();
  for (const std::string& word : args.sets) {
    const auto [name, text] = name_and_value(word, "--set");
    if (!out.sizes.emplace(name, size_of_word(name, text)).second)
      throw UserError(fmt::format("`{}` is set twice", name), "--set", "set it once");
  }
  for (const std::string& word : args.constants) {
    const auto [name, text] = name_and_value(word, "--constant");
    const auto read = [text = text, where = "--constant " + name](DType dtype) {
      return text.ends_with(".npy") ? read_npy(text, dtype, where) : read_list(text, dtype, where);
    };
    if (!out.constants.emplace(name, read).second)
      throw UserError(fmt::format("`{}` is given twice", name), "--constant", "give it once");
  }
  return out;
}

std::string run_line(const Arguments& args, const Imported& made) {
  std::string out = "plait run " + shell_quote(args.imported);
  if (!made.weights.empty()) out += " --weights " + shell_quote(args.weights);
  for (const TensorView* t : made.fusion->inputs())
    if (t->role == TensorRole::input) out += fmt::format(" --input {}=FILE.npy", t->name);
  return out;
}

// What a reader of the text wants to know: where it comes from, how it is run, and what names were.
std::string comments(const Arguments& args, const Imported& made) {
  const std::string file = args.text ? "standard input" : std::filesystem::path(args.file).filename().string();
  std::string out = fmt::format("# {}, from {}.\n", made.format, file);
  const auto one_line = [](std::string text) {
    for (char& c : text)
      if (c < ' ' || c > '~') c = '?';
    return text;
  };
  out = one_line(out.substr(0, out.size() - 1)) + "\n";
  size_t told = 0;
  for (const auto& [name, was] : made.renamed)
    if (name != was && !was.empty() && ++told <= kMostNamesTold)
      out += one_line(fmt::format("#   %{}: {}", name, was)) + "\n";
  if (told > kMostNamesTold) out += fmt::format("#   and {} more\n", told - kMostNamesTold);
  return out;
}

size_t write_weights(const Arguments& args, const Imported& made) {
  size_t bytes = 0;
  if (made.weights.empty()) return bytes;
  std::error_code error;
  std::filesystem::create_directories(args.weights, error);
  if (!std::filesystem::is_directory(args.weights))
    throw UserError(fmt::format("cannot make the folder `{}`", args.weights), "--weights",
                    "give a folder that can be written");
  for (const auto& [name, tensor] : made.weights) {
    const std::string file = (std::filesystem::path(args.weights) / (name + ".npy")).string();
    refuse_overwriting(file, "--weights", args.file, "FILE");
    write_npy(file, tensor);
    bytes += tensor.bytes();
  }
  return bytes;
}

std::string list_of(const std::vector<TensorView*>& tensors, TensorRole role) {
  std::string out;
  for (const TensorView* t : tensors)
    if (t->role == role || role == TensorRole::intermediate)
      out += fmt::format("{}%{}: {}", out.empty() ? "" : ", ", t->name, plait::type_text(*t));
  return out;
}

void report_import(const Arguments& args, const Imported& made, size_t bytes) {
  fmt::print("{}: {} ops\n", made.format, made.fusion->ops().size());
  fmt::print("inputs: {}\noutputs: {}\n", list_of(made.fusion->inputs(), TensorRole::input),
             list_of(made.fusion->outputs(), TensorRole::intermediate));
  const bool stream = is_stream(args.imported);
  if (!stream) fmt::print("wrote {}\n", args.imported);
  if (!made.weights.empty())
    fmt::print("wrote {} weights, {} bytes, to {}\n", made.weights.size(), bytes, args.weights);
  if (!stream) fmt::print("run: {}\n", run_line(args, made));
}

Imported read_model_of(const Arguments& args, const std::string& bytes, const ImportOptions& options) {
  return format_of(args, bytes) == Format::onnx ? import_onnx(bytes, options) : import_stablehlo(bytes, options);
}

}  // namespace

void settle_import(Arguments& args) {
  namespace fs = std::filesystem;
  const std::string stem = fs::path(args.file).stem().string();
  if (args.imported.empty()) args.imported = (stem.empty() || args.file == "-" ? "model" : stem) + ".plait";
  if (args.weights.empty() && !is_standard_output(args.imported))
    args.weights = fs::path(args.imported).replace_extension(".weights").string();
}

int import_command(const Arguments& args) {
  if (args.file.empty()) throw UserError("plait import needs a file", "", "plait import model.onnx");
  const std::string bytes = args.text ? *args.text : read_text(args.file, kMostModel);
  try {
    const Imported made = read_model_of(args, bytes, read_options(args));
    for (const std::string& note : made.notes) fmt::print(stderr, "note: {}\n", note);
    if (!made.weights.empty() && args.weights.empty())
      throw UserError(
          fmt::format("the model has {} weights, and nothing says where to write them", made.weights.size()),
          "plait import", "give --weights FOLDER");
    const size_t written = write_weights(args, made);
    write_whole_file(args.imported, comments(args, made) + print(*made.fusion), "--out");
    report_import(args, made, written);
    if (!args.json.empty()) write_import_json(args, {&made, nullptr});
    return 0;
  } catch (const ImportError& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    if (!args.json.empty()) write_import_json(args, {nullptr, &e});
    return kUsersMistake;
  }
}

}  // namespace plait::tool
