define void @transpose_add_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
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
  %t12 = ashr i64 %t7, 3
  %t13 = add nsw i64 %t9, 127
  %t14 = ashr i64 %t13, 7
  %t15 = udiv i64 %t11, %t14
  %t16 = mul nsw i64 -16, %t15
  %t17 = add nsw i64 %t12, %t16
  %t18 = call i64 @llvm.smin.i64(i64 16, i64 %t17)
  %t19 = icmp slt i64 0, %t18
  br i1 %t19, label %loop3, label %done5
loop3:
  %t20 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t21 = ashr i64 %t9, 3
  %t22 = urem i64 %t11, %t14
  %t23 = mul nsw i64 -16, %t22
  %t24 = add nsw i64 %t21, %t23
  %t25 = call i64 @llvm.smin.i64(i64 16, i64 %t24)
  %t26 = icmp slt i64 0, %t25
  br i1 %t26, label %loop6, label %done8
loop6:
  %t27 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  %t28 = mul nsw i64 8, %t27
  %t29 = mul nsw i64 %t28, %t7
  %t30 = mul nsw i64 128, %t7
  %t31 = mul nsw i64 %t30, %t22
  %t32 = add nsw i64 %t29, %t31
  %t33 = mul nsw i64 8, %t20
  %t34 = add nsw i64 %t32, %t33
  %t35 = mul nsw i64 128, %t15
  %t36 = add nsw i64 %t34, %t35
  %t37 = getelementptr inbounds float, ptr %t1, i64 %t36
  %t38 = load <8 x float>, ptr %t37, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %33
  %t39 = add nsw i64 %t29, %t31
  %t40 = add nsw i64 %t39, %t33
  %t41 = add nsw i64 %t40, %t7
  %t42 = add nsw i64 %t41, %t35
  %t43 = getelementptr inbounds float, ptr %t1, i64 %t42
  %t44 = load <8 x float>, ptr %t43, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %34
  %t45 = add nsw i64 %t29, %t31
  %t46 = add nsw i64 %t45, %t33
  %t47 = mul nsw i64 2, %t7
  %t48 = add nsw i64 %t46, %t47
  %t49 = add nsw i64 %t48, %t35
  %t50 = getelementptr inbounds float, ptr %t1, i64 %t49
  %t51 = load <8 x float>, ptr %t50, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %35
  %t52 = add nsw i64 %t29, %t31
  %t53 = add nsw i64 %t52, %t33
  %t54 = mul nsw i64 3, %t7
  %t55 = add nsw i64 %t53, %t54
  %t56 = add nsw i64 %t55, %t35
  %t57 = getelementptr inbounds float, ptr %t1, i64 %t56
  %t58 = load <8 x float>, ptr %t57, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %36
  %t59 = add nsw i64 %t29, %t31
  %t60 = add nsw i64 %t59, %t33
  %t61 = mul nsw i64 4, %t7
  %t62 = add nsw i64 %t60, %t61
  %t63 = add nsw i64 %t62, %t35
  %t64 = getelementptr inbounds float, ptr %t1, i64 %t63
  %t65 = load <8 x float>, ptr %t64, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %37
  %t66 = add nsw i64 %t29, %t31
  %t67 = add nsw i64 %t66, %t33
  %t68 = mul nsw i64 5, %t7
  %t69 = add nsw i64 %t67, %t68
  %t70 = add nsw i64 %t69, %t35
  %t71 = getelementptr inbounds float, ptr %t1, i64 %t70
  %t72 = load <8 x float>, ptr %t71, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %38
  %t73 = add nsw i64 %t29, %t31
  %t74 = add nsw i64 %t73, %t33
  %t75 = mul nsw i64 6, %t7
  %t76 = add nsw i64 %t74, %t75
  %t77 = add nsw i64 %t76, %t35
  %t78 = getelementptr inbounds float, ptr %t1, i64 %t77
  %t79 = load <8 x float>, ptr %t78, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %39
  %t80 = add nsw i64 %t29, %t31
  %t81 = add nsw i64 %t80, %t33
  %t82 = mul nsw i64 7, %t7
  %t83 = add nsw i64 %t81, %t82
  %t84 = add nsw i64 %t83, %t35
  %t85 = getelementptr inbounds float, ptr %t1, i64 %t84
  %t86 = load <8 x float>, ptr %t85, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %40
  %t87 = shufflevector <8 x float> %t38, <8 x float> %t51, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %t88 = shufflevector <8 x float> %t38, <8 x float> %t51, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %t89 = shufflevector <8 x float> %t44, <8 x float> %t58, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %t90 = shufflevector <8 x float> %t44, <8 x float> %t58, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %t91 = shufflevector <8 x float> %t87, <8 x float> %t89, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %t92 = shufflevector <8 x float> %t87, <8 x float> %t89, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %t93 = shufflevector <8 x float> %t88, <8 x float> %t90, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %t94 = shufflevector <8 x float> %t88, <8 x float> %t90, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %t95 = shufflevector <8 x float> %t65, <8 x float> %t79, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %t96 = shufflevector <8 x float> %t65, <8 x float> %t79, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %t97 = shufflevector <8 x float> %t72, <8 x float> %t86, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %t98 = shufflevector <8 x float> %t72, <8 x float> %t86, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %t99 = shufflevector <8 x float> %t95, <8 x float> %t97, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %t100 = shufflevector <8 x float> %t95, <8 x float> %t97, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %t101 = shufflevector <8 x float> %t96, <8 x float> %t98, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %t102 = shufflevector <8 x float> %t96, <8 x float> %t98, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %t103 = shufflevector <8 x float> %t91, <8 x float> %t99, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>  ; %9
  %t104 = shufflevector <8 x float> %t91, <8 x float> %t99, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>  ; %21
  %t105 = shufflevector <8 x float> %t92, <8 x float> %t100, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>  ; %12
  %t106 = shufflevector <8 x float> %t92, <8 x float> %t100, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>  ; %24
  %t107 = shufflevector <8 x float> %t93, <8 x float> %t101, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>  ; %15
  %t108 = shufflevector <8 x float> %t93, <8 x float> %t101, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>  ; %27
  %t109 = shufflevector <8 x float> %t94, <8 x float> %t102, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>  ; %18
  %t110 = shufflevector <8 x float> %t94, <8 x float> %t102, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>  ; %30
  %t111 = mul nsw i64 8, %t20
  %t112 = mul nsw i64 %t111, %t9
  %t113 = mul nsw i64 128, %t9
  %t114 = mul nsw i64 %t113, %t15
  %t115 = add nsw i64 %t112, %t114
  %t116 = mul nsw i64 8, %t27
  %t117 = add nsw i64 %t115, %t116
  %t118 = mul nsw i64 128, %t22
  %t119 = add nsw i64 %t117, %t118
  %t120 = getelementptr inbounds float, ptr %t3, i64 %t119
  %t121 = load <8 x float>, ptr %t120, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %10
  %t122 = fadd <8 x float> %t103, %t121  ; %11
  %t123 = getelementptr inbounds float, ptr %t5, i64 %t119
  store <8 x float> %t122, ptr %t123, align 4, !alias.scope !5, !noalias !4
  %t124 = add nsw i64 %t112, %t114
  %t125 = add nsw i64 %t124, %t116
  %t126 = add nsw i64 %t125, %t9
  %t127 = add nsw i64 %t126, %t118
  %t128 = getelementptr inbounds float, ptr %t3, i64 %t127
  %t129 = load <8 x float>, ptr %t128, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %13
  %t130 = fadd <8 x float> %t105, %t129  ; %14
  %t131 = getelementptr inbounds float, ptr %t5, i64 %t127
  store <8 x float> %t130, ptr %t131, align 4, !alias.scope !5, !noalias !4
  %t132 = add nsw i64 %t112, %t114
  %t133 = add nsw i64 %t132, %t116
  %t134 = mul nsw i64 2, %t9
  %t135 = add nsw i64 %t133, %t134
  %t136 = add nsw i64 %t135, %t118
  %t137 = getelementptr inbounds float, ptr %t3, i64 %t136
  %t138 = load <8 x float>, ptr %t137, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %16
  %t139 = fadd <8 x float> %t107, %t138  ; %17
  %t140 = getelementptr inbounds float, ptr %t5, i64 %t136
  store <8 x float> %t139, ptr %t140, align 4, !alias.scope !5, !noalias !4
  %t141 = add nsw i64 %t112, %t114
  %t142 = add nsw i64 %t141, %t116
  %t143 = mul nsw i64 3, %t9
  %t144 = add nsw i64 %t142, %t143
  %t145 = add nsw i64 %t144, %t118
  %t146 = getelementptr inbounds float, ptr %t3, i64 %t145
  %t147 = load <8 x float>, ptr %t146, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %19
  %t148 = fadd <8 x float> %t109, %t147  ; %20
  %t149 = getelementptr inbounds float, ptr %t5, i64 %t145
  store <8 x float> %t148, ptr %t149, align 4, !alias.scope !5, !noalias !4
  %t150 = add nsw i64 %t112, %t114
  %t151 = add nsw i64 %t150, %t116
  %t152 = mul nsw i64 4, %t9
  %t153 = add nsw i64 %t151, %t152
  %t154 = add nsw i64 %t153, %t118
  %t155 = getelementptr inbounds float, ptr %t3, i64 %t154
  %t156 = load <8 x float>, ptr %t155, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %22
  %t157 = fadd <8 x float> %t104, %t156  ; %23
  %t158 = getelementptr inbounds float, ptr %t5, i64 %t154
  store <8 x float> %t157, ptr %t158, align 4, !alias.scope !5, !noalias !4
  %t159 = add nsw i64 %t112, %t114
  %t160 = add nsw i64 %t159, %t116
  %t161 = mul nsw i64 5, %t9
  %t162 = add nsw i64 %t160, %t161
  %t163 = add nsw i64 %t162, %t118
  %t164 = getelementptr inbounds float, ptr %t3, i64 %t163
  %t165 = load <8 x float>, ptr %t164, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %25
  %t166 = fadd <8 x float> %t106, %t165  ; %26
  %t167 = getelementptr inbounds float, ptr %t5, i64 %t163
  store <8 x float> %t166, ptr %t167, align 4, !alias.scope !5, !noalias !4
  %t168 = add nsw i64 %t112, %t114
  %t169 = add nsw i64 %t168, %t116
  %t170 = mul nsw i64 6, %t9
  %t171 = add nsw i64 %t169, %t170
  %t172 = add nsw i64 %t171, %t118
  %t173 = getelementptr inbounds float, ptr %t3, i64 %t172
  %t174 = load <8 x float>, ptr %t173, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %28
  %t175 = fadd <8 x float> %t108, %t174  ; %29
  %t176 = getelementptr inbounds float, ptr %t5, i64 %t172
  store <8 x float> %t175, ptr %t176, align 4, !alias.scope !5, !noalias !4
  %t177 = add nsw i64 %t112, %t114
  %t178 = add nsw i64 %t177, %t116
  %t179 = mul nsw i64 7, %t9
  %t180 = add nsw i64 %t178, %t179
  %t181 = add nsw i64 %t180, %t118
  %t182 = getelementptr inbounds float, ptr %t3, i64 %t181
  %t183 = load <8 x float>, ptr %t182, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %31
  %t184 = fadd <8 x float> %t110, %t183  ; %32
  %t185 = getelementptr inbounds float, ptr %t5, i64 %t181
  store <8 x float> %t184, ptr %t185, align 4, !alias.scope !5, !noalias !4
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t27, 1
  %t186 = icmp slt i64 %loop6.next, %t25
  br i1 %t186, label %loop6, label %done8
done8:
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t20, 1
  %t187 = icmp slt i64 %loop3.next, %t18
  br i1 %t187, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t188 = icmp slt i64 %loop0.next, %end
  br i1 %t188, label %loop0, label %done2
done2:
  ret void
}

declare i64 @llvm.smin.i64(i64, i64)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
