define void @lion_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t12 = getelementptr inbounds i64, ptr %integers, i64 0
  %t13 = load i64, ptr %t12, align 8, !invariant.load !0
  %t14 = icmp slt i64 %begin, %end
  br i1 %t14, label %loop0, label %done2
loop0:
  %t15 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t16 = getelementptr inbounds float, ptr %t5, i64 0
  %t17 = load float, ptr %t16, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t18 = insertelement <8 x float> poison, float %t17, i64 0
  %t19 = shufflevector <8 x float> %t18, <8 x float> poison, <8 x i32> zeroinitializer  ; %6
  %t20 = fmul <8 x float> %t19, splat (float 0x3FB99999A0000000)  ; %7
  %t21 = fsub <8 x float> splat (float 0x3FF0000000000000), %t20  ; %9
  %t22 = mul nsw i64 -512, %t15
  %t23 = ashr i64 %t13, 3
  %t24 = add nsw i64 %t22, %t23
  %t25 = call i64 @llvm.smin.i64(i64 512, i64 %t24)
  %t26 = icmp slt i64 0, %t25
  br i1 %t26, label %loop3, label %done5
loop3:
  %t27 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t28 = mul nsw i64 4096, %t15
  %t29 = mul nsw i64 8, %t27
  %t30 = add nsw i64 %t28, %t29
  %t31 = getelementptr inbounds float, ptr %t1, i64 %t30
  %t32 = load <8 x float>, ptr %t31, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %1
  %t33 = getelementptr inbounds float, ptr %t3, i64 %t30
  %t34 = load <8 x float>, ptr %t33, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %2
  %t35 = fsub <8 x float> %t34, %t32  ; %16
  %t36 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3FB99999A0000000), <8 x float> %t35, <8 x float> %t32)  ; %17
  %t37 = fsub <8 x float> splat (float 0x3FF0000000000000), splat (float 0x3FB99999A0000000)  ; %19
  %t38 = fmul <8 x float> %t35, %t37  ; %20
  %t39 = fsub <8 x float> %t34, %t38  ; %21
  %t40 = call <8 x float> @llvm.fabs.v8f32(<8 x float> splat (float 0x3FB99999A0000000))  ; %22
  %t41 = fcmp olt <8 x float> %t40, splat (float 0x3FE0000000000000)  ; %24
  %t42 = select <8 x i1> %t41, <8 x float> %t36, <8 x float> %t39  ; %3
  %t43 = fcmp ogt <8 x float> %t42, splat (float 0x0000000000000000)  ; %28
  %t44 = fcmp olt <8 x float> %t42, splat (float 0x0000000000000000)  ; %29
  %t45 = select <8 x i1> %t44, <8 x float> splat (float 0xBFF0000000000000), <8 x float> splat (float 0x0000000000000000)  ; %31
  %t46 = select <8 x i1> %t43, <8 x float> splat (float 0x3FF0000000000000), <8 x float> %t45  ; %4
  %t47 = getelementptr inbounds float, ptr %t7, i64 %t30
  %t48 = load <8 x float>, ptr %t47, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %10
  %t49 = fmul <8 x float> %t48, %t21  ; %11
  %t50 = fmul <8 x float> %t46, %t19  ; %12
  %t51 = fsub <8 x float> %t49, %t50  ; %13
  %t52 = fsub <8 x float> %t34, %t32  ; %33
  %t53 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F847AE140000000), <8 x float> %t52, <8 x float> %t32)  ; %34
  %t54 = fsub <8 x float> splat (float 0x3FF0000000000000), splat (float 0x3F847AE140000000)  ; %36
  %t55 = fmul <8 x float> %t52, %t54  ; %37
  %t56 = fsub <8 x float> %t34, %t55  ; %38
  %t57 = call <8 x float> @llvm.fabs.v8f32(<8 x float> splat (float 0x3F847AE140000000))  ; %39
  %t58 = fcmp olt <8 x float> %t57, splat (float 0x3FE0000000000000)  ; %41
  %t59 = select <8 x i1> %t58, <8 x float> %t53, <8 x float> %t56  ; %15
  %t60 = getelementptr inbounds float, ptr %t9, i64 %t30
  store <8 x float> %t51, ptr %t60, align 4, !alias.scope !5, !noalias !4
  %t61 = getelementptr inbounds float, ptr %t11, i64 %t30
  store <8 x float> %t59, ptr %t61, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t27, 1
  %t62 = icmp slt i64 %loop3.next, %t25
  br i1 %t62, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t15, 1
  %t63 = icmp slt i64 %loop0.next, %end
  br i1 %t63, label %loop0, label %done2
done2:
  ret void
}

declare <8 x float> @llvm.fabs.v8f32(<8 x float>)
declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)
declare i64 @llvm.smin.i64(i64, i64)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
