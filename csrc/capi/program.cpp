// Compiling and running.
#include <atomic>
#include <map>
#include <shared_mutex>

#include "backend/cpu/cpu_device.h"
#include "capi/dlpack.h"
#include "capi/handles.h"
#include "session/bind_inputs.h"
#include "session/devices.h"

namespace plait {
namespace {

int64_t whole_number(const std::string& text, const std::string& name) {
  const auto value = parse_constant(DType::i64, text);
  if (!value || value->to_int64() < 0)
    throw UserError(fmt::format("`{}` is no size", text), "size " + name, "sizes are whole numbers, at least 0");
  return value->to_int64();
}

CompileOptions compile_options(const plait_compile_options& given, const Fusion& fusion) {
  CompileOptions out;
  out.device = text_or(given.device, "");
  out.comm = text_or(given.comm, "");
  if (out.comm.empty()) out.comm = "local";
  out.options.on_internal_error = "nest";  // the program around goes on
  if (given.ranks < 0)
    throw UserError(fmt::format("{} ranks", given.ranks), "compile", "give at least 1, or 0 for none");
  if (given.ranks > 0) out.ranks = given.ranks;
  Sizes sizes;
  for (const auto& [name, value] : named_values(given.sizes, given.size_count, "sizes"))
    sizes[name] = whole_number(value, name);
  give_sizes(out.sizes, fusion, sizes);
  for (const auto& [name, value] : named_values(given.settings, given.setting_count, "settings"))
    set_option(out.options, name, value);
  return out;
}

// The run options of C++ and what they refer to.
struct Lent {
  RunOptions options;
  std::unique_ptr<CallbackAllocator> allocator;
};

// The device over a lent pool, one for all programs of the pool with the same settings, as long as one of them is
// there.
std::shared_ptr<Device> device_over(const plait_thread_pool& pool, const Options& options) {
  if (pool.run == nullptr || pool.threads < 1 || pool.threads > 4096)
    throw UserError(pool.run == nullptr ? "its callback is null" : fmt::format("it has {} threads", pool.threads),
                    "options.pool", "give run, and from 1 to 4096 threads");
  static auto& mutex = *new std::mutex;
  static auto& known = *new std::map<std::string, std::weak_ptr<Device>>;
  const std::string key =
      fmt::format("{}:{}:{}:{}:{}:{}:{}", reinterpret_cast<uintptr_t>(pool.run), reinterpret_cast<uintptr_t>(pool.user),
                  pool.threads, options.cpu_lanes, options.cpu, options.kept_memory, options.disk_cache);
  const std::lock_guard lock(mutex);
  if (auto device = known[key].lock()) return device;
  CpuOptions how;
  how.threads = static_cast<int>(pool.threads);
  how.lanes = static_cast<int>(options.cpu_lanes);
  how.processor = options.cpu;
  how.kept_mib = options.kept_memory;
  how.disk_cache = options.disk_cache;
  how.lent = [run = pool.run, user = pool.user](int64_t count, void (*task)(void*), void* context) {
    run(user, count, task, context);
  };
  std::shared_ptr<Device> made = make_cpu_device(how);
  known[key] = made;
  return made;
}

// The device over the pool, which the program keeps. UserError: its device is another one.
Device* lend_threads(plait_program& program, const plait_thread_pool* pool, const CompileOptions& how) {
  if (!how.device.empty() && how.device != "cpu")
    throw UserError("threads are lent to device " + how.device, "options.pool", "take device cpu, or lend none");
  program.own_device = device_over(versioned(pool, "pool"), how.options);
  return program.own_device.get();
}

bool same_callbacks(const plait_comms& a, const plait_comms& b) {
  return a.user == b.user && a.rank == b.rank && a.size == b.size && a.exchange == b.exchange &&
         a.all_reduce == b.all_reduce && a.all_gather == b.all_gather && a.reduce_scatter == b.reduce_scatter &&
         a.error == b.error && a.abort == b.abort && a.all_to_all == b.all_to_all;
}

CallbackCommunicators& communicators(plait_program& program, const plait_comms& callbacks) {
  for (const auto& known : program.comms)
    if (same_callbacks(known->callbacks(), callbacks)) return *known;
  return *program.comms.emplace_back(std::make_unique<CallbackCommunicators>(callbacks, *program.device));
}

Lent lent(plait_program& program, const plait_run_options& given) {
  Lent out;
  out.options.stream = given.stream;
  if (given.threads < 0)
    throw UserError(fmt::format("{} threads", given.threads), "run", "give a number from 0, 0 for all");
  if (given.threads > 0) out.options.threads = given.threads;
  if (given.allocator) {
    const auto callbacks = versioned(given.allocator, "allocator");
    if (!given.stream && !program.device->host_memory())
      throw UserError("an allocator of a GPU's memory without a stream", "allocator",
                      "give the stream in whose order memory is taken and given back");
    if (!callbacks.allocate || !callbacks.release)
      throw UserError("a callback of the allocator is null", "allocator", "give allocate and release");
    out.allocator = std::make_unique<CallbackAllocator>(callbacks);
    out.options.allocator = out.allocator.get();
  }
  if (given.stop) out.options.stop = [stop = given.stop, user = given.stop_user] { return stop(user) != 0; };
  if (given.comms) out.options.comms = &communicators(program, versioned(given.comms, "comms"));
  return out;
}

void add(Tensors& to, std::string name, Tensor tensor, const std::string& where, const std::string& remedy) {
  if (!to.emplace(std::move(name), std::move(tensor)).second) throw UserError("it is given twice", where, remedy);
}

// Dims of the tensor of that name, as far as there is one.
std::optional<size_t> rank_of(const Fusion& fusion, const std::string& name) {
  const TensorView* t = fusion.find(name);
  return t == nullptr ? std::nullopt : std::optional(t->rank());
}

Tensors tensors(const plait_input* inputs, size_t count, const Fusion& fusion) {
  Tensors out;
  for (size_t i = 0; i < count; ++i) {
    const plait_input& input = required(inputs, "inputs", i);
    std::string name = required_text(input.name, "inputs.name");
    const std::string where = "input %" + name;
    Tensor tensor = from_dlpack(required(input.tensor, "inputs.tensor"), where, rank_of(fusion, name));
    add(out, std::move(name), std::move(tensor), where, "give every input once");
  }
  return out;
}

Tensors given_outputs(const plait_output* given, size_t count, const Fusion& fusion) {
  Tensors out;
  for (size_t i = 0; i < count; ++i) {
    const plait_output& output = required(given, "options.given", i);
    std::string name = required_text(output.name, "given.name");
    const std::string where = "output %" + name;
    Tensor tensor = from_dlpack(required(output.tensor, "given.tensor"), where, rank_of(fusion, name));
    add(out, std::move(name), std::move(tensor), where, "give one tensor for an output");
  }
  return out;
}

// What the caller gave up: released with the last of its owners once keep() was called, else never.
class Donations {
 public:
  // Makes the inputs' memory that of an owner.
  Donations(const plait_donation* donated, size_t count, Tensors& inputs) {
    for (size_t i = 0; i < count; ++i) {
      const plait_donation& given = required(donated, "options.donated", i);
      std::string name = required_text(given.name, "donated.name");
      const std::string where = "donated input %" + name;
      if (!names_.insert(name).second) throw UserError("it is given twice", where, "give every input up once");
      const auto it = inputs.find(name);
      if (it == inputs.end() || given.release == nullptr) continue;
      const Memory& memory = *it->second.memory;
      const auto release = [given, kept = kept_] {
        if (*kept) given.release(given.user);
      };
      it->second.memory = std::make_shared<Memory>(memory.data(), memory.bytes(), release, memory.location());
    }
  }
  const std::set<std::string, std::less<>>& names() const { return names_; }
  void keep() { *kept_ = true; }

 private:
  std::set<std::string, std::less<>> names_;
  std::shared_ptr<std::atomic<bool>> kept_ = std::make_shared<std::atomic<bool>>(false);
};

// Hands out all that the caller did not give, or none where one cannot be made.
void give_outputs(const plait_program& program, Tensors results, const Tensors& given,
                  DLManagedTensorVersioned** outputs) {
  size_t made = 0;
  try {
    for (const TensorView* t : program.fusion->outputs()) {
      if (!given.contains(t->name)) outputs[made] = to_dlpack(std::move(results.find(t->name)->second));
      ++made;
    }
  } catch (...) {
    while (made > 0) {
      --made;
      if (outputs[made]) outputs[made]->deleter(outputs[made]);
      outputs[made] = nullptr;
    }
    throw;
  }
}

plait_error* run(plait_program* program, std::optional<int64_t> rank, const plait_input* inputs, size_t input_count,
                 const plait_run_options* options, DLManagedTensorVersioned** outputs, size_t output_count) {
  return guarded([&] {
    for (size_t i = 0; i < output_count; ++i) required(outputs, "outputs", i) = nullptr;
    plait_program& p = required(program, "program");
    const size_t expected = p.fusion->outputs().size();
    if (output_count != expected)
      throw UserError(fmt::format("room for {} outputs", output_count), "run",
                      fmt::format("the fusion has {}", expected));
    const plait_run_options lends = versioned(options, "options");
    std::shared_lock shared(p.mutex, std::defer_lock);
    std::unique_lock alone(p.mutex, std::defer_lock);
    if (lends.comms)
      alone.lock();  // they may be new
    else
      shared.lock();
    Lent how = lent(p, lends);
    how.options.outputs = given_outputs(lends.given, lends.given_count, *p.fusion);
    Tensors given = tensors(inputs, input_count, *p.fusion);
    Donations donations(lends.donated, lends.donated_count, given);
    how.options.donated = donations.names();
    Tensors results = rank ? p.compiled->run_local(*rank, given, how.options) : p.compiled->run(given, how.options);
    give_outputs(p, std::move(results), how.options.outputs, outputs);
    donations.keep();
  });
}

}  // namespace
}  // namespace plait

using namespace plait;  // NOLINT: this file defines the C functions

extern "C" {

namespace plait {
namespace {

plait_program* handle(std::unique_ptr<plait_program> program, Compiled compiled) {
  program->compiled = std::make_unique<Compiled>(std::move(compiled));
  program->device = &program->compiled->device();
  program->device_name = program->device->name();
  return program.release();
}

}  // namespace
}  // namespace plait

plait_error* plait_compile(const plait_fusion* fusion, const plait_compile_options* options, plait_program** out) {
  return guarded([&] {
    required(out, "out") = nullptr;
    auto program = std::make_unique<plait_program>();
    program->fusion = clone(*required(fusion, "fusion").fusion);
    const plait_compile_options given = versioned(options, "options");
    program->options = compile_options(given, *program->fusion);
    if (given.pool != nullptr) program->options.device_override = lend_threads(*program, given.pool, program->options);
    Compiled compiled = compile(*program->fusion, program->options);
    *out = plait::handle(std::move(program), std::move(compiled));
  });
}

plait_error* plait_program_fusion(plait_program* program, const plait_fusion** out) {
  return guarded([&] {
    required(out, "out") = nullptr;
    plait_program& p = required(program, "program");
    const std::unique_lock lock(p.mutex);
    if (!p.shown.fusion) p.shown.fusion = clone(*p.fusion);
    *out = &p.shown;
  });
}

plait_error* plait_program_save(plait_program* program, const char* path) {
  return guarded([&] {
    plait_program& p = required(program, "program");
    const std::unique_lock lock(p.mutex);
    p.compiled->save(required_text(path, "path"));
  });
}

plait_error* plait_program_load(const char* path, plait_program** out) {
  return plait_program_load_with(path, nullptr, out);
}

plait_error* plait_program_load_with(const char* path, const plait_load_options* options, plait_program** out) {
  return guarded([&] {
    required(out, "out") = nullptr;
    auto program = std::make_unique<plait_program>();
    const plait_load_options given = versioned(options, "options");
    LoadOptions how;
    for (auto& [name, value] : named_values(given.settings, given.setting_count, "settings"))
      how.settings.emplace(name, value);
    if (given.pool != nullptr)
      how.device_for = [&](const CompileOptions& file) { return lend_threads(*program, given.pool, file); };
    Compiled compiled = plait::load(required_text(path, "path"), how);
    program->fusion = clone(compiled.fusion());
    *out = plait::handle(std::move(program), std::move(compiled));
  });
}

void plait_program_free(plait_program* program) { delete program; }

plait_error* plait_program_prepare(plait_program* program, const plait_metadata* inputs, size_t input_count) {
  return guarded([&] {
    plait_program& p = required(program, "program");
    Metadata metadata;
    for (size_t i = 0; i < input_count; ++i) {
      const plait_metadata& m = required(inputs, "inputs", i);
      const std::string name = required_text(m.name, "inputs.name");
      TensorMetadata& to = metadata[name];
      to.dtype = from_c(m.dtype);
      if (m.rank < 0) throw UserError(fmt::format("rank {}", m.rank), "prepare", "ranks are at least 0");
      if (const auto rank = rank_of(*p.fusion, name); rank && static_cast<size_t>(m.rank) != *rank)
        throw UserError(fmt::format("expected {} dims, got {}", *rank, m.rank), "input %" + name,
                        "give a tensor with as many dims");
      if (m.rank > 0) to.shape.assign(&required(m.shape, "inputs.shape"), m.shape + m.rank);
    }
    const std::lock_guard lock(p.mutex);
    p.compiled->prepare(metadata);
  });
}

plait_error* plait_program_prepare_run(plait_program* program, const plait_input* inputs, size_t input_count,
                                       const plait_run_options* options) {
  return guarded([&] {
    plait_program& p = required(program, "program");
    const plait_run_options lends = versioned(options, "options");
    const std::lock_guard lock(p.mutex);
    Lent how = lent(p, lends);
    how.options.outputs = given_outputs(lends.given, lends.given_count, *p.fusion);
    Tensors given = tensors(inputs, input_count, *p.fusion);
    how.options.donated = Donations(lends.donated, lends.donated_count, given).names();
    p.compiled->prepare(given, how.options);
  });
}

plait_error* plait_program_run(plait_program* program, const plait_input* inputs, size_t input_count,
                               const plait_run_options* options, DLManagedTensorVersioned** outputs,
                               size_t output_count) {
  return run(program, std::nullopt, inputs, input_count, options, outputs, output_count);
}

plait_error* plait_program_run_local(plait_program* program, int64_t rank, const plait_input* inputs,
                                     size_t input_count, const plait_run_options* options,
                                     DLManagedTensorVersioned** outputs, size_t output_count) {
  return run(program, rank, inputs, input_count, options, outputs, output_count);
}

}  // extern "C"
