// What a program keeps: classes, and their bindings to sizes.
#include <fmt/ranges.h>

#include <chrono>

#include "api/compiled_impl.h"
#include "api/kept_specializations.h"
#include "api/log_compiled.h"
#include "base/log.h"
#include "session/bind_inputs.h"
#include "session/refused_contractions.h"

namespace plait {
namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<int64_t> values_of(const Sizes& sizes) {
  std::vector<int64_t> out;
  for (const auto& [name, value] : sizes) out.push_back(value);
  return out;
}

std::string key_in_file(size_t i, const std::string& key) { return fmt::format("{} of the file: {}", i, key); }

}  // namespace

std::shared_ptr<SpecializationEntry> Compiled::Impl::kept_class(const std::string& key, const Sizes& sizes) {
  auto kept = classes.find(guards.key(key, sizes, ranks));
  for (size_t i = 0; i < file_guards.size() && !kept; ++i)
    kept = classes.find(file_guards[i].key(key_in_file(i, key), sizes, ranks));
  return kept;
}

void Compiled::Impl::keep_class_of_file(std::shared_ptr<SpecializationEntry> entry) {
  const std::string key = key_in_file(file_guards.size(), entry->key);
  sym::GuardTree& asked = file_guards.emplace_back();
  classes.add(asked.add(key, entry->guards), std::move(entry), 0, options.options.kept_specializations, 0);
}

// The class of last_sizes, compiled where it is kept neither here nor on disk.
std::shared_ptr<SpecializationEntry> Compiled::Impl::find_class(const std::set<std::string>& refused) {
  Specialization specialization = specialize(last_sizes, mesh_sizes);
  specialization.key += print(last_places);
  for (const std::string& name : refused) specialization.key += " without library %" + name;
  if (auto kept = kept_class(specialization.key, last_sizes)) return kept;
  const double begin = now_ms();
  if (!on_disk) on_disk = std::make_unique<KeptSpecializations>(*this);
  std::shared_ptr<SpecializationEntry> made = on_disk->find(specialization.key);
  const bool compiles = made == nullptr;
  if (compiles) {
    made = std::make_shared<SpecializationEntry>();
    made->key = specialization.key;
    made->refused = refused;
    sym::Guards asked(last_sizes, ranks);
    const CompileOptions how = on_disk->watching(options);
    made->compiled = compile_specialization(*fusion, specialization.clone, context(how, refused, asked));
    made->guards = asked.answers();
    made->report = report_of(*made->compiled->program, *device);
  }
  made->report.compile_ms = now_ms() - begin;
  log_compiled(*fusion, *made);
  const int64_t most = options.options.kept_specializations;
  const int64_t gone = classes.add(guards.add(specialization.key, made->guards), made, 0, most, 0);
  if (gone > 0)
    log(LogComponent::cache, LogLevel::info, "@{}: {} specializations dropped, kept_specializations = {}",
        fusion->name(), gone, most);
  if (compiles) on_disk->store(*made);
  return made;
}

std::unique_ptr<BoundSpecialization> Compiled::Impl::bind(SpecializationEntry& entry, const Communication& who) {
  ExecutorOptions how;
  how.drive = who.drive;
  how.ranks = who.held;
  how.poison = options.options.poison;
  how.graph = options.options.cuda_graph && mesh.ranks() == 1;  // NCCL's staging and time limits bear no replay
  how.timing = timing;
  const Program& program = *entry.compiled->program;
  if (options.on_step) {
    std::vector<std::string> texts;
    for (const auto& step : program.steps) texts.push_back(describe(program, *step));
    how.before = [this, texts = std::move(texts)](int64_t rank, size_t step) {
      options.on_step(rank, step, texts[step]);
    };
  }
  return std::make_unique<BoundSpecialization>(*entry.compiled, mesh, environment(), *device, who.comms, how);
}

void Compiled::Impl::take_sizes(const Metadata& metadata) {
  Sizes given = options.sizes;
  for (const auto& [name, value] : mesh_sizes) given[name] = value;
  Sizes sizes = bind_sizes(*fusion, metadata, given);
  std::string key = specialize(sizes, mesh_sizes).key + print(last_places);
  last_bound = nullptr;
  last_sizes = std::move(sizes);
  last_key = std::move(key);
}

// Finds, or compiles, the class of the sizes that were taken last. Looks at all ranks, and holds none.
void Compiled::Impl::compile_last() {
  last = find_class();
  RankValues values(*last->compiled->program, environment());
  const auto refused = refused_contractions(*last->compiled->program, values);
  if (!refused.empty()) {
    log(LogComponent::compile, LogLevel::info, "@{}: the library refuses %{} for these sizes: generated kernels",
        fusion->name(), fmt::join(refused, ", %"));
    last = find_class(refused);
  }
  const bool dumped = options.dumps && options.dumps->wants("memory");
  if (!dumped && options.until != "memory") return;
  const std::string text = memory_text();
  if (dumped) options.dumps->put("memory", fusion->name(), text);
  if (options.until == "memory") throw StoppedAt{"memory", text};
}

void Compiled::Impl::go_on_with(const Sizes& sizes) {
  const std::string key = specialize(sizes, mesh_sizes).key;
  const auto kept = kept_class(key, sizes);
  if (!kept) return;
  last = kept;
  last_sizes = sizes;
  last_key = key;
  note_class_numbers();
}

// Of rank 0, without a binding.
void Compiled::Impl::note_class_numbers() {
  const Program& program = *last->compiled->program;
  RankValues values(program, environment());
  const int64_t first = 0;
  note_numbers(bind_ranks(program, values, {&first, 1})[0]);
}

// What the report says of the sizes that were taken last.
void Compiled::Impl::note_numbers(const RankBinding& first) {
  const MovedBytes bytes = moved_bytes(first);
  last->report.bytes_moved = bytes.moved;
  last->report.bytes_least = bytes.least;
  last->report.arena_bytes = first.memory.arena_bytes;
  last->report.arena_least = first.memory.live_bytes;
}

// The binding of the sizes that were taken last.
std::shared_ptr<Binding> Compiled::Impl::bound_of_last(const Communication& who, int64_t rank) {
  const BindingKey key{last_key, values_of(last_sizes), who.comms->serial(), rank};
  std::shared_ptr<Binding> binding = bindings.find(key);
  if (!binding) {
    compile_last();
    binding = std::make_shared<Binding>(Binding{last, bind(*last, who)});
    const int64_t bytes = binding->bound->kept_bytes();
    const int64_t gone = bindings.add(key, binding, bytes, options.options.kept_sizes, options.options.kept_bytes);
    if (gone > 0)
      log(LogComponent::cache, LogLevel::info, "@{}: {} bound sizes dropped, kept_sizes = {}, kept_bytes = {}",
          fusion->name(), gone, options.options.kept_sizes, options.options.kept_bytes);
  }
  kept_class(last_key, last_sizes);  // it is in use
  last = binding->entry;
  last->report.local_shapes = binding->bound->local_shapes();
  note_numbers(binding->bound->program().first_rank());
  return binding;
}

std::shared_ptr<Binding> Compiled::Impl::bound_for(const Metadata& metadata, const Communication& who) {
  take_sizes(metadata);
  std::shared_ptr<Binding> bound = bound_of_last(who, -1);
  remember(metadata, bound, who.comms->serial());
  return bound;
}

void Compiled::Impl::remember(const Metadata& metadata, std::shared_ptr<Binding> bound, uint64_t comms) {
  last_metadata.clear();
  for (const auto& [name, m] : metadata) last_metadata.push_back(m);
  last_bound = std::move(bound);
  last_comms = comms;
}

bool Compiled::Impl::same_as_last(const Tensors& inputs, uint64_t comms) const {
  if (!last_bound || comms != last_comms || inputs.size() != last_metadata.size()) return false;
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

}  // namespace plait
