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
  %t21 = getelementptr inbounds float, ptr %t1, i64 %t17
  %t22 = load float, ptr %t21, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t23 = insertelement <8 x float> poison, float %t22, i64 0
  %t24 = shufflevector <8 x float> %t23, <8 x float> poison, <8 x i32> zeroinitializer
  %t25 = fdiv <8 x float> %t24, %t20
  %t26 = fadd <8 x float> %t25, splat (float 0x3EE4F8B580000000)
  %t27 = call <8 x float> @llvm.sqrt.v8f32(<8 x float> %t26)
  %t28 = fdiv <8 x float> splat (float 0x3FF0000000000000), %t27
  %t29 = ashr i64 %t15, 3
  %t30 = icmp slt i64 0, %t29
  br i1 %t30, label %loop3, label %done5
loop3:
  %t31 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t32 = mul nsw i64 %t17, %t15
  %t33 = mul nsw i64 8, %t31
  %t34 = add nsw i64 %t32, %t33
  %t35 = getelementptr inbounds float, ptr %t3, i64 %t34
  %t36 = load <8 x float>, ptr %t35, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t37 = fmul <8 x float> %t36, %t28
  %t38 = getelementptr inbounds i16, ptr %t5, i64 %t33
  %t39 = load <8 x i16>, ptr %t38, align 2, !alias.scope !4, !noalias !5, !invariant.load !0
  %t40 = call <8 x float> @plait.from_bf16.v8i16(<8 x i16> %t39)
  %t41 = fmul <8 x float> %t37, %t40
  %t42 = getelementptr inbounds i16, ptr %t7, i64 %t33
  %t43 = load <8 x i16>, ptr %t42, align 2, !alias.scope !4, !noalias !5, !invariant.load !0
  %t44 = call <8 x float> @plait.from_bf16.v8i16(<8 x i16> %t43)
  %t45 = fadd <8 x float> %t41, %t44
  %t46 = call <8 x i16> @plait.to_bf16.v8f32(<8 x float> %t45)
  %t47 = getelementptr inbounds i16, ptr %t9, i64 %t34
  store <8 x i16> %t46, ptr %t47, align 16, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t31, 1
  %t48 = icmp slt i64 %loop3.next, %t29
  br i1 %t48, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t17, 1
  %t49 = icmp slt i64 %loop0.next, %end
  br i1 %t49, label %loop0, label %done2
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

declare <8 x float> @llvm.sqrt.v8f32(<8 x float>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
