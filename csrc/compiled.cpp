#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>

#include "backend/cpu/cpu_device.h"
#include "base/error.h"
#include "base/suggest.h"
#include "bind_inputs.h"
#include "comm/local/local.h"
#include "pipeline.h"
#include "plant_bugs.h"
#include "program/bound_program.h"
#include "program/pieces.h"
#include "reference/product.h"
#include "shard/localize.h"

namespace plait {

namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

DeviceMesh resolve_mesh(const Fusion& fusion, const CompileOptions& options) {
  if (options.one_rank) return DeviceMesh(std::vector<int64_t>(fusion.mesh().axes().size(), 1));
  Sizes sizes = options.sizes;
  if (!options.ranks)  // ranks solve what `sizes` leave open, lets included
    for (const auto& l : fusion.size_lets) sizes.emplace(l.name, l.value);
  return resolve(fusion.mesh(), sizes, options.ranks);
}

// Layout in which the pieces of an input or output stand.
const Layout& piece_layout(const TensorView& t) { return t.stored ? *t.stored : t.layout; }

// One set of sizes: the program bound, the pieces of global tensors, and buffers that runs use again.
struct Bound {
  std::unique_ptr<BoundProgram> program;
  std::vector<std::vector<PieceMap>> inputs, outputs;  // by tensor, by rank
  std::vector<std::vector<int64_t>> output_shapes;     // global
  std::vector<RankTensors> input_pieces;               // by rank; buffers of the cut ones
  std::vector<RankTensors> output_pieces;
  std::map<std::string, std::vector<std::vector<int64_t>>> local_shapes;  // of outputs, by rank
};

struct ClassEntry {
  std::unique_ptr<CompiledClass> compiled;
  Report report;
  std::map<std::vector<int64_t>, Bound> bound;  // by the values of the sizes
};

}  // namespace

struct Compiled::Impl {
  std::shared_ptr<const Fusion> fusion;
  CompileOptions options;
  DeviceMesh mesh;
  Sizes mesh_sizes;
  Device* device = nullptr;
  std::shared_ptr<Communicators> comms;
  std::vector<FileSegment> file_segments;
  std::map<std::string, ClassEntry, std::less<>> classes;
  ClassEntry* last = nullptr;
  bool timing = false;

  // The shapes of the run before: a run with the same ones skips all checks and look-ups.
  std::vector<TensorMetadata> last_metadata;
  Bound* last_bound = nullptr;

  Metadata metadata_of(const Tensors& inputs) const;
  Bound& prepare(const Metadata& metadata);
  ClassEntry& find_class(const Sizes& sizes);
  Bound bind(ClassEntry& entry, const Sizes& sizes);
  bool same_as_last(const Tensors& inputs) const;
  void remember(const Metadata& metadata, Bound* bound);
  void cut_inputs(Bound& bound, const Tensors& inputs);
  Tensors gather_outputs(Bound& bound, Allocator& allocator);
  void compare_replicas(const Bound& bound) const;
};

Metadata Compiled::Impl::metadata_of(const Tensors& inputs) const {
  Metadata out;
  for (const auto& [name, tensor] : inputs) out[name] = {tensor.dtype, tensor.shape};
  return out;
}

ClassEntry& Compiled::Impl::find_class(const Sizes& sizes) {
  SizeClass size_class_of = size_class(sizes, mesh_sizes);
  ClassEntry& entry = classes[size_class_of.key];
  if (entry.compiled) return entry;
  double begin = now_ms();
  try {
    entry.compiled = compile_class(*fusion, size_class_of.clone, {options, mesh, *device, file_segments});
  } catch (...) {
    classes.erase(size_class_of.key);
    throw;
  }
  entry.report.compile_ms = now_ms() - begin;
  const Program& program = *entry.compiled->program;
  for (const auto& k : program.kernels)
    entry.report.kernels.push_back({k.code.name, k.schedule, device->name(), k.facts});
  entry.report.library_calls = static_cast<int64_t>(program.count(StepKind::LibraryStep));
  entry.report.collectives = static_cast<int64_t>(program.count(StepKind::CollectiveStep));
  return entry;
}

Bound Compiled::Impl::bind(ClassEntry& entry, const Sizes& sizes) {
  sym::Environment env(sizes.begin(), sizes.end());
  check_local_pieces(*entry.compiled->sharded, mesh, env);
  Bound out;
  ExecutorOptions how;
  how.poison = options.options.poison;
  how.timing = timing;
  out.program = std::make_unique<BoundProgram>(entry.compiled->program, env, *device, comms, how);
  if (options.dumps && options.dumps->wants("memory"))
    options.dumps->put("memory", fusion->name(), print_memory(*entry.compiled->program, out.program->bindings()));
  if (options.until == "memory")
    throw StoppedAt{"memory", print_memory(*entry.compiled->program, out.program->bindings())};
  auto pieces = [&](const TensorView* t, std::vector<std::vector<PieceMap>>& maps) {
    std::vector<int64_t> shape;
    for (auto e : t->shape()) shape.push_back(sym::evaluate(e, env));
    auto& by_rank = maps.emplace_back();
    for (int64_t r = 0; r < mesh.ranks(); ++r) {
      std::vector<std::vector<int64_t>> indices;
      for (size_t d = 0; d < shape.size(); ++d)
        indices.push_back(owned_indices(shape[d], piece_layout(*t).dims[d], mesh, mesh.coordinates(r),
                                        fmt::format("%{} dim {}", t->name, d)));
      by_rank.emplace_back(shape, indices);
    }
    return shape;
  };
  const Fusion& sharded = *entry.compiled->sharded;
  for (const TensorView* t : sharded.inputs()) pieces(t, out.inputs);
  for (const TensorView* t : sharded.outputs()) {
    out.output_shapes.push_back(pieces(t, out.outputs));
    for (const auto& map : out.outputs.back()) out.local_shapes[t->name].push_back(map.local_shape());
  }
  out.input_pieces.resize(mesh.ranks());
  out.output_pieces.resize(mesh.ranks());
  return out;
}

Bound& Compiled::Impl::prepare(const Metadata& metadata) {
  Sizes given = options.sizes;
  for (const auto& [name, value] : mesh_sizes) given[name] = value;
  Sizes sizes = bind_sizes(*fusion, metadata, given);
  ClassEntry& entry = find_class(sizes);
  last = &entry;
  std::vector<int64_t> key;
  for (const auto& [name, value] : sizes) key.push_back(value);
  auto it = entry.bound.find(key);
  if (it == entry.bound.end()) it = entry.bound.emplace(key, bind(entry, sizes)).first;
  entry.report.local_shapes = it->second.local_shapes;
  remember(metadata, &it->second);
  return it->second;
}

void Compiled::Impl::remember(const Metadata& metadata, Bound* bound) {
  last_metadata.clear();
  for (const auto& [name, m] : metadata) last_metadata.push_back(m);
  last_bound = bound;
}

bool Compiled::Impl::same_as_last(const Tensors& inputs) const {
  if (!last_bound || inputs.size() != last_metadata.size()) return false;
  size_t i = 0;
  for (const auto& [name, tensor] : inputs) {
    const TensorMetadata& m = last_metadata[i++];
    if (m.dtype != tensor.dtype || m.shape != tensor.shape) return false;
  }
  // Names: the maps were equal in number and every input of the fusion must be there.
  for (const TensorView* t : fusion->inputs())
    if (!inputs.count(t->name)) return false;
  return true;
}

void Compiled::Impl::cut_inputs(Bound& bound, const Tensors& inputs) {
  const auto& names = fusion->inputs();
  for (int64_t r = 0; r < mesh.ranks(); ++r) {
    RankTensors& pieces = bound.input_pieces[r];
    pieces.resize(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      const Tensor& global = inputs.find(names[i]->name)->second;
      const PieceMap& map = bound.inputs[i][r];
      if (map.is_whole()) {
        pieces[i] = global;
        continue;
      }
      if (!pieces[i].memory) pieces[i] = Tensor::empty(global.dtype, map.local_shape());
      map.cut(global, pieces[i]);
    }
  }
}

Tensors Compiled::Impl::gather_outputs(Bound& bound, Allocator& allocator) {
  Tensors out;
  const auto& names = fusion->outputs();
  for (size_t i = 0; i < names.size(); ++i) {
    Tensor& global = out[names[i]->name];
    if (bound.outputs[i][0].is_whole()) {  // every rank holds it: rank 0 answers
      global = std::move(bound.output_pieces[0][i]);
      bound.output_pieces[0][i] = Tensor();
      continue;
    }
    global.dtype = names[i]->dtype;
    global.shape = bound.output_shapes[i];
    global.strides = row_major_strides(global.shape);
    global.memory = allocator.allocate(global.bytes());
    for (int64_t r = 0; r < mesh.ranks(); ++r) bound.outputs[i][r].put(bound.output_pieces[r][i], global);
  }
  return out;
}

// What ranks hold of an output more than once must be the same, bit for bit.
void Compiled::Impl::compare_replicas(const Bound& bound) const {
  const auto& names = fusion->outputs();
  for (size_t i = 0; i < names.size(); ++i) {
    Tensor global = Tensor::empty(names[i]->dtype, bound.output_shapes[i]);
    for (int64_t r = 0; r < mesh.ranks(); ++r) bound.outputs[i][r].put(bound.output_pieces[r][i], global);
    for (int64_t r = 0; r < mesh.ranks(); ++r) {
      const Tensor& piece = bound.output_pieces[r][i];
      Tensor again = Tensor::empty(piece.dtype, piece.shape);
      bound.outputs[i][r].cut(global, again);
      PLAIT_CHECK(std::memcmp(again.data(), piece.data(), piece.bytes()) == 0,
                  "output %{}: rank {} holds other numbers than another rank", names[i]->name, r);
    }
  }
}

Tensors Compiled::run(const Tensors& inputs, const RunOptions& run_options) {
  Impl& impl = *impl_;
  if (run_options.stream || run_options.comms)
    throw UserError("streams and communicators are those of other devices", "run",
                    "leave RunOptions::stream and comms empty on this device");
  if (run_options.threads)
    throw UserError("the threads of this device are set when it is made", "run",
                    "leave RunOptions::threads empty; option cpu_threads sets them");
  Bound& bound = impl.same_as_last(inputs) ? *impl.last_bound : impl.prepare(impl.metadata_of(inputs));
  Allocator& allocator = run_options.allocator ? *run_options.allocator : impl.device->allocator();
  impl.cut_inputs(bound, inputs);
  impl.comms->reset_traffic();
  if (impl.timing) bound.program->reset_step_times();
  double begin = now_ms();
  ExecutorRunOptions how;
  how.seed = impl.options.interleaving;
  how.allocator = run_options.allocator;
  bound.program->run(bound.input_pieces, bound.output_pieces, how);
  Report& report = impl.last->report;
  report.run_ms = now_ms() - begin;
  report.wire_bytes = impl.comms->traffic().wire_bytes;
  report.wire_bytes_min = impl.comms->traffic().wire_bytes_min;
  if (impl.timing) {
    report.step_ms.clear();
    const Program& program = bound.program->program();
    for (size_t s = 0; s < program.steps.size(); ++s) {
      double ms = 0;
      for (int64_t r = 0; r < impl.mesh.ranks(); ++r)
        if (auto times = bound.program->step_times(r); s < times.size()) ms += times[s].nanoseconds * 1e-6;
      if (program.steps[s]->kind != StepKind::AllocStep)
        report.step_ms.emplace_back(describe(program, *program.steps[s]), ms);
    }
  }
  // Inputs belong to the caller: nothing of them is kept.
  for (size_t r = 0; r < bound.input_pieces.size(); ++r)
    for (size_t i = 0; i < bound.inputs.size(); ++i)
      if (bound.inputs[i][r].is_whole()) bound.input_pieces[r][i] = Tensor();
  if (impl.options.options.check_replicas) impl.compare_replicas(bound);
  return impl.gather_outputs(bound, allocator);
}

void Compiled::prepare(const Metadata& metadata) { impl_->prepare(metadata); }

Tensors Compiled::run_local(int64_t rank, const Tensors& pieces, const RunOptions& run_options) {
  Impl& impl = *impl_;
  if (rank < 0 || rank >= impl.mesh.ranks())
    throw UserError(fmt::format("there is no rank {}", rank), "run_local",
                    fmt::format("the mesh has {} ranks", impl.mesh.ranks()));
  if (impl.mesh.ranks() != 1)
    throw UserError("one rank of several cannot run alone in this process", "run_local",
                    "call run() with global tensors: it steps all ranks");
  return run(pieces, run_options);
}

const DeviceMesh& Compiled::mesh() const { return impl_->mesh; }

namespace {

const ClassEntry& require(const ClassEntry* last) {
  if (!last) throw UserError("nothing is compiled yet", "", "call run() or prepare() first");
  return *last;
}

}  // namespace

const Report& Compiled::report() const { return require(impl_->last).report; }
const Program& Compiled::program() const { return *require(impl_->last).compiled->program; }
const Fusion& Compiled::sharded() const { return *require(impl_->last).compiled->sharded; }
const Fusion& Compiled::localized() const { return *require(impl_->last).compiled->localized; }
const CompiledClass& Compiled::compiled_class() const { return *require(impl_->last).compiled; }
const std::vector<std::string>& Compiled::kernel_texts() const { return require(impl_->last).compiled->kernel_texts; }

void Compiled::set_step_timing(bool on) {
  impl_->timing = on;
  for (auto& [key, entry] : impl_->classes) entry.bound.clear();
  impl_->last_bound = nullptr;
}

namespace {

// What no later stage could make sense of.
void check_graph(const Fusion& fusion) {
  const std::string where = fmt::format("fusion @{}", fusion.name());
  if (fusion.outputs().empty()) throw UserError("the fusion has no outputs", where, "name one: f.output(\"y\", y)");
  for (const Op* op : fusion.ops()) {
    bool moves = property(op->kind) == OpProperty::communication || property(op->kind) == OpProperty::local_move;
    if (moves && op->kind != OpKind::Reshard)
      throw UserError(fmt::format("{} is an op of localized graphs, which the compiler makes", text_name(*op)),
                      describe(*op), "annotate layouts instead, or use reshard");
  }
}

}  // namespace

Compiled compile(const Fusion& fusion, const CompileOptions& options) {
  check_graph(fusion);
  verify(fusion);
  auto impl = std::make_shared<Compiled::Impl>();
  auto copy = clone(fusion);
  impl->file_segments = file_segments(fusion);
  copy->segments.clear();
  impl->fusion = std::move(copy);
  impl->options = options;
  impl->mesh = resolve_mesh(fusion, options);
  impl->mesh_sizes = mesh_symbols(fusion.mesh(), impl->mesh);
  impl->device = options.device_override ? options.device_override : &find_device(options.device, options.options);
  impl->comms = plant_in_communication(std::make_shared<LocalCommunicators>(), options.options);
  return Compiled(std::move(impl));
}

Device& find_device(const std::string& name, const Options& options) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Device>> table;  // the device table of the process
  std::lock_guard lock(mutex);
  std::string key = fmt::format("{}:{}:{}", name, options.cpu_threads, options.cpu_lanes);
  auto& slot = table[key];
  if (slot) return *slot;
  if (name == "cpu") {
    slot = make_cpu_device({static_cast<int>(options.cpu_threads), static_cast<int>(options.cpu_lanes), ""});
  } else if (name == "reference") {
    slot = reference::make_reference_device();
  } else if (name == "cuda" || name.rfind("sim:", 0) == 0) {
    throw MissingError(fmt::format("device `{}` is not part of this build", name), "", "use cpu or reference");
  } else {
    throw UserError(fmt::format("there is no device `{}`", name), "", suggestion(name, {"cpu", "reference", "cuda"}));
  }
  return *slot;
}

std::string version() { return "0.1.0"; }

}  // namespace plait
