#include "sim/cuda/streams.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim/cuda/capture.h"
#include "sim/cuda/pools.h"

namespace plait::sim {

std::shared_ptr<StreamObject> make_stream(const std::shared_ptr<ContextObject>& context, unsigned flags, int priority,
                                          const char* by) {
  auto stream = machine().registry.make<StreamObject>(by, context->handle);
  stream->owner = context;
  stream->flags = flags;
  stream->priority = priority;
  stream->lane = machine().scheduler.make_lane(fmt::format("{} of device {}", stream->number, context->device));
  auto& streams = context->streams;
  streams.erase(std::remove_if(streams.begin(), streams.end(), [](const auto& each) { return each.expired(); }),
                streams.end());
  streams.push_back(stream);
  return stream;
}

std::shared_ptr<StreamObject> per_thread_stream(const std::shared_ptr<ContextObject>& context) {
  auto& stream = context->per_thread[std::this_thread::get_id()];
  if (stream == nullptr) {
    stream = make_stream(context, CU_STREAM_DEFAULT, 0, "CU_STREAM_PER_THREAD");
    stream->per_thread = true;
    stream->name = "the default stream of a thread";
    stream->lane.name = fmt::format("{} (of a thread) of device {}", stream->number, context->device);
  }
  return stream;
}

namespace {

// The legacy default stream and the blocking streams of its context wait for each other.
void add_legacy_order(const StreamObject& stream, std::vector<OpRef>& after) {
  ContextObject& context = *stream.owner;
  if (!stream.legacy) {
    if (stream.blocking()) after.push_back(context.legacy->last);
    return;
  }
  for (const auto& weak : context.streams) {
    const auto other = weak.lock();
    if (other != nullptr && other->blocking()) after.push_back(other->last);
  }
  after.insert(after.end(), context.orphans.begin(), context.orphans.end());
  context.orphans.clear();
}

void refuse_implicit(const StreamObject& stream) {
  if (!stream.legacy) return;
  for (const auto& weak : stream.owner->streams) {
    const auto other = weak.lock();
    if (other == nullptr || !other->blocking() || other->capture == nullptr) continue;
    invalidate(*other->capture);
    misuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
           fmt::format("the legacy default stream would wait for {}, which is being captured", other->name));
  }
}

}  // namespace

OpRef issue(StreamObject& stream, Task task, std::vector<OpRef> more) {
  refuse_implicit(stream);
  more.push_back(stream.last);
  add_legacy_order(stream, more);
  if (task.context == nullptr) task.context = stream.owner;
  stream.last = machine().scheduler.issue(std::move(task), stream.lane, more);
  stream.owner->issued.join(stream.last->clock());
  return stream.last;
}

OpRef submit(const Call& call, StreamObject& stream, CUgraphNodeType type, Task task,
             std::shared_ptr<NodeObject>* node) {
  task.context = stream.owner;
  if (stream.capture == nullptr) return issue(stream, std::move(task));
  const auto made = record_node(call, stream, type, std::move(task));
  if (node != nullptr) *node = made;
  return nullptr;
}

OpRef last_work(StreamObject& stream, const Call& call) {
  if (!stream.legacy) return stream.last;
  std::vector<OpRef> others;
  add_legacy_order(stream, others);
  const uint64_t own = stream.last == nullptr ? 0 : stream.last->number;
  const bool newer = std::any_of(others.begin(), others.end(),
                                 [&](const OpRef& other) { return other != nullptr && other->number > own; });
  return newer ? issue(stream, Task{call.name()}, others) : stream.last;
}

namespace {

// The host has learnt something: pools and clocks may shrink.
void synchronised(int device) {
  after_synchronisation(device);
  if (machine().scheduler.settle()) machine().forget_clocks();
}

}  // namespace

void wait_for(const OpRef& op, const std::string& who) {
  if (op == nullptr) return;
  Scheduler& scheduler = machine().scheduler;
  scheduler.wait_until([&] { return op->done(); }, who);
  scheduler.host_knows(op->clock());
  synchronised(-1);
}

void wait_for_context(const Call& call, ContextObject& context, bool host_knows) {
  Scheduler& scheduler = machine().scheduler;
  const std::vector<OpRef> ops = scheduler.pending_of(&context);
  const Clock issued = context.issued;
  const auto done = [&] { return std::all_of(ops.begin(), ops.end(), [](const OpRef& op) { return op->done(); }); };
  scheduler.wait_until(done, call.name());
  if (host_knows) scheduler.host_knows(issued);
  synchronised(context.device);
}

}  // namespace plait::sim
