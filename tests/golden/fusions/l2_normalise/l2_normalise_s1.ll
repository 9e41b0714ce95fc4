define void @l2_normalise_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <32 x double>
  %variable1 = alloca <32 x float>
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds i64, ptr %integers, i64 0
  %t5 = load i64, ptr %t4, align 8, !invariant.load !0
  %t6 = getelementptr inbounds i64, ptr %integers, i64 1
  %t7 = load i64, ptr %t6, align 8, !invariant.load !0
  %t8 = icmp slt i64 %begin, %end
  br i1 %t8, label %loop0, label %done2
loop0:
  %t9 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  store <32 x double> splat (double 0x0000000000000000), ptr %variable0
  %t10 = add nsw i64 %t7, 1023
  %t11 = ashr i64 %t10, 10
  %t12 = icmp slt i64 0, %t11
  br i1 %t12, label %loop3, label %done5
loop3:
  %t13 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable1
  %t14 = mul nsw i64 -32, %t13
  %t15 = ashr i64 %t7, 5
  %t16 = add nsw i64 %t14, %t15
  %t17 = call i64 @llvm.smin.i64(i64 32, i64 %t16)
  %t18 = icmp slt i64 0, %t17
  br i1 %t18, label %loop6, label %done8
loop6:
  %t19 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  %t20 = mul nsw i64 %t9, %t7
  %t21 = mul nsw i64 1024, %t13
  %t22 = add nsw i64 %t20, %t21
  %t23 = mul nsw i64 32, %t19
  %t24 = add nsw i64 %t22, %t23
  %t25 = getelementptr inbounds float, ptr %t1, i64 %t24
  %t26 = load <32 x float>, ptr %t25, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %14
  %t27 = fmul <32 x float> %t26, %t26  ; %15
  %t28 = load <32 x float>, ptr %variable1
  %t29 = fadd <32 x float> %t28, %t27  ; %21
  store <32 x float> %t29, ptr %variable1
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t19, 1
  %t30 = icmp slt i64 %loop6.next, %t17
  br i1 %t30, label %loop6, label %done8
done8:
  %t31 = icmp slt i64 %t17, 32
  %t32 = mul nsw i64 32, %t13
  %t33 = add nsw i64 %t32, 32
  %t34 = call i64 @llvm.smin.i64(i64 %t33, i64 %t15)
  %t35 = mul nsw i64 32, %t34
  %t36 = icmp slt i64 %t35, %t7
  %t37 = and i1 %t31, %t36
  br i1 %t37, label %then9, label %join10
then9:
  %t38 = mul nsw i64 %t9, %t7
  %t39 = add nsw i64 %t38, %t35
  %t40 = getelementptr inbounds float, ptr %t1, i64 %t39
  %t41 = mul nsw i64 -32, %t34
  %t42 = add nsw i64 %t7, %t41
  %t43 = call i64 @llvm.smin.i64(i64 32, i64 %t42)
  %t44 = call i64 @llvm.smax.i64(i64 %t43, i64 0)
  %t45 = trunc i64 %t44 to i32
  %t46 = insertelement <32 x i32> poison, i32 %t45, i64 0
  %t47 = shufflevector <32 x i32> %t46, <32 x i32> poison, <32 x i32> zeroinitializer
  %t48 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t47
  %t49 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t40, i32 4, <32 x i1> %t48, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %12
  %t50 = fmul <32 x float> %t49, %t49  ; %13
  %t51 = load <32 x float>, ptr %variable1
  %t52 = fadd <32 x float> %t51, %t50  ; %22
  %t53 = insertelement <32 x i64> poison, i64 0, i64 0
  %t54 = shufflevector <32 x i64> %t53, <32 x i64> poison, <32 x i32> zeroinitializer
  %t55 = add <32 x i64> %t54, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>  ; %23
  %t56 = insertelement <32 x i64> poison, i64 %t43, i64 0
  %t57 = shufflevector <32 x i64> %t56, <32 x i64> poison, <32 x i32> zeroinitializer  ; %24
  %t58 = icmp slt <32 x i64> %t55, %t57  ; %25
  %t59 = load <32 x float>, ptr %variable1
  %t60 = select <32 x i1> %t58, <32 x float> %t52, <32 x float> %t59  ; %26
  store <32 x float> %t60, ptr %variable1
  br label %join10
join10:
  %t61 = load <32 x float>, ptr %variable1
  %t62 = fpext <32 x float> %t61 to <32 x double>  ; %4
  %t63 = load <32 x double>, ptr %variable0
  %t64 = fadd <32 x double> %t63, %t62  ; %27
  store <32 x double> %t64, ptr %variable0
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t13, 1
  %t65 = icmp slt i64 %loop3.next, %t11
  br i1 %t65, label %loop3, label %done5
done5:
  %t66 = load <32 x double>, ptr %variable0
  %t67 = shufflevector <32 x double> %t66, <32 x double> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %28
  %t68 = load <32 x double>, ptr %variable0
  %t69 = shufflevector <32 x double> %t68, <32 x double> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>  ; %29
  %t70 = fadd <16 x double> %t67, %t69  ; %30
  %t71 = shufflevector <16 x double> %t70, <16 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %31
  %t72 = shufflevector <16 x double> %t70, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %32
  %t73 = fadd <8 x double> %t71, %t72  ; %33
  %t74 = shufflevector <8 x double> %t73, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %34
  %t75 = shufflevector <8 x double> %t73, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %35
  %t76 = fadd <4 x double> %t74, %t75  ; %36
  %t77 = shufflevector <4 x double> %t76, <4 x double> poison, <2 x i32> <i32 0, i32 1>  ; %37
  %t78 = shufflevector <4 x double> %t76, <4 x double> poison, <2 x i32> <i32 2, i32 3>  ; %38
  %t79 = fadd <2 x double> %t77, %t78  ; %39
  %t80 = extractelement <2 x double> %t79, i64 0  ; %40
  %t81 = extractelement <2 x double> %t79, i64 1  ; %41
  %t82 = fadd double %t80, %t81  ; %42
  %t83 = fptrunc double %t82 to float  ; %6
  %t84 = call float @llvm.sqrt.f32(float %t83)  ; %7
  %t85 = fcmp ugt float %t84, 0x3D71979980000000
  %t86 = fcmp uno float 0x3D71979980000000, 0x3D71979980000000
  %t87 = select i1 %t85, float %t84, float 0x3D71979980000000
  %t88 = select i1 %t86, float 0x3D71979980000000, float %t87  ; %9
  %t89 = insertelement <32 x float> poison, float %t88, i64 0
  %t90 = shufflevector <32 x float> %t89, <32 x float> poison, <32 x i32> zeroinitializer  ; %20
  %t91 = icmp slt i64 0, %t11
  br i1 %t91, label %loop11, label %done13
loop11:
  %t92 = phi i64 [ 0, %done5 ], [ %loop11.next, %latch12 ]
  %t93 = mul nsw i64 -32, %t92
  %t94 = ashr i64 %t7, 5
  %t95 = add nsw i64 %t93, %t94
  %t96 = call i64 @llvm.smin.i64(i64 32, i64 %t95)
  %t97 = icmp slt i64 0, %t96
  br i1 %t97, label %loop14, label %done16
loop14:
  %t98 = phi i64 [ 0, %loop11 ], [ %loop14.next, %latch15 ]
  %t99 = mul nsw i64 %t9, %t7
  %t100 = mul nsw i64 1024, %t92
  %t101 = add nsw i64 %t99, %t100
  %t102 = mul nsw i64 32, %t98
  %t103 = add nsw i64 %t101, %t102
  %t104 = getelementptr inbounds float, ptr %t1, i64 %t103
  %t105 = load <32 x float>, ptr %t104, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %18
  %t106 = fdiv <32 x float> %t105, %t90  ; %19
  %t107 = getelementptr inbounds float, ptr %t3, i64 %t103
  store <32 x float> %t106, ptr %t107, align 4, !alias.scope !5, !noalias !4
  br label %latch15
latch15:
  %loop14.next = add nuw nsw i64 %t98, 1
  %t108 = icmp slt i64 %loop14.next, %t96
  br i1 %t108, label %loop14, label %done16
done16:
  %t109 = icmp slt i64 %t96, 32
  %t110 = mul nsw i64 32, %t92
  %t111 = add nsw i64 %t110, 32
  %t112 = call i64 @llvm.smin.i64(i64 %t111, i64 %t94)
  %t113 = mul nsw i64 32, %t112
  %t114 = icmp slt i64 %t113, %t7
  %t115 = and i1 %t109, %t114
  br i1 %t115, label %then17, label %join18
then17:
  %t116 = mul nsw i64 %t9, %t7
  %t117 = add nsw i64 %t116, %t113
  %t118 = getelementptr inbounds float, ptr %t1, i64 %t117
  %t119 = mul nsw i64 -32, %t112
  %t120 = add nsw i64 %t7, %t119
  %t121 = call i64 @llvm.smin.i64(i64 32, i64 %t120)
  %t122 = call i64 @llvm.smax.i64(i64 %t121, i64 0)
  %t123 = trunc i64 %t122 to i32
  %t124 = insertelement <32 x i32> poison, i32 %t123, i64 0
  %t125 = shufflevector <32 x i32> %t124, <32 x i32> poison, <32 x i32> zeroinitializer
  %t126 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t125
  %t127 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t118, i32 4, <32 x i1> %t126, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %16
  %t128 = fdiv <32 x float> %t127, %t90  ; %17
  %t129 = getelementptr inbounds float, ptr %t3, i64 %t117
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t128, ptr %t129, i32 4, <32 x i1> %t126), !alias.scope !5, !noalias !4
  br label %join18
join18:
  br label %latch12
latch12:
  %loop11.next = add nuw nsw i64 %t92, 1
  %t130 = icmp slt i64 %loop11.next, %t11
  br i1 %t130, label %loop11, label %done13
done13:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t9, 1
  %t131 = icmp slt i64 %loop0.next, %end
  br i1 %t131, label %loop0, label %done2
done2:
  ret void
}

declare <32 x float> @llvm.masked.load.v32f32.p0(ptr, i32 immarg, <32 x i1>, <32 x float>)
declare void @llvm.masked.store.v32f32.p0(<32 x float>, ptr, i32 immarg, <32 x i1>)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare float @llvm.sqrt.f32(float)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
