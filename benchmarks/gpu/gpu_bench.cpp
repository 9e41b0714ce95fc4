// plait's side of benchmarks/gpu: rows of what a GPU does, timed on the host around work that is given back to back and
// waited for at the end. Inputs are random, larger than the second-level cache where bandwidth is measured.
//   plait_gpu_bench --folder FOLDER [--device DEVICE] [--small]     started by benchmarks/gpu/driver.py
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "base/error.h"
#include "bench.h"
#include "reference/draw_inputs.h"
#include "reference/evaluate.h"
#include "session/bind_inputs.h"
#include "session/devices.h"
#include "turns.h"

namespace plait::bench {
namespace {

struct Words {
  std::string folder, device = "cuda";
  bool small = false;  // tiny tensors, for a simulated device: whether the rows work, not how fast
};

Words read_words(int argc, char** argv) {
  Words out;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--small")
      out.small = true;
    else if (word == "--folder" && i + 1 < argc)
      out.folder = argv[++i];
    else if (word == "--device" && i + 1 < argc)
      out.device = argv[++i];
    else
      throw UserError(fmt::format("unexpected `{}`", word), "plait_gpu_bench", "benchmarks/gpu/driver.py starts this");
  }
  return out;
}

class Row {
 public:
  virtual ~Row() = default;
  virtual double seconds_of_one(int64_t count) = 0;
  // Of all inputs and outputs together.
  virtual double bytes() const { return 0; }
};

// Time on the host of giving work to the stream; the wait for the work is outside of it. More than a few hundred
// launches at once would wait for room in the driver's queue.
template <class Fn>
double host_seconds(Stream& stream, int64_t count, Fn&& fn) {
  constexpr int64_t kQueue = 256;
  double total = 0;
  for (int64_t done = 0; done < count;) {
    const int64_t now = std::min(kQueue, count - done);
    total += seconds_of([&] {
      for (int64_t i = 0; i < now; ++i) fn();
    });
    stream.synchronize();
    done += now;
  }
  return total / static_cast<double>(count);
}

// Time of the work itself, given back to back.
template <class Fn>
double work_seconds(Stream& stream, int64_t count, Fn&& fn) {
  fn();
  stream.synchronize();
  return seconds_of([&] {
           for (int64_t i = 0; i < count; ++i) fn();
           stream.synchronize();
         }) /
         static_cast<double>(count);
}

class EmptyLaunch : public Row {
 public:
  explicit EmptyLaunch(Device& device) : stream_(device.make_stream()) {
    executable_ = device.compile({"empty", "extern \"C\" __global__ void empty() {}\n", 0, 0}, nullptr);
    arguments_.stream = stream_.get();
  }
  double seconds_of_one(int64_t count) override {
    return host_seconds(*stream_, count, [&] { executable_->launch(arguments_); });
  }

 private:
  std::unique_ptr<Stream> stream_;
  std::shared_ptr<Executable> executable_;
  LaunchArguments arguments_;
};

// Numbers that fill memory of the device: normal ones, again and again, of integers some below `indices`. No zeros, and
// little time on the host.
void fill_with_noise(Stream& stream, const Memory& memory, DType dtype, int64_t indices) {
  constexpr int64_t kNumbers = int64_t{3} << 20;
  const int64_t n = std::min<int64_t>(kNumbers, static_cast<int64_t>(memory.bytes() / size_of(dtype)));
  if (n == 0) return;
  std::mt19937_64 random(n);
  std::normal_distribution<double> normal;
  std::vector<double> values(n);
  for (double& value : values)
    value = is_float(dtype) ? normal(random) : static_cast<double>(random() % static_cast<uint64_t>(indices));
  const Tensor noise = Tensor::from_doubles(dtype, {n}, values);
  for (size_t at = 0; at < memory.bytes(); at += noise.bytes())
    stream.copy(static_cast<char*>(memory.data()) + at, noise.data(), std::min(noise.bytes(), memory.bytes() - at));
  stream.synchronize();
}

// Device to device.
class CopyRow : public Row {
 public:
  CopyRow(Device& device, size_t bytes)
      : stream_(device.make_stream()),
        from_(device.allocator().allocate(bytes)),
        to_(device.allocator().allocate(bytes)) {
    fill_with_noise(*stream_, *from_, DType::f32, 1);
  }
  double seconds_of_one(int64_t count) override {
    return work_seconds(*stream_, count, [&] { stream_->copy(to_->data(), from_->data(), from_->bytes()); });
  }

 private:
  std::unique_ptr<Stream> stream_;
  std::shared_ptr<Memory> from_, to_;
};

// A compiled program run on tensors of the device, on one stream, as an embedder runs it.
class ProgramRow : public Row {
 public:
  ProgramRow(Device& device, const Words& words, const Fusion& fusion, bool host_time, const Options& options = {},
             int64_t indices = 1000)
      : stream_(device.make_stream()),
        compiled_(compile(fusion, options_for(words, fusion, options))),
        host_time_(host_time) {
    const sym::Environment sizes = reference::bind_sizes(fusion, {}, {});
    for (const TensorView* t : fusion.inputs()) {
      Tensor& there = inputs_[t->name];
      there.dtype = t->dtype;
      for (sym::Expr extent : t->shape()) there.shape.push_back(sym::evaluate(extent, sizes));
      there.strides = row_major_strides(there.shape);
      there.memory = device.allocator().allocate(there.bytes());
      fill_with_noise(*stream_, *there.memory, t->dtype, indices);
      bytes_ += there.bytes();
    }
    run_options_.stream = stream_->native();
    run_options_.allocator = &device.allocator();
    for (const auto& [name, tensor] : compiled_.run(inputs_, run_options_)) bytes_ += tensor.bytes();
    stream_->synchronize();
  }
  double seconds_of_one(int64_t count) override {
    const auto run = [&] { compiled_.run(inputs_, run_options_); };
    return host_time_ ? host_seconds(*stream_, count, run) : work_seconds(*stream_, count, run);
  }
  double bytes() const override { return static_cast<double>(bytes_); }

 private:
  static CompileOptions options_for(const Words& words, const Fusion& fusion, const Options& options) {
    CompileOptions out;
    out.sizes = lets_of_open_symbols(fusion);
    out.device = words.device;
    out.options = options;
    return out;
  }
  std::unique_ptr<Stream> stream_;
  Compiled compiled_;
  bool host_time_;
  size_t bytes_ = 0;
  Tensors inputs_;
  RunOptions run_options_;
};

std::unique_ptr<Fusion> bias_gelu(int64_t rows, DType dtype) {
  auto f = std::make_unique<Fusion>(Mesh(), "bias_gelu");
  f->output("y", gelu(add(f->input("x", {rows, 2048}, dtype), f->parameter("b", {2048}, dtype)), Gelu::tanh));
  return f;
}

std::unique_ptr<Fusion> residual_dropout(int64_t rows, DType dtype) {
  auto f = std::make_unique<Fusion>(Mesh(), "residual_dropout");
  TensorView* x = f->input("x", {rows, 2048}, dtype);
  TensorView* r = f->input("r", {rows, 2048}, dtype);
  TensorView* seed = f->input("seed", {}, DType::u64);
  f->output("y", add(dropout(x, 0.1, seed), r));
  return f;
}

std::unique_ptr<Fusion> tp_mlp(const Words& words, const std::string& type) {
  if (words.small) return example("tp_mlp", {{"sb", "32"}, {"h", "32"}, {"h4", "64"}, {"T", type}});
  return example("tp_mlp", {{"sb", "1024"}, {"h", "1024"}, {"h4", "4096"}, {"T", type}});
}

// "text:FILE[:indices=N][:OPTION=VALUE]...": the fusion of a file, whose sizes it has by itself.
std::unique_ptr<Row> row_of_text(Device& device, const Words& words, const std::string& name) {
  std::istringstream parts(name);
  std::string part, file;
  std::getline(parts, part, ':');
  std::getline(parts, file, ':');
  Options options;
  int64_t indices = 1000;
  while (std::getline(parts, part, ':')) {
    const size_t at = part.find('=');
    const std::string key = part.substr(0, at), value = at == part.npos ? "" : part.substr(at + 1);
    if (key == "indices")
      indices = std::stoll(value);
    else
      set_option(options, key, value);
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::make_unique<ProgramRow>(device, words, *parse_fusion(text.str()), false, options, indices);
}

std::unique_ptr<Row> make_row(Device& device, const Words& words, const std::string& name) {
  if (name.starts_with("text:")) return row_of_text(device, words, name);
  const size_t cut = name.rfind('_');
  const std::string kind = name.substr(0, cut), type = cut == name.npos ? "" : name.substr(cut + 1);
  const DType dtype = type == "bf16" ? DType::bf16 : DType::f32;
  // 256 MiB a tensor.
  const int64_t rows = words.small ? 4 : (int64_t{256} << 20) / (2048 * static_cast<int64_t>(size_of(dtype)));
  if (name == "empty_launch") return std::make_unique<EmptyLaunch>(device);
  if (name == "copy") return std::make_unique<CopyRow>(device, words.small ? 4096 : size_t{1} << 30);
  if (name == "run_simple_add") return std::make_unique<ProgramRow>(device, words, *example("simple_add"), true);
  if (kind == "bias_gelu") return std::make_unique<ProgramRow>(device, words, *bias_gelu(rows, dtype), false);
  if (kind == "residual_dropout")
    return std::make_unique<ProgramRow>(device, words, *residual_dropout(rows, dtype), false);
  if (kind == "tp_mlp") return std::make_unique<ProgramRow>(device, words, *tp_mlp(words, type), false);
  throw MissingError(fmt::format("there is no row `{}`", name), "plait_gpu_bench", "");
}

int run(const Words& words) {
  Device& device = find_device(words.device, {});
  // Those of one program alone, which may have several by their options: each holds memory.
  std::string last;
  std::map<std::string, std::unique_ptr<Row>> rows;
  serve_turns(words.folder, "plait", 0, fmt::format(R"({{"plait": "{}", "device": "{}"}})", version(), words.device),
              [&](const std::string& word, int64_t count) {
                const bool bytes = word.starts_with("bytes/");
                const std::string name = bytes ? word.substr(6) : word;
                const std::string program = name.substr(0, name.find(':', sizeof "text:"));
                if (program != last) rows.clear();
                last = program;
                std::unique_ptr<Row>& row = rows[name];
                if (row == nullptr) row = make_row(device, words, name);
                return bytes ? row->bytes() : row->seconds_of_one(count);
              });
  return 0;
}

}  // namespace
}  // namespace plait::bench

int main(int argc, char** argv) {
  try {
    return plait::bench::run(plait::bench::read_words(argc, argv));
  } catch (const plait::MissingError& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 3;
  } catch (const plait::Error& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 1;
  }
}
