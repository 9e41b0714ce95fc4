define void @qkv_split_rope_s2(ptr noalias nocapture readonly %buffers, ptr noalias nocapture readonly %integers, i64 %begin, i64 %end) nounwind {
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
  %t12 = getelementptr inbounds i64, ptr %integers, i64 0
  %t13 = load i64, ptr %t12, align 8, !invariant.load !0
  %t14 = getelementptr inbounds i64, ptr %integers, i64 1
  %t15 = load i64, ptr %t14, align 8, !invariant.load !0
  %t16 = getelementptr inbounds i64, ptr %integers, i64 2
  %t17 = load i64, ptr %t16, align 8, !invariant.load !0
  %t18 = getelementptr inbounds i64, ptr %integers, i64 3
  %t19 = load i64, ptr %t18, align 8, !invariant.load !0
  %t20 = icmp slt i64 %begin, %end
  br i1 %t20, label %loop0, label %done2
loop0:
  %t21 = phi i64 [ %begin, %entry ], [ %loop0.next, %latch1 ]
  %t22 = ashr i64 %t19, 2
  %t23 = icmp slt i64 0, %t22
  br i1 %t23, label %loop3, label %done5
loop3:
  %t24 = phi i64 [ 0, %loop0 ], [ %loop3.next, %latch4 ]
  %t25 = mul nsw i64 6, %t15
  %t26 = mul nsw i64 %t25, %t19
  %t27 = urem i64 %t21, %t17
  %t28 = mul nsw i64 %t26, %t27
  %t29 = mul nsw i64 2, %t19
  %t30 = udiv i64 %t21, %t17
  %t31 = urem i64 %t30, %t15
  %t32 = mul nsw i64 %t29, %t31
  %t33 = add nsw i64 %t28, %t32
  %t34 = mul nsw i64 6, %t15
  %t35 = mul nsw i64 %t34, %t17
  %t36 = mul nsw i64 %t35, %t19
  %t37 = mul nsw i64 %t15, %t17
  %t38 = udiv i64 %t21, %t37
  %t39 = mul nsw i64 %t36, %t38
  %t40 = add nsw i64 %t33, %t39
  %t41 = mul nsw i64 8, %t24
  %t42 = add nsw i64 %t40, %t41
  %t43 = getelementptr inbounds float, ptr %t1, i64 %t42
  %t44 = load <8 x float>, ptr %t43, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t45 = mul nsw i64 2, %t19
  %t46 = mul nsw i64 %t45, %t27
  %t47 = add nsw i64 %t46, %t41
  %t48 = getelementptr inbounds float, ptr %t3, i64 %t47
  %t49 = load <8 x float>, ptr %t48, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t50 = fmul <8 x float> %t44, %t49
  store <8 x i64> splat (i64 0), ptr %variable3
  %t51 = add nsw i64 %t41, 7
  %t52 = udiv i64 %t51, %t19
  %t53 = udiv i64 %t41, %t19
  %t54 = icmp eq i64 %t53, %t52
  br i1 %t54, label %then6, label %join7
then6:
  %t55 = insertelement <8 x i64> poison, i64 %t53, i64 0
  %t56 = shufflevector <8 x i64> %t55, <8 x i64> poison, <8 x i32> zeroinitializer
  store <8 x i64> %t56, ptr %variable3
  br label %join7
join7:
  %t57 = xor i1 %t54, true
  br i1 %t57, label %then8, label %join9
then8:
  %t58 = insertelement <8 x i64> poison, i64 %t53, i64 0
  %t59 = add nsw i64 %t41, 1
  %t60 = udiv i64 %t59, %t19
  %t61 = insertelement <8 x i64> %t58, i64 %t60, i64 1
  %t62 = add nsw i64 %t41, 2
  %t63 = udiv i64 %t62, %t19
  %t64 = insertelement <8 x i64> %t61, i64 %t63, i64 2
  %t65 = add nsw i64 %t41, 3
  %t66 = udiv i64 %t65, %t19
  %t67 = insertelement <8 x i64> %t64, i64 %t66, i64 3
  %t68 = add nsw i64 %t41, 4
  %t69 = udiv i64 %t68, %t19
  %t70 = insertelement <8 x i64> %t67, i64 %t69, i64 4
  %t71 = add nsw i64 %t41, 5
  %t72 = udiv i64 %t71, %t19
  %t73 = insertelement <8 x i64> %t70, i64 %t72, i64 5
  %t74 = add nsw i64 %t41, 6
  %t75 = udiv i64 %t74, %t19
  %t76 = insertelement <8 x i64> %t73, i64 %t75, i64 6
  %t77 = insertelement <8 x i64> %t76, i64 %t52, i64 7
  store <8 x i64> %t77, ptr %variable3
  br label %join9
join9:
  %t78 = load <8 x i64>, ptr %variable3
  %t79 = icmp eq <8 x i64> %t78, splat (i64 0)
  store <8 x float> splat (float 0x0000000000000000), ptr %variable6
  br i1 %t54, label %then10, label %join11
then10:
  %t80 = mul nsw i64 -2, %t19
  %t81 = mul nsw i64 %t80, %t53
  %t82 = add nsw i64 %t28, %t81
  %t83 = add nsw i64 %t82, %t32
  %t84 = add nsw i64 %t83, %t39
  %t85 = add nsw i64 %t84, %t41
  %t86 = add nsw i64 %t85, %t19
  %t87 = getelementptr inbounds float, ptr %t1, i64 %t86
  %t88 = load <8 x float>, ptr %t87, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  store <8 x float> %t88, ptr %variable6
  br label %join11
join11:
  br i1 %t57, label %then12, label %join13
then12:
  %t89 = mul nsw i64 -1, %t19
  %t90 = mul nsw i64 %t89, %t53
  %t91 = add nsw i64 %t28, %t90
  %t92 = add nsw i64 %t91, %t32
  %t93 = add nsw i64 %t92, %t39
  %t94 = add nsw i64 %t93, %t19
  %t95 = urem i64 %t41, %t19
  %t96 = add nsw i64 %t94, %t95
  %t97 = getelementptr inbounds float, ptr %t1, i64 %t96
  %t98 = load float, ptr %t97, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t99 = insertelement <8 x float> poison, float %t98, i64 0
  %t100 = add nsw i64 %t28, %t32
  %t101 = add nsw i64 %t100, %t39
  %t102 = mul nsw i64 -1, %t19
  %t103 = add nsw i64 %t41, 1
  %t104 = udiv i64 %t103, %t19
  %t105 = mul nsw i64 %t102, %t104
  %t106 = add nsw i64 %t101, %t105
  %t107 = add nsw i64 %t106, %t19
  %t108 = urem i64 %t103, %t19
  %t109 = add nsw i64 %t107, %t108
  %t110 = getelementptr inbounds float, ptr %t1, i64 %t109
  %t111 = load float, ptr %t110, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t112 = insertelement <8 x float> %t99, float %t111, i64 1
  %t113 = add nsw i64 %t28, %t32
  %t114 = add nsw i64 %t113, %t39
  %t115 = mul nsw i64 -1, %t19
  %t116 = add nsw i64 %t41, 2
  %t117 = udiv i64 %t116, %t19
  %t118 = mul nsw i64 %t115, %t117
  %t119 = add nsw i64 %t114, %t118
  %t120 = add nsw i64 %t119, %t19
  %t121 = urem i64 %t116, %t19
  %t122 = add nsw i64 %t120, %t121
  %t123 = getelementptr inbounds float, ptr %t1, i64 %t122
  %t124 = load float, ptr %t123, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t125 = insertelement <8 x float> %t112, float %t124, i64 2
  %t126 = add nsw i64 %t28, %t32
  %t127 = add nsw i64 %t126, %t39
  %t128 = mul nsw i64 -1, %t19
  %t129 = add nsw i64 %t41, 3
  %t130 = udiv i64 %t129, %t19
  %t131 = mul nsw i64 %t128, %t130
  %t132 = add nsw i64 %t127, %t131
  %t133 = add nsw i64 %t132, %t19
  %t134 = urem i64 %t129, %t19
  %t135 = add nsw i64 %t133, %t134
  %t136 = getelementptr inbounds float, ptr %t1, i64 %t135
  %t137 = load float, ptr %t136, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t138 = insertelement <8 x float> %t125, float %t137, i64 3
  %t139 = add nsw i64 %t28, %t32
  %t140 = add nsw i64 %t139, %t39
  %t141 = mul nsw i64 -1, %t19
  %t142 = add nsw i64 %t41, 4
  %t143 = udiv i64 %t142, %t19
  %t144 = mul nsw i64 %t141, %t143
  %t145 = add nsw i64 %t140, %t144
  %t146 = add nsw i64 %t145, %t19
  %t147 = urem i64 %t142, %t19
  %t148 = add nsw i64 %t146, %t147
  %t149 = getelementptr inbounds float, ptr %t1, i64 %t148
  %t150 = load float, ptr %t149, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t151 = insertelement <8 x float> %t138, float %t150, i64 4
  %t152 = add nsw i64 %t28, %t32
  %t153 = add nsw i64 %t152, %t39
  %t154 = mul nsw i64 -1, %t19
  %t155 = add nsw i64 %t41, 5
  %t156 = udiv i64 %t155, %t19
  %t157 = mul nsw i64 %t154, %t156
  %t158 = add nsw i64 %t153, %t157
  %t159 = add nsw i64 %t158, %t19
  %t160 = urem i64 %t155, %t19
  %t161 = add nsw i64 %t159, %t160
  %t162 = getelementptr inbounds float, ptr %t1, i64 %t161
  %t163 = load float, ptr %t162, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t164 = insertelement <8 x float> %t151, float %t163, i64 5
  %t165 = add nsw i64 %t28, %t32
  %t166 = add nsw i64 %t165, %t39
  %t167 = mul nsw i64 -1, %t19
  %t168 = add nsw i64 %t41, 6
  %t169 = udiv i64 %t168, %t19
  %t170 = mul nsw i64 %t167, %t169
  %t171 = add nsw i64 %t166, %t170
  %t172 = add nsw i64 %t171, %t19
  %t173 = urem i64 %t168, %t19
  %t174 = add nsw i64 %t172, %t173
  %t175 = getelementptr inbounds float, ptr %t1, i64 %t174
  %t176 = load float, ptr %t175, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t177 = insertelement <8 x float> %t164, float %t176, i64 6
  %t178 = add nsw i64 %t28, %t32
  %t179 = add nsw i64 %t178, %t39
  %t180 = mul nsw i64 -1, %t19
  %t181 = mul nsw i64 %t180, %t52
  %t182 = add nsw i64 %t179, %t181
  %t183 = add nsw i64 %t182, %t19
  %t184 = urem i64 %t51, %t19
  %t185 = add nsw i64 %t183, %t184
  %t186 = getelementptr inbounds float, ptr %t1, i64 %t185
  %t187 = load float, ptr %t186, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t188 = insertelement <8 x float> %t177, float %t187, i64 7
  store <8 x float> %t188, ptr %variable6
  br label %join13
join13:
  %t189 = load <8 x float>, ptr %variable6
  %t190 = fneg <8 x float> %t189
  %t191 = load <8 x float>, ptr %variable6
  %t192 = select <8 x i1> %t79, <8 x float> %t190, <8 x float> %t191
  %t193 = getelementptr inbounds float, ptr %t5, i64 %t47
  %t194 = load <8 x float>, ptr %t193, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t195 = fmul <8 x float> %t192, %t194
  %t196 = fadd <8 x float> %t50, %t195
  %t197 = mul nsw i64 2, %t21
  %t198 = mul nsw i64 %t197, %t19
  %t199 = add nsw i64 %t198, %t41
  %t200 = getelementptr inbounds float, ptr %t7, i64 %t199
  store <8 x float> %t196, ptr %t200, align 4, !alias.scope !5, !noalias !4
  %t201 = mul nsw i64 2, %t15
  %t202 = mul nsw i64 %t201, %t19
  %t203 = add nsw i64 %t202, %t28
  %t204 = add nsw i64 %t203, %t32
  %t205 = add nsw i64 %t204, %t39
  %t206 = add nsw i64 %t205, %t41
  %t207 = getelementptr inbounds float, ptr %t1, i64 %t206
  %t208 = load <8 x float>, ptr %t207, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t209 = fmul <8 x float> %t208, %t49
  store <8 x i64> splat (i64 0), ptr %variable15
  br i1 %t54, label %then14, label %join15
then14:
  %t210 = insertelement <8 x i64> poison, i64 %t53, i64 0
  %t211 = shufflevector <8 x i64> %t210, <8 x i64> poison, <8 x i32> zeroinitializer
  store <8 x i64> %t211, ptr %variable15
  br label %join15
join15:
  br i1 %t57, label %then16, label %join17
then16:
  %t212 = insertelement <8 x i64> poison, i64 %t53, i64 0
  %t213 = add nsw i64 %t41, 1
  %t214 = udiv i64 %t213, %t19
  %t215 = insertelement <8 x i64> %t212, i64 %t214, i64 1
  %t216 = add nsw i64 %t41, 2
  %t217 = udiv i64 %t216, %t19
  %t218 = insertelement <8 x i64> %t215, i64 %t217, i64 2
  %t219 = add nsw i64 %t41, 3
  %t220 = udiv i64 %t219, %t19
  %t221 = insertelement <8 x i64> %t218, i64 %t220, i64 3
  %t222 = add nsw i64 %t41, 4
  %t223 = udiv i64 %t222, %t19
  %t224 = insertelement <8 x i64> %t221, i64 %t223, i64 4
  %t225 = add nsw i64 %t41, 5
  %t226 = udiv i64 %t225, %t19
  %t227 = insertelement <8 x i64> %t224, i64 %t226, i64 5
  %t228 = add nsw i64 %t41, 6
  %t229 = udiv i64 %t228, %t19
  %t230 = insertelement <8 x i64> %t227, i64 %t229, i64 6
  %t231 = insertelement <8 x i64> %t230, i64 %t52, i64 7
  store <8 x i64> %t231, ptr %variable15
  br label %join17
join17:
  %t232 = load <8 x i64>, ptr %variable15
  %t233 = icmp eq <8 x i64> %t232, splat (i64 0)
  store <8 x float> splat (float 0x0000000000000000), ptr %variable18
  br i1 %t54, label %then18, label %join19
then18:
  %t234 = add nsw i64 %t202, %t28
  %t235 = mul nsw i64 -2, %t19
  %t236 = mul nsw i64 %t235, %t53
  %t237 = add nsw i64 %t234, %t236
  %t238 = add nsw i64 %t237, %t32
  %t239 = add nsw i64 %t238, %t39
  %t240 = add nsw i64 %t239, %t41
  %t241 = add nsw i64 %t240, %t19
  %t242 = getelementptr inbounds float, ptr %t1, i64 %t241
  %t243 = load <8 x float>, ptr %t242, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  store <8 x float> %t243, ptr %variable18
  br label %join19
join19:
  br i1 %t57, label %then20, label %join21
then20:
  %t244 = add nsw i64 %t202, %t28
  %t245 = mul nsw i64 -1, %t19
  %t246 = mul nsw i64 %t245, %t53
  %t247 = add nsw i64 %t244, %t246
  %t248 = add nsw i64 %t247, %t32
  %t249 = add nsw i64 %t248, %t39
  %t250 = add nsw i64 %t249, %t19
  %t251 = urem i64 %t41, %t19
  %t252 = add nsw i64 %t250, %t251
  %t253 = getelementptr inbounds float, ptr %t1, i64 %t252
  %t254 = load float, ptr %t253, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t255 = insertelement <8 x float> poison, float %t254, i64 0
  %t256 = add nsw i64 %t202, %t28
  %t257 = add nsw i64 %t256, %t32
  %t258 = add nsw i64 %t257, %t39
  %t259 = mul nsw i64 -1, %t19
  %t260 = add nsw i64 %t41, 1
  %t261 = udiv i64 %t260, %t19
  %t262 = mul nsw i64 %t259, %t261
  %t263 = add nsw i64 %t258, %t262
  %t264 = add nsw i64 %t263, %t19
  %t265 = urem i64 %t260, %t19
  %t266 = add nsw i64 %t264, %t265
  %t267 = getelementptr inbounds float, ptr %t1, i64 %t266
  %t268 = load float, ptr %t267, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t269 = insertelement <8 x float> %t255, float %t268, i64 1
  %t270 = add nsw i64 %t202, %t28
  %t271 = add nsw i64 %t270, %t32
  %t272 = add nsw i64 %t271, %t39
  %t273 = mul nsw i64 -1, %t19
  %t274 = add nsw i64 %t41, 2
  %t275 = udiv i64 %t274, %t19
  %t276 = mul nsw i64 %t273, %t275
  %t277 = add nsw i64 %t272, %t276
  %t278 = add nsw i64 %t277, %t19
  %t279 = urem i64 %t274, %t19
  %t280 = add nsw i64 %t278, %t279
  %t281 = getelementptr inbounds float, ptr %t1, i64 %t280
  %t282 = load float, ptr %t281, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t283 = insertelement <8 x float> %t269, float %t282, i64 2
  %t284 = add nsw i64 %t202, %t28
  %t285 = add nsw i64 %t284, %t32
  %t286 = add nsw i64 %t285, %t39
  %t287 = mul nsw i64 -1, %t19
  %t288 = add nsw i64 %t41, 3
  %t289 = udiv i64 %t288, %t19
  %t290 = mul nsw i64 %t287, %t289
  %t291 = add nsw i64 %t286, %t290
  %t292 = add nsw i64 %t291, %t19
  %t293 = urem i64 %t288, %t19
  %t294 = add nsw i64 %t292, %t293
  %t295 = getelementptr inbounds float, ptr %t1, i64 %t294
  %t296 = load float, ptr %t295, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t297 = insertelement <8 x float> %t283, float %t296, i64 3
  %t298 = add nsw i64 %t202, %t28
  %t299 = add nsw i64 %t298, %t32
  %t300 = add nsw i64 %t299, %t39
  %t301 = mul nsw i64 -1, %t19
  %t302 = add nsw i64 %t41, 4
  %t303 = udiv i64 %t302, %t19
  %t304 = mul nsw i64 %t301, %t303
  %t305 = add nsw i64 %t300, %t304
  %t306 = add nsw i64 %t305, %t19
  %t307 = urem i64 %t302, %t19
  %t308 = add nsw i64 %t306, %t307
  %t309 = getelementptr inbounds float, ptr %t1, i64 %t308
  %t310 = load float, ptr %t309, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t311 = insertelement <8 x float> %t297, float %t310, i64 4
  %t312 = add nsw i64 %t202, %t28
  %t313 = add nsw i64 %t312, %t32
  %t314 = add nsw i64 %t313, %t39
  %t315 = mul nsw i64 -1, %t19
  %t316 = add nsw i64 %t41, 5
  %t317 = udiv i64 %t316, %t19
  %t318 = mul nsw i64 %t315, %t317
  %t319 = add nsw i64 %t314, %t318
  %t320 = add nsw i64 %t319, %t19
  %t321 = urem i64 %t316, %t19
  %t322 = add nsw i64 %t320, %t321
  %t323 = getelementptr inbounds float, ptr %t1, i64 %t322
  %t324 = load float, ptr %t323, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t325 = insertelement <8 x float> %t311, float %t324, i64 5
  %t326 = add nsw i64 %t202, %t28
  %t327 = add nsw i64 %t326, %t32
  %t328 = add nsw i64 %t327, %t39
  %t329 = mul nsw i64 -1, %t19
  %t330 = add nsw i64 %t41, 6
  %t331 = udiv i64 %t330, %t19
  %t332 = mul nsw i64 %t329, %t331
  %t333 = add nsw i64 %t328, %t332
  %t334 = add nsw i64 %t333, %t19
  %t335 = urem i64 %t330, %t19
  %t336 = add nsw i64 %t334, %t335
  %t337 = getelementptr inbounds float, ptr %t1, i64 %t336
  %t338 = load float, ptr %t337, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t339 = insertelement <8 x float> %t325, float %t338, i64 6
  %t340 = add nsw i64 %t202, %t28
  %t341 = add nsw i64 %t340, %t32
  %t342 = add nsw i64 %t341, %t39
  %t343 = mul nsw i64 -1, %t19
  %t344 = mul nsw i64 %t343, %t52
  %t345 = add nsw i64 %t342, %t344
  %t346 = add nsw i64 %t345, %t19
  %t347 = urem i64 %t51, %t19
  %t348 = add nsw i64 %t346, %t347
  %t349 = getelementptr inbounds float, ptr %t1, i64 %t348
  %t350 = load float, ptr %t349, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t351 = insertelement <8 x float> %t339, float %t350, i64 7
  store <8 x float> %t351, ptr %variable18
  br label %join21
join21:
  %t352 = load <8 x float>, ptr %variable18
  %t353 = fneg <8 x float> %t352
  %t354 = load <8 x float>, ptr %variable18
  %t355 = select <8 x i1> %t233, <8 x float> %t353, <8 x float> %t354
  %t356 = fmul <8 x float> %t355, %t194
  %t357 = fadd <8 x float> %t209, %t356
  %t358 = getelementptr inbounds float, ptr %t9, i64 %t199
  store <8 x float> %t357, ptr %t358, align 4, !alias.scope !5, !noalias !4
  %t359 = mul nsw i64 4, %t15
  %t360 = mul nsw i64 %t359, %t19
  %t361 = add nsw i64 %t360, %t28
  %t362 = add nsw i64 %t361, %t32
  %t363 = add nsw i64 %t362, %t39
  %t364 = add nsw i64 %t363, %t41
  %t365 = getelementptr inbounds float, ptr %t1, i64 %t364
  %t366 = load <8 x float>, ptr %t365, align 4, !alias.scope !4, !noalias !5, !invariant.load !0
  %t367 = getelementptr inbounds float, ptr %t11, i64 %t199
  store <8 x float> %t366, ptr %t367, align 4, !alias.scope !5, !noalias !4
  br label %latch4
latch4:
  %loop3.next = add nuw nsw i64 %t24, 1
  %t368 = icmp slt i64 %loop3.next, %t22
  br i1 %t368, label %loop3, label %done5
done5:
  br label %latch1
latch1:
  %loop0.next = add nuw nsw i64 %t21, 1
  %t369 = icmp slt i64 %loop0.next, %end
  br i1 %t369, label %loop0, label %done2
done2:
  ret void
}

!0 = !{}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"read"}
!3 = distinct !{!3, !1, !"written"}
!4 = !{!2}
!5 = !{!3}
