define void @rope_q_and_k_s3(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
entry:
  %variable3 = alloca <8 x i64>
  %variable6 = alloca <8 x float>
  %variable15 = alloca <8 x i64>
  %variable18 = alloca <8 x float>
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
  %t12 = getelementptr inbounds ptr, ptr %buffers, i64 6
  %t13 = load ptr, ptr %t12, align 8, !invariant.load !0
  %t14 = getelementptr inbounds ptr, ptr %buffers, i64 7
  %t15 = load ptr, ptr %t14, align 8, !invariant.load !0
  %t16 = getelementptr inbounds i64, ptr %integers, i64 0
  %t17 = load i64, ptr %t16, align 8, !invariant.load !0
  %t18 = getelementptr inbounds i64, ptr %integers, i64 1
  %t19 = load i64, ptr %t18, align 8, !invariant.load !0
  %t20 = getelementptr inbounds i64, ptr %integers, i64 2
  %t21 = load i64, ptr %t20, align 8, !invariant.load !0
  %t22 = getelementptr inbounds i64, ptr %integers, i64 3
  %t23 = load i64, ptr %t22, align 8, !invariant.load !0
  %t24 = icmp slt i64 %begin, %end
  br i1 %t24, label %loop0, label %done2
loop0:
  %t25 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t26 = ashr i64 %t23, 2
  %t27 = icmp slt i64 0, %t26
  br i1 %t27, label %loop3, label %done5
loop3:
  %t28 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t29 = mul nsw i64 2, %t25
  %t30 = mul nsw i64 %t29, %t23
  %t31 = mul nsw i64 8, %t28
  %t32 = add nsw i64 %t30, %t31
  %t33 = getelementptr inbounds float, ptr %t3, i64 %t32
  %t34 = load <8 x float>, ptr %t33, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t35 = mul nsw i64 2, %t23
  %t36 = urem i64 %t25, %t21
  %t37 = mul nsw i64 %t35, %t36
  %t38 = add nsw i64 %t37, %t31
  %t39 = getelementptr inbounds float, ptr %t5, i64 %t38
  %t40 = load <8 x float>, ptr %t39, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t41 = fmul <8 x float> %t34, %t40
  store <8 x i64> splat (i64 0), ptr %variable3
  %t42 = add nsw i64 %t31, 7
  %t43 = udiv i64 %t42, %t23
  %t44 = udiv i64 %t31, %t23
  %t45 = icmp eq i64 %t44, %t43
  br i1 %t45, label %then6, label %join7
then6:
  %t46 = insertelement <8 x i64> poison, i64 %t44, i64 0
  %t47 = shufflevector <8 x i64> %t46, <8 x i64> poison, <8 x i32> zeroinitializer
  store <8 x i64> %t47, ptr %variable3
  br label %join7
join7:
  %t48 = xor i1 %t45, true
  br i1 %t48, label %then8, label %join9
then8:
  %t49 = insertelement <8 x i64> poison, i64 %t44, i64 0
  %t50 = add nsw i64 %t31, 1
  %t51 = udiv i64 %t50, %t23
  %t52 = insertelement <8 x i64> %t49, i64 %t51, i64 1
  %t53 = add nsw i64 %t31, 2
  %t54 = udiv i64 %t53, %t23
  %t55 = insertelement <8 x i64> %t52, i64 %t54, i64 2
  %t56 = add nsw i64 %t31, 3
  %t57 = udiv i64 %t56, %t23
  %t58 = insertelement <8 x i64> %t55, i64 %t57, i64 3
  %t59 = add nsw i64 %t31, 4
  %t60 = udiv i64 %t59, %t23
  %t61 = insertelement <8 x i64> %t58, i64 %t60, i64 4
  %t62 = add nsw i64 %t31, 5
  %t63 = udiv i64 %t62, %t23
  %t64 = insertelement <8 x i64> %t61, i64 %t63, i64 5
  %t65 = add nsw i64 %t31, 6
  %t66 = udiv i64 %t65, %t23
  %t67 = insertelement <8 x i64> %t64, i64 %t66, i64 6
  %t68 = insertelement <8 x i64> %t67, i64 %t43, i64 7
  store <8 x i64> %t68, ptr %variable3
  br label %join9
join9:
  %t69 = load <8 x i64>, ptr %variable3
  %t70 = icmp eq <8 x i64> %t69, splat (i64 0)
  store <8 x float> splat (float 0x0000000000000000), ptr %variable6
  br i1 %t45, label %then10, label %join11
then10:
  %t71 = mul nsw i64 -2, %t23
  %t72 = mul nsw i64 %t71, %t44
  %t73 = add nsw i64 %t30, %t72
  %t74 = add nsw i64 %t73, %t31
  %t75 = add nsw i64 %t74, %t23
  %t76 = getelementptr inbounds float, ptr %t1, i64 %t75
  %t77 = load <8 x float>, ptr %t76, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  store <8 x float> %t77, ptr %variable6
  br label %join11
join11:
  br i1 %t48, label %then12, label %join13
then12:
  %t78 = mul nsw i64 -1, %t23
  %t79 = mul nsw i64 %t78, %t44
  %t80 = add nsw i64 %t30, %t79
  %t81 = add nsw i64 %t80, %t23
  %t82 = urem i64 %t31, %t23
  %t83 = add nsw i64 %t81, %t82
  %t84 = getelementptr inbounds float, ptr %t1, i64 %t83
  %t85 = load float, ptr %t84, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t86 = insertelement <8 x float> poison, float %t85, i64 0
  %t87 = mul nsw i64 -1, %t23
  %t88 = add nsw i64 %t31, 1
  %t89 = udiv i64 %t88, %t23
  %t90 = mul nsw i64 %t87, %t89
  %t91 = add nsw i64 %t30, %t90
  %t92 = add nsw i64 %t91, %t23
  %t93 = urem i64 %t88, %t23
  %t94 = add nsw i64 %t92, %t93
  %t95 = getelementptr inbounds float, ptr %t1, i64 %t94
  %t96 = load float, ptr %t95, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t97 = insertelement <8 x float> %t86, float %t96, i64 1
  %t98 = mul nsw i64 -1, %t23
  %t99 = add nsw i64 %t31, 2
  %t100 = udiv i64 %t99, %t23
  %t101 = mul nsw i64 %t98, %t100
  %t102 = add nsw i64 %t30, %t101
  %t103 = add nsw i64 %t102, %t23
  %t104 = urem i64 %t99, %t23
  %t105 = add nsw i64 %t103, %t104
  %t106 = getelementptr inbounds float, ptr %t1, i64 %t105
  %t107 = load float, ptr %t106, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t108 = insertelement <8 x float> %t97, float %t107, i64 2
  %t109 = mul nsw i64 -1, %t23
  %t110 = add nsw i64 %t31, 3
  %t111 = udiv i64 %t110, %t23
  %t112 = mul nsw i64 %t109, %t111
  %t113 = add nsw i64 %t30, %t112
  %t114 = add nsw i64 %t113, %t23
  %t115 = urem i64 %t110, %t23
  %t116 = add nsw i64 %t114, %t115
  %t117 = getelementptr inbounds float, ptr %t1, i64 %t116
  %t118 = load float, ptr %t117, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t119 = insertelement <8 x float> %t108, float %t118, i64 3
  %t120 = mul nsw i64 -1, %t23
  %t121 = add nsw i64 %t31, 4
  %t122 = udiv i64 %t121, %t23
  %t123 = mul nsw i64 %t120, %t122
  %t124 = add nsw i64 %t30, %t123
  %t125 = add nsw i64 %t124, %t23
  %t126 = urem i64 %t121, %t23
  %t127 = add nsw i64 %t125, %t126
  %t128 = getelementptr inbounds float, ptr %t1, i64 %t127
  %t129 = load float, ptr %t128, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t130 = insertelement <8 x float> %t119, float %t129, i64 4
  %t131 = mul nsw i64 -1, %t23
  %t132 = add nsw i64 %t31, 5
  %t133 = udiv i64 %t132, %t23
  %t134 = mul nsw i64 %t131, %t133
  %t135 = add nsw i64 %t30, %t134
  %t136 = add nsw i64 %t135, %t23
  %t137 = urem i64 %t132, %t23
  %t138 = add nsw i64 %t136, %t137
  %t139 = getelementptr inbounds float, ptr %t1, i64 %t138
  %t140 = load float, ptr %t139, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t141 = insertelement <8 x float> %t130, float %t140, i64 5
  %t142 = mul nsw i64 -1, %t23
  %t143 = add nsw i64 %t31, 6
  %t144 = udiv i64 %t143, %t23
  %t145 = mul nsw i64 %t142, %t144
  %t146 = add nsw i64 %t30, %t145
  %t147 = add nsw i64 %t146, %t23
  %t148 = urem i64 %t143, %t23
  %t149 = add nsw i64 %t147, %t148
  %t150 = getelementptr inbounds float, ptr %t1, i64 %t149
  %t151 = load float, ptr %t150, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t152 = insertelement <8 x float> %t141, float %t151, i64 6
  %t153 = mul nsw i64 -1, %t23
  %t154 = mul nsw i64 %t153, %t43
  %t155 = add nsw i64 %t30, %t154
  %t156 = add nsw i64 %t155, %t23
  %t157 = urem i64 %t42, %t23
  %t158 = add nsw i64 %t156, %t157
  %t159 = getelementptr inbounds float, ptr %t1, i64 %t158
  %t160 = load float, ptr %t159, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t161 = insertelement <8 x float> %t152, float %t160, i64 7
  store <8 x float> %t161, ptr %variable6
  br label %join13
join13:
  %t162 = load <8 x float>, ptr %variable6
  %t163 = fneg <8 x float> %t162
  %t164 = load <8 x float>, ptr %variable6
  %t165 = select <8 x i1> %t70, <8 x float> %t163, <8 x float> %t164
  %t166 = getelementptr inbounds float, ptr %t7, i64 %t38
  %t167 = load <8 x float>, ptr %t166, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t168 = fmul <8 x float> %t165, %t167
  %t169 = fadd <8 x float> %t41, %t168
  %t170 = getelementptr inbounds float, ptr %t13, i64 %t32
  store <8 x float> %t169, ptr %t170, align 4, !alias.scope !5, !noalias !4
  %t171 = getelementptr inbounds float, ptr %t11, i64 %t32
  %t172 = load <8 x float>, ptr %t171, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t173 = fmul <8 x float> %t172, %t40
  store <8 x i64> splat (i64 0), ptr %variable15
  br i1 %t45, label %then14, label %join15
then14:
  %t174 = insertelement <8 x i64> poison, i64 %t44, i64 0
  %t175 = shufflevector <8 x i64> %t174, <8 x i64> poison, <8 x i32> zeroinitializer
  store <8 x i64> %t175, ptr %variable15
  br label %join15
join15:
  br i1 %t48, label %then16, label %join17
then16:
  %t176 = insertelement <8 x i64> poison, i64 %t44, i64 0
  %t177 = add nsw i64 %t31, 1
  %t178 = udiv i64 %t177, %t23
  %t179 = insertelement <8 x i64> %t176, i64 %t178, i64 1
  %t180 = add nsw i64 %t31, 2
  %t181 = udiv i64 %t180, %t23
  %t182 = insertelement <8 x i64> %t179, i64 %t181, i64 2
  %t183 = add nsw i64 %t31, 3
  %t184 = udiv i64 %t183, %t23
  %t185 = insertelement <8 x i64> %t182, i64 %t184, i64 3
  %t186 = add nsw i64 %t31, 4
  %t187 = udiv i64 %t186, %t23
  %t188 = insertelement <8 x i64> %t185, i64 %t187, i64 4
  %t189 = add nsw i64 %t31, 5
  %t190 = udiv i64 %t189, %t23
  %t191 = insertelement <8 x i64> %t188, i64 %t190, i64 5
  %t192 = add nsw i64 %t31, 6
  %t193 = udiv i64 %t192, %t23
  %t194 = insertelement <8 x i64> %t191, i64 %t193, i64 6
  %t195 = insertelement <8 x i64> %t194, i64 %t43, i64 7
  store <8 x i64> %t195, ptr %variable15
  br label %join17
join17:
  %t196 = load <8 x i64>, ptr %variable15
  %t197 = icmp eq <8 x i64> %t196, splat (i64 0)
  store <8 x float> splat (float 0x0000000000000000), ptr %variable18
  br i1 %t45, label %then18, label %join19
then18:
  %t198 = mul nsw i64 -2, %t23
  %t199 = mul nsw i64 %t198, %t44
  %t200 = add nsw i64 %t30, %t199
  %t201 = add nsw i64 %t200, %t31
  %t202 = add nsw i64 %t201, %t23
  %t203 = getelementptr inbounds float, ptr %t9, i64 %t202
  %t204 = load <8 x float>, ptr %t203, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  store <8 x float> %t204, ptr %variable18
  br label %join19
join19:
  br i1 %t48, label %then20, label %join21
then20:
  %t205 = mul nsw i64 -1, %t23
  %t206 = mul nsw i64 %t205, %t44
  %t207 = add nsw i64 %t30, %t206
  %t208 = add nsw i64 %t207, %t23
  %t209 = urem i64 %t31, %t23
  %t210 = add nsw i64 %t208, %t209
  %t211 = getelementptr inbounds float, ptr %t9, i64 %t210
  %t212 = load float, ptr %t211, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t213 = insertelement <8 x float> poison, float %t212, i64 0
  %t214 = mul nsw i64 -1, %t23
  %t215 = add nsw i64 %t31, 1
  %t216 = udiv i64 %t215, %t23
  %t217 = mul nsw i64 %t214, %t216
  %t218 = add nsw i64 %t30, %t217
  %t219 = add nsw i64 %t218, %t23
  %t220 = urem i64 %t215, %t23
  %t221 = add nsw i64 %t219, %t220
  %t222 = getelementptr inbounds float, ptr %t9, i64 %t221
  %t223 = load float, ptr %t222, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t224 = insertelement <8 x float> %t213, float %t223, i64 1
  %t225 = mul nsw i64 -1, %t23
  %t226 = add nsw i64 %t31, 2
  %t227 = udiv i64 %t226, %t23
  %t228 = mul nsw i64 %t225, %t227
  %t229 = add nsw i64 %t30, %t228
  %t230 = add nsw i64 %t229, %t23
  %t231 = urem i64 %t226, %t23
  %t232 = add nsw i64 %t230, %t231
  %t233 = getelementptr inbounds float, ptr %t9, i64 %t232
  %t234 = load float, ptr %t233, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t235 = insertelement <8 x float> %t224, float %t234, i64 2
  %t236 = mul nsw i64 -1, %t23
  %t237 = add nsw i64 %t31, 3
  %t238 = udiv i64 %t237, %t23
  %t239 = mul nsw i64 %t236, %t238
  %t240 = add nsw i64 %t30, %t239
  %t241 = add nsw i64 %t240, %t23
  %t242 = urem i64 %t237, %t23
  %t243 = add nsw i64 %t241, %t242
  %t244 = getelementptr inbounds float, ptr %t9, i64 %t243
  %t245 = load float, ptr %t244, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t246 = insertelement <8 x float> %t235, float %t245, i64 3
  %t247 = mul nsw i64 -1, %t23
  %t248 = add nsw i64 %t31, 4
  %t249 = udiv i64 %t248, %t23
  %t250 = mul nsw i64 %t247, %t249
  %t251 = add nsw i64 %t30, %t250
  %t252 = add nsw i64 %t251, %t23
  %t253 = urem i64 %t248, %t23
  %t254 = add nsw i64 %t252, %t253
  %t255 = getelementptr inbounds float, ptr %t9, i64 %t254
  %t256 = load float, ptr %t255, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t257 = insertelement <8 x float> %t246, float %t256, i64 4
  %t258 = mul nsw i64 -1, %t23
  %t259 = add nsw i64 %t31, 5
  %t260 = udiv i64 %t259, %t23
  %t261 = mul nsw i64 %t258, %t260
  %t262 = add nsw i64 %t30, %t261
  %t263 = add nsw i64 %t262, %t23
  %t264 = urem i64 %t259, %t23
  %t265 = add nsw i64 %t263, %t264
  %t266 = getelementptr inbounds float, ptr %t9, i64 %t265
  %t267 = load float, ptr %t266, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t268 = insertelement <8 x float> %t257, float %t267, i64 5
  %t269 = mul nsw i64 -1, %t23
  %t270 = add nsw i64 %t31, 6
  %t271 = udiv i64 %t270, %t23
  %t272 = mul nsw i64 %t269, %t271
  %t273 = add nsw i64 %t30, %t272
  %t274 = add nsw i64 %t273, %t23
  %t275 = urem i64 %t270, %t23
  %t276 = add nsw i64 %t274, %t275
  %t277 = getelementptr inbounds float, ptr %t9, i64 %t276
  %t278 = load float, ptr %t277, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t279 = insertelement <8 x float> %t268, float %t278, i64 6
  %t280 = mul nsw i64 -1, %t23
  %t281 = mul nsw i64 %t280, %t43
  %t282 = add nsw i64 %t30, %t281
  %t283 = add nsw i64 %t282, %t23
  %t284 = urem i64 %t42, %t23
  %t285 = add nsw i64 %t283, %t284
  %t286 = getelementptr inbounds float, ptr %t9, i64 %t285
  %t287 = load float, ptr %t286, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t288 = insertelement <8 x float> %t279, float %t287, i64 7
  store <8 x float> %t288, ptr %variable18
  br label %join21
join21:
  %t289 = load <8 x float>, ptr %variable18
  %t290 = fneg <8 x float> %t289
  %t291 = load <8 x float>, ptr %variable18
  %t292 = select <8 x i1> %t197, <8 x float> %t290, <8 x float> %t291
  %t293 = fmul <8 x float> %t292, %t167
  %t294 = fadd <8 x float> %t173, %t293
  %t295 = getelementptr inbounds float, ptr %t15, i64 %t32
  store <8 x float> %t294, ptr %t295, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t28, 1
  %t296 = icmp slt i64 %loop3.next, %t26
  br i1 %t296, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t25, 1
  %t297 = icmp slt i64 %loop0.next, %end
  br i1 %t297, label %loop0, label %done2
done2:
  ret void
}

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
