define void @cat_chains_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <8 x float>
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
  %t12 = getelementptr inbounds i64, ptr %integers, i64 2
  %t13 = load i64, ptr %t12, align 8, !invariant.load !0
  %t14 = icmp slt i64 %begin, %end
  br i1 %t14, label %loop0, label %done2
loop0:
  %t15 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t16 = ashr i64 %t11, 3
  %t17 = ashr i64 %t13, 2
  %t18 = add nsw i64 %t16, %t17
  %t19 = icmp slt i64 0, %t18
  br i1 %t19, label %loop3, label %done5
loop3:
  %t20 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <8 x float> splat (float 0x0000000000000000), ptr %variable0
  %t21 = mul nsw i64 8, %t20
  %t22 = add nsw i64 %t21, 7
  %t23 = icmp slt i64 %t22, %t13
  br i1 %t23, label %then6, label %join7
then6:
  %t24 = mul nsw i64 %t15, %t13
  %t25 = add nsw i64 %t24, %t21
  %t26 = getelementptr inbounds float, ptr %t1, i64 %t25
  %t27 = load <8 x float>, ptr %t26, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %1
  %t28 = fmul <8 x float> %t27, splat (float 0x3FE0000000000000)  ; %3
  %t29 = call <8 x float> @plait.gelu_erf.v8f32(<8 x float> %t28)  ; %4
  store <8 x float> %t29, ptr %variable0
  br label %join7
join7:
  %t30 = add nsw i64 %t11, %t13
  %t31 = icmp slt i64 %t22, %t30
  %t32 = icmp sle i64 %t13, %t21
  %t33 = and i1 %t31, %t32
  br i1 %t33, label %then8, label %join9
then8:
  %t34 = mul nsw i64 %t15, %t11
  %t35 = add nsw i64 %t34, %t21
  %t36 = mul nsw i64 -1, %t13
  %t37 = add nsw i64 %t35, %t36
  %t38 = getelementptr inbounds float, ptr %t3, i64 %t37
  %t39 = load <8 x float>, ptr %t38, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %5
  %t40 = fadd <8 x float> %t39, splat (float 0x3FF0000000000000)  ; %7
  %t41 = call <8 x float> @plait.tanh.v8f32(<8 x float> %t40)  ; %8
  store <8 x float> %t41, ptr %variable0
  br label %join9
join9:
  %t42 = icmp sle i64 %t30, %t21
  br i1 %t42, label %then10, label %join11
then10:
  %t43 = mul nsw i64 %t15, %t13
  %t44 = add nsw i64 %t43, %t21
  %t45 = mul nsw i64 -1, %t11
  %t46 = add nsw i64 %t44, %t45
  %t47 = mul nsw i64 -1, %t13
  %t48 = add nsw i64 %t46, %t47
  %t49 = getelementptr inbounds float, ptr %t5, i64 %t48
  %t50 = load <8 x float>, ptr %t49, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %9
  %t51 = call <8 x float> @llvm.fabs.v8f32(<8 x float> %t50)  ; %10
  %t52 = fneg <8 x float> %t51  ; %11
  %t53 = call <8 x float> @plait.exp.v8f32(<8 x float> %t52)  ; %12
  store <8 x float> %t53, ptr %variable0
  br label %join11
join11:
  %t54 = load <8 x float>, ptr %variable0
  %t55 = mul nsw i64 %t15, %t11
  %t56 = mul nsw i64 2, %t15
  %t57 = mul nsw i64 %t56, %t13
  %t58 = add nsw i64 %t55, %t57
  %t59 = add nsw i64 %t58, %t21
  %t60 = getelementptr inbounds float, ptr %t7, i64 %t59
  store <8 x float> %t54, ptr %t60, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t20, 1
  %t61 = icmp slt i64 %loop3.next, %t18
  br i1 %t61, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t15, 1
  %t62 = icmp slt i64 %loop0.next, %end
  br i1 %t62, label %loop0, label %done2
done2:
  ret void
}

define internal <8 x float> @plait.erf.v8f32(<8 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = call <8 x float> @llvm.fabs.v8f32(<8 x float> %p0)
  %t1 = fmul <8 x float> %p0, %p0
  %t2 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0xBF43903980000000), <8 x float> %t1, <8 x float> splat (float 0x3F746FCC60000000))
  %t3 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t2, <8 x float> %t1, <8 x float> splat (float 0xBF9B681D80000000))
  %t4 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t3, <8 x float> %t1, <8 x float> splat (float 0x3FBCE19E80000000))
  %t5 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t4, <8 x float> %t1, <8 x float> splat (float 0xBFD8126E40000000))
  %t6 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t5, <8 x float> %t1, <8 x float> splat (float 0x3FC06EBA60000000))
  %t7 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t6, <8 x float> %t0, <8 x float> %t0)
  %t8 = fcmp ogt <8 x float> %t0, splat (float 0x4010000000000000)
  %t9 = select <8 x i1> %t8, <8 x float> splat (float 0x4010000000000000), <8 x float> %t0
  %t10 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F298D4F20000000), <8 x float> %t9, <8 x float> splat (float 0xBF68DA1960000000))
  %t11 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t10, <8 x float> %t9, <8 x float> splat (float 0x3F96B8E8E0000000))
  %t12 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t11, <8 x float> %t9, <8 x float> splat (float 0xBFBA965400000000))
  %t13 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t12, <8 x float> %t9, <8 x float> splat (float 0xBFE4647B40000000))
  %t14 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t13, <8 x float> %t9, <8 x float> splat (float 0xBFF20AC300000000))
  %t15 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t14, <8 x float> %t9, <8 x float> splat (float 0xBF2B224AC0000000))
  %t16 = call <8 x float> @plait.exp.v8f32(<8 x float> %t15)
  %t17 = fsub <8 x float> splat (float 0x3FF0000000000000), %t16
  %t18 = fcmp ogt <8 x float> %t0, splat (float 0x3FED9999A0000000)
  %t19 = select <8 x i1> %t18, <8 x float> %t17, <8 x float> %t7
  %t20 = call <8 x float> @llvm.copysign.v8f32(<8 x float> %t19, <8 x float> %p0)
  ret <8 x float> %t20
}

define internal <8 x float> @plait.exp.v8f32(<8 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = fcmp olt <8 x float> %p0, splat (float 0xC05A000000000000)
  %t1 = select <8 x i1> %t0, <8 x float> splat (float 0xC05A000000000000), <8 x float> %p0
  %t2 = fcmp ogt <8 x float> %t1, splat (float 0x4056400000000000)
  %t3 = select <8 x i1> %t2, <8 x float> splat (float 0x4056400000000000), <8 x float> %t1
  %t4 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t3, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %t5 = fsub <8 x float> %t4, splat (float 0x4168000000000000)
  %t6 = bitcast <8 x float> %t4 to <8 x i32>
  %t7 = sub <8 x i32> %t6, splat (i32 1262485504)
  %t8 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t5, <8 x float> splat (float 0xBFE62E4000000000), <8 x float> %t3)
  %t9 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t5, <8 x float> splat (float 0xBEB7F7D1C0000000), <8 x float> %t8)
  %t10 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4D600000000), <8 x float> %t9, <8 x float> splat (float 0x3F812398E0000000))
  %t11 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t10, <8 x float> %t9, <8 x float> splat (float 0x3FA5558B00000000))
  %t12 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t11, <8 x float> %t9, <8 x float> splat (float 0x3FC5554920000000))
  %t13 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t12, <8 x float> %t9, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %t14 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t13, <8 x float> %t9, <8 x float> splat (float 0x3FF0000000000000))
  %t15 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t14, <8 x float> %t9, <8 x float> splat (float 0x3FF0000000000000))
  %t16 = ashr <8 x i32> %t7, splat (i32 1)
  %t17 = sub <8 x i32> %t7, %t16
  %t18 = add <8 x i32> %t16, splat (i32 127)
  %t19 = shl <8 x i32> %t18, splat (i32 23)
  %t20 = bitcast <8 x i32> %t19 to <8 x float>
  %t21 = fmul <8 x float> %t15, %t20
  %t22 = add <8 x i32> %t17, splat (i32 127)
  %t23 = shl <8 x i32> %t22, splat (i32 23)
  %t24 = bitcast <8 x i32> %t23 to <8 x float>
  %t25 = fmul <8 x float> %t21, %t24
  ret <8 x float> %t25
}

define internal <8 x float> @plait.gelu_erf.v8f32(<8 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = fmul <8 x float> %p0, splat (float 0x3FE6A09E60000000)
  %t1 = call <8 x float> @plait.erf.v8f32(<8 x float> %t0)
  %t2 = fmul <8 x float> %p0, splat (float 0x3FE0000000000000)
  %t3 = fadd <8 x float> splat (float 0x3FF0000000000000), %t1
  %t4 = fmul <8 x float> %t2, %t3
  ret <8 x float> %t4
}

define internal <8 x float> @plait.tanh.v8f32(<8 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = call <8 x float> @llvm.fabs.v8f32(<8 x float> %p0)
  %t1 = fmul <8 x float> %p0, %p0
  %t2 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F90D51760000000), <8 x float> %t1, <8 x float> splat (float 0xBFAAF7D360000000))
  %t3 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t2, <8 x float> %t1, <8 x float> splat (float 0x3FC10CEFC0000000))
  %t4 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t3, <8 x float> %t1, <8 x float> splat (float 0xBFD5554520000000))
  %t5 = fmul <8 x float> %t4, %t1
  %t6 = call <8 x float> @llvm.fma.v8f32(<8 x float> %t5, <8 x float> %t0, <8 x float> %t0)
  %t7 = fadd <8 x float> %t0, %t0
  %t8 = call <8 x float> @plait.exp.v8f32(<8 x float> %t7)
  %t9 = fadd <8 x float> %t8, splat (float 0x3FF0000000000000)
  %t10 = fdiv <8 x float> splat (float 0x4000000000000000), %t9
  %t11 = fsub <8 x float> splat (float 0x3FF0000000000000), %t10
  %t12 = fcmp oge <8 x float> %t0, splat (float 0x3FE19999A0000000)
  %t13 = select <8 x i1> %t12, <8 x float> %t11, <8 x float> %t6
  %t14 = call <8 x float> @llvm.copysign.v8f32(<8 x float> %t13, <8 x float> %p0)
  ret <8 x float> %t14
}

declare <8 x float> @llvm.copysign.v8f32(<8 x float>, <8 x float>)
declare <8 x float> @llvm.fabs.v8f32(<8 x float>)
declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
