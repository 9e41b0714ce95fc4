define void @max_with_argmax_s1(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable0 = alloca <16 x float>
  %variable1 = alloca <16 x i64>
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
  store <16 x float> splat (float 0xFFF0000000000000), ptr %variable0
  store <16 x i64> splat (i64 0), ptr %variable1
  %t12 = ashr i64 %t9, 4
  %t13 = icmp slt i64 0, %t12
  br i1 %t13, label %loop3, label %done5
loop3:
  %t14 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t15 = mul nsw i64 %t11, %t9
  %t16 = mul nsw i64 16, %t14
  %t17 = add nsw i64 %t15, %t16
  %t18 = getelementptr inbounds float, ptr %t1, i64 %t17
  %t19 = load <16 x float>, ptr %t18, align 4, !alias.scope !4, !noalias !5, !invariant.load !0  ; %2
  %t20 = insertelement <16 x i64> poison, i64 %t16, i64 0
  %t21 = shufflevector <16 x i64> %t20, <16 x i64> poison, <16 x i32> zeroinitializer
  %t22 = add <16 x i64> %t21, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>  ; %3
  %t23 = load <16 x float>, ptr %variable0
  %t24 = fcmp ogt <16 x float> %t19, %t23  ; %6
  %t25 = load <16 x float>, ptr %variable0
  %t26 = fcmp oeq <16 x float> %t19, %t25  ; %7
  %t27 = load <16 x float>, ptr %variable0
  %t28 = load <16 x float>, ptr %variable0
  %t29 = fcmp une <16 x float> %t27, %t28  ; %8
  %t30 = fcmp une <16 x float> %t19, %t19  ; %9
  %t31 = load <16 x float>, ptr %variable0
  %t32 = load <16 x float>, ptr %variable0
  %t33 = fcmp oeq <16 x float> %t31, %t32  ; %10
  %t34 = and <16 x i1> %t29, %t30  ; %11
  %t35 = and <16 x i1> %t33, %t30  ; %12
  %t36 = or <16 x i1> %t24, %t35  ; %13
  %t37 = or <16 x i1> %t26, %t34  ; %14
  %t38 = load <16 x i64>, ptr %variable1
  %t39 = icmp slt <16 x i64> %t22, %t38  ; %15
  %t40 = and <16 x i1> %t37, %t39  ; %16
  %t41 = or <16 x i1> %t36, %t40  ; %17
  %t42 = load <16 x float>, ptr %variable0
  %t43 = select <16 x i1> %t41, <16 x float> %t19, <16 x float> %t42  ; %18
  %t44 = load <16 x i64>, ptr %variable1
  %t45 = select <16 x i1> %t41, <16 x i64> %t22, <16 x i64> %t44  ; %19
  store <16 x float> %t43, ptr %variable0
  store <16 x i64> %t45, ptr %variable1
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t14, 1
  %t46 = icmp slt i64 %loop3.next, %t12
  br i1 %t46, label %loop3, label %done5
done5:
  %t47 = load <16 x float>, ptr %variable0
  %t48 = shufflevector <16 x float> %t47, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %20
  %t49 = load <16 x float>, ptr %variable0
  %t50 = shufflevector <16 x float> %t49, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %21
  %t51 = load <16 x i64>, ptr %variable1
  %t52 = shufflevector <16 x i64> %t51, <16 x i64> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>  ; %22
  %t53 = load <16 x i64>, ptr %variable1
  %t54 = shufflevector <16 x i64> %t53, <16 x i64> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>  ; %23
  %t55 = fcmp ogt <8 x float> %t50, %t48  ; %24
  %t56 = fcmp oeq <8 x float> %t50, %t48  ; %25
  %t57 = fcmp une <8 x float> %t48, %t48  ; %26
  %t58 = fcmp une <8 x float> %t50, %t50  ; %27
  %t59 = fcmp oeq <8 x float> %t48, %t48  ; %28
  %t60 = and <8 x i1> %t57, %t58  ; %29
  %t61 = and <8 x i1> %t59, %t58  ; %30
  %t62 = or <8 x i1> %t55, %t61  ; %31
  %t63 = or <8 x i1> %t56, %t60  ; %32
  %t64 = icmp slt <8 x i64> %t54, %t52  ; %33
  %t65 = and <8 x i1> %t63, %t64  ; %34
  %t66 = or <8 x i1> %t62, %t65  ; %35
  %t67 = select <8 x i1> %t66, <8 x float> %t50, <8 x float> %t48  ; %36
  %t68 = select <8 x i1> %t66, <8 x i64> %t54, <8 x i64> %t52  ; %37
  %t69 = shufflevector <8 x float> %t67, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %38
  %t70 = shufflevector <8 x float> %t67, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %39
  %t71 = shufflevector <8 x i64> %t68, <8 x i64> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>  ; %40
  %t72 = shufflevector <8 x i64> %t68, <8 x i64> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>  ; %41
  %t73 = fcmp ogt <4 x float> %t70, %t69  ; %42
  %t74 = fcmp oeq <4 x float> %t70, %t69  ; %43
  %t75 = fcmp une <4 x float> %t69, %t69  ; %44
  %t76 = fcmp une <4 x float> %t70, %t70  ; %45
  %t77 = fcmp oeq <4 x float> %t69, %t69  ; %46
  %t78 = and <4 x i1> %t75, %t76  ; %47
  %t79 = and <4 x i1> %t77, %t76  ; %48
  %t80 = or <4 x i1> %t73, %t79  ; %49
  %t81 = or <4 x i1> %t74, %t78  ; %50
  %t82 = icmp slt <4 x i64> %t72, %t71  ; %51
  %t83 = and <4 x i1> %t81, %t82  ; %52
  %t84 = or <4 x i1> %t80, %t83  ; %53
  %t85 = select <4 x i1> %t84, <4 x float> %t70, <4 x float> %t69  ; %54
  %t86 = select <4 x i1> %t84, <4 x i64> %t72, <4 x i64> %t71  ; %55
  %t87 = shufflevector <4 x float> %t85, <4 x float> poison, <2 x i32> <i32 0, i32 1>  ; %56
  %t88 = shufflevector <4 x float> %t85, <4 x float> poison, <2 x i32> <i32 2, i32 3>  ; %57
  %t89 = shufflevector <4 x i64> %t86, <4 x i64> poison, <2 x i32> <i32 0, i32 1>  ; %58
  %t90 = shufflevector <4 x i64> %t86, <4 x i64> poison, <2 x i32> <i32 2, i32 3>  ; %59
  %t91 = fcmp ogt <2 x float> %t88, %t87  ; %60
  %t92 = fcmp oeq <2 x float> %t88, %t87  ; %61
  %t93 = fcmp une <2 x float> %t87, %t87  ; %62
  %t94 = fcmp une <2 x float> %t88, %t88  ; %63
  %t95 = fcmp oeq <2 x float> %t87, %t87  ; %64
  %t96 = and <2 x i1> %t93, %t94  ; %65
  %t97 = and <2 x i1> %t95, %t94  ; %66
  %t98 = or <2 x i1> %t91, %t97  ; %67
  %t99 = or <2 x i1> %t92, %t96  ; %68
  %t100 = icmp slt <2 x i64> %t90, %t89  ; %69
  %t101 = and <2 x i1> %t99, %t100  ; %70
  %t102 = or <2 x i1> %t98, %t101  ; %71
  %t103 = select <2 x i1> %t102, <2 x float> %t88, <2 x float> %t87  ; %72
  %t104 = select <2 x i1> %t102, <2 x i64> %t90, <2 x i64> %t89  ; %73
  %t105 = extractelement <2 x float> %t103, i64 0  ; %74
  %t106 = extractelement <2 x float> %t103, i64 1  ; %75
  %t107 = extractelement <2 x i64> %t104, i64 0  ; %76
  %t108 = extractelement <2 x i64> %t104, i64 1  ; %77
  %t109 = fcmp ogt float %t106, %t105  ; %78
  %t110 = fcmp oeq float %t106, %t105  ; %79
  %t111 = fcmp une float %t105, %t105  ; %80
  %t112 = fcmp une float %t106, %t106  ; %81
  %t113 = fcmp oeq float %t105, %t105  ; %82
  %t114 = and i1 %t111, %t112  ; %83
  %t115 = and i1 %t113, %t112  ; %84
  %t116 = or i1 %t109, %t115  ; %85
  %t117 = or i1 %t110, %t114  ; %86
  %t118 = icmp slt i64 %t108, %t107  ; %87
  %t119 = and i1 %t117, %t118  ; %88
  %t120 = or i1 %t116, %t119  ; %89
  %t121 = select i1 %t120, float %t106, float %t105  ; %90
  %t122 = select i1 %t120, i64 %t108, i64 %t107  ; %91
  %t123 = getelementptr inbounds float, ptr %t3, i64 %t11
  store float %t121, ptr %t123, align 4, !alias.scope !5, !noalias !4
  %t124 = getelementptr inbounds i64, ptr %t5, i64 %t11
  store i64 %t122, ptr %t124, align 8, !alias.scope !5, !noalias !4
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t11, 1
  %t125 = icmp slt i64 %loop0.next, %end
  br i1 %t125, label %loop0, label %done2
done2:
  ret void
}

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
