// Derivative of lgamma, as scalar/special.h.
__device__ __forceinline__ double digamma_positive(double x) {
  double steps = 0.0;
  for (; x < 10.0; x += 1.0) steps += 1.0 / x;
  const double y = 1.0 / (x * x);
  double series = 1.0 / 132 - y * (691.0 / 32760 - y / 12);
  series = 1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * series)));
  return log(x) - (0.5 / x + y * series) - steps;
}

__device__ __forceinline__ double digamma(double x) {
  if (x == 0.0) return -1.0 / x;
  if (!(x < 0.0)) return digamma_positive(x);
  const double whole = rint(x), angle = 3.141592653589793 * (x - whole);
  if (x == whole || !(x > -1.7e308)) return __longlong_as_double(0x7fffffffffffffffll);
  return digamma_positive(1.0 - x) - 3.141592653589793 / tan(angle);
}

__device__ __forceinline__ float digamma(float x) { return (float)digamma((double)x); }
