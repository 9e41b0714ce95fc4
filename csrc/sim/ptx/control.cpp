// Branches and ends.
#include "sim/ptx/decoder.h"
#include "sim/ptx/thread_block.h"

namespace plait::sim::ptx {
namespace {

void trap_lanes(Warp& warp, const Instruction& i) { fail(warp, i, -1, kLaunchFailed, "trap: the kernel gave up"); }

void wait_for_grids(Warp& warp, const Instruction&) {
  warp.behind |= warp.exec;
  warp.of->waited_for_grids();
}

}  // namespace

// griddepcontrol: what comes behind begins no earlier here than it may.
void decode_grid_control(Decoder& d) {
  const int what = d.take_one({"wait", "launch_dependents"});
  if (what < 0) d.refuse("a control of this form");
  d.need_operands(0);
  d.emit(what == 0 ? wait_for_grids : no_lanes);
}

void decode_branch(Decoder& d) {
  d.take("uni");
  d.need_operands(1);
  if (d.operand(0).kind != Operand::Kind::name) d.refuse("a branch to no label");
  d.emit(no_lanes).control = Control::branch;
  d.branch_to(d.operand(0).name);
}

void decode_leave(Decoder& d) {
  d.take("uni");
  d.need_operands(0);
  d.emit(no_lanes).control = Control::leave;
}

void decode_trap(Decoder& d) {
  d.need_operands(0);
  d.emit(trap_lanes);
}

}  // namespace plait::sim::ptx
