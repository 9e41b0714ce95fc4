define void @transformer_block_s5(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t16 = icmp slt i64 %begin, %end
  br i1 %t16, label %loop0, label %done2
loop0:
  %t17 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t18 = insertelement <8 x i64> poison, i64 %t15, i64 0
  %t19 = shufflevector <8 x i64> %t18, <8 x i64> poison, <8 x i32> zeroinitializer
  %t20 = sitofp <8 x i64> %t19 to <8 x float>
  %t21 = add nsw i64 %t15, 8191
  %t22 = ashr i64 %t21, 13
  %t23 = udiv i64 %t17, %t22
  %t24 = getelementptr inbounds float, ptr %t1, i64 %t23
  %t25 = load float, ptr %t24, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t26 = insertelement <8 x float> poison, float %t25, i64 0
  %t27 = shufflevector <8 x float> %t26, <8 x float> poison, <8 x i32> zeroinitializer
  %t28 = fdiv <8 x float> %t27, %t20
  %t29 = fadd <8 x float> %t28, splat (float 0x3EE4F8B580000000)
  %t30 = call <8 x float> @llvm.sqrt.v8f32(<8 x float> %t29)
  %t31 = fdiv <8 x float> splat (float 0x3FF0000000000000), %t30
  %t32 = ashr i64 %t15, 3
  %t33 = urem i64 %t17, %t22
  %t34 = mul nsw i64 -1024, %t33
  %t35 = add nsw i64 %t32, %t34
  %t36 = call i64 @llvm.smin.i64(i64 1024, i64 %t35)
  %t37 = icmp slt i64 0, %t36
  br i1 %t37, label %loop3, label %done5
loop3:
  %t38 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t39 = mul nsw i64 %t15, %t23
  %t40 = mul nsw i64 8, %t38
  %t41 = add nsw i64 %t39, %t40
  %t42 = mul nsw i64 8192, %t33
  %t43 = add nsw i64 %t41, %t42
  %t44 = getelementptr inbounds float, ptr %t3, i64 %t43
  %t45 = load <8 x float>, ptr %t44, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t46 = fmul <8 x float> %t45, %t31
  %t47 = add nsw i64 %t40, %t42
  %t48 = getelementptr inbounds i16, ptr %t5, i64 %t47
  %t49 = load <8 x i16>, ptr %t48, align 2, !alias.scope !4, !noalias !5, !invariant.load !0
  %t50 = call <8 x float> @plait.from_bf16.v8i16(<8 x i16> %t49)
  %t51 = fmul <8 x float> %t46, %t50
  %t52 = getelementptr inbounds i16, ptr %t7, i64 %t47
  %t53 = load <8 x i16>, ptr %t52, align 2, !alias.scope !4, !noalias !5, !invariant.load !0
  %t54 = call <8 x float> @plait.from_bf16.v8i16(<8 x i16> %t53)
  %t55 = fadd <8 x float> %t51, %t54
  %t56 = call <8 x i16> @plait.to_bf16.v8f32(<8 x float> %t55)
  %t57 = getelementptr inbounds i16, ptr %t9, i64 %t43
  store <8 x i16> %t56, ptr %t57, align 16, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t38, 1
  %t58 = icmp slt i64 %loop3.next, %t36
  br i1 %t58, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t17, 1
  %t59 = icmp slt i64 %loop0.next, %end
  br i1 %t59, label %loop0, label %done2
done2:
  ret void
}

define internal <8 x float> @plait.from_bf16.v8i16(<8 x i16> %p0) alwaysinline nounwind {
entry:
  %t0 = zext <8 x i16> %p0 to <8 x i32>
  %t1 = shl <8 x i32> %t0, splat (i32 16)
  %t2 = bitcast <8 x i32> %t1 to <8 x float>
  ret <8 x float> %t2
}

define internal <8 x i16> @plait.to_bf16.v8f32(<8 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = bitcast <8 x float> %p0 to <8 x i32>
  %t1 = lshr <8 x i32> %t0, splat (i32 16)
  %t2 = and <8 x i32> %t1, splat (i32 1)
  %t3 = add <8 x i32> %t2, splat (i32 32767)
  %t4 = add <8 x i32> %t0, %t3
  %t5 = lshr <8 x i32> %t4, splat (i32 16)
  %t6 = or <8 x i32> %t1, splat (i32 64)
  %t7 = fcmp uno <8 x float> %p0, %p0
  %t8 = select <8 x i1> %t7, <8 x i32> %t6, <8 x i32> %t5
  %t9 = trunc <8 x i32> %t8 to <8 x i16>
  ret <8 x i16> %t9
}

declare i64 @llvm.smin.i64(i64, i64)
declare <8 x float> @llvm.sqrt.v8f32(<8 x float>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
