define void @cumsum_chain_s2(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca double
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds i64, ptr %integers, i64 0
  %t5 = load i64, ptr %t4, align 8, !invariant.load !0
  %t6 = getelementptr inbounds i64, ptr %integers, i64 1
  %t7 = load i64, ptr %t6, align 8, !invariant.load !0
  %t8 = icmp slt i64 %begin, %end
  br i1 %t8, label %loop0, label %done2
loop0:
  %t9 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  store double 0x0000000000000000, ptr %variable0
  %t10 = icmp slt i64 0, %t7
  br i1 %t10, label %loop3, label %done5
loop3:
  %t11 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t12 = mul nsw i64 %t9, %t7
  %t13 = add nsw i64 %t12, %t11
  %t14 = getelementptr inbounds float, ptr %t1, i64 %t13
  %t15 = load float, ptr %t14, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t16 = fpext float %t15 to double
  %t17 = load double, ptr %variable0
  %t18 = fadd double %t17, %t16
  store double %t18, ptr %variable0
  %t19 = load double, ptr %variable0
  %t20 = fptrunc double %t19 to float
  %t21 = getelementptr inbounds float, ptr %t3, i64 %t13
  store float %t20, ptr %t21, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t11, 1
  %t22 = icmp slt i64 %loop3.next, %t7
  br i1 %t22, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t9, 1
  %t23 = icmp slt i64 %loop0.next, %end
  br i1 %t23, label %loop0, label %done2
done2:
  ret void
}

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
