define void @rms_norm_forward_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <32 x double>
  %variable1 = alloca <32 x float>
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
  %t12 = icmp slt i64 %begin, %end
  br i1 %t12, label %loop0, label %done2
loop0:
  %t13 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  store <32 x double> splat (double 0x0000000000000000), ptr %variable0
  %t14 = add nsw i64 %t11, 1023
  %t15 = ashr i64 %t14, 10
  %t16 = icmp slt i64 0, %t15
  br i1 %t16, label %loop3, label %done5
loop3:
  %t17 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable1
  %t18 = mul nsw i64 -32, %t17
  %t19 = ashr i64 %t11, 5
  %t20 = add nsw i64 %t18, %t19
  %t21 = call i64 @llvm.smin.i64(i64 32, i64 %t20)
  %t22 = icmp slt i64 0, %t21
  br i1 %t22, label %loop6, label %done8
loop6:
  %t23 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  %t24 = mul nsw i64 %t13, %t11
  %t25 = mul nsw i64 1024, %t17
  %t26 = add nsw i64 %t24, %t25
  %t27 = mul nsw i64 32, %t23
  %t28 = add nsw i64 %t26, %t27
  %t29 = getelementptr inbounds float, ptr %t1, i64 %t28
  %t30 = load <32 x float>, ptr %t29, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %20
  %t31 = fmul <32 x float> %t30, %t30  ; %21
  %t32 = load <32 x float>, ptr %variable1
  %t33 = fadd <32 x float> %t32, %t31  ; %31
  store <32 x float> %t33, ptr %variable1
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t23, 1
  %t34 = icmp slt i64 %loop6.next, %t21
  br i1 %t34, label %loop6, label %done8
done8:
  %t35 = icmp slt i64 %t21, 32
  %t36 = mul nsw i64 32, %t17
  %t37 = add nsw i64 %t36, 32
  %t38 = call i64 @llvm.smin.i64(i64 %t37, i64 %t19)
  %t39 = mul nsw i64 32, %t38
  %t40 = icmp slt i64 %t39, %t11
  %t41 = and i1 %t35, %t40
  br i1 %t41, label %then9, label %join10
then9:
  %t42 = mul nsw i64 %t13, %t11
  %t43 = add nsw i64 %t42, %t39
  %t44 = getelementptr inbounds float, ptr %t1, i64 %t43
  %t45 = mul nsw i64 -32, %t38
  %t46 = add nsw i64 %t11, %t45
  %t47 = call i64 @llvm.smin.i64(i64 32, i64 %t46)
  %t48 = call i64 @llvm.smax.i64(i64 %t47, i64 0)
  %t49 = trunc i64 %t48 to i32
  %t50 = insertelement <32 x i32> poison, i32 %t49, i64 0
  %t51 = shufflevector <32 x i32> %t50, <32 x i32> poison, <32 x i32> zeroinitializer
  %t52 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t51
  %t53 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t44, i32 4, <32 x i1> %t52, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %18
  %t54 = fmul <32 x float> %t53, %t53  ; %19
  %t55 = load <32 x float>, ptr %variable1
  %t56 = fadd <32 x float> %t55, %t54  ; %32
  %t57 = insertelement <32 x i64> poison, i64 0, i64 0
  %t58 = shufflevector <32 x i64> %t57, <32 x i64> poison, <32 x i32> zeroinitializer
  %t59 = add <32 x i64> %t58, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>  ; %33
  %t60 = insertelement <32 x i64> poison, i64 %t47, i64 0
  %t61 = shufflevector <32 x i64> %t60, <32 x i64> poison, <32 x i32> zeroinitializer  ; %34
  %t62 = icmp slt <32 x i64> %t59, %t61  ; %35
  %t63 = load <32 x float>, ptr %variable1
  %t64 = select <32 x i1> %t62, <32 x float> %t56, <32 x float> %t63  ; %36
  store <32 x float> %t64, ptr %variable1
  br label %join10
join10:
  %t65 = load <32 x float>, ptr %variable1
  %t66 = fpext <32 x float> %t65 to <32 x double>  ; %4
  %t67 = load <32 x double>, ptr %variable0
  %t68 = fadd <32 x double> %t67, %t66  ; %37
  store <32 x double> %t68, ptr %variable0
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t17, 1
  %t69 = icmp slt i64 %loop3.next, %t15
  br i1 %t69, label %loop3, label %done5
done5:
  %t70 = load <32 x double>, ptr %variable0
  %t71 = shufflevector <32 x double> %t70, <32 x double> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %38
  %t72 = load <32 x double>, ptr %variable0
  %t73 = shufflevector <32 x double> %t72, <32 x double> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>  ; %39
  %t74 = fadd <16 x double> %t71, %t73  ; %40
  %t75 = shufflevector <16 x double> %t74, <16 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %41
  %t76 = shufflevector <16 x double> %t74, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %42
  %t77 = fadd <8 x double> %t75, %t76  ; %43
  %t78 = shufflevector <8 x double> %t77, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %44
  %t79 = shufflevector <8 x double> %t77, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %45
  %t80 = fadd <4 x double> %t78, %t79  ; %46
  %t81 = shufflevector <4 x double> %t80, <4 x double> poison, <2 x i32> <i32 0, i32 1>  ; %47
  %t82 = shufflevector <4 x double> %t80, <4 x double> poison, <2 x i32> <i32 2, i32 3>  ; %48
  %t83 = fadd <2 x double> %t81, %t82  ; %49
  %t84 = extractelement <2 x double> %t83, i64 0  ; %50
  %t85 = extractelement <2 x double> %t83, i64 1  ; %51
  %t86 = fadd double %t84, %t85  ; %52
  %t87 = fptrunc double %t86 to float  ; %6
  %t88 = sitofp i64 %t11 to float  ; %8
  %t89 = fdiv float %t87, %t88  ; %9
  %t90 = fadd float %t89, 0x3EB0C6F7A0000000  ; %11
  %t91 = call float @llvm.sqrt.f32(float %t90)  ; %12
  %t92 = fdiv float 0x3FF0000000000000, %t91  ; %13
  %t93 = insertelement <32 x float> poison, float %t92, i64 0
  %t94 = shufflevector <32 x float> %t93, <32 x float> poison, <32 x i32> zeroinitializer  ; %30
  %t95 = icmp slt i64 0, %t15
  br i1 %t95, label %loop11, label %done13
loop11:
  %t96 = phi i64 [ 0, %done5 ], [ %loop11.next, %latch12 ]
  %t97 = mul nsw i64 -32, %t96
  %t98 = ashr i64 %t11, 5
  %t99 = add nsw i64 %t97, %t98
  %t100 = call i64 @llvm.smin.i64(i64 32, i64 %t99)
  %t101 = icmp slt i64 0, %t100
  br i1 %t101, label %loop14, label %done16
loop14:
  %t102 = phi i64 [ 0, %loop11 ], [ %loop14.next, %latch15 ]
  %t103 = mul nsw i64 %t13, %t11
  %t104 = mul nsw i64 1024, %t96
  %t105 = add nsw i64 %t103, %t104
  %t106 = mul nsw i64 32, %t102
  %t107 = add nsw i64 %t105, %t106
  %t108 = getelementptr inbounds float, ptr %t1, i64 %t107
  %t109 = load <32 x float>, ptr %t108, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %26
  %t110 = fmul <32 x float> %t109, %t94  ; %27
  %t111 = add nsw i64 %t104, %t106
  %t112 = getelementptr inbounds float, ptr %t3, i64 %t111
  %t113 = load <32 x float>, ptr %t112, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %28
  %t114 = fmul <32 x float> %t110, %t113  ; %29
  %t115 = getelementptr inbounds float, ptr %t7, i64 %t107
  store <32 x float> %t114, ptr %t115, align 4, !alias.scope !5, !noalias !4
  br label %latch15
latch15:
  %loop14.next = add nuw nsw i64 %t102, 1
  %t116 = icmp slt i64 %loop14.next, %t100
  br i1 %t116, label %loop14, label %done16
done16:
  %t117 = icmp slt i64 %t100, 32
  %t118 = mul nsw i64 32, %t96
  %t119 = add nsw i64 %t118, 32
  %t120 = call i64 @llvm.smin.i64(i64 %t119, i64 %t98)
  %t121 = mul nsw i64 32, %t120
  %t122 = icmp slt i64 %t121, %t11
  %t123 = and i1 %t117, %t122
  br i1 %t123, label %then17, label %join18
then17:
  %t124 = mul nsw i64 %t13, %t11
  %t125 = add nsw i64 %t124, %t121
  %t126 = getelementptr inbounds float, ptr %t1, i64 %t125
  %t127 = mul nsw i64 -32, %t120
  %t128 = add nsw i64 %t11, %t127
  %t129 = call i64 @llvm.smin.i64(i64 32, i64 %t128)
  %t130 = call i64 @llvm.smax.i64(i64 %t129, i64 0)
  %t131 = trunc i64 %t130 to i32
  %t132 = insertelement <32 x i32> poison, i32 %t131, i64 0
  %t133 = shufflevector <32 x i32> %t132, <32 x i32> poison, <32 x i32> zeroinitializer
  %t134 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t133
  %t135 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t126, i32 4, <32 x i1> %t134, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %22
  %t136 = fmul <32 x float> %t135, %t94  ; %23
  %t137 = getelementptr inbounds float, ptr %t3, i64 %t121
  %t138 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t137, i32 4, <32 x i1> %t134, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %24
  %t139 = fmul <32 x float> %t136, %t138  ; %25
  %t140 = getelementptr inbounds float, ptr %t7, i64 %t125
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t139, ptr %t140, i32 4, <32 x i1> %t134), !alias.scope !5, !noalias !4
  br label %join18
join18:
  br label %latch12
latch12:
  %loop11.next = add nuw nsw i64 %t96, 1
  %t141 = icmp slt i64 %loop11.next, %t15
  br i1 %t141, label %loop11, label %done13
done13:
  %t142 = getelementptr inbounds float, ptr %t5, i64 %t13
  store float %t92, ptr %t142, align 4, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t13, 1
  %t143 = icmp slt i64 %loop0.next, %end
  br i1 %t143, label %loop0, label %done2
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
