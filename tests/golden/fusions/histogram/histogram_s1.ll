define void @histogram_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t10 = getelementptr inbounds i64, ptr %integers, i64 0
  %t11 = load i64, ptr %t10, align 8, !invariant.load !0
  %t12 = getelementptr inbounds i64, ptr %integers, i64 1
  %t13 = load i64, ptr %t12, align 8, !invariant.load !0
  %t14 = getelementptr inbounds i64, ptr %integers, i64 2
  %t15 = load i64, ptr %t14, align 8, !invariant.load !0
  %t16 = getelementptr inbounds i64, ptr %integers, i64 3
  %t17 = load i64, ptr %t16, align 8, !invariant.load !0
  %t18 = icmp slt i64 %begin, %end
  br i1 %t18, label %then0, label %join1
then0:
  %t19 = ashr i64 %t11, 3
  %t20 = icmp slt i64 0, %t19
  br i1 %t20, label %loop2, label %done4
loop2:
  %t21 = phi i64 [ 0, %then0 ], [ %loop2.next, %latch3 ]
  %t22 = mul nsw i64 8, %t21
  %t23 = getelementptr inbounds i32, ptr %t5, i64 %t22
  store <8 x i32> splat (i32 0), ptr %t23, align 4, !alias.scope !5, !noalias !4
  br label %latch3
latch3:
  %loop2.next = add nuw nsw i64 %t21, 1
  %t24 = icmp slt i64 %loop2.next, %t19
  br i1 %t24, label %loop2, label %done4
done4:
  %t25 = icmp slt i64 0, %t19
  br i1 %t25, label %loop5, label %done7
loop5:
  %t26 = phi i64 [ 0, %done4 ], [ %loop5.next, %latch6 ]
  %t27 = mul nsw i64 8, %t26
  %t28 = getelementptr inbounds i32, ptr %t7, i64 %t27
  store <8 x i32> splat (i32 0), ptr %t28, align 4, !alias.scope !5, !noalias !4
  br label %latch6
latch6:
  %loop5.next = add nuw nsw i64 %t26, 1
  %t29 = icmp slt i64 %loop5.next, %t19
  br i1 %t29, label %loop5, label %done7
done7:
  %t30 = icmp slt i64 0, %t13
  br i1 %t30, label %loop8, label %done10
loop8:
  %t31 = phi i64 [ 0, %done7 ], [ %loop8.next, %latch9 ]
  %t32 = getelementptr inbounds i64, ptr %t1, i64 %t31
  %t33 = load i64, ptr %t32, align 8, !alias.scope !4, !noalias !5, !invariant.load !0  ; %2
  %t34 = icmp slt i64 %t33, %t11
  %t35 = icmp sle i64 0, %t33
  %t36 = and i1 %t34, %t35
  br i1 %t36, label %then11, label %join12
then11:
  %t37 = getelementptr inbounds i32, ptr %t5, i64 %t33
  %t38 = load i32, ptr %t37, align 4, !alias.scope !5, !noalias !4  ; %3
  %t39 = add i32 %t38, 1  ; %5
  %t40 = getelementptr inbounds i32, ptr %t5, i64 %t33
  store i32 %t39, ptr %t40, align 4, !alias.scope !5, !noalias !4
  br label %join12
join12:
  %t41 = xor i1 %t36, true
  br i1 %t41, label %then13, label %join14
then13:
  %t42 = mul nsw i64 65536, %t31
  %t43 = call i64 @llvm.smin.i64(i64 %t15, i64 2047)
  %t44 = mul nsw i64 4503599627370496, %t43
  %t45 = add nsw i64 %t42, %t44  ; %6
  %t46 = icmp ult i64 0, 64
  %t47 = select i1 %t46, i64 0, i64 0
  %t48 = lshr i64 %t33, %t47
  %t49 = select i1 %t46, i64 %t48, i64 0  ; %11
  %t50 = and i64 %t49, 65535  ; %13
  %t51 = or i64 %t45, %t50  ; %14
  %t52 = getelementptr inbounds i64, ptr %t9, i64 0
  atomicrmw umin ptr %t52, i64 %t51 monotonic, align 8
  %t53 = icmp ult i64 16, 64
  %t54 = select i1 %t53, i64 16, i64 0
  %t55 = lshr i64 %t33, %t54
  %t56 = select i1 %t53, i64 %t55, i64 0  ; %16
  %t57 = and i64 %t56, 65535  ; %18
  %t58 = or i64 %t45, %t57  ; %19
  %t59 = getelementptr inbounds i64, ptr %t9, i64 1
  atomicrmw umin ptr %t59, i64 %t58 monotonic, align 8
  %t60 = icmp ult i64 32, 64
  %t61 = select i1 %t60, i64 32, i64 0
  %t62 = lshr i64 %t33, %t61
  %t63 = select i1 %t60, i64 %t62, i64 0  ; %21
  %t64 = and i64 %t63, 65535  ; %23
  %t65 = or i64 %t45, %t64  ; %24
  %t66 = getelementptr inbounds i64, ptr %t9, i64 2
  atomicrmw umin ptr %t66, i64 %t65 monotonic, align 8
  %t67 = icmp ult i64 48, 64
  %t68 = select i1 %t67, i64 48, i64 0
  %t69 = lshr i64 %t33, %t68
  %t70 = select i1 %t67, i64 %t69, i64 0  ; %26
  %t71 = and i64 %t70, 65535  ; %28
  %t72 = or i64 %t45, %t71  ; %29
  %t73 = getelementptr inbounds i64, ptr %t9, i64 3
  atomicrmw umin ptr %t73, i64 %t72 monotonic, align 8
  br label %join14
join14:
  br label %latch9
latch9:
  %loop8.next = add nuw nsw i64 %t31, 1
  %t74 = icmp slt i64 %loop8.next, %t13
  br i1 %t74, label %loop8, label %done10
done10:
  %t75 = icmp slt i64 0, %t13
  br i1 %t75, label %loop15, label %done17
loop15:
  %t76 = phi i64 [ 0, %done10 ], [ %loop15.next, %latch16 ]
  %t77 = getelementptr inbounds i64, ptr %t1, i64 %t76
  %t78 = load i64, ptr %t77, align 8, !alias.scope !4, !noalias !5, !invariant.load !0  ; %30
  %t79 = icmp slt i64 %t78, %t11
  %t80 = icmp sle i64 0, %t78
  %t81 = and i1 %t79, %t80
  br i1 %t81, label %then18, label %join19
then18:
  %t82 = getelementptr inbounds i32, ptr %t7, i64 %t78
  %t83 = load i32, ptr %t82, align 4, !alias.scope !5, !noalias !4  ; %31
  %t84 = getelementptr inbounds float, ptr %t3, i64 %t76
  %t85 = load float, ptr %t84, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %33
  %t86 = fcmp ogt float %t85, 0x0000000000000000  ; %34
  %t87 = zext i1 %t86 to i32  ; %35
  %t88 = add i32 %t83, %t87  ; %36
  %t89 = getelementptr inbounds i32, ptr %t7, i64 %t78
  store i32 %t88, ptr %t89, align 4, !alias.scope !5, !noalias !4
  br label %join19
join19:
  %t90 = xor i1 %t81, true
  br i1 %t90, label %then20, label %join21
then20:
  %t91 = mul nsw i64 65536, %t76
  %t92 = call i64 @llvm.smin.i64(i64 %t17, i64 2047)
  %t93 = mul nsw i64 4503599627370496, %t92
  %t94 = add nsw i64 %t91, %t93  ; %37
  %t95 = icmp ult i64 0, 64
  %t96 = select i1 %t95, i64 0, i64 0
  %t97 = lshr i64 %t78, %t96
  %t98 = select i1 %t95, i64 %t97, i64 0  ; %42
  %t99 = and i64 %t98, 65535  ; %44
  %t100 = or i64 %t94, %t99  ; %45
  %t101 = getelementptr inbounds i64, ptr %t9, i64 0
  atomicrmw umin ptr %t101, i64 %t100 monotonic, align 8
  %t102 = icmp ult i64 16, 64
  %t103 = select i1 %t102, i64 16, i64 0
  %t104 = lshr i64 %t78, %t103
  %t105 = select i1 %t102, i64 %t104, i64 0  ; %47
  %t106 = and i64 %t105, 65535  ; %49
  %t107 = or i64 %t94, %t106  ; %50
  %t108 = getelementptr inbounds i64, ptr %t9, i64 1
  atomicrmw umin ptr %t108, i64 %t107 monotonic, align 8
  %t109 = icmp ult i64 32, 64
  %t110 = select i1 %t109, i64 32, i64 0
  %t111 = lshr i64 %t78, %t110
  %t112 = select i1 %t109, i64 %t111, i64 0  ; %52
  %t113 = and i64 %t112, 65535  ; %54
  %t114 = or i64 %t94, %t113  ; %55
  %t115 = getelementptr inbounds i64, ptr %t9, i64 2
  atomicrmw umin ptr %t115, i64 %t114 monotonic, align 8
  %t116 = icmp ult i64 48, 64
  %t117 = select i1 %t116, i64 48, i64 0
  %t118 = lshr i64 %t78, %t117
  %t119 = select i1 %t116, i64 %t118, i64 0  ; %57
  %t120 = and i64 %t119, 65535  ; %59
  %t121 = or i64 %t94, %t120  ; %60
  %t122 = getelementptr inbounds i64, ptr %t9, i64 3
  atomicrmw umin ptr %t122, i64 %t121 monotonic, align 8
  br label %join21
join21:
  br label %latch16
latch16:
  %loop15.next = add nuw nsw i64 %t76, 1
  %t123 = icmp slt i64 %loop15.next, %t13
  br i1 %t123, label %loop15, label %done17
done17:
  br label %join1
join1:
  ret void
}

declare i64 @llvm.smin.i64(i64, i64)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
