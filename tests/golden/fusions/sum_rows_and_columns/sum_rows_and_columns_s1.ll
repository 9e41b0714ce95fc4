; phases at once: 2, 1
define internal void @sum_rows_and_columns_s1.body0(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind noinline {
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
define void @sum_rows_and_columns_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %own_buffers = alloca [2 x ptr], align 8
  %buffers_from0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %buffers_0 = load ptr, ptr %buffers_from0, align 8
  %buffers_to0 = getelementptr inbounds ptr, ptr %own_buffers, i64 0
  store ptr %buffers_0, ptr %buffers_to0, align 8
  %buffers_from1 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %buffers_1 = load ptr, ptr %buffers_from1, align 8
  %buffers_to1 = getelementptr inbounds ptr, ptr %own_buffers, i64 1
  store ptr %buffers_1, ptr %buffers_to1, align 8
  %own_integers = alloca [2 x i64], align 8
  %integers_from0 = getelementptr inbounds i64, ptr %integers, i64 0
  %integers_0 = load i64, ptr %integers_from0, align 8
  %integers_to0 = getelementptr inbounds i64, ptr %own_integers, i64 0
  store i64 %integers_0, ptr %integers_to0, align 8
  %integers_from1 = getelementptr inbounds i64, ptr %integers, i64 1
  %integers_1 = load i64, ptr %integers_from1, align 8
  %integers_to1 = getelementptr inbounds i64, ptr %own_integers, i64 1
  store i64 %integers_1, ptr %integers_to1, align 8
  call void @sum_rows_and_columns_s1.body0(ptr %own_buffers, ptr %own_integers, i64 %begin, i64 %end)
  ret void
}
define internal void @sum_rows_and_columns_s1.body1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind noinline {
entry:
  %variable45 = alloca <32 x double>
  %variable46 = alloca <32 x float>
  %variable39 = alloca <32 x double>
  %variable40 = alloca <32 x float>
  %variable51 = alloca <32 x double>
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
  %t10 = ashr i64 %t7, 5
  %t11 = icmp slt i64 0, %t10
  br i1 %t11, label %loop3, label %done5
loop3:
  %t12 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <32 x double> splat (double 0x0000000000000000), ptr %variable45
  %t13 = icmp slt i64 0, 4
  br i1 %t13, label %loop6, label %done8
loop6:
  %t14 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable46
  %t15 = mul nsw i64 -128, %t9
  %t16 = mul nsw i64 -32, %t14
  %t17 = add nsw i64 %t15, %t16
  %t18 = add nsw i64 %t17, %t5
  %t19 = call i64 @llvm.smin.i64(i64 32, i64 %t18)
  %t20 = icmp slt i64 0, %t19
  br i1 %t20, label %loop9, label %done11
loop9:
  %t21 = phi i64 [ 0, %loop6 ], [ %loop9.next, %latch10 ]
  %t22 = mul nsw i64 128, %t9
  %t23 = mul nsw i64 %t22, %t7
  %t24 = mul nsw i64 32, %t14
  %t25 = mul nsw i64 %t24, %t7
  %t26 = add nsw i64 %t23, %t25
  %t27 = mul nsw i64 %t21, %t7
  %t28 = add nsw i64 %t26, %t27
  %t29 = mul nsw i64 32, %t12
  %t30 = add nsw i64 %t28, %t29
  %t31 = getelementptr inbounds float, ptr %t1, i64 %t30
  %t32 = load <32 x float>, ptr %t31, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t33 = load <32 x float>, ptr %variable46
  %t34 = fadd <32 x float> %t33, %t32
  store <32 x float> %t34, ptr %variable46
  br label %latch10
latch10:
  %loop9.next = add nuw nsw i64 %t21, 1
  %t35 = icmp slt i64 %loop9.next, %t19
  br i1 %t35, label %loop9, label %done11
done11:
  %t36 = load <32 x float>, ptr %variable46
  %t37 = fpext <32 x float> %t36 to <32 x double>
  %t38 = load <32 x double>, ptr %variable45
  %t39 = fadd <32 x double> %t38, %t37
  store <32 x double> %t39, ptr %variable45
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t14, 1
  %t40 = icmp slt i64 %loop6.next, 4
  br i1 %t40, label %loop6, label %done8
done8:
  %t41 = load <32 x double>, ptr %variable45
  %t42 = mul nsw i64 32, %t9
  %t43 = add nsw i64 %t7, 31
  %t44 = ashr i64 %t43, 5
  %t45 = mul nsw i64 %t42, %t44
  %t46 = mul nsw i64 32, %t12
  %t47 = add nsw i64 %t45, %t46
  %t48 = getelementptr inbounds double, ptr %t3, i64 %t47
  store <32 x double> %t41, ptr %t48, align 64, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t12, 1
  %t49 = icmp slt i64 %loop3.next, %t10
  br i1 %t49, label %loop3, label %done5
done5:
  %t50 = and i64 %t7, 31
  %t51 = icmp slt i64 0, %t50
  br i1 %t51, label %then12, label %join13
then12:
  store <32 x double> splat (double 0x0000000000000000), ptr %variable39
  %t52 = insertelement <32 x i64> poison, i64 0, i64 0
  %t53 = shufflevector <32 x i64> %t52, <32 x i64> poison, <32 x i32> zeroinitializer
  %t54 = add <32 x i64> %t53, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>
  %t55 = insertelement <32 x i64> poison, i64 %t50, i64 0
  %t56 = shufflevector <32 x i64> %t55, <32 x i64> poison, <32 x i32> zeroinitializer
  %t57 = icmp slt <32 x i64> %t54, %t56
  %t58 = icmp slt i64 0, 4
  br i1 %t58, label %loop14, label %done16
loop14:
  %t59 = phi i64 [ 0, %then12 ], [ %loop14.next, %latch15 ]
  store <32 x float> splat (float 0x0000000000000000), ptr %variable40
  %t60 = mul nsw i64 -128, %t9
  %t61 = mul nsw i64 -32, %t59
  %t62 = add nsw i64 %t60, %t61
  %t63 = add nsw i64 %t62, %t5
  %t64 = call i64 @llvm.smin.i64(i64 32, i64 %t63)
  %t65 = icmp slt i64 0, %t64
  br i1 %t65, label %loop17, label %done19
loop17:
  %t66 = phi i64 [ 0, %loop14 ], [ %loop17.next, %latch18 ]
  %t67 = mul nsw i64 128, %t9
  %t68 = mul nsw i64 %t67, %t7
  %t69 = mul nsw i64 32, %t59
  %t70 = mul nsw i64 %t69, %t7
  %t71 = add nsw i64 %t68, %t70
  %t72 = mul nsw i64 %t66, %t7
  %t73 = add nsw i64 %t71, %t72
  %t74 = mul nsw i64 32, %t10
  %t75 = add nsw i64 %t73, %t74
  %t76 = getelementptr inbounds float, ptr %t1, i64 %t75
  %t77 = trunc i64 %t50 to i32
  %t78 = insertelement <32 x i32> poison, i32 %t77, i64 0
  %t79 = shufflevector <32 x i32> %t78, <32 x i32> poison, <32 x i32> zeroinitializer
  %t80 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t79
  %t81 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t76, i32 4, <32 x i1> %t80, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t82 = load <32 x float>, ptr %variable40
  %t83 = fadd <32 x float> %t82, %t81
  store <32 x float> %t83, ptr %variable40
  br label %latch18
latch18:
  %loop17.next = add nuw nsw i64 %t66, 1
  %t84 = icmp slt i64 %loop17.next, %t64
  br i1 %t84, label %loop17, label %done19
done19:
  %t85 = load <32 x float>, ptr %variable40
  %t86 = fpext <32 x float> %t85 to <32 x double>
  store <32 x double> splat (double 0x0000000000000000), ptr %variable51
  %t87 = load <32 x double>, ptr %variable51
  %t88 = select <32 x i1> %t57, <32 x double> %t86, <32 x double> %t87
  %t89 = load <32 x double>, ptr %variable39
  %t90 = fadd <32 x double> %t89, %t88
  store <32 x double> %t90, ptr %variable39
  br label %latch15
latch15:
  %loop14.next = add nuw nsw i64 %t59, 1
  %t91 = icmp slt i64 %loop14.next, 4
  br i1 %t91, label %loop14, label %done16
done16:
  %t92 = load <32 x double>, ptr %variable39
  %t93 = mul nsw i64 32, %t9
  %t94 = add nsw i64 %t7, 31
  %t95 = ashr i64 %t94, 5
  %t96 = mul nsw i64 %t93, %t95
  %t97 = mul nsw i64 32, %t10
  %t98 = add nsw i64 %t96, %t97
  %t99 = getelementptr inbounds double, ptr %t3, i64 %t98
  %t100 = trunc i64 %t50 to i32
  %t101 = insertelement <32 x i32> poison, i32 %t100, i64 0
  %t102 = shufflevector <32 x i32> %t101, <32 x i32> poison, <32 x i32> zeroinitializer
  %t103 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t102
  call void @llvm.masked.store.v32f64.p0(<32 x double> %t92, ptr %t99, i32 64, <32 x i1> %t103), !alias.scope !5, !noalias !4
  br label %join13
join13:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t9, 1
  %t104 = icmp slt i64 %loop0.next, %end
  br i1 %t104, label %loop0, label %done2
done2:
  ret void
}
define void @sum_rows_and_columns_s1_phase1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %own_buffers = alloca [2 x ptr], align 8
  %buffers_from0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %buffers_0 = load ptr, ptr %buffers_from0, align 8
  %buffers_to0 = getelementptr inbounds ptr, ptr %own_buffers, i64 0
  store ptr %buffers_0, ptr %buffers_to0, align 8
  %buffers_from1 = getelementptr inbounds ptr, ptr %buffers, i64 3
  %buffers_1 = load ptr, ptr %buffers_from1, align 8
  %buffers_to1 = getelementptr inbounds ptr, ptr %own_buffers, i64 1
  store ptr %buffers_1, ptr %buffers_to1, align 8
  %own_integers = alloca [2 x i64], align 8
  %integers_from0 = getelementptr inbounds i64, ptr %integers, i64 0
  %integers_0 = load i64, ptr %integers_from0, align 8
  %integers_to0 = getelementptr inbounds i64, ptr %own_integers, i64 0
  store i64 %integers_0, ptr %integers_to0, align 8
  %integers_from1 = getelementptr inbounds i64, ptr %integers, i64 1
  %integers_1 = load i64, ptr %integers_from1, align 8
  %integers_to1 = getelementptr inbounds i64, ptr %own_integers, i64 1
  store i64 %integers_1, ptr %integers_to1, align 8
  call void @sum_rows_and_columns_s1.body1(ptr %own_buffers, ptr %own_integers, i64 %begin, i64 %end)
  ret void
}
define internal void @sum_rows_and_columns_s1.body2(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind noinline {
entry:
  %variable35 = alloca <32 x double>
  %variable56 = alloca <32 x double>
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
  store <32 x double> splat (double 0x0000000000000000), ptr %variable35
  %t10 = insertelement <32 x i64> poison, i64 0, i64 0
  %t11 = shufflevector <32 x i64> %t10, <32 x i64> poison, <32 x i32> zeroinitializer
  %t12 = add <32 x i64> %t11, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25, i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>
  %t13 = mul nsw i64 -32, %t9
  %t14 = add nsw i64 %t13, %t5
  %t15 = call i64 @llvm.smin.i64(i64 32, i64 %t14)
  %t16 = insertelement <32 x i64> poison, i64 %t15, i64 0
  %t17 = shufflevector <32 x i64> %t16, <32 x i64> poison, <32 x i32> zeroinitializer
  %t18 = icmp slt <32 x i64> %t12, %t17
  %t19 = add nsw i64 %t7, 127
  %t20 = ashr i64 %t19, 7
  %t21 = icmp slt i64 0, %t20
  br i1 %t21, label %loop3, label %done5
loop3:
  %t22 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t23 = mul nsw i64 32, %t22
  %t24 = add nsw i64 %t5, 31
  %t25 = ashr i64 %t24, 5
  %t26 = mul nsw i64 %t23, %t25
  %t27 = mul nsw i64 32, %t9
  %t28 = add nsw i64 %t26, %t27
  %t29 = getelementptr inbounds double, ptr %t1, i64 %t28
  %t30 = call i64 @llvm.smax.i64(i64 %t15, i64 0)
  %t31 = trunc i64 %t30 to i32
  %t32 = insertelement <32 x i32> poison, i32 %t31, i64 0
  %t33 = shufflevector <32 x i32> %t32, <32 x i32> poison, <32 x i32> zeroinitializer
  %t34 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t33
  %t35 = call <32 x double> @llvm.masked.load.v32f64.p0(ptr %t29, i32 64, <32 x i1> %t34, <32 x double> splat (double 0x0000000000000000)), !alias.scope !5, !noalias !4
  store <32 x double> splat (double 0x0000000000000000), ptr %variable56
  %t36 = load <32 x double>, ptr %variable56
  %t37 = select <32 x i1> %t18, <32 x double> %t35, <32 x double> %t36
  %t38 = load <32 x double>, ptr %variable35
  %t39 = fadd <32 x double> %t38, %t37
  store <32 x double> %t39, ptr %variable35
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t22, 1
  %t40 = icmp slt i64 %loop3.next, %t20
  br i1 %t40, label %loop3, label %done5
done5:
  %t41 = load <32 x double>, ptr %variable35
  %t42 = fptrunc <32 x double> %t41 to <32 x float>
  %t43 = mul nsw i64 32, %t9
  %t44 = getelementptr inbounds float, ptr %t3, i64 %t43
  %t45 = call i64 @llvm.smax.i64(i64 %t15, i64 0)
  %t46 = trunc i64 %t45 to i32
  %t47 = insertelement <32 x i32> poison, i32 %t46, i64 0
  %t48 = shufflevector <32 x i32> %t47, <32 x i32> poison, <32 x i32> zeroinitializer
  %t49 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t48
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t42, ptr %t44, i32 4, <32 x i1> %t49), !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t9, 1
  %t50 = icmp slt i64 %loop0.next, %end
  br i1 %t50, label %loop0, label %done2
done2:
  ret void
}
define void @sum_rows_and_columns_s1_phase2(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %own_buffers = alloca [2 x ptr], align 8
  %buffers_from0 = getelementptr inbounds ptr, ptr %buffers, i64 3
  %buffers_0 = load ptr, ptr %buffers_from0, align 8
  %buffers_to0 = getelementptr inbounds ptr, ptr %own_buffers, i64 0
  store ptr %buffers_0, ptr %buffers_to0, align 8
  %buffers_from1 = getelementptr inbounds ptr, ptr %buffers, i64 2
  %buffers_1 = load ptr, ptr %buffers_from1, align 8
  %buffers_to1 = getelementptr inbounds ptr, ptr %own_buffers, i64 1
  store ptr %buffers_1, ptr %buffers_to1, align 8
  %own_integers = alloca [2 x i64], align 8
  %integers_from0 = getelementptr inbounds i64, ptr %integers, i64 1
  %integers_0 = load i64, ptr %integers_from0, align 8
  %integers_to0 = getelementptr inbounds i64, ptr %own_integers, i64 0
  store i64 %integers_0, ptr %integers_to0, align 8
  %integers_from1 = getelementptr inbounds i64, ptr %integers, i64 0
  %integers_1 = load i64, ptr %integers_from1, align 8
  %integers_to1 = getelementptr inbounds i64, ptr %own_integers, i64 1
  store i64 %integers_1, ptr %integers_to1, align 8
  call void @sum_rows_and_columns_s1.body2(ptr %own_buffers, ptr %own_integers, i64 %begin, i64 %end)
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
