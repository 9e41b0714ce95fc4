define void @cumsum_chain_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca double
  %stack3 = alloca [32 x float], align 64
  %stack4 = alloca [32 x float], align 64
  %stack5 = alloca [32 x double], align 64
  %stack6 = alloca [32 x double], align 64
  %stack7 = alloca [32 x float], align 64
  %stack8 = alloca [32 x float], align 64
  %stack9 = alloca [32 x double], align 64
  %stack10 = alloca [32 x double], align 64
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
  store double 0x0000000000000000, ptr %variable0
  %t12 = ashr i64 %t9, 5
  %t13 = icmp slt i64 0, %t12
  br i1 %t13, label %loop3, label %done5
loop3:
  %t14 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t15 = mul nsw i64 %t11, %t9
  %t16 = mul nsw i64 32, %t14
  %t17 = add nsw i64 %t15, %t16
  %t18 = getelementptr inbounds float, ptr %t1, i64 %t17
  %t19 = load <32 x float>, ptr %t18, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t20 = getelementptr inbounds float, ptr %t3, i64 %t16
  %t21 = load <32 x float>, ptr %t20, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t22 = fmul <32 x float> %t19, %t21
  %t23 = getelementptr inbounds float, ptr %stack3, i64 0
  store <32 x float> %t22, ptr %t23, align 64, !alias.scope !5, !noalias !4
  %t24 = getelementptr inbounds double, ptr %stack5, i64 0
  store <32 x double> splat (double 0x0000000000000000), ptr %t24, align 64, !alias.scope !5, !noalias !4
  %t25 = getelementptr inbounds float, ptr %stack3, i64 0
  %t26 = load <32 x float>, ptr %t25, align 64, !alias.scope !5, !noalias !4
  %t27 = fpext <32 x float> %t26 to <32 x double>
  %t28 = getelementptr inbounds double, ptr %stack5, i64 0
  store <32 x double> %t27, ptr %t28, align 64, !alias.scope !5, !noalias !4
  %t29 = getelementptr inbounds double, ptr %stack5, i64 0
  %t30 = load <32 x double>, ptr %t29, align 64, !alias.scope !5, !noalias !4
  %t31 = load double, ptr %variable0
  %t32 = shufflevector <32 x double> %t30, <32 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %t33 = shufflevector <8 x double> %t32, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6>
  %t34 = fadd <8 x double> %t33, %t32
  %t35 = shufflevector <8 x double> %t34, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %t36 = fadd <8 x double> %t35, %t34
  %t37 = shufflevector <8 x double> %t36, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 0, i32 1, i32 2, i32 3>
  %t38 = fadd <8 x double> %t37, %t36
  %t39 = insertelement <8 x double> poison, double %t31, i64 0
  %t40 = shufflevector <8 x double> %t39, <8 x double> poison, <8 x i32> zeroinitializer
  %t41 = fadd <8 x double> %t40, %t38
  %t42 = extractelement <8 x double> %t41, i64 7
  %t43 = shufflevector <32 x double> %t30, <32 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t44 = shufflevector <8 x double> %t43, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6>
  %t45 = fadd <8 x double> %t44, %t43
  %t46 = shufflevector <8 x double> %t45, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %t47 = fadd <8 x double> %t46, %t45
  %t48 = shufflevector <8 x double> %t47, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 0, i32 1, i32 2, i32 3>
  %t49 = fadd <8 x double> %t48, %t47
  %t50 = insertelement <8 x double> poison, double %t42, i64 0
  %t51 = shufflevector <8 x double> %t50, <8 x double> poison, <8 x i32> zeroinitializer
  %t52 = fadd <8 x double> %t51, %t49
  %t53 = extractelement <8 x double> %t52, i64 7
  %t54 = shufflevector <32 x double> %t30, <32 x double> poison, <8 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %t55 = shufflevector <8 x double> %t54, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6>
  %t56 = fadd <8 x double> %t55, %t54
  %t57 = shufflevector <8 x double> %t56, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %t58 = fadd <8 x double> %t57, %t56
  %t59 = shufflevector <8 x double> %t58, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 0, i32 1, i32 2, i32 3>
  %t60 = fadd <8 x double> %t59, %t58
  %t61 = insertelement <8 x double> poison, double %t53, i64 0
  %t62 = shufflevector <8 x double> %t61, <8 x double> poison, <8 x i32> zeroinitializer
  %t63 = fadd <8 x double> %t62, %t60
  %t64 = extractelement <8 x double> %t63, i64 7
  %t65 = shufflevector <32 x double> %t30, <32 x double> poison, <8 x i32> <i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t66 = shufflevector <8 x double> %t65, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6>
  %t67 = fadd <8 x double> %t66, %t65
  %t68 = shufflevector <8 x double> %t67, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %t69 = fadd <8 x double> %t68, %t67
  %t70 = shufflevector <8 x double> %t69, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 0, i32 1, i32 2, i32 3>
  %t71 = fadd <8 x double> %t70, %t69
  %t72 = insertelement <8 x double> poison, double %t64, i64 0
  %t73 = shufflevector <8 x double> %t72, <8 x double> poison, <8 x i32> zeroinitializer
  %t74 = fadd <8 x double> %t73, %t71
  %t75 = extractelement <8 x double> %t74, i64 7
  %t76 = shufflevector <8 x double> %t41, <8 x double> %t52, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t77 = shufflevector <8 x double> %t63, <8 x double> %t74, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t78 = shufflevector <16 x double> %t76, <16 x double> %t77, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t79 = getelementptr inbounds double, ptr %stack6, i64 0
  store <32 x double> %t78, ptr %t79, align 64, !alias.scope !5, !noalias !4
  %t80 = shufflevector <32 x double> %t78, <32 x double> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t81 = shufflevector <16 x double> %t80, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t82 = shufflevector <8 x double> %t81, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %t83 = shufflevector <4 x double> %t82, <4 x double> poison, <2 x i32> <i32 2, i32 3>
  %t84 = extractelement <2 x double> %t83, i64 1
  store double %t84, ptr %variable0
  %t85 = getelementptr inbounds double, ptr %stack6, i64 0
  %t86 = load <32 x double>, ptr %t85, align 64, !alias.scope !5, !noalias !4
  %t87 = fptrunc <32 x double> %t86 to <32 x float>
  %t88 = getelementptr inbounds float, ptr %stack4, i64 0
  store <32 x float> %t87, ptr %t88, align 64, !alias.scope !5, !noalias !4
  %t89 = getelementptr inbounds float, ptr %stack4, i64 0
  %t90 = load <32 x float>, ptr %t89, align 64, !alias.scope !5, !noalias !4
  %t91 = fmul <32 x float> %t90, splat (float 0x3FB99999A0000000)
  %t92 = call <32 x float> @plait.tanh.v32f32(<32 x float> %t91)
  %t93 = getelementptr inbounds float, ptr %t5, i64 %t17
  store <32 x float> %t92, ptr %t93, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t14, 1
  %t94 = icmp slt i64 %loop3.next, %t12
  br i1 %t94, label %loop3, label %done5
done5:
  %t95 = and i64 %t9, 31
  %t96 = icmp slt i64 0, %t95
  br i1 %t96, label %then6, label %join7
then6:
  %t97 = mul nsw i64 %t11, %t9
  %t98 = mul nsw i64 32, %t12
  %t99 = add nsw i64 %t97, %t98
  %t100 = getelementptr inbounds float, ptr %t1, i64 %t99
  %t101 = trunc i64 %t95 to i32
  %t102 = insertelement <32 x i32> poison, i32 %t101, i64 0
  %t103 = shufflevector <32 x i32> %t102, <32 x i32> poison, <32 x i32> zeroinitializer
  %t104 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t103
  %t105 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t100, i32 4, <32 x i1> %t104, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t106 = getelementptr inbounds float, ptr %t3, i64 %t98
  %t107 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t106, i32 4, <32 x i1> %t104, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t108 = fmul <32 x float> %t105, %t107
  %t109 = getelementptr inbounds float, ptr %stack7, i64 0
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t108, ptr %t109, i32 64, <32 x i1> %t104), !alias.scope !5, !noalias !4
  %t110 = getelementptr inbounds double, ptr %stack9, i64 0
  store <32 x double> splat (double 0x0000000000000000), ptr %t110, align 64, !alias.scope !5, !noalias !4
  %t111 = getelementptr inbounds float, ptr %stack7, i64 0
  %t112 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t111, i32 64, <32 x i1> %t104, <32 x float> splat (float 0x0000000000000000)), !alias.scope !5, !noalias !4
  %t113 = fpext <32 x float> %t112 to <32 x double>
  %t114 = getelementptr inbounds double, ptr %stack9, i64 0
  call void @llvm.masked.store.v32f64.p0(<32 x double> %t113, ptr %t114, i32 64, <32 x i1> %t104), !alias.scope !5, !noalias !4
  %t115 = getelementptr inbounds double, ptr %stack9, i64 0
  %t116 = load <32 x double>, ptr %t115, align 64, !alias.scope !5, !noalias !4
  %t117 = load double, ptr %variable0
  %t118 = shufflevector <32 x double> %t116, <32 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %t119 = shufflevector <8 x double> %t118, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6>
  %t120 = fadd <8 x double> %t119, %t118
  %t121 = shufflevector <8 x double> %t120, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %t122 = fadd <8 x double> %t121, %t120
  %t123 = shufflevector <8 x double> %t122, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 0, i32 1, i32 2, i32 3>
  %t124 = fadd <8 x double> %t123, %t122
  %t125 = insertelement <8 x double> poison, double %t117, i64 0
  %t126 = shufflevector <8 x double> %t125, <8 x double> poison, <8 x i32> zeroinitializer
  %t127 = fadd <8 x double> %t126, %t124
  %t128 = extractelement <8 x double> %t127, i64 7
  %t129 = shufflevector <32 x double> %t116, <32 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t130 = shufflevector <8 x double> %t129, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6>
  %t131 = fadd <8 x double> %t130, %t129
  %t132 = shufflevector <8 x double> %t131, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %t133 = fadd <8 x double> %t132, %t131
  %t134 = shufflevector <8 x double> %t133, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 0, i32 1, i32 2, i32 3>
  %t135 = fadd <8 x double> %t134, %t133
  %t136 = insertelement <8 x double> poison, double %t128, i64 0
  %t137 = shufflevector <8 x double> %t136, <8 x double> poison, <8 x i32> zeroinitializer
  %t138 = fadd <8 x double> %t137, %t135
  %t139 = extractelement <8 x double> %t138, i64 7
  %t140 = shufflevector <32 x double> %t116, <32 x double> poison, <8 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %t141 = shufflevector <8 x double> %t140, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6>
  %t142 = fadd <8 x double> %t141, %t140
  %t143 = shufflevector <8 x double> %t142, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %t144 = fadd <8 x double> %t143, %t142
  %t145 = shufflevector <8 x double> %t144, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 0, i32 1, i32 2, i32 3>
  %t146 = fadd <8 x double> %t145, %t144
  %t147 = insertelement <8 x double> poison, double %t139, i64 0
  %t148 = shufflevector <8 x double> %t147, <8 x double> poison, <8 x i32> zeroinitializer
  %t149 = fadd <8 x double> %t148, %t146
  %t150 = extractelement <8 x double> %t149, i64 7
  %t151 = shufflevector <32 x double> %t116, <32 x double> poison, <8 x i32> <i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t152 = shufflevector <8 x double> %t151, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6>
  %t153 = fadd <8 x double> %t152, %t151
  %t154 = shufflevector <8 x double> %t153, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %t155 = fadd <8 x double> %t154, %t153
  %t156 = shufflevector <8 x double> %t155, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 0, i32 1, i32 2, i32 3>
  %t157 = fadd <8 x double> %t156, %t155
  %t158 = insertelement <8 x double> poison, double %t150, i64 0
  %t159 = shufflevector <8 x double> %t158, <8 x double> poison, <8 x i32> zeroinitializer
  %t160 = fadd <8 x double> %t159, %t157
  %t161 = extractelement <8 x double> %t160, i64 7
  %t162 = shufflevector <8 x double> %t127, <8 x double> %t138, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t163 = shufflevector <8 x double> %t149, <8 x double> %t160, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t164 = shufflevector <16 x double> %t162, <16 x double> %t163, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t165 = getelementptr inbounds double, ptr %stack10, i64 0
  store <32 x double> %t164, ptr %t165, align 64, !alias.scope !5, !noalias !4
  %t166 = shufflevector <32 x double> %t164, <32 x double> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t167 = shufflevector <16 x double> %t166, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t168 = shufflevector <8 x double> %t167, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %t169 = shufflevector <4 x double> %t168, <4 x double> poison, <2 x i32> <i32 2, i32 3>
  %t170 = extractelement <2 x double> %t169, i64 1
  store double %t170, ptr %variable0
  %t171 = getelementptr inbounds double, ptr %stack10, i64 0
  %t172 = call <32 x double> @llvm.masked.load.v32f64.p0(ptr %t171, i32 64, <32 x i1> %t104, <32 x double> splat (double 0x0000000000000000)), !alias.scope !5, !noalias !4
  %t173 = fptrunc <32 x double> %t172 to <32 x float>
  %t174 = getelementptr inbounds float, ptr %stack8, i64 0
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t173, ptr %t174, i32 64, <32 x i1> %t104), !alias.scope !5, !noalias !4
  %t175 = getelementptr inbounds float, ptr %stack8, i64 0
  %t176 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t175, i32 64, <32 x i1> %t104, <32 x float> splat (float 0x0000000000000000)), !alias.scope !5, !noalias !4
  %t177 = fmul <32 x float> %t176, splat (float 0x3FB99999A0000000)
  %t178 = call <32 x float> @plait.tanh.v32f32(<32 x float> %t177)
  %t179 = getelementptr inbounds float, ptr %t5, i64 %t99
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t178, ptr %t179, i32 4, <32 x i1> %t104), !alias.scope !5, !noalias !4
  br label %join7
join7:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t180 = icmp slt i64 %loop0.next, %end
  br i1 %t180, label %loop0, label %done2
done2:
  ret void
}

define internal <32 x float> @plait.exp.v32f32(<32 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = fcmp olt <32 x float> %p0, splat (float 0xC05A000000000000)
  %t1 = select <32 x i1> %t0, <32 x float> splat (float 0xC05A000000000000), <32 x float> %p0
  %t2 = fcmp ogt <32 x float> %t1, splat (float 0x4056400000000000)
  %t3 = select <32 x i1> %t2, <32 x float> splat (float 0x4056400000000000), <32 x float> %t1
  %t4 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t3, <32 x float> splat (float 0x3FF7154760000000), <32 x float> splat (float 0x4168000000000000))
  %t5 = fsub <32 x float> %t4, splat (float 0x4168000000000000)
  %t6 = bitcast <32 x float> %t4 to <32 x i32>
  %t7 = sub <32 x i32> %t6, splat (i32 1262485504)
  %t8 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t5, <32 x float> splat (float 0xBFE62E4000000000), <32 x float> %t3)
  %t9 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t5, <32 x float> splat (float 0xBEB7F7D1C0000000), <32 x float> %t8)
  %t10 = call <32 x float> @llvm.fma.v32f32(<32 x float> splat (float 0x3F56A4D600000000), <32 x float> %t9, <32 x float> splat (float 0x3F812398E0000000))
  %t11 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t10, <32 x float> %t9, <32 x float> splat (float 0x3FA5558B00000000))
  %t12 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t11, <32 x float> %t9, <32 x float> splat (float 0x3FC5554920000000))
  %t13 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t12, <32 x float> %t9, <32 x float> splat (float 0x3FDFFFFFC0000000))
  %t14 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t13, <32 x float> %t9, <32 x float> splat (float 0x3FF0000000000000))
  %t15 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t14, <32 x float> %t9, <32 x float> splat (float 0x3FF0000000000000))
  %t16 = ashr <32 x i32> %t7, splat (i32 1)
  %t17 = sub <32 x i32> %t7, %t16
  %t18 = add <32 x i32> %t16, splat (i32 127)
  %t19 = shl <32 x i32> %t18, splat (i32 23)
  %t20 = bitcast <32 x i32> %t19 to <32 x float>
  %t21 = fmul <32 x float> %t15, %t20
  %t22 = add <32 x i32> %t17, splat (i32 127)
  %t23 = shl <32 x i32> %t22, splat (i32 23)
  %t24 = bitcast <32 x i32> %t23 to <32 x float>
  %t25 = fmul <32 x float> %t21, %t24
  ret <32 x float> %t25
}

define internal <32 x float> @plait.tanh.v32f32(<32 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = call <32 x float> @llvm.fabs.v32f32(<32 x float> %p0)
  %t1 = fmul <32 x float> %p0, %p0
  %t2 = call <32 x float> @llvm.fma.v32f32(<32 x float> splat (float 0x3F90D51760000000), <32 x float> %t1, <32 x float> splat (float 0xBFAAF7D360000000))
  %t3 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t2, <32 x float> %t1, <32 x float> splat (float 0x3FC10CEFC0000000))
  %t4 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t3, <32 x float> %t1, <32 x float> splat (float 0xBFD5554520000000))
  %t5 = fmul <32 x float> %t4, %t1
  %t6 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t5, <32 x float> %t0, <32 x float> %t0)
  %t7 = fadd <32 x float> %t0, %t0
  %t8 = call <32 x float> @plait.exp.v32f32(<32 x float> %t7)
  %t9 = fadd <32 x float> %t8, splat (float 0x3FF0000000000000)
  %t10 = fdiv <32 x float> splat (float 0x4000000000000000), %t9
  %t11 = fsub <32 x float> splat (float 0x3FF0000000000000), %t10
  %t12 = fcmp oge <32 x float> %t0, splat (float 0x3FE19999A0000000)
  %t13 = select <32 x i1> %t12, <32 x float> %t11, <32 x float> %t6
  %t14 = call <32 x float> @llvm.copysign.v32f32(<32 x float> %t13, <32 x float> %p0)
  ret <32 x float> %t14
}

declare <32 x float> @llvm.copysign.v32f32(<32 x float>, <32 x float>)
declare <32 x float> @llvm.fabs.v32f32(<32 x float>)
declare <32 x float> @llvm.fma.v32f32(<32 x float>, <32 x float>, <32 x float>)
declare <32 x float> @llvm.masked.load.v32f32.p0(ptr, i32 immarg, <32 x i1>, <32 x float>)
declare <32 x double> @llvm.masked.load.v32f64.p0(ptr, i32 immarg, <32 x i1>, <32 x double>)
declare void @llvm.masked.store.v32f32.p0(<32 x float>, ptr, i32 immarg, <32 x i1>)
declare void @llvm.masked.store.v32f64.p0(<32 x double>, ptr, i32 immarg, <32 x i1>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
