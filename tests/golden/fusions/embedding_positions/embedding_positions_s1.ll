define void @embedding_positions_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable1 = alloca <8 x float>
  %variable30 = alloca <8 x float>
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
  %t12 = getelementptr inbounds ptr, ptr %buffers, i64 6
  %t13 = load ptr, ptr %t12, align 8, !invariant.load !0
  %t14 = getelementptr inbounds i64, ptr %integers, i64 0
  %t15 = load i64, ptr %t14, align 8, !invariant.load !0
  %t16 = getelementptr inbounds i64, ptr %integers, i64 1
  %t17 = load i64, ptr %t16, align 8, !invariant.load !0
  %t18 = getelementptr inbounds i64, ptr %integers, i64 2
  %t19 = load i64, ptr %t18, align 8, !invariant.load !0
  %t20 = getelementptr inbounds i64, ptr %integers, i64 3
  %t21 = load i64, ptr %t20, align 8, !invariant.load !0
  %t22 = getelementptr inbounds i64, ptr %integers, i64 4
  %t23 = load i64, ptr %t22, align 8, !invariant.load !0
  %t24 = getelementptr inbounds i64, ptr %integers, i64 5
  %t25 = load i64, ptr %t24, align 8, !invariant.load !0
  %t26 = icmp slt i64 %begin, %end
  br i1 %t26, label %loop0, label %done2
loop0:
  %t27 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t28 = getelementptr inbounds i64, ptr %t3, i64 %t27
  %t29 = load i64, ptr %t28, align 8, !alias.scope !4, !noalias !5, !invariant.load !0  ; %0
  %t30 = call i64 @llvm.smin.i64(i64 %t27, i64 68719476735)
  %t31 = mul nsw i64 65536, %t30
  %t32 = call i64 @llvm.smin.i64(i64 %t23, i64 2047)
  %t33 = mul nsw i64 4503599627370496, %t32
  %t34 = add nsw i64 %t31, %t33  ; %3
  %t35 = getelementptr inbounds i64, ptr %t9, i64 %t27
  %t36 = load i64, ptr %t35, align 8, !alias.scope !4, !noalias !5, !invariant.load !0  ; %29
  %t37 = call i64 @llvm.smin.i64(i64 %t25, i64 2047)
  %t38 = mul nsw i64 4503599627370496, %t37
  %t39 = add nsw i64 %t31, %t38  ; %32
  %t40 = ashr i64 %t19, 3
  %t41 = icmp slt i64 0, %t40
  br i1 %t41, label %loop3, label %done5
loop3:
  %t42 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <8 x float> splat (float 0x7FF8000000000000), ptr %variable1
  %t43 = icmp slt i64 %t29, %t21
  %t44 = icmp sle i64 0, %t29
  %t45 = and i1 %t43, %t44
  br i1 %t45, label %then6, label %join7
then6:
  %t46 = mul nsw i64 %t29, %t19
  %t47 = mul nsw i64 8, %t42
  %t48 = add nsw i64 %t46, %t47
  %t49 = getelementptr inbounds float, ptr %t1, i64 %t48
  %t50 = load <8 x float>, ptr %t49, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %2
  store <8 x float> %t50, ptr %variable1
  br label %join7
join7:
  %t51 = xor i1 %t45, true
  br i1 %t51, label %then8, label %join9
then8:
  %t52 = icmp ult i64 0, 64
  %t53 = select i1 %t52, i64 0, i64 0
  %t54 = lshr i64 %t29, %t53
  %t55 = select i1 %t52, i64 %t54, i64 0  ; %8
  %t56 = and i64 %t55, 65535  ; %10
  %t57 = or i64 %t34, %t56  ; %11
  %t58 = getelementptr inbounds i64, ptr %t13, i64 0
  atomicrmw umin ptr %t58, i64 %t57 monotonic, align 8
  %t59 = icmp ult i64 16, 64
  %t60 = select i1 %t59, i64 16, i64 0
  %t61 = lshr i64 %t29, %t60
  %t62 = select i1 %t59, i64 %t61, i64 0  ; %13
  %t63 = and i64 %t62, 65535  ; %15
  %t64 = or i64 %t34, %t63  ; %16
  %t65 = getelementptr inbounds i64, ptr %t13, i64 1
  atomicrmw umin ptr %t65, i64 %t64 monotonic, align 8
  %t66 = icmp ult i64 32, 64
  %t67 = select i1 %t66, i64 32, i64 0
  %t68 = lshr i64 %t29, %t67
  %t69 = select i1 %t66, i64 %t68, i64 0  ; %18
  %t70 = and i64 %t69, 65535  ; %20
  %t71 = or i64 %t34, %t70  ; %21
  %t72 = getelementptr inbounds i64, ptr %t13, i64 2
  atomicrmw umin ptr %t72, i64 %t71 monotonic, align 8
  %t73 = icmp ult i64 48, 64
  %t74 = select i1 %t73, i64 48, i64 0
  %t75 = lshr i64 %t29, %t74
  %t76 = select i1 %t73, i64 %t75, i64 0  ; %23
  %t77 = and i64 %t76, 65535  ; %25
  %t78 = or i64 %t34, %t77  ; %26
  %t79 = getelementptr inbounds i64, ptr %t13, i64 3
  atomicrmw umin ptr %t79, i64 %t78 monotonic, align 8
  br label %join9
join9:
  %t80 = urem i64 %t27, %t17
  %t81 = mul nsw i64 %t19, %t80
  %t82 = mul nsw i64 8, %t42
  %t83 = add nsw i64 %t81, %t82
  %t84 = getelementptr inbounds float, ptr %t5, i64 %t83
  %t85 = load <8 x float>, ptr %t84, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %27
  %t86 = load <8 x float>, ptr %variable1
  %t87 = fadd <8 x float> %t86, %t85  ; %28
  store <8 x float> splat (float 0x7FF8000000000000), ptr %variable30
  %t88 = icmp slt i64 %t36, 2
  %t89 = icmp sle i64 0, %t36
  %t90 = and i1 %t88, %t89
  br i1 %t90, label %then10, label %join11
then10:
  %t91 = mul nsw i64 %t36, %t19
  %t92 = add nsw i64 %t91, %t82
  %t93 = getelementptr inbounds float, ptr %t7, i64 %t92
  %t94 = load <8 x float>, ptr %t93, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %31
  store <8 x float> %t94, ptr %variable30
  br label %join11
join11:
  %t95 = xor i1 %t90, true
  br i1 %t95, label %then12, label %join13
then12:
  %t96 = icmp ult i64 0, 64
  %t97 = select i1 %t96, i64 0, i64 0
  %t98 = lshr i64 %t36, %t97
  %t99 = select i1 %t96, i64 %t98, i64 0  ; %37
  %t100 = and i64 %t99, 65535  ; %39
  %t101 = or i64 %t39, %t100  ; %40
  %t102 = getelementptr inbounds i64, ptr %t13, i64 0
  atomicrmw umin ptr %t102, i64 %t101 monotonic, align 8
  %t103 = icmp ult i64 16, 64
  %t104 = select i1 %t103, i64 16, i64 0
  %t105 = lshr i64 %t36, %t104
  %t106 = select i1 %t103, i64 %t105, i64 0  ; %42
  %t107 = and i64 %t106, 65535  ; %44
  %t108 = or i64 %t39, %t107  ; %45
  %t109 = getelementptr inbounds i64, ptr %t13, i64 1
  atomicrmw umin ptr %t109, i64 %t108 monotonic, align 8
  %t110 = icmp ult i64 32, 64
  %t111 = select i1 %t110, i64 32, i64 0
  %t112 = lshr i64 %t36, %t111
  %t113 = select i1 %t110, i64 %t112, i64 0  ; %47
  %t114 = and i64 %t113, 65535  ; %49
  %t115 = or i64 %t39, %t114  ; %50
  %t116 = getelementptr inbounds i64, ptr %t13, i64 2
  atomicrmw umin ptr %t116, i64 %t115 monotonic, align 8
  %t117 = icmp ult i64 48, 64
  %t118 = select i1 %t117, i64 48, i64 0
  %t119 = lshr i64 %t36, %t118
  %t120 = select i1 %t117, i64 %t119, i64 0  ; %52
  %t121 = and i64 %t120, 65535  ; %54
  %t122 = or i64 %t39, %t121  ; %55
  %t123 = getelementptr inbounds i64, ptr %t13, i64 3
  atomicrmw umin ptr %t123, i64 %t122 monotonic, align 8
  br label %join13
join13:
  %t124 = load <8 x float>, ptr %variable30
  %t125 = fadd <8 x float> %t87, %t124  ; %56
  %t126 = mul nsw i64 %t27, %t19
  %t127 = add nsw i64 %t126, %t82
  %t128 = getelementptr inbounds float, ptr %t11, i64 %t127
  store <8 x float> %t125, ptr %t128, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t42, 1
  %t129 = icmp slt i64 %loop3.next, %t40
  br i1 %t129, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t27, 1
  %t130 = icmp slt i64 %loop0.next, %end
  br i1 %t130, label %loop0, label %done2
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
