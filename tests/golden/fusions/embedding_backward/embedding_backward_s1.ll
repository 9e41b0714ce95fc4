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
  %t40 = load i64, ptr %t39, align 8, !alias.scope !4, !noalias !5, !invariant.load !0  ; %56
  %t41 = icmp slt i64 %t40, %t19
  %t42 = icmp sle i64 0, %t40
  %t43 = and i1 %t41, %t42
  br i1 %t43, label %then9, label %join10
then9:
  %t44 = mul nsw i64 %t23, %t25
  %t45 = ashr i64 %t40, 6
  %t46 = add nsw i64 %t44, %t45
  %t47 = getelementptr inbounds i32, ptr %t9, i64 %t46
  %t48 = load i32, ptr %t47, align 4, !alias.scope !5, !noalias !4  ; %57
  %t49 = add i32 %t48, 1  ; %59
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
  %t60 = add nsw i64 %t53, %t59  ; %60
  %t61 = icmp ult i64 0, 64
  %t62 = select i1 %t61, i64 0, i64 0
  %t63 = lshr i64 %t40, %t62
  %t64 = select i1 %t61, i64 %t63, i64 0  ; %65
  %t65 = and i64 %t64, 65535  ; %67
  %t66 = or i64 %t60, %t65  ; %68
  %t67 = getelementptr inbounds i64, ptr %t7, i64 0
  atomicrmw umin ptr %t67, i64 %t66 monotonic, align 8
  %t68 = icmp ult i64 16, 64
  %t69 = select i1 %t68, i64 16, i64 0
  %t70 = lshr i64 %t40, %t69
  %t71 = select i1 %t68, i64 %t70, i64 0  ; %70
  %t72 = and i64 %t71, 65535  ; %72
  %t73 = or i64 %t60, %t72  ; %73
  %t74 = getelementptr inbounds i64, ptr %t7, i64 1
  atomicrmw umin ptr %t74, i64 %t73 monotonic, align 8
  %t75 = icmp ult i64 32, 64
  %t76 = select i1 %t75, i64 32, i64 0
  %t77 = lshr i64 %t40, %t76
  %t78 = select i1 %t75, i64 %t77, i64 0  ; %75
  %t79 = and i64 %t78, 65535  ; %77
  %t80 = or i64 %t60, %t79  ; %78
  %t81 = getelementptr inbounds i64, ptr %t7, i64 2
  atomicrmw umin ptr %t81, i64 %t80 monotonic, align 8
  %t82 = icmp ult i64 48, 64
  %t83 = select i1 %t82, i64 48, i64 0
  %t84 = lshr i64 %t40, %t83
  %t85 = select i1 %t82, i64 %t84, i64 0  ; %80
  %t86 = and i64 %t85, 65535  ; %82
  %t87 = or i64 %t60, %t86  ; %83
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
define void @embedding_backward_s1_phase1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t34 = load i32, ptr %t33, align 4, !alias.scope !5, !noalias !4  ; %30
  %t35 = load i32, ptr %variable29
  %t36 = add i32 %t35, %t34  ; %31
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
define void @embedding_backward_s1_phase2(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t32 = load i64, ptr %t31, align 8, !alias.scope !4, !noalias !5, !invariant.load !0  ; %84
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
  %t42 = load i32, ptr %t41, align 4, !alias.scope !5, !noalias !4  ; %85
  %t43 = add i32 %t42, 1  ; %87
  %t44 = getelementptr inbounds i32, ptr %t9, i64 %t40
  store i32 %t43, ptr %t44, align 4, !alias.scope !5, !noalias !4
  %t45 = sext i32 %t42 to i64  ; %88
  %t46 = trunc i64 %t32 to i32  ; %90
  %t47 = getelementptr inbounds i32, ptr %t11, i64 %t45
  store i32 %t46, ptr %t47, align 4, !alias.scope !5, !noalias !4
  %t48 = trunc i64 %t30 to i32  ; %92
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
define void @embedding_backward_s1_phase3(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  store <8 x float> splat (float 0x0000000000000000), ptr %t47, align 4, !alias.scope !5, !noalias !4
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
  %t56 = add nsw i64 %t53, 7
  %t57 = icmp slt i64 %t56, %t17
  br i1 %t57, label %then11, label %join12
then11:
  %t58 = mul nsw i64 %t31, %t17
  %t59 = mul nsw i64 64, %t17
  %t60 = mul nsw i64 %t59, %t26
  %t61 = add nsw i64 %t58, %t60
  %t62 = add nsw i64 %t61, %t53
  %t63 = getelementptr inbounds float, ptr %t5, i64 %t62
  store <8 x float> splat (float 0x0000000000000000), ptr %t63, align 4, !alias.scope !5, !noalias !4
  br label %join12
join12:
  br label %join10
join10:
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t31, 1
  %t64 = icmp slt i64 %loop3.next, %t29
  br i1 %t64, label %loop3, label %done5
done5:
  store i32 0, ptr %variable42
  %t65 = icmp slt i64 0, %t26
  br i1 %t65, label %then13, label %join14
then13:
  %t66 = add nsw i64 %t15, 4095
  %t67 = ashr i64 %t66, 12
  %t68 = add nsw i64 %t19, 63
  %t69 = ashr i64 %t68, 6
  %t70 = mul nsw i64 %t67, %t69
  %t71 = mul nsw i64 -1, %t69
  %t72 = add nsw i64 %t70, %t71
  %t73 = add nsw i64 %t72, %t26
  %t74 = add nsw i64 %t73, -1
  %t75 = getelementptr inbounds i32, ptr %t9, i64 %t74
  %t76 = load i32, ptr %t75, align 4, !alias.scope !5, !noalias !4  ; %43
  store i32 %t76, ptr %variable42
  br label %join14
join14:
  %t77 = load i32, ptr %variable42
  %t78 = sext i32 %t77 to i64  ; %44
  %t79 = add nsw i64 %t15, 4095
  %t80 = ashr i64 %t79, 12
  %t81 = add nsw i64 %t19, 63
  %t82 = ashr i64 %t81, 6
  %t83 = mul nsw i64 %t80, %t82
  %t84 = mul nsw i64 -1, %t82
  %t85 = add nsw i64 %t83, %t84
  %t86 = add nsw i64 %t85, %t26
  %t87 = getelementptr inbounds i32, ptr %t9, i64 %t86
  %t88 = load i32, ptr %t87, align 4, !alias.scope !5, !noalias !4  ; %45
  %t89 = sext i32 %t88 to i64  ; %46
  %t90 = mul nsw i64 -1, %t78
  %t91 = add nsw i64 %t90, %t89
  %t92 = icmp slt i64 0, %t91
  br i1 %t92, label %loop15, label %done17
loop15:
  %t93 = phi i64 [ 0, %join14 ], [ %loop15.next, %latch16 ]
  %t94 = add nsw i64 %t93, %t78
  %t95 = getelementptr inbounds i32, ptr %t11, i64 %t94
  %t96 = load i32, ptr %t95, align 4, !alias.scope !5, !noalias !4  ; %47
  %t97 = sext i32 %t96 to i64  ; %48
  %t98 = getelementptr inbounds i32, ptr %t13, i64 %t94
  %t99 = load i32, ptr %t98, align 4, !alias.scope !5, !noalias !4  ; %49
  %t100 = sext i32 %t99 to i64  ; %50
  %t101 = ashr i64 %t17, 3
  %t102 = urem i64 %t23, %t25
  %t103 = mul nsw i64 -256, %t102
  %t104 = add nsw i64 %t101, %t103
  %t105 = call i64 @llvm.smin.i64(i64 256, i64 %t104)
  %t106 = icmp slt i64 0, %t105
  br i1 %t106, label %loop18, label %done20
loop18:
  %t107 = phi i64 [ 0, %loop15 ], [ %loop18.next, %latch19 ]
  %t108 = mul nsw i64 %t97, %t17
  %t109 = mul nsw i64 8, %t107
  %t110 = add nsw i64 %t108, %t109
  %t111 = mul nsw i64 2048, %t102
  %t112 = add nsw i64 %t110, %t111
  %t113 = getelementptr inbounds float, ptr %t5, i64 %t112
  %t114 = load <8 x float>, ptr %t113, align 4, !alias.scope !5, !noalias !4  ; %101
  %t115 = mul nsw i64 %t100, %t17
  %t116 = add nsw i64 %t115, %t109
  %t117 = add nsw i64 %t116, %t111
  %t118 = getelementptr inbounds float, ptr %t3, i64 %t117
  %t119 = load <8 x float>, ptr %t118, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %103
  %t120 = fmul <8 x float> %t119, splat (float 0x3FE0000000000000)  ; %104
  %t121 = fadd <8 x float> %t114, %t120  ; %105
  %t122 = getelementptr inbounds float, ptr %t5, i64 %t112
  store <8 x float> %t121, ptr %t122, align 4, !alias.scope !5, !noalias !4
  br label %latch19
latch19:
  %loop18.next = add nuw nsw i64 %t107, 1
  %t123 = icmp slt i64 %loop18.next, %t105
  br i1 %t123, label %loop18, label %done20
done20:
  %t124 = icmp slt i64 %t105, 256
  %t125 = mul nsw i64 256, %t102
  %t126 = add nsw i64 %t125, 256
  %t127 = call i64 @llvm.smin.i64(i64 %t126, i64 %t101)
  %t128 = mul nsw i64 8, %t127
  %t129 = icmp slt i64 %t128, %t17
  %t130 = and i1 %t124, %t129
  br i1 %t130, label %then21, label %join22
then21:
  %t131 = add nsw i64 %t128, 7
  %t132 = icmp slt i64 %t131, %t17
  br i1 %t132, label %then23, label %join24
then23:
  %t133 = mul nsw i64 %t97, %t17
  %t134 = add nsw i64 %t133, %t128
  %t135 = getelementptr inbounds float, ptr %t5, i64 %t134
  %t136 = load <8 x float>, ptr %t135, align 4, !alias.scope !5, !noalias !4  ; %96
  %t137 = mul nsw i64 %t100, %t17
  %t138 = add nsw i64 %t137, %t128
  %t139 = getelementptr inbounds float, ptr %t3, i64 %t138
  %t140 = load <8 x float>, ptr %t139, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %98
  %t141 = fmul <8 x float> %t140, splat (float 0x3FE0000000000000)  ; %99
  %t142 = fadd <8 x float> %t136, %t141  ; %100
  %t143 = getelementptr inbounds float, ptr %t5, i64 %t134
  store <8 x float> %t142, ptr %t143, align 4, !alias.scope !5, !noalias !4
  br label %join24
join24:
  br label %join22
join22:
  br label %latch16
latch16:
  %loop15.next = add nuw nsw i64 %t93, 1
  %t144 = icmp slt i64 %loop15.next, %t91
  br i1 %t144, label %loop15, label %done17
done17:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t23, 1
  %t145 = icmp slt i64 %loop0.next, %end
  br i1 %t145, label %loop0, label %done2
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
