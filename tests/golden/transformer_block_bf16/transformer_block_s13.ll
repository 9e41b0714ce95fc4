define void @transformer_block_s13(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t10 = icmp slt i64 %begin, %end
  br i1 %t10, label %loop0, label %done2
loop0:
  %t11 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t12 = icmp slt i64 0, 2
  br i1 %t12, label %loop3, label %done5
loop3:
  %t13 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t14 = mul nsw i64 16, %t7
  %t15 = urem i64 %t11, %t9
  %t16 = mul nsw i64 %t14, %t15
  %t17 = mul nsw i64 16, %t7
  %t18 = mul nsw i64 %t17, %t9
  %t19 = mul nsw i64 %t7, %t9
  %t20 = udiv i64 %t11, %t19
  %t21 = mul nsw i64 %t18, %t20
  %t22 = add nsw i64 %t16, %t21
  %t23 = mul nsw i64 8, %t13
  %t24 = add nsw i64 %t22, %t23
  %t25 = udiv i64 %t11, %t9
  %t26 = urem i64 %t25, %t7
  %t27 = mul nsw i64 16, %t26
  %t28 = add nsw i64 %t24, %t27
  %t29 = getelementptr inbounds i16, ptr %t1, i64 %t28
  %t30 = load <8 x i16>, ptr %t29, align 2, !alias.scope !4, !noalias !5, !invariant.load !0
  %t31 = call <8 x float> @plait.from_bf16.v8i16(<8 x i16> %t30)
  %t32 = mul nsw i64 16, %t11
  %t33 = add nsw i64 %t32, %t23
  %t34 = getelementptr inbounds float, ptr %t3, i64 %t33
  store <8 x float> %t31, ptr %t34, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t13, 1
  %t35 = icmp slt i64 %loop3.next, 2
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

define internal <8 x float> @plait.from_bf16.v8i16(<8 x i16> %p0) alwaysinline nounwind {
entry:
  %t0 = zext <8 x i16> %p0 to <8 x i32>
  %t1 = shl <8 x i32> %t0, splat (i32 16)
  %t2 = bitcast <8 x i32> %t1 to <8 x float>
  ret <8 x float> %t2
}

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
