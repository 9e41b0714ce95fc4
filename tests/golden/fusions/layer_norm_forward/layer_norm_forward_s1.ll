define void @layer_norm_forward_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <32 x double>
  %variable1 = alloca <32 x double>
  %variable2 = alloca <32 x float>
  %variable10 = alloca <32 x float>
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds ptr, ptr %buffers, i64 2
  %t5 = load ptr, ptr %t4, align 8, !invariant.load !0
  %t6 = getelementptr inbounds ptr, ptr %buffers, i64 3
  %t7 = load ptr, ptr %t6, align 8, !invariant.load !0
  %t8 = getelementptr inbounds ptr, ptr %buffers, i64 4
  %t9 = load ptr, ptr %t8, align 8, !invariant.load !0
  %t10 = getelementptr inbounds ptr, ptr %buffers, i64 5
  %t11 = load ptr, ptr %t10, align 8, !invariant.load !0
  %t12 = getelementptr inbounds i64, ptr %integers, i64 0
  %t13 = load i64, ptr %t12, align 8, !invariant.load !0
  %t14 = getelementptr inbounds i64, ptr %integers, i64 1
  %t15 = load i64, ptr %t14, align 8, !invariant.load !0
  %t16 = icmp slt i64 %begin, %end
  br i1 %t16, label %loop0, label %done2
loop0:
  %t17 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  store <32 x double> splat (double 0x0000000000000000), ptr %variable0
  store <32 x double> splat (double 0x0000000000000000), ptr %variable1
  %t18 = add nsw i64 %t15, 1023
  %t19 = ashr i64 %t18, 10
  %t20 = icmp slt i64 0, %t19
  br i1 %t20, label %loop3, label %done5
loop3:
  %t21 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable2
  %t22 = mul nsw i64 -32, %t21
  %t23 = ashr i64 %t15, 5
  %t24 = add nsw i64 %t22, %t23
  %t25 = call i64 @llvm.smin.i64(i64 32, i64 %t24)
  %t26 = icmp slt i64 0, %t25
  br i1 %t26, label %loop6, label %done8
loop6:
  %t27 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  %t28 = mul nsw i64 %t17, %t15
  %t29 = mul nsw i64 1024, %t21
  %t30 = add nsw i64 %t28, %t29
  %t31 = mul nsw i64 32, %t27
  %t32 = add nsw i64 %t30, %t31
  %t33 = getelementptr inbounds float, ptr %t1, i64 %t32
  %t34 = load <32 x float>, ptr %t33, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %32
  %t35 = load <32 x float>, ptr %variable2
  %t36 = fadd <32 x float> %t35, %t34  ; %57
  store <32 x float> %t36, ptr %variable2
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t27, 1
  %t37 = icmp slt i64 %loop6.next, %t25
  br i1 %t37, label %loop6, label %done8
done8:
  %t38 = icmp slt i64 %t25, 32
  %t39 = mul nsw i64 32, %t21
  %t40 = add nsw i64 %t39, 32
  %t41 = call i64 @llvm.smin.i64(i64 %t40, i64 %t23)
  %t42 = mul nsw i64 32, %t41
  %t43 = icmp slt i64 %t42, %t15
  %t44 = and i1 %t38, %t43
  br i1 %t44, label %then9, label %join10
then9:
  %t45 = mul nsw i64 %t17, %t15
  %t46 = add nsw i64 %t45, %t42
  %t47 = getelementptr inbounds float, ptr %t1, i64 %t46
  %t48 = mul nsw i64 -32, %t41
  %t49 = add nsw i64 %t15, %t48
  %t50 = call i64 @llvm.smin.i64(i64 32, i64 %t49)
  %t51 = call i64 @llvm.smax.i64(i64 %t50, i64 0)
  %t52 = trunc i64 %t51 to i32
  %t53 = insertelement <32 x i32> poison, i32 %t52, i64 0
  %t54 = shufflevector <32 x i32> %t53, <32 x i32> poison, <32 x i32> zeroinitializer
  %t55 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t54
  %t56 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t47, i32 4, <32 x i1> %t55, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %31
  %t57 = load <32 x float>, ptr %variable2
  %t58 = fadd <32 x float> %t57, %t56  ; %58
  %t59 = insertelement <32 x i64> poison, i64 0, i64 0
  %t60 = shufflevector <32 x i64> %t59, <32 x i64> poison, <32 x i32> zeroinitializer
  %t61 = add <32 x i64> %t60, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>  ; %59
  %t62 = insertelement <32 x i64> poison, i64 %t50, i64 0
  %t63 = shufflevector <32 x i64> %t62, <32 x i64> poison, <32 x i32> zeroinitializer  ; %60
  %t64 = icmp slt <32 x i64> %t61, %t63  ; %61
  %t65 = load <32 x float>, ptr %variable2
  %t66 = select <32 x i1> %t64, <32 x float> %t58, <32 x float> %t65  ; %62
  store <32 x float> %t66, ptr %variable2
  br label %join10
join10:
  %t67 = load <32 x float>, ptr %variable2
  %t68 = fpext <32 x float> %t67 to <32 x double>  ; %4
  %t69 = load <32 x double>, ptr %variable0
  %t70 = fadd <32 x double> %t69, %t68  ; %63
  store <32 x double> %t70, ptr %variable0
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t21, 1
  %t71 = icmp slt i64 %loop3.next, %t19
  br i1 %t71, label %loop3, label %done5
done5:
  %t72 = load <32 x double>, ptr %variable0
  %t73 = shufflevector <32 x double> %t72, <32 x double> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %64
  %t74 = load <32 x double>, ptr %variable0
  %t75 = shufflevector <32 x double> %t74, <32 x double> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>  ; %65
  %t76 = fadd <16 x double> %t73, %t75  ; %66
  %t77 = shufflevector <16 x double> %t76, <16 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %67
  %t78 = shufflevector <16 x double> %t76, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %68
  %t79 = fadd <8 x double> %t77, %t78  ; %69
  %t80 = shufflevector <8 x double> %t79, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %70
  %t81 = shufflevector <8 x double> %t79, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %71
  %t82 = fadd <4 x double> %t80, %t81  ; %72
  %t83 = shufflevector <4 x double> %t82, <4 x double> poison, <2 x i32> <i32 0, i32 1>  ; %73
  %t84 = shufflevector <4 x double> %t82, <4 x double> poison, <2 x i32> <i32 2, i32 3>  ; %74
  %t85 = fadd <2 x double> %t83, %t84  ; %75
  %t86 = extractelement <2 x double> %t85, i64 0  ; %76
  %t87 = extractelement <2 x double> %t85, i64 1  ; %77
  %t88 = fadd double %t86, %t87  ; %78
  %t89 = fptrunc double %t88 to float  ; %6
  %t90 = sitofp i64 %t15 to float  ; %8
  %t91 = fdiv float %t89, %t90  ; %9
  %t92 = getelementptr inbounds float, ptr %t7, i64 %t17
  store float %t91, ptr %t92, align 4, !alias.scope !5, !noalias !4
  %t93 = insertelement <32 x float> poison, float %t91, i64 0
  %t94 = shufflevector <32 x float> %t93, <32 x float> poison, <32 x i32> zeroinitializer  ; %53
  %t95 = icmp slt i64 0, %t19
  br i1 %t95, label %loop11, label %done13
loop11:
  %t96 = phi i64 [ 0, %done5 ], [ %loop11.next, %latch12 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable10
  %t97 = mul nsw i64 -32, %t96
  %t98 = ashr i64 %t15, 5
  %t99 = add nsw i64 %t97, %t98
  %t100 = call i64 @llvm.smin.i64(i64 32, i64 %t99)
  %t101 = icmp slt i64 0, %t100
  br i1 %t101, label %loop14, label %done16
loop14:
  %t102 = phi i64 [ 0, %loop11 ], [ %loop14.next, %latch15 ]
  %t103 = mul nsw i64 %t17, %t15
  %t104 = mul nsw i64 1024, %t96
  %t105 = add nsw i64 %t103, %t104
  %t106 = mul nsw i64 32, %t102
  %t107 = add nsw i64 %t105, %t106
  %t108 = getelementptr inbounds float, ptr %t1, i64 %t107
  %t109 = load <32 x float>, ptr %t108, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %36
  %t110 = fsub <32 x float> %t109, %t94  ; %37
  %t111 = fmul <32 x float> %t110, %t110  ; %38
  %t112 = load <32 x float>, ptr %variable10
  %t113 = fadd <32 x float> %t112, %t111  ; %79
  store <32 x float> %t113, ptr %variable10
  br label %latch15
latch15:
  %loop14.next = add nuw nsw i64 %t102, 1
  %t114 = icmp slt i64 %loop14.next, %t100
  br i1 %t114, label %loop14, label %done16
done16:
  %t115 = icmp slt i64 %t100, 32
  %t116 = mul nsw i64 32, %t96
  %t117 = add nsw i64 %t116, 32
  %t118 = call i64 @llvm.smin.i64(i64 %t117, i64 %t98)
  %t119 = mul nsw i64 32, %t118
  %t120 = icmp slt i64 %t119, %t15
  %t121 = and i1 %t115, %t120
  br i1 %t121, label %then17, label %join18
then17:
  %t122 = mul nsw i64 %t17, %t15
  %t123 = add nsw i64 %t122, %t119
  %t124 = getelementptr inbounds float, ptr %t1, i64 %t123
  %t125 = mul nsw i64 -32, %t118
  %t126 = add nsw i64 %t15, %t125
  %t127 = call i64 @llvm.smin.i64(i64 32, i64 %t126)
  %t128 = call i64 @llvm.smax.i64(i64 %t127, i64 0)
  %t129 = trunc i64 %t128 to i32
  %t130 = insertelement <32 x i32> poison, i32 %t129, i64 0
  %t131 = shufflevector <32 x i32> %t130, <32 x i32> poison, <32 x i32> zeroinitializer
  %t132 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t131
  %t133 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t124, i32 4, <32 x i1> %t132, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %33
  %t134 = fsub <32 x float> %t133, %t94  ; %34
  %t135 = fmul <32 x float> %t134, %t134  ; %35
  %t136 = load <32 x float>, ptr %variable10
  %t137 = fadd <32 x float> %t136, %t135  ; %80
  %t138 = insertelement <32 x i64> poison, i64 0, i64 0
  %t139 = shufflevector <32 x i64> %t138, <32 x i64> poison, <32 x i32> zeroinitializer
  %t140 = add <32 x i64> %t139, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>  ; %81
  %t141 = insertelement <32 x i64> poison, i64 %t127, i64 0
  %t142 = shufflevector <32 x i64> %t141, <32 x i64> poison, <32 x i32> zeroinitializer  ; %82
  %t143 = icmp slt <32 x i64> %t140, %t142  ; %83
  %t144 = load <32 x float>, ptr %variable10
  %t145 = select <32 x i1> %t143, <32 x float> %t137, <32 x float> %t144  ; %84
  store <32 x float> %t145, ptr %variable10
  br label %join18
join18:
  %t146 = load <32 x float>, ptr %variable10
  %t147 = fpext <32 x float> %t146 to <32 x double>  ; %14
  %t148 = load <32 x double>, ptr %variable1
  %t149 = fadd <32 x double> %t148, %t147  ; %85
  store <32 x double> %t149, ptr %variable1
  br label %latch12
latch12:
  %loop11.next = add nuw nsw i64 %t96, 1
  %t150 = icmp slt i64 %loop11.next, %t19
  br i1 %t150, label %loop11, label %done13
done13:
  %t151 = load <32 x double>, ptr %variable1
  %t152 = shufflevector <32 x double> %t151, <32 x double> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %86
  %t153 = load <32 x double>, ptr %variable1
  %t154 = shufflevector <32 x double> %t153, <32 x double> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>  ; %87
  %t155 = fadd <16 x double> %t152, %t154  ; %88
  %t156 = shufflevector <16 x double> %t155, <16 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %89
  %t157 = shufflevector <16 x double> %t155, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %90
  %t158 = fadd <8 x double> %t156, %t157  ; %91
  %t159 = shufflevector <8 x double> %t158, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %92
  %t160 = shufflevector <8 x double> %t158, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %93
  %t161 = fadd <4 x double> %t159, %t160  ; %94
  %t162 = shufflevector <4 x double> %t161, <4 x double> poison, <2 x i32> <i32 0, i32 1>  ; %95
  %t163 = shufflevector <4 x double> %t161, <4 x double> poison, <2 x i32> <i32 2, i32 3>  ; %96
  %t164 = fadd <2 x double> %t162, %t163  ; %97
  %t165 = extractelement <2 x double> %t164, i64 0  ; %98
  %t166 = extractelement <2 x double> %t164, i64 1  ; %99
  %t167 = fadd double %t165, %t166  ; %100
  %t168 = fptrunc double %t167 to float  ; %16
  %t169 = fdiv float %t168, %t90  ; %19
  %t170 = fadd float %t169, 0x3EE4F8B580000000  ; %21
  %t171 = call float @llvm.sqrt.f32(float %t170)  ; %22
  %t172 = fdiv float 0x3FF0000000000000, %t171  ; %23
  %t173 = insertelement <32 x float> poison, float %t172, i64 0
  %t174 = shufflevector <32 x float> %t173, <32 x float> poison, <32 x i32> zeroinitializer  ; %56
  %t175 = icmp slt i64 0, %t19
  br i1 %t175, label %loop19, label %done21
loop19:
  %t176 = phi i64 [ 0, %done13 ], [ %loop19.next, %latch20 ]
  %t177 = mul nsw i64 -32, %t176
  %t178 = ashr i64 %t15, 5
  %t179 = add nsw i64 %t177, %t178
  %t180 = call i64 @llvm.smin.i64(i64 32, i64 %t179)
  %t181 = icmp slt i64 0, %t180
  br i1 %t181, label %loop22, label %done24
loop22:
  %t182 = phi i64 [ 0, %loop19 ], [ %loop22.next, %latch23 ]
  %t183 = mul nsw i64 %t17, %t15
  %t184 = mul nsw i64 1024, %t176
  %t185 = add nsw i64 %t183, %t184
  %t186 = mul nsw i64 32, %t182
  %t187 = add nsw i64 %t185, %t186
  %t188 = getelementptr inbounds float, ptr %t1, i64 %t187
  %t189 = load <32 x float>, ptr %t188, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %46
  %t190 = fsub <32 x float> %t189, %t94  ; %47
  %t191 = fmul <32 x float> %t190, %t174  ; %48
  %t192 = add nsw i64 %t184, %t186
  %t193 = getelementptr inbounds float, ptr %t3, i64 %t192
  %t194 = load <32 x float>, ptr %t193, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %49
  %t195 = fmul <32 x float> %t191, %t194  ; %50
  %t196 = getelementptr inbounds float, ptr %t5, i64 %t192
  %t197 = load <32 x float>, ptr %t196, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %51
  %t198 = fadd <32 x float> %t195, %t197  ; %52
  %t199 = getelementptr inbounds float, ptr %t11, i64 %t187
  store <32 x float> %t198, ptr %t199, align 4, !alias.scope !5, !noalias !4
  br label %latch23
latch23:
  %loop22.next = add nuw nsw i64 %t182, 1
  %t200 = icmp slt i64 %loop22.next, %t180
  br i1 %t200, label %loop22, label %done24
done24:
  %t201 = icmp slt i64 %t180, 32
  %t202 = mul nsw i64 32, %t176
  %t203 = add nsw i64 %t202, 32
  %t204 = call i64 @llvm.smin.i64(i64 %t203, i64 %t178)
  %t205 = mul nsw i64 32, %t204
  %t206 = icmp slt i64 %t205, %t15
  %t207 = and i1 %t201, %t206
  br i1 %t207, label %then25, label %join26
then25:
  %t208 = mul nsw i64 %t17, %t15
  %t209 = add nsw i64 %t208, %t205
  %t210 = getelementptr inbounds float, ptr %t1, i64 %t209
  %t211 = mul nsw i64 -32, %t204
  %t212 = add nsw i64 %t15, %t211
  %t213 = call i64 @llvm.smin.i64(i64 32, i64 %t212)
  %t214 = call i64 @llvm.smax.i64(i64 %t213, i64 0)
  %t215 = trunc i64 %t214 to i32
  %t216 = insertelement <32 x i32> poison, i32 %t215, i64 0
  %t217 = shufflevector <32 x i32> %t216, <32 x i32> poison, <32 x i32> zeroinitializer
  %t218 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t217
  %t219 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t210, i32 4, <32 x i1> %t218, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %39
  %t220 = fsub <32 x float> %t219, %t94  ; %40
  %t221 = fmul <32 x float> %t220, %t174  ; %41
  %t222 = getelementptr inbounds float, ptr %t3, i64 %t205
  %t223 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t222, i32 4, <32 x i1> %t218, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %42
  %t224 = fmul <32 x float> %t221, %t223  ; %43
  %t225 = getelementptr inbounds float, ptr %t5, i64 %t205
  %t226 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t225, i32 4, <32 x i1> %t218, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %44
  %t227 = fadd <32 x float> %t224, %t226  ; %45
  %t228 = getelementptr inbounds float, ptr %t11, i64 %t209
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t227, ptr %t228, i32 4, <32 x i1> %t218), !alias.scope !5, !noalias !4
  br label %join26
join26:
  br label %latch20
latch20:
  %loop19.next = add nuw nsw i64 %t176, 1
  %t229 = icmp slt i64 %loop19.next, %t19
  br i1 %t229, label %loop19, label %done21
done21:
  %t230 = getelementptr inbounds float, ptr %t9, i64 %t17
  store float %t172, ptr %t230, align 4, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t17, 1
  %t231 = icmp slt i64 %loop0.next, %end
  br i1 %t231, label %loop0, label %done2
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
