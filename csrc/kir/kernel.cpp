#include "kir/kernel.h"

#include "base/error.h"

namespace plait::kir {

std::string_view name(StmtKind kind) {
  switch (kind) {
#define PLAIT_STMT(Name, text) \
  case StmtKind::Name:         \
    return #text;
#include "kir/stmts.def"
#undef PLAIT_STMT
  }
  __builtin_unreachable();
}

std::string_view name(Access access) {
  switch (access) {
    case Access::aligned:
      return "aligned";
    case Access::contiguous:
      return "contiguous";
    case Access::splat:
      return "splat";
    case Access::lanewise:
      return "lanewise";
  }
  __builtin_unreachable();
}

std::string_view name(LoopKind loop) {
  switch (loop) {
    case LoopKind::serial:
      return "serial";
    case LoopKind::cpu_thread:
      return "cpu_thread";
    case LoopKind::block_x:
      return "block_x";
    case LoopKind::block_y:
      return "block_y";
    case LoopKind::block_z:
      return "block_z";
    case LoopKind::thread_x:
      return "thread_x";
    case LoopKind::thread_y:
      return "thread_y";
    case LoopKind::thread_z:
      return "thread_z";
  }
  __builtin_unreachable();
}

const For* thread_loop(const Kernel& kernel) {
  for (const auto& stmt : kernel.body) {
    const For* loop = as<For>(*stmt);
    if (loop != nullptr && loop->loop == LoopKind::cpu_thread) return loop;
  }
  return nullptr;
}

namespace {

void collect_extents(const Block& body, LaunchExtents* extents) {
  for (const auto& stmt : body) {
    const For* loop = as<For>(*stmt);
    if (loop == nullptr) continue;
    if (loop->loop >= LoopKind::block_x && loop->loop <= LoopKind::block_z) {
      extents->grid[size_t(loop->loop) - size_t(LoopKind::block_x)] = loop->extent;
    } else if (loop->loop >= LoopKind::thread_x) {
      extents->block[size_t(loop->loop) - size_t(LoopKind::thread_x)] = loop->extent;
    }
    collect_extents(loop->body, extents);
  }
}

}  // namespace

LaunchExtents launch_extents(const Kernel& kernel) {
  PLAIT_CHECK(kernel.pool != nullptr, "kernel {} has no pool", kernel.name);
  const sym::Expr one = kernel.pool->constant(1);
  LaunchExtents extents{{one, one, one}, {one, one, one}};
  collect_extents(kernel.body, &extents);
  return extents;
}

}  // namespace plait::kir
