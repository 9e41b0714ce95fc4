define void @tp_mlp_s5(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
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
  %t10 = getelementptr inbounds i64, ptr %integers, i64 0
  %t11 = load i64, ptr %t10, align 8, !invariant.load !0
  %t12 = getelementptr inbounds i64, ptr %integers, i64 1
  %t13 = load i64, ptr %t12, align 8, !invariant.load !0
  %t14 = getelementptr inbounds i64, ptr %integers, i64 2
  %t15 = load i64, ptr %t14, align 8, !invariant.load !0
  %t16 = icmp slt i64 %begin, %end
  br i1 %t16, label %loop0, label %done2
loop0:
  %t17 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t18 = getelementptr inbounds i64, ptr %t5, i64 0
  %t19 = load i64, ptr %t18, align 8, !alias.scope !4, !noalias !5, !invariant.load !0  ; %3
  %t20 = ashr i64 %t13, 5
  %t21 = icmp slt i64 0, %t20
  br i1 %t21, label %loop3, label %done5
loop3:
  %t22 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t23 = mul nsw i64 %t17, %t13
  %t24 = mul nsw i64 32, %t22
  %t25 = add nsw i64 %t23, %t24
  %t26 = getelementptr inbounds float, ptr %t1, i64 %t25
  %t27 = load <32 x float>, ptr %t26, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %0
  %t28 = getelementptr inbounds float, ptr %t3, i64 %t24
  %t29 = load <32 x float>, ptr %t28, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %1
  %t30 = fadd <32 x float> %t27, %t29  ; %2
  %t31 = call <32 x float> @plait.uniform_run32.i64(i64 %t19, i64 %t25, i64 %t15)  ; %4
  %t32 = fcmp oge <32 x float> %t31, splat (float 0x3FB9999A00000000)  ; %6
  %t33 = fmul <32 x float> %t30, splat (float 0x3FF1C71C80000000)  ; %8
  %t34 = select <32 x i1> %t32, <32 x float> %t33, <32 x float> splat (float 0x0000000000000000)  ; %10
  %t35 = getelementptr inbounds float, ptr %t7, i64 %t25
  store <32 x float> %t30, ptr %t35, align 4, !alias.scope !5, !noalias !4
  %t36 = getelementptr inbounds float, ptr %t9, i64 %t25
  store <32 x float> %t34, ptr %t36, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t22, 1
  %t37 = icmp slt i64 %loop3.next, %t20
  br i1 %t37, label %loop3, label %done5
done5:
  %t38 = and i64 %t13, 31
  %t39 = icmp slt i64 0, %t38
  br i1 %t39, label %then6, label %join7
then6:
  %t40 = mul nsw i64 %t17, %t13
  %t41 = mul nsw i64 32, %t20
  %t42 = add nsw i64 %t40, %t41
  %t43 = getelementptr inbounds float, ptr %t1, i64 %t42
  %t44 = trunc i64 %t38 to i32
  %t45 = insertelement <32 x i32> poison, i32 %t44, i64 0
  %t46 = shufflevector <32 x i32> %t45, <32 x i32> poison, <32 x i32> zeroinitializer
  %t47 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t46
  %t48 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t43, i32 4, <32 x i1> %t47, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %11
  %t49 = getelementptr inbounds float, ptr %t3, i64 %t41
  %t50 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t49, i32 4, <32 x i1> %t47, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %12
  %t51 = fadd <32 x float> %t48, %t50  ; %13
  %t52 = call <32 x float> @plait.uniform_run32.i64(i64 %t19, i64 %t42, i64 %t15)  ; %14
  %t53 = fcmp oge <32 x float> %t52, splat (float 0x3FB9999A00000000)  ; %15
  %t54 = fmul <32 x float> %t51, splat (float 0x3FF1C71C80000000)  ; %16
  %t55 = select <32 x i1> %t53, <32 x float> %t54, <32 x float> splat (float 0x0000000000000000)  ; %17
  %t56 = getelementptr inbounds float, ptr %t7, i64 %t42
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t51, ptr %t56, i32 4, <32 x i1> %t47), !alias.scope !5, !noalias !4
  %t57 = getelementptr inbounds float, ptr %t9, i64 %t42
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t55, ptr %t57, i32 4, <32 x i1> %t47), !alias.scope !5, !noalias !4
  br label %join7
join7:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t17, 1
  %t58 = icmp slt i64 %loop0.next, %end
  br i1 %t58, label %loop0, label %done2
done2:
  ret void
}

define internal <32 x float> @plait.uniform_run32.i64(i64 %p0, i64 %p1, i64 %p2) alwaysinline nounwind {
entry:
  %t0 = lshr i64 %p1, 2
  %t1 = insertelement <8 x i64> poison, i64 %t0, i64 0
  %t2 = shufflevector <8 x i64> %t1, <8 x i64> poison, <8 x i32> zeroinitializer
  %t3 = add <8 x i64> %t2, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %t4 = and <8 x i64> %t3, splat (i64 4294967295)
  %t5 = lshr <8 x i64> %t3, splat (i64 32)
  %t6 = and i64 %p2, 4294967295
  %t7 = insertelement <8 x i64> poison, i64 %t6, i64 0
  %t8 = shufflevector <8 x i64> %t7, <8 x i64> poison, <8 x i32> zeroinitializer
  %t9 = lshr i64 %p2, 32
  %t10 = insertelement <8 x i64> poison, i64 %t9, i64 0
  %t11 = shufflevector <8 x i64> %t10, <8 x i64> poison, <8 x i32> zeroinitializer
  %t12 = and i64 %p0, 4294967295
  %t13 = lshr i64 %p0, 32
  %t14 = mul <8 x i64> %t4, splat (i64 3528531795)
  %t15 = mul <8 x i64> %t8, splat (i64 3449720151)
  %t16 = lshr <8 x i64> %t15, splat (i64 32)
  %t17 = xor <8 x i64> %t16, %t5
  %t18 = insertelement <8 x i64> poison, i64 %t12, i64 0
  %t19 = shufflevector <8 x i64> %t18, <8 x i64> poison, <8 x i32> zeroinitializer
  %t20 = xor <8 x i64> %t17, %t19
  %t21 = lshr <8 x i64> %t14, splat (i64 32)
  %t22 = xor <8 x i64> %t21, %t11
  %t23 = insertelement <8 x i64> poison, i64 %t13, i64 0
  %t24 = shufflevector <8 x i64> %t23, <8 x i64> poison, <8 x i32> zeroinitializer
  %t25 = xor <8 x i64> %t22, %t24
  %t26 = and <8 x i64> %t15, splat (i64 4294967295)
  %t27 = and <8 x i64> %t14, splat (i64 4294967295)
  %t28 = add i64 %t12, 2654435769
  %t29 = and i64 %t28, 4294967295
  %t30 = add i64 %t13, 3144134277
  %t31 = and i64 %t30, 4294967295
  %t32 = mul <8 x i64> %t20, splat (i64 3528531795)
  %t33 = mul <8 x i64> %t25, splat (i64 3449720151)
  %t34 = lshr <8 x i64> %t33, splat (i64 32)
  %t35 = xor <8 x i64> %t34, %t26
  %t36 = insertelement <8 x i64> poison, i64 %t29, i64 0
  %t37 = shufflevector <8 x i64> %t36, <8 x i64> poison, <8 x i32> zeroinitializer
  %t38 = xor <8 x i64> %t35, %t37
  %t39 = lshr <8 x i64> %t32, splat (i64 32)
  %t40 = xor <8 x i64> %t39, %t27
  %t41 = insertelement <8 x i64> poison, i64 %t31, i64 0
  %t42 = shufflevector <8 x i64> %t41, <8 x i64> poison, <8 x i32> zeroinitializer
  %t43 = xor <8 x i64> %t40, %t42
  %t44 = and <8 x i64> %t33, splat (i64 4294967295)
  %t45 = and <8 x i64> %t32, splat (i64 4294967295)
  %t46 = add i64 %t29, 2654435769
  %t47 = and i64 %t46, 4294967295
  %t48 = add i64 %t31, 3144134277
  %t49 = and i64 %t48, 4294967295
  %t50 = mul <8 x i64> %t38, splat (i64 3528531795)
  %t51 = mul <8 x i64> %t43, splat (i64 3449720151)
  %t52 = lshr <8 x i64> %t51, splat (i64 32)
  %t53 = xor <8 x i64> %t52, %t44
  %t54 = insertelement <8 x i64> poison, i64 %t47, i64 0
  %t55 = shufflevector <8 x i64> %t54, <8 x i64> poison, <8 x i32> zeroinitializer
  %t56 = xor <8 x i64> %t53, %t55
  %t57 = lshr <8 x i64> %t50, splat (i64 32)
  %t58 = xor <8 x i64> %t57, %t45
  %t59 = insertelement <8 x i64> poison, i64 %t49, i64 0
  %t60 = shufflevector <8 x i64> %t59, <8 x i64> poison, <8 x i32> zeroinitializer
  %t61 = xor <8 x i64> %t58, %t60
  %t62 = and <8 x i64> %t51, splat (i64 4294967295)
  %t63 = and <8 x i64> %t50, splat (i64 4294967295)
  %t64 = add i64 %t47, 2654435769
  %t65 = and i64 %t64, 4294967295
  %t66 = add i64 %t49, 3144134277
  %t67 = and i64 %t66, 4294967295
  %t68 = mul <8 x i64> %t56, splat (i64 3528531795)
  %t69 = mul <8 x i64> %t61, splat (i64 3449720151)
  %t70 = lshr <8 x i64> %t69, splat (i64 32)
  %t71 = xor <8 x i64> %t70, %t62
  %t72 = insertelement <8 x i64> poison, i64 %t65, i64 0
  %t73 = shufflevector <8 x i64> %t72, <8 x i64> poison, <8 x i32> zeroinitializer
  %t74 = xor <8 x i64> %t71, %t73
  %t75 = lshr <8 x i64> %t68, splat (i64 32)
  %t76 = xor <8 x i64> %t75, %t63
  %t77 = insertelement <8 x i64> poison, i64 %t67, i64 0
  %t78 = shufflevector <8 x i64> %t77, <8 x i64> poison, <8 x i32> zeroinitializer
  %t79 = xor <8 x i64> %t76, %t78
  %t80 = and <8 x i64> %t69, splat (i64 4294967295)
  %t81 = and <8 x i64> %t68, splat (i64 4294967295)
  %t82 = add i64 %t65, 2654435769
  %t83 = and i64 %t82, 4294967295
  %t84 = add i64 %t67, 3144134277
  %t85 = and i64 %t84, 4294967295
  %t86 = mul <8 x i64> %t74, splat (i64 3528531795)
  %t87 = mul <8 x i64> %t79, splat (i64 3449720151)
  %t88 = lshr <8 x i64> %t87, splat (i64 32)
  %t89 = xor <8 x i64> %t88, %t80
  %t90 = insertelement <8 x i64> poison, i64 %t83, i64 0
  %t91 = shufflevector <8 x i64> %t90, <8 x i64> poison, <8 x i32> zeroinitializer
  %t92 = xor <8 x i64> %t89, %t91
  %t93 = lshr <8 x i64> %t86, splat (i64 32)
  %t94 = xor <8 x i64> %t93, %t81
  %t95 = insertelement <8 x i64> poison, i64 %t85, i64 0
  %t96 = shufflevector <8 x i64> %t95, <8 x i64> poison, <8 x i32> zeroinitializer
  %t97 = xor <8 x i64> %t94, %t96
  %t98 = and <8 x i64> %t87, splat (i64 4294967295)
  %t99 = and <8 x i64> %t86, splat (i64 4294967295)
  %t100 = add i64 %t83, 2654435769
  %t101 = and i64 %t100, 4294967295
  %t102 = add i64 %t85, 3144134277
  %t103 = and i64 %t102, 4294967295
  %t104 = mul <8 x i64> %t92, splat (i64 3528531795)
  %t105 = mul <8 x i64> %t97, splat (i64 3449720151)
  %t106 = lshr <8 x i64> %t105, splat (i64 32)
  %t107 = xor <8 x i64> %t106, %t98
  %t108 = insertelement <8 x i64> poison, i64 %t101, i64 0
  %t109 = shufflevector <8 x i64> %t108, <8 x i64> poison, <8 x i32> zeroinitializer
  %t110 = xor <8 x i64> %t107, %t109
  %t111 = lshr <8 x i64> %t104, splat (i64 32)
  %t112 = xor <8 x i64> %t111, %t99
  %t113 = insertelement <8 x i64> poison, i64 %t103, i64 0
  %t114 = shufflevector <8 x i64> %t113, <8 x i64> poison, <8 x i32> zeroinitializer
  %t115 = xor <8 x i64> %t112, %t114
  %t116 = and <8 x i64> %t105, splat (i64 4294967295)
  %t117 = and <8 x i64> %t104, splat (i64 4294967295)
  %t118 = add i64 %t101, 2654435769
  %t119 = and i64 %t118, 4294967295
  %t120 = add i64 %t103, 3144134277
  %t121 = and i64 %t120, 4294967295
  %t122 = mul <8 x i64> %t110, splat (i64 3528531795)
  %t123 = mul <8 x i64> %t115, splat (i64 3449720151)
  %t124 = lshr <8 x i64> %t123, splat (i64 32)
  %t125 = xor <8 x i64> %t124, %t116
  %t126 = insertelement <8 x i64> poison, i64 %t119, i64 0
  %t127 = shufflevector <8 x i64> %t126, <8 x i64> poison, <8 x i32> zeroinitializer
  %t128 = xor <8 x i64> %t125, %t127
  %t129 = lshr <8 x i64> %t122, splat (i64 32)
  %t130 = xor <8 x i64> %t129, %t117
  %t131 = insertelement <8 x i64> poison, i64 %t121, i64 0
  %t132 = shufflevector <8 x i64> %t131, <8 x i64> poison, <8 x i32> zeroinitializer
  %t133 = xor <8 x i64> %t130, %t132
  %t134 = and <8 x i64> %t123, splat (i64 4294967295)
  %t135 = and <8 x i64> %t122, splat (i64 4294967295)
  %t136 = add i64 %t119, 2654435769
  %t137 = and i64 %t136, 4294967295
  %t138 = add i64 %t121, 3144134277
  %t139 = and i64 %t138, 4294967295
  %t140 = mul <8 x i64> %t128, splat (i64 3528531795)
  %t141 = mul <8 x i64> %t133, splat (i64 3449720151)
  %t142 = lshr <8 x i64> %t141, splat (i64 32)
  %t143 = xor <8 x i64> %t142, %t134
  %t144 = insertelement <8 x i64> poison, i64 %t137, i64 0
  %t145 = shufflevector <8 x i64> %t144, <8 x i64> poison, <8 x i32> zeroinitializer
  %t146 = xor <8 x i64> %t143, %t145
  %t147 = lshr <8 x i64> %t140, splat (i64 32)
  %t148 = xor <8 x i64> %t147, %t135
  %t149 = insertelement <8 x i64> poison, i64 %t139, i64 0
  %t150 = shufflevector <8 x i64> %t149, <8 x i64> poison, <8 x i32> zeroinitializer
  %t151 = xor <8 x i64> %t148, %t150
  %t152 = and <8 x i64> %t141, splat (i64 4294967295)
  %t153 = and <8 x i64> %t140, splat (i64 4294967295)
  %t154 = add i64 %t137, 2654435769
  %t155 = and i64 %t154, 4294967295
  %t156 = add i64 %t139, 3144134277
  %t157 = and i64 %t156, 4294967295
  %t158 = mul <8 x i64> %t146, splat (i64 3528531795)
  %t159 = mul <8 x i64> %t151, splat (i64 3449720151)
  %t160 = lshr <8 x i64> %t159, splat (i64 32)
  %t161 = xor <8 x i64> %t160, %t152
  %t162 = insertelement <8 x i64> poison, i64 %t155, i64 0
  %t163 = shufflevector <8 x i64> %t162, <8 x i64> poison, <8 x i32> zeroinitializer
  %t164 = xor <8 x i64> %t161, %t163
  %t165 = lshr <8 x i64> %t158, splat (i64 32)
  %t166 = xor <8 x i64> %t165, %t153
  %t167 = insertelement <8 x i64> poison, i64 %t157, i64 0
  %t168 = shufflevector <8 x i64> %t167, <8 x i64> poison, <8 x i32> zeroinitializer
  %t169 = xor <8 x i64> %t166, %t168
  %t170 = and <8 x i64> %t159, splat (i64 4294967295)
  %t171 = and <8 x i64> %t158, splat (i64 4294967295)
  %t172 = add i64 %t155, 2654435769
  %t173 = and i64 %t172, 4294967295
  %t174 = add i64 %t157, 3144134277
  %t175 = and i64 %t174, 4294967295
  %t176 = mul <8 x i64> %t164, splat (i64 3528531795)
  %t177 = mul <8 x i64> %t169, splat (i64 3449720151)
  %t178 = lshr <8 x i64> %t177, splat (i64 32)
  %t179 = xor <8 x i64> %t178, %t170
  %t180 = insertelement <8 x i64> poison, i64 %t173, i64 0
  %t181 = shufflevector <8 x i64> %t180, <8 x i64> poison, <8 x i32> zeroinitializer
  %t182 = xor <8 x i64> %t179, %t181
  %t183 = lshr <8 x i64> %t176, splat (i64 32)
  %t184 = xor <8 x i64> %t183, %t171
  %t185 = insertelement <8 x i64> poison, i64 %t175, i64 0
  %t186 = shufflevector <8 x i64> %t185, <8 x i64> poison, <8 x i32> zeroinitializer
  %t187 = xor <8 x i64> %t184, %t186
  %t188 = and <8 x i64> %t177, splat (i64 4294967295)
  %t189 = and <8 x i64> %t176, splat (i64 4294967295)
  %t190 = add i64 %t173, 2654435769
  %t191 = and i64 %t190, 4294967295
  %t192 = add i64 %t175, 3144134277
  %t193 = and i64 %t192, 4294967295
  %t194 = trunc <8 x i64> %t182 to <8 x i32>
  %t195 = trunc <8 x i64> %t188 to <8 x i32>
  %t196 = trunc <8 x i64> %t187 to <8 x i32>
  %t197 = trunc <8 x i64> %t189 to <8 x i32>
  %t198 = shufflevector <8 x i32> %t194, <8 x i32> %t195, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t199 = shufflevector <8 x i32> %t196, <8 x i32> %t197, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t200 = shufflevector <16 x i32> %t198, <16 x i32> %t199, <32 x i32> <i32 0, i32 8, i32 16, i32 24, i32 1, i32 9, i32 17, i32 25, i32 2, i32 10, i32 18, i32 26, i32 3, i32 11, i32 19, i32 27, i32 4, i32 12, i32 20, i32 28, i32 5, i32 13, i32 21, i32 29, i32 6, i32 14, i32 22, i32 30, i32 7, i32 15, i32 23, i32 31>
  %t201 = lshr <32 x i32> %t200, splat (i32 8)
  %t202 = sitofp <32 x i32> %t201 to <32 x float>
  %t203 = fmul <32 x float> %t202, splat (float 0x3E70000000000000)
  ret <32 x float> %t203
}

declare <32 x float> @llvm.masked.load.v32f32.p0(ptr, i32 immarg, <32 x i1>, <32 x float>)
declare void @llvm.masked.store.v32f32.p0(<32 x float>, ptr, i32 immarg, <32 x i1>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
