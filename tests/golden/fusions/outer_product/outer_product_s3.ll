define void @outer_product_s3(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds ptr, ptr %buffers, i64 2
  %t5 = load ptr, ptr %t4, align 8, !invariant.load !0
  %t6 = getelementptr inbounds ptr, ptr %buffers, i64 3
  %t7 = load ptr, ptr %t6, align 8, !invariant.load !0
  %t8 = getelementptr inbounds i64, ptr %integers, i64 0
  %t9 = load i64, ptr %t8, align 8, !invariant.load !0
  %t10 = getelementptr inbounds i64, ptr %integers, i64 1
  %t11 = load i64, ptr %t10, align 8, !invariant.load !0
  %t12 = getelementptr inbounds i64, ptr %integers, i64 2
  %t13 = load i64, ptr %t12, align 8, !invariant.load !0
  %t14 = icmp slt i64 %begin, %end
  br i1 %t14, label %loop0, label %done2
loop0:
  %t15 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t16 = getelementptr inbounds float, ptr %t1, i64 %t15
  %t17 = load float, ptr %t16, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t18 = insertelement <8 x float> poison, float %t17, i64 0
  %t19 = shufflevector <8 x float> %t18, <8 x float> poison, <8 x i32> zeroinitializer  ; %0
  %t20 = ashr i64 %t13, 3
  %t21 = icmp slt i64 0, %t20
  br i1 %t21, label %loop3, label %done5
loop3:
  %t22 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t23 = udiv i64 %t15, %t11
  %t24 = mul nsw i64 %t13, %t23
  %t25 = mul nsw i64 8, %t22
  %t26 = add nsw i64 %t24, %t25
  %t27 = getelementptr inbounds float, ptr %t3, i64 %t26
  %t28 = load <8 x float>, ptr %t27, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %1
  %t29 = fmul <8 x float> %t19, %t28  ; %2
  %t30 = urem i64 %t15, %t11
  %t31 = mul nsw i64 %t13, %t30
  %t32 = add nsw i64 %t31, %t25
  %t33 = getelementptr inbounds float, ptr %t5, i64 %t32
  %t34 = load <8 x float>, ptr %t33, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %3
  %t35 = fadd <8 x float> %t29, %t34  ; %4
  %t36 = fcmp ugt <8 x float> %t35, splat (float 0x0000000000000000)
  %t37 = select <8 x i1> %t36, <8 x float> %t35, <8 x float> splat (float 0x0000000000000000)  ; %5
  %t38 = mul nsw i64 %t15, %t13
  %t39 = add nsw i64 %t38, %t25
  %t40 = getelementptr inbounds float, ptr %t7, i64 %t39
  store <8 x float> %t37, ptr %t40, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t22, 1
  %t41 = icmp slt i64 %loop3.next, %t20
  br i1 %t41, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t15, 1
  %t42 = icmp slt i64 %loop0.next, %end
  br i1 %t42, label %loop0, label %done2
done2:
  ret void
}

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
