// Power of integers modulo 2^bits; for a negative exponent 1 / a truncated, 0 for a = 0.
template <class T>
__device__ __forceinline__ T power(T a, T n) {
  if (n < 0) return a == T(1) ? T(1) : a == T(-1) ? (n & 1 ? a : T(1)) : T(0);
  unsigned long long result = 1, base = (unsigned long long)a, exponent = (unsigned long long)n;
  for (; exponent != 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return (T)result;
}
