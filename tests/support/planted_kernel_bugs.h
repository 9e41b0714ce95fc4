#pragma once
// Bugs of the back half that are planted to see that tests catch them: edits of a scheduled group, of kernel IR between
// its passes, and of a program before it runs.
#include <string_view>
#include <vector>

#include "base/pass.h"
#include "kir/kernel.h"
#include "program/program.h"
#include "schedule/scheduled_group.h"

namespace plait::testing {

struct KernelBug {
  std::string_view name;
  std::string_view pass;  // behind which it is planted
  std::string_view what;  // what is wrong then, and where
  // Of them the one that it is of; each gives the number of places that it changed.
  int (*in_group)(ScheduledGroup&) = nullptr;
  int (*in_kernel)(kir::Kernel&) = nullptr;
  int (*in_program)(Program&) = nullptr;
};

// One of them: the innermost conditions with parts of vectors go, so that elements behind the last whole vector are
// left.
int drop_tails(kir::Kernel& kernel);

// In the order of the road: schedule, emit, passes, program.
const std::vector<KernelBug>& kernel_bugs();

// Of schedule `attention`.
const std::vector<KernelBug>& attention_bugs();

// The bug of that name as a hook of the passes; `places`, where not null, is raised by the places that were changed.
PassHook kernel_bug_hook(const KernelBug& bug, int* places = nullptr);

}  // namespace plait::testing
