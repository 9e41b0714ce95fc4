define void @quantise_rows_int8_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <32 x float>
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
  %t12 = ashr i64 %t9, 5
  %t13 = icmp slt i64 0, %t12
  br i1 %t13, label %loop3, label %done5
loop3:
  %t14 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t15 = mul nsw i64 %t11, %t9
  %t16 = mul nsw i64 32, %t14
  %t17 = add nsw i64 %t15, %t16
  %t18 = getelementptr inbounds float, ptr %t1, i64 %t17
  %t19 = load <32 x float>, ptr %t18, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %21
  %t20 = call <32 x float> @llvm.fabs.v32f32(<32 x float> %t19)  ; %22
  %t21 = load <32 x float>, ptr %variable0
  %t22 = fcmp ugt <32 x float> %t21, %t20
  %t23 = fcmp uno <32 x float> %t20, %t20
  %t24 = select <32 x i1> %t22, <32 x float> %t21, <32 x float> %t20
  %t25 = select <32 x i1> %t23, <32 x float> %t20, <32 x float> %t24  ; %46
  store <32 x float> %t25, ptr %variable0
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t14, 1
  %t26 = icmp slt i64 %loop3.next, %t12
  br i1 %t26, label %loop3, label %done5
done5:
  %t27 = and i64 %t9, 31
  %t28 = icmp slt i64 0, %t27
  br i1 %t28, label %then6, label %join7
then6:
  %t29 = mul nsw i64 %t11, %t9
  %t30 = mul nsw i64 32, %t12
  %t31 = add nsw i64 %t29, %t30
  %t32 = getelementptr inbounds float, ptr %t1, i64 %t31
  %t33 = trunc i64 %t27 to i32
  %t34 = insertelement <32 x i32> poison, i32 %t33, i64 0
  %t35 = shufflevector <32 x i32> %t34, <32 x i32> poison, <32 x i32> zeroinitializer
  %t36 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t35
  %t37 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t32, i32 4, <32 x i1> %t36, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %19
  %t38 = call <32 x float> @llvm.fabs.v32f32(<32 x float> %t37)  ; %20
  %t39 = load <32 x float>, ptr %variable0
  %t40 = fcmp ugt <32 x float> %t39, %t38
  %t41 = fcmp uno <32 x float> %t38, %t38
  %t42 = select <32 x i1> %t40, <32 x float> %t39, <32 x float> %t38
  %t43 = select <32 x i1> %t41, <32 x float> %t38, <32 x float> %t42  ; %47
  %t44 = insertelement <32 x i64> poison, i64 0, i64 0
  %t45 = shufflevector <32 x i64> %t44, <32 x i64> poison, <32 x i32> zeroinitializer
  %t46 = add <32 x i64> %t45, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>  ; %48
  %t47 = insertelement <32 x i64> poison, i64 %t27, i64 0
  %t48 = shufflevector <32 x i64> %t47, <32 x i64> poison, <32 x i32> zeroinitializer  ; %49
  %t49 = icmp slt <32 x i64> %t46, %t48  ; %50
  %t50 = load <32 x float>, ptr %variable0
  %t51 = select <32 x i1> %t49, <32 x float> %t43, <32 x float> %t50  ; %51
  store <32 x float> %t51, ptr %variable0
  br label %join7
join7:
  %t52 = load <32 x float>, ptr %variable0
  %t53 = shufflevector <32 x float> %t52, <32 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %52
  %t54 = load <32 x float>, ptr %variable0
  %t55 = shufflevector <32 x float> %t54, <32 x float> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>  ; %53
  %t56 = fcmp ugt <16 x float> %t53, %t55
  %t57 = fcmp uno <16 x float> %t55, %t55
  %t58 = select <16 x i1> %t56, <16 x float> %t53, <16 x float> %t55
  %t59 = select <16 x i1> %t57, <16 x float> %t55, <16 x float> %t58  ; %54
  %t60 = shufflevector <16 x float> %t59, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %55
  %t61 = shufflevector <16 x float> %t59, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %56
  %t62 = fcmp ugt <8 x float> %t60, %t61
  %t63 = fcmp uno <8 x float> %t61, %t61
  %t64 = select <8 x i1> %t62, <8 x float> %t60, <8 x float> %t61
  %t65 = select <8 x i1> %t63, <8 x float> %t61, <8 x float> %t64  ; %57
  %t66 = shufflevector <8 x float> %t65, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %58
  %t67 = shufflevector <8 x float> %t65, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %59
  %t68 = fcmp ugt <4 x float> %t66, %t67
  %t69 = fcmp uno <4 x float> %t67, %t67
  %t70 = select <4 x i1> %t68, <4 x float> %t66, <4 x float> %t67
  %t71 = select <4 x i1> %t69, <4 x float> %t67, <4 x float> %t70  ; %60
  %t72 = shufflevector <4 x float> %t71, <4 x float> poison, <2 x i32> <i32 0, i32 1>  ; %61
  %t73 = shufflevector <4 x float> %t71, <4 x float> poison, <2 x i32> <i32 2, i32 3>  ; %62
  %t74 = fcmp ugt <2 x float> %t72, %t73
  %t75 = fcmp uno <2 x float> %t73, %t73
  %t76 = select <2 x i1> %t74, <2 x float> %t72, <2 x float> %t73
  %t77 = select <2 x i1> %t75, <2 x float> %t73, <2 x float> %t76  ; %63
  %t78 = extractelement <2 x float> %t77, i64 0  ; %64
  %t79 = extractelement <2 x float> %t77, i64 1  ; %65
  %t80 = fcmp ugt float %t78, %t79
  %t81 = fcmp uno float %t79, %t79
  %t82 = select i1 %t80, float %t78, float %t79
  %t83 = select i1 %t81, float %t79, float %t82  ; %66
  %t84 = fcmp ugt float %t83, 0x3E45798EE0000000
  %t85 = fcmp uno float 0x3E45798EE0000000, 0x3E45798EE0000000
  %t86 = select i1 %t84, float %t83, float 0x3E45798EE0000000
  %t87 = select i1 %t85, float 0x3E45798EE0000000, float %t86  ; %5
  %t88 = fdiv float %t87, 0x405FC00000000000  ; %7
  %t89 = insertelement <32 x float> poison, float %t88, i64 0
  %t90 = shufflevector <32 x float> %t89, <32 x float> poison, <32 x i32> zeroinitializer  ; %41
  %t91 = icmp slt i64 0, %t12
  br i1 %t91, label %loop8, label %done10
loop8:
  %t92 = phi i64 [ 0, %join7 ], [ %loop8.next, %latch9 ]
  %t93 = mul nsw i64 %t11, %t9
  %t94 = mul nsw i64 32, %t92
  %t95 = add nsw i64 %t93, %t94
  %t96 = getelementptr inbounds float, ptr %t1, i64 %t95
  %t97 = load <32 x float>, ptr %t96, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %32
  %t98 = fdiv <32 x float> %t97, %t90  ; %33
  %t99 = call <32 x float> @llvm.roundeven.v32f32(<32 x float> %t98)  ; %34
  %t100 = fcmp ugt <32 x float> %t99, splat (float 0xC060000000000000)
  %t101 = fcmp uno <32 x float> splat (float 0xC060000000000000), splat (float 0xC060000000000000)
  %t102 = select <32 x i1> %t100, <32 x float> %t99, <32 x float> splat (float 0xC060000000000000)
  %t103 = select <32 x i1> %t101, <32 x float> splat (float 0xC060000000000000), <32 x float> %t102  ; %67
  %t104 = fcmp ult <32 x float> %t103, splat (float 0x405FC00000000000)
  %t105 = fcmp uno <32 x float> splat (float 0x405FC00000000000), splat (float 0x405FC00000000000)
  %t106 = select <32 x i1> %t104, <32 x float> %t103, <32 x float> splat (float 0x405FC00000000000)
  %t107 = select <32 x i1> %t105, <32 x float> splat (float 0x405FC00000000000), <32 x float> %t106  ; %35
  %t108 = fcmp ogt <32 x float> %t107, splat (float 0xC1E0000000000000)
  %t109 = fcmp olt <32 x float> %t107, splat (float 0x41E0000000000000)
  %t110 = and <32 x i1> %t108, %t109
  %t111 = select <32 x i1> %t110, <32 x float> %t107, <32 x float> splat (float 0x0000000000000000)
  %t112 = fptosi <32 x float> %t111 to <32 x i32>
  %t113 = fcmp ogt <32 x float> %t107, splat (float 0x0000000000000000)
  %t114 = select <32 x i1> %t113, <32 x i32> splat (i32 2147483647), <32 x i32> splat (i32 0)
  %t115 = fcmp olt <32 x float> %t107, splat (float 0x0000000000000000)
  %t116 = select <32 x i1> %t115, <32 x i32> splat (i32 -2147483648), <32 x i32> %t114
  %t117 = select <32 x i1> %t110, <32 x i32> %t112, <32 x i32> %t116  ; %36
  %t118 = call <32 x i32> @llvm.smin.v32i32(<32 x i32> %t117, <32 x i32> splat (i32 127))  ; %38
  %t119 = call <32 x i32> @llvm.smax.v32i32(<32 x i32> %t118, <32 x i32> splat (i32 -128))  ; %40
  %t120 = trunc <32 x i32> %t119 to <32 x i8>
  %t121 = getelementptr inbounds i8, ptr %t5, i64 %t95
  store <32 x i8> %t120, ptr %t121, align 1, !alias.scope !5, !noalias !4
  br label %latch9
latch9:
  %loop8.next = add nuw nsw i64 %t92, 1
  %t122 = icmp slt i64 %loop8.next, %t12
  br i1 %t122, label %loop8, label %done10
done10:
  br i1 %t28, label %then11, label %join12
then11:
  %t123 = mul nsw i64 %t11, %t9
  %t124 = mul nsw i64 32, %t12
  %t125 = add nsw i64 %t123, %t124
  %t126 = getelementptr inbounds float, ptr %t1, i64 %t125
  %t127 = trunc i64 %t27 to i32
  %t128 = insertelement <32 x i32> poison, i32 %t127, i64 0
  %t129 = shufflevector <32 x i32> %t128, <32 x i32> poison, <32 x i32> zeroinitializer
  %t130 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t129
  %t131 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t126, i32 4, <32 x i1> %t130, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %23
  %t132 = fdiv <32 x float> %t131, %t90  ; %24
  %t133 = call <32 x float> @llvm.roundeven.v32f32(<32 x float> %t132)  ; %25
  %t134 = fcmp ugt <32 x float> %t133, splat (float 0xC060000000000000)
  %t135 = fcmp uno <32 x float> splat (float 0xC060000000000000), splat (float 0xC060000000000000)
  %t136 = select <32 x i1> %t134, <32 x float> %t133, <32 x float> splat (float 0xC060000000000000)
  %t137 = select <32 x i1> %t135, <32 x float> splat (float 0xC060000000000000), <32 x float> %t136  ; %69
  %t138 = fcmp ult <32 x float> %t137, splat (float 0x405FC00000000000)
  %t139 = fcmp uno <32 x float> splat (float 0x405FC00000000000), splat (float 0x405FC00000000000)
  %t140 = select <32 x i1> %t138, <32 x float> %t137, <32 x float> splat (float 0x405FC00000000000)
  %t141 = select <32 x i1> %t139, <32 x float> splat (float 0x405FC00000000000), <32 x float> %t140  ; %26
  %t142 = fcmp ogt <32 x float> %t141, splat (float 0xC1E0000000000000)
  %t143 = fcmp olt <32 x float> %t141, splat (float 0x41E0000000000000)
  %t144 = and <32 x i1> %t142, %t143
  %t145 = select <32 x i1> %t144, <32 x float> %t141, <32 x float> splat (float 0x0000000000000000)
  %t146 = fptosi <32 x float> %t145 to <32 x i32>
  %t147 = fcmp ogt <32 x float> %t141, splat (float 0x0000000000000000)
  %t148 = select <32 x i1> %t147, <32 x i32> splat (i32 2147483647), <32 x i32> splat (i32 0)
  %t149 = fcmp olt <32 x float> %t141, splat (float 0x0000000000000000)
  %t150 = select <32 x i1> %t149, <32 x i32> splat (i32 -2147483648), <32 x i32> %t148
  %t151 = select <32 x i1> %t144, <32 x i32> %t146, <32 x i32> %t150  ; %27
  %t152 = call <32 x i32> @llvm.smin.v32i32(<32 x i32> %t151, <32 x i32> splat (i32 127))  ; %29
  %t153 = call <32 x i32> @llvm.smax.v32i32(<32 x i32> %t152, <32 x i32> splat (i32 -128))  ; %31
  %t154 = trunc <32 x i32> %t153 to <32 x i8>
  %t155 = getelementptr inbounds i8, ptr %t5, i64 %t125
  call void @llvm.masked.store.v32i8.p0(<32 x i8> %t154, ptr %t155, i32 1, <32 x i1> %t130), !alias.scope !5, !noalias !4
  br label %join12
join12:
  %t156 = getelementptr inbounds float, ptr %t3, i64 %t11
  store float %t88, ptr %t156, align 4, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t157 = icmp slt i64 %loop0.next, %end
  br i1 %t157, label %loop0, label %done2
done2:
  ret void
}

declare <32 x float> @llvm.fabs.v32f32(<32 x float>)
declare <32 x float> @llvm.masked.load.v32f32.p0(ptr, i32 immarg, <32 x i1>, <32 x float>)
declare void @llvm.masked.store.v32i8.p0(<32 x i8>, ptr, i32 immarg, <32 x i1>)
declare <32 x float> @llvm.roundeven.v32f32(<32 x float>)
declare <32 x i32> @llvm.smax.v32i32(<32 x i32>, <32 x i32>)
declare <32 x i32> @llvm.smin.v32i32(<32 x i32>, <32 x i32>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
