define void @two_reductions_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <16 x float>
  %variable1 = alloca <16 x double>
  %variable2 = alloca <16 x float>
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds ptr, ptr %buffers, i64 2
  %t5 = load ptr, ptr %t4, align 8, !invariant.load !0
  %t6 = getelementptr inbounds i64, ptr %integers, i64 0
  %t7 = load i64, ptr %t6, align 8, !invariant.load !0
  %t8 = getelementptr inbounds i64, ptr %integers, i64 1
  %t9 = load i64, ptr %t8, align 8, !invariant.load !0
  %t10 = icmp slt i64 %begin, %end
  br i1 %t10, label %loop0, label %done2
loop0:
  %t11 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  store <16 x float> splat (float 0xFFF0000000000000), ptr %variable0
  store <16 x double> splat (double 0x0000000000000000), ptr %variable1
  %t12 = add nsw i64 %t9, 511
  %t13 = ashr i64 %t12, 9
  %t14 = icmp slt i64 0, %t13
  br i1 %t14, label %loop3, label %done5
loop3:
  %t15 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <16 x float> splat (float 0x0000000000000000), ptr %variable2
  %t16 = mul nsw i64 -32, %t15
  %t17 = ashr i64 %t9, 4
  %t18 = add nsw i64 %t16, %t17
  %t19 = call i64 @llvm.smin.i64(i64 32, i64 %t18)
  %t20 = icmp slt i64 0, %t19
  br i1 %t20, label %loop6, label %done8
loop6:
  %t21 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  %t22 = mul nsw i64 %t11, %t9
  %t23 = mul nsw i64 512, %t15
  %t24 = add nsw i64 %t22, %t23
  %t25 = mul nsw i64 16, %t21
  %t26 = add nsw i64 %t24, %t25
  %t27 = getelementptr inbounds float, ptr %t1, i64 %t26
  %t28 = load <16 x float>, ptr %t27, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %11
  %t29 = fmul <16 x float> %t28, %t28  ; %12
  %t30 = load <16 x float>, ptr %variable2
  %t31 = fadd <16 x float> %t30, %t29  ; %15
  store <16 x float> %t31, ptr %variable2
  %t32 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %t28)  ; %14
  %t33 = load <16 x float>, ptr %variable0
  %t34 = fcmp ugt <16 x float> %t33, %t32
  %t35 = fcmp uno <16 x float> %t32, %t32
  %t36 = select <16 x i1> %t34, <16 x float> %t33, <16 x float> %t32
  %t37 = select <16 x i1> %t35, <16 x float> %t32, <16 x float> %t36  ; %16
  store <16 x float> %t37, ptr %variable0
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t21, 1
  %t38 = icmp slt i64 %loop6.next, %t19
  br i1 %t38, label %loop6, label %done8
done8:
  %t39 = load <16 x float>, ptr %variable2
  %t40 = fpext <16 x float> %t39 to <16 x double>  ; %7
  %t41 = load <16 x double>, ptr %variable1
  %t42 = fadd <16 x double> %t41, %t40  ; %17
  store <16 x double> %t42, ptr %variable1
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t15, 1
  %t43 = icmp slt i64 %loop3.next, %t13
  br i1 %t43, label %loop3, label %done5
done5:
  %t44 = load <16 x double>, ptr %variable1
  %t45 = shufflevector <16 x double> %t44, <16 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %18
  %t46 = load <16 x double>, ptr %variable1
  %t47 = shufflevector <16 x double> %t46, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %19
  %t48 = fadd <8 x double> %t45, %t47  ; %20
  %t49 = shufflevector <8 x double> %t48, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %21
  %t50 = shufflevector <8 x double> %t48, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %22
  %t51 = fadd <4 x double> %t49, %t50  ; %23
  %t52 = shufflevector <4 x double> %t51, <4 x double> poison, <2 x i32> <i32 0, i32 1>  ; %24
  %t53 = shufflevector <4 x double> %t51, <4 x double> poison, <2 x i32> <i32 2, i32 3>  ; %25
  %t54 = fadd <2 x double> %t52, %t53  ; %26
  %t55 = extractelement <2 x double> %t54, i64 0  ; %27
  %t56 = extractelement <2 x double> %t54, i64 1  ; %28
  %t57 = fadd double %t55, %t56  ; %29
  %t58 = fptrunc double %t57 to float  ; %9
  %t59 = getelementptr inbounds float, ptr %t3, i64 %t11
  store float %t58, ptr %t59, align 4, !alias.scope !5, !noalias !4
  %t60 = load <16 x float>, ptr %variable0
  %t61 = shufflevector <16 x float> %t60, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %30
  %t62 = load <16 x float>, ptr %variable0
  %t63 = shufflevector <16 x float> %t62, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %31
  %t64 = fcmp ugt <8 x float> %t61, %t63
  %t65 = fcmp uno <8 x float> %t63, %t63
  %t66 = select <8 x i1> %t64, <8 x float> %t61, <8 x float> %t63
  %t67 = select <8 x i1> %t65, <8 x float> %t63, <8 x float> %t66  ; %32
  %t68 = shufflevector <8 x float> %t67, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %33
  %t69 = shufflevector <8 x float> %t67, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %34
  %t70 = fcmp ugt <4 x float> %t68, %t69
  %t71 = fcmp uno <4 x float> %t69, %t69
  %t72 = select <4 x i1> %t70, <4 x float> %t68, <4 x float> %t69
  %t73 = select <4 x i1> %t71, <4 x float> %t69, <4 x float> %t72  ; %35
  %t74 = shufflevector <4 x float> %t73, <4 x float> poison, <2 x i32> <i32 0, i32 1>  ; %36
  %t75 = shufflevector <4 x float> %t73, <4 x float> poison, <2 x i32> <i32 2, i32 3>  ; %37
  %t76 = fcmp ugt <2 x float> %t74, %t75
  %t77 = fcmp uno <2 x float> %t75, %t75
  %t78 = select <2 x i1> %t76, <2 x float> %t74, <2 x float> %t75
  %t79 = select <2 x i1> %t77, <2 x float> %t75, <2 x float> %t78  ; %38
  %t80 = extractelement <2 x float> %t79, i64 0  ; %39
  %t81 = extractelement <2 x float> %t79, i64 1  ; %40
  %t82 = fcmp ugt float %t80, %t81
  %t83 = fcmp uno float %t81, %t81
  %t84 = select i1 %t82, float %t80, float %t81
  %t85 = select i1 %t83, float %t81, float %t84  ; %41
  %t86 = getelementptr inbounds float, ptr %t5, i64 %t11
  store float %t85, ptr %t86, align 4, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t87 = icmp slt i64 %loop0.next, %end
  br i1 %t87, label %loop0, label %done2
done2:
  ret void
}

declare <16 x float> @llvm.fabs.v16f32(<16 x float>)
declare i64 @llvm.smin.i64(i64, i64)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
