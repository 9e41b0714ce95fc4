#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Phases of a GPU's kernel that are beside each other become one launch, whose blocks are those of all of them, one
// behind the other in number. Only those whose blocks have the same threads, and whose shared memory together any block
// has, are one; the others follow each other. No phase is beside another one then.
void merge_phases(Kernel& kernel);

}  // namespace plait::kir
