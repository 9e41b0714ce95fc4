#include "backend/cpu/llvm_plugin/optimize.h"

#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimpleLoopUnswitch.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

using namespace llvm;

namespace plait {

void optimize(Module& module, TargetMachine& machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  FunctionPassManager function;
  function.addPass(SROAPass(SROAOptions::ModifyCFG));
  function.addPass(EarlyCSEPass(true));
  function.addPass(InstCombinePass());
  LoopPassManager invariant;
  invariant.addPass(LICMPass(LICMOptions()));
  invariant.addPass(SimpleLoopUnswitchPass(true));  // an index is tested once, not for each vector of its row
  function.addPass(createFunctionToLoopPassAdaptor(std::move(invariant), true));
  function.addPass(SimplifyCFGPass());
  ModulePassManager pipeline;
  pipeline.addPass(AlwaysInlinerPass(false));
  pipeline.addPass(GlobalDCEPass());
  pipeline.addPass(createModuleToFunctionPassAdaptor(std::move(function)));
  pipeline.run(module, modules);
}

}  // namespace plait
