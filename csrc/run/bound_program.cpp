#include "run/bound_program.h"

#include <algorithm>
#include <thread>

#include "base/cancelled_error.h"
#include "base/error.h"
#include "base/forks.h"
#include "run/donations.h"
#include "run/list_executor.h"
#include "run/rank_runner.h"
#include "run/step_runner.h"
#include "run/stepped_executor.h"

namespace plait {

// A range of memory of a run's tensor.
struct Extent {
  uintptr_t begin, end;
  bool written;
};

struct BoundProgram::RunState {
  std::vector<std::unique_ptr<RankRunner>> runners;  // by held rank
  std::unique_ptr<StepRunner> steps;
  std::unique_ptr<Executor> executor;
  std::vector<Extent> extents;                                // of a run with outputs given
  std::optional<std::vector<std::vector<size_t>>> donations;  // possible_donations(), once they are asked for
};

BoundProgram::BoundProgram(std::shared_ptr<const Program> program, const sym::Environment& sizes, Device& device,
                           std::shared_ptr<Communicators> comms, ExecutorOptions options)
    : program_(std::move(program)),
      device_(device),
      comms_(std::move(comms)),
      options_(std::move(options)),
      values_(*program_, sizes) {
  hold_ranks();
  try {
    std::vector<int64_t> bound = held_;
    if (held_[0] != 0) bound.insert(bound.begin(), 0);
    bindings_ = bind_ranks(*program_, values_, bound);
    if (held_[0] != 0) {
      first_ = std::move(bindings_.front());
      bindings_.erase(bindings_.begin());
    }
  } catch (const InternalError& e) {  // others, whose numbers are right, would wait for this one
    if (!all_held()) comms_->abort(e.what());
    throw;
  }
  concurrent_ = can_run_at_once();
  states_.begin([this] { return make_state(); }, !concurrent_);
}

std::unique_ptr<BoundProgram::RunState> BoundProgram::make_state() {
  auto out = std::make_unique<RunState>();
  for (const RankBinding& binding : bindings_)
    out->runners.push_back(std::make_unique<RankRunner>(*program_, binding, device_, options_.timing));
  out->steps = std::make_unique<StepRunner>(*program_, values_, out->runners, *comms_, options_);
  // Ranks of other processes may come to two teams in another order than the lanes of this one: they keep to the list.
  const bool alone = all_held();
  const bool in_order = options_.drive == RankDrive::threads || (held_.size() == 1 && (!alone || on_gpu()));
  if (!in_order && !alone && !on_gpu())
    throw UserError(fmt::format("{} of {} ranks are stepped", held_.size(), ranks()), "program @" + program_->name,
                    "hold one rank, or all of them, or drive them by threads");
  if (in_order)
    out->executor = std::make_unique<ListExecutor>(*out->steps, options_.graph && held_.size() == 1);
  else
    out->executor = std::make_unique<SteppedExecutor>(*out->steps);
  out->extents.reserve(out->runners.size() * (program_->inputs.size() + program_->outputs.size()));
  return out;
}

bool BoundProgram::can_run_at_once() const {
  const bool watched = options_.timing || options_.observer || options_.before;
  const bool own_threads = options_.drive == RankDrive::threads && held_.size() > 1;
  return !on_gpu() && !watched && !own_threads && all_held() && program_->count(StepKind::CollectiveStep) == 0;
}

BoundProgram::~BoundProgram() = default;

bool BoundProgram::on_gpu() const { return !device_.host_memory(); }

void BoundProgram::hold_ranks() {
  held_ = options_.ranks;
  if (held_.empty())
    for (int64_t rank = 0; rank < ranks(); ++rank) held_.push_back(rank);
  for (size_t i = 0; i < held_.size(); ++i) {
    const bool known = held_[i] >= 0 && held_[i] < ranks();
    if (!known || (i > 0 && held_[i] <= held_[i - 1]))
      throw UserError(known ? fmt::format("rank {} stands behind rank {}", held_[i], held_[i - 1])
                            : fmt::format("there is no rank {}", held_[i]),
                      "program @" + program_->name,
                      fmt::format("give ranks below {}, each once, in ascending order", ranks()));
  }
}

size_t BoundProgram::held_at(int64_t rank) const {
  const auto at = std::lower_bound(held_.begin(), held_.end(), rank);
  PLAIT_CHECK(at != held_.end() && *at == rank, "rank {} is not held", rank);
  return size_t(at - held_.begin());
}

RankRunner& BoundProgram::runner(int64_t rank) const { return *states_.first().runners[held_at(rank)]; }

// Puts outputs without memory into that of inputs that are given up; returns the bytes of these outputs.
int64_t BoundProgram::take_donated(RunState& state, const RankTensors& inputs, RankTensors& outputs,
                                   const ExecutorRunOptions& options) const {
  if (held_.size() != 1)
    throw UserError(fmt::format("inputs of {} ranks are given up", held_.size()), "program @" + program_->name,
                    "hold one rank, or keep the inputs");
  if (!state.donations) state.donations = possible_donations(*program_, bindings_[0]);
  int64_t bytes = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!options.donated->contains(program_->value(program_->inputs[i]).name)) continue;
    for (size_t o : (*state.donations)[i]) {
      if (outputs[o].memory || !state.runners[0]->memory().take_donated(i, inputs[i], o, outputs[o])) continue;
      bytes += bindings_[0].bytes[program_->outputs[o].index];
      break;
    }
  }
  return bytes;
}

void BoundProgram::bind_tensors(RunState& state, std::span<const RankTensors> inputs, std::vector<RankTensors>& outputs,
                                const ExecutorRunOptions& options) const {
  if (inputs.size() != held_.size())
    throw UserError(fmt::format("inputs of {} ranks for a program of {}", inputs.size(), held_.size()),
                    "program @" + program_->name, "give the inputs of every rank that is held");
  outputs.resize(held_.size());
  bool any_given = false;
  for (size_t i = 0; i < held_.size(); ++i) {
    RankMemory& memory = state.runners[i]->memory();
    if (inputs[i].size() != program_->inputs.size())
      throw UserError(fmt::format("{} inputs for a program of {}", inputs[i].size(), program_->inputs.size()),
                      fmt::format("program @{}, rank {}", program_->name, held_[i]), "give every input");
    for (size_t t = 0; t < inputs[i].size(); ++t) memory.bind_input(t, inputs[i][t]);
    outputs[i].resize(program_->outputs.size());
    const int64_t donated = options.donated ? take_donated(state, inputs[i], outputs[i], options) : 0;
    if (options.counts) options.counts->donated_bytes += donated;
    for (size_t t = 0; t < outputs[i].size(); ++t)
      if (!memory.is_donated(program_->outputs[t])) any_given = memory.bind_output(t, outputs[i][t]) || any_given;
  }
  if (any_given) check_overlap(state, *program_);
}

void BoundProgram::check_overlap(RunState& state, const Program& program) {
  std::vector<Extent>& extents = state.extents;
  extents.clear();
  for (const auto& runner : state.runners) {
    auto add = [&](ValueId id, bool written) {
      const uintptr_t begin = reinterpret_cast<uintptr_t>(runner->memory().value(id));
      const int64_t bytes = runner->binding().bytes[id.index];
      if (bytes > 0) extents.push_back({begin, begin + uintptr_t(bytes), written});
    };
    for (ValueId id : program.inputs) add(id, false);
    for (ValueId id : program.outputs)
      if (!program.value(id).in_place_of && !runner->memory().is_donated(id)) add(id, true);
  }
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  uintptr_t end = 0, written_end = 0;
  for (const Extent& extent : extents) {
    if (extent.begin < (extent.written ? end : written_end))
      throw UserError("an output shares memory with another tensor of the run", "program @" + program.name,
                      "give outputs memory of their own");
    end = std::max(end, extent.end);
    if (extent.written) written_end = std::max(written_end, extent.end);
  }
}

void BoundProgram::check_options(const ExecutorRunOptions& options) const {
  if (forks_ != fork_count() && (on_gpu() || !all_held()))
    throw UserError(fmt::format("this process was forked after the program was bound to {}",
                                on_gpu() ? "a GPU, whose driver does not work here" : "a job of several processes"),
                    "program @" + program_->name, "start it as a new process (multiprocessing: the method spawn)");
  if (!options.stream) return;
  const std::string where = "program @" + program_->name;
  if (!on_gpu()) throw UserError("a stream for a device without streams", where, "leave the stream empty");
  if (held_.size() != 1)
    throw UserError(fmt::format("one stream for {} ranks", held_.size()), where, "hold one rank, or give no stream");
}

// Threads of a launch on the host.
int BoundProgram::launch_threads(const ExecutorRunOptions& options) const {
  if (options.threads > 0 || options_.drive == RankDrive::stepped || held_.size() == 1) return options.threads;
  return std::max(1, int(std::thread::hardware_concurrency() / held_.size()));
}

std::optional<IndexOffence> BoundProgram::run(std::span<const RankTensors> inputs, std::vector<RankTensors>& outputs,
                                              const ExecutorRunOptions& options) {
  check_options(options);
  const Turns<RunState>::Turn state(states_);
  if (options.stream != nullptr)
    if (const std::optional<IndexOffence> before = take_offence(*state)) return before;
  bool issued = false;
  try {
    for (const auto& runner : state->runners) runner->begin(options, launch_threads(options));
    bind_tensors(*state, inputs, outputs, options);
    if (options.counts)
      for (const auto& runner : state->runners) options.counts->copied_bytes += runner->memory().copied_bytes();
    for (const auto& runner : state->runners) {
      runner->tensors_bound();
      if (options_.poison) runner->poison_all();
    }
    issued = true;
    state->steps->stop_point().begin(options.stop);
    state->executor->run(options.seed, options.stream != nullptr);
    if (options.stream != nullptr) state->runners[0]->mark_end();
    if (options_.timing && on_gpu()) {
      if (options.stream != nullptr) state->steps->wait(*state->runners[0]);
      for (const auto& runner : state->runners) runner->take_marked_times();
    }
  } catch (const CancelledError& e) {  // ranks of this process wait for none of each other
    clean_up(*state, issued && !all_held(), e.what());
    throw;
  } catch (const std::exception& e) {
    clean_up(*state, issued, e.what());
    throw;
  }
  for (const auto& runner : state->runners) runner->memory().end();
  return options.stream != nullptr ? std::nullopt : take_offence(*state);
}

// Ends what others wait for because of an error, and waits for what is queued.
void BoundProgram::clean_up(RunState& state, bool issued, const char* why) {
  const bool others = !all_held();
  if (others || (issued && on_gpu() && !state.steps->calls().empty())) comms_->abort(why);
  state.steps->settle();
  for (const auto& runner : state.runners) runner->memory().end();
  take_offence(state);  // the error stands for it
}

// And forgets it.
std::optional<IndexOffence> BoundProgram::take_offence(RunState& state) {
  std::optional<IndexOffence> first;
  for (const auto& runner : state.runners) {
    const std::optional<IndexOffence> its = runner->take_offence();
    if (its && (!first || std::pair(its->ordinal, its->position) < std::pair(first->ordinal, first->position)))
      first = its;
  }
  return first;
}

std::vector<RankTensors> BoundProgram::run(std::span<const RankTensors> inputs, const ExecutorRunOptions& options) {
  std::vector<RankTensors> outputs;
  run(inputs, outputs, options);
  return outputs;
}

Tensor BoundProgram::value(int64_t rank, ValueId id) const {
  const RankMemory& memory = runner(rank).memory();
  return Tensor::wrap(program_->value(id).dtype, binding(rank).shapes[id.index], memory.value(id), memory.location());
}

std::span<const StepTime> BoundProgram::step_times(int64_t rank) const { return runner(rank).times(); }
std::span<const StepSpan> BoundProgram::step_spans(int64_t rank) const { return runner(rank).spans(); }

std::string BoundProgram::print_timings() const {
  std::string out;
  if (!options_.timing) return out;
  for (size_t s = 0; s < program_->steps.size(); ++s) {
    StepTime sum;
    for (const auto& runner : states_.first().runners) {
      sum.count += runner->times()[s].count;
      sum.nanoseconds += runner->times()[s].nanoseconds;
    }
    if (sum.count == 0) continue;
    out += fmt::format("{:>6} runs {:>12.3f} us mean {:>12.3f} us all  {}\n", sum.count,
                       double(sum.nanoseconds) / 1e3 / double(sum.count), double(sum.nanoseconds) / 1e3,
                       step_place(*program_, s));
  }
  return out;
}

void BoundProgram::reset_step_times() {
  for (const auto& runner : states_.first().runners)
    std::fill(runner->times().begin(), runner->times().end(), StepTime{});
}

}  // namespace plait
