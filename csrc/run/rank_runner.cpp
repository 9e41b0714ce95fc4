#include "run/rank_runner.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/error.h"

namespace plait {
namespace {

constexpr uint32_t kStatusSlot = ~uint32_t{0}, kCounterSlot = kStatusSlot - 1;  // not memory of a value

int ordinal_of(int64_t rank, const Device& device) { return int(rank % device.count()); }

// Events in the order of their records.
std::map<uint32_t, uint32_t> number_events(const Program& program) {
  std::map<uint32_t, uint32_t> out;
  for (const auto& step : program.steps)
    if (const auto* record = as<RecordStep>(*step)) out.emplace(record->event.index, uint32_t(out.size()));
  return out;
}

bool uses_comm(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(), [](const auto& step) {
    return step->kind != StepKind::AllocStep && step->stream == ProgramStream::comm;
  });
}

// Contractions are all on one stream, so that they share it.
size_t workspace_bytes(const Program& program) {
  size_t most = 0;
  for (const LibrarySlot& library : program.libraries)
    if (library.executable) most = std::max(most, library.executable->workspace_bytes());
  return most;
}

// Words of all counters of launches, which lie behind the workspace of libraries.
size_t counter_bytes(const RankBinding& binding) {
  size_t words = 0;
  for (const BoundStep& step : binding.steps)
    for (int64_t each : step.counters) words += static_cast<size_t>(each);
  return words * sizeof(uint32_t);
}

}  // namespace

RankRunner::RankRunner(const Program& program, const RankBinding& binding, Device& device, bool timing)
    : program_(program),
      binding_(binding),
      counters_at_((workspace_bytes(program) + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment),
      counter_bytes_(counter_bytes(binding)),
      memory_(program, binding, device, ordinal_of(binding.rank, device), counters_at_ + counter_bytes_) {
  const auto events = number_events(program);
  events_ = events.size();
  if (!device.host_memory())
    queues_ = std::make_unique<RankQueues>(device, ordinal_of(binding.rank, device), events_, uses_comm(program));
  if (timing) times_.resize(program.steps.size());
  const auto checks = [](const KernelSlot& kernel) { return kernel.code.status; };
  if (std::any_of(program.kernels.begin(), program.kernels.end(), checks)) {
    status_ = device.shared_memory(kStatusWords * sizeof(uint64_t), ordinal_of(binding.rank, device));
    std::memset(status_->data(), 0xff, status_->bytes());
  }
  size_t slots = 0;
  for (size_t s = 0; s < program.steps.size(); ++s)
    slots += reads(*program.steps[s]).size() + writes(*program.steps[s]).size() + binding.steps[s].counters.size() + 1;
  slots_.reserve(slots);
  for (size_t s = 0; s < program.steps.size(); ++s) {
    if (binding.steps[s].skipped) continue;
    build_action(s);
    if (const auto* record = as<RecordStep>(*program.steps[s])) actions_.back().event = events.at(record->event.index);
    if (const auto* wait = as<WaitStep>(*program.steps[s])) actions_.back().event = events.at(wait->event.index);
  }
  if (queues_) find_progress_events();
}

void RankRunner::find_progress_events() {
  for (size_t i = 0; i < actions_.size(); ++i) {
    if (actions_[i].kind != StepKind::CollectiveStep) continue;
    Progress& progress = progress_.emplace_back(Progress{actions_[i].step, std::nullopt});
    size_t next = i + 1;
    while (next < actions_.size() && actions_[next].stream != actions_[i].stream) ++next;
    if (next < actions_.size() && actions_[next].kind == StepKind::RecordStep) progress.event = actions_[next].event;
  }
}

void RankRunner::queued_collective(size_t action) {
  if (!queues_) return;
  Progress& progress = progress_[queued_++];
  if (progress.event) return;
  if (!progress.own) progress.own = queues_->make_event();
  queues_->stream(actions_[action].stream).record(*progress.own);
}

std::optional<size_t> RankRunner::unfinished_collective() {
  for (size_t i = 0; i < queued_; ++i) {
    try {
      const Event& event = progress_[i].own ? *progress_[i].own : queues_->event(*progress_[i].event);
      if (!event.done()) return progress_[i].step;
    } catch (...) {  // of work that failed
      return progress_[i].step;
    }
  }
  return std::nullopt;
}

void RankRunner::build_action(size_t index) {
  const Step& step = *program_.steps[index];
  const BoundStep& numbers = binding_.steps[index];
  RankAction action{step.kind, index, step.stream};
  action.numbers = &numbers;
  const size_t first = slots_.size();
  size_t views = 0;
  auto add = [&](ValueId id) {
    if (program_.value(id).kind != ProgramValueKind::temporary) tensor_slots_.push_back(slots_.size());
    slot_value_.push_back(id.index);
    slot_offset_.push_back(numbers.offsets.empty() ? 0 : size_t(numbers.offsets[views]));
    ++views;
    slots_.push_back(nullptr);
    point(slots_.size() - 1, memory_.value(id));
  };
  for (ValueId id : reads(step)) add(id);
  const auto* launched = as<LaunchStep>(step);
  const size_t own = launched != nullptr ? launched->workspaces.size() : 0;
  const std::vector<ValueId> written = writes(step);
  for (size_t i = 0; i + own < written.size(); ++i) add(written[i]);
  const auto add_fixed = [&](uint32_t kind, size_t offset, void* data) {
    slot_value_.push_back(kind);
    slot_offset_.push_back(offset);
    slots_.push_back(data);
  };
  if (launched != nullptr && program_.kernels[launched->kernel.index].code.status)
    add_fixed(kStatusSlot, 0, status_->data());
  for (size_t i = written.size() - own; i < written.size(); ++i) add(written[i]);
  for (int64_t words : numbers.counters) {
    add_fixed(kCounterSlot, next_counter_, nullptr);
    next_counter_ += static_cast<size_t>(words) * sizeof(uint32_t);
  }
  action.buffers = slots_.data() + first;
  action.launch.buffers = {action.buffers, slots_.size() - first};
  action.launch.integers = numbers.integers;
  action.launch.thread_extent = numbers.threads[0];
  action.launch.later_extents = std::span(numbers.threads).subspan(1);
  std::copy(numbers.grid.begin(), numbers.grid.end(), action.launch.grid);
  action.launch.later_grids = numbers.later_grids;
  action.launch.later_blocks = numbers.later_blocks;
  std::copy(numbers.block.begin(), numbers.block.end(), action.launch.block);
  if (const auto* launch = as<LaunchStep>(step)) {
    const KernelSlot& kernel = program_.kernels[launch->kernel.index];
    PLAIT_CHECK(kernel.executable, "kernel @{} has no executable", kernel.code.name);
    action.executable = kernel.executable.get();
  } else if (const auto* library = as<LibraryStep>(step)) {
    action.executable = program_.libraries[library->library.index].executable.get();
    action.fill_bytes = size_t(binding_.bytes[library->out.value.index]);
    PLAIT_CHECK(action.executable || numbers.zero_fill, "contraction @l{} has no executable",
                library->library.index + 1);
  } else if (const auto* copy = as<CopyStep>(step)) {
    action.unit = size_of(program_.value(copy->in.value).dtype);
  }
  actions_.push_back(action);
}

void RankRunner::begin(const ExecutorRunOptions& options, int threads) {
  Stream* compute = nullptr;
  queued_ = 0;
  spans_.clear();
  marked_.clear();
  guest_ = options.stream != nullptr;
  if (queues_) {
    queues_->begin(options.stream);
    compute = &queues_->stream(ProgramStream::compute);
    if (!times_.empty()) queues_->begin_times();
  }
  memory_.begin({options.allocator, compute, options.stream != nullptr});
  for (RankAction& action : actions_) {
    action.launch.threads = threads;
    action.launch.stream = stream(action.stream);
  }
}

void RankRunner::tensors_bound() {
  const std::span<void* const> values = memory_.values();
  const void* arena = memory_.arena().data();
  void* counters = counter_bytes_ > 0 ? static_cast<std::byte*>(memory_.workspace()) + counters_at_ : nullptr;
  // Each launch leaves them at zero; a guest's run, beside which others may be under way, has counters of its own.
  if (arena != arena_ || guest_) fill(counters, 0, counter_bytes_, ProgramStream::compute);
  if (arena != arena_) {
    for (size_t slot = 0; slot < slots_.size(); ++slot)
      if (slot_value_[slot] != kStatusSlot)
        point(slot, slot_value_[slot] == kCounterSlot ? counters : values[slot_value_[slot]]);
    for (RankAction& action : actions_) action.launch.workspace = memory_.workspace();
    arena_ = arena;
    return;
  }
  for (size_t slot : tensor_slots_) point(slot, values[slot_value_[slot]]);
}

void RankRunner::issue(const RankAction& action) {
  switch (action.kind) {
    case StepKind::AllocStep:
    case StepKind::CollectiveStep:
      return;
    case StepKind::RecordStep:
      if (queues_) queues_->record(action.event, action.stream);
      return;
    case StepKind::WaitStep:
      if (queues_) queues_->wait(action.event, action.stream);
      return;
    case StepKind::CopyStep:
      return copy(action);
    case StepKind::LibraryStep:
      if (action.numbers->zero_fill) return fill(action.buffers[2], 0, action.fill_bytes, action.stream);
      [[fallthrough]];
    case StepKind::LaunchStep:
      return action.executable->launch(action.launch);
  }
}

void RankRunner::copy(const RankAction& action) {
  const BoundStep& view = *action.numbers;
  const size_t unit = size_t(view.inner) * action.unit, row = size_t(view.count) * unit;
  const size_t pitch = size_t(view.total) * unit;
  const auto* in = static_cast<const std::byte*>(action.buffers[0]) + size_t(view.start) * unit;
  auto* out = static_cast<std::byte*>(action.buffers[1]);
  if (Stream* queue = stream(action.stream)) return queue->copy_rows(out, row, in, pitch, row, size_t(view.outer));
  for (int64_t o = 0; o < view.outer; ++o) std::memcpy(out + size_t(o) * row, in + size_t(o) * pitch, row);
}

void RankRunner::fill(void* data, uint8_t value, size_t bytes, ProgramStream on) {
  if (bytes == 0) return;
  if (Stream* queue = stream(on)) return queue->fill(data, value, bytes);
  std::memset(data, value, bytes);
}

std::optional<IndexOffence> RankRunner::take_offence() {
  if (!status_) return std::nullopt;
  try {
    if (end_ && !end_->done()) return std::nullopt;
  } catch (...) {  // recorded in a capture of the caller's
    return std::nullopt;
  }
  const std::span<uint64_t, kStatusWords> words(static_cast<uint64_t*>(status_->data()), kStatusWords);
  const std::optional<IndexOffence> out = read_offence(words);
  if (out) std::fill(words.begin(), words.end(), kNoOffence);
  return out;
}

void RankRunner::mark_end() {
  if (!status_) return;
  if (!end_) end_ = queues_->make_event();
  queues_->stream(ProgramStream::compute).record(*end_);
}

void RankRunner::take_marked_times() {
  for (const Marked& marked : marked_) {
    const StepSpan span{marked.step, queues_->time_of(marked.begin), queues_->time_of(marked.end)};
    spans_.push_back(span);
    ++times_[marked.step].count;
    if (marked.booked) times_[marked.step].nanoseconds += span.end - span.begin;
  }
  marked_.clear();
}

void RankRunner::poison_all() {
  fill(memory_.arena().data(), 0xff, memory_.arena().size(), ProgramStream::compute);
  for (ValueId id : program_.outputs)
    if (!program_.value(id).in_place_of && !memory_.is_donated(id))
      fill(memory_.value(id), 0xff, size_t(binding_.bytes[id.index]), ProgramStream::compute);
}

void RankRunner::poison_step(size_t step, ProgramStream stream) {
  for (ValueId id : writes(*program_.steps[step]))
    if (!program_.value(id).in_place_of) fill(memory_.value(id), 0xff, size_t(binding_.bytes[id.index]), stream);
}

}  // namespace plait
