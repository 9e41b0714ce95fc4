#include "kir/passes/passes.h"

#include <optional>

#include "kir/expand_functions.h"
#include "kir/fingerprint.h"
#include "kir/passes/begins.h"
#include "kir/passes/bits.h"
#include "kir/passes/expand_reductions.h"
#include "kir/passes/fragments.h"
#include "kir/passes/hoist.h"
#include "kir/passes/load_ahead.h"
#include "kir/passes/merge_equal.h"
#include "kir/passes/pipeline.h"
#include "kir/passes/place_memory.h"
#include "kir/passes/running.h"
#include "kir/passes/stage.h"
#include "kir/passes/synchronise.h"
#include "kir/passes/tails.h"
#include "kir/passes/threads.h"
#include "kir/passes/transpose.h"
#include "kir/passes/unroll.h"
#include "kir/passes/vectorize.h"

namespace plait::kir {

std::span<const KernelPass> kernel_passes() {
  static constexpr KernelPass kPasses[] = {
      {"stage", stage},                          // first: tiles are loops of all threads
      {"place_memory", place_memory},            // what threads do for each other is told by their loops
      {"synchronise", synchronise},              // behind it: all shared memory is known
      {"pipeline", pipeline},                    // waits are there, threads loops still
      {"threads", threads},                      // each thread's own loops from here on
      {"fragments", fragments},                  // loops that are unrolled below are loops still
      {"running", running},                      // loops and conditions as emitted, lanes loops still
      {"begins", begins},                        // loops and conditions as emitted
      {"tails", tails},                          // likewise: loops that begin where they do
      {"unroll", unroll},                        // bodies are without conditions now
      {"vectorize", vectorize},                  // one body per vector
      {"transpose", transpose},                  // copies and lanes are there
      {"load_ahead", load_ahead},                // loads are vectors, and in their loops
      {"hoist", hoist},                          // splats and masks as well
      {"merge_equal", merge_equal},              // equal statements stand in enclosing blocks now
      {"bits", bits},                            // loads and stores are what they will be
      {"expand_reductions", expand_reductions},  // no pass compares formulas
      {"expand_functions", expand_functions},    // last: formulas hold derived functions
  };
  return kPasses;
}

void run_passes(Kernel& kernel, std::string_view until, const KernelPassHook& hook) {
  std::optional<uint64_t> verified;  // the kernel that was
  for (const KernelPass& pass : kernel_passes()) {
    pass.run(kernel);
    if (hook) hook(pass.name, kernel);
    const uint64_t now = fingerprint(kernel);
    if (now != verified) verify(kernel);
    verified = now;
    if (pass.name == until) return;
  }
}

}  // namespace plait::kir
