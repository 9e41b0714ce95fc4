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
  %t12 = add nsw i64 %t9, 8191
  %t13 = ashr i64 %t12, 13
  %t14 = udiv i64 %t11, %t13
  %t15 = getelementptr inbounds float, ptr %t3, i64 %t14
  %t16 = load float, ptr %t15, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t17 = insertelement <8 x float> poison, float %t16, i64 0
  %t18 = shufflevector <8 x float> %t17, <8 x float> poison, <8 x i32> zeroinitializer
  %t19 = ashr i64 %t9, 3
  %t20 = urem i64 %t11, %t13
  %t21 = mul nsw i64 -1024, %t20
  %t22 = add nsw i64 %t19, %t21
  %t23 = call i64 @llvm.smin.i64(i64 1024, i64 %t22)
  %t24 = icmp slt i64 0, %t23
  br i1 %t24, label %loop3, label %done5
loop3:
  %t25 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t26 = mul nsw i64 %t9, %t14
  %t27 = mul nsw i64 8, %t25
  %t28 = add nsw i64 %t26, %t27
  %t29 = mul nsw i64 8192, %t20
  %t30 = add nsw i64 %t28, %t29
  %t31 = getelementptr inbounds float, ptr %t1, i64 %t30
  %t32 = load <8 x float>, ptr %t31, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t33 = fdiv <8 x float> %t32, %t18
  %t34 = getelementptr inbounds float, ptr %t5, i64 %t30
  store <8 x float> %t33, ptr %t34, align 32, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t25, 1
  %t35 = icmp slt i64 %loop3.next, %t23
  br i1 %t35, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t36 = icmp slt i64 %loop0.next, %end
  br i1 %t36, label %loop0, label %done2
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
