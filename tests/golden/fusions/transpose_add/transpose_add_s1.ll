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
  %t12 = ashr i64 %t9, 3
  %t13 = icmp slt i64 0, %t12
  br i1 %t13, label %loop3, label %done5
loop3:
  %t14 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t15 = mul nsw i64 8, %t14
  %t16 = mul nsw i64 %t15, %t7
  %t17 = add nsw i64 %t16, %t11
  %t18 = getelementptr inbounds float, ptr %t1, i64 %t17
  %t19 = load float, ptr %t18, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t20 = insertelement <8 x float> poison, float %t19, i64 0
  %t21 = add nsw i64 %t16, %t11
  %t22 = add nsw i64 %t21, %t7
  %t23 = getelementptr inbounds float, ptr %t1, i64 %t22
  %t24 = load float, ptr %t23, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t25 = insertelement <8 x float> %t20, float %t24, i64 1
  %t26 = add nsw i64 %t16, %t11
  %t27 = mul nsw i64 2, %t7
  %t28 = add nsw i64 %t26, %t27
  %t29 = getelementptr inbounds float, ptr %t1, i64 %t28
  %t30 = load float, ptr %t29, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t31 = insertelement <8 x float> %t25, float %t30, i64 2
  %t32 = add nsw i64 %t16, %t11
  %t33 = mul nsw i64 3, %t7
  %t34 = add nsw i64 %t32, %t33
  %t35 = getelementptr inbounds float, ptr %t1, i64 %t34
  %t36 = load float, ptr %t35, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t37 = insertelement <8 x float> %t31, float %t36, i64 3
  %t38 = add nsw i64 %t16, %t11
  %t39 = mul nsw i64 4, %t7
  %t40 = add nsw i64 %t38, %t39
  %t41 = getelementptr inbounds float, ptr %t1, i64 %t40
  %t42 = load float, ptr %t41, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t43 = insertelement <8 x float> %t37, float %t42, i64 4
  %t44 = add nsw i64 %t16, %t11
  %t45 = mul nsw i64 5, %t7
  %t46 = add nsw i64 %t44, %t45
  %t47 = getelementptr inbounds float, ptr %t1, i64 %t46
  %t48 = load float, ptr %t47, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t49 = insertelement <8 x float> %t43, float %t48, i64 5
  %t50 = add nsw i64 %t16, %t11
  %t51 = mul nsw i64 6, %t7
  %t52 = add nsw i64 %t50, %t51
  %t53 = getelementptr inbounds float, ptr %t1, i64 %t52
  %t54 = load float, ptr %t53, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t55 = insertelement <8 x float> %t49, float %t54, i64 6
  %t56 = add nsw i64 %t16, %t11
  %t57 = mul nsw i64 7, %t7
  %t58 = add nsw i64 %t56, %t57
  %t59 = getelementptr inbounds float, ptr %t1, i64 %t58
  %t60 = load float, ptr %t59, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t61 = insertelement <8 x float> %t55, float %t60, i64 7
  %t62 = mul nsw i64 %t11, %t9
  %t63 = mul nsw i64 8, %t14
  %t64 = add nsw i64 %t62, %t63
  %t65 = getelementptr inbounds float, ptr %t3, i64 %t64
  %t66 = load <8 x float>, ptr %t65, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t67 = fadd <8 x float> %t61, %t66
  %t68 = getelementptr inbounds float, ptr %t5, i64 %t64
  store <8 x float> %t67, ptr %t68, align 32, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t14, 1
  %t69 = icmp slt i64 %loop3.next, %t12
  br i1 %t69, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t70 = icmp slt i64 %loop0.next, %end
  br i1 %t70, label %loop0, label %done2
done2:
  ret void
}

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
