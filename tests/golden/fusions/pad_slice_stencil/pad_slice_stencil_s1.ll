define void @pad_slice_stencil_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable28 = alloca <8 x float>
  %stack2 = alloca [8 x float], align 64
  %variable43 = alloca float
  %variable32 = alloca <8 x float>
  %variable37 = alloca <8 x float>
  %variable14 = alloca <8 x float>
  %variable18 = alloca <8 x float>
  %variable23 = alloca <8 x float>
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
  %t10 = ashr i64 %t7, 3
  %t11 = add nsw i64 %t10, -1
  %t12 = icmp slt i64 0, %t11
  br i1 %t12, label %loop3, label %done5
loop3:
  %t13 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <8 x float> splat (float 0x0000000000000000), ptr %variable28
  %t14 = icmp slt i64 0, %t13
  br i1 %t14, label %then6, label %join7
then6:
  %t15 = mul nsw i64 %t9, %t7
  %t16 = mul nsw i64 8, %t13
  %t17 = add nsw i64 %t15, %t16
  %t18 = add nsw i64 %t17, -1
  %t19 = getelementptr inbounds float, ptr %t1, i64 %t18
  %t20 = load <8 x float>, ptr %t19, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %29
  store <8 x float> %t20, ptr %variable28
  br label %join7
join7:
  %t21 = icmp sle i64 %t13, 0
  br i1 %t21, label %then8, label %join9
then8:
  %t22 = load <8 x float>, ptr %variable28
  %t23 = getelementptr inbounds float, ptr %stack2, i64 0
  store <8 x float> %t22, ptr %t23, align 32, !alias.scope !5, !noalias !4
  %t24 = icmp slt i64 0, 8
  br i1 %t24, label %loop10, label %done12
loop10:
  %t25 = phi i64 [ 0, %then8 ], [ %loop10.next, %latch11 ]
  %t26 = getelementptr inbounds float, ptr %stack2, i64 %t25
  %t27 = load float, ptr %t26, align 4, !alias.scope !5, !noalias !4  ; %42
  store float 0x0000000000000000, ptr %variable43
  store float %t27, ptr %variable43
  %t28 = mul nsw i64 8, %t13
  %t29 = add nsw i64 %t28, %t25
  %t30 = icmp slt i64 0, %t29
  br i1 %t30, label %then13, label %join14
then13:
  %t31 = mul nsw i64 %t9, %t7
  %t32 = add nsw i64 %t31, %t28
  %t33 = add nsw i64 %t32, %t25
  %t34 = add nsw i64 %t33, -1
  %t35 = getelementptr inbounds float, ptr %t1, i64 %t34
  %t36 = load float, ptr %t35, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %44
  store float %t36, ptr %variable43
  br label %join14
join14:
  %t37 = load float, ptr %variable43
  %t38 = getelementptr inbounds float, ptr %stack2, i64 %t25
  store float %t37, ptr %t38, align 4, !alias.scope !5, !noalias !4
  br label %latch11
latch11:
  %loop10.next = add nuw nsw i64 %t25, 1
  %t39 = icmp slt i64 %loop10.next, 8
  br i1 %t39, label %loop10, label %done12
done12:
  %t40 = getelementptr inbounds float, ptr %stack2, i64 0
  %t41 = load <8 x float>, ptr %t40, align 32, !alias.scope !5, !noalias !4  ; %45
  store <8 x float> %t41, ptr %variable28
  br label %join9
join9:
  %t42 = load <8 x float>, ptr %variable28
  %t43 = fmul <8 x float> %t42, splat (float 0x3FD0000000000000)  ; %31
  store <8 x float> splat (float 0x0000000000000000), ptr %variable32
  %t44 = mul nsw i64 %t9, %t7
  %t45 = mul nsw i64 8, %t13
  %t46 = add nsw i64 %t44, %t45
  %t47 = getelementptr inbounds float, ptr %t1, i64 %t46
  %t48 = load <8 x float>, ptr %t47, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %33
  store <8 x float> %t48, ptr %variable32
  %t49 = load <8 x float>, ptr %variable32
  %t50 = fmul <8 x float> %t49, splat (float 0x3FE0000000000000)  ; %35
  %t51 = fadd <8 x float> %t43, %t50  ; %36
  store <8 x float> splat (float 0x0000000000000000), ptr %variable37
  %t52 = add nsw i64 %t44, %t45
  %t53 = add nsw i64 %t52, 1
  %t54 = getelementptr inbounds float, ptr %t1, i64 %t53
  %t55 = load <8 x float>, ptr %t54, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %38
  store <8 x float> %t55, ptr %variable37
  %t56 = load <8 x float>, ptr %variable37
  %t57 = fmul <8 x float> %t56, splat (float 0x3FD0000000000000)  ; %40
  %t58 = fadd <8 x float> %t51, %t57  ; %41
  %t59 = getelementptr inbounds float, ptr %t3, i64 %t46
  store <8 x float> %t58, ptr %t59, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t13, 1
  %t60 = icmp slt i64 %loop3.next, %t11
  br i1 %t60, label %loop3, label %done5
done5:
  store <8 x float> splat (float 0x0000000000000000), ptr %variable14
  %t61 = mul nsw i64 %t9, %t7
  %t62 = add nsw i64 %t61, %t7
  %t63 = add nsw i64 %t62, -9
  %t64 = getelementptr inbounds float, ptr %t1, i64 %t63
  %t65 = load <8 x float>, ptr %t64, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %15
  store <8 x float> %t65, ptr %variable14
  %t66 = load <8 x float>, ptr %variable14
  %t67 = fmul <8 x float> %t66, splat (float 0x3FD0000000000000)  ; %17
  store <8 x float> splat (float 0x0000000000000000), ptr %variable18
  %t68 = add nsw i64 %t61, %t7
  %t69 = add nsw i64 %t68, -8
  %t70 = getelementptr inbounds float, ptr %t1, i64 %t69
  %t71 = load <8 x float>, ptr %t70, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %19
  store <8 x float> %t71, ptr %variable18
  %t72 = load <8 x float>, ptr %variable18
  %t73 = fmul <8 x float> %t72, splat (float 0x3FE0000000000000)  ; %21
  %t74 = fadd <8 x float> %t67, %t73  ; %22
  store <8 x float> splat (float 0x0000000000000000), ptr %variable23
  %t75 = add nsw i64 %t61, %t7
  %t76 = add nsw i64 %t75, -7
  %t77 = getelementptr inbounds float, ptr %t1, i64 %t76
  %t78 = trunc i64 7 to i32
  %t79 = insertelement <8 x i32> poison, i32 %t78, i64 0
  %t80 = shufflevector <8 x i32> %t79, <8 x i32> poison, <8 x i32> zeroinitializer
  %t81 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %t80
  %t82 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %t77, i32 4, <8 x i1> %t81, <8 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %24
  %t83 = insertelement <8 x i64> poison, i64 0, i64 0
  %t84 = shufflevector <8 x i64> %t83, <8 x i64> poison, <8 x i32> zeroinitializer
  %t85 = add <8 x i64> %t84, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>  ; %51
  %t86 = insertelement <8 x i64> poison, i64 7, i64 0
  %t87 = shufflevector <8 x i64> %t86, <8 x i64> poison, <8 x i32> zeroinitializer  ; %52
  %t88 = icmp slt <8 x i64> %t85, %t87  ; %53
  %t89 = load <8 x float>, ptr %variable23
  %t90 = select <8 x i1> %t88, <8 x float> %t82, <8 x float> %t89  ; %54
  store <8 x float> %t90, ptr %variable23
  %t91 = load <8 x float>, ptr %variable23
  %t92 = fmul <8 x float> %t91, splat (float 0x3FD0000000000000)  ; %26
  %t93 = fadd <8 x float> %t74, %t92  ; %27
  %t94 = getelementptr inbounds float, ptr %t3, i64 %t69
  store <8 x float> %t93, ptr %t94, align 4, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t9, 1
  %t95 = icmp slt i64 %loop0.next, %end
  br i1 %t95, label %loop0, label %done2
done2:
  ret void
}

declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32 immarg, <8 x i1>, <8 x float>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
