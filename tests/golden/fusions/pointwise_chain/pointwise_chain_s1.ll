define void @pointwise_chain_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
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
  %t12 = mul nsw i64 %t7, %t9
  %t13 = mul nsw i64 -4096, %t11
  %t14 = add nsw i64 %t12, %t13
  %t15 = call i64 @llvm.smin.i64(i64 4096, i64 %t14)
  %t16 = ashr i64 %t15, 5
  %t17 = icmp slt i64 0, %t16
  br i1 %t17, label %loop3, label %done5
loop3:
  %t18 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t19 = mul nsw i64 4096, %t11
  %t20 = mul nsw i64 32, %t18
  %t21 = add nsw i64 %t19, %t20
  %t22 = getelementptr inbounds float, ptr %t1, i64 %t21
  %t23 = load <32 x float>, ptr %t22, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %0
  %t24 = getelementptr inbounds float, ptr %t3, i64 %t21
  %t25 = load <32 x float>, ptr %t24, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %1
  %t26 = fadd <32 x float> %t23, %t25  ; %2
  %t27 = fmul <32 x float> %t26, splat (float 0x3FE0000000000000)  ; %4
  %t28 = call <32 x float> @plait.tanh.v32f32(<32 x float> %t27)  ; %5
  %t29 = fmul <32 x float> %t23, %t25  ; %6
  %t30 = fsub <32 x float> %t28, %t29  ; %7
  %t31 = fcmp ugt <32 x float> %t30, splat (float 0xC008000000000000)
  %t32 = fcmp uno <32 x float> splat (float 0xC008000000000000), splat (float 0xC008000000000000)
  %t33 = select <32 x i1> %t31, <32 x float> %t30, <32 x float> splat (float 0xC008000000000000)
  %t34 = select <32 x i1> %t32, <32 x float> splat (float 0xC008000000000000), <32 x float> %t33  ; %9
  %t35 = call <32 x float> @plait.sigmoid.v32f32(<32 x float> %t34)  ; %10
  %t36 = fmul <32 x float> %t35, %t35  ; %11
  %t37 = fadd <32 x float> %t36, splat (float 0x3FF0000000000000)  ; %13
  %t38 = call <32 x float> @llvm.sqrt.v32f32(<32 x float> %t37)  ; %14
  %t39 = call <32 x float> @llvm.fabs.v32f32(<32 x float> %t27)  ; %15
  %t40 = fadd <32 x float> %t38, %t39  ; %16
  %t41 = fneg <32 x float> %t35  ; %17
  %t42 = call <32 x float> @plait.exp.v32f32(<32 x float> %t41)  ; %18
  %t43 = fadd <32 x float> %t42, splat (float 0x3FF0000000000000)  ; %20
  %t44 = fdiv <32 x float> %t40, %t43  ; %21
  %t45 = getelementptr inbounds float, ptr %t5, i64 %t21
  store <32 x float> %t44, ptr %t45, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t18, 1
  %t46 = icmp slt i64 %loop3.next, %t16
  br i1 %t46, label %loop3, label %done5
done5:
  %t47 = and i64 %t15, 31
  %t48 = icmp slt i64 0, %t47
  br i1 %t48, label %then6, label %join7
then6:
  %t49 = mul nsw i64 4096, %t11
  %t50 = mul nsw i64 32, %t16
  %t51 = add nsw i64 %t49, %t50
  %t52 = getelementptr inbounds float, ptr %t1, i64 %t51
  %t53 = trunc i64 %t47 to i32
  %t54 = insertelement <32 x i32> poison, i32 %t53, i64 0
  %t55 = shufflevector <32 x i32> %t54, <32 x i32> poison, <32 x i32> zeroinitializer
  %t56 = icmp slt <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %t55
  %t57 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t52, i32 4, <32 x i1> %t56, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %22
  %t58 = getelementptr inbounds float, ptr %t3, i64 %t51
  %t59 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %t58, i32 4, <32 x i1> %t56, <32 x float> splat (float 0x0000000000000000)), !alias.scope !4, !noalias !5, !invariant.load !0  ; %23
  %t60 = fadd <32 x float> %t57, %t59  ; %24
  %t61 = fmul <32 x float> %t60, splat (float 0x3FE0000000000000)  ; %25
  %t62 = call <32 x float> @plait.tanh.v32f32(<32 x float> %t61)  ; %26
  %t63 = fmul <32 x float> %t57, %t59  ; %27
  %t64 = fsub <32 x float> %t62, %t63  ; %28
  %t65 = fcmp ugt <32 x float> %t64, splat (float 0xC008000000000000)
  %t66 = fcmp uno <32 x float> splat (float 0xC008000000000000), splat (float 0xC008000000000000)
  %t67 = select <32 x i1> %t65, <32 x float> %t64, <32 x float> splat (float 0xC008000000000000)
  %t68 = select <32 x i1> %t66, <32 x float> splat (float 0xC008000000000000), <32 x float> %t67  ; %29
  %t69 = call <32 x float> @plait.sigmoid.v32f32(<32 x float> %t68)  ; %30
  %t70 = fmul <32 x float> %t69, %t69  ; %31
  %t71 = fadd <32 x float> %t70, splat (float 0x3FF0000000000000)  ; %32
  %t72 = call <32 x float> @llvm.sqrt.v32f32(<32 x float> %t71)  ; %33
  %t73 = call <32 x float> @llvm.fabs.v32f32(<32 x float> %t61)  ; %34
  %t74 = fadd <32 x float> %t72, %t73  ; %35
  %t75 = fneg <32 x float> %t69  ; %36
  %t76 = call <32 x float> @plait.exp.v32f32(<32 x float> %t75)  ; %37
  %t77 = fadd <32 x float> %t76, splat (float 0x3FF0000000000000)  ; %38
  %t78 = fdiv <32 x float> %t74, %t77  ; %39
  %t79 = getelementptr inbounds float, ptr %t5, i64 %t51
  call void @llvm.masked.store.v32f32.p0(<32 x float> %t78, ptr %t79, i32 4, <32 x i1> %t56), !alias.scope !5, !noalias !4
  br label %join7
join7:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t80 = icmp slt i64 %loop0.next, %end
  br i1 %t80, label %loop0, label %done2
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

define internal <32 x float> @plait.sigmoid.v32f32(<32 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = call <32 x float> @llvm.fabs.v32f32(<32 x float> %p0)
  %t1 = fneg <32 x float> %t0
  %t2 = call <32 x float> @plait.exp.v32f32(<32 x float> %t1)
  %t3 = fcmp olt <32 x float> %p0, splat (float 0x0000000000000000)
  %t4 = select <32 x i1> %t3, <32 x float> %t2, <32 x float> splat (float 0x3FF0000000000000)
  %t5 = fadd <32 x float> splat (float 0x3FF0000000000000), %t2
  %t6 = fdiv <32 x float> %t4, %t5
  ret <32 x float> %t6
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
declare i64 @llvm.smin.i64(i64, i64)
declare <32 x float> @llvm.sqrt.v32f32(<32 x float>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
