define void @transformer_block_s13(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <16 x float>
  %variable1 = alloca <16 x double>
  %variable17 = alloca <16 x float>
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
  store <16 x float> splat (float 0xFFF0000000000000), ptr %variable0
  store <16 x double> splat (double 0x0000000000000000), ptr %variable1
  %t16 = urem i64 %t15, %t9  ; %2
  %t17 = sitofp i64 16 to float  ; %4
  %t18 = call float @llvm.sqrt.f32(float %t17)  ; %5
  %t19 = insertelement <16 x i64> poison, i64 %t16, i64 0
  %t20 = shufflevector <16 x i64> %t19, <16 x i64> poison, <16 x i32> zeroinitializer  ; %54
  %t21 = insertelement <16 x float> poison, float %t18, i64 0
  %t22 = shufflevector <16 x float> %t21, <16 x float> poison, <16 x i32> zeroinitializer  ; %55
  %t23 = add nsw i64 %t9, 511
  %t24 = ashr i64 %t23, 9
  %t25 = icmp slt i64 0, %t24
  br i1 %t25, label %loop3, label %done5
loop3:
  %t26 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t27 = mul nsw i64 -32, %t26
  %t28 = ashr i64 %t9, 4
  %t29 = add nsw i64 %t27, %t28
  %t30 = call i64 @llvm.smin.i64(i64 32, i64 %t29)
  %t31 = icmp slt i64 0, %t30
  br i1 %t31, label %loop6, label %done8
loop6:
  %t32 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  %t33 = mul nsw i64 512, %t26
  %t34 = mul nsw i64 16, %t32
  %t35 = add nsw i64 %t33, %t34
  %t36 = insertelement <16 x i64> poison, i64 %t35, i64 0
  %t37 = shufflevector <16 x i64> %t36, <16 x i64> poison, <16 x i32> zeroinitializer
  %t38 = add <16 x i64> %t37, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>  ; %35
  %t39 = icmp sle <16 x i64> %t38, %t20  ; %36
  %t40 = mul nsw i64 %t15, %t9
  %t41 = add nsw i64 %t40, %t33
  %t42 = add nsw i64 %t41, %t34
  %t43 = getelementptr inbounds float, ptr %t1, i64 %t42
  %t44 = load <16 x float>, ptr %t43, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %37
  %t45 = fdiv <16 x float> %t44, %t22  ; %38
  %t46 = select <16 x i1> %t39, <16 x float> %t45, <16 x float> splat (float 0xFFF0000000000000)  ; %39
  %t47 = load <16 x float>, ptr %variable0
  %t48 = fcmp ugt <16 x float> %t47, %t46
  %t49 = fcmp uno <16 x float> %t46, %t46
  %t50 = select <16 x i1> %t48, <16 x float> %t47, <16 x float> %t46
  %t51 = select <16 x i1> %t49, <16 x float> %t46, <16 x float> %t50  ; %61
  store <16 x float> %t51, ptr %variable0
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t32, 1
  %t52 = icmp slt i64 %loop6.next, %t30
  br i1 %t52, label %loop6, label %done8
done8:
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t26, 1
  %t53 = icmp slt i64 %loop3.next, %t24
  br i1 %t53, label %loop3, label %done5
done5:
  %t54 = load <16 x float>, ptr %variable0
  %t55 = shufflevector <16 x float> %t54, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %62
  %t56 = load <16 x float>, ptr %variable0
  %t57 = shufflevector <16 x float> %t56, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %63
  %t58 = fcmp ugt <8 x float> %t55, %t57
  %t59 = fcmp uno <8 x float> %t57, %t57
  %t60 = select <8 x i1> %t58, <8 x float> %t55, <8 x float> %t57
  %t61 = select <8 x i1> %t59, <8 x float> %t57, <8 x float> %t60  ; %64
  %t62 = shufflevector <8 x float> %t61, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %65
  %t63 = shufflevector <8 x float> %t61, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %66
  %t64 = fcmp ugt <4 x float> %t62, %t63
  %t65 = fcmp uno <4 x float> %t63, %t63
  %t66 = select <4 x i1> %t64, <4 x float> %t62, <4 x float> %t63
  %t67 = select <4 x i1> %t65, <4 x float> %t63, <4 x float> %t66  ; %67
  %t68 = shufflevector <4 x float> %t67, <4 x float> poison, <2 x i32> <i32 0, i32 1>  ; %68
  %t69 = shufflevector <4 x float> %t67, <4 x float> poison, <2 x i32> <i32 2, i32 3>  ; %69
  %t70 = fcmp ugt <2 x float> %t68, %t69
  %t71 = fcmp uno <2 x float> %t69, %t69
  %t72 = select <2 x i1> %t70, <2 x float> %t68, <2 x float> %t69
  %t73 = select <2 x i1> %t71, <2 x float> %t69, <2 x float> %t72  ; %70
  %t74 = extractelement <2 x float> %t73, i64 0  ; %71
  %t75 = extractelement <2 x float> %t73, i64 1  ; %72
  %t76 = fcmp ugt float %t74, %t75
  %t77 = fcmp uno float %t75, %t75
  %t78 = select i1 %t76, float %t74, float %t75
  %t79 = select i1 %t77, float %t75, float %t78  ; %73
  %t80 = fcmp oeq float %t79, 0xFFF0000000000000  ; %14
  %t81 = select i1 %t80, float 0x0000000000000000, float %t79  ; %16
  %t82 = insertelement <16 x float> poison, float %t81, i64 0
  %t83 = shufflevector <16 x float> %t82, <16 x float> poison, <16 x i32> zeroinitializer  ; %60
  %t84 = icmp slt i64 0, %t24
  br i1 %t84, label %loop9, label %done11
loop9:
  %t85 = phi i64 [ 0, %done5 ], [ %loop9.next, %latch10 ]
  store <16 x float> splat (float 0x0000000000000000), ptr %variable17
  %t86 = mul nsw i64 -32, %t85
  %t87 = ashr i64 %t9, 4
  %t88 = add nsw i64 %t86, %t87
  %t89 = call i64 @llvm.smin.i64(i64 32, i64 %t88)
  %t90 = icmp slt i64 0, %t89
  br i1 %t90, label %loop12, label %done14
loop12:
  %t91 = phi i64 [ 0, %loop9 ], [ %loop12.next, %latch13 ]
  %t92 = mul nsw i64 512, %t85
  %t93 = mul nsw i64 16, %t91
  %t94 = add nsw i64 %t92, %t93
  %t95 = insertelement <16 x i64> poison, i64 %t94, i64 0
  %t96 = shufflevector <16 x i64> %t95, <16 x i64> poison, <16 x i32> zeroinitializer
  %t97 = add <16 x i64> %t96, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>  ; %40
  %t98 = icmp sle <16 x i64> %t97, %t20  ; %41
  %t99 = mul nsw i64 %t15, %t9
  %t100 = add nsw i64 %t99, %t92
  %t101 = add nsw i64 %t100, %t93
  %t102 = getelementptr inbounds float, ptr %t1, i64 %t101
  %t103 = load <16 x float>, ptr %t102, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %42
  %t104 = fdiv <16 x float> %t103, %t22  ; %43
  %t105 = select <16 x i1> %t98, <16 x float> %t104, <16 x float> splat (float 0xFFF0000000000000)  ; %44
  %t106 = fsub <16 x float> %t105, %t83  ; %45
  %t107 = call <16 x float> @plait.exp.v16f32(<16 x float> %t106)  ; %46
  %t108 = call <16 x i16> @plait.to_bf16.v16f32(<16 x float> %t107)
  %t109 = getelementptr inbounds i16, ptr %t7, i64 %t101
  store <16 x i16> %t108, ptr %t109, align 2, !alias.scope !5, !noalias !4
  %t110 = load <16 x float>, ptr %variable17
  %t111 = fadd <16 x float> %t110, %t107  ; %74
  store <16 x float> %t111, ptr %variable17
  br label %latch13
latch13:
  %loop12.next = add nuw nsw i64 %t91, 1
  %t112 = icmp slt i64 %loop12.next, %t89
  br i1 %t112, label %loop12, label %done14
done14:
  %t113 = load <16 x float>, ptr %variable17
  %t114 = fpext <16 x float> %t113 to <16 x double>  ; %32
  %t115 = load <16 x double>, ptr %variable1
  %t116 = fadd <16 x double> %t115, %t114  ; %75
  store <16 x double> %t116, ptr %variable1
  br label %latch10
latch10:
  %loop9.next = add nuw nsw i64 %t85, 1
  %t117 = icmp slt i64 %loop9.next, %t24
  br i1 %t117, label %loop9, label %done11
done11:
  %t118 = zext i1 %t80 to i8
  %t119 = getelementptr inbounds i8, ptr %t3, i64 %t15
  store i8 %t118, ptr %t119, align 1, !alias.scope !5, !noalias !4
  %t120 = load <16 x double>, ptr %variable1
  %t121 = shufflevector <16 x double> %t120, <16 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %76
  %t122 = load <16 x double>, ptr %variable1
  %t123 = shufflevector <16 x double> %t122, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %77
  %t124 = fadd <8 x double> %t121, %t123  ; %78
  %t125 = shufflevector <8 x double> %t124, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %79
  %t126 = shufflevector <8 x double> %t124, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %80
  %t127 = fadd <4 x double> %t125, %t126  ; %81
  %t128 = shufflevector <4 x double> %t127, <4 x double> poison, <2 x i32> <i32 0, i32 1>  ; %82
  %t129 = shufflevector <4 x double> %t127, <4 x double> poison, <2 x i32> <i32 2, i32 3>  ; %83
  %t130 = fadd <2 x double> %t128, %t129  ; %84
  %t131 = extractelement <2 x double> %t130, i64 0  ; %85
  %t132 = extractelement <2 x double> %t130, i64 1  ; %86
  %t133 = fadd double %t131, %t132  ; %87
  %t134 = fptrunc double %t133 to float  ; %34
  %t135 = getelementptr inbounds float, ptr %t5, i64 %t15
  store float %t134, ptr %t135, align 4, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t15, 1
  %t136 = icmp slt i64 %loop0.next, %end
  br i1 %t136, label %loop0, label %done2
done2:
  ret void
}

define internal <16 x float> @plait.exp.v16f32(<16 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = fcmp olt <16 x float> %p0, splat (float 0xC05A000000000000)
  %t1 = select <16 x i1> %t0, <16 x float> splat (float 0xC05A000000000000), <16 x float> %p0
  %t2 = fcmp ogt <16 x float> %t1, splat (float 0x4056400000000000)
  %t3 = select <16 x i1> %t2, <16 x float> splat (float 0x4056400000000000), <16 x float> %t1
  %t4 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t3, <16 x float> splat (float 0x3FF7154760000000), <16 x float> splat (float 0x4168000000000000))
  %t5 = fsub <16 x float> %t4, splat (float 0x4168000000000000)
  %t6 = bitcast <16 x float> %t4 to <16 x i32>
  %t7 = sub <16 x i32> %t6, splat (i32 1262485504)
  %t8 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t5, <16 x float> splat (float 0xBFE62E4000000000), <16 x float> %t3)
  %t9 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t5, <16 x float> splat (float 0xBEB7F7D1C0000000), <16 x float> %t8)
  %t10 = call <16 x float> @llvm.fma.v16f32(<16 x float> splat (float 0x3F56A4D600000000), <16 x float> %t9, <16 x float> splat (float 0x3F812398E0000000))
  %t11 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t10, <16 x float> %t9, <16 x float> splat (float 0x3FA5558B00000000))
  %t12 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t11, <16 x float> %t9, <16 x float> splat (float 0x3FC5554920000000))
  %t13 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t12, <16 x float> %t9, <16 x float> splat (float 0x3FDFFFFFC0000000))
  %t14 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t13, <16 x float> %t9, <16 x float> splat (float 0x3FF0000000000000))
  %t15 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t14, <16 x float> %t9, <16 x float> splat (float 0x3FF0000000000000))
  %t16 = ashr <16 x i32> %t7, splat (i32 1)
  %t17 = sub <16 x i32> %t7, %t16
  %t18 = add <16 x i32> %t16, splat (i32 127)
  %t19 = shl <16 x i32> %t18, splat (i32 23)
  %t20 = bitcast <16 x i32> %t19 to <16 x float>
  %t21 = fmul <16 x float> %t15, %t20
  %t22 = add <16 x i32> %t17, splat (i32 127)
  %t23 = shl <16 x i32> %t22, splat (i32 23)
  %t24 = bitcast <16 x i32> %t23 to <16 x float>
  %t25 = fmul <16 x float> %t21, %t24
  ret <16 x float> %t25
}

define internal <16 x i16> @plait.to_bf16.v16f32(<16 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = bitcast <16 x float> %p0 to <16 x i32>
  %t1 = lshr <16 x i32> %t0, splat (i32 16)
  %t2 = and <16 x i32> %t1, splat (i32 1)
  %t3 = add <16 x i32> %t2, splat (i32 32767)
  %t4 = add <16 x i32> %t0, %t3
  %t5 = lshr <16 x i32> %t4, splat (i32 16)
  %t6 = fcmp uno <16 x float> %p0, %p0
  %t7 = or <16 x i32> %t1, splat (i32 64)
  %t8 = select <16 x i1> %t6, <16 x i32> %t7, <16 x i32> %t5
  %t9 = trunc <16 x i32> %t8 to <16 x i16>
  ret <16 x i16> %t9
}

declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
declare i64 @llvm.smin.i64(i64, i64)
declare float @llvm.sqrt.f32(float)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
