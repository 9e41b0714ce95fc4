define void @tp_mlp_s2(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %t0 = getelementptr inbounds ptr, ptr %buffers, i64 0
  %t1 = load ptr, ptr %t0, align 8, !invariant.load !0
  %t2 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %t3 = load ptr, ptr %t2, align 8, !invariant.load !0
  %t4 = getelementptr inbounds ptr, ptr %buffers, i64 2
  %t5 = load ptr, ptr %t4, align 8, !invariant.load !0
  %t6 = getelementptr inbounds ptr, ptr %buffers, i64 3
  %t7 = load ptr, ptr %t6, align 8, !invariant.load !0
  %t8 = getelementptr inbounds i64, ptr %integers, i64 0
  %t9 = load i64, ptr %t8, align 8, !invariant.load !0
  %t10 = getelementptr inbounds i64, ptr %integers, i64 1
  %t11 = load i64, ptr %t10, align 8, !invariant.load !0
  %t12 = icmp slt i64 %begin, %end
  br i1 %t12, label %loop0, label %done2
loop0:
  %t13 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t14 = ashr i64 %t11, 4
  %t15 = icmp slt i64 0, %t14
  br i1 %t15, label %loop3, label %done5
loop3:
  %t16 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t17 = mul nsw i64 %t13, %t11
  %t18 = mul nsw i64 16, %t16
  %t19 = add nsw i64 %t17, %t18
  %t20 = getelementptr inbounds float, ptr %t1, i64 %t19
  %t21 = load <16 x float>, ptr %t20, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %0
  %t22 = getelementptr inbounds i16, ptr %t3, i64 %t18
  %t23 = load <16 x i16>, ptr %t22, align 2, !alias.scope !4, !noalias !5, !invariant.load !0
  %t24 = call <16 x float> @plait.from_bf16.v16i16(<16 x i16> %t23)  ; %1
  %t25 = fadd <16 x float> %t21, %t24  ; %2
  %t26 = call <16 x float> @plait.gelu_tanh.v16f32(<16 x float> %t25)  ; %3
  %t27 = call <16 x i16> @plait.to_bf16.v16f32(<16 x float> %t25)
  %t28 = getelementptr inbounds i16, ptr %t5, i64 %t19
  store <16 x i16> %t27, ptr %t28, align 2, !alias.scope !5, !noalias !4
  %t29 = call <16 x i16> @plait.to_bf16.v16f32(<16 x float> %t26)
  %t30 = getelementptr inbounds i16, ptr %t7, i64 %t19
  store <16 x i16> %t29, ptr %t30, align 2, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t16, 1
  %t31 = icmp slt i64 %loop3.next, %t14
  br i1 %t31, label %loop3, label %done5
done5:
  %t32 = and i64 %t11, 15
  %t33 = icmp slt i64 0, %t32
  br i1 %t33, label %then6, label %join7
then6:
  %t34 = mul nsw i64 %t13, %t11
  %t35 = mul nsw i64 16, %t14
  %t36 = add nsw i64 %t34, %t35
  %t37 = getelementptr inbounds float, ptr %t1, i64 %t36
  %t38 = trunc i64 %t32 to i32
  %t39 = insertelement <16 x i32> poison, i32 %t38, i64 0
  %t40 = shufflevector <16 x i32> %t39, <16 x i32> poison, <16 x i32> zeroinitializer
  %t41 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t40
  %t42 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %t37, i32 4, <16 x i1> %t41, <16 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %4
  %t43 = getelementptr inbounds i16, ptr %t3, i64 %t35
  %t44 = call <16 x i16> @llvm.masked.load.v16i16.p0(ptr %t43, i32 2, <16 x i1> %t41, <16 x i16> splat (i16 0)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t45 = call <16 x float> @plait.from_bf16.v16i16(<16 x i16> %t44)  ; %5
  %t46 = fadd <16 x float> %t42, %t45  ; %6
  %t47 = call <16 x float> @plait.gelu_tanh.v16f32(<16 x float> %t46)  ; %7
  %t48 = call <16 x i16> @plait.to_bf16.v16f32(<16 x float> %t46)
  %t49 = getelementptr inbounds i16, ptr %t5, i64 %t36
  call void @llvm.masked.store.v16i16.p0(<16 x i16> %t48, ptr %t49, i32 2, <16 x i1> %t41), !alias.scope !5, !noalias !4
  %t50 = call <16 x i16> @plait.to_bf16.v16f32(<16 x float> %t47)
  %t51 = getelementptr inbounds i16, ptr %t7, i64 %t36
  call void @llvm.masked.store.v16i16.p0(<16 x i16> %t50, ptr %t51, i32 2, <16 x i1> %t41), !alias.scope !5, !noalias !4
  br label %join7
join7:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t13, 1
  %t52 = icmp slt i64 %loop0.next, %end
  br i1 %t52, label %loop0, label %done2
done2:
  ret void
}

define internal <16 x float> @plait.exp.v16f32(<16 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = fcmp olt <16 x float> %p0, splat (float 0xC05A000000000000)
  %t1 = select <16 x i1> %t0, <16 x float> splat (float 0xC05A000000000000), <16 x float> %p0
  %t2 = fcmp ogt <16 x float> %t1, splat (float 0x4056400000000000)
  %t3 = select <16 x i1> %t2, <16 x float> splat (float 0x4056400000000000), <16 x float> %t1
  %t4 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t3, <16 x float> splat (float 0x3FF7154760000000), <16 x float> splat (float 0x4168000000000000))
  %t5 = fsub <16 x float> %t4, splat (float 0x4168000000000000)
  %t6 = bitcast <16 x float> %t4 to <16 x i32>
  %t7 = sub <16 x i32> %t6, splat (i32 1262485504)
  %t8 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t5, <16 x float> splat (float 0xBFE62E4000000000), <16 x float> %t3)
  %t9 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t5, <16 x float> splat (float 0xBEB7F7D1C0000000), <16 x float> %t8)
  %t10 = call <16 x float> @llvm.fma.v16f32(<16 x float> splat (float 0x3F56A4D600000000), <16 x float> %t9, <16 x float> splat (float 0x3F812398E0000000))
  %t11 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t10, <16 x float> %t9, <16 x float> splat (float 0x3FA5558B00000000))
  %t12 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t11, <16 x float> %t9, <16 x float> splat (float 0x3FC5554920000000))
  %t13 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t12, <16 x float> %t9, <16 x float> splat (float 0x3FDFFFFFC0000000))
  %t14 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t13, <16 x float> %t9, <16 x float> splat (float 0x3FF0000000000000))
  %t15 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t14, <16 x float> %t9, <16 x float> splat (float 0x3FF0000000000000))
  %t16 = ashr <16 x i32> %t7, splat (i32 1)
  %t17 = sub <16 x i32> %t7, %t16
  %t18 = add <16 x i32> %t16, splat (i32 127)
  %t19 = shl <16 x i32> %t18, splat (i32 23)
  %t20 = bitcast <16 x i32> %t19 to <16 x float>
  %t21 = fmul <16 x float> %t15, %t20
  %t22 = add <16 x i32> %t17, splat (i32 127)
  %t23 = shl <16 x i32> %t22, splat (i32 23)
  %t24 = bitcast <16 x i32> %t23 to <16 x float>
  %t25 = fmul <16 x float> %t21, %t24
  ret <16 x float> %t25
}

define internal <16 x float> @plait.from_bf16.v16i16(<16 x i16> %p0) alwaysinline nounwind {
entry:
  %t0 = zext <16 x i16> %p0 to <16 x i32>
  %t1 = shl <16 x i32> %t0, splat (i32 16)
  %t2 = bitcast <16 x i32> %t1 to <16 x float>
  ret <16 x float> %t2
}

define internal <16 x float> @plait.gelu_tanh.v16f32(<16 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = fmul <16 x float> %p0, %p0
  %t1 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t0, <16 x float> splat (float 0xBFB2444F20000000), <16 x float> splat (float 0xBFF9884540000000))
  %t2 = fmul <16 x float> %p0, %t1
  %t3 = call <16 x float> @plait.exp.v16f32(<16 x float> %t2)
  %t4 = fadd <16 x float> splat (float 0x3FF0000000000000), %t3
  %t5 = fdiv <16 x float> %p0, %t4
  ret <16 x float> %t5
}

define internal <16 x i16> @plait.to_bf16.v16f32(<16 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = bitcast <16 x float> %p0 to <16 x i32>
  %t1 = lshr <16 x i32> %t0, splat (i32 16)
  %t2 = and <16 x i32> %t1, splat (i32 1)
  %t3 = add <16 x i32> %t2, splat (i32 32767)
  %t4 = add <16 x i32> %t0, %t3
  %t5 = lshr <16 x i32> %t4, splat (i32 16)
  %t6 = fcmp uno <16 x float> %p0, %p0
  %t7 = or <16 x i32> %t1, splat (i32 64)
  %t8 = select <16 x i1> %t6, <16 x i32> %t7, <16 x i32> %t5
  %t9 = trunc <16 x i32> %t8 to <16 x i16>
  ret <16 x i16> %t9
}

declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare <16 x i16> @llvm.masked.load.v16i16.p0(ptr, i32 immarg, <16 x i1>, <16 x i16>)
declare void @llvm.masked.store.v16i16.p0(<16 x i16>, ptr, i32 immarg, <16 x i1>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
