#pragma once
// Lets what a kernel writes lie in the memory of what it reads: an output in place of an input.
//
// Requires a kernel of a CPU, after run_passes: no later pass moves a load behind a store. Ensures, where it gives no
// reason: every element of the arguments `read` is loaded before it is stored to by the task and iteration that stores
// it, or in an earlier phase; stores of what is there already are gone, and with them loops that do nothing else; what
// is still loaded is marked as replaced, which writers must know. Else the kernel stays as it was. The marked kernel is
// right too where the memories are apart, unless stores are gone: then they must be one.
#include <optional>
#include <span>
#include <string>

#include "kir/kernel.h"

namespace plait::kir {

// `read`, `written`: arguments, by number, of one dtype and extent. The reason why not, for people.
std::optional<std::string> write_in_place(Kernel& kernel, std::span<const uint32_t> read, uint32_t written);

}  // namespace plait::kir
