define void @softmax_s4(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t12 = getelementptr inbounds float, ptr %t3, i64 %t11
  %t13 = load float, ptr %t12, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t14 = insertelement <8 x float> poison, float %t13, i64 0
  %t15 = shufflevector <8 x float> %t14, <8 x float> poison, <8 x i32> zeroinitializer
  %t16 = ashr i64 %t9, 3
  %t17 = icmp slt i64 0, %t16
  br i1 %t17, label %loop3, label %done5
loop3:
  %t18 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t19 = mul nsw i64 %t11, %t9
  %t20 = mul nsw i64 8, %t18
  %t21 = add nsw i64 %t19, %t20
  %t22 = getelementptr inbounds float, ptr %t1, i64 %t21
  %t23 = load <8 x float>, ptr %t22, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t24 = fdiv <8 x float> %t23, %t15
  %t25 = getelementptr inbounds float, ptr %t5, i64 %t21
  store <8 x float> %t24, ptr %t25, align 32, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t18, 1
  %t26 = icmp slt i64 %loop3.next, %t16
  br i1 %t26, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t27 = icmp slt i64 %loop0.next, %end
  br i1 %t27, label %loop0, label %done2
done2:
  ret void
}

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
