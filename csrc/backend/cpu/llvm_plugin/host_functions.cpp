#include "backend/cpu/llvm_plugin/host_functions.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <numeric>
#include <vector>

using namespace llvm;

namespace plait {
namespace {

constexpr int kTogether = 16;  // lanes of an instruction

int lanes_of(Type* type) {
  const auto* vector = dyn_cast<FixedVectorType>(type);
  return vector == nullptr ? 1 : static_cast<int>(vector->getNumElements());
}

// The function without a body.
BasicBlock* empty(Function& function) {
  function.deleteBody();
  function.setLinkage(GlobalValue::InternalLinkage);
  return BasicBlock::Create(function.getContext(), "entry", &function);
}

// vcvtps2ph and vcvtph2ps round and quiet as the text does, whatever the thread's modes for denormals.
void convert_f16(Function& function, bool narrows) {
  IRBuilder<> build(empty(function));
  Value* const in = function.getArg(0);
  Type* const half = in->getType()->getWithNewType(build.getHalfTy());
  if (narrows)
    build.CreateRet(build.CreateBitCast(build.CreateFPTrunc(in, half), function.getReturnType()));
  else
    build.CreateRet(build.CreateFPExt(build.CreateBitCast(in, half), function.getReturnType()));
}

std::vector<int> counted(int first, int count) {
  std::vector<int> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), first);
  return out;
}

// vcvtneps2bf16 takes denormals for zero; where a lane is one, all go by the text.
void convert_bf16(Function& function) {
  ValueToValueMapTy values;
  Function* const spelled = CloneFunction(&function, values);
  BasicBlock* const entry = empty(function);
  BasicBlock* const slow = BasicBlock::Create(function.getContext(), "slow", &function);
  BasicBlock* const done = BasicBlock::Create(function.getContext(), "done", &function);
  IRBuilder<> build(entry);
  Value* const in = function.getArg(0);
  const int lanes = lanes_of(in->getType());
  Type* const words = FixedVectorType::get(build.getInt16Ty(), kTogether);
  constexpr uint32_t kDenormal = 0x20;
  std::vector<Value*> parts;
  Value* denormals = nullptr;
  for (int first = 0; first < lanes; first += kTogether) {
    Value* const part = lanes == kTogether ? in : build.CreateShuffleVector(in, counted(first, kTogether));
    Value* const narrow = build.CreateIntrinsic(Intrinsic::x86_avx512bf16_cvtneps2bf16_512, {}, {part});
    parts.push_back(build.CreateBitCast(narrow, words));
    Value* const found =
        build.CreateIntrinsic(Intrinsic::x86_avx512_fpclass_ps_512, {}, {part, build.getInt32(kDenormal)});
    denormals = denormals == nullptr ? found : build.CreateOr(denormals, found);
  }
  while (parts.size() > 1) {
    std::vector<Value*> pairs;
    for (size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(build.CreateShuffleVector(parts[i], parts[i + 1], counted(0, 2 * lanes_of(parts[i]->getType()))));
    parts = pairs;
  }
  Value* const any = build.CreateICmpNE(build.CreateBitCast(denormals, build.getInt16Ty()), build.getInt16(0));
  build.CreateCondBr(any, slow, done, MDBuilder(function.getContext()).createBranchWeights(1, 1000));
  build.SetInsertPoint(slow);
  Value* const by_text = build.CreateCall(spelled, {in});
  build.CreateBr(done);
  build.SetInsertPoint(done);
  PHINode* const out = build.CreatePHI(function.getReturnType(), 2);
  out->addIncoming(parts[0], entry);
  out->addIncoming(by_text, slow);
  build.CreateRet(out);
}

}  // namespace

void use_host_instructions(Module& module, StringRef features) {
  const bool f16 = features.contains("+f16c"),
             bf16 = features.contains("+avx512bf16") && features.contains("+avx512dq");
  std::vector<Function*> functions;
  for (Function& function : module)
    if (!function.isDeclaration() && function.arg_size() == 1) functions.push_back(&function);
  for (Function* function : functions) {
    Type* const in = function->getArg(0)->getType();
    const StringRef name = function->getName();
    const bool narrows = in->getScalarType()->isFloatTy();
    if (f16 && ((narrows && name.starts_with("plait.to_f16.")) || name.starts_with("plait.from_f16.")))
      convert_f16(*function, narrows);
    else if (bf16 && narrows && name.starts_with("plait.to_bf16.") && lanes_of(in) % kTogether == 0)
      convert_bf16(*function);
  }
}

}  // namespace plait
