define void @rope_q_and_k_s3(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t12 = getelementptr inbounds ptr, ptr %buffers, i64 6
  %t13 = load ptr, ptr %t12, align 8, !invariant.load !0
  %t14 = getelementptr inbounds ptr, ptr %buffers, i64 7
  %t15 = load ptr, ptr %t14, align 8, !invariant.load !0
  %t16 = getelementptr inbounds i64, ptr %integers, i64 0
  %t17 = load i64, ptr %t16, align 8, !invariant.load !0
  %t18 = getelementptr inbounds i64, ptr %integers, i64 1
  %t19 = load i64, ptr %t18, align 8, !invariant.load !0
  %t20 = getelementptr inbounds i64, ptr %integers, i64 2
  %t21 = load i64, ptr %t20, align 8, !invariant.load !0
  %t22 = getelementptr inbounds i64, ptr %integers, i64 3
  %t23 = load i64, ptr %t22, align 8, !invariant.load !0
  %t24 = icmp slt i64 %begin, %end
  br i1 %t24, label %loop0, label %done2
loop0:
  %t25 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t26 = ashr i64 %t23, 2
  %t27 = icmp slt i64 0, %t26
  br i1 %t27, label %loop3, label %done5
loop3:
  %t28 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t29 = mul nsw i64 2, %t25
  %t30 = mul nsw i64 %t29, %t23
  %t31 = mul nsw i64 8, %t28
  %t32 = add nsw i64 %t30, %t31
  %t33 = getelementptr inbounds float, ptr %t3, i64 %t32
  %t34 = load <8 x float>, ptr %t33, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %0
  %t35 = mul nsw i64 2, %t23
  %t36 = urem i64 %t25, %t21
  %t37 = mul nsw i64 %t35, %t36
  %t38 = add nsw i64 %t37, %t31
  %t39 = getelementptr inbounds float, ptr %t5, i64 %t38
  %t40 = load <8 x float>, ptr %t39, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %1
  %t41 = fmul <8 x float> %t34, %t40  ; %2
  %t42 = udiv i64 %t31, %t23  ; %24
  %t43 = insertelement <8 x i64> poison, i64 %t42, i64 0
  %t44 = shufflevector <8 x i64> %t43, <8 x i64> poison, <8 x i32> zeroinitializer  ; %3
  %t45 = icmp eq <8 x i64> %t44, splat (i64 0)  ; %5
  %t46 = mul nsw i64 -2, %t23
  %t47 = mul nsw i64 %t46, %t42
  %t48 = add nsw i64 %t30, %t47
  %t49 = add nsw i64 %t48, %t31
  %t50 = add nsw i64 %t49, %t23
  %t51 = getelementptr inbounds float, ptr %t1, i64 %t50
  %t52 = load <8 x float>, ptr %t51, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %6
  %t53 = fneg <8 x float> %t52  ; %7
  %t54 = select <8 x i1> %t45, <8 x float> %t53, <8 x float> %t52  ; %8
  %t55 = getelementptr inbounds float, ptr %t7, i64 %t38
  %t56 = load <8 x float>, ptr %t55, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %9
  %t57 = fmul <8 x float> %t54, %t56  ; %10
  %t58 = fadd <8 x float> %t41, %t57  ; %11
  %t59 = getelementptr inbounds float, ptr %t13, i64 %t32
  store <8 x float> %t58, ptr %t59, align 4, !alias.scope !5, !noalias !4
  %t60 = getelementptr inbounds float, ptr %t11, i64 %t32
  %t61 = load <8 x float>, ptr %t60, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %12
  %t62 = fmul <8 x float> %t61, %t40  ; %14
  %t63 = getelementptr inbounds float, ptr %t9, i64 %t50
  %t64 = load <8 x float>, ptr %t63, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %18
  %t65 = fneg <8 x float> %t64  ; %19
  %t66 = select <8 x i1> %t45, <8 x float> %t65, <8 x float> %t64  ; %20
  %t67 = fmul <8 x float> %t66, %t56  ; %22
  %t68 = fadd <8 x float> %t62, %t67  ; %23
  %t69 = getelementptr inbounds float, ptr %t15, i64 %t32
  store <8 x float> %t68, ptr %t69, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t28, 1
  %t70 = icmp slt i64 %loop3.next, %t26
  br i1 %t70, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t25, 1
  %t71 = icmp slt i64 %loop0.next, %end
  br i1 %t71, label %loop0, label %done2
done2:
  ret void
}

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
