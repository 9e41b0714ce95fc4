define void @softmax_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind "probe-stack"="inline-asm" {
entry:
  %variable0 = alloca <32 x float>
  %stack2 = alloca [16384 x float], align 64
  %variable1 = alloca <32 x double>
  %variable4 = alloca <32 x float>
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
  store <32 x float> splat (float 0xFFF0000000000000), ptr %variable0
  store <32 x double> splat (double 0x0000000000000000), ptr %variable1
  %t10 = add nsw i64 %t7, 1023
  %t11 = ashr i64 %t10, 10
  %t12 = icmp slt i64 0, %t11
  br i1 %t12, label %loop3, label %done5
loop3:
  %t13 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
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
  %t27 = load <32 x float>, ptr %variable0
  %t28 = fcmp ugt <32 x float> %t27, %t26
  %t29 = fcmp uno <32 x float> %t26, %t26
  %t30 = select <32 x i1> %t28, <32 x float> %t27, <32 x float> %t26
  %t31 = select <32 x i1> %t29, <32 x float> %t26, <32 x float> %t30  ; %28
  store <32 x float> %t31, ptr %variable0
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t19, 1
  %t32 = icmp slt i64 %loop6.next, %t17
  br i1 %t32, label %loop6, label %done8
done8:
  %t33 = icmp slt i64 %t17, 32
  %t34 = mul nsw i64 32, %t13
  %t35 = add nsw i64 %t34, 32
  %t36 = call i64 @llvm.smin.i64(i64 %t35, i64 %t15)
  %t37 = mul nsw i64 32, %t36
  %t38 = icmp slt i64 %t37, %t7
  %t39 = and i1 %t33, %t38
  br i1 %t39, label %then9, label %join10
then9:
  %t40 = mul nsw i64 %t9, %t7
  %t41 = add nsw i64 %t40, %t37
  %t42 = getelementptr inbounds float, ptr %t1, i64 %t41
  %t43 = mul nsw i64 -32, %t36
  %t44 = add nsw i64 %t7, %t43
  %t45 = call i64 @llvm.smin.i64(i64 32, i64 %t44)
  %t46 = call i64 @llvm.smax.i64(i64 %t45, i64 0)
  %t47 = trunc i64 %t46 to i32
  %t48 = insertelement <32 x i32> poison, i32 %t47, i64 0
  %t49 = shufflevector <32 x i32> %t48, <32 x i32> poison, <32 x i32> zeroinitializer
  %t50 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t49
  %t51 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t42, i32 4, <32 x i1> %t50, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %13
  %t52 = load <32 x float>, ptr %variable0
  %t53 = fcmp ugt <32 x float> %t52, %t51
  %t54 = fcmp uno <32 x float> %t51, %t51
  %t55 = select <32 x i1> %t53, <32 x float> %t52, <32 x float> %t51
  %t56 = select <32 x i1> %t54, <32 x float> %t51, <32 x float> %t55  ; %29
  %t57 = insertelement <32 x i64> poison, i64 0, i64 0
  %t58 = shufflevector <32 x i64> %t57, <32 x i64> poison, <32 x i32> zeroinitializer
  %t59 = add <32 x i64> %t58, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>  ; %30
  %t60 = insertelement <32 x i64> poison, i64 %t45, i64 0
  %t61 = shufflevector <32 x i64> %t60, <32 x i64> poison, <32 x i32> zeroinitializer  ; %31
  %t62 = icmp slt <32 x i64> %t59, %t61  ; %32
  %t63 = load <32 x float>, ptr %variable0
  %t64 = select <32 x i1> %t62, <32 x float> %t56, <32 x float> %t63  ; %33
  store <32 x float> %t64, ptr %variable0
  br label %join10
join10:
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t13, 1
  %t65 = icmp slt i64 %loop3.next, %t11
  br i1 %t65, label %loop3, label %done5
done5:
  %t66 = load <32 x float>, ptr %variable0
  %t67 = shufflevector <32 x float> %t66, <32 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %34
  %t68 = load <32 x float>, ptr %variable0
  %t69 = shufflevector <32 x float> %t68, <32 x float> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>  ; %35
  %t70 = fcmp ugt <16 x float> %t67, %t69
  %t71 = fcmp uno <16 x float> %t69, %t69
  %t72 = select <16 x i1> %t70, <16 x float> %t67, <16 x float> %t69
  %t73 = select <16 x i1> %t71, <16 x float> %t69, <16 x float> %t72  ; %36
  %t74 = shufflevector <16 x float> %t73, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %37
  %t75 = shufflevector <16 x float> %t73, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %38
  %t76 = fcmp ugt <8 x float> %t74, %t75
  %t77 = fcmp uno <8 x float> %t75, %t75
  %t78 = select <8 x i1> %t76, <8 x float> %t74, <8 x float> %t75
  %t79 = select <8 x i1> %t77, <8 x float> %t75, <8 x float> %t78  ; %39
  %t80 = shufflevector <8 x float> %t79, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %40
  %t81 = shufflevector <8 x float> %t79, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %41
  %t82 = fcmp ugt <4 x float> %t80, %t81
  %t83 = fcmp uno <4 x float> %t81, %t81
  %t84 = select <4 x i1> %t82, <4 x float> %t80, <4 x float> %t81
  %t85 = select <4 x i1> %t83, <4 x float> %t81, <4 x float> %t84  ; %42
  %t86 = shufflevector <4 x float> %t85, <4 x float> poison, <2 x i32> <i32 0, i32 1>  ; %43
  %t87 = shufflevector <4 x float> %t85, <4 x float> poison, <2 x i32> <i32 2, i32 3>  ; %44
  %t88 = fcmp ugt <2 x float> %t86, %t87
  %t89 = fcmp uno <2 x float> %t87, %t87
  %t90 = select <2 x i1> %t88, <2 x float> %t86, <2 x float> %t87
  %t91 = select <2 x i1> %t89, <2 x float> %t87, <2 x float> %t90  ; %45
  %t92 = extractelement <2 x float> %t91, i64 0  ; %46
  %t93 = extractelement <2 x float> %t91, i64 1  ; %47
  %t94 = fcmp ugt float %t92, %t93
  %t95 = fcmp uno float %t93, %t93
  %t96 = select i1 %t94, float %t92, float %t93
  %t97 = select i1 %t95, float %t93, float %t96  ; %48
  %t98 = insertelement <32 x float> poison, float %t97, i64 0
  %t99 = shufflevector <32 x float> %t98, <32 x float> poison, <32 x i32> zeroinitializer  ; %25
  %t100 = icmp slt i64 0, %t11
  br i1 %t100, label %loop11, label %done13
loop11:
  %t101 = phi i64 [ 0, %done5 ], [ %loop11.next, %latch12 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable4
  %t102 = mul nsw i64 -32, %t101
  %t103 = ashr i64 %t7, 5
  %t104 = add nsw i64 %t102, %t103
  %t105 = call i64 @llvm.smin.i64(i64 32, i64 %t104)
  %t106 = icmp slt i64 0, %t105
  br i1 %t106, label %loop14, label %done16
loop14:
  %t107 = phi i64 [ 0, %loop11 ], [ %loop14.next, %latch15 ]
  %t108 = mul nsw i64 %t9, %t7
  %t109 = mul nsw i64 1024, %t101
  %t110 = add nsw i64 %t108, %t109
  %t111 = mul nsw i64 32, %t107
  %t112 = add nsw i64 %t110, %t111
  %t113 = getelementptr inbounds float, ptr %t1, i64 %t112
  %t114 = load <32 x float>, ptr %t113, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %18
  %t115 = fsub <32 x float> %t114, %t99  ; %19
  %t116 = call <32 x float> @plait.exp.v32f32(<32 x float> %t115)  ; %20
  %t117 = add nsw i64 %t109, %t111
  %t118 = getelementptr inbounds float, ptr %stack2, i64 %t117
  store <32 x float> %t116, ptr %t118, align 64, !alias.scope !5, !noalias !4
  %t119 = load <32 x float>, ptr %variable4
  %t120 = fadd <32 x float> %t119, %t116  ; %49
  store <32 x float> %t120, ptr %variable4
  br label %latch15
latch15:
  %loop14.next = add nuw nsw i64 %t107, 1
  %t121 = icmp slt i64 %loop14.next, %t105
  br i1 %t121, label %loop14, label %done16
done16:
  %t122 = icmp slt i64 %t105, 32
  %t123 = mul nsw i64 32, %t101
  %t124 = add nsw i64 %t123, 32
  %t125 = call i64 @llvm.smin.i64(i64 %t124, i64 %t103)
  %t126 = mul nsw i64 32, %t125
  %t127 = icmp slt i64 %t126, %t7
  %t128 = and i1 %t122, %t127
  br i1 %t128, label %then17, label %join18
then17:
  %t129 = mul nsw i64 %t9, %t7
  %t130 = add nsw i64 %t129, %t126
  %t131 = getelementptr inbounds float, ptr %t1, i64 %t130
  %t132 = mul nsw i64 -32, %t125
  %t133 = add nsw i64 %t7, %t132
  %t134 = call i64 @llvm.smin.i64(i64 32, i64 %t133)
  %t135 = call i64 @llvm.smax.i64(i64 %t134, i64 0)
  %t136 = trunc i64 %t135 to i32
  %t137 = insertelement <32 x i32> poison, i32 %t136, i64 0
  %t138 = shufflevector <32 x i32> %t137, <32 x i32> poison, <32 x i32> zeroinitializer
  %t139 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t138
  %t140 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t131, i32 4, <32 x i1> %t139, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %15
  %t141 = fsub <32 x float> %t140, %t99  ; %16
  %t142 = call <32 x float> @plait.exp.v32f32(<32 x float> %t141)  ; %17
  %t143 = getelementptr inbounds float, ptr %stack2, i64 %t126
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t142, ptr %t143, i32 64, <32 x i1> %t139), !alias.scope !5, !noalias !4
  %t144 = load <32 x float>, ptr %variable4
  %t145 = fadd <32 x float> %t144, %t142  ; %50
  %t146 = insertelement <32 x i64> poison, i64 0, i64 0
  %t147 = shufflevector <32 x i64> %t146, <32 x i64> poison, <32 x i32> zeroinitializer
  %t148 = add <32 x i64> %t147, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>  ; %51
  %t149 = insertelement <32 x i64> poison, i64 %t134, i64 0
  %t150 = shufflevector <32 x i64> %t149, <32 x i64> poison, <32 x i32> zeroinitializer  ; %52
  %t151 = icmp slt <32 x i64> %t148, %t150  ; %53
  %t152 = load <32 x float>, ptr %variable4
  %t153 = select <32 x i1> %t151, <32 x float> %t145, <32 x float> %t152  ; %54
  store <32 x float> %t153, ptr %variable4
  br label %join18
join18:
  %t154 = load <32 x float>, ptr %variable4
  %t155 = fpext <32 x float> %t154 to <32 x double>  ; %8
  %t156 = load <32 x double>, ptr %variable1
  %t157 = fadd <32 x double> %t156, %t155  ; %55
  store <32 x double> %t157, ptr %variable1
  br label %latch12
latch12:
  %loop11.next = add nuw nsw i64 %t101, 1
  %t158 = icmp slt i64 %loop11.next, %t11
  br i1 %t158, label %loop11, label %done13
done13:
  %t159 = load <32 x double>, ptr %variable1
  %t160 = shufflevector <32 x double> %t159, <32 x double> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %56
  %t161 = load <32 x double>, ptr %variable1
  %t162 = shufflevector <32 x double> %t161, <32 x double> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>  ; %57
  %t163 = fadd <16 x double> %t160, %t162  ; %58
  %t164 = shufflevector <16 x double> %t163, <16 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %59
  %t165 = shufflevector <16 x double> %t163, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %60
  %t166 = fadd <8 x double> %t164, %t165  ; %61
  %t167 = shufflevector <8 x double> %t166, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %62
  %t168 = shufflevector <8 x double> %t166, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %63
  %t169 = fadd <4 x double> %t167, %t168  ; %64
  %t170 = shufflevector <4 x double> %t169, <4 x double> poison, <2 x i32> <i32 0, i32 1>  ; %65
  %t171 = shufflevector <4 x double> %t169, <4 x double> poison, <2 x i32> <i32 2, i32 3>  ; %66
  %t172 = fadd <2 x double> %t170, %t171  ; %67
  %t173 = extractelement <2 x double> %t172, i64 0  ; %68
  %t174 = extractelement <2 x double> %t172, i64 1  ; %69
  %t175 = fadd double %t173, %t174  ; %70
  %t176 = fptrunc double %t175 to float  ; %10
  %t177 = insertelement <32 x float> poison, float %t176, i64 0
  %t178 = shufflevector <32 x float> %t177, <32 x float> poison, <32 x i32> zeroinitializer  ; %27
  %t179 = icmp slt i64 0, %t11
  br i1 %t179, label %loop19, label %done21
loop19:
  %t180 = phi i64 [ 0, %done13 ], [ %loop19.next, %latch20 ]
  %t181 = mul nsw i64 -32, %t180
  %t182 = ashr i64 %t7, 5
  %t183 = add nsw i64 %t181, %t182
  %t184 = call i64 @llvm.smin.i64(i64 32, i64 %t183)
  %t185 = icmp slt i64 0, %t184
  br i1 %t185, label %loop22, label %done24
loop22:
  %t186 = phi i64 [ 0, %loop19 ], [ %loop22.next, %latch23 ]
  %t187 = mul nsw i64 1024, %t180
  %t188 = mul nsw i64 32, %t186
  %t189 = add nsw i64 %t187, %t188
  %t190 = getelementptr inbounds float, ptr %stack2, i64 %t189
  %t191 = load <32 x float>, ptr %t190, align 64, !alias.scope !5, !noalias !4  ; %23
  %t192 = fdiv <32 x float> %t191, %t178  ; %24
  %t193 = mul nsw i64 %t9, %t7
  %t194 = add nsw i64 %t193, %t187
  %t195 = add nsw i64 %t194, %t188
  %t196 = getelementptr inbounds float, ptr %t3, i64 %t195
  store <32 x float> %t192, ptr %t196, align 4, !alias.scope !5, !noalias !4
  br label %latch23
latch23:
  %loop22.next = add nuw nsw i64 %t186, 1
  %t197 = icmp slt i64 %loop22.next, %t184
  br i1 %t197, label %loop22, label %done24
done24:
  %t198 = icmp slt i64 %t184, 32
  %t199 = mul nsw i64 32, %t180
  %t200 = add nsw i64 %t199, 32
  %t201 = call i64 @llvm.smin.i64(i64 %t200, i64 %t182)
  %t202 = mul nsw i64 32, %t201
  %t203 = icmp slt i64 %t202, %t7
  %t204 = and i1 %t198, %t203
  br i1 %t204, label %then25, label %join26
then25:
  %t205 = getelementptr inbounds float, ptr %stack2, i64 %t202
  %t206 = mul nsw i64 -32, %t201
  %t207 = add nsw i64 %t7, %t206
  %t208 = call i64 @llvm.smin.i64(i64 32, i64 %t207)
  %t209 = call i64 @llvm.smax.i64(i64 %t208, i64 0)
  %t210 = trunc i64 %t209 to i32
  %t211 = insertelement <32 x i32> poison, i32 %t210, i64 0
  %t212 = shufflevector <32 x i32> %t211, <32 x i32> poison, <32 x i32> zeroinitializer
  %t213 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t212
  %t214 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t205, i32 64, <32 x i1> %t213, <32 x float> splat (float 0x0000000000000000)), !alias.scope !5, !noalias !4  ; %21
  %t215 = fdiv <32 x float> %t214, %t178  ; %22
  %t216 = mul nsw i64 %t9, %t7
  %t217 = add nsw i64 %t216, %t202
  %t218 = getelementptr inbounds float, ptr %t3, i64 %t217
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t215, ptr %t218, i32 4, <32 x i1> %t213), !alias.scope !5, !noalias !4
  br label %join26
join26:
  br label %latch20
latch20:
  %loop19.next = add nuw nsw i64 %t180, 1
  %t219 = icmp slt i64 %loop19.next, %t11
  br i1 %t219, label %loop19, label %done21
done21:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t9, 1
  %t220 = icmp slt i64 %loop0.next, %end
  br i1 %t220, label %loop0, label %done2
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

declare <32 x float> @llvm.fma.v32f32(<32 x float>, <32 x float>, <32 x float>)
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
