define void @softmax_s3(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <8 x double>
  %variable1 = alloca <8 x double>
  %variable2 = alloca <8 x float>
  %variable8 = alloca <4 x double>
  %variable12 = alloca <2 x double>
  %variable16 = alloca double
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
  store <8 x double> splat (double 0x0000000000000000), ptr %variable0
  %t10 = add nsw i64 %t7, 8191
  %t11 = ashr i64 %t10, 13
  %t12 = icmp slt i64 0, %t11
  br i1 %t12, label %loop3, label %done5
loop3:
  %t13 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <8 x double> splat (double 0x0000000000000000), ptr %variable1
  %t14 = mul nsw i64 -32, %t13
  %t15 = add nsw i64 %t7, 255
  %t16 = ashr i64 %t15, 8
  %t17 = add nsw i64 %t14, %t16
  %t18 = call i64 @llvm.smin.i64(i64 32, i64 %t17)
  %t19 = icmp slt i64 0, %t18
  br i1 %t19, label %loop6, label %done8
loop6:
  %t20 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  store <8 x float> splat (float 0x0000000000000000), ptr %variable2
  %t21 = mul nsw i64 -1024, %t13
  %t22 = mul nsw i64 -32, %t20
  %t23 = add nsw i64 %t21, %t22
  %t24 = ashr i64 %t7, 3
  %t25 = add nsw i64 %t23, %t24
  %t26 = call i64 @llvm.smin.i64(i64 32, i64 %t25)
  %t27 = icmp slt i64 0, %t26
  br i1 %t27, label %loop9, label %done11
loop9:
  %t28 = phi i64 [ 0, %loop6 ], [ %loop9.next, %latch10 ]
  %t29 = mul nsw i64 %t9, %t7
  %t30 = mul nsw i64 8192, %t13
  %t31 = add nsw i64 %t29, %t30
  %t32 = mul nsw i64 256, %t20
  %t33 = add nsw i64 %t31, %t32
  %t34 = mul nsw i64 8, %t28
  %t35 = add nsw i64 %t33, %t34
  %t36 = getelementptr inbounds float, ptr %t1, i64 %t35
  %t37 = load <8 x float>, ptr %t36, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t38 = load <8 x float>, ptr %variable2
  %t39 = fadd <8 x float> %t38, %t37
  store <8 x float> %t39, ptr %variable2
  br label %latch10
latch10:
  %loop9.next = add nuw nsw i64 %t28, 1
  %t40 = icmp slt i64 %loop9.next, %t26
  br i1 %t40, label %loop9, label %done11
done11:
  %t41 = load <8 x float>, ptr %variable2
  %t42 = fpext <8 x float> %t41 to <8 x double>
  %t43 = load <8 x double>, ptr %variable1
  %t44 = fadd <8 x double> %t43, %t42
  store <8 x double> %t44, ptr %variable1
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t20, 1
  %t45 = icmp slt i64 %loop6.next, %t18
  br i1 %t45, label %loop6, label %done8
done8:
  %t46 = load <8 x double>, ptr %variable0
  %t47 = load <8 x double>, ptr %variable1
  %t48 = fadd <8 x double> %t46, %t47
  store <8 x double> %t48, ptr %variable0
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t13, 1
  %t49 = icmp slt i64 %loop3.next, %t11
  br i1 %t49, label %loop3, label %done5
done5:
  store <4 x double> splat (double 0x0000000000000000), ptr %variable8
  %t50 = load <8 x double>, ptr %variable0
  %t51 = shufflevector <8 x double> %t50, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  store <4 x double> %t51, ptr %variable8
  %t52 = load <8 x double>, ptr %variable0
  %t53 = shufflevector <8 x double> %t52, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %t54 = load <4 x double>, ptr %variable8
  %t55 = fadd <4 x double> %t54, %t53
  store <4 x double> %t55, ptr %variable8
  store <2 x double> splat (double 0x0000000000000000), ptr %variable12
  %t56 = load <4 x double>, ptr %variable8
  %t57 = shufflevector <4 x double> %t56, <4 x double> poison, <2 x i32> <i32 0, i32 1>
  store <2 x double> %t57, ptr %variable12
  %t58 = load <4 x double>, ptr %variable8
  %t59 = shufflevector <4 x double> %t58, <4 x double> poison, <2 x i32> <i32 2, i32 3>
  %t60 = load <2 x double>, ptr %variable12
  %t61 = fadd <2 x double> %t60, %t59
  store <2 x double> %t61, ptr %variable12
  store double 0x0000000000000000, ptr %variable16
  %t62 = load <2 x double>, ptr %variable12
  %t63 = extractelement <2 x double> %t62, i64 0
  store double %t63, ptr %variable16
  %t64 = load <2 x double>, ptr %variable12
  %t65 = extractelement <2 x double> %t64, i64 1
  %t66 = load double, ptr %variable16
  %t67 = fadd double %t66, %t65
  store double %t67, ptr %variable16
  %t68 = load double, ptr %variable16
  %t69 = fptrunc double %t68 to float
  %t70 = getelementptr inbounds float, ptr %t3, i64 %t9
  store float %t69, ptr %t70, align 4, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t9, 1
  %t71 = icmp slt i64 %loop0.next, %end
  br i1 %t71, label %loop0, label %done2
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
