#pragma once
// PTX of the kernels that the tests launch; made of
//   fill(float* out, float value, int n)                     out[i] = value for i < n
//   add(float* out, const float* a, const float* b, int n)   out[i] = a[i] + b[i]
//   vector_add(float4* out, const float4* a, int n)          out[i] = a[i] + 1, 16 bytes a time
//   __device__ int counter = 7; count(int* out)              *out = counter++
namespace plait::sim {

inline constexpr char kKernels[] = R"ptx(.version 9.0
.target sm_80
.address_size 64
.global .align 4 .u32 counter = 7;
.visible .entry fill(
  .param .u64 fill_param_0,
  .param .f32 fill_param_1,
  .param .u32 fill_param_2
)
{
  .reg .pred   %p<2>;
  .reg .f32   %f<2>;
  .reg .b32   %r<6>;
  .reg .b64   %rd<5>;
  ld.param.u64   %rd1, [fill_param_0];
  ld.param.f32   %f1, [fill_param_1];
  ld.param.u32   %r2, [fill_param_2];
  mov.u32   %r3, %ctaid.x;
  mov.u32   %r4, %ntid.x;
  mov.u32   %r5, %tid.x;
  mad.lo.s32   %r1, %r3, %r4, %r5;
  setp.ge.s32   %p1, %r1, %r2;
  @%p1 bra   $L__BB0_2;
  cvta.to.global.u64   %rd2, %rd1;
  mul.wide.s32   %rd3, %r1, 4;
  add.s64   %rd4, %rd2, %rd3;
  st.global.f32   [%rd4], %f1;
$L__BB0_2:
  ret;
}
.visible .entry add(
  .param .u64 add_param_0,
  .param .u64 add_param_1,
  .param .u64 add_param_2,
  .param .u32 add_param_3
)
{
  .reg .pred   %p<2>;
  .reg .f32   %f<4>;
  .reg .b32   %r<6>;
  .reg .b64   %rd<11>;
  ld.param.u64   %rd1, [add_param_0];
  ld.param.u64   %rd2, [add_param_1];
  ld.param.u64   %rd3, [add_param_2];
  ld.param.u32   %r2, [add_param_3];
  mov.u32   %r3, %ctaid.x;
  mov.u32   %r4, %ntid.x;
  mov.u32   %r5, %tid.x;
  mad.lo.s32   %r1, %r3, %r4, %r5;
  setp.ge.s32   %p1, %r1, %r2;
  @%p1 bra   $L__BB1_2;
  cvta.to.global.u64   %rd4, %rd2;
  mul.wide.s32   %rd5, %r1, 4;
  add.s64   %rd6, %rd4, %rd5;
  cvta.to.global.u64   %rd7, %rd3;
  add.s64   %rd8, %rd7, %rd5;
  ld.global.f32   %f1, [%rd8];
  ld.global.f32   %f2, [%rd6];
  add.f32   %f3, %f2, %f1;
  cvta.to.global.u64   %rd9, %rd1;
  add.s64   %rd10, %rd9, %rd5;
  st.global.f32   [%rd10], %f3;
$L__BB1_2:
  ret;
}
.visible .entry vector_add(
  .param .u64 vector_add_param_0,
  .param .u64 vector_add_param_1,
  .param .u32 vector_add_param_2
)
{
  .reg .pred   %p<2>;
  .reg .f32   %f<13>;
  .reg .b32   %r<6>;
  .reg .b64   %rd<8>;
  ld.param.u64   %rd1, [vector_add_param_0];
  ld.param.u64   %rd2, [vector_add_param_1];
  ld.param.u32   %r2, [vector_add_param_2];
  mov.u32   %r3, %ctaid.x;
  mov.u32   %r4, %ntid.x;
  mov.u32   %r5, %tid.x;
  mad.lo.s32   %r1, %r3, %r4, %r5;
  setp.ge.s32   %p1, %r1, %r2;
  @%p1 bra   $L__BB2_2;
  cvta.to.global.u64   %rd3, %rd2;
  mul.wide.s32   %rd4, %r1, 16;
  add.s64   %rd5, %rd3, %rd4;
  ld.global.v4.f32   {%f1, %f2, %f3, %f4}, [%rd5];
  cvta.to.global.u64   %rd6, %rd1;
  add.s64   %rd7, %rd6, %rd4;
  add.f32   %f9, %f4, 0f3F800000;
  add.f32   %f10, %f3, 0f3F800000;
  add.f32   %f11, %f2, 0f3F800000;
  add.f32   %f12, %f1, 0f3F800000;
  st.global.v4.f32   [%rd7], {%f12, %f11, %f10, %f9};
$L__BB2_2:
  ret;
}
.visible .entry count(
  .param .u64 count_param_0
)
{
  .reg .b32   %r<4>;
  .reg .b64   %rd<3>;
  ld.param.u64   %rd1, [count_param_0];
  cvta.to.global.u64   %rd2, %rd1;
  ld.global.u32   %r1, [counter];
  st.global.u32   [%rd2], %r1;
  ld.global.u32   %r2, [counter];
  add.s32   %r3, %r2, 1;
  st.global.u32   [counter], %r3;
  ret;
}
)ptx";

}  // namespace plait::sim
