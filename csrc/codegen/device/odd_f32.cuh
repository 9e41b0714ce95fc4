// f64 to f32 rounded to odd, so that a second rounding to a narrower type is as one (Boldo and Melquiond, 2005).
__device__ __forceinline__ float odd_f32(double x) {
  const float truncated = __double2float_rz(x);
  return truncated == x ? truncated : __uint_as_float(__float_as_uint(truncated) | 1u);
}
