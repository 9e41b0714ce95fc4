#pragma once
// How work gets onto streams.
#include "sim/cuda/graphs.h"

namespace plait::sim {

std::shared_ptr<StreamObject> make_stream(const std::shared_ptr<ContextObject>& context, unsigned flags, int priority,
                                          const char* by);
// The default stream of the calling thread in a context.
std::shared_ptr<StreamObject> per_thread_stream(const std::shared_ptr<ContextObject>& context);
// Queues work on a stream behind its last and `more`, and in the order that the legacy default stream asks for.
// Not for captured streams.
OpRef issue(StreamObject& stream, Task task, std::vector<OpRef> more = {});
// Queues work, or records it where the stream is captured (then the result is null and `node` is set).
OpRef submit(const Call& call, StreamObject& stream, CUgraphNodeType type, Task task,
             std::shared_ptr<NodeObject>* node = nullptr);
// What a wait for the stream waits for; for the legacy default stream that is work of blocking streams too. Null: none.
OpRef last_work(StreamObject& stream, const Call& call);
// Waits until an operation is done, and lets the host know of it.
void wait_for(const OpRef& op, const std::string& who);
// Waits for all work of a context; its fault, if it met one, ends the call.
void wait_for_context(const Call& call, ContextObject& context, bool host_knows);
// Pools of the device give back what they need not keep.
void after_synchronisation(int device);

}  // namespace plait::sim
