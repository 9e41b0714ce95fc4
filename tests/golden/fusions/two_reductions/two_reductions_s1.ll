define void @two_reductions_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <32 x float>
  %variable1 = alloca <32 x double>
  %variable2 = alloca <32 x float>
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
  store <32 x float> splat (float 0xFFF0000000000000), ptr %variable0
  store <32 x double> splat (double 0x0000000000000000), ptr %variable1
  %t12 = add nsw i64 %t9, 1023
  %t13 = ashr i64 %t12, 10
  %t14 = icmp slt i64 0, %t13
  br i1 %t14, label %loop3, label %done5
loop3:
  %t15 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable2
  %t16 = mul nsw i64 -32, %t15
  %t17 = ashr i64 %t9, 5
  %t18 = add nsw i64 %t16, %t17
  %t19 = call i64 @llvm.smin.i64(i64 32, i64 %t18)
  %t20 = icmp slt i64 0, %t19
  br i1 %t20, label %loop6, label %done8
loop6:
  %t21 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  %t22 = mul nsw i64 %t11, %t9
  %t23 = mul nsw i64 1024, %t15
  %t24 = add nsw i64 %t22, %t23
  %t25 = mul nsw i64 32, %t21
  %t26 = add nsw i64 %t24, %t25
  %t27 = getelementptr inbounds float, ptr %t1, i64 %t26
  %t28 = load <32 x float>, ptr %t27, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t29 = fmul <32 x float> %t28, %t28
  %t30 = load <32 x float>, ptr %variable2
  %t31 = fadd <32 x float> %t30, %t29
  store <32 x float> %t31, ptr %variable2
  %t32 = call <32 x float> @llvm.fabs.v32f32(<32 x float> %t28)
  %t33 = load <32 x float>, ptr %variable0
  %t34 = fcmp ugt <32 x float> %t33, %t32
  %t35 = fcmp uno <32 x float> %t32, %t32
  %t36 = select <32 x i1> %t34, <32 x float> %t33, <32 x float> %t32
  %t37 = select <32 x i1> %t35, <32 x float> %t32, <32 x float> %t36
  store <32 x float> %t37, ptr %variable0
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t21, 1
  %t38 = icmp slt i64 %loop6.next, %t19
  br i1 %t38, label %loop6, label %done8
done8:
  %t39 = icmp slt i64 %t19, 32
  %t40 = mul nsw i64 32, %t15
  %t41 = add nsw i64 %t40, 32
  %t42 = call i64 @llvm.smin.i64(i64 %t41, i64 %t17)
  %t43 = mul nsw i64 32, %t42
  %t44 = icmp slt i64 %t43, %t9
  %t45 = and i1 %t39, %t44
  br i1 %t45, label %then9, label %join10
then9:
  %t46 = mul nsw i64 %t11, %t9
  %t47 = add nsw i64 %t46, %t43
  %t48 = getelementptr inbounds float, ptr %t1, i64 %t47
  %t49 = mul nsw i64 -32, %t42
  %t50 = add nsw i64 %t9, %t49
  %t51 = call i64 @llvm.smin.i64(i64 32, i64 %t50)
  %t52 = call i64 @llvm.smax.i64(i64 %t51, i64 0)
  %t53 = trunc i64 %t52 to i32
  %t54 = insertelement <32 x i32> poison, i32 %t53, i64 0
  %t55 = shufflevector <32 x i32> %t54, <32 x i32> poison, <32 x i32> zeroinitializer
  %t56 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t55
  %t57 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t48, i32 4, <32 x i1> %t56, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t58 = fmul <32 x float> %t57, %t57
  %t59 = load <32 x float>, ptr %variable2
  %t60 = fadd <32 x float> %t59, %t58
  %t61 = insertelement <32 x i64> poison, i64 0, i64 0
  %t62 = shufflevector <32 x i64> %t61, <32 x i64> poison, <32 x i32> zeroinitializer
  %t63 = add <32 x i64> %t62, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>
  %t64 = insertelement <32 x i64> poison, i64 %t51, i64 0
  %t65 = shufflevector <32 x i64> %t64, <32 x i64> poison, <32 x i32> zeroinitializer
  %t66 = icmp slt <32 x i64> %t63, %t65
  %t67 = load <32 x float>, ptr %variable2
  %t68 = select <32 x i1> %t66, <32 x float> %t60, <32 x float> %t67
  store <32 x float> %t68, ptr %variable2
  %t69 = call <32 x float> @llvm.fabs.v32f32(<32 x float> %t57)
  %t70 = load <32 x float>, ptr %variable0
  %t71 = fcmp ugt <32 x float> %t70, %t69
  %t72 = fcmp uno <32 x float> %t69, %t69
  %t73 = select <32 x i1> %t71, <32 x float> %t70, <32 x float> %t69
  %t74 = select <32 x i1> %t72, <32 x float> %t69, <32 x float> %t73
  %t75 = insertelement <32 x i64> poison, i64 0, i64 0
  %t76 = shufflevector <32 x i64> %t75, <32 x i64> poison, <32 x i32> zeroinitializer
  %t77 = add <32 x i64> %t76, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>
  %t78 = insertelement <32 x i64> poison, i64 %t51, i64 0
  %t79 = shufflevector <32 x i64> %t78, <32 x i64> poison, <32 x i32> zeroinitializer
  %t80 = icmp slt <32 x i64> %t77, %t79
  %t81 = load <32 x float>, ptr %variable0
  %t82 = select <32 x i1> %t80, <32 x float> %t74, <32 x float> %t81
  store <32 x float> %t82, ptr %variable0
  br label %join10
join10:
  %t83 = load <32 x float>, ptr %variable2
  %t84 = fpext <32 x float> %t83 to <32 x double>
  %t85 = load <32 x double>, ptr %variable1
  %t86 = fadd <32 x double> %t85, %t84
  store <32 x double> %t86, ptr %variable1
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t15, 1
  %t87 = icmp slt i64 %loop3.next, %t13
  br i1 %t87, label %loop3, label %done5
done5:
  %t88 = load <32 x double>, ptr %variable1
  %t89 = shufflevector <32 x double> %t88, <32 x double> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t90 = load <32 x double>, ptr %variable1
  %t91 = shufflevector <32 x double> %t90, <32 x double> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t92 = fadd <16 x double> %t89, %t91
  %t93 = shufflevector <16 x double> %t92, <16 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %t94 = shufflevector <16 x double> %t92, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t95 = fadd <8 x double> %t93, %t94
  %t96 = shufflevector <8 x double> %t95, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %t97 = shufflevector <8 x double> %t95, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %t98 = fadd <4 x double> %t96, %t97
  %t99 = shufflevector <4 x double> %t98, <4 x double> poison, <2 x i32> <i32 0, i32 1>
  %t100 = shufflevector <4 x double> %t98, <4 x double> poison, <2 x i32> <i32 2, i32 3>
  %t101 = fadd <2 x double> %t99, %t100
  %t102 = extractelement <2 x double> %t101, i64 0
  %t103 = extractelement <2 x double> %t101, i64 1
  %t104 = fadd double %t102, %t103
  %t105 = fptrunc double %t104 to float
  %t106 = getelementptr inbounds float, ptr %t3, i64 %t11
  store float %t105, ptr %t106, align 4, !alias.scope !5, !noalias !4
  %t107 = load <32 x float>, ptr %variable0
  %t108 = shufflevector <32 x float> %t107, <32 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t109 = load <32 x float>, ptr %variable0
  %t110 = shufflevector <32 x float> %t109, <32 x float> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t111 = fcmp ugt <16 x float> %t108, %t110
  %t112 = fcmp uno <16 x float> %t110, %t110
  %t113 = select <16 x i1> %t111, <16 x float> %t108, <16 x float> %t110
  %t114 = select <16 x i1> %t112, <16 x float> %t110, <16 x float> %t113
  %t115 = shufflevector <16 x float> %t114, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %t116 = shufflevector <16 x float> %t114, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t117 = fcmp ugt <8 x float> %t115, %t116
  %t118 = fcmp uno <8 x float> %t116, %t116
  %t119 = select <8 x i1> %t117, <8 x float> %t115, <8 x float> %t116
  %t120 = select <8 x i1> %t118, <8 x float> %t116, <8 x float> %t119
  %t121 = shufflevector <8 x float> %t120, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %t122 = shufflevector <8 x float> %t120, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %t123 = fcmp ugt <4 x float> %t121, %t122
  %t124 = fcmp uno <4 x float> %t122, %t122
  %t125 = select <4 x i1> %t123, <4 x float> %t121, <4 x float> %t122
  %t126 = select <4 x i1> %t124, <4 x float> %t122, <4 x float> %t125
  %t127 = shufflevector <4 x float> %t126, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %t128 = shufflevector <4 x float> %t126, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %t129 = fcmp ugt <2 x float> %t127, %t128
  %t130 = fcmp uno <2 x float> %t128, %t128
  %t131 = select <2 x i1> %t129, <2 x float> %t127, <2 x float> %t128
  %t132 = select <2 x i1> %t130, <2 x float> %t128, <2 x float> %t131
  %t133 = extractelement <2 x float> %t132, i64 0
  %t134 = extractelement <2 x float> %t132, i64 1
  %t135 = fcmp ugt float %t133, %t134
  %t136 = fcmp uno float %t134, %t134
  %t137 = select i1 %t135, float %t133, float %t134
  %t138 = select i1 %t136, float %t134, float %t137
  %t139 = getelementptr inbounds float, ptr %t5, i64 %t11
  store float %t138, ptr %t139, align 4, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t140 = icmp slt i64 %loop0.next, %end
  br i1 %t140, label %loop0, label %done2
done2:
  ret void
}

declare <32 x float> @llvm.fabs.v32f32(<32 x float>)
declare <32 x float> @llvm.masked.load.v32f32.p0(ptr, i32 immarg, <32 x i1>, <32 x float>)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
