#include "kir/kernel.h"

#include <algorithm>

#include "base/error.h"
#include "kir/shared_memory.h"
#include "kir/statements.h"

namespace plait::kir {

std::string_view name(StmtKind kind) {
  switch (kind) {
#define PLAIT_STMT(Name, text, pass) \
  case StmtKind::Name:               \
    return #text;
#include "kir/stmts.def"
#undef PLAIT_STMT
  }
  __builtin_unreachable();
}

std::string_view removed_by(StmtKind kind) {
  constexpr std::string_view passes[] = {
#define PLAIT_STMT(Name, text, pass) #pass,
#include "kir/stmts.def"
#undef PLAIT_STMT
  };
  const std::string_view pass = passes[size_t(kind)];
  return pass == "none" ? "" : pass;
}

std::string_view name(Space space) {
  switch (space) {
    case Space::argument:
      return "argument";
    case Space::counter:
      return "counter";
    case Space::workspace:
      return "workspace";
    case Space::stack:
      return "stack";
    case Space::shared:
      return "shared";
  }
  __builtin_unreachable();
}

std::string_view name(Access access) {
  switch (access) {
    case Access::aligned:
      return "aligned";
    case Access::contiguous:
      return "contiguous";
    case Access::reversed:
      return "reversed";
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
    case LoopKind::lanes:
      return "lanes";
    case LoopKind::threads:
      return "threads";
    case LoopKind::threads_y:
      return "threads_y";
    case LoopKind::clusters:
      return "clusters";
    case LoopKind::block_x:
      return "block_x";
    case LoopKind::block_y:
      return "block_y";
    case LoopKind::block_z:
      return "block_z";
    case LoopKind::cluster:
      return "cluster";
    case LoopKind::thread_x:
      return "thread_x";
    case LoopKind::thread_y:
      return "thread_y";
    case LoopKind::thread_z:
      return "thread_z";
  }
  __builtin_unreachable();
}

FoldWay way_of(const Fold& fold) {
  const bool one_lane = fold.out[0].lanes == 1;
  if (one_lane && fold.threads * fold.stride <= kWarp) return FoldWay::halving;
  return one_lane && fold.stride == 1 ? FoldWay::by_warps : FoldWay::in_order;
}

std::string_view name(SyncScope scope) {
  return scope == SyncScope::warp ? "warp" : scope == SyncScope::block ? "block" : "cluster";
}

DType element_type(const Kernel& kernel, uint32_t buffer, const Value& value) {
  const DType dtype = kernel.buffers[buffer].dtype;
  if (kernel.target != TargetKind::cpu || !is_narrow(dtype) || value.dtype != DType::u32) return dtype;
  return size_of(dtype) == 1 ? DType::u8 : DType::u16;
}

sym::Expr place_in_banks(const Buffer& buffer, sym::Expr index) {
  if (buffer.turned == 0) return index;
  const auto size = static_cast<int64_t>(size_of(buffer.dtype)), piece = kBankBytes / size;
  const int64_t pieces = buffer.turned / piece, rows = std::max<int64_t>(1, kLineBytes / (buffer.turned * size));
  const sym::Expr row = sym::floordiv(index, buffer.turned), column = sym::mod(index, buffer.turned);
  const sym::Expr turned = sym::mod(sym::floordiv(column, piece) + sym::floordiv(row, rows), pieces);
  return row * buffer.turned + turned * piece + sym::mod(index, piece);
}

size_t passed_buffers(const Kernel& kernel) {
  return static_cast<size_t>(std::count_if(kernel.buffers.begin(), kernel.buffers.end(),
                                           [](const Buffer& buffer) { return !buffer.is_local(); }));
}

KernelText text_of(const Kernel& kernel, std::string code, bool status) {
  const auto of_space = [&](Space space) { return size_t(std::ranges::count(kernel.buffers, space, &Buffer::space)); };
  KernelText out{kernel.name, std::move(code), passed_buffers(kernel), kernel.integers.size(), status};
  out.workspaces = of_space(Space::workspace);
  out.counters = of_space(Space::counter);
  out.waves = waves(kernel);
  for (const Phase& phase : kernel.phases)
    out.shared_bytes.push_back(size_t(places_in_shared(kernel, phase.body).bytes));
  if (std::ranges::all_of(out.shared_bytes, [](size_t bytes) { return bytes == 0; })) out.shared_bytes.clear();
  return out;
}

std::vector<size_t> waves(const Kernel& kernel) {
  std::vector<size_t> out;
  for (const Phase& phase : kernel.phases) {
    if (phase.beside && !out.empty())
      ++out.back();
    else
      out.push_back(1);
  }
  return out;
}

const For* thread_loop(const Phase& phase) {
  for (const auto& stmt : phase.body) {
    const For* loop = as<For>(*stmt);
    if (loop != nullptr && loop->loop == LoopKind::cpu_thread) return loop;
  }
  return nullptr;
}

const For* cluster_loop(const Block& body) {
  for (const auto& stmt : body) {
    const For* loop = as<For>(*stmt);
    if (loop != nullptr && loop->loop == LoopKind::cluster) return loop;
    if (const Block* inner = body_of(*stmt))
      if (const For* within = cluster_loop(*inner)) return within;
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
    } else if (loop->loop == LoopKind::cluster) {
      extents->grid[1] = loop->extent;
    } else if (loop->loop >= LoopKind::thread_x) {
      extents->block[size_t(loop->loop) - size_t(LoopKind::thread_x)] = loop->extent;
    }
    collect_extents(loop->body, extents);
  }
}

}  // namespace

LaunchExtents launch_extents(const Kernel& kernel, size_t phase) {
  PLAIT_CHECK(kernel.pool != nullptr, "kernel {} has no pool", kernel.name);
  const sym::Expr one = kernel.pool->constant(1);
  LaunchExtents extents{{one, one, one}, {one, one, one}};
  collect_extents(kernel.phases.at(phase).body, &extents);
  return extents;
}

Kernel phase_kernel(const Kernel& kernel, size_t phase) {
  Kernel out{kernel.name, kernel.target, kernel.schedule, kernel.pool, kernel.buffers, kernel.integers};
  out.narrow = kernel.narrow;
  out.phases[0].body = clone(kernel.phases.at(phase).body);
  return out;
}

namespace {

void require_replaced(const Kernel& kernel, const Block& body) {
  for (const auto& stmt : body) {
    const std::string_view pass = removed_by(stmt->kind);
    PLAIT_CHECK(pass.empty(), "kernel @{}: `{}` is for pass {} to replace", kernel.name, print(kernel, *stmt), pass);
    if (const For* loop = as<For>(*stmt))
      PLAIT_CHECK(loop->loop != LoopKind::lanes && !is_threads(loop->loop), "kernel @{}: `{}` is for a pass to replace",
                  kernel.name, print(kernel, *stmt));
    if (const Block* inner = body_of(*stmt)) require_replaced(kernel, *inner);
  }
}

}  // namespace

void require_replaced(const Kernel& kernel) {
  for (const Phase& phase : kernel.phases) require_replaced(kernel, phase.body);
}

}  // namespace plait::kir
