// Barriers of a block, and fences.
#include "sim/ptx/addresses.h"
#include "sim/ptx/decoder.h"
#include "sim/ptx/families.h"
#include "sim/ptx/thread_block.h"

namespace plait::sim::ptx {
namespace {

void fence_lanes(Warp& warp, const Instruction& i) {
  warp.of->order().fence(warp.number, warp.exec, i.scope, i.immediate != 0);
}

}  // namespace

// bar.sync, bar.arrive, bar.red and barrier of the same; bar.warp.sync is an instruction of lanes.
void decode_barrier(Decoder& d) {
  const bool old_name = d.mnemonic() == "bar";
  if (d.take("cluster")) return decode_cluster_barrier(d);
  const bool warp = d.take("warp"), sync = d.take("sync");
  if (warp) {
    if (!sync) d.refuse("a barrier of this form");
    return decode_warp_barrier(d);
  }
  d.take("cta");
  const bool aligned = d.take("aligned") || old_name;
  const bool arrives = d.take("arrive"), reduces = d.take("red");
  if (sync + arrives + reduces != 1) d.refuse("a barrier of this form");
  BarrierKind kind = arrives ? BarrierKind::arrive : BarrierKind::sync;
  if (reduces) {
    const int op = d.take_one({"popc", "and", "or"});
    if (op < 0 || d.take_type() != (op == 0 ? Type::u32 : Type::pred)) d.refuse("a barrier of this form");
    kind = op == 0 ? BarrierKind::count : op == 1 ? BarrierKind::all : BarrierKind::any;
  }
  const size_t first = reduces ? 1 : 0, last = d.operand_count() - (reduces ? 1 : 0);
  d.need_operands(reduces ? 3 : arrives ? 2 : 1, reduces ? 4 : 2);
  const bool counted = last - first == 2;
  const uint32_t number = d.source(first, Type::u32);
  const uint32_t threads = counted ? d.source(first + 1, Type::u32) : 0;
  const uint32_t to = !reduces                     ? 0
                      : kind == BarrierKind::count ? d.target(0, Type::u32)
                                                   : d.predicate_target(d.operand(0));
  const uint32_t predicate = reduces ? d.predicate(d.operand(last)) : 0;
  Instruction& added = d.emit(no_lanes, to, number, threads);
  added.control = Control::barrier;
  added.barrier = kind;
  added.aligned = aligned;
  added.target = counted ? 1 : 0;
  added.e = predicate;
  added.immediate = reduces && d.operand(last).negated ? 0xffffffff : 0;
  d.warps_wait();
}

// Memory is in one order for all threads here: what a fence orders is known to the checks of races alone.
void decode_fence(Decoder& d) {
  const bool all = d.mnemonic() == "membar" || d.take("sc");
  d.skip({"acq_rel"});
  const std::optional<Scope> scope = take_scope(d);
  if (!scope) d.refuse("a fence without a scope");
  d.need_operands(0);
  Instruction& added = d.emit(fence_lanes);
  added.scope = *scope;
  added.immediate = all ? 1 : 0;
  d.has_fences();
}

}  // namespace plait::sim::ptx
