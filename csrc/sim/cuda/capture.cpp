#include "sim/cuda/capture.h"

#include <fmt/core.h>

#include <algorithm>

namespace plait::sim {
namespace {

void check_valid(const StreamObject& stream) {
  if (!stream.capture->valid) fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

std::vector<std::shared_ptr<Capture>> active_captures() {
  std::vector<std::shared_ptr<Capture>> active;
  auto& captures = machine().captures;
  for (const auto& weak : captures) {
    if (auto capture = weak.lock(); capture != nullptr && capture->active) active.push_back(std::move(capture));
  }
  captures.assign(active.begin(), active.end());
  return active;
}

// What the frontier of the origin does not come after.
std::shared_ptr<NodeObject> find_unjoined(const Capture& capture, const StreamObject& origin) {
  std::set<const NodeObject*> joined;
  std::vector<const NodeObject*> todo;
  for (const auto& node : origin.frontier) todo.push_back(node.get());
  while (!todo.empty()) {
    const NodeObject* node = todo.back();
    todo.pop_back();
    if (!joined.insert(node).second) continue;
    for (const auto& before : node->after) todo.push_back(before.get());
  }
  for (const auto& weak : capture.streams) {
    const auto stream = weak.lock();
    if (stream == nullptr) continue;
    for (const auto& node : stream->frontier) {
      if (joined.count(node.get()) == 0) return node;
    }
  }
  return nullptr;
}

void finish(Capture& capture) {
  capture.active = false;
  for (const auto& weak : capture.streams) {
    if (const auto stream = weak.lock()) {
      stream->capture = nullptr;
      stream->frontier.clear();
    }
  }
}

}  // namespace

void invalidate(Capture& capture) { capture.valid = false; }

void begin_capture(const Call& call, const std::shared_ptr<StreamObject>& stream, CUstreamCaptureMode mode) {
  if (stream->legacy) misuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy default stream cannot be captured");
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("mode {}", int(mode)));
  if (stream->capture != nullptr) misuse(CUDA_ERROR_ILLEGAL_STATE, stream->name + " is being captured already");
  auto capture = std::make_shared<Capture>();
  capture->id = ++machine().captures_made;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->graph = machine().registry.make<GraphObject>(call.name(), stream->owner->handle);
  capture->origin = stream;
  capture->streams.push_back(stream);
  machine().captures.push_back(capture);
  stream->capture = std::move(capture);
}

std::shared_ptr<GraphObject> end_capture(const Call& call, StreamObject& stream) {
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) misuse(CUDA_ERROR_ILLEGAL_STATE, stream.name + " is not being captured");
  const auto origin = capture->origin.lock();
  const auto give_up = [&](CUresult code, std::string text) {
    finish(*capture);
    destroy(*capture->graph, call.name());
    throw ApiError{code, std::move(text)};
  };
  if (origin.get() != &stream) {
    invalidate(*capture);
    misuse(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
           fmt::format("the capture of {} began on {}", stream.name, origin == nullptr ? "another" : origin->name));
  }
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id()) {
    misuse(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "another thread began the capture of " + stream.name);
  }
  if (!capture->valid) give_up(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, {});
  if (const auto node = find_unjoined(*capture, stream)) {
    give_up(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
            fmt::format("`{}` was captured on a stream that {} does not wait for", node->task.name, stream.name));
  }
  finish(*capture);
  return capture->graph;
}

std::shared_ptr<NodeObject> record_node(const Call& call, StreamObject& stream, CUgraphNodeType type, Task task) {
  check_valid(stream);
  auto node = add_node(*stream.capture->graph, type, std::move(task), stream.frontier, call.name());
  stream.frontier = {node};
  return node;
}

void join_capture(const Call&, const std::shared_ptr<StreamObject>& stream, const EventObject& event) {
  if (!event.capture->active) {
    misuse(CUDA_ERROR_CAPTURED_EVENT, event.name + " was last recorded in a capture that is over");
  }
  if (stream->legacy) {
    invalidate(*event.capture);
    misuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the legacy default stream cannot join the capture of " + event.name);
  }
  if (stream->capture == nullptr) {
    stream->capture = event.capture;
    event.capture->streams.push_back(stream);
    stream->frontier.clear();
  } else if (stream->capture != event.capture) {
    invalidate(*event.capture);
    invalidate(*stream->capture);
    misuse(CUDA_ERROR_STREAM_CAPTURE_MERGE,
           fmt::format("{} and {} belong to different captures", stream->name, event.name));
  }
  check_valid(*stream);
  for (const auto& node : event.captured) {
    auto& frontier = stream->frontier;
    if (std::find(frontier.begin(), frontier.end(), node) == frontier.end()) frontier.push_back(node);
  }
}

void refuse_captured(const StreamObject& stream, const char* why) {
  if (stream.capture == nullptr) return;
  invalidate(*stream.capture);
  misuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, fmt::format("{} is being captured: {}", stream.name, why));
}

void refuse_captured(const ContextObject& context, const char* why) {
  for (const auto& weak : context.streams) {
    if (const auto stream = weak.lock()) refuse_captured(*stream, why);
  }
}

void unsafe_call(const Call&) {
  const CUstreamCaptureMode mode = thread_state().capture_mode;
  if (machine().captures.empty() || mode == CU_STREAM_CAPTURE_MODE_RELAXED) return;
  std::string names;
  for (const auto& capture : active_captures()) {
    const bool own = capture->thread == std::this_thread::get_id();
    const bool in_reach = own ? capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                              : capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!in_reach) continue;
    invalidate(*capture);
    const auto origin = capture->origin.lock();
    names = origin == nullptr ? "a stream" : origin->name;
  }
  if (names.empty()) return;
  misuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
         fmt::format("may synchronise, and {} is being captured; the capture is invalid now", names));
}

}  // namespace plait::sim
