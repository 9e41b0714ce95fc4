define void @transformer_block_s2(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t8 = getelementptr inbounds i64, ptr %integers, i64 2
  %t9 = load i64, ptr %t8, align 8, !invariant.load !0
  %t10 = icmp slt i64 %begin, %end
  br i1 %t10, label %loop0, label %done2
loop0:
  %t11 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  store double 0x0000000000000000, ptr %variable0
  %t12 = add nsw i64 %t9, 1023
  %t13 = ashr i64 %t12, 10
  %t14 = icmp slt i64 0, %t13
  br i1 %t14, label %loop3, label %done5
loop3:
  %t15 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store double 0x0000000000000000, ptr %variable1
  %t16 = mul nsw i64 -32, %t15
  %t17 = add nsw i64 %t9, 31
  %t18 = ashr i64 %t17, 5
  %t19 = add nsw i64 %t16, %t18
  %t20 = call i64 @llvm.smin.i64(i64 32, i64 %t19)
  %t21 = icmp slt i64 0, %t20
  br i1 %t21, label %loop6, label %done8
loop6:
  %t22 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  store float 0x0000000000000000, ptr %variable2
  %t23 = mul nsw i64 -1024, %t15
  %t24 = mul nsw i64 -32, %t22
  %t25 = add nsw i64 %t23, %t24
  %t26 = add nsw i64 %t25, %t9
  %t27 = call i64 @llvm.smin.i64(i64 32, i64 %t26)
  %t28 = icmp slt i64 0, %t27
  br i1 %t28, label %loop9, label %done11
loop9:
  %t29 = phi i64 [ 0, %loop6 ], [ %loop9.next, %latch10 ]
  %t30 = mul nsw i64 %t11, %t9
  %t31 = mul nsw i64 1024, %t15
  %t32 = add nsw i64 %t30, %t31
  %t33 = mul nsw i64 32, %t22
  %t34 = add nsw i64 %t32, %t33
  %t35 = add nsw i64 %t34, %t29
  %t36 = getelementptr inbounds float, ptr %t1, i64 %t35
  %t37 = load float, ptr %t36, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t38 = load float, ptr %variable2
  %t39 = fadd float %t38, %t37
  store float %t39, ptr %variable2
  br label %latch10
latch10:
  %loop9.next = add nuw nsw i64 %t29, 1
  %t40 = icmp slt i64 %loop9.next, %t27
  br i1 %t40, label %loop9, label %done11
done11:
  %t41 = load float, ptr %variable2
  %t42 = fpext float %t41 to double
  %t43 = load double, ptr %variable1
  %t44 = fadd double %t43, %t42
  store double %t44, ptr %variable1
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t22, 1
  %t45 = icmp slt i64 %loop6.next, %t20
  br i1 %t45, label %loop6, label %done8
done8:
  %t46 = load double, ptr %variable0
  %t47 = load double, ptr %variable1
  %t48 = fadd double %t46, %t47
  store double %t48, ptr %variable0
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t15, 1
  %t49 = icmp slt i64 %loop3.next, %t13
  br i1 %t49, label %loop3, label %done5
done5:
  %t50 = load double, ptr %variable0
  %t51 = fptrunc double %t50 to float
  %t52 = getelementptr inbounds float, ptr %t3, i64 %t11
  store float %t51, ptr %t52, align 4, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t53 = icmp slt i64 %loop0.next, %end
  br i1 %t53, label %loop0, label %done2
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
