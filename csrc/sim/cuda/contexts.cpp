#include "sim/cuda/contexts.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim/cuda/capture.h"
#include "sim/cuda/modules.h"
#include "sim/cuda/pools.h"
#include "sim/cuda/streams.h"

namespace plait::sim {
namespace {

std::shared_ptr<StreamObject> make_legacy(const std::shared_ptr<ContextObject>& context) {
  auto stream = std::make_shared<StreamObject>();
  stream->owner = context;
  stream->legacy = true;
  stream->name = "the legacy default stream";
  stream->lane = machine().scheduler.make_lane(fmt::format("default of device {}", context->device));
  return stream;
}

// Runs what can run; what waits for others is dropped.
void end_work(const Call& call, ContextObject& context) {
  Scheduler& scheduler = machine().scheduler;
  const auto rest = [&] { return scheduler.pending_of(&context); };
  while (context.error == CUDA_SUCCESS && !rest().empty() && scheduler.step()) {}
  const std::vector<OpRef> ops = rest();
  if (ops.empty()) return;
  if (context.error == CUDA_SUCCESS) {
    machine().findings.add(fmt::format("{}: {} operations of {} are lost; the first is {}", call.name(), ops.size(),
                                       context.name, scheduler.space.trace().describe(ops.front()->actor.id)));
  }
  for (const OpRef& op : ops) op->dropped = true;
}

// "stream 3 (cuStreamCreate)" of everything that the user made and did not destroy.
std::vector<std::string> leaks(const ContextObject& context) {
  std::vector<std::string> found;
  for (uint64_t address : machine().live_allocations) {
    const Allocation& each = machine().allocations.at(address);
    if (each.context != context.handle) continue;
    found.push_back(fmt::format("allocation {} of {} bytes ({})", each.number, each.bytes,
                                each.kind == Allocation::Kind::registered ? "registered host memory"
                                : each.kind == Allocation::Kind::host     ? "host memory"
                                : each.pool != nullptr                    ? "cuMemAllocAsync"
                                                                          : "cuMemAlloc"));
  }
  for (const ObjectKind kind :
       {ObjectKind::stream, ObjectKind::event, ObjectKind::module, ObjectKind::graph, ObjectKind::exec}) {
    for (const auto& object : machine().registry.list(kind, context.handle)) {
      if (kind == ObjectKind::stream && static_cast<StreamObject&>(*object).per_thread) continue;
      if (kind == ObjectKind::module && static_cast<ModuleObject&>(*object).of_library) continue;
      found.push_back(fmt::format("{} ({})", object->name, object->made_by));
    }
  }
  return found;
}

void report_leaks(const Call& call, const ContextObject& context) {
  constexpr size_t kMost = 10;
  const std::vector<std::string> found = leaks(context);
  if (found.empty()) return;
  std::string text = fmt::format("{}: leak: {} of device {} is given up with {} things alive:", call.name(),
                                 context.name, context.device, found.size());
  for (size_t i = 0; i < std::min(found.size(), kMost); ++i) text += "\n  " + found[i];
  if (found.size() > kMost) text += fmt::format("\n  and {} more", found.size() - kMost);
  machine().findings.add(std::move(text));
}

void free_everything(const Call& call, ContextObject& context) {
  Registry& registry = machine().registry;
  const std::set<uint64_t> live = machine().live_allocations;
  for (uint64_t address : live) {
    Allocation& each = machine().allocations.at(address);
    if (each.context == context.handle) drop(each, call.name());
  }
  for (const auto& object : registry.list(ObjectKind::module, context.handle)) {
    auto& module = static_cast<ModuleObject&>(*object);
    module.uses.clear();
    unload_module(call, module, context.issued);
  }
  for (const auto& object : registry.list(ObjectKind::graph, context.handle)) {
    destroy(static_cast<GraphObject&>(*object), call.name());
  }
  for (const ObjectKind kind : {ObjectKind::stream, ObjectKind::event, ObjectKind::exec}) {
    for (const auto& object : registry.list(kind, context.handle)) registry.destroy(*object, call.name());
  }
}

}  // namespace

std::shared_ptr<ContextObject> make_context(int device, unsigned flags, const char* by) {
  auto context = machine().registry.make<ContextObject>(by, 0);
  context->device = device;
  context->flags = flags;
  context->legacy = make_legacy(context);
  return context;
}

void empty_context(const Call& call, ContextObject& context) {
  const bool lost = context.error != CUDA_SUCCESS;
  end_work(call, context);
  for (const auto& weak : context.streams) {
    const auto stream = weak.lock();
    if (stream == nullptr || stream->capture == nullptr) continue;
    stream->capture->active = stream->capture->valid = false;
    stream->capture = nullptr;
  }
  if (!lost) report_leaks(call, context);
  free_everything(call, context);
  AddressSpace& space = machine().scheduler.space;
  for (int peer : context.peers) space.set_peer_access(context.device, peer, false);
  context.peers.clear();
  context.per_thread.clear();
  context.orphans.clear();
  context.streams.clear();
  context.error = CUDA_SUCCESS;
  after_synchronisation(context.device);
}

void destroy_context(const Call& call, const std::shared_ptr<ContextObject>& context) {
  empty_context(call, *context);
  context->alive = false;
  context->legacy->owner = nullptr;
  context->legacy = nullptr;
  machine().registry.destroy(*context, call.name());
}

}  // namespace plait::sim
