#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace plait {

// Inlines the helpers and runs a short pipeline: the text is vectorised already, more passes cost compile time and gain
// nothing measurable. In a file of its own because the headers of the passes compile slowly.
void optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace plait
