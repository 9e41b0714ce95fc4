#pragma once
// Recording of streams into graphs.
#include "sim/cuda/graphs.h"

namespace plait::sim {

struct Capture {
  uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  std::shared_ptr<GraphObject> graph;
  std::weak_ptr<StreamObject> origin;
  std::vector<std::weak_ptr<StreamObject>> streams;  // all that take part
  bool active = true, valid = true;
};

// Starts recording a stream into `graph` (null: a new one).
void begin_capture(const Call& call, const std::shared_ptr<StreamObject>& stream, CUstreamCaptureMode mode);
// Ends it and returns the graph. ApiError where the capture is invalid, of another thread, or not joined; it is over
// then too.
std::shared_ptr<GraphObject> end_capture(const Call& call, StreamObject& stream);
// Work of a captured stream becomes a node.
std::shared_ptr<NodeObject> record_node(const Call& call, StreamObject& stream, CUgraphNodeType type, Task task);
// A stream waits for an event that a capture recorded, and takes part in the capture from now on.
void join_capture(const Call& call, const std::shared_ptr<StreamObject>& stream, const EventObject& event);
// Ends a call that may not be made on a stream while it is recorded; the recording becomes invalid.
void refuse_captured(const StreamObject& stream, const char* why);
// Ends a call that may synchronise, and so may not be made by this thread while certain captures are under way.
void unsafe_call(const Call& call);
// The same for a call that waits for or asks for all work of a context.
void refuse_captured(const ContextObject& context, const char* why);
void invalidate(Capture& capture);

}  // namespace plait::sim
