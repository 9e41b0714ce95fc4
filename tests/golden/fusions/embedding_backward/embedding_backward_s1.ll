define void @embedding_backward_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds ptr, ptr %buffers, i64 2
  %t5 = load ptr, ptr %t4, align 8, !invariant.load !0
  %t6 = getelementptr inbounds ptr, ptr %buffers, i64 3
  %t7 = load ptr, ptr %t6, align 8, !invariant.load !0
  %t8 = getelementptr inbounds ptr, ptr %buffers, i64 4
  %t9 = load ptr, ptr %t8, align 8, !invariant.load !0
  %t10 = getelementptr inbounds ptr, ptr %buffers, i64 5
  %t11 = load ptr, ptr %t10, align 8, !invariant.load !0
  %t12 = getelementptr inbounds ptr, ptr %buffers, i64 6
  %t13 = load ptr, ptr %t12, align 8, !invariant.load !0
  %t14 = getelementptr inbounds i64, ptr %integers, i64 0
  %t15 = load i64, ptr %t14, align 8, !invariant.load !0
  %t16 = getelementptr inbounds i64, ptr %integers, i64 1
  %t17 = load i64, ptr %t16, align 8, !invariant.load !0
  %t18 = getelementptr inbounds i64, ptr %integers, i64 2
  %t19 = load i64, ptr %t18, align 8, !invariant.load !0
  %t20 = getelementptr inbounds i64, ptr %integers, i64 3
  %t21 = load i64, ptr %t20, align 8, !invariant.load !0
  %t22 = icmp slt i64 %begin, %end
  br i1 %t22, label %loop0, label %done2
loop0:
  %t23 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t24 = add nsw i64 %t19, 63
  %t25 = ashr i64 %t24, 6
  %t26 = icmp slt i64 0, %t25
  br i1 %t26, label %loop3, label %done5
loop3:
  %t27 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t28 = mul nsw i64 %t23, %t25
  %t29 = add nsw i64 %t28, %t27
  %t30 = getelementptr inbounds i32, ptr %t9, i64 %t29
  store i32 0, ptr %t30, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t27, 1
  %t31 = icmp slt i64 %loop3.next, %t25
  br i1 %t31, label %loop3, label %done5
done5:
  %t32 = mul nsw i64 -4096, %t23
  %t33 = add nsw i64 %t32, %t15
  %t34 = call i64 @llvm.smin.i64(i64 4096, i64 %t33)
  %t35 = icmp slt i64 0, %t34
  br i1 %t35, label %loop6, label %done8
loop6:
  %t36 = phi i64 [ 0, %done5 ], [ %loop6.next, %latch7 ]
  %t37 = mul nsw i64 4096, %t23
  %t38 = add nsw i64 %t37, %t36
  %t39 = getelementptr inbounds i64, ptr %t1, i64 %t38
  %t40 = load i64, ptr %t39, align 8, !alias.scope !4, !noalias !5, !invariant.load !0
  %t41 = icmp slt i64 %t40, %t19
  %t42 = icmp sle i64 0, %t40
  %t43 = and i1 %t41, %t42
  br i1 %t43, label %then9, label %join10
then9:
  %t44 = mul nsw i64 %t23, %t25
  %t45 = ashr i64 %t40, 6
  %t46 = add nsw i64 %t44, %t45
  %t47 = getelementptr inbounds i32, ptr %t9, i64 %t46
  %t48 = load i32, ptr %t47, align 4, !alias.scope !5, !noalias !4
  %t49 = add i32 %t48, 1
  %t50 = getelementptr inbounds i32, ptr %t9, i64 %t46
  store i32 %t49, ptr %t50, align 4, !alias.scope !5, !noalias !4
  br label %join10
join10:
  %t51 = xor i1 %t43, true
  br i1 %t51, label %then11, label %join12
then11:
  %t52 = call i64 @llvm.smin.i64(i64 %t21, i64 2047)
  %t53 = mul nsw i64 4503599627370496, %t52
  %t54 = mul nsw i64 4096, %t23
  %t55 = mul nsw i64 %t54, %t17
  %t56 = mul nsw i64 %t36, %t17
  %t57 = add nsw i64 %t55, %t56
  %t58 = call i64 @llvm.smin.i64(i64 68719476735, i64 %t57)
  %t59 = mul nsw i64 65536, %t58
  %t60 = add nsw i64 %t53, %t59
  %t61 = icmp ult i64 0, 64
  %t62 = select i1 %t61, i64 0, i64 0
  %t63 = lshr i64 %t40, %t62
  %t64 = select i1 %t61, i64 %t63, i64 0
  %t65 = and i64 %t64, 65535
  %t66 = or i64 %t60, %t65
  %t67 = getelementptr inbounds i64, ptr %t7, i64 0
  atomicrmw umin ptr %t67, i64 %t66 monotonic, align 8
  %t68 = icmp ult i64 16, 64
  %t69 = select i1 %t68, i64 16, i64 0
  %t70 = lshr i64 %t40, %t69
  %t71 = select i1 %t68, i64 %t70, i64 0
  %t72 = and i64 %t71, 65535
  %t73 = or i64 %t60, %t72
  %t74 = getelementptr inbounds i64, ptr %t7, i64 1
  atomicrmw umin ptr %t74, i64 %t73 monotonic, align 8
  %t75 = icmp ult i64 32, 64
  %t76 = select i1 %t75, i64 32, i64 0
  %t77 = lshr i64 %t40, %t76
  %t78 = select i1 %t75, i64 %t77, i64 0
  %t79 = and i64 %t78, 65535
  %t80 = or i64 %t60, %t79
  %t81 = getelementptr inbounds i64, ptr %t7, i64 2
  atomicrmw umin ptr %t81, i64 %t80 monotonic, align 8
  %t82 = icmp ult i64 48, 64
  %t83 = select i1 %t82, i64 48, i64 0
  %t84 = lshr i64 %t40, %t83
  %t85 = select i1 %t82, i64 %t84, i64 0
  %t86 = and i64 %t85, 65535
  %t87 = or i64 %t60, %t86
  %t88 = getelementptr inbounds i64, ptr %t7, i64 3
  atomicrmw umin ptr %t88, i64 %t87 monotonic, align 8
  br label %join12
join12:
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t36, 1
  %t89 = icmp slt i64 %loop6.next, %t34
  br i1 %t89, label %loop6, label %done8
done8:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t23, 1
  %t90 = icmp slt i64 %loop0.next, %end
  br i1 %t90, label %loop0, label %done2
done2:
  ret void
}
define void @embedding_backward_s1.phase1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable29 = alloca i32
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds ptr, ptr %buffers, i64 2
  %t5 = load ptr, ptr %t4, align 8, !invariant.load !0
  %t6 = getelementptr inbounds ptr, ptr %buffers, i64 3
  %t7 = load ptr, ptr %t6, align 8, !invariant.load !0
  %t8 = getelementptr inbounds ptr, ptr %buffers, i64 4
  %t9 = load ptr, ptr %t8, align 8, !invariant.load !0
  %t10 = getelementptr inbounds ptr, ptr %buffers, i64 5
  %t11 = load ptr, ptr %t10, align 8, !invariant.load !0
  %t12 = getelementptr inbounds ptr, ptr %buffers, i64 6
  %t13 = load ptr, ptr %t12, align 8, !invariant.load !0
  %t14 = getelementptr inbounds i64, ptr %integers, i64 0
  %t15 = load i64, ptr %t14, align 8, !invariant.load !0
  %t16 = getelementptr inbounds i64, ptr %integers, i64 1
  %t17 = load i64, ptr %t16, align 8, !invariant.load !0
  %t18 = getelementptr inbounds i64, ptr %integers, i64 2
  %t19 = load i64, ptr %t18, align 8, !invariant.load !0
  %t20 = getelementptr inbounds i64, ptr %integers, i64 3
  %t21 = load i64, ptr %t20, align 8, !invariant.load !0
  %t22 = icmp slt i64 %begin, %end
  br i1 %t22, label %then0, label %join1
then0:
  store i32 0, ptr %variable29
  %t23 = add nsw i64 %t19, 63
  %t24 = ashr i64 %t23, 6
  %t25 = icmp slt i64 0, %t24
  br i1 %t25, label %loop2, label %done4
loop2:
  %t26 = phi i64 [ 0, %then0 ], [ %loop2.next, %latch3 ]
  %t27 = add nsw i64 %t15, 4095
  %t28 = ashr i64 %t27, 12
  %t29 = icmp slt i64 0, %t28
  br i1 %t29, label %loop5, label %done7
loop5:
  %t30 = phi i64 [ 0, %loop2 ], [ %loop5.next, %latch6 ]
  %t31 = mul nsw i64 %t30, %t24
  %t32 = add nsw i64 %t31, %t26
  %t33 = getelementptr inbounds i32, ptr %t9, i64 %t32
  %t34 = load i32, ptr %t33, align 4, !alias.scope !5, !noalias !4
  %t35 = load i32, ptr %variable29
  %t36 = add i32 %t35, %t34
  %t37 = load i32, ptr %variable29
  %t38 = getelementptr inbounds i32, ptr %t9, i64 %t32
  store i32 %t37, ptr %t38, align 4, !alias.scope !5, !noalias !4
  store i32 %t36, ptr %variable29
  br label %latch6
latch6:
  %loop5.next = add nuw nsw i64 %t30, 1
  %t39 = icmp slt i64 %loop5.next, %t28
  br i1 %t39, label %loop5, label %done7
done7:
  br label %latch3
latch3:
  %loop2.next = add nuw nsw i64 %t26, 1
  %t40 = icmp slt i64 %loop2.next, %t24
  br i1 %t40, label %loop2, label %done4
done4:
  br label %join1
join1:
  ret void
}
define void @embedding_backward_s1.phase2(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds ptr, ptr %buffers, i64 2
  %t5 = load ptr, ptr %t4, align 8, !invariant.load !0
  %t6 = getelementptr inbounds ptr, ptr %buffers, i64 3
  %t7 = load ptr, ptr %t6, align 8, !invariant.load !0
  %t8 = getelementptr inbounds ptr, ptr %buffers, i64 4
  %t9 = load ptr, ptr %t8, align 8, !invariant.load !0
  %t10 = getelementptr inbounds ptr, ptr %buffers, i64 5
  %t11 = load ptr, ptr %t10, align 8, !invariant.load !0
  %t12 = getelementptr inbounds ptr, ptr %buffers, i64 6
  %t13 = load ptr, ptr %t12, align 8, !invariant.load !0
  %t14 = getelementptr inbounds i64, ptr %integers, i64 0
  %t15 = load i64, ptr %t14, align 8, !invariant.load !0
  %t16 = getelementptr inbounds i64, ptr %integers, i64 1
  %t17 = load i64, ptr %t16, align 8, !invariant.load !0
  %t18 = getelementptr inbounds i64, ptr %integers, i64 2
  %t19 = load i64, ptr %t18, align 8, !invariant.load !0
  %t20 = getelementptr inbounds i64, ptr %integers, i64 3
  %t21 = load i64, ptr %t20, align 8, !invariant.load !0
  %t22 = icmp slt i64 %begin, %end
  br i1 %t22, label %loop0, label %done2
loop0:
  %t23 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t24 = mul nsw i64 -4096, %t23
  %t25 = add nsw i64 %t24, %t15
  %t26 = call i64 @llvm.smin.i64(i64 4096, i64 %t25)
  %t27 = icmp slt i64 0, %t26
  br i1 %t27, label %loop3, label %done5
loop3:
  %t28 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t29 = mul nsw i64 4096, %t23
  %t30 = add nsw i64 %t29, %t28
  %t31 = getelementptr inbounds i64, ptr %t1, i64 %t30
  %t32 = load i64, ptr %t31, align 8, !alias.scope !4, !noalias !5, !invariant.load !0
  %t33 = icmp slt i64 %t32, %t19
  %t34 = icmp sle i64 0, %t32
  %t35 = and i1 %t33, %t34
  br i1 %t35, label %then6, label %join7
then6:
  %t36 = add nsw i64 %t19, 63
  %t37 = ashr i64 %t36, 6
  %t38 = mul nsw i64 %t23, %t37
  %t39 = ashr i64 %t32, 6
  %t40 = add nsw i64 %t38, %t39
  %t41 = getelementptr inbounds i32, ptr %t9, i64 %t40
  %t42 = load i32, ptr %t41, align 4, !alias.scope !5, !noalias !4
  %t43 = add i32 %t42, 1
  %t44 = getelementptr inbounds i32, ptr %t9, i64 %t40
  store i32 %t43, ptr %t44, align 4, !alias.scope !5, !noalias !4
  %t45 = sext i32 %t42 to i64
  %t46 = trunc i64 %t32 to i32
  %t47 = getelementptr inbounds i32, ptr %t11, i64 %t45
  store i32 %t46, ptr %t47, align 4, !alias.scope !5, !noalias !4
  %t48 = trunc i64 %t30 to i32
  %t49 = getelementptr inbounds i32, ptr %t13, i64 %t45
  store i32 %t48, ptr %t49, align 4, !alias.scope !5, !noalias !4
  br label %join7
join7:
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t28, 1
  %t50 = icmp slt i64 %loop3.next, %t26
  br i1 %t50, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t23, 1
  %t51 = icmp slt i64 %loop0.next, %end
  br i1 %t51, label %loop0, label %done2
done2:
  ret void
}
define void @embedding_backward_s1.phase3(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable42 = alloca i32
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds ptr, ptr %buffers, i64 2
  %t5 = load ptr, ptr %t4, align 8, !invariant.load !0
  %t6 = getelementptr inbounds ptr, ptr %buffers, i64 3
  %t7 = load ptr, ptr %t6, align 8, !invariant.load !0
  %t8 = getelementptr inbounds ptr, ptr %buffers, i64 4
  %t9 = load ptr, ptr %t8, align 8, !invariant.load !0
  %t10 = getelementptr inbounds ptr, ptr %buffers, i64 5
  %t11 = load ptr, ptr %t10, align 8, !invariant.load !0
  %t12 = getelementptr inbounds ptr, ptr %buffers, i64 6
  %t13 = load ptr, ptr %t12, align 8, !invariant.load !0
  %t14 = getelementptr inbounds i64, ptr %integers, i64 0
  %t15 = load i64, ptr %t14, align 8, !invariant.load !0
  %t16 = getelementptr inbounds i64, ptr %integers, i64 1
  %t17 = load i64, ptr %t16, align 8, !invariant.load !0
  %t18 = getelementptr inbounds i64, ptr %integers, i64 2
  %t19 = load i64, ptr %t18, align 8, !invariant.load !0
  %t20 = getelementptr inbounds i64, ptr %integers, i64 3
  %t21 = load i64, ptr %t20, align 8, !invariant.load !0
  %t22 = icmp slt i64 %begin, %end
  br i1 %t22, label %loop0, label %done2
loop0:
  %t23 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t24 = add nsw i64 %t17, 2047
  %t25 = ashr i64 %t24, 11
  %t26 = udiv i64 %t23, %t25
  %t27 = mul nsw i64 -64, %t26
  %t28 = add nsw i64 %t19, %t27
  %t29 = call i64 @llvm.smin.i64(i64 64, i64 %t28)
  %t30 = icmp slt i64 0, %t29
  br i1 %t30, label %loop3, label %done5
loop3:
  %t31 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t32 = ashr i64 %t17, 3
  %t33 = urem i64 %t23, %t25
  %t34 = mul nsw i64 -256, %t33
  %t35 = add nsw i64 %t32, %t34
  %t36 = call i64 @llvm.smin.i64(i64 256, i64 %t35)
  %t37 = icmp slt i64 0, %t36
  br i1 %t37, label %loop6, label %done8
loop6:
  %t38 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  %t39 = mul nsw i64 %t31, %t17
  %t40 = mul nsw i64 64, %t17
  %t41 = mul nsw i64 %t40, %t26
  %t42 = add nsw i64 %t39, %t41
  %t43 = mul nsw i64 8, %t38
  %t44 = add nsw i64 %t42, %t43
  %t45 = mul nsw i64 2048, %t33
  %t46 = add nsw i64 %t44, %t45
  %t47 = getelementptr inbounds float, ptr %t5, i64 %t46
  store <8 x float> splat (float 0x0000000000000000), ptr %t47, align 32, !alias.scope !5, !noalias !4
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t38, 1
  %t48 = icmp slt i64 %loop6.next, %t36
  br i1 %t48, label %loop6, label %done8
done8:
  %t49 = icmp slt i64 %t36, 256
  %t50 = mul nsw i64 256, %t33
  %t51 = add nsw i64 %t50, 256
  %t52 = call i64 @llvm.smin.i64(i64 %t51, i64 %t32)
  %t53 = mul nsw i64 8, %t52
  %t54 = icmp slt i64 %t53, %t17
  %t55 = and i1 %t49, %t54
  br i1 %t55, label %then9, label %join10
then9:
  %t56 = mul nsw i64 %t31, %t17
  %t57 = mul nsw i64 64, %t17
  %t58 = mul nsw i64 %t57, %t26
  %t59 = add nsw i64 %t56, %t58
  %t60 = add nsw i64 %t59, %t53
  %t61 = getelementptr inbounds float, ptr %t5, i64 %t60
  %t62 = mul nsw i64 -8, %t52
  %t63 = add nsw i64 %t17, %t62
  %t64 = call i64 @llvm.smin.i64(i64 8, i64 %t63)
  %t65 = call i64 @llvm.smax.i64(i64 %t64, i64 0)
  %t66 = trunc i64 %t65 to i32
  %t67 = insertelement <8 x i32> poison, i32 %t66, i64 0
  %t68 = shufflevector <8 x i32> %t67, <8 x i32> poison, <8 x i32> zeroinitializer
  %t69 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %t68
  call void @llvm.masked.store.v8f32.p0(<8 x float> splat (float 0x0000000000000000), ptr %t61, i32 32, <8 x i1> %t69), !alias.scope !5, !noalias !4
  br label %join10
join10:
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t31, 1
  %t70 = icmp slt i64 %loop3.next, %t29
  br i1 %t70, label %loop3, label %done5
done5:
  store i32 0, ptr %variable42
  %t71 = icmp slt i64 0, %t26
  br i1 %t71, label %then11, label %join12
then11:
  %t72 = add nsw i64 %t15, 4095
  %t73 = ashr i64 %t72, 12
  %t74 = add nsw i64 %t19, 63
  %t75 = ashr i64 %t74, 6
  %t76 = mul nsw i64 %t73, %t75
  %t77 = mul nsw i64 -1, %t75
  %t78 = add nsw i64 %t76, %t77
  %t79 = add nsw i64 %t78, %t26
  %t80 = add nsw i64 %t79, -1
  %t81 = getelementptr inbounds i32, ptr %t9, i64 %t80
  %t82 = load i32, ptr %t81, align 4, !alias.scope !5, !noalias !4
  store i32 %t82, ptr %variable42
  br label %join12
join12:
  %t83 = load i32, ptr %variable42
  %t84 = sext i32 %t83 to i64
  %t85 = add nsw i64 %t15, 4095
  %t86 = ashr i64 %t85, 12
  %t87 = add nsw i64 %t19, 63
  %t88 = ashr i64 %t87, 6
  %t89 = mul nsw i64 %t86, %t88
  %t90 = mul nsw i64 -1, %t88
  %t91 = add nsw i64 %t89, %t90
  %t92 = add nsw i64 %t91, %t26
  %t93 = getelementptr inbounds i32, ptr %t9, i64 %t92
  %t94 = load i32, ptr %t93, align 4, !alias.scope !5, !noalias !4
  %t95 = sext i32 %t94 to i64
  %t96 = mul nsw i64 -1, %t84
  %t97 = add nsw i64 %t96, %t95
  %t98 = icmp slt i64 0, %t97
  br i1 %t98, label %loop13, label %done15
loop13:
  %t99 = phi i64 [ 0, %join12 ], [ %loop13.next, %latch14 ]
  %t100 = add nsw i64 %t99, %t84
  %t101 = getelementptr inbounds i32, ptr %t11, i64 %t100
  %t102 = load i32, ptr %t101, align 4, !alias.scope !5, !noalias !4
  %t103 = sext i32 %t102 to i64
  %t104 = getelementptr inbounds i32, ptr %t13, i64 %t100
  %t105 = load i32, ptr %t104, align 4, !alias.scope !5, !noalias !4
  %t106 = sext i32 %t105 to i64
  %t107 = ashr i64 %t17, 3
  %t108 = urem i64 %t23, %t25
  %t109 = mul nsw i64 -256, %t108
  %t110 = add nsw i64 %t107, %t109
  %t111 = call i64 @llvm.smin.i64(i64 256, i64 %t110)
  %t112 = icmp slt i64 0, %t111
  br i1 %t112, label %loop16, label %done18
loop16:
  %t113 = phi i64 [ 0, %loop13 ], [ %loop16.next, %latch17 ]
  %t114 = mul nsw i64 %t103, %t17
  %t115 = mul nsw i64 8, %t113
  %t116 = add nsw i64 %t114, %t115
  %t117 = mul nsw i64 2048, %t108
  %t118 = add nsw i64 %t116, %t117
  %t119 = getelementptr inbounds float, ptr %t5, i64 %t118
  %t120 = load <8 x float>, ptr %t119, align 4, !alias.scope !5, !noalias !4
  %t121 = mul nsw i64 %t106, %t17
  %t122 = add nsw i64 %t121, %t115
  %t123 = add nsw i64 %t122, %t117
  %t124 = getelementptr inbounds float, ptr %t3, i64 %t123
  %t125 = load <8 x float>, ptr %t124, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t126 = fmul <8 x float> %t125, splat (float 0x3FE0000000000000)
  %t127 = fadd <8 x float> %t120, %t126
  %t128 = getelementptr inbounds float, ptr %t5, i64 %t118
  store <8 x float> %t127, ptr %t128, align 32, !alias.scope !5, !noalias !4
  br label %latch17
latch17:
  %loop16.next = add nuw nsw i64 %t113, 1
  %t129 = icmp slt i64 %loop16.next, %t111
  br i1 %t129, label %loop16, label %done18
done18:
  %t130 = icmp slt i64 %t111, 256
  %t131 = mul nsw i64 256, %t108
  %t132 = add nsw i64 %t131, 256
  %t133 = call i64 @llvm.smin.i64(i64 %t132, i64 %t107)
  %t134 = mul nsw i64 8, %t133
  %t135 = icmp slt i64 %t134, %t17
  %t136 = and i1 %t130, %t135
  br i1 %t136, label %then19, label %join20
then19:
  %t137 = mul nsw i64 %t103, %t17
  %t138 = add nsw i64 %t137, %t134
  %t139 = getelementptr inbounds float, ptr %t5, i64 %t138
  %t140 = mul nsw i64 -8, %t133
  %t141 = add nsw i64 %t17, %t140
  %t142 = call i64 @llvm.smin.i64(i64 8, i64 %t141)
  %t143 = call i64 @llvm.smax.i64(i64 %t142, i64 0)
  %t144 = trunc i64 %t143 to i32
  %t145 = insertelement <8 x i32> poison, i32 %t144, i64 0
  %t146 = shufflevector <8 x i32> %t145, <8 x i32> poison, <8 x i32> zeroinitializer
  %t147 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %t146
  %t148 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %t139, i32 4, <8 x i1> %t147, <8 x float> splat (float 0x0000000000000000)), !alias.scope !5, !noalias !4
  %t149 = mul nsw i64 %t106, %t17
  %t150 = add nsw i64 %t149, %t134
  %t151 = getelementptr inbounds float, ptr %t3, i64 %t150
  %t152 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %t151, i32 4, <8 x i1> %t147, <8 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t153 = fmul <8 x float> %t152, splat (float 0x3FE0000000000000)
  %t154 = fadd <8 x float> %t148, %t153
  %t155 = getelementptr inbounds float, ptr %t5, i64 %t138
  call void @llvm.masked.store.v8f32.p0(<8 x float> %t154, ptr %t155, i32 32, <8 x i1> %t147), !alias.scope !5, !noalias !4
  br label %join20
join20:
  br label %latch14
latch14:
  %loop13.next = add nuw nsw i64 %t99, 1
  %t156 = icmp slt i64 %loop13.next, %t97
  br i1 %t156, label %loop13, label %done15
done15:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t23, 1
  %t157 = icmp slt i64 %loop0.next, %end
  br i1 %t157, label %loop0, label %done2
done2:
  ret void
}

declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32 immarg, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32 immarg, <8 x i1>)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
