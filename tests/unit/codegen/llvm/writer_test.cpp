// Text of the LLVM writer. What the text computes is tested in tests/unit/backend/cpu.
#include "codegen/llvm/writer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "codegen/llvm/functions.h"
#include "codegen/llvm/text.h"
#include "support/kernel_builder.h"

namespace plait {
namespace {

using kir::Access;
using kir::LoopKind;
using test::KernelBuilder;

size_t count(const std::string& text, const std::string& word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

KernelBuilder add_kernel() {
  KernelBuilder b("add");
  const auto n = b.integer("n");
  const auto x = b.reads("x", DType::f32, n), y = b.reads("y", DType::f32, n), z = b.writes("z", DType::f32, n);
  const auto i = b.loop("i", sym::ceildiv(n, 8), LoopKind::cpu_thread);
  const auto index = 8 * i + b.lane, active = n - 8 * i;
  const auto left = b.load(x, index, 8, Access::aligned), right = b.load(y, index, 8, Access::contiguous);
  b.store(z, index, b.compute(Pointwise::add, {left, right}), Access::aligned, active);
  return b;
}

TEST(LlvmWriter, WholeText) {
  const KernelBuilder b = add_kernel();
  kir::verify(b.kernel);
  EXPECT_EQ(
      codegen::write_llvm(b.kernel),
      R"(define void @add(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds ptr, ptr %buffers, i64 2
  %t5 = load ptr, ptr %t4, align 8, !invariant.load !0
  %t6 = getelementptr inbounds i64, ptr %integers, i64 0
  %t7 = load i64, ptr %t6, align 8, !invariant.load !0
  %t8 = icmp slt i64 %begin, %end
  br i1 %t8, label %loop0, label %done2
loop0:
  %t9 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t10 = mul nsw i64 8, %t9
  %t11 = getelementptr inbounds float, ptr %t1, i64 %t10
  %t12 = load <8 x float>, ptr %t11, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %0
  %t13 = getelementptr inbounds float, ptr %t3, i64 %t10
  %t14 = load <8 x float>, ptr %t13, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %1
  %t15 = fadd <8 x float> %t12, %t14  ; %2
  %t16 = getelementptr inbounds float, ptr %t5, i64 %t10
  %t17 = mul nsw i64 -8, %t9
  %t18 = add nsw i64 %t17, %t7
  %t19 = call i64 @llvm.smax.i64(i64 %t18, i64 0)
  %t20 = call i64 @llvm.smin.i64(i64 %t19, i64 8)
  %t21 = trunc i64 %t20 to i32
  %t22 = insertelement <8 x i32> poison, i32 %t21, i64 0
  %t23 = shufflevector <8 x i32> %t22, <8 x i32> poison, <8 x i32> zeroinitializer
  %t24 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %t23
  call void @llvm.masked.store.v8f32.p0(<8 x float> %t15, ptr %t16, i32 4, <8 x i1> %t24), !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t9, 1
  %t25 = icmp slt i64 %loop0.next, %end
  br i1 %t25, label %loop0, label %done2
done2:
  ret void
}

declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32 immarg, <8 x i1>)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
)");
}

TEST(LlvmWriter, SameKernelSameText) {
  EXPECT_EQ(codegen::write_llvm(add_kernel().kernel), codegen::write_llvm(add_kernel().kernel));
  const KernelBuilder b = add_kernel();
  EXPECT_EQ(codegen::write_llvm(b.kernel), codegen::write_llvm(b.kernel));
}

TEST(LlvmWriter, RefusesKernelsForGpus) {
  KernelBuilder b("gpu", TargetKind::cuda);
  EXPECT_THROW(codegen::write_llvm(b.kernel), InternalError);
}

TEST(LlvmWriter, HelpersAreDefinedOnceAndOnlyWhenUsed) {
  EXPECT_EQ(count(codegen::write_llvm(add_kernel().kernel), "alwaysinline"), 0u);
  KernelBuilder b("functions");
  const auto y = b.writes("y", DType::f32, b.number(8));
  const auto x = b.literal(DType::f32, 0.1, 8);
  const auto twice = b.compute(Pointwise::exp, {b.compute(Pointwise::exp, {x})});
  b.store(y, b.number(0) + b.lane, b.compute(Pointwise::gelu_tanh, {twice}), Access::aligned);
  const std::string text = codegen::write_llvm(b.kernel);
  EXPECT_EQ(count(text, "define internal"), 2u);
  EXPECT_EQ(count(text, "define internal <8 x float> @plait.exp.v8f32("), 1u);
  EXPECT_EQ(count(text, "call <8 x float> @plait.exp.v8f32("), 3u);
  EXPECT_EQ(count(text, "declare <8 x float> @llvm.fma.v8f32("), 1u);
}

TEST(LlvmWriter, NarrowFloatsNeverUseBfloatOrHalf) {
  KernelBuilder b("narrow");
  const auto x = b.reads("x", DType::f16, b.number(8)), y = b.writes("y", DType::bf16, b.number(8));
  const auto v = b.load(x, b.number(0) + b.lane, 8, Access::aligned);
  b.store(y, b.number(0) + b.lane, b.round(v, DType::bf16), Access::aligned);
  const std::string text = codegen::write_llvm(b.kernel);
  EXPECT_EQ(text.find("bfloat"), std::string::npos);
  EXPECT_EQ(text.find("half"), std::string::npos);
  EXPECT_EQ(text.find("fptrunc"), std::string::npos);
}

TEST(LlvmFunctions, HugeArgumentsBranchToTheLibrary) {
  using namespace codegen::llvm;
  Module module;
  Function f(module);
  sin(f, {{codegen::llvm::Scalar::f32, 2}, "%x"});
  const std::string text = module.text();
  EXPECT_EQ(count(text, "call i1 @llvm.vector.reduce.or.v2i1("), 1u);
  EXPECT_EQ(count(text, "call double @plait_sin(double"), 2u);
  EXPECT_EQ(count(text, "fpext <2 x float>"), 1u);
  EXPECT_EQ(count(text, "fptrunc <2 x double>"), 1u);
}

TEST(LlvmFunctions, DoubleIsTheLibrarys) {
  using namespace codegen::llvm;
  Module module;
  Function f(module);
  const Type type{codegen::llvm::Scalar::f64, 2};
  atan2(f, {type, "%y"}, {type, "%x"});
  EXPECT_EQ(count(module.text(), "call double @plait_atan2(double"), 2u);
  EXPECT_EQ(count(module.text(), "fmul"), 0u);
}

TEST(LlvmText, TypesAndConstants) {
  using namespace codegen::llvm;
  EXPECT_EQ((Type{codegen::llvm::Scalar::f32, 8}.text()), "<8 x float>");
  EXPECT_EQ((Type{codegen::llvm::Scalar::i64, 1}.text()), "i64");
  EXPECT_EQ((Type{codegen::llvm::Scalar::i1, 4}.suffix()), "v4i1");
  EXPECT_EQ(value_type(DType::boolean, 1).text(), "i1");
  EXPECT_EQ(memory_type(DType::boolean, 1).text(), "i8");
  EXPECT_EQ(memory_type(DType::bf16, 4).text(), "<4 x i16>");
  EXPECT_THROW(value_type(DType::f16, 1), InternalError);
  EXPECT_EQ(number({codegen::llvm::Scalar::f32, 1}, 0.5).typed(), "float 0x3FE0000000000000");
  EXPECT_EQ(integer({codegen::llvm::Scalar::i32, 4}, -3).typed(), "<4 x i32> splat (i32 -3)");
  EXPECT_EQ(constant({codegen::llvm::Scalar::f32, 1}, Constant::from_double(DType::f32, 0.1)).text,
            "0x3FB99999A0000000");
  EXPECT_EQ(constant({codegen::llvm::Scalar::i64, 1}, Constant::from_int64(DType::u64, -1)).text, "-1");
  EXPECT_EQ(constant({codegen::llvm::Scalar::i1, 1}, Constant::from_bool(true)).text, "true");
  EXPECT_EQ(iota({codegen::llvm::Scalar::i32, 2}).typed(), "<2 x i32> <i32 0, i32 1>");
}

}  // namespace
}  // namespace plait
