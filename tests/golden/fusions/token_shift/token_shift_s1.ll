define void @token_shift_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <8 x float>
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
  %t12 = icmp slt i64 %begin, %end
  br i1 %t12, label %loop0, label %done2
loop0:
  %t13 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t14 = ashr i64 %t11, 3
  %t15 = icmp slt i64 0, %t14
  br i1 %t15, label %loop3, label %done5
loop3:
  %t16 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <8 x float> splat (float 0x0000000000000000), ptr %variable0
  %t17 = urem i64 %t13, %t9
  %t18 = icmp slt i64 0, %t17
  br i1 %t18, label %then6, label %join7
then6:
  %t19 = mul nsw i64 %t13, %t11
  %t20 = mul nsw i64 8, %t16
  %t21 = add nsw i64 %t19, %t20
  %t22 = mul nsw i64 -1, %t11
  %t23 = add nsw i64 %t21, %t22
  %t24 = getelementptr inbounds float, ptr %t1, i64 %t23
  %t25 = load <8 x float>, ptr %t24, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %1
  store <8 x float> %t25, ptr %variable0
  br label %join7
join7:
  %t26 = mul nsw i64 %t13, %t11
  %t27 = mul nsw i64 8, %t16
  %t28 = add nsw i64 %t26, %t27
  %t29 = getelementptr inbounds float, ptr %t1, i64 %t28
  %t30 = load <8 x float>, ptr %t29, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %2
  %t31 = getelementptr inbounds float, ptr %t3, i64 %t27
  %t32 = load <8 x float>, ptr %t31, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %3
  %t33 = load <8 x float>, ptr %variable0
  %t34 = fsub <8 x float> %t30, %t33  ; %5
  %t35 = load <8 x float>, ptr %variable0
  %t36 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t32, <8 x float> %t34, <8 x float> %t35)  ; %6
  %t37 = fsub <8 x float> splat (float 0x3FF0000000000000), %t32  ; %8
  %t38 = fmul <8 x float> %t34, %t37  ; %9
  %t39 = fsub <8 x float> %t30, %t38  ; %10
  %t40 = call <8 x float> @llvm.fabs.v8f32(<8 x float> %t32)  ; %11
  %t41 = fcmp olt <8 x float> %t40, splat (float 0x3FE0000000000000)  ; %13
  %t42 = select <8 x i1> %t41, <8 x float> %t36, <8 x float> %t39  ; %4
  %t43 = getelementptr inbounds float, ptr %t5, i64 %t28
  store <8 x float> %t42, ptr %t43, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t16, 1
  %t44 = icmp slt i64 %loop3.next, %t14
  br i1 %t44, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t13, 1
  %t45 = icmp slt i64 %loop0.next, %end
  br i1 %t45, label %loop0, label %done2
done2:
  ret void
}

declare <8 x float> @llvm.fabs.v8f32(<8 x float>)
declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
