#pragma once
// The passes over kernel IR in their order: what lowering emits becomes what code writers know. What goes on with whole
// kernels runs behind them, and is called elsewhere: run_last_blocks and write_in_place (compile/stages.cpp), join and
// merge_phases (lower/join_lowered.cpp).
#include <functional>
#include <span>
#include <string_view>

#include "kir/kernel.h"

namespace plait::kir {

struct KernelPass {
  std::string_view name;
  void (*run)(Kernel&);
};

// Each states in its header what it requires and why it stands where it does.
std::span<const KernelPass> kernel_passes();

// Gets what a pass left before it is verified, and may edit it.
using KernelPassHook = std::function<void(std::string_view pass, Kernel& kernel)>;

// Runs them one after another, up to and with the one of that name, or all; verify() behind the first and behind each
// that changed something.
void run_passes(Kernel& kernel, std::string_view until = {}, const KernelPassHook& hook = {});

}  // namespace plait::kir
