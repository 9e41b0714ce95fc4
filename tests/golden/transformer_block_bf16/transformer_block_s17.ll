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
  %t16 = urem i64 %t11, %t9
  %t17 = insertelement <8 x i64> poison, i64 %t16, i64 0
  %t18 = shufflevector <8 x i64> %t17, <8 x i64> poison, <8 x i32> zeroinitializer
  %t19 = ashr i64 %t9, 3
  %t20 = icmp slt i64 0, %t19
  br i1 %t20, label %loop3, label %done5
loop3:
  %t21 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t22 = mul nsw i64 %t11, %t9
  %t23 = mul nsw i64 8, %t21
  %t24 = add nsw i64 %t22, %t23
  %t25 = getelementptr inbounds float, ptr %t1, i64 %t24
  %t26 = load <8 x float>, ptr %t25, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t27 = fdiv <8 x float> %t26, %t15
  %t28 = insertelement <8 x i64> poison, i64 %t23, i64 0
  %t29 = shufflevector <8 x i64> %t28, <8 x i64> poison, <8 x i32> zeroinitializer
  %t30 = add <8 x i64> %t29, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %t31 = icmp sle <8 x i64> %t30, %t18
  %t32 = select <8 x i1> %t31, <8 x float> %t27, <8 x float> splat (float 0xFFF0000000000000)
  %t33 = getelementptr inbounds float, ptr %t3, i64 %t24
  store <8 x float> %t32, ptr %t33, align 32, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t21, 1
  %t34 = icmp slt i64 %loop3.next, %t19
  br i1 %t34, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t35 = icmp slt i64 %loop0.next, %end
  br i1 %t35, label %loop0, label %done2
done2:
  ret void
}

declare <8 x float> @llvm.sqrt.v8f32(<8 x float>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
