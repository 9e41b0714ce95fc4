define void @pixel_shuffle_s3(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t10 = getelementptr inbounds i64, ptr %integers, i64 2
  %t11 = load i64, ptr %t10, align 8, !invariant.load !0
  %t12 = getelementptr inbounds i64, ptr %integers, i64 3
  %t13 = load i64, ptr %t12, align 8, !invariant.load !0
  %t14 = icmp slt i64 %begin, %end
  br i1 %t14, label %loop0, label %done2
loop0:
  %t15 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t16 = mul nsw i64 2, %t11
  %t17 = udiv i64 %t15, %t16
  %t18 = urem i64 %t17, %t9
  %t19 = getelementptr inbounds float, ptr %t3, i64 %t18
  %t20 = load float, ptr %t19, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %1
  %t21 = insertelement <8 x float> poison, float %t20, i64 0
  %t22 = shufflevector <8 x float> %t21, <8 x float> poison, <8 x i32> zeroinitializer  ; %3
  %t23 = ashr i64 %t13, 2
  %t24 = icmp slt i64 0, %t23
  br i1 %t24, label %loop3, label %done5
loop3:
  %t25 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t26 = mul nsw i64 2, %t11
  %t27 = mul nsw i64 %t26, %t13
  %t28 = and i64 %t15, 1
  %t29 = mul nsw i64 %t27, %t28
  %t30 = ashr i64 %t15, 1
  %t31 = urem i64 %t30, %t11
  %t32 = mul nsw i64 %t13, %t31
  %t33 = add nsw i64 %t29, %t32
  %t34 = mul nsw i64 4, %t11
  %t35 = mul nsw i64 %t34, %t13
  %t36 = mul nsw i64 %t35, %t17
  %t37 = add nsw i64 %t33, %t36
  %t38 = mul nsw i64 4, %t25
  %t39 = add nsw i64 %t37, %t38
  %t40 = getelementptr inbounds float, ptr %t1, i64 %t39
  %t41 = load float, ptr %t40, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t42 = insertelement <8 x float> poison, float %t41, i64 0
  %t43 = mul nsw i64 %t11, %t13
  %t44 = add nsw i64 %t43, %t29
  %t45 = add nsw i64 %t44, %t32
  %t46 = add nsw i64 %t45, %t36
  %t47 = add nsw i64 %t46, %t38
  %t48 = getelementptr inbounds float, ptr %t1, i64 %t47
  %t49 = load float, ptr %t48, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t50 = insertelement <8 x float> %t42, float %t49, i64 1
  %t51 = add nsw i64 %t29, %t32
  %t52 = add nsw i64 %t51, %t36
  %t53 = add nsw i64 %t52, %t38
  %t54 = add nsw i64 %t53, 1
  %t55 = getelementptr inbounds float, ptr %t1, i64 %t54
  %t56 = load float, ptr %t55, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t57 = insertelement <8 x float> %t50, float %t56, i64 2
  %t58 = add nsw i64 %t43, %t29
  %t59 = add nsw i64 %t58, %t32
  %t60 = add nsw i64 %t59, %t36
  %t61 = add nsw i64 %t60, %t38
  %t62 = add nsw i64 %t61, 1
  %t63 = getelementptr inbounds float, ptr %t1, i64 %t62
  %t64 = load float, ptr %t63, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t65 = insertelement <8 x float> %t57, float %t64, i64 3
  %t66 = add nsw i64 %t29, %t32
  %t67 = add nsw i64 %t66, %t36
  %t68 = add nsw i64 %t67, %t38
  %t69 = add nsw i64 %t68, 2
  %t70 = getelementptr inbounds float, ptr %t1, i64 %t69
  %t71 = load float, ptr %t70, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t72 = insertelement <8 x float> %t65, float %t71, i64 4
  %t73 = add nsw i64 %t43, %t29
  %t74 = add nsw i64 %t73, %t32
  %t75 = add nsw i64 %t74, %t36
  %t76 = add nsw i64 %t75, %t38
  %t77 = add nsw i64 %t76, 2
  %t78 = getelementptr inbounds float, ptr %t1, i64 %t77
  %t79 = load float, ptr %t78, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t80 = insertelement <8 x float> %t72, float %t79, i64 5
  %t81 = add nsw i64 %t29, %t32
  %t82 = add nsw i64 %t81, %t36
  %t83 = add nsw i64 %t82, %t38
  %t84 = add nsw i64 %t83, 3
  %t85 = getelementptr inbounds float, ptr %t1, i64 %t84
  %t86 = load float, ptr %t85, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t87 = insertelement <8 x float> %t80, float %t86, i64 6
  %t88 = add nsw i64 %t43, %t29
  %t89 = add nsw i64 %t88, %t32
  %t90 = add nsw i64 %t89, %t36
  %t91 = add nsw i64 %t90, %t38
  %t92 = add nsw i64 %t91, 3
  %t93 = getelementptr inbounds float, ptr %t1, i64 %t92
  %t94 = load float, ptr %t93, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t95 = insertelement <8 x float> %t87, float %t94, i64 7  ; %0
  %t96 = fadd <8 x float> %t95, %t22  ; %2
  %t97 = mul nsw i64 2, %t15
  %t98 = mul nsw i64 %t97, %t13
  %t99 = mul nsw i64 8, %t25
  %t100 = add nsw i64 %t98, %t99
  %t101 = getelementptr inbounds float, ptr %t5, i64 %t100
  store <8 x float> %t96, ptr %t101, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t25, 1
  %t102 = icmp slt i64 %loop3.next, %t23
  br i1 %t102, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t15, 1
  %t103 = icmp slt i64 %loop0.next, %end
  br i1 %t103, label %loop0, label %done2
done2:
  ret void
}

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
