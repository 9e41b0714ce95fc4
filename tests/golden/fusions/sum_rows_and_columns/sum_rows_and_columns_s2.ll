define void @sum_rows_and_columns_s2(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable15 = alloca <32 x double>
  %variable16 = alloca <32 x float>
  %variable9 = alloca <32 x double>
  %variable10 = alloca <32 x float>
  %variable21 = alloca <32 x double>
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
  %t10 = icmp slt i64 %begin, %end
  br i1 %t10, label %loop0, label %done2
loop0:
  %t11 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t12 = ashr i64 %t7, 5
  %t13 = icmp slt i64 0, %t12
  br i1 %t13, label %loop3, label %done5
loop3:
  %t14 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <32 x double> splat (double 0x0000000000000000), ptr %variable15
  %t15 = icmp slt i64 0, 4
  br i1 %t15, label %loop6, label %done8
loop6:
  %t16 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable16
  %t17 = mul nsw i64 -128, %t11
  %t18 = mul nsw i64 -32, %t16
  %t19 = add nsw i64 %t17, %t18
  %t20 = add nsw i64 %t19, %t9
  %t21 = call i64 @llvm.smin.i64(i64 32, i64 %t20)
  %t22 = icmp slt i64 0, %t21
  br i1 %t22, label %loop9, label %done11
loop9:
  %t23 = phi i64 [ 0, %loop6 ], [ %loop9.next, %latch10 ]
  %t24 = mul nsw i64 128, %t11
  %t25 = mul nsw i64 %t24, %t7
  %t26 = mul nsw i64 32, %t16
  %t27 = mul nsw i64 %t26, %t7
  %t28 = add nsw i64 %t25, %t27
  %t29 = mul nsw i64 %t23, %t7
  %t30 = add nsw i64 %t28, %t29
  %t31 = mul nsw i64 32, %t14
  %t32 = add nsw i64 %t30, %t31
  %t33 = getelementptr inbounds float, ptr %t1, i64 %t32
  %t34 = load <32 x float>, ptr %t33, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t35 = load <32 x float>, ptr %variable16
  %t36 = fadd <32 x float> %t35, %t34
  store <32 x float> %t36, ptr %variable16
  br label %latch10
latch10:
  %loop9.next = add nuw nsw i64 %t23, 1
  %t37 = icmp slt i64 %loop9.next, %t21
  br i1 %t37, label %loop9, label %done11
done11:
  %t38 = load <32 x float>, ptr %variable16
  %t39 = fpext <32 x float> %t38 to <32 x double>
  %t40 = load <32 x double>, ptr %variable15
  %t41 = fadd <32 x double> %t40, %t39
  store <32 x double> %t41, ptr %variable15
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t16, 1
  %t42 = icmp slt i64 %loop6.next, 4
  br i1 %t42, label %loop6, label %done8
done8:
  %t43 = load <32 x double>, ptr %variable15
  %t44 = mul nsw i64 32, %t11
  %t45 = add nsw i64 %t7, 31
  %t46 = ashr i64 %t45, 5
  %t47 = mul nsw i64 %t44, %t46
  %t48 = mul nsw i64 32, %t14
  %t49 = add nsw i64 %t47, %t48
  %t50 = getelementptr inbounds double, ptr %t5, i64 %t49
  store <32 x double> %t43, ptr %t50, align 64, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t14, 1
  %t51 = icmp slt i64 %loop3.next, %t12
  br i1 %t51, label %loop3, label %done5
done5:
  %t52 = and i64 %t7, 31
  %t53 = icmp slt i64 0, %t52
  br i1 %t53, label %then12, label %join13
then12:
  store <32 x double> splat (double 0x0000000000000000), ptr %variable9
  %t54 = insertelement <32 x i64> poison, i64 0, i64 0
  %t55 = shufflevector <32 x i64> %t54, <32 x i64> poison, <32 x i32> zeroinitializer
  %t56 = add <32 x i64> %t55, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>
  %t57 = insertelement <32 x i64> poison, i64 %t52, i64 0
  %t58 = shufflevector <32 x i64> %t57, <32 x i64> poison, <32 x i32> zeroinitializer
  %t59 = icmp slt <32 x i64> %t56, %t58
  %t60 = icmp slt i64 0, 4
  br i1 %t60, label %loop14, label %done16
loop14:
  %t61 = phi i64 [ 0, %then12 ], [ %loop14.next, %latch15 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable10
  %t62 = mul nsw i64 -128, %t11
  %t63 = mul nsw i64 -32, %t61
  %t64 = add nsw i64 %t62, %t63
  %t65 = add nsw i64 %t64, %t9
  %t66 = call i64 @llvm.smin.i64(i64 32, i64 %t65)
  %t67 = icmp slt i64 0, %t66
  br i1 %t67, label %loop17, label %done19
loop17:
  %t68 = phi i64 [ 0, %loop14 ], [ %loop17.next, %latch18 ]
  %t69 = mul nsw i64 128, %t11
  %t70 = mul nsw i64 %t69, %t7
  %t71 = mul nsw i64 32, %t61
  %t72 = mul nsw i64 %t71, %t7
  %t73 = add nsw i64 %t70, %t72
  %t74 = mul nsw i64 %t68, %t7
  %t75 = add nsw i64 %t73, %t74
  %t76 = mul nsw i64 32, %t12
  %t77 = add nsw i64 %t75, %t76
  %t78 = getelementptr inbounds float, ptr %t1, i64 %t77
  %t79 = trunc i64 %t52 to i32
  %t80 = insertelement <32 x i32> poison, i32 %t79, i64 0
  %t81 = shufflevector <32 x i32> %t80, <32 x i32> poison, <32 x i32> zeroinitializer
  %t82 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t81
  %t83 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t78, i32 4, <32 x i1> %t82, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t84 = load <32 x float>, ptr %variable10
  %t85 = fadd <32 x float> %t84, %t83
  store <32 x float> %t85, ptr %variable10
  br label %latch18
latch18:
  %loop17.next = add nuw nsw i64 %t68, 1
  %t86 = icmp slt i64 %loop17.next, %t66
  br i1 %t86, label %loop17, label %done19
done19:
  %t87 = load <32 x float>, ptr %variable10
  %t88 = fpext <32 x float> %t87 to <32 x double>
  store <32 x double> splat (double 0x0000000000000000), ptr %variable21
  %t89 = load <32 x double>, ptr %variable21
  %t90 = select <32 x i1> %t59, <32 x double> %t88, <32 x double> %t89
  %t91 = load <32 x double>, ptr %variable9
  %t92 = fadd <32 x double> %t91, %t90
  store <32 x double> %t92, ptr %variable9
  br label %latch15
latch15:
  %loop14.next = add nuw nsw i64 %t61, 1
  %t93 = icmp slt i64 %loop14.next, 4
  br i1 %t93, label %loop14, label %done16
done16:
  %t94 = load <32 x double>, ptr %variable9
  %t95 = mul nsw i64 32, %t11
  %t96 = add nsw i64 %t7, 31
  %t97 = ashr i64 %t96, 5
  %t98 = mul nsw i64 %t95, %t97
  %t99 = mul nsw i64 32, %t12
  %t100 = add nsw i64 %t98, %t99
  %t101 = getelementptr inbounds double, ptr %t5, i64 %t100
  %t102 = trunc i64 %t52 to i32
  %t103 = insertelement <32 x i32> poison, i32 %t102, i64 0
  %t104 = shufflevector <32 x i32> %t103, <32 x i32> poison, <32 x i32> zeroinitializer
  %t105 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t104
  call void @llvm.masked.store.v32f64.p0(<32 x double> %t94, ptr %t101, i32 64, <32 x i1> %t105), !alias.scope !5, !noalias !4
  br label %join13
join13:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t106 = icmp slt i64 %loop0.next, %end
  br i1 %t106, label %loop0, label %done2
done2:
  ret void
}
define void @sum_rows_and_columns_s2.phase1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable5 = alloca <32 x double>
  %variable26 = alloca <32 x double>
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
  %t10 = icmp slt i64 %begin, %end
  br i1 %t10, label %loop0, label %done2
loop0:
  %t11 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  store <32 x double> splat (double 0x0000000000000000), ptr %variable5
  %t12 = insertelement <32 x i64> poison, i64 0, i64 0
  %t13 = shufflevector <32 x i64> %t12, <32 x i64> poison, <32 x i32> zeroinitializer
  %t14 = add <32 x i64> %t13, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>
  %t15 = mul nsw i64 -32, %t11
  %t16 = add nsw i64 %t15, %t7
  %t17 = call i64 @llvm.smin.i64(i64 32, i64 %t16)
  %t18 = insertelement <32 x i64> poison, i64 %t17, i64 0
  %t19 = shufflevector <32 x i64> %t18, <32 x i64> poison, <32 x i32> zeroinitializer
  %t20 = icmp slt <32 x i64> %t14, %t19
  %t21 = add nsw i64 %t9, 127
  %t22 = ashr i64 %t21, 7
  %t23 = icmp slt i64 0, %t22
  br i1 %t23, label %loop3, label %done5
loop3:
  %t24 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t25 = mul nsw i64 32, %t24
  %t26 = add nsw i64 %t7, 31
  %t27 = ashr i64 %t26, 5
  %t28 = mul nsw i64 %t25, %t27
  %t29 = mul nsw i64 32, %t11
  %t30 = add nsw i64 %t28, %t29
  %t31 = getelementptr inbounds double, ptr %t5, i64 %t30
  %t32 = call i64 @llvm.smax.i64(i64 %t17, i64 0)
  %t33 = trunc i64 %t32 to i32
  %t34 = insertelement <32 x i32> poison, i32 %t33, i64 0
  %t35 = shufflevector <32 x i32> %t34, <32 x i32> poison, <32 x i32> zeroinitializer
  %t36 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t35
  %t37 = call <32 x double> @llvm.masked.load.v32f64.p0(ptr %t31, i32 64, <32 x i1> %t36, <32 x double> splat (double 0x0000000000000000)), !alias.scope !5, !noalias !4
  store <32 x double> splat (double 0x0000000000000000), ptr %variable26
  %t38 = load <32 x double>, ptr %variable26
  %t39 = select <32 x i1> %t20, <32 x double> %t37, <32 x double> %t38
  %t40 = load <32 x double>, ptr %variable5
  %t41 = fadd <32 x double> %t40, %t39
  store <32 x double> %t41, ptr %variable5
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t24, 1
  %t42 = icmp slt i64 %loop3.next, %t22
  br i1 %t42, label %loop3, label %done5
done5:
  %t43 = load <32 x double>, ptr %variable5
  %t44 = fptrunc <32 x double> %t43 to <32 x float>
  %t45 = mul nsw i64 32, %t11
  %t46 = getelementptr inbounds float, ptr %t3, i64 %t45
  %t47 = call i64 @llvm.smax.i64(i64 %t17, i64 0)
  %t48 = trunc i64 %t47 to i32
  %t49 = insertelement <32 x i32> poison, i32 %t48, i64 0
  %t50 = shufflevector <32 x i32> %t49, <32 x i32> poison, <32 x i32> zeroinitializer
  %t51 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t50
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t44, ptr %t46, i32 64, <32 x i1> %t51), !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t52 = icmp slt i64 %loop0.next, %end
  br i1 %t52, label %loop0, label %done2
done2:
  ret void
}

declare <32 x float> @llvm.masked.load.v32f32.p0(ptr, i32 immarg, <32 x i1>, <32 x float>)
declare <32 x double> @llvm.masked.load.v32f64.p0(ptr, i32 immarg, <32 x i1>, <32 x double>)
declare void @llvm.masked.store.v32f32.p0(<32 x float>, ptr, i32 immarg, <32 x i1>)
declare void @llvm.masked.store.v32f64.p0(<32 x double>, ptr, i32 immarg, <32 x i1>)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
