#include "api/compiled_impl.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "api/check_graph.h"
#include "api/kept_specializations.h"
#include "api/step_facts.h"
#include "base/error.h"
#include "base/log.h"
#include "base/suggest.h"
#include "session/bind_inputs.h"
#include "session/devices.h"
#include "shard/explain.h"

namespace plait {

namespace {

DeviceMesh resolve_mesh(const Fusion& fusion, const CompileOptions& options) {
  if (options.one_rank) return DeviceMesh(std::vector<int64_t>(fusion.mesh().axes().size(), 1));
  Sizes sizes = options.sizes;
  if (!options.ranks)  // ranks solve what `sizes` leave open, lets included
    for (const auto& l : fusion.size_lets) sizes.emplace(l.name, l.value);
  return resolve(fusion.mesh(), sizes, options.ranks);
}

sym::RankPositions rank_positions(const Mesh& mesh, const DeviceMesh& devices) {
  sym::RankPositions out;
  for (size_t i = 0; i < mesh.axes().size(); ++i)
    out[rank_symbol(mesh, static_cast<int>(i))] = devices.size(static_cast<int>(i));
  return out;
}

}  // namespace

Compiled::Impl::Impl() = default;
Compiled::Impl::~Impl() = default;

Metadata Compiled::Impl::metadata_of(const Tensors& inputs) const {
  Metadata out;
  for (const auto& [name, tensor] : inputs) out[name] = {tensor.dtype, tensor.shape};
  return out;
}

Report report_of(const Program& program, const Device& device) {
  Report out;
  for (const auto& k : program.kernels)
    out.kernels.push_back({k.code.name, k.schedule, k.facts.arch.empty() ? device.name() : k.facts.arch, k.facts});
  out.launches = static_cast<int64_t>(program.launches());
  out.library_calls = static_cast<int64_t>(program.count(StepKind::LibraryStep));
  out.collectives = static_cast<int64_t>(program.count(StepKind::CollectiveStep));
  return out;
}

PipelineContext Compiled::Impl::context(const CompileOptions& how, const std::set<std::string>& refused,
                                        sym::Guards& asked) {
  if (!multiples) multiples = multiple_questions(*fusion, mesh, device->target());
  return {how, mesh, *device, file_segments, refused, *multiples, &asked, {}, last_places.orders, last_places.aliases};
}

// Who holds and joins the ranks of a run: the caller's communicators where given.
Communication Compiled::Impl::who(const RunOptions& run_options) const {
  if (run_options.comms) return adopt_communication(*run_options.comms, mesh);
  if (!communication.comms)
    throw UserError("the run has no communicators, and the program none of its own", "run, comm given",
                    "lend some to the run, or compile with another comm");
  return communication;
}

ExecutorRunOptions Compiled::Impl::executor_options(const RunOptions& run_options) const {
  if (run_options.stream && device->host_memory())
    throw UserError("streams are those of GPUs", "run", "give no stream to a run on this device");
  if (run_options.threads && *run_options.threads < 0)
    throw UserError(fmt::format("{} threads", *run_options.threads), "run", "give a number from 0, 0 for all");
  ExecutorRunOptions how;
  how.seed = options.interleaving;
  how.allocator = run_options.allocator;
  how.stream = run_options.stream;
  if (run_options.stop) how.stop = &run_options.stop;
  how.threads = static_cast<int>(std::min<int64_t>(run_options.threads.value_or(0), 1024));
  return how;
}

// Of outputs on the host.
Allocator& Compiled::Impl::output_allocator(const RunOptions& run_options) const {
  static HostAllocator host;
  if (!device->host_memory()) return host;
  return run_options.allocator ? *run_options.allocator : device->allocator();
}

// The outputs that the caller gives, after the checks of the call's tensors.
Tensors Compiled::Impl::checked(const Tensors& inputs, const RunOptions& run_options) const {
  check_inputs(*fusion, inputs);
  Tensors given = given_outputs(*fusion, inputs, run_options.outputs);
  if (!run_options.donated.empty()) check_donated(*fusion, inputs, given, run_options.donated);
  return given;
}

// The binding of a call whose tensors lie so.
std::shared_ptr<Binding> Compiled::Impl::bound_at(const CallPlaces& places, const Tensors& inputs,
                                                  const RunOptions& run_options) {
  const Communicators* comms = run_options.comms ? run_options.comms : communication.comms.get();
  if (places != last_places) last_bound = nullptr;
  last_places = places;
  const bool same = comms && same_as_last(inputs, comms->serial());
  return same ? last_bound : bound_for(metadata_of(inputs), who(run_options));
}

namespace {

// Of outputs that were to be made in place of inputs, those for which the program has another place.
std::set<std::pair<std::string, std::string>> not_in_place(const Program& program,
                                                           const std::map<std::string, std::string>& wanted) {
  std::set<std::pair<std::string, std::string>> out(wanted.begin(), wanted.end());
  for (ValueId id : program.outputs) {
    const ProgramValue& value = program.value(id);
    if (const auto of = value.in_place_of) out.erase({value.name, program.value(*of).name});
  }
  return out;
}

}  // namespace

// Under `mutex`.
Picked Compiled::Impl::pick(const Tensors& inputs, const RunOptions& run_options) {
  CallPlaces places;  // where a rank has all of a tensor, and nobody scheduled kernels for how it was to lie
  std::map<std::string, std::string> donated;
  std::shared_ptr<Binding> binding;
  for (;;) {
    places = {};
    if (device->host_memory() && mesh.ranks() == 1 && file_segments.empty()) {
      places.aliases = called_aliases(*fusion, inputs, run_options.outputs);
      if (!run_options.donated.empty())
        donated = donated_aliases(*fusion, inputs, run_options.outputs, run_options.donated, places.aliases,
                                  refused_donations);
      places.aliases.insert(donated.begin(), donated.end());
      places.orders = orders_of(*fusion, inputs);
      for (const auto& [output, input] : places.aliases) places.orders.erase(input);
    }
    try {
      binding = bound_at(places, inputs, run_options);
    } catch (const MissingError&) {  // no compiler is here: how tensors lie costs copies then
      if (places == CallPlaces{}) throw;
      places = {};
      donated.clear();
      binding = bound_at(places, inputs, run_options);
    }
    if (donated.empty()) break;
    auto refused = not_in_place(*binding->entry->compiled->program, donated);
    if (refused.empty()) break;
    refused_donations.merge(refused);
  }
  return {std::move(binding), timing, std::move(places.orders), std::move(donated)};
}

Picked Compiled::Impl::pick_local(const Tensors& pieces, const Communication& who, int64_t rank) {
  const std::lock_guard lock(mutex);
  if (!last)
    throw UserError("the global sizes are not known from the pieces of a rank", "run_local",
                    "call prepare() with the metadata of the global tensors first");
  std::shared_ptr<Binding> binding = bound_of_last(who, rank);
  check_ranges(*fusion, last_sizes, pieces);
  return {std::move(binding), timing, {}, {}};
}

// Calls `run`, which fills in what it did; then `traffic` tells what went over wires. Other processes do not
// wait for one that fails.
template <class Run, class Traffic>
Tensors Compiled::Impl::run_picked(const Picked& picked, Run run, Traffic traffic) {
  BoundSpecialization& bound = picked.bound();
  RunFacts facts;
  if (bound.concurrent()) {  // nothing goes over wires
    Tensors out = run(facts);
    finish_run(picked, facts, {});
    return out;
  }
  const std::lock_guard lock(alone);
  set_simulation_seed(*device, options.interleaving);
  bound.comms().reset_traffic();
  if (picked.timing) bound.program().reset_step_times();
  try {
    Tensors out = run(facts);
    finish_run(picked, facts, traffic());
    return out;
  } catch (const std::exception& e) {
    if (bound.comms().bootstrap()) bound.comms().abort(e.what());
    throw;
  }
}

// Reports what the run did.
void Compiled::Impl::finish_run(const Picked& picked, const RunFacts& facts, const CommTraffic& traffic) {
  const std::lock_guard lock(mutex);
  Report& report = picked.binding->entry->report;
  report.run_ms = facts.ms;
  report.bytes_copied = facts.counts.copied_bytes;
  report.bytes_donated = facts.counts.donated_bytes;
  report.wire_bytes = traffic.wire_bytes;
  report.wire_bytes_min = traffic.wire_bytes_min;
  log(LogComponent::run, LogLevel::debug, "@{} ran in {:.3f} ms, {} B copied, {} B in donated inputs, {} B over wires",
      fusion->name(), facts.ms, facts.counts.copied_bytes, facts.counts.donated_bytes, traffic.wire_bytes);
  if (!picked.timing) return;
  report.step_ms.clear();
  report.trace.clear();
  report.timed_runs = ++timed_runs;
  for (KernelReport& kernel : report.kernels) kernel.run_ms = 0;
  const BoundProgram& ran = picked.bound().program();
  const Program& program = ran.program();
  for (int64_t rank : ran.held())
    for (const StepSpan& span : ran.step_spans(rank)) report.trace.push_back({rank, span.step, span.begin, span.end});
  for (size_t s = 0; s < program.steps.size(); ++s) {
    double ms = 0;
    for (int64_t rank : ran.held())
      if (auto times = ran.step_times(rank); s < times.size()) ms += times[s].nanoseconds * 1e-6;
    if (const auto* launch = as<LaunchStep>(*program.steps[s])) report.kernels[launch->kernel.index].run_ms += ms;
    if (is_work(*program.steps[s])) report.step_ms.emplace_back(describe(program, *program.steps[s]), ms);
  }
}

Tensors Compiled::run(const Tensors& inputs, const RunOptions& run_options) {
  Impl& impl = *impl_;
  Tensors given = impl.checked(inputs, run_options);
  const Picked picked = [&] {
    const std::lock_guard lock(impl.mutex);
    Picked out = impl.pick(inputs, run_options);
    check_ranges(*impl.fusion, impl.last_sizes, inputs);
    return out;
  }();
  int64_t donated_bytes = 0;
  const auto free = free_donations(inputs, given, run_options.donated);
  for (const auto& [output, input] : picked.donated) {
    const Tensor& tensor = given[output] = inputs.find(input)->second;
    donated_bytes += static_cast<int64_t>(tensor.bytes());
  }
  return impl.run_picked(
      picked,
      [&](RunFacts& facts) {
        ExecutorRunOptions how = impl.executor_options(run_options);
        how.counts = &facts.counts;
        facts.counts.donated_bytes = donated_bytes;
        if (!free.empty() && impl.mesh.ranks() == 1) how.donated = &free;
        const bool replicas = impl.options.options.check_replicas;
        Tensors out = picked.orders.empty()
                          ? picked.bound().run(inputs, given, how, replicas, facts.ms)
                          : picked.bound().run(in_orders(inputs, picked.orders), given, how, replicas, facts.ms);
        facts.counts.copied_bytes += order_outputs(*impl.fusion, out, impl.output_allocator(run_options));
        return out;
      },
      [&] { return total_traffic(picked.bound().comms()); });
}

// Under `mutex`: of row-major inputs and nothing given. Without communicators the first run binds it.
void Compiled::Impl::prepare(const Metadata& metadata) {
  last_places = {};
  last_bound = nullptr;
  if (communication.comms) {
    bound_for(metadata, communication);
    return;
  }
  take_sizes(metadata);
  compile_last();
}

void Compiled::prepare(const Metadata& metadata) {
  const std::lock_guard lock(impl_->mutex);
  impl_->prepare(metadata);
}

void Compiled::prepare(const Tensors& inputs, const RunOptions& run_options) {
  Impl& impl = *impl_;
  const Tensors given = impl.checked(inputs, run_options);
  const ExecutorRunOptions how = impl.executor_options(run_options);
  const std::lock_guard lock(impl.mutex);
  if (run_options.comms || impl.communication.comms)
    return impl.pick(inputs, run_options).bound().check_call(inputs, given, how);
  impl.prepare(impl.metadata_of(inputs));  // bound by the first run
}

void Compiled::compile_for(const Metadata& metadata) {
  const std::lock_guard lock(impl_->mutex);
  impl_->last_places = {};
  impl_->take_sizes(metadata);
  impl_->compile_last();
  impl_->note_class_numbers();
}

Tensors Compiled::run_local(int64_t rank, const Tensors& pieces, const RunOptions& run_options) {
  Impl& impl = *impl_;
  if (rank < 0 || rank >= impl.mesh.ranks())
    throw UserError(fmt::format("there is no rank {}", rank), "run_local",
                    fmt::format("the mesh has {} ranks", impl.mesh.ranks()));
  Communication who = impl.who(run_options);
  if (impl.mesh.ranks() == 1) return run(pieces, run_options);
  if (!who.comms->bootstrap())
    throw UserError("one rank of several cannot run alone in this process", "run_local",
                    "call run() with global tensors, which steps all ranks, or give communicators of processes");
  if (who.comms->bootstrap()->rank() != rank)
    throw UserError(fmt::format("this process is rank {}, not {}", who.comms->bootstrap()->rank(), rank), "run_local",
                    "give the pieces of the process's own rank");
  const Tensors given = impl.checked(pieces, run_options);
  const auto free = free_donations(pieces, given, run_options.donated);
  const Picked picked = impl.pick_local(pieces, who, rank);
  return impl.run_picked(
      picked,
      [&](RunFacts& facts) {
        ExecutorRunOptions how = impl.executor_options(run_options);
        how.counts = &facts.counts;
        if (!free.empty()) how.donated = &free;
        Tensors out = picked.bound().run_pieces(pieces, given, how, facts.ms);
        facts.counts.copied_bytes += order_outputs(*impl.fusion, out, impl.output_allocator(run_options));
        return out;
      },
      [&] { return picked.bound().comms().traffic(); });  // of this rank: the others are not asked
}

const Fusion& Compiled::fusion() const { return *impl_->fusion; }
const CompileOptions& Compiled::options() const { return impl_->options; }
const DeviceMesh& Compiled::mesh() const { return impl_->mesh; }
Device& Compiled::device() const { return *impl_->device; }
Bootstrap* Compiled::job() const {
  Communicators* own = impl_->communication.comms.get();
  return own ? own->bootstrap() : nullptr;
}

namespace {

const SpecializationEntry& require(const std::shared_ptr<SpecializationEntry>& last) {
  if (!last) throw UserError("nothing is compiled yet", "", "call run() or prepare() first");
  return *last;
}

}  // namespace

const Report& Compiled::report() const { return require(impl_->last).report; }
const Program& Compiled::program() const { return *require(impl_->last).compiled->program; }
const Fusion& Compiled::sharded() const { return *require(impl_->last).compiled->sharded; }
std::string Compiled::explain_layouts() const {
  const SpecializationEntry& entry = require(impl_->last);  // a text that was parsed knows no reasons
  const auto saved = entry.texts.find("shard");
  return saved != entry.texts.end() ? saved->second : explain_sharding(*entry.compiled->sharded);
}
const Fusion& Compiled::localized() const {
  const SpecializationEntry& entry = require(impl_->last);
  std::shared_ptr<const Fusion>& localized = entry.compiled->localized;
  if (!localized) localized = parse_fusion(entry.texts.at("segmented"));  // from a file
  return *localized;
}
const std::vector<sym::Answer>& Compiled::guards() const { return require(impl_->last).guards; }
sym::Environment Compiled::sizes() const { return require(impl_->last), impl_->environment(); }
sym::Environment Compiled::representative() const {
  sym::Environment defaults;
  for (const auto& let : impl_->fusion->size_lets) defaults[let.name] = let.value;
  return sym::representative(specialize(impl_->last_sizes, impl_->mesh_sizes).facts, defaults, guards(), impl_->ranks);
}
const CompiledSpecialization& Compiled::compiled_specialization() const { return *require(impl_->last).compiled; }
const std::vector<std::string>& Compiled::kernel_texts() const { return require(impl_->last).compiled->kernel_texts; }

size_t Compiled::classes() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->classes.size();
}
KeptSizes Compiled::kept_sizes() const {
  const std::lock_guard lock(impl_->mutex);
  return {impl_->bindings.size(), impl_->bindings.bytes()};
}

namespace {

// Of the stages whose results a class keeps as they were; the others are made again.
std::optional<std::string> kept_text(const SpecializationEntry& entry, const Fusion& fusion, std::string_view stage) {
  const CompiledSpecialization& compiled = *entry.compiled;
  if (stage == "fusion") return print(fusion);
  if (const auto known = entry.texts.find(std::string(stage)); known != entry.texts.end()) return known->second;
  if (stage == "kir" && !compiled.kernel_texts.empty()) return fmt::format("{}", fmt::join(compiled.kernel_texts, ""));
  if (!entry.texts.empty()) return std::nullopt;
  if (stage == "graph") return print(*compiled.graph);
  if (stage == "sharded") return print(*compiled.sharded);
  if (stage == "program") return print(*compiled.program);
  if (stage == "timings") return compiled.timings;
  return std::nullopt;
}

}  // namespace

std::string Compiled::Impl::memory_text() const {
  const Program& program = *require(last).compiled->program;
  RankValues values(program, environment());
  return print_memory(program, values);
}

std::string Compiled::stage_text(const std::string& stage) const {
  const SpecializationEntry& entry = require(impl_->last);
  const auto& stages = stage_names();
  if (std::find(stages.begin(), stages.end(), stage) == stages.end())
    throw UserError(fmt::format("there is no stage `{}`", stage), "dump",
                    suggestion(stage, {stages.begin(), stages.end()}));
  if (stage == "memory") return impl_->memory_text();
  if (auto text = kept_text(entry, *impl_->fusion, stage)) return *text;
  PassControl same;
  same.bisect = impl_->bisect;
  CompileOptions how = impl_->options;
  how.until = stage;
  how.dumps = nullptr;
  how.passes = &same;
  try {
    sym::Guards asked(impl_->last_sizes, impl_->ranks);
    compile_specialization(*impl_->fusion, specialize(impl_->last_sizes, impl_->mesh_sizes).clone,
                           impl_->context(how, entry.refused, asked));
  } catch (const StoppedAt& stop) {
    return stop.text;
  }
  throw UserError(fmt::format("stage `{}` has no text for this fusion on device {}", stage, how.device), "dump",
                  "take another stage");
}

void Compiled::set_step_timing(bool on) {
  const std::lock_guard lock(impl_->mutex);
  impl_->timing = on;
  impl_->bindings.clear();
  impl_->last_bound = nullptr;
}

bool Compiled::step_timing() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->timing;
}

namespace {

// Where schedules that were measured come from: the caller, or the disk, each computation asked for once. Processes of
// a job could differ in what they know: they do without.
void take_measured(Compiled::Impl& impl, const Bootstrap* job) {
  const Options& options = impl.options.options;
  MeasuredSchedules from = given_or_kept(std::move(impl.options.measured), options.disk_cache);
  impl.options.measured = nullptr;
  if (!from || !options.measured_schedules || (job != nullptr && job->size() > 1)) return;
  impl.measured = std::make_shared<RememberedSchedules>(std::move(from));
  impl.options.measured = [measured = impl.measured](const std::string& key, const std::string& segment) {
    return (*measured)(key, segment);
  };
}

}  // namespace

Compiled compile(const Fusion& fusion, const CompileOptions& options) {
  read_log_environment();
  check_graph(fusion);
  verify(fusion);
  check_allocations(fusion);
  auto impl = std::make_shared<Compiled::Impl>();
  auto copy = clone(fusion);
  impl->file_segments = file_segments(fusion);
  if (!impl->file_segments.empty()) impl->scheduled = clone(fusion);
  forget_schedules(*copy);
  impl->fusion = std::move(copy);
  impl->options = options;
  read_comm(impl->options);
  if (options.passes) impl->bisect = options.passes->bisect;
  impl->mesh = resolve_mesh(fusion, options);
  impl->mesh_sizes = mesh_symbols(fusion.mesh(), impl->mesh);
  if (options.device_override) {
    impl->options.device = options.device_override->name();
    impl->device = options.device_override;
  } else {
    if (options.device.empty()) impl->options.device = default_device(impl->mesh.ranks(), impl->options.comm);
    impl->device = &find_device(impl->options.device, options.options);
  }
  impl->ranks = rank_positions(fusion.mesh(), impl->mesh);
  impl->communication = make_communication(impl->options, *impl->device, impl->mesh);
  take_measured(*impl, Compiled(impl).job());
  return Compiled(std::move(impl));
}

std::string version() { return "0.1.0"; }

}  // namespace plait
