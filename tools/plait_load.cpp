#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/file_writer.h"
#include "base/suggest.h"
#include "comm/process_place.h"
#include "graph/passes.h"
#include "plait_command.h"
#include "plait_npy.h"
#include "plait_values.h"
#include "reference/draw_inputs.h"
#include "session/bind_inputs.h"
#include "session/communication.h"
#include "session/devices.h"
#include "sym/text_reader.h"

namespace plait::tool {

namespace {

using Settings = std::map<std::string, std::string, std::less<>>;

Settings read_settings(const Arguments& args) {
  Settings settings;
  for (const auto& word : args.sets) {
    auto [name, value] = name_and_value(word, "--set");
    if (!settings.emplace(name, value).second)
      throw UserError(fmt::format("`{}` is set twice", name), "--set", "set it once");
  }
  return settings;
}

// Checks the names of `--set` and puts the sizes where compile() looks for them.
void settle_sizes(const Settings& settings, const Fusion& fusion, CompileOptions& options) {
  check_settings(fusion, settings, "--set ");
  std::set<std::string> dtypes;
  const std::set<std::string> symbols = size_symbols(fusion);
  for (const auto& let : fusion.dtype_lets) dtypes.insert(let.name);
  for (const auto& [name, text] : settings) {
    if (dtypes.contains(name)) continue;
    int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
      throw UserError(fmt::format("`{}` is no size", text), "--set " + name, "sizes are whole numbers, at least 0");
    if (symbols.contains(name)) options.sizes[name] = value;
  }
  options.sizes.merge(lets_of_open_symbols(fusion));
  // A let of a mesh symbol is its default: ranks, where given, solve for it instead.
  if (!options.ranks)
    for (const auto& symbol : mesh_symbols(fusion.mesh()))
      if (const int64_t* value = fusion.size_let(symbol)) options.sizes.emplace(symbol, *value);
}

// Solves the mesh, so that its symbols have values in shapes too.
DeviceMesh settle_mesh(const Fusion& fusion, CompileOptions& options) {
  Sizes known = options.sizes;
  for (const auto& let : fusion.size_lets) known.emplace(let.name, let.value);
  const DeviceMesh mesh = resolve(fusion.mesh(), known, options.ranks);
  for (const auto& [name, value] : mesh_symbols(fusion.mesh(), mesh)) options.sizes[name] = value;
  return mesh;
}

// `--comm`: local[:SEED], local:threads, mpi, nccl.
void settle_comm(const std::string& comm, CompileOptions& options) {
  if (comm == "given")
    throw UserError("a command has no communicators to give", "--comm given",
                    "take local, local:SEED, local:threads, mpi or nccl");
  options.comm = comm;
  read_comm(options, false);
  // A job has as many ranks as its launcher started processes.
  if (auto processes = job_processes(options.comm); processes && !options.ranks) options.ranks = processes;
}

// What can be said before sizes are known: the number of dims and the extents that are numbers.
void check_shape(const Tensor& tensor, const TensorView& input, const std::string& where) {
  const std::string found = type_text(tensor.dtype, tensor.shape);
  const std::string help = fmt::format("give a tensor {}", plait::type_text(input));
  if (tensor.shape.size() != input.rank())
    throw UserError(fmt::format("expected {} dims, got {}: the tensor is {}", input.rank(), tensor.shape.size(), found),
                    where, help);
  for (size_t d = 0; d < input.rank(); ++d)
    if (const auto extent = input.extent(d).constant(); extent && *extent != tensor.shape[d])
      throw UserError(fmt::format("dim {}: expected {}, got {}: the tensor is {}", d, *extent, tensor.shape[d], found),
                      where, help);
}

// A list or number, or the name of a .npy file.
Tensor read_tensor(const std::string& text, const TensorView& input, const std::string& where) {
  constexpr std::string_view kSuffix = ".npy";
  bool file = text.size() >= kSuffix.size() && text.compare(text.size() - kSuffix.size(), text.npos, kSuffix) == 0;
  if (file || is_stream(text)) return read_npy(text, input.dtype, where);
  if (!text.empty() && text[0] != '[' && !parse_constant(input.dtype, text)) {
    std::error_code error;
    if (std::filesystem::exists(text, error) || text.find('/') != text.npos || text.find('.') != text.npos)
      throw UserError(fmt::format("`{}` is neither a value nor a .npy file", text), where, "give FILE.npy or a list");
  }
  return read_list(text, input.dtype, where);
}

Tensor read_input(const std::string& text, const TensorView& input) {
  const std::string where = fmt::format("--input {}, %{}: {}", input.name, input.name, plait::type_text(input));
  const Tensor tensor = read_tensor(text, input, where);
  check_shape(tensor, input, text.size() <= 60 ? fmt::format("{} = {}", where, text) : where);
  return tensor;
}

// What the folder has of inputs that are not given: all parameters, and others that have a file.
void add_weights(const Arguments& args, const Fusion& fusion, std::map<std::string, Tensor>& given) {
  const std::filesystem::path folder = args.weights;
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    throw UserError(fmt::format("`{}` is no folder", args.weights), "--weights",
                    "give a folder that plait import wrote");
  for (const TensorView* t : fusion.inputs()) {
    const std::filesystem::path file = folder / (t->name + ".npy");
    if (given.contains(t->name)) continue;
    if (std::filesystem::exists(file, error)) {
      given.emplace(t->name, read_input(file.string(), *t));
    } else if (t->role == TensorRole::parameter) {
      throw UserError(fmt::format("the folder `{}` has no file {}.npy", args.weights, t->name),
                      fmt::format("--weights, %{}: {}", t->name, plait::type_text(*t)),
                      "import the model again, or give --input " + t->name + "=FILE.npy");
    }
  }
}

std::map<std::string, Tensor> given_inputs(const Arguments& args, const Fusion& fusion) {
  std::map<std::string, Tensor> given;
  std::vector<std::string> names;
  for (const TensorView* t : fusion.inputs()) names.push_back(t->name);
  for (const auto& word : args.inputs) {
    auto [name, value] = name_and_value(word, "--input");
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw UserError(fmt::format("fusion @{} has no input `{}`", fusion.name(), name), "--input",
                      suggestion(name, names));
    if (given.contains(name))
      throw UserError(fmt::format("input `{}` is given twice", name), "--input", "give it once");
    given.emplace(name, read_input(value, *fusion.find(name)));
  }
  if (!args.weights.empty()) add_weights(args, fusion, given);
  return given;
}

// Values for the symbols of inputs that are drawn must be there; names the first that is not.
void require_sizes(const Fusion& fusion, const sym::Environment& sizes) {
  for (const TensorView* t : fusion.inputs())
    for (size_t d = 0; d < t->rank(); ++d)
      for (const auto& symbol : sym::symbols(t->extent(d)))
        if (!sizes.contains(symbol))
          throw UserError(fmt::format("size {} has no value", symbol),
                          fmt::format("%{}: {}, dim {}", t->name, plait::type_text(*t), d),
                          fmt::format("give --set {}=4 or an input", symbol));
}

// Once in a process; of several processes the first one says it.
void warn_of_unused(const Fusion& fusion) {
  static bool done = false;
  const auto place = process_place();
  if (std::exchange(done, true) || (place && place->rank != 0)) return;
  for (const TensorView* t : fusion.inputs())
    if (fusion.readers(t).empty() && !fusion.is_output(t))
      fmt::print(stderr, "warning: no op reads input %{}: {}\n", t->name, plait::type_text(*t));
  constexpr size_t kMostNamed = 8;
  const std::vector<Op*> dead = dead_ops(fusion);
  for (size_t i = 0; i < std::min(dead.size(), kMostNamed); ++i)
    fmt::print(stderr, "warning: no output comes of %{}: {} is not computed\n", dead[i]->results[0]->name,
               text_name(*dead[i]));
  if (dead.size() > kMostNamed)
    fmt::print(stderr, "warning: nor of the results of {} more ops\n", dead.size() - kMostNamed);
}

}  // namespace

std::pair<std::string, std::string> name_and_value(const std::string& word, const std::string& flag) {
  size_t at = word.find('=');
  if (at == word.npos || at == 0)
    throw UserError(fmt::format("`{}` is not NAME=VALUE", word), flag, fmt::format("write {} NAME=VALUE", flag));
  return {word.substr(0, at), word.substr(at + 1)};
}

std::string read_text(const std::string& path, size_t most) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw UserError(fmt::format("cannot read `{}`: it is a folder", path), "", "give the path of a text file");
  const int file = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string out;
  std::vector<char> buffer(1 << 16);
  ssize_t count = file < 0 ? -1 : 0;
  while (file >= 0 && out.size() <= most) {  // a device never ends
    count = read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    out.append(buffer.data(), static_cast<size_t>(count));
  }
  const int reason = errno;
  if (file >= 0) close(file);
  if (count < 0)
    throw UserError(fmt::format("cannot read `{}`: {}", path, std::strerror(reason)), "",
                    "give the path of a file, e.g. docs/examples/simple_add.plait");
  if (out.size() > most)
    throw UserError(fmt::format("`{}` has more than {} bytes", path, most), "", "give the path of a text file");
  return out;
}

Sizes read_sizes(const Arguments& args, const Fusion& fusion) {
  CompileOptions options;
  settle_sizes(read_settings(args), fusion, options);
  return options.sizes;
}

std::string read_source(const Arguments& args) {
  std::string out = args.text ? *args.text : read_text(args.file, TextReader::kMaxText);
  if (out.find('\0') != out.npos || out.starts_with('<'))
    throw UserError(fmt::format("`{}` is no text of a fusion", args.file), "",
                    "give a .plait file; plait import makes one of a model of ONNX or StableHLO");
  return out;
}

Loaded load(const Arguments& args) {
  if (args.file.empty())
    throw UserError(fmt::format("plait {} needs a file", args.command), "",
                    fmt::format("plait {} docs/examples/simple_add.plait", args.command));
  if (const auto bytes = program_bytes(args)) return load_program(args, *bytes);
  Loaded out;
  ParseOptions parse;
  parse.file = args.file;
  parse.set = read_settings(args);
  out.fusion = parse_fusion(read_source(args), parse);
  warn_of_unused(*out.fusion);
  out.dumps = std::make_unique<DumpSink>();
  out.dumps->check_files([file = args.file, inputs = args.inputs](const std::string& path) {
    refuse_overwriting(path, "--dump", file, "FILE");
    for (const auto& word : inputs)
      refuse_overwriting(path, "--dump", name_and_value(word, "--input").second, "--input " + word);
  });
  for (const auto& dumps : args.dumps) out.dumps->request(dumps);
  CompileOptions& options = out.options;
  options.dumps = out.dumps.get();
  options.ranks = args.ranks;
  options.until = args.until;
  options.passes = args.passes.get();
  for (const auto& word : args.options) {
    auto [name, value] = name_and_value(word, "--option");
    set_option(options.options, name, value);
  }
  settle_comm(args.comm, options);
  if (args.check) options.options.check_replicas = true;  // what ranks hold twice must be the same
  settle_sizes(parse.set, *out.fusion, options);
  const DeviceMesh mesh = settle_mesh(*out.fusion, options);
  options.device = args.device.empty() ? default_device(mesh.ranks(), options.comm) : args.device;
  if (args.adjust) args.adjust(options);
  return out;
}

Tensors make_inputs(const Arguments& args, const Loaded& loaded) {
  const Fusion& fusion = *loaded.fusion;
  reference::DrawOptions draw;
  draw.seed = args.seed;
  draw.exact = args.exact;
  draw.given = given_inputs(args, fusion);
  draw.sizes = {loaded.options.sizes.begin(), loaded.options.sizes.end()};
  require_sizes(fusion, reference::bind_sizes(fusion, draw.given, draw.sizes));
  const auto drawn = reference::draw_inputs(fusion, draw);
  HostAllocator memory;
  Tensors out;
  for (const TensorView* t : fusion.inputs()) out[t->name] = drawn.at(t->name).in_order(t->domain.allocation, memory);
  return out;
}

Metadata input_metadata(const Loaded& loaded) {
  const Fusion& fusion = *loaded.fusion;
  const sym::Environment given(loaded.options.sizes.begin(), loaded.options.sizes.end());
  const sym::Environment sizes = reference::bind_sizes(fusion, {}, given);
  require_sizes(fusion, sizes);
  Metadata out;
  for (const TensorView* t : fusion.inputs()) {
    TensorMetadata metadata{t->dtype, {}};
    for (sym::Expr extent : t->shape()) metadata.shape.push_back(sym::evaluate(extent, sizes));
    out.emplace(t->name, std::move(metadata));
  }
  return out;
}

}  // namespace plait::tool
