define void @cumsum_chain_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca double
  %stack3 = alloca [32 x float], align 64
  %stack4 = alloca [32 x float], align 64
  %stack5 = alloca [32 x float], align 64
  %stack6 = alloca [32 x float], align 64
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
  store double 0x0000000000000000, ptr %variable0
  %t12 = ashr i64 %t9, 5
  %t13 = icmp slt i64 0, %t12
  br i1 %t13, label %loop3, label %done5
loop3:
  %t14 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t15 = mul nsw i64 %t11, %t9
  %t16 = mul nsw i64 32, %t14
  %t17 = add nsw i64 %t15, %t16
  %t18 = getelementptr inbounds float, ptr %t1, i64 %t17
  %t19 = load <32 x float>, ptr %t18, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t20 = getelementptr inbounds float, ptr %t3, i64 %t16
  %t21 = load <32 x float>, ptr %t20, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t22 = fmul <32 x float> %t19, %t21
  %t23 = getelementptr inbounds float, ptr %stack3, i64 0
  store <32 x float> %t22, ptr %t23, align 64, !alias.scope !5, !noalias !4
  %t24 = icmp slt i64 0, 32
  br i1 %t24, label %loop6, label %done8
loop6:
  %t25 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  %t26 = getelementptr inbounds float, ptr %stack3, i64 %t25
  %t27 = load float, ptr %t26, align 4, !alias.scope !5, !noalias !4
  %t28 = fpext float %t27 to double
  %t29 = load double, ptr %variable0
  %t30 = fadd double %t29, %t28
  store double %t30, ptr %variable0
  %t31 = load double, ptr %variable0
  %t32 = fptrunc double %t31 to float
  %t33 = getelementptr inbounds float, ptr %stack4, i64 %t25
  store float %t32, ptr %t33, align 4, !alias.scope !5, !noalias !4
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t25, 1
  %t34 = icmp slt i64 %loop6.next, 32
  br i1 %t34, label %loop6, label %done8
done8:
  %t35 = getelementptr inbounds float, ptr %stack4, i64 0
  %t36 = load <32 x float>, ptr %t35, align 64, !alias.scope !5, !noalias !4
  %t37 = fmul <32 x float> %t36, splat (float 0x3FB99999A0000000)
  %t38 = call <32 x float> @plait.tanh.v32f32(<32 x float> %t37)
  %t39 = getelementptr inbounds float, ptr %t5, i64 %t17
  store <32 x float> %t38, ptr %t39, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t14, 1
  %t40 = icmp slt i64 %loop3.next, %t12
  br i1 %t40, label %loop3, label %done5
done5:
  %t41 = and i64 %t9, 31
  %t42 = icmp slt i64 0, %t41
  br i1 %t42, label %then9, label %join10
then9:
  %t43 = mul nsw i64 %t11, %t9
  %t44 = mul nsw i64 32, %t12
  %t45 = add nsw i64 %t43, %t44
  %t46 = getelementptr inbounds float, ptr %t1, i64 %t45
  %t47 = trunc i64 %t41 to i32
  %t48 = insertelement <32 x i32> poison, i32 %t47, i64 0
  %t49 = shufflevector <32 x i32> %t48, <32 x i32> poison, <32 x i32> zeroinitializer
  %t50 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t49
  %t51 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t46, i32 4, <32 x i1> %t50, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t52 = getelementptr inbounds float, ptr %t3, i64 %t44
  %t53 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t52, i32 4, <32 x i1> %t50, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0
  %t54 = fmul <32 x float> %t51, %t53
  %t55 = getelementptr inbounds float, ptr %stack5, i64 0
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t54, ptr %t55, i32 64, <32 x i1> %t50), !alias.scope !5, !noalias !4
  %t56 = mul nsw i64 -32, %t12
  %t57 = add nsw i64 %t9, %t56
  %t58 = icmp slt i64 0, %t57
  br i1 %t58, label %loop11, label %done13
loop11:
  %t59 = phi i64 [ 0, %then9 ], [ %loop11.next, %latch12 ]
  %t60 = getelementptr inbounds float, ptr %stack5, i64 %t59
  %t61 = load float, ptr %t60, align 4, !alias.scope !5, !noalias !4
  %t62 = fpext float %t61 to double
  %t63 = load double, ptr %variable0
  %t64 = fadd double %t63, %t62
  store double %t64, ptr %variable0
  %t65 = load double, ptr %variable0
  %t66 = fptrunc double %t65 to float
  %t67 = getelementptr inbounds float, ptr %stack6, i64 %t59
  store float %t66, ptr %t67, align 4, !alias.scope !5, !noalias !4
  br label %latch12
latch12:
  %loop11.next = add nuw nsw i64 %t59, 1
  %t68 = icmp slt i64 %loop11.next, %t57
  br i1 %t68, label %loop11, label %done13
done13:
  %t69 = getelementptr inbounds float, ptr %stack6, i64 0
  %t70 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t69, i32 64, <32 x i1> %t50, <32 x float> splat (float 0x0000000000000000)), !alias.scope !5, !noalias !4
  %t71 = fmul <32 x float> %t70, splat (float 0x3FB99999A0000000)
  %t72 = call <32 x float> @plait.tanh.v32f32(<32 x float> %t71)
  %t73 = getelementptr inbounds float, ptr %t5, i64 %t45
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t72, ptr %t73, i32 4, <32 x i1> %t50), !alias.scope !5, !noalias !4
  br label %join10
join10:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t74 = icmp slt i64 %loop0.next, %end
  br i1 %t74, label %loop0, label %done2
done2:
  ret void
}

define internal <32 x float> @plait.exp.v32f32(<32 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = fcmp olt <32 x float> %p0, splat (float 0xC05A000000000000)
  %t1 = select <32 x i1> %t0, <32 x float> splat (float 0xC05A000000000000), <32 x float> %p0
  %t2 = fcmp ogt <32 x float> %t1, splat (float 0x4056400000000000)
  %t3 = select <32 x i1> %t2, <32 x float> splat (float 0x4056400000000000), <32 x float> %t1
  %t4 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t3, <32 x float> splat (float 0x3FF7154760000000), <32 x float> splat (float 0x4168000000000000))
  %t5 = fsub <32 x float> %t4, splat (float 0x4168000000000000)
  %t6 = bitcast <32 x float> %t4 to <32 x i32>
  %t7 = sub <32 x i32> %t6, splat (i32 1262485504)
  %t8 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t5, <32 x float> splat (float 0xBFE62E4000000000), <32 x float> %t3)
  %t9 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t5, <32 x float> splat (float 0xBEB7F7D1C0000000), <32 x float> %t8)
  %t10 = call <32 x float> @llvm.fma.v32f32(<32 x float> splat (float 0x3F56A4D600000000), <32 x float> %t9, <32 x float> splat (float 0x3F812398E0000000))
  %t11 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t10, <32 x float> %t9, <32 x float> splat (float 0x3FA5558B00000000))
  %t12 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t11, <32 x float> %t9, <32 x float> splat (float 0x3FC5554920000000))
  %t13 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t12, <32 x float> %t9, <32 x float> splat (float 0x3FDFFFFFC0000000))
  %t14 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t13, <32 x float> %t9, <32 x float> splat (float 0x3FF0000000000000))
  %t15 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t14, <32 x float> %t9, <32 x float> splat (float 0x3FF0000000000000))
  %t16 = ashr <32 x i32> %t7, splat (i32 1)
  %t17 = sub <32 x i32> %t7, %t16
  %t18 = add <32 x i32> %t16, splat (i32 127)
  %t19 = shl <32 x i32> %t18, splat (i32 23)
  %t20 = bitcast <32 x i32> %t19 to <32 x float>
  %t21 = fmul <32 x float> %t15, %t20
  %t22 = add <32 x i32> %t17, splat (i32 127)
  %t23 = shl <32 x i32> %t22, splat (i32 23)
  %t24 = bitcast <32 x i32> %t23 to <32 x float>
  %t25 = fmul <32 x float> %t21, %t24
  ret <32 x float> %t25
}

define internal <32 x float> @plait.tanh.v32f32(<32 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = call <32 x float> @llvm.fabs.v32f32(<32 x float> %p0)
  %t1 = fmul <32 x float> %p0, %p0
  %t2 = call <32 x float> @llvm.fma.v32f32(<32 x float> splat (float 0x3F90D51760000000), <32 x float> %t1, <32 x float> splat (float 0xBFAAF7D360000000))
  %t3 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t2, <32 x float> %t1, <32 x float> splat (float 0x3FC10CEFC0000000))
  %t4 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t3, <32 x float> %t1, <32 x float> splat (float 0xBFD5554520000000))
  %t5 = fmul <32 x float> %t4, %t1
  %t6 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t5, <32 x float> %t0, <32 x float> %t0)
  %t7 = fadd <32 x float> %t0, %t0
  %t8 = call <32 x float> @plait.exp.v32f32(<32 x float> %t7)
  %t9 = fadd <32 x float> %t8, splat (float 0x3FF0000000000000)
  %t10 = fdiv <32 x float> splat (float 0x4000000000000000), %t9
  %t11 = fsub <32 x float> splat (float 0x3FF0000000000000), %t10
  %t12 = fcmp oge <32 x float> %t0, splat (float 0x3FE19999A0000000)
  %t13 = select <32 x i1> %t12, <32 x float> %t11, <32 x float> %t6
  %t14 = call <32 x float> @llvm.copysign.v32f32(<32 x float> %t13, <32 x float> %p0)
  ret <32 x float> %t14
}

declare <32 x float> @llvm.copysign.v32f32(<32 x float>, <32 x float>)
declare <32 x float> @llvm.fabs.v32f32(<32 x float>)
declare <32 x float> @llvm.fma.v32f32(<32 x float>, <32 x float>, <32 x float>)
declare <32 x float> @llvm.masked.load.v32f32.p0(ptr, i32 immarg, <32 x i1>, <32 x float>)
declare void @llvm.masked.store.v32f32.p0(<32 x float>, ptr, i32 immarg, <32 x i1>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
