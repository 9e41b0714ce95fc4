define void @gelu_bias_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t12 = ashr i64 %t9, 4
  %t13 = icmp slt i64 0, %t12
  br i1 %t13, label %loop3, label %done5
loop3:
  %t14 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t15 = mul nsw i64 %t11, %t9
  %t16 = mul nsw i64 16, %t14
  %t17 = add nsw i64 %t15, %t16
  %t18 = getelementptr inbounds float, ptr %t1, i64 %t17
  %t19 = load <16 x float>, ptr %t18, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %0
  %t20 = getelementptr inbounds float, ptr %t3, i64 %t16
  %t21 = load <16 x float>, ptr %t20, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %1
  %t22 = fadd <16 x float> %t19, %t21  ; %2
  %t23 = call <16 x float> @plait.gelu_erf.v16f32(<16 x float> %t22)  ; %3
  %t24 = getelementptr inbounds float, ptr %t5, i64 %t17
  store <16 x float> %t23, ptr %t24, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t14, 1
  %t25 = icmp slt i64 %loop3.next, %t12
  br i1 %t25, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t26 = icmp slt i64 %loop0.next, %end
  br i1 %t26, label %loop0, label %done2
done2:
  ret void
}

define internal <16 x float> @plait.erf.v16f32(<16 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %p0)
  %t1 = fmul <16 x float> %p0, %p0
  %t2 = call <16 x float> @llvm.fma.v16f32(<16 x float> splat (float 0xBF43903980000000), <16 x float> %t1, <16 x float> splat (float 0x3F746FCC60000000))
  %t3 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t2, <16 x float> %t1, <16 x float> splat (float 0xBF9B681D80000000))
  %t4 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t3, <16 x float> %t1, <16 x float> splat (float 0x3FBCE19E80000000))
  %t5 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t4, <16 x float> %t1, <16 x float> splat (float 0xBFD8126E40000000))
  %t6 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t5, <16 x float> %t1, <16 x float> splat (float 0x3FC06EBA60000000))
  %t7 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t6, <16 x float> %t0, <16 x float> %t0)
  %t8 = fcmp ogt <16 x float> %t0, splat (float 0x4010000000000000)
  %t9 = select <16 x i1> %t8, <16 x float> splat (float 0x4010000000000000), <16 x float> %t0
  %t10 = call <16 x float> @llvm.fma.v16f32(<16 x float> splat (float 0x3F298D4F20000000), <16 x float> %t9, <16 x float> splat (float 0xBF68DA1960000000))
  %t11 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t10, <16 x float> %t9, <16 x float> splat (float 0x3F96B8E8E0000000))
  %t12 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t11, <16 x float> %t9, <16 x float> splat (float 0xBFBA965400000000))
  %t13 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t12, <16 x float> %t9, <16 x float> splat (float 0xBFE4647B40000000))
  %t14 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t13, <16 x float> %t9, <16 x float> splat (float 0xBFF20AC300000000))
  %t15 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t14, <16 x float> %t9, <16 x float> splat (float 0xBF2B224AC0000000))
  %t16 = call <16 x float> @plait.exp.v16f32(<16 x float> %t15)
  %t17 = fsub <16 x float> splat (float 0x3FF0000000000000), %t16
  %t18 = fcmp ogt <16 x float> %t0, splat (float 0x3FED9999A0000000)
  %t19 = select <16 x i1> %t18, <16 x float> %t17, <16 x float> %t7
  %t20 = call <16 x float> @llvm.copysign.v16f32(<16 x float> %t19, <16 x float> %p0)
  ret <16 x float> %t20
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

define internal <16 x float> @plait.gelu_erf.v16f32(<16 x float> %p0) alwaysinline nounwind {
entry:
  %t0 = fmul <16 x float> %p0, splat (float 0x3FE6A09E60000000)
  %t1 = call <16 x float> @plait.erf.v16f32(<16 x float> %t0)
  %t2 = fmul <16 x float> %p0, splat (float 0x3FE0000000000000)
  %t3 = fadd <16 x float> splat (float 0x3FF0000000000000), %t1
  %t4 = fmul <16 x float> %t2, %t3
  ret <16 x float> %t4
}

declare <16 x float> @llvm.copysign.v16f32(<16 x float>, <16 x float>)
declare <16 x float> @llvm.fabs.v16f32(<16 x float>)
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
