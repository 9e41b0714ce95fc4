define void @transformer_block_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  store <32 x double> splat (double 0x0000000000000000), ptr %variable1
  %t16 = add nsw i64 %t13, 1023
  %t17 = ashr i64 %t16, 10
  %t18 = icmp slt i64 0, %t17
  br i1 %t18, label %loop3, label %done5
loop3:
  %t19 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable2
  %t20 = mul nsw i64 -32, %t19
  %t21 = ashr i64 %t13, 5
  %t22 = add nsw i64 %t20, %t21
  %t23 = call i64 @llvm.smin.i64(i64 32, i64 %t22)
  %t24 = icmp slt i64 0, %t23
  br i1 %t24, label %loop6, label %done8
loop6:
  %t25 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  %t26 = mul nsw i64 %t15, %t13
  %t27 = mul nsw i64 1024, %t19
  %t28 = add nsw i64 %t26, %t27
  %t29 = mul nsw i64 32, %t25
  %t30 = add nsw i64 %t28, %t29
  %t31 = getelementptr inbounds i16, ptr %t1, i64 %t30
  %t32 = load <32 x i16>, ptr %t31, align 2, !alias.scope !4, !noalias !5, !invariant.load !0
  %t33 = call <32 x float> @plait.from_bf16.v32i16(<32 x i16> %t32)  ; %32
  %t34 = load <32 x float>, ptr %variable2
  %t35 = fadd <32 x float> %t34, %t33  ; %57
  store <32 x float> %t35, ptr %variable2
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t25, 1
  %t36 = icmp slt i64 %loop6.next, %t23
  br i1 %t36, label %loop6, label %done8
done8:
  %t37 = icmp slt i64 %t23, 32
  %t38 = mul nsw i64 32, %t19
  %t39 = add nsw i64 %t38, 32
  %t40 = call i64 @llvm.smin.i64(i64 %t39, i64 %t21)
  %t41 = mul nsw i64 32, %t40
  %t42 = icmp slt i64 %t41, %t13
  %t43 = and i1 %t37, %t42
  br i1 %t43, label %then9, label %join10
then9:
  %t44 = mul nsw i64 %t15, %t13
  %t45 = add nsw i64 %t44, %t41
  %t46 = getelementptr inbounds i16, ptr %t1, i64 %t45
  %t47 = mul nsw i64 -32, %t40
  %t48 = add nsw i64 %t13, %t47
  %t49 = call i64 @llvm.smin.i64(i64 32, i64 %t48)
  %t50 = call i64 @llvm.smax.i64(i64 %t49, i64 0)
  %t51 = trunc i64 %t50 to i32
  %t52 = insertelement <32 x i32> poison, i32 %t51, i64 0
  %t53 = shufflevector <32 x i32> %t52, <32 x i32> poison, <32 x i32> zeroinitializer
  %t54 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t53
  %t55 = call <32 x i16> @llvm.masked.load.v32i16.p0(ptr %t46, i32 2, <32 x i1> %t54, <32 x i16> splat (i16 0)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t56 = call <32 x float> @plait.from_bf16.v32i16(<32 x i16> %t55)  ; %31
  %t57 = load <32 x float>, ptr %variable2
  %t58 = fadd <32 x float> %t57, %t56  ; %58
  %t59 = insertelement <32 x i64> poison, i64 0, i64 0
  %t60 = shufflevector <32 x i64> %t59, <32 x i64> poison, <32 x i32> zeroinitializer
  %t61 = add <32 x i64> %t60, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>  ; %59
  %t62 = insertelement <32 x i64> poison, i64 %t49, i64 0
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
  %loop3.next = add nuw nsw i64 %t19, 1
  %t71 = icmp slt i64 %loop3.next, %t17
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
  %t90 = sitofp i64 %t13 to float  ; %8
  %t91 = fdiv float %t89, %t90  ; %9
  %t92 = insertelement <32 x float> poison, float %t91, i64 0
  %t93 = shufflevector <32 x float> %t92, <32 x float> poison, <32 x i32> zeroinitializer  ; %53
  %t94 = icmp slt i64 0, %t17
  br i1 %t94, label %loop11, label %done13
loop11:
  %t95 = phi i64 [ 0, %done5 ], [ %loop11.next, %latch12 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable10
  %t96 = mul nsw i64 -32, %t95
  %t97 = ashr i64 %t13, 5
  %t98 = add nsw i64 %t96, %t97
  %t99 = call i64 @llvm.smin.i64(i64 32, i64 %t98)
  %t100 = icmp slt i64 0, %t99
  br i1 %t100, label %loop14, label %done16
loop14:
  %t101 = phi i64 [ 0, %loop11 ], [ %loop14.next, %latch15 ]
  %t102 = mul nsw i64 %t15, %t13
  %t103 = mul nsw i64 1024, %t95
  %t104 = add nsw i64 %t102, %t103
  %t105 = mul nsw i64 32, %t101
  %t106 = add nsw i64 %t104, %t105
  %t107 = getelementptr inbounds i16, ptr %t1, i64 %t106
  %t108 = load <32 x i16>, ptr %t107, align 2, !alias.scope !4, !noalias !5, !invariant.load !0
  %t109 = call <32 x float> @plait.from_bf16.v32i16(<32 x i16> %t108)  ; %36
  %t110 = fsub <32 x float> %t109, %t93  ; %37
  %t111 = fmul <32 x float> %t110, %t110  ; %38
  %t112 = load <32 x float>, ptr %variable10
  %t113 = fadd <32 x float> %t112, %t111  ; %79
  store <32 x float> %t113, ptr %variable10
  br label %latch15
latch15:
  %loop14.next = add nuw nsw i64 %t101, 1
  %t114 = icmp slt i64 %loop14.next, %t99
  br i1 %t114, label %loop14, label %done16
done16:
  %t115 = icmp slt i64 %t99, 32
  %t116 = mul nsw i64 32, %t95
  %t117 = add nsw i64 %t116, 32
  %t118 = call i64 @llvm.smin.i64(i64 %t117, i64 %t97)
  %t119 = mul nsw i64 32, %t118
  %t120 = icmp slt i64 %t119, %t13
  %t121 = and i1 %t115, %t120
  br i1 %t121, label %then17, label %join18
then17:
  %t122 = mul nsw i64 %t15, %t13
  %t123 = add nsw i64 %t122, %t119
  %t124 = getelementptr inbounds i16, ptr %t1, i64 %t123
  %t125 = mul nsw i64 -32, %t118
  %t126 = add nsw i64 %t13, %t125
  %t127 = call i64 @llvm.smin.i64(i64 32, i64 %t126)
  %t128 = call i64 @llvm.smax.i64(i64 %t127, i64 0)
  %t129 = trunc i64 %t128 to i32
  %t130 = insertelement <32 x i32> poison, i32 %t129, i64 0
  %t131 = shufflevector <32 x i32> %t130, <32 x i32> poison, <32 x i32> zeroinitializer
  %t132 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t131
  %t133 = call <32 x i16> @llvm.masked.load.v32i16.p0(ptr %t124, i32 2, <32 x i1> %t132, <32 x i16> splat (i16 0)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t134 = call <32 x float> @plait.from_bf16.v32i16(<32 x i16> %t133)  ; %33
  %t135 = fsub <32 x float> %t134, %t93  ; %34
  %t136 = fmul <32 x float> %t135, %t135  ; %35
  %t137 = load <32 x float>, ptr %variable10
  %t138 = fadd <32 x float> %t137, %t136  ; %80
  %t139 = insertelement <32 x i64> poison, i64 0, i64 0
  %t140 = shufflevector <32 x i64> %t139, <32 x i64> poison, <32 x i32> zeroinitializer
  %t141 = add <32 x i64> %t140, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>  ; %81
  %t142 = insertelement <32 x i64> poison, i64 %t127, i64 0
  %t143 = shufflevector <32 x i64> %t142, <32 x i64> poison, <32 x i32> zeroinitializer  ; %82
  %t144 = icmp slt <32 x i64> %t141, %t143  ; %83
  %t145 = load <32 x float>, ptr %variable10
  %t146 = select <32 x i1> %t144, <32 x float> %t138, <32 x float> %t145  ; %84
  store <32 x float> %t146, ptr %variable10
  br label %join18
join18:
  %t147 = load <32 x float>, ptr %variable10
  %t148 = fpext <32 x float> %t147 to <32 x double>  ; %14
  %t149 = load <32 x double>, ptr %variable1
  %t150 = fadd <32 x double> %t149, %t148  ; %85
  store <32 x double> %t150, ptr %variable1
  br label %latch12
latch12:
  %loop11.next = add nuw nsw i64 %t95, 1
  %t151 = icmp slt i64 %loop11.next, %t17
  br i1 %t151, label %loop11, label %done13
done13:
  %t152 = load <32 x double>, ptr %variable1
  %t153 = shufflevector <32 x double> %t152, <32 x double> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %86
  %t154 = load <32 x double>, ptr %variable1
  %t155 = shufflevector <32 x double> %t154, <32 x double> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>  ; %87
  %t156 = fadd <16 x double> %t153, %t155  ; %88
  %t157 = shufflevector <16 x double> %t156, <16 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %89
  %t158 = shufflevector <16 x double> %t156, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %90
  %t159 = fadd <8 x double> %t157, %t158  ; %91
  %t160 = shufflevector <8 x double> %t159, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %92
  %t161 = shufflevector <8 x double> %t159, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %93
  %t162 = fadd <4 x double> %t160, %t161  ; %94
  %t163 = shufflevector <4 x double> %t162, <4 x double> poison, <2 x i32> <i32 0, i32 1>  ; %95
  %t164 = shufflevector <4 x double> %t162, <4 x double> poison, <2 x i32> <i32 2, i32 3>  ; %96
  %t165 = fadd <2 x double> %t163, %t164  ; %97
  %t166 = extractelement <2 x double> %t165, i64 0  ; %98
  %t167 = extractelement <2 x double> %t165, i64 1  ; %99
  %t168 = fadd double %t166, %t167  ; %100
  %t169 = fptrunc double %t168 to float  ; %16
  %t170 = fdiv float %t169, %t90  ; %19
  %t171 = fadd float %t170, 0x3EE4F8B580000000  ; %21
  %t172 = call float @llvm.sqrt.f32(float %t171)  ; %22
  %t173 = fdiv float 0x3FF0000000000000, %t172  ; %23
  %t174 = insertelement <32 x float> poison, float %t173, i64 0
  %t175 = shufflevector <32 x float> %t174, <32 x float> poison, <32 x i32> zeroinitializer  ; %56
  %t176 = icmp slt i64 0, %t17
  br i1 %t176, label %loop19, label %done21
loop19:
  %t177 = phi i64 [ 0, %done13 ], [ %loop19.next, %latch20 ]
  %t178 = mul nsw i64 -32, %t177
  %t179 = ashr i64 %t13, 5
  %t180 = add nsw i64 %t178, %t179
  %t181 = call i64 @llvm.smin.i64(i64 32, i64 %t180)
  %t182 = icmp slt i64 0, %t181
  br i1 %t182, label %loop22, label %done24
loop22:
  %t183 = phi i64 [ 0, %loop19 ], [ %loop22.next, %latch23 ]
  %t184 = mul nsw i64 %t15, %t13
  %t185 = mul nsw i64 1024, %t177
  %t186 = add nsw i64 %t184, %t185
  %t187 = mul nsw i64 32, %t183
  %t188 = add nsw i64 %t186, %t187
  %t189 = getelementptr inbounds i16, ptr %t1, i64 %t188
  %t190 = load <32 x i16>, ptr %t189, align 2, !alias.scope !4, !noalias !5, !invariant.load !0
  %t191 = call <32 x float> @plait.from_bf16.v32i16(<32 x i16> %t190)  ; %46
  %t192 = fsub <32 x float> %t191, %t93  ; %47
  %t193 = fmul <32 x float> %t192, %t175  ; %48
  %t194 = add nsw i64 %t185, %t187
  %t195 = getelementptr inbounds i16, ptr %t3, i64 %t194
  %t196 = load <32 x i16>, ptr %t195, align 2, !alias.scope !4, !noalias !5, !invariant.load !0
  %t197 = call <32 x float> @plait.from_bf16.v32i16(<32 x i16> %t196)  ; %49
  %t198 = fmul <32 x float> %t193, %t197  ; %50
  %t199 = getelementptr inbounds i16, ptr %t5, i64 %t194
  %t200 = load <32 x i16>, ptr %t199, align 2, !alias.scope !4, !noalias !5, !invariant.load !0
  %t201 = call <32 x float> @plait.from_bf16.v32i16(<32 x i16> %t200)  ; %51
  %t202 = fadd <32 x float> %t198, %t201  ; %52
  %t203 = call <32 x i16> @plait.to_bf16.v32f32(<32 x float> %t202)
  %t204 = getelementptr inbounds i16, ptr %t7, i64 %t188
  store <32 x i16> %t203, ptr %t204, align 2, !alias.scope !5, !noalias !4
  br label %latch23
latch23:
  %loop22.next = add nuw nsw i64 %t183, 1
  %t205 = icmp slt i64 %loop22.next, %t181
  br i1 %t205, label %loop22, label %done24
done24:
  %t206 = icmp slt i64 %t181, 32
  %t207 = mul nsw i64 32, %t177
  %t208 = add nsw i64 %t207, 32
  %t209 = call i64 @llvm.smin.i64(i64 %t208, i64 %t179)
  %t210 = mul nsw i64 32, %t209
  %t211 = icmp slt i64 %t210, %t13
  %t212 = and i1 %t206, %t211
  br i1 %t212, label %then25, label %join26
then25:
  %t213 = mul nsw i64 %t15, %t13
  %t214 = add nsw i64 %t213, %t210
  %t215 = getelementptr inbounds i16, ptr %t1, i64 %t214
  %t216 = mul nsw i64 -32, %t209
  %t217 = add nsw i64 %t13, %t216
  %t218 = call i64 @llvm.smin.i64(i64 32, i64 %t217)
  %t219 = call i64 @llvm.smax.i64(i64 %t218, i64 0)
  %t220 = trunc i64 %t219 to i32
  %t221 = insertelement <32 x i32> poison, i32 %t220, i64 0
  %t222 = shufflevector <32 x i32> %t221, <32 x i32> poison, <32 x i32> zeroinitializer
  %t223 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t222
  %t224 = call <32 x i16> @llvm.masked.load.v32i16.p0(ptr %t215, i32 2, <32 x i1> %t223, <32 x i16> splat (i16 0)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t225 = call <32 x float> @plait.from_bf16.v32i16(<32 x i16> %t224)  ; %39
  %t226 = fsub <32 x float> %t225, %t93  ; %40
  %t227 = fmul <32 x float> %t226, %t175  ; %41
  %t228 = getelementptr inbounds i16, ptr %t3, i64 %t210
  %t229 = call <32 x i16> @llvm.masked.load.v32i16.p0(ptr %t228, i32 2, <32 x i1> %t223, <32 x i16> splat (i16 0)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t230 = call <32 x float> @plait.from_bf16.v32i16(<32 x i16> %t229)  ; %42
  %t231 = fmul <32 x float> %t227, %t230  ; %43
  %t232 = getelementptr inbounds i16, ptr %t5, i64 %t210
  %t233 = call <32 x i16> @llvm.masked.load.v32i16.p0(ptr %t232, i32 2, <32 x i1> %t223, <32 x i16> splat (i16 0)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t234 = call <32 x float> @plait.from_bf16.v32i16(<32 x i16> %t233)  ; %44
  %t235 = fadd <32 x float> %t231, %t234  ; %45
  %t236 = call <32 x i16> @plait.to_bf16.v32f32(<32 x float> %t235)
  %t237 = getelementptr inbounds i16, ptr %t7, i64 %t214
  call void @llvm.masked.store.v32i16.p0(<32 x i16> %t236, ptr %t237, i32 2, <32 x i1> %t223), !alias.scope !5, !noalias !4
  br label %join26
join26:
  br label %latch20
latch20:
  %loop19.next = add nuw nsw i64 %t177, 1
  %t238 = icmp slt i64 %loop19.next, %t17
  br i1 %t238, label %loop19, label %done21
done21:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t15, 1
  %t239 = icmp slt i64 %loop0.next, %end
  br i1 %t239, label %loop0, label %done2
done2:
  ret void
}

define internal <32 x float> @plait.from_bf16.v32i16(<32 x i16> %p0) alwaysinline nounwind {
entry:
  %t0 = zext <32 x i16> %p0 to <32 x i32>
  %t1 = shl <32 x i32> %t0, splat (i32 16)
  %t2 = bitcast <32 x i32> %t1 to <32 x float>
  ret <32 x float> %t2
}

define internal <32 x i16> @plait.to_bf16.v32f32(<32 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = bitcast <32 x float> %p0 to <32 x i32>
  %t1 = lshr <32 x i32> %t0, splat (i32 16)
  %t2 = and <32 x i32> %t1, splat (i32 1)
  %t3 = add <32 x i32> %t2, splat (i32 32767)
  %t4 = add <32 x i32> %t0, %t3
  %t5 = lshr <32 x i32> %t4, splat (i32 16)
  %t6 = fcmp uno <32 x float> %p0, %p0
  %t7 = or <32 x i32> %t1, splat (i32 64)
  %t8 = select <32 x i1> %t6, <32 x i32> %t7, <32 x i32> %t5
  %t9 = trunc <32 x i32> %t8 to <32 x i16>
  ret <32 x i16> %t9
}

declare <32 x i16> @llvm.masked.load.v32i16.p0(ptr, i32 immarg, <32 x i1>, <32 x i16>)
declare void @llvm.masked.store.v32i16.p0(<32 x i16>, ptr, i32 immarg, <32 x i1>)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare float @llvm.sqrt.f32(float)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
