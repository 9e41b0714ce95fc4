define void @softmax_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <8 x float>
  %variable3 = alloca <4 x float>
  %variable7 = alloca <2 x float>
  %variable11 = alloca float
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
  store <8 x float> splat (float 0xFFF0000000000000), ptr %variable0
  %t10 = ashr i64 %t7, 3
  %t11 = icmp slt i64 0, %t10
  br i1 %t11, label %loop3, label %done5
loop3:
  %t12 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t13 = mul nsw i64 %t9, %t7
  %t14 = mul nsw i64 8, %t12
  %t15 = add nsw i64 %t13, %t14
  %t16 = getelementptr inbounds float, ptr %t1, i64 %t15
  %t17 = load <8 x float>, ptr %t16, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t18 = load <8 x float>, ptr %variable0
  %t19 = fcmp ugt <8 x float> %t18, %t17
  %t20 = select <8 x i1> %t19, <8 x float> %t18, <8 x float> %t17
  %t21 = fcmp uno <8 x float> %t17, %t17
  %t22 = select <8 x i1> %t21, <8 x float> %t17, <8 x float> %t20
  store <8 x float> %t22, ptr %variable0
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t12, 1
  %t23 = icmp slt i64 %loop3.next, %t10
  br i1 %t23, label %loop3, label %done5
done5:
  store <4 x float> splat (float 0x0000000000000000), ptr %variable3
  %t24 = load <8 x float>, ptr %variable0
  %t25 = shufflevector <8 x float> %t24, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  store <4 x float> %t25, ptr %variable3
  %t26 = load <8 x float>, ptr %variable0
  %t27 = shufflevector <8 x float> %t26, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %t28 = load <4 x float>, ptr %variable3
  %t29 = fcmp ugt <4 x float> %t28, %t27
  %t30 = select <4 x i1> %t29, <4 x float> %t28, <4 x float> %t27
  %t31 = fcmp uno <4 x float> %t27, %t27
  %t32 = select <4 x i1> %t31, <4 x float> %t27, <4 x float> %t30
  store <4 x float> %t32, ptr %variable3
  store <2 x float> splat (float 0x0000000000000000), ptr %variable7
  %t33 = load <4 x float>, ptr %variable3
  %t34 = shufflevector <4 x float> %t33, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  store <2 x float> %t34, ptr %variable7
  %t35 = load <4 x float>, ptr %variable3
  %t36 = shufflevector <4 x float> %t35, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %t37 = load <2 x float>, ptr %variable7
  %t38 = fcmp ugt <2 x float> %t37, %t36
  %t39 = select <2 x i1> %t38, <2 x float> %t37, <2 x float> %t36
  %t40 = fcmp uno <2 x float> %t36, %t36
  %t41 = select <2 x i1> %t40, <2 x float> %t36, <2 x float> %t39
  store <2 x float> %t41, ptr %variable7
  store float 0x0000000000000000, ptr %variable11
  %t42 = load <2 x float>, ptr %variable7
  %t43 = extractelement <2 x float> %t42, i64 0
  store float %t43, ptr %variable11
  %t44 = load <2 x float>, ptr %variable7
  %t45 = extractelement <2 x float> %t44, i64 1
  %t46 = load float, ptr %variable11
  %t47 = fcmp ugt float %t46, %t45
  %t48 = select i1 %t47, float %t46, float %t45
  %t49 = fcmp uno float %t45, %t45
  %t50 = select i1 %t49, float %t45, float %t48
  store float %t50, ptr %variable11
  %t51 = load float, ptr %variable11
  %t52 = getelementptr inbounds float, ptr %t3, i64 %t9
  store float %t51, ptr %t52, align 4, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t9, 1
  %t53 = icmp slt i64 %loop0.next, %end
  br i1 %t53, label %loop0, label %done2
done2:
  ret void
}

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
