define void @transformer_block_s17(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t12 = insertelement <8 x i64> poison, i64 16, i64 0
  %t13 = shufflevector <8 x i64> %t12, <8 x i64> poison, <8 x i32> zeroinitializer
  %t14 = sitofp <8 x i64> %t13 to <8 x float>
  %t15 = call <8 x float> @llvm.sqrt.v8f32(<8 x float> %t14)
  %t16 = add nsw i64 %t9, 8191
  %t17 = ashr i64 %t16, 13
  %t18 = udiv i64 %t11, %t17
  %t19 = urem i64 %t18, %t9
  %t20 = insertelement <8 x i64> poison, i64 %t19, i64 0
  %t21 = shufflevector <8 x i64> %t20, <8 x i64> poison, <8 x i32> zeroinitializer
  %t22 = ashr i64 %t9, 3
  %t23 = urem i64 %t11, %t17
  %t24 = mul nsw i64 -1024, %t23
  %t25 = add nsw i64 %t22, %t24
  %t26 = call i64 @llvm.smin.i64(i64 1024, i64 %t25)
  %t27 = icmp slt i64 0, %t26
  br i1 %t27, label %loop3, label %done5
loop3:
  %t28 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t29 = mul nsw i64 %t9, %t18
  %t30 = mul nsw i64 8, %t28
  %t31 = add nsw i64 %t29, %t30
  %t32 = mul nsw i64 8192, %t23
  %t33 = add nsw i64 %t31, %t32
  %t34 = getelementptr inbounds float, ptr %t1, i64 %t33
  %t35 = load <8 x float>, ptr %t34, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t36 = fdiv <8 x float> %t35, %t15
  %t37 = add nsw i64 %t30, %t32
  %t38 = insertelement <8 x i64> poison, i64 %t37, i64 0
  %t39 = shufflevector <8 x i64> %t38, <8 x i64> poison, <8 x i32> zeroinitializer
  %t40 = add <8 x i64> %t39, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %t41 = icmp sle <8 x i64> %t40, %t21
  %t42 = select <8 x i1> %t41, <8 x float> %t36, <8 x float> splat (float 0xFFF0000000000000)
  %t43 = getelementptr inbounds float, ptr %t3, i64 %t33
  store <8 x float> %t42, ptr %t43, align 32, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t28, 1
  %t44 = icmp slt i64 %loop3.next, %t26
  br i1 %t44, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t45 = icmp slt i64 %loop0.next, %end
  br i1 %t45, label %loop0, label %done2
done2:
  ret void
}

declare i64 @llvm.smin.i64(i64, i64)
declare <8 x float> @llvm.sqrt.v8f32(<8 x float>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
