define void @sum_rows_and_columns_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <32 x double>
  %variable1 = alloca <32 x float>
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
  store <32 x double> splat (double 0x0000000000000000), ptr %variable0
  %t10 = add nsw i64 %t7, 1023
  %t11 = ashr i64 %t10, 10
  %t12 = icmp slt i64 0, %t11
  br i1 %t12, label %loop3, label %done5
loop3:
  %t13 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable1
  %t14 = mul nsw i64 -32, %t13
  %t15 = ashr i64 %t7, 5
  %t16 = add nsw i64 %t14, %t15
  %t17 = call i64 @llvm.smin.i64(i64 32, i64 %t16)
  %t18 = icmp slt i64 0, %t17
  br i1 %t18, label %loop6, label %done8
loop6:
  %t19 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  %t20 = mul nsw i64 %t9, %t7
  %t21 = mul nsw i64 1024, %t13
  %t22 = add nsw i64 %t20, %t21
  %t23 = mul nsw i64 32, %t19
  %t24 = add nsw i64 %t22, %t23
  %t25 = getelementptr inbounds float, ptr %t1, i64 %t24
  %t26 = load <32 x float>, ptr %t25, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t27 = load <32 x float>, ptr %variable1
  %t28 = fadd <32 x float> %t27, %t26
  store <32 x float> %t28, ptr %variable1
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t19, 1
  %t29 = icmp slt i64 %loop6.next, %t17
  br i1 %t29, label %loop6, label %done8
done8:
  %t30 = icmp slt i64 %t17, 32
  %t31 = mul nsw i64 32, %t13
  %t32 = add nsw i64 %t31, 32
  %t33 = call i64 @llvm.smin.i64(i64 %t32, i64 %t15)
  %t34 = mul nsw i64 32, %t33
  %t35 = icmp slt i64 %t34, %t7
  %t36 = and i1 %t30, %t35
  br i1 %t36, label %then9, label %join10
then9:
  %t37 = mul nsw i64 %t9, %t7
  %t38 = add nsw i64 %t37, %t34
  %t39 = getelementptr inbounds float, ptr %t1, i64 %t38
  %t40 = mul nsw i64 -32, %t33
  %t41 = add nsw i64 %t7, %t40
  %t42 = call i64 @llvm.smin.i64(i64 32, i64 %t41)
  %t43 = call i64 @llvm.smax.i64(i64 %t42, i64 0)
  %t44 = trunc i64 %t43 to i32
  %t45 = insertelement <32 x i32> poison, i32 %t44, i64 0
  %t46 = shufflevector <32 x i32> %t45, <32 x i32> poison, <32 x i32> zeroinitializer
  %t47 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t46
  %t48 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t39, i32 4, <32 x i1> %t47, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t49 = load <32 x float>, ptr %variable1
  %t50 = fadd <32 x float> %t49, %t48
  %t51 = insertelement <32 x i64> poison, i64 0, i64 0
  %t52 = shufflevector <32 x i64> %t51, <32 x i64> poison, <32 x i32> zeroinitializer
  %t53 = add <32 x i64> %t52, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>
  %t54 = insertelement <32 x i64> poison, i64 %t42, i64 0
  %t55 = shufflevector <32 x i64> %t54, <32 x i64> poison, <32 x i32> zeroinitializer
  %t56 = icmp slt <32 x i64> %t53, %t55
  %t57 = load <32 x float>, ptr %variable1
  %t58 = select <32 x i1> %t56, <32 x float> %t50, <32 x float> %t57
  store <32 x float> %t58, ptr %variable1
  br label %join10
join10:
  %t59 = load <32 x float>, ptr %variable1
  %t60 = fpext <32 x float> %t59 to <32 x double>
  %t61 = load <32 x double>, ptr %variable0
  %t62 = fadd <32 x double> %t61, %t60
  store <32 x double> %t62, ptr %variable0
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t13, 1
  %t63 = icmp slt i64 %loop3.next, %t11
  br i1 %t63, label %loop3, label %done5
done5:
  %t64 = load <32 x double>, ptr %variable0
  %t65 = shufflevector <32 x double> %t64, <32 x double> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t66 = load <32 x double>, ptr %variable0
  %t67 = shufflevector <32 x double> %t66, <32 x double> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %t68 = fadd <16 x double> %t65, %t67
  %t69 = shufflevector <16 x double> %t68, <16 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %t70 = shufflevector <16 x double> %t68, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t71 = fadd <8 x double> %t69, %t70
  %t72 = shufflevector <8 x double> %t71, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %t73 = shufflevector <8 x double> %t71, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %t74 = fadd <4 x double> %t72, %t73
  %t75 = shufflevector <4 x double> %t74, <4 x double> poison, <2 x i32> <i32 0, i32 1>
  %t76 = shufflevector <4 x double> %t74, <4 x double> poison, <2 x i32> <i32 2, i32 3>
  %t77 = fadd <2 x double> %t75, %t76
  %t78 = extractelement <2 x double> %t77, i64 0
  %t79 = extractelement <2 x double> %t77, i64 1
  %t80 = fadd double %t78, %t79
  %t81 = fptrunc double %t80 to float
  %t82 = getelementptr inbounds float, ptr %t3, i64 %t9
  store float %t81, ptr %t82, align 4, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t9, 1
  %t83 = icmp slt i64 %loop0.next, %end
  br i1 %t83, label %loop0, label %done2
done2:
  ret void
}

declare <32 x float> @llvm.masked.load.v32f32.p0(ptr, i32 immarg, <32 x i1>, <32 x float>)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
