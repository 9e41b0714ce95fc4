define void @qkv_split_rope_s2(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t10 = getelementptr inbounds ptr, ptr %buffers, i64 5
  %t11 = load ptr, ptr %t10, align 8, !invariant.load !0
  %t12 = getelementptr inbounds i64, ptr %integers, i64 0
  %t13 = load i64, ptr %t12, align 8, !invariant.load !0
  %t14 = getelementptr inbounds i64, ptr %integers, i64 1
  %t15 = load i64, ptr %t14, align 8, !invariant.load !0
  %t16 = getelementptr inbounds i64, ptr %integers, i64 2
  %t17 = load i64, ptr %t16, align 8, !invariant.load !0
  %t18 = getelementptr inbounds i64, ptr %integers, i64 3
  %t19 = load i64, ptr %t18, align 8, !invariant.load !0
  %t20 = icmp slt i64 %begin, %end
  br i1 %t20, label %loop0, label %done2
loop0:
  %t21 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t22 = ashr i64 %t19, 2
  %t23 = icmp slt i64 0, %t22
  br i1 %t23, label %loop3, label %done5
loop3:
  %t24 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t25 = mul nsw i64 6, %t15
  %t26 = mul nsw i64 %t25, %t19
  %t27 = urem i64 %t21, %t17
  %t28 = mul nsw i64 %t26, %t27
  %t29 = mul nsw i64 2, %t19
  %t30 = udiv i64 %t21, %t17
  %t31 = urem i64 %t30, %t15
  %t32 = mul nsw i64 %t29, %t31
  %t33 = add nsw i64 %t28, %t32
  %t34 = mul nsw i64 6, %t15
  %t35 = mul nsw i64 %t34, %t17
  %t36 = mul nsw i64 %t35, %t19
  %t37 = mul nsw i64 %t15, %t17
  %t38 = udiv i64 %t21, %t37
  %t39 = mul nsw i64 %t36, %t38
  %t40 = add nsw i64 %t33, %t39
  %t41 = mul nsw i64 8, %t24
  %t42 = add nsw i64 %t40, %t41
  %t43 = getelementptr inbounds float, ptr %t1, i64 %t42
  %t44 = load <8 x float>, ptr %t43, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %0
  %t45 = mul nsw i64 2, %t19
  %t46 = mul nsw i64 %t45, %t27
  %t47 = add nsw i64 %t46, %t41
  %t48 = getelementptr inbounds float, ptr %t3, i64 %t47
  %t49 = load <8 x float>, ptr %t48, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %1
  %t50 = fmul <8 x float> %t44, %t49  ; %2
  %t51 = udiv i64 %t41, %t19  ; %25
  %t52 = insertelement <8 x i64> poison, i64 %t51, i64 0
  %t53 = shufflevector <8 x i64> %t52, <8 x i64> poison, <8 x i32> zeroinitializer  ; %3
  %t54 = icmp eq <8 x i64> %t53, splat (i64 0)  ; %5
  %t55 = mul nsw i64 -2, %t19
  %t56 = mul nsw i64 %t55, %t51
  %t57 = add nsw i64 %t28, %t56
  %t58 = add nsw i64 %t57, %t32
  %t59 = add nsw i64 %t58, %t39
  %t60 = add nsw i64 %t59, %t41
  %t61 = add nsw i64 %t60, %t19
  %t62 = getelementptr inbounds float, ptr %t1, i64 %t61
  %t63 = load <8 x float>, ptr %t62, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %6
  %t64 = fneg <8 x float> %t63  ; %7
  %t65 = select <8 x i1> %t54, <8 x float> %t64, <8 x float> %t63  ; %8
  %t66 = getelementptr inbounds float, ptr %t5, i64 %t47
  %t67 = load <8 x float>, ptr %t66, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %9
  %t68 = fmul <8 x float> %t65, %t67  ; %10
  %t69 = fadd <8 x float> %t50, %t68  ; %11
  %t70 = mul nsw i64 2, %t21
  %t71 = mul nsw i64 %t70, %t19
  %t72 = add nsw i64 %t71, %t41
  %t73 = getelementptr inbounds float, ptr %t7, i64 %t72
  store <8 x float> %t69, ptr %t73, align 4, !alias.scope !5, !noalias !4
  %t74 = mul nsw i64 2, %t15
  %t75 = mul nsw i64 %t74, %t19
  %t76 = add nsw i64 %t75, %t28
  %t77 = add nsw i64 %t76, %t32
  %t78 = add nsw i64 %t77, %t39
  %t79 = add nsw i64 %t78, %t41
  %t80 = getelementptr inbounds float, ptr %t1, i64 %t79
  %t81 = load <8 x float>, ptr %t80, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %12
  %t82 = fmul <8 x float> %t81, %t49  ; %14
  %t83 = add nsw i64 %t75, %t28
  %t84 = add nsw i64 %t83, %t56
  %t85 = add nsw i64 %t84, %t32
  %t86 = add nsw i64 %t85, %t39
  %t87 = add nsw i64 %t86, %t41
  %t88 = add nsw i64 %t87, %t19
  %t89 = getelementptr inbounds float, ptr %t1, i64 %t88
  %t90 = load <8 x float>, ptr %t89, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %18
  %t91 = fneg <8 x float> %t90  ; %19
  %t92 = select <8 x i1> %t54, <8 x float> %t91, <8 x float> %t90  ; %20
  %t93 = fmul <8 x float> %t92, %t67  ; %22
  %t94 = fadd <8 x float> %t82, %t93  ; %23
  %t95 = getelementptr inbounds float, ptr %t9, i64 %t72
  store <8 x float> %t94, ptr %t95, align 4, !alias.scope !5, !noalias !4
  %t96 = mul nsw i64 4, %t15
  %t97 = mul nsw i64 %t96, %t19
  %t98 = add nsw i64 %t97, %t28
  %t99 = add nsw i64 %t98, %t32
  %t100 = add nsw i64 %t99, %t39
  %t101 = add nsw i64 %t100, %t41
  %t102 = getelementptr inbounds float, ptr %t1, i64 %t101
  %t103 = load <8 x float>, ptr %t102, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %24
  %t104 = getelementptr inbounds float, ptr %t11, i64 %t72
  store <8 x float> %t103, ptr %t104, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t24, 1
  %t105 = icmp slt i64 %loop3.next, %t22
  br i1 %t105, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t21, 1
  %t106 = icmp slt i64 %loop0.next, %end
  br i1 %t106, label %loop0, label %done2
done2:
  ret void
}

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
