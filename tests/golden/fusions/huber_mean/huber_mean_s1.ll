define void @huber_mean_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <32 x double>
  %variable4 = alloca <32 x float>
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds ptr, ptr %buffers, i64 2
  %t5 = load ptr, ptr %t4, align 8, !invariant.load !0
  %t6 = getelementptr inbounds ptr, ptr %buffers, i64 3
  %t7 = load ptr, ptr %t6, align 8, !invariant.load !0
  %t8 = getelementptr inbounds i64, ptr %integers, i64 0
  %t9 = load i64, ptr %t8, align 8, !invariant.load !0
  %t10 = getelementptr inbounds i64, ptr %integers, i64 1
  %t11 = load i64, ptr %t10, align 8, !invariant.load !0
  %t12 = getelementptr inbounds i64, ptr %integers, i64 2
  %t13 = load i64, ptr %t12, align 8, !invariant.load !0
  %t14 = icmp slt i64 %begin, %end
  br i1 %t14, label %loop0, label %done2
loop0:
  %t15 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  store <32 x double> splat (double 0x0000000000000000), ptr %variable0
  %t16 = icmp slt i64 0, 16
  br i1 %t16, label %loop3, label %done5
loop3:
  %t17 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable4
  %t18 = mul nsw i64 -512, %t15
  %t19 = mul nsw i64 -32, %t17
  %t20 = add nsw i64 %t18, %t19
  %t21 = mul nsw i64 %t9, %t11
  %t22 = ashr i64 %t21, 5
  %t23 = add nsw i64 %t20, %t22
  %t24 = call i64 @llvm.smin.i64(i64 32, i64 %t23)
  %t25 = icmp slt i64 0, %t24
  br i1 %t25, label %loop6, label %done8
loop6:
  %t26 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  %t27 = mul nsw i64 16384, %t15
  %t28 = mul nsw i64 1024, %t17
  %t29 = add nsw i64 %t27, %t28
  %t30 = mul nsw i64 32, %t26
  %t31 = add nsw i64 %t29, %t30
  %t32 = getelementptr inbounds float, ptr %t1, i64 %t31
  %t33 = load <32 x float>, ptr %t32, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t34 = getelementptr inbounds float, ptr %t3, i64 %t31
  %t35 = load <32 x float>, ptr %t34, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t36 = fsub <32 x float> %t33, %t35
  %t37 = call <32 x float> @llvm.fabs.v32f32(<32 x float> %t36)
  %t38 = fcmp olt <32 x float> %t37, splat (float 0x3FF0000000000000)
  %t39 = fmul <32 x float> %t37, %t37
  %t40 = fmul <32 x float> %t39, splat (float 0x3FE0000000000000)
  %t41 = fsub <32 x float> %t37, splat (float 0x3FE0000000000000)
  %t42 = select <32 x i1> %t38, <32 x float> %t40, <32 x float> %t41
  %t43 = load <32 x float>, ptr %variable4
  %t44 = fadd <32 x float> %t43, %t42
  store <32 x float> %t44, ptr %variable4
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t26, 1
  %t45 = icmp slt i64 %loop6.next, %t24
  br i1 %t45, label %loop6, label %done8
done8:
  %t46 = call i64 @llvm.smax.i64(i64 0, i64 %t24)
  %t47 = icmp slt i64 %t46, 32
  %t48 = mul nsw i64 16384, %t15
  %t49 = mul nsw i64 1024, %t17
  %t50 = add nsw i64 %t48, %t49
  %t51 = mul nsw i64 32, %t46
  %t52 = add nsw i64 %t50, %t51
  %t53 = icmp slt i64 %t52, %t21
  %t54 = and i1 %t47, %t53
  br i1 %t54, label %then9, label %join10
then9:
  %t55 = getelementptr inbounds float, ptr %t1, i64 %t52
  %t56 = mul nsw i64 -16384, %t15
  %t57 = add nsw i64 %t21, %t56
  %t58 = mul nsw i64 -1024, %t17
  %t59 = add nsw i64 %t57, %t58
  %t60 = call i64 @llvm.smin.i64(i64 32, i64 %t59)
  %t61 = mul nsw i64 512, %t15
  %t62 = mul nsw i64 32, %t17
  %t63 = add nsw i64 %t61, %t62
  %t64 = add nsw i64 %t63, 32
  %t65 = call i64 @llvm.smin.i64(i64 %t64, i64 %t22)
  %t66 = mul nsw i64 -32, %t65
  %t67 = add nsw i64 %t21, %t66
  %t68 = call i64 @llvm.smin.i64(i64 %t60, i64 %t67)
  %t69 = call i64 @llvm.smax.i64(i64 %t68, i64 0)
  %t70 = trunc i64 %t69 to i32
  %t71 = insertelement <32 x i32> poison, i32 %t70, i64 0
  %t72 = shufflevector <32 x i32> %t71, <32 x i32> poison, <32 x i32> zeroinitializer
  %t73 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t72
  %t74 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t55, i32 4, <32 x i1> %t73, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t75 = getelementptr inbounds float, ptr %t3, i64 %t52
  %t76 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t75, i32 4, <32 x i1> %t73, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t77 = fsub <32 x float> %t74, %t76
  %t78 = call <32 x float> @llvm.fabs.v32f32(<32 x float> %t77)
  %t79 = fcmp olt <32 x float> %t78, splat (float 0x3FF0000000000000)
  %t80 = fmul <32 x float> %t78, %t78
  %t81 = fmul <32 x float> %t80, splat (float 0x3FE0000000000000)
  %t82 = fsub <32 x float> %t78, splat (float 0x3FE0000000000000)
  %t83 = select <32 x i1> %t79, <32 x float> %t81, <32 x float> %t82
  %t84 = load <32 x float>, ptr %variable4
  %t85 = fadd <32 x float> %t84, %t83
  %t86 = insertelement <32 x i64> poison, i64 0, i64 0
  %t87 = shufflevector <32 x i64> %t86, <32 x i64> poison, <32 x i32> zeroinitializer
  %t88 = add <32 x i64> %t87, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>
  %t89 = insertelement <32 x i64> poison, i64 %t68, i64 0
  %t90 = shufflevector <32 x i64> %t89, <32 x i64> poison, <32 x i32> zeroinitializer
  %t91 = icmp slt <32 x i64> %t88, %t90
  %t92 = load <32 x float>, ptr %variable4
  %t93 = select <32 x i1> %t91, <32 x float> %t85, <32 x float> %t92
  store <32 x float> %t93, ptr %variable4
  br label %join10
join10:
  %t94 = load <32 x float>, ptr %variable4
  %t95 = fpext <32 x float> %t94 to <32 x double>
  %t96 = load <32 x double>, ptr %variable0
  %t97 = fadd <32 x double> %t96, %t95
  store <32 x double> %t97, ptr %variable0
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t17, 1
  %t98 = icmp slt i64 %loop3.next, 16
  br i1 %t98, label %loop3, label %done5
done5:
  %t99 = load <32 x double>, ptr %variable0
  %t100 = shufflevector <32 x double> %t99, <32 x double> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t101 = load <32 x double>, ptr %variable0
  %t102 = shufflevector <32 x double> %t101, <32 x double> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t103 = fadd <16 x double> %t100, %t102
  %t104 = shufflevector <16 x double> %t103, <16 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %t105 = shufflevector <16 x double> %t103, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t106 = fadd <8 x double> %t104, %t105
  %t107 = shufflevector <8 x double> %t106, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %t108 = shufflevector <8 x double> %t106, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %t109 = fadd <4 x double> %t107, %t108
  %t110 = shufflevector <4 x double> %t109, <4 x double> poison, <2 x i32> <i32 0, i32 1>
  %t111 = shufflevector <4 x double> %t109, <4 x double> poison, <2 x i32> <i32 2, i32 3>
  %t112 = fadd <2 x double> %t110, %t111
  %t113 = extractelement <2 x double> %t112, i64 0
  %t114 = extractelement <2 x double> %t112, i64 1
  %t115 = fadd double %t113, %t114
  %t116 = getelementptr inbounds double, ptr %t7, i64 %t15
  store double %t115, ptr %t116, align 8, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t15, 1
  %t117 = icmp slt i64 %loop0.next, %end
  br i1 %t117, label %loop0, label %done2
done2:
  ret void
}
define void @huber_mean_s1_phase1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable16 = alloca double
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds ptr, ptr %buffers, i64 2
  %t5 = load ptr, ptr %t4, align 8, !invariant.load !0
  %t6 = getelementptr inbounds ptr, ptr %buffers, i64 3
  %t7 = load ptr, ptr %t6, align 8, !invariant.load !0
  %t8 = getelementptr inbounds i64, ptr %integers, i64 0
  %t9 = load i64, ptr %t8, align 8, !invariant.load !0
  %t10 = getelementptr inbounds i64, ptr %integers, i64 1
  %t11 = load i64, ptr %t10, align 8, !invariant.load !0
  %t12 = getelementptr inbounds i64, ptr %integers, i64 2
  %t13 = load i64, ptr %t12, align 8, !invariant.load !0
  %t14 = icmp slt i64 %begin, %end
  br i1 %t14, label %then0, label %join1
then0:
  store double 0x0000000000000000, ptr %variable16
  %t15 = mul nsw i64 %t9, %t11
  %t16 = add nsw i64 %t15, 16383
  %t17 = ashr i64 %t16, 14
  %t18 = icmp slt i64 0, %t17
  br i1 %t18, label %loop2, label %done4
loop2:
  %t19 = phi i64 [ 0, %then0 ], [ %loop2.next, %latch3 ]
  %t20 = getelementptr inbounds double, ptr %t7, i64 %t19
  %t21 = load double, ptr %t20, align 8, !alias.scope !5, !noalias !4
  %t22 = load double, ptr %variable16
  %t23 = fadd double %t22, %t21
  store double %t23, ptr %variable16
  br label %latch3
latch3:
  %loop2.next = add nuw nsw i64 %t19, 1
  %t24 = icmp slt i64 %loop2.next, %t17
  br i1 %t24, label %loop2, label %done4
done4:
  %t25 = sitofp i64 %t13 to float
  %t26 = load double, ptr %variable16
  %t27 = fptrunc double %t26 to float
  %t28 = fdiv float %t27, %t25
  %t29 = getelementptr inbounds float, ptr %t5, i64 0
  store float %t28, ptr %t29, align 4, !alias.scope !5, !noalias !4
  br label %join1
join1:
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
