define void @transformer_block_s2(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t8 = getelementptr inbounds i64, ptr %integers, i64 2
  %t9 = load i64, ptr %t8, align 8, !invariant.load !0
  %t10 = icmp slt i64 %begin, %end
  br i1 %t10, label %loop0, label %done2
loop0:
  %t11 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  store <8 x double> splat (double 0x0000000000000000), ptr %variable0
  %t12 = add nsw i64 %t9, 8191
  %t13 = ashr i64 %t12, 13
  %t14 = icmp slt i64 0, %t13
  br i1 %t14, label %loop3, label %done5
loop3:
  %t15 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <8 x double> splat (double 0x0000000000000000), ptr %variable1
  %t16 = mul nsw i64 -32, %t15
  %t17 = add nsw i64 %t9, 255
  %t18 = ashr i64 %t17, 8
  %t19 = add nsw i64 %t16, %t18
  %t20 = call i64 @llvm.smin.i64(i64 32, i64 %t19)
  %t21 = icmp slt i64 0, %t20
  br i1 %t21, label %loop6, label %done8
loop6:
  %t22 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  store <8 x float> splat (float 0x0000000000000000), ptr %variable2
  %t23 = mul nsw i64 -1024, %t15
  %t24 = mul nsw i64 -32, %t22
  %t25 = add nsw i64 %t23, %t24
  %t26 = ashr i64 %t9, 3
  %t27 = add nsw i64 %t25, %t26
  %t28 = call i64 @llvm.smin.i64(i64 32, i64 %t27)
  %t29 = icmp slt i64 0, %t28
  br i1 %t29, label %loop9, label %done11
loop9:
  %t30 = phi i64 [ 0, %loop6 ], [ %loop9.next, %latch10 ]
  %t31 = mul nsw i64 %t11, %t9
  %t32 = mul nsw i64 8192, %t15
  %t33 = add nsw i64 %t31, %t32
  %t34 = mul nsw i64 256, %t22
  %t35 = add nsw i64 %t33, %t34
  %t36 = mul nsw i64 8, %t30
  %t37 = add nsw i64 %t35, %t36
  %t38 = getelementptr inbounds float, ptr %t1, i64 %t37
  %t39 = load <8 x float>, ptr %t38, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t40 = load <8 x float>, ptr %variable2
  %t41 = fadd <8 x float> %t40, %t39
  store <8 x float> %t41, ptr %variable2
  br label %latch10
latch10:
  %loop9.next = add nuw nsw i64 %t30, 1
  %t42 = icmp slt i64 %loop9.next, %t28
  br i1 %t42, label %loop9, label %done11
done11:
  %t43 = load <8 x float>, ptr %variable2
  %t44 = fpext <8 x float> %t43 to <8 x double>
  %t45 = load <8 x double>, ptr %variable1
  %t46 = fadd <8 x double> %t45, %t44
  store <8 x double> %t46, ptr %variable1
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t22, 1
  %t47 = icmp slt i64 %loop6.next, %t20
  br i1 %t47, label %loop6, label %done8
done8:
  %t48 = load <8 x double>, ptr %variable0
  %t49 = load <8 x double>, ptr %variable1
  %t50 = fadd <8 x double> %t48, %t49
  store <8 x double> %t50, ptr %variable0
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t15, 1
  %t51 = icmp slt i64 %loop3.next, %t13
  br i1 %t51, label %loop3, label %done5
done5:
  store <4 x double> splat (double 0x0000000000000000), ptr %variable8
  %t52 = load <8 x double>, ptr %variable0
  %t53 = shufflevector <8 x double> %t52, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  store <4 x double> %t53, ptr %variable8
  %t54 = load <8 x double>, ptr %variable0
  %t55 = shufflevector <8 x double> %t54, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %t56 = load <4 x double>, ptr %variable8
  %t57 = fadd <4 x double> %t56, %t55
  store <4 x double> %t57, ptr %variable8
  store <2 x double> splat (double 0x0000000000000000), ptr %variable12
  %t58 = load <4 x double>, ptr %variable8
  %t59 = shufflevector <4 x double> %t58, <4 x double> poison, <2 x i32> <i32 0, i32 1>
  store <2 x double> %t59, ptr %variable12
  %t60 = load <4 x double>, ptr %variable8
  %t61 = shufflevector <4 x double> %t60, <4 x double> poison, <2 x i32> <i32 2, i32 3>
  %t62 = load <2 x double>, ptr %variable12
  %t63 = fadd <2 x double> %t62, %t61
  store <2 x double> %t63, ptr %variable12
  store double 0x0000000000000000, ptr %variable16
  %t64 = load <2 x double>, ptr %variable12
  %t65 = extractelement <2 x double> %t64, i64 0
  store double %t65, ptr %variable16
  %t66 = load <2 x double>, ptr %variable12
  %t67 = extractelement <2 x double> %t66, i64 1
  %t68 = load double, ptr %variable16
  %t69 = fadd double %t68, %t67
  store double %t69, ptr %variable16
  %t70 = load double, ptr %variable16
  %t71 = fptrunc double %t70 to float
  %t72 = getelementptr inbounds float, ptr %t3, i64 %t11
  store float %t71, ptr %t72, align 4, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t73 = icmp slt i64 %loop0.next, %end
  br i1 %t73, label %loop0, label %done2
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
