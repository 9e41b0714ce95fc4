// One rank of docs/examples/tp_mlp.plait: plait's side of benchmarks/tp_mlp. Takes the same words and gives the same
// answers as benchmarks/peers/tp_mlp_torch.py (job.py, ../turns.py). Several ranks are processes of Open MPI.
#include <fstream>

#include "base/error.h"
#include "bench.h"
#include "turns.h"

namespace plait::bench {
namespace {

struct Job {
  std::string folder, dtype;
  int64_t ranks = 1, rank = 0, sb = 0, h = 0, h4 = 0;

  std::string file(const std::string& name) const { return fmt::format("{}/{}.{}", folder, name, rank); }
};

Job read_words(int argc, char** argv) {
  std::map<std::string, std::string> words;
  for (int i = 1; i + 1 < argc; i += 2) words[argv[i]] = argv[i + 1];
  const auto word = [&](const std::string& name) {
    const auto it = words.find(name);
    if (it == words.end()) throw UserError("there is no " + name, "tp_mlp", "benchmarks/tp_mlp/run starts this");
    return it->second;
  };
  const auto number = [&](const std::string& name) { return static_cast<int64_t>(std::stoll(word(name))); };
  return {word("--folder"), word("--dtype"), number("--ranks"), number("--rank"),
          number("--sb"),   number("--h"),   number("--h4")};
}

Tensor load(const Job& job, const std::string& name, DType dtype, std::vector<int64_t> shape) {
  Tensor out = Tensor::empty(dtype, std::move(shape));
  std::ifstream in(job.file(name), std::ios::binary);
  in.read(static_cast<char*>(out.data()), static_cast<std::streamsize>(out.bytes()));
  if (!in) throw UserError(fmt::format("`{}` cannot be read", job.file(name)), "tp_mlp", "");
  return out;
}

void save(const Job& job, const Tensors& outputs) {
  for (const auto& [name, tensor] : outputs) {
    std::ofstream out(job.file("plait." + name), std::ios::binary);
    out.write(static_cast<const char*>(tensor.data()), static_cast<std::streamsize>(tensor.bytes()));
    if (!out) throw UserError(fmt::format("`{}` cannot be written", job.file("plait." + name)), "tp_mlp", "");
  }
}

int run(const Job& job) {
  const DType dtype = job.dtype == "f32" ? DType::f32 : DType::bf16;
  const int64_t cut = job.h4 / job.ranks;
  const auto fusion = example(
      "tp_mlp",
      {{"sb", std::to_string(job.sb)}, {"h", std::to_string(job.h)}, {"h4", std::to_string(job.h4)}, {"T", job.dtype}});
  Tensors pieces = {{"x", load(job, "x", dtype, {job.sb, job.h})}, {"w0", load(job, "w0", dtype, {cut, job.h})},
                    {"b0", load(job, "b0", dtype, {cut})},         {"w1", load(job, "w1", dtype, {job.h, cut})},
                    {"b1", load(job, "b1", dtype, {job.h})},       {"seed", Tensor::from_doubles(DType::u64, {}, {1})}};
  CompileOptions how;
  how.device = "cpu";
  how.ranks = job.ranks;
  how.options.cpu_threads = 1;
  how.comm = job.ranks > 1 ? "mpi" : "local";
  Compiled compiled = compile(*fusion, how);
  if (compiled.job() != nullptr && compiled.job()->rank() != job.rank)
    throw UserError(fmt::format("rank {} has the words of rank {}", compiled.job()->rank(), job.rank), "tp_mlp",
                    "benchmarks/tp_mlp/run starts this");
  compiled.prepare({{"x", {dtype, {job.sb, job.h}}},
                    {"w0", {dtype, {job.h4, job.h}}},
                    {"b0", {dtype, {job.h4}}},
                    {"w1", {dtype, {job.h, job.h4}}},
                    {"b1", {dtype, {job.h}}},
                    {"seed", {DType::u64, {}}}});
  const auto forward = [&] { return compiled.run_local(job.rank, pieces); };
  save(job, forward());

  serve_turns(
      job.folder, "plait", job.rank,
      fmt::format(R"({{"plait": "{}", "threads": 1, "compile_ms": {:.3f}}})", version(), compiled.report().compile_ms),
      [&](const std::string&, int64_t count) {
        forward();
        const double begin = seconds();
        for (int64_t i = 0; i < count; ++i) forward();
        return (seconds() - begin) / static_cast<double>(count);
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
