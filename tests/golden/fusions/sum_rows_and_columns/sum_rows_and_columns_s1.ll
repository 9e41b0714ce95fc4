define void @sum_rows_and_columns_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind "probe-stack"="inline-asm" {
entry:
  %stack4 = alloca [8192 x float], align 64
  %variable1 = alloca <32 x double>
  %variable2 = alloca <32 x float>
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
  %t14 = add nsw i64 %t11, 1023
  %t15 = ashr i64 %t14, 10
  %t16 = icmp slt i64 0, %t15
  br i1 %t16, label %loop3, label %done5
loop3:
  %t17 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t18 = mul nsw i64 -32, %t17
  %t19 = ashr i64 %t11, 5
  %t20 = add nsw i64 %t18, %t19
  %t21 = call i64 @llvm.smin.i64(i64 32, i64 %t20)
  %t22 = icmp slt i64 0, %t21
  br i1 %t22, label %loop6, label %done8
loop6:
  %t23 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  %t24 = mul nsw i64 1024, %t17
  %t25 = mul nsw i64 32, %t23
  %t26 = add nsw i64 %t24, %t25
  %t27 = getelementptr inbounds float, ptr %stack4, i64 %t26
  store <32 x float> splat (float 0x0000000000000000), ptr %t27, align 64, !alias.scope !5, !noalias !4
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t23, 1
  %t28 = icmp slt i64 %loop6.next, %t21
  br i1 %t28, label %loop6, label %done8
done8:
  %t29 = icmp slt i64 %t21, 32
  %t30 = mul nsw i64 32, %t17
  %t31 = add nsw i64 %t30, 32
  %t32 = call i64 @llvm.smin.i64(i64 %t31, i64 %t19)
  %t33 = mul nsw i64 32, %t32
  %t34 = icmp slt i64 %t33, %t11
  %t35 = and i1 %t29, %t34
  br i1 %t35, label %then9, label %join10
then9:
  %t36 = getelementptr inbounds float, ptr %stack4, i64 %t33
  %t37 = mul nsw i64 -32, %t32
  %t38 = add nsw i64 %t11, %t37
  %t39 = call i64 @llvm.smin.i64(i64 32, i64 %t38)
  %t40 = call i64 @llvm.smax.i64(i64 %t39, i64 0)
  %t41 = trunc i64 %t40 to i32
  %t42 = insertelement <32 x i32> poison, i32 %t41, i64 0
  %t43 = shufflevector <32 x i32> %t42, <32 x i32> poison, <32 x i32> zeroinitializer
  %t44 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t43
  call void @llvm.masked.store.v32f32.p0(<32 x float> splat (float 0x0000000000000000), ptr %t36, i32 64, <32 x i1> %t44), !alias.scope !5, !noalias !4
  br label %join10
join10:
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t17, 1
  %t45 = icmp slt i64 %loop3.next, %t15
  br i1 %t45, label %loop3, label %done5
done5:
  %t46 = icmp slt i64 0, 64
  br i1 %t46, label %loop11, label %done13
loop11:
  %t47 = phi i64 [ 0, %done5 ], [ %loop11.next, %latch12 ]
  store <32 x double> splat (double 0x0000000000000000), ptr %variable1
  %t48 = mul nsw i64 64, %t13
  %t49 = add nsw i64 %t48, %t47
  %t50 = icmp slt i64 %t49, %t9
  br i1 %t50, label %then14, label %join15
then14:
  %t51 = icmp slt i64 0, %t15
  br i1 %t51, label %loop16, label %done18
loop16:
  %t52 = phi i64 [ 0, %then14 ], [ %loop16.next, %latch17 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable2
  %t53 = mul nsw i64 -32, %t52
  %t54 = ashr i64 %t11, 5
  %t55 = add nsw i64 %t53, %t54
  %t56 = call i64 @llvm.smin.i64(i64 32, i64 %t55)
  %t57 = icmp slt i64 0, %t56
  br i1 %t57, label %loop19, label %done21
loop19:
  %t58 = phi i64 [ 0, %loop16 ], [ %loop19.next, %latch20 ]
  %t59 = mul nsw i64 64, %t13
  %t60 = mul nsw i64 %t59, %t11
  %t61 = mul nsw i64 %t47, %t11
  %t62 = add nsw i64 %t60, %t61
  %t63 = mul nsw i64 1024, %t52
  %t64 = add nsw i64 %t62, %t63
  %t65 = mul nsw i64 32, %t58
  %t66 = add nsw i64 %t64, %t65
  %t67 = getelementptr inbounds float, ptr %t1, i64 %t66
  %t68 = load <32 x float>, ptr %t67, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %22
  %t69 = load <32 x float>, ptr %variable2
  %t70 = fadd <32 x float> %t69, %t68  ; %35
  store <32 x float> %t70, ptr %variable2
  %t71 = add nsw i64 %t63, %t65
  %t72 = getelementptr inbounds float, ptr %stack4, i64 %t71
  %t73 = load <32 x float>, ptr %t72, align 64, !alias.scope !5, !noalias !4  ; %23
  %t74 = fadd <32 x float> %t73, %t68  ; %25
  %t75 = getelementptr inbounds float, ptr %stack4, i64 %t71
  store <32 x float> %t74, ptr %t75, align 64, !alias.scope !5, !noalias !4
  br label %latch20
latch20:
  %loop19.next = add nuw nsw i64 %t58, 1
  %t76 = icmp slt i64 %loop19.next, %t56
  br i1 %t76, label %loop19, label %done21
done21:
  %t77 = icmp slt i64 %t56, 32
  %t78 = mul nsw i64 32, %t52
  %t79 = add nsw i64 %t78, 32
  %t80 = call i64 @llvm.smin.i64(i64 %t79, i64 %t54)
  %t81 = mul nsw i64 32, %t80
  %t82 = icmp slt i64 %t81, %t11
  %t83 = and i1 %t77, %t82
  br i1 %t83, label %then22, label %join23
then22:
  %t84 = mul nsw i64 64, %t13
  %t85 = mul nsw i64 %t84, %t11
  %t86 = mul nsw i64 %t47, %t11
  %t87 = add nsw i64 %t85, %t86
  %t88 = add nsw i64 %t87, %t81
  %t89 = getelementptr inbounds float, ptr %t1, i64 %t88
  %t90 = mul nsw i64 -32, %t80
  %t91 = add nsw i64 %t11, %t90
  %t92 = call i64 @llvm.smin.i64(i64 32, i64 %t91)
  %t93 = call i64 @llvm.smax.i64(i64 %t92, i64 0)
  %t94 = trunc i64 %t93 to i32
  %t95 = insertelement <32 x i32> poison, i32 %t94, i64 0
  %t96 = shufflevector <32 x i32> %t95, <32 x i32> poison, <32 x i32> zeroinitializer
  %t97 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t96
  %t98 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t89, i32 4, <32 x i1> %t97, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %18
  %t99 = load <32 x float>, ptr %variable2
  %t100 = fadd <32 x float> %t99, %t98  ; %36
  %t101 = insertelement <32 x i64> poison, i64 0, i64 0
  %t102 = shufflevector <32 x i64> %t101, <32 x i64> poison, <32 x i32> zeroinitializer
  %t103 = add <32 x i64> %t102, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>  ; %37
  %t104 = insertelement <32 x i64> poison, i64 %t92, i64 0
  %t105 = shufflevector <32 x i64> %t104, <32 x i64> poison, <32 x i32> zeroinitializer  ; %38
  %t106 = icmp slt <32 x i64> %t103, %t105  ; %39
  %t107 = load <32 x float>, ptr %variable2
  %t108 = select <32 x i1> %t106, <32 x float> %t100, <32 x float> %t107  ; %40
  store <32 x float> %t108, ptr %variable2
  %t109 = getelementptr inbounds float, ptr %stack4, i64 %t81
  %t110 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t109, i32 64, <32 x i1> %t97, <32 x float> splat (float 0x0000000000000000)), !alias.scope !5, !noalias !4  ; %19
  %t111 = fadd <32 x float> %t110, %t98  ; %21
  %t112 = getelementptr inbounds float, ptr %stack4, i64 %t81
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t111, ptr %t112, i32 64, <32 x i1> %t97), !alias.scope !5, !noalias !4
  br label %join23
join23:
  %t113 = load <32 x float>, ptr %variable2
  %t114 = fpext <32 x float> %t113 to <32 x double>  ; %7
  %t115 = load <32 x double>, ptr %variable1
  %t116 = fadd <32 x double> %t115, %t114  ; %41
  store <32 x double> %t116, ptr %variable1
  br label %latch17
latch17:
  %loop16.next = add nuw nsw i64 %t52, 1
  %t117 = icmp slt i64 %loop16.next, %t15
  br i1 %t117, label %loop16, label %done18
done18:
  %t118 = load <32 x double>, ptr %variable1
  %t119 = shufflevector <32 x double> %t118, <32 x double> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %42
  %t120 = load <32 x double>, ptr %variable1
  %t121 = shufflevector <32 x double> %t120, <32 x double> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>  ; %43
  %t122 = fadd <16 x double> %t119, %t121  ; %44
  %t123 = shufflevector <16 x double> %t122, <16 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %45
  %t124 = shufflevector <16 x double> %t122, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %46
  %t125 = fadd <8 x double> %t123, %t124  ; %47
  %t126 = shufflevector <8 x double> %t125, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %48
  %t127 = shufflevector <8 x double> %t125, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %49
  %t128 = fadd <4 x double> %t126, %t127  ; %50
  %t129 = shufflevector <4 x double> %t128, <4 x double> poison, <2 x i32> <i32 0, i32 1>  ; %51
  %t130 = shufflevector <4 x double> %t128, <4 x double> poison, <2 x i32> <i32 2, i32 3>  ; %52
  %t131 = fadd <2 x double> %t129, %t130  ; %53
  %t132 = extractelement <2 x double> %t131, i64 0  ; %54
  %t133 = extractelement <2 x double> %t131, i64 1  ; %55
  %t134 = fadd double %t132, %t133  ; %56
  %t135 = fptrunc double %t134 to float  ; %9
  %t136 = getelementptr inbounds float, ptr %t3, i64 %t49
  store float %t135, ptr %t136, align 4, !alias.scope !5, !noalias !4
  br label %join15
join15:
  br label %latch12
latch12:
  %loop11.next = add nuw nsw i64 %t47, 1
  %t137 = icmp slt i64 %loop11.next, 64
  br i1 %t137, label %loop11, label %done13
done13:
  %t138 = icmp slt i64 0, %t15
  br i1 %t138, label %loop24, label %done26
loop24:
  %t139 = phi i64 [ 0, %done13 ], [ %loop24.next, %latch25 ]
  %t140 = mul nsw i64 -32, %t139
  %t141 = ashr i64 %t11, 5
  %t142 = add nsw i64 %t140, %t141
  %t143 = call i64 @llvm.smin.i64(i64 32, i64 %t142)
  %t144 = icmp slt i64 0, %t143
  br i1 %t144, label %loop27, label %done29
loop27:
  %t145 = phi i64 [ 0, %loop24 ], [ %loop27.next, %latch28 ]
  %t146 = mul nsw i64 1024, %t139
  %t147 = mul nsw i64 32, %t145
  %t148 = add nsw i64 %t146, %t147
  %t149 = getelementptr inbounds float, ptr %stack4, i64 %t148
  %t150 = load <32 x float>, ptr %t149, align 64, !alias.scope !5, !noalias !4  ; %27
  %t151 = mul nsw i64 1024, %t13
  %t152 = mul nsw i64 %t151, %t15
  %t153 = add nsw i64 %t152, %t146
  %t154 = add nsw i64 %t153, %t147
  %t155 = getelementptr inbounds float, ptr %t7, i64 %t154
  store <32 x float> %t150, ptr %t155, align 64, !alias.scope !5, !noalias !4
  br label %latch28
latch28:
  %loop27.next = add nuw nsw i64 %t145, 1
  %t156 = icmp slt i64 %loop27.next, %t143
  br i1 %t156, label %loop27, label %done29
done29:
  %t157 = icmp slt i64 %t143, 32
  %t158 = mul nsw i64 32, %t139
  %t159 = add nsw i64 %t158, 32
  %t160 = call i64 @llvm.smin.i64(i64 %t159, i64 %t141)
  %t161 = mul nsw i64 32, %t160
  %t162 = icmp slt i64 %t161, %t11
  %t163 = and i1 %t157, %t162
  br i1 %t163, label %then30, label %join31
then30:
  %t164 = getelementptr inbounds float, ptr %stack4, i64 %t161
  %t165 = mul nsw i64 -32, %t160
  %t166 = add nsw i64 %t11, %t165
  %t167 = call i64 @llvm.smin.i64(i64 32, i64 %t166)
  %t168 = call i64 @llvm.smax.i64(i64 %t167, i64 0)
  %t169 = trunc i64 %t168 to i32
  %t170 = insertelement <32 x i32> poison, i32 %t169, i64 0
  %t171 = shufflevector <32 x i32> %t170, <32 x i32> poison, <32 x i32> zeroinitializer
  %t172 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t171
  %t173 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t164, i32 64, <32 x i1> %t172, <32 x float> splat (float 0x0000000000000000)), !alias.scope !5, !noalias !4  ; %26
  %t174 = mul nsw i64 1024, %t13
  %t175 = mul nsw i64 %t174, %t15
  %t176 = add nsw i64 %t175, %t161
  %t177 = getelementptr inbounds float, ptr %t7, i64 %t176
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t173, ptr %t177, i32 64, <32 x i1> %t172), !alias.scope !5, !noalias !4
  br label %join31
join31:
  br label %latch25
latch25:
  %loop24.next = add nuw nsw i64 %t139, 1
  %t178 = icmp slt i64 %loop24.next, %t15
  br i1 %t178, label %loop24, label %done26
done26:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t13, 1
  %t179 = icmp slt i64 %loop0.next, %end
  br i1 %t179, label %loop0, label %done2
done2:
  ret void
}
define void @sum_rows_and_columns_s1_phase1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable11 = alloca <32 x double>
  %variable30 = alloca <32 x double>
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
  %t14 = insertelement <32 x i64> poison, i64 0, i64 0
  %t15 = shufflevector <32 x i64> %t14, <32 x i64> poison, <32 x i32> zeroinitializer
  %t16 = add <32 x i64> %t15, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>  ; %31
  %t17 = icmp slt i64 0, 32
  br i1 %t17, label %loop3, label %done5
loop3:
  %t18 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <32 x double> splat (double 0x0000000000000000), ptr %variable11
  %t19 = mul nsw i64 1024, %t13
  %t20 = mul nsw i64 32, %t18
  %t21 = add nsw i64 %t19, %t20
  %t22 = icmp slt i64 %t21, %t11
  br i1 %t22, label %then6, label %join7
then6:
  %t23 = mul nsw i64 -1024, %t13
  %t24 = mul nsw i64 -32, %t18
  %t25 = add nsw i64 %t23, %t24
  %t26 = add nsw i64 %t25, %t11
  %t27 = call i64 @llvm.smin.i64(i64 32, i64 %t26)
  %t28 = insertelement <32 x i64> poison, i64 %t27, i64 0
  %t29 = shufflevector <32 x i64> %t28, <32 x i64> poison, <32 x i32> zeroinitializer  ; %32
  %t30 = icmp slt <32 x i64> %t16, %t29  ; %33
  %t31 = add nsw i64 %t9, 63
  %t32 = ashr i64 %t31, 6
  %t33 = icmp slt i64 0, %t32
  br i1 %t33, label %loop8, label %done10
loop8:
  %t34 = phi i64 [ 0, %then6 ], [ %loop8.next, %latch9 ]
  %t35 = mul nsw i64 1024, %t34
  %t36 = add nsw i64 %t11, 1023
  %t37 = ashr i64 %t36, 10
  %t38 = mul nsw i64 %t35, %t37
  %t39 = add nsw i64 %t38, %t19
  %t40 = add nsw i64 %t39, %t20
  %t41 = getelementptr inbounds float, ptr %t7, i64 %t40
  %t42 = call i64 @llvm.smax.i64(i64 %t27, i64 0)
  %t43 = trunc i64 %t42 to i32
  %t44 = insertelement <32 x i32> poison, i32 %t43, i64 0
  %t45 = shufflevector <32 x i32> %t44, <32 x i32> poison, <32 x i32> zeroinitializer
  %t46 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t45
  %t47 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t41, i32 64, <32 x i1> %t46, <32 x float> splat (float 0x0000000000000000)), !alias.scope !5, !noalias !4  ; %12
  %t48 = fpext <32 x float> %t47 to <32 x double>  ; %13
  store <32 x double> splat (double 0x0000000000000000), ptr %variable30
  %t49 = load <32 x double>, ptr %variable30
  %t50 = select <32 x i1> %t30, <32 x double> %t48, <32 x double> %t49  ; %34
  %t51 = load <32 x double>, ptr %variable11
  %t52 = fadd <32 x double> %t51, %t50  ; %57
  store <32 x double> %t52, ptr %variable11
  br label %latch9
latch9:
  %loop8.next = add nuw nsw i64 %t34, 1
  %t53 = icmp slt i64 %loop8.next, %t32
  br i1 %t53, label %loop8, label %done10
done10:
  %t54 = load <32 x double>, ptr %variable11  ; %14
  %t55 = fptrunc <32 x double> %t54 to <32 x float>  ; %15
  %t56 = getelementptr inbounds float, ptr %t5, i64 %t21
  %t57 = call i64 @llvm.smax.i64(i64 %t27, i64 0)
  %t58 = trunc i64 %t57 to i32
  %t59 = insertelement <32 x i32> poison, i32 %t58, i64 0
  %t60 = shufflevector <32 x i32> %t59, <32 x i32> poison, <32 x i32> zeroinitializer
  %t61 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t60
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t55, ptr %t56, i32 4, <32 x i1> %t61), !alias.scope !5, !noalias !4
  br label %join7
join7:
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t18, 1
  %t62 = icmp slt i64 %loop3.next, 32
  br i1 %t62, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t13, 1
  %t63 = icmp slt i64 %loop0.next, %end
  br i1 %t63, label %loop0, label %done2
done2:
  ret void
}

declare <32 x float> @llvm.masked.load.v32f32.p0(ptr, i32 immarg, <32 x i1>, <32 x float>)
declare void @llvm.masked.store.v32f32.p0(<32 x float>, ptr, i32 immarg, <32 x i1>)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
