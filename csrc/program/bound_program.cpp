#include "program/bound_program.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

#include "base/error.h"
#include "program/pieces.h"

namespace plait {
namespace {

bool aligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % kBufferAlignment == 0; }

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (int64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
  return "[" + text + "]";
}

// Throws the exception being handled again, with `place` before its `where`.
[[noreturn]] void rethrow_at(const std::string& place) {
  auto where = [&](const Error& e) { return e.where().empty() ? place : place + "; " + e.where(); };
  try {
    throw;
  } catch (const UserError& e) {
    throw UserError(e.message(), where(e), e.remedy());
  } catch (const InternalError& e) {
    throw InternalError(e.message(), where(e), e.remedy());
  } catch (const MissingError& e) {
    throw MissingError(e.message(), where(e), e.remedy());
  } catch (const CommError& e) {
    throw CommError(e.message(), where(e), e.remedy());
  } catch (const std::exception& e) {
    throw CommError(fmt::format("a step failed: {}", e.what()), place, "");
  }
}

}  // namespace

BoundProgram::BoundProgram(std::shared_ptr<const Program> program, const sym::Environment& sizes, Device& device,
                           std::shared_ptr<Communicators> comms, ExecutorOptions options)
    : program_(std::move(program)),
      device_(device),
      allocator_(device.allocator()),
      comms_(std::move(comms)),
      options_(std::move(options)) {
  if (options_.drive != RankDrive::stepped || !options_.ranks.empty() || !device_.host_memory())
    throw UserError("ranks are stepped in host memory", "program @" + program_->name, "step all ranks on a CPU");
  observed_ = options_.poison || options_.timing || options_.observer;
  bindings_ = bind(*program_, sizes);
  ranks_.resize(bindings_.size());
  for (size_t rank = 0; rank < bindings_.size(); ++rank) held_.push_back(int64_t(rank));
  for (int64_t rank = 0; rank < ranks(); ++rank) build_rank(rank);
  interleaving_ = std::make_unique<Interleaving>(build_meetings());
  extents_.reserve(ranks_.size() * (program_->inputs.size() + program_->outputs.size()));
}

BoundProgram::~BoundProgram() = default;

void BoundProgram::build_rank(int64_t rank) {
  const RankBinding& binding = bindings_[rank];
  RankTable& table = ranks_[rank];
  table.arena = allocator_.allocate(size_t(binding.memory.arena_bytes));
  for (size_t v = 0; v < program_->values.size(); ++v)
    table.values.push_back(static_cast<std::byte*>(table.arena->data()) + binding.memory.offsets[v]);
  if (options_.timing) table.times.resize(program_->steps.size());
  size_t slots = 0;
  for (const auto& step : program_->steps) slots += reads(*step).size() + writes(*step).size();
  table.slots.reserve(slots);
  for (size_t s = 0; s < program_->steps.size(); ++s)
    if (!binding.steps[s].skipped && program_->steps[s]->kind != StepKind::RecordStep &&
        program_->steps[s]->kind != StepKind::WaitStep)
      build_action(table, binding, s);
}

void BoundProgram::build_action(RankTable& table, const RankBinding& binding, size_t index) {
  const Step& step = *program_->steps[index];
  const BoundStep& numbers = binding.steps[index];
  Action action{step.kind, index};
  action.numbers = &numbers;
  const size_t first = table.slots.size();
  auto add = [&](ValueId id) {
    if (program_->value(id).kind != ProgramValueKind::temporary)
      table.patches.push_back({table.slots.size(), id.index});
    table.slots.push_back(table.values[id.index]);
  };
  for (ValueId id : reads(step)) add(id);
  for (ValueId id : writes(step)) add(id);
  action.buffers = table.slots.data() + first;
  action.launch.buffers = {action.buffers, table.slots.size() - first};
  action.launch.integers = numbers.integers;
  action.launch.thread_extent = numbers.threads;
  std::copy(numbers.grid.begin(), numbers.grid.end(), action.launch.grid);
  std::copy(numbers.block.begin(), numbers.block.end(), action.launch.block);
  if (const auto* launch = as<LaunchStep>(step)) {
    const KernelSlot& kernel = program_->kernels[launch->kernel.index];
    PLAIT_CHECK(kernel.executable, "kernel @{} has no executable", kernel.code.name);
    action.executable = kernel.executable.get();
  } else if (const auto* library = as<LibraryStep>(step)) {
    action.executable = program_->libraries[library->library.index].executable.get();
    action.fill_bytes = size_t(binding.bytes[library->out.index]);
    PLAIT_CHECK(action.executable || numbers.zero_fill, "product @l{} has no executable", library->library.index + 1);
  } else if (const auto* copy = as<CopyStep>(step)) {
    action.unit = size_of(program_->value(copy->in).dtype);
  }
  table.actions.push_back(action);
}

Interleaving BoundProgram::build_meetings() {
  std::vector<std::vector<int32_t>> actions(ranks_.size());
  std::vector<std::vector<int64_t>> members;
  std::vector<int32_t> meeting_of(ranks_.size());
  std::vector<size_t> at(ranks_.size(), 0);  // by rank: the action of the step, if it has one
  for (size_t s = 0; s < program_->steps.size(); ++s) {
    const auto* collective = as<CollectiveStep>(*program_->steps[s]);
    for (int64_t rank = 0; rank < ranks(); ++rank) {
      RankTable& table = ranks_[rank];
      if (at[rank] == table.actions.size() || table.actions[at[rank]].step != s) continue;
      Action& action = table.actions[at[rank]++];
      if (!collective) {
        actions[rank].push_back(Interleaving::kLocal);
        continue;
      }
      const std::vector<int64_t> team = program_->devices.team(rank, collective->team.index);
      if (team[0] == rank) {
        const BoundStep& numbers = bindings_[rank].steps[s];
        for (int64_t member : team) meeting_of[member] = int32_t(meetings_.size());
        meetings_.push_back({collective,
                             s,
                             &comms_->team(team),
                             program_->value(collective->in).dtype,
                             numbers.total,
                             numbers.outer,
                             numbers.inner,
                             team,
                             {},
                             {},
                             {}});
        members.push_back(team);
      }
      Meeting& meeting = meetings_[meeting_of[rank]];
      meeting.members.push_back({int64_t(meeting.members.size()), nullptr, nullptr});
      meeting.counts.push_back(bindings_[rank].steps[s].count);
      meeting.buffers.push_back(action.buffers);
      actions[rank].push_back(meeting_of[rank]);
    }
  }
  return Interleaving(std::move(actions), std::move(members));
}

void BoundProgram::refuse(std::string what, int64_t rank, ValueId id, std::string remedy) const {
  const ProgramValue& value = program_->value(id);
  throw UserError(
      std::move(what),
      fmt::format("{} `{}` of rank {}", value.kind == ProgramValueKind::input ? "input" : "output", value.name, rank),
      std::move(remedy));
}

void BoundProgram::check_tensor(const Tensor& tensor, int64_t rank, ValueId id) const {
  const ProgramValue& value = program_->value(id);
  const std::vector<int64_t>& shape = bindings_[rank].shapes[id.index];
  if (!tensor.memory) refuse("the tensor has no memory", rank, id, "give a tensor");
  if (tensor.dtype != value.dtype)
    refuse(fmt::format("dtype is {}, not {}", name(tensor.dtype), name(value.dtype)), rank, id, "convert the tensor");
  if (tensor.shape != shape)
    refuse(fmt::format("shape is {}, not {}", shape_text(tensor.shape), shape_text(shape)), rank, id,
           "give the rank's piece of the tensor");
}

void* BoundProgram::input_data(const Tensor& tensor, int64_t rank, ValueId id, Allocator& allocator) {
  check_tensor(tensor, rank, id);
  void* data = tensor.data();
  if (aligned(data) && tensor.is_contiguous()) return data;
  copies_.push_back(allocator.allocate(tensor.bytes()));
  copy_dense(tensor, copies_.back()->data());
  return copies_.back()->data();
}

void BoundProgram::bind_inputs(std::span<const RankTensors> inputs, Allocator& allocator) {
  if (int64_t(inputs.size()) != ranks())
    throw UserError(fmt::format("inputs of {} ranks for a program of {}", inputs.size(), ranks()),
                    "program @" + program_->name, "give the inputs of every rank");
  for (int64_t rank = 0; rank < ranks(); ++rank) {
    if (inputs[rank].size() != program_->inputs.size())
      throw UserError(fmt::format("{} inputs for a program of {}", inputs[rank].size(), program_->inputs.size()),
                      fmt::format("program @{}, rank {}", program_->name, rank), "give every input");
    for (size_t i = 0; i < inputs[rank].size(); ++i) {
      const ValueId id = program_->inputs[i];
      ranks_[rank].values[id.index] = input_data(inputs[rank][i], rank, id, allocator);
    }
  }
}

// Whether the tensor was given.
bool BoundProgram::bind_output(Tensor& tensor, int64_t rank, ValueId id, Allocator& allocator) {
  const bool given = tensor.memory != nullptr;
  const RankBinding& binding = bindings_[rank];
  if (!given) {
    tensor.dtype = program_->value(id).dtype;
    tensor.shape = binding.shapes[id.index];
    tensor.strides = binding.strides[id.index];
    tensor.byte_offset = 0;
    tensor.memory = allocator.allocate(size_t(binding.bytes[id.index]));
  } else {
    check_tensor(tensor, rank, id);
    if (!tensor.is_contiguous() || !aligned(tensor.data()))
      refuse("the tensor is not dense, row-major and aligned", rank, id,
             fmt::format("give memory aligned to {} bytes", kBufferAlignment));
  }
  ranks_[rank].values[id.index] = tensor.data();
  return given;
}

void BoundProgram::bind_outputs(std::vector<RankTensors>& outputs, Allocator& allocator) {
  outputs.resize(ranks_.size());
  bool any_given = false;
  for (int64_t rank = 0; rank < ranks(); ++rank) {
    outputs[rank].resize(program_->outputs.size());
    for (size_t i = 0; i < outputs[rank].size(); ++i)
      any_given = bind_output(outputs[rank][i], rank, program_->outputs[i], allocator) || any_given;
  }
  if (any_given) check_overlap();
}

void BoundProgram::check_overlap() {
  extents_.clear();
  auto add = [&](int64_t rank, ValueId id, bool written) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(ranks_[rank].values[id.index]);
    const int64_t bytes = bindings_[rank].bytes[id.index];
    if (bytes > 0) extents_.push_back({begin, begin + uintptr_t(bytes), written});
  };
  for (int64_t rank = 0; rank < ranks(); ++rank) {
    for (ValueId id : program_->inputs) add(rank, id, false);
    for (ValueId id : program_->outputs) add(rank, id, true);
  }
  std::sort(extents_.begin(), extents_.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  uintptr_t end = 0, written_end = 0;
  for (const Extent& extent : extents_) {
    if (extent.begin < (extent.written ? end : written_end))
      throw UserError("an output shares memory with another tensor of the run", "program @" + program_->name,
                      "give outputs memory of their own");
    end = std::max(end, extent.end);
    if (extent.written) written_end = std::max(written_end, extent.end);
  }
}

void BoundProgram::run(std::span<const RankTensors> inputs, std::vector<RankTensors>& outputs,
                       const ExecutorRunOptions& options) {
  Allocator& allocator = options.allocator ? *options.allocator : allocator_;
  copies_.clear();
  bind_inputs(inputs, allocator);
  bind_outputs(outputs, allocator);
  for (RankTable& table : ranks_)
    for (const Patch& patch : table.patches) table.slots[patch.slot] = table.values[patch.value];
  if (options_.poison) poison_all();
  interleave(options.seed);
  copies_.clear();
}

std::vector<RankTensors> BoundProgram::run(std::span<const RankTensors> inputs, const ExecutorRunOptions& options) {
  std::vector<RankTensors> outputs;
  run(inputs, outputs, options);
  return outputs;
}

void BoundProgram::interleave(uint64_t seed) {
  int64_t rank_now = 0;
  size_t action_now = 0;
  const Meeting* meeting_now = nullptr;
  auto local = [&](int64_t rank, size_t action) {
    rank_now = rank, action_now = action, meeting_now = nullptr;
    observed_ ? execute_observed(rank, ranks_[rank].actions[action]) : execute(ranks_[rank].actions[action]);
  };
  auto meeting = [&](int32_t index, int64_t rank, size_t action) {
    rank_now = rank, action_now = action, meeting_now = &meetings_[index];
    observed_ ? meet_observed(meetings_[index]) : meet(meetings_[index]);
  };
  bool finished = false;
  try {
    finished = interleaving_->run(seed, local, meeting);
  } catch (...) {
    copies_.clear();
    const std::string where = place(ranks_[rank_now].actions[action_now].step);
    if (!meeting_now) rethrow_at(fmt::format("rank {}, {}", rank_now, where));
    std::string team;
    for (int64_t rank : meeting_now->ranks) team += fmt::format("{}{}", team.empty() ? "" : ", ", rank);
    rethrow_at(fmt::format("ranks {}, {}", team, where));
  }
  if (finished) return;
  throw CommError(
      "deadlock: no rank can go on",
      interleaving_->report([&](int64_t rank, size_t action) { return place(ranks_[rank].actions[action].step); }), "");
}

std::string BoundProgram::place(size_t step) const {
  return fmt::format("step {} ({})", step, describe(*program_, *program_->steps[step]));
}

void BoundProgram::execute(const Action& action) const {
  if (action.kind == StepKind::CopyStep) {
    const BoundStep& view = *action.numbers;
    const size_t unit = size_t(view.inner) * action.unit, row = size_t(view.count) * unit;
    const auto* in = static_cast<const std::byte*>(action.buffers[0]) + size_t(view.start) * unit;
    auto* out = static_cast<std::byte*>(action.buffers[1]);
    for (int64_t o = 0; o < view.outer; ++o) std::memcpy(out + o * row, in + o * size_t(view.total) * unit, row);
  } else if (action.kind == StepKind::LibraryStep && action.numbers->zero_fill) {
    std::memset(action.buffers[2], 0, action.fill_bytes);
  } else {
    action.executable->launch(action.launch);
  }
}

void BoundProgram::meet(Meeting& meeting) {
  for (size_t p = 0; p < meeting.members.size(); ++p) {
    meeting.members[p].in = meeting.buffers[p][0];
    meeting.members[p].out = meeting.buffers[p][1];
  }
  const CommPieces pieces{meeting.dtype, meeting.outer, meeting.inner, meeting.counts};
  switch (meeting.step->collective) {
    case CollectiveKind::all_reduce:
      return meeting.communicator->all_reduce(meeting.dtype, *meeting.step->reduce, meeting.elements, meeting.members);
    case CollectiveKind::all_gather:
      return meeting.communicator->all_gather(pieces, meeting.members);
    case CollectiveKind::reduce_scatter:
      return meeting.communicator->reduce_scatter(pieces, *meeting.step->reduce, meeting.members);
  }
}

void BoundProgram::execute_observed(int64_t rank, const Action& action) {
  if (options_.poison) poison_values(rank, action.step);
  const int64_t start = options_.timing ? now() : 0;
  execute(action);
  if (options_.timing) {
    StepTime& time = ranks_[rank].times[action.step];
    time.nanoseconds += now() - start;
    ++time.count;
  }
  if (options_.observer) options_.observer(rank, action.step);
}

void BoundProgram::meet_observed(Meeting& meeting) {
  if (options_.poison)
    for (int64_t rank : meeting.ranks) poison_values(rank, meeting.index);
  const int64_t start = options_.timing ? now() : 0;
  meet(meeting);
  if (options_.timing) {
    ranks_[meeting.ranks[0]].times[meeting.index].nanoseconds += now() - start;
    for (int64_t rank : meeting.ranks) ++ranks_[rank].times[meeting.index].count;
  }
  if (options_.observer)
    for (int64_t rank : meeting.ranks) options_.observer(rank, meeting.index);
}

void BoundProgram::poison_values(int64_t rank, size_t step) const {
  for (ValueId id : writes(*program_->steps[step]))
    std::memset(ranks_[rank].values[id.index], 0xff, size_t(bindings_[rank].bytes[id.index]));
}

void BoundProgram::poison_all() const {
  for (int64_t rank = 0; rank < ranks(); ++rank) {
    std::memset(ranks_[rank].arena->data(), 0xff, ranks_[rank].arena->bytes());
    for (ValueId id : program_->outputs)
      std::memset(ranks_[rank].values[id.index], 0xff, size_t(bindings_[rank].bytes[id.index]));
  }
}

Tensor BoundProgram::value(int64_t rank, ValueId id) const {
  return Tensor::wrap(program_->value(id).dtype, bindings_[rank].shapes[id.index], ranks_[rank].values[id.index]);
}

std::string BoundProgram::print_timings() const {
  std::string out;
  if (!options_.timing) return out;
  for (size_t s = 0; s < program_->steps.size(); ++s) {
    StepTime sum;
    for (const RankTable& table : ranks_) {
      sum.count += table.times[s].count;
      sum.nanoseconds += table.times[s].nanoseconds;
    }
    if (sum.count == 0) continue;
    out += fmt::format("{:>6} runs {:>12.3f} us mean {:>12.3f} us all  {}\n", sum.count,
                       double(sum.nanoseconds) / 1e3 / double(sum.count), double(sum.nanoseconds) / 1e3, place(s));
  }
  return out;
}

void BoundProgram::reset_step_times() {
  for (RankTable& rank : ranks_) std::fill(rank.times.begin(), rank.times.end(), StepTime{});
}

}  // namespace plait
