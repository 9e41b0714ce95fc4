define void @cat_chains_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <8 x float>
  %stack4 = alloca [8 x float], align 64
  %variable24 = alloca float
  %stack5 = alloca [8 x float], align 64
  %variable32 = alloca float
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
  %t16 = insertelement <8 x i64> poison, i64 0, i64 0
  %t17 = shufflevector <8 x i64> %t16, <8 x i64> poison, <8 x i32> zeroinitializer
  %t18 = add <8 x i64> %t17, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %t19 = ashr i64 %t11, 3
  %t20 = ashr i64 %t13, 2
  %t21 = add nsw i64 %t19, %t20
  %t22 = icmp slt i64 0, %t21
  br i1 %t22, label %loop3, label %done5
loop3:
  %t23 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <8 x float> splat (float 0x0000000000000000), ptr %variable0
  %t24 = mul nsw i64 8, %t23
  %t25 = add nsw i64 %t24, 7
  %t26 = icmp slt i64 %t25, %t13
  br i1 %t26, label %then6, label %join7
then6:
  %t27 = mul nsw i64 %t15, %t13
  %t28 = add nsw i64 %t27, %t24
  %t29 = getelementptr inbounds float, ptr %t1, i64 %t28
  %t30 = load <8 x float>, ptr %t29, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t31 = fmul <8 x float> %t30, splat (float 0x3FE0000000000000)
  %t32 = call <8 x float> @plait.gelu_erf.v8f32(<8 x float> %t31)
  store <8 x float> %t32, ptr %variable0
  br label %join7
join7:
  %t33 = add nsw i64 %t24, 8
  %t34 = icmp slt i64 %t13, %t33
  br i1 %t34, label %then8, label %join9
then8:
  %t35 = icmp slt i64 %t24, %t13
  br i1 %t35, label %then10, label %join11
then10:
  %t36 = mul nsw i64 %t15, %t13
  %t37 = add nsw i64 %t36, %t24
  %t38 = getelementptr inbounds float, ptr %t1, i64 %t37
  %t39 = mul nsw i64 -8, %t23
  %t40 = add nsw i64 %t39, %t13
  %t41 = call i64 @llvm.smax.i64(i64 %t40, i64 0)
  %t42 = call i64 @llvm.smin.i64(i64 %t41, i64 8)
  %t43 = trunc i64 %t42 to i32
  %t44 = insertelement <8 x i32> poison, i32 %t43, i64 0
  %t45 = shufflevector <8 x i32> %t44, <8 x i32> poison, <8 x i32> zeroinitializer
  %t46 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %t45
  %t47 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %t38, i32 4, <8 x i1> %t46, <8 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t48 = fmul <8 x float> %t47, splat (float 0x3FE0000000000000)
  %t49 = call <8 x float> @plait.gelu_erf.v8f32(<8 x float> %t48)
  %t50 = insertelement <8 x i64> poison, i64 %t40, i64 0
  %t51 = shufflevector <8 x i64> %t50, <8 x i64> poison, <8 x i32> zeroinitializer
  %t52 = icmp slt <8 x i64> %t18, %t51
  %t53 = load <8 x float>, ptr %variable0
  %t54 = select <8 x i1> %t52, <8 x float> %t49, <8 x float> %t53
  store <8 x float> %t54, ptr %variable0
  br label %join11
join11:
  br label %join9
join9:
  %t55 = add nsw i64 %t11, %t13
  %t56 = icmp slt i64 %t25, %t55
  %t57 = icmp sle i64 %t13, %t24
  %t58 = and i1 %t56, %t57
  br i1 %t58, label %then12, label %join13
then12:
  %t59 = mul nsw i64 %t15, %t11
  %t60 = add nsw i64 %t59, %t24
  %t61 = mul nsw i64 -1, %t13
  %t62 = add nsw i64 %t60, %t61
  %t63 = getelementptr inbounds float, ptr %t3, i64 %t62
  %t64 = load <8 x float>, ptr %t63, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t65 = fadd <8 x float> %t64, splat (float 0x3FF0000000000000)
  %t66 = call <8 x float> @plait.tanh.v8f32(<8 x float> %t65)
  store <8 x float> %t66, ptr %variable0
  br label %join13
join13:
  %t67 = xor i1 %t58, true
  br i1 %t67, label %then14, label %join15
then14:
  %t68 = load <8 x float>, ptr %variable0
  %t69 = getelementptr inbounds float, ptr %stack4, i64 0
  store <8 x float> %t68, ptr %t69, align 32, !alias.scope !5, !noalias !4
  %t70 = icmp slt i64 0, 8
  br i1 %t70, label %loop16, label %done18
loop16:
  %t71 = phi i64 [ 0, %then14 ], [ %loop16.next, %latch17 ]
  %t72 = getelementptr inbounds float, ptr %stack4, i64 %t71
  %t73 = load float, ptr %t72, align 4, !alias.scope !5, !noalias !4
  store float 0x0000000000000000, ptr %variable24
  store float %t73, ptr %variable24
  %t74 = add nsw i64 %t24, %t71
  %t75 = icmp slt i64 %t74, %t55
  %t76 = icmp sle i64 %t13, %t74
  %t77 = and i1 %t75, %t76
  br i1 %t77, label %then19, label %join20
then19:
  %t78 = mul nsw i64 %t15, %t11
  %t79 = add nsw i64 %t78, %t24
  %t80 = add nsw i64 %t79, %t71
  %t81 = mul nsw i64 -1, %t13
  %t82 = add nsw i64 %t80, %t81
  %t83 = getelementptr inbounds float, ptr %t3, i64 %t82
  %t84 = load float, ptr %t83, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t85 = fadd float %t84, 0x3FF0000000000000
  %t86 = call float @plait.tanh.f32(float %t85)
  store float %t86, ptr %variable24
  br label %join20
join20:
  %t87 = load float, ptr %variable24
  %t88 = getelementptr inbounds float, ptr %stack4, i64 %t71
  store float %t87, ptr %t88, align 4, !alias.scope !5, !noalias !4
  br label %latch17
latch17:
  %loop16.next = add nuw nsw i64 %t71, 1
  %t89 = icmp slt i64 %loop16.next, 8
  br i1 %t89, label %loop16, label %done18
done18:
  %t90 = getelementptr inbounds float, ptr %stack4, i64 0
  %t91 = load <8 x float>, ptr %t90, align 32, !alias.scope !5, !noalias !4
  store <8 x float> %t91, ptr %variable0
  br label %join15
join15:
  %t92 = icmp sle i64 %t55, %t24
  br i1 %t92, label %then21, label %join22
then21:
  %t93 = mul nsw i64 %t15, %t13
  %t94 = add nsw i64 %t93, %t24
  %t95 = mul nsw i64 -1, %t11
  %t96 = add nsw i64 %t94, %t95
  %t97 = mul nsw i64 -1, %t13
  %t98 = add nsw i64 %t96, %t97
  %t99 = getelementptr inbounds float, ptr %t5, i64 %t98
  %t100 = load <8 x float>, ptr %t99, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t101 = call <8 x float> @llvm.fabs.v8f32(<8 x float> %t100)
  %t102 = fneg <8 x float> %t101
  %t103 = call <8 x float> @plait.exp.v8f32(<8 x float> %t102)
  store <8 x float> %t103, ptr %variable0
  br label %join22
join22:
  %t104 = icmp slt i64 %t24, %t55
  br i1 %t104, label %then23, label %join24
then23:
  %t105 = load <8 x float>, ptr %variable0
  %t106 = getelementptr inbounds float, ptr %stack5, i64 0
  store <8 x float> %t105, ptr %t106, align 32, !alias.scope !5, !noalias !4
  %t107 = icmp slt i64 0, 8
  br i1 %t107, label %loop25, label %done27
loop25:
  %t108 = phi i64 [ 0, %then23 ], [ %loop25.next, %latch26 ]
  %t109 = getelementptr inbounds float, ptr %stack5, i64 %t108
  %t110 = load float, ptr %t109, align 4, !alias.scope !5, !noalias !4
  store float 0x0000000000000000, ptr %variable32
  store float %t110, ptr %variable32
  %t111 = add nsw i64 %t24, %t108
  %t112 = icmp sle i64 %t55, %t111
  br i1 %t112, label %then28, label %join29
then28:
  %t113 = mul nsw i64 %t15, %t13
  %t114 = add nsw i64 %t113, %t24
  %t115 = add nsw i64 %t114, %t108
  %t116 = mul nsw i64 -1, %t11
  %t117 = add nsw i64 %t115, %t116
  %t118 = mul nsw i64 -1, %t13
  %t119 = add nsw i64 %t117, %t118
  %t120 = getelementptr inbounds float, ptr %t5, i64 %t119
  %t121 = load float, ptr %t120, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t122 = call float @llvm.fabs.f32(float %t121)
  %t123 = fneg float %t122
  %t124 = call float @plait.exp.f32(float %t123)
  store float %t124, ptr %variable32
  br label %join29
join29:
  %t125 = load float, ptr %variable32
  %t126 = getelementptr inbounds float, ptr %stack5, i64 %t108
  store float %t125, ptr %t126, align 4, !alias.scope !5, !noalias !4
  br label %latch26
latch26:
  %loop25.next = add nuw nsw i64 %t108, 1
  %t127 = icmp slt i64 %loop25.next, 8
  br i1 %t127, label %loop25, label %done27
done27:
  %t128 = getelementptr inbounds float, ptr %stack5, i64 0
  %t129 = load <8 x float>, ptr %t128, align 32, !alias.scope !5, !noalias !4
  store <8 x float> %t129, ptr %variable0
  br label %join24
join24:
  %t130 = load <8 x float>, ptr %variable0
  %t131 = mul nsw i64 %t15, %t11
  %t132 = mul nsw i64 2, %t15
  %t133 = mul nsw i64 %t132, %t13
  %t134 = add nsw i64 %t131, %t133
  %t135 = add nsw i64 %t134, %t24
  %t136 = getelementptr inbounds float, ptr %t7, i64 %t135
  store <8 x float> %t130, ptr %t136, align 32, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t23, 1
  %t137 = icmp slt i64 %loop3.next, %t21
  br i1 %t137, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t15, 1
  %t138 = icmp slt i64 %loop0.next, %end
  br i1 %t138, label %loop0, label %done2
done2:
  ret void
}

define internal <8 x float> @plait.erf.v8f32(<8 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = call <8 x float> @llvm.fabs.v8f32(<8 x float> %p0)
  %t1 = fmul <8 x float> %p0, %p0
  %t2 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0xBF43903980000000), <8 x float> %t1, <8 x float> splat (float 0x3F746FCC60000000))
  %t3 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t2, <8 x float> %t1, <8 x float> splat (float 0xBF9B681D80000000))
  %t4 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t3, <8 x float> %t1, <8 x float> splat (float 0x3FBCE19E80000000))
  %t5 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t4, <8 x float> %t1, <8 x float> splat (float 0xBFD8126E40000000))
  %t6 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t5, <8 x float> %t1, <8 x float> splat (float 0x3FC06EBA60000000))
  %t7 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t6, <8 x float> %t0, <8 x float> %t0)
  %t8 = fcmp ogt <8 x float> %t0, splat (float 0x4010000000000000)
  %t9 = select <8 x i1> %t8, <8 x float> splat (float 0x4010000000000000), <8 x float> %t0
  %t10 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F298D4F20000000), <8 x float> %t9, <8 x float> splat (float 0xBF68DA1960000000))
  %t11 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t10, <8 x float> %t9, <8 x float> splat (float 0x3F96B8E8E0000000))
  %t12 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t11, <8 x float> %t9, <8 x float> splat (float 0xBFBA965400000000))
  %t13 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t12, <8 x float> %t9, <8 x float> splat (float 0xBFE4647B40000000))
  %t14 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t13, <8 x float> %t9, <8 x float> splat (float 0xBFF20AC300000000))
  %t15 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t14, <8 x float> %t9, <8 x float> splat (float 0xBF2B224AC0000000))
  %t16 = call <8 x float> @plait.exp.v8f32(<8 x float> %t15)
  %t17 = fsub <8 x float> splat (float 0x3FF0000000000000), %t16
  %t18 = fcmp ogt <8 x float> %t0, splat (float 0x3FED9999A0000000)
  %t19 = select <8 x i1> %t18, <8 x float> %t17, <8 x float> %t7
  %t20 = call <8 x float> @llvm.copysign.v8f32(<8 x float> %t19, <8 x float> %p0)
  ret <8 x float> %t20
}

define internal float @plait.exp.f32(float %p0) alwaysinline nounwind {
entry:
  %t0 = fcmp olt float %p0, 0xC05A000000000000
  %t1 = select i1 %t0, float 0xC05A000000000000, float %p0
  %t2 = fcmp ogt float %t1, 0x4056400000000000
  %t3 = select i1 %t2, float 0x4056400000000000, float %t1
  %t4 = call float @llvm.fma.f32(float %t3, float 0x3FF7154760000000, float 0x4168000000000000)
  %t5 = fsub float %t4, 0x4168000000000000
  %t6 = bitcast float %t4 to i32
  %t7 = sub i32 %t6, 1262485504
  %t8 = call float @llvm.fma.f32(float %t5, float 0xBFE62E4000000000, float %t3)
  %t9 = call float @llvm.fma.f32(float %t5, float 0xBEB7F7D1C0000000, float %t8)
  %t10 = call float @llvm.fma.f32(float 0x3F56A4D600000000, float %t9, float 0x3F812398E0000000)
  %t11 = call float @llvm.fma.f32(float %t10, float %t9, float 0x3FA5558B00000000)
  %t12 = call float @llvm.fma.f32(float %t11, float %t9, float 0x3FC5554920000000)
  %t13 = call float @llvm.fma.f32(float %t12, float %t9, float 0x3FDFFFFFC0000000)
  %t14 = call float @llvm.fma.f32(float %t13, float %t9, float 0x3FF0000000000000)
  %t15 = call float @llvm.fma.f32(float %t14, float %t9, float 0x3FF0000000000000)
  %t16 = ashr i32 %t7, 1
  %t17 = sub i32 %t7, %t16
  %t18 = add i32 %t17, 127
  %t19 = shl i32 %t18, 23
  %t20 = bitcast i32 %t19 to float
  %t21 = add i32 %t16, 127
  %t22 = shl i32 %t21, 23
  %t23 = bitcast i32 %t22 to float
  %t24 = fmul float %t15, %t23
  %t25 = fmul float %t24, %t20
  ret float %t25
}

define internal <8 x float> @plait.exp.v8f32(<8 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = fcmp olt <8 x float> %p0, splat (float 0xC05A000000000000)
  %t1 = select <8 x i1> %t0, <8 x float> splat (float 0xC05A000000000000), <8 x float> %p0
  %t2 = fcmp ogt <8 x float> %t1, splat (float 0x4056400000000000)
  %t3 = select <8 x i1> %t2, <8 x float> splat (float 0x4056400000000000), <8 x float> %t1
  %t4 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t3, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %t5 = fsub <8 x float> %t4, splat (float 0x4168000000000000)
  %t6 = bitcast <8 x float> %t4 to <8 x i32>
  %t7 = sub <8 x i32> %t6, splat (i32 1262485504)
  %t8 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t5, <8 x float> splat (float 0xBFE62E4000000000), <8 x float> %t3)
  %t9 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t5, <8 x float> splat (float 0xBEB7F7D1C0000000), <8 x float> %t8)
  %t10 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4D600000000), <8 x float> %t9, <8 x float> splat (float 0x3F812398E0000000))
  %t11 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t10, <8 x float> %t9, <8 x float> splat (float 0x3FA5558B00000000))
  %t12 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t11, <8 x float> %t9, <8 x float> splat (float 0x3FC5554920000000))
  %t13 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t12, <8 x float> %t9, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %t14 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t13, <8 x float> %t9, <8 x float> splat (float 0x3FF0000000000000))
  %t15 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t14, <8 x float> %t9, <8 x float> splat (float 0x3FF0000000000000))
  %t16 = ashr <8 x i32> %t7, splat (i32 1)
  %t17 = sub <8 x i32> %t7, %t16
  %t18 = add <8 x i32> %t17, splat (i32 127)
  %t19 = shl <8 x i32> %t18, splat (i32 23)
  %t20 = bitcast <8 x i32> %t19 to <8 x float>
  %t21 = add <8 x i32> %t16, splat (i32 127)
  %t22 = shl <8 x i32> %t21, splat (i32 23)
  %t23 = bitcast <8 x i32> %t22 to <8 x float>
  %t24 = fmul <8 x float> %t15, %t23
  %t25 = fmul <8 x float> %t24, %t20
  ret <8 x float> %t25
}

define internal <8 x float> @plait.gelu_erf.v8f32(<8 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = fmul <8 x float> %p0, splat (float 0x3FE6A09E60000000)
  %t1 = call <8 x float> @plait.erf.v8f32(<8 x float> %t0)
  %t2 = fadd <8 x float> splat (float 0x3FF0000000000000), %t1
  %t3 = fmul <8 x float> %p0, splat (float 0x3FE0000000000000)
  %t4 = fmul <8 x float> %t3, %t2
  ret <8 x float> %t4
}

define internal float @plait.tanh.f32(float %p0) alwaysinline nounwind {
entry:
  %t0 = call float @llvm.fabs.f32(float %p0)
  %t1 = fmul float %p0, %p0
  %t2 = call float @llvm.fma.f32(float 0x3F90D51760000000, float %t1, float 0xBFAAF7D360000000)
  %t3 = call float @llvm.fma.f32(float %t2, float %t1, float 0x3FC10CEFC0000000)
  %t4 = call float @llvm.fma.f32(float %t3, float %t1, float 0xBFD5554520000000)
  %t5 = fmul float %t4, %t1
  %t6 = call float @llvm.fma.f32(float %t5, float %t0, float %t0)
  %t7 = fadd float %t0, %t0
  %t8 = call float @plait.exp.f32(float %t7)
  %t9 = fadd float %t8, 0x3FF0000000000000
  %t10 = fdiv float 0x4000000000000000, %t9
  %t11 = fsub float 0x3FF0000000000000, %t10
  %t12 = fcmp oge float %t0, 0x3FE19999A0000000
  %t13 = select i1 %t12, float %t11, float %t6
  %t14 = call float @llvm.copysign.f32(float %t13, float %p0)
  ret float %t14
}

define internal <8 x float> @plait.tanh.v8f32(<8 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = call <8 x float> @llvm.fabs.v8f32(<8 x float> %p0)
  %t1 = fmul <8 x float> %p0, %p0
  %t2 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F90D51760000000), <8 x float> %t1, <8 x float> splat (float 0xBFAAF7D360000000))
  %t3 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t2, <8 x float> %t1, <8 x float> splat (float 0x3FC10CEFC0000000))
  %t4 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t3, <8 x float> %t1, <8 x float> splat (float 0xBFD5554520000000))
  %t5 = fmul <8 x float> %t4, %t1
  %t6 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t5, <8 x float> %t0, <8 x float> %t0)
  %t7 = fadd <8 x float> %t0, %t0
  %t8 = call <8 x float> @plait.exp.v8f32(<8 x float> %t7)
  %t9 = fadd <8 x float> %t8, splat (float 0x3FF0000000000000)
  %t10 = fdiv <8 x float> splat (float 0x4000000000000000), %t9
  %t11 = fsub <8 x float> splat (float 0x3FF0000000000000), %t10
  %t12 = fcmp oge <8 x float> %t0, splat (float 0x3FE19999A0000000)
  %t13 = select <8 x i1> %t12, <8 x float> %t11, <8 x float> %t6
  %t14 = call <8 x float> @llvm.copysign.v8f32(<8 x float> %t13, <8 x float> %p0)
  ret <8 x float> %t14
}

declare float @llvm.copysign.f32(float, float)
declare <8 x float> @llvm.copysign.v8f32(<8 x float>, <8 x float>)
declare float @llvm.fabs.f32(float)
declare <8 x float> @llvm.fabs.v8f32(<8 x float>)
declare float @llvm.fma.f32(float, float, float)
declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32 immarg, <8 x i1>, <8 x float>)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
