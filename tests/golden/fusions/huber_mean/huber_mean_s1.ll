define void @huber_mean_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <16 x double>
  %variable4 = alloca <16 x float>
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
  store <16 x double> splat (double 0x0000000000000000), ptr %variable0
  %t16 = icmp slt i64 0, 32
  br i1 %t16, label %loop3, label %done5
loop3:
  %t17 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  store <16 x float> splat (float 0x0000000000000000), ptr %variable4
  %t18 = mul nsw i64 -1024, %t15
  %t19 = mul nsw i64 -32, %t17
  %t20 = add nsw i64 %t18, %t19
  %t21 = mul nsw i64 %t9, %t11
  %t22 = ashr i64 %t21, 4
  %t23 = add nsw i64 %t20, %t22
  %t24 = call i64 @llvm.smin.i64(i64 32, i64 %t23)
  %t25 = icmp slt i64 0, %t24
  br i1 %t25, label %loop6, label %done8
loop6:
  %t26 = phi i64 [ 0, %loop3 ], [ %loop6.next, %latch7 ]
  %t27 = mul nsw i64 16384, %t15
  %t28 = mul nsw i64 512, %t17
  %t29 = add nsw i64 %t27, %t28
  %t30 = mul nsw i64 16, %t26
  %t31 = add nsw i64 %t29, %t30
  %t32 = getelementptr inbounds float, ptr %t1, i64 %t31
  %t33 = load <16 x float>, ptr %t32, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %23
  %t34 = getelementptr inbounds float, ptr %t3, i64 %t31
  %t35 = load <16 x float>, ptr %t34, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %24
  %t36 = fsub <16 x float> %t33, %t35  ; %25
  %t37 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %t36)  ; %26
  %t38 = fcmp olt <16 x float> %t37, splat (float 0x3FF0000000000000)  ; %27
  %t39 = fmul <16 x float> %t37, %t37  ; %28
  %t40 = fmul <16 x float> %t39, splat (float 0x3FE0000000000000)  ; %29
  %t41 = fsub <16 x float> %t37, splat (float 0x3FE0000000000000)  ; %30
  %t42 = select <16 x i1> %t38, <16 x float> %t40, <16 x float> %t41  ; %31
  %t43 = load <16 x float>, ptr %variable4
  %t44 = fadd <16 x float> %t43, %t42  ; %34
  store <16 x float> %t44, ptr %variable4
  br label %latch7
latch7:
  %loop6.next = add nuw nsw i64 %t26, 1
  %t45 = icmp slt i64 %loop6.next, %t24
  br i1 %t45, label %loop6, label %done8
done8:
  %t46 = load <16 x float>, ptr %variable4
  %t47 = fpext <16 x float> %t46 to <16 x double>  ; %14
  %t48 = load <16 x double>, ptr %variable0
  %t49 = fadd <16 x double> %t48, %t47  ; %35
  store <16 x double> %t49, ptr %variable0
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t17, 1
  %t50 = icmp slt i64 %loop3.next, 32
  br i1 %t50, label %loop3, label %done5
done5:
  %t51 = load <16 x double>, ptr %variable0
  %t52 = shufflevector <16 x double> %t51, <16 x double> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %36
  %t53 = load <16 x double>, ptr %variable0
  %t54 = shufflevector <16 x double> %t53, <16 x double> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %37
  %t55 = fadd <8 x double> %t52, %t54  ; %38
  %t56 = shufflevector <8 x double> %t55, <8 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %39
  %t57 = shufflevector <8 x double> %t55, <8 x double> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %40
  %t58 = fadd <4 x double> %t56, %t57  ; %41
  %t59 = shufflevector <4 x double> %t58, <4 x double> poison, <2 x i32> <i32 0, i32 1>  ; %42
  %t60 = shufflevector <4 x double> %t58, <4 x double> poison, <2 x i32> <i32 2, i32 3>  ; %43
  %t61 = fadd <2 x double> %t59, %t60  ; %44
  %t62 = extractelement <2 x double> %t61, i64 0  ; %45
  %t63 = extractelement <2 x double> %t61, i64 1  ; %46
  %t64 = fadd double %t62, %t63  ; %47
  %t65 = getelementptr inbounds double, ptr %t7, i64 %t15
  store double %t64, ptr %t65, align 8, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t15, 1
  %t66 = icmp slt i64 %loop0.next, %end
  br i1 %t66, label %loop0, label %done2
done2:
  ret void
}
define void @huber_mean_s1_phase1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable16 = alloca double
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
  br i1 %t14, label %then0, label %join1
then0:
  store double 0x0000000000000000, ptr %variable16
  %t15 = mul nsw i64 %t9, %t11
  %t16 = add nsw i64 %t15, 16383
  %t17 = ashr i64 %t16, 14
  %t18 = icmp slt i64 0, %t17
  br i1 %t18, label %loop2, label %done4
loop2:
  %t19 = phi i64 [ 0, %then0 ], [ %loop2.next, %latch3 ]
  %t20 = getelementptr inbounds double, ptr %t7, i64 %t19
  %t21 = load double, ptr %t20, align 8, !alias.scope !5, !noalias !4  ; %17
  %t22 = load double, ptr %variable16
  %t23 = fadd double %t22, %t21  ; %48
  store double %t23, ptr %variable16
  br label %latch3
latch3:
  %loop2.next = add nuw nsw i64 %t19, 1
  %t24 = icmp slt i64 %loop2.next, %t17
  br i1 %t24, label %loop2, label %done4
done4:
  %t25 = sitofp i64 %t13 to float  ; %19
  %t26 = load double, ptr %variable16  ; %20
  %t27 = fptrunc double %t26 to float  ; %21
  %t28 = fdiv float %t27, %t25  ; %22
  %t29 = getelementptr inbounds float, ptr %t5, i64 0
  store float %t28, ptr %t29, align 4, !alias.scope !5, !noalias !4
  br label %join1
join1:
  ret void
}

declare <16 x float> @llvm.fabs.v16f32(<16 x float>)
declare i64 @llvm.smin.i64(i64, i64)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
