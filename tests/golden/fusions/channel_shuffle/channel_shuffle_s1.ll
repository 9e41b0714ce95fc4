define void @channel_shuffle_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds i64, ptr %integers, i64 0
  %t5 = load i64, ptr %t4, align 8, !invariant.load !0
  %t6 = getelementptr inbounds i64, ptr %integers, i64 1
  %t7 = load i64, ptr %t6, align 8, !invariant.load !0
  %t8 = getelementptr inbounds i64, ptr %integers, i64 2
  %t9 = load i64, ptr %t8, align 8, !invariant.load !0
  %t10 = getelementptr inbounds i64, ptr %integers, i64 3
  %t11 = load i64, ptr %t10, align 8, !invariant.load !0
  %t12 = icmp slt i64 %begin, %end
  br i1 %t12, label %loop0, label %done2
loop0:
  %t13 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t14 = ashr i64 %t11, 3
  %t15 = icmp slt i64 0, %t14
  br i1 %t15, label %loop3, label %done5
loop3:
  %t16 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t17 = mul nsw i64 %t7, %t11
  %t18 = urem i64 %t13, %t9
  %t19 = mul nsw i64 %t17, %t18
  %t20 = udiv i64 %t13, %t9
  %t21 = urem i64 %t20, %t7
  %t22 = mul nsw i64 %t11, %t21
  %t23 = add nsw i64 %t19, %t22
  %t24 = mul nsw i64 %t7, %t9
  %t25 = mul nsw i64 %t24, %t11
  %t26 = mul nsw i64 %t7, %t9
  %t27 = udiv i64 %t13, %t26
  %t28 = mul nsw i64 %t25, %t27
  %t29 = add nsw i64 %t23, %t28
  %t30 = mul nsw i64 8, %t16
  %t31 = add nsw i64 %t29, %t30
  %t32 = getelementptr inbounds float, ptr %t1, i64 %t31
  %t33 = load <8 x float>, ptr %t32, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %0
  %t34 = fcmp ugt <8 x float> %t33, splat (float 0x0000000000000000)
  %t35 = select <8 x i1> %t34, <8 x float> %t33, <8 x float> splat (float 0x0000000000000000)  ; %1
  %t36 = mul nsw i64 %t13, %t11
  %t37 = add nsw i64 %t36, %t30
  %t38 = getelementptr inbounds float, ptr %t3, i64 %t37
  store <8 x float> %t35, ptr %t38, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t16, 1
  %t39 = icmp slt i64 %loop3.next, %t14
  br i1 %t39, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t13, 1
  %t40 = icmp slt i64 %loop0.next, %end
  br i1 %t40, label %loop0, label %done2
done2:
  ret void
}

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
