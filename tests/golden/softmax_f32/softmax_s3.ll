define void @softmax_s3(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca double
  %variable1 = alloca double
  %variable2 = alloca float
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
  %t10 = add nsw i64 %t7, 1023
  %t11 = ashr i64 %t10, 10
  %t12 = icmp slt i64 0, %t11
  br i1 %t12, label %loop3, label %done5
loop3:
  %t13 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store double 0x0000000000000000, ptr %variable1
  %t14 = mul nsw i64 -32, %t13
  %t15 = add nsw i64 %t7, 31
  %t16 = ashr i64 %t15, 5
  %t17 = add nsw i64 %t14, %t16
  %t18 = call i64 @llvm.smin.i64(i64 32, i64 %t17)
  %t19 = icmp slt i64 0, %t18
  br i1 %t19, label %loop6, label %done8
loop6:
  %t20 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  store float 0x0000000000000000, ptr %variable2
  %t21 = mul nsw i64 -1024, %t13
  %t22 = mul nsw i64 -32, %t20
  %t23 = add nsw i64 %t21, %t22
  %t24 = add nsw i64 %t23, %t7
  %t25 = call i64 @llvm.smin.i64(i64 32, i64 %t24)
  %t26 = icmp slt i64 0, %t25
  br i1 %t26, label %loop9, label %done11
loop9:
  %t27 = phi i64 [ 0, %loop6 ], [ %loop9.next, %latch10 ]
  %t28 = mul nsw i64 %t9, %t7
  %t29 = mul nsw i64 1024, %t13
  %t30 = add nsw i64 %t28, %t29
  %t31 = mul nsw i64 32, %t20
  %t32 = add nsw i64 %t30, %t31
  %t33 = add nsw i64 %t32, %t27
  %t34 = getelementptr inbounds float, ptr %t1, i64 %t33
  %t35 = load float, ptr %t34, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t36 = load float, ptr %variable2
  %t37 = fadd float %t36, %t35
  store float %t37, ptr %variable2
  br label %latch10
latch10:
  %loop9.next = add nuw nsw i64 %t27, 1
  %t38 = icmp slt i64 %loop9.next, %t25
  br i1 %t38, label %loop9, label %done11
done11:
  %t39 = load float, ptr %variable2
  %t40 = fpext float %t39 to double
  %t41 = load double, ptr %variable1
  %t42 = fadd double %t41, %t40
  store double %t42, ptr %variable1
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t20, 1
  %t43 = icmp slt i64 %loop6.next, %t18
  br i1 %t43, label %loop6, label %done8
done8:
  %t44 = load double, ptr %variable0
  %t45 = load double, ptr %variable1
  %t46 = fadd double %t44, %t45
  store double %t46, ptr %variable0
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t13, 1
  %t47 = icmp slt i64 %loop3.next, %t11
  br i1 %t47, label %loop3, label %done5
done5:
  %t48 = load double, ptr %variable0
  %t49 = fptrunc double %t48 to float
  %t50 = getelementptr inbounds float, ptr %t3, i64 %t9
  store float %t49, ptr %t50, align 4, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t9, 1
  %t51 = icmp slt i64 %loop0.next, %end
  br i1 %t51, label %loop0, label %done2
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
