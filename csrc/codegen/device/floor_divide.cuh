// Quotient of integers rounded towards minus infinity, modulo 2^bits; 0 for a divisor of 0.
template <class T>
__device__ __forceinline__ T floor_divide(T a, T b) {
  if (b == 0) return 0;
  if (T(-1) < T(0) && b == T(-1)) return (T)(0 - (unsigned long long)a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
