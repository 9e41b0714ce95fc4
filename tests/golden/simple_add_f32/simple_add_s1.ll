define void @simple_add_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds ptr, ptr %buffers, i64 2
  %t5 = load ptr, ptr %t4, align 8, !invariant.load !0
  %t6 = icmp slt i64 %begin, %end
  br i1 %t6, label %then0, label %join1
then0:
  %t7 = icmp slt i64 0, 1
  br i1 %t7, label %loop2, label %done4
loop2:
  %t8 = phi i64 [ 0, %then0 ], [ %loop2.next, %latch3 ]
  %t9 = mul nsw i64 4, %t8
  %t10 = getelementptr inbounds float, ptr %t1, i64 %t9
  %t11 = load <4 x float>, ptr %t10, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %0
  %t12 = getelementptr inbounds float, ptr %t3, i64 %t9
  %t13 = load <4 x float>, ptr %t12, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %1
  %t14 = fadd <4 x float> %t11, %t13  ; %2
  %t15 = getelementptr inbounds float, ptr %t5, i64 %t9
  store <4 x float> %t14, ptr %t15, align 4, !alias.scope !5, !noalias !4
  br label %latch3
latch3:
  %loop2.next = add nuw nsw i64 %t8, 1
  %t16 = icmp slt i64 %loop2.next, 1
  br i1 %t16, label %loop2, label %done4
done4:
  br label %join1
join1:
  ret void
}

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
