define void @cumsum_chain_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca double
  %stack3 = alloca [32 x float], align 64
  %stack4 = alloca [32 x float], align 64
  %stack5 = alloca [32 x double], align 64
  %stack6 = alloca [32 x double], align 64
  %stack7 = alloca [32 x float], align 64
  %stack8 = alloca [32 x float], align 64
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
  %t19 = load <32 x float>, ptr %t18, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %43
  %t20 = getelementptr inbounds float, ptr %t3, i64 %t16
  %t21 = load <32 x float>, ptr %t20, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %44
  %t22 = fmul <32 x float> %t19, %t21  ; %45
  %t23 = getelementptr inbounds float, ptr %stack3, i64 0
  store <32 x float> %t22, ptr %t23, align 64, !alias.scope !5, !noalias !4
  %t24 = getelementptr inbounds float, ptr %stack3, i64 0
  %t25 = load <32 x float>, ptr %t24, align 64, !alias.scope !5, !noalias !4  ; %46
  %t26 = fpext <32 x float> %t25 to <32 x double>  ; %47
  %t27 = getelementptr inbounds double, ptr %stack5, i64 0
  store <32 x double> %t26, ptr %t27, align 64, !alias.scope !5, !noalias !4
  %t28 = getelementptr inbounds double, ptr %stack5, i64 0
  %t29 = load <32 x double>, ptr %t28, align 64, !alias.scope !5, !noalias !4  ; %48
  %t30 = load double, ptr %variable0
  %t31 = shufflevector <32 x double> %t29, <32 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %t32 = shufflevector <8 x double> %t31, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6>
  %t33 = fadd <8 x double> %t32, %t31
  %t34 = shufflevector <8 x double> %t33, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %t35 = fadd <8 x double> %t34, %t33
  %t36 = shufflevector <8 x double> %t35, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 0, i32 1, i32 2, i32 3>
  %t37 = fadd <8 x double> %t36, %t35
  %t38 = insertelement <8 x double> poison, double %t30, i64 0
  %t39 = shufflevector <8 x double> %t38, <8 x double> poison, <8 x i32> zeroinitializer
  %t40 = fadd <8 x double> %t39, %t37
  %t41 = extractelement <8 x double> %t40, i64 7
  %t42 = shufflevector <32 x double> %t29, <32 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t43 = shufflevector <8 x double> %t42, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6>
  %t44 = fadd <8 x double> %t43, %t42
  %t45 = shufflevector <8 x double> %t44, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %t46 = fadd <8 x double> %t45, %t44
  %t47 = shufflevector <8 x double> %t46, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 0, i32 1, i32 2, i32 3>
  %t48 = fadd <8 x double> %t47, %t46
  %t49 = insertelement <8 x double> poison, double %t41, i64 0
  %t50 = shufflevector <8 x double> %t49, <8 x double> poison, <8 x i32> zeroinitializer
  %t51 = fadd <8 x double> %t50, %t48
  %t52 = extractelement <8 x double> %t51, i64 7
  %t53 = shufflevector <32 x double> %t29, <32 x double> poison, <8 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %t54 = shufflevector <8 x double> %t53, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6>
  %t55 = fadd <8 x double> %t54, %t53
  %t56 = shufflevector <8 x double> %t55, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %t57 = fadd <8 x double> %t56, %t55
  %t58 = shufflevector <8 x double> %t57, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 0, i32 1, i32 2, i32 3>
  %t59 = fadd <8 x double> %t58, %t57
  %t60 = insertelement <8 x double> poison, double %t52, i64 0
  %t61 = shufflevector <8 x double> %t60, <8 x double> poison, <8 x i32> zeroinitializer
  %t62 = fadd <8 x double> %t61, %t59
  %t63 = extractelement <8 x double> %t62, i64 7
  %t64 = shufflevector <32 x double> %t29, <32 x double> poison, <8 x i32> <i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t65 = shufflevector <8 x double> %t64, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6>
  %t66 = fadd <8 x double> %t65, %t64
  %t67 = shufflevector <8 x double> %t66, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %t68 = fadd <8 x double> %t67, %t66
  %t69 = shufflevector <8 x double> %t68, <8 x double> splat (double 0x0000000000000000), <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 0, i32 1, i32 2, i32 3>
  %t70 = fadd <8 x double> %t69, %t68
  %t71 = insertelement <8 x double> poison, double %t63, i64 0
  %t72 = shufflevector <8 x double> %t71, <8 x double> poison, <8 x i32> zeroinitializer
  %t73 = fadd <8 x double> %t72, %t70
  %t74 = extractelement <8 x double> %t73, i64 7
  %t75 = shufflevector <8 x double> %t40, <8 x double> %t51, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t76 = shufflevector <8 x double> %t62, <8 x double> %t73, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t77 = shufflevector <16 x double> %t75, <16 x double> %t76, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>  ; %49
  %t78 = getelementptr inbounds double, ptr %stack6, i64 0
  store <32 x double> %t77, ptr %t78, align 64, !alias.scope !5, !noalias !4
  %t79 = shufflevector <32 x double> %t77, <32 x double> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>  ; %50
  %t80 = shufflevector <16 x double> %t79, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %51
  %t81 = shufflevector <8 x double> %t80, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %52
  %t82 = shufflevector <4 x double> %t81, <4 x double> poison, <2 x i32> <i32 2, i32 3>  ; %53
  %t83 = extractelement <2 x double> %t82, i64 1  ; %54
  store double %t83, ptr %variable0
  %t84 = getelementptr inbounds double, ptr %stack6, i64 0
  %t85 = load <32 x double>, ptr %t84, align 64, !alias.scope !5, !noalias !4  ; %55
  %t86 = fptrunc <32 x double> %t85 to <32 x float>  ; %59
  %t87 = getelementptr inbounds float, ptr %stack4, i64 0
  store <32 x float> %t86, ptr %t87, align 64, !alias.scope !5, !noalias !4
  %t88 = getelementptr inbounds float, ptr %stack4, i64 0
  %t89 = load <32 x float>, ptr %t88, align 64, !alias.scope !5, !noalias !4  ; %60
  %t90 = fmul <32 x float> %t89, splat (float 0x3FB99999A0000000)  ; %61
  %t91 = call <32 x float> @plait.tanh.v32f32(<32 x float> %t90)  ; %62
  %t92 = getelementptr inbounds float, ptr %t5, i64 %t17
  store <32 x float> %t91, ptr %t92, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t14, 1
  %t93 = icmp slt i64 %loop3.next, %t12
  br i1 %t93, label %loop3, label %done5
done5:
  %t94 = and i64 %t9, 31
  %t95 = icmp slt i64 0, %t94
  br i1 %t95, label %then6, label %join7
then6:
  %t96 = mul nsw i64 %t11, %t9
  %t97 = mul nsw i64 32, %t12
  %t98 = add nsw i64 %t96, %t97
  %t99 = getelementptr inbounds float, ptr %t1, i64 %t98
  %t100 = trunc i64 %t94 to i32
  %t101 = insertelement <32 x i32> poison, i32 %t100, i64 0
  %t102 = shufflevector <32 x i32> %t101, <32 x i32> poison, <32 x i32> zeroinitializer
  %t103 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t102
  %t104 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t99, i32 4, <32 x i1> %t103, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %27
  %t105 = getelementptr inbounds float, ptr %t3, i64 %t97
  %t106 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t105, i32 4, <32 x i1> %t103, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %28
  %t107 = fmul <32 x float> %t104, %t106  ; %29
  %t108 = getelementptr inbounds float, ptr %stack7, i64 0
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t107, ptr %t108, i32 64, <32 x i1> %t103), !alias.scope !5, !noalias !4
  %t109 = mul nsw i64 -32, %t12
  %t110 = add nsw i64 %t9, %t109
  %t111 = icmp slt i64 0, %t110
  br i1 %t111, label %loop8, label %done10
loop8:
  %t112 = phi i64 [ 0, %then6 ], [ %loop8.next, %latch9 ]
  %t113 = getelementptr inbounds float, ptr %stack7, i64 %t112
  %t114 = load float, ptr %t113, align 4, !alias.scope !5, !noalias !4  ; %38
  %t115 = fpext float %t114 to double  ; %39
  %t116 = load double, ptr %variable0
  %t117 = fadd double %t116, %t115  ; %40
  store double %t117, ptr %variable0
  %t118 = load double, ptr %variable0  ; %41
  %t119 = fptrunc double %t118 to float  ; %42
  %t120 = getelementptr inbounds float, ptr %stack8, i64 %t112
  store float %t119, ptr %t120, align 4, !alias.scope !5, !noalias !4
  br label %latch9
latch9:
  %loop8.next = add nuw nsw i64 %t112, 1
  %t121 = icmp slt i64 %loop8.next, %t110
  br i1 %t121, label %loop8, label %done10
done10:
  %t122 = getelementptr inbounds float, ptr %stack8, i64 0
  %t123 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t122, i32 64, <32 x i1> %t103, <32 x float> splat (float 0x0000000000000000)), !alias.scope !5, !noalias !4  ; %35
  %t124 = fmul <32 x float> %t123, splat (float 0x3FB99999A0000000)  ; %36
  %t125 = call <32 x float> @plait.tanh.v32f32(<32 x float> %t124)  ; %37
  %t126 = getelementptr inbounds float, ptr %t5, i64 %t98
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t125, ptr %t126, i32 4, <32 x i1> %t103), !alias.scope !5, !noalias !4
  br label %join7
join7:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t127 = icmp slt i64 %loop0.next, %end
  br i1 %t127, label %loop0, label %done2
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
declare void @llvm.masked.store.v32f32.p0(<32 x float>, ptr, i32 immarg, <32 x i1>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
